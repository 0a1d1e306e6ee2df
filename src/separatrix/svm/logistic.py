"""L2-regularised linear models with a smooth loss: one task, and the measure of any solution of it.

The primal problem is to minimise ``|w|^2 / 2 + sum C_i loss(m_i)`` with ``m_i = y_i (w.x_i + b)`` and the log loss
(logistic regression) or the squared hinge. Its dual is to maximise ``-sum C_i conjugate(alpha_i / C_i) - |sum alpha y
x|^2 / 2`` and, when the bias is free, ``sum alpha y = 0``; the conjugate of the log loss is minus the entropy ``-p log
p - (1 - p) log(1 - p)``. Weights have the alpha ``-C slope(m)``, and for these the two values differ by ``|w - sum
alpha y x|^2 / 2``, half the square of the gradient, as soon as the bias is the best for the weights. That difference is
computed, not the values subtracted: the gap has its digits where both values agree in all of theirs.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_array, is_real, require
from separatrix.svm.smooth import LOG, SmoothLoss, products
from separatrix.svm.task import BLOCK

_UNIT = float(np.finfo(np.float64).eps)
_BALANCED = 1e-10  # part of the dual weights by which the classes may differ before it is repaired


@dataclass(frozen=True, eq=False)
class LogisticTask:
    """One binary task: rows, signs (+1, -1), what the loss of each row counts, and the kind of bias.

    ``bias`` is the constant K of a penalised bias coordinate, 0 for none; ``free`` is the bias that costs nothing.
    ``known_squares`` are the rows' squared lengths, if they have been computed already.
    """

    rows: Rows
    signs: Floats
    costs: Floats
    bias: float = 0.0
    free: bool = False
    known_squares: Floats | None = None
    loss: type[SmoothLoss] = LOG

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.signs)

    @property
    def biased(self) -> bool:
        """Whether there is a bias."""
        return self.free or self.bias > 0

    @property
    def lean(self) -> float:
        """What the bias costs: ``lean b^2 / 2``."""
        return 1.0 / self.bias**2 if self.bias else 0.0

    @property
    def squared(self) -> bool:
        """Whether the loss is the squared hinge."""
        return self.loss.partial

    @cached_property
    def sides(self) -> tuple[float, float]:
        """What the positive and the negative examples count in all."""
        return self.by_side(self.costs)

    def by_side(self, values: Floats) -> tuple[float, float]:
        """Return the sums of the positive and of the negative examples' values."""
        return _core.dot(self._positive, values), _core.dot(1.0 - self._positive, values)

    @cached_property
    def _positive(self) -> Floats:
        return np.where(self.signs > 0, 1.0, 0.0)

    @cached_property
    def ones(self) -> Floats:
        """A 1 for every row."""
        return np.ones(self.n)

    @cached_property
    def squares(self) -> Floats:
        """``|x|^2`` of every row."""
        return _core.square_norms(self.rows.matrix) if self.known_squares is None else self.known_squares

    @cached_property
    def spread(self) -> Floats:
        """``sum C x^2`` of every column, about its mean where the bias is free."""
        total = _core.spread(self.rows.matrix, self.costs)
        if self.free:
            total -= _core.combine(self.rows.matrix, self.costs) ** 2 / sum(self.sides)
        return np.maximum(total, 0.0)

    @cached_property
    def lengths(self) -> tuple[float, float]:
        """``sum C |x|^2``, and the largest ``|x|``."""
        return _core.dot(self.costs, self.squares), math.sqrt(float(self.squares.max()))

    def stored(self) -> int:
        """Return how many numbers the rows hold."""
        values = self.rows.values
        return int(values.nnz) if is_sparse(values) else int(values.size)


class Bounded:
    """The mixin of solutions with a primal value and a bound on its distance from the optimum."""

    primal: float
    gap: float
    rounding: float
    least: float

    @property
    def dual(self) -> float:
        """A lower bound on the optimum, as computed."""
        return self.primal - self.gap

    @property
    def proven_gap(self) -> float:
        """An upper bound on the distance of the primal value from the optimum, no optimum being below 0."""
        return min(self.gap, self.primal) + self.rounding

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the primal value."""
        return self.gap / max(self.primal, self.least) if math.isfinite(self.primal) else math.inf


@dataclass(frozen=True, eq=False)
class LogisticSolution(Bounded):
    """Weights and bias, their value, and how far from the optimum they can be at most.

    ``rounding`` bounds what rounding can have added to the value and taken from the gap; ``least`` is the value below
    which differences do not count.
    """

    weights: Floats
    bias: float
    primal: float
    gap: float
    rounding: float
    least: float

    def validate(self) -> None:
        """Refuse parts that do not fit together."""
        fits = is_array(self.weights, "f8", (None,), finite=True)
        numbers = (self.bias, self.primal, self.gap, self.rounding, self.least)
        require(fits and all(is_real(value) for value in numbers), "a solution is damaged")


class Point(NamedTuple):
    """Weights with the best bias for them, and what follows from them row by row."""

    weights: Floats
    bias: float
    scores: Floats  # w.x
    slopes: Floats  # -y alpha
    curvatures: Floats
    gradient: Floats
    solution: LogisticSolution
    alpha: Floats  # the dual weights that prove the gap of the solution

    def ahead(self, task: LogisticTask, moved: Floats) -> Floats:
        """Return the ``alpha / C`` where the margins have moved so far, if it were linear in them."""
        return task.loss.within((np.abs(self.slopes) - self.curvatures * moved) / task.costs)


def measure(task: LogisticTask, weights: Floats, bias: float = 0.0) -> LogisticSolution:
    """Return the solution with these weights and the best bias for them, each number computed from the data."""
    return at(task, weights, bias).solution


def at(task: LogisticTask, weights: Floats, bias: float, guess: Floats | None = None, tol: float = 0.0) -> Point:
    """Return the point with these weights; its gap is that of the ``guess`` of ``alpha / C`` where that is smaller.

    The guess is looked at if the weights' own alpha do not prove a relative gap of ``tol``.
    """
    signs, matrix = task.signs, task.rows.matrix
    scores = products(matrix, weights) if weights.any() else np.zeros(task.n)
    if task.biased:
        bias = best_bias(task, scores, bias)
    loss, _, _, slopes, curvatures = _core.slopes(task.squared, scores, bias, signs, task.costs)
    alpha, pulls, spilt = np.abs(slopes), slopes, 0.0
    if task.free:
        alpha, spilt = _balanced(task, alpha, signs * (scores + bias))
        pulls = -signs * alpha
    gradient = weights + _core.combine(matrix, pulls)
    gap = 0.5 * _core.dot(gradient, gradient) + spilt
    if task.bias:
        gap += 0.5 * (bias / task.bias - task.bias * _core.dot(signs, alpha)) ** 2
    square = _core.dot(weights, weights)
    primal = 0.5 * (square + task.lean * bias * bias) + loss
    steep = alpha  # with which the two values feel the error of a margin
    if guess is not None and gap > tol * primal:
        other, proof = _gap_of(task, weights, bias, signs * (scores + bias), guess, tol * primal)
        if other < gap:
            gap, steep, alpha = other, alpha + 2.0 * np.abs(proof - alpha), proof
    rounding = _rounding(task, math.sqrt(square), bias, steep, primal, math.sqrt(2.0 * gap))
    least = 1e-16 * sum(task.sides)
    solution = LogisticSolution(weights, bias, primal, gap, rounding, least)
    return Point(weights, bias, scores, slopes, curvatures, gradient, solution, alpha)


def _gap_of(
    task: LogisticTask, weights: Floats, bias: float, margins: Floats, guess: Floats, limit: float
) -> tuple[float, Floats]:
    """Return the gap between weights and any ``alpha / C``, infinity if it is above the limit; and alpha.

    The two values differ by ``|w - sum alpha y x|^2 / 2``, the same for the bias coordinate, and for each row C times
    the divergence of ``alpha / C`` from the pull of its margin.
    """
    alpha = task.costs * guess
    if task.free:
        sums = task.by_side(alpha)
        if not min(sums) > 0.0:
            return math.inf, alpha
        heavier = task.signs > 0 if sums[0] > sums[1] else task.signs < 0
        guess = np.where(heavier, guess * (min(sums) / max(sums)), guess)
        alpha = task.costs * guess
    apart = max(_core.dot(task.costs, _by_blocks(task.loss.divergence, guess, margins)), 0.0)
    if not apart <= limit:
        return math.inf, alpha
    off = weights - _core.combine(task.rows.matrix, task.signs * alpha)
    gap = apart + 0.5 * _core.dot(off, off)
    if task.bias:
        gap += 0.5 * (bias / task.bias - task.bias * _core.dot(task.signs, alpha)) ** 2
    return gap, alpha


def _by_blocks(function: Callable[..., Floats], *columns: Floats) -> Floats:
    """Return what a function of each row's numbers gives, computed on so many rows at a time as a cache holds."""
    n = len(columns[0])
    values = np.empty(n)
    for first in range(0, n, BLOCK):
        some = slice(first, first + BLOCK)
        values[some] = function(*(column[some] for column in columns))
    return values


def best_bias(task: LogisticTask, scores: Floats, bias: float = 0.0) -> float:
    """Return the bias with the least loss for these scores ``w.x``, by Newton's method from ``bias``.

    It lies where the classes' losses, and the penalty where there is one, pull equally. Newton's method is kept between
    two ends at which one of them pulls more.

    Examples
    --------
    >>> rows = Rows([[0.0], [4.0]])
    >>> task = LogisticTask(rows, np.array([-1.0, 1.0]), np.ones(2), free=True)
    >>> round(best_bias(task, np.array([0.0, 4.0])), 9)
    -2.0
    """
    low, high = task.loss.bias_bounds(task.signs, scores, task.costs, task.lean)
    bias = min(max(bias, low), high)
    for _ in range(200):
        _, slope, bend, total = _core.slopes_along(
            task.squared, scores, None, 0.0, bias, 1.0, task.signs, task.costs
        )  # fmt: skip
        slope, bend = slope + task.lean * bias, bend + task.lean
        if abs(slope) <= 0.1 * _BALANCED * total:
            break
        if slope > 0:
            high = bias
        else:
            low = bias
        ahead = bias - slope / bend if bend > 0 else math.nan
        ahead = ahead if low < ahead < high else 0.5 * (low + high)
        if ahead == bias or abs(ahead - bias) <= _UNIT * abs(bias):
            break
        bias = ahead
    return float(bias)


def _balanced(task: LogisticTask, alpha: Floats, margins: Floats) -> tuple[Floats, float]:
    """Return alpha scaled down in the heavier class so that both weigh the same, and what that costs the dual.

    What is no more than rounding is left alone.
    """
    sums = task.by_side(alpha)
    excess = abs(sums[0] - sums[1])
    if excess <= _UNIT * task.n * max(sums):
        return alpha, 0.0
    heavier = task.signs > 0 if sums[0] > sums[1] else task.signs < 0
    part = min(excess / max(sums), 1.0)
    lost = _by_blocks(lambda p, m: task.loss.scaled_divergence(part, p, m), alpha / task.costs, margins)
    spilt = _core.dot(np.where(heavier, task.costs, 0.0), lost)
    return np.where(heavier, (1.0 - part) * alpha, alpha), max(spilt, 0.0)


def _rounding(task: LogisticTask, norm: float, bias: float, alpha: Floats, primal: float, gradient: float) -> float:
    """Return a bound on what rounding can have changed of the value and of the gap.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1). The value feels an error of a margin with the slope alpha; the gradient is
    off by n units of ``sum alpha |x|``; alpha that belong to slightly other margins cost the dual the square of that;
    classes that differ by n units in weight are repaired at the price of the bias and of the gradient along a row.
    ``gradient`` is at least as long as the difference of the weights and those that belong to alpha. Sums of ``|x|``
    are bounded by those of their squares (Cauchy and Schwarz).
    """
    n, d = task.rows.shape
    steep = max(task.loss.curvature, 1.0)
    weight, square = _core.dot(alpha, task.ones), _core.dot(alpha, task.squares)
    total_length = math.sqrt(weight) * math.sqrt(square)
    costs, (cost_square, longest) = sum(task.sides), task.lengths
    unit = (d + 4) * _UNIT
    still, moving = unit * (1.0 + abs(bias)), unit * norm  # a margin can be off by still + moving |x|

    def squares_of(still: float) -> float:
        """Return a bound on the sum of C times the squares of the margins' errors."""
        return (still * math.sqrt(costs) + moving * math.sqrt(cost_square)) ** 2

    margins = (n + 16) * _UNIT * primal + still * weight + moving * total_length + steep * squares_of(still)
    pair = steep**2 * squares_of(still + 8 * _UNIT)
    sums = (n + 4) * _UNIT * (total_length + norm)
    total = 0.0
    if task.biased:
        step = 1.0 if task.free else task.bias
        reach = abs(bias) + step + (gradient + sums) * longest
        total = (n + 4) * _UNIT * step * weight * reach
    bound = 2.0 * (margins + (gradient + sums) * sums + pair + total)
    return bound if not math.isnan(bound) else math.inf
