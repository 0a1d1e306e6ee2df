"""The two values of L2-regularised logistic regression, proved from the data, the weights and any probabilities.

The primal value is ``|w|^2 / 2 + sum C log(1 + exp(-m))``. For any p between 0 and 1, one for each row, and with
``alpha = C p``, the optimum is at least ``sum C H(p) - |sum alpha y x|^2 / 2``, H being the entropy; a free bias asks
that both classes weigh the same, so the heavier is scaled down, in exact numbers. Several classes have probabilities
``a`` of each class and row, and ``sum C H(a) - |V|^2 / 2`` with ``V_k = sum C (1[y = k] - a_k) x``.

Logarithms and exponentials of the C library are taken to be within a part 2^-40 of the truth; every claim is weaker
than what is computed by 2^-30.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.certificates import bounds
from separatrix.certificates.data import Data, processors
from separatrix.certificates.joint import JointPlanes
from separatrix.certificates.model import Objective, sum_down, sum_up
from separatrix.certificates.proving import OUTWARD
from separatrix.geometry.rows import Floats, Rows, is_sparse

_UNIT = 2.0**-53
_VANISHED = 1e-300  # more than a loss that underflows
_ROUGH = 256.0 * _UNIT  # more than the part by which rounding changes a probability


@dataclass(frozen=True)
class LogLoss:
    """The problem of logistic regression: what the loss of each row costs, and the kind of bias.

    ``constant`` is the bias coordinate's size, 0 for none; a ``free`` bias costs nothing.
    """

    costs: Floats
    free: bool
    constant: float


def log_objective(data: Data, task: LogLoss, weights: Floats, bias: float, shares: Floats) -> Objective:
    """Return the two values that weights and the shares ``alpha / C`` give, in arithmetic that proves them.

    Examples
    --------
    >>> from separatrix.certificates.data import binary_data, read
    >>> data = binary_data(*read([[-1.0], [1.0]], [0, 1]), False, 1)
    >>> found = log_objective(data, LogLoss(np.ones(2), False, 0.0), np.zeros(1), 0.0, np.full(2, 0.5))
    >>> round(found.primal, 6), found.dual < 2 * math.log(2.0) < found.primal
    (1.386294, True)
    """
    costs, signs = task.costs, data.signs
    seen = bounds.margins(data.rows, signs, weights, bias, processors())
    length, offset = bounds.length(weights)[1], abs(bias) / task.constant if task.constant else 0.0
    with np.errstate(over="ignore"):
        paid = sum_up(costs * (np.logaddexp(0.0, -seen.lower) + _VANISHED))
    primal = (0.5 * (length * length + offset * offset) + paid) * (1.0 + OUTWARD)
    alpha = costs * np.clip(shares, 0.0, 1.0)
    sides = signs > 0
    sums = [sum_down(alpha[sides]), sum_down(alpha[~sides])]
    total = 2.0 * min(sums) if task.free else sum(sums)
    if not 0.0 < total < math.inf:
        return Objective(primal, 0.0)
    kept = np.ones(data.n)
    if task.free:
        kept[sides if sums[0] > sums[1] else ~sides] = min(sums) / max(sums)
    length = total * bounds.hull_gap(data.rows, signs, alpha, free=task.free) * (1.0 + OUTWARD)
    lost = 0.5 * length * length
    if task.constant:
        lost += 0.5 * (task.constant * (abs(sums[0] - sums[1]) + OUTWARD * sum(sums))) ** 2
    gained, doubt = entropies(np.minimum(kept * alpha / costs, 1.0))
    dual = sum_down(costs * gained) * (1.0 - OUTWARD) - sum_up(costs * doubt) - lost
    return Objective(primal, max(dual, 0.0))


def joint_log_objective(
    rows: Rows, codes: NDArray[np.intp], task: LogLoss, planes: JointPlanes, shares: Floats
) -> Objective:
    """Return the two values that the weights of several classes give, and probabilities of the classes by row.

    ``shares`` are of shape (classes, rows); those of a row's own class are not read: they are what the others leave.
    Where biases are free, each class must weigh what its rows do. Let the probabilities weigh A_k instead of T_k: mixed
    with a part e of one distribution q for all rows, they balance if ``e q = (T - (1 - e) A) / sum C``, which asks for
    ``e >= 1 - min T / A``. As H is concave and V linear, the value with these is at least
    ``(1 - e) sum C H(a) - ((1 - e) |V(a)| + 2 e sum C |x|)^2 / 2``, the rows seen from any point.
    """
    costs, k, each = task.costs, len(planes.intercept), np.arange(len(codes))
    ones = np.ones(len(codes))
    seen = [
        bounds.margins(rows, ones, np.ascontiguousarray(w, dtype=np.float64), float(b), processors())
        for w, b in zip(planes.coef, planes.intercept, strict=True)
    ]
    lower, upper = (np.stack([margins[side] for margins in seen]) for side in (0, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = np.nextafter(upper - lower[codes, each], np.inf)
        beyond[codes, each] = 0.0
        paid = sum_up(costs * (np.logaddexp.reduce(beyond, axis=0) + _VANISHED))
    length, biases = bounds.length(planes.coef.ravel())[1], bounds.length(planes.intercept)[1]
    offset = biases / task.constant if task.constant else 0.0
    primal = (0.5 * (length * length + offset * offset) + paid) * (1.0 + OUTWARD)

    pulls = costs * np.clip(shares, 0.0, 1.0)  # C a, which is exact and so says what a is
    pulls[codes, each] = 0.0
    own = pulls.sum(axis=0)
    pulls[:, own >= costs] = 0.0  # no probabilities
    own[own >= costs] = 0.0
    origin = None
    if task.free and not is_sparse(rows.values):
        origin = np.ascontiguousarray(rows.values[0], dtype=np.float64)
    far = bounds.square_lengths(rows.matrix)
    reach = (
        sum_up(costs * np.sqrt(far)) if origin is None else sum_up(costs * (np.sqrt(far) + bounds.length(origin)[1]))
    )
    square, balances = 0.0, np.zeros(k)
    for code in range(k):
        mine = codes == code
        factors = np.where(mine, own, -pulls[code])
        sums, errors = _core.enclosed_sums(rows.matrix, factors, origin)
        square += bounds.length(np.abs(sums) + errors)[1] ** 2
        balances[code] = math.fsum(factors.tolist())
    hidden = (k + 8) * _UNIT * sum_up(own * (np.sqrt(far) + (0.0 if origin is None else bounds.length(origin)[1])))
    apart = math.sqrt(square) * (1.0 + OUTWARD) + hidden  # own is rounded, the rest is exact
    part = 0.0
    if task.free:
        totals = np.bincount(codes, costs, k)
        unsure = np.abs(balances) + (k + 8) * _UNIT * sum_up(own)
        part = min(float((unsure / (totals + unsure)).max()) * (1.0 + OUTWARD), 1.0)
    elif task.constant:
        uneven = np.abs(balances) + (k + 8) * _UNIT * sum_up(own)
        apart = math.hypot(apart, task.constant * bounds.length(uneven)[1]) * (1.0 + OUTWARD)
    gained, doubt = _joint_entropies(pulls / costs, own / costs)
    value = sum_down(costs * gained) * (1.0 - OUTWARD) - sum_up(costs * doubt)
    dual = (1.0 - part) * max(value, 0.0) * (1.0 - OUTWARD) - 0.5 * (apart + 2.0 * part * reach) ** 2 * (1.0 + OUTWARD)
    return Objective(primal, max(dual, 0.0) if math.isfinite(dual) else 0.0)


def entropies(p: Floats) -> tuple[Floats, Floats]:
    """Return ``-p log p - (1 - p) log(1 - p)``, and by how much it can be too large where p is rounded a few times."""
    with np.errstate(divide="ignore", invalid="ignore"):
        lower, upper = np.where(p > 0.0, -np.log(p), 0.0), np.where(p < 1.0, -np.log1p(-p), 0.0)
    return p * lower + (1.0 - p) * upper, _ROUGH * p * (2.0 + lower + np.minimum(upper, 40.0))


def _joint_entropies(others: Floats, wrong: Floats) -> tuple[Floats, Floats]:
    """Return the entropies of rows, given the other classes' probabilities and their sum, and what rounding may add."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(others > 0.0, -np.log(others), 0.0)
        last = np.where(wrong < 1.0, -np.log1p(-wrong), 0.0)
    gained = (others * logs).sum(axis=0) + (1.0 - wrong) * last
    rough = _ROUGH * len(others) * (wrong * (2.0 + np.minimum(last, 40.0)) + (others * logs).sum(axis=0))
    return gained, rough
