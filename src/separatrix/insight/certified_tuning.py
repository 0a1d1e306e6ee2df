"""The choice of C by cross-validation, with a proof of how much better any other C of a range could be."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.fitting import number
from separatrix.estimators.solved import SolvedClassifier
from separatrix.estimators.warm_fits import copy_of, solved, with_l2
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.insight.fold_bounds import FoldBounds
from separatrix.insight.range_cells import default_fits
from separatrix.insight.range_search import Search
from separatrix.loop.problem import Labels, check_weights, encode_labels
from separatrix.stops import TimeLimit, as_stop, is_count, time_limit
from separatrix.text import times


class Tuning:
    """What ``sx.tune`` returns: a C, its cross-validation error, and a lower bound on that of every C of the range.

    Attributes
    ----------
    C_ : float
        The value with the least cross-validation error of those fitted; the smallest of several.
    error_ : float
        Its cross-validation error: the mean over the folds of the part of the validation rows that are misclassified.
    lower_bound_ : float
        No C in the range has a smaller cross-validation error: proved. 0 where nothing could be.
    distance_ : float
        ``error_ - lower_bound_``, 0 or more: how much smaller the error of another C can be at most.
    proved_ : bool
        Whether that is at most ``within``.
    n_fits_, n_paths_ : int
        The fits that were made, each of one fold at one C, and the paths of folds that were followed from one of them.
    Cs_, errors_ : arrays
        The values of C that were fitted, ascending, and their cross-validation errors.
    bounds_ : array of shape (n_ranges, 3)
        Ranges of C, from end to end, and the lower bound on the error in each.
    best_estimator_ : estimator
        Fitted to all rows with ``C_``.
    range_, within_, n_folds_, seconds_ : tuple, float, int, float
        What was asked for, and how long it took without the last fit.
    """

    def __init__(self, search: Search, best_estimator: Any, within: float, reason: str) -> None:
        self.C_, self.error_ = search.best.C, search.best.error
        self.Cs_ = np.array([step.C for step in search.steps])
        self.errors_ = np.array([step.error for step in search.steps])
        self.bounds_ = np.array([tuple(cell) for cell in search.cells]).reshape(-1, 3)
        lowest = float(self.bounds_[:, 2].min()) if len(self.bounds_) else 0.0
        self.lower_bound_ = min(max(lowest, 0.0), self.error_)
        self.range_, self.within_ = (search.low, search.high), within
        self.n_fits_, self.n_paths_ = search.n_fits, search.n_paths
        self.n_folds_, self.seconds_ = len(search.folds), search.seconds
        self.proved_ = search.ended == "proved"
        distance = self.error_ - self.lower_bound_
        self.distance_ = min(distance, within) if self.proved_ else distance  # which rounding may have put above within
        self.best_estimator_ = best_estimator
        self._reason = reason

    def __str__(self) -> str:
        low, high = self.range_
        least = f"C = {self.C_:.3g} (cross-validation error {self.error_:.4g}, {self.n_folds_} folds)"
        if not len(self.bounds_):
            return f"{least} is the best of {times(len(self.Cs_), 'value')} tried; nothing is proved: {self._reason}"
        by = self.within_ if self.proved_ else _rounded_up(self.distance_)
        text = f"{least}; no C in [{low:g}, {high:g}] has a cross-validation error lower by more than {by:g}"
        paths = f" and {times(self.n_paths_, 'path')}" if self.n_paths_ else ""
        return f"{text} (proved with {times(self.n_fits_, 'fit')}{paths}{'' if self.proved_ else f'; {self._reason}'})"

    def __repr__(self) -> str:
        return f"<Tuning: {self}>"

    @property
    def table(self) -> list[tuple[float, float]]:
        """Each C that was fitted, ascending, with its cross-validation error."""
        return list(zip(self.Cs_.tolist(), self.errors_.tolist(), strict=True))


def tune(
    estimator: Any,
    X: Any,
    y: Any,
    C: tuple[float, float] = (1e-3, 1e3),
    folds: Any = 5,
    within: float = 0.005,
    *,
    max_fits: int | None = None,
    stop: Any = None,
    sample_weight: Any = None,
) -> Tuning:
    """Choose C by cross-validation, and prove how much better any other C of the range could be.

    Parameters
    ----------
    estimator : LinearSVM, LogisticRegression, or Pipeline that ends with one
        What to tune; its own C does not matter. In a pipeline the steps before it are fitted anew in each fold.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The examples.
    y : sequence of n_samples labels
        Their classes.
    C : tuple of two floats, default=(1e-3, 1e3)
        The lowest and the highest C.
    folds : int, cross-validation splitter or list of pairs of arrays, default=5
        A number of folds stands for scikit-learn's ``StratifiedKFold``.
    within : float, default=0.005
        The search ends when no C in the range can have an error lower by more than this.
    max_fits : int, optional
        The most fits, each of one fold at one C: by default 1,000 divided by the number of classes that are learned one
        by one, but at least 20 for each fold. If they do not suffice, the answer says what they prove.
    stop : TimeLimit or str, optional
        A limit of time; the fits that have begun are finished.
    sample_weight : sequence of n_samples floats, optional
        Weight of each example, in the fits and in the error. The steps of a pipeline before the last do not get it.

    Returns
    -------
    Tuning
        ``str()`` of it is the answer in a sentence; ``best_estimator_`` is fitted to all rows.

    Notes
    -----
    The statement is about the error of the *optima*: for every C in the range, the model of each fold whose objective
    is least. ``error_`` is measured with fitted models, whose duality gap is at most ``tol``.

    Between two fits the optimum lies in a ball that follows from the two solutions, whatever their gaps
    (``docs/choosing_c.md`` derives it). A validation row whose score has one sign in the whole ball is decided; the
    rows that are surely wrong make the lower bound (Shibagaki, Suzuki, Karasuyama and Takeuchi, 2015). A free intercept
    is bounded by the slope of the loss of the training rows. Several classes are proved one-vs-rest; a multinomial
    model is not, and the answer says so.

    ``class_weight`` counts in the fits only. With sample weights the error of a fold is the weight of the validation
    rows that are misclassified, as a part of that of all.

    Examples
    --------
    >>> import separatrix as sx
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> result = sx.tune(sx.LogisticRegression(), X[50:], y[50:], C=(0.01, 100.0), within=0.02)
    >>> result.proved_, result.distance_ <= 0.02
    (True, True)
    """
    began = time.perf_counter()
    steps, last = _parts(estimator)
    low, high = _range(C)
    if not (number("within", within) > 0.0 and within < 1.0):
        raise ValueError(f"within must be a number between 0 and 1, such as 0.005; found {within!r}")
    limit = as_stop(stop)
    if limit is not None and not all(isinstance(part, TimeLimit) for part in limit.parts):
        raise ValueError(f"stop must be a TimeLimit or None: tune ends when its proof is complete; found {stop!r}")
    seconds = None if limit is None else time_limit(limit)
    labels = encode_labels(y)
    pairs = _folds(folds, X, labels)
    weights = check_weights(sample_weight, len(labels.codes))
    for place, (_, test) in enumerate(pairs):
        if weights is not None and not weights[test].any():
            raise ValueError(f"fold {place} has only validation rows of weight 0; every fold needs one with weight")
    if max_fits is not None and (not is_count(max_fits) or max_fits < 2 * len(pairs)):
        raise ValueError(
            f"max_fits must be a whole number of at least {2 * len(pairs)}, two fits in each fold; found {max_fits!r}"
        )
    each = [_fold(steps, last, X, labels, weights, train, test) for train, test in pairs]
    deadline = began + seconds.seconds if seconds is not None else math.inf
    halted: Callable[[], bool] = lambda: time.perf_counter() >= deadline  # noqa: E731
    most = default_fits(each) if max_fits is None else int(max_fits)
    search = Search(each, low, high, float(within), float(last.tol), most, halted)
    (search.run if all(fold.certified for fold in each) else search.try_values)()
    reasons = {
        "fits": f"max_fits={most} reached",
        "time": "" if seconds is None else f"time limit of {seconds.seconds:g} s reached",
        "rounding": "the precision of the fits, or an intercept that is not unique, allows no more",
        "joint": "the classes are learned together; with multi_class='ovr' it can be",
    }
    return Tuning(
        search,
        _refit(estimator, steps, last, X, y, weights, search.best.C),
        float(within),
        reasons.get(search.ended, ""),
    )


def _parts(estimator: Any) -> tuple[list[tuple[str, Any]], SolvedClassifier]:
    """Return the steps before the last, and the last."""
    steps = getattr(estimator, "steps", None)
    before, last = ([], estimator) if not isinstance(steps, list) or not steps else (steps[:-1], steps[-1][1])
    last = solved(last, "tune")
    with_l2(last, "tune")
    return before, last


def _range(C: Any) -> tuple[float, float]:
    try:
        low, high = C
    except (TypeError, ValueError):
        raise ValueError(f"C must be a pair of positive, finite numbers, the lower first; found {C!r}") from None
    low, high = number("the lowest C", low), number("the highest C", high)
    if not (math.isfinite(low) and math.isfinite(high) and 0.0 < low < high):
        raise ValueError(f"C must be a pair of positive, finite numbers, the lower first; found {C!r}")
    return low, high


def _folds(folds: Any, X: Any, labels: Labels) -> list[tuple[NDArray[np.intp], NDArray[np.intp]]]:
    n = int(X.shape[0]) if hasattr(X, "shape") else len(X)
    if len(labels.codes) != n:
        raise ValueError(f"X and y differ in length: X has {n} rows, y has {len(labels.codes)} labels")
    classes = labels.classes.tolist()
    if len(classes) < 2:
        raise ValueError(f"tune needs examples of at least two classes; found one class: {classes[0]!r}")
    if isinstance(folds, int | np.integer):
        counts = np.bincount(labels.codes, minlength=len(classes))
        if isinstance(folds, bool) or folds < 2:
            raise ValueError(f"folds must be a whole number of at least 2, or a splitter; found {folds!r}")
        if folds > counts.min():
            rare = int(counts.argmin())
            raise ValueError(
                f"folds must be at most the number of rows of the smallest class: class {classes[rare]!r} has "
                f"{times(int(counts[rare]), 'row')}; found folds={folds}"
            )
        from sklearn.model_selection import StratifiedKFold

        pairs = StratifiedKFold(int(folds)).split(np.zeros(n), labels.codes)
    elif hasattr(folds, "split"):
        pairs = folds.split(np.zeros(n), labels.codes)
    else:
        pairs = folds
    try:
        known = [(_places(train, n), _places(test, n)) for train, test in pairs]
    except (TypeError, ValueError) as problem:
        raise ValueError(f"folds must be a number, a splitter or pairs of arrays of row numbers; {problem}") from None
    if not known:
        raise ValueError("folds must give at least one pair of training and validation rows; found none")
    for place, (train, test) in enumerate(known):
        missing = sorted(set(range(len(classes))) - set(labels.codes[train].tolist()))
        if missing:
            raise ValueError(f"fold {place} has no training row of class {classes[missing[0]]!r}; every fold needs one")
        if not len(test):
            raise ValueError(f"fold {place} has no validation rows; every fold needs one")
    return known


def _places(rows: Any, n: int) -> NDArray[np.intp]:
    places = np.asarray(rows)
    if places.dtype == bool and places.shape == (n,):
        return np.flatnonzero(places)
    if places.ndim != 1 or (places.size and places.dtype.kind not in "iu"):
        raise ValueError(f"found {rows!r}")
    if places.size and not (places.min() >= 0 and places.max() < n):
        raise ValueError(f"found a row number outside 0 to {n - 1}")
    return places.astype(np.intp)


def _fold(
    steps: list[tuple[str, Any]], last: SolvedClassifier, X: Any, labels: Labels, weights: Floats | None,
    train: NDArray[np.intp], test: NDArray[np.intp],
) -> FoldBounds:  # fmt: skip
    fitted, checked = Labels(labels.classes, labels.codes[train]), labels.codes[test].astype(np.intp)
    own, counts = (None, None) if weights is None else (weights[train], weights[test])
    if not steps:
        values = Rows(X).values
        return FoldBounds(last, values[train], fitted, values[test], checked, own, counts)
    from sklearn.base import clone
    from sklearn.utils import _safe_indexing

    seen: Any = X if hasattr(X, "iloc") or is_sparse(X) else np.asarray(X)
    inside, outside = _safe_indexing(seen, train), _safe_indexing(seen, test)
    for _, step in steps:
        if step is not None and not isinstance(step, str):
            step = clone(step)
            inside = step.fit_transform(inside, labels.classes[fitted.codes])
            outside = step.transform(outside)
    return FoldBounds(last, inside, fitted, outside, checked, own, counts)


def _refit(
    estimator: Any, steps: list[tuple[str, Any]], last: SolvedClassifier, X: Any, y: Any, weights: Floats | None,
    C: float,
) -> Any:  # fmt: skip
    if not steps and not hasattr(estimator, "steps"):
        return copy_of(last, C=C).fit(X, y, weights)
    from sklearn.base import clone

    whole = clone(estimator)
    name = whole.steps[-1][0]
    whole.set_params(**{f"{name}__C": C})
    return whole.fit(X, y, **({} if weights is None else {f"{name}__sample_weight": weights}))


def _rounded_up(value: float) -> float:
    """Return a number of four digits after the point that is no less."""
    rounded: Floats = np.ceil(np.array([value * 1e4 - 1e-9])) / 1e4
    return float(rounded[0])
