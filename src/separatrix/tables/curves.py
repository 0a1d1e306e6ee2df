"""Curves of a classifier on labelled rows: ROC, precision-recall and calibration, in few points.

They are those of scikit-learn, thinned and averaged over classes. A curve can be stored in a model file.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array, is_count

KINDS = ("roc", "precision_recall", "calibration")
MACRO = -1  # the code of the mean over all classes
EACH = 6  # with at most this many classes each has a curve of its own
_POINTS = 200
_BINS = 10
_RECALLS = (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)
_GRID = np.linspace(0.0, 1.0, 101)


@dataclass(frozen=True, eq=False)
class Curve:
    """One curve.

    Attributes
    ----------
    kind : {"roc", "precision_recall", "calibration"}
        False positive rate and true positive rate; recall and precision; predicted and observed fraction.
    code : int
        The class that counts as positive, -1 for the mean over the classes (calibration: of the predicted class).
    x, y : arrays
        At most 200 points, by x.
    """

    kind: str
    code: int
    x: Floats
    y: Floats

    def __post_init__(self) -> None:
        fits = is_array(self.x, "f8", (None,), finite=True) and is_array(self.y, "f8", (len(self.x),), finite=True)
        if self.kind not in KINDS or not is_count(self.code, MACRO) or not fits or len(self.x) > _POINTS:
            raise ValueError("a curve of the test scores is damaged")

    def to_dict(self) -> dict[str, object]:
        """Return plain values."""
        return {"kind": self.kind, "code": self.code, "x": self.x.tolist(), "y": self.y.tolist()}


@dataclass(frozen=True)
class OperatingPoint:
    """What a threshold gives: all rows with at least this score are predicted to be of the second of two classes.

    Attributes
    ----------
    score : float
        The threshold.
    precision, recall : float
        Of the second class.
    predicted : int
        How many rows are predicted to be of it.
    """

    score: float
    precision: float
    recall: float
    predicted: int

    def __post_init__(self) -> None:
        numbers = (self.score, self.precision, self.recall)
        if not all(type(each) is float and math.isfinite(each) for each in numbers) or not is_count(self.predicted, 0):
            raise ValueError("an operating point of the test scores is damaged")

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        both = self.precision + self.recall
        return 2.0 * self.precision * self.recall / both if both > 0.0 else 0.0


class Ranking(NamedTuple):
    """How well scores rank the rows of a class before the others."""

    roc_auc: float
    average_precision: float
    roc: tuple[Floats, Floats]
    precision_recall: tuple[Floats, Floats]


def ranking(positive: NDArray[np.bool_], scores: Floats) -> Ranking:
    """Return the ROC AUC, the average precision and both curves, from one sort of the scores.

    They are those of scikit-learn's ``roc_auc_score``, ``average_precision_score``, ``roc_curve`` and
    ``precision_recall_curve``, which sort the scores once each.

    Examples
    --------
    >>> ranked = ranking(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> ranked.roc_auc, round(ranked.average_precision, 6)
    (0.75, 0.833333)
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # the last row of each score
    hits = np.cumsum(positive[order])[ends].astype(np.float64)
    true = np.concatenate([[0.0], hits / hits[-1]])
    false = np.concatenate([[0.0], (ends + 1 - hits) / (len(order) - hits[-1])])
    precision = np.concatenate([[1.0], hits / (ends + 1)])
    area = float(np.sum(np.diff(false) * (true[1:] + true[:-1]) / 2.0))
    average = float(np.sum(np.diff(true) * precision[1:]))
    return Ranking(area, average, _thinned(false, true), _thinned(true, precision))


def operating_points(positive: NDArray[np.bool_], scores: Floats) -> tuple[OperatingPoint, ...]:
    """Return the highest thresholds that reach a recall from 10% to 99%, the highest first.

    Examples
    --------
    >>> points = operating_points(np.array([False, False, True, True]), np.array([0.1, 0.4, 0.35, 0.8]))
    >>> [(each.score, each.precision, each.recall, each.predicted) for each in points]
    [(0.8, 1.0, 0.5, 1), (0.35, 0.6666666666666666, 1.0, 3)]
    """
    order = np.argsort(-scores, kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)
    hits = np.cumsum(positive[order])[ends]
    recall = hits / hits[-1]
    places = np.unique(np.searchsorted(recall, np.array(_RECALLS) - 1e-12))
    return tuple(
        OperatingPoint(
            float(scores[order[ends[k]]]), float(hits[k] / (ends[k] + 1)), float(recall[k]), int(ends[k]) + 1
        )
        for k in places.tolist()
    )


def ranking_curves(rankings: dict[int, Ranking], k: int) -> list[Curve]:
    """Return the curves of the classes, or of more than six classes their means."""
    out = []
    for kind in ("roc", "precision_recall"):
        parts = {code: getattr(each, kind) for code, each in rankings.items()}
        out += (
            [Curve(kind, code, *part) for code, part in parts.items()]
            if k <= EACH
            else [_mean(kind, [*parts.values()])]
        )
    return out


def calibration_curves(actual: NDArray[np.intp], proba: Floats, k: int) -> list[Curve]:
    """Return how often predictions of a probability are right, of each class or of the predicted one.

    Probabilities are those of the second of two classes, or a column for each of more.
    """
    if k == 2:
        chosen = [(1, actual == 1, proba)]
    elif k <= EACH:
        chosen = [(code, actual == code, proba[:, code]) for code in np.unique(actual).tolist()]
    else:
        chosen = [(MACRO, actual == proba.argmax(axis=1), proba.max(axis=1))]
    out = []
    for code, positive, predicted in chosen:
        edges = np.percentile(predicted, 100 * np.linspace(0.0, 1.0, _BINS + 1))[1:-1]  # bins of equally many rows
        place = np.searchsorted(edges, predicted)
        rows, used = np.bincount(place), np.unique(place)
        mean, observed = (np.bincount(place, each)[used] / rows[used] for each in (predicted, positive))
        out.append(Curve("calibration", code, mean, observed))
    return out


def _mean(kind: str, parts: list[tuple[Floats, Floats]]) -> Curve:
    """Return the mean of curves over classes, at evenly spaced x."""
    every = [np.interp(_GRID, x, y) for x, y in parts]
    if kind == "roc":
        for each in every:
            each[0] = 0.0
    return Curve(kind, MACRO, _GRID.copy(), np.mean(every, axis=0))


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return at most 200 points of a curve, about evenly spaced along it, its ends among them."""
    x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    if len(x) <= _POINTS:
        return x, y
    along = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(x)) + np.abs(np.diff(y)))])
    places = np.searchsorted(along, np.linspace(0.0, along[-1], _POINTS - 1))
    kept = np.unique(np.append(np.minimum(places, len(x) - 1), len(x) - 1))
    return x[kept], y[kept]
