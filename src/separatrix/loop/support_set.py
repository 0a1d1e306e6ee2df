"""The examples that a dual perceptron with a budget stores, and what it needs to know in order to forget some."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_count, is_real

Indices = NDArray[np.int64]

FORGETS = _core.FORGETS
_KEPT, _INDEPENDENT = (_core.BUDGET_COUNT_SLOTS.index(name) for name in ("kept", "independent"))
_STEP_SUM, _SHRINKAGE = (_core.BUDGET_REAL_SLOTS.index(name) for name in ("step_sum", "shrinkage"))


@dataclass(eq=False)
class SupportSet:
    """The examples that one task stores; the core changes the arrays in place (``src/_core/budget.hpp``).

    ``stored`` names rows, of the problem during a run, of the model's support vectors between runs. ``stamps`` say at
    which step each was last moved. ``factor`` is the Cholesky factor of the kernel matrix of those that are linearly
    independent, row after row, for projections; ``radius_square`` the largest ``K(x, x) + K^2`` so far.
    """

    budget: int
    forget: str
    seed: int
    stored: Indices
    stamps: Indices
    counts: Indices
    totals: Floats
    factor: Floats
    radius_square: float = 0.0

    @classmethod
    def new(cls, budget: int, forget: str, seed: int) -> SupportSet:
        """Return an empty one; ``seed`` is that of the examples which "random" removes."""
        empty = np.empty(0, dtype=np.int64)
        counts = np.zeros(len(_core.BUDGET_COUNT_SLOTS), dtype=np.int64)
        totals = np.zeros(len(_core.BUDGET_REAL_SLOTS))
        return cls(budget, forget, seed, empty, empty.copy(), counts, totals, np.empty(0))

    @property
    def kept(self) -> int:
        """The number of stored examples."""
        return int(self.counts[_KEPT])

    @property
    def full(self) -> bool:
        """Whether the next new example makes one be forgotten."""
        return self.kept == self.budget

    @property
    def projecting(self) -> bool:
        """Whether activations must be summed up anew, because a projection has moved many coefficients."""
        return int(self.counts[_INDEPENDENT]) > 0

    @property
    def rows(self) -> Indices:
        """The stored examples."""
        return self.stored[: self.kept]

    @property
    def step_sum(self) -> float:
        """The weight of all mistakes."""
        return float(self.totals[_STEP_SUM])

    @property
    def shrinkage(self) -> float:
        """The sum of ``(1 - phi) / (1 + phi)`` over all removals with ``forget="oldest"``."""
        return float(self.totals[_SHRINKAGE])

    def begin(self, diagonal: Floats, bias_square: float) -> _core.Budget:
        """Make room for the examples of a run, given their kernel with themselves, and return what the core takes."""
        n = len(diagonal)
        size = min(self.budget, n)
        self.stored, self.stamps = (_resized(array, size) for array in (self.stored, self.stamps))
        if self.forget == "projected":
            self.factor = _resized(self.factor, _triangle(size))
        self.radius_square = max(self.radius_square, float(diagonal.max(initial=0.0)) + bias_square)
        place = np.full(n, -1, dtype=np.int64)
        place[self.rows] = np.arange(self.kept)
        return _core.Budget(
            self.forget, self.stored, place, self.stamps, self.counts, self.totals, self.factor, diagonal,
            self.radius_square, self.seed,
        )  # fmt: skip

    def settle(self, place: Indices) -> None:
        """Give back what a run did not use, and rename each example to its place."""
        self.stored, self.stamps = place[self.rows].astype(np.int64), self.stamps[: self.kept].copy()
        self.factor = self.factor[: _triangle(int(self.counts[_INDEPENDENT]))].copy()

    def fits(self, n: int) -> bool:
        """Whether this can be the support of a model with n support vectors."""
        numbers = is_count(self.budget, 1) and is_count(self.seed, 0, 2**64 - 1) and self.forget in FORGETS
        fits = (
            numbers and is_array(self.counts, "i8", (len(_core.BUDGET_COUNT_SLOTS),)) and bool((self.counts >= 0).all())
        )
        fits = fits and is_array(self.totals, "f8", (len(_core.BUDGET_REAL_SLOTS),), finite=True)
        fits = fits and is_real(self.radius_square) and 0 <= self.radius_square < math.inf
        if not fits or self.kept > self.budget:
            return False
        independent = int(self.counts[_INDEPENDENT])
        fits = independent <= (self.kept if self.forget == "projected" else 0)
        fits = fits and is_array(self.stored, "i8", (self.kept,)) and is_array(self.stamps, "i8", (self.kept,))
        fits = fits and is_array(self.factor, "f8", (_triangle(independent),), finite=True)
        if not fits or len(np.unique(self.stored)) != self.kept:
            return False
        ends = np.cumsum(np.arange(1, independent + 1)) - 1
        return bool(((self.stored >= 0) & (self.stored < n)).all() and (self.factor[ends] > 0).all())


def _triangle(size: int) -> int:
    return size * (size + 1) // 2


def _resized(array: NDArray[Any], size: int) -> NDArray[Any]:
    out = np.zeros(size, dtype=array.dtype)
    kept = min(size, len(array))
    out[:kept] = array[:kept]
    return out
