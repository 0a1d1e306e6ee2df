"""Losses: how bad a margin is; a sum over the examples is the loss of a model.

Lecture 004's ``L`` is the sum of :class:`ZeroOne`; Lecture 000's ``E_P`` the sum of :class:`PerceptronCriterion`.
"""

from __future__ import annotations

from typing import Any, ClassVar


class ZeroOne:
    """1 for a mistake, 0 otherwise; at margin 0 the boundary decides (here: a mistake).

    Examples
    --------
    >>> ZeroOne.value(-2), ZeroOne.value(3)
    (1, 0)
    """

    name: ClassVar[str] = "zero_one"

    @staticmethod
    def value(m: Any) -> int:
        """Return the loss at margin ``m``."""
        return 1 if m <= 0 else 0


class PerceptronCriterion:
    """``max(0, -m)``: how far on the wrong side.

    Examples
    --------
    >>> PerceptronCriterion.value(-2), PerceptronCriterion.value(3)
    (2, 0)
    """

    name: ClassVar[str] = "perceptron"

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss at margin ``m``."""
        return -m if m < 0 else 0


LOSSES: dict[str, type[ZeroOne] | type[PerceptronCriterion]] = {
    loss.name: loss for loss in (ZeroOne, PerceptronCriterion)
}
