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
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm import choice
from separatrix.svm.history import MarginHistory
from separatrix.svm.logistic import LogisticSolution, LogisticTask, Point, at
from separatrix.svm.newton_equations import (
    Direction,
    Factor,
    by_factor,
    by_products,
    by_some_rows,
    curvatures_at,
    diagonal,
    factor_of,
)
from separatrix.svm.task import HaltedError, looking

_UNIT = float(np.finfo(np.float64).eps)
_MOST_STEPS = 1000  # of conjugate gradients in one iteration
_NEAR = 10.0  # times the root of the tolerance: the gain of a step after which the gap may be small enough
_FORCING = 0.1  # part of the gradient that conjugate gradients may leave
_POOR = 0.25  # of a step's slope, half of which is gained where the Hessian is exact
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
    anchor: tuple[Floats, float] | None = None  # weights and bias of which the Hessian was factored last
    ended: str = ""
    best: LogisticSolution | None = None
    proof: tuple[Floats, Floats] | None = None  # of the squared hinge: the best solution's dual weights and slacks
    history: MarginHistory = field(default_factory=MarginHistory)
    iterations_before: int = 0  # of earlier calls of ``go``
    tell: Callable[[LogisticRun], None] | None = None
    _began: float = 0.0
    _factor: Factor | None = None  # of the Hessian at the anchor

    def go(self, max_iter: int, halted: Callable[[], bool]) -> LogisticSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before = "", self.iterations
        guess = None
        again = len(self.history) > 0  # the point that it was cut short at has been noted
        best = None
        while not self.ended:
            point = at(self._task(), self.weights, self.bias, guess, self.tol)
            best = point if self._keep(point.solution, noted=again) else best
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
        if best is not None and self._task().squared:
            margins = self._task().signs * (best.scores + best.bias)
            self.proof = best.alpha, np.maximum(1.0 - margins, 0.0)
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
        self.task = self.tell = self._factor = None
        return self

    def validate(self) -> None:
        """Refuse what is not a run that was cut short."""
        require(self.ended in ("gap", "iterations", "halted", "rounding"), "a run ended in a way that cannot be")
        require(type(self.best) is LogisticSolution, "a run has no solution")
        require(is_array(self.weights, "f8", (len(self.solution.weights),), finite=True), "a run is damaged")
        counts = (self.iterations, self.steps, self.idle, self.iterations_before)
        require(all(is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
        require(is_real(self.tol) and is_real(self.bias), "a run holds what is not a number")
        proof: Any = self.proof
        if proof is not None:
            require(type(proof) is tuple and len(proof) == 2 and is_array(proof[0], "f8", (None,)), "a run is damaged")
            require(is_array(proof[1], "f8", (len(proof[0]),)), "a run is damaged")
        anchor: Any = self.anchor
        if anchor is not None:
            require(type(anchor) is tuple and len(anchor) == 2 and is_real(anchor[1]), "a run is damaged")
            require(is_array(anchor[0], "f8", (len(self.weights),), finite=True), "a run is damaged")
        fits = type(self.factored) is bool and type(self.sampled) is bool and type(self.history) is MarginHistory
        require(fits, "a run is damaged")

    def _task(self) -> LogisticTask:
        assert self.task is not None
        return self.task

    def _keep(self, solution: LogisticSolution, *, noted: bool) -> bool:
        """Note a solution, and return whether it is the best so far."""
        if not noted:
            seconds = time.perf_counter() - self._began
            method = "newton" if self.factored else "newton-cg"
            self.history.add(solution.primal, solution.dual, seconds, exact=True, method=method)
            self.idle = 0 if self.best is None or solution.gap < 0.9 * self.best.gap else self.idle + 1
            if self.tell is not None:
                self.tell(self)
        better = self.best is None or solution.relative_gap < self.best.relative_gap
        if better:
            self.best = solution
        return better

    def _step(self, point: Point, halted: Callable[[], bool]) -> Floats | None:
        """Make one iteration; where that is not possible, end.

        A full step is to where the gradient would vanish if ``alpha / C`` were linear in the margins: these numbers,
        which are returned, prove more than those that belong to the weights there.
        """
        task = self._task()
        solution = point.solution
        try:
            (step, bias_step, along), some = self._direction(point, halted)
        except HaltedError:
            self.ended = "halted"
            return None
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
            loss = _core.loss_along(task.squared, point.scores, along, length, bias, task.signs, task.costs)
            reached = 0.5 * (square + task.lean * bias * bias) + loss
            if reached <= solution.primal + _ARMIJO * length * slope + allowed:
                break
            length *= 0.5
        else:
            self.ended = "rounding"
            return None
        if some and solution.primal - reached < _POOR * -slope:
            self.sampled = False  # other rows hold the weights
        if -slope > 1e-12 * solution.primal:  # the value still falls, whatever the gap does meanwhile
            self.idle = 0
        self.weights, self.bias = point.weights + length * step, bias
        self.iterations += 1
        if length != 1.0 or -slope > _NEAR * math.sqrt(self.tol) * solution.primal:
            return None
        return point.ahead(task, task.signs * (along + bias_step))

    def _direction(self, point: Point, halted: Callable[[], bool]) -> tuple[Direction, bool]:
        """Return the step that Newton's equations give, and whether some of the rows did for them."""
        task = self._task()
        aim, forcing = self._aim(point.solution), min(_FORCING, math.sqrt(point.solution.relative_gap))
        if not self.factored:
            self.factored = choice.factor_at_once(task)
        if not self.factored:
            most = choice.most_steps(task, _MOST_STEPS)
            found = by_products(task, point, diagonal(task, point), aim, forcing, most, halted)
            self.steps += found.steps
            if found.solved or choice.factor_price(task) == math.inf:
                return found.direction, False
            self.factored = True
        if task.squared or choice.factor_always(task):
            some = by_some_rows(task, point) if self.sampled else None
            return (some, True) if some is not None else (by_factor(task, point, looking(halted)), False)
        if self.anchor is not None:
            if self._factor is None:  # of a run that was cut short
                self._factor = factor_of(task, curvatures_at(task, *self.anchor), looking(halted))
            most = choice.steps_of_factor(task)
            found = by_products(task, point, self._factor.solve, aim, forcing, most, halted)
            self.steps += found.steps
            if found.solved:
                return found.direction, False
        self._factor = factor_of(task, point.curvatures, looking(halted))
        self.anchor = point.weights, point.bias
        return self._factor.direction(task, point), False

    def _aim(self, solution: LogisticSolution) -> float:
        """Return a length of the gradient that is certainly short enough."""
        return 0.5 * math.sqrt(self.tol * solution.primal)


def _best_length(task: LogisticTask, point: Point, bias_step: float, along: Floats, squares: list[float]) -> float:
    """Return how far along the step the value is least; 1 where that is as good.

    The slope along the step rises, in pieces where the loss is a piece of a parabola: Newton's method, kept between
    two ends, finds its zero in a few looks at the margins.
    """
    forced = squares[0] + task.lean * point.bias * bias_step
    rigid = squares[1] + task.lean * bias_step * bias_step
    low, high, length, first = 0.0, math.inf, 1.0, 0.0
    for look in range(_LOOKS):
        bias = point.bias + length * bias_step
        _, slope, bend, _ = _core.slopes_along(
            task.squared, point.scores, along, length, bias, bias_step, task.signs, task.costs
        )
        slope, bend = slope + forced + length * rigid, bend + rigid
        first = abs(slope) if look == 0 else first
        if not bend > 0.0 or abs(slope) <= _STRAIGHT * max(first, bend * length):
            break
        low, high = (low, length) if slope > 0.0 else (length, high)
        ahead = length - slope / bend
        length = ahead if low < ahead < high else 0.5 * (low + high) if high < math.inf else 2.0 * length
    return length
