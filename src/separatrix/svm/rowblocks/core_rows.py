"""Dense rows in memory, whose products come from the compiled core: the same bits on every machine."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.svm.rowblocks.block import Precision, stride
from separatrix.svm.smooth import products


class CoreRows:
    """The rows of one shard, which are read when a product with them is wanted.

    Parameters
    ----------
    read : callable
        Returns the values.
    n, d : int
        Their shape.
    of : int
        The rows in all shards.
    centre : array, optional
        What the columns are read less (see ``svm/centring.py``).
    """

    xp: Any = np

    def __init__(self, read: Callable[[], Any], n: int, d: int, of: int, centre: Floats | None) -> None:
        self._read, self.n, self.d, self._of, self._centre = read, n, d, of, centre

    @cached_property
    def _rows(self) -> Rows:
        return self._centred(Rows(self._read()))

    @cached_property
    def _some(self) -> Rows:
        """The rows of which a sample for the table is made."""
        step = stride(self._of, self.d)
        return self._rows if step == 1 else self._centred(Rows(self._rows.values[::step]))

    def _centred(self, rows: Rows) -> Rows:
        return rows if self._centre is None else rows.less(self._centre)

    def times(self, w: Floats) -> Floats:
        """Return ``w.x`` of every row."""
        return products(self._rows.matrix, w)

    def back(self, *several: Floats) -> list[Floats]:
        """Return ``sum r x`` for each of several r."""
        return [_core.combine(self._rows.matrix, r) for r in several]

    def gram(self, t: Floats, how: Precision) -> Floats:
        """Return the lower triangle of ``sum t (x, 1)(x, 1)'``, in double precision."""
        step = stride(self._of, self.d) if how is Precision.SAMPLE else 1
        if step == 1:
            return _core.gram(self._rows.matrix, t)
        return _core.gram(self._some.matrix, step * t[::step])

    def longest(self) -> float:
        """Return an upper bound on ``|x|`` of every row."""
        return math.sqrt(float(_core.square_norms(self._rows.matrix).max())) * (1.0 + 1e-12)

    def total(self, values: Floats) -> float:
        """Return the sum of the values."""
        return _core.dot(values, _ones(len(values)))

    def smallest(self, values: Floats) -> float:
        """Return the smallest value."""
        return float(values.min())

    def full(self, value: float) -> Floats:
        """Return this value for every row."""
        return np.full(self.n, value)


@lru_cache(maxsize=4)
def _ones(n: int) -> Floats:
    return np.ones(n)


class CoreEquations:
    """Newton's equations, by the Cholesky factor of the table with what the penalty adds to its diagonal.

    ``lean`` is what the square of the bias costs; None where there is no bias. The table is changed.
    """

    def __init__(self, table: Floats, lean: float | None) -> None:
        diagonal = np.einsum("ii->i", table)
        diagonal[:-1] += 1.0
        if lean is None:
            table[-1, :-1] = 0.0
            diagonal[-1] = 1.0
        else:
            diagonal[-1] += lean
        _core.factor(table, 1e-300, 1e300)
        self._factor = table

    def solve(self, right: Floats, right_total: float) -> tuple[Floats, float]:
        """Return the steps of w and b."""
        both = np.append(right, right_total)
        _core.substitute(self._factor, both)
        return both[:-1].copy(), float(both[-1])
