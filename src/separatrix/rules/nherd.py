"""NHERD: a normal distribution of weights, herded towards a margin of 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import check_positive, inverse, ratio
from separatrix.rules.spreading import Spreading, check_covariance


@dataclass(frozen=True)
class NHERD(Spreading):
    """The update is ``1, (1 - m) / (v + 1 / C), C (2 + C v) / (1 + C v)^2`` when the margin is below 1, else nothing.

    Crammer and Lee 2010. Every weight vector of the Gaussian takes the step of a passive-aggressive rule, which is that
    of PA-II with ``C / 2``; what they become is the new Gaussian: its inverse covariance grows by
    ``(2 C + C^2 v) x x^T``.

    Parameters
    ----------
    C : number, default=1
        The smaller, the shorter are the steps.
    covariance : {"diagonal", "full"}
        One spread for each weight, or one for each pair of weights.

    Examples
    --------
    >>> NHERD(C=1).step(m=-1, q=4, a=0, n=1, t=1)
    Update(shrink=1, tau=Fraction(2, 5), beta=Fraction(6, 25))
    """

    C: Number = 1
    covariance: str = "diagonal"
    name: ClassVar[str] = "nherd"
    kernel: ClassVar[str] = "nherd"
    rate_name: ClassVar[str] = "C"

    def __post_init__(self) -> None:
        check_positive("C", self.C)
        check_covariance(self.covariance)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go a part of the way to a margin of 1, and narrow the spread."""
        if not (m < 1 and q > 0):
            return Update(1, 0)
        part = ratio(1, 1 + self.C * q)  # beta is (1 - part^2) / v, without the cancellation
        return Update(1, (1 - m) * inverse(q + inverse(self.C)), self.C * part * (1 + part))
