"""The smallest ball that holds the data, by core sets (Badoiu and Clarkson) with an exact solve on each.

Here: the search among many rows for the few that hold the ball, in any space that can measure distances, and the space
of the data themselves. The smallest ball around a core set is a small problem (simplex.py); one pass over all rows
then finds those outside it, which join the core set. A few to a few dozen passes are usual.

Every pass gives a bracket. The farthest distance from any centre c is an upper bound on the radius R, and any convex
weights p of any rows give a lower bound, ``R^2 >= sum p_i |x_i - c|^2 - |c - sum p_i x_i|^2``. Both are widened by what
rounding can have cost, so that they hold for the numbers as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.geometry.simplex import convex_weights, one_thread

Places = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)  # twice the relative error of one operation
_TINIEST = 5e-324
_AT_ONCE = 1 << 21  # values that a block of rows may hold
_CORE = 256  # a core set up to this size is kept whole; a larger one loses the rows without weight
_MOST = 4000  # rows with weight; the inner products of so many still fit, and can be factored in a second
_SAFE = 1e140  # values between 1 / _SAFE and _SAFE have squares that neither overflow nor vanish


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that holds every row, and the bracket in which the smallest radius lies.

    Attributes
    ----------
    center : array of shape (n_features,) or None
        The centre, ``sum weights_i x_i``; None where a kernel's space has no coordinates.
    lower, upper : float
        No ball with a radius below ``lower`` holds every row; the one around ``center`` with radius ``upper`` does.
    support : array of int
        The rows that hold the ball, in ascending order.
    weights : array of float
        Their convex weights: positive, of sum 1.
    """

    center: Floats | None
    lower: float
    upper: float
    support: Places
    weights: Floats

    @property
    def radius(self) -> float:
        """The radius of the ball, ``upper``."""
        return self.upper


@dataclass(frozen=True, eq=False)
class Look:
    """The squared distance of every row from one centre, each within ``error`` of the truth."""

    center: Floats | None
    distances: Floats
    error: float


class Space(Protocol):
    """What the search asks of a space: distances from a convex combination of rows."""

    n: int

    def look(self, support: Places, weights: Floats) -> Look:
        """Measure every row from the centre that these weights give."""

    def sharpen(self, look: Look, rows: Places) -> Floats:
        """Return the best upper bounds that there are on these rows' squared distances."""

    def dual(self, look: Look, support: Places, weights: Floats) -> float:
        """Return a lower bound on the squared radius."""

    def gram(self, core: Places) -> Floats:
        """Return the inner products of these rows, seen from the first."""


def smallest_ball(rows: Rows, weights: Floats | None = None, *, precision: float = 1e-3) -> Ball:
    """Return a ball that holds every row (of positive weight), its radius within ``precision`` of the smallest.

    The radius is rounded up to 24 bits: the last bits of a matrix factorisation differ between machines, and a model
    whose bias constant this is should not.

    Examples
    --------
    >>> ball = smallest_ball(Rows([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    >>> ball.lower <= 1.0 <= ball.upper, ball.upper < 1.001
    (True, True)
    """
    ball, _ = euclidean_ball(rows, None if weights is None else weights == 0, precision, 1000)
    return rounded_up(ball)


def rounded_up(ball: Ball) -> Ball:
    """Return the ball with its radius rounded up to 24 bits."""
    mantissa, exponent = np.frexp(ball.upper)
    rounded = float(np.ldexp(np.ceil(mantissa * 2.0**24), exponent - 24))
    return Ball(ball.center, ball.lower, rounded, ball.support, ball.weights)


def euclidean_ball(rows: Rows, ignored: NDArray[np.bool_] | None, tol: float, max_iter: int) -> tuple[Ball, str]:
    """Return the ball in the space of the data, and as :func:`enclose` why it is not as precise as asked."""
    values = rows.values.data if is_sparse(rows.values) else rows.values
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    exponent = 0
    if largest > 0.0 and not 1.0 / _SAFE < largest < _SAFE:
        exponent = int(np.frexp(largest)[1])
        half = exponent // 2  # the whole power of two may be none that there is
        rows = Rows(rows.values * 2.0**-half * 2.0 ** (half - exponent))
    with one_thread():
        ball, why = enclose(Euclidean(rows), ignored, tol, max_iter)
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            vanished = rows.shape[1] * _TINIEST  # values so much smaller than the largest that they became 0
            center = None if ball.center is None else np.ldexp(ball.center, exponent)
            lower, upper = (float(np.ldexp(radius, exponent)) for radius in (ball.lower, ball.upper + vanished))
        if upper > 0.0:
            upper += rows.shape[1] * _TINIEST  # the centre of the tiniest data is rounded once more
        ball = Ball(center, _down(lower), _up(upper), ball.support, ball.weights)
    return ball, why


def enclose(space: Space, ignored: NDArray[np.bool_] | None, tol: float, max_iter: int) -> tuple[Ball, str]:
    """Return the smallest ball, with ``upper <= (1 + tol) lower``, and "" or why the bracket is wider than that."""
    core: Places = np.zeros(1, dtype=np.intp) if ignored is None else np.flatnonzero(~ignored)[:1]
    support, weights = core, np.ones(1)
    best, lower, upper = None, 0.0, np.inf
    witness = support, weights  # of the lower bound
    why = f"max_iter={max_iter} passes ended first"
    for _ in range(max_iter):
        look = space.look(support, weights)
        distances = look.distances
        if ignored is not None:
            distances[ignored] = -np.inf
        dual = space.dual(look, support, weights)
        if dual > lower:
            lower, witness = dual, (support, weights)
        goal = lower * (1.0 + tol) ** 2
        farthest = float(distances.max())
        bound = farthest + look.error
        if farthest - look.error <= goal < bound:  # too close to call: measure again, where it matters
            near = np.flatnonzero(distances >= farthest - 2.0 * look.error)
            distances[near] = space.sharpen(look, near)
            bound = min(bound, float(distances[near].max()))
        if bound < upper or best is None:
            best, upper = look, bound
        if upper <= goal:
            why = ""
            break
        outside = np.setdiff1d(_largest(distances, max(16, len(support)), goal), core)[: max(_MOST - len(support), 0)]
        if not len(outside):
            full = len(support) >= _MOST
            why = f"more than {_MOST} rows hold it" if full else "rounding hides the rest"
            break
        core = np.concatenate([core if len(core) <= _CORE else support, outside])
        with one_thread():  # a kernel may have more for its passes over all rows
            p = convex_weights(space.gram(core))
        support, weights = _with_weight(core, p, 0.01 * tol)
    assert best is not None
    support, weights = witness
    order = np.argsort(support)
    bracket = _down(float(np.sqrt(lower))), _up(float(np.sqrt(upper)))
    return Ball(best.center, *bracket, support[order], weights[order]), why


def _largest(distances: Floats, k: int, goal: float) -> Places:
    """Return where the k largest distances beyond the goal are."""
    places = np.argpartition(distances, -k)[-k:] if k < len(distances) else np.arange(len(distances))
    return places[distances[places] > goal]


def _with_weight(core: Places, p: Floats, spare: float) -> tuple[Places, Floats]:
    """Drop the smallest weights, up to ``spare`` in all; the others sum to 1."""
    order = np.argsort(p)
    kept = np.sort(order[np.cumsum(p[order]) > spare])
    return core[kept], p[kept] / p[kept].sum()


def _up(value: float) -> float:
    return float(np.nextafter(value, np.inf)) if value > 0.0 else value


def _down(value: float) -> float:
    return float(np.nextafter(value, 0.0))


class Euclidean:
    """The space of the data."""

    def __init__(self, rows: Rows) -> None:
        self.n, self._d = rows.shape
        self._rows = rows
        self._squares = _core.square_norms(rows.matrix)
        self._longest = float(self._squares.max())

    def look(self, support: Places, weights: Floats) -> Look:
        """Measure by ``|x|^2 - 2 x . c + |c|^2``: one product with the matrix, but not exact far from the origin."""
        center = self._center(support, weights)
        square = float(_core.square_norms(_core.dense(center[None, :]))[0])
        products = _core.decide(self._rows.matrix, center[None, :], np.zeros(1), 1)[:, 0]
        products *= -2.0
        products += self._squares
        products += square
        return Look(center, products, 2.0 * (self._d + 8) * _EPS * (self._longest + square))

    def sharpen(self, look: Look, rows: Places) -> Floats:
        """Measure by differences, which lose nothing: every term is within three roundings of the truth."""
        assert look.center is not None
        found = np.empty(len(rows))
        step = max(1, _AT_ONCE // self._d)
        for first in range(0, len(rows), step):
            block = self._dense(rows[first : first + step])
            block -= look.center
            moved = block.any(axis=1)
            np.einsum("ij,ij->i", block, block, out=found[first : first + step])
            found[first : first + step] += np.where(moved, self._d * _TINIEST, 0.0)
        return found * (1.0 + (self._d + 8) * _EPS)

    def dual(self, look: Look, support: Places, weights: Floats) -> float:
        """Return ``sum p_i |x_i - c|^2``, less what rounding can have added and how far c is from ``sum p_i x_i``."""
        assert look.center is not None
        above = self.sharpen(look, support)
        reach = 2.0 * float(np.sqrt(self._longest if self._too_wide(support) else above.max()))
        moved = ((len(support) + 4) * reach + float(np.abs(look.center).max()) * float(np.sqrt(self._d))) * _EPS
        mean = float(weights @ above) / float(weights.sum()) * (1.0 - (2 * self._d + 2 * len(support) + 32) * _EPS)
        return max(mean - moved * moved - self._d * 2 * _TINIEST, 0.0)

    def gram(self, core: Places) -> Floats:
        """Return the inner products of the rows less the first of them, which keeps the digits of far-off data."""
        if self._too_wide(core):
            chosen = self._rows.values[core].astype(np.float64)
            products = np.asarray((chosen @ chosen.T).todense())
            return np.asarray(products - products[0] - products[:, :1] + products[0, 0])
        seen = self._dense(core)
        seen -= seen[0].copy()
        return np.asarray(seen @ seen.T)

    def _center(self, support: Places, weights: Floats) -> Floats:
        if self._too_wide(support):
            return np.asarray(self._rows.values[support].astype(np.float64).T @ weights)
        seen = self._dense(support)
        first = seen[0].copy()
        seen -= first
        return np.asarray(first + weights @ seen)

    def _too_wide(self, rows: Places) -> bool:
        return is_sparse(self._rows.values) and len(rows) * self._d > 4 * _AT_ONCE

    def _dense(self, rows: Places) -> Floats:
        chosen: Any = self._rows.values[rows]
        return np.array(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)
