"""Multinomial logistic regression: the value of any weights, and a proof of how far from the optimum they can be.

The primal problem is to minimise ``|W|^2 / 2 + sum C_i (log sum_k exp(z_ik) - z_iy)``. Its dual is to maximise
``sum C_i H(a_i) - |V(a)|^2 / 2`` with ``V(a)_k = sum C_i (1[y_i = k] - a_ik) x_i`` over a_i that are probabilities of
the classes and, when the biases are free, weigh each class as much as its examples do: ``sum C_i a_ik`` is the sum of
C over the examples of class k. H is the entropy. For any such a the two values differ by ``|W - V(a)|^2 / 2`` and, for
each row, C times the divergence of a_i from the softmax p_i of its scores. These are computed, not the values
subtracted: the gap has its digits where both values agree in all of theirs.

For the same reason probabilities are kept with the sum of those of the other classes: that of the own class is 1 less
that sum, and rows that are nearly certain lose nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_real, require
from separatrix.svm.logistic import Bounded
from separatrix.svm.multinomial_task import Look, Losses, MultinomialTask, Probabilities

_UNIT = float(np.finfo(np.float64).eps)
_TINY = 1e-290
_REPAIRS = 3
_SETTLINGS = 20  # steps of the offsets alone
_SETTLED = 0.5  # a step of the offsets that is short enough to be left to the weights


@dataclass(frozen=True, eq=False)
class MultinomialSolution(Bounded):
    """Weights and biases of each class, their value, and how far from the optimum they can be at most.

    ``rounding`` bounds what rounding can have added to the value and taken from the gap; ``least`` is the value below
    which differences do not count.
    """

    weights: Floats
    bias: Floats
    primal: float
    gap: float
    rounding: float
    least: float

    def validate(self) -> None:
        """Refuse parts that do not fit together."""
        fits = is_array(self.weights, "f8", (None, None), finite=True)
        fits = fits and is_array(self.bias, "f8", (len(self.weights),), finite=True)
        numbers = (self.primal, self.gap, self.rounding, self.least)
        require(fits and all(is_real(value) for value in numbers), "a solution is damaged")


class Point(NamedTuple):
    """Weights and offsets, and what follows from them."""

    weights: Floats
    offsets: Floats
    own: Probabilities
    gradient: Floats
    slopes: Floats  # of the offsets
    solution: MultinomialSolution


class Guess(NamedTuple):
    """Probabilities that may prove more than those of the weights, once they have made a step; the table is changed."""

    dual: Probabilities
    step: Floats
    moves: Floats  # of the offsets
    square: float  # the squared length of the gradient after the step, if probabilities were linear in the scores


def measure(task: MultinomialTask, weights: Floats, offsets: Floats | None = None) -> MultinomialSolution:
    """Return the solution with these weights, each number computed from the data; biases are moved where far off."""
    return point_at(task, weights, first_offsets(task) if offsets is None else offsets).solution


def nothing(task: MultinomialTask) -> MultinomialSolution:
    """Return the solution without weights, its value and its proof taken from the sizes of the classes alone.

    Probabilities of 1 for every row's own class are a dual point, of the value 0.
    """
    offsets = first_offsets(task)
    scores = task.step * offsets
    losses = np.log(np.exp(scores - scores.max()).sum()) + scores.max() - scores
    value = 0.5 * task.penalty * float(offsets @ offsets) + float(class_totals(task) @ losses)
    rounding = 4.0 * (task.n + 16) * _UNIT * value
    weights = np.zeros((task.n_classes, task.rows.shape[1]))
    return MultinomialSolution(weights, scores, value, value, rounding, 1e-16 * task.total)


def first_offsets(task: MultinomialTask) -> Floats:
    """Return the best offsets for weights of 0, where they are free: the logarithms of the classes' parts."""
    if not task.free:
        return np.zeros(task.n_classes)
    parts = np.log(class_totals(task) / task.total)
    return np.asarray(parts - parts.mean())


def class_totals(task: MultinomialTask) -> Floats:
    """Return what the examples of each class count."""
    return np.asarray(np.bincount(task.codes, task.costs, task.n_classes), dtype=np.float64)


def point_at(
    task: MultinomialTask,
    weights: Floats,
    offsets: Floats,
    seen: Losses | None = None,
    guess: Guess | None = None,
    tol: float = 0.0,
    look: Look = None,
) -> Point:
    """Return the point with these weights; its gap is that of the guessed dual point where that is smaller.

    ``seen`` are the losses there, if they are known. The guess is looked at if the weights' own probabilities do not
    prove a relative gap of ``tol``.
    """
    seen = task.losses(weights, offsets, task.room(), look) if seen is None else seen
    coupling = None
    if task.free:
        offsets, seen, coupling = _settled(task, weights, offsets, seen, look)
    gradient, slopes = weights + seen.across, task.penalty * offsets + task.step * seen.sums
    square = float(np.vdot(gradient, gradient))
    primal = 0.5 * (float(np.vdot(weights, weights)) + task.penalty * float(offsets @ offsets)) + seen.value
    gap, left, wrong = math.inf, 0.0, seen.own.wrong
    if guess is not None and 0.5 * guess.square <= tol * primal < 0.5 * square:
        task.shifted(guess.dual, guess.step, task.shift(guess.step, guess.moves), look)
        gap, left = _guessed_gap(task, weights, offsets, seen.own, guess.dual, tol * primal, look)
        wrong = np.maximum(wrong, guess.dual.wrong)
    if not gap <= tol * primal:
        spare = None if guess is None else guess.dual
        gap, left = _own_gap(task, weights, offsets, seen, coupling, square, slopes, spare, look)
        wrong = seen.own.wrong
    gap = primal if gap > primal else gap  # no value is below 0
    rounding = _rounding(task, weights, offsets, wrong, primal, math.sqrt(2.0 * gap), left)
    least = 1e-16 * task.total
    bias = offsets - weights @ task.centre if task.free else task.step * offsets
    if task.free:
        bias = bias - bias.mean()
    solution = MultinomialSolution(weights, bias, primal, gap, rounding, least)
    return Point(weights, offsets, seen.own, gradient, slopes, solution)


def _settled(
    task: MultinomialTask, weights: Floats, offsets: Floats, seen: Losses, look: Look
) -> tuple[Floats, Losses, Floats]:
    """Move free offsets while they are far from the best for these weights; return how the classes are coupled too."""
    spare: Probabilities | None = None
    coupling = coupled(task, seen.own)
    for _ in range(_SETTLINGS):
        shift = _repair_step(coupling, -seen.sums)
        reach = float(np.ptp(shift)) if shift is not None else 0.0
        if shift is None or reach <= _SETTLED:
            break
        shift *= math.log1p(reach) / reach  # which cannot overshoot: the loss is self-concordant
        after = offsets + shift - shift.mean()
        there = task.losses(weights, after, task.room() if spare is None else spare, look)
        if not there.value < seen.value:
            break
        offsets, seen, spare = after, there, seen.own
        coupling = coupled(task, seen.own)
    return offsets, seen, coupling


def coupled(task: MultinomialTask, dual: Probabilities, every: int = 1) -> Floats:
    """Return ``sum C (diag(a) - a a')``: how the sums of the probabilities move with the offsets.

    Its rows add up to 0, which gives the diagonal more exactly than its definition. One row of so many is looked at.
    """
    costs = np.ascontiguousarray(task.costs[::every])
    lower = np.tril(_core.gram(_core.dense(np.ascontiguousarray(dual.table[:, ::every].T)), costs)[:-1, :-1], -1)
    table = -(lower + lower.T)
    np.fill_diagonal(table, -table.sum(axis=1))
    return table


def _repair_step(coupling: Floats, excess: Floats) -> Floats | None:
    """Return the step of the offsets that would remove the excess if probabilities were linear in them."""
    diagonal = coupling.diagonal()
    kept = np.arange(len(diagonal)) != int(np.argmax(diagonal))  # the offsets matter up to a constant
    if not diagonal.min() > 0:
        return None
    scale = 1.0 / np.sqrt(diagonal[kept])
    try:
        short = np.linalg.solve(coupling[np.ix_(kept, kept)] * np.multiply.outer(scale, scale), scale * excess[kept])
    except np.linalg.LinAlgError:
        return None
    shift = np.zeros(len(diagonal))
    shift[kept] = scale * short
    return shift if np.isfinite(shift).all() else None


def _own_gap(
    task: MultinomialTask,
    weights: Floats,
    offsets: Floats,
    seen: Losses,
    coupling: Floats | None,
    square: float,
    slopes: Floats,
    spare: Probabilities | None,
    look: Look,
) -> tuple[float, float]:
    """Return the gap that the weights' own probabilities prove, and by how much these are still out of balance."""
    if not task.free:
        return 0.5 * (square + float(slopes @ slopes)), 0.0
    left = float(np.abs(seen.sums).sum())
    if left <= _negligible(task):
        return 0.5 * square, left
    dual = seen.own.copied(task.room() if spare is None else spare)
    across, left = _balanced(task, dual, coupling, -seen.sums, look)
    if left <= 1e3 * _negligible(task):
        apart = task.divergence(dual, seen.own, look)
        if math.isfinite(apart):
            return apart + _distance(task, weights, offsets, (across, np.zeros(0))), left
    dual, apart = _mixed(task, weights, offsets, seen, dual)
    across, sums = task.pulled(dual, look)
    return apart + _distance(task, weights, offsets, (across, sums)), float(np.abs(sums).sum())


def _guessed_gap(
    task: MultinomialTask,
    weights: Floats,
    offsets: Floats,
    own: Probabilities,
    guess: Probabilities,
    limit: float,
    look: Look,
) -> tuple[float, float]:
    """Return the gap that other probabilities prove, infinity if it is above the limit; these may be changed."""
    left, pulls = 0.0, None
    if task.free:
        pulls = task.pulled(guess, look)
        left = float(np.abs(pulls[1]).sum())
        if left > _negligible(task):
            across, left = _balanced(task, guess, None, -pulls[1], look)
            pulls = across, pulls[1]
            if left > 1e3 * _negligible(task):
                return math.inf, left
    apart = task.divergence(guess, own, look)
    if not apart <= limit:
        return math.inf, left
    return apart + _distance(task, weights, offsets, task.pulled(guess, look) if pulls is None else pulls), left


def _negligible(task: MultinomialTask) -> float:
    return _UNIT * math.sqrt(task.n) * task.total


def _distance(task: MultinomialTask, weights: Floats, offsets: Floats, pulls: tuple[Floats, Floats]) -> float:
    """Return half the squared distance of weights, and penalised biases, from those that belong to a dual point."""
    across = pulls[0] + weights
    gap = 0.5 * float(np.vdot(across, across))
    if not task.free and task.step:
        gap += 0.5 * float(np.square(offsets + task.step * pulls[1]).sum())
    return gap


def _balanced(
    task: MultinomialTask, dual: Probabilities, coupling: Floats | None, excess: Floats, look: Look
) -> tuple[Floats, float]:
    """Move probability within the rows so that each class weighs what its examples do.

    A row moves ``a_k (u_k - a.u)``, which keeps its sum, and its signs where u spans at most 1. Returns the pulls of
    what that ends with, and how much is left of the excess.
    """
    across, left = np.zeros(0), math.inf
    for _ in range(_REPAIRS):
        shift = _repair_step(coupled(task, dual) if coupling is None else coupling, excess)
        coupling = None
        if shift is None or float(np.ptp(shift)) > 1.0:
            break
        task.shifted(dual, None, shift, look)
        across, sums = task.pulled(dual, look)
        excess, before = -sums, left
        left = float(np.abs(excess).sum())
        if left <= _negligible(task) or not left < before:
            break
    if not len(across):
        across, sums = task.pulled(dual, look)
        left = float(np.abs(sums).sum())
    return across, left


def _mixed(
    task: MultinomialTask, weights: Floats, offsets: Floats, seen: Losses, dual: Probabilities
) -> tuple[Probabilities, float]:
    """Mix the probabilities with as much of one distribution for all rows as balances the classes.

    Returns them and their divergence, with the logarithms of probabilities that may be too small for numbers.
    """
    totals, each = class_totals(task), np.arange(task.n)
    sums = totals + seen.sums
    part_of = min(max(1.0 - float((totals / np.maximum(sums, 1e-300)).min()), _UNIT), 1.0)
    common = np.maximum(totals - (1.0 - part_of) * sums, 0.0)
    common /= common.sum()
    np.multiply(seen.own.table, 1.0 - part_of, out=dual.table)
    dual.table[:] += part_of * common[:, None]
    logs = _core.decide(task.rows.matrix, weights, task.shift(weights, offsets), 1).T
    top = logs.max(axis=0)
    logs = logs - (top + np.log(np.exp(logs - top).sum(axis=0)))
    apart = float((dual.table * (np.log(np.maximum(dual.table, _TINY)) - logs)).sum(axis=0) @ task.costs)
    dual.wrong[:] = np.minimum(dual.table.sum(axis=0) - dual.table[task.codes, each], 1.0)
    dual.table[task.codes, each] = 1.0 - dual.wrong
    return dual, max(apart, 0.0)


def _rounding(
    task: MultinomialTask,
    weights: Floats,
    offsets: Floats,
    wrong: Floats,
    primal: float,
    gradient: float,
    left: float,
) -> float:
    """Return a bound on what rounding can have changed of the value and of the gap.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1). The value feels an error of the scores with the slope C (1 - p); the
    gradient is off by n units of ``sum C (1 - p) |x|``; probabilities that belong to slightly other scores cost the
    dual the square of that; what is left out of balance is repaired at the price of the offsets and of the gradient
    along a row. ``wrong`` bounds 1 - p of the solution and of the dual point, ``gradient`` the length of the difference
    of the weights and those that belong to the dual point.
    """
    n, d = task.rows.shape
    norms, shift = np.sqrt(np.einsum("kj,kj->k", weights, weights)), task.step * np.abs(offsets)
    off = (
        (d + task.n_classes + 4) * _UNIT * (1.0 + float(shift.max()) + float(norms.max()) * task.lengths)
    )  # of a score
    alpha = task.costs * wrong
    value = 2.0 * float((alpha + task.costs * off) @ off) + (n + 16) * _UNIT * primal
    sums = (n + 4) * _UNIT * (2.0 * float(alpha @ task.lengths) + float(np.linalg.norm(norms + shift)))
    pair = 2.0 * float(task.costs @ np.square(off + 8 * _UNIT))
    balance = 0.0
    if task.step:
        reach = float(np.abs(task.step * offsets).max()) + task.step + (gradient + sums) * float(task.lengths.max())
        balance = ((n + 4) * _UNIT * task.step * 2.0 * float(alpha.sum()) + left) * reach
    return 2.0 * (value + (gradient + sums) * sums + pair + balance)


def balanced_dual(task: MultinomialTask, point: Point) -> Probabilities:
    """Return the probabilities of a point, moved so that each class weighs what its examples do as far as that goes."""
    if task.free:
        _balanced(task, point.own, None, -point.slopes, None)
    return point.own
