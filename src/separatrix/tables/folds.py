"""Out-of-fold scores: each training row scored by a model that was fitted to the other folds.

Calibration, thresholds, tuning and cross-validation share them. The folds are those of scikit-learn's
``StratifiedKFold`` with the seed of the fit. Only the estimator is fitted anew for every fold: scaling and encoding are
learned once, from all training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats

FOLDS = 5
ACCURACY, BALANCED_ACCURACY, ROC_AUC = "accuracy", "balanced_accuracy", "roc_auc"
_IMBALANCED = 0.2  # share of the smaller of two classes

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]  # rows to fit to, rows to score


class OutOfFold(NamedTuple):
    """Scores and predictions of training rows by models that were fitted without them."""

    scores: Floats  # of shape (n,), or (n, classes) for more than two
    predictions: NDArray[np.intp]  # codes
    folds: Folds


class TooFewRowsError(ValueError):
    """A class has so few rows that it cannot be in every fold's training rows."""


def stratified_folds(labels: NDArray[Any], classes: Sequence[Any], folds: int, seed: int) -> Folds:
    """Return folds in which each class keeps its share; a class with fewer rows than folds is in some of them.

    Examples
    --------
    >>> [test.tolist() for _, test in stratified_folds(np.array([0, 0, 1, 1]), ["a", "b"], 5, seed=0)]
    [[1, 2], [0, 3]]
    """
    from sklearn.model_selection import StratifiedKFold

    counts = np.bincount(labels, minlength=len(classes))
    if counts.min() < 2:
        rare = classes[int(counts.argmin())]
        raise TooFewRowsError(f"class {str(rare)!r} has {counts.min()} training row; folds need at least two of each")
    splitter = StratifiedKFold(min(folds, int(counts.max())), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about classes with fewer rows than folds
        return list(splitter.split(np.zeros(len(labels)), labels))


def out_of_fold(
    new: Callable[[], Any],
    X: Any,
    labels: NDArray[np.int32],
    weights: NDArray[np.float64] | None,
    classes: NDArray[Any],
    folds: Folds,
    watch: Callable[[int, int], None] | None = None,
) -> OutOfFold:
    """Fit a new estimator to each fold's training rows and score the others.

    Parameters
    ----------
    new : callable
        Makes an estimator that is not fitted.
    X, labels, weights : arrays
        The training rows as a model sees them, codes of their classes, sample weights.
    classes : array
        The labels, sorted.
    folds : list of pairs of arrays
        As :func:`stratified_folds` makes them.
    watch : callable, optional
        Called with the number of folds done and of all.
    """
    from separatrix.estimators.contract import ConvergenceWarning

    n = len(labels)
    scores: Floats = np.empty(n if len(classes) == 2 else (n, len(classes)))
    predictions = np.empty(n, dtype=np.intp)
    for done, (train, test) in enumerate(folds):
        if watch is not None:
            watch(done, len(folds))
        estimator = new()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            own = None if weights is None else weights[train]
            estimator._fit_codes(X[train], labels[train], classes, sample_weight=own)
        rows = X[test]
        scores[test] = estimator.decision_function(rows)
        predictions[test] = estimator._predict_codes(rows)
    return OutOfFold(scores, predictions, folds)


def metrics_for(labels: NDArray[Any], n_classes: int, folds: Folds) -> tuple[str, ...]:
    """Return the metrics of a cross-validation; ROC AUC is for two classes that are both in every fold."""
    both = n_classes == 2 and all(len(np.unique(labels[test])) == 2 for _, test in folds)
    return (ACCURACY, BALANCED_ACCURACY, ROC_AUC) if both else (ACCURACY, BALANCED_ACCURACY)


def usual_metric(labels: NDArray[Any], n_classes: int, folds: Folds) -> str:
    """Return what models are compared by: accuracy, or ROC AUC where one of two classes has less than 20% of rows."""
    share = np.bincount(labels, minlength=n_classes).min() / len(labels)
    *_, last = metrics_for(labels, n_classes, folds)
    return ACCURACY if n_classes > 2 or share >= _IMBALANCED else last


def fold_scores(metric: str, result: OutOfFold, labels: NDArray[Any]) -> Floats:
    """Return a metric on each fold, as scikit-learn's ``cross_val_score`` does."""
    from sklearn.metrics import accuracy_score, balanced_accuracy_score, roc_auc_score

    def of(test: NDArray[np.intp]) -> float:
        if metric == ROC_AUC:
            return float(roc_auc_score(labels[test], result.scores[test]))
        score = accuracy_score if metric == ACCURACY else balanced_accuracy_score
        return float(score(labels[test], result.predictions[test]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # a class may be absent from a small fold
        return np.array([of(test) for _, test in result.folds])
