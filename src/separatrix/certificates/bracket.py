"""The largest margin between two bounds, found fast and in plain doubles; to prove them is left to others.

The largest margin is the maximum over planes with ``|w| = 1`` of the least ``y_i (w.x_i + b)``. Every plane gives a
lower bound. Weights ``lambda >= 0`` whose sum is 1/2 on each class (without a bias: 1 in all) give an upper one,
``|sum lambda_i y_i x_i|``: half the distance of a point in the one hull from a point in the other. The weights of the
two nearest points meet the best plane, which is at right angles to the line between them. Where that distance is zero
no plane separates.

Few rows decide. With up to some hundred features (or rows) the nearest points are found among a pool of rows, roughly
by coordinate ascent (svm/ascent.py) and then to the last digit (corral.py). One pass over all rows measures the plane
between them; the rows nearest to it, or behind it, are the next pool, together with the corral. The first pools come
from samples of growing size: the best plane of a random sample of m out of n rows leaves about ``(d + 2) n / m`` rows
on its wrong side, on average (Clarkson, J. ACM 42, 1995), so that a step from one sample to one many times larger still
finds most of them in one pass, and few passes over all rows are left.

Wider data go through coordinate ascent alone, on the dual problem without slack: its alpha, scaled to convex weights,
gives the upper bound, and its weights give the plane.

Samples are drawn from a seed; the only other thing that could differ between machines is the last bit of NumPy's linear
algebra on the pools.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.certificates.corral import NOTHING, Corral
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.geometry.simplex import one_thread
from separatrix.svm.ascent import Ascent
from separatrix.svm.task import MarginTask

Places = NDArray[np.intp]

_MOST_FEATURES = 500  # of a pool: beyond, the corral is slower than coordinate ascent on all rows
_MOST_VALUES = 1 << 23  # of a pool that is all there is
_SMALL = 1e-9  # an upper bound that is this part of the data's size: the hulls touch or overlap
_GROWTH = 16  # from one sample to the next
_ROOM = 1000  # rows of a pool, at least
_PART = 32  # one row in so many is near enough to the plane to be looked at again before all are
_LOOSE = 0.1  # a bracket that will do for a sample
_SHARE = 0.3  # the part of it that a pool may use up
_ROUNDS = 200  # passes over one sample
_PATIENCE = 4  # of them without progress
_STRIDE = 1 << 14  # margins that are enough to see how many lie below a threshold
_AT_ONCE = 1 << 27  # numbers to read between two looks at the clock
_SOME = 150  # epochs of coordinate ascent on a pool
_EPOCHS = 5000  # of it on all rows
_LOOKS = 16  # epochs between two passes
_FAINT = 1e-100  # a length whose square nearly vanishes
_SAFE = 400  # powers of two whose squares neither overflow nor vanish
_PULL = 0.01  # of the bias coordinate that keeps the classes in balance, as a part of the rows' squared length


@dataclass(frozen=True, eq=False)
class Bracket:
    """A plane and convex weights, and the bounds that they give on the largest margin.

    Attributes
    ----------
    weights, bias
        The plane with the largest least margin so far: ``weights`` have length 1, or are zero before any pass.
    lower : float
        Its least margin, which is negative if it does not separate; -inf before any pass.
    points, shares
        Rows in ascending order, and their positive weights, of sum 1/2 on each class (without a bias: 1 in all).
    upper : float
        The length of ``sum shares_i y_i x_i``; inf while there are no points.
    """

    weights: Floats
    bias: float
    lower: float
    points: Places
    shares: Floats
    upper: float


@dataclass(frozen=True, eq=False)
class Found(Bracket):
    """The last bracket, and why it is the last.

    Attributes
    ----------
    ended : str
        "narrow", the bounds are as near as asked; "small", the upper bound is nothing but rounding, and ``points`` are
        a smallest set of rows that shows it; "epsilon", it is at most ``tol`` times the longest row; "halted"; or
        "stuck", when rounding or the size of the data stands in the way.
    """

    ended: str


def search(
    rows: Rows,
    signs: NDArray[Any],
    free: bool,
    *,
    tol: float = 1e-3,
    seed: int = 0,
    halted: Callable[[], bool] = lambda: False,
    tell: Callable[[Bracket], None] | None = None,
) -> Found:
    """Return a bracket around the largest margin.

    Parameters
    ----------
    rows : Rows
        Finite values.
    signs : array
        +1 and -1; both must occur if the bias is free.
    free : bool
        Whether the plane has a bias, or goes through the origin.
    tol : float, default=1e-3
        The bracket is narrow when ``upper - lower <= tol * upper``.
    seed : int, default=0
        Of the samples.
    halted
        Asked several times a second; the best so far is returned when it says so.
    tell
        Called with every better bracket.

    Examples
    --------
    >>> found = search(Rows([[0.0, 0.0], [0.0, 1.0], [2.0, 5.0]]), np.array([-1, -1, 1]), True)
    >>> found.ended, round(found.lower, 3), found.points.tolist()
    ('narrow', 2.236, [1, 2])
    """
    n, d = rows.shape
    signs = np.asarray(signs, dtype=np.float64)
    pooled = d <= _MOST_FEATURES or (n <= _MOST_FEATURES and n * d <= _MOST_VALUES)
    kind = _Pools if pooled else _Wide
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        return kind(rows, signs, free, tol, seed, halted, tell).found()


@dataclass(eq=False)
class _Search:
    """The data, and the best plane and weights so far."""

    rows: Rows
    signs: Floats
    free: bool
    tol: float
    seed: int
    halted: Callable[[], bool]
    tell: Callable[[Bracket], None] | None

    def __post_init__(self) -> None:
        self.plane: tuple[Floats, float, float] = np.zeros(self.rows.shape[1]), 0.0, -math.inf
        self.points: Places = np.empty(0, dtype=np.intp)
        self.shares = np.empty(0)
        self.upper = math.inf

    def report(self) -> None:
        """Tell how far it is."""
        if self.tell is not None:
            self.tell(Bracket(*self.plane, *self._in_order(), self.upper))

    def end(self, why: str) -> Found:
        """Return what was found."""
        return Found(*self.plane, *self._in_order(), self.upper, why)

    def _in_order(self) -> tuple[Places, Floats]:
        order = np.argsort(self.points)
        return self.points[order], self.shares[order]

    def keep(self, weights: Floats, bias: float, least: float) -> None:
        """Keep this plane, with this least margin, if it is the best so far."""
        if least > self.plane[2]:
            self.plane = weights, bias, least
            self.report()


class _Pools(_Search):
    """The nearest points among pools of rows."""

    def found(self) -> Found:
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
            bias, least = _half_way(margins, signs, self._bias) if self.free else (0.0, float(margins.min()))
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
        before = _scaled(self.upper, -sum(exponents))
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
        self.upper = _scaled(length, sum(exponents))
        self._part = length / (math.sqrt(float(np.einsum("ij,ij->i", rows, rows).max())) or 1.0)
        self.report()
        if self._part <= NOTHING:
            return "small"
        self._weights = vector / length
        if self.free:
            here = 0.5 * float(nearest.levels[1] - nearest.levels[0]) / length
            there = _core.dot(self._weights, center)
            self._bias = _scaled(_scaled(here, exponents[1]) - there, exponents[0])
        return "halted" if self.halted() else ""

    def _start(self, pool: Places, points: Floats, length: float) -> tuple[Places, Floats] | None:
        """Return likely rows of the corral and weights from some epochs of coordinate ascent; None if it overflows."""
        signs = self.signs[pool]
        task = MarginTask(Rows(points), signs, np.full(len(pool), np.inf), free=self.free)
        ascent = Ascent(task, None, self.seed)
        ascent.bias_square *= _PULL
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
        first = _exponent(points)
        np.ldexp(points, -first, out=points)
        center, second = np.zeros(points.shape[1]), 0
        if self.free:
            center = points[0].copy()  # differences of rows are exact where those from a mean are not
            points -= center
            second = _exponent(points)
            np.ldexp(points, -second, out=points)
        return points, center, (first, second)


class _Wide(_Search):
    """Coordinate ascent on the dual problem."""

    def found(self) -> Found:
        """Ascend until a look at the bounds says that it is enough."""
        self._exponent = _exponent(self.rows.values.data if is_sparse(self.rows.values) else self.rows.values)
        scaled = self.rows
        if abs(self._exponent) > _SAFE:
            half = self._exponent // 2  # the whole power of two may be none that there is
            scaled = Rows(self.rows.values * 2.0**-half * 2.0 ** (half - self._exponent))
        else:
            self._exponent = 0
        task = MarginTask(scaled, self.signs, np.full(len(self.signs), np.inf), free=self.free)
        longest = math.sqrt(float(task.squares.max()))
        if self.free:
            longest = math.hypot(longest, _scaled(1.0, -self._exponent))
        ascent = Ascent(task, None, self.seed)
        ascent.bias_square *= _PULL
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
            if self.plane[2] <= 0.0 and self.upper <= self.tol * _scaled(longest, self._exponent):
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
        upper = _scaled(math.sqrt(_core.dot(vector, vector)), self._exponent)
        if upper < self.upper and (min(sums) > 0.0 or not self.free):
            self.points = np.flatnonzero(alpha)
            self.shares, self.upper = alpha[self.points], upper
            self.report()
        length = math.sqrt(_core.dot(ascent.weights, ascent.weights))
        if length > 0.0:
            weights = ascent.weights / length
            margins = signs * _core.decide(matrix, weights[None, :], np.zeros(1), 1)[:, 0]
            bias, least = _half_way(margins, signs, 0.0) if self.free else (0.0, float(margins.min()))
            self.keep(weights, _scaled(bias, self._exponent), _scaled(least, self._exponent))


def _half_way(margins: Floats, signs: Floats, bias: float) -> tuple[float, float]:
    """Return the bias half-way between the classes, given the margins with another, and the least margin with it."""
    above, below = (float(np.min(margins[signs == side])) for side in (1.0, -1.0))
    return bias + 0.5 * (below - above), 0.5 * (below + above)


def _scaled(value: float, exponent: int) -> float:
    """Return ``value 2^exponent``, infinite where it is too large for a number."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def _exponent(values: NDArray[Any]) -> int:
    """Return the power of two that is just above the largest of these numbers, 0 if all are zero."""
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    return int(np.frexp(largest)[1])


def _union(one: Places, other: Places) -> Places:
    """Return the places in either, in ascending order."""
    both: Places = np.sort(np.concatenate([one, other]))
    return both[np.flatnonzero(np.diff(both, prepend=-1))]
