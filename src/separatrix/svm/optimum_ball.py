"""Where the optimum is for other values of C, given one approximate solution: a ball, and the lens of two balls.

The problem is to minimise ``|w|^2 / 2 + C L(w, b)`` with ``L = sum s_i loss(m_i)``, ``m_i = y_i (w.x_i + b)``, and any
convex loss. A solution ``(w~, b~)`` for ``C~`` comes with dual weights alpha; ``u = sum alpha_i y_i x_i``.

*What the solution proves about L.* For each row the Fenchel inequality ``C~ s_i loss(m) >= C~ s_i loss(m~_i) -
alpha_i (m - m~_i) - eps_i`` holds for every m, with the row's Fenchel gap ``eps_i >= 0``, 0 where alpha_i is minus a
slope of the loss at ``m~_i``. Their sum, where the intercept is free and thus ``sum alpha_i y_i = 0``, is ::

    C~ L(w, b) >= C~ L(w~, b~) - u.(w - w~) - eps     for all w and b,    eps = sum eps_i.

*The ball.* Let w*, b* be optimal for C, and r = C / C~. The optimum has ``L(w~, b~) >= L(w*, b*) - w*.(w~ - w*) / C``,
since ``-w* / C`` is a subgradient of L in w, and 0 one in b. Adding this to the inequality above at ``(w*, b*)`` ::

    (w* - w~).(w* - r u) <= r eps,

which is a ball: its centre is ``(w~ + r u) / 2``, its squared radius ``|w~ - r u|^2 / 4 + r eps``. No strong convexity
in b is needed, and nothing about how the solution was found; for ``w~ = u`` and ``eps = 0`` the ball is that of
Shibagaki, Suzuki, Karasuyama and Takeuchi (2015), section 3. A penalised intercept is one more coordinate of w.

*The lens.* With two solutions, for ``C1 <= C <= C2``, w* is in both balls, hence in every ball of their pencil: for
``0 <= part <= 1`` the weighted mean of the two inequalities. The one with the least radius is small where the balls
merely touch: wherever w* grows in proportion to C, and wherever it has stopped changing.

*A range of C.* For a fixed part the centre is linear in C, and the squared radius is convex in C, so its largest value
is at an end.

Rounding: eps includes what rounding can have hidden (``Evidence``), radii are rounded up, and ``Ball.off`` bounds the
error of a score.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.rules.losses import Log, sigmoid
from separatrix.svm.task import balanced

_UNIT = float(np.finfo(np.float64).eps)
LOSSES = ("hinge", "squared_hinge", "log")


@dataclass(frozen=True, eq=False)
class Problem:
    """One binary problem without its C: rows, signs, weights s of the losses, loss, and kind of intercept.

    ``constant`` is that of a penalised intercept coordinate, 0 for none; ``free`` is the intercept that costs nothing.
    """

    rows: Rows
    signs: Floats
    counts: Floats
    loss: str
    constant: float
    free: bool
    lengths: Floats  # |x| of every row, the intercept coordinate not included


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a solution for one C proves about the optimum for any other.

    ``weights`` and ``combined`` (u) have the weight of the penalised intercept as their last coordinate; ``eps`` is the
    Fenchel gap, and ``doubt`` and ``imbalance`` bound the rounding errors of u and of ``sum alpha y``.
    """

    C: float
    weights: Floats
    combined: Floats
    bias: float
    eps: float
    doubt: float
    imbalance: float
    primal: float
    reach: float  # the largest |x|
    lean: float  # how far beyond the scores the best bias can lie
    row_eps: Floats
    alpha: Floats
    margins: Floats
    off: Floats  # how far each margin can be from what was computed

    def slack(self, r: float) -> float:
        """Return what stands beside r in the ball's inequality, for C up to r times this one.

        The computed u is off by at most ``doubt``, which adds ``doubt |w* - w~|``; and dual weights that are out of
        balance add ``imbalance |b* - b~|``. Both distances are bounded through ``|w*|^2 / 2 <= max(1, r) primal``.
        """
        longest = math.sqrt(2.0 * max(1.0, r) * self.primal)
        apart = math.sqrt(_core.dot(self.weights, self.weights)) + longest
        shift = abs(self.bias) + longest * self.reach + self.lean
        return self.eps + self.doubt * apart + self.imbalance * shift


def evidence(problem: Problem, C: float, weights: Floats, bias: float, alpha: Floats | None = None) -> Evidence:
    """Return what weights and intercept for C prove, with dual weights ``alpha``, or those of the log loss's slopes."""
    rows, signs, counts = problem.rows, problem.signs, problem.counts
    n, d = rows.shape
    costs = C * counts
    scores = _core.decide(rows.matrix, weights[None, :], np.array([bias]), 1)[:, 0]
    margins = signs * scores
    if alpha is None:
        alpha = costs * sigmoid(-margins)
    alpha = np.clip(alpha, 0.0, None if problem.loss == "squared_hinge" else costs)
    if problem.free:
        alpha = balanced(alpha, signs, costs if problem.loss == "hinge" else None)
    signed = signs * alpha
    total, balance = _core.dot(alpha, np.ones(n)), _core.dot(signs, alpha)
    combined = np.append(_core.combine(rows.matrix, signed), problem.constant * balance)
    whole = np.append(weights, bias / problem.constant if problem.constant else 0.0)
    norm = math.sqrt(_core.dot(weights, weights)) + abs(bias)
    off = (d + 8) * _UNIT * (1.0 + norm * (1.0 + problem.lengths))  # of a margin
    row_eps = _fenchel_gaps(problem.loss, costs, margins, alpha, off)
    loss = _core.dot(costs, _losses(problem.loss, margins) + off * (1.0 + off + 2.0 * np.abs(1.0 - margins)))
    used = int(np.count_nonzero(alpha)) + 8
    doubt = 2.0 * used * _UNIT * (_core.dot(alpha, problem.lengths) + problem.constant * total)
    imbalance = (abs(balance) + 2.0 * used * _UNIT * total) if problem.free else 0.0
    sides = [_core.dot(counts, np.where(signs * side > 0, 1.0, 0.0)) for side in (1.0, -1.0)]
    lean = 2.0 + abs(math.log(2.0 * max(sides) / min(sides))) if min(sides) > 0 else math.inf
    grown = 1.0 + 4.0 * (n + d) * _UNIT
    return Evidence(
        C, whole, combined, bias if problem.free else 0.0, grown * _core.dot(row_eps, np.ones(n)), doubt, imbalance,
        grown * (0.5 * _core.dot(whole, whole) + loss), float(problem.lengths.max()), lean, row_eps, alpha,
        margins, off,
    )  # fmt: skip


def _losses(loss: str, margins: Floats) -> Floats:
    if loss == "log":
        return np.asarray(Log.value(margins))
    slack = np.maximum(1.0 - margins, 0.0)
    return slack * slack if loss == "squared_hinge" else slack


def _fenchel_gaps(loss: str, costs: Floats, margins: Floats, alpha: Floats, off: Floats) -> Floats:
    """Return every row's Fenchel gap, a sum of terms that are not negative, and what an error of its margin can add."""
    over, under = np.maximum(1.0 - margins, 0.0), np.maximum(margins - 1.0, 0.0)
    if loss == "hinge":
        return np.asarray((1.0 + 8.0 * _UNIT) * ((costs - alpha) * over + alpha * under + costs * off))
    if loss == "squared_hinge":
        apart = np.abs(over - 0.5 * alpha / costs) + off
        return np.asarray((1.0 + 8.0 * _UNIT) * (costs * apart * apart + alpha * (under + off)))
    p, wrong, value = np.minimum(alpha / costs, 1.0), sigmoid(-margins), np.asarray(Log.value(margins))
    with np.errstate(divide="ignore", invalid="ignore"):
        first = np.where(p > 0.0, p * (np.log(p) + value + margins), 0.0)
        second = np.where(p < 1.0, (1.0 - p) * (np.log1p(-p) + value), 0.0)
    hidden = 16.0 * _UNIT * (1.0 + np.abs(margins)) * np.maximum(p, np.minimum(value, 1.0)) + 4.0 * _UNIT * p
    return np.asarray(costs * (np.maximum(first + second, 0.0) + hidden + (np.abs(p - wrong) + off) * off))


class Ball(NamedTuple):
    """A ball that holds w* for every C of a cell: the centre at the cell's ends as parts of vectors, and the radius.

    The vectors are weights and combined of the first and of the second solution. ``off`` times ``1 + |x|`` bounds the
    error of a score.
    """

    first: tuple[float, float, float, float]
    last: tuple[float, float, float, float]
    radius: float
    off: float

    def scores(self, vectors: Floats, lengths: Floats, off: float) -> tuple[Floats, Floats]:
        """Return bounds on w*.x, given the scores of the four vectors in columns, ``|x|``, and the error of a score."""
        ends = [_mixed(vectors, parts) for parts in (self.first, self.last)]
        reach = self.radius * lengths + off
        return np.minimum(*ends) - reach, np.maximum(*ends) + reach


def _mixed(vectors: Floats, parts: tuple[float, float, float, float]) -> Floats:
    (a, b, c, d), columns = parts, vectors
    return np.asarray(a * columns[0] + b * columns[1] + c * columns[2] + d * columns[3])


class Lens:
    """The balls of two solutions; for C outside of their range, or with the same one twice, they are no less valid."""

    def __init__(self, first: Evidence, second: Evidence) -> None:
        self.pair = (first, second)
        vectors = [first.weights, first.combined, second.weights, second.combined]
        self._gram = np.array([[_core.dot(a, b) for b in vectors] for a in vectors])

    def ball(self, low: float, high: float) -> Ball:
        """Return a ball that holds the optima for all C from low to high."""
        slacks = [each.slack(high / each.C) for each in self.pair]
        part = self._best_part(math.sqrt(low) * math.sqrt(high), slacks)
        radius = max(self._radius(C, part, slacks) for C in (low, high))
        norms = np.sqrt(np.diag(self._gram))
        d = len(self.pair[0].weights)
        size = float(norms @ np.array([1.0, high / self.pair[0].C, 1.0, high / self.pair[1].C]))
        return Ball(self._parts(low, part), self._parts(high, part), radius, 4.0 * (d + 8) * _UNIT * size)

    def _parts(self, C: float, part: float) -> tuple[float, float, float, float]:
        one, two = self.pair
        rest = 1.0 - part
        return 0.5 * part, 0.5 * part * C / one.C, 0.5 * rest, 0.5 * rest * C / two.C

    def _square(self, parts: tuple[float, ...]) -> float:
        vector = np.array(parts)
        return max(float((vector[:, None] * self._gram * vector[None, :]).sum()), 0.0)

    def _radii(self, C: float, slacks: list[float]) -> tuple[float, float, float]:
        """Return the squared radii of the two balls, and the squared distance of their centres."""
        r, s = C / self.pair[0].C, C / self.pair[1].C
        one = 0.25 * self._square((1.0, -r, 0.0, 0.0)) + r * slacks[0]
        two = 0.25 * self._square((0.0, 0.0, 1.0, -s)) + s * slacks[1]
        return one, two, 0.25 * self._square((1.0, r, -1.0, -s))

    def _best_part(self, C: float, slacks: list[float]) -> float:
        one, two, apart = self._radii(C, slacks)
        if not apart > 0.0:
            return 1.0 if one <= two else 0.0
        return min(max(0.5 + 0.5 * (two - one) / apart, 0.0), 1.0)

    def _radius(self, C: float, part: float, slacks: list[float]) -> float:
        """Return the radius of one ball of the pencil, rounded up."""
        one, two, apart = self._radii(C, slacks)
        r, s = C / self.pair[0].C, C / self.pair[1].C
        sizes = np.diag(self._gram) * np.array([1.0, r * r, 1.0, s * s])
        d = len(self.pair[0].weights)
        hidden = 16.0 * (d + 16) * _UNIT * float(sizes.sum())
        square = part * one + (1.0 - part) * two - part * (1.0 - part) * apart
        return math.sqrt(max(square, 0.0) * (1.0 + 16.0 * _UNIT) + hidden) * (1.0 + 4.0 * _UNIT)
