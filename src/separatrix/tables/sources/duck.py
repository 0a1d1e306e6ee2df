"""Tables that DuckDB reads: CSV, Parquet, JSON lines, its own databases, and queries over them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from separatrix.tables.sources.base import ROWS, Column, TableSource, fingerprint_of
from separatrix.tables.sources.messages import interrupted, short, shown
from separatrix.tables.sources.working import Worker

if TYPE_CHECKING:
    import pyarrow as pa

MEMORY = "1GB"
FRUGAL_MEMORY = "128MB"
FRUGAL_ROWS = 8192
FRUGAL_BUFFER = 4 << 20  # bytes of a CSV file read at a time
COMPRESSION = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}  # how DuckDB calls it
CHEAP = 64 << 20  # bytes of a text file that are all looked at for the types of columns

_WHOLE = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER"}
_NUMBER = re.compile(r"FLOAT|DOUBLE|U?HUGEINT|UBIGINT|BIGNUM|DECIMAL\(.*\)")
_TEXT = re.compile(r'VARCHAR|JSON|UUID|"?NULL"?|ENUM\(.*\)', re.DOTALL)
_DATE = re.compile(r"DATE|TIMESTAMP.*|TIME|TIME WITH TIME ZONE|TIMETZ|TIME_NS|INTERVAL")


def literal(text: str) -> str:
    """Return text as a string of SQL."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """Return a name as SQL writes it in quotes."""
    return '"' + name.replace('"', '""') + '"'


def column_of(name: str, kind: str) -> Column:
    """Return what a column of DuckDB's type ``kind`` is here.

    Examples
    --------
    >>> column_of("a", "INTEGER").whole, column_of("a", "DECIMAL(10,2)").kind, column_of("a", "INTEGER[]").kind
    (True, 'number', 'other')
    """
    if kind in _WHOLE:
        return Column(name, "number", True, kind)
    if kind.endswith("]"):
        return Column(name, "other", False, kind)
    if kind == "BOOLEAN":
        return Column(name, "flag", False, kind)
    for known, pattern in (("number", _NUMBER), ("text", _TEXT), ("date", _DATE)):
        if pattern.fullmatch(kind):
            return Column(name, known, False, kind)
    return Column(name, "other", False, kind)


def agreed(value: str, column: Column) -> str:
    """Return the SQL for a value in the form that batches promise."""
    if column.kind == "number":
        return f"cast({value} as {'bigint' if column.whole else 'double'})"
    if column.kind == "text" and column.type == "JSON":
        return f"({value} ->> '$')"
    if column.kind == "text" and column.type != "VARCHAR":
        return f"cast({value} as varchar)"
    return value


class Duck:
    """A connection to a DuckDB of its own, in memory, that never asks the network; made when it is first needed.

    Parameters
    ----------
    frugal : bool
        One thread and small buffers: slower by little, and a fraction of the memory.
    memory : str or None
        The most that DuckDB may hold, as in ``"512MB"``; beyond it, it writes to a temporary folder.
    """

    def __init__(self, *, frugal: bool = False, memory: str | None = None) -> None:
        self.frugal, self._memory = frugal, memory
        self.closed = False
        self._folder = ""
        self._steps: list[Callable[[Any], object]] = []
        if memory is not None:
            _ = self.connection  # which says what is wrong with it

    @cached_property
    def connection(self) -> Any:
        """The connection itself."""
        import duckdb

        frugal, memory = self.frugal, self._memory
        self._folder = tempfile.mkdtemp(prefix="separatrix-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)  # also if nobody closes it
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "preserve_insertion_order": "true",
            "temp_directory": self._folder,
            "threads": "1" if frugal else str(max(1, min(4, os.cpu_count() or 1))),
            "memory_limit": memory or (FRUGAL_MEMORY if frugal else MEMORY),
        }
        try:
            made = duckdb.connect(":memory:", config=settings)
        except BaseException as problem:
            shutil.rmtree(self._folder, ignore_errors=True)
            if memory is not None and isinstance(problem, duckdb.Error):
                raise ValueError(f"the memory limit {memory!r} is not understood: {short(problem)}") from None
            raise
        try:
            with engine_errors():
                made.execute("set enable_progress_bar=false")
                made.execute("set python_enable_replacements=false")  # no variable of ours is a table
        except BaseException:
            made.close()
            shutil.rmtree(self._folder, ignore_errors=True)
            raise
        return made

    def prepare(self, step: Callable[[Any], object]) -> None:
        """Do something to the connection, such as making a view, and to every cursor made from it later."""
        with engine_errors():
            step(self.connection)
        self._steps.append(step)

    @contextmanager
    def cursor(self) -> Iterator[Any]:
        """Return a connection to the same database, on which one result can be streamed."""
        with self.connection.cursor() as cursor:
            for step in self._steps:
                step(cursor)
            yield cursor

    def close(self) -> None:
        """Close the connection and remove the temporary folder."""
        if not self.closed:
            self.closed = True
            if "connection" in self.__dict__:
                self.connection.close()
                shutil.rmtree(self._folder, ignore_errors=True)

    def rows(self, query: str) -> list[Any]:
        """Run a query and return its rows as Python values."""
        with engine_errors(), Worker(self.connection.interrupt) as worker:
            found = worker.call(lambda: self.connection.sql(query))  # None for a statement without a result
            return [] if found is None else worker.call(lambda: list(found.fetchall()))

    def described(self, relation: str) -> list[tuple[str, str]]:
        """Return the names and types of the columns of a relation."""
        return [(row[0], row[1]) for row in self.rows(f"describe select * from {relation}")]


class EngineError(Exception):
    """A problem as DuckDB tells it, over many lines."""


@contextmanager
def engine_errors() -> Iterator[None]:
    """Turn all that DuckDB raises, directly or through Arrow, into EngineError, and Ctrl-C into KeyboardInterrupt."""
    import duckdb
    import pyarrow as pa

    try:
        yield
    except (duckdb.Error, pa.ArrowException, OSError, RuntimeError, UnicodeError) as problem:
        if interrupted(problem):
            raise KeyboardInterrupt from None
        raise EngineError(str(problem)) from None


class Look(NamedTuple):
    """What a look at rows shows: the columns, and what stands after FROM."""

    columns: Sequence[Column]
    relation: str


class DuckSource(TableSource):
    """A relation of DuckDB.

    Parameters
    ----------
    duck : Duck
        The connection, closed with the source.
    relation : str
        What stands after FROM.
    columns : sequence of Column
        Its columns.
    name : str
        What messages call it.
    inner : sequence of str or None
        What the columns are called inside the relation, where that differs from their names.
    files : sequence of str
        The files read, for the fingerprint.
    telling : callable
        Turns a message of DuckDB into a sentence.
    n_rows : int or None
        The number of rows, if known.
    guess : float or None
        An estimate of the number of rows, for the fraction.
    empty : str
        What is said of a source without rows, after its name.
    mark : str or None
        What the fingerprint depends on besides the files; None if there can be no fingerprint.
    closer : callable, optional
        Looks at more rows than the first, which the columns rest on so far; it is asked before rows are read.
    typed : callable, optional
        Says how the source is read with some columns as numbers and some as text.
    """

    def __init__(
        self,
        duck: Duck,
        relation: str,
        columns: Sequence[Column],
        name: str,
        *,
        inner: Sequence[str] | None = None,
        files: Sequence[str] = (),
        telling: Callable[[str], str] | None = None,
        n_rows: int | None = None,
        guess: float | None = None,
        empty: str = "has no rows",
        mark: str | None = "",
        closer: Callable[[], Look] | None = None,
        typed: Callable[[Sequence[str], Sequence[str]], Look] | None = None,
    ) -> None:
        self.name = shown(name)
        self.columns = tuple(columns)
        self.n_rows = n_rows
        self.duck = duck
        self.relation = relation
        self.inner = list(inner) if inner is not None else [column.name for column in self.columns]
        self.files = list(files)
        self._telling = telling
        self._guess = guess if n_rows is None else float(n_rows)
        self._empty = empty
        self._mark = mark
        self._closer, self._typed = closer, typed
        self._read = 0

    def batches(self, names: Sequence[str], *, rows: int = ROWS, raw: bool = False) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        import pyarrow as pa

        if rows < 1:
            raise ValueError(f"rows must be at least 1; got {rows}")
        if self.duck.closed:
            raise ValueError(f"{self.name} is closed")
        self.settle()
        places = self.chosen(names)
        values = [
            identifier(self.inner[k]) if raw else agreed(identifier(self.inner[k]), self.columns[k]) for k in places
        ]
        chosen = ", ".join(f"{value} as v{k}" for k, value in enumerate(values)) or "1"
        most = min(rows, FRUGAL_ROWS) if self.duck.frugal else rows
        self._read = 0
        query = f"select {chosen} from {self.relation}"
        with self.sentences(), self.duck.cursor() as cursor, Worker(cursor.interrupt) as worker:
            reader = worker.call(lambda: cursor.sql(query).to_arrow_reader(most))
            while (large := worker.call(lambda: next(reader, None))) is not None:
                for start in range(0, large.num_rows, most):
                    batch = large.slice(start, most)
                    arrays = [_plain(column, raw) for _, column in zip(places, batch.columns, strict=False)]
                    self._read += batch.num_rows
                    yield pa.RecordBatch.from_arrays(arrays, names=list(names)) if places else batch.select([])
        if not self._read:
            raise ValueError(f"{self.name} {self._empty}")

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text, where the source has no types of its own."""
        if self._typed is not None:
            columns, self.relation = self._typed(numbers, texts)
            self.columns, self._closer = tuple(columns), None

    def settle(self) -> None:
        """Look at more than the first rows, where the columns rest on these alone."""
        if self._closer is not None:
            closer, self._closer = self._closer, None
            columns, self.relation = closer()
            self.columns = tuple(columns)

    @contextmanager
    def sentences(self) -> Iterator[None]:
        """Turn an engine's message into one sentence."""
        try:
            with engine_errors():
                yield
        except EngineError as problem:
            raise ValueError(self.told(str(problem))) from None

    def told(self, message: str) -> str:
        """Return an engine's message as a sentence."""
        return self._telling(message) if self._telling else f"{self.name} cannot be read: {short(message)}"

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return None if not self._guess else min(1.0, self._read / self._guess)

    def fingerprint(self) -> str | None:
        """Return a hash of where the files are, their sizes and ages, and how they are read."""
        return None if self._mark is None else fingerprint_of(self.files, self._mark)

    def close(self) -> None:
        """Close the connection."""
        self.duck.close()


def _plain(values: Any, raw: bool) -> Any:
    """Return text without a dictionary or an extension around it."""
    import pyarrow as pa

    if not raw and (pa.types.is_null(values.type) or pa.types.is_large_string(values.type)):
        return values.cast(pa.string())
    return values


def open_parquet(duck: Duck, files: Sequence[str], name: str) -> DuckSource:
    """Open Parquet files as one table."""
    listing = "[" + ", ".join(literal(exact(path)) for path in files) + "]"
    relation = f"read_parquet({listing})"

    def telling(message: str) -> str:
        damaged = re.search(
            r"magic bytes|Thrift|footer|metadata|corrupt|too small|ZSTD|Snappy|deserialize", message, re.I
        )
        inside = next((path for path in files if path in message), name)
        if damaged:
            return f"{shown(inside)} is not a whole Parquet file: {short(message)}"
        if re.search(r"schema mismatch|not present in|different column", message, re.I):
            return f"the Parquet files of {shown(name)} do not have the same columns: {short(message)}"
        return f"{shown(inside)} cannot be read: {short(message)}"

    try:
        columns = [column_of(*pair) for pair in duck.described(relation)]
        counted = duck.rows(f"select sum(num_rows) from parquet_file_metadata({listing})")[0][0]
    except EngineError as problem:
        raise ValueError(telling(str(problem))) from None
    return DuckSource(duck, relation, columns, name, files=files, telling=telling, n_rows=int(counted))


def exact(path: str) -> str:
    """Return a path that DuckDB takes for that one file, whatever letters it has."""
    return re.sub(r"([*?\[])", r"[\1]", path)
