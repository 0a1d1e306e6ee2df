"""Parquet files: one, several, or a folder with partitions."""

from __future__ import annotations

import re

from separatrix.tables.sources.duck import Duck, DuckSource, column_of, file_list, on_duck
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.queries import queried

_DAMAGE = re.compile(r"magic bytes|Thrift|footer|metadata|corrupt|too small|ZSTD|Snappy|deserialize", re.I)


class ParquetSource(DuckSource):
    """Parquet files as one table."""

    def __init__(self, duck: Duck, request: Request) -> None:
        super().__init__(duck, request.name, request.files)
        self._where = request.name
        listing = file_list(self.files)
        self.relation = f"read_parquet({listing})"
        with self.explained():
            self.columns = tuple(column_of(*pair) for pair in duck.described(self.relation))
            self.n_rows = int(duck.rows(f"select sum(num_rows) from parquet_file_metadata({listing})")[0][0])

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence."""
        inside = path_text(next((path for path in self.files if path in message), self._where))
        if _DAMAGE.search(message):
            return f"{inside} is not a whole Parquet file: {short(message)}"
        if re.search(r"schema mismatch|not present in|different column", message, re.I):
            return f"the Parquet files of {self.name} do not have the same columns: {short(message)}"
        return f"{inside} cannot be read: {short(message)}"


def open_parquet(request: Request) -> DuckSource:
    """Open Parquet files as one table."""
    return on_duck(request.frugal, lambda duck: queried(ParquetSource(duck, request), request.sql))
