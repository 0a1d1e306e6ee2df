"""Tables that DuckDB reads. Each kind of file is a subclass of `DuckSource`, in a module of its own."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from separatrix.files import ScratchFolder
from separatrix.tables.sources.base import DURATIONS, ROWS, Column, TableSource
from separatrix.tables.sources.messages import interrupted, path_text, short
from separatrix.tables.sources.working import Worker

if TYPE_CHECKING:
    import pyarrow as pa

T = TypeVar("T")
MEMORY = "1GB"
FRUGAL_MEMORY = "128MB"
FRUGAL_ROWS = 8192
CELLS = 1 << 23  # in a batch: fewer rows where there are many columns
FRUGAL_BUFFER = 4 << 20  # bytes of a CSV file read at a time
COMPRESSION = {"none": "uncompressed", "gzip": "gzip", "zstd": "zstd"}  # how DuckDB calls it
CHEAP = 64 << 20  # bytes of a text file up to which all rows decide on the types of columns

_NO_MEMORY = re.compile("out of memory|failed to allocate|allocation failure|can't start new thread", re.IGNORECASE)
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
    if kind in DURATIONS:
        return Column(name, "number", False, kind)
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


def file_list(files: Sequence[str]) -> str:
    """Return files as a list of SQL; letters that are patterns for DuckDB stand for themselves."""
    return "[" + ", ".join(literal(escaped(path)) for path in files) + "]"


def escaped(path: str) -> str:
    """Return a path that DuckDB takes for that one file, whatever letters it has."""
    return re.sub(r"([*?\[])", r"[\1]", path)


def sql_value(value: str, column: Column) -> str:
    """Return the SQL for a value in the form that batches promise."""
    if column.type in DURATIONS:
        return f"(cast({value} as double) / {DURATIONS[column.type]})"
    if column.kind == "number":
        return f"cast({value} as {'bigint' if column.whole else 'double'})"
    if column.kind == "text" and column.type == "JSON":
        return f"({value} ->> '$')"
    if column.kind == "text" and column.type != "VARCHAR":
        return f"cast({value} as varchar)"
    return value


class Duck:
    """A connection to a DuckDB of its own, in memory, without access to the network; made when it is first needed.

    Parameters
    ----------
    frugal : bool
        One thread and small buffers: slightly slower, with a fraction of the memory.
    """

    def __init__(self, *, frugal: bool = False) -> None:
        self.frugal = frugal
        self.closed = False
        self._folder: ScratchFolder | None = None  # where it may write what does not fit into memory
        self._steps: list[Callable[[Any], object]] = []

    @cached_property
    def connection(self) -> Any:
        """The connection itself."""
        import duckdb

        frugal = self.frugal
        self._folder = folder = ScratchFolder()
        settings: dict[str, Any] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "allow_persistent_secrets": "false",
            "preserve_insertion_order": "true",
            "temp_directory": str(folder.path),
            "threads": "1" if frugal else str(max(1, min(4, os.cpu_count() or 1))),
            "memory_limit": FRUGAL_MEMORY if frugal else MEMORY,
        }
        try:
            made = duckdb.connect(":memory:", config=settings)
        except BaseException:
            folder.close()
            raise
        try:
            with engine_errors():
                made.execute("set enable_progress_bar=false")
                made.execute("set python_enable_replacements=false")  # no variable of ours is a table
        except BaseException:
            made.close()
            folder.close()
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
            if self._folder is not None:
                self._folder.close()

    def rows(self, query: str) -> list[Any]:
        """Run a query and return its rows as Python values."""
        with engine_errors(), Worker(self.connection.interrupt) as worker:
            result = worker.call(lambda: self.connection.sql(query))  # None for a statement without a result
            return [] if result is None else worker.call(lambda: list(result.fetchall()))

    def described(self, relation: str) -> list[tuple[str, str]]:
        """Return the names and types of the columns of a relation."""
        return [(row[0], row[1]) for row in self.rows(f"describe select * from {relation}")]


def on_duck(frugal: bool, make: Callable[[Duck], T]) -> T:
    """Make a source on a connection of its own, which is closed if that fails."""
    duck = Duck(frugal=frugal)
    try:
        return make(duck)
    except BaseException:
        duck.close()
        raise


class EngineError(Exception):
    """An error of DuckDB, in its own words over many lines."""


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


class DuckSource(TableSource):
    """A relation of DuckDB.

    Subclasses set ``relation`` and ``columns``, and may override ``explain``, ``settle`` and ``read_as``.

    Parameters
    ----------
    duck : Duck
        The connection, closed with the source.
    name : str
        What messages call it.
    files : sequence of str
        The files read.
    mark : str or None
        See `Source.mark`.

    Attributes
    ----------
    relation : str
        What stands after FROM.
    inner : list of str
        The names of the columns inside the relation.
    expected : float or None
        An estimate of the number of rows, for the fraction.
    zones : dict
        The zones of columns of moments, by name, where the file tells; others are read in UTC.
    """

    empty = "has no rows"  # what is said of a source without rows, after its name

    def __init__(self, duck: Duck, name: str, files: Sequence[str] = (), *, mark: str | None = "") -> None:
        self.duck = duck
        self.name = path_text(name)
        self.files = list(files)
        self.mark = mark
        self.relation = ""
        self.columns = ()
        self.expected: float | None = None
        self.zones: dict[str, str] = {}
        self._read = 0

    @property
    def inner(self) -> list[str]:
        """The names of the columns inside the relation."""
        return [column.name for column in self.columns]

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        import pyarrow as pa

        if rows < 1:
            raise ValueError(f"rows must be at least 1; got {rows}")
        if self.duck.closed:
            raise ValueError(f"{self.name} is closed")
        self.settle()
        places = self.places(names)
        inner = self.inner
        values = [sql_value(identifier(inner[k]), self.columns[k]) for k in places]
        selected = ", ".join(f"{value} as v{k}" for k, value in enumerate(values)) or "1"
        most = min(rows, FRUGAL_ROWS) if self.duck.frugal else rows
        most = min(most, max(1, CELLS // max(1, len(places))))
        self._read = 0
        query = f"select {selected} from {self.relation}"
        with self.explained(), self.duck.cursor() as cursor, Worker(cursor.interrupt) as worker:
            reader = worker.call(lambda: cursor.sql(query).to_arrow_reader(most))
            while (large := worker.call(lambda: next(reader, None))) is not None:
                for start in range(0, large.num_rows, most):
                    batch = large.slice(start, most)
                    arrays = [
                        standard(column, self.zones.get(self.columns[k].name, "UTC"))
                        for k, column in zip(places, batch.columns, strict=False)
                    ]
                    self._read += batch.num_rows
                    yield pa.RecordBatch.from_arrays(arrays, names=list(names)) if places else batch.select([])
        if not self._read:
            raise ValueError(f"{self.name} {self.empty}")

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Turn an error of DuckDB into a ValueError of one sentence."""
        try:
            with engine_errors():
                yield
        except EngineError as problem:
            if _NO_MEMORY.search(str(problem)):
                raise ValueError(
                    f"{self.name} cannot be read: out of memory; fit --memory 200MB reads it with less"
                ) from None
            raise ValueError(self.explain(str(problem))) from None

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence."""
        return f"{self.name} cannot be read: {short(message)}"

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        expected = self.n_rows if self.n_rows is not None else self.expected
        return None if not expected else min(1.0, self._read / expected)

    def close(self) -> None:
        """Close the connection."""
        self.duck.close()


def standard(values: Any, zone: str = "UTC") -> Any:
    """Return a column without values, or of large strings, as strings, and moments with a zone in this one.

    DuckDB itself has them in the zone of the machine, which is no part of the data.
    """
    import pyarrow as pa

    if pa.types.is_timestamp(values.type) and values.type.tz is not None:
        return values.cast(pa.timestamp(values.type.unit, zone))
    if pa.types.is_null(values.type) or pa.types.is_large_string(values.type):
        return values.cast(pa.string())
    return values
