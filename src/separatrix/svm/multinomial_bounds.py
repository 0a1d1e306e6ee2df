"""Multinomial logistic regression: the value of any weights, and a proof of how far from the optimum they can be.

The primal problem is to minimise ``|W|^2 / 2 + sum C_i (log sum_k exp(z_ik) - z_iy)``. Its dual is to maximise
``sum C_i H(a_i) - |V(a)|^2 / 2`` with ``V(a)_k = sum C_i (1[y_i = k] - a_ik) x_i`` over a_i that are probabilities of
the classes and, when the biases are free, weigh each class as much as its examples do: ``sum C_i a_ik`` is the sum of
C over the examples of class k. H is the entropy. For any such a the two values differ by ``|W - V(a)|^2 / 2`` and, for
each row, C times the divergence of a_i from the softmax p_i of its scores. These are computed, not the values
subtracted: the gap has its digits where both values agree in all of theirs.

For the same reason probabilities are kept as those of the other classes and their sum: that of the own class is 1 less
that sum, and rows that are nearly certain lose nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_real, require
from separatrix.svm.logistic import Bounded
from separatrix.svm.multinomial_task import MultinomialTask, Part

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


class Probabilities(NamedTuple):
    """Probabilities of the classes: those of the other classes (0 for the own), and their sum."""

    others: Floats  # (classes, examples)
    wrong: Floats
    right: Floats

    def of(self, part: Part) -> Floats:
        """Return the probabilities of a block, that of the own class in its place."""
        block = self.others[:, part.where].copy()
        block[part.codes, part.places] = self.right[part.where]
        return block


class Point(NamedTuple):
    """Weights and offsets, and what follows from them."""

    weights: Floats
    offsets: Floats
    scores: Floats
    own: Probabilities
    gradient: Floats
    slopes: Floats  # of the offsets
    coupling: Floats  # sum C (diag(p) - p p')
    solution: MultinomialSolution


def softmax(scores: Floats, codes: NDArray[np.intp], places: NDArray[np.intp]) -> tuple[Floats, Floats, Floats]:
    """Turn a block of scores into multiples of the other classes' probabilities, in place.

    Returns the loss of each example, the sum of the multiples, and the own class's.

    Examples
    --------
    >>> block = np.array([[0.0], [0.0], [-800.0]])
    >>> loss, others, own = softmax(block, np.array([0]), np.array([0]))
    >>> loss.round(6).tolist(), (block / (others + own)).tolist()
    ([0.693147], [[0.0], [0.5], [0.0]])
    """
    scores -= scores[codes, places]
    top = scores.max(axis=0)
    scores -= top
    np.exp(scores, out=scores)
    scores[codes, places] = 0.0
    others = scores.sum(axis=0)
    return top + np.log1p(others + np.expm1(-top)), others, np.exp(-top)


def loss_of(task: MultinomialTask, scores: Floats, along: Floats | None = None, length: float = 0.0) -> float:
    """Return the sum of C times the losses, of these scores or of a step of them."""
    total = 0.0
    for part in task.parts:
        block = scores[:, part.where] + (0.0 if along is None else length * along[:, part.where])
        total += float(task.costs[part.where] @ softmax(block, part.codes, part.places)[0])
    return total


def measure(task: MultinomialTask, weights: Floats, offsets: Floats | None = None) -> MultinomialSolution:
    """Return the solution with these weights, each number computed from the data; biases are moved where far off."""
    return point_at(task, weights, first_offsets(task) if offsets is None else offsets).solution


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
    guess: Probabilities | None = None,
    tol: float = 0.0,
) -> Point:
    """Return the point with these weights; its gap is that of the guessed dual point where that is smaller.

    The guess is looked at if the weights' own probabilities do not prove a relative gap of ``tol``.
    """
    scores = task.scores(weights, offsets)
    value, own = _probabilities(task, scores)
    coupling = coupled(task, own)
    excess = _excess(task, own)
    if task.free:
        for _ in range(_SETTLINGS):
            shift = _repair_step(coupling, excess)
            reach = float(np.ptp(shift)) if shift is not None else 0.0
            if shift is None or reach <= _SETTLED:
                break
            shift *= math.log1p(reach) / reach  # which cannot overshoot: the loss is self-concordant
            after = offsets + shift - shift.mean()
            moved = task.scores(weights, after)
            lower, there = _probabilities(task, moved)
            if not lower < value:
                break
            offsets, scores, value, own = after, moved, lower, there
            coupling, excess = coupled(task, own), _excess(task, own)
    across, sums = task.pulled(_residuals(task, own))
    gradient, slopes = weights + across, task.penalty * offsets + task.step * sums
    square = float(np.vdot(gradient, gradient))
    primal = 0.5 * (float(np.vdot(weights, weights)) + task.penalty * float(offsets @ offsets)) + value
    gap, left = _own_gap(task, weights, offsets, scores, own, coupling, excess, square, slopes)
    wrong = own.wrong
    if guess is not None and gap > tol * primal:
        guessed, still = _guessed_gap(task, weights, offsets, own, guess, min(gap, tol * primal))
        if guessed < gap:
            gap, left, wrong = guessed, still, np.maximum(wrong, guess.wrong)
    rounding = _rounding(task, weights, offsets, wrong, primal, math.sqrt(2.0 * gap), left)
    least = 1e-16 * task.total
    bias = offsets - weights @ task.centre if task.free else task.step * offsets
    if task.free:
        bias = bias - bias.mean()
    solution = MultinomialSolution(weights, bias, primal, gap, rounding, least)
    return Point(weights, offsets, scores, own, gradient, slopes, coupling, solution)


def _probabilities(task: MultinomialTask, scores: Floats) -> tuple[float, Probabilities]:
    """Return the sum of C times the losses, and the softmax of all scores."""
    others, wrong, right = np.empty_like(scores), np.empty(task.n), np.empty(task.n)
    value = 0.0
    for part in task.parts:
        block = scores[:, part.where].copy()
        losses, tail, own = softmax(block, part.codes, part.places)
        value += float(task.costs[part.where] @ losses)
        whole = tail + own
        np.divide(block, whole, out=others[:, part.where])
        wrong[part.where], right[part.where] = tail / whole, own / whole
    return value, Probabilities(others, wrong, right)


def _residuals(task: MultinomialTask, dual: Probabilities) -> Iterator[tuple[Part, Floats]]:
    """Yield ``C (a - 1[y = k])`` block by block."""
    for part in task.parts:
        block = dual.others[:, part.where].copy()
        block[part.codes, part.places] = -dual.wrong[part.where]
        block *= task.costs[part.where]
        yield part, block


def coupled(task: MultinomialTask, dual: Probabilities) -> Floats:
    """Return ``sum C (diag(a) - a a')``: how the sums of the probabilities move with the offsets.

    Its rows add up to 0, which gives the diagonal more exactly than its definition.
    """
    table = np.zeros((task.n_classes, task.n_classes))
    for part in task.parts:
        block = dual.of(part)
        table -= (block * task.costs[part.where]) @ block.T
    np.fill_diagonal(table, 0.0)
    np.fill_diagonal(table, -table.sum(axis=1))
    return table


def _excess(task: MultinomialTask, dual: Probabilities) -> Floats:
    """Return by how much the examples of each class count more than their probabilities do."""
    own = np.bincount(task.codes, task.costs * dual.wrong, task.n_classes)
    return np.asarray(own - dual.others @ task.costs)


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
    scores: Floats,
    own: Probabilities,
    coupling: Floats,
    excess: Floats,
    square: float,
    slopes: Floats,
) -> tuple[float, float]:
    """Return the gap that the weights' own probabilities prove, and by how much these are still out of balance."""
    if not task.free:
        return 0.5 * (square + float(slopes @ slopes)), 0.0
    left = float(np.abs(excess).sum())
    if left <= _negligible(task):
        return 0.5 * square, left
    dual, left = _balanced(task, own, coupling, excess)
    if left <= 1e3 * _negligible(task):
        apart = divergence(task, dual, own)
        if math.isfinite(apart):
            return apart + _distance(task, weights, offsets, dual), left
    dual, apart = _mixed(task, scores, own)
    left = float(np.abs(_excess(task, dual)).sum())
    return apart + _distance(task, weights, offsets, dual), left


def _guessed_gap(
    task: MultinomialTask, weights: Floats, offsets: Floats, own: Probabilities, guess: Probabilities, limit: float
) -> tuple[float, float]:
    """Return the gap that other probabilities prove, infinity if it is above the limit."""
    left = 0.0
    if task.free:
        excess = _excess(task, guess)
        left = float(np.abs(excess).sum())
        if left > _negligible(task):
            guess, left = _balanced(task, guess, coupled(task, guess), excess)
            if left > 1e3 * _negligible(task):
                return math.inf, left
    apart = divergence(task, guess, own)
    if not apart <= limit:
        return math.inf, left
    return apart + _distance(task, weights, offsets, guess), left


def _negligible(task: MultinomialTask) -> float:
    return _UNIT * math.sqrt(task.n) * task.total


def _distance(task: MultinomialTask, weights: Floats, offsets: Floats, dual: Probabilities) -> float:
    """Return half the squared distance of weights, and penalised biases, from those that belong to a dual point."""
    across, sums = task.pulled(_residuals(task, dual))
    across += weights
    gap = 0.5 * float(np.vdot(across, across))
    if not task.free and task.step:
        gap += 0.5 * float(np.square(offsets + task.step * sums).sum())
    return gap


def _balanced(
    task: MultinomialTask, dual: Probabilities, coupling: Floats, excess: Floats
) -> tuple[Probabilities, float]:
    """Move probability within the rows so that each class weighs what its examples do; return what is left of that.

    A row moves ``a_k (u_k - a.u)``, which keeps its sum, and its signs where u spans at most 1.
    """
    left = float(np.abs(excess).sum())
    for attempt in range(_REPAIRS):
        if attempt:
            coupling = coupled(task, dual)
        shift = _repair_step(coupling, excess)
        if shift is None or float(np.ptp(shift)) > 1.0:
            break
        moved = shifted(task, dual, shift)
        excess = _excess(task, moved)
        after = float(np.abs(excess).sum())
        if not after < left:
            break
        dual, left = moved, after
        if left <= _negligible(task):
            break
    return dual, left


def shifted(task: MultinomialTask, dual: Probabilities, steps: Floats) -> Probabilities:
    """Return the probabilities after a step of the scores (by class, or by class and example), as if linear in them.

    What would be negative, or above 1, is cut off.
    """
    others, wrong = np.empty_like(dual.others), np.empty(task.n)
    for part in task.parts:
        block = steps[:, part.where] if steps.ndim > 1 else steps[:, None]
        block = block - (block[part.codes, part.places] if steps.ndim > 1 else steps[part.codes])
        old = dual.others[:, part.where]
        block -= np.einsum("ki,ki->i", old, block)
        block += 1.0
        np.maximum(block, 1e-12, out=block)
        block *= old
        total = block.sum(axis=0)
        block /= np.maximum(total, 1.0)
        others[:, part.where], wrong[part.where] = block, np.minimum(total, 1.0)
    return Probabilities(others, wrong, 1.0 - wrong)


def divergence(task: MultinomialTask, dual: Probabilities, own: Probabilities) -> float:
    """Return the sum of C times the divergences of ``dual`` from ``own``, infinity where digits would not do."""
    total = 0.0
    for part in task.parts:
        old, new = own.others[:, part.where], dual.others[:, part.where]
        right, wrong = own.right[part.where], own.wrong[part.where]
        if ((old < _TINY) & (new > 1e10 * _TINY)).any() or right.min() < _TINY:
            return math.inf
        rows = _terms(new / np.maximum(old, _TINY) - 1.0, old).sum(axis=0)
        rows += _terms((wrong - dual.wrong[part.where]) / right, right)
        total += float(task.costs[part.where] @ rows)
    return max(total, 0.0)


def _terms(change: Floats, old: Floats) -> Floats:
    """Return ``p ((1 + t) log(1 + t) - t)``."""
    change = np.maximum(change, _UNIT - 1.0)
    return np.asarray(old * ((1.0 + change) * np.log1p(change) - change))


def _mixed(task: MultinomialTask, scores: Floats, own: Probabilities) -> tuple[Probabilities, float]:
    """Mix the probabilities with as much of one distribution for all rows as balances the classes.

    Returns them and their divergence, with the logarithms of probabilities that may be too small for numbers.
    """
    totals = class_totals(task)
    sums = totals - _excess(task, own)
    part_of = min(max(1.0 - float((totals / np.maximum(sums, 1e-300)).min()), _UNIT), 1.0)
    common = np.maximum(totals - (1.0 - part_of) * sums, 0.0)
    common /= common.sum()
    others, wrong, apart = np.empty_like(own.others), np.empty(task.n), 0.0
    for part in task.parts:
        block = (1.0 - part_of) * own.of(part) + part_of * common[:, None]
        logs = scores[:, part.where]
        logs = logs - logs[part.codes, part.places]
        losses = softmax(logs.copy(), part.codes, part.places)[0]
        rows = (block * (np.log(np.maximum(block, _TINY)) - logs + losses)).sum(axis=0)
        apart += float(task.costs[part.where] @ rows)
        block[part.codes, part.places] = 0.0
        others[:, part.where], wrong[part.where] = block, block.sum(axis=0)
    return Probabilities(others, wrong, 1.0 - wrong), max(apart, 0.0)


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
    if not task.free:
        return point.own
    return _balanced(task, point.own, point.coupling, _excess(task, point.own))[0]
