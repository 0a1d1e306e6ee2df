"""The online soft-margin SVM: hinge loss and regulariser at one fixed rate (Lecture 003, 2.7)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import Hinged, check_bias_choice, check_positive, inverse


@dataclass(frozen=True)
class OnlineHinge(Hinged):
    """The update is ``1 - 1/(2N), gamma`` when the margin is below 1, else ``1 - 1/(2N), 0``.

    One step of Lecture 003 on ``|w|^2 / 2 + gamma sum(hinge)``. N steps take the whole of the hinge's part and, with
    the factor of the square left in, half of the regulariser's, so that the weights come to hover around the minimum of
    ``|w|^2 / 2 + C sum(hinge)`` with ``C = 2 gamma``, that of ``mean(hinge) + alpha / 2 |w|^2`` with
    ``alpha = 1 / (2 N gamma)``. They hover at a distance that grows with gamma, for the rate does not fall; the
    averaged readout takes most of it away.

    Parameters
    ----------
    gamma : number, default=1
        The cost of a margin below 1, and the length of a step.
    n : number, optional
        N, the number of examples (each counts with its weight). By default that of the run, or of each call when
        learning goes on online.
    bias : {"free", "penalised"}, default="free"
        The lecture's regulariser leaves the bias alone: a free bias steps by ``gamma y K^2`` and never shrinks.
        Penalised, it is a coordinate of the weights like any other (that of the constant K), as LIBLINEAR has it.

    Examples
    --------
    >>> OnlineHinge(gamma=0.5, n=4).step(m=0.25, q=3, a=0, n=1, t=1)
    Update(shrink=0.875, tau=0.5, beta=0)
    >>> OnlineHinge(gamma=0.5, n=4).step(m=1, q=3, a=0, n=1, t=1)
    Update(shrink=0.875, tau=0, beta=0)
    """

    gamma: Number = 1
    n: Number | None = None
    bias: str = "free"
    name: ClassVar[str] = "online_hinge"
    kernel: ClassVar[str] = "hinge"
    rate_name: ClassVar[str] = "gamma"
    remedy: ClassVar[str] = "scale the features, or try another gamma"

    def __post_init__(self) -> None:
        check_positive("gamma", self.gamma)
        check_bias_choice(self.bias)
        if self.n is not None and not 1 <= self.n < float("inf"):
            raise ValueError(f"n must be a finite number of at least 1; found {self.n!r}")

    @property
    def eta(self) -> Number:
        """The length of a step."""
        return self.gamma

    @property
    def decay(self) -> Number:
        """What a step takes off the weights, ``1/(2N)``."""
        if self.n is None:
            raise ValueError("the number of examples is not known: set n")
        return inverse(2 * (float(self.n) if isinstance(self.gamma, float) else self.n))

    @property
    def alpha(self) -> Number:
        """The strength of the penalty beside the mean of the loss."""
        return self.decay * inverse(self.gamma)

    def among(self, n: Number) -> OnlineHinge:
        """Return the rule for a run over examples of total weight ``n``, unless another N was given."""
        return self if self.n is not None else replace(self, n=max(n, 1))

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Shrink, and step while the margin is below 1."""
        return Update(1 - self.decay, self.gamma if m < 1 else 0)
