"""Logistic regression without a penalty: Newton's method on the likelihood, and a proof that it has a maximum.

The value is ``f(v) = sum C_i log(1 + exp(-y_i v.z_i))`` with z the row and, where there is a bias, a 1. Let g and H be
gradient and Hessian at v, ``lambda^2 = g H^-1 g`` and q the largest ``(z_i H^-1 z_i)^1/2``. Along any u with
``u H u = 1`` no margin moves faster than q, and the second derivative of the log loss falls by no more than
``exp(-q t)``: with ``a = lambda q < 1``, f rises again within a distance of ``-log(1 - a) / q``. So it has a minimum,
and ``f(v) - min f <= lambda^2 (a + (1 - a) log(1 - a)) / a^2``, between 1/2 and 0.62 of ``lambda^2`` where a is at most
1/2. (The self-concordance of the logistic loss: Bach 2010, Electronic Journal of Statistics 4.) Where the classes are
separable a is never below 1.

Columns are brought to mean 0 (dense ones, where there is a bias) and length 1 first, which changes neither lambda nor
q; those that are combinations of others, as far as rounding shows, get the weight 0.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.history import MarginHistory
from separatrix.svm.logistic import LogisticSolution
from separatrix.svm.smooth import LOG, products

MOST_FEATURES = 2000  # whose Hessian is formed and inverted
_UNIT = float(np.finfo(np.float64).eps)
_DEPENDENT = 1e-13  # of a column's squared length: what is left of it beside the columns before it
_DROPPED = 1e300
_FULL = 0.25  # part of the numbers of sparse rows from which on they are as good as dense
_FINEST = 1e-15  # part of the value below which no decrement counts
_SURE = 0.5  # the most that lambda q may be
_DOUBTFUL = 3  # iterations near the infimum without a proof, after which the classes may be separable
_TOGETHER = 16  # rows of a factor that are multiplied with the examples at a time
_ARMIJO = 1e-4
_HALVINGS = 50


@dataclass(frozen=True, eq=False)
class UnpenalisedTask:
    """One binary task: rows, signs (+1, -1), what the loss of each row counts, and whether there is a bias."""

    rows: Rows
    signs: Floats
    costs: Floats
    biased: bool

    @cached_property
    def _values(self) -> Any:
        values = self.rows.values
        full = is_sparse(values) and values.nnz >= _FULL * values.shape[0] * values.shape[1]
        return values.toarray() if full else values

    @cached_property
    def centre(self) -> Floats:
        """What is taken from the columns: the mean of dense ones, where there is a bias."""
        if not self.biased or is_sparse(self._values):
            return np.zeros(self.rows.shape[1])
        return np.asarray(_core.combine(self.rows.matrix, self.costs / self.total))

    @cached_property
    def total(self) -> float:
        """What all rows count."""
        return _core.dot(self.costs, np.ones(len(self.costs)))

    @cached_property
    def _scaled(self) -> tuple[Rows, Floats, NDArray[np.intp]]:
        """The columns that count, centred and scaled; by what; and which they are."""
        sparse = is_sparse(self._values)
        whole = self._values.astype(np.float64) if sparse else self._values - self.centre
        squares = _core.spread(Rows(whole).matrix, self.costs)
        size = np.sqrt(squares / self.total)
        noise = 64.0 * _UNIT * np.abs(self.centre)  # what is left of a constant column
        kept = np.flatnonzero(size > noise)
        if len(kept):
            scaled = _divided(whole, kept, size)
            table = _core.gram(scaled.matrix, self.costs)
            if not self.biased:
                table[-1, :-1] = 0.0
                table[-1, -1] = self.total
            _core.factor(table, _DEPENDENT * self.total, _DROPPED)
            kept = kept[np.diagonal(table)[:-1] < 1e100]
        return _divided(whole, kept, size), size, kept

    @property
    def scaled(self) -> Rows:
        """The columns that count, centred and scaled."""
        return self._scaled[0]

    @property
    def kept(self) -> NDArray[np.intp]:
        """The columns that are no combinations of others."""
        return self._scaled[2]

    @cached_property
    def longest(self) -> float:
        """The length of the longest scaled row, with the 1 of the bias."""
        squares = _core.square_norms(self.scaled.matrix)
        return math.sqrt(float(squares.max(initial=0.0)) + self.biased) * (1.0 + 1e-12)

    def given(self, inner: Floats, bias: float) -> tuple[Floats, float]:
        """Return weights of the given columns, and the bias."""
        weights = np.zeros(self.rows.shape[1])
        weights[self.kept] = inner[: len(self.kept)] / self._scaled[1][self.kept]
        return weights, bias - _core.dot(weights, self.centre) if self.biased else 0.0

    def inner(self, weights: Floats, bias: float) -> tuple[Floats, float]:
        """Return weights of the scaled columns, and the bias."""
        start = bias + _core.dot(weights, self.centre) if self.biased else 0.0
        return weights[self.kept] * self._scaled[1][self.kept] if len(self.kept) else np.zeros(1), start


def _divided(values: Any, kept: NDArray[np.intp], size: Floats) -> Rows:
    if not len(kept):
        return Rows(np.zeros((values.shape[0], 1)))  # a column without effect stands for none
    if is_sparse(values):
        some = values[:, kept]
        some.data /= size[kept][some.indices]
        return Rows(some)
    return Rows(np.ascontiguousarray(values[:, kept]) / size[kept])


@dataclass(eq=False)
class UnpenalisedRun:
    """One run on one task.

    ``ended`` is "gap" (a maximum exists, and is near enough), "separated" (every row is on its correct side),
    "doubtful" (no proof comes, as where the classes touch), "iterations", "halted", "rounding" or, before the end, "".
    """

    task: UnpenalisedTask
    tol: float
    weights: Floats
    bias: float = 0.0
    known: bool = False  # that the classes are not separable, so that there is nothing to doubt
    iterations: int = 0
    iterations_before: int = 0
    doubts: int = 0
    ended: str = ""
    best: LogisticSolution | None = None
    history: MarginHistory = field(default_factory=MarginHistory)
    tell: Callable[[UnpenalisedRun], None] | None = None

    def go(self, max_iter: int, halted: Callable[[], bool]) -> LogisticSolution:
        """Run until a maximum is proved to be near, or there seems to be none, or there is no time for more."""
        began, self.ended = time.perf_counter(), ""
        before = self.history.seconds[-1] if len(self.history) else 0.0
        inner, bias = self.task.inner(self.weights, self.bias)
        while not self.ended:
            point = _at(self.task, inner, bias, self.tol)
            self.best, self.weights, self.bias = point.solution, point.solution.weights, point.solution.bias
            seconds = before + time.perf_counter() - began
            self.history.add(point.value, point.value - point.solution.gap, seconds, exact=True, method="newton")
            if self.tell is not None:
                self.tell(self)
            self.doubts = self.doubts + 1 if point.near and not self.known else 0
            if point.solution.relative_gap <= self.tol:
                self.ended = "gap"
            elif point.least > 0.0 and not self.known:
                self.ended = "separated"
            elif point.decrement**2 <= _FINEST * point.value and (self.known or point.solution.gap < point.value):
                self.ended = "rounding"
            elif self.doubts > _DOUBTFUL:
                self.ended = "doubtful"
            elif self.iterations >= max_iter:
                self.ended = "iterations"
            elif halted():
                self.ended = "halted"
            else:
                moved = _moved(self.task, point, inner, bias)
                if moved is None:
                    self.ended = "rounding"
                else:
                    inner, bias = moved
                    self.iterations += 1
        return self.solution

    @property
    def solution(self) -> LogisticSolution:
        """The last solution."""
        assert self.best is not None
        return self.best

    @property
    def epochs(self) -> int:
        """How many iterations there were."""
        return self.iterations


@dataclass(frozen=True, eq=False)
class _Point:
    """Weights and bias of the scaled columns, and what follows from them."""

    scores: Floats
    value: float
    least: float  # margin
    decrement: float
    near: bool  # the infimum, as far as the decrement shows
    gradient: Floats
    step: Floats  # Newton's, that of the bias last
    solution: LogisticSolution


def _at(task: UnpenalisedTask, inner: Floats, bias: float, tol: float) -> _Point:
    matrix, costs, signs, n = task.scaled.matrix, task.costs, task.signs, len(task.signs)
    scores = (products(matrix, inner) if inner.any() else np.zeros(n)) + bias
    margins = signs * scores
    value, pulls = _core.dot(costs, LOG.value(margins)), LOG.pull(margins)
    alpha = costs * pulls
    signed = signs * alpha
    gradient = -np.append(_core.combine(matrix, signed), _core.dot(signed, np.ones(n)) if task.biased else 0.0)
    curvatures = costs * LOG.second(margins, pulls)
    table = _core.gram(matrix, curvatures)
    if not task.biased:
        table[-1, :-1] = 0.0
        table[-1, -1] = 1.0
    if not len(task.kept):
        table[0, 0] = 1.0
    trace = float(np.trace(table))
    _core.factor(table, 1e-300, _DROPPED)
    step = -gradient
    _core.substitute(table, step)
    decrement = math.sqrt(max(-_core.dot(gradient, step), 0.0))
    weights, offset = task.given(inner, bias)
    off, hidden = _hidden(task, inner, weights, offset, alpha, value)
    tilted = ((n + 4) * _UNIT * _core.dot(alpha, np.ones(n)) + 0.25 * _core.dot(costs, off)) * task.longest
    bent = (n + len(gradient) + 8) * _UNIT * trace
    near = 0.5 * decrement**2 <= max(tol, _FINEST) * value
    # q^2 is at least its mean, weighted with the curvatures: the number of weights by the sum of these
    provable = near and decrement**2 * len(gradient) <= _SURE**2 * _core.dot(curvatures, np.ones(n))
    gap, doubt = _gap(task, table, decrement, tilted, bent) if provable else (math.inf, 0.0)
    least = 1e-16 * task.total
    gap, rounding = (gap, doubt + hidden) if gap <= value else (value, hidden)  # no loss is below 0
    solution = LogisticSolution(weights, float(offset), value, gap, rounding, least)
    return _Point(scores, value, float((margins - off).min()), decrement, near, gradient, step, solution)


def _hidden(
    task: UnpenalisedTask, inner: Floats, weights: Floats, bias: float, alpha: Floats, value: float
) -> tuple[Floats, float]:
    """Return bounds on what rounding can have changed of each margin, and of the value.

    The products of a margin are no larger in all than those of the scaled row and of the centre.
    """
    shift = _core.dot(np.abs(weights), np.abs(task.centre)) + abs(bias)
    size, lengths = math.sqrt(_core.dot(inner, inner)), np.sqrt(_core.square_norms(task.scaled.matrix))
    off = 2.0 * (task.rows.shape[1] + 4) * _UNIT * (1.0 + size * lengths + shift)
    return off, 2.0 * (_core.dot(alpha + task.costs * off, off) + (len(alpha) + 16) * _UNIT * value)


def bare_solution(task: UnpenalisedTask, weights: Floats, bias: float) -> LogisticSolution:
    """Return the value of weights of the given columns; of the optimum, that it is not below 0."""
    margins = task.signs * (products(task.rows.matrix, weights) + bias)
    value = _core.dot(task.costs, LOG.value(margins))
    size, lengths = math.sqrt(_core.dot(weights, weights)), np.sqrt(_core.square_norms(task.rows.matrix))
    off = (len(weights) + 4) * _UNIT * (1.0 + size * lengths + abs(bias))
    hidden = 2.0 * (_core.dot(task.costs, off) + (len(off) + 16) * _UNIT * value)
    return LogisticSolution(weights, bias, value, value, hidden, 1e-16 * task.total)


def _gap(task: UnpenalisedTask, factor: Floats, decrement: float, tilted: float, bent: float) -> tuple[float, float]:
    """Return the distance from the minimum that is proved, infinity for none, and what rounding may add to it.

    ``factor`` is the Hessian's, which may be off by ``bent``; the gradient may be off by ``tilted``. The largest
    eigenvalue of the inverse is at most its trace.
    """
    if not np.isfinite(factor).all() or np.diagonal(factor).max() >= 1e100:
        return math.inf, 0.0
    inverse, d = np.zeros((len(factor), len(factor))), len(factor)
    for k in range(d):
        column = np.zeros(d)
        column[k] = 1.0
        _core.substitute(factor, column)
        inverse[k] = column
    softest = float(np.trace(inverse))
    stiff = 1.0 - bent * softest
    if not stiff > 0.5:
        return math.inf, 0.0
    most = (decrement + tilted * math.sqrt(softest)) / math.sqrt(stiff)
    a = most * _fastest(task, inverse) / math.sqrt(stiff) * (1.0 + 1e-6)
    if not a <= _SURE:
        return math.inf, 0.0
    part = 0.5 + a / 6.0 + 0.125 * a * a  # at least (a + (1 - a) log(1 - a)) / a^2 up to a = 1/2
    gap = part * decrement * decrement
    return gap, part * most * most - gap


def _fastest(task: UnpenalisedTask, inverse: Floats) -> float:
    """Return q, the largest ``(z H^-1 z)^1/2`` of a row: with ``H^-1 = M M'`` that is ``|M' z|``."""
    _core.factor(inverse, 0.0, _DROPPED)
    across = np.ascontiguousarray(np.tril(inverse).T)
    squares = np.zeros(len(task.signs))
    for first in range(0, len(across), _TOGETHER):
        some = across[first : first + _TOGETHER]
        bias = some[:, -1].copy() if task.biased else np.zeros(len(some))
        scores = _core.decide(task.scaled.matrix, np.ascontiguousarray(some[:, :-1]), bias, 1)
        squares += np.einsum("ij,ij->i", scores, scores)
    return math.sqrt(float(squares.max()))


def _moved(task: UnpenalisedTask, point: _Point, inner: Floats, bias: float) -> tuple[Floats, float] | None:
    """Return the weights and bias after Newton's step, shortened until the value falls; None where it does not."""
    step, bias_step = point.step[:-1].copy(), float(point.step[-1]) if task.biased else 0.0
    slope = _core.dot(point.gradient, point.step)
    along = products(task.scaled.matrix, step) + bias_step if step.any() else np.full(len(task.signs), bias_step)
    if not (math.isfinite(slope) and slope < 0.0 and np.isfinite(along).all()):
        return None
    length, allowed = 1.0, 16.0 * _UNIT * point.value
    for _ in range(_HALVINGS):
        value = _core.dot(task.costs, LOG.value(task.signs * (point.scores + length * along)))
        if value <= point.value + _ARMIJO * length * slope + allowed:
            return inner + length * step, bias + length * bias_step
        length *= 0.5
    return None
