"""Losses: how bad a margin is; a sum over the examples is the loss of a model.

A loss has a ``value`` and a ``slope`` (its derivative) at a margin ``m = y (w . x + b)``; those that can be minimised
take arrays too, and their ``curvature`` bounds the second derivative. Those of support vector machines have a
``conjugate`` as well, which the dual needs. Lecture 004's ``L`` is the sum of :class:`ZeroOne`, Lecture 000's ``E_P``
the sum of :class:`PerceptronCriterion`, Lecture 002's ``C`` is :class:`Squared`, Lecture 003's slack is :class:`Hinge`.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np


def sigmoid(z: Any) -> Any:
    """Return ``1 / (1 + exp(-z))``, safe for any finite z.

    Examples
    --------
    >>> float(sigmoid(0.0)), float(sigmoid(-1e4)), float(sigmoid(1e4))
    (0.5, 0.0, 1.0)
    """
    small = np.exp(-np.abs(z))
    return np.where(np.asarray(z) < 0, small, 1.0) / (1.0 + small)


class ZeroOne:
    """1 for a mistake, 0 otherwise; at margin 0 the boundary decides (here: a mistake).

    Where a model's L is recorded, compared by a stop rule or told in a status, a tie counts as ``predict`` decides it:
    for the positive class, and with ``boundary="negative"`` against it. L is then the number of training examples that
    are predicted wrong. While learning, the boundary decides what is a mistake.

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

    @staticmethod
    def slope(m: Any) -> int:
        """Return the derivative at margin ``m``; at 0, where there is none, that of the wrong side."""
        return -1 if m <= 0 else 0


class Squared:
    """``(a - t)^2 / 2`` with ``a = sigmoid(w . x + b)`` and t in {0, 1}: in the margin, ``sigmoid(-m)^2 / 2``.

    Examples
    --------
    >>> float(Squared.value(0.0)), float(Squared.slope(0.0))
    (0.125, -0.125)
    """

    name: ClassVar[str] = "squared"
    curvature: ClassVar[float] = 0.0771  # of a^2 (1 - a) (2 - 3 a), whose largest value is at a = (15 - 33^0.5) / 24

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss at margin ``m``."""
        wrong = sigmoid(-m)
        return 0.5 * wrong * wrong

    @staticmethod
    def slope(m: Any) -> Any:
        """Return the derivative at margin ``m``."""
        wrong = sigmoid(-m)
        return -wrong * wrong * sigmoid(m)


class Log:
    """``log(1 + exp(-m))``, the loss of logistic regression.

    Examples
    --------
    >>> float(Log.value(-1e4)), float(Log.slope(0.0))
    (10000.0, -0.5)
    """

    name: ClassVar[str] = "log"
    curvature: ClassVar[float] = 0.25

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss at margin ``m``."""
        return np.log1p(np.exp(-np.abs(m))) + np.maximum(-m, 0.0)

    @staticmethod
    def slope(m: Any) -> Any:
        """Return the derivative at margin ``m``."""
        return -sigmoid(-m)


def _shortfall(m: Any) -> Any:
    """Return how far a margin falls short of 1: an array for an array, and exact for an exact number."""
    if isinstance(m, np.ndarray):
        return np.maximum(1.0 - m, 0.0)
    return 1 - m if m < 1 else 0 * m


class Hinge:
    """``max(0, 1 - m)``: the slack of an example in the soft-margin SVM (Lecture 003).

    Examples
    --------
    >>> Hinge.value(-2), Hinge.value(3), Hinge.slope(0)
    (3, 0, -1)
    """

    name: ClassVar[str] = "hinge"
    curvature: ClassVar[float] = math.inf  # the slope jumps at 1

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss at margin ``m``."""
        return _shortfall(m)

    @staticmethod
    def slope(m: Any) -> Any:
        """Return the derivative at margin ``m``; at 1, where there is none, that of the right side."""
        return np.where(m < 1, -1.0, 0.0) if isinstance(m, np.ndarray) else -1 if m < 1 else 0

    @staticmethod
    def conjugate(alpha: Any) -> Any:
        """Return the largest ``-alpha m - value(m)`` over all m: ``-alpha`` for alpha in [0, 1], else infinity.

        Any alphas in that box bound the primal from below: with ``w(alpha) = sum(alpha_i y_i x_i) / (lam n)``,
        ``lam/2 |w|^2 + mean(value(m_i)) >= -mean(conjugate(alpha_i)) - lam/2 |w(alpha)|^2``, and the difference is the
        duality gap.
        """
        if isinstance(alpha, np.ndarray):
            return np.where((alpha >= 0) & (alpha <= 1), -alpha, np.inf)
        return -alpha if 0 <= alpha <= 1 else math.inf


class SquaredHinge:
    """``max(0, 1 - m)^2``: the slack squared, which is smooth (the L2-loss SVM).

    Examples
    --------
    >>> SquaredHinge.value(-2), SquaredHinge.value(3), SquaredHinge.slope(0)
    (9, 0, -2)
    """

    name: ClassVar[str] = "squared_hinge"
    curvature: ClassVar[float] = 2.0

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss at margin ``m``."""
        short = _shortfall(m)
        return short * short

    @staticmethod
    def slope(m: Any) -> Any:
        """Return the derivative at margin ``m``."""
        return -2 * _shortfall(m)

    @staticmethod
    def conjugate(alpha: Any) -> Any:
        """Return the largest ``-alpha m - value(m)`` over all m: ``alpha^2 / 4 - alpha``, infinity for alpha < 0.

        It bounds the primal as :meth:`Hinge.conjugate` does; the box has no upper side.
        """
        if isinstance(alpha, np.ndarray):
            return np.where(alpha >= 0, alpha * alpha / 4 - alpha, np.inf)
        return alpha * alpha / 4 - alpha if alpha >= 0 else math.inf


LOSSES: dict[str, Any] = {loss.name: loss for loss in (ZeroOne, PerceptronCriterion, Squared, Log, Hinge, SquaredHinge)}
