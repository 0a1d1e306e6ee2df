"""ALMA: steps and a margin to exceed that both fall with the number of updates, in a ball of radius 1."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import OwnStep
from separatrix.rules.losses import ZeroOne


@dataclass(frozen=True)
class ALMA(OwnStep):
    """The update is ``1, sqrt(2 / t) / sqrt(q)`` when ``m / sqrt(q) <= (1 / p - 1) sqrt(8 / t)``, else ``1, 0``.

    Gentile 2001: the approximate large margin algorithm for the Euclidean norm, where p is alpha, with B and C of the
    paper at ``sqrt(8) / alpha`` and ``sqrt(2)``. t is the number of the update. Each example counts as if its length
    were 1. After an update the weights, the bias among them, are brought back to the ball of radius 1.

    Parameters
    ----------
    part : number, default=0.9
        The part of the largest margin that may be missing, above 0 and at most 1, which learns from mistakes only.

    Examples
    --------
    >>> ALMA(part=0.5).step(m=0.0, q=4.0, a=0, n=1, t=2)
    Update(shrink=1, tau=0.5, beta=0)
    >>> ALMA(part=1.0).step(m=0.1, q=4.0, a=0, n=1, t=2)
    Update(shrink=1, tau=0, beta=0)
    """

    part: Number = 0.9
    name: ClassVar[str] = "alma"
    kernel: ClassVar[str] = "alma"
    loss: ClassVar[type[ZeroOne]] = ZeroOne
    rate_name: ClassVar[str] = "alpha"
    remedy: ClassVar[str] = "try a smaller alpha, or take the average of the weights"

    def __post_init__(self) -> None:
        if not 0 < self.part <= 1:
            raise ValueError(f"alpha must be above 0 and at most 1; found {self.part!r}")

    @property
    def exact(self) -> bool:
        """Whether its updates are exact for exact numbers: roots are not."""
        return False

    @property
    def bias(self) -> str:
        """The bias is a coordinate of the weights like any other."""
        return "penalised"

    @property
    def radius(self) -> Number:
        """The ball that the weights stay in."""
        return 1.0

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether the margin is too narrow; a row of zeros cannot be given one."""
        return bool(q > 0 and m <= (1.0 / self.part - 1.0) * math.sqrt(8.0 / t) * math.sqrt(q))

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Step along the example while its margin is too narrow."""
        return Update(1, math.sqrt(2.0 / t) / math.sqrt(q) if self.moves(m, q, t) else 0)
