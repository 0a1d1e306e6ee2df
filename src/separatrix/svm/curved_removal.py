"""Where the optimum without a row is, from the curvature of a smooth loss at the solution with it.

The notation is that of ``curved_bounds``.

*Secants.* A step d with ``|d| <= t`` changes margins by at most ``rho_i t``, and the gradient by ``A d``; A is H with
other numbers, ``s_i`` times a secant of loss', in the place of k_i. Since ``c x x'`` is at most ``c |x|*^2 H``, A lies
between ``f(t) H`` and ``h(t) H``:

- log: since ``|loss'''| <= loss''``, a secant is at least ``k_i (1 - e^-q) / q`` and at most ``k_i (e^q - 1) / q`` for
  a change of q. The few rows with the largest rho may be left out: with the largest rho of the others, f is ``(1 -
  e^-q) / q`` times 1 less the sum of ``C k_i rho_i^2`` over those left out, and h is ``(e^q - 1) / q`` plus the sum of
  their ``C s_i rho_i^2 / 4``. The best number of them is taken.
- squared hinge: a secant is k_i unless m~_i is within ``rho_i t`` of 1, and else from 0 to 2 s_i: f is 1 less the sum
  of ``2 C s_i rho_i^2`` over such rows below 1, and h is 1 plus that sum over such rows above 1.

*How far the optimum is.* Let ``l = |g|*``. If ``l < t f(t)``, ``|z* - z~| <= t``: else some point ``z~ + s d`` on the
way to the optimum, ``d = z* - z~``, has ``|s d| = t``. F falls along d up to z*, so that ``(grad F(z~ + s d) - g).s d
<= -g.s d``, and the left-hand side is at least ``f(t) t^2``, the right-hand side at most ``l t``.

*The step.* It satisfies ``A d = -g``: ``H^1/2 d = -B H^-1/2 g`` with B between ``1 / h`` and ``1 / f``. With the middle
b and half the width e of this interval, a score changes by ``-b x.H^-1 g`` up to ``e l |x|*``.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.svm.curved_bounds import CurvedBounds
from separatrix.svm.optimum_ball import Problem


class CurvedRemoval(CurvedBounds):
    """The bounds that one solution gives on the solutions without each of its rows."""

    def __init__(self, problem: Problem, C: float, weights: Floats, bias: float) -> None:
        super().__init__(problem, C, weights, bias)
        most = (0.25 if problem.loss == "log" else 2.0) * problem.counts
        self._sort(problem.signs * self._scores, most)

    def without_rows(self) -> tuple[Floats, Floats]:
        """Return bounds on the score of each training row by the optimum of the others.

        Without row i, the gradient at z~ is ``g + alpha_i y_i x_i``, and H loses ``C k_i x_i x_i'``, the part ``p_i = C
        k_i |x_i|*^2`` of itself in the row's direction. With ``G = H - C k_i x_i x_i'``, ``x_i.G^-1 x_i = |x_i|*^2 / (1
        - p_i)`` (Sherman and Morrison), and G is at least ``(1 - p_i) H``; the rest is as for the step along C.
        """
        problem = self._problem
        n = len(problem.signs)
        lost = self._lost(self._C)
        infinite = np.full(n, math.inf)
        if problem.free and not self._mass > 0.0:
            return -infinite, infinite
        own = self._leverages + (1.0 / (self._C * self._mass) if problem.free else 0.0)
        left = 1.0 - self._C * self._bends * own * (1.0 + 1e-9) - 1e-12
        still = self._length(self._gradients(self._C), self._C, self._C)
        pulls = np.abs(self._pulls) * (1.0 + 1e-9)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            length = (still + pulls * np.sqrt(own)) * (1.0 + 1e-9)
            low, high, known = self._secants(length / left, left, 1.0, 1.0, lost)
            mean, half = 0.5 * (1.0 / low + 1.0 / high), 0.5 * (1.0 / low - 1.0 / high)
            step = mean * self._pulls * own / left
            reach = (half * length + mean * still) * np.sqrt(own) / left
        reach = np.where(known, reach * (1.0 + 1e-9) + self._off + 1e-9 * np.abs(step), math.inf)
        middle = np.where(known, self._scores - step, 0.0)
        return middle - reach, middle + reach

    def _sort(self, margins: Floats, most: Floats) -> None:
        """Add up the parts of H of the rows whose secants may change most."""
        problem = self._problem
        own = self._leverages + (1.0 / (self._C * self._mass) if problem.free and self._mass > 0.0 else 0.0)
        reach = np.sqrt(own) * (1.0 + 1e-12)
        parts = self._C * most * own * (1.0 + 1e-9)
        if problem.loss == "log":
            order = np.argsort(-reach, kind="stable")
            ranks = [0, *(2**k for k in range(12) if 2 ** (k + 1) < len(reach))]
            self._reaches = reach[order][ranks]
            bent = self._C * self._bends * own * (1.0 + 1e-9)
            low, high = (np.concatenate([[0.0], np.cumsum(each[order])]) for each in (bent, parts))
            self._outside = low[ranks] * (1.0 + 1e-9), high[ranks] * (1.0 + 1e-9)
            return
        distances = np.maximum(np.abs(margins - 1.0) - self._off, 0.0) / reach
        self._sorted: list[tuple[Floats, Floats]] = []
        for side in (margins < 1.0, margins >= 1.0):
            order = np.argsort(distances[side], kind="stable")
            sums = np.cumsum(parts[side][order]) * (1.0 + 1e-9)
            self._sorted.append((distances[side][order], np.concatenate([[0.0], sums])))

    def _secants(
        self, length: Floats, left: Floats, stretch: float, grown: float, lost: float
    ) -> tuple[Floats, Floats, NDArray[np.bool_]]:
        """Return f(t) and h(t) for the least t that is found, and whether there is one: given l, for every entry.

        ``left`` is the part of H that the problem still has; lengths of rows are larger by the factor ``stretch``, and
        parts of H by ``grown``.
        """
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            slack = lost / left + 1e-12
            change = length * (1.0 + 1e-9) + 1e-300
            for _ in range(20):  # up to the least t with l < t f(t)
                low = self._least(change * stretch, grown / left) - slack
                enough = np.where(low > 0.0, length / low * (1.0 + 1e-3), math.inf)
                if (enough <= change * (1.0 + 9e-4)).all():
                    break
                change = np.maximum(change, enough)
            low = self._least(change * stretch, grown / left) - slack
            high = self._most(change * stretch, grown / left) + slack
            known = (left > 0.0) & (low > 0.0) & (length < change * low * (1.0 - 1e-12)) & np.isfinite(high)
        return np.where(known, low, 1.0), np.where(known, high, 1.0), known

    def _least(self, change: Floats, grown: Any) -> Floats:
        """Return f(t)."""
        if self._problem.loss != "log":
            return np.asarray(1.0 - self._passed(0, change) * grown)
        q = np.maximum(change[:, None] * self._reaches, 1e-12)
        rest = 1.0 - self._outside[0] * np.reshape(grown, (-1, 1))
        return np.asarray((-np.expm1(-q) / q * np.maximum(rest, 0.0)).max(axis=1) - 1e-12)

    def _most(self, change: Floats, grown: Any) -> Floats:
        """Return h(t)."""
        if self._problem.loss != "log":
            return np.asarray(1.0 + self._passed(1, change) * grown)
        q = np.maximum(change[:, None] * self._reaches, 1e-12)
        return np.asarray((np.expm1(q) / q + self._outside[1] * np.reshape(grown, (-1, 1))).min(axis=1) + 1e-12)

    def _passed(self, side: int, change: Floats) -> Floats:
        """Return the parts of H of the rows on one side of 1 that such a change may bring to the other."""
        distances, sums = self._sorted[side]
        return np.asarray(sums[np.searchsorted(distances, change, side="right")])
