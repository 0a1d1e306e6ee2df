"""The optima of a hinge problem along C, in pieces on each of which they are linear in C: followed, and proved.

The core follows the path of the solutions (``_core.HingePath``): while the rows inside the margin, on it and beyond it
stay the same, dual weights and intercept are linear in C. It may be off by rounding, or by more; what it says is not
taken on trust. The proof is that of ``optimum_segment``, for many pieces in one table:

*The ball.* Weights w are computed anew from the dual weights alpha where a piece ends, w = u; on the piece all are
linear in C. A row's Fenchel gap is ``(C s - alpha) (1 - m)+ + alpha (m - 1)+``, products of two functions of which each
is at most as large as at one of the ends. With their sum eps, ::

    |w* - w|^2 <= eps + doubt |w* - w| + imbalance |b* - b|,

where ``doubt`` bounds the rounding of u, and ``imbalance`` what ``sum alpha y`` is beside 0. An optimal intercept lies
between the outermost knots ``y - w*.x``, so that ``|b* - b|`` is at most ``max |1 - m|`` and what the scores may move.

*The free intercept.* Let t be the radius, and every row be within R of a centre; all intercepts are about it. At
``b + R t + tau`` no positive row with ``m + tau >= 1`` pulls the intercept up, and every negative one with ``m - tau <
1`` pulls it down. Where the latter count more, the best intercept is below; likewise on the other side. It suffices
that the rows on the margin count something. Where they do not, the intercept's range is looked for (``bias_range``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.svm.bias_range import bias_range
from separatrix.svm.optimum_ball import Problem

_UNIT = float(np.finfo(np.float64).eps)
_MOST_FEATURES = 400
_TOGETHER = 1 << 18  # numbers in a table of dual weights
_MOST_PIECES = 30  # for each row


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
        self._widest = float(lengths.max()) if problem.free else 0.0
        self._longest = float(problem.lengths.max()) + problem.constant
        self._lengths = lengths
        self._path = _core.HingePath(
            problem.rows.matrix, problem.signs, problem.counts, problem.constant, problem.free, C, alpha, bias
        )
        self._left = _MOST_PIECES * len(problem.signs) + 100
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
        C, bias, alpha, further = self._path.follow(end, most)
        self._left -= most
        self.ended = not further or self._left <= 0 or len(C) == 0 or C[-1] >= end
        return self._proved(C, bias, alpha) if len(C) > 1 else None

    def _proved(self, C: Floats, bias: Floats, alpha: Floats) -> Pieces:
        problem, free = self._problem, self._problem.free
        signs, counts = problem.signs, problem.counts
        n, d = problem.rows.shape
        signed = alpha * signs
        weights = np.stack([_core.combine(problem.rows.matrix, each) for each in signed])
        balance, total = signed.sum(axis=1), alpha.sum(axis=1)
        if not free:
            bias = problem.constant**2 * balance
        margins = np.ascontiguousarray(_core.decide(problem.rows.matrix, weights, bias, 1).T) * signs
        norms = np.sqrt((weights * weights).sum(axis=1)) + np.abs(bias)
        off = _larger((d + 8) * _UNIT * (1.0 + norms * (1.0 + self._longest)))
        costs = C[:, None] * counts
        room = np.maximum(costs - alpha, 0.0)
        if not (counts == 1.0).all():
            room += 2.0 * _UNIT * costs
        least, most = np.minimum(margins[:-1], margins[1:]), np.maximum(margins[:-1], margins[1:])
        wide = off[:, None]
        eps = np.einsum("ki,ki->k", _larger(room), np.maximum(1.0 + wide - least, 0.0))
        eps += np.einsum("ki,ki->k", _larger(alpha), np.maximum(most - 1.0 + wide, 0.0))
        used = np.count_nonzero(alpha, axis=1) + 8
        doubt = _larger(2.0 * used * _UNIT * (alpha @ problem.lengths + problem.constant * total))
        imbalance = _larger(np.abs(balance) + 2.0 * used * _UNIT * total) if free else np.zeros(len(off))
        farthest = np.maximum(np.abs(1.0 - least), np.abs(1.0 - most)).max(axis=1) + off
        square = eps * (1.0 + 4.0 * (n + 16) * _UNIT) + imbalance * farthest
        radius = (doubt + 3.0 * imbalance * self._longest + np.sqrt(square)) * (1.0 + 16.0 * _UNIT)
        shift = np.zeros(len(off))
        if free:
            on = (alpha > 0.0) & (alpha < costs)
            near = 4.0 * off + _larger(np.where(on, np.abs(1.0 - margins), 0.0).max(axis=1))
            shift = self._widest * radius + near
            sure = (most - near[:, None] + wide < 1.0).astype(np.float64)
            perhaps = (least + near[:, None] - wide < 1.0).astype(np.float64)
            up, down = np.where(signs > 0, counts, 0.0), np.where(signs > 0, 0.0, counts)
            hidden = 4.0 * n * _UNIT * float(counts.sum())
            held = (sure @ down - perhaps @ up > hidden) & (sure @ up - perhaps @ down > hidden)
            about = bias + weights @ self._centre
            for piece in np.flatnonzero(~held & (C[1:] > C[:-1])):
                shift[piece] = self._searched(margins, about, radius, off, int(piece))
        return Pieces(C, weights, bias, radius, shift)

    def _searched(self, margins: Floats, about: Floats, radius: Floats, off: Floats, piece: int) -> float:
        """Return how far the intercept can be on a piece where the rows on the margin do not hold it."""
        ends = [self._problem.signs * margins[at] - about[at] for at in (piece, piece + 1)]
        reach = radius[piece] * self._lengths + 4.0 * off[piece]
        low, high = np.minimum(*ends) - reach, np.maximum(*ends) + reach
        least, most = min(about[piece : piece + 2]), max(about[piece : piece + 2])
        down, up = bias_range(self._problem, low, high, 0.5 * (least + most))
        far = max(up - least, most - down)
        return far * (1.0 + 4.0 * _UNIT) if math.isfinite(far) else math.inf


def _larger(values: Floats) -> Floats:
    """Return the larger of the values at the two ends of each piece."""
    return np.asarray(np.maximum(values[:-1], values[1:]))
