"""An Arrow table that is in memory already, as a source."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from separatrix.tables.sources.arrow_files import column_of, standard_array, unique_names
from separatrix.tables.sources.base import ROWS, TableSource


class TableInMemory(TableSource):
    """A table, read batch by batch.

    Parameters
    ----------
    table : pyarrow.Table
        The table.
    name : str
        What messages call it.
    """

    def __init__(self, table: Any, name: str) -> None:
        self.name, self._table = name, table
        self.columns = tuple(column_of(field) for field in table.schema)
        self.n_rows = table.num_rows
        unique_names(table.column_names, name)

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        places = self.places(names)
        if not self.n_rows:
            raise ValueError(f"{self.name} has no rows")
        for batch in self._table.to_batches(max_chunksize=rows):
            arrays = [standard_array(batch.column(k), self.columns[k]) for k in places]
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))
