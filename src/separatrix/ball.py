"""The smallest ball that holds the data, for the bias constant K of Lecture 003, 2.5.

Badoiu and Clarkson's core-set method as Frank-Wolfe with line search on the dual: the centre is a convex combination
of rows, moved towards the farthest row. Every pass gives a bracket: the farthest distance is an upper bound on the
radius, the dual value ``sum lambda_i |x_i|^2 - |centre|^2`` a lower bound on its square. Both are widened by what
rounding can have cost.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.rows import Floats, Rows, is_sparse


class Ball(NamedTuple):
    """A centre and a bracket: the smallest radius lies in ``lower..upper``, and ``upper`` holds every row."""

    center: Floats
    lower: float
    upper: float


def smallest_ball(
    rows: Rows, weights: Floats | None = None, *, precision: float = 1e-3, max_passes: int = 10_000
) -> Ball:
    """Return a ball that holds every row (of positive weight), its radius within ``precision`` of the smallest.

    Examples
    --------
    >>> ball = smallest_ball(Rows([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    >>> ball.lower <= 1.0 <= ball.upper, ball.upper < 1.001
    (True, True)
    """
    squares = _core.square_norms(rows.matrix)
    ignored = np.zeros(len(squares), dtype=bool) if weights is None else weights == 0
    first = int(np.argmax(np.where(ignored, -1.0, squares)))
    rounding = 8.0 * (rows.shape[1] + 4) * np.finfo(np.float64).eps * float(squares[first])
    center, mean_square = _row(rows, first), float(squares[first])
    best_lower = 0.0
    for _ in range(max_passes):
        center_square = float(_core.square_norms(_core.dense(center[None, :]))[0])
        products = _core.decide(rows.matrix, center[None, :], np.zeros(1), 1)[:, 0]
        distances = np.maximum(squares - 2.0 * products + center_square, 0.0)
        distances[ignored] = -1.0
        farthest = int(np.argmax(distances))
        upper = float(distances[farthest]) + rounding
        best_lower = max(best_lower, mean_square - center_square - rounding)
        if upper <= 2.0 * rounding or upper <= best_lower * (1.0 + precision) ** 2:
            break
        # The dual along the segment to the farthest row is a parabola; its top is at half of 1 - lower/upper.
        step = min(1.0, 0.5 * (1.0 - (mean_square - center_square) / upper))
        if step <= 0.0:
            break
        center = (1.0 - step) * center + step * _row(rows, farthest)
        mean_square = (1.0 - step) * mean_square + step * float(squares[farthest])
    return Ball(center, float(np.sqrt(max(best_lower, 0.0))), float(np.sqrt(upper)))


def _row(rows: Rows, index: int) -> Floats:
    values = rows.values[[index]].toarray()[0] if is_sparse(rows.values) else rows.values[index]
    return np.asarray(values, dtype=np.float64)
