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

    def part(self, chosen: np.ndarray) -> MarginTask:
        """Return the task of these rows alone."""
        rows = Rows(self.rows.values[chosen])
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
        """An upper bound on the primal value's distance from the optimum, whatever rounding did."""
        return self.gap + self.rounding

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
    gain = _core.dot(np.ones(task.n), alpha)
    square = _core.dot(weights, weights) + (task.bias * balance) ** 2
    if task.hard and square > 0:
        factor = gain / square
        alpha, weights, balance = alpha * factor, weights * factor, balance * factor
        gain, square = gain * factor, square * factor**2
    if task.squared:
        gain -= 0.25 * _core.dot(alpha, alpha / task.costs)
    dual = gain - 0.5 * square
    best = _cost(task, weights, task.bias**2 * balance)
    if candidate is not None:
        best = min(best, _cost(task, *candidate), key=lambda cost: cost.primal)
    if not best.primal <= _worst(task):
        best = _cost(task, np.zeros(len(weights)), 0.0)
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
    lengths = np.sqrt(task.squares)
    norm = float(np.sqrt(_core.dot(cost.weights, cost.weights))) + abs(cost.bias)
    off = (d + 4) * _UNIT * (1.0 + norm * (1.0 + lengths))  # how far a margin can be from what was computed
    if task.hard:  # an error in the least margin scales the whole solution
        margins = 2.0 * cost.primal * float(off.max())
    else:
        price = task.costs * (2.0 * (cost.slack + off) if task.squared else 1.0)
        margins = _core.dot(np.where(cost.margins < 1.0 + off, price, 0.0), off)
    support = int(np.count_nonzero(alpha))
    sums = (support + d) * float(np.sqrt(square)) * _core.dot(alpha, lengths + task.bias**2)
    total = (n + 4) * (cost.primal + (1.0 + abs(cost.bias)) * abs(gain) + square)
    return 2.0 * (margins + _UNIT * (sums + total))


def _worst(task: MarginTask) -> float:
    """Return an upper bound on the primal value of weights that are all zero: no solution needs to be worse."""
    if task.hard:
        return np.inf
    total = [_core.dot(task.costs, np.where(task.signs * side > 0, 1.0, 0.0)) for side in (1.0, -1.0)]
    return 2.0 * min(total) if task.free and not task.squared else sum(total)


class _Cost(NamedTuple):
    weights: Floats
    bias: float
    margins: Floats
    slack: Floats
    primal: float


def _cost(task: MarginTask, weights: Floats, bias: float) -> _Cost:
    """Return the primal value of these weights, with the best bias where it is free."""
    signs, costs = task.signs, task.costs
    scores = _core.decide(task.rows.matrix, weights[None, :], np.zeros(1), 1)[:, 0]
    if task.free:
        bias = best_bias(scores, signs, costs, squared=task.squared)
    margins = signs * (scores + bias)
    weights, lowest = weights.copy(), float(margins.min())
    if task.hard and lowest > 0:
        weights, bias, margins = weights / lowest, bias / lowest, margins / lowest
    square = _core.dot(weights, weights)
    if task.bias:
        square += (bias / task.bias) ** 2
    slack = np.maximum(1.0 - margins, 0.0)
    if task.hard:
        return _Cost(weights, float(bias), margins, slack, 0.5 * square if lowest > 0 else np.inf)
    loss = _core.dot(costs, slack * slack if task.squared else slack)
    return _Cost(weights, float(bias), margins, slack, 0.5 * square + loss)


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
    knots, costs, positive = knots[order], costs[order], signs[order] > 0
    above, below = np.where(positive, costs, 0.0), np.where(positive, 0.0, costs)
    # Sums from the near end: what lies beyond is not subtracted from a total that it may vanish in.
    passed, ahead = np.cumsum(below), np.append(np.cumsum(above[::-1])[::-1][1:], 0.0)
    if not squared:
        slope = passed - ahead  # just behind each knot
        flat = 4.0 * _UNIT * len(knots) * (passed + ahead)
        first = int(np.argmax(slope >= -flat))
        last = first + 1 if abs(slope[first]) <= flat[first] and first + 1 < len(knots) else first
        return float(0.5 * (knots[first] + knots[last]))
    # Half the slope at b: the sum of C (b - knot) over the negative knots below b and the positive ones above it.
    mass = passed + ahead  # between this knot and the next
    moment = np.cumsum(below * knots) + np.append(np.cumsum((above * knots)[::-1])[::-1][1:], 0.0)
    slope = mass * knots - moment
    last = int(np.argmax(slope >= 0)) if (slope >= 0).any() else len(knots)
    if last == 0:
        return float(knots[0])
    at = last - 1
    return float(moment[at] / mass[at]) if mass[at] > 0 else float(knots[at])
