"""Rows in memory, dense or CSR, whose products come from the compiled core: the same bits on every machine."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.svm.smooth import products


class CoreRows:
    """The rows of one shard."""

    xp: Any = np

    def __init__(self, values: Any) -> None:
        self._matrix = Rows(values).matrix
        self.n, self.d = values.shape
        self._ones = np.ones(self.n)

    def times(self, w: Floats) -> Floats:
        """Return ``w.x`` of every row."""
        return products(self._matrix, w)

    def back(self, *several: Floats) -> list[Floats]:
        """Return ``sum r x`` for each of several r."""
        return [_core.combine(self._matrix, r) for r in several]

    def gram(self, t: Floats, *, exact: bool = True) -> Floats:
        """Return the lower triangle of ``sum t (x, 1)(x, 1)'``, in double precision."""
        return _core.gram(self._matrix, t)

    def longest(self) -> float:
        """Return an upper bound on ``|x|`` of every row."""
        return math.sqrt(float(_core.square_norms(self._matrix).max())) * (1.0 + 1e-12)

    def total(self, values: Floats) -> float:
        """Return the sum of the values."""
        return _core.dot(values, self._ones)

    def smallest(self, values: Floats) -> float:
        """Return the smallest value."""
        return float(values.min())

    def full(self, value: float) -> Floats:
        """Return this value for every row."""
        return np.full(self.n, value)


class CoreEquations:
    """Newton's equations, by the Cholesky factor of the table with what the penalty adds to its diagonal.

    ``lean`` is what the square of the bias costs; None where there is no bias.
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
