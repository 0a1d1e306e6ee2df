"""Out-of-fold scores: each training row scored by a model that was fitted to the other folds.

Calibration, thresholds, tuning and cross-validation share them. The folds are those of scikit-learn's
``StratifiedKFold`` with the seed of the fit; where the test set is drawn by groups those of ``StratifiedGroupKFold``,
and where it is drawn by time those of ``TimeSeriesSplit``, rows of one time together. Only the estimator is fitted anew
for every fold: scaling and encoding are learned once, from all training rows.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.split import TestSplit, split_by
from separatrix.tables.split_column import SplitBy

FOLDS = 5
MOST_HELD_OUT = 10_000  # rows; a calibration needs no more
ACCURACY, BALANCED_ACCURACY, ROC_AUC = "accuracy", "balanced_accuracy", "roc_auc"
_IMBALANCED = 0.2  # share of the smaller of two classes

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]  # rows to fit to, rows to score


class OutOfFold(NamedTuple):
    """Scores and predictions of training rows by models that were fitted without them."""

    scores: Floats  # of shape (n,), or (n, classes) for more than two; NaN for rows in no fold
    predictions: NDArray[np.intp]  # codes; -1 for rows in no fold
    folds: Folds

    def of(self, *rows: Any) -> list[Any]:
        """Return the scores of the rows in folds, and these rows of each array (None stays)."""
        scored = self.predictions >= 0
        return [None if each is None else each[scored] for each in (self.scores, *rows)]


class TooFewRowsError(ValueError):
    """A class, the groups or the times have so few rows that there are no folds."""


def make_folds(
    labels: NDArray[Any], classes: Sequence[Any], folds: int, seed: int, by: SplitBy | None = None, order: Any = None
) -> Folds:
    """Return folds of rows: stratified, or of whole groups or one after the other where the test set is drawn so.

    ``order`` is the group or the time of each row.
    """
    if by is None:
        return stratified_folds(labels, classes, folds, seed)
    return group_folds(labels, classes, folds, seed, order) if by.kind == "group" else time_folds(labels, folds, order)


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


def group_folds(labels: NDArray[Any], classes: Sequence[Any], folds: int, seed: int, groups: Floats) -> Folds:
    """Return folds of whole groups, in which each class keeps its share as far as that goes.

    Examples
    --------
    >>> labels, groups = np.array([0, 1, 0, 1, 0, 1]), np.array([0.0, 0.0, 1.0, 1.0, 2.0, 2.0])
    >>> [test.tolist() for _, test in group_folds(labels, ["a", "b"], 5, 0, groups)]
    [[4, 5], [2, 3], [0, 1]]
    """
    from sklearn.model_selection import StratifiedGroupKFold

    for code, label in enumerate(classes):
        if len(np.unique(groups[labels == code])) < 2:
            raise TooFewRowsError(f"class {str(label)!r} is in one group only; folds of groups need two of each class")
    splitter = StratifiedGroupKFold(min(folds, len(np.unique(groups))), shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # about classes with fewer rows than folds
        parts = [part for part in splitter.split(labels, labels, groups) if len(part[1])]
    for train, _ in parts:
        lacking = np.setdiff1d(np.arange(len(classes)), labels[train])
        if lacking.size:
            label = str(classes[lacking[0]])
            raise TooFewRowsError(f"all groups with class {label!r} are in one fold; use another number of folds")
    return parts


def time_folds(labels: NDArray[Any], folds: int, times: Floats) -> Folds:
    """Return folds each of which is later than its training rows; rows of one time are together.

    They begin where those of ``TimeSeriesSplit`` would, or before with the first row of the same time. Folds whose
    training rows lack a class are left out.

    Examples
    --------
    >>> times, labels = np.array([5.0, 1.0, 2.0, 3.0, 4.0, 0.0]), np.array([0, 1, 1, 0, 1, 0])
    >>> [(train.tolist(), test.tolist()) for train, test in time_folds(labels, 2, times)]
    [([1, 5], [2, 3]), ([1, 2, 3, 5], [0, 4])]
    """
    folds = min(folds, len(times) - 1)
    size = len(times) // (folds + 1)
    begins = np.unique(np.sort(times)[[len(times) - k * size for k in range(folds, 0, -1)]])
    ends = [*begins[1:].tolist(), np.inf]
    parts = [
        (np.flatnonzero(times < begin), np.flatnonzero((times >= begin) & (times < end)))
        for begin, end in zip(begins.tolist(), ends, strict=True)
    ]
    everything = len(np.unique(labels))
    known = [part for part in parts if len(np.unique(labels[part[0]])) == everything]
    if not known or len(np.unique(labels[np.concatenate([test for _, test in known])])) < everything:
        raise TooFewRowsError("there is no time before and after which every class has rows, which folds by time need")
    return known


def held_out(labels: NDArray[Any], classes: Sequence[Any], seed: int, by: SplitBy | None, order: Any) -> Folds:
    """Return one pair of rows to fit to and rows to score, a fifth of all but at most ``MOST_HELD_OUT``.

    The rows to score are drawn as a test set is: at random, whole groups, or the last by time.
    """
    share = min(0.2, MOST_HELD_OUT / len(labels))
    counts = np.bincount(labels, minlength=len(classes))
    drawn = TestSplit(counts, share, seed) if by is None else split_by(by, order, share, seed)
    train, test = drawn.rows(labels)
    for part in (train, test):
        if len(np.unique(labels[part])) < len(classes):
            raise TooFewRowsError("a class has too few rows to be in both parts")
    return [(train, test)]


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
        As :func:`make_folds` makes them.
    watch : callable, optional
        Called with the number of folds done and of all.
    """
    from separatrix.estimators.contract import ConvergenceWarning

    n = len(labels)
    scores: Floats = np.full(n if len(classes) == 2 else (n, len(classes)), np.nan)
    predictions = np.full(n, -1, dtype=np.intp)
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
