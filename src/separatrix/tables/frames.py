"""Frames of pandas and polars, and Arrow's own, as Arrow tables."""

from __future__ import annotations

from typing import Any


def as_arrow(frame: Any) -> Any:
    """Return a frame or Arrow batch as an Arrow table; anything else is a TypeError."""
    import pyarrow as pa

    if hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()
    elif hasattr(frame, "iloc"):
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    elif isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if not isinstance(frame, pa.Table):
        raise TypeError(f"a data frame or Arrow table with the columns of fit is needed; found {type(frame).__name__}")
    return frame
