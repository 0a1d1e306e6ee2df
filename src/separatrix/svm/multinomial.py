"""Newton's method for multinomial logistic regression.

The equations of a step are solved by conjugate gradients, each of which takes two products with the rows. Their
preconditioner takes the Hessian for the Kronecker product of how the classes compete, on average, with the rows' second
moments: exact where the two do not depend on each other. Where there are few weights, or conjugate gradients take more
work than that, the Hessian is computed and factored. Work is counted in numbers read, never in seconds.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.geometry.simplex import one_thread, solve_definite
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm import choice
from separatrix.svm.history import MarginHistory
from separatrix.svm.multinomial_bounds import Guess, MultinomialSolution, Point, coupled, nothing, point_at
from separatrix.svm.multinomial_task import Look, Losses, MultinomialTask, Probabilities
from separatrix.svm.task import HaltedError, looking

_UNIT = float(np.finfo(np.float64).eps)
_MOST_STEPS = 1000  # of conjugate gradients in one iteration
_NEAR = 10.0  # times the root of the tolerance: the gain of a step after which the gap may be small enough
_LAST = 0.1  # the same, for which a step is computed as exactly as the gap needs
_FAR = 1e-3  # gain of a step, of the value, above which it may be rough
_SLOW = 0.3  # gain of one more step of conjugate gradients, of the mean of all, below which a rough step is done; later
# iterations take more steps before they may end so: else ill-conditioned equations would never be solved
_SAMPLED = 1000  # rows, at least, from which the preconditioner is estimated where there are more
_BLOCK = 1 << 18  # numbers of the Hessian's root at once
_ARMIJO = 1e-4
_GOOD = 0.25  # part of a step's slope that a value falls by, where no shorter step is tried
_HALVINGS = 50
_PATIENCE = 4  # iterations without a smaller gap where rounding decides

Direction = tuple[Floats, Floats, float]  # of the weights and of the offsets; the square of what is left of the slopes


@dataclass(eq=False)
class MultinomialRun:
    """One run on one task; cut short, it goes on with ``go`` as if nothing had happened.

    ``ended`` is "gap" (small enough), "iterations", "halted", "rounding" (no further in floating-point numbers) or,
    before the end, "". ``weights`` and ``offsets`` are where the next iteration begins.
    """

    task: MultinomialTask | None
    tol: float
    weights: Floats
    offsets: Floats
    factored: bool = False  # whether the equations are solved by a Cholesky factor from now on
    iterations: int = 0
    steps: int = 0  # of conjugate gradients
    idle: int = 0  # iterations that brought no smaller gap
    ended: str = ""
    best: MultinomialSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    iterations_before: int = 0  # of earlier calls of ``go``
    tell: Callable[[MultinomialRun], None] | None = None
    _began: float = 0.0
    _spare: Probabilities | None = None  # a table for the next point

    def go(self, max_iter: int, halted: Callable[[], bool]) -> MultinomialSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so.

        Matrix products run in one thread: their blocks are small, and their bits would depend on the number of threads.
        """
        with one_thread():
            return self._go(max_iter, halted)

    def _go(self, max_iter: int, halted: Callable[[], bool]) -> MultinomialSolution:
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before = "", self.iterations
        again = len(self.history) > 0  # the point that it was cut short at has been noted
        look = looking(halted)
        try:
            point = point_at(self._task(), self.weights, self.offsets, tol=self.tol, look=look)
        except HaltedError:
            self.ended = "halted"
            if self.best is None:
                self._keep(nothing(self._task()), noted=False)
            return self.solution
        while not self.ended:
            self._keep(point.solution, noted=again)
            again = False
            if self.solution.relative_gap <= self.tol:
                self.ended = "gap"
            elif self.iterations >= max_iter:
                self.ended = "iterations"
            elif halted():
                self.ended = "halted"
            elif self.idle >= _PATIENCE or not math.isfinite(point.solution.primal):
                self.ended = "rounding"
            else:
                before = self.weights, self.offsets, self.iterations, self.idle
                try:
                    point = self._step(point, look) or point
                except HaltedError:  # the next run begins where this iteration did
                    self.ended = "halted"
                    self.weights, self.offsets, self.iterations, self.idle = before
        self._spare = None
        return self.solution

    @property
    def solution(self) -> MultinomialSolution:
        """The best solution so far."""
        assert self.best is not None
        return self.best

    @property
    def epochs(self) -> int:
        """How many iterations there were."""
        return self.iterations

    def put_down(self) -> MultinomialRun:
        """Let go of the data, so that a model which keeps this run for later does not keep them too."""
        self.task = self.tell = self._spare = None
        return self

    def validate(self) -> None:
        """Refuse what is not a run that was cut short."""
        require(self.ended in ("gap", "iterations", "halted", "rounding"), "a run ended in a way that cannot be")
        require(type(self.best) is MultinomialSolution, "a run has no solution")
        shape = self.solution.weights.shape
        require(is_array(self.weights, "f8", shape, finite=True), "a run is damaged")
        require(is_array(self.offsets, "f8", shape[:1], finite=True), "a run is damaged")
        counts = (self.iterations, self.steps, self.idle, self.iterations_before)
        require(all(is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
        require(is_real(self.tol), "a run holds what is not a number")
        require(type(self.factored) is bool and type(self.history) is MarginHistory, "a run is damaged")

    def _task(self) -> MultinomialTask:
        assert self.task is not None
        return self.task

    def _keep(self, solution: MultinomialSolution, *, noted: bool) -> None:
        if not noted:
            seconds = time.perf_counter() - self._began
            method = "newton" if self.factored else "newton-cg"
            self.history.add(solution.primal, solution.dual, seconds, exact=True, method=method)
            self.idle = 0 if self.best is None or solution.gap < 0.9 * self.best.gap else self.idle + 1
            if self.tell is not None:
                self.tell(self)
        rank = solution.relative_gap, solution.primal  # the gap may be no more than that no value is below 0
        if self.best is None or rank < (self.best.relative_gap, self.best.primal):
            self.best = solution

    def _step(self, point: Point, look: Look) -> Point | None:
        """Make one iteration and return the point that it ends at; where that is not possible, end.

        A full step is to where the gradient would vanish if probabilities were linear in the scores: these numbers
        prove more than those that belong to the weights there.
        """
        task, primal = self._task(), point.solution.primal
        self.factored = self.factored or choice.joint_factor_at_once(task, task.n_classes)
        direction = None if self.factored else self._by_products(point, look)
        self.factored = direction is None
        if direction is None:
            direction = _by_factor(task, point, look)
        step, moves, square = direction
        slope = float(np.vdot(point.gradient, step) + point.slopes @ moves)
        if not (math.isfinite(slope) and slope < 0.0):
            self.ended = "rounding"
            return None
        spare = task.room() if self._spare is None else self._spare
        seen, length = self._searched(point, step, moves, slope, spare, look)
        if seen is None:
            self.ended = "rounding"
            return None
        if -slope > 1e-12 * primal:  # the value still falls, whatever the gap does meanwhile
            self.idle = 0
        self.weights, self.offsets = point.weights + length * step, point.offsets + length * moves
        self.iterations += 1
        guess = None
        if length == 1.0 and -slope <= _NEAR * math.sqrt(self.tol) * primal:
            guess = Guess(point.own, step, moves, square)
        after = point_at(task, self.weights, self.offsets, seen, guess, self.tol, look)
        self._spare = point.own
        return after

    def _searched(
        self, point: Point, step: Floats, moves: Floats, slope: float, spare: Probabilities, look: Look
    ) -> tuple[Losses | None, float]:
        """Return what is seen after a step, and how much of it is made: all, or half as often as the value then falls.

        Far from the optimum whole steps may fall and yet be much too long.
        """
        task, primal = self._task(), point.solution.primal
        squares = [float(np.vdot(*pair)) for pair in ((point.weights,) * 2, (point.weights, step), (step, step))]
        length, allowed = 1.0, 16.0 * _UNIT * primal
        best, lowest = 0.0, math.inf
        seen: Losses | None = None
        for _ in range(_HALVINGS):
            weights, offsets = point.weights + length * step, point.offsets + length * moves
            if length == 1.0:
                seen = task.losses(weights, offsets, spare, look)
            square = squares[0] + 2.0 * length * squares[1] + length * length * squares[2]
            square += task.penalty * float(np.square(offsets).sum())
            value = 0.5 * square + (seen.value if seen and length == 1.0 else task.loss(weights, offsets, look))
            if best > 0.0 and not value < lowest:
                break
            if value <= primal + _ARMIJO * length * slope + allowed:
                best, lowest = length, value
                if primal - value >= -_GOOD * length * slope:
                    break
            length *= 0.5
        if best == 0.0:
            return None, 0.0
        if best < 1.0:
            seen = task.losses(point.weights + best * step, point.offsets + best * moves, spare, look)
        return seen, best

    def _by_products(self, point: Point, look: Look) -> Direction | None:
        """Solve Newton's equations by preconditioned conjugate gradients; None if a factor would have been cheaper."""
        task = self._task()
        eased = _preconditioner(task, point)
        most = choice.joint_most_steps(task, task.n_classes, _MOST_STEPS)
        aim = math.sqrt(self.tol * point.solution.primal)
        rough = max(_size(point.gradient) * min(0.1, math.sqrt(self.solution.relative_gap)), aim)
        near, far = _LAST * math.sqrt(self.tol) * point.solution.primal, _FAR * point.solution.primal
        step, moves = np.zeros_like(point.weights), np.zeros_like(point.offsets)
        residual, rest = -point.gradient, -point.slopes
        towards, shift = eased(residual, rest)
        product = float(np.vdot(residual, towards) + rest @ shift)
        gain = 0.0
        for place in range(most):
            image, pull = task.bent(point.own, towards, shift, look)
            bend = float(np.vdot(towards, image) + shift @ pull)
            if not (bend > 0.0 and product > 0.0):
                break
            length = product / bend
            step += length * towards
            moves += length * shift
            residual -= length * image
            rest -= length * pull
            gain += length * product
            self.steps += 1
            size = _size(residual)
            slow = gain > far and place >= self.iterations and (place + 1) * length * product <= _SLOW * gain
            if size <= aim or ((size <= rough or slow) and gain > near):  # a step that may be the last is worth more
                break
            scaled, scaled_rest = eased(residual, rest)
            last, product = product, float(np.vdot(residual, scaled) + rest @ scaled_rest)
            towards = scaled + (product / last) * towards
            shift = scaled_rest + (product / last) * shift
        else:
            if choice.joint_factor_price(task, task.n_classes) < math.inf:
                return None
        return step, moves, _square(residual) + _square(rest)


def _square(array: Floats) -> float:
    return float(np.vdot(array, array))


def _size(array: Floats) -> float:
    return math.sqrt(_square(array))


def _preconditioner(task: MultinomialTask, point: Point) -> Callable[[Floats, Floats], tuple[Floats, Floats]]:
    """Return what solves the equations as if how classes compete did not depend on the rows.

    How they do is estimated from some of the rows.
    """
    every = max(1, min(task.n // _SAMPLED, int(task.n_classes / choice.per_row(task))))  # it costs less than a product
    coupling = coupled(task, point.own, every)
    strengths, classes = np.linalg.eigh(coupling / float(task.costs[::every].sum()))
    strengths = np.maximum(strengths, 1e-13 * max(float(strengths[-1]), 1e-300))
    spreads, features = task.axes
    inverse = 1.0 / (1.0 + np.multiply.outer(strengths, spreads))
    of_offsets = task.penalty + strengths * task.step**2 * task.total

    def eased(residual: Floats, rest: Floats) -> tuple[Floats, Floats]:
        turned = classes.T @ residual
        if features is None:
            step = classes @ (turned * inverse)
        else:
            step = classes @ (((turned @ features) * inverse) @ features.T)
        if not task.step:
            return step, np.zeros_like(rest)
        moves = classes @ ((classes.T @ rest) / of_offsets)
        return step, moves - moves.mean() if task.free else moves

    return eased


def _by_factor(task: MultinomialTask, point: Point, look: Look) -> Direction:
    """Solve Newton's equations by the Cholesky factor of the Hessian; return the steps of weights and offsets.

    The parts of the Hessian between two classes are one product of the rows, repeated for each class and scaled by the
    root of C times its probability; those within a class follow, because the probabilities of a row add up to 1.
    """
    k, d = point.weights.shape
    wide = d + 1
    table = np.zeros((k * wide, k * wide))
    together = max(16, _BLOCK // (k * wide))
    for first in range(0, task.n, together):
        if look is not None:
            look()
        some = slice(first, first + together)
        values = task.rows.values[some]
        own = (point.own.table[:, some] * np.sqrt(task.costs[some])).T
        rows = np.empty((len(own), wide))
        rows[:, :d] = (values.toarray() if is_sparse(values) else values) - task.centre
        rows[:, d] = task.step
        spread = (own[:, :, None] * rows[:, None, :]).reshape(len(rows), k * wide)
        table -= spread.T @ spread
    blocks = table.reshape(k, wide, k, wide)
    for code in range(k):
        blocks[code, :, code] = 0.0
        blocks[code, :, code] = -blocks[code].sum(axis=1)
    diagonal = np.einsum("ii->i", table).reshape(k, wide)
    diagonal[:, :d] += 1.0
    diagonal[:, d] += task.penalty
    if task.free:  # the offsets matter up to a constant
        blocks[:, d, :, d] += max(float(diagonal[:, d].max()), 1e-300)
    right = -np.column_stack([point.gradient, point.slopes]).ravel()
    whole = np.einsum("ii->i", table)
    for jitter in (0.0, 1e-14, 1e-11):
        try:
            solved = solve_definite(table + np.diag(jitter * whole), right)
        except (np.linalg.LinAlgError, ValueError):
            continue
        solved = solved.reshape(k, wide)
        moves = solved[:, d] if task.step else np.zeros(k)
        step = np.ascontiguousarray(solved[:, :d])
        return step, moves - moves.mean() if task.free else moves.copy(), 0.0
    return np.full_like(point.weights, math.nan), np.zeros(k), 0.0
