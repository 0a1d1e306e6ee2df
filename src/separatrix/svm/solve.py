"""A run of the SVM's solvers: each works when ``choice`` says so.

Coordinate ascent is fast at the start and slow at the end. Its pace says how much work is still ahead; as soon as that
is more than finishing would cost, the rest is left to another method. Whichever found the solution, the run ends when
its gap, computed anew from the data, is small enough; a warm start may be there before the first epoch.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm import choice, interior
from separatrix.svm.ascent import Ascent, Estimate
from separatrix.svm.history import MarginHistory
from separatrix.svm.newton import LogisticRun
from separatrix.svm.squared import MOST_NEWTON, dual_of, smooth_task, solution_of, start_newton
from separatrix.svm.subspace import exact_step, newton_step
from separatrix.svm.task import ONE_SIDED, DualSolution, HaltedError, MarginTask, constant_solution, measure

_EXACT = 1e-13  # gap of the smallest tasks
_TIGHTEST = 1e-3  # part of the tolerance that Newton's method is given, where its own measure is the more lenient one
_EARLY = 8  # epochs, up to which it is not known which rows will move
_RESTED = 3  # epochs, up to which no point has been left out, so that the losses as last met are nearly those there are
_FRESH = 1.0  # readings of all rows between two looks at the losses as they are
_FAR = 0.9  # relative gap
_LOOKS = 2  # at the gap while the interior-point method works on some of the rows
_REMEMBERED = (
    "best", "bound", "patience", "newton_from", "fresh_from", "stale", "seen", "finishing", "checked",
    "polished", "judged",
)  # fmt: skip


@dataclass(eq=False)
class Run:
    """One run on one task; cut short, it goes on with ``go`` as if nothing had happened.

    ``ended`` is "gap" (small enough), "epochs", "halted", "inseparable" or, before the end, "". ``witness`` holds the
    convex weights that prove that no plane separates.
    """

    task: MarginTask | None
    tol: float
    seed: int = 0
    start: Floats | None = None
    plane: tuple[Floats, float] | None = None  # weights and bias near the best ones
    epochs: int = 0
    finishing: int = 0  # iterations of the methods that finish
    ended: str = ""
    best: DualSolution | None = None
    shown: DualSolution | None = None  # of a run cut short
    witness: Floats | None = None
    widest: float = math.inf  # the margin that the witness leaves
    history: MarginHistory = field(default_factory=MarginHistory)
    ascent: Ascent | None = None
    # What the loop remembers between two looks at the gap.
    judged: int = 0  # the epoch of the last exact look
    bound: int = 0
    patience: float = 0.0
    newton_from: float = 0.0  # numbers read before Newton's method is tried (again)
    fresh_from: float = 0.0  # numbers read before the losses are looked at as they are
    stale: float = 0.5  # the gap then, as a part of what the losses as last met had said
    seen: list[tuple[float, float]] = field(default_factory=list)
    checked: bool = False  # the hard margin: whether a plane separates at all
    polished: bool = False
    looking: bool = False  # cut short between an epoch and what follows it
    newton: LogisticRun | None = None  # of the squared hinge, from the time when it is begun
    newton_over: bool = False  # it came to its end without a gap that is small enough
    iterations_before: int = 0  # of earlier calls of ``go``
    tell: Callable[[Run], None] | None = None
    _began: float = 0.0

    def go(self, max_iter: int, halted: Callable[[], bool]) -> DualSolution:
        """Run until the gap is small enough, ``max_iter`` epochs are over, or ``halted`` says so."""
        self._begin()
        task = self._task()
        fresh = self.ascent is None and self.newton is None and not self.newton_over
        if fresh and self.start is not None and self.judge(self.start, self.plane, "ascent"):
            self.ended = "gap"
        if fresh and task.squared and not self.ended and not self._ascent_first():
            self.newton = start_newton(task, self.start, self.plane, self._aim)
        while not self.ended:
            if self.newton is not None and not self.newton_over:
                self._by_newton(halted)
            elif not self._at_once():
                self._ascend(max_iter, halted)
        return self.solution

    def _ascent_first(self) -> bool:
        task = self._task()
        tightness = 2.0 * _core.dot(task.costs, task.squares) / task.n
        return choice.ascent_first(task, tightness, self._aim)

    @property
    def _aim(self) -> float:
        """The gap to go for: the smallest there is, where that costs next to nothing."""
        return min(self.tol, _EXACT) if self.tiny else self.tol

    def _by_newton(self, halted: Callable[[], bool]) -> None:
        """Let Newton's method work until its gap, measured as every solution's, is small enough."""
        newton, task = self.newton, self._task()
        assert newton is not None
        newton.task = smooth_task(task)
        newton.tell = lambda run: self._note(run.history.primal[-1], run.history.dual[-1], "newton", exact=True)
        while not self.ended:
            before = newton.iterations
            newton.go(MOST_NEWTON, halted)
            self.finishing += newton.iterations - before
            proved = newton.ended == "gap"
            solution = solution_of(newton) if proved else measure(task, *dual_of(task, newton.solution))
            if newton.ended == "halted":
                self.shown = self._better(solution)
                self.ended = "halted"
            elif self._keep(solution, "newton"):
                self.ended = "gap"
                exact = exact_step(task, solution.alpha) if self.tiny else None
                if exact is not None:
                    self.judge(exact, None, "newton")
            elif newton.ended == "gap" and newton.tol > _TIGHTEST * self.tol:
                newton.tol *= 0.2
            else:  # rounding, or too many iterations
                self.newton_over = True
                if self.ascent is not None and self.best is not None:
                    self.ascent.jump(self.best.alpha, self.best.bias)
                return

    def _at_once(self) -> bool:
        """Solve a small task with the interior-point method alone, if that will do."""
        task = self._task()
        if self.ascent is None and self.start is None and self.tiny and not self.newton_over:
            start = np.zeros(task.rows.shape[1])
            if self._finish(np.arange(task.n), np.zeros(task.n), start, 0.0, lambda: False):
                self.ended = "gap"
        return bool(self.ended)

    @property
    def solution(self) -> DualSolution:
        """The best solution so far."""
        solution = self.shown if self.ended == "halted" else self.best
        assert solution is not None
        return solution

    def validate(self) -> None:
        """Refuse what is not a run that was cut short."""
        require(self.ended in ("gap", "epochs", "halted", "inseparable"), "a run ended in a way that cannot be")
        solutions = [solution for solution in (self.best, self.shown) if solution is not None]
        require(all(type(solution) is DualSolution for solution in solutions), "a run is damaged")
        require((self.shown if self.ended == "halted" else self.best) is not None, "a run has no solution")
        counts = (self.seed, self.epochs, self.finishing, self.judged, self.bound, self.iterations_before)
        require(all(is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
        numbers = (self.tol, self.widest, self.patience, self.newton_from, self.fresh_from, self.stale)
        require(all(is_real(value) for value in numbers), "a run holds what is not a number")
        flags = (self.checked, self.polished, self.looking, self.newton_over)
        require(all(type(flag) is bool for flag in flags), "a run is damaged")
        plane: Any = self.plane
        fits = plane is None or (type(plane) is tuple and len(plane) == 2 and is_real(plane[1]))
        require(fits and (plane is None or is_array(plane[0], "f8", (None,), finite=True)), "a run is damaged")
        require(self.newton is None or type(self.newton) is LogisticRun, "a run is damaged")
        parts = [part for part in (self.start, self.witness) if part is not None]
        require(all(is_array(part, "f8", (None,), finite=True) for part in parts), "a run is damaged")
        seen: Any = self.seen if type(self.seen) is list else [None]
        pairs = all(type(each) is tuple and len(each) == 2 and all(map(is_real, each)) for each in seen)
        require(pairs and type(self.history) is MarginHistory, "a run is damaged")
        require(self.ascent is None or type(self.ascent) is Ascent, "a run is damaged")
        lengths = {len(solution.alpha) for solution in solutions} | {len(part) for part in parts}
        lengths |= set() if self.ascent is None else {len(self.ascent.points)}
        lengths |= set() if self.newton is None or self.newton.proof is None else {len(self.newton.proof[0])}
        require(len(lengths) == 1, "the parts of a run are of different data")

    @property
    def tiny(self) -> bool:
        """Whether the exact solution, as far as rounding allows, costs next to nothing."""
        return self.price(self._task().n) <= choice.TO_THE_END

    @property
    def iterations(self) -> int:
        """Epochs and iterations of the finishing methods in the last call of ``go``."""
        return self.epochs + self.finishing - self.iterations_before

    @property
    def hard(self) -> bool:
        """Whether no slack is allowed."""
        return False

    def put_down(self) -> Run:
        """Let go of the data, so that a model which keeps this run for later does not keep them too."""
        self.task = self.tell = None
        if self.ascent is not None:
            self.ascent.put_down()
        if self.newton is not None:
            self.newton.put_down()
        return self

    def _begin(self) -> None:
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before, self.shown = "", self.epochs + self.finishing, None
        if self.ascent is not None:
            self.ascent.task = self._task()

    def _note(self, primal: float, dual: float, method: str, *, exact: bool) -> None:
        self.history.add(primal, dual, time.perf_counter() - self._began, exact=exact, method=method)
        if self.tell is not None:
            self.tell(self)

    def _task(self) -> MarginTask:
        assert self.task is not None
        return self.task

    def judge(self, alpha: Floats, candidate: tuple[Floats, float] | None, method: str) -> bool:
        """Measure an solution, keep it if it is the best so far, and return whether that is good enough."""
        return self._keep(measure(self._task(), alpha, candidate), method)

    def _keep(self, solution: DualSolution, method: str) -> bool:
        self._note(solution.primal, solution.dual, method, exact=True)
        self.best = self._better(solution)
        return self.best.relative_gap <= self.tol

    def _ascend(self, max_iter: int, halted: Callable[[], bool]) -> None:
        """Alternate coordinate ascent with what finishes it."""
        task = self._task()
        if self.ascent is None:
            start = self.start if self.best is None else self.best.alpha
            self.ascent = Ascent(task, start, self.seed)
        ascent = self.ascent
        patient = halted
        if self.looking:  # a run that was cut short while it looked gets through with it, however short the time is

            def patient() -> bool:
                return False

        while self.epochs < max_iter and not halted():
            if not self.looking:
                if not ascent.epoch(halted):
                    break  # in the middle: the next run goes on there
                self.epochs += 1
            self.looking = self._is_time()
            if self.looking:
                before = {name: getattr(self, name) for name in _REMEMBERED}
                length, touched = len(self.history), ascent.touched
                try:
                    if self._look(ascent, patient):
                        self.looking = False
                        return
                except HaltedError:  # the next run looks again
                    self.shown = self.best
                    vars(self).update(before)
                    self.history.forget(length)
                    ascent.touched = touched
                    break
                self.looking, patient = False, halted
        self._conclude(ascent, cut=halted())

    def _is_time(self) -> bool:
        """Whether to look after this epoch: an estimate costs as much as visiting a tenth of the points."""
        return self.epochs <= 8 or self.epochs % 3 == 0

    def _conclude(self, ascent: Ascent, *, cut: bool) -> None:
        """Measure what there is. A run that was cut short keeps that to itself: it goes on as if it had not been."""
        if cut:
            solution = self._better(measure(self._task(), ascent.alpha, self._candidate(ascent)))
            self.shown = solution if self.shown is None else _better(solution, self.shown)
            self.ended = "halted"
        elif self.judge(ascent.alpha, self._candidate(ascent), "ascent"):
            self.ended = "gap"
        else:
            self.ended = "epochs"

    def _better(self, solution: DualSolution) -> DualSolution:
        return solution if self.best is None else _better(solution, self.best)

    def _look(self, ascent: Ascent, halted: Callable[[], bool]) -> bool:
        """See how far ascent is, finish what can be finished; return whether the run has ended."""
        task = self._task()
        now = ascent.estimate()
        self._note(now.primal, now.dual, "ascent", exact=False)
        gap = self._gap_now(ascent, now)
        if self.ended:
            return True
        settled = abs(now.at_bound - self.bound) <= 0.03 * (task.n - now.at_bound)
        self.bound = now.at_bound
        if gap is None:
            return False
        self.seen = [*self.seen[-4:], (float(ascent.touched), math.log(max(gap, 1e-16)))]
        if self.epochs <= _RESTED:
            return False
        ahead = choice.remaining(self.seen, math.log(max(self.tol, 1e-16)))
        chosen = ascent.moving()
        price = self.price(len(chosen))
        if task.squared and not self.newton_over and choice.newton_next(task, ahead, ascent.touched):
            far = gap > _FAR  # so far that zeros are nearer
            plane = (np.zeros(len(ascent.weights)), 0.0) if far else (ascent.weights, ascent.bias)
            self.newton = start_newton(task, None, plane, self._aim)
            return True
        if self.epochs <= _EARLY and 2 * len(chosen) > task.n:
            chosen = np.arange(task.n)
        if len(chosen) and choice.interior_next(task, price, ahead, ascent.touched, self.patience):
            self.patience, self.seen = 2.0 * ascent.touched + price, []
            if self._finish_rounds(ascent, chosen, halted):
                self.ended = "gap"
        elif settled and ascent.touched >= self.newton_from and choice.subspace_next(task.n - self.bound, task, ahead):
            self.seen, self.newton_from = [], 2.0 * ascent.touched
            step = newton_step(task, ascent.alpha, ascent.weights.copy(), ascent.bias, halted)
            if step is not None:
                alpha, weights, passes = step
                ascent.step_to(alpha, weights)
                ascent.touched += passes
                self.finishing += 1
                if self.judge(alpha, self._candidate(ascent), "newton"):
                    self.ended = "gap"
        return bool(self.ended)

    def _gap_now(self, ascent: Ascent, now: Estimate) -> float | None:
        """Return the relative gap where it is known, and end the run where it is proved to be small enough.

        The losses as last met tell it for the first epochs. Once points are left out, their losses are old: those that
        there are cost a reading of the rows, and are looked at now and then, or when the gap should be small enough.
        """
        task = self._task()
        met = max((now.primal - now.dual) / max(now.primal, 1e-300), 0.0)
        rested = self.epochs > _RESTED
        likely = met <= self.tol if not rested else 0.0 < met * self.stale <= self.tol
        gap = None if rested else met
        if rested and not likely and ascent.touched >= self.fresh_from:
            gap = max(1.0 - now.dual / max(ascent.refreshed(), 1e-300), 0.0)
            likely = gap <= self.tol
        if likely and self.epochs >= 1.2 * self.judged + 1:
            self.judged = self.epochs
            solution = measure(task, ascent.alpha, self._candidate(ascent))
            if self._keep(solution, "ascent"):
                self.ended = "gap"
                return None
            ascent.wake(_wrong(task, solution))
            gap = solution.relative_gap
        if rested and gap is not None:
            self.stale = gap / met if met > 0.0 else 1.0
            self.fresh_from = ascent.touched + _FRESH * task.stored()
        return gap

    def _candidate(self, ascent: Ascent) -> tuple[Floats, float] | None:
        """Return the weights that ascent has, where they are not simply those of its alpha."""
        return (ascent.weights, ascent.bias) if self._task().free else None

    def price(self, rows: int) -> float:
        """Return what finishing on this many rows costs, in numbers that ascent could read instead."""
        return choice.interior_price(self._task(), rows)

    def _finish_rounds(self, ascent: Ascent, chosen: NDArray[np.intp], halted: Callable[[], bool]) -> bool:
        """Solve on the points that move; let those join that turn out to be on the wrong side, until none is."""
        task = self._task()
        alpha, weights, bias = ascent.alpha, ascent.weights.copy(), ascent.bias
        while True:
            if self._finish(chosen, alpha, weights, bias, halted):
                return True
            assert self.best is not None
            joined = np.union1d(chosen, _wrong(task, self.best))
            if len(joined) == len(chosen) or self.price(len(joined)) > 4.0 * ascent.touched:
                break
            chosen, alpha, weights, bias = joined, self.best.alpha, self.best.weights, self.best.bias
        if self.best is not None:
            ascent.jump(self.best.alpha, self.best.bias)
        return False

    def _finish(
        self, chosen: NDArray[np.intp], alpha: Floats, weights: Floats, bias: float, halted: Callable[[], bool]
    ) -> bool:
        """Follow the central path of these rows, the others held where they are; return whether that was enough."""
        task = self._task()
        whole = len(chosen) == task.n
        part = task if whole else task.part(chosen)
        held = alpha.copy()
        held[chosen] = 0.0
        fixed = np.zeros(len(weights)) if whole else _core.combine(task.rows.matrix, task.signs * held)
        balance = 0.0 if whole else _core.dot(task.signs, held)
        if self.best is not None:
            scale, gap = self.best.primal, self.best.gap
        else:
            scale = gap = 0.5 * _core.dot(task.costs, np.ones(task.n))
            one_sided = constant_solution(task)[1]  # near the optimum, where one class counts for next to nothing
            if one_sided < ONE_SIDED * scale:
                scale = gap = one_sided
        looked: list[DualSolution] = []

        def enough(path: interior.Path) -> bool:
            if not whole and len(looked) >= _LOOKS:  # other rows are in the way
                return False
            held[chosen] = path.alpha
            looked.append(measure(task, held.copy(), (path.weights, path.bias)))
            return looked[-1].relative_gap <= self.tol

        path = interior.follow(
            part, weights, bias, max(gap, 1e-6 * scale) / (2 * part.n), fixed_weights=fixed, fixed_balance=balance,
            scale=scale, precision=_EXACT if self.tiny else 0.02 * self.tol,
            worth_a_look=0.0 if self.tiny else self.tol, enough=enough, halted=halted,
        )  # fmt: skip
        self.finishing += path.iterations
        if not looked or looked[-1].relative_gap > self.tol:
            held[chosen] = path.alpha
            looked.append(measure(task, held.copy(), (path.weights, path.bias)))
        near = self._keep(looked[-1], "interior")
        exact = exact_step(task, held) if self.tiny or not near else None
        return near if exact is None else self.judge(exact, None, "interior")


def _better(one: DualSolution, other: DualSolution) -> DualSolution:
    """Return the solution with the smaller gap; where both have found no plane, the one with the higher dual value."""
    if math.isinf(one.primal) and math.isinf(other.primal):
        return one if one.dual > other.dual else other
    return one if one.relative_gap < other.relative_gap else other


def _wrong(task: MarginTask, solution: DualSolution) -> NDArray[np.intp]:
    """Return the rows at a bound at which they should not be."""
    wrong = (solution.alpha <= 0) & (solution.slack > 0)
    if not task.squared:
        wrong |= (solution.alpha >= task.costs) & (solution.slack <= 0)
    return np.flatnonzero(wrong)
