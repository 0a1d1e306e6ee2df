"""Pegasos: the online soft-margin SVM with steps that fall as 1/t (beyond Lecture 003)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import Hinged, check_bias_choice, check_positive, inverse


@dataclass(frozen=True)
class Pegasos(Hinged):
    """The update is ``1 - 1/t, 1/(lam t)`` when the margin is below 1, else ``1 - 1/t, 0``.

    Shalev-Shwartz, Singer, Srebro and Cotter 2011, figure 1. The weights approach the minimum of
    ``lam / 2 |w|^2 + mean(hinge)``, which is the soft-margin SVM of Lecture 003 with ``gamma = C = 1 / (lam n)``. After
    t examples they are ``sum(y x) / (lam t)`` over those met with a margin below 1: the first step forgets where it
    started, and no rate has to be chosen. With ``readout="averaged"`` the mean of all those weights is the model.

    Parameters
    ----------
    lam : number, default=0.0001
        The strength of the penalty.
    project : bool, default=False
        Bring the weights back to the ball of radius ``1 / sqrt(lam)``, which holds the minimum, after each step
        (step 9 of the figure). It tames the first steps, which are as long as ``|x| / lam``.
    bias : {"free", "penalised"}, default="free"
        A free bias takes the same steps, ``y K^2 / (lam t)``, but neither shrinks nor is projected, so that it forgets
        its long first steps slowly. Penalised, it is a coordinate of the weights like any other (that of the constant
        K), as LIBLINEAR has it, and all that is said above holds for it too.

    Notes
    -----
    t counts examples by their weight: with weights c the model is that of 1 / (lam sum(c)) sum(c y x), whatever
    number they are all multiplied by. It goes on counting when learning goes on.

    Examples
    --------
    >>> Pegasos(lam=0.5).step(m=0, q=3, a=0, n=1, t=4)
    Update(shrink=0.75, tau=0.5, beta=0)
    >>> Pegasos(lam=0.5).step(m=1, q=3, a=0, n=1, t=1)
    Update(shrink=0.0, tau=0, beta=0)
    """

    lam: Number = 1e-4
    project: bool = False
    bias: str = "free"
    name: ClassVar[str] = "pegasos"
    kernel: ClassVar[str] = "pegasos"
    by_weight: ClassVar[bool] = True
    rate_name: ClassVar[str] = "1/lam"
    remedy: ClassVar[str] = "scale the features, or try another lam"

    def __post_init__(self) -> None:
        check_positive("lam", self.lam)
        check_bias_choice(self.bias)
        if not isinstance(self.project, bool):
            raise TypeError(f"project must be True or False; found {self.project!r}")

    @property
    def eta(self) -> Number:
        """The length of the first step."""
        return inverse(self.lam)

    @property
    def alpha(self) -> Number:
        """The strength of the penalty."""
        return self.lam

    @property
    def exact(self) -> bool:
        """Whether its updates are exact: a root of lam seldom is."""
        return not self.project

    @property
    def radius(self) -> Number:
        """The ball that the weights stay in."""
        return 1 / math.sqrt(self.lam) if self.project else math.inf

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Shrink, and step while the margin is below 1."""
        t = float(t) if isinstance(self.lam, float) else t
        return Update(1 - inverse(t), inverse(self.lam * t) if m < 1 else 0)
