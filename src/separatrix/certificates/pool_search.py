"""The nearest points of the two hulls among pools of rows, for data of up to some hundred features (or rows).

See bracket.py for the method.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.certificates.corral import NOTHING, Corral
from separatrix.certificates.exact_rows import Places
from separatrix.certificates.margin_search import PULL, MarginSearch, SearchResult, exponent, half_way, scaled
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.ascent import Ascent
from separatrix.svm.task import MarginTask

_SMALL = 1e-9  # an upper bound that is this part of the data's size: the hulls touch or overlap
_GROWTH = 16  # from one sample to the next
_ROOM = 1000  # rows of a pool, at least
_PART = 32  # one row in this many is near enough to the plane to be looked at again before all are
_LOOSE = 0.1  # a bracket that will do for a sample
_SHARE = 0.3  # the part of it that a pool may use up
_ROUNDS = 200  # passes over one sample
_PATIENCE = 4  # of them without progress
_STRIDE = 1 << 14  # margins that are enough to see how many lie below a threshold
_AT_ONCE = 1 << 27  # numbers to read between two looks at the clock
_SOME = 150  # epochs of coordinate ascent on a pool
_FAINT = 1e-100  # a length whose square nearly vanishes


class PoolSearch(MarginSearch):
    """The nearest points among pools of rows."""

    def run(self) -> SearchResult:
        """Go through samples of growing size, then all rows."""
        n, d = self.rows.shape
        self._classes = [np.flatnonzero(self.signs == side) for side in (1.0, -1.0)]
        self._room = max(_ROOM, 4 * d)  # rows of a pool
        self._bias, self._weights = 0.0, np.zeros(d)
        size = self._room
        whole = n <= 2 * size
        why = self._solve(np.arange(n) if whole else self._sample(size), _SHARE * (self.tol if whole else _LOOSE))
        while not why and 2 * size * _GROWTH < n:
            size *= _GROWTH
            why = self._passes(self._sample(size), _LOOSE)
        return self.end(why or self._passes(None, self.tol))

    def _sample(self, size: int) -> Places:
        """Return about this many rows, as many of either class as there are up to one half."""
        random = np.random.default_rng((self.seed, size))
        half = size // 2
        chosen = [own if len(own) <= half else own[random.integers(len(own), size=half)] for own in self._classes]
        return _union(*chosen)

    def _passes(self, places: Places | None, near: float) -> str:
        """Alternate passes over these rows (None: all) with pools of the nearest; return why the search ends, if so."""
        rows = self.rows if places is None else Rows(self.rows.values[places])
        signs = self.signs if places is None else self.signs[places]
        idle, best = 0, -math.inf
        for _ in range(_ROUNDS):
            margins = self._margins(rows, signs)
            if margins is None:
                return "halted"
            bias, least = half_way(margins, signs, self._bias) if self.free else (0.0, float(margins.min()))
            if places is None:
                self.keep(self._weights, bias, least)
            if self.upper - least <= near * self.upper:
                return "narrow" if places is None else ""
            pool = self._nearest(margins)
            pool = _union(self.points, pool if places is None else places[pool])
            before = self.upper
            many = len(pool) > 4 * self._room
            why = self._passes(pool, 0.5 * near) if many else self._solve(pool, _SHARE * near)
            if why:
                return why
            idle = 0 if self.upper < before * (1.0 - 1e-9) or least > best else idle + 1
            best = max(best, least)
            if idle == _PATIENCE:
                break
        return "" if places is not None else "small" if self._part <= _SMALL else "stuck"

    def _margins(self, rows: Rows, signs: Floats) -> Floats | None:
        """Return the margins of all these rows; None when halted."""
        n, d = rows.shape
        plane = self._weights[None, :], np.array([self._bias])
        stored = int(rows.values.nnz) if is_sparse(rows.values) else n * d
        step = n if stored <= _AT_ONCE else max(1, _AT_ONCE // d)
        margins = np.empty(n)
        for first in range(0, n, step):
            if self.halted():
                return None
            block = rows if step == n else Rows(rows.values[first : first + step])
            margins[first : first + step] = _core.decide(block.matrix, *plane, 1)[:, 0]
        margins *= signs
        return margins

    def _nearest(self, margins: Floats) -> Places:
        """Return the rows with the least margins: a pool of them, or a small part, from which the pools then come."""
        n, room = len(margins), self._room
        room = max(room, n // _PART)
        if n <= 2 * room:
            return np.arange(n)
        seen = margins[:: max(1, n // _STRIDE)]
        at = min(room * len(seen) // n, len(seen) - 1)
        chosen = np.flatnonzero(margins <= np.partition(seen, at)[at])
        if len(chosen) > 2 * room:
            chosen = np.sort(chosen[np.argpartition(margins[chosen], room)[:room]])
        return chosen

    def _solve(self, pool: Places, precision: float) -> str:
        """Find the nearest points among a pool and the plane between them; return why the search ends, if it does."""
        points, center, exponents = self._seen(pool)
        before = scaled(self.upper, -sum(exponents))
        start = self._start(pool, points, before)
        if start is None and len(self.points):
            start = np.searchsorted(pool, self.points), self.shares
        points *= self.signs[pool][:, None]
        sides = np.where(self.signs[pool] > 0.0, 0, 1) if self.free else np.zeros(len(pool), dtype=np.intp)
        totals = np.full(2, 0.5) if self.free else np.ones(1)
        narrow = points
        if 2 * len(pool) < points.shape[1]:  # the same lengths and angles in as many coordinates as rows
            narrow = np.asarray(np.linalg.qr(points.T, mode="r")).T
        nearest = Corral(narrow, sides, totals).search(start, precision, self.halted)
        rows = points[nearest.places]
        vector = nearest.weights @ rows
        length = math.sqrt(_core.dot(vector, vector))
        if length >= before:
            return "halted" if self.halted() else ""
        self.points, self.shares = pool[nearest.places], nearest.weights
        self.upper = scaled(length, sum(exponents))
        self._part = length / (math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max())) or 1.0)
        self.report()
        if self._part <= NOTHING:
            return "small"
        self._weights = vector / length
        if self.free:
            here = 0.5 * float(nearest.levels[1] - nearest.levels[0]) / length
            there = _core.dot(self._weights, center)
            self._bias = scaled(scaled(here, exponents[1]) - there, exponents[0])
        return "halted" if self.halted() else ""

    def _start(self, pool: Places, points: Floats, length: float) -> tuple[Places, Floats] | None:
        """Return likely rows of the corral and weights from some epochs of coordinate ascent; None if it overflows."""
        signs = self.signs[pool]
        task = MarginTask(Rows(points), signs, np.full(len(pool), np.inf), free=self.free)
        ascent = Ascent(task, None, self.seed)
        ascent.bias_square *= PULL
        if len(self.points) and length > _FAINT:
            known = np.searchsorted(pool, self.points)
            alpha = np.zeros(len(pool))
            alpha[known] = self.shares / length**2
            products = points[known] @ ((self.shares * signs[known]) @ points[known])
            ascent.jump(alpha, -_core.dot(self.shares, products) / length**2)
        try:
            while ascent.epochs < _SOME and ascent.epoch(self.halted):
                pass
        except OverflowError:
            return None
        alpha = ascent.alpha
        chosen = np.argsort(-alpha, kind="stable")[: points.shape[1] + 1]
        chosen = chosen[alpha[chosen] > 0.0]
        return chosen, alpha[chosen]

    def _seen(self, pool: Places) -> tuple[Floats, Floats, tuple[int, int]]:
        """Return the rows of a pool, seen from the first if the bias is free, and scaled to a size near 1.

        A row is ``2^a (center + 2^b p)``: powers of two, so that scaling loses nothing.
        """
        chosen: Any = self.rows.values[pool]
        points = np.array(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)
        first = exponent(points)
        np.ldexp(points, -first, out=points)
        center, second = np.zeros(points.shape[1]), 0
        if self.free:
            center = points[0].copy()  # differences of rows are exact where those from a mean are not
            points -= center
            second = exponent(points)
            np.ldexp(points, -second, out=points)
        return points, center, (first, second)


def _union(one: Places, other: Places) -> Places:
    """Return the places in either, in ascending order."""
    both: Places = np.sort(np.concatenate([one, other]))
    return both[np.flatnonzero(np.diff(both, prepend=-1))]
