"""The base class of the rules that descend a loss: every example moves the weights, and an epoch has a mean loss."""

from __future__ import annotations

import math
from typing import Any, ClassVar

from separatrix.rules.base import Number


class Downhill:
    """Steps down ``mean(loss(m)) + alpha / 2 |w|^2``, one example or fold after another.

    Attributes
    ----------
    loss : class
        A loss of ``separatrix.rules.losses``.
    eta : number
        The learning rate, that of the first step where it falls.
    alpha : number
        The strength of the penalty.
    schedule : str
        "adaptive" where the outer loop divides the rate, else how it falls by itself.
    exact : bool
        Whether its updates are exact for exact numbers.
    by_weight : bool
        Whether a step is relative to all that was presented before it. Its number ``t`` then follows from the weight
        presented so far over the weight of the step, and the update is for the whole weight.
    spread : bool
        Whether it keeps a spread of the weights; see :class:`Spreading`.
    can_grow : bool
        Whether steps that are too large make the loss grow without bound.
    bias : {"free", "penalised"}
        Whether the bias shrinks with the weights.
    radius : number
        The radius of the ball around 0 onto which the weights are projected after a step.
    rate_name : str
        The name of the parameter that sets ``eta``.
    zero : str
        All-zero weights, in words.
    remedy : str
        What to try where a run does not improve on them.
    """

    name: ClassVar[str]
    kernel: ClassVar[str]
    loss: ClassVar[Any]
    threshold: ClassVar[float] = math.inf  # every example moves the weights, if only to shrink them
    by_weight: ClassVar[bool] = False
    spread: ClassVar[bool] = False
    can_grow: ClassVar[bool] = True
    rate_name: ClassVar[str] = "eta0"
    zero: ClassVar[str]
    remedy: ClassVar[str]

    @property
    def eta(self) -> Number:
        """The learning rate."""
        raise NotImplementedError

    @property
    def alpha(self) -> Number:
        """The strength of the penalty."""
        raise NotImplementedError

    @property
    def schedule(self) -> str:
        """How the rate falls."""
        return "constant"

    @property
    def exact(self) -> bool:
        """Whether its updates are exact for exact numbers."""
        return False

    @property
    def bias(self) -> str:
        """Whether the bias shrinks with the weights."""
        return "free"

    @property
    def bias_shrinks(self) -> bool:
        """Whether the bias shrinks with the weights, as the core asks."""
        return self.bias == "penalised"

    @property
    def radius(self) -> Number:
        """The radius of the ball onto which the weights are projected."""
        return math.inf

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether an example with this margin, ``q`` and ``t`` moves the weights, besides shrinking them.

        In a batch ``q`` is None.
        """
        return True

    def among(self, n: Number) -> Downhill:
        """Return the rule for a run over examples of total weight ``n``."""
        return self
