"""How good a model is on labelled rows, such as those of its test set: the metrics of scikit-learn, block by block.

Accuracy, balanced accuracy, F1, precision and recall follow from the confusion matrix. What needs scores or
probabilities (ROC AUC, average precision, log loss, Brier score, curves) is computed once, by ``finish``, and kept in
:class:`Metrics`; a model file of an earlier version has none. They are computed here, since importing scikit-learn's
takes longer than most fits; tests compare the two.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.curves import (
    Curve,
    OperatingPoint,
    calibration_curves,
    operating_points,
    ranking,
    ranking_curves,
)

METRICS = {
    "accuracy": "accuracy", "balanced_accuracy": "balanced accuracy", "f1_macro": "macro F1", "roc_auc": "ROC AUC",
    "average_precision": "average precision", "log_loss": "log loss", "brier": "Brier score",
}  # fmt: skip
LOSSES = ("log_loss", "brier")  # of which less is better
RANKED = ("roc_auc", "average_precision", *LOSSES)  # which need scores or probabilities
MOST_KEPT = 20_000_000  # rows times classes, above which metrics of scores are not computed
_EPSILON = float(np.finfo(np.float64).eps)  # the least probability in the log loss
_NORMAL = 1.959963984540054  # the quantile of the normal distribution at 0.975
IMBALANCE = 0.2  # the share of the smaller of two classes, below which accuracy says little


@dataclass(frozen=True, eq=False)
class Metrics:
    """What needs scores or probabilities; None where it is not defined or they are not known.

    Attributes
    ----------
    roc_auc, average_precision : float or None
        Of more than two classes the mean over the classes, each against the rest.
    log_loss, brier : float or None
        Of the probabilities.
    curves : tuple of Curve
        ROC, precision-recall and calibration.
    points : tuple of OperatingPoint
        Of two classes: what other thresholds give.
    """

    roc_auc: float | None = None
    average_precision: float | None = None
    log_loss: float | None = None
    brier: float | None = None
    curves: tuple[Curve, ...] = ()
    points: tuple[OperatingPoint, ...] = ()

    def __post_init__(self) -> None:
        values = (self.roc_auc, self.average_precision, self.log_loss, self.brier)
        numbers = all(value is None or (type(value) is float and math.isfinite(value)) for value in values)
        if not numbers or type(self.curves) is not tuple or not all(isinstance(each, Curve) for each in self.curves):
            raise ValueError("the metrics of the test scores are damaged")
        if type(self.points) is not tuple or not all(isinstance(each, OperatingPoint) for each in self.points):
            raise ValueError("the metrics of the test scores are damaged")


class ClassScore(NamedTuple):
    """Precision, recall and F1 of a class, None where they are not defined, and its number of rows."""

    precision: float | None
    recall: float | None
    f1: float | None
    support: int


@dataclass
class Scores:
    """Predictions beside labels, counted by class.

    Attributes
    ----------
    confusion : array of shape (n_classes, n_classes)
        Rows by actual class (down) and predicted class (across).
    majority : int
        The majority class of the training rows, by code.
    metrics : Metrics or None
        What needs scores or probabilities; None before ``finish``.
    """

    confusion: NDArray[np.int64]
    majority: int
    metrics: Metrics | None = None

    def __post_init__(self) -> None:
        shape = np.shape(self.confusion)
        kind = getattr(self.confusion, "dtype", None)
        if kind != np.int64 or type(self.majority) is not int or (self.confusion < 0).any():
            raise ValueError("a confusion matrix holds counts, and the majority class is a code")
        if len(shape) != 2 or shape[0] != shape[1] or not 0 <= self.majority < max(shape[0], 1):
            raise ValueError("the confusion matrix is not square, or the majority class is not in it")
        if not isinstance(self.metrics, Metrics | None):
            raise ValueError("the metrics of the test scores are damaged")
        if self.metrics is not None and any(curve.code >= shape[0] for curve in self.metrics.curves):
            raise ValueError("a curve of the test scores is of no class")
        self._kept: _Kept | None = None

    @classmethod
    def none(cls, n_classes: int, majority: int) -> Scores:
        """Return scores without rows, to add to."""
        return cls(np.zeros((n_classes, n_classes), dtype=np.int64), majority)

    def add(
        self,
        actual: NDArray[Any],
        predicted: NDArray[Any],
        scores: NDArray[Any] | None = None,
        proba: NDArray[Any] | None = None,
    ) -> None:
        """Count rows.

        Parameters
        ----------
        actual, predicted : arrays
            Codes of the classes.
        scores : array, optional
            What ``decision_function`` returns: one number for each row and two classes, else one for each class.
        proba : array, optional
            What ``predict_proba`` returns.
        """
        k = len(self.confusion)
        self.confusion += np.bincount(actual.astype(np.int64) * k + predicted, minlength=k * k).reshape(k, k)
        if self._kept is None:
            self._kept = _Kept(k)
        self._kept.add(actual, scores, proba)

    def finish(self) -> Scores:
        """Compute what needs scores or probabilities, let go of them, and return these scores."""
        if self._kept is not None:
            self.metrics, self._kept = self._kept.metrics(), None
        return self

    @property
    def n(self) -> int:
        """How many rows there are."""
        return int(self.confusion.sum())

    @property
    def correct(self) -> int:
        """How many of them were predicted correctly."""
        return int(np.trace(self.confusion))

    @property
    def baseline(self) -> float:
        """The accuracy of always predicting the majority class."""
        return float(self.confusion[self.majority].sum() / self.n)

    @property
    def accuracy(self) -> float:
        """The fraction of correct predictions."""
        return self.correct / self.n

    def interval(self) -> tuple[float, float]:
        """Return the 95% confidence interval of the accuracy (Wilson 1927).

        Examples
        --------
        >>> scores = Scores(np.array([[45, 5], [5, 45]]), 0)
        >>> scores.accuracy, tuple(round(end, 3) for end in scores.interval())
        (0.9, (0.826, 0.945))
        """
        share, square = self.accuracy, _NORMAL**2 / self.n
        middle = share + square / 2
        width = _NORMAL * math.sqrt(share * (1 - share) / self.n + square / (4 * self.n))
        low = (middle - width) / (1 + square) if self.correct else 0.0
        high = (middle + width) / (1 + square) if self.correct < self.n else 1.0
        return low, high

    @property
    def balanced_accuracy(self) -> float:
        """The mean recall of the classes that have rows."""
        rows = self.confusion.sum(axis=1)
        return float(np.mean(self.confusion.diagonal()[rows > 0] / rows[rows > 0]))

    @property
    def f1_macro(self) -> float:
        """The mean F1 of the classes that have rows or are predicted."""
        return float(np.mean([each.f1 for each in self.by_class() if each.f1 is not None]))

    def by_class(self) -> list[ClassScore]:
        """Return precision, recall, F1 and support of each class.

        Examples
        --------
        >>> Scores(np.array([[3, 1], [0, 2]]), 0).by_class()[0]
        ClassScore(precision=1.0, recall=0.75, f1=0.8571428571428571, support=4)
        """
        correct = self.confusion.diagonal().tolist()
        predicted, support = (self.confusion.sum(axis=axis).tolist() for axis in (0, 1))
        return [
            ClassScore(_share(hits, named), _share(hits, rows), _share(2 * hits, named + rows), rows)
            for hits, named, rows in zip(correct, predicted, support, strict=True)
        ]

    def value(self, metric: str) -> float | None:
        """Return a metric by its name in ``METRICS``."""
        if metric not in RANKED:
            return float(getattr(self, metric))
        value: float | None = getattr(self.metrics, metric, None)
        return value

    @property
    def imbalanced(self) -> bool:
        """Whether there are two classes, and one of them has less than a fifth of the rows."""
        smaller = self.confusion.sum(axis=1).min() / self.n
        return len(self.confusion) == 2 and 0 < smaller < IMBALANCE

    def weakest(self, most: int) -> list[int]:
        """Return the classes of lowest recall, by code; of equal ones the largest first."""
        known = [(each.recall or 0.0, -each.support, code) for code, each in enumerate(self.by_class()) if each.support]
        return [code for _, _, code in sorted(known)[:most]]

    def confusions(self, most: int) -> list[tuple[int, int, int]]:
        """Return the most frequent errors: actual class, predicted class, number of rows."""
        wrong = self.confusion.copy()
        np.fill_diagonal(wrong, 0)
        order = np.argsort(-wrong.ravel(), kind="stable")[:most]
        places = [divmod(place, len(wrong)) for place in order.tolist()]
        return [(a, b, int(wrong[a, b])) for a, b in places if wrong[a, b]]

    def sentences(self, what: str = "", dash: str = "-") -> list[str]:
        """Return the metrics in two sentences: balanced accuracy and ROC AUC first where classes are imbalanced.

        Examples
        --------
        >>> for line in Scores(np.array([[45, 5], [5, 45]]), 0).sentences("Test"):
        ...     print(line)
        Test accuracy 90.0% (90 of 100; 95% CI 82.6-94.5%); majority class 50.0%.
        Balanced accuracy 0.900, macro F1 0.900.
        """
        low, high = self.interval()
        accuracy = (
            f"accuracy {self.accuracy:.1%} ({self.correct:,} of {self.n:,}; 95% CI {100 * low:.1f}{dash}{high:.1%}); "
            f"majority class {self.baseline:.1%}."
        )
        ranked = ["roc_auc", "average_precision"]
        names = ["balanced_accuracy", *ranked, "f1_macro"] if self.imbalanced else ["balanced_accuracy", "f1_macro"]
        names += [name for name in (*ranked, *LOSSES) if name not in names]
        values = [(METRICS[name], self.value(name), name in LOSSES) for name in names]
        several = " (one-vs-rest mean)" if len(self.confusion) > 2 else ""
        others = ", ".join(
            f"{name} {value:{'.4g' if loss else '.3f'}}{several if name == METRICS['average_precision'] else ''}"
            for name, value, loss in values
            if value is not None
        )
        first, second = (f"{others}.", accuracy) if self.imbalanced else (accuracy, f"{others}.")
        first = f"{what} {first}" if what else first
        return [f"{each[0].upper()}{each[1:]}" for each in (first, second)]

    def remark(self) -> str | None:
        """Return a sentence where the model is not better than always predicting one class, else None.

        Balanced accuracy is compared with 1 over the number of classes that have rows, less 1.96 standard errors.

        Examples
        --------
        >>> Scores(np.array([[90, 0], [10, 0]]), 0).remark()
        'No better than always predicting the majority class: balanced accuracy 0.500, by chance 0.500.'
        """
        rows = self.confusion.sum(axis=1)
        there = rows > 0
        shares = (self.confusion.diagonal()[there] + 1.0) / (rows[there] + 2.0)  # not 0 or 1 (Agresti and Coull 1998)
        chance = 1.0 / there.sum()
        error = chance * math.sqrt(float((shares * (1.0 - shares) / (rows[there] + 2.0)).sum()))
        balanced = self.balanced_accuracy
        if there.sum() < 2:
            return None  # all rows are of one class
        if balanced - 1.96 * error <= chance:
            if balanced <= chance:
                about = f"balanced accuracy {balanced:.3f}, by chance {chance:.3f}"
                return f"No better than always predicting the majority class: {about}."
            return f"Not significantly better than chance: balanced accuracy {balanced:.3f}, by chance {chance:.3f}."
        if self.accuracy <= self.baseline and self.correct < self.n:
            return (
                f"The accuracy does not exceed that of always predicting the majority class ({self.baseline:.1%}); the "
                f"balanced accuracy exceeds chance ({chance:.3f})."
            )
        return None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        low, high = self.interval()
        return {
            "rows": self.n,
            "correct": self.correct,
            **{name: self.value(name) for name in METRICS},
            "interval": [low, high],
            "baseline": self.baseline,
            "remark": self.remark(),
            "by_class": [each._asdict() for each in self.by_class()],
            "confusion": self.confusion.tolist(),
            "curves": [] if self.metrics is None else [curve.to_dict() for curve in self.metrics.curves],
            "operating_points": [] if self.metrics is None else [asdict(each) for each in self.metrics.points],
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Scores:
        """Return the scores that ``to_dict`` wrote."""
        confusion = np.array(values["confusion"], dtype=np.int64)
        shares = confusion.sum(axis=1) / max(confusion.sum(), 1)
        metrics = None
        if "curves" in values:
            curves = tuple(
                Curve(each["kind"], each["code"], np.array(each["x"], dtype=float), np.array(each["y"], dtype=float))
                for each in values["curves"]
            )
            points = tuple(OperatingPoint(**each) for each in values.get("operating_points", ()))
            metrics = Metrics(**{name: values.get(name) for name in RANKED}, curves=curves, points=points)
        return cls(confusion, int(np.argmin(np.abs(shares - values["baseline"]))), metrics)


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


class _Kept:
    """The labels, scores and probabilities of rows, until there are too many."""

    def __init__(self, n_classes: int) -> None:
        self._k, self._rows = n_classes, 0
        self._actual: list[NDArray[np.intp]] = []
        self._scores: list[Floats] | None = []
        self._proba: list[Floats] | None = []

    def add(self, actual: NDArray[Any], scores: NDArray[Any] | None, proba: NDArray[Any] | None) -> None:
        """Keep those of some rows; once there are too many, or some rows have none, none are kept."""
        self._rows += len(actual)
        if self._rows * self._k > MOST_KEPT or self._k < 2:
            self._actual, self._scores, self._proba = [], None, None
            return
        self._actual.append(np.asarray(actual, dtype=np.intp))
        self._scores = self._longer(self._scores, scores)
        self._proba = self._longer(self._proba, proba)
        if self._k > 2 and self._proba is not None:
            self._scores = None  # probabilities rank as well

    def _longer(self, kept: list[Floats] | None, values: NDArray[Any] | None) -> list[Floats] | None:
        if kept is None or values is None:
            return None
        own = np.asarray(values, dtype=np.float64)
        own = own[:, -1] if self._k == 2 and own.ndim == 2 else own
        return [*kept, own] if np.isfinite(own).all() else None

    def metrics(self) -> Metrics:
        """Return the metrics of all rows."""
        scores = np.concatenate(self._scores) if self._scores else None
        proba = np.concatenate(self._proba) if self._proba else None
        ranked = scores if scores is not None else proba
        if ranked is None:
            return Metrics()
        actual, k = np.concatenate(self._actual), self._k
        present = np.unique(actual).tolist()
        codes = [1] if k == 2 else present
        values: dict[str, float | None] = {}
        curves: list[Curve] = []
        points: tuple[OperatingPoint, ...] = ()
        if len(present) > 1:
            by_class = {
                code: ranking(actual == code, ranked if ranked.ndim == 1 else ranked[:, code]) for code in codes
            }
            for name in ("roc_auc", "average_precision"):
                values[name] = float(np.mean([getattr(each, name) for each in by_class.values()]))
            curves += ranking_curves(by_class, k)
            points = operating_points(actual == 1, ranked) if k == 2 else ()
        if proba is not None:
            by_code = np.stack([1.0 - proba, proba], axis=1) if k == 2 else proba
            own = np.clip(by_code[np.arange(len(actual)), actual], _EPSILON, 1.0 - _EPSILON)  # of the actual class
            values["log_loss"] = float(-np.log(own).mean())
            parts = [(1, proba)] if k == 2 else [(code, proba[:, code]) for code in range(k)]
            values["brier"] = float(sum(np.mean(((actual == code) - p) ** 2) for code, p in parts))
            curves += calibration_curves(actual, proba, k)
        return Metrics(**values, curves=tuple(curves), points=points)


class Predictions(NamedTuple):
    """Of some rows: codes of the predicted classes, scores, and probabilities, None where there are none."""

    codes: NDArray[np.intp]
    scores: Floats
    proba: Floats | None


def predictions(estimator: Any, X: Any) -> Predictions:
    """Return what an estimator of this package predicts; the scores are computed once."""
    from separatrix.estimators.one_vs_rest import predicted_codes

    scores = np.asarray(estimator.decision_function(X), dtype=np.float64)
    tie = getattr(estimator, "boundary", "positive") != "negative"
    codes = predicted_codes(scores, len(estimator.classes_), tie_is_positive=tie)
    proba = np.asarray(estimator.predict_proba(X)) if hasattr(estimator, "predict_proba") else None
    return Predictions(codes, scores, proba)
