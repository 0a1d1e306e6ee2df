"""Temporary."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats, is_sparse


class Moments:
    """Means, spreads and ranges of number columns, seen some rows at a time (Chan, Golub and LeVeque 1979)."""

    def __init__(self) -> None:
        self.count: Any = 0.0
        self.mean: Any = 0.0
        self.square: Any = 0.0  # the sum of squared distances from the mean
        self.low: Any = None
        self.high: Any = None
        self._sparse = False

    def add(self, numbers: Any) -> None:
        """Look at more rows; NaN is missing."""
        if is_sparse(numbers):
            self._add_sparse(numbers)
            return
        if not numbers.shape[0]:
            return
        there = ~np.isnan(numbers)
        count = there.sum(axis=0).astype(np.float64)
        filled = np.where(there, numbers, 0.0)
        mean = filled.sum(axis=0) / np.maximum(count, 1)
        square = (np.where(there, numbers - mean, 0.0) ** 2).sum(axis=0)
        self._join(count, mean, square)
        low = np.where(there, numbers, np.inf).min(axis=0)
        high = np.where(there, numbers, -np.inf).max(axis=0)
        self.low = low if self.low is None else np.minimum(self.low, low)
        self.high = high if self.high is None else np.maximum(self.high, high)

    def _add_sparse(self, numbers: Any) -> None:
        self._sparse = True
        n, width = numbers.shape
        if not n:
            return
        mean = np.bincount(numbers.indices, numbers.data, minlength=width) / n
        there = np.bincount(numbers.indices, minlength=width)
        off = numbers.data - mean[numbers.indices]
        square = np.bincount(numbers.indices, off * off, minlength=width) + (n - there) * mean * mean
        if self.count:
            self.mean, self.square = (_widened(values, width) for values in (self.mean, self.square))
        self._join(float(n), mean, square)

    def _join(self, count: Any, mean: Any, square: Any) -> None:
        total = self.count + count
        step = mean - self.mean
        part = count / np.maximum(total, 1)
        self.square = self.square + square + step * step * self.count * part
        self.mean = self.mean + step * part
        self.count = total

    def _spread(self, n: int) -> Floats:
        """Return the spreads; 1 for columns that rounding cannot tell from constant ones, as scikit-learn has it."""
        variance, tiny = self.square / n, np.finfo(np.float64).eps
        constant = variance <= n * tiny * variance + (n * self.mean * tiny) ** 2
        return np.where(constant, 1.0, np.sqrt(variance))

    def scale(self, how: str, width: int, n: int) -> tuple[Floats, Floats]:
        """Return shift and factor, as scikit-learn's scalers find them; a constant column keeps its scale."""
        if how == "none" or not width:
            return np.zeros(width), np.ones(width)
        if self._sparse:
            return np.zeros(width), self._spread(n)
        if how == "standard":
            return self.mean.copy(), self._spread(n)
        width_of = np.where(self.high > self.low, self.high - self.low, 1.0)
        return -self.low / width_of, 1.0 / width_of

    def constant(self, names: list[str]) -> list[str]:
        """Return the columns that hold one value only."""
        if self.low is None:
            return []
        return [name for name, low, high in zip(names, self.low, self.high, strict=True) if low == high]


def _widened(values: Floats, width: int) -> Floats:
    return np.pad(values, (0, max(0, width - len(values))))
