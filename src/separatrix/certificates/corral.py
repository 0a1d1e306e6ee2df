"""The point of two small hulls' difference that is nearest to the origin (Wolfe, Math. Programming 11, 1976).

Given are signed rows ``p_i = y_i x_i``, each on a side. Wanted are ``lambda >= 0``, of a fixed sum on each side, for
which ``v = sum lambda_i p_i`` is as short as can be. A corral is a set of rows, independent together with the sums
of their sides, whose weights are all positive and make v the shortest vector not only of their hull but of their whole
affine hull: then all rows of one side have the same product with v. A row whose product is less joins the corral; on
the way to the new shortest vector some weight may become zero, and that row leaves. The length of v falls with every
row that joins, so that no corral comes twice; a corral never has more rows than there are features and sides.

If v is zero, the origin lies in the hull, the corral is a smallest set of rows that shows it, and their weights are the
one solution of a system of linear equations.

Here: plain doubles, NumPy's products and factors of the corral's inner products. Not here: the choice of the rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats

Places = NDArray[np.intp]

NOTHING = 1e-12  # a vector this much shorter than the rows is zero
_DEPENDENT = 1e-13  # a row that has less than this part of its square outside the corral's span depends on it
_LEAST = 1e-13  # a weight that is less is none
_APART = 1e-5  # the same for the rows to begin with, as a part of its length
_STALE = 40  # changes of the inverse before it is computed anew
_REFINEMENTS = 4
_AT_ONCE = 12  # rows looked at again before all are
_PATIENCE = 3  # times that all are looked at without progress
_MOST = 20  # cycles per row that a corral may have


class Nearest(NamedTuple):
    """A corral (places among the points), its weights, v, and the product with v that each side has."""

    places: Places
    weights: Floats
    vector: Floats
    levels: Floats


class Corral:
    """The search for the nearest point among some points.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        The signed rows, of a size near 1.
    sides : array of int
        The side of each, 0 or 1; all 0 where there is one.
    totals : array of float
        The sum of the weights of each side.
    """

    def __init__(self, points: Floats, sides: Places, totals: Floats) -> None:
        room = points.shape[1] + len(totals) + 1
        self._points, self._sides, self._totals = points, sides, totals
        self._size = 0
        self._places = np.empty(room, dtype=np.intp)
        self._weights = np.empty(room)
        self._rows = np.empty((room, points.shape[1]))
        self._inverse = np.empty((room, room))
        self._units = np.zeros((room, len(totals)))
        self._pull = float(np.einsum("ij,ij->i", points, points).mean()) or 1.0
        self._changes = 0
        self.vector = np.zeros(points.shape[1])
        self.levels = np.zeros(len(totals))

    @np.errstate(over="ignore", divide="ignore", invalid="ignore")  # what is not finite ends the search
    def search(self, start: tuple[Places, Floats] | None, precision: float, halted: Callable[[], bool]) -> Nearest:
        """Return the nearest point, begun from these rows and weights; none is shorter by more than this part.

        Ends early when halted, when v is zero, and when rounding lets no row join any more: then with the best so far.
        """
        self._begin(start)
        barred = np.zeros(len(self._points), dtype=bool)  # rows that depend on the corral, as far as rounding can tell
        best, least, idle = self._nearest(), np.inf, 0
        try:
            self._descend()
            for _ in range(_MOST * len(self._places)):
                square = float(self.vector @ self.vector)
                idle = 0 if square < least * (1.0 - 1e-12) else idle + 1
                if square < least:
                    best, least = self._nearest(), square
                if idle == _PATIENCE or square <= self._zero():
                    break
                deficits = self.levels[self._sides] - self._points @ self.vector
                deficits[barred] = -np.inf
                several = min(_AT_ONCE, len(deficits))
                worst = np.argpartition(-deficits, several - 1)[:several]
                worst = worst[np.argsort(-deficits[worst], kind="stable")]
                wanted = max(precision * square, 1e-15 * np.sqrt(square * self._pull))
                if deficits[worst[0]] <= wanted:
                    break
                wanted = max(wanted, 0.3 * deficits[worst[0]])
                for place in worst:
                    if self.levels[self._sides[place]] - self._points[place] @ self.vector > wanted:
                        if halted():
                            return best
                        barred[place] = not self._join(int(place))
            self._trim()
            return min(self._nearest(), best, key=lambda each: max(float(each.vector @ each.vector), self._zero()))
        except (FloatingPointError, np.linalg.LinAlgError):  # rounding has the upper hand
            return best

    def _begin(self, start: tuple[Places, Floats] | None) -> None:
        """Begin with these rows, those left out that depend on others or may not be weighed."""
        places, weights = self._pair() if start is None else start
        kept = self._independent(places) & np.isfinite(weights)
        places, weights = places[kept], weights[kept]
        units = np.equal.outer(self._sides[places], np.arange(len(self._totals))).astype(np.float64)
        sums = weights @ units
        if not (sums > 0.0).all():
            self._begin(None)
            return
        self._size = size = len(places)
        self._places[:size], self._rows[:size], self._units[:size] = places, self._points[places], units
        self._weights[:size] = weights
        self._changes = _STALE
        self._weigh()

    def _pair(self) -> tuple[Places, Floats]:
        """Return one row of each side: the shortest, and that nearest to it."""
        first = int(np.argmin(np.einsum("ij,ij->i", self._points, self._points)))
        chosen = [first]
        if len(self._totals) == 2:
            others = np.flatnonzero(self._sides != self._sides[first])
            apart = self._points[others] + self._points[first]
            chosen.append(int(others[np.argmin(np.einsum("ij,ij->i", apart, apart))]))
        return np.array(chosen), np.ones(len(chosen))

    def _independent(self, places: Places) -> NDArray[np.bool_]:
        """Return which of these rows, with the sums of their sides, do not depend on those before them."""
        room = len(self._places) - 1
        units = np.equal.outer(self._sides[places], np.arange(len(self._totals)))
        table = np.c_[self._points[places], np.sqrt(self._pull) * units]
        left = np.abs(np.diagonal(np.linalg.qr(table.T, mode="r")))
        free = np.zeros(len(places), dtype=bool)
        free[: len(left)] = left > _APART * np.sqrt(np.einsum("ij,ij->i", table, table))[: len(left)]
        free[room:] = False
        return free

    def _longest(self) -> float:
        rows = self._rows[: self._size]
        return float(np.einsum("ij,ij->i", rows, rows).max())

    def _join(self, place: int) -> bool:
        """Let this row join and go to the new shortest vector; False if it depends on the corral."""
        k = self._size
        if k == len(self._places):
            return False
        row, side = self._points[place], self._sides[place]
        across = self._rows[:k] @ row + self._pull * self._units[:k, side]
        own = float(row @ row) + self._pull
        if self._changes >= _STALE:
            self._renew()
        inverse = self._inverse
        along = inverse[:k, :k] @ across
        rest, uneven = row - along @ self._rows[:k], -(along @ self._units[:k])
        uneven[side] += 1.0
        left = float(rest @ rest) + self._pull * float(uneven @ uneven)  # the difference of squares would lose it
        if left <= _DEPENDENT * own:
            return False
        self._places[k], self._weights[k], self._rows[k] = place, 0.0, row
        self._units[k] = 0.0
        self._units[k, side] = 1.0
        inverse[:k, :k] += np.outer(along, along / left)
        inverse[k, :k] = inverse[:k, k] = -along / left
        inverse[k, k] = 1.0 / left
        self._size += 1
        self._changes += 1
        self._descend()
        return True

    def _descend(self) -> None:
        """Go towards the shortest vector of the affine hull; rows whose weight becomes zero on the way leave."""
        while True:
            k = self._size
            goal = self._affine()
            if not np.isfinite(goal).all():
                raise FloatingPointError
            weights = self._weights[:k]
            falls = goal <= 0.0
            if not falls.any():
                weights[:] = goal
                break
            steps = np.full(k, np.inf)
            steps[falls] = weights[falls] / np.maximum(weights[falls] - goal[falls], 1e-300)
            leaving = int(np.argmin(steps))
            weights += min(float(steps[leaving]), 1.0) * (goal - weights)
            np.maximum(weights, 0.0, out=weights)
            self._leave(leaving)
        self._weigh()

    def _weigh(self) -> None:
        """Make the sums of the weights what they should be, and compute v from them."""
        k = self._size
        rows, units, weights = self._rows[:k], self._units[:k], self._weights[:k]
        weights *= units @ (self._totals / (weights @ units))
        self.vector = weights @ rows
        self.levels = ((rows @ self.vector) * weights) @ units / self._totals

    def _affine(self) -> Floats:
        """Return the weights, of any sign, that make the shortest vector of the affine hull."""
        k = self._size
        if self._changes >= _STALE:
            self._renew()
        rows, units, inverse = self._rows[:k], self._units[:k], self._inverse[:k, :k]
        by_side = inverse @ units
        table = np.linalg.inv(units.T @ by_side)
        goal = by_side @ (table @ self._totals)
        for _ in range(_REFINEMENTS):  # the inverse is only as good as the square of the conditioning allows
            step = inverse @ (rows @ (goal @ rows))
            step -= by_side @ (table @ (step @ units + self._totals - goal @ units))
            goal -= step
            if np.abs(step).max() <= 1e-9 * np.abs(goal).max():
                break
        return np.asarray(goal)

    def _renew(self) -> None:
        k = self._size
        rows, units = self._rows[:k], self._units[:k]
        table = rows @ rows.T + self._pull * (units @ units.T)
        try:
            self._inverse[:k, :k] = np.linalg.inv(table)
        except np.linalg.LinAlgError:
            self._inverse[:k, :k] = np.linalg.pinv(table, hermitian=True)
        self._changes = 0

    def _leave(self, gone: int) -> None:
        """Drop a row; the last one takes its place."""
        k = self._size - 1
        inverse = self._inverse
        if gone != k:
            for kept in (self._places, self._weights, self._rows, self._units):
                kept[gone] = kept[k]
            inverse[[gone, k], : k + 1] = inverse[[k, gone], : k + 1]
            inverse[: k + 1, [gone, k]] = inverse[: k + 1, [k, gone]]
        column = inverse[:k, k].copy()
        inverse[:k, :k] -= np.outer(column, column / inverse[k, k])
        self._size = k
        self._changes = self._changes + 1 if inverse[k, k] > 0.0 else _STALE

    def _trim(self) -> None:
        """Let go of rows whose weights are nothing but rounding."""
        while self._weights[: self._size].min() < _LEAST:
            self._leave(int(np.argmin(self._weights[: self._size])))
            self._descend()

    def _zero(self) -> float:
        return NOTHING * NOTHING * self._longest()

    def _nearest(self) -> Nearest:
        k = self._size
        return Nearest(self._places[:k].copy(), self._weights[:k].copy(), self.vector, self.levels)
