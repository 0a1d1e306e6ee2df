"""The standard deviation of each feature in the training rows, by which weights can be compared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.preparation import Preparation
from separatrix.tables.prepare import PreparedRows

_BLOCK = 1 << 21  # numbers measured together
_PIECE = 16 << 20  # bytes of rows on disk


def deviations(preparation: Preparation, rows: PreparedRows | RowFile, constant: Iterable[str] = ()) -> Floats | None:
    """Return the standard deviation of each feature as a model sees it; None where one is too large for a number.

    Numbers that were scaled by their standard deviation have 1, and the columns that are named constant 0; rows are
    read only for the other features.
    """
    out = np.ones(preparation.width)
    known = len(preparation.shift) if preparation.scale == "standard" else 0
    if known < len(out):
        moments = Moments(len(out) - known)
        for X in _blocks(rows):
            moments.add(X[:, known:])
        out[known:] = moments.deviation
    starts, same = preparation.starts(), set(constant)
    for feature in preparation.numeric:
        if feature.name in same:
            out[starts[feature.name] : starts[feature.name] + feature.width] = 0.0
    return out if np.isfinite(out).all() else None


def _blocks(rows: PreparedRows | RowFile) -> Iterator[Any]:
    if isinstance(rows, RowFile):
        for piece in rows.cut(_PIECE):
            yield rows.read([piece])[0]
        return
    step = max(1, _BLOCK // rows.X.shape[1])
    for begin in range(0, rows.n, step):
        yield rows.X[begin : begin + step]
