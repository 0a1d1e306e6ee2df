"""A histogram of a stream whose range is not known in advance: exact counts in little memory."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats

_MOST = 1 << 13  # bins
_FAR = 50  # powers of two from a bin's width to the largest number


class Bins(NamedTuple):
    """Edges, counts of each class between them, and the number of values beyond the ends, counted in the end bins."""

    edges: Floats
    counts: NDArray[np.int64]
    outside: int


class StreamingHistogram:
    """Counts numbers by class in bins whose width is a power of two; 0 is an edge.

    When numbers fall outside of the bins, neighbouring bins are merged, so that all counts stay exact.
    """

    def __init__(self, n_classes: int) -> None:
        self._exponent: int | None = None
        self._first = 0
        self.counts = np.zeros((n_classes, 0), dtype=np.int64)

    def add(self, values: Floats, codes: NDArray[np.intp]) -> None:
        """Count finite numbers."""
        finite = np.isfinite(values)
        values, codes = values[finite], codes[finite]
        if not len(values):
            return
        low, high = float(values.min()), float(values.max())
        if self._exponent is None:
            wide = max(high - low, 1e-12 * max(abs(low), abs(high)), 1e-300)
            self._exponent = math.ceil(math.log2(wide)) - int(math.log2(_MOST)) + 2
            self._first = int(_places(low, self._exponent))
        largest = max(abs(low), abs(high))
        while largest and self._exponent < math.frexp(largest)[1] - _FAR:  # places must stay whole numbers of 64 bits
            self._join()
        while True:
            begin = min(self._first, int(_places(low, self._exponent)))
            end = max(self._first + self.counts.shape[1], int(_places(high, self._exponent)) + 1)
            if end - begin <= _MOST:
                break
            self._join()
        wider = np.zeros((len(self.counts), end - begin), dtype=np.int64)
        wider[:, self._first - begin : self._first - begin + self.counts.shape[1]] = self.counts
        places = _places(values, self._exponent) - begin
        size = wider.shape[1]
        wider += np.bincount(codes * size + places, minlength=wider.size).reshape(wider.shape)
        self.counts, self._first = wider, begin

    def _join(self) -> None:
        """Make bins twice as wide."""
        assert self._exponent is not None
        before = self._first % 2
        after = (self.counts.shape[1] + before) % 2
        padded = np.pad(self.counts, ((0, 0), (before, after)))
        self.counts = padded.reshape(len(padded), -1, 2).sum(axis=2)
        self._first = (self._first - before) // 2
        self._exponent += 1

    def shown(self, bins: int, tail: float = 0.005) -> Bins:
        """Return about this many bins for a chart; a few outliers are counted in the end bins."""
        assert self._exponent is not None
        total = self.counts.sum(axis=0)
        sums = np.cumsum(total)
        low = int(np.searchsorted(sums, tail * sums[-1], side="right"))
        high = int(np.searchsorted(sums, (1 - tail) * sums[-1], side="left")) + 1
        if len(total) <= 2 * (high - low):  # the tails are not long
            low, high = 0, len(total)
        joined = max(1, math.ceil((high - low) / bins))
        begin = math.floor((self._first + low) / joined)
        end = math.ceil((self._first + high) / joined)
        own = (self._first + np.arange(len(total))) // joined
        places = np.clip(own, begin, end - 1) - begin
        counts = np.stack([np.bincount(places, own, end - begin) for own in self.counts]).astype(np.int64)
        outside = int(total[(own < begin) | (own >= end)].sum())
        width = math.ldexp(float(joined), self._exponent)
        return Bins(np.arange(begin, end + 1, dtype=np.float64) * width, counts, outside)


def _places(values: Any, exponent: int) -> NDArray[np.int64]:
    """Return the bins of numbers; one just below 0, lost when it is divided, is still below 0."""
    places = np.floor(np.ldexp(values, -exponent)).astype(np.int64)
    return np.asarray(np.where(np.less(values, 0), np.minimum(places, -1), places))
