"""Columns far from the origin, read less a centre: timestamps, years, coordinates.

With a free bias ``w.x + b`` is ``w.(x - m) + (b + w.m)``, so the optimum may be looked for with the values less any m.
Where the values of a column differ by far less than they are, their digits are then all at hand; without that, sums of
their squares and products keep none of them. The values are not copied: the kernels take m off as they read them, and
without rounding, because m lies within a factor of 2 of every value (Sterbenz' lemma). All other columns have m = 0,
and data without such columns are read as ever.

The bias of a model is that of the values as they are. It is one number, and where ``w.m`` is large its last digit is
too: ``restored`` says what that can cost.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.logistic import LogisticSolution
from separatrix.svm.sparse_penalty import SparseSolution
from separatrix.svm.task import DualSolution

_NEAR = 0.125  # part of its smallest value by which the values of a column far from the origin differ at most
_HEAD = 8  # rows that are looked at first: hardly any column passes them by chance
_TOGETHER = 1 << 20  # numbers
_HALF_UNIT = 0.5 * float(np.finfo(np.float64).eps)

Solution = TypeVar("Solution", bound=DualSolution | LogisticSolution | SparseSolution)


def centred(rows: Rows) -> Rows:
    """Return the rows with the means of the columns that are far from the origin taken off; the rows, if none is."""
    columns = far_columns(rows)
    if not len(columns):
        return rows
    centre = np.zeros(rows.shape[1])
    centre[columns] = _core.combine(rows.matrix, np.ones(rows.shape[0]))[columns] / rows.shape[0]
    return rows.less(centre)


def far_columns(rows: Rows) -> NDArray[np.intp]:
    """Return the columns whose values lie close together and far from 0; in a sparse matrix all rows must have one.

    Examples
    --------
    >>> far_columns(Rows([[2.0, 2024.0, 1.0], [3.0, 2025.0, -1.0], [4.0, 2019.0, 0.0]])).tolist()
    [1]
    """
    n, d = rows.shape
    some = np.unique(np.linspace(0, n - 1, _HEAD).astype(np.intp))
    columns, low, high = _ends(rows.values[some], np.arange(d))
    columns = columns[far(low, high)]
    together = max(1, _TOGETHER // d)
    lows, highs = np.full(d, np.inf), np.full(d, -np.inf)
    for first in range(0, n, together):
        if not len(columns):
            break
        columns, low, high = _ends(rows.values[first : first + together], columns)
        lows[columns] = np.minimum(lows[columns], low)
        highs[columns] = np.maximum(highs[columns], high)
        columns = columns[far(lows[columns], highs[columns])]
    return columns


def far(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return which columns with these ranges are far from the origin."""
    return (high - low <= _NEAR * np.minimum(np.abs(low), np.abs(high))) & (low * high > 0.0)


def _ends(values: Any, columns: NDArray[np.intp]) -> tuple[NDArray[np.intp], Floats, Floats]:
    """Return those of these columns that have a value in every row, their smallest values and their largest ones."""
    if is_sparse(values):
        sparse, count = values, values.shape[0]
        wanted = np.zeros(sparse.shape[1], dtype=bool)
        wanted[columns] = True
        stored = np.bincount(sparse.indices[wanted[sparse.indices]], minlength=sparse.shape[1])
        wanted &= stored == count
        columns = np.flatnonzero(wanted)
        values = sparse.data[wanted[sparse.indices]].reshape(count, len(columns))  # the columns ascend in every row
    elif len(columns) < values.shape[1]:
        values = values[:, columns]
    return columns, values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64)


def has_all(rows: Rows, columns: NDArray[np.intp]) -> bool:
    """Return whether every row of a sparse matrix holds a value in each of these columns."""
    return len(_ends(rows.values, columns)[0]) == len(columns)


def bias_within(rows: Rows, weights: Floats, bias: float) -> float:
    """Return the bias with these weights for the rows as they are read, given that for the values themselves."""
    return bias if rows.centre is None else float(_exact(rows.centre, weights) + Fraction(bias))


def bias_without(rows: Rows, weights: Floats, bias: float) -> float:
    """Return the bias with these weights for the values themselves, given that for the rows as they are read."""
    return bias if rows.centre is None else float(Fraction(bias) - _exact(rows.centre, weights))


def restored(rows: Rows, solution: Solution, everything: float, *, squared: bool) -> Solution:
    """Return a solution of the rows as they are read as one of the values themselves.

    The bias is rounded once; the value feels that with the slopes of the losses, which are at most 1, or twice the
    slack, whose sum is bounded by the root of the loss. ``everything`` is what all losses count.
    """
    if rows.centre is None:
        return solution
    exact = Fraction(solution.bias) - _exact(rows.centre, solution.weights)
    bias = float(exact)
    off = float(abs(Fraction(bias) - exact)) * (1.0 + _HALF_UNIT)
    slopes = everything
    if squared:
        slopes = 2.0 * math.sqrt(everything * (solution.primal + solution.rounding)) + off * everything
    return replace(solution, bias=bias, rounding=solution.rounding + (1.0 + 1e-9) * off * slopes)


def _exact(centre: Floats, weights: Floats) -> Fraction:
    far = np.flatnonzero(centre)
    return sum((Fraction(m) * Fraction(w) for m, w in zip(centre[far], weights[far], strict=True)), Fraction(0))
