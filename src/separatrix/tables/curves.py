"""Curves of a classifier on labelled rows: ROC, precision-recall and calibration, in few points.

scikit-learn computes them; here they are thinned and averaged over classes. A curve can be stored in a model file.
"""

from __future__ import annotations

from dataclasses import dataclass

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


def curves_of(actual: NDArray[np.intp], ranked: Floats | None, proba: Floats | None, k: int) -> tuple[Curve, ...]:
    """Return the curves of rows by their codes.

    Parameters
    ----------
    actual : array
        The codes of the classes.
    ranked, proba : arrays or None
        Scores by which rows are ranked, and probabilities: of the second of two classes, or a column for each of more.
    k : int
        The number of classes.
    """
    out: list[Curve] = []
    present = np.unique(actual).tolist()
    if len(present) > 1 and ranked is not None:
        codes = [1] if k == 2 else present
        for kind, make in (("roc", _roc), ("precision_recall", _precision_recall)):
            parts = [(code, *make(actual == code, _column(ranked, code))) for code in codes]
            out += [Curve(kind, *part) for part in parts] if k <= EACH else [_mean(kind, parts)]
    if proba is not None:
        out += _calibration(actual, proba, k)
    return tuple(out)


def _column(values: Floats, code: int) -> Floats:
    return values if values.ndim == 1 else values[:, code]


def _roc(positive: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    from sklearn.metrics import roc_curve

    false, true, _ = roc_curve(positive, scores)
    return _thinned(false, true)


def _precision_recall(positive: NDArray[np.bool_], scores: Floats) -> tuple[Floats, Floats]:
    from sklearn.metrics import precision_recall_curve

    precision, recall, _ = precision_recall_curve(positive, scores)
    return _thinned(recall[::-1], precision[::-1])


def _calibration(actual: NDArray[np.intp], proba: Floats, k: int) -> list[Curve]:
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


def _mean(kind: str, parts: list[tuple[int, Floats, Floats]]) -> Curve:
    """Return the mean of curves over classes, at evenly spaced x."""
    every = [np.interp(_GRID, x, y) for _, x, y in parts]
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
