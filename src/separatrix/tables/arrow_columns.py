"""Columns of Arrow as NumPy arrays and texts, and back.

Arrow's own ways to and from NumPy import pandas where it is installed, and lose a Ctrl-C that comes meanwhile; so the
buffers are read and made here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

_WHOLE = 2.0**53  # beyond it, not every whole number is a float


def as_label(value: Any) -> Any:
    """Return a label as a whole number where it is one that floats hold; None where it is missing.

    Examples
    --------
    >>> as_label(2.0), as_label(0.5), as_label("a"), as_label(float("nan"))
    (2, 0.5, 'a', None)
    """
    if isinstance(value, float):
        if value != value:
            return None
        return int(value) if value.is_integer() and abs(value) < _WHOLE else value
    return value


def texts_of(value: Any) -> list[str]:
    """Return how a cell may be written in another file of the same table, in which it is no number or flag."""
    if isinstance(value, bool):
        return [str(value), str(value).lower(), str(value).upper()]
    if isinstance(value, int | float):
        flags = [str(bool(value))] if value in (0, 1) else []
        return [str(as_label(value)), repr(value), *flags]
    text = str(value)
    flag = {"true": "True", "false": "False", "1": "True", "0": "False"}.get(text.strip().lower())
    return [text] if flag is None else [text, flag]


def as_texts(column: Any) -> list[str | None]:
    """Return an Arrow column as texts, whatever it holds."""
    return [None if value is None else texts_of(value)[0] for value in column.to_pylist()]


def is_text(column: Any) -> bool:
    """Return whether an Arrow column holds text."""
    import pyarrow as pa

    return bool(pa.types.is_string(column.type) or pa.types.is_large_string(column.type))


def as_floats(column: Any) -> NDArray[np.float64]:
    """Return an Arrow column of numbers, NaN where one is missing."""
    import pyarrow as pa

    if column.null_count == len(column):
        return np.full(len(column), np.nan)
    if pa.types.is_boolean(column.type):
        values = _bits(column.buffers()[1], column).astype(np.float64)
    else:
        whole = pa.types.is_int64(column.type)
        values = values_of(column if whole else column.cast(pa.float64()), np.int64 if whole else np.float64)
        values = values.astype(np.float64)
    if column.null_count:
        values[~known(column)] = np.nan
    return values


def values_of(column: Any, dtype: Any) -> NDArray[Any]:
    """Return the values of an Arrow column of this type, any number where one is missing."""
    return np.frombuffer(column.buffers()[1], dtype=dtype)[column.offset : column.offset + len(column)]


def known(column: Any) -> NDArray[np.bool_]:
    """Return which values of an Arrow column are not missing."""
    bits = column.buffers()[0]
    return np.ones(len(column), dtype=bool) if bits is None else _bits(bits, column)


def _bits(buffer: Any, column: Any) -> NDArray[np.bool_]:
    packed = np.frombuffer(buffer, dtype=np.uint8)
    end = column.offset + len(column)
    return np.unpackbits(packed, count=end, bitorder="little")[column.offset :].astype(bool)


def flags_as_text(column: Any) -> Any:
    """Return an Arrow column of booleans as the texts False and True."""
    import pyarrow.compute as pc

    true, false = text_column(["True", "False"])
    return pc.if_else(column, true, false)


def number_column(values: NDArray[Any], null: NDArray[np.bool_] | None = None) -> Any:
    """Return floats, whole numbers or moments (of the type datetime64[us]) as an Arrow column, some of them null.

    Examples
    --------
    >>> number_column(np.array([0.5, 1.0]), np.array([False, True])).to_pylist()
    [0.5, None]
    """
    import pyarrow as pa

    values = np.ascontiguousarray(values)
    valid = None if null is None else pa.py_buffer(np.packbits(~null, bitorder="little"))
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [valid, pa.py_buffer(values)])


def text_column(texts: Sequence[str]) -> Any:
    """Return texts as an Arrow column.

    Examples
    --------
    >>> text_column(["a", "é", ""]).to_pylist()
    ['a', 'é', '']
    """
    import pyarrow as pa

    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int64)
    large = ends[-1] > np.iinfo(np.int32).max
    buffers = [None, pa.py_buffer(ends if large else ends.astype(np.int32)), pa.py_buffer(b"".join(encoded))]
    return pa.Array.from_buffers(pa.large_string() if large else pa.string(), len(texts), buffers)


def missing_text() -> Any:
    """Return Arrow's missing text."""
    import pyarrow as pa

    return pa.nulls(1, pa.string())[0]
