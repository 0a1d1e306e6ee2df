"""SQLite databases, read by Python's own module: values have types there, columns only preferences."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from separatrix.tables.sources.arrow_files import unique_names
from separatrix.tables.sources.base import ROWS, Column, TableSource, with_log
from separatrix.tables.sources.child import lift_time_limit
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.statements import only_reading
from separatrix.text import listed

_WORDS = ("select", "with", "values")
_DAMAGE = re.compile(r"\b(?:page|tree|rowid|freelist|pointer map|failed to read)\b(?!.*never used)", re.IGNORECASE)
_NO_DAMAGE = re.compile(  # what is said of a constraint or an index, with names that may be any words
    r"(?:NULL|NUMERIC|TEXT|non-\w+) value in |CHECK constraint failed in |wrong # of entries in index |"
    r"non-unique entry in index |row \d+ missing from index "
)
_CHECKS = 20  # faults that are listed, of which those of a constraint are the database's own matter


class SqliteSource(TableSource):
    """One table of a SQLite database, or the rows of a query.

    The type of a column is that of all its values: whole numbers, numbers, text or bytes. A column of numbers and text
    is text. One declared BOOLEAN with the values 0 and 1 only is a flag.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it.
    sql : str or None
        One SELECT statement; None for the only table, which a query can also call ``data``.
    """

    log = "-wal"

    def __init__(self, path: str, name: str, sql: str | None = None) -> None:
        self.files = with_log(path, self.log)
        self._called = path_text(name)
        self.name = self._called if sql is None else "the query"
        self._read = 0
        declared: dict[str, str] = {}
        try:
            alone = "&immutable=1" if self._would_make_a_log(path) else ""
            self._connection = sqlite3.connect(f"{Path(path).resolve().as_uri()}?mode=ro{alone}", uri=True)
        except sqlite3.Error as problem:
            raise ValueError(f"{self._called} cannot be opened: {short(problem)}") from None
        try:
            self._check_whole(path)
            self._sql, declared = self._statement(sql)
            self.mark = f"sqlite {self._sql}"
            self.columns = self._typed_columns(declared)
        except (sqlite3.Error, sqlite3.Warning) as problem:
            self.close()
            raise ValueError(self._explain(problem)) from None
        except BaseException:
            self.close()
            raise

    def _would_make_a_log(self, path: str) -> bool:
        """Return whether SQLite would leave a new log beside a file that it only reads."""
        with open(path, "rb") as file:
            head = file.read(20)
        beside = os.path.realpath(path)
        return 2 in head[18:20] and not any(os.path.exists(beside + end) for end in (self.log, "-shm"))

    def _check_whole(self, path: str) -> None:
        """Refuse a file whose end is missing or whose pages do not hang together; SQLite may read it as other rows."""
        self._connection.execute("pragma trusted_schema=off")
        with open(path, "rb") as file:
            head = file.read(100)
        size = {1: 65536}.get(number := int.from_bytes(head[16:18], "big"), number)
        pages = int.from_bytes(head[28:32], "big")
        counted = head[24:28] == head[92:96]  # else an old version wrote it last, which counted no pages
        counted &= head.startswith(b"SQLite format 3\0") and size >= 512 and not size & (size - 1)
        wanted = pages * size
        if counted and len(self.files) == 1 and os.path.getsize(path) < wanted:  # a log may hold the missing pages
            raise ValueError(
                f"{self._called} is truncated: it has {os.path.getsize(path):,} of the {wanted:,} bytes of its "
                f"{pages:,} pages"
            )
        for (fault,) in self._connection.execute(f"pragma quick_check({_CHECKS})"):
            told = fault.splitlines()[-1] if fault else ""
            if not _NO_DAMAGE.match(fault) and _DAMAGE.search(told):
                raise ValueError(f"{self._called} is not a whole SQLite database: {short(told)}")

    def _statement(self, sql: str | None) -> tuple[str, dict[str, str]]:
        run = self._connection.execute
        listing = (
            "select name, type from sqlite_master where type in ('table', 'view') "
            "and name not like 'sqlite\\_%' escape '\\'"
        )
        types = dict(run(listing))
        self._tables = list(types)
        if not all(isinstance(name, str) for name in self._tables):
            raise ValueError(f"{self._called} is not a whole SQLite database: the name of a table is not text")
        declared = {}
        if len(self._tables) == 1:
            quoted = _identifier(self._tables[0])
            declared = {row[1]: row[2] for row in run(f"pragma table_info({quoted})")}
            if self._tables[0].lower() != "data":
                run(f"create temp view data as select * from {quoted}")
        run("pragma query_only=1")
        if sql is not None:
            text = only_reading(sql, _WORDS)
            lift_time_limit()
            run(f"explain {text}")  # not inside another query yet, so that messages are about this one
            return text, {}
        if not self._tables:
            raise ValueError(f"{self._called} has no tables")
        if len(self._tables) > 1:
            raise ValueError(f"{self._called} has several tables; choose with SQL among {listed(self._tables)}")
        if types[self._tables[0]] == "view":
            lift_time_limit()
        return f"select * from {_identifier(self._tables[0])}", declared

    def _typed_columns(self, declared: dict[str, str]) -> tuple[Column, ...]:
        names = [each[0] for each in self._connection.execute(f"select * from ({self._sql}\n) limit 0").description]
        plain = [each[0] for each in self._connection.execute(self._sql).description]
        unique_names(plain, self.name)
        counts = []
        for name in names:
            cell = _identifier(name)
            counts += [f"sum(typeof({cell}) = '{kind}')" for kind in ("integer", "real", "text", "blob")]
            counts.append(f"sum(typeof({cell}) = 'integer' and {cell} not in (0, 1))")
        row = self._connection.execute(f"select count(*), {', '.join(counts)} from ({self._sql}\n)").fetchone()
        self.n_rows = row[0]
        columns = []
        for k, name in enumerate(plain):
            whole, real, text, blob, other = (value or 0 for value in row[1 + 5 * k : 6 + 5 * k])
            kind = declared.get(name, "").upper()
            if blob:
                columns.append(Column(name, "other", False, kind or "BLOB"))
            elif text or not (whole or real):
                columns.append(Column(name, "text", False, kind or "TEXT"))
            elif kind in ("BOOLEAN", "BOOL") and not (real or other):
                columns.append(Column(name, "flag", False, kind))
            else:
                columns.append(Column(name, "number", not real, kind or ("REAL" if real else "INTEGER")))
        return tuple(columns)

    def _explain(self, problem: sqlite3.Error | sqlite3.Warning) -> str:
        text = str(problem)
        if "not a database" in text or "malformed" in text:
            return f"{self._called} is not a whole SQLite database: {short(text)}"
        if text.startswith("Could not decode to UTF-8"):
            column = re.search(r"column '(.*?)' with text", text, re.DOTALL)
            where = f" in the column {short(column.group(1))}" if column else ""
            return f"{self.name} {'has' if self.name == self._called else 'returns'} text that is not UTF-8{where}"
        if "no such table" in text:
            return f"the query names an unknown table: {short(text)}; the tables are {listed(self._tables) or 'none'}"
        if "one statement" in text or 'near "insert"' in text.lower() or 'near "delete"' in text.lower():
            return "the query has several statements; only one SELECT statement is accepted"
        if "readonly" in text:
            return "the query writes; only one SELECT statement is accepted"
        return f"{self._called} rejected the query: {short(text)}"

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        places = self.places(names)
        self._read = 0
        try:
            cursor = self._connection.execute(self._sql)
            while values := cursor.fetchmany(rows):
                arrays = [_array([row[k] for row in values], self.columns[k]) for k in places]
                self._read += len(values)
                yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        except (sqlite3.Error, sqlite3.Warning) as problem:
            raise ValueError(self._explain(problem)) from None
        except (pa.ArrowException, TypeError):
            raise ValueError(f"{self.name} changed while it was read") from None
        if not self._read:
            raise ValueError(f"{self.name} {'has' if self.name == self._called else 'returns'} no rows")

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return min(1.0, self._read / self.n_rows) if self.n_rows else None

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()


def _array(values: list[Any], column: Column) -> Any:
    if column.kind == "flag":
        return pa.array([None if value is None else bool(value) for value in values], pa.bool_())
    if column.kind == "number":
        if column.whole:
            return pa.array(values, pa.int64())
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    if column.kind == "text":
        return pa.array(
            [value if value is None or type(value) is str else _text(value) for value in values], pa.string()
        )
    return pa.array(
        [value if value is None or type(value) is bytes else str(value).encode() for value in values], pa.binary()
    )


def _text(value: Any) -> str:
    return repr(value) if isinstance(value, float) else str(value)


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def open_sqlite(request: Request) -> SqliteSource:
    """Open a database, which is only read."""
    return SqliteSource(request.files[0], request.name, request.sql)
