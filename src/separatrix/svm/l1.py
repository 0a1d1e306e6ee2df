"""Newton's method with an L1 or elastic-net penalty: a run from weights to weights, until the gap is small enough.

Each iteration minimises the quadratic model of the loss plus the penalty by coordinate descent, on the features that
are not zero or not yet at rest: by the features' columns, or, where they are few, by the table of their products. The
slopes at the rows that the model ends with are dual weights that prove more than those that belong to the new weights.
Features that a sphere about them shows to be zero at the optimum are left out for good. Work is counted in numbers read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm.logistic import products
from separatrix.svm.solve import MarginHistory
from separatrix.svm.sparse_penalty import DualPoint, SparseSolution, SparseTask, dual_point, rounding

_UNIT = float(np.finfo(np.float64).eps)
_ARMIJO = 1e-2
_HALVINGS = 50
_PATIENCE = 4
_CHUNK = 1 << 27
_TABLE = 300  # features whose products are kept in a table

Features = NDArray[np.int64]


class Point(NamedTuple):
    """Weights and bias, and what follows from them row by row."""

    scores: Floats
    slopes: Floats
    curvatures: Floats
    slope: float
    curvature: float
    dual: DualPoint
    primal: float


@dataclass(eq=False)
class SparseRun:
    """One run on one task; cut short, it goes on with ``go`` as if nothing had happened."""

    task: SparseTask | None
    tol: float
    weights: Floats
    bias: float = 0.0
    alpha: Floats | None = None
    iterations: int = 0
    idle: int = 0
    ended: str = ""
    best: SparseSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    iterations_before: int = 0
    tell: Callable[[SparseRun], None] | None = None
    _began: float = 0.0
    _features: Features | None = None
    _held: _core.Matrix | None = None
    epochs_inner: int = 0
    stats: dict = field(default_factory=dict)
    eta: float = 0.1
    cap: int = 100

    @property
    def solution(self) -> SparseSolution:
        assert self.best is not None
        return self.best

    @property
    def epochs(self) -> int:
        return self.iterations

    def _task(self) -> SparseTask:
        assert self.task is not None
        return self.task

    def _timed(self, name, began):
        self.stats[name] = self.stats.get(name, 0.0) + time.perf_counter() - began

    def go(self, max_iter: int, halted: Callable[[], bool]) -> SparseSolution:
        self._began = time.perf_counter() - (self.history.seconds[-1] if len(self.history) else 0.0)
        self.ended, self.iterations_before = "", self.iterations
        again = len(self.history) > 0
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
                self._step(point, halted)
        return self.solution

    def _keep(self, point: Point, *, noted: bool) -> None:
        gap = point.dual.gap
        primal = point.primal
        if not noted:
            self.history.add(primal, primal - gap, time.perf_counter() - self._began, exact=True, method="descent")
            self.idle = 0 if self.best is None or gap < 0.9 * self.best.gap else self.idle + 1
        task = self._task()
        if self.best is None or gap / primal < self.best.relative_gap:
            w, b = task.split(self.weights, self.bias)
            self.best = SparseSolution(w, b, point.dual.scale * point.dual.alpha, primal, gap, 0.0, 1e-16 * task.everything)

    def _hold(self, features: Features) -> None:
        """Have the columns of these features at hand."""
        if self._features is not None:
            if len(np.intersect1d(self._features, features, assume_unique=True)) == len(features):
                return
            features = np.union1d(features, self._features)
        t = time.perf_counter()
        task = self._task()
        d = task.rows.shape[1]
        self._features = features if not task.bias else np.union1d(features, [d])
        chosen = self._features[:-1] if task.bias else self._features
        self._held = _core.columns(task.rows.matrix, np.ascontiguousarray(chosen), task.bias)
        self._timed("hold", t)

    def _places(self, features: Features) -> Features:
        assert self._features is not None
        return np.searchsorted(self._features, features)

    @property
    def by_table(self) -> bool:
        return self._task().width <= _TABLE

    def _scores(self, weights: Floats) -> Floats:
        task = self._task()
        if self.by_table or not weights.any():
            return task.scores(weights)
        features = np.flatnonzero(weights)
        self._hold(features)
        sub = np.zeros(len(self._features))
        sub[self._places(features)] = weights[features]
        return _core.combine(self._held, sub)

    def _measure(self) -> Point:
        task = self._task()
        t = time.perf_counter()
        scores = self._scores(self.weights)
        if self.iterations == 0 and task.free:
            self._first_bias(scores)
        loss, slope, curvature, g, D = _core.slopes(task.squared, scores, self.bias, task.signs, task.costs)
        self._timed("slopes", t)
        t = time.perf_counter()
        alpha = self.alpha if self.alpha is not None else -task.signs * g
        dual, penalty = dual_point(task, self.weights, self.bias, scores, alpha)
        self._timed("dual", t)
        return Point(scores, g, D, slope, curvature, dual, loss + penalty)

    def _first_bias(self, scores: Floats) -> None:
        task = self._task()
        for _ in range(50):
            _, slope, curvature, _, _ = _core.slopes(task.squared, scores, self.bias, task.signs, task.costs)
            if not curvature > 0 or abs(slope) <= 1e-12 * task.everything:
                break
            step = slope / curvature
            self.bias -= min(max(step, -2.0), 2.0)

    def _chosen(self, point: Point) -> Features:
        task = self._task()
        t = time.perf_counter()
        size = np.abs(point.dual.pulls)
        moving = self.weights != 0.0
        r = task.l1_ratio
        new = np.flatnonzero((size > r * 0.9) & ~moving)
        cap = max(self.cap, 2 * int(np.count_nonzero(moving)))
        if len(new) > cap:
            vals = size[new]
            least = np.partition(vals, len(vals) - cap)[len(vals) - cap]
            new = new[vals >= least]
        out = np.sort(np.concatenate([np.flatnonzero(moving), new]))
        self._timed("choose", t)
        return out

    def _step(self, point: Point, halted: Callable[[], bool]) -> None:
        task = self._task()
        r, ridge = task.l1_ratio, task.ridge
        D, g = point.curvatures, point.slopes
        if self.by_table:
            out = self._by_table(point)
        else:
            out = self._by_columns(point, halted)
        chosen, raw, step, bias_step, along, residual = out
        t = time.perf_counter()
        old = self.weights[chosen]
        one = np.ones(len(old))
        def penalty(w):
            return r * _core.dot(np.abs(w), one) + 0.5 * ridge * _core.dot(w, w)
        before = penalty(old)
        predicted = _core.dot(raw, step) + point.slope * bias_step + ridge * _core.dot(old, step) + r * (_core.dot(np.abs(old + step), one) - _core.dot(np.abs(old), one))
        rest = point.primal - before  # loss + others' penalty (none)
        length = 1.0
        for _ in range(_HALVINGS):
            value = _core.loss_along(task.squared, point.scores, along, length, self.bias + length * bias_step, task.signs, task.costs) + penalty(old + length * step)
            if value <= point.primal + _ARMIJO * length * predicted + 16 * _UNIT * point.primal:
                break
            length *= 0.5
        else:
            self.ended = "rounding"
            return
        self._timed("search", t)
        self.predicted = predicted
        self.length = length
        self.weights = self.weights.copy()
        self.weights[chosen] = old + length * step
        self.bias += length * bias_step
        self.iterations += 1
        self.alpha = None
        if length == 1.0:
            self.alpha = np.clip(-task.signs * residual, 0.0, None if task.squared else task.costs)

    def _by_columns(self, point, halted):
        task = self._task()
        r, ridge = task.l1_ratio, task.ridge
        D, g = point.curvatures, point.slopes
        chosen = self._chosen(point)
        self._hold(chosen)
        places = self._places(chosen)
        t = time.perf_counter()
        squares, sums, raw = _core.curve(self._held, places, D, g)
        self._timed("curve", t)
        total, shift = 0.0, 0.0
        bends, slopes = squares, raw
        if task.free:
            total = max(point.curvature, 1e-300)
            shift = point.slope / total
            bends = squares - sums * (sums / total)
            slopes = raw - shift * sums
        bends = np.maximum(bends, 1e-10 * squares) + 1e-300
        old = self.weights[chosen]
        here = slopes + ridge * old
        off = np.where(old == 0, np.maximum(np.abs(here) - r, 0), np.abs(here + r * np.sign(old)))
        viol = off.sum()
        residual, w = g.copy(), old.copy()
        t = time.perf_counter()
        shift, violation, epochs, read = _core.descend(
            self._held, places, w, residual, D, bends, sums, total, shift, ridge, r, self.eta * viol, 1000, _CHUNK)
        self._timed("descend", t)
        self.stats["epochs"] = self.stats.get("epochs", 0) + epochs
        self.stats["read"] = self.stats.get("read", 0) + read
        step = w - old
        t = time.perf_counter()
        sub = np.zeros(len(self._features))
        sub[places] = step
        along = _core.combine(self._held, sub)
        self._timed("along", t)
        residual = residual - shift * D
        self.nchosen = len(chosen)
        return chosen, raw, step, -shift if task.free else 0.0, along, residual

    def _by_table(self, point):
        task = self._task()
        r, ridge = task.l1_ratio, task.ridge
        D, g = point.curvatures, point.slopes
        t = time.perf_counter()
        d = task.rows.shape[1]
        table = _core.gram(task.rows.matrix, D)
        self._timed("gram", t)
        t = time.perf_counter()
        lower = np.tril(table)
        table = lower + np.tril(table, -1).T
        raw = _core.combine(task.rows.matrix, g)
        shift = 0.0
        slopes = raw.copy()
        if task.bias:
            table[-1] *= task.bias
            table[:, -1] *= task.bias
            raw = np.append(raw, task.bias * point.slope)
            slopes = raw.copy()
        else:
            sums = table[-1, :-1].copy()
            table = table[:-1, :-1].copy()
            if task.free:
                total = max(point.curvature, 1e-300)
                shift = point.slope / total
                table -= np.outer(sums, sums / total)
                slopes -= shift * sums
        diag = np.einsum("ii->i", table)
        diag[:] = np.maximum(diag, 1e-300)
        chosen = np.arange(task.width)
        old = self.weights.copy()
        here = slopes + ridge * old
        off = np.where(old == 0, np.maximum(np.abs(here) - r, 0), np.abs(here + r * np.sign(old)))
        viol = off.sum()
        w = old.copy()
        self._timed("prep", t)
        t = time.perf_counter()
        violation, epochs, read = _core.descend_gram(table, w, slopes, ridge, r, 1e-4 * viol, 3000)
        self._timed("descend", t)
        self.stats["epochs"] = self.stats.get("epochs", 0) + epochs
        step = w - old
        t = time.perf_counter()
        bias_step = 0.0
        along = task.scores(step)
        if task.free:
            bias_step = -(shift + _core.dot(sums, step) / total)
        self._timed("along", t)
        self.nchosen = len(chosen)
        return chosen, raw, step, bias_step, along, g + D * (along + bias_step)
