"""The relative duality gap of a kernel SVM, recomputed from its coefficients and its training rows.

Nothing that the solver reports is used. The objective of the model is computed as it stands, and its dual weights,
moved to a feasible point, give a lower bound on the objective of any other model.
"""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, Rows

_BLOCK = 1 << 22  # kernel values held at once


def relative_gap(model: Any, X: Any, y: NDArray[Any]) -> float:
    """Return the largest gap of a pair of classes, relative to its objective; without sample or class weights.

    Parameters
    ----------
    model : KernelSVM
        The fitted model; its kernel is a function of rows.
    X, y
        Its training rows and labels, in the same order.

    Examples
    --------
    >>> from separatrix import KernelSVM
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    >>> model = KernelSVM(C=10).fit(X, y)
    >>> 0 <= relative_gap(model, X, y) <= model.tol
    True
    >>> model.intercept_ += 0.5
    >>> relative_gap(model, X, y) > 0.1
    True
    """
    coef, biases = model.pair_coefficients()
    codes = np.searchsorted(model.classes_, y)
    worst = 0.0
    for which, (first, second) in enumerate(combinations(range(len(model.classes_)), 2)):
        positive = second if len(model.classes_) == 2 else first
        here = np.flatnonzero((codes == first) | (codes == second))
        signs = np.where(codes == positive, 1.0, -1.0)
        used = np.flatnonzero(coef[:, which])
        places, own = model.support_[used], coef[used, which]
        feasible = _feasible(own, signs[places], float(model.C))
        mine, bound = _sums(model._kernel, X, here, places, np.stack([own, feasible], axis=1)).T
        at = np.searchsorted(here, places)
        slack = np.maximum(0.0, 1.0 - signs[here] * (mine + biases[which]))
        primal = 0.5 * float(own @ mine[at]) + float(model.C) * float(slack.sum())
        dual = float(np.abs(feasible).sum()) - 0.5 * float(feasible @ bound[at])
        worst = max(worst, (primal - dual) / primal)
    return worst


def _feasible(signed: Floats, signs: Floats, C: float) -> Floats:
    """Return signed dual weights between 0 and C that sum to 0, close to the given ones."""
    alpha = np.clip(signed * signs, 0.0, C)
    sums = [float(alpha[signs > 0].sum()), float(alpha[signs < 0].sum())]
    least = min(sums)
    for side, total in zip((signs > 0, signs < 0), sums, strict=True):
        alpha[side] *= least / total if total > 0 else 0.0
    return np.asarray(alpha * signs)


def _sums(kernel: Any, X: Any, rows: NDArray[np.intp], places: NDArray[np.intp], coef: Floats) -> Floats:
    """Return ``sum_i coef_ik K(x, x_i)`` for these rows x, the i in ``places`` and each column k, in float64."""
    out, right = np.zeros((len(rows), coef.shape[1])), Rows(X[places])
    step = max(1, _BLOCK // max(1, len(places)))
    for begin in range(0, len(rows) if len(places) else 0, step):
        out[begin : begin + step] = kernel(Rows(X[rows[begin : begin + step]]), right) @ coef
    return out
