"""Newton's method for smooth losses: a run from weights to weights, until the gap is small enough.

The equations of each step are solved by a Cholesky factor of the Hessian where there are few features, else by
conjugate gradients with a diagonal preconditioner, which need products with the rows only; should they take more work
than the factor would, the factor takes over (``choice``). Of a loss that is flat beyond a margin only the rows with
curvature take part in the equations.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm import choice
from separatrix.svm.history import MarginHistory
from separatrix.svm.logistic import LogisticSolution, LogisticTask, Point, at, value
from separatrix.svm.smooth import products
from separatrix.svm.task import HaltedError, looking

_UNIT = float(np.finfo(np.float64).eps)
_MOST_STEPS = 1000  # of conjugate gradients in one iteration
_NEAR = 10.0  # times the root of the tolerance: the gain of a step after which the gap may be small enough
_FAR = 0.02  # part of the value that a step gains, above which some of the rows will do for the Hessian
_SAMPLED = 8  # one in so many
_MANY = 50  # times the features
_POOR = 0.25  # of a step's slope, half of which is gained where the Hessian is exact
_PARTIAL = 0.8  # part of the rows that have curvature, below which these are looked at alone
_ARMIJO = 1e-4
_LOOKS = 12  # at the margins along a step
_STRAIGHT = 1e-3
_HALVINGS = 50
_PATIENCE = 4  # iterations without a smaller gap where rounding decides


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
    sampled: bool = True  # whether some of the rows may do for the Hessian
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
            point = at(self._task(), self.weights, self.bias, guess, self.tol)
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
        fits = type(self.factored) is bool and type(self.sampled) is bool and type(self.history) is MarginHistory
        require(fits, "a run is damaged")

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

    def _step(self, point: Point, halted: Callable[[], bool]) -> Floats | None:
        """Make one iteration; where that is not possible, end.

        A full step is to where the gradient would vanish if ``alpha / C`` were linear in the margins: these numbers,
        which are returned, prove more than those that belong to the weights there.
        """
        task = self._task()
        solution = point.solution
        curvatures = point.curvatures(task)
        self.factored = self.factored or choice.factor_at_once(task)
        direction = None
        if not self.factored:
            try:
                direction = self._by_products(point, curvatures, halted)
            except HaltedError:
                self.ended = "halted"
                return None
            self.factored = direction is None
        some = None
        if direction is None:
            try:
                some = _by_some_rows(task, point, curvatures) if self.sampled else None
                direction = _by_factor(task, point, curvatures, looking(halted)) if some is None else some
            except HaltedError:
                self.ended = "halted"
                return None
        step, bias_step, along = direction
        slope = _core.dot(point.gradient, step)  # minus twice what the step gains where the Hessian is exact
        if not (math.isfinite(slope) and slope < 0.0 and np.isfinite(along).all()):
            self.ended = "rounding"
            return None
        squares = [_core.dot(*pair) for pair in ((point.weights,) * 2, (point.weights, step), (step, step))]
        length, allowed = 1.0, 16.0 * _UNIT * solution.primal
        if task.loss.partial:
            length = _best_length(task, point, bias_step, along, squares[1:])
        for _ in range(_HALVINGS):
            bias = point.bias + length * bias_step
            square = squares[0] + 2.0 * length * squares[1] + length * length * squares[2]
            reached = value(task, square, bias, task.signs * (point.scores + (length * along + bias)))
            if reached <= solution.primal + _ARMIJO * length * slope + allowed:
                break
            length *= 0.5
        else:
            self.ended = "rounding"
            return None
        if some is not None and solution.primal - reached < _POOR * -slope:
            self.sampled = False  # other rows hold the weights
        if -slope > 1e-12 * solution.primal:  # the value still falls, whatever the gap does meanwhile
            self.idle = 0
        self.weights, self.bias = point.weights + length * step, bias
        self.iterations += 1
        if length != 1.0 or -slope > _NEAR * math.sqrt(self.tol) * solution.primal:
            return None
        return point.ahead(task, task.signs * (along + bias_step))

    def _by_products(
        self, point: Point, curvatures: Floats, halted: Callable[[], bool]
    ) -> tuple[Floats, float, Floats] | None:
        """Solve Newton's equations by preconditioned conjugate gradients; None if a factor would have been cheaper.

        The bias is eliminated: its best step for a step of the weights is minus the weighted mean of the steps of the
        scores, so that it is as if the rows were centred.
        """
        task = self._task()
        total = _core.dot(curvatures, task.ones)
        matrix, curvatures, whole = _curved(task, curvatures)
        mass = total + task.lean if task.biased and total + task.lean > 0 else math.inf
        scale = 1.0 / (1.0 + total / max(sum(task.sides), 1e-300) * task.spread)
        most = choice.most_steps(task, _MOST_STEPS)
        size = math.sqrt(_core.dot(point.gradient, point.gradient))
        enough = max(size * min(0.1, math.sqrt(point.solution.relative_gap)), self._aim(point.solution))
        step, along = np.zeros(len(point.weights)), np.zeros(len(curvatures))
        residual = -point.gradient
        towards = scale * residual
        product = _core.dot(residual, towards)
        for _ in range(most):
            if halted():
                raise HaltedError
            scores = products(matrix, towards)
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
            if choice.factor_price(task) < math.inf:
                return None
        bias_step = -_core.dot(curvatures, along) / mass
        return step, bias_step, along if whole else products(task.rows.matrix, step)

    def _aim(self, solution: LogisticSolution) -> float:
        """Return a length of the gradient that is certainly short enough."""
        return 0.5 * math.sqrt(self.tol * solution.primal)


def _best_length(task: LogisticTask, point: Point, bias_step: float, along: Floats, squares: list[float]) -> float:
    """Return how far along the step the value is least; 1 where that is as good.

    The slope along the step rises, in pieces where the loss is a piece of a parabola: Newton's method, kept between
    two ends, finds its zero in a few looks at the margins.
    """
    margins, moved = point.margins, task.signs * (along + bias_step)
    forced = squares[0] + task.lean * point.bias * bias_step
    rigid = squares[1] + task.lean * bias_step * bias_step
    low, high, length, first = 0.0, math.inf, 1.0, 0.0
    for look in range(_LOOKS):
        there = margins + length * moved
        pulls = task.loss.pull(there)
        weighted = task.costs * moved
        slope = forced + length * rigid - _core.dot(weighted, pulls)
        bend = rigid + _core.dot(weighted, moved * task.loss.second(there, pulls))
        first = abs(slope) if look == 0 else first
        if not bend > 0.0 or abs(slope) <= _STRAIGHT * max(first, bend * length):
            break
        low, high = (low, length) if slope > 0.0 else (length, high)
        ahead = length - slope / bend
        length = ahead if low < ahead < high else 0.5 * (low + high) if high < math.inf else 2.0 * length
    return length


def _curved(task: LogisticTask, curvatures: Floats) -> tuple[_core.Matrix, Floats, bool]:
    """Return the rows with curvature, their curvatures, and whether these are all rows."""
    if task.loss.partial:
        some = np.flatnonzero(curvatures)
        if len(some) < _PARTIAL * task.n:
            return Rows(task.rows.values[some]).matrix, curvatures[some], False
    return task.rows.matrix, curvatures, True


def _by_some_rows(task: LogisticTask, point: Point, curvatures: Floats) -> tuple[Floats, float, Floats] | None:
    """Solve Newton's equations for one row in eight; None near the optimum, or where there are few rows.

    Far from the optimum a step is only as good as the quadratic that it is made for, and these rows give one that is as
    good, if they are still many times the features.
    """
    if task.n < _SAMPLED * _MANY * task.rows.shape[1]:
        return None
    some = Rows(task.rows.values[::_SAMPLED]).matrix
    step, bias_step = _solved(task, point, _core.gram(some, float(_SAMPLED) * curvatures[::_SAMPLED]))
    if -_core.dot(point.gradient, step) > _FAR * point.solution.primal:
        return step, bias_step, products(task.rows.matrix, step)
    return None


def _by_factor(
    task: LogisticTask, point: Point, curvatures: Floats, look: Callable[[], None]
) -> tuple[Floats, float, Floats]:
    """Solve Newton's equations by the Cholesky factor of the Hessian; return the steps of w, b and the scores."""
    step, bias_step = _solved(task, point, _core.gram(task.rows.matrix, curvatures, look), look)
    return step, bias_step, products(task.rows.matrix, step)


def _solved(
    task: LogisticTask, point: Point, table: Floats, look: Callable[[], None] | None = None
) -> tuple[Floats, float]:
    """Solve Newton's equations, given the weighted Gram matrix of the rows and their bias coordinate."""
    diagonal = np.einsum("ii->i", table)
    diagonal[:-1] += 1.0
    diagonal[-1] += task.lean
    if not task.biased:
        table[-1, :-1] = 0.0
        diagonal[-1] = 1.0
    _core.factor(table, 1e-300, 1e300, look)
    right = np.zeros(len(table))
    right[:-1] = -point.gradient
    _core.substitute(table, right)
    return right[:-1].copy(), float(right[-1]) if task.biased else 0.0
