"""The conditions of Karush, Kuhn and Tucker, point by point: where each lies, and whether its alpha belongs there.

Lecture 003, 2.3: a point outside its margin has alpha 0; one inside, which uses slack, has alpha C; only a point on
its margin may lie between. How far a point is from this is its residual; a model with no residuals is optimal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.loop.problem import check_weights, encode_labels
from separatrix.text import markdown

PLACES = ("outside", "on", "inside")


@dataclass(frozen=True, eq=False)
class Conditions:
    """The result of :func:`kkt`: one entry for each point, and one column for each of more than two classes.

    Attributes
    ----------
    place : array of "outside", "on" and "inside"
        Where the point lies with respect to its margin.
    alpha : array
        Its dual weight.
    cost : array
        The largest alpha that it may have: C times its weights; infinite for the squared hinge and the hard margin.
    margin : array
        ``y (w.x + b)``.
    slack : array
        What the margin falls short of 1.
    residual : array
        How far the margin is from where alpha says that it must be: from at least 1 for alpha = 0, at most 1 for
        alpha = C, exactly 1 between (for the squared hinge: from ``1 - alpha / (2 C)``); or how far alpha is outside
        its bounds, if that is more.
    stationarity : float
        The length of ``w - sum alpha y x``; None for kernels, whose weights are that sum.
    balance : float
        ``sum alpha y``, which a free bias makes 0.
    """

    place: NDArray[Any]
    alpha: Floats
    cost: Floats
    margin: Floats
    slack: Floats
    residual: Floats
    stationarity: float | None
    balance: float

    @property
    def worst(self) -> float:
        """The largest residual."""
        return float(self.residual.max())

    @property
    def counts(self) -> dict[str, int]:
        """How many points lie where."""
        return {place: int(np.count_nonzero(self.place == place)) for place in PLACES}

    def to_markdown(self, most: int = 20) -> str:
        """Return the points with the largest residuals as a table; for two classes."""
        if self.alpha.ndim > 1:
            raise ValueError("a table shows two classes: for more, index the columns of the arrays")
        head = ["row", "place", "alpha", "margin", "slack", "residual"]
        order = np.argsort(-self.residual, kind="stable")[:most]
        return markdown(
            head,
            [
                [str(row), str(self.place[row]), *(f"{value[row]:.6g}" for value in self._numbers())]
                for row in order.tolist()
            ],
        )

    def _numbers(self) -> tuple[Floats, ...]:
        return self.alpha, self.margin, self.slack, self.residual

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {place}" for place, count in self.counts.items())
        return f"{counts} the margin; the largest residual is {self.worst:.3g}"


def kkt(model: Any, X: Any, y: Any, *, sample_weight: Any = None, tol: float = 1e-3) -> Conditions:
    """Check the conditions that an optimal SVM meets, on the data that it was fitted to.

    Parameters
    ----------
    model : LinearSVM or KernelSVM of two classes
        The fitted model.
    X, y, sample_weight
        What it was fitted to, in the same order.
    tol : float, default=1e-3
        How near to 1 a margin is that counts as "on".

    Returns
    -------
    Conditions
        Place, alpha, slack and residual of each point.

    Examples
    --------
    >>> from separatrix import LinearSVM, kkt
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> conditions = kkt(LinearSVM().fit(X, y), X, y)
    >>> conditions.place.tolist(), conditions.alpha.round(6).tolist()
    (['outside', 'on', 'on', 'outside'], [0.0, 0.5, 0.5, 0.0])
    >>> conditions.counts, conditions.worst < 1e-9
    ({'outside': 2, 'on': 2, 'inside': 0}, True)
    """
    check_is_fitted(model)
    if not hasattr(model, "dual_coef_"):
        raise ValueError(f"{type(model).__name__} has no dual weights: use LinearSVM or KernelSVM")
    rows = Rows(X)
    n = rows.shape[0]
    y = column_or_1d(y)
    classes, codes = encode_labels(y, n)
    if not np.array_equal(classes, model.classes_):
        raise ValueError(f"y has the classes {classes.tolist()}; the model was fitted to {model.classes_.tolist()}")
    if len(model.support_) and int(model.support_.max()) >= n:
        raise ValueError(f"X has {n} rows, but the model's support vectors go up to row {int(model.support_.max())}")
    several = len(classes) > 2
    if several and model.dual_coef_.shape[0] != len(classes):
        raise ValueError("this model has one task for each pair of classes: for kkt, fit two classes at a time")
    weights = check_weights(sample_weight, n)
    costs = np.full(n, float(model.C)) * (1.0 if weights is None else weights)
    if model.class_weight is not None:
        costs = costs * compute_class_weight(model.class_weight, classes=classes, y=np.asarray(y))[codes]
    positive = np.arange(len(classes)) if several else np.array([1])
    signs = np.where(codes[:, None] == positive[None, :], 1.0, -1.0)
    signed = np.zeros(signs.shape)
    coef = model.dual_coef_
    signed[model.support_] = (coef.toarray() if is_sparse(coef) else coef).T
    alpha = signs * signed + 0.0
    margin = signs * np.reshape(model.decision_function(X), signs.shape)
    slack = np.maximum(1.0 - margin, 0.0)
    squared = getattr(model, "loss", "hinge") == "squared_hinge"
    cost = np.broadcast_to(costs[:, None], signs.shape)
    with np.errstate(invalid="ignore"):
        short = 1.0 - margin - (0.5 * alpha / cost if squared else 0.0)
    upper = np.full(signs.shape, np.inf) if squared else cost
    residual = np.where(alpha <= 0, np.maximum(short, 0.0), np.abs(short))
    residual = np.where(alpha >= upper * (1.0 - 1e-12), np.maximum(-short, 0.0), residual)
    residual = np.maximum(residual, np.maximum(-alpha, np.where(np.isinf(upper), 0.0, alpha - upper)))
    residual = np.where(cost > 0, residual, 0.0)  # a point of weight 0 was left out: any margin will do
    place = np.where(margin > 1.0 + tol, "outside", np.where(margin < 1.0 - tol, "inside", "on"))
    stationarity = None
    if hasattr(model, "coef_"):
        sums = [_core.combine(rows.matrix, np.ascontiguousarray(column)) for column in signed.T]
        weights = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
        stationarity = float(np.linalg.norm(weights - np.stack(sums)))
    columns = (place, alpha, upper, margin, slack, residual)
    place, alpha, upper, margin, slack, residual = columns if several else tuple(each[:, 0] for each in columns)
    return Conditions(
        place, alpha, upper, margin, slack, residual, stationarity, float(np.abs(signed.sum(axis=0)).max())
    )
