"""How good a model is on rows that it was not trained on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Scores:
    """Correct predictions, counted by class.

    Attributes
    ----------
    confusion : array of shape (n_classes, n_classes)
        Rows by actual class (down) and predicted class (across).
    majority : int
        The majority class of the training rows, by code.
    """

    confusion: NDArray[np.int64]
    majority: int

    def __post_init__(self) -> None:
        shape = np.shape(self.confusion)
        kind = getattr(self.confusion, "dtype", None)
        if kind != np.int64 or type(self.majority) is not int or (self.confusion < 0).any():
            raise ValueError("a confusion matrix holds counts, and the majority class is a code")
        if len(shape) != 2 or shape[0] != shape[1] or not 0 <= self.majority < max(shape[0], 1):
            raise ValueError("the confusion matrix is not square, or the majority class is not in it")

    @classmethod
    def none(cls, n_classes: int, majority: int) -> Scores:
        """Return scores without rows, to add to."""
        return cls(np.zeros((n_classes, n_classes), dtype=np.int64), majority)

    def add(self, actual: NDArray[Any], predicted: NDArray[Any]) -> None:
        """Count rows, by their codes."""
        k = len(self.confusion)
        self.confusion += np.bincount(actual.astype(np.int64) * k + predicted, minlength=k * k).reshape(k, k)

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
        from scipy.stats import binomtest

        interval = binomtest(self.correct, self.n).proportion_ci(0.95, method="wilson")
        return float(interval.low), float(interval.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        low, high = self.interval()
        return {
            "rows": self.n,
            "correct": self.correct,
            "accuracy": self.accuracy,
            "interval": [low, high],
            "baseline": self.baseline,
            "confusion": self.confusion.tolist(),
        }

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Scores:
        """Return the scores that ``to_dict`` wrote."""
        confusion = np.array(values["confusion"], dtype=np.int64)
        shares = confusion.sum(axis=1) / max(confusion.sum(), 1)
        return cls(confusion, int(np.argmin(np.abs(shares - values["baseline"]))))
