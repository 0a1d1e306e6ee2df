"""The hinge by Newton's method: its corner is smoothed over a width that shrinks until the gap of the hinge is small.

The smoothed hinge is quadratic between ``1 - width`` and 1 (Chapelle, Training a support vector machine in the primal,
Neural Computation 19, 2007). Its ``alpha = C pull`` lies between the bounds of the hinge's dual, so every width gives a
gap of the hinge; and only rows with margins in that range count in the table of products, fewer and fewer of them.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.svm.rowblocks.block import Bracket, Precision
from separatrix.svm.rowblocks.interior import dual_value, follow
from separatrix.svm.rowblocks.newton import newton
from separatrix.svm.rowblocks.solution import BlockSolution, RoundingBound
from separatrix.svm.rowblocks.store import Store

_SHRINKS = 0.125  # the next width, as a part of the last
_NARROWEST = 0.01  # times the tolerance: below, another method must do,
_LEAST = 1e-9  # as it must for a smaller tolerance
_ACCURACY = 0.03  # of the smoothed problem: a part of the gap that its width leaves
_SETTLED = 1e-3


@dataclass(frozen=True)
class SmoothedHinge:
    """``max(0, 1 - m)`` with a quadratic corner of this width."""

    width: float
    name = "smoothed_hinge"

    @property
    def curvature(self) -> float:
        """The largest second derivative."""
        return 1.0 / self.width

    def value(self, xp: Any, m: Any) -> Any:
        """Return the loss."""
        pull = self.pull(xp, m)
        return pull * (1.0 - m) - 0.5 * self.width * pull * pull

    def pull(self, xp: Any, m: Any) -> Any:
        """Return minus the slope."""
        return xp.minimum(xp.maximum((1.0 - m) / self.width, 0.0), 1.0)

    def second(self, xp: Any, pull: Any) -> Any:
        """Return the curvature."""
        return xp.where((pull > 0.0) & (pull < 1.0), 1.0 / self.width, 0.0)

    def scaled_divergence(self, xp: Any, part: float, pull: Any, m: Any) -> Any:
        """Return how far ``(1 - part) pull`` is from being the pull of m."""
        return part * pull * ((1.0 - m) - self.width * pull) + 0.5 * self.width * (part * pull) ** 2


def shrink(
    store: Store,
    *,
    tol: float,
    free: bool = True,
    constant: float = 0.0,
    max_iter: int = 100,
    halted: Callable[[], bool] = lambda: False,
    tell: Callable[[BlockSolution], None] = lambda solution: None,
) -> BlockSolution:
    """Minimise ``|w|^2 / 2 + sum C max(0, 1 - m)`` until the gap is at most ``tol`` of the value.

    ``free`` and ``constant`` are as in ``newton``. Where no width leads there, the interior-point method does.
    """
    began = time.perf_counter()
    lean = 1.0 / constant**2 if constant else 0.0
    best = BlockSolution(np.zeros(store.d), 0.0)
    extent = store.sum("extent")
    bound = RoundingBound(store.n, store.d, extent.largest, extent.costs)
    loss, how, iterations = SmoothedHinge(1.0), Precision.SAMPLE, 0
    place = best.weights, best.bias
    while loss.width >= _NARROWEST * max(tol, _LEAST):
        accuracy = max(0.25 * tol, _ACCURACY * loss.width)
        reached = newton(
            store, loss, tol=accuracy, free=free, constant=constant, max_iter=max_iter - iterations, halted=halted,
            start=place, how=how, settled=_SETTLED,
        )  # fmt: skip
        iterations += reached.iterations
        place = w, b = reached.weights, reached.bias
        here: Bracket = store.sum("bracket", loss, b)
        primal = here.loss + 0.5 * (float(w @ w) + lean * b * b)
        dual, alpha, along = dual_value(here, free=free, constant=constant)
        best.iterations = iterations
        best.history.add(primal, dual, time.perf_counter() - began, exact=True, method="newton")
        if primal - dual < best.gap:
            best.weights, best.bias, best.primal, best.gap = w, b, primal, max(primal - dual, 0.0)
            best.rounding, best.width = bound.hinge(best, alpha, along), loss.width
        tell(best)
        if best.relative_gap <= tol:
            best.ended = "gap"
        elif iterations >= max_iter or halted():
            best.ended = "iterations" if iterations >= max_iter else "halted"
        if best.ended:
            return best
        loss, how = SmoothedHinge(_SHRINKS * loss.width), Precision.DOUBLE
    rest = follow(
        store, tol=tol, free=free, constant=constant, max_iter=max_iter - iterations, halted=halted, tell=tell
    )
    rest.iterations += iterations
    return rest if rest.gap <= best.gap or rest.ended == "gap" else _left(best, rest.ended)


def _left(best: BlockSolution, ended: str) -> BlockSolution:
    best.ended = ended
    return best
