"""Coordinate ascent on the dual problem without slack, for wide data."""

from __future__ import annotations

import math

import numpy as np

from separatrix import _core
from separatrix.certificates.margin_search import PULL, MarginSearch, SearchResult, exponent, half_way, scaled
from separatrix.geometry.rows import Rows, is_sparse
from separatrix.svm.ascent import Ascent
from separatrix.svm.task import MarginTask

_EPOCHS = 5000  # of coordinate ascent on all rows
_LOOKS = 16  # epochs between two passes
_SAFE = 400  # powers of two whose squares neither overflow nor vanish


class AscentSearch(MarginSearch):
    """Coordinate ascent on the dual problem."""

    def run(self) -> SearchResult:
        """Ascend until a look at the bounds says that it is enough."""
        self._exponent = exponent(self.rows.values.data if is_sparse(self.rows.values) else self.rows.values)
        rows = self.rows
        if abs(self._exponent) > _SAFE:
            half = self._exponent // 2  # the whole power of two may be none that there is
            rows = Rows(self.rows.values * 2.0**-half * 2.0 ** (half - self._exponent))
        else:
            self._exponent = 0
        task = MarginTask(rows, self.signs, np.full(len(self.signs), np.inf), free=self.free)
        longest = math.sqrt(float(task.squares.max()))
        if self.free:
            longest = math.hypot(longest, scaled(1.0, -self._exponent))
        ascent = Ascent(task, None, self.seed)
        ascent.bias_square *= PULL
        while ascent.epochs < _EPOCHS:
            try:
                over = not ascent.epoch(self.halted)
            except OverflowError:
                break
            if not over and ascent.epochs != _LOOKS // 2 and ascent.epochs % _LOOKS:
                continue
            self._look(task, ascent)
            if over:
                return self.end("halted")
            if self.upper - self.plane[2] <= self.tol * self.upper:
                return self.end("narrow")
            if self.plane[2] <= 0.0 and self.upper <= self.tol * scaled(longest, self._exponent):
                return self.end("epsilon")
        return self.end("stuck")

    def _look(self, task: MarginTask, ascent: Ascent) -> None:
        """Measure the plane and the convex weights that the ascent has come to."""
        matrix, signs, alpha = task.rows.matrix, self.signs, ascent.alpha
        above = np.where(signs > 0.0, alpha, 0.0)
        ones = np.ones(len(alpha))
        sums = [_core.dot(above, ones), _core.dot(alpha - above, ones)]
        if self.free and min(sums) > 0.0:
            alpha *= np.where(signs > 0.0, 0.5 / sums[0], 0.5 / sums[1])
        elif sum(sums) > 0.0:
            alpha /= sum(sums)
        else:
            return
        vector = _core.combine(matrix, signs * alpha)
        upper = scaled(math.sqrt(_core.dot(vector, vector)), self._exponent)
        if upper < self.upper and (min(sums) > 0.0 or not self.free):
            self.points = np.flatnonzero(alpha)
            self.shares, self.upper = alpha[self.points], upper
            self.report()
        length = math.sqrt(_core.dot(ascent.weights, ascent.weights))
        if length > 0.0:
            weights = ascent.weights / length
            margins = signs * _core.decide(matrix, weights[None, :], np.zeros(1), 1)[:, 0]
            bias, least = half_way(margins, signs, 0.0) if self.free else (0.0, float(margins.min()))
            self.keep(weights, scaled(bias, self._exponent), scaled(least, self._exponent))
