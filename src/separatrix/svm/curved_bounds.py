"""Where the optimum is for other values of C, from the curvature of a smooth loss at one approximate solution.

The balls of ``optimum_ball`` know nothing of the rows. Where many rows hold the weights in place, the optimum moves
much less than they allow; here is a bound that knows, for the log loss and the squared hinge.

The problem is to minimise ``F(z) = |w|^2 / 2 + C sum s_i loss(m_i)``, z being the weights and the free intercept. At a
solution z~ for another C, let g be the gradient of F, ``k_i = s_i loss''(m~_i)`` and ``H = D + C sum k_i x_i x_i'``
with D the identity, but 0 for a free intercept; ``|v|`` and ``|v|*`` are the norms of H and of its inverse, ``rho_i =
|x_i|*``, and ``N = -H^-1 g`` is Newton's step.

*A fixed point.* A step d changes the gradient by ``H d + C sum r_i y_i x_i``, where r_i is the error that the tangent
of ``s_i loss'`` at m~_i makes for the change of the margin. The optimum is where this is -g: a fixed point of the map
``d -> N - C H^-1 sum r_i(d) y_i x_i``. Let ``|d - N| <= E``: the margin changes by at most ``q_i = |x_i.N| + rho_i E``.
If then, since ``sum C k_i x_i x_i' <= H``, ::

    | C sum r_i y_i x_i |*  <=  sqrt( sum C r_i^2 / k_i )  <=  E,

the map takes this ball into itself, and by Brouwer's theorem the optimum lies in it: its scores are those of Newton's
step up to ``E |x|*``. It remains to bound r_i:

- log: by ``k_i (e^q - 1 - q)``, since ``|loss'''| <= loss''`` (Bach, 2010, section 2), and by ``s_i q^2 / (12 sqrt
  3)``;
- squared hinge: r_i is 0 up to a change of ``|1 - m~_i|`` towards 1, and rises with slope 2 s_i from there. A row with
  ``k_i = 0`` adds ``C r_i rho_i``.

E is thus of second order, and each row counts with the change that its own margin sees.

*A range of C.* In the coordinates of the eigenvectors of the Gram matrix, with eigenvalues L, N is ``-(o - C c) / (1 +
C L)``, one by one, and ``1 / (1 + C L)`` is convex in C. So N differs from its chord between the ends of the range by
at most ``|o L + c| L (C2 - C1)^2 / ((sqrt A + sqrt B)^2 A B)`` with ``A = 1 + C1 L`` and ``B = 1 + C2 L``. The part of
a free intercept is the same for every C.

What rounding changes of H is bounded by a part of H (``_lost``); the errors of the gradient add to E.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.rules.losses import sigmoid
from separatrix.svm.optimum_ball import Problem

_UNIT = float(np.finfo(np.float64).eps)
_MOST_FEATURES = 400
_THIRD = 1.0 / (12.0 * math.sqrt(3.0)) * (1.0 + 1e-12)  # half of the largest third derivative of the log loss
_ROUNDS = 8
_SLOWEST = 0.8
_MOST_CHANGE = 30.0  # of a margin
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
        self._distances = np.maximum(np.abs(margins - 1.0) - off, 0.0)
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

    def _lost(self, C: float) -> float:
        """Return by how much the computed H can be off, as a part of H.

        The eigenvalues by ``hidden``, the intercept's part by its rounding, and both together because the rows' mean is
        rounded.
        """
        n = self._problem.rows.shape[0]
        return C * self._hidden + 16.0 * (n + 8) * _UNIT * (1.0 + math.sqrt(C * self._size))

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
        if self._validation is None or (self._problem.free and not self._mass > 0.0):
            return None
        found = self._steps(low, high)
        if found is None:
            return None
        steps, shift, far = found
        rows = self._validation.part(some)
        reach = far * np.sqrt(_products(rows.squares, 1.0 / (1.0 + low * self._values)) + self._room(low)) + rows.off
        moved = [_products(rows.rows, step) + shift for step in steps]
        return rows.scores + np.minimum(*moved) - reach, rows.scores + np.maximum(*moved) + reach

    def _steps(self, low: float, high: float) -> tuple[list[Floats], float, float] | None:
        """Return Newton's steps for the two ends, that of the intercept, and how far the optimum can be from them.

        The distance is in the norm of H; None where no ball is found that is mapped into itself.
        """
        problem, d = self._problem, self._problem.rows.shape[1]
        ends = [self._gradients(C) for C in (low, high)]
        steps = [-turned / (1.0 + C * self._values) for (turned, _), C in zip(ends, (low, high), strict=True)]
        shift = -ends[0][1] / (low * self._mass) if problem.free else 0.0
        chord = self._off_chord(low, high)
        length = max(self._length(end, C, C) for end, C in zip(ends, (low, high), strict=True)) + chord
        rho = np.sqrt(self._leverages * max(1.0, self._C / low) + self._room(low)) * (1.0 + 1e-12)
        weights = np.stack([self._vectors @ step for step in steps])
        biases = problem.constant * weights[:, d] if problem.constant else shift - weights @ self._centre
        weights = np.ascontiguousarray(weights[:, :d])
        size = float(np.sqrt((weights**2).sum(axis=1)).max()) + float(np.abs(biases).max())
        moved = self._towards(_core.decide(problem.rows.matrix, weights, biases, 1)).max(axis=1)
        moved += rho * chord + 4.0 * (d + 8) * _UNIT * size * (1.0 + problem.lengths)
        r, lost = high / self._C, self._lost(high)
        slip = r * (self._slip + (self._tilt / math.sqrt(low * self._mass) if problem.free else 0.0))
        fixed = slip + (lost + 1e-12) * length
        far, last = fixed, math.inf
        for _ in range(_ROUNDS):
            change = moved + rho * far
            if not (float(change.max()) < _MOST_CHANGE and lost < 0.5):
                return None
            needed = (fixed + lost * far + (1.0 + lost) * self._remainder(change, rho, high)) * (1.0 + 1e-9)
            if needed <= far:
                return steps, shift, (far + chord) * (1.0 + 1e-9)
            if needed - far > _SLOWEST * last:  # it grows ever faster: the error is convex in the distance
                return None
            far, last = 1.05 * needed, needed - far
        return None

    def _towards(self, moved: Floats) -> Floats:
        """Return how far scores move the margins; for the squared hinge towards 1, where its curvature changes."""
        if self._problem.loss == "log":
            return np.abs(moved)
        return np.asarray((self._problem.signs * np.where(self._bends > 0.0, 1.0, -1.0))[:, None] * moved)

    def _off_chord(self, low: float, high: float) -> float:
        """Return how far Newton's step can be from its chord between two values of C, in the norm of H."""
        values = self._values
        a, b = 1.0 + low * values, 1.0 + high * values
        apart = np.abs(self._own * values + self._combined / self._C) * values * (high - low) ** 2
        apart /= (np.sqrt(a) + np.sqrt(b)) ** 2 * a * b
        return math.sqrt(float((b * apart * apart).sum())) * (1.0 + 1e-9)

    def _remainder(self, change: Floats, rho: Floats, C: float) -> float:
        """Return what the tangents of the losses' slopes can miss, in the norm of the inverse, for such changes."""
        counts = self._problem.counts
        if self._problem.loss == "log":
            unit = self._bends / counts
            missed = np.minimum(unit * (np.expm1(change) - change), _THIRD * change * change)
            with np.errstate(divide="ignore", invalid="ignore"):
                squares = np.where(missed > 0.0, missed * missed / unit, 0.0)
            return math.sqrt(C * _core.dot(counts, squares)) * (1.0 + 1e-9)
        missed = np.maximum(change - self._distances, 0.0)
        bent = self._bends > 0.0
        inside = math.sqrt(2.0 * C * _core.dot(counts, np.where(bent, missed * missed, 0.0)))
        return (inside + 2.0 * C * _core.dot(counts, np.where(bent, 0.0, missed * rho))) * (1.0 + 1e-9)

    def _room(self, C: float) -> float:
        """Return what a free intercept adds to the square of a row's norm, and what rounding can take from it."""
        return self._turn_error() + (1.0 / (C * self._mass) if self._problem.free else 0.0)


def _products(rows: Floats, vector: Floats) -> Floats:
    """Return the product of a matrix with a vector, in the core's order of addition."""
    return _core.decide(_core.dense(rows), vector[None, :], np.zeros(1), 1)[:, 0]
