"""The optimum along C: each fit begins where the last one ended, and each has its proven gap."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.linear_svm import LinearSVM
from separatrix.estimators.warm_fits import WarmFits, checked_costs, solved
from separatrix.geometry.rows import Floats, Rows, column_names
from separatrix.loop.problem import encode_labels
from separatrix.text import times


class RegularisationPath:
    """What ``sx.path`` returns: one entry for each C.

    Attributes
    ----------
    Cs_ : array of shape (k,)
        The values of C, ascending.
    coef_ : array of shape (k, n_planes, n_features)
        The weights; one plane for two classes, one for each class for more.
    intercept_ : array of shape (k, n_planes)
        The intercepts.
    objective_, duality_gap_ : arrays of shape (k, n_tasks)
        The value reached, and by how much it can be above the optimum at most, rounding errors included; the classes
        of a multinomial model are one task.
    n_nonzero_ : array of shape (k,)
        How many weights are not 0.
    n_support_ : array of shape (k,), or None
        How many support vectors there are; None for logistic regression, which has no others.
    n_iter_ : array of shape (k,)
        Iterations or epochs of each fit.
    converged_ : array of shape (k,)
        Whether the gap is at most ``tol`` of the objective.
    classes_ : array
        The labels, sorted.
    feature_names_ : list of str or None
        The names of the columns, where X had some.
    """

    def __init__(self, Cs: Floats, classes: NDArray[Any], names: list[str] | None) -> None:
        self.Cs_, self.classes_, self.feature_names_ = Cs, classes, names
        self.coef_: NDArray[Any] = np.empty((0, 0, 0))
        self.intercept_ = self.objective_ = self.duality_gap_ = np.empty((0, 0))
        self.n_nonzero_ = self.n_iter_ = np.empty(0, dtype=np.intp)
        self.n_support_: NDArray[np.intp] | None = None
        self.converged_ = np.empty(0, dtype=bool)

    def __str__(self) -> str:
        low, high, k = self.Cs_[0], self.Cs_[-1], len(self.Cs_)
        gap = float((self.duality_gap_ / np.maximum(self.objective_, 1e-300)).max())
        done = int(self.converged_.sum())
        some = "" if done == k else f"; {k - done} did not converge"
        return f"{times(k, 'fit')} from C = {low:.3g} to {high:.3g}, relative duality gap at most {gap:.1e}{some}"

    def __repr__(self) -> str:
        return f"<RegularisationPath: {self}>"


def path(estimator: Any, X: Any, y: Any, Cs: Any, sample_weight: Any = None) -> RegularisationPath:
    """Fit an estimator for each C, from the smallest up, each fit starting from the last.

    Parameters
    ----------
    estimator : LinearSVM or LogisticRegression
        Whose parameters but C to use. Each fit is to its ``tol``.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The examples.
    y : sequence of n_samples labels
        Their classes, two or more.
    Cs : sequence of float
        The values of C, ascending.
    sample_weight : sequence of n_samples floats, optional
        Weight of each example.

    Returns
    -------
    RegularisationPath
        Weights, objective, proven gap and support for each C; ``sx.plots.coefficient_path`` draws it.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], ["no", "no", "yes", "yes"]
    >>> found = sx.path(sx.LinearSVM(tol=1e-9), X, y, [0.01, 0.1, 10.0])
    >>> found.coef_[:, 0, 0].round(4).tolist(), found.n_support_.tolist()
    ([0.05, 0.5, 2.0], [4, 4, 2])
    """
    estimator = solved(estimator, "path")
    costs = checked_costs("Cs", Cs)
    labels = encode_labels(y)
    if len(labels.classes) < 2:
        raise ValueError(
            f"path needs examples of at least two classes; found one class: {labels.classes.tolist()[0]!r}"
        )
    fits = WarmFits(estimator, Rows(X), labels, sample_weight)
    answer = RegularisationPath(costs, labels.classes, column_names(X))
    rows: list[tuple[Any, ...]] = []
    for C in costs.tolist():
        model = fits.fit(C)
        support = len(model.support_) if isinstance(model, LinearSVM) else -1
        rows.append((
            model.coef_, model.intercept_, np.atleast_1d(model.objective_), np.atleast_1d(model.duality_gap_),
            np.count_nonzero(model.coef_), support, model.n_iter_, fits.converged,
        ))  # fmt: skip
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    answer.coef_, answer.intercept_, answer.objective_, answer.duality_gap_ = columns[:4]
    answer.n_nonzero_, answer.n_iter_, answer.converged_ = columns[4], columns[6], columns[7]
    answer.n_support_ = columns[5] if isinstance(estimator, LinearSVM) else None
    return answer
