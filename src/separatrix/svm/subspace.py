"""A Newton step on the points between their bounds, by conjugate gradients.

Once coordinate ascent has found which points are at a bound, what is left is a system of linear equations: the free
points are to lie on their margins. Coordinate ascent solves it like Gauss and Seidel did; conjugate gradients need
far fewer passes over the free rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.svm.interior import gram_of_rows
from separatrix.svm.task import HaltedError, MarginTask

MOST_ITERATIONS = 40
MOST_EXACT = 600
_HALVINGS = 3
_REFINEMENTS = 4


def newton_step(
    task: MarginTask, alpha: Floats, weights: Floats, bias: float, halted: Callable[[], bool] = lambda: False
) -> tuple[Floats, Floats, int] | None:
    """Return a better alpha with its weights, and the numbers read for it; None if none was found."""
    free = alpha > 0.0
    if not task.squared:
        free &= alpha < task.costs
    chosen = np.flatnonzero(free)
    if len(chosen) < 2:
        return None
    part = task.part(chosen)
    matrix, signs = part.rows.matrix, part.signs
    damp = 0.5 / part.costs if task.squared else np.zeros(part.n)
    pull = task.bias**2
    old = alpha[chosen]
    slope = 1.0 - signs * (_core.decide(matrix, weights[None, :], np.array([bias]), 1)[:, 0]) - damp * old
    scale = 1.0 / np.maximum(_core.square_norms(matrix) + pull + damp, 1e-300)
    step = np.zeros(part.n)
    if task.free:
        step = -signs * (_core.dot(task.signs, alpha) / part.n)
    shift = np.zeros(len(weights))  # X'(y step)

    def curved(direction: Floats) -> tuple[Floats, Floats]:
        moved = _core.combine(matrix, signs * direction)
        bend = signs * _core.decide(matrix, moved[None, :], np.zeros(1), 1)[:, 0] + damp * direction
        if pull:
            bend += pull * _core.dot(signs, direction) * signs
        return moved, bend

    if task.free and step.any():
        shift, bend = curved(step)
        slope = slope - bend
    residual = slope
    wanted = 1e-2 * np.sqrt(_size(residual, scale, signs, balanced=task.free))
    ready = _prepared(residual, scale, signs, balanced=task.free)
    direction, energy = ready, _core.dot(residual, ready)
    used = 0
    for _ in range(MOST_ITERATIONS):
        if halted():
            raise HaltedError
        if not energy > 0.0:
            break
        moved, bend = curved(direction)
        used += 1
        bending = _core.dot(direction, bend)
        if not bending > 0.0:
            break
        length = energy / bending
        step, shift, residual = step + length * direction, shift + length * moved, residual - length * bend
        ready = _prepared(residual, scale, signs, balanced=task.free)
        energy, before = _core.dot(residual, ready), energy
        if np.sqrt(max(energy, 0.0)) <= wanted:
            break
        direction = ready + (energy / before) * direction
    upper = np.full(part.n, np.inf) if task.squared else part.costs

    def dual(at: Floats, w: Floats) -> float:
        gain = _core.dot(at, np.ones(part.n)) - 0.5 * _core.dot(at * damp, at)
        balance = _core.dot(task.signs, alpha) + _core.dot(signs, at - old)
        return gain - 0.5 * _core.dot(w, w) - (bias * balance if task.free else 0.5 * pull * balance**2)

    start = dual(old, weights)
    for halving in range(_HALVINGS + 1):
        wish = old + step * 0.5**halving
        trial = np.clip(wish, 0.0, upper)
        if np.array_equal(trial, wish):
            moved_weights = weights + shift * 0.5**halving
        else:
            moved_weights = weights + _core.combine(matrix, signs * (trial - old))
            used += 1
        if dual(trial, moved_weights) > start:
            better = alpha.copy()
            better[chosen] = trial
            return better, moved_weights, used * part.stored()
    return None


def _prepared(residual: Floats, scale: Floats, signs: Floats, *, balanced: bool) -> Floats:
    """Return the residual by the curvatures, within ``sum y step = 0`` when balanced."""
    ready = residual * scale
    if balanced:
        ready = ready - scale * signs * (_core.dot(signs, ready) / _core.dot(scale, np.ones(len(scale))))
    return ready


def _size(residual: Floats, scale: Floats, signs: Floats, *, balanced: bool) -> float:
    return max(_core.dot(residual, _prepared(residual, scale, signs, balanced=balanced)), 0.0)


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # what is not finite is no step
def exact_step(task: MarginTask, alpha: Floats) -> Floats | None:
    """Return alpha with its free points put exactly on their margins, by elimination; None where that cannot be done.

    For the few free points that the interior-point method leaves: its alpha is as good as the square root of rounding
    allows, this one as rounding itself.
    """
    free = alpha > 0.0
    if not task.squared:
        free &= alpha < task.costs
    chosen = np.flatnonzero(free)
    if not 1 <= len(chosen) <= MOST_EXACT:
        return None
    part = task.part(chosen)
    matrix, signs = part.rows.matrix, part.signs
    table = gram_of_rows(part) + task.bias**2 * np.outer(signs, signs)
    if task.squared:
        table += np.diag(0.5 / part.costs)
    largest = float(np.einsum("ii->i", table).max())
    if not largest > 0.0:
        return None
    _core.factor(table, 1e-13 * largest, 1e300)  # a point that depends on the others keeps its alpha
    along = signs.copy()
    _core.substitute(table, along)
    bending = _core.dot(signs, along)
    if task.free and not bending > 0.0:
        return None
    better, bias = alpha.copy(), 0.0
    for _ in range(_REFINEMENTS):
        balance = _core.dot(task.signs, better)
        weights = _core.combine(task.rows.matrix, task.signs * better)
        shift = bias if task.free else task.bias**2 * balance
        step = 1.0 - signs * _core.decide(matrix, weights[None, :], np.array([shift]), 1)[:, 0]
        if task.squared:
            step -= 0.5 * better[chosen] / part.costs
        _core.substitute(table, step)
        if task.free:
            change = (_core.dot(signs, step) + balance) / bending
            step, bias = step - change * along, bias + change
        better[chosen] += step
    upper = np.inf if task.squared else part.costs
    inside = better[chosen]
    if not (np.isfinite(inside).all() and (inside >= 0.0).all() and (inside <= upper).all()):
        return None
    return better
