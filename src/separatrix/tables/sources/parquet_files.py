"""Parquet files: one, several, or a folder with partitions."""

from __future__ import annotations

import base64
import re
from typing import Any

from separatrix.tables.sources.base import DURATIONS
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
            described = duck.described(self.relation)
            stored = _arrow_types(duck, listing, self.name)
            self.columns = tuple(column_of(name, _kind(kind, stored.get(name))) for name, kind in described)
            self.zones = {name: zone for name, kind in stored.items() if (zone := getattr(kind, "tz", None))}
            self.n_rows = int(duck.rows(f"select sum(num_rows) from parquet_file_metadata({listing})")[0][0])

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence."""
        inside = path_text(next((path for path in self.files if path in message), self._where))
        if _DAMAGE.search(message):
            return f"{inside} is not a whole Parquet file: {short(message)}"
        if re.search(r"schema mismatch|not present in|different column", message, re.I):
            return f"the Parquet files of {self.name} do not have the same columns: {short(message)}"
        return f"{inside} cannot be read: {short(message)}"


def _kind(kind: str, stored: Any) -> str:
    """Return the type of a column: that of Arrow for a span of time, which is a whole number to DuckDB."""
    return str(stored) if str(stored) in DURATIONS and kind == "BIGINT" else kind


def _arrow_types(duck: Duck, listing: str, name: str) -> dict[str, Any]:
    """Return the types of columns that Arrow wrote, by name; none for files of other programs."""
    import pyarrow as pa

    own = "select distinct value from parquet_kv_metadata(@) where key = 'ARROW:schema'::blob".replace("@", listing)
    types: dict[str, Any] = {}
    for (value,) in duck.rows(own):
        try:
            fields = list(pa.ipc.read_schema(pa.py_buffer(base64.b64decode(value))))
        except (pa.ArrowException, ValueError, OSError):
            continue
        for field in fields:
            other = types.setdefault(field.name, field.type)
            spans = pa.types.is_duration(field.type) or pa.types.is_duration(other)
            zoned = getattr(field.type, "tz", None) != getattr(other, "tz", None)
            if (spans and field.type != other) or zoned:
                raise ValueError(
                    f"the Parquet files of {name} do not have the same columns: {field.name!r} is {other} in one and "
                    f"{field.type} in another"
                )
    return types


def open_parquet(request: Request) -> DuckSource:
    """Open Parquet files as one table."""
    return on_duck(request.frugal, lambda duck: queried(ParquetSource(duck, request), request.sql))
