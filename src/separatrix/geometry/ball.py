"""The smallest enclosing ball of the data, by core sets (Badoiu and Clarkson) with an exact solve on each.

Here: the search among many rows for the few that determine the ball, in any space with distances, and the Euclidean
space of the data. The smallest ball around a core set is a small problem (simplex.py); one pass over all rows then
finds those outside it, which join the core set. A few to a few dozen passes are usual.

Every pass gives two bounds on the radius R. The farthest distance from any centre c is an upper bound, and any convex
weights p of any rows give a lower bound, ``R^2 >= sum p_i |x_i - c|^2 - |c - sum p_i x_i|^2``. Both are widened by
the rounding errors, so that they hold for the numbers as given.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.geometry.simplex import convex_weights, one_thread

Indices = NDArray[np.intp]

_EPS = float(np.finfo(np.float64).eps)  # twice the relative error of one operation
_TINIEST = 5e-324
_BLOCK_VALUES = 1 << 21  # of rows processed at once
_CORE = 256  # a core set up to this size is kept whole; a larger one loses its rows of zero weight
_MAX_SUPPORT = 4000  # rows of positive weight: their inner products fit in memory and can be factored in a second
_SAFE = 1e140  # values between 1 / _SAFE and _SAFE have squares that neither overflow nor vanish


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball that encloses every row, with a lower and an upper bound on the smallest radius.

    Attributes
    ----------
    center : array of shape (n_features,) or None
        The centre, ``sum weights_i x_i``; None where a kernel's space has no coordinates.
    lower, upper : float
        No ball with a radius below ``lower`` encloses every row; the one at ``center`` with radius ``upper`` does.
    support : array of int
        The rows that determine the ball, in ascending order.
    weights : array of float
        Their convex weights: positive, of sum 1.
    """

    center: Floats | None
    lower: float
    upper: float
    support: Indices
    weights: Floats

    @property
    def radius(self) -> float:
        """The radius of the ball, ``upper``."""
        return self.upper

    @property
    def constant(self) -> float:
        """The smallest radius as a constant of a model, which is ``lower`` to 12 digits (40 bits).

        The lower bound is the closer one, since its error is the square of that of the centre. The last bits of a
        matrix factorisation differ between machines, and a model whose bias constant this is should not.
        """
        mantissa, exponent = np.frexp(self.lower)
        return float(np.ldexp(np.round(mantissa * 2.0**40), exponent - 40))


@dataclass(frozen=True, eq=False)
class SquaredDistances:
    """The squared distance of every row from one centre, each within ``error`` of the exact one."""

    center: Floats | None
    values: Floats
    error: float


class BallSpace(Protocol):
    """What the search needs of a space: distances from a convex combination of rows."""

    n: int

    def distances(self, support: Indices, weights: Floats) -> SquaredDistances:
        """Return the squared distance of every row from ``sum weights_i x_i``."""

    def upper_bounds(self, distances: SquaredDistances, rows: Indices) -> Floats:
        """Return the tightest upper bounds known on the squared distances of these rows."""

    def lower_bound(self, distances: SquaredDistances, support: Indices, weights: Floats) -> float:
        """Return a lower bound on the squared radius."""

    def gram(self, core: Indices) -> Floats:
        """Return the inner products of these rows less the first."""


def smallest_ball(rows: Rows, weights: Floats | None = None, *, precision: float = 1e-9) -> Ball:
    """Return a ball that encloses every row (of positive weight), its radius within ``precision`` of the smallest.

    Examples
    --------
    >>> ball = smallest_ball(Rows([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    >>> ball.lower <= 1.0 <= ball.upper, ball.constant
    (True, 1.0)
    """
    ball, _ = euclidean_ball(rows, None if weights is None else weights == 0, precision, 1000)
    return ball


def euclidean_ball(rows: Rows, ignored: NDArray[np.bool_] | None, tol: float, max_iter: int) -> tuple[Ball, str]:
    """Return the ball in the space of the data, and "" or why its bounds are wider than ``tol``."""
    values = rows.values.data if is_sparse(rows.values) else rows.values
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    exponent = 0
    if largest > 0.0 and not 1.0 / _SAFE < largest < _SAFE:
        exponent = int(np.frexp(largest)[1])
        half = exponent // 2  # the whole power of two may overflow
        rows = Rows(rows.values * 2.0**-half * 2.0 ** (half - exponent))
    with one_thread():
        ball, why = enclose(EuclideanSpace(rows), ignored, tol, max_iter)
    if exponent:
        with np.errstate(over="ignore", under="ignore"):
            vanished = rows.shape[1] * _TINIEST  # values so small beside the largest that they became 0
            center = None if ball.center is None else np.ldexp(ball.center, exponent)
            lower, upper = (float(np.ldexp(radius, exponent)) for radius in (ball.lower, ball.upper + vanished))
        if upper > 0.0:
            upper += rows.shape[1] * _TINIEST  # the centre of the tiniest data is rounded once more
        ball = Ball(center, _down(lower), _up(upper), ball.support, ball.weights)
    return ball, why


def enclose(space: BallSpace, ignored: NDArray[np.bool_] | None, tol: float, max_iter: int) -> tuple[Ball, str]:
    """Return the smallest ball, with ``upper <= (1 + tol) lower``, and "" or why its bounds are wider than that."""
    core: Indices = np.zeros(1, dtype=np.intp) if ignored is None else np.flatnonzero(~ignored)[:1]
    support, weights = core, np.ones(1)
    best, lower, upper = None, 0.0, np.inf
    witness = support, weights  # of the lower bound
    why = f"stopped after max_iter={max_iter} passes"
    for _ in range(max_iter):
        measured = space.distances(support, weights)
        distances = measured.values
        if ignored is not None:
            distances[ignored] = -np.inf
        below = space.lower_bound(measured, support, weights)
        if below > lower:
            lower, witness = below, (support, weights)
        goal = lower * (1.0 + tol) ** 2
        farthest = float(distances.max())
        bound = farthest + measured.error
        if farthest - measured.error <= goal < bound:  # too close to call: measure the farthest rows more precisely
            near = np.flatnonzero(distances >= farthest - 2.0 * measured.error)
            distances[near] = space.upper_bounds(measured, near)
            bound = min(bound, float(distances[near].max()))
        if bound < upper or best is None:
            best, upper = measured, bound
        if upper <= goal:
            why = ""
            break
        outside = np.setdiff1d(_largest(distances, max(16, len(support)), goal), core)[
            : max(_MAX_SUPPORT - len(support), 0)
        ]
        if not len(outside):
            full = len(support) >= _MAX_SUPPORT
            why = f"more than {_MAX_SUPPORT} support rows" if full else "limited by rounding errors"
            break
        core = np.concatenate([core if len(core) <= _CORE else support, outside])
        with one_thread():  # passes over all rows may use more
            p = convex_weights(space.gram(core))
        support, weights = _with_weight(core, p, 0.01 * tol)
    assert best is not None
    support, weights = witness
    order = np.argsort(support)
    bracket = _down(float(np.sqrt(lower))), _up(float(np.sqrt(upper)))
    return Ball(best.center, *bracket, support[order], weights[order]), why


def _largest(distances: Floats, k: int, goal: float) -> Indices:
    """Return the indices of the k largest distances above the goal."""
    index = np.argpartition(distances, -k)[-k:] if k < len(distances) else np.arange(len(distances))
    return index[distances[index] > goal]


def _with_weight(core: Indices, p: Floats, spare: float) -> tuple[Indices, Floats]:
    """Drop the smallest weights, up to ``spare`` in all; the others sum to 1."""
    order = np.argsort(p)
    kept = np.sort(order[np.cumsum(p[order]) > spare])
    return core[kept], p[kept] / p[kept].sum()


def _up(value: float) -> float:
    return float(np.nextafter(value, np.inf)) if value > 0.0 else value


def _down(value: float) -> float:
    return float(np.nextafter(value, 0.0))


class EuclideanSpace:
    """The space of the data."""

    def __init__(self, rows: Rows) -> None:
        self.n, self._d = rows.shape
        self._rows = rows
        self._squares = _core.square_norms(rows.matrix)
        self._longest = float(self._squares.max())

    def distances(self, support: Indices, weights: Floats) -> SquaredDistances:
        """Return ``|x|^2 - 2 x . c + |c|^2``: one product with the matrix, but inexact far from the origin."""
        center = self._center(support, weights)
        square = float(_core.square_norms(_core.dense(center[None, :]))[0])
        products = _core.decide(self._rows.matrix, center[None, :], np.zeros(1), 1)[:, 0]
        products *= -2.0
        products += self._squares
        products += square
        return SquaredDistances(center, products, 2.0 * (self._d + 8) * _EPS * (self._longest + square))

    def upper_bounds(self, distances: SquaredDistances, rows: Indices) -> Floats:
        """Return sums of squared differences, which do not cancel: every term has at most three roundings."""
        assert distances.center is not None
        bounds = np.empty(len(rows))
        step = max(1, _BLOCK_VALUES // self._d)
        for first in range(0, len(rows), step):
            block = self._dense(rows[first : first + step])
            block -= distances.center
            moved = block.any(axis=1)
            np.einsum("ij,ij->i", block, block, out=bounds[first : first + step])
            bounds[first : first + step] += np.where(moved, self._d * _TINIEST, 0.0)
        return bounds * (1.0 + (self._d + 8) * _EPS)

    def lower_bound(self, distances: SquaredDistances, support: Indices, weights: Floats) -> float:
        """Return ``sum p_i |x_i - c|^2`` less its rounding errors and the distance of c from ``sum p_i x_i``."""
        assert distances.center is not None
        above = self.upper_bounds(distances, support)
        reach = 2.0 * float(np.sqrt(self._longest if self._too_wide(support) else above.max()))
        moved = ((len(support) + 4) * reach + float(np.abs(distances.center).max()) * float(np.sqrt(self._d))) * _EPS
        mean = float(weights @ above) / float(weights.sum()) * (1.0 - (2 * self._d + 2 * len(support) + 32) * _EPS)
        return max(mean - moved * moved - self._d * 2 * _TINIEST, 0.0)

    def gram(self, core: Indices) -> Floats:
        """Return the inner products of the rows less the first, which keeps the digits of data far from the origin."""
        if self._too_wide(core):
            chosen = self._rows.values[core].astype(np.float64)
            products = np.asarray((chosen @ chosen.T).todense())
            return np.asarray(products - products[0] - products[:, :1] + products[0, 0])
        shifted = self._dense(core)
        shifted -= shifted[0].copy()
        return np.asarray(shifted @ shifted.T)

    def _center(self, support: Indices, weights: Floats) -> Floats:
        if self._too_wide(support):
            return np.asarray(self._rows.values[support].astype(np.float64).T @ weights)
        shifted = self._dense(support)
        first = shifted[0].copy()
        shifted -= first
        return np.asarray(first + weights @ shifted)

    def _too_wide(self, rows: Indices) -> bool:
        return is_sparse(self._rows.values) and len(rows) * self._d > 4 * _BLOCK_VALUES

    def _dense(self, rows: Indices) -> Floats:
        chosen: Any = self._rows.values[rows]
        return np.array(chosen.toarray() if is_sparse(chosen) else chosen, dtype=np.float64)
