"""Newton's method with an L1 or elastic-net penalty: a run from weights to weights, until the gap is small enough.

Each iteration minimises the quadratic model of the loss plus the penalty (newGLMNET: Yuan, Ho, Lin, JMLR 13, 2012), on
the features that are not zero or whose slopes are near the penalty. The slopes at the rows that the model ends with are
dual weights that prove more than those of the new weights. Features that a sphere about these shows to be zero at the
optimum (Ndiaye, Fercoq, Gramfort, Salmon, JMLR 18, 2017) are left out for good.

With the squared hinge a model whose penalty is small beside the loss has a valley of weights that are nearly as good,
along which descent crawls. Such a run goes through stages: from the largest costs with
which hardly any weight is not zero, each ten times the one before, to those of the task.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm import choice
from separatrix.svm.descent import Columns, Features, Model, Step, by_all_products, by_columns
from separatrix.svm.history import MarginHistory
from separatrix.svm.sparse_penalty import DualPoint, SparseSolution, SparseTask, dual_point, rounding
from separatrix.svm.task import HaltedError, looking

_UNIT = float(np.finfo(np.float64).eps)
_FEW = 1 << 18  # numbers up to which all columns are fetched at once
_MANY = 1 << 22  # numbers from which on the features are let in a few at a time
_FIRST = 500
_NEAR = 0.9  # part of the penalty from which on a slope is near it
_WIDE = 0.5  # the same for columns that are fetched together
_SCREEN = 0.05  # relative gap from which on features are screened
_ARMIJO = 1e-2
_HALVINGS = 50
_PATIENCE = 4  # iterations without a smaller gap or value, where rounding decides
_ROUGHEST = (0.5, 0.01)  # parts of the violation at which a model is good enough: by columns, by a table
_FINEST = (0.1, 1e-3)
_STAGED = 1000.0  # times the penalty: slopes at 0 from which on there are stages
_STAGE = 10.0  # times the costs of the stage before
_STAGE_GAP = 0.01  # relative gap at which a stage is over


class Point(NamedTuple):
    """Weights and bias, and what follows from them row by row."""

    scores: Floats
    model: Model
    dual: DualPoint
    primal: float


@dataclass(eq=False)
class SparseRun:
    """One run on one task; cut short, it goes on with ``go`` as if nothing had happened.

    ``ended`` is "gap" (small enough), "iterations", "halted", "rounding" (no further in floating-point numbers) or,
    before the end, "". ``weights`` (a penalised bias's is the last) and ``bias`` (a free one) are where the next
    iteration begins, ``alpha`` the dual weights for its gap, ``kept`` the features that are not screened.
    """

    task: SparseTask | None
    tol: float
    weights: Floats
    bias: float = 0.0
    alpha: Floats | None = None
    kept: Features | None = None
    part: float = 0.0  # of the costs that the stage counts: 1 in the last one, 0 before the first
    gained: float = 1.0  # by the last iteration, as a part of the value
    iterations: int = 0
    idle: int = 0
    ended: str = ""
    best: SparseSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    iterations_before: int = 0  # of earlier calls of ``go``
    tell: Callable[[SparseRun], None] | None = None
    _began: float = 0.0
    _columns: Columns | None = None
    _reached: tuple[Floats, float, Point] | None = None  # where the best solution was found

    def go(self, max_iter: int, halted: Callable[[], bool]) -> SparseSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before = "", self.iterations
        if not self.part:
            self._start()
        elif self.part < 1.0:  # cut short in an earlier stage: what was shown of the last one is not on the way there
            self.best = None
            self.history.forget(0)
        self._approach(max_iter, halted)
        of_stage, self.alpha = self.alpha, None if self.part < 1.0 else self.alpha
        again = len(self.history) > 0  # the point that it was cut short at has been noted
        while not self.ended:
            point = self._measure()
            self._keep(point, noted=again)
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
                try:
                    self._advance(point, halted)
                except HaltedError:
                    self.ended = "halted"
        if self.part < 1.0:
            self.alpha = of_stage
        self._conclude()
        return self.solution

    @property
    def solution(self) -> SparseSolution:
        """The best solution so far."""
        assert self.best is not None
        return self.best

    @property
    def epochs(self) -> int:
        """How many iterations there were."""
        return self.iterations

    @property
    def by_table(self) -> bool:
        """Whether the products of all features are kept in one table."""
        task = self._task()
        return choice.whole_table(task.width, task.stored(), task.row_squares if task.sparse else None)

    def put_down(self) -> SparseRun:
        """Let go of the data, so that a model which keeps this run for later does not keep them too."""
        self.task = self.tell = self._columns = self._reached = None
        return self

    def validate(self) -> None:
        """Refuse what is not a run that was cut short."""
        require(self.ended in ("gap", "iterations", "halted", "rounding"), "a run ended in a way that cannot be")
        require(type(self.best) is SparseSolution, "a run has no solution")
        n, width = len(self.solution.alpha), len(self.weights) if is_array(self.weights, "f8", (None,)) else -1
        require(is_array(self.weights, "f8", (None,), finite=True), "a run is damaged")
        require(width - len(self.solution.weights) in (0, 1), "a run is damaged")
        require(self.alpha is None or is_array(self.alpha, "f8", (n,), finite=True), "a run is damaged")
        require(self.kept is None or is_array(self.kept, "i8", (None,)), "a run is damaged")
        if self.kept is not None and len(self.kept):
            inside = self.kept[0] >= 0 and self.kept[-1] < width and bool((np.diff(self.kept) > 0).all())
            require(inside, "a run is damaged")
        counts = (self.iterations, self.idle, self.iterations_before)
        require(all(is_count(value, 0, 2**64 - 1) for value in counts), "a run counts what cannot be")
        numbers = (self.tol, self.bias, self.part, self.gained)
        require(all(is_real(value) for value in numbers), "a run holds what is not a number")
        require(0.0 <= self.part <= 1.0, "a run is damaged")
        require(type(self.history) is MarginHistory, "a run is damaged")

    def _task(self) -> SparseTask:
        assert self.task is not None
        return self.task

    def _start(self) -> None:
        """Find the best free bias for the weights, by Newton's method kept short, and the first stage."""
        self._best_bias()
        task = self._task()
        self.part = 1.0
        if task.squared and not self.weights.any():
            slopes = _core.slopes(True, task.scores(self.weights), self.bias, task.signs, task.costs)[3]
            largest = _core.largest(task.pulls(-task.signs * slopes))
            if _STAGED * task.l1_ratio < largest < math.inf:
                self.part = _STAGE * task.l1_ratio / largest

    def _approach(self, max_iter: int, halted: Callable[[], bool]) -> None:
        """Go through the stages before the last; where that is cut short, ``part`` says where to go on."""
        whole, part = self._task(), 0.0
        while self.part < 1.0 and self.iterations < max_iter and not halted():
            if part != self.part:
                part = self.part
                self.task = replace(whole, costs=part * whole.costs)
            point = self._measure()
            over = point.dual.gap <= max(_STAGE_GAP, self.tol) * point.primal or self.gained <= 16.0 * _UNIT
            try:
                if not over:
                    self._advance(point, halted)
            except HaltedError:
                self.ended = "halted"
            if self.ended == "halted":
                self.ended = ""
                break
            if over or self.ended:
                self.part = min(_STAGE * self.part, 1.0)
                self.alpha, self.gained, self.ended = None, 1.0, ""
        self.task = whole

    def _best_bias(self) -> None:
        task = self._task()
        if not task.free:
            return
        scores = task.scores(self.weights)
        for _ in range(100):
            _, slope, curvature, _, _ = _core.slopes(task.squared, scores, self.bias, task.signs, task.costs)
            if not curvature > 0.0 or abs(slope) <= 1e-13 * task.everything:
                break
            self.bias -= min(max(slope / curvature, -2.0), 2.0)

    def _hold(self, features: Features, others: Features | None = None) -> Columns:
        """Return columns with these features; if they have to be fetched, with the others too."""
        task, d = self._task(), self._task().rows.shape[1]
        if self._columns is None or not self._columns.has(features):
            wanted = np.zeros(task.width, dtype=bool)
            for some in (features, others, None if self._columns is None else self._columns.features):
                if some is not None:
                    wanted[some] = True
            every = np.flatnonzero(wanted[:d])
            again = self._columns is not None and task.stored() <= _MANY
            whole = again or task.stored() <= _FEW or 2 * len(every) >= d
            self._columns = Columns(task.rows, np.arange(d) if whole else every, task.bias)
        return self._columns

    def _scores(self) -> Floats:
        """Return the scores of the weights: the same bits whichever other columns are at hand."""
        features = np.flatnonzero(self.weights)
        if self.by_table or not len(features):
            return self._task().scores(self.weights)
        columns = self._hold(features)
        return columns.combine(columns.places(features), self.weights[features])

    def _measure(self) -> Point:
        task, scores = self._task(), self._scores()
        loss, slope, curvature, slopes, curvatures = _core.slopes(
            task.squared, scores, self.bias, task.signs, task.costs
        )
        alpha = -task.signs * slopes if self.alpha is None else self.alpha
        dual, penalty = dual_point(task, self.weights, self.bias, scores, alpha)
        model = Model(slopes, curvatures, slope, curvature, task.ridge, task.l1_ratio, task.free)
        return Point(scores, model, dual, loss + penalty)

    def _keep(self, point: Point, *, noted: bool) -> None:
        primal, proof = point.primal, point.dual
        if self.best is not None and proof.gap > primal - self.best.dual:  # an earlier alpha proves more
            before = dual_point(self._task(), self.weights, self.bias, point.scores, self.best.alpha)[0]
            proof = before if before.gap < proof.gap else proof
        gap = proof.gap
        least = 1e-16 * self._task().everything
        relative = gap / max(primal, least) if math.isfinite(primal + gap) else math.inf
        if not noted:
            method = "table" if self.by_table else "descent"
            self.history.add(primal, primal - gap, time.perf_counter() - self._began, exact=True, method=method)
            better = self.best is None or relative < 0.9 * self.best.relative_gap
            self.idle = 0 if better or self.gained > 16.0 * _UNIT else self.idle + 1
            if self.tell is not None:
                self.tell(self)
        if self.best is None or relative < self.best.relative_gap:
            weights, bias = self._task().split(self.weights, self.bias)
            alpha = proof.scale * proof.alpha
            self.best = SparseSolution(weights, bias, alpha, primal, gap, math.inf, least)
            self._reached = self.weights, self.bias, point._replace(dual=proof)
        if relative <= _SCREEN and not self.by_table:
            self._screen(point._replace(dual=proof))

    def _conclude(self) -> None:
        """Bound what rounding can have done to the best solution."""
        if self._reached is None:
            return
        weights, bias, point = self._reached
        best = self.solution
        bound = rounding(self._task(), weights, bias, point.dual, best.primal, point.scores)
        self.best = SparseSolution(best.weights, best.bias, best.alpha, best.primal, best.gap, bound, best.least)
        self._reached = None

    def _screen(self, point: Point) -> None:
        """Leave out the features that are zero at the optimum, whichever alpha within the gap is the best.

        The dual is strongly concave: ``sum (alpha - best)^2 / C`` is at most half the gap for the log loss, four times
        the gap for the squared hinge; a slope changes by no more than the root of that times ``sum C x^2``.
        """
        task = self._task()
        kept = np.arange(task.width) if self.kept is None else self.kept
        gap = point.dual.gap + rounding(task, self.weights, self.bias, point.dual, point.primal, point.scores)
        radius = np.sqrt((4.0 if task.squared else 0.5) * gap * task.spread[kept]) * (1.0 + 1e-9)
        size = point.dual.scale * np.abs(point.dual.pulls[kept]) + point.dual.doubt
        self.kept = kept[(size + radius >= task.l1_ratio) | (self.weights[kept] != 0.0)]

    def _chosen(self, point: Point) -> tuple[Features, Features]:
        """Return the features of the next model, and those whose columns may as well be fetched with them."""
        task = self._task()
        sizes, moving = np.abs(point.dual.pulls), self.weights != 0.0
        if self.kept is not None:
            known = np.zeros(task.width, dtype=bool)
            known[self.kept] = True
            sizes = np.where(known, sizes, 0.0)
        near = sizes > _NEAR * task.l1_ratio
        if task.stored() > _MANY:
            new = sizes[near & ~moving]
            most = max(_FIRST, 2 * int(np.count_nonzero(moving)))
            if len(new) > most:
                near = near & (sizes >= np.partition(new, len(new) - most)[len(new) - most])
        return np.flatnonzero(near | moving), np.flatnonzero(sizes > _WIDE * task.l1_ratio)

    def _advance(self, point: Point, halted: Callable[[], bool]) -> None:
        """Make one iteration; where that is not possible, end."""
        task, look = self._task(), looking(halted)
        rough, fine = _ROUGHEST[self.by_table], _FINEST[self.by_table]
        if self.by_table:
            enough = min(rough, max(fine, self.gained**2))
            step = by_all_products(task.rows, task.bias, point.model, self.weights, enough, task.scores, look)
        else:
            enough = min(rough, max(fine, math.sqrt(max(self.gained, 0.0))))
            chosen, others = self._chosen(point)
            columns = self._hold(chosen, others)
            step = by_columns(columns, point.model, chosen, self.weights[chosen], enough, look)
        length, reached = self._searched(point, step)
        if not length and len(self.history) == 1 and self.weights.any():  # given weights that lead nowhere
            self.weights, self.bias, self.alpha = np.zeros(len(self.weights)), 0.0, None
            self._best_bias()
            self.iterations += 1
            return
        if not length:
            self.ended = "rounding"
            return
        self.gained = (point.primal - reached) / max(point.primal, 1e-300)
        self.weights = self.weights.copy()
        self.weights[step.chosen] += length * step.weights
        self.bias += length * step.bias
        self.iterations += 1
        self.alpha = None
        if length == 1.0:
            self.alpha = np.clip(-task.signs * step.residual, 0.0, None if task.squared else task.costs)

    def _searched(self, point: Point, step: Step) -> tuple[float, float]:
        """Return the length of the step that gains enough, 0 if there is none, and the value there."""
        task, ones = self._task(), np.ones(len(step.chosen))
        old = self.weights[step.chosen]

        def penalty(weights: Floats) -> float:
            return task.l1_ratio * _core.dot(np.abs(weights), ones) + 0.5 * task.ridge * _core.dot(weights, weights)

        before = task.l1_ratio * _core.dot(np.abs(old), ones)
        slope = _core.dot(step.raw + task.ridge * old, step.weights) + point.model.slope * step.bias
        slope += task.l1_ratio * _core.dot(np.abs(old + step.weights), ones) - before
        if not (math.isfinite(slope) and np.isfinite(step.along).all()):
            return 0.0, point.primal
        length, allowed = 1.0, 16.0 * _UNIT * point.primal
        for _ in range(_HALVINGS):
            bias = self.bias + length * step.bias
            loss = _core.loss_along(task.squared, point.scores, step.along, length, bias, task.signs, task.costs)
            value = loss + penalty(old + length * step.weights)
            if value <= point.primal + _ARMIJO * length * min(slope, 0.0) + allowed:
                return length, value
            length *= 0.5
        return 0.0, point.primal
