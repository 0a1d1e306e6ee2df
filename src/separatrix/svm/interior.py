"""A primal-dual interior-point method for one task (Mehrotra, SIAM J. Optim. 2, 1992).

Each iteration solves one system of linear equations, of the size of the features (the normal equations of Ferris and
Munson, SIAM J. Optim. 13, 2002) or of the rows, whichever is smaller. Some twenty iterations reach a gap that
coordinate ascent may need ten thousand epochs for; each costs about ``n d^2``.

The unknowns are w, b and, for each row, alpha in (0, C), the surplus ``s`` and the slack ``xi`` of its margin:
``y (w.x + b) + xi - s = 1``. On the central path ``s alpha = xi (C - alpha) = mu``, and mu goes to 0. For the squared
hinge xi is ``alpha / (2 C)``, for the hard margin it is 0.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.task import HaltedError, MarginTask, looking

MOST_ITERATIONS = 100
_TO_THE_WALL = 0.995


class Path(NamedTuple):
    """Where the path ended: the dual weights, snapped to their bounds, weights and bias; and after how many steps."""

    alpha: Floats
    weights: Floats
    bias: float
    iterations: int


@dataclass(frozen=True)
class _Place:
    """A point inside the walls: all but w and b are positive."""

    alpha: Floats
    room: Floats  # C - alpha, followed by itself: the difference would lose its digits
    surplus: Floats
    slack: Floats
    w: Floats
    b: float

    def moved(self, step: _Step, length: float, *, boxed: bool) -> _Place:
        return _Place(
            self.alpha + length * step.alpha,
            self.room - length * step.alpha if boxed else self.room,
            self.surplus + length * step.surplus,
            self.slack + length * step.slack if boxed else self.slack,
            self.w + length * step.w,
            self.b + length * step.b,
        )

    def complement(self, *, boxed: bool) -> float:
        """Return the sum of the products that go to 0."""
        return _core.dot(self.surplus, self.alpha) + (_core.dot(self.slack, self.room) if boxed else 0.0)


class _Step(NamedTuple):
    alpha: Floats
    surplus: Floats
    slack: Floats
    w: Floats
    b: float


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # what is not finite ends the path
def follow(
    task: MarginTask,
    weights: Floats,
    bias: float,
    mu: float,
    *,
    fixed_weights: Floats | None = None,
    fixed_balance: float = 0.0,
    precision: float = 1e-13,
    scale: float = 1.0,
    worth_a_look: float = 0.0,
    enough: Callable[[Path], bool] = lambda path: False,
    halted: Callable[[], bool] = lambda: False,
) -> Path:
    """Follow the central path from near these weights to its end.

    Parameters
    ----------
    task : MarginTask
        The rows that may still change their alpha.
    weights, bias
        Where to start.
    mu : float
        How far from the end of the path to start: about the gap divided by twice the number of rows.
    fixed_weights, fixed_balance
        The sums of ``alpha y x`` and of ``alpha y`` over the rows whose alpha stays.
    precision : float
        Stop when the products ``s alpha`` and ``xi (C - alpha)`` sum up to less than this part of ``scale``.
    scale : float
        The size of the objective.
    worth_a_look, enough
        As soon as that sum is less than this part, ``enough`` is asked before each iteration whether to stop.
    halted
        Asked before each iteration; HaltedError is raised when it says so.
    """
    n, signs, costs, matrix = task.n, task.signs, task.costs, task.rows.matrix
    boxed = not (task.squared or task.hard)
    damp = 0.5 / costs if task.squared else np.zeros(n)
    lean = 1.0 / task.bias**2 if task.bias else 0.0  # what the bias costs: lean b^2 / 2
    system = (_ByFeatures if task.rows.shape[1] < n else _ByRows)(task, lean)
    fixed = np.zeros(len(weights)) if fixed_weights is None else fixed_weights
    here = _centre(task, weights, bias if system.biased else 0.0, mu, boxed=boxed)
    best, least = here, np.inf
    iteration = 0
    while iteration < MOST_ITERATIONS:
        if halted():
            raise HaltedError
        iteration += 1
        complement = here.complement(boxed=boxed)
        mu = complement / (2 * n if boxed else n)
        missing_w = fixed + _core.combine(matrix, signs * here.alpha) - here.w
        missing_b = (fixed_balance + _core.dot(signs, here.alpha) - lean * here.b) if system.biased else 0.0
        missing_p = 1.0 - signs * (_products(matrix, here.w) + here.b) + here.surplus - here.slack - damp * here.alpha
        wrong = abs(_core.dot(missing_p, here.alpha)) + abs(_core.dot(missing_w, here.w)) + abs(missing_b * here.b)
        if not np.isfinite(complement + wrong):
            break
        if complement + wrong < least:
            best, least = here, complement + wrong
            if least <= precision * scale:
                break
            if least <= worth_a_look * scale and enough(_path(task, best, iteration, boxed=boxed)):
                break
        elif complement + wrong > 1e3 * least and least < 1e-6 * scale:
            break  # rounding has the upper hand
        if not complement > 0.0:  # at the end of the path, or so small that it vanishes
            break
        system.factor(1.0 / (here.surplus / here.alpha + damp + here.slack / here.room), looking(halted))
        products, box_products = here.surplus * here.alpha, here.slack * here.room

        # The predictor aims at the end of the path; how far it gets says how far along the path the corrector aims.
        guess = _towards(system, here, (missing_w, missing_b, missing_p), -products, -box_products)
        ahead = here.moved(guess, min(_reach(here, guess, boxed=boxed), 1.0), boxed=boxed)
        aim = mu * (max(ahead.complement(boxed=boxed), 0.0) / complement) ** 3
        target, box_target = aim - products - guess.alpha * guess.surplus, np.zeros(n)
        if boxed:
            box_target = aim - box_products + guess.alpha * guess.slack
        step = _towards(system, here, (missing_w, missing_b, missing_p), target, box_target)
        length = min(_TO_THE_WALL * _reach(here, step, boxed=boxed), 1.0)
        here = here.moved(step, length, boxed=boxed)
    return _path(task, best, iteration, boxed=boxed)


def _path(task: MarginTask, place: _Place, iteration: int, *, boxed: bool) -> Path:
    return Path(_snapped(task, place, boxed=boxed), place.w, place.b, iteration)


def _towards(
    system: _ByFeatures | _ByRows,
    here: _Place,
    missing: tuple[Floats, float, Floats],
    target: Floats,
    box_target: Floats,
) -> _Step:
    """Return the step that closes what is missing and changes the products by these targets, to first order."""
    missing_w, missing_b, missing_p = missing
    wanted = missing_p + target / here.alpha - box_target / here.room
    w, b, alpha = system.solve(missing_w, missing_b, wanted)
    surplus = (target - here.surplus * alpha) / here.alpha
    return _Step(alpha, surplus, (box_target + here.slack * alpha) / here.room, w, b)


def _reach(here: _Place, step: _Step, *, boxed: bool) -> float:
    """Return the length at which the step meets the first wall."""
    least = min(_core.reach(here.alpha, step.alpha, 1.0), _core.reach(here.surplus, step.surplus, 1.0))
    if boxed:
        least = min(least, _core.reach(here.room, step.alpha, -1.0), _core.reach(here.slack, step.slack, 1.0))
    return least


def _centre(task: MarginTask, w: Floats, b: float, mu: float, *, boxed: bool) -> _Place:
    """Return the place on the central path for these weights; without a box, near it."""
    costs = task.costs
    distance = 1.0 - task.signs * (_products(task.rows.matrix, w) + b)
    ones, zeros = np.ones(task.n), np.zeros(task.n)
    if boxed:  # mu / (C - alpha) - mu / alpha = distance
        root = np.sqrt((distance * costs) ** 2 + 4.0 * mu * mu) + 2.0 * mu
        alpha, room = (costs * (2.0 * mu / (root + side * costs)) for side in (-distance, distance))
        return _Place(alpha, room, mu / alpha, mu / room, w, b)
    if task.squared:  # alpha / (2 C) - mu / alpha = distance
        root = np.sqrt(distance * distance + 2.0 * mu / costs)
        alpha = np.where(distance >= 0, costs * (distance + root), 2.0 * mu / (root - distance))
        return _Place(alpha, ones, mu / alpha, zeros, w, b)
    surplus = np.maximum(-distance, np.sqrt(mu))
    return _Place(mu / surplus, ones, surplus, zeros, w, b)


def _products(matrix: _core.Matrix, w: Floats) -> Floats:
    return _core.decide(matrix, w[None, :], np.zeros(1), 1)[:, 0]


def _snapped(task: MarginTask, place: _Place, *, boxed: bool) -> Floats:
    """Return alpha with those rows at their bound that are far nearer to it than to their margin.

    Near is meant in two ways: one step of coordinate ascent would go far beyond the bound, or the part of all there is
    to C (without one: of the largest alpha) is far smaller than the distance to the margin, which is of the size of 1.
    """
    alpha = place.alpha
    curvature = task.squares + task.bias**2 + (1.0 if task.free else 0.0)
    whole = task.costs if boxed else np.full(len(alpha), float(alpha.max(initial=0.0)))
    low = (alpha * curvature < 1e-3 * place.surplus) | (alpha < 1e-5 * place.surplus * whole)
    alpha = np.where(low, 0.0, alpha)
    if not boxed:
        return alpha
    high = (place.room * curvature < 1e-3 * place.slack) | (place.room < 1e-5 * place.slack * whole)
    return np.where(high, task.costs, np.minimum(alpha, task.costs))


def gram_of_rows(task: MarginTask) -> Floats:
    """Return the products of all pairs of rows, each with its sign."""
    rows, n = task.rows, task.n
    if is_sparse(rows.values):  # columns that no row uses take no room
        rows = Rows(rows.values[:, np.unique(rows.values.indices)]) if rows.values.nnz else Rows(np.zeros((n, 1)))
    gram = np.empty((n, n))
    together = max(1, (1 << 22) // rows.shape[1])
    for first in range(0, n, together):
        some = rows.values[first : first + together]
        some = np.ascontiguousarray(some.toarray() if is_sparse(some) else some, dtype=np.float64)
        gram[:, first : first + together] = _core.decide(rows.matrix, some, np.zeros(len(some)), 1)
    return gram * task.signs[:, None] * task.signs[None, :]


class _ByFeatures:
    """The normal equations in w and b: ``(I + X'TX) dw + X'T1 db = ...``."""

    def __init__(self, task: MarginTask, lean: float) -> None:
        self.biased = task.free or task.bias > 0
        self._task = task
        self._lean = lean
        self._weight = np.empty(0)
        self._table = np.empty((0, 0))

    def factor(self, weight: Floats, look: Callable[[], None]) -> None:
        """Prepare to solve for these T."""
        table = _core.gram(self._task.rows.matrix, weight, look)
        diagonal = np.einsum("ii->i", table)
        diagonal[:-1] += 1.0
        diagonal[-1] += self._lean
        if not self.biased:
            table[-1, :-1] = 0.0
            diagonal[-1] = 1.0
        _core.factor(table, 1e-300, 1e300, look)
        self._weight, self._table = weight, table

    def solve(self, missing_w: Floats, missing_b: float, reach: Floats) -> tuple[Floats, float, Floats]:
        """Return the steps of w, b and alpha."""
        matrix, signs = self._task.rows.matrix, self._task.signs
        pull = signs * self._weight * reach
        right = np.empty(len(missing_w) + 1)
        right[:-1] = missing_w + _core.combine(matrix, pull)
        right[-1] = missing_b + _core.dot(pull, np.ones(len(pull))) if self.biased else 0.0
        _core.substitute(self._table, right)
        step_w, step_b = right[:-1].copy(), float(right[-1])
        return step_w, step_b, self._weight * (reach - signs * (_products(matrix, step_w) + step_b))


class _ByRows:
    """The equations in alpha and b: ``(YXX'Y + 1/T) da + y db = ...``."""

    def __init__(self, task: MarginTask, lean: float) -> None:
        self.biased = task.free or task.bias > 0
        self._task = task
        self._lean = lean
        self._gram = gram_of_rows(task)
        self._table = np.empty((0, 0))
        self._by_sign = np.empty(0)

    def factor(self, weight: Floats, look: Callable[[], None]) -> None:
        """Prepare to solve for these T."""
        self._table = self._gram.copy()
        np.einsum("ii->i", self._table)[:] += 1.0 / weight
        _core.factor(self._table, 1e-300, 1e300, look)
        self._by_sign = self._task.signs.copy()
        _core.substitute(self._table, self._by_sign)

    def solve(self, missing_w: Floats, missing_b: float, reach: Floats) -> tuple[Floats, float, Floats]:
        """Return the steps of w, b and alpha."""
        matrix, signs = self._task.rows.matrix, self._task.signs
        step_alpha = reach - signs * _products(matrix, missing_w)
        _core.substitute(self._table, step_alpha)
        step_b = 0.0
        if self.biased:
            bending = self._lean + _core.dot(signs, self._by_sign)
            step_b = (missing_b + _core.dot(signs, step_alpha)) / bending if bending > 0 else 0.0
            step_alpha = step_alpha - step_b * self._by_sign
        return missing_w + _core.combine(matrix, signs * step_alpha), step_b, step_alpha
