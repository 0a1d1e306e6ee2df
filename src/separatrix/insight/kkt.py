"""The conditions of Karush, Kuhn and Tucker, point by point: where each lies, and whether its alpha belongs there.

Here are those of support vector machines with an L2 penalty; those of smooth losses are in stationarity.py.

Lecture 003, 2.3: a point outside its margin has alpha 0; one inside, which uses slack, has alpha C; only a point on
its margin may lie between. How far a point is from this is its residual; a model with no residuals is optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from separatrix import _core
from separatrix.estimators.logistic_regression import LogisticRegression
from separatrix.estimators.one_vs_rest import positives
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.insight.soft_margin import SoftMarginValue
from separatrix.insight.stationarity import Stationarity, stationarity
from separatrix.loop.problem import check_weights, encode_labels
from separatrix.text import listed, markdown

PLACES = ("outside", "on", "inside")
HEAD = ("row", "place", "alpha", "margin", "slack", "residual")


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
        The size of ``sum alpha y``, which a free bias makes 0; the largest of several classes.
    free_bias : array
        The bias as each free support vector gives it, one with alpha between 0 and C: ``y - w.x`` (for the squared
        hinge ``y (1 - alpha / (2 C)) - w.x``). NaN for other points, and for a model without a bias.
    bias : float or array
        The model's own.
    values : tuple of SoftMarginValue
        The objective of each task: of one for two classes, one for each of more.
    classes : tuple
        The classes that are positive in each task.
    stationarities, balances : tuples
        Those of each task.
    """

    place: NDArray[Any]
    alpha: Floats
    cost: Floats
    margin: Floats
    slack: Floats
    residual: Floats
    stationarity: float | None
    balance: float
    free_bias: Floats
    bias: Any
    values: tuple[SoftMarginValue, ...]
    classes: tuple[Any, ...]
    stationarities: tuple[float | None, ...]
    balances: tuple[float, ...]

    @property
    def objective(self) -> SoftMarginValue:
        """The objective of two classes."""
        if len(self.values) > 1:
            raise ValueError("there is an objective for each of several classes: see values, or use of_class")
        return self.values[0]

    @property
    def free(self) -> NDArray[np.bool_]:
        """Which points are free support vectors, with alpha between 0 and C."""
        return np.asarray(_is_positive(self.alpha) & (self.alpha < self.cost * (1.0 - 1e-12)))

    def of_class(self, label: Any) -> Conditions:
        """Return the conditions of one of several classes against the others."""
        if label not in self.classes:
            raise ValueError(
                f"there is no task for the class {label!r}; there is one for {listed(map(str, self.classes))}"
            )
        place = self.classes.index(label)
        if self.alpha.ndim == 1:
            return self
        columns = {
            name: getattr(self, name)[:, place]
            for name in ("place", "alpha", "cost", "margin", "slack", "residual", "free_bias")
        }
        return replace(
            self, **columns, bias=float(self.bias[place]), values=(self.values[place],), classes=(label,),
            stationarity=self.stationarities[place], stationarities=(self.stationarities[place],),
            balance=self.balances[place], balances=(self.balances[place],),
        )  # fmt: skip

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
            raise ValueError("a table shows two classes: for more, see of_class")
        order = np.argsort(-self.residual, kind="stable")[:most]
        return markdown(HEAD, self.cells(order.tolist()))

    def cells(self, rows: Sequence[int], digits: int = 6) -> list[list[str]]:
        """Return the cells of a table of these points as text, under the names in ``HEAD``."""
        numbers = (self.alpha, self.margin, self.slack, self.residual)
        return [[str(row), str(self.place[row]), *(f"{each[row]:.{digits}g}" for each in numbers)] for row in rows]

    def __str__(self) -> str:
        counts = ", ".join(f"{count} {place}" for place, count in self.counts.items())
        return f"{counts} the margin; the largest residual is {self.worst:.3g}"


def kkt(model: Any, X: Any, y: Any, *, sample_weight: Any = None, tol: float = 1e-3) -> Conditions | Stationarity:
    """Check the conditions that an optimal model meets, on the data that it was fitted to.

    Parameters
    ----------
    model : LinearSVM, KernelSVM of two classes, or LogisticRegression
        The fitted model.
    X, y, sample_weight
        What it was fitted to, in the same order.
    tol : float, default=1e-3
        How near to 1 (for logistic regression, to 0) a margin is that counts as "on".

    Returns
    -------
    Conditions, or Stationarity for LogisticRegression and for an L1 penalty
        Place, alpha, slack and residual of each point; or place and alpha of each row, and place and residual of each
        coefficient.

    Examples
    --------
    >>> from separatrix import LinearSVM, kkt
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> conditions = kkt(LinearSVM().fit(X, y), X, y)
    >>> conditions.place.tolist(), conditions.alpha.round(6).tolist()
    (['outside', 'on', 'on', 'outside'], [0.0, 0.5, 0.5, 0.0])
    >>> conditions.counts, conditions.worst < 1e-9
    ({'outside': 2, 'on': 2, 'inside': 0}, True)
    >>> conditions.free_bias.round(6).tolist(), round(conditions.bias, 6)
    ([nan, -2.0, -2.0, nan], -2.0)
    >>> round(conditions.objective.primal, 6), round(conditions.objective.dual, 6)
    (0.5, 0.5)
    >>> from separatrix import LogisticRegression
    >>> found = kkt(LogisticRegression(C=0.05, l1_ratio=1.0).fit(X, y), X, y)
    >>> print(found.to_markdown())
    | coefficient | place | weight | pull | slope | residual |
    |-------------|-------|--------|------|-------|----------|
    | 0           | zero  | 0      | 0.15 | 0.15  | 0        |
    >>> found.penalty, found.alpha.round(6).tolist()
    (Penalty(ridge=0.0, lasso=1.0), [0.025, 0.025, 0.025, 0.025])
    """
    check_is_fitted(model)
    if not isinstance(model, LogisticRegression) and getattr(model, "_ratio", 0.0) == 0.0:
        return svm_conditions(model, X, y, sample_weight=sample_weight, tol=tol)
    if model._learned_together:
        raise ValueError("kkt is about a plane for each class: fit with multi_class='ovr'")
    tasks = _tasks(model, X, y, sample_weight)
    margin = tasks.signs * np.reshape(model.decision_function(X), tasks.signs.shape)
    return stationarity(model, tasks.rows, tasks.signs, tasks.costs, margin, tasks.positive, tol)


def svm_conditions(model: Any, X: Any, y: Any, *, sample_weight: Any = None, tol: float = 1e-3) -> Conditions:
    """Do what :func:`kkt` does for a support vector machine with an L2 penalty."""
    check_is_fitted(model)
    if not hasattr(model, "dual_coef_") or not hasattr(model, "C"):
        raise ValueError(f"{type(model).__name__} has no dual weights: use LinearSVM, KernelSVM or LogisticRegression")
    if getattr(model, "_ratio", 0.0) > 0.0:
        raise ValueError(f"only with an L2 penalty are the weights the sum of alpha y x; found {model.penalty!r}")
    tasks = _tasks(model, X, y, sample_weight)
    rows, costs, signs, several = tasks.rows, tasks.costs, tasks.signs, len(tasks.positive) > 1
    n = len(costs)
    if len(model.support_) and int(model.support_.max()) >= n:
        raise ValueError(f"X has {n} rows, but the model's support vectors go up to row {int(model.support_.max())}")
    if several and model.dual_coef_.shape[0] != len(tasks.positive):
        raise ValueError("this model has one task for each pair of classes: for kkt, fit two classes at a time")
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
    positive_alpha = _is_positive(alpha)
    residual = np.where(positive_alpha, np.abs(short), np.maximum(short, 0.0))
    residual = np.where(alpha >= upper * (1.0 - 1e-12), np.maximum(-short, 0.0), residual)
    residual = np.maximum(residual, np.maximum(-alpha, np.where(np.isinf(upper), 0.0, alpha - upper)))
    residual = np.where(cost > 0, residual, 0.0)  # a point of weight 0 was left out: any margin will do
    place = np.where(margin > 1.0 + tol, "outside", np.where(margin < 1.0 - tol, "inside", "on"))
    bias = np.asarray(model.intercept_, dtype=np.float64).reshape(-1)
    products = signs * margin - bias  # w.x
    balances = np.abs(signed.sum(axis=0))
    stationarities: tuple[float | None, ...] = (None,) * len(tasks.positive)
    squares = dual_squares = (signed * products).sum(axis=0)
    if hasattr(model, "coef_"):
        sums = np.stack([_core.combine(rows.matrix, np.ascontiguousarray(column)) for column in signed.T])
        coef = model.coef_.toarray() if is_sparse(model.coef_) else model.coef_
        stationarities = tuple(float(np.linalg.norm(each)) for each in coef - sums)
        squares, dual_squares = (coef * coef).sum(axis=1), (sums * sums).sum(axis=1)
    scaling = getattr(model, "intercept_scaling", None)
    has_bias = bool(getattr(model, "fit_intercept", True))
    if has_bias and scaling is not None and type(model).__module__.startswith("separatrix"):  # a penalised bias
        squares = squares + (bias / scaling) ** 2
        dual_squares = dual_squares + (scaling * balances) ** 2
    values = tuple(
        SoftMarginValue.at(
            float(squares[k]), float(dual_squares[k]), slack[:, k], alpha[:, k], cost[:, k], squared=squared
        )
        for k in range(len(tasks.positive))
    )
    with np.errstate(invalid="ignore"):
        wanted = signs * (1.0 - (0.5 * alpha / cost if squared else 0.0))
    free = positive_alpha & (alpha < upper * (1.0 - 1e-12)) & has_bias
    free_bias = np.where(free, wanted - products, np.nan)
    lengths = [each for each in stationarities if each is not None]

    def shaped(column: Any) -> Any:
        return column if several else column[:, 0]

    return Conditions(
        place=shaped(place),
        alpha=shaped(alpha),
        cost=shaped(upper),
        margin=shaped(margin),
        slack=shaped(slack),
        residual=shaped(residual + 0.0),  # not -0
        stationarity=float(np.linalg.norm(lengths)) if lengths else None,
        balance=float(balances.max()),
        free_bias=shaped(free_bias),
        bias=bias if several else float(bias[0]),
        values=values,
        classes=tasks.positive,
        stationarities=stationarities,
        balances=tuple(balances.tolist()),
    )


class _Tasks(NamedTuple):
    """The data as the tasks of a model see them."""

    rows: Rows
    costs: Floats
    signs: Floats  # a column for each task
    positive: tuple[Any, ...]


def _tasks(model: Any, X: Any, y: Any, sample_weight: Any) -> _Tasks:
    rows = Rows(X)
    n = rows.shape[0]
    y = column_or_1d(y)
    classes, codes = encode_labels(y, n)
    if not np.array_equal(classes, model.classes_):
        raise ValueError(f"y has the classes {classes.tolist()}; the model was fitted to {model.classes_.tolist()}")
    weights = check_weights(sample_weight, n)
    costs = np.full(n, getattr(model, "_price", float(model.C))) * (1.0 if weights is None else weights)
    if model.class_weight is not None:
        costs = costs * compute_class_weight(model.class_weight, classes=classes, y=np.asarray(y))[codes]
    positive = np.array(positives(len(classes)))
    signs = np.where(codes[:, None] == positive[None, :], 1.0, -1.0)
    return _Tasks(rows, costs, signs, tuple(classes[positive].tolist()))


def _is_positive(alpha: Floats) -> NDArray[np.bool_]:
    """Return which alphas are more than rounding errors of the largest of their task."""
    return np.asarray(alpha > 1e-12 * alpha.max(axis=0, initial=0.0))
