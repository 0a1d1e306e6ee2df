"""L2-regularised logistic regression: one task, the measure of any solution of it, and Newton's method.

The primal problem is to minimise ``|w|^2 / 2 + sum C_i log(1 + exp(-m_i))`` with ``m_i = y_i (w.x_i + b)``. Its dual is
to maximise ``sum C_i H(alpha_i / C_i) - |sum alpha y x|^2 / 2`` over ``0 <= alpha <= C`` and, when the bias is free,
``sum alpha y = 0``; H is the entropy ``-p log p - (1 - p) log(1 - p)``. Weights have the alpha ``C s(-m)`` with s the
logistic function, and for these the two values differ by ``|w - sum alpha y x|^2 / 2``, half the square of the
gradient, as soon as the bias is the best for the weights. That difference is computed, not the values subtracted: the
gap has its digits where both values agree in all of theirs.

Newton's method goes from weights to weights. Its equations are solved by a Cholesky factor of the Hessian where there
are few features, else by conjugate gradients with a diagonal preconditioner, which need products with the rows only;
should they take more work than the factor would, the factor takes over. Work is counted in numbers read, never in
seconds, so that every machine decides alike.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.rules.losses import Log, sigmoid
from separatrix.svm.solve import MarginHistory
from separatrix.svm.task import HaltedError

_UNIT = float(np.finfo(np.float64).eps)
_FLOPS_PER_TOUCH = 4.0  # of the Gram matrix, in the time in which a product with the rows reads one number
_SPARSE_FLOPS_PER_TOUCH = 1.5
_FIRST_TRY = 12  # steps of conjugate gradients that a factor may cost, to be used at once
_MOST_EQUATIONS = 5000
_MOST_STEPS = 1000  # of conjugate gradients in one iteration
_NEAR = 10.0  # times the root of the tolerance: the gain of a step after which the gap may be small enough
_FAR = 0.02  # part of the value that a step gains, above which some of the rows will do for the Hessian
_SAMPLED = 8  # one in so many
_MANY = 50  # times the features
_ARMIJO = 1e-4
_HALVINGS = 50
_PATIENCE = 4  # iterations without a smaller gap where rounding decides
_BALANCED = 1e-10  # part of the dual weights by which the classes may differ before it is repaired
_SURE = 80.0  # a bias whose loss vanishes: the best one is infinite where all rows are of one class


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

    @cached_property
    def sides(self) -> tuple[float, float]:
        """What the positive and the negative examples count in all."""
        both = (np.where(self.signs * side > 0, self.costs, 0.0) for side in (1.0, -1.0))
        positive, negative = (_core.dot(side, np.ones(self.n)) for side in both)
        return positive, negative

    @cached_property
    def lengths(self) -> Floats:
        """``|x|`` of every row."""
        squares = _core.square_norms(self.rows.matrix) if self.known_squares is None else self.known_squares
        return np.sqrt(squares)

    @cached_property
    def spread(self) -> Floats:
        """``sum C x^2`` of every column, about its mean where the bias is free."""
        values, total = self.rows.values, np.zeros(self.rows.shape[1])
        if is_sparse(values):
            squared = values.copy()
            squared.data = np.square(squared.data, dtype=np.float64)
            total += _core.combine(Rows(squared).matrix, self.costs)
        else:
            together = max(1, (1 << 20) // self.rows.shape[1])
            for first in range(0, self.n, together):
                squared = np.square(values[first : first + together], dtype=np.float64)
                total += _core.combine(_core.dense(squared), self.costs[first : first + together])
        if self.free:
            total -= _core.combine(self.rows.matrix, self.costs) ** 2 / sum(self.sides)
        return np.maximum(total, 0.0)

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
        """An upper bound on the primal value's distance from the optimum, whatever rounding did."""
        return self.gap + self.rounding

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


class _Point(NamedTuple):
    """Weights with the best bias for them, and what follows from them row by row."""

    weights: Floats
    bias: float
    scores: Floats  # w.x
    margins: Floats
    wrong: Floats  # s(-m): the probability of the other class
    gradient: Floats
    solution: LogisticSolution

    def curvatures(self, task: LogisticTask) -> Floats:
        """Return the second derivative of each row's loss."""
        return task.costs * self.wrong * (1.0 - self.wrong)


def measure(task: LogisticTask, weights: Floats, bias: float = 0.0) -> LogisticSolution:
    """Return the solution with these weights and the best bias for them, each number computed from the data."""
    return _at(task, weights, bias).solution


def _at(task: LogisticTask, weights: Floats, bias: float, guess: Floats | None = None, tol: float = 0.0) -> _Point:
    """Return the point with these weights; its gap is that of the ``guess`` of ``alpha / C`` where that is smaller.

    The guess is looked at if the weights' own alpha do not prove a relative gap of ``tol``.
    """
    costs, signs, matrix = task.costs, task.signs, task.rows.matrix
    scores = _products(matrix, weights) if weights.any() else np.zeros(task.n)
    if task.biased:
        bias = best_bias(task, scores, bias)
    margins = signs * (scores + bias)
    wrong = np.asarray(sigmoid(-margins))
    alpha = costs * wrong
    spilt = 0.0
    if task.free:
        alpha, spilt = _balanced(task, alpha, margins, wrong)
    gradient = weights - _core.combine(matrix, signs * alpha)
    square = _core.dot(gradient, gradient)
    gap = 0.5 * square + spilt
    if task.bias:
        gap += 0.5 * (bias / task.bias - task.bias * _core.dot(signs, alpha)) ** 2
    primal = _value(task, _core.dot(weights, weights), bias, margins)
    if guess is not None and gap > tol * primal:
        gap = min(gap, _gap_of(task, weights, bias, margins, guess, tol * primal))
    rounding = _rounding(task, weights, bias, alpha, primal, math.sqrt(square))
    least = 1e-16 * _core.dot(costs, np.ones(task.n))
    solution = LogisticSolution(weights, bias, primal, gap, rounding, least)
    return _Point(weights, bias, scores, margins, wrong, gradient, solution)


def _gap_of(task: LogisticTask, weights: Floats, bias: float, margins: Floats, guess: Floats, limit: float) -> float:
    """Return the gap between weights and any alpha, infinity if it is above the limit.

    The two values differ by ``|w - sum alpha y x|^2 / 2``, the same for the bias coordinate, and for each row C times
    the divergence of ``alpha / C`` from ``s(-m)``.
    """
    alpha = task.costs * guess
    if task.free:
        ones = np.ones(task.n)
        sums = [_core.dot(np.where(task.signs * side > 0, alpha, 0.0), ones) for side in (1.0, -1.0)]
        if not min(sums) > 0.0:
            return math.inf
        heavier = task.signs > 0 if sums[0] > sums[1] else task.signs < 0
        guess = np.where(heavier, guess * (min(sums) / max(sums)), guess)
        alpha = task.costs * guess
    losses = np.asarray(Log.value(margins))  # minus the logarithm of 1 - s(-m)
    rows = guess * (np.log(guess) + losses + margins) + (1.0 - guess) * (np.log1p(-guess) + losses)
    apart = max(_core.dot(task.costs, rows), 0.0)
    if not apart <= limit:
        return math.inf
    off = weights - _core.combine(task.rows.matrix, task.signs * alpha)
    gap = apart + 0.5 * _core.dot(off, off)
    if task.bias:
        gap += 0.5 * (bias / task.bias - task.bias * _core.dot(task.signs, alpha)) ** 2
    return gap


def _value(task: LogisticTask, square: float, bias: float, margins: Floats) -> float:
    """Return the primal value, given ``|w|^2``."""
    return 0.5 * (square + task.lean * bias * bias) + _core.dot(task.costs, np.asarray(Log.value(margins)))


def _products(matrix: _core.Matrix, w: Floats) -> Floats:
    return _core.decide(matrix, w[None, :], np.zeros(1), 1)[:, 0]


def best_bias(task: LogisticTask, scores: Floats, bias: float = 0.0) -> float:
    """Return the bias with the least loss for these scores ``w.x``, by Newton's method from ``bias``.

    It lies where the classes' losses pull equally; where all rows would be on their correct side, or none, they do not.

    Examples
    --------
    >>> rows = Rows([[0.0], [4.0]])
    >>> task = LogisticTask(rows, np.array([-1.0, 1.0]), np.ones(2), free=True)
    >>> round(best_bias(task, np.array([0.0, 4.0])), 9)
    -2.0
    """
    positive, negative = task.sides
    if task.free and not (positive > 0 and negative > 0):
        return _SURE if positive > 0 else -_SURE
    ends = [0.0]
    if positive > 0:
        ends.append(-float(scores.min()) + math.log(max(2.0 * positive / negative, 1.0) if negative > 0 else 2.0))
    if negative > 0:
        ends.append(-float(scores.max()) - math.log(max(2.0 * negative / positive, 1.0) if positive > 0 else 2.0))
    if task.free:
        del ends[0]  # a penalised bias is nearer to 0
    low, high = min(ends), max(ends)
    if task.lean:  # with rows of one class only, the penalty is what stops it
        low, high = min(low, -_SURE), max(high, _SURE)
    bias = min(max(bias, low), high)
    for _ in range(200):
        wrong = np.asarray(sigmoid(-task.signs * (scores + bias)))
        alpha = task.costs * wrong
        total = _core.dot(alpha, np.ones(task.n))
        slope = task.lean * bias - _core.dot(task.signs, alpha)
        if abs(slope) <= 0.1 * _BALANCED * total:
            break
        if slope > 0:
            high = bias
        else:
            low = bias
        bend = task.lean + total - _core.dot(alpha, wrong)
        ahead = bias - slope / bend if bend > 0 else math.nan
        ahead = ahead if low < ahead < high else 0.5 * (low + high)
        if ahead == bias or abs(ahead - bias) <= _UNIT * abs(bias):
            break
        bias = ahead
    return float(bias)


def _balanced(task: LogisticTask, alpha: Floats, margins: Floats, wrong: Floats) -> tuple[Floats, float]:
    """Return alpha scaled down in the heavier class so that both weigh the same, and what that costs the dual.

    Scaled by 1 - s, a row with p = alpha / C loses ``C ((1 - s) p log(1 - s) + (1 - p + s p) log(1 + s p / (1 - p)))``,
    and ``p / (1 - p)`` is ``exp(-m)``. What is no more than rounding is left alone.
    """
    ones = np.ones(task.n)
    sums = [_core.dot(np.where(task.signs * side > 0, alpha, 0.0), ones) for side in (1.0, -1.0)]
    excess = abs(sums[0] - sums[1])
    if excess <= _UNIT * task.n * max(sums):
        return alpha, 0.0
    heavier = task.signs > 0 if sums[0] > sums[1] else task.signs < 0
    part = min(excess / max(sums), 1.0)
    kept = 1.0 - part
    down = math.log1p(-part) if part < 1.0 else 0.0
    up = np.asarray(Log.value(margins - math.log(part)))
    lost = task.costs * (kept * wrong * down + (np.asarray(sigmoid(margins)) + part * wrong) * up)
    return np.where(heavier, kept * alpha, alpha), max(_core.dot(np.where(heavier, lost, 0.0), ones), 0.0)


def _rounding(task: LogisticTask, weights: Floats, bias: float, alpha: Floats, primal: float, gradient: float) -> float:
    """Return a bound on what rounding can have changed of the value and of the gap.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1). The value feels an error of a margin with the slope alpha; the gradient is
    off by n units of ``sum alpha |x|``; alpha that belong to slightly other margins cost the dual the square of that;
    classes that differ by n units in weight are repaired at the price of the bias and of the gradient along a row.
    """
    n, d = task.rows.shape
    ones = np.ones(n)
    norm = math.sqrt(_core.dot(weights, weights)) + abs(bias)
    off = (d + 4) * _UNIT * (1.0 + norm * (1.0 + task.lengths))  # how far a margin can be from what was computed
    margins = _core.dot(alpha + task.costs * off, off) + (n + 16) * _UNIT * primal
    sums = (n + 4) * _UNIT * (_core.dot(alpha, task.lengths) + norm)
    pair = _core.dot(task.costs * (off + 8 * _UNIT), off + 8 * _UNIT)
    total = 0.0
    if task.biased:
        step = 1.0 if task.free else task.bias
        reach = abs(bias) + step + (gradient + sums) * float(task.lengths.max())
        total = (n + 4) * _UNIT * step * _core.dot(alpha, ones) * reach
    return 2.0 * (margins + (gradient + sums) * sums + pair + total)


# ------------------------------------------------------------------------------------------------ the run


@dataclass(eq=False)
class LogisticRun:
    """One run on one task; cut short, it goes on with ``go`` as if nothing had happened.

    ``ended`` is "gap" (small enough), "iterations", "halted", "rounding" (no further in floating-point numbers) or,
    before the end, "". ``weights`` and ``bias`` are where the next iteration begins.
    """

    task: LogisticTask | None
    tol: float
    weights: Floats
    bias: float = 0.0
    factored: bool = False  # whether the equations are solved by a Cholesky factor from now on
    iterations: int = 0
    steps: int = 0  # of conjugate gradients
    idle: int = 0  # iterations that brought no smaller gap
    ended: str = ""
    best: LogisticSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    iterations_before: int = 0  # of earlier calls of ``go``
    tell: Callable[[LogisticRun], None] | None = None
    _began: float = 0.0

    def go(self, max_iter: int, halted: Callable[[], bool]) -> LogisticSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before = "", self.iterations
        guess = None
        again = len(self.history) > 0  # the point that it was cut short at has been noted
        while not self.ended:
            point = _at(self._task(), self.weights, self.bias, guess, self.tol)
            self._keep(point.solution, noted=again)
            again = False
            if self.solution.relative_gap <= self.tol:
                self.ended = "gap"
            elif self.iterations >= max_iter:
                self.ended = "iterations"
            elif halted():
                self.ended = "halted"
            elif self.idle >= _PATIENCE:
                self.ended = "rounding"
            else:
                guess = self._step(point, halted)
        return self.solution

    @property
    def solution(self) -> LogisticSolution:
        """The best solution so far."""
        assert self.best is not None
        return self.best

    @property
    def epochs(self) -> int:
        """How many iterations there were."""
        return self.iterations

    def put_down(self) -> LogisticRun:
        """Let go of the data, so that a model which keeps this run for later does not keep them too."""
        self.task = self.tell = None
        return self

    def validate(self) -> None:
        """Refuse what is not a run that was cut short."""
        require(self.ended in ("gap", "iterations", "halted", "rounding"), "a run ended in a way that cannot be")
        require(type(self.best) is LogisticSolution, "a run has no solution")
        require(is_array(self.weights, "f8", (len(self.solution.weights),), finite=True), "a run is damaged")
        counts = (self.iterations, self.steps, self.idle, self.iterations_before)
        require(all(is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
        require(is_real(self.tol) and is_real(self.bias), "a run holds what is not a number")
        require(type(self.factored) is bool and type(self.history) is MarginHistory, "a run is damaged")

    def _task(self) -> LogisticTask:
        assert self.task is not None
        return self.task

    def _keep(self, solution: LogisticSolution, *, noted: bool) -> None:
        if not noted:
            seconds = time.perf_counter() - self._began
            method = "newton" if self.factored else "newton-cg"
            self.history.add(solution.primal, solution.dual, seconds, exact=True, method=method)
            self.idle = 0 if self.best is None or solution.gap < 0.9 * self.best.gap else self.idle + 1
            if self.tell is not None:
                self.tell(self)
        if self.best is None or solution.relative_gap < self.best.relative_gap:
            self.best = solution

    def _step(self, point: _Point, halted: Callable[[], bool]) -> Floats | None:
        """Make one iteration; where that is not possible, end.

        A full step is to where the gradient would vanish if ``alpha / C`` were linear in the margins: these numbers,
        which are returned, prove more than those that belong to the weights there.
        """
        task = self._task()
        solution = point.solution
        curvatures = point.curvatures(task)
        self.factored = self.factored or self.price() <= _FIRST_TRY * self._product()
        direction = None
        if not self.factored:
            try:
                direction = self._by_products(point, curvatures, halted)
            except HaltedError:
                self.ended = "halted"
                return None
            self.factored = direction is None
        if direction is None:
            direction = _by_factor(task, point, curvatures)
        step, bias_step, along = direction
        slope = _core.dot(point.gradient, step)  # minus twice what the step gains where the Hessian is exact
        if not (math.isfinite(slope) and slope < 0.0 and np.isfinite(along).all()):
            self.ended = "rounding"
            return None
        squares = [_core.dot(*pair) for pair in ((point.weights,) * 2, (point.weights, step), (step, step))]
        length, allowed = 1.0, 16.0 * _UNIT * solution.primal
        for _ in range(_HALVINGS):
            bias = point.bias + length * bias_step
            square = squares[0] + 2.0 * length * squares[1] + length * length * squares[2]
            value = _value(task, square, bias, task.signs * (point.scores + (length * along + bias)))
            if value <= solution.primal + _ARMIJO * length * slope + allowed:
                break
            length *= 0.5
        else:
            self.ended = "rounding"
            return None
        if -slope > 1e-12 * solution.primal:  # the value still falls, whatever the gap does meanwhile
            self.idle = 0
        self.weights, self.bias = point.weights + length * step, bias
        self.iterations += 1
        if length < 1.0 or -slope > _NEAR * math.sqrt(self.tol) * solution.primal:
            return None
        moved = task.signs * (along + bias_step)
        return np.clip(point.wrong * (1.0 - np.asarray(sigmoid(point.margins)) * moved), 1e-300, 1.0 - _UNIT)

    def price(self) -> float:
        """Return what a factor of the Hessian costs, in numbers that products with the rows could read instead."""
        task = self._task()
        d = task.rows.shape[1] + 1
        if d > _MOST_EQUATIONS:
            return math.inf
        per_row = task.stored() / task.n + 1
        work = task.n * per_row * per_row / 2 + d**3 / 6
        return work / (_FLOPS_PER_TOUCH if not is_sparse(task.rows.values) else _SPARSE_FLOPS_PER_TOUCH)

    def _product(self) -> float:
        """Return what a step of conjugate gradients costs: two products with the rows."""
        return 2.0 * (self._task().stored() + 4 * self._task().n)

    def _by_products(
        self, point: _Point, curvatures: Floats, halted: Callable[[], bool]
    ) -> tuple[Floats, float, Floats] | None:
        """Solve Newton's equations by preconditioned conjugate gradients; None if a factor would have been cheaper.

        The bias is eliminated: its best step for a step of the weights is minus the weighted mean of the steps of the
        scores, so that it is as if the rows were centred.
        """
        task = self._task()
        matrix, total = task.rows.matrix, _core.dot(curvatures, np.ones(task.n))
        mass = total + task.lean if task.biased and total + task.lean > 0 else math.inf
        scale = 1.0 / (1.0 + total / max(sum(task.sides), 1e-300) * task.spread)
        most = _MOST_STEPS
        if self.price() < math.inf:
            most = min(most, max(int(2.0 * self.price() / self._product()), _FIRST_TRY))
        size = math.sqrt(_core.dot(point.gradient, point.gradient))
        enough = max(size * min(0.1, math.sqrt(point.solution.relative_gap)), self._aim(point.solution))
        step, along = np.zeros(len(point.weights)), np.zeros(task.n)
        residual = -point.gradient
        towards = scale * residual
        product = _core.dot(residual, towards)
        for _ in range(most):
            if halted():
                raise HaltedError
            scores = _products(matrix, towards)
            image = towards + _core.combine(matrix, curvatures * (scores - _core.dot(curvatures, scores) / mass))
            bend = _core.dot(towards, image)
            if not bend > 0.0:
                break
            length = product / bend
            step, along, residual = step + length * towards, along + length * scores, residual - length * image
            self.steps += 1
            if math.sqrt(_core.dot(residual, residual)) <= enough:
                break
            scaled = scale * residual
            last, product = product, _core.dot(residual, scaled)
            towards = scaled + (product / last) * towards
        else:
            if self.price() < math.inf:
                return None
        return step, -_core.dot(curvatures, along) / mass, along

    def _aim(self, solution: LogisticSolution) -> float:
        """Return a length of the gradient that is certainly short enough."""
        return 0.5 * math.sqrt(self.tol * solution.primal)


def _by_factor(task: LogisticTask, point: _Point, curvatures: Floats) -> tuple[Floats, float, Floats]:
    """Solve Newton's equations by the Cholesky factor of the Hessian; return the steps of w, b and the scores.

    Far from the optimum, where a step is only as good as the quadratic that it is made for, one row in eight gives a
    Hessian that is as good, if these rows are still many times the features.
    """
    if task.n >= _SAMPLED * _MANY * task.rows.shape[1]:
        some = Rows(task.rows.values[::_SAMPLED]).matrix
        step, bias_step = _solved(task, point, _core.gram(some, float(_SAMPLED) * curvatures[::_SAMPLED]))
        if -_core.dot(point.gradient, step) > _FAR * point.solution.primal:
            return step, bias_step, _products(task.rows.matrix, step)
    step, bias_step = _solved(task, point, _core.gram(task.rows.matrix, curvatures))
    return step, bias_step, _products(task.rows.matrix, step)


def _solved(task: LogisticTask, point: _Point, table: Floats) -> tuple[Floats, float]:
    """Solve Newton's equations, given the weighted Gram matrix of the rows and their bias coordinate."""
    diagonal = np.einsum("ii->i", table)
    diagonal[:-1] += 1.0
    diagonal[-1] += task.lean
    if not task.biased:
        table[-1, :-1] = 0.0
        diagonal[-1] = 1.0
    _core.factor(table, 1e-300, 1e300)
    right = np.zeros(len(table))
    right[:-1] = -point.gradient
    _core.substitute(table, right)
    return right[:-1].copy(), float(right[-1]) if task.biased else 0.0
