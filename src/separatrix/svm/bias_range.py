"""The range of the free intercept, where each score is only known to lie between two bounds."""

from __future__ import annotations

import math

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.rules.losses import sigmoid
from separatrix.svm.optimum_ball import Problem

_UNIT = float(np.finfo(np.float64).eps)
_SLOPE = 1e-6  # of the log loss in b, as a part of the sum of the rows' slopes, that is near enough to 0


def bias_range(problem: Problem, low: Floats, high: Floats, guess: float = 0.0) -> tuple[float, float]:
    """Return an interval with every optimal intercept, for scores w.x somewhere between ``low`` and ``high``.

    The search for its ends begins at the guess.

    The slope of the loss in b rises with b and with every score, so that the optimal intercepts are highest for the
    lowest scores. The ends are where that slope is provably positive, and provably negative.
    """
    mirrored = Problem(
        problem.rows, -problem.signs, problem.counts, problem.loss, problem.constant, problem.free, problem.lengths
    )
    return -_highest(mirrored, -high, -guess), _highest(problem, low, guess)


def _highest(problem: Problem, scores: Floats, guess: float) -> float:
    """Return a bound above which the slope of the loss in b is positive, for these scores."""
    signs, counts = problem.signs, problem.counts
    if problem.loss != "log":
        knots = signs - scores
        order = np.argsort(knots, kind="stable")
        knots, counts, ups = knots[order], counts[order], signs[order] > 0
        hidden = 4.0 * _UNIT * len(knots) * float(counts.sum())
        passed = np.cumsum(np.where(ups, 0.0, counts))
        ahead = float(np.where(ups, counts, 0.0).sum()) - np.cumsum(np.where(ups, counts, 0.0))
        if problem.loss == "hinge":
            over = passed - ahead > hidden  # just behind each knot
            return _up(float(knots[np.argmax(over)])) if over.any() else math.inf
        return _root(knots, np.where(ups, counts, 0.0), np.where(ups, 0.0, counts))
    positive = float(np.where(signs > 0, counts, 0.0).sum())
    negative = float(np.where(signs > 0, 0.0, counts).sum())
    if not (positive > 0.0 and negative > 0.0):
        return math.inf
    low = -float(scores.max()) - math.log(max(2.0 * negative / positive, 1.0)) - 1.0
    high = -float(scores.min()) + math.log(max(2.0 * positive / negative, 1.0)) + 1.0
    total, largest = float(counts.sum()), float(np.abs(scores).max())

    def slope(b: float) -> tuple[float, float, float]:
        wrong = sigmoid(-(signs * (scores + b)))
        pulls = counts * wrong
        size = float(pulls.sum())
        return -float((signs * pulls).sum()), float((pulls * (1.0 - wrong)).sum()), size

    b = guess if low < guess < high else 0.5 * (low + high)
    for _ in range(60):
        value, bend, size = slope(b)
        hidden = 4.0 * _UNIT * (len(signs) + 16) * size * (1.0 + abs(b) + largest) + 1e-300 * total
        if value > hidden:
            high = b
            if value < _SLOPE * size + 4.0 * hidden:
                break
        else:
            low = b
        step = b - (value - 0.4 * _SLOPE * size - 2.0 * hidden) / bend if bend > 0.0 else math.nan
        b = step if low < step < high else 0.5 * (low + high)
        if high - low <= 1e-12 * (1.0 + abs(high)):
            break
    return _up(high)


def _root(knots: Floats, above: Floats, below: Floats) -> float:
    """Return a bound above which the slope of the squared hinge's loss is positive: of sorted knots and their counts.

    ``above`` counts rows that pull up below their knot, ``below`` those that pull down above it.
    """
    passed = np.cumsum(below)
    ahead = float(above.sum()) - np.cumsum(above)
    up, down = np.cumsum(below * knots), np.cumsum(above * knots)
    moment = up + (down[-1] - down)
    sizes = float((np.abs(knots) * (above + below)).sum()) + float(np.abs(knots).max()) * float((above + below).sum())
    hidden = 8.0 * _UNIT * len(knots) * sizes
    slope = (passed + ahead) * knots - moment  # at each knot, half the slope
    over = slope > hidden
    if not over.any():  # beyond the last knot all negative rows pull
        mass = float(passed[-1])
        return _up((float(moment[-1]) + hidden) / mass) if mass > 0.0 else math.inf
    at = int(np.argmax(over))
    high = float(knots[at])
    if at == 0:
        return _up(high)
    mass = float(passed[at - 1] + ahead[at - 1])
    if mass > 0.0:
        high = min(high, max((float(moment[at - 1]) + 2.0 * hidden) / mass, float(knots[at - 1])))
    return _up(high)


def _up(value: float) -> float:
    return value + 8.0 * _UNIT * (1.0 + abs(value))
