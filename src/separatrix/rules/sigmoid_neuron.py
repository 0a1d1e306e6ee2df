"""The sigmoid neuron: gradient descent on the squared loss (Lecture 002)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.rules.losses import Squared
from separatrix.rules.smooth import Smooth


@dataclass(frozen=True)
class SigmoidNeuron(Smooth):
    """The update is ``1 - eta * alpha, eta * s(-m)^2 * s(m)``, the slope of ``(a - t)^2 / 2``.

    Examples
    --------
    >>> SigmoidNeuron(eta=0.5).step(m=0, q=3, a=0, n=1, t=1)
    Update(shrink=1.0, tau=0.0625, beta=0)
    """

    name: ClassVar[str] = "sigmoid_neuron"
    kernel: ClassVar[str] = "squared"
    loss: ClassVar[Any] = Squared
