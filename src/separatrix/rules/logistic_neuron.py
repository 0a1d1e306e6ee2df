"""The logistic neuron: gradient descent on the log loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from separatrix.rules.losses import Log
from separatrix.rules.smooth import Smooth


@dataclass(frozen=True)
class LogisticNeuron(Smooth):
    """The update is ``1 - eta * alpha, eta * s(-m)``, the slope of ``log(1 + exp(-m))``.

    Examples
    --------
    >>> LogisticNeuron(eta=0.5).step(m=0, q=3, a=0, n=1, t=1)
    Update(shrink=1.0, tau=0.25, beta=0)
    """

    name: ClassVar[str] = "logistic_neuron"
    kernel: ClassVar[str] = "log"
    loss: ClassVar[Any] = Log
