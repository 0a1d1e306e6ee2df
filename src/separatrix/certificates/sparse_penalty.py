"""The two values of a smooth loss with an L1 or elastic-net penalty, proved from the data, the weights and any alpha.

The primal value is ``sum C loss(m) + (1 - r) |w|^2 / 2 + r |w|_1``. For any alpha of at least 0 (of the log loss, at
most C), with ``z = sum alpha y x``, the optimum is at least ``sum gain(alpha) - sum max(|z| - r, 0)^2 / (2 (1 - r))``,
where the gain is C times the entropy of ``alpha / C``, or ``alpha - alpha^2 / (4 C)`` for the squared hinge; for r = 1
every ``|z|`` must be at most 1. A free bias asks that both classes weigh the same. All this is brought about by scaling
alpha, of the heavier class and then of all, in exact numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix import _core
from separatrix.certificates import bounds
from separatrix.certificates.data import Data, processors
from separatrix.certificates.log_loss import entropies
from separatrix.certificates.model import Objective, sum_down, sum_up
from separatrix.certificates.proving import OUTWARD
from separatrix.geometry.rows import Floats, is_sparse

_VANISHED = 1e-300  # more than a loss that underflows
_UNIT = 2.0**-53


@dataclass(frozen=True)
class SparseLoss:
    """The problem: what the loss of each row costs, which loss, ``l1_ratio``, and the kind of bias.

    ``constant`` is the bias coordinate's size, 0 for none; a ``free`` bias costs nothing.
    """

    costs: Floats
    squared: bool
    ratio: float
    free: bool
    constant: float


def sparse_objective(data: Data, task: SparseLoss, weights: Floats, bias: float, alpha: Floats) -> Objective:
    """Return the two values that weights and alpha give, in arithmetic that proves them.

    Examples
    --------
    >>> from separatrix.certificates.data import binary_data, read
    >>> data = binary_data(*read([[-1.0], [1.0]], [0, 1]), False, 1)
    >>> task = SparseLoss(np.ones(2), True, 1.0, False, 0.0)
    >>> found = sparse_objective(data, task, np.array([0.75]), 0.0, np.full(2, 0.5))
    >>> round(found.primal, 6), round(found.dual, 6)
    (0.875, 0.875)
    """
    seen = bounds.margins(data.rows, data.signs, weights, bias, processors())
    paid = np.append(weights, bias / task.constant) if task.constant else weights
    with np.errstate(over="ignore"):
        slack = np.maximum(1.0 - seen.lower, 0.0)
        losses = slack * slack if task.squared else np.logaddexp(0.0, -seen.lower)
        penalty = 0.5 * (1.0 - task.ratio) * bounds.length(paid)[1] ** 2 + task.ratio * sum_up(np.abs(paid))
        primal = (sum_up(task.costs * (losses + _VANISHED)) + penalty) * (1.0 + OUTWARD)
    alpha = np.clip(alpha, 0.0, None if task.squared else task.costs)
    if not np.isfinite(alpha).all():
        return Objective(primal, 0.0)
    sides = data.signs > 0
    totals = [sum_down(alpha[sides]), sum_down(alpha[~sides])]
    if task.free:
        if not min(totals) > 0.0:
            return Objective(primal, 0.0)
        alpha = alpha * np.where(sides == (totals[0] > totals[1]), min(totals) / max(totals), 1.0)
    pulls = _pulls(data, task, alpha, min(totals) if task.free else 0.0)
    largest = float(pulls.max(initial=0.0))
    scales = [1.0] if task.ratio < 1.0 or largest <= 1.0 else []
    if task.ratio > 0.0 and largest > task.ratio:
        scales.append(task.ratio / largest * (1.0 - OUTWARD))
    return Objective(primal, max([_dual(task, alpha, pulls, scale) for scale in scales], default=0.0))


def _pulls(data: Data, task: SparseLoss, alpha: Floats, weight: float) -> Floats:
    """Return upper bounds on ``|sum alpha y x|`` of every weight, also after what balances the classes exactly.

    Both classes weigh ``weight`` but for rounding, which is mended by changing either by a few units in the last place.
    """
    origin = None
    if task.free and not is_sparse(data.rows.values):
        origin = np.ascontiguousarray(data.rows.values[0], dtype=np.float64)
    sums, errors = _core.enclosed_sums(data.rows.matrix, data.signs * alpha, origin)
    sizes = np.abs(sums) + errors
    if task.free:
        reach = np.sqrt(bounds.square_lengths(data.rows.matrix)) + (0.0 if origin is None else bounds.length(origin)[1])
        sizes = sizes + 16.0 * _UNIT * sum_up(alpha * reach)
    if task.constant:
        balance = math.fsum((data.signs * alpha).tolist())
        sizes = np.append(sizes, task.constant * (abs(balance) + 4.0 * _UNIT * sum_up(alpha)))
    return np.asarray(sizes * (1.0 + OUTWARD))


def _dual(task: SparseLoss, alpha: Floats, pulls: Floats, scale: float) -> float:
    """Return the dual value of alpha times a scale, at least 0 and no more than it is."""
    some, costs = scale * alpha, task.costs
    if task.squared:
        gained = sum_down(some) * (1.0 - OUTWARD) - 0.25 * sum_up(some * some / costs) * (1.0 + OUTWARD)
    else:
        entropy, doubt = entropies(np.minimum(some / costs, 1.0))
        gained = sum_down(costs * entropy) * (1.0 - OUTWARD) - sum_up(costs * doubt)
    beyond = np.maximum(scale * pulls - task.ratio, 0.0)
    lost = 0.0
    if task.ratio < 1.0:
        lost = sum_up(beyond * beyond) / (2.0 * (1.0 - task.ratio))
    return max(gained - lost * (1.0 + OUTWARD), 0.0)
