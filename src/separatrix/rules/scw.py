"""Soft confidence-weighted rules: the example must be on its correct side with a given probability."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.losses import ZeroOne
from separatrix.rules.spreading import Spreading, check_covariance

PHI = 1.2815515655446008  # confidence_quantile(0.9)
_LEAST, _MOST = 1e-150, 1e150  # variances of activations with which no product here overflows


def confidence_quantile(eta: float) -> float:
    """Return phi, the quantile of the normal distribution at this confidence.

    Confidence of 1/2 would ask for no margin, so that zero weights never move, and confidence of 1 for an infinite one:
    it stands for the largest number below 1.

    Examples
    --------
    >>> round(confidence_quantile(0.9), 4), round(confidence_quantile(1.0), 2)
    (1.2816, 8.21)
    """
    if not 0.5 < eta <= 1:
        raise ValueError(f"eta must be above 0.5 and at most 1, as it is a confidence; found {eta!r}")
    from statistics import NormalDist  # which takes a while to import

    return NormalDist().inv_cdf(min(float(eta), math.nextafter(1.0, 0.0)))


class _SoftConfident(Spreading):
    """What both share: when they step, and how the spread narrows.

    Weights drawn from the Gaussian put the example on its correct side with probability eta where its margin is
    ``phi sqrt(v)``. So the loss, ``max(0, phi sqrt(v) - m)``, is measured in the spread of today; that of an epoch is
    the share of mistakes, which can be compared between epochs.
    """

    C: Number
    phi: float
    loss: ClassVar[Any] = ZeroOne
    rate_name: ClassVar[str] = "C"

    def __post_init__(self) -> None:
        if not self.C > 0:
            raise ValueError(f"C must be a positive number; found {self.C!r}")
        if not 0 < self.phi < math.inf:
            raise ValueError(f"phi must be a positive finite number; found {self.phi!r}")
        check_covariance(self.covariance)

    @property
    def exact(self) -> bool:
        """Whether its updates are exact for exact numbers: a root is not."""
        return False

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether the margin is too narrow for the variance of the activation."""
        return _LEAST < q < _MOST and bool(self.phi * math.sqrt(q) > m)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go to the confidence that is asked for, or a part of the way, and narrow the spread."""
        if not self.moves(m, q, t):
            return Update(1, 0)
        tau = self._tau(float(m), float(q))
        narrowing = tau * self.phi
        root = 2 * q / (narrowing * q + math.sqrt(narrowing * narrowing * q * q + 4 * q))  # that of the new v
        return Update(1, tau, narrowing / (root + narrowing * q))

    def _tau(self, m: float, v: float) -> float:
        """Return how far to go."""
        raise NotImplementedError


@dataclass(frozen=True)
class SCW1(_SoftConfident):
    """Soft confidence-weighted learning with the loss ``max(0, phi sqrt(v) - m)``: SCW-I.

    Wang, Zhao and Hoi 2012, proposition 1. It minimises ``KL(new || old) + C * loss``, with the Gaussian of the weights
    as it was and as it becomes. With ``psi = 1 + phi^2 / 2`` and ``zeta = 1 + phi^2``, where the loss is not 0,

    ``tau = min(C, (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta))``,
    ``beta = tau phi / (sqrt(u) + v tau phi)`` with ``sqrt(u) = (-tau v phi + sqrt(tau^2 v^2 phi^2 + 4 v)) / 2``.

    Parameters
    ----------
    C : number, default=1
        The longest step; infinity is the confidence-weighted rule CW (Crammer, Dredze and Pereira 2008).
    phi : float, default=1.2816
        The confidence, as a quantile of the normal distribution: that of 0.9 by default.
    covariance : {"diagonal", "full"}
        One spread for each weight, or one for each pair of weights.

    Examples
    --------
    >>> SCW1(C=1, phi=1.0).step(m=2.0, q=4.0, a=0, n=1, t=1)
    Update(shrink=1, tau=0, beta=0)
    >>> shrink, tau, beta = SCW1(C=1, phi=1.0).step(m=1.0, q=4.0, a=0, n=1, t=1)
    >>> 1.0 + tau * 4.0, 1.0 * (4.0 - beta * 4.0**2) ** 0.5  # the new margin, and phi times the new deviation
    (1.6861406616345072, 1.6861406616345072)
    """

    C: Number = 1
    phi: float = PHI
    covariance: str = "diagonal"
    name: ClassVar[str] = "scw1"
    kernel: ClassVar[str] = "scw1"

    def _tau(self, m: float, v: float) -> float:
        square, wanted = self.phi * self.phi, self.phi * math.sqrt(v)
        slope = m * (1 + square / 2)
        root = math.sqrt(m * m * square * square / 4 + v * square * (1 + square))
        # The two are equal; each is free of cancellation on its side.
        tau = (wanted - m) * (wanted + m) / (v * (root + slope)) if m > 0 else (root - slope) / (v * (1 + square))
        return min(tau, float(self.C))


@dataclass(frozen=True)
class SCW2(_SoftConfident):
    """Soft confidence-weighted learning with the squared loss, ``max(0, phi sqrt(v) - m)^2``: SCW-II.

    Wang, Zhao and Hoi 2012, proposition 2. It minimises ``KL(new || old) + C * loss``. With ``n = v + 1 / (2 C)``,
    where the loss is not 0,

    ``tau = (-m (2 n + phi^2 v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))) / (2 n (n + v phi^2))``,

    and ``beta`` is that of :class:`SCW1`.

    Parameters
    ----------
    C : number, default=1
        The smaller, the shorter are the steps.
    phi : float, default=1.2816
        The confidence, as a quantile of the normal distribution: that of 0.9 by default.
    covariance : {"diagonal", "full"}
        One spread for each weight, or one for each pair of weights.

    Examples
    --------
    >>> first, second = (rule(C=1, phi=1.0).step(m=0.0, q=4.0, a=0, n=1, t=1).tau for rule in (SCW1, SCW2))
    >>> second < first
    True
    """

    C: Number = 1
    phi: float = PHI
    covariance: str = "diagonal"
    name: ClassVar[str] = "scw2"
    kernel: ClassVar[str] = "scw2"

    def _tau(self, m: float, v: float) -> float:
        square, wanted = self.phi * self.phi, self.phi * math.sqrt(v)
        n = v + 1 / (2 * float(self.C))
        slope, wide = m * (2 * n + square * v), n + v * square
        root = self.phi * math.sqrt(square * m * m * v * v + 4 * n * v * wide)
        return 2 * (wanted - m) * (wanted + m) / (root + slope) if m > 0 else (root - slope) / (2 * n * wide)
