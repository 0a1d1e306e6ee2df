"""Frames of pandas and polars, and Arrow's own, as Arrow tables."""

from __future__ import annotations

from typing import Any


def as_arrow(frame: Any) -> Any:
    """Return a frame or Arrow batch as an Arrow table; anything else is a TypeError."""
    import pyarrow as pa

    if hasattr(frame, "to_arrow"):
        frame = frame.to_arrow()
    elif hasattr(frame, "iloc"):
        frame = _of_pandas(frame)
    elif isinstance(frame, pa.RecordBatch):
        frame = pa.Table.from_batches([frame])
    if not isinstance(frame, pa.Table):
        raise TypeError(f"a data frame or Arrow table with the columns of fit is needed; found {type(frame).__name__}")
    return frame


def _of_pandas(frame: Any) -> Any:
    """Return a frame of pandas as an Arrow table; columns of mixed Python objects as their texts, as in a CSV file."""
    import pyarrow as pa

    try:
        return pa.Table.from_pandas(frame, preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        mixed = [name for name, kind in frame.dtypes.items() if kind.kind == "O" and not _fits(frame[name])]
        changed = {name: frame[name].map(str, na_action="ignore") for name in mixed}
    try:
        return pa.Table.from_pandas(frame.assign(**changed), preserve_index=False)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as problem:
        raise ValueError(f"the frame cannot be read as an Arrow table: {str(problem).splitlines()[0]}") from None


def _fits(column: Any) -> bool:
    import pyarrow as pa

    try:
        pa.array(column, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        return False
    return True
