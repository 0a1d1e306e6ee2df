"""Mean, variance and range of each column of rows that arrive block by block, with one update for all (``Moments``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_array, is_count, require

SAMPLE = 256  # rows that ``add_sample`` takes, evenly spaced


class Moments:
    """Running mean and sum of squared deviations of each column (Chan, Golub and LeVeque 1979, formula 1.5).

    Parameters
    ----------
    width : int, default=0
        Number of columns; it grows with the rows.
    ranges : bool, default=False
        Whether to keep the smallest and the largest value of each dense column too.

    Attributes
    ----------
    count : int, or array if values are missing
        Number of values in each column.
    mean : array
        The mean of each column.
    low, high : array or None
        The range of each column, if asked for and rows are dense.

    Examples
    --------
    >>> moments = Moments(ranges=True)
    >>> for block in ([[1.0, 5.0], [2.0, np.nan]], [[6.0, 5.0]]):
    ...     moments.add(np.array(block))
    >>> moments.mean, moments.deviation, moments.count
    (array([3., 5.]), array([2.1602469, 0.       ]), array([3, 2]))
    """

    low: Any = None
    high: Any = None
    _ranges = _sparse = False

    def __init__(self, width: int = 0, *, ranges: bool = False) -> None:
        self._ranges = ranges
        self.count: Any = 0
        self._mean: Floats = np.zeros(width)
        self._squares: Floats = np.zeros(width)  # sum of squared deviations from the mean

    @property
    def mean(self) -> Floats:
        """The mean of each column."""
        return self._mean

    @property
    def deviation(self) -> Floats:
        """The standard deviation of each column."""
        return np.asarray(np.sqrt(self._squares / np.maximum(self.count, 1)))

    def add_sample(self, rows: Rows) -> None:
        """Add at most 256 evenly spaced rows of these."""
        if hasattr(rows, "sample"):
            self.add(rows.sample(SAMPLE).values)
            return
        n, step = rows.shape[0], -(-rows.shape[0] // SAMPLE)
        self._sparse = is_sparse(rows.values)
        with np.errstate(over="ignore", invalid="ignore"):
            self._update(-(-n // step), *_core.sample_moments(rows.matrix, step))

    def add(self, values: Any) -> None:
        """Add rows; in dense ones NaN is a missing value."""
        n = values.shape[0]
        if n == 0:
            return
        with np.errstate(over="ignore", invalid="ignore"):  # a variance may be too large for a number
            if is_sparse(values):
                self._sparse = True
                self._update(n, *_sparse_moments(values))
                return
            mean = np.array(values[0], dtype=np.float64) if n == 1 else values.sum(axis=0, dtype=np.float64) / n
            missing = np.isnan(values) if np.isnan(mean).any() else None
            self._update(*_dense_moments(values, mean, missing))
        if self._ranges:
            low, high = (values if missing is None else np.where(missing, end, values) for end in (np.inf, -np.inf))
            self.low = low.min(axis=0) if self.low is None else np.minimum(self.low, low.min(axis=0))
            self.high = high.max(axis=0) if self.high is None else np.maximum(self.high, high.max(axis=0))

    def widen(self, width: int) -> None:
        """Make room for more columns, all of whose values were 0 so far."""
        if width > len(self._mean):
            self._mean, self._squares = (np.pad(each, (0, width - len(each))) for each in (self._mean, self._squares))

    def _update(self, count: Any, mean: Floats, squares: Floats) -> None:
        known = self.count
        if isinstance(known, int) and known == 0:
            self.count, self._mean, self._squares = count, mean + 0.0, squares
            return
        self.widen(len(mean))
        total = known + count
        part = count / (total if isinstance(total, int) else np.maximum(total, 1))
        shift = mean - self._mean
        self._squares = self._squares + squares + shift * shift * known * part
        self._mean = self._mean + shift * part
        self.count = total

    # ------------------------------------------------------------------------------------------ scaling

    def scale(self, how: str, width: int, n: int) -> tuple[Floats, Floats]:
        """Return shift and factor as scikit-learn's scalers compute them for ``n`` rows, missing values being means.

        A constant column keeps its scale.
        """
        if how == "none" or not width:
            return np.zeros(width), np.ones(width)
        if self._sparse:
            return np.zeros(width), self._factor(n)
        if how == "standard":
            return self._mean.copy(), self._factor(n)
        extent = np.where(self.high > self.low, self.high - self.low, 1.0)
        return -self.low / extent, 1.0 / extent

    def _factor(self, n: int) -> Floats:
        """Return the standard deviations; 1 for columns that rounding cannot tell from constant, as scikit-learn."""
        variance, eps = self._squares / n, np.finfo(np.float64).eps
        constant = variance <= n * eps * variance + (n * self._mean * eps) ** 2
        return np.where(constant, 1.0, np.sqrt(variance))

    def validate(self) -> None:
        """Refuse what no sample gives."""
        fits = is_array(self._mean, "f8", (None,)) and is_array(self._squares, "f8", (len(self._mean),))
        require(fits and is_count(self.count), "its moments are damaged")


def _dense_moments(values: Any, mean: Floats, missing: Any) -> tuple[Any, Floats, Floats]:
    """Return the count, the mean and the sum of squared deviations of each column."""
    if missing is None and len(values) == 1:
        return 1, mean, np.zeros_like(mean)
    count: Any = len(values)
    if missing is not None:
        count = count - missing.sum(axis=0)
        mean = np.where(missing, 0.0, values).sum(axis=0) / np.maximum(count, 1)
    deviations = values - mean
    if missing is not None:
        deviations[missing] = 0.0
    deviations *= deviations
    return count, mean, deviations.sum(axis=0)


def _sparse_moments(values: Any) -> tuple[Floats, Floats]:
    """Return the mean and the sum of squared deviations of each column."""
    n, width = values.shape
    mean: Floats = np.bincount(values.indices, values.data, minlength=width) / n
    if n == 1:
        return mean, np.zeros(width)
    stored = np.bincount(values.indices, minlength=width)
    off = values.data - mean[values.indices]
    return mean, np.bincount(values.indices, off * off, minlength=width) + (n - stored) * mean * mean
