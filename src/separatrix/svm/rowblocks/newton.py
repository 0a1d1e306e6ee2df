"""Newton's method for the log loss and the squared hinge, over blocks of rows.

One iteration reads the rows twice: once for gradient and table of products, once for the scores of the step. What the
driver holds is of the size of the features.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks.block import Curve, Precision
from separatrix.svm.rowblocks.solution import BlockSolution, RoundingBound
from separatrix.svm.rowblocks.store import Store

_UNIT = float(np.finfo(np.float64).eps)
_BALANCED = 1e-10
_ARMIJO = 1e-4
_PATIENCE = 4  # iterations without a smaller gap where rounding decides
_BETTER = {Precision.SAMPLE: Precision.SINGLE, Precision.SINGLE: Precision.DOUBLE, Precision.DOUBLE: Precision.DOUBLE}
_FALLING = 1e-12
_STRAIGHT = 0.1  # part of the slope at the start of a step that may be left at its end
_SLOW = 0.2  # a gap that falls by less asks for a better table


def newton(
    store: Store,
    loss: Any,
    *,
    tol: float,
    free: bool = True,
    constant: float = 0.0,
    max_iter: int = 100,
    halted: Callable[[], bool] = lambda: False,
    tell: Callable[[BlockSolution], None] = lambda solution: None,
    start: tuple[Floats, float] | None = None,
    how: Precision = Precision.SAMPLE,
    settled: float = _BALANCED,
) -> BlockSolution:
    """Minimise ``|w|^2 / 2 + sum C loss(m)`` until the gap is at most ``tol`` of the value.

    ``free`` is a bias that costs nothing, ``constant`` the constant K of a penalised bias coordinate, 0 for none. The
    run may start elsewhere than at zero, with better tables; ``settled`` is how near the bias is to its best before a
    step.
    """
    began = time.perf_counter()
    biased, lean = free or constant > 0, 1.0 / constant**2 if constant else 0.0
    extent = store.sum("extent")
    bound = RoundingBound(store.n, store.d, extent.largest, extent.costs)
    weights, bias = (np.zeros(store.d), 0.0) if start is None else start
    best = BlockSolution(weights, bias)
    fresh = True  # the scores were computed from the weights, not added up from steps
    idle, before = 0, math.inf
    store.each("begin", weights)
    while True:
        if biased:
            bias = _best_bias(store, loss, bias, lean, settled)
        here: Curve = store.sum("curve", loss, bias, how)
        primal = here.loss + 0.5 * (float(weights @ weights) + lean * bias * bias)
        gradient = weights - (here.above - here.below)
        balance = here.above_total - here.below_total
        proven, spilt = _balanced(store, loss, here, weights, bias) if free else (gradient, 0.0)
        gap = 0.5 * float(proven @ proven) + spilt
        if constant:
            gap += 0.5 * (bias / constant - constant * balance) ** 2
        idle = 0 if gap < 0.9 * best.gap else idle + 1
        if gap < best.gap or best.ended:
            best.weights, best.bias, best.primal, best.gap = weights, bias, primal, gap
            alpha, length = here.above_total + here.below_total, float(np.sqrt(proven @ proven))
            best.rounding = bound.smooth(best, alpha, length, loss.curvature, 1.0 if free else constant)
        if best.ended:
            break
        best.history.add(primal, primal - gap, time.perf_counter() - began, exact=True, method="newton")
        tell(best)
        if best.relative_gap <= tol and fresh:
            best.ended = "gap"
            break
        if best.relative_gap <= tol:  # as it seems: look once more, with scores from the weights
            store.each("begin", weights)
            fresh, best.gap = True, math.inf
            continue
        if best.iterations >= max_iter or halted():
            best.ended = "iterations" if best.iterations >= max_iter else "halted"
        else:
            right_bias = balance - lean * bias
            step, bias_step = store.equations(here.table, lean if biased else None).solve(-gradient, right_bias)
            bias_step = bias_step if biased else 0.0
            slope = float(gradient @ step) - right_bias * bias_step
            length = 0.0
            if math.isfinite(slope) and slope < 0.0:
                if -slope > _FALLING * primal:  # the value still falls, whatever the gap does meanwhile
                    idle = 0
                store.each("aim", step)
                if idle < _PATIENCE:
                    length = _length(store, loss, (weights, bias, primal), (step, bias_step, slope), lean)
            if length > 0.0:
                store.each("slide", length)
                weights, bias, fresh = weights + length * step, bias + length * bias_step, False
                best.iterations += 1
                if gap > _SLOW * before:
                    how = _BETTER[how]
                before = gap
            elif how is not Precision.DOUBLE:
                how = Precision.DOUBLE
            else:
                best.ended = "rounding"
        if best.ended:  # what is returned is computed from its weights
            weights, bias = best.weights, best.bias
            store.each("begin", weights)
    return best


def _best_bias(store: Store, loss: Any, bias: float, lean: float, settled: float) -> float:
    """Return the bias with the least loss, by Newton's method between two ends that it widens as needed."""
    low, high = -math.inf, math.inf
    for _ in range(100):
        there = store.sum("lean", loss, bias)
        slope, bend = there.slope + lean * bias, there.bend + lean
        if abs(slope) <= settled * max(bend, abs(lean * bias)) or slope == 0.0:
            break
        low, high = (low, bias) if slope > 0 else (bias, high)
        ahead = bias - slope / bend if bend > 0 else math.nan
        if not low < ahead < high:
            if math.isinf(low) or math.isinf(high):
                ahead = bias - math.copysign(1.0 + abs(bias), slope)
            else:
                ahead = 0.5 * (low + high)
        if abs(ahead - bias) <= _UNIT * abs(bias):
            break
        bias = ahead
    return bias


def _balanced(store: Store, loss: Any, here: Curve, weights: Any, bias: float) -> tuple[Any, float]:
    """Return the gradient for alpha scaled down in the heavier class, so that both weigh the same, and its price."""
    sums = here.above_total, here.below_total
    excess = abs(sums[0] - sums[1])
    if excess <= _UNIT * store.n * max(sums):
        return weights - (here.above - here.below), 0.0
    sign = 1.0 if sums[0] > sums[1] else -1.0
    part = min(excess / max(sums), 1.0)
    kept = (1.0 - part, 1.0) if sign > 0 else (1.0, 1.0 - part)
    spilt = store.sum("spilt", loss, bias, part, sign).value
    return weights - (kept[0] * here.above - kept[1] * here.below), max(spilt, 0.0)


def _length(
    store: Store, loss: Any, place: tuple[Any, float, float], step: tuple[Any, float, float], lean: float
) -> float:
    """Return a length of the step at which the value has fallen enough; 0 where rounding decides."""
    weights, bias, primal = place
    direction, bias_step, slope = step
    allowed = 16.0 * _UNIT * primal
    cross = float(weights @ direction) + lean * bias * bias_step
    square = float(direction @ direction) + lean * bias_step * bias_step
    start = float(weights @ weights) + lean * bias * bias
    length, low, high = 1.0, 0.0, math.inf
    for _ in range(60):
        there = store.sum("along", loss, bias, bias_step, length)
        value = there.value + 0.5 * (start + 2.0 * length * cross + length * length * square)
        tilt = there.slope + cross + length * square
        if value <= primal + _ARMIJO * length * slope + allowed and abs(tilt) <= _STRAIGHT * abs(slope):
            return length
        if value > primal + _ARMIJO * length * slope + allowed or tilt > 0.0:
            high = length
        else:
            low = length
        bend = there.bend + square
        ahead = length - tilt / bend
        if not low < ahead < high:
            ahead = 0.5 * (low + high) if math.isfinite(high) else 2.0 * length
        if abs(ahead - length) <= 1e-9 * length:
            return length if value <= primal + allowed else 0.0
        length = ahead
    return 0.0
