"""One soft-margin task, and the measure of any solution of it.

The primal problem (Lecture 003, 2.2 and 2.6) is to minimise ``|w|^2 / 2 + sum C_i loss(1 - y_i (w.x_i + b))`` with the
hinge loss or its square. Its dual is to maximise ``sum alpha - |sum alpha y x|^2 / 2 - sum alpha^2 / (4 C)`` (the last
term for the square only) over ``0 <= alpha <= C`` (no upper bound for the square) and, when the bias is free, ``sum
alpha y = 0``. Any alpha that is allowed gives a lower bound on the optimum, and its weights an upper one: the gap
between them is the proof that comes with a solution, whichever method found it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_array, is_real, require

_UNIT = float(np.finfo(np.float64).eps)
ONE_SIDED = 1e-3  # part of what all slacks cost that a class may count for at most
BLOCK = 1 << 14  # rows whose numbers are computed at once where they need not be kept


class HaltedError(Exception):
    """The caller asked to stop before the end; nothing has been changed."""


def looking(halted: Callable[[], bool]) -> Callable[[], None]:
    """Return what a long product calls now and then: it raises as soon as the caller asks to stop."""

    def look() -> None:
        if halted():
            raise HaltedError

    return look


@dataclass(frozen=True, eq=False)
class MarginTask:
    """One binary margin problem: rows, signs (+1, -1), the cost C of each row's slack, and the kind of bias.

    ``bias`` is the constant K of a penalised bias coordinate, 0 for none; ``free`` is the bias that costs nothing.
    ``known_squares`` are the rows' squared lengths, if they have been computed already.
    """

    rows: Rows
    signs: Floats
    costs: Floats
    squared: bool = False
    bias: float = 0.0
    free: bool = False
    known_squares: Floats | None = None

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.signs)

    @property
    def hard(self) -> bool:
        """Whether no slack is allowed."""
        return bool(np.isinf(self.costs[0]))

    @cached_property
    def squares(self) -> Floats:
        """``|x|^2`` of every row."""
        return _core.square_norms(self.rows.matrix) if self.known_squares is None else self.known_squares

    @cached_property
    def ones(self) -> Floats:
        """A 1 for every row."""
        return np.ones(self.n)

    @cached_property
    def sides(self) -> tuple[float, float]:
        """What the slack of the positive and of the negative rows costs in all."""
        positive, negative = (np.where(self.signs * side > 0, self.costs, 0.0) for side in (1.0, -1.0))
        return _core.dot(positive, self.ones), _core.dot(negative, self.ones)

    def part(self, chosen: np.ndarray) -> MarginTask:
        """Return the task of these rows alone."""
        rows = self.rows.part(chosen)
        return MarginTask(rows, self.signs[chosen], self.costs[chosen], self.squared, self.bias, self.free)

    def stored(self) -> int:
        """Return how many numbers the rows hold."""
        values = self.rows.values
        return int(values.nnz) if is_sparse(values) else int(values.size)


@dataclass(frozen=True, eq=False)
class DualSolution:
    """Alpha, the weights and bias that follow from it, and how far from the optimum they can be at most.

    ``rounding`` bounds what rounding can have added to the difference of the two values.
    """

    alpha: Floats
    weights: Floats
    bias: float
    slack: Floats
    primal: float
    dual: float
    rounding: float = 0.0

    @property
    def gap(self) -> float:
        """The difference of the two values, as computed."""
        return max(self.primal - self.dual, 0.0)

    @property
    def proven_gap(self) -> float:
        """An upper bound on the distance of the primal value from the optimum, no optimum being below 0."""
        return min(self.gap, self.primal) + self.rounding

    @property
    def narrowest(self) -> float:
        """For the hard margin: this plane has at least this margin; 0 if it does not separate."""
        return float(1.0 / np.sqrt(2.0 * (self.primal + self.rounding)))

    @property
    def widest(self) -> float:
        """For the hard margin: no plane has a larger margin."""
        dual = self.dual - self.rounding
        return float(1.0 / np.sqrt(2.0 * dual)) if dual > 0 else np.inf

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the primal value."""
        if np.isinf(self.primal):
            return np.inf
        return self.gap / self.primal if self.primal > 0 else 0.0

    def validate(self) -> None:
        """Refuse parts that do not fit together."""
        fits = is_array(self.alpha, "f8", (None,)) and is_array(self.slack, "f8", (len(self.alpha),))
        fits = fits and is_array(self.weights, "f8", (None,), finite=True)
        numbers = (self.bias, self.primal, self.dual, self.rounding)
        require(fits and all(is_real(value) for value in numbers), "a solution is damaged")


def measure(task: MarginTask, alpha: Floats, candidate: tuple[Floats, float] | None = None) -> DualSolution:
    """Return the solution that alpha gives, every number of it computed from the data in double precision.

    With a free bias, alpha is first made to satisfy ``sum alpha y = 0``. The weights are ``sum alpha y x``, or those
    of the ``candidate`` (weights, bias) where their primal value is lower: for the gap any weights will do. For the
    hard margin both are first scaled: the weights until the least margin is 1, alpha until the dual is as large as it
    gets.
    """
    signs = task.signs
    if task.free:
        alpha = balanced(alpha, signs, task.costs if not task.squared else None)
    weights = _core.combine(task.rows.matrix, signs * alpha)
    balance = _core.dot(signs, alpha)
    gain = _core.dot(task.ones, alpha)
    square = _core.dot(weights, weights) + (task.bias * balance) ** 2
    if task.hard and square > 0:
        factor = gain / square
        alpha, weights, balance = alpha * factor, weights * factor, balance * factor
        gain, square = gain * factor, square * factor**2
    if task.squared:
        gain -= 0.25 * _core.dot(alpha, alpha / task.costs)
    dual = gain - 0.5 * square
    best = _cost(task, weights, task.bias**2 * balance, alpha)
    if candidate is not None:
        best = min(best, _cost(task, *candidate, alpha), key=lambda cost: cost.primal)
    bias, enough = constant_solution(task)
    if not best.primal <= enough * (1.0 + 4.0 * _UNIT):
        best = _cost(task, np.zeros(len(weights)), bias, alpha)
    return DualSolution(
        alpha, best.weights, best.bias, best.slack, best.primal, dual, _rounding(task, alpha, best, gain, square)
    )


def _rounding(task: MarginTask, alpha: Floats, cost: _Cost, gain: float, square: float) -> float:
    """Return a bound on the rounding errors of the two values.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1): the products ``w.x`` by d of ``|w| |x|``, each weighing C in the loss;
    ``sum alpha y x`` by as many as there are support vectors; the sums over all rows by n.
    """
    if np.isinf(cost.primal):
        return 0.0
    n, d = task.rows.shape
    # An error in the least margin scales a whole solution without slack.
    margins = 2.0 * cost.primal * cost.longest if task.hard else cost.error
    support = int(np.count_nonzero(alpha))
    sums = (support + d) * float(np.sqrt(square)) * cost.lengths
    total = (n + 4) * (cost.primal + (1.0 + abs(cost.bias)) * abs(gain) + square)
    return 2.0 * (margins + _UNIT * (sums + total))


def constant_solution(task: MarginTask) -> tuple[float, float]:
    """Return the bias and a bound on the primal value of weights that are all zero: no solution needs to be worse.

    Where one class counts for next to nothing, a penalised bias suits the other; else it is 0. A free one is the best.
    """
    if task.hard:
        return 0.0, np.inf
    if not (task.free or task.bias):
        return 0.0, _core.dot(task.costs, task.ones)
    positive, negative = task.sides
    lighter, total = min(positive, negative), positive + negative
    if task.free:
        return 0.0, total if task.squared else 2.0 * lighter
    if task.bias:
        one_sided = 0.5 / task.bias**2 + (4.0 if task.squared else 2.0) * lighter
        if one_sided < ONE_SIDED * total:
            return 1.0 if positive > negative else -1.0, one_sided
    return 0.0, total


class _Cost(NamedTuple):
    weights: Floats
    bias: float
    slack: Floats
    primal: float
    error: float  # how far rounding can have moved the sum of the losses, with the slopes that they have
    longest: float  # error of a margin
    lengths: float  # the sum of alpha |x|


def _cost(task: MarginTask, weights: Floats, bias: float, alpha: Floats) -> _Cost:
    """Return the primal value of these weights, with the best bias where it is free."""
    signs, costs = task.signs, task.costs
    scores = _core.decide(task.rows.matrix, weights[None, :], np.zeros(1), 1)[:, 0]
    if task.free:
        bias = best_bias(scores, signs, costs, squared=task.squared)
    weights, separated = weights.copy(), False
    if task.hard:
        costs, lowest = task.ones, float((signs * (scores + bias)).min())
        separated = lowest > 0
        if separated:
            weights, bias, scores = weights / lowest, bias / lowest, scores / lowest
    square = _core.dot(weights, weights)
    unit = (task.rows.shape[1] + 4) * _UNIT  # margins can be off by this times 1 + |b| + |w| |x|
    loss, error, longest, lengths, slack = _core.margin_sums(
        task.squared, scores, float(bias), signs, costs, task.squares, alpha, unit, float(np.sqrt(square)), task.bias**2
    )  # fmt: skip
    if task.bias:
        square += (bias / task.bias) ** 2
    if task.hard:
        loss = 0.0 if separated else np.inf
    return _Cost(weights, float(bias), slack, 0.5 * square + loss, error, longest, lengths)


def balanced(alpha: Floats, signs: Floats, costs: Floats | None) -> Floats:
    """Return alpha changed a little so that both classes weigh the same.

    The heavier class is scaled down: those of its points that are not at their upper bound, if they weigh enough, so
    that points at a bound stay there; else all of it. What is no more than rounding is left alone.
    """
    ones = np.ones(len(alpha))
    sums = [_core.dot(np.where(signs > 0, alpha, 0.0), ones), _core.dot(np.where(signs > 0, 0.0, alpha), ones)]
    excess = abs(sums[0] - sums[1])
    if excess <= _UNIT * np.count_nonzero(alpha) * max(sums):
        return alpha
    heavier = signs > 0 if sums[0] > sums[1] else signs < 0
    loose = heavier if costs is None else heavier & (alpha < costs)
    weight = _core.dot(np.where(loose, alpha, 0.0), ones)
    if weight <= excess:
        loose, weight = heavier, max(sums)
    if not weight > 0.0:  # what is not a number has no weight
        return np.zeros(len(alpha))
    return np.where(loose, alpha * max(1.0 - excess / weight, 0.0), alpha)


def best_bias(scores: Floats, signs: Floats, costs: Floats, *, squared: bool = False) -> float:
    """Return the bias with the least loss for these scores ``w.x``; the middle, where many are as good.

    The loss as a function of the bias has a knot for each example, where the example meets its margin. The hinge's
    slope rises by C at each knot; the slope of its square is a line between knots.

    Examples
    --------
    >>> best_bias(np.array([0.0, 4.0]), np.array([-1.0, 1.0]), np.array([1.0, 1.0]))
    -2.0
    """
    knots = signs - scores
    if np.isinf(costs[0]):  # any loss is too much: half-way between the classes
        return float(0.5 * (knots[signs > 0].max() + knots[signs < 0].min()))
    order = np.argsort(knots, kind="stable")
    knots, below = knots[order], costs[order]
    above = np.where(signs[order] > 0, below, 0.0)
    below -= above  # what the negative rows cost; 0 for a positive one
    del order
    turn = _passed(below * knots) + _ahead(above * knots) if squared else None
    # Sums from the near end: what lies beyond is not subtracted from a total that it may vanish in.
    passed, ahead = _passed(below), _ahead(above)
    if turn is None:
        slope = passed - ahead  # just behind each knot
        flat = 4.0 * _UNIT * len(knots) * (passed + ahead)
        first = int(np.argmax(slope >= -flat))
        last = first + 1 if abs(slope[first]) <= flat[first] and first + 1 < len(knots) else first
        return float(0.5 * (knots[first] + knots[last]))
    # Half the slope at b: the sum of C (b - knot) over the negative knots below b and the positive ones above it.
    mass = passed + ahead  # between this knot and the next
    slope = mass * knots - turn
    last = int(np.argmax(slope >= 0)) if (slope >= 0).any() else len(knots)
    if last == 0:
        return float(knots[0])
    at = last - 1
    return float(turn[at] / mass[at]) if mass[at] > 0 else float(knots[at])


def _passed(values: Floats) -> Floats:
    """Turn values into the sums up to each, in place."""
    return np.cumsum(values, out=values)


def _ahead(values: Floats) -> Floats:
    """Turn values into the sums of those behind each, from the far end, in place."""
    np.cumsum(values[::-1], out=values[::-1])
    values[:-1] = values[1:]
    values[-1] = 0.0
    return values
