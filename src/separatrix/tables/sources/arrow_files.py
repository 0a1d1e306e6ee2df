"""Arrow and Feather files, and what Arrow's types are here."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from separatrix.tables.sources.base import DURATIONS, ROWS, Column, TableSource
from separatrix.tables.sources.duck import Duck, EngineError, on_duck
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.queries import QuerySource


def column_of(field: Any) -> Column:
    """Return what an Arrow field is here."""
    kind = field.type
    while pa.types.is_dictionary(kind) or isinstance(kind, pa.BaseExtensionType):
        kind = kind.value_type if pa.types.is_dictionary(kind) else kind.storage_type
    types = pa.types
    whole = types.is_integer(kind) and kind != pa.uint64()
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind) or types.is_duration(kind):
        known = "number"
    elif types.is_boolean(kind):
        known = "flag"
    elif types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind) or types.is_null(kind):
        known = "text"
    elif types.is_temporal(kind) or types.is_interval(kind):
        known = "date"
    else:
        known = "other"
    return Column(field.name, known, whole, str(field.type))


def standard_array(values: Any, column: Column) -> Any:
    """Return an Arrow array in the form that batches promise."""
    while pa.types.is_dictionary(values.type) or isinstance(values.type, pa.BaseExtensionType):
        values = values.dictionary_decode() if pa.types.is_dictionary(values.type) else values.storage
    if pa.types.is_duration(values.type):
        return pc.divide(values.cast(pa.int64()).cast(pa.float64(), safe=False), float(DURATIONS[str(values.type)]))
    kind = {"number": pa.int64() if column.whole else pa.float64(), "flag": pa.bool_(), "text": pa.string()}
    wanted = kind.get(column.kind, values.type)
    if values.type == wanted:
        return values
    return values.cast(wanted, safe=column.kind != "number" or column.whole or pa.types.is_decimal(values.type))


def unique_names(names: Sequence[str], name: str) -> None:
    """Raise a ValueError if two columns have the same name, or one has none."""
    for place, column in enumerate(names):
        if not column.strip():
            raise ValueError(f"{name} has no name for column {place + 1}")
        if column in names[:place]:
            raise ValueError(f"{name} has two columns called {column!r}")


class ArrowSource(TableSource):
    """A file of Arrow batches, in the file or the stream format.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it.
    """

    def __init__(self, path: str, name: str) -> None:
        self.name = path_text(name)
        self.files, self.mark = [path], "arrow"
        self._fraction = 0.0
        self._size = os.path.getsize(path)
        with open(path, "rb") as file:
            self.seekable = file.read(6) == b"ARROW1"
        with self._explained(), pa.OSFile(path) as file:
            reader = pa.ipc.open_file(file) if self.seekable else pa.ipc.open_stream(file)
            self.columns = tuple(column_of(field) for field in reader.schema)
            if self.seekable and self.columns:
                self.n_rows = _count(file)
        if not self.columns:
            raise ValueError(f"{self.name} has no columns")
        unique_names([column.name for column in self.columns], self.name)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except MemoryError:
            raise
        except (pa.ArrowException, OSError, OverflowError) as problem:
            raise ValueError(f"{self.name} is not a whole Arrow file: {short(problem)}") from None

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        places = self.places(names)
        self._fraction, read = 0.0, 0
        for large in self._stored(places):
            for start in range(0, large.num_rows, rows):
                batch = large.slice(start, rows)
                with self._explained():
                    arrays = [standard_array(batch.column(k), self.columns[k]) for k in places]
                read += batch.num_rows
                if self.n_rows:
                    self._fraction = read / self.n_rows
                yield pa.RecordBatch.from_arrays(arrays, names=list(names))
        if not read:
            raise ValueError(f"{self.name} has no rows")

    def _stored(self, places: Sequence[int]) -> Iterator[pa.RecordBatch]:
        """Yield the batches of the file, of which these columns are sound: nothing in them points outside."""
        with self._explained(), pa.OSFile(self.files[0]) as file:
            if self.seekable:
                reader = pa.ipc.open_file(file)
                stored = (reader.get_batch(k) for k in range(reader.num_record_batches))
            else:
                stored = iter(pa.ipc.open_stream(file))
            for batch in stored:
                for place in places:
                    batch.column(place).validate(full=True)
                if not self.seekable:
                    self._fraction = min(1.0, file.tell() / max(self._size, 1))
                yield batch

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._fraction

    def queryable(self) -> Any:
        """Return what DuckDB can query, once all of it is found sound: a data set of the file, or a table."""
        stored = self._stored(range(len(self.columns)))
        if not self.seekable:
            return pa.Table.from_batches(list(stored))
        from pyarrow import dataset

        for _ in stored:
            pass
        return dataset.dataset(self.files[0], format="ipc")


def _count(file: Any) -> int:
    """Return the number of rows, for which one column of each batch is read."""
    reader = pa.ipc.open_file(file, options=pa.ipc.IpcReadOptions(included_fields=[0]))
    return sum(reader.get_batch(k).num_rows for k in range(reader.num_record_batches))


def open_arrow(request: Request) -> TableSource:
    """Open a file of Arrow batches, or a query over it."""
    path, sql = request.files[0], request.sql
    source = ArrowSource(path, request.name)
    if sql is None:
        return source
    data, names = source.queryable(), [column.name for column in source.columns]

    def query(duck: Duck) -> QuerySource:
        try:
            duck.prepare(lambda connection: connection.register("data", data))
        except EngineError as problem:
            raise ValueError(f"{source.name} cannot be queried: {short(problem)}") from None
        return QuerySource(duck, sql, files=[path], columns=names)

    return on_duck(request.frugal, query)
