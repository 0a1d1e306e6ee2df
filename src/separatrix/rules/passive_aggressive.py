"""Passive-aggressive rules: the shortest step that gives the example a margin of 1, or a part of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from separatrix.rules.base import Number, Update
from separatrix.rules.hinged import OwnStep, check_positive, inverse, ratio


class _PassiveAggressive(OwnStep):
    """What the three share: nothing shrinks, and only examples with a margin below 1 move the weights."""

    rate_name: ClassVar[str] = "C"
    remedy: ClassVar[str] = "scale the features, try a smaller C, or take the average of the weights"


@dataclass(frozen=True)
class PA(_PassiveAggressive):
    """The update is ``1, (1 - m) / q`` when the margin is below 1, else ``1, 0``.

    Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006. The weights move as little as possible for the example to
    have a margin of 1. One mislabelled example can move them far: :class:`PA1` and :class:`PA2` limit the step.

    Examples
    --------
    >>> PA().step(m=-1, q=4, a=0, n=1, t=1)
    Update(shrink=1, tau=Fraction(1, 2), beta=0)
    """

    name: ClassVar[str] = "pa"
    kernel: ClassVar[str] = "pa"

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go to a margin of 1."""
        return Update(1, ratio(1 - m, q) if m < 1 and q > 0 else 0)


@dataclass(frozen=True)
class PA1(_PassiveAggressive):
    """The update is ``1, min(C, (1 - m) / q)`` when the margin is below 1, else ``1, 0``: PA-I.

    Parameters
    ----------
    C : number, default=1
        The longest step.

    Examples
    --------
    >>> PA1(C=1).step(m=-1, q=4, a=0, n=1, t=1), PA1(C=1).step(m=-5, q=4, a=0, n=1, t=1)
    (Update(shrink=1, tau=Fraction(1, 2), beta=0), Update(shrink=1, tau=1, beta=0))
    """

    C: Number = 1
    name: ClassVar[str] = "pa1"
    kernel: ClassVar[str] = "pa1"

    def __post_init__(self) -> None:
        check_positive("C", self.C)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go to a margin of 1, but no further than C."""
        return Update(1, min(ratio(1 - m, q), self.C) if m < 1 and q > 0 else 0)


@dataclass(frozen=True)
class PA2(_PassiveAggressive):
    """The update is ``1, (1 - m) / (q + 1 / (2 C))`` when the margin is below 1, else ``1, 0``: PA-II.

    Parameters
    ----------
    C : number, default=1
        The smaller, the shorter are the steps.

    Examples
    --------
    >>> PA2(C=1).step(m=-1, q=4, a=0, n=1, t=1)
    Update(shrink=1, tau=Fraction(4, 9), beta=0)
    """

    C: Number = 1
    name: ClassVar[str] = "pa2"
    kernel: ClassVar[str] = "pa2"

    def __post_init__(self) -> None:
        check_positive("C", self.C)

    def step(self, m: Number, q: Number, a: Number, n: Number, t: Number) -> Update:
        """Go a part of the way to a margin of 1."""
        return Update(1, ratio(1 - m, q + inverse(2 * self.C)) if m < 1 else 0)
