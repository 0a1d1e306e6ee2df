"""How good a model is on rows that it has not seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass
class Scores:
    """Right answers on held-out rows, counted by class.

    Attributes
    ----------
    confusion : array of shape (n_classes, n_classes)
        Rows by their class (down) and by the model's answer (across).
    majority : int
        The commonest class of the rows learned from, by code.
    """

    confusion: NDArray[np.int64]
    majority: int

    @classmethod
    def none(cls, n_classes: int, majority: int) -> Scores:
        """Return scores without rows, to add to."""
        return cls(np.zeros((n_classes, n_classes), dtype=np.int64), majority)

    def add(self, truth: NDArray[Any], answer: NDArray[Any]) -> None:
        """Count rows, by their codes."""
        k = len(self.confusion)
        self.confusion += np.bincount(truth.astype(np.int64) * k + answer, minlength=k * k).reshape(k, k)

    @property
    def n(self) -> int:
        """How many rows were held out."""
        return int(self.confusion.sum())

    @property
    def right(self) -> int:
        """How many of them the model got right."""
        return int(np.trace(self.confusion))

    @property
    def baseline(self) -> float:
        """The accuracy of always naming the commonest class."""
        return float(self.confusion[self.majority].sum() / self.n)

    @property
    def accuracy(self) -> float:
        """The share of right answers."""
        return self.right / self.n

    def interval(self) -> tuple[float, float]:
        """Return where the accuracy on new rows lies with 95% confidence (Wilson 1927).

        Examples
        --------
        >>> found = Scores(np.array([[45, 5], [5, 45]]), 0)
        >>> found.accuracy, tuple(round(end, 3) for end in found.interval())
        (0.9, (0.826, 0.945))
        """
        from scipy.stats import binomtest

        found = binomtest(self.right, self.n).proportion_ci(0.95, method="wilson")
        return float(found.low), float(found.high)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        low, high = self.interval()
        return {
            "rows": self.n,
            "right": self.right,
            "accuracy": self.accuracy,
            "interval": [low, high],
            "baseline": self.baseline,
            "confusion": self.confusion.tolist(),
        }
