"""AROW: adaptive regularisation of weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import check_positive, inverse
from separatrix.rules.spreading import Spreading, check_covariance


@dataclass(frozen=True)
class AROW(Spreading):
    """The update is ``1, (1 - m) * beta, beta`` with ``beta = 1 / (v + r)`` when the margin is below 1, else nothing.

    Crammer, Kulesza and Dredze 2009. It minimises ``KL(new || old) + (max(0, 1 - m)^2 + v) / (2 r)``, with the Gaussian
    of the weights as it was and as it becomes, and m and v of the new one: the example wants a margin of 1 and to be
    sure of it, and the weights want to stay what they are, the more so the narrower they are.

    Parameters
    ----------
    r : number, default=1
        The larger, the shorter are the steps.
    covariance : {"diagonal", "full"}
        One spread for each weight, or one for each pair of weights.

    Examples
    --------
    >>> AROW(r=1).step(m=-1, q=4, a=0, n=1, t=1)
    Update(shrink=1, tau=Fraction(2, 5), beta=Fraction(1, 5))
    """

    r: Number = 1
    covariance: str = "diagonal"
    name: ClassVar[str] = "arow"
    kernel: ClassVar[str] = "arow"
    rate_name: ClassVar[str] = "r"

    def __post_init__(self) -> None:
        check_positive("r", self.r)
        check_covariance(self.covariance)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go a part of the way to a margin of 1, and narrow the spread."""
        if not (m < 1 and q > 0):
            return Update(1, 0)
        beta = inverse(q + self.r)
        return Update(1, (1 - m) * beta, beta)
