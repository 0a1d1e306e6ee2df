"""The optima of a hinge problem along C, in pieces on each of which they are linear in C: followed, and proved.

The core follows the path of the solutions (``_core.HingePath``): while the rows inside the margin, on it and beyond it
stay the same, dual weights and intercept are linear in C. It may be off by rounding, or by more; what it says is not
taken on trust. The proof is that of ``optimum_segment``, for many pieces in one table:

*The ball.* Between the ends of a piece, weights w, intercept b and dual weights alpha are linear in C. A row's Fenchel
gap is ``(C s - alpha) (1 - m)+ + alpha (m - 1)+``, products of two functions of which each is at most as large as at
one of the ends. With their sum eps and ``u = sum alpha y x``, ::

    |w* - w|^2 <= eps + doubt |w* - w| + imbalance |b* - b|,

where ``doubt`` bounds ``|w - u|``, its rounding included, and ``imbalance`` what ``sum alpha y`` is beside 0. An
optimal intercept lies between the outermost knots ``y - w*.x``, so that ``|b* - b|`` is at most ``max |1 - m|`` and
what the scores may move; once its range is known (below), at most that.

*The free intercept.* Let t be the radius, and r_i the length of row i from a centre; intercepts are about it. At
``b + f`` only positive rows with ``m_i + f - r_i t < 1`` can pull the intercept up, and negative ones with ``m_i - f +
r_i t < 1`` surely pull it down. Where the latter count more, the best intercept is below; likewise on the other side.
It is enough if the rows on the margin count something and f is a little more than t times their lengths. Where that
does not do, the intercept's range is looked for (``bias_range``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.svm.bias_range import bias_range
from separatrix.svm.optimum_ball import Problem

_UNIT = float(np.finfo(np.float64).eps)
_MOST_FEATURES = 400
_TOGETHER = 1 << 18  # numbers in a table of dual weights
_PARTS = (0.25, 0.75, 1.0)  # of the rows, whose lengths are tried for that of those on the margin
_BLOCK = 64  # rows whose dual weights are added up before others are
_PIECES = 30  # for each row, at most
_MOST_PIECES = 100_000  # in all: as long as some dozens of fits to many rows


class Pieces(NamedTuple):
    """Pieces of the path: what the solutions are at their ends, and how far the optimum is from them at most."""

    C: Floats  # of the ends, ascending
    weights: Floats  # a row for each end
    bias: Floats
    radius: Floats  # of each piece, in weights
    shift: Floats  # and how far the intercept about the centre can be


class HingePieces:
    """The path of one problem from a solution, followed on demand.

    ``centre`` is what intercepts are about, and ``lengths`` are those of the training rows from there.
    """

    def __init__(self, problem: Problem, centre: Floats, lengths: Floats, C: float, alpha: Floats, bias: float) -> None:
        self._problem, self._centre = problem, centre
        self._reaches = np.quantile(lengths, _PARTS).tolist() if problem.free else []
        self._longest = float(problem.lengths.max()) + problem.constant
        self._lengths = lengths
        self._path = _core.HingePath(
            problem.rows.matrix, problem.signs, problem.counts, problem.constant, problem.free, C, alpha, bias
        )
        self._left = min(_PIECES * len(problem.signs) + 100, _MOST_PIECES)
        self.ended = False

    @staticmethod
    def suits(problem: Problem) -> bool:
        """Return whether the path can be followed for no more than some fits."""
        return problem.loss == "hinge" and problem.rows.shape[1] <= _MOST_FEATURES

    def further(self, end: float) -> Pieces | None:
        """Return the next pieces up to this C; None where there are none, or where they cannot be followed."""
        if self.ended:
            return None
        most = min(max(_TOGETHER // len(self._problem.signs), 8), self._left)
        C, bias, weights, alpha, further = self._path.follow(end, most)
        self._left -= most
        self.ended = not further or self._left <= 0 or len(C) == 0 or C[-1] >= end
        return self._proved(C, bias, weights, alpha) if len(C) > 1 else None

    def _proved(self, C: Floats, bias: Floats, weights: Floats, alpha: Floats) -> Pieces:
        problem, free = self._problem, self._problem.free
        signs, counts = problem.signs, problem.counts
        n, d = problem.rows.shape
        signed = alpha * signs
        apart = weights - np.stack([_core.combine(problem.rows.matrix, each) for each in signed])
        balance, total = np.add.reduceat(signed, np.arange(0, n, _BLOCK), axis=1).sum(axis=1), alpha.sum(axis=1)
        if not free:
            bias = problem.constant**2 * balance
        margins = np.ascontiguousarray(_core.decide(problem.rows.matrix, weights, bias, 1).T) * signs
        norms = np.sqrt((weights * weights).sum(axis=1)) + np.abs(bias)
        turns = d // (4 if is_sparse(problem.rows.values) else 16) + 8  # of the sums that the core makes of a product
        off = turns * _UNIT * (1.0 + _larger(norms)[:, None] * (1.0 + problem.lengths + problem.constant))
        costs = C[:, None] * counts
        room = np.maximum(costs - alpha, 0.0)
        if not (counts == 1.0).all():
            room += 2.0 * _UNIT * costs
        least, most = np.minimum(margins[:-1], margins[1:]), np.maximum(margins[:-1], margins[1:])
        eps = np.einsum("ki,ki->k", _larger(room), np.maximum(1.0 + off - least, 0.0))
        eps += np.einsum("ki,ki->k", _larger(alpha), np.maximum(most - 1.0 + off, 0.0))
        used = np.count_nonzero(alpha, axis=1) + 8
        doubt = 2.0 * used * _UNIT * (alpha @ problem.lengths + problem.constant * total)
        doubt = _larger(doubt + np.sqrt((apart * apart).sum(axis=1)) * (1.0 + d * _UNIT))
        imbalance = np.zeros(len(off))
        if free:
            imbalance = _larger(np.abs(balance) + (_BLOCK + n / _BLOCK + 2.0) * _UNIT * total)
        farthest = (np.maximum(np.abs(1.0 - least), np.abs(1.0 - most)) + off).max(axis=1)
        eps *= 1.0 + 4.0 * (n + 16) * _UNIT
        doubt += 3.0 * imbalance * self._longest
        radius = (doubt + np.sqrt(eps + imbalance * farthest)) * (1.0 + 16.0 * _UNIT)
        shift = np.zeros(len(radius))
        if free:
            on = (alpha > 0.0) & (alpha < costs)
            near = _larger(np.where(on, np.abs(1.0 - margins), 0.0).max(axis=1)) + 4.0 * off.max(axis=1)
            about = bias + weights @ self._centre
            shift = self._held(least, most, off, radius, near)
            radius = (doubt + np.sqrt(eps + imbalance * np.minimum(shift, farthest))) * (1.0 + 16.0 * _UNIT)
            shift = np.minimum(self._held(least, most, off, radius, near), shift)
            for piece in np.flatnonzero(np.isinf(shift) & (C[1:] > C[:-1])):
                ends = [signs * margins[at] - about[at] for at in (piece, piece + 1)]
                shift[piece] = self._searched(
                    ends, about[piece : piece + 2], radius[piece] * self._lengths + off[piece]
                )
        return Pieces(C, weights, bias, radius, shift)

    def _held(self, least: Floats, most: Floats, off: Floats, radius: Floats, near: Floats) -> Floats:
        """Return how far the intercept can be on each piece, infinity where the rows on the margin do not hold it."""
        signs, counts = self._problem.signs, self._problem.counts
        up, down = np.where(signs > 0, counts, 0.0), np.where(signs > 0, 0.0, counts)
        hidden = 4.0 * len(signs) * _UNIT * float(counts.sum())
        shift, left = np.full(len(radius), math.inf), np.arange(len(radius))
        for length in self._reaches:
            far = radius[left] * length + near[left]
            spread = far[:, None] - radius[left, None] * self._lengths - off[left]
            sure = (most[left] - spread < 1.0).astype(np.float64)
            perhaps = (least[left] + spread < 1.0).astype(np.float64)
            held = (sure @ down - perhaps @ up > hidden) & (sure @ up - perhaps @ down > hidden)
            shift[left[held]], left = far[held], left[~held]
        return shift

    def _searched(self, ends: list[Floats], about: Floats, reach: Floats) -> float:
        """Return how far the intercept can be on a piece, given scores about the centre and intercepts at its ends."""
        low, high = np.minimum(*ends) - 4.0 * reach, np.maximum(*ends) + 4.0 * reach
        down, up = bias_range(self._problem, low, high, float(about.mean()))
        far = max(up - float(about.min()), float(about.max()) - down)
        return far * (1.0 + 4.0 * _UNIT) if math.isfinite(far) else math.inf


def _larger(values: Floats) -> Floats:
    """Return the larger of the values at the two ends of each piece."""
    return np.asarray(np.maximum(values[:-1], values[1:]))
