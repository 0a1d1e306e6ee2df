"""A smooth loss with an L1 or elastic-net penalty: one task, and the measure of any solution of it.

The primal problem is to minimise ``sum C_i loss(m_i) + (1 - r) |w|^2 / 2 + r |w|_1`` with ``m_i = y_i (w.x_i + b)``, r
being ``l1_ratio`` and the loss ``log(1 + exp(-m))`` or ``max(0, 1 - m)^2``. Its dual is to maximise ``sum C_i
H(alpha_i / C_i)`` with the entropy H, or ``sum alpha - alpha^2 / (4 C)``, minus
``sum_j max(|z_j| - r, 0)^2 / (2 (1 - r))`` with ``z = sum alpha y x``; for r = 1 every ``|z_j|`` must be at most 1
instead. A free bias asks for ``sum alpha y = 0``; a penalised one is the weight of one more feature.

Any alpha is made to fit by scaling: of the heavier class down, then of all. The gap is a sum of terms, one for each row
and feature, none of them negative: the two values are not subtracted.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_array, is_real, require
from separatrix.svm.logistic import Bounded
from separatrix.svm.smooth import products
from separatrix.svm.task import BLOCK

_UNIT = float(np.finfo(np.float64).eps)
_DOUBTFUL = 1e-4  # part of the penalty; sums that could be off by more are computed precisely


@dataclass(frozen=True, eq=False)
class SparseTask:
    """One binary task: rows, signs (+1, -1), what the loss of each row counts, the loss, the penalty, the kind of bias.

    ``bias`` is the constant K of a penalised bias coordinate, 0 for none; ``free`` is the bias that costs nothing.
    ``known_squares`` are the rows' squared lengths, if they have been computed already.
    """

    rows: Rows
    signs: Floats
    costs: Floats
    l1_ratio: float = 1.0
    squared: bool = False
    bias: float = 0.0
    free: bool = False
    known_squares: Floats | None = None

    @property
    def n(self) -> int:
        """How many examples there are."""
        return len(self.signs)

    @property
    def width(self) -> int:
        """How many weights are penalised: the features', and the bias's if it is one of them."""
        return self.rows.shape[1] + (self.bias > 0)

    @property
    def ridge(self) -> float:
        """The factor of ``|w|^2 / 2``."""
        return 1.0 - self.l1_ratio

    @cached_property
    def lengths(self) -> Floats:
        """``|x|`` of every row, the bias coordinate included."""
        squares = _core.square_norms(self.rows.matrix) if self.known_squares is None else self.known_squares
        return np.sqrt(squares + self.bias**2)

    @cached_property
    def positive(self) -> Floats:
        """1 for the positive rows, else 0."""
        return np.where(self.signs > 0, 1.0, 0.0)

    @property
    def negative(self) -> Floats:
        """1 for the negative rows, else 0."""
        return 1.0 - self.positive

    @cached_property
    def everything(self) -> float:
        """What all losses count together."""
        return _core.dot(self.costs, np.ones(self.n))

    @cached_property
    def spread(self) -> Floats:
        """``sum C x^2`` of every penalised weight's feature."""
        sums = _core.spread(self.rows.matrix, self.costs)
        return np.append(sums, self.bias**2 * self.everything) if self.bias else sums

    @property
    def sparse(self) -> bool:
        """Whether the rows are sparse."""
        return is_sparse(self.rows.values)

    @cached_property
    def row_squares(self) -> float:
        """The sum over sparse rows of the square of how many numbers each holds."""
        counts = np.diff(self.rows.values.indptr).astype(np.float64)
        return _core.dot(counts, counts)

    def stored(self) -> int:
        """Return how many numbers the rows hold."""
        values = self.rows.values
        return int(values.nnz) if is_sparse(values) else int(values.size)

    def scores(self, weights: Floats) -> Floats:
        """Return ``w.x`` of every row, the penalised bias included."""
        d = self.rows.shape[1]
        if not weights.any():
            return np.zeros(self.n)
        scores = products(self.rows.matrix, np.ascontiguousarray(weights[:d]))
        return scores + self.bias * weights[d] if self.bias else scores

    def pulls(self, alpha: Floats, *, precisely: bool = False) -> Floats:
        """Return z, ``sum alpha y x`` of every penalised weight's feature; precisely: as if rounded once."""
        signed = self.signs * alpha
        sums = (_core.combine_precisely if precisely else _core.combine)(self.rows.matrix, signed)
        if not self.bias:
            return sums
        return np.append(sums, self.bias * (math.fsum(signed) if precisely else _core.dot(self.signs, alpha)))

    def split(self, weights: Floats, bias: float) -> tuple[Floats, float]:
        """Return the features' weights, and the bias whichever kind it is of."""
        d = self.rows.shape[1]
        return weights[:d].copy(), float(self.bias * weights[d]) if self.bias else bias


@dataclass(frozen=True, eq=False)
class SparseSolution(Bounded):
    """Weights and bias, their value, and how far from the optimum they can be at most.

    ``alpha`` are the dual weights that prove it; ``rounding`` bounds what rounding can have added to the value and
    taken from the gap; ``least`` is the value below which differences do not count.
    """

    weights: Floats
    bias: float
    alpha: Floats
    primal: float
    gap: float
    rounding: float
    least: float

    @property
    def support(self) -> int:
        """How many weights are not zero."""
        return int(np.count_nonzero(self.weights))

    def validate(self) -> None:
        """Refuse parts that do not fit together."""
        fits = is_array(self.weights, "f8", (None,), finite=True) and is_array(self.alpha, "f8", (None,), finite=True)
        numbers = (self.bias, self.primal, self.gap, self.rounding, self.least)
        require(fits and all(is_real(value) for value in numbers), "a solution is damaged")


class DualPoint(NamedTuple):
    """Dual weights, the factor that makes them fit, and what they prove."""

    alpha: Floats  # balanced, not yet scaled
    pulls: Floats  # z of these
    scale: float  # that makes them fit
    gap: float
    reach: float
    doubt: float  # how far a pull can be from what was computed


def dual_point(
    task: SparseTask, weights: Floats, bias: float, scores: Floats, alpha: Floats
) -> tuple[DualPoint, float]:
    """Return what alpha proves about these weights, and the penalty that the weights pay."""
    low = high = 1.0
    if task.free:
        sums = _core.dot(task.negative, alpha), _core.dot(task.positive, alpha)
        if not min(sums) > 0.0:
            alpha = np.zeros(task.n)
        elif sums[0] > sums[1]:
            low = sums[1] / sums[0]
        else:
            high = sums[0] / sums[1]
        if low < 1.0 or high < 1.0:
            alpha = alpha * np.where(task.signs > 0, high, low)
    total = _core.dot(alpha, task.lengths)
    doubt = 2.0 * (task.n + 4) * _UNIT * total
    precisely = doubt > _DOUBTFUL * task.l1_ratio
    pulls = task.pulls(alpha, precisely=precisely)
    if precisely:
        doubt = 2.0 * _UNIT * (_core.largest(pulls) + 2.0 * (task.n + 4) ** 2 * _UNIT * total)
    largest = _core.largest(pulls) + doubt
    scales = [1.0] if task.ridge > 0.0 else []
    if largest > task.l1_ratio:
        scales += [task.l1_ratio / largest]
    best = None
    for scale in scales or [1.0]:
        across, penalty, reach = _core.penalty_gap(weights, pulls, scale, task.ridge, task.l1_ratio)
        rows = _core.apart(task.squared, scores, bias, task.signs, task.costs, alpha, scale)
        gap = across + rows
        if best is None or gap < best.gap:
            best = DualPoint(alpha, pulls, scale, gap, reach, scale * doubt)
    assert best is not None
    return best, penalty


def rounding(task: SparseTask, weights: Floats, bias: float, point: DualPoint, primal: float, scores: Floats) -> float:
    """Return a bound on what rounding can have changed of the value and of the gap.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1). The value feels an error of a margin with the slope of the loss; the gap
    with alpha, and an error of z with the weights on both sides; classes whose alpha differ by n units are balanced at
    the price of their margins.
    """
    n, d = task.rows.shape
    norm = math.sqrt(_core.dot(weights, weights))
    shifted = balance = 0.0
    for first in range(0, n, BLOCK):
        some = slice(first, first + BLOCK)
        alpha, costs = point.scale * point.alpha[some], task.costs[some]
        off = (d + 4) * _UNIT * (1.0 + abs(bias) + norm * task.lengths[some])
        margins = task.signs[some] * (scores[some] + bias)
        slopes = 2.0 * costs * np.maximum(1.0 - margins + off, 0.0) if task.squared else costs
        shifted += _core.dot(2.0 * slopes + alpha + 2.0 * costs * off, off)
        if task.free:
            balance += 2.0 * (n + 4) * _UNIT * _core.dot(alpha, 40.0 + abs(bias) + np.abs(margins))
    sums = (n + task.width + 32) * _UNIT * (primal + point.gap)
    size = _core.dot(np.abs(weights), np.ones(len(weights)))
    pulls = point.doubt * (size + point.reach)
    if task.ridge > 0.0:
        pulls += task.width * point.doubt**2 / (2.0 * task.ridge)
    return 2.0 * (shifted + sums + pulls + balance)
