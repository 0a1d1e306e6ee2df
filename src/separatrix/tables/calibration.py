"""From scores to probabilities: maps that are fitted to out-of-fold scores and kept in a model as numbers.

The results are those of scikit-learn's ``CalibratedClassifierCV(ensemble=False)`` on the same folds. With two classes
there is one score, of the second class; with more, one for each. The sigmoid and the isotonic map are one-vs-rest, and
their outputs are divided by their sum; a temperature divides all scores before a softmax.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_array

_LOG_BETA = (-10.0, 10.0)  # of the inverse temperature: the range that scikit-learn searches


@dataclass(frozen=True, eq=False)
class SigmoidCalibration:
    """Platt's map: ``p = 1 / (1 + exp(slope * score + intercept))`` for each score.

    Attributes
    ----------
    slope, intercept : arrays
        One number for each score.

    Examples
    --------
    >>> own = SigmoidCalibration(np.array([-1.0]), np.array([0.0]))
    >>> own.probabilities(np.array([0.0, 2.0])).round(3).tolist()
    [[0.5, 0.5], [0.119, 0.881]]
    >>> round(own.score_at(0.881), 2)
    2.0
    """

    slope: Floats
    intercept: Floats
    method: ClassVar[str] = "sigmoid"

    def __post_init__(self) -> None:
        if not all(is_array(each, "f8", (self.n_scores,), finite=True) for each in (self.slope, self.intercept)):
            raise ValueError("a sigmoid calibration has a slope and an intercept for each score")

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return len(self.slope) if isinstance(self.slope, np.ndarray) and self.slope.ndim == 1 else 0

    @classmethod
    def fit(cls, scores: Floats, labels: NDArray[Any], n_classes: int, weights: Any = None) -> SigmoidCalibration:
        """Fit a sigmoid to each column of out-of-fold scores."""
        from sklearn.calibration import _SigmoidCalibration
        from threadpoolctl import threadpool_limits

        with threadpool_limits(1):  # its products of vectors are too short for threads, which would wait for each other
            every = [
                _SigmoidCalibration().fit(own, positive, weights)
                for own, positive in _one_vs_rest(scores, labels, n_classes)
            ]
        return cls(np.array([float(each.a_) for each in every]), np.array([float(each.b_) for each in every]))

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class for each row."""
        from scipy.special import expit

        return _normalised(expit(-(self.slope * _columns(scores) + self.intercept)))

    def score_at(self, probability: float) -> float | None:
        """Return the least score whose probability is at least this; None where probabilities do not rise with it."""
        from scipy.special import logit

        slope, intercept = float(self.slope[0]), float(self.intercept[0])
        return None if slope >= 0 else float((-logit(probability) - intercept) / slope)


@dataclass(frozen=True, eq=False)
class IsotonicCalibration:
    """A map that never falls: linear between knots, constant beyond the first and the last.

    Attributes
    ----------
    knots, values : lists of arrays
        For each score the places of its knots, in order, and the outputs there.
    """

    knots: list[Floats]
    values: list[Floats]
    method: ClassVar[str] = "isotonic"

    def __post_init__(self) -> None:
        lists = isinstance(self.knots, list) and isinstance(self.values, list) and len(self.knots) == len(self.values)
        if not lists or not self.knots or not all(map(_is_rising, self.knots, self.values)):
            raise ValueError("an isotonic calibration has knots in order and outputs between 0 and 1 that never fall")

    @property
    def n_scores(self) -> int:
        """How many scores a row has."""
        return len(self.knots)

    @classmethod
    def fit(cls, scores: Floats, labels: NDArray[Any], n_classes: int, weights: Any = None) -> IsotonicCalibration:
        """Fit an isotonic regression to each column of out-of-fold scores."""
        from sklearn.isotonic import IsotonicRegression

        every = [
            IsotonicRegression(out_of_bounds="clip").fit(own, positive, weights)
            for own, positive in _one_vs_rest(scores, labels, n_classes)
        ]
        return cls(
            [np.array(each.X_thresholds_, dtype=np.float64) for each in every],
            [np.array(each.y_thresholds_, dtype=np.float64) for each in every],
        )

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class for each row."""
        maps = zip(_columns(scores).T, self.knots, self.values, strict=True)
        return _normalised(np.stack([np.interp(own, knots, values) for own, knots, values in maps], axis=1))

    def score_at(self, probability: float) -> float | None:
        """Return the least score whose probability is at least this; None where none is."""
        knots, values = self.knots[0], self.values[0]
        place = int(np.searchsorted(values, probability))
        if place == len(values):
            return None
        if place == 0:  # so has every score
            return float(np.finfo(np.float64).min)
        part = (probability - values[place - 1]) / (values[place] - values[place - 1])
        return float(knots[place - 1] + part * (knots[place] - knots[place - 1]))


@dataclass(frozen=True, eq=False)
class TemperatureCalibration:
    """Softmax of the scores times an inverse temperature; the scores of two classes are -score and score.

    Attributes
    ----------
    beta : float
        The inverse temperature.
    n_scores : int
        How many scores a row has.
    """

    beta: float
    n_scores: int
    method: ClassVar[str] = "temperature"

    def __post_init__(self) -> None:
        whole = type(self.n_scores) is int and self.n_scores >= 1
        if type(self.beta) is not float or not 0 < self.beta < np.inf or not whole:
            raise ValueError("a temperature calibration has a positive inverse temperature and a number of scores")

    @classmethod
    def fit(cls, scores: Floats, labels: NDArray[Any], n_classes: int, weights: Any = None) -> TemperatureCalibration:
        """Find the temperature whose log loss on out-of-fold scores is least."""
        from scipy.optimize import minimize_scalar
        from scipy.special import logsumexp

        columns = _columns(scores)
        logits = _logits(columns)
        rows = np.arange(len(labels))

        def log_loss(log_beta: float) -> float:
            scaled = np.exp(log_beta) * logits
            losses = logsumexp(scaled, axis=1) - scaled[rows, labels]
            return float(np.average(losses, weights=weights))

        tolerance = 64 * np.finfo(np.float64).eps
        least = minimize_scalar(log_loss, bounds=_LOG_BETA, method="bounded", options={"xatol": tolerance})
        return cls(float(np.exp(least.x)), columns.shape[1])

    def probabilities(self, scores: Floats) -> Floats:
        """Return the probability of each class for each row."""
        from scipy.special import softmax

        return np.asarray(softmax(self.beta * _logits(_columns(scores)), axis=1))

    def score_at(self, probability: float) -> float | None:
        """Return the least score whose probability is at least this."""
        from scipy.special import logit

        return float(logit(probability) / (2.0 * self.beta))


Calibration = SigmoidCalibration | IsotonicCalibration | TemperatureCalibration
KINDS: dict[str, Any] = {
    each.method: each for each in (SigmoidCalibration, IsotonicCalibration, TemperatureCalibration)
}
METHODS = tuple(KINDS)


def check_method(method: str) -> None:
    """Refuse what is no method of calibration."""
    if method not in (*METHODS, "none"):
        raise ValueError(f"--calibrate must be one of {', '.join(METHODS)}, none; found {method!r}")


def own_sigmoid(n_classes: int) -> SigmoidCalibration:
    """Return the map of a model whose outputs are sigmoids of its scores, divided by their sum."""
    n_scores = 1 if n_classes <= 2 else n_classes
    return SigmoidCalibration(np.full(n_scores, -1.0), np.zeros(n_scores))


def _columns(scores: Floats) -> Floats:
    return np.asarray(scores, dtype=np.float64).reshape(len(scores), -1)


def _logits(columns: Floats) -> Floats:
    return np.hstack([-columns, columns]) if columns.shape[1] == 1 else columns


def _one_vs_rest(scores: Floats, labels: NDArray[Any], n_classes: int) -> Any:
    """Yield each column of scores, and which rows are of its class."""
    first = 1 if n_classes == 2 else 0
    for place, own in enumerate(_columns(scores).T):
        yield np.ascontiguousarray(own), (labels == first + place).astype(np.float64)


def _normalised(outputs: Floats) -> Floats:
    """Return outputs as probabilities: one beside its rest, or several divided by their sum (equal if all are 0)."""
    if outputs.shape[1] == 1:
        return np.hstack([1.0 - outputs, outputs])
    total = outputs.sum(axis=1, keepdims=True)
    equal = np.full_like(outputs, 1.0 / outputs.shape[1])
    return np.asarray(np.divide(outputs, total, out=equal, where=total != 0))


def _is_rising(knots: Any, values: Any) -> bool:
    arrays = is_array(knots, "f8", (None,), finite=True) and is_array(values, "f8", (None,), finite=True)
    if not arrays or not len(knots) or len(knots) != len(values):
        return False
    rises = bool((np.diff(knots) > 0).all() and (np.diff(values) >= 0).all())
    return rises and bool(values[0] >= 0 and values[-1] <= 1 + 1e-9)
