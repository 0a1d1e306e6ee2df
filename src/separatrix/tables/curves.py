"""Curves of a classifier on labelled rows: ROC, precision-recall and calibration, in few points.

scikit-learn computes them; here they are thinned and averaged over classes. A curve can be stored in a model file.
"""

from __future__ import annotations

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
    """
    from sklearn.metrics import auc, roc_curve

    false, true, _ = roc_curve(positive, scores, drop_intermediate=False)
    n_positive = int(positive.sum())
    hits, misses = np.rint(true * n_positive), np.rint(false * (len(positive) - n_positive))
    precision = np.ones(len(true))
    precision[1:] = hits[1:] / (hits[1:] + misses[1:])
    average = float(np.sum(np.diff(true) * precision[1:]))
    return Ranking(float(auc(false, true)), average, _thinned(false, true), _thinned(true, precision))


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
    from sklearn.calibration import calibration_curve

    if k == 2:
        chosen = [(1, actual == 1, proba)]
    elif k <= EACH:
        chosen = [(code, actual == code, proba[:, code]) for code in np.unique(actual).tolist()]
    else:
        chosen = [(MACRO, actual == proba.argmax(axis=1), proba.max(axis=1))]
    out = []
    for code, positive, predicted in chosen:
        observed, mean = calibration_curve(positive, predicted, n_bins=_BINS, strategy="quantile", pos_label=True)
        out.append(Curve("calibration", code, np.asarray(mean, dtype=np.float64), np.asarray(observed)))
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
