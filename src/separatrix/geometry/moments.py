"""Spread: how far each feature varies, learned from a sample of the rows as they come by."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats, Rows, is_sparse

SAMPLE = 256  # rows looked at in one call, evenly spread


class Spread:
    """Running mean and variance of each feature over samples of at most 256 evenly spread rows from each call."""

    def __init__(self, d: int) -> None:
        self.count = 0
        self._mean = np.zeros(d)
        self._squares = np.zeros(d)  # sum of squared distances from the mean

    def add(self, rows: Rows) -> None:
        """Look at some of these rows (Chan, Golub and LeVeque 1979, formula 1.5, joins the sums)."""
        sample = rows.values[:: -(-rows.shape[0] // SAMPLE)]
        count = sample.shape[0]
        total = self.count + count
        with np.errstate(over="ignore", invalid="ignore"):  # a spread may be too large for a number
            mean, squares = _moments(sample, len(self._mean))
            if self.count == 0:
                self._mean, self._squares = mean, squares
            else:
                shift = mean - self._mean
                self._squares = self._squares + squares + shift * shift * (self.count * count / total)
                self._mean = self._mean + shift * (count / total)
        self.count = total

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each feature."""
        return np.asarray(np.sqrt(self._squares / max(self.count, 1)))


def _moments(sample: Any, d: int) -> tuple[Floats, Floats]:
    """Return the mean of each column and the sum of squared distances from it."""
    n = sample.shape[0]
    if is_sparse(sample):
        values = sample.data.astype(np.float64)
        mean: Floats = np.bincount(sample.indices, values, minlength=d) / n
        squares: Floats = np.asarray(np.bincount(sample.indices, values * values, minlength=d), dtype=np.float64)
        squares -= n * mean * mean
        return mean, np.maximum(squares, 0.0, out=squares)
    block = np.array(sample, dtype=np.float64, order="C")
    mean = block.mean(axis=0)
    block -= mean
    return mean, np.einsum("ij,ij->j", block, block)
