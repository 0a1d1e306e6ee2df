"""Where the optimum is for other values of C, from the curvature of a smooth loss at one approximate solution.

The balls of ``optimum_ball`` know nothing of the rows. Where many rows hold the weights in place, the optimum moves
much less than they allow; here is a bound that knows, for the log loss and the squared hinge.

The problem is to minimise ``F(z) = |w|^2 / 2 + C sum s_i loss(m_i)``, z being the weights and the free intercept. At a
solution z~ for another C, let g be the gradient of F, ``k_i = s_i loss''(m~_i)`` and ``H = D + C sum k_i x_i x_i'``
with D the identity, but 0 for a free intercept; ``|v|`` and ``|v|*`` are the norms of H and of its inverse.

*Secants.* Let rho_i be ``|x_i|*``. A step d with ``|d| <= t`` changes margins by at most ``rho_i t``, and the gradient
by ``A d``; A is H with other numbers, ``s_i`` times a secant of loss', in the place of k_i. Since ``c x x'`` is at most
``c |x|*^2 H``, A lies between ``f(t) H`` and ``h(t) H``:

- log: since ``|loss'''| <= loss''``, a secant is at least ``k_i (1 - e^-q) / q`` and at most ``k_i (e^q - 1) / q`` for
  a change of q. (This is self-concordance as in Bach, 2010, section 2.) The few rows with the largest rho may be left
  out: with the largest rho of the others, f is ``(1 - e^-q) / q`` times 1 less the sum of ``C k_i rho_i^2`` over those
  left out, and h is ``(e^q - 1) / q`` plus the sum of their ``C s_i rho_i^2 / 4``. The best number of them is taken.
- squared hinge: a secant is k_i unless m~_i is within ``rho_i t`` of 1, and else from 0 to 2 s_i: f is 1 less the sum
  of ``2 C s_i rho_i^2`` over such rows below 1, and h is 1 plus that sum over such rows above 1.

*How far the optimum is.* Let ``l = |g|*``. If ``l < t f(t)``, ``|z* - z~| <= t``: else some point ``z~ + s d`` on the
way to the optimum, ``d = z* - z~``, has ``|s d| = t``. F falls along d up to z*, so that ``(grad F(z~ + s d) - g).s d
<= -g.s d``, and the left-hand side is at least ``f(t) t^2``, the right-hand side at most ``l t``.

*The step.* It satisfies ``A d = -g``. H may be that of another C, ``C0``; let ``C / C0`` lie between ``1 / v`` and v: A
lies between ``f H / v`` and ``h v H``, and ``H^1/2 d = -B H^-1/2 g`` with B between ``1 / (h v)`` and ``v / f``. With
the middle b and half the width e of this interval, a score changes by ``-b x.H^-1 g`` up to ``e l |x|*``: Newton's
step, and an error of second order. The gradient is linear in C, and so is the former.

H is used as its eigenvalues and eigenvectors. What rounding changes of it is bounded by a part of H (``_lost``), which
is taken from f and added to h.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.rules.losses import sigmoid
from separatrix.svm.optimum_ball import Problem

_UNIT = float(np.finfo(np.float64).eps)
_MOST_FEATURES = 400
_SHARES = np.append(np.geomspace(1e-4, 0.4, 24), np.linspace(0.45, 0.95, 8))  # of the length in 1 - l / t
_BLOCK = 1 << 21  # numbers that are turned at once


@dataclass(frozen=True, eq=False)
class Turned:
    """Rows in the coordinates of the eigenvectors, and their scores by the solution."""

    rows: Floats
    squares: Floats
    scores: Floats
    off: Floats  # the errors of the scores

    def part(self, some: NDArray[np.intp] | slice) -> Turned:
        """Return some of the rows."""
        return Turned(self.rows[some], self.squares[some], self.scores[some], self.off[some])


class CurvedBounds:
    """The bounds that one solution of a problem with a smooth loss gives."""

    def __init__(
        self, problem: Problem, C: float, weights: Floats, bias: float, validation: Rows | None = None
    ) -> None:
        self._problem, self._C = problem, C
        matrix, signs = problem.rows.matrix, problem.signs
        n, d = problem.rows.shape
        scores = _core.decide(matrix, weights[None, :], np.array([bias]), 1)[:, 0]
        margins = signs * scores
        if problem.loss == "log":
            wrong = sigmoid(-margins)
            bends, most = problem.counts * wrong * (1.0 - wrong), 0.25 * problem.counts
        else:
            wrong, most = 2.0 * np.maximum(1.0 - margins, 0.0), 2.0 * problem.counts
            bends = np.where(margins < 1.0, most, 0.0)
        pulls = signs * (C * problem.counts * wrong)
        gram = np.tril(_core.gram(matrix, bends))
        gram = gram + np.tril(gram, -1).T
        self._mass = float(gram[d, d])
        self._centre = gram[d, :d] / self._mass if problem.free and self._mass > 0.0 else np.zeros(d)
        size = float(np.trace(gram[:d, :d])) + self._mass * _core.dot(self._centre, self._centre)
        balance = _core.dot(pulls, np.ones(n))
        combined = _core.combine(matrix, pulls) - balance * self._centre
        self._norm = math.sqrt(_core.dot(weights, weights)) + abs(bias)
        off = (d + 8) * _UNIT * (1.0 + self._norm * (1.0 + problem.lengths))
        errors = C * most * off + 4.0 * (n + 8) * _UNIT * np.abs(pulls)
        reach = problem.lengths + math.sqrt(_core.dot(self._centre, self._centre)) + problem.constant
        self._slip = _core.dot(errors, reach) * (1.0 + 1e-9)
        self._tilt = _core.dot(errors, np.ones(n)) * (1.0 + 1e-9)
        if problem.constant:
            scale = np.append(np.ones(d), problem.constant)
            table, own = gram * scale[:, None] * scale[None, :], np.append(weights, bias / problem.constant)
            combined = np.append(combined, problem.constant * balance)
            size += problem.constant**2 * self._mass
        else:
            table, own = gram[:d, :d] - self._mass * np.outer(self._centre, self._centre), weights
        self._values, self._vectors = np.linalg.eigh(table)
        self._values = np.maximum(self._values, 0.0)
        self._hidden = 16.0 * (n + 8 * d + 64) * _UNIT * size
        across = np.ascontiguousarray(self._vectors.T)
        self._own, self._combined = _products(across, own), _products(across, combined)
        self._balance = balance
        self._weights, self._bias = weights, bias
        self._size, self._scores, self._bends, self._pulls, self._off = size, scores, bends, pulls, off
        self._leverages = self._squares(problem.rows)
        self._sort(margins, most)
        self._validation = None if validation is None else self._turned(validation)

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Return whether these bounds exist for a problem, and do not cost more than a few fits."""
        return problem.loss != "hinge" and problem.rows.shape[1] <= _MOST_FEATURES

    def _coordinates(self, rows: Rows) -> Floats:
        """Return rows in the coordinates of the eigenvectors, about the centre."""
        d = rows.shape[1]
        vectors = np.ascontiguousarray(self._vectors.T)
        shift = self._problem.constant * vectors[:, d] if self._problem.constant else -_products(vectors, self._centre)
        return _core.decide(rows.matrix, np.ascontiguousarray(vectors[:, :d]), np.ascontiguousarray(shift), 1)

    def _squares(self, rows: Rows) -> Floats:
        """Return the square of every row's ``|x|*`` at the solution's own C, without the free intercept's part."""
        n, d = rows.shape
        together = max(_BLOCK // (d + 1), 1)
        shrink = 1.0 / (1.0 + self._C * self._values)
        squares = np.empty(n)
        for first in range(0, n, together):
            some = rows if n <= together else rows.part(slice(first, first + together))
            turned = self._coordinates(some)
            squares[first : first + together] = _products(turned * turned, shrink)
        return squares * (1.0 + 64.0 * (d + 8) * _UNIT) + self._turn_error()

    def _sort(self, margins: Floats, most: Floats) -> None:
        """Add up the parts of H of the rows whose secants may change most."""
        problem = self._problem
        own = self._leverages + (1.0 / (self._C * self._mass) if problem.free and self._mass > 0.0 else 0.0)
        reach = np.sqrt(own) * (1.0 + 1e-12)
        parts = self._C * most * own * (1.0 + 1e-9)
        if problem.loss == "log":
            order = np.argsort(-reach, kind="stable")
            ranks = [0, *(2**k for k in range(12) if 2 ** (k + 1) < len(reach))]
            self._reaches = reach[order][ranks]
            bent = self._C * self._bends * own * (1.0 + 1e-9)
            low, high = (np.concatenate([[0.0], np.cumsum(each[order])]) for each in (bent, parts))
            self._outside = low[ranks] * (1.0 + 1e-9), high[ranks] * (1.0 + 1e-9)
            return
        distances = np.maximum(np.abs(margins - 1.0) - self._off, 0.0) / reach
        self._sorted: list[tuple[Floats, Floats]] = []
        for side in (margins < 1.0, margins >= 1.0):
            order = np.argsort(distances[side], kind="stable")
            sums = np.cumsum(parts[side][order]) * (1.0 + 1e-9)
            self._sorted.append((distances[side][order], np.concatenate([[0.0], sums])))

    def _secants(
        self, length: Floats, left: Floats, stretch: float, grown: float, lost: float
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return f(t) and h(t) for the least t that is found, and whether there is one: given l, for every entry.

        ``left`` is the part of H that the problem still has; lengths of rows are larger by the factor ``stretch``, and
        parts of H by ``grown``.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slack = lost / left + 1e-12
            change = length * (1.0 + 1e-9) + 1e-300
            for _ in range(20):  # up to the least t with l < t f(t)
                low = self._least(change * stretch, grown / left) - slack
                enough = np.where(low > 0.0, length / low * (1.0 + 1e-3), math.inf)
                if (enough <= change * (1.0 + 9e-4)).all():
                    break
                change = np.maximum(change, enough)
            low = self._least(change * stretch, grown / left) - slack
            high = self._most(change * stretch, grown / left) + slack
            known = (left > 0.0) & (low > 0.0) & (length < change * low * (1.0 - 1e-12)) & np.isfinite(high)
        return np.where(known, low, 1.0), np.where(known, high, 1.0), known

    def _secant(self, length: float, stretch: float, grown: float, lost: float) -> tuple[float, float] | None:
        """Return f(t) and h(t) for the whole problem and the least t of a few with l < t f(t); None if there is none.

        For t = l / (1 - x) this is f(t) > 1 - x.
        """
        change = (length * (1.0 + 1e-9) + 1e-300) / (1.0 - _SHARES)
        slack = lost + 1e-12
        low = self._least(change * stretch, grown) - slack
        known = length < change * low * (1.0 - 1e-12)
        if not known.any():
            return None
        at = int(np.argmax(known))
        high = float(self._most(change[at : at + 1] * stretch, grown)[0]) + slack
        return (float(low[at]), high) if math.isfinite(high) else None

    def _least(self, change: Floats, grown: Any) -> Floats:
        """Return f(t)."""
        if self._problem.loss != "log":
            return np.asarray(1.0 - self._passed(0, change) * grown)
        q = np.maximum(change[:, None] * self._reaches, 1e-12)
        rest = 1.0 - self._outside[0] * np.reshape(grown, (-1, 1))
        return np.asarray((-np.expm1(-q) / q * np.maximum(rest, 0.0)).max(axis=1) - 1e-12)

    def _most(self, change: Floats, grown: Any) -> Floats:
        """Return h(t)."""
        if self._problem.loss != "log":
            return np.asarray(1.0 + self._passed(1, change) * grown)
        q = np.maximum(change[:, None] * self._reaches, 1e-12)
        return np.asarray((np.expm1(q) / q + self._outside[1] * np.reshape(grown, (-1, 1))).min(axis=1) + 1e-12)

    def _passed(self, side: int, change: Floats) -> Floats:
        """Return the parts of H of the rows on one side of 1 that such a change may bring to the other."""
        distances, sums = self._sorted[side]
        return np.asarray(sums[np.searchsorted(distances, change, side="right")])

    def _lost(self, C: float) -> float:
        """Return by how much the computed H can be off, as a part of H.

        The eigenvalues by ``hidden``, the intercept's part by its rounding, and both together because the rows' mean is
        rounded.
        """
        n = self._problem.rows.shape[0]
        return C * self._hidden + 16.0 * (n + 8) * _UNIT * (1.0 + math.sqrt(C * self._size))

    def without_rows(self) -> tuple[Floats, Floats]:
        """Return bounds on the score of each training row by the optimum of the others.

        Without row i, the gradient at z~ is ``g + alpha_i y_i x_i``, and H loses ``C k_i x_i x_i'``, the part ``p_i = C
        k_i |x_i|*^2`` of itself in the row's direction. With ``G = H - C k_i x_i x_i'``, ``x_i.G^-1 x_i = |x_i|*^2 / (1
        - p_i)`` (Sherman and Morrison), and G is at least ``(1 - p_i) H``; the rest is as for the step along C.
        """
        problem = self._problem
        n = len(problem.signs)
        lost = self._lost(self._C)
        infinite = np.full(n, math.inf)
        if problem.free and not self._mass > 0.0:
            return -infinite, infinite
        own = self._leverages + (1.0 / (self._C * self._mass) if problem.free else 0.0)
        left = 1.0 - self._C * self._bends * own * (1.0 + 1e-9) - 1e-12
        still = self._length(self._gradients(self._C), self._C, self._C)
        pulls = np.abs(self._pulls) * (1.0 + 1e-9)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            length = (still + pulls * np.sqrt(own)) * (1.0 + 1e-9)
            low, high, known = self._secants(length / left, left, 1.0, 1.0, lost)
            mean, half = 0.5 * (1.0 / low + 1.0 / high), 0.5 * (1.0 / low - 1.0 / high)
            step = mean * self._pulls * own / left
            reach = (half * length + mean * still) * np.sqrt(own) / left
        reach = np.where(known, reach * (1.0 + 1e-9) + self._off + 1e-9 * np.abs(step), math.inf)
        middle = np.where(known, self._scores - step, 0.0)
        return middle - reach, middle + reach

    def _turn_error(self) -> float:
        """Return what rounding can take from the square of a norm."""
        d = len(self._values)
        longest = float(self._problem.lengths.max()) + math.sqrt(_core.dot(self._centre, self._centre))
        return 64.0 * (d + 8) * _UNIT * (1.0 + longest + self._problem.constant) ** 2

    def _turned(self, rows: Rows) -> Turned:
        turned = self._coordinates(rows)
        scores = _core.decide(rows.matrix, self._weights[None, :], np.array([self._bias]), 1)[:, 0]
        lengths = np.sqrt(_core.square_norms(rows.matrix))
        off = (rows.shape[1] + 8) * _UNIT * (1.0 + self._norm * (1.0 + lengths))
        return Turned(turned, turned * turned, scores, off)

    def _gradients(self, C: float) -> tuple[Floats, float]:
        r = C / self._C
        return self._own - r * self._combined, -r * self._balance if self._problem.free else 0.0

    def _length(self, gradient: tuple[Floats, float], base: float, C: float) -> float:
        """Return a bound on ``|g|*`` in the norm of the C ``base``, for the gradient of C."""
        turned, tilt = gradient
        r = C / self._C
        square = float((turned * turned / (1.0 + base * self._values)).sum())
        d = len(turned)
        length = math.sqrt(square) * (1.0 + 64.0 * d * _UNIT) + r * self._slip
        length += 64.0 * d * _UNIT * (self._norm + r * math.sqrt(float((self._combined**2).sum())))
        if self._problem.free:
            length += (abs(tilt) + r * self._tilt) / math.sqrt(base * self._mass)
        return length

    def scores(
        self, low: float, high: float, some: NDArray[np.intp] | slice = slice(None)
    ) -> tuple[Floats, Floats] | None:
        """Return bounds on the scores of some validation rows by the optima for C from low to high; None for none."""
        free = self._problem.free
        if self._validation is None or (free and not self._mass > 0.0):
            return None
        rows = self._validation.part(some)
        ends = [self._gradients(C) for C in (low, high)]
        lost = self._lost(high)
        length = max(self._length(end, low, C) for end, C in zip(ends, (low, high), strict=True))
        grown = max(1.0, high / self._C) * (1.0 + 1e-12)
        stretch = math.sqrt(max(1.0, self._C / low)) * (1.0 + 1e-12)
        secants = self._secant(length, stretch, grown, lost)
        if secants is None:
            return None
        wide = math.sqrt(high / low) * (1.0 + 1e-12)
        middle = math.sqrt(low) * math.sqrt(high)
        least, most = secants[0] / wide, secants[1] * wide
        mean, half = 0.5 * (1.0 / least + 1.0 / most), 0.5 * (1.0 / least - 1.0 / most)
        farther = max(self._length(end, middle, C) for end, C in zip(ends, (low, high), strict=True))
        shrink = 1.0 / (1.0 + middle * self._values)
        norms = np.sqrt(
            _products(rows.squares, shrink) + self._turn_error() + (1.0 / (middle * self._mass) if free else 0.0)
        )
        r = high / self._C
        slip = r * (self._slip + (self._tilt / math.sqrt(middle * self._mass) if free else 0.0))
        reach = norms * ((half * farther + mean * slip) * (1.0 + 1e-9) + 1e-12 * farther) + rows.off
        steps = []
        for turned, tilt in ends:
            step = _products(rows.rows, turned * shrink * mean)
            steps.append(step + mean * tilt / (middle * self._mass) if free else step)
        return rows.scores - np.maximum(*steps) - reach, rows.scores - np.minimum(*steps) + reach


def _products(rows: Floats, vector: Floats) -> Floats:
    """Return the product of a matrix with a vector, in the core's order of addition."""
    return _core.decide(_core.dense(rows), vector[None, :], np.zeros(1), 1)[:, 0]
