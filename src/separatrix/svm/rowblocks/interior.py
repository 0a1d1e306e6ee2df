"""The primal-dual interior-point method for the hinge over blocks of rows (see ``svm/interior.py`` for the method).

The state of a row, its alpha, the room to C, the surplus and the slack of its margin, stays with its block. Every
iteration proves a gap: alpha lies between its bounds, and scaled down in the heavier class it is balanced.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.svm.rowblocks.block import Inside, Precision, Reach, Right
from separatrix.svm.rowblocks.solution import BlockSolution, RoundingBound
from separatrix.svm.rowblocks.store import Store

_PATIENCE = 3  # iterations without a smaller gap, after which the table is to be exact
_TO_THE_WALL = 0.995
EXACT = 1e-6  # relative gap from which the table is to be exact; before, single precision will do
_START = 0.25  # times C: the products that go to 0, at the start


@np.errstate(over="ignore", divide="ignore", invalid="ignore")  # what is not finite ends the path
def follow(
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

    ``free`` and ``constant`` are as in ``newton``.
    """
    began = time.perf_counter()
    biased, lean = free or constant > 0, 1.0 / constant**2 if constant else 0.0
    w, b = np.zeros(store.d), 0.0
    best = BlockSolution(w, b)
    extent = store.sum("extent")
    bound = RoundingBound(store.n, store.d, extent.largest, extent.costs)
    exact, improved = False, 0
    store.each("centre", w, b, _START * extent.costs / store.n)
    while True:
        exact = exact or best.relative_gap < EXACT or best.iterations - improved > _PATIENCE
        here: Inside = store.sum("measure", w, b, Precision.DOUBLE if exact else Precision.SINGLE)
        primal = here.loss + 0.5 * (float(w @ w) + lean * b * b)
        dual, alpha, along = dual_value(here, free=free, constant=constant)
        gap = primal - dual
        if not math.isfinite(here.complement + primal):
            best.ended = "rounding"
            break
        best.history.add(primal, primal - gap, time.perf_counter() - began, exact=True, method="interior")
        if gap < best.gap:
            best.weights, best.bias, best.primal, best.gap = w, b, primal, max(gap, 0.0)
            improved = best.iterations
            best.rounding = bound.hinge(best, alpha, along)
        tell(best)
        if best.relative_gap <= tol:
            best.ended = "gap"
            break
        if best.iterations >= max_iter or halted():
            best.ended = "iterations" if best.iterations >= max_iter else "halted"
            break
        if (gap > 1e3 * best.gap and best.relative_gap < 1e-6) or not here.complement > 0.0:
            best.ended = "rounding"
            break
        missing = here.above - here.below - w
        missing_b = here.above_total - here.below_total - lean * b if biased else 0.0
        equations = store.equations(here.table, lean if biased else None)

        def solve(right: Any, total: float, equations: Any = equations, w: Any = missing, b: float = missing_b) -> Any:
            step, bias_step = equations.solve(w + right, b + total)
            return step, bias_step if biased else 0.0

        mu = here.complement / (2 * store.n)
        step, bias_step = solve(here.right, here.right_total)
        if not (exact or np.isfinite(step).all()):
            exact = True  # single precision does not do
            continue
        reach: Reach = store.sum("predict", step, b, bias_step)
        length = min(reach.smallest, 1.0)
        ahead = (1.0 - length) * here.complement + length * length * reach.bend
        aim = mu * (max(ahead, 0.0) / here.complement) ** 3
        right: Right = store.sum("correct", b, aim)
        step, bias_step = solve(right.right, right.right_total)
        reach = store.sum("step", step, b, bias_step, aim)
        length = min(_TO_THE_WALL * reach.smallest, 1.0)
        store.each("move", length)
        w, b = w + length * step, b + length * bias_step
        best.iterations += 1
    return best


def dual_value(here: Any, *, free: bool, constant: float) -> tuple[float, float, float]:
    """Return the dual value of alpha, its sum, and ``|v|``, given sums by class.

    Where the bias is free, alpha is scaled down in the heavier class.
    """
    scale = (1.0, 1.0)
    if free:
        least = min(here.above_total, here.below_total)
        scale = (least / here.above_total, least / here.below_total) if least > 0 else (0.0, 0.0)
    v = scale[0] * here.above - scale[1] * here.below
    balance = scale[0] * here.above_total - scale[1] * here.below_total
    gain = scale[0] * here.above_total + scale[1] * here.below_total
    square = float(v @ v) + (constant * balance) ** 2
    return gain - 0.5 * square, gain, math.sqrt(square)
