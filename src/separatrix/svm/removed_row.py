"""What one solution proves about the solution without one of its rows, for each row in turn.

The notation is that of ``optimum_ball``: ``(w~, b~)`` with dual weights alpha, ``u = sum alpha_j y_j x_j``, Fenchel
gaps eps_j. Without row i the objective is another, with an optimum ``w*, b*`` of its own.

*A row that is wrong stays wrong.* The optimum without the row cannot have a smaller loss on it than the optimum with
it has: else it would be better with it too. For a solution with gap G, ``loss(m_i*) >= loss(m~_i) - G / C_i``.

*The ball.* Any dual weights alpha' of the other rows, in their bounds and with ``sum alpha'_j y_j = 0`` where the
intercept is free, give ``(w* - w~).(w* - u') <= eps'`` with ``u' = sum alpha'_j y_j x_j`` and the sum eps' of their
Fenchel gaps at ``m~_j``: this is the inequality of ``optimum_ball`` for the other rows, with r = 1.

*Without a free intercept* alpha' is alpha of the others: ``u' = u - alpha_i y_i x_i``. (If the solution is exact, the
ball says ``m_i* >= m~_i - alpha_i |x_i|^2``, the bound of Jaakkola and Haussler, 1999.)

*With a free intercept* the others must take over what row i leaves: ``alpha'_j = alpha_j + delta y_i y_j k_j`` with
``k_j >= 0`` and ``delta sum_{j != i} k_j = alpha_i``. With the k-weighted mean mu of all rows, ``u' = u - a y_i (x_i -
mu)``, ``a = alpha_i K / (K - k_i)``, K the sum of all k. The k are chosen so that the Fenchel gaps grow little:

- hinge: ``k_j = min(alpha_j, C_j - alpha_j)``, delta at most 1; a gap grows by ``delta k_j |1 - m~_j|``;
- squared hinge: ``k_j = 2 C_j`` where ``alpha_j / 2 C_j`` is at least some least slack, delta at most that; a gap grows
  by ``delta k_j e_j + delta^2 k_j / 2`` with ``e_j = |max(1 - m~_j, 0) - alpha_j / 2 C_j|``;
- log: ``k_j = C_j p_j (1 - p_j)`` with ``p_j = alpha_j / C_j``, delta at most 1/2; by Taylor's theorem a gap grows by
  at most ``delta k_j |logit(p_j) + m~_j| + delta^2 k_j / (2 (1 - delta)^2)``.

*The free intercept* is where the slope of the other rows' loss vanishes (``other_bias``). For the log loss the slope's
change is its linear part, which has no term in w - w~ but for row i because the rows are taken about mu, and at most
``max |loss'''| / 2 = 1 / (12 sqrt 3)`` times the squares of the scores' changes; for the hinges it is found row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.rules.losses import Log, sigmoid
from separatrix.svm.bias_range import bias_range
from separatrix.svm.optimum_ball import Evidence, Problem

_UNIT = float(np.finfo(np.float64).eps)
_BEND = 1.0 / (12.0 * math.sqrt(3.0)) * (1.0 + 1e-12)  # half of the largest third derivative of the log loss
_MOST_EQUATIONS = 500


@dataclass(frozen=True, eq=False)
class Removal:
    """The balls of one plane's problem without each row: centres and radii as parts of vectors, row by row.

    ``low`` and ``high`` bound the row's own score ``w*.x_i + b*``, without the intercept where that is free.
    """

    low: Floats
    high: Floats
    share: Floats  # a: how much of the row leaves u
    radius: Floats
    centre: Floats  # mu
    lengths: Floats  # |x_i - mu|
    middle: Floats  # (w~ + u).(x_j - mu) / 2 of every row
    off: float  # the error of a score


def surely_wrong(problem: Problem, proof: Evidence, scores: Floats) -> NDArray[np.bool_]:
    """Return which rows are certainly misclassified without themselves, because they are with themselves."""
    apart = proof.weights - proof.combined
    gap = proof.slack(1.0) + 0.5 * (math.sqrt(_core.dot(apart, apart)) + proof.doubt) ** 2
    margins = problem.signs * scores
    off = (len(proof.weights) + 8) * _UNIT * (1.0 + _norm(proof) * (1.0 + problem.lengths))
    margins = margins + off
    if problem.loss == "log":
        losses, at_zero = np.asarray(Log.value(margins)), math.log(2.0)
    else:
        slack = np.maximum(1.0 - margins, 0.0)
        losses, at_zero = slack * slack if problem.loss == "squared_hinge" else slack, 1.0
    least = losses - (1.0 + 1e-12) * gap / (proof.C * problem.counts)
    return np.asarray(least > at_zero * (1.0 + 1e-12))


def removal(problem: Problem, proof: Evidence) -> Removal:
    """Return the ball of the problem without each row; its radius is infinite where none is proved."""
    n, d = problem.rows.shape
    alpha = proof.alpha
    weights, combined, constant = proof.weights, proof.combined, problem.constant
    takers, gap, most = _takers(problem, proof) if problem.free else (np.zeros(n), 0.0, math.inf)
    total = _core.dot(takers, np.ones(n))
    centre = _core.combine(problem.rows.matrix, takers) / total if total > 0.0 else np.zeros(d)
    rest = np.maximum(total - takers, 0.0) * (1.0 - 4.0 * n * _UNIT)
    share, growth, possible = alpha.copy(), np.zeros(n), np.ones(n, dtype=bool)
    if problem.free:
        with np.errstate(divide="ignore", invalid="ignore"):
            delta = np.where(alpha > 0.0, alpha / rest, 0.0)
            share = np.where(alpha > 0.0, alpha * (total / rest), 0.0)
        possible = delta <= most
        delta, share = np.where(possible, delta, 0.0), np.where(possible, share, 0.0)
        growth = delta * gap * (1.0 + 1e-12)
        if problem.loss == "squared_hinge":
            growth += 0.5 * delta**2 * total * (1.0 + 1e-12)
        elif problem.loss == "log":
            growth += 0.5 * delta**2 * total / (1.0 - delta) ** 2 * (1.0 + 1e-12)
        growth += _hidden(problem, proof, share)
    shift = _core.dot(centre, centre)
    pair = []
    for vector in (weights, combined):
        bias = vector[-1] * constant - _core.dot(vector[:-1], centre)
        pair.append(_core.decide(problem.rows.matrix, vector[None, :-1], np.array([bias]), 1)[:, 0])
    products = _core.decide(problem.rows.matrix, centre[None, :], np.zeros(1), 1)[:, 0] if shift > 0.0 else np.zeros(n)
    own = problem.lengths**2 + constant**2
    hidden = 8.0 * (d + 8) * _UNIT * (own + shift)
    squares = np.maximum(own + shift - 2.0 * products, 0.0)
    lengths = np.sqrt(squares + hidden)
    norms = math.sqrt(_core.dot(weights, weights)) + math.sqrt(_core.dot(combined, combined))
    off = 8.0 * (d + 8) * _UNIT * norms * (1.0 + float(problem.lengths.max()) + math.sqrt(shift) + constant)
    apart = weights - combined
    still = _core.dot(apart, apart) + 8.0 * (d + 8) * _UNIT * norms * norms
    turned = problem.signs * (pair[0] - pair[1])
    inside = 0.25 * (still + 2.0 * share * (np.abs(turned) + off) + share**2 * (squares + hidden))
    radius = np.sqrt((inside + proof.slack(1.0) + growth) * (1.0 + 1e-12))
    radius = np.where(possible, radius, math.inf)
    middle = 0.5 * (pair[0] + pair[1])
    at = middle - 0.5 * problem.signs * share * squares
    reach = radius * lengths + off + share * (hidden + 8.0 * n * _UNIT * squares)
    return Removal(at - reach, at + reach, share, radius, centre, lengths, middle, off)


def _hidden(problem: Problem, proof: Evidence, share: Floats) -> Floats:
    """Return what rounding of mu, and dual weights out of balance without a row, can add to the ball's inequality."""
    n = len(share)
    longest = math.sqrt(_core.dot(proof.weights, proof.weights)) + math.sqrt(2.0 * proof.primal)
    moved = share * (4.0 * (n + 8) * _UNIT * proof.reach * longest)
    positive = np.where(problem.signs > 0, problem.counts, 0.0)
    sides = np.where(
        problem.signs > 0, _core.dot(positive, np.ones(n)), _core.dot(problem.counts - positive, np.ones(n))
    )
    left = sides - problem.counts
    with np.errstate(divide="ignore"):
        lean = np.where(left > 0.0, np.log(sides / np.maximum(left, 1e-300)), 0.0)  # a class that is gone: no claim
    return moved + proof.imbalance * (lean + 1.0)


def _norm(proof: Evidence) -> float:
    return math.sqrt(_core.dot(proof.weights, proof.weights)) + abs(proof.bias)


def _takers(problem: Problem, proof: Evidence) -> tuple[Floats, float, float]:
    """Return k of every row, the sum of k times the gaps' slopes, and the largest delta."""
    costs, alpha = proof.C * problem.counts, proof.alpha
    margins = problem.signs * _scores(problem, proof)
    off = (len(proof.weights) + 8) * _UNIT * (1.0 + _norm(proof) * (1.0 + problem.lengths))
    if problem.loss == "hinge":
        takers, slopes, most = np.minimum(alpha, costs - alpha), np.abs(1.0 - margins), 1.0
    elif problem.loss == "squared_hinge":
        slack = 0.5 * alpha / costs
        active = slack[slack > 0.0]
        most = 0.5 * float(np.median(active)) if len(active) else 0.0
        takers = np.where(slack >= most, 2.0 * costs, 0.0) if most > 0.0 else np.zeros(len(alpha))
        slopes = np.abs(np.maximum(1.0 - margins, 0.0) - slack) + np.maximum(margins - 1.0, 0.0)
        most *= 1.0 - 1e-12
    else:
        p = np.minimum(alpha / costs, 1.0)
        takers, most = costs * p * (1.0 - p), 0.5
        with np.errstate(divide="ignore", invalid="ignore"):
            logit = np.log(p) - np.log1p(-p)
        slopes = np.where(takers > 0.0, np.abs(logit + margins) + 8.0 * _UNIT * (1.0 + np.abs(margins)), 0.0)
        slopes = np.where(np.isfinite(slopes), slopes, 0.0)
    return takers, _core.dot(takers, slopes + off) * (1.0 + 1e-12), most


def _scores(problem: Problem, proof: Evidence) -> Floats:
    bias = proof.bias + proof.weights[-1] * problem.constant
    return _core.decide(problem.rows.matrix, proof.weights[None, :-1], np.array([bias]), 1)[:, 0]


def unmoved(problem: Problem, proof: Evidence, found: Removal) -> tuple[Floats, Floats]:
    """Return bounds on the scores without themselves of rows whose dual weight is 0, by a hinge with a free intercept.

    The intercepts' range is that of all rows. A row whose margin is at least 1 in all of it has no part in the slope
    there, so that it is the range without the row too; other rows get no bounds.
    """
    n = problem.rows.shape[0]
    free = (proof.alpha == 0.0) & np.isfinite(found.radius)
    low, high = np.full(n, -math.inf), np.full(n, math.inf)
    if free.any():
        radius = float(found.radius[free].max())
        reach = radius * found.lengths + found.off
        down, up = bias_range(problem, found.middle - reach, found.middle + reach)
        slip = 4.0 * _UNIT * (1.0 + max(abs(down), abs(up)))
        lowest, highest = found.middle - reach + down - slip, found.middle + reach + up + slip
        safe = free & (np.where(problem.signs > 0, lowest, -highest) >= 1.0)
        low[safe], high[safe] = lowest[safe], highest[safe]
    return low, high


def without_row(problem: Problem, found: Removal, row: int) -> tuple[float, float]:
    """Return bounds on a row's score without itself, by the intercept's range in the problem without it."""
    turn = _core.combine(problem.rows.matrix, (np.arange(len(problem.signs)) == row).astype(np.float64)) - found.centre
    bias = -_core.dot(turn, found.centre)
    products = _core.decide(problem.rows.matrix, turn[None, :], np.array([bias]), 1)[:, 0]
    d = problem.rows.shape[1]
    hidden = 8.0 * (d + 8) * _UNIT * (1.0 + float(found.lengths.max()) + 2.0 * math.sqrt(_core.dot(turn, turn)))
    sizes = float(problem.lengths.max()) + math.sqrt(_core.dot(found.centre, found.centre))
    at = found.middle - 0.5 * problem.signs[row] * found.share[row] * products
    reach = found.radius[row] * found.lengths + found.off + found.share[row] * hidden * (1.0 + sizes)
    others = np.arange(len(at)) != row
    rest = replace(
        problem,
        signs=problem.signs[others],
        counts=problem.counts[others],
        lengths=problem.lengths[others],
    )
    down, up = bias_range(rest, (at - reach)[others], (at + reach)[others])
    slip = 4.0 * _UNIT * (1.0 + max(abs(down), abs(up)))
    return float(found.low[row] + down - slip), float(found.high[row] + up + slip)


def log_intercepts(problem: Problem, proof: Evidence, found: Removal) -> tuple[Floats, Floats]:
    """Return bounds on ``b* + w*.mu`` without each row, for the log loss with a free intercept."""
    n = problem.rows.shape[0]
    costs = proof.C * problem.counts
    scores = _scores(problem, proof)
    wrong = sigmoid(-problem.signs * scores)
    bends, pulls = costs * wrong * (1.0 - wrong), problem.signs * costs * wrong
    ones = np.ones(n)
    total, mass = _core.dot(bends, ones), _core.dot(costs, ones)
    # The mean of rows by these bends is mu but for the difference of alpha from the slopes at w~: what is left counts.
    left = _core.combine(problem.rows.matrix, bends) - total * found.centre
    leftover = math.sqrt(_core.dot(left, left)) + 4.0 * n * _UNIT * _core.dot(bends, found.lengths)
    widest = math.sqrt(_largest(problem, costs, found))
    apart = proof.weights - proof.combined
    moved = 0.5 * (math.sqrt(_core.dot(apart, apart)) + found.share * found.lengths) + found.radius
    off = (len(proof.weights) + 8) * _UNIT * (1.0 + _norm(proof) * (1.0 + problem.lengths))
    slips = _core.dot(costs, off) + 16.0 * n * _UNIT * _core.dot(np.abs(pulls), ones)
    with np.errstate(invalid="ignore"):
        doubt = moved * (leftover + bends * found.lengths) + slips
    rest = total - bends
    start = proof.bias + _core.dot(proof.weights[:-1], found.centre)
    ends = []
    for side in (1.0, -1.0):
        pull = side * (pulls - _core.dot(pulls, ones))  # the slope without the row, at w~ and b~
        step = np.zeros(n)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            for _ in range(60):
                lost = doubt + _BEND * (moved * widest + np.abs(step) * math.sqrt(mass)) ** 2
                step = (lost * (1.0 + 1e-9) + 1e-300 - pull) / rest
            lost = doubt + _BEND * (moved * widest + np.abs(step) * math.sqrt(mass)) ** 2
            proved = pull + step * rest > lost * (1.0 + 1e-12) + 1e-13 * (np.abs(pull) + np.abs(step) * rest)
        proved &= np.isfinite(step)
        slip = 8.0 * _UNIT * (1.0 + abs(start) + np.abs(step))
        ends.append(np.where(proved, side * start + step + slip, math.inf))
    return -ends[1], ends[0]


def _largest(problem: Problem, costs: Floats, found: Removal) -> float:
    """Return a bound on the largest eigenvalue of ``sum C (x - mu)(x - mu)'``."""
    bound = _core.dot(costs, found.lengths**2)
    n, d = problem.rows.shape
    if d <= _MOST_EQUATIONS:
        lower = np.tril(_core.gram(problem.rows.matrix, costs)[:d, :d])
        gram = lower + np.tril(lower, -1).T
        sums = _core.combine(problem.rows.matrix, costs)
        mass, size = float(costs.sum()), float(np.abs(gram).max())
        centred = gram - np.outer(sums, found.centre) - np.outer(found.centre, sums)
        centred = centred + mass * np.outer(found.centre, found.centre)
        hidden = 8.0 * (n + 8) * _UNIT * (size + mass * float(np.abs(found.centre).max()) ** 2) * d
        bound = min(bound, float(np.abs(centred).sum(axis=0).max()) + 4.0 * hidden)
    return bound * (1.0 + 1e-12)
