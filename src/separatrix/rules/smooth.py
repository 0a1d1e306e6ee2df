"""The base class of the neurons' rules: a gradient step at every example, a learning rate, a penalty."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update, check_rate
from separatrix.rules.downhill import Downhill

SCHEDULES = ("constant", "invscaling", "adaptive")


@dataclass(frozen=True)
class Smooth(Downhill):
    """Step down the slope of ``loss``: ``1 - eta * alpha, -eta * loss'(m)``.

    Parameters
    ----------
    eta : float
        The learning rate.
    alpha : float
        The strength of the penalty ``alpha / 2 |w|^2``, which makes the weights shrink. The bias is not penalised.
    schedule : {"constant", "invscaling", "adaptive"}
        The rate stays; falls with the root of the step's number; or is divided by 5 whenever the loss stops falling.
    """

    eta: float = 0.01
    alpha: float = 0.0
    schedule: str = "constant"
    zero: ClassVar[str] = "predicting 1/2 for every row"
    remedy: ClassVar[str] = "scale the features, or try another eta0"

    def __post_init__(self) -> None:
        check_rate(self.eta)
        if not 0 <= self.alpha < math.inf:
            raise ValueError(f"alpha must be zero or a positive finite number; found {self.alpha!r}")
        if not self.eta * self.alpha < 1:
            raise ValueError(
                f"eta0 * alpha must be below 1, or a step would change the sign of the weights; found {self.eta!r} * "
                f"{self.alpha!r}"
            )
        if not isinstance(self.schedule, str) or self.schedule not in SCHEDULES:
            raise ValueError(f"learning_rate must be one of {', '.join(SCHEDULES)}; found {self.schedule!r}")

    @property
    def falling(self) -> bool:
        """Whether the rate falls by itself."""
        return self.schedule == "invscaling"

    def step(self, m: Number, q: Number, a: Number, n: Number, t: int) -> Update:
        """Step down the slope."""
        eta = self.eta / math.sqrt(t) if self.falling else self.eta
        return Update(1 - eta * self.alpha, -eta * float(self.loss.slope(float(m))))
