"""The base class of rules that step while a margin is below 1: the hinge loss, and the choices of bias."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from separatrix.rules.base import Number
from separatrix.rules.downhill import Downhill
from separatrix.rules.losses import Hinge

BIASES = ("free", "penalised")


class Hinged(Downhill):
    """Adds ``tau * y * x`` while the margin is below 1; the online SVM shrinks the weights at every example too.

    A margin of exactly 1 is wide enough (the slope of the hinge loss there is anything from -1 to 0; this is 0). What
    counts as a mistake is, as for neurons, a margin below 0, with the boundary's choice at 0.
    """

    loss: ClassVar[Any] = Hinge
    can_grow: ClassVar[bool] = False  # its slope is bounded, and steps shrink what was there or stop at a margin of 1
    zero: ClassVar[str] = "all-zero weights"

    @property
    def exact(self) -> bool:
        """Whether its updates are exact for exact numbers."""
        return True

    def moves(self, m: Number, q: Number, t: Number) -> bool:
        """Return whether the margin is too narrow."""
        return bool(m < 1)


class OwnStep(Hinged):
    """What rules share whose step has a length of its own, that of one example: no rate, no penalty."""

    @property
    def eta(self) -> Number:
        """The factor of a step."""
        return 1

    @property
    def alpha(self) -> Number:
        """The strength of the penalty: there is none."""
        return 0


def check_positive(name: str, value: Number) -> None:
    """Refuse what is not a positive finite number."""
    if not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a positive finite number; found {value!r}")


def check_bias_choice(bias: Any) -> None:
    """Refuse an unknown treatment of the bias."""
    if not isinstance(bias, str) or bias not in BIASES:
        raise ValueError(f"bias must be one of {', '.join(BIASES)}; found {bias!r}")


def inverse(number: Number) -> Number:
    """Return ``1 / number``, exactly if it is an exact number."""
    return ratio(1, number)


def ratio(number: Number, by: Number) -> Number:
    """Return ``number / by``, exactly if both are exact numbers."""
    return number / (Fraction(by) if isinstance(by, int) else by)
