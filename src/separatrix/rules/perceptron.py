"""The perceptron: step by eta on every mistake (Lectures 000 to 004)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update, check_rate


@dataclass(frozen=True)
class Perceptron:
    """The update is ``1, eta`` when the margin is at most 0, else ``1, 0``.

    Examples
    --------
    >>> Perceptron().step(m=-1, q=3, a=0, n=1, t=1)
    Update(shrink=1, tau=1, beta=0)
    """

    eta: Number = 1
    name: ClassVar[str] = "perceptron"
    kernel: ClassVar[str] = "threshold"
    threshold: ClassVar[Number] = 0

    def __post_init__(self) -> None:
        check_rate(self.eta)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: int) -> Update:
        """Step by eta on a mistake."""
        return Update(1, self.eta if m <= 0 else 0)
