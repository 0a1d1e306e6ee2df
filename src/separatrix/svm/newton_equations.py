"""Newton's equations for one plane: solved by a Cholesky factor of the Hessian, or by conjugate gradients.

These need products with the rows only. They are preconditioned by the diagonal of the Hessian, or by the factor of an
earlier one: as long as the curvatures of few rows have changed since, a few steps do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.svm.logistic import LogisticTask, Point
from separatrix.svm.smooth import products
from separatrix.svm.task import HaltedError

_FAR = 0.02  # part of the value that a step gains, above which some of the rows will do for the Hessian
_SAMPLED = 8  # one in so many
_MANY = 50  # times the features


class Direction(NamedTuple):
    """The steps of the weights, of the bias and of the scores."""

    step: Floats
    bias_step: float
    along: Floats


class Found(NamedTuple):
    """What conjugate gradients have found, after how many steps, and whether that solves the equations."""

    direction: Direction
    steps: int
    solved: bool


@dataclass(frozen=True, eq=False)
class Factor:
    """A Cholesky factor of the Hessian in the weights and the bias."""

    table: Floats
    biased: bool

    def solve(self, right: Floats) -> Floats:
        """Return the weights' part of the solution whose bias has a gradient of 0."""
        return self._both(right)[:-1]

    def direction(self, task: LogisticTask, point: Point) -> Direction:
        """Return the solution of Newton's equations, if this is the factor of the point's Hessian."""
        both = self._both(-point.gradient)
        step = both[:-1].copy()
        return Direction(step, float(both[-1]) if self.biased else 0.0, products(task.rows.matrix, step))

    def _both(self, right: Floats) -> Floats:
        both = np.zeros(len(right) + 1)
        both[:-1] = right
        _core.substitute(self.table, both)
        return both


def factor_of(task: LogisticTask, curvatures: Floats, look: Callable[[], None] | None = None) -> Factor:
    """Return the factor of the Hessian with these curvatures of the rows."""
    return _factored(task, _core.gram(task.rows.matrix, curvatures, look), look)


def curvatures_at(task: LogisticTask, weights: Floats, bias: float) -> Floats:
    """Return the curvatures of the rows' losses at these weights."""
    scores = products(task.rows.matrix, weights) if weights.any() else np.zeros(task.n)
    return _core.slopes(task.squared, scores, bias, task.signs, task.costs)[4]


def by_factor(task: LogisticTask, point: Point, look: Callable[[], None]) -> Direction:
    """Solve Newton's equations by a factor that is used once."""
    return factor_of(task, point.curvatures, look).direction(task, point)


def by_some_rows(task: LogisticTask, point: Point) -> Direction | None:
    """Solve Newton's equations for one row in eight; None near the optimum, or where there are few rows.

    Far from the optimum a step is only as good as the quadratic that it is made for, and these rows give one that is as
    good, if they are still many times the features.
    """
    if task.n < _SAMPLED * _MANY * task.rows.shape[1]:
        return None
    some = task.rows.part(slice(None, None, _SAMPLED)).matrix
    table = _core.gram(some, float(_SAMPLED) * point.curvatures[::_SAMPLED])
    direction = _factored(task, table).direction(task, point)
    far = -_core.dot(point.gradient, direction.step) > _FAR * point.solution.primal
    return direction if far else None


def _factored(task: LogisticTask, table: Floats, look: Callable[[], None] | None = None) -> Factor:
    """Return the factor of the Hessian, given the weighted Gram matrix of the rows and their bias coordinate."""
    diagonal = np.einsum("ii->i", table)
    diagonal[:-1] += 1.0
    diagonal[-1] += task.lean
    if not task.biased:
        table[-1, :-1] = 0.0
        diagonal[-1] = 1.0
    _core.factor(table, 1e-300, 1e300, look)
    return Factor(table, task.biased)


def diagonal(task: LogisticTask, point: Point) -> Callable[[Floats], Floats]:
    """Return the preconditioner that divides by an estimate of the Hessian's diagonal."""
    total = _core.dot(point.curvatures, task.ones)
    scale = 1.0 / (1.0 + total / max(sum(task.sides), 1e-300) * task.spread)
    return lambda residual: scale * residual


def by_products(
    task: LogisticTask,
    point: Point,
    prepare: Callable[[Floats], Floats],
    aim: float,
    forcing: float,
    most: int,
    halted: Callable[[], bool],
) -> Found:
    """Solve Newton's equations by conjugate gradients, until little of the gradient is left.

    That is a length of ``aim``, or a part ``forcing`` of the length that it had, as the preconditioner measures it.

    The bias is eliminated: its best step for a step of the weights is minus the weighted mean of the steps of the
    scores, so that it is as if the rows were centred. ``prepare`` is the preconditioner.
    """
    matrix, curvatures = task.rows.matrix, point.curvatures
    total = _core.dot(curvatures, task.ones)
    mass = total + task.lean if task.biased and total + task.lean > 0 else math.inf
    sums = _core.combine(matrix, curvatures) if mass < math.inf else None
    step, along = np.zeros(len(point.weights)), np.zeros(task.n)
    image, scores = np.empty_like(step), np.empty_like(along)
    residual = -point.gradient
    ready = prepare(residual)
    towards = ready.copy()
    product = _core.dot(residual, ready)
    enough = forcing * forcing * product
    steps, solved = 0, False
    while steps < most:
        if halted():
            raise HaltedError
        _core.hessian_product(matrix, curvatures, towards, scores, image)
        if sums is not None:
            _core.add_scaled(image, -_core.dot(curvatures, scores) / mass, sums)
        bend = _core.dot(towards, image)
        if not bend > 0.0:
            solved = True
            break
        length = product / bend
        _core.add_scaled(step, length, towards)
        _core.add_scaled(along, length, scores)
        _core.add_scaled(residual, -length, image)
        steps += 1
        ready = prepare(residual)
        last, product = product, _core.dot(residual, ready)
        solved = product <= enough or math.sqrt(_core.dot(residual, residual)) <= aim
        if solved:
            break
        towards *= product / last
        towards += ready
    bias_step = -_core.dot(curvatures, along) / mass
    whole = np.count_nonzero(curvatures) == task.n
    return Found(Direction(step, bias_step, along if whole else products(matrix, step)), steps, solved)
