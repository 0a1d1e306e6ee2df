"""The score from which on a row is predicted to be of the second of two classes, chosen on out-of-fold scores."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.models.validity import is_count

_FORMS = (
    "--threshold must be a probability such as 0.3, max-f1, recall=0.9, precision=0.9, or cost=5:1 (false "
    "negative : false positive)"
)


class ThresholdRule(NamedTuple):
    """How to choose a threshold: ``name`` and its numbers."""

    name: str  # probability, max-f1, recall, precision or cost
    numbers: tuple[float, ...] = ()


def parse_threshold(text: str) -> ThresholdRule:
    """Return the rule that ``--threshold`` names.

    Examples
    --------
    >>> parse_threshold("cost=5:1")
    ThresholdRule(name='cost', numbers=(5.0, 1.0))
    >>> parse_threshold("0.3")
    ThresholdRule(name='probability', numbers=(0.3,))
    """
    if text == "max-f1":
        return ThresholdRule(text)
    name, sign, rest = text.partition("=")
    try:
        numbers = tuple(float(part) for part in (rest if sign else text).split(":"))
    except ValueError:
        raise ValueError(f"{_FORMS}; found {text!r}") from None
    rule = ThresholdRule(name if sign else "probability", numbers)
    if not all(map(math.isfinite, numbers)) or len(numbers) != (2 if rule.name == "cost" else 1):
        raise ValueError(f"{_FORMS}; found {text!r}")
    if rule.name == "cost" and min(numbers) > 0:
        return rule
    if rule.name in ("recall", "precision") and 0 < numbers[0] <= 1:
        return rule
    if rule.name == "probability" and 0 < numbers[0] < 1:
        return rule
    raise ValueError(f"{_FORMS}; found {text!r}")


@dataclass(frozen=True)
class Threshold:
    """From which score on a row is of the second class, and how good that is on out-of-fold scores.

    Attributes
    ----------
    value : float
        The score; rows with a score of at least this are of the second class.
    rule : str
        How it was chosen, as ``--threshold`` has it.
    positive : int
        The class that precision and recall are about, by code.
    precision, recall : float
        Of the positive class, on out-of-fold scores.
    """

    value: float
    rule: str
    positive: int
    precision: float
    recall: float

    def __post_init__(self) -> None:
        numbers = (self.value, self.precision, self.recall)
        if not all(type(each) is float and math.isfinite(each) for each in numbers):
            raise ValueError("a threshold has finite numbers")
        if not isinstance(self.rule, str) or not is_count(self.positive, 0, 1):
            raise ValueError("a threshold has a rule and one of two classes that is positive")

    def codes(self, scores: Floats) -> NDArray[np.intp]:
        """Return the code of each row's class."""
        return (np.asarray(scores).ravel() >= self.value).astype(np.intp)


def choose_threshold(
    text: str, scores: Floats, labels: NDArray[Any], positive: int, calibration: Any = None, weights: Any = None
) -> Threshold:
    """Return the threshold that a rule chooses on out-of-fold scores.

    Parameters
    ----------
    text : str
        The rule, as ``--threshold`` has it.
    scores : array
        Of the second class, by models that were not trained on these rows.
    labels : array
        Codes of the rows' classes.
    positive : {0, 1}
        The class that the rule is about.
    calibration : Calibration, optional
        From scores to probabilities, for a rule that is a probability.
    weights : array, optional
        Sample weights.
    """
    rule = parse_threshold(text)
    signed = np.asarray(scores, dtype=np.float64).ravel() * (1.0 if positive else -1.0)
    actual = labels == positive
    if rule.name == "probability":
        at = _score_at(rule.numbers[0], positive, calibration)
    else:
        at = _best(text, rule, signed, actual, weights)
    from sklearn.metrics import precision_score, recall_score

    predicted = signed >= at
    precision = precision_score(actual, predicted, sample_weight=weights, zero_division=0.0)
    recall = recall_score(actual, predicted, sample_weight=weights, zero_division=0.0)
    # Of the first class: score <= -at, so that the second is every score above it.
    value = at if positive else float(np.nextafter(-at, np.inf))
    return Threshold(float(value), text, positive, float(precision), float(recall))


def _score_at(probability: float, positive: int, calibration: Any) -> float:
    """Return the score of the positive class at which its probability reaches this."""
    at = calibration.score_at(probability if positive else 1.0 - probability)
    if at is None:
        raise ValueError(
            f"--threshold {probability:g}: no score has this probability on out-of-fold scores; use max-f1, recall=, "
            "precision= or cost="
        )
    return float(at if positive else -at)


def _best(text: str, rule: ThresholdRule, scores: Floats, actual: NDArray[np.bool_], weights: Any) -> float:
    """Return the best threshold among the scores themselves; the lowest of equally good ones."""
    if rule.name == "cost":
        return _cheapest(scores, actual, weights, *rule.numbers)
    from sklearn.metrics import precision_recall_curve

    precision, recall, at = precision_recall_curve(actual, scores, sample_weight=weights)
    precision, recall = precision[:-1], recall[:-1]  # the last point has no threshold
    if rule.name == "max-f1":
        both = precision + recall
        f1 = np.divide(2 * precision * recall, both, out=np.zeros_like(both), where=both > 0)
        return float(at[np.argmax(f1)])
    kept, other = (recall, precision) if rule.name == "recall" else (precision, recall)
    reached = kept >= rule.numbers[0]
    if not reached.any():
        raise ValueError(
            f"--threshold {text}: no threshold reaches it on out-of-fold scores; the highest {rule.name} is "
            f"{kept.max():.3g}"
        )
    return float(at[np.argmax(np.where(reached, other, -1.0))])


def _cheapest(scores: Floats, actual: NDArray[np.bool_], weights: Any, missed: float, false: float) -> float:
    """Return the threshold with the least cost of false negatives (``missed`` each) and false positives."""
    cost = np.where(actual, missed, false) * (1.0 if weights is None else weights)
    order = np.argsort(scores, kind="stable")
    values, first = np.unique(scores[order], return_index=True)
    own, positive = cost[order], actual[order]
    below = np.concatenate([[0.0], np.cumsum(np.where(positive, own, 0.0))])  # positives below a threshold are missed
    above = np.concatenate([np.cumsum(np.where(positive, 0.0, own)[::-1])[::-1], [0.0]])
    places = np.append(first, len(scores))  # the last: no row is positive
    best = int(np.argmin(below[places] + above[places]))
    return float(values[best]) if best < len(values) else float(np.nextafter(values[-1], np.inf))
