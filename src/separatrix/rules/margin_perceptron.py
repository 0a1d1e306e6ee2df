"""The margin perceptron: step by eta until every margin exceeds a threshold (Lecture 003)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update, check_rate


@dataclass(frozen=True)
class MarginPerceptron:
    """The update is ``1, eta`` when the margin is at most ``margin``, else ``1, 0``.

    Examples
    --------
    >>> MarginPerceptron(margin=2).step(m=1, q=3, a=0, n=1, t=1)
    Update(shrink=1, tau=1, beta=0)
    """

    eta: Number = 1
    margin: Number = 1
    name: ClassVar[str] = "margin_perceptron"
    kernel: ClassVar[str] = "threshold"

    def __post_init__(self) -> None:
        check_rate(self.eta)
        if not (self.margin >= 0 and self.margin < float("inf")):
            raise ValueError(f"margin must be zero or a positive finite number; found {self.margin!r}")

    @property
    def threshold(self) -> Number:
        """The margin to exceed."""
        return self.margin

    def step(self, m: Number, q: Number, a: Number, n: Number, t: int) -> Update:
        """Step by eta while the margin is too small."""
        return Update(1, self.eta if m <= self.margin else 0)
