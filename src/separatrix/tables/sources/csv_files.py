"""CSV files: the dialect and the types of columns are decided here, and the core reads the rows.

DuckDB reads them for queries, and columns of dates. A single file of plain numbers and labels has a faster reader in
the core (``plain_csv``): `CsvSource.plain` says how.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from separatrix.tables.sources.base import ROWS
from separatrix.tables.sources.cells import MISSING_CELLS, SPACES, TEXT
from separatrix.tables.sources.compression import cut_short, tells_of_missing_end
from separatrix.tables.sources.csv_rows import LONGEST_LINE, CsvFile, Scan, ScannedColumn, read_columns, scan
from separatrix.tables.sources.dialect import EXACT_DIGITS, Dialect, check_delimiter, first_types, read_dialect
from separatrix.tables.sources.duck import (
    CHEAP,
    COMPRESSION,
    FRUGAL_BUFFER,
    FRUGAL_ROWS,
    MEMORY,
    Duck,
    DuckSource,
    column_of,
    escaped,
    file_list,
    literal,
    on_duck,
)
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import csv_problem, path_text, short
from separatrix.tables.sources.peeking import Peek, longer
from separatrix.tables.sources.queries import queried
from separatrix.tables.sources.spaced_lines import is_split_by_spaces
from separatrix.text import listed

if TYPE_CHECKING:
    import pyarrow as pa

_PART = 500_000  # rows that decide on types where a file is too large to read all of it
_PART_BYTES = 256 << 20  # or so many bytes, if there are fewer rows in them
_DUCK_LINE = 2_000_000  # bytes of the longest row that DuckDB expects where nothing is known
_WIDE = 1000  # columns: with more, DuckDB needs memory for thousands of rows in each thread
_LINE_ENDS = {1: "\\n", 2: "\\r\\n", 4: "\\r"}


class Plain(NamedTuple):
    """A single CSV file that is not compressed: its path, delimiter and columns, and whether it has a header line."""

    path: str
    delimiter: str
    names: list[str]
    header: bool = True


class CsvSource(DuckSource):
    """CSV files with the same header as one table.

    The types of a small file rest on all its rows. Those of a large one rest on its first rows until `settle`, which
    reads more, or `read_as`, which says what they are.

    Parameters
    ----------
    duck : Duck
        A connection for queries and dates, closed with the source.
    request : Request
        The files, in UTF-8.
    """

    typed = False
    empty = "has a header line and no rows"

    def __init__(self, duck: Duck, request: Request) -> None:
        super().__init__(duck, request.name, request.files)
        self._where, self._compression = request.name, request.peeks[0].compression
        self._labels, self._quotes, self._watch = request.labels, request.quotes, request.watch
        peeks, dialects = self._dialects(request)
        self.dialect = dialect = _common_dialect(peeks, dialects, request.labels)
        self._files = [
            CsvFile(path, name, self._compression, own.start, own.before + own.skip + 1, own.header, request.quotes)
            for path, name, own in zip(request.files, request.labels, dialects, strict=True)
        ]
        self._scan: Scan | None = None
        self._scanned: dict[str, ScannedColumn] = {}
        marks = ["csv", dialect.delimiter, *([] if request.header else ["bare"]), *([] if request.quotes else ["raw"])]
        self.mark = " ".join(marks)
        if dialect.unnamed:
            many = "a column without a name is" if len(dialect.unnamed) == 1 else "columns without names are"
            self.notes = [f"{path_text(request.name)}: {many} called {listed(dialect.unnamed)}"]
        size = sum(map(os.path.getsize, self.files))
        self._cheap = size * (1 if self._compression == "none" else 4) <= CHEAP
        self.expected = size / max(1.0, _compressed_row(request.files, peeks, dialect))
        plain = len(self.files) == 1 and self._compression == "none" and not dialect.skip and request.quotes
        plain = plain and not dialect.spaced
        if plain:
            self.plain = Plain(self.files[0], dialect.delimiter, dialect.names, request.header)
        types = first_types(peeks[0], dialect) if plain and not self._cheap else None
        self._settled = types is None
        if types is None:
            self._decide_types()
        else:
            self._set_types(types)

    def _dialects(self, request: Request) -> tuple[list[Peek], list[Dialect]]:
        """Return the dialect of each file, and as much of its beginning as that took."""
        return _dialects(request)

    @property
    def inner(self) -> list[str]:
        """The names of the columns inside the relation: a header may have two that differ only in case."""
        return [f"c{k}" for k in range(len(self.dialect.names))]

    def settle(self) -> None:
        """Decide on the types by more than the first rows."""
        if not self._settled:
            self._decide_types()

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text."""
        types = {column.name: column.type for column in self.columns}
        types |= dict.fromkeys(numbers, "DOUBLE") | dict.fromkeys(texts, TEXT)
        self._set_types([types[name] for name in self.dialect.names])
        self._settled = True

    def first_text(self, name: str) -> tuple[int, str] | None:
        """Return the first row in which a column has no number, and its text."""
        column = self._scanned.get(name)
        return (column.text_row, column.text) if column is not None and column.text_row else None

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        import pyarrow as pa
        import pyarrow.compute as pc

        self.settle()
        places = self.places(names)
        if not places or rows < 1 or self.duck.closed or any(self.columns[k].kind == "date" for k in places):
            yield from super().batches(names, rows=rows)
            return
        frugal = self.duck.frugal
        most = min(rows, FRUGAL_ROWS) if frugal else rows
        self._read = 0
        for arrays in read_columns(self._files, self.dialect.delimiter, self.columns, places, frugal=frugal):
            if self.dialect.spaced:
                arrays = [pc.utf8_ltrim(each, " ") if pa.types.is_string(each.type) else each for each in arrays]
            block = pa.RecordBatch.from_arrays(arrays, names=list(names))
            for start in range(0, block.num_rows, most):
                batch = block.slice(start, most)
                self._read += batch.num_rows
                yield batch
        if not self._read:
            raise ValueError(f"{self.name} {self.empty}")

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence with the file, line and column."""
        if tells_of_missing_end(message, self._compression, self.files):
            return cut_short(self._where, self._compression)
        single = len(self.files) == 1
        sentence = csv_problem(path_text(self._where) if single else "", message, self._column_name)
        if sentence is None:
            return f"{path_text(self._where)} cannot be read: {short(message)}"
        for file, name in zip(self.files, self._labels, strict=True):
            for path in (escaped(file), file):
                sentence = sentence.replace(path_text(path), path_text(name))
        return sentence

    def check_for_queries(self) -> None:
        """Refuse a file that DuckDB would not read as the core does."""
        ends = self._scan.line_ends if self._scan else 0
        if ends not in (0, *_LINE_ENDS):
            kinds = listed([word for bit, word in ((1, "LF"), (2, "CRLF"), (4, "CR")) if ends & bit])
            raise ValueError(
                f"{path_text(self._where)}: rows end in different ways ({kinds}), which a query cannot read; save the "
                "file with one of them"
            )

    def _column_name(self, inner: str) -> str:
        return self.dialect.names[int(inner[1:])] if re.fullmatch(r"c\d+", inner) else inner

    def _set_types(self, types: Sequence[str]) -> None:
        self.columns = tuple(column_of(*pair) for pair in zip(self.dialect.names, types, strict=True))
        self.relation = self._relation(types)

    def _relation(self, types: Sequence[str]) -> str:
        inner, found = self.inner, self._scan
        odd = [
            k for k, column in enumerate(found.columns) if column.spaces and types[k] != TEXT
        ] if found else []  # fmt: skip
        as_read = list(types)
        for k in odd:  # numbers in white space that DuckDB does not know
            as_read[k] = TEXT
        columns = ", ".join(f"{literal(c)}: {literal(kind)}" for c, kind in zip(inner, as_read, strict=True))
        line = max(_DUCK_LINE, found.longest_line + 1 if found else 0)
        options = {
            "auto_detect": "false",
            "header": "false" if self.dialect.header else "true",
            "delim": literal(self.dialect.delimiter),
            "quote": "'\"'" if self._quotes else "''",
            "escape": "'\"'" if self._quotes else "''",
            "skip": str(self.dialect.skip),
            "nullstr": "[" + ", ".join(map(literal, MISSING_CELLS)) + "]",
            "compression": literal(COMPRESSION[self._compression]),
            "max_line_size": str(line),
            "columns": "{" + columns + "}",
        }
        if found and found.line_ends in _LINE_ENDS:
            options["new_line"] = literal(_LINE_ENDS[found.line_ends])
        if self.duck.frugal:
            options["buffer_size"] = str(max(FRUGAL_BUFFER, 2 * line))
        read = f"read_csv({file_list(self.files)}, {', '.join(f'{key}={value}' for key, value in options.items())})"
        if not odd:
            return read
        casts = ", ".join(f"cast(trim({inner[k]}, {literal(SPACES)}) as {types[k]}) as {inner[k]}" for k in odd)
        return f"(select * replace ({casts}) from {read})"

    def _told(self, done: int) -> None:
        """Tell how much of the rows that decide on types has been read."""
        if self._watch is not None:
            size = sum(map(os.path.getsize, self.files)) * (1 if self._compression == "none" else 4)
            self._watch(min(1.0, done / max(1, min(size, _PART_BYTES))))

    def _decide_types(self) -> None:
        """Decide on the types by the rows, all of them if the file is small.

        Whole numbers of a large file are read as doubles: a later one may have a fraction.
        """
        self._settled = True
        self._scan = found = scan(
            self._files,
            self.dialect.delimiter,
            self.dialect.names,
            most_rows=None if self._cheap else _PART,
            most_bytes=None if self._cheap else _PART_BYTES,
            frugal=self.duck.frugal,
            watch=self._told,
        )
        if not found.rows:
            raise ValueError(f"{path_text(self._where)} {self.empty}")
        self._scanned = dict(zip(self.dialect.names, found.columns, strict=True))
        types = [column.type or TEXT for column in found.columns]
        if found.whole:
            self.n_rows = found.rows
        else:
            small = [column.longest <= EXACT_DIGITS for column in found.columns]
            types = ["DOUBLE" if kind == "BIGINT" and fits else kind for kind, fits in zip(types, small, strict=True)]
        self._set_types(types)


def open_csv(request: Request) -> DuckSource:
    """Open CSV files as one table."""
    if request.delimiter is not None:
        request = replace(request, delimiter=check_delimiter(request.delimiter))
    return on_duck(request.frugal, lambda duck: asked(CsvSource(duck, request), request.sql))


def asked(source: CsvSource, sql: str | None) -> DuckSource:
    """Return the source, or a query over it."""
    if sql is not None:
        source.settle()
        source.check_for_queries()
        if len(source.columns) > _WIDE:
            settings = f"set threads=1; set memory_limit='{MEMORY}'"
            source.duck.prepare(lambda connection: connection.execute(settings))
    return queried(source, sql)


def _dialects(request: Request) -> tuple[list[Peek], list[Dialect]]:
    """Return the dialect of each file, and as much of its beginning as that took."""
    peeks, dialects = [], []
    how = {"header": request.header, "quotes": request.quotes}
    for head, path, name in zip(request.peeks, request.files, request.labels, strict=True):
        size, delimiter = len(head.head), request.delimiter
        if delimiter is None and is_split_by_spaces(head):
            delimiter = " "
        while (dialect := read_dialect(head, path, name, delimiter, **how)) is None:  # a long header
            if size > LONGEST_LINE:
                raise ValueError(
                    f"{path_text(name)}: the header line is longer than {LONGEST_LINE:,} bytes, the most that can be "
                    "read; is a quote unclosed, or is the file not CSV?"
                )
            size *= 8
            head = longer(head, path, name, size)
        peeks.append(head)
        dialects.append(dialect)
    return peeks, dialects


def _common_dialect(peeks: Sequence[Peek], dialects: Sequence[Dialect], names: Sequence[str]) -> Dialect:
    """Return the dialect of the files, which must be the same for all."""
    first = dialects[0]
    for dialect, head, name in zip(dialects, peeks, names, strict=True):
        if dialect.names != first.names:
            raise ValueError(
                f"{path_text(name)} has other columns than {path_text(names[0])}; files read together need the same"
            )
        if dialect[1:3] != first[1:3] or head.compression != peeks[0].compression:
            raise ValueError(
                f"{path_text(name)} has another delimiter or compression than {path_text(names[0])}; files read "
                "together need the same"
            )
    return first


def _compressed_row(files: Sequence[str], peeks: Sequence[Peek], dialect: Dialect) -> float:
    """Return the bytes that an average row takes in the files."""
    pairs = zip(peeks, files, strict=True)
    return dialect.row * sum(p.share * os.path.getsize(f) for p, f in pairs) / sum(len(p.head) for p in peeks)
