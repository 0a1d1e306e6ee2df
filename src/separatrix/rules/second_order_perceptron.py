"""The second-order perceptron: on a mistake, a step along what the mistakes so far leave open."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import check_positive, inverse
from separatrix.rules.losses import ZeroOne
from separatrix.rules.spreading import Spreading, check_covariance


@dataclass(frozen=True)
class SecondOrderPerceptron(Spreading):
    """The update is ``1, (1 - m) * beta, beta`` with ``beta = 1 / (v + a)`` when the margin is at most 0, else nothing.

    Cesa-Bianchi, Conconi and Gentile 2005, whose weights are ``(a I + X)^-1 V``: X is the sum of ``x x^T`` and V that
    of ``y x`` over the mistakes so far. They predict with ``(a I + X + x x^T)^-1 V``, which has the same sign on x.
    With the spread ``S = a (a I + X)^-1``, the identity at the start, a mistake changes weights and spread as said: it
    is the update of :class:`AROW` with ``r = a``, made on mistakes only.

    Parameters
    ----------
    a : number, default=1
        The larger, the more it is like the perceptron.
    covariance : {"diagonal", "full"}
        The paper's algorithm is "full"; "diagonal" keeps one spread for each weight.

    Examples
    --------
    >>> SecondOrderPerceptron(a=1).step(m=-1, q=4, a=0, n=1, t=1)
    Update(shrink=1, tau=Fraction(2, 5), beta=Fraction(1, 5))
    """

    a: Number = 1
    covariance: str = "diagonal"
    name: ClassVar[str] = "sop"
    kernel: ClassVar[str] = "sop"
    loss: ClassVar[type[ZeroOne]] = ZeroOne
    rate_name: ClassVar[str] = "a"

    def __post_init__(self) -> None:
        check_positive("a", self.a)
        check_covariance(self.covariance)

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether it is a mistake."""
        return bool(m <= 0)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Learn from a mistake."""
        if not (m <= 0 and q > 0):
            return Update(1, 0)
        beta = inverse(q + self.a)
        return Update(1, (1 - m) * beta, beta)
