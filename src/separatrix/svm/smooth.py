"""The smooth losses that Newton's method minimises, each with what the duality gap needs of it.

A row with the margin m and the cost C has the loss ``C value(m)``; ``pull(m)``, minus the slope, is the ``alpha / C``
that belongs to it. For any other p the two values of the primal and the dual differ, in this row, by C times the
divergence ``value(m) + conjugate(p) + p m``, which is never negative and 0 where p is the pull. It is computed as one
expression, because the sum of its parts has no digits left where it is small.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar, Protocol

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.rules.losses import Log, SquaredHinge

_UNIT = float(np.finfo(np.float64).eps)
_SURE = 80.0  # a bias whose loss vanishes: the best one is infinite where all rows are of one class


class SmoothLoss(Protocol):
    """What Newton's method and the gap ask of a loss; all functions take arrays."""

    name: ClassVar[str]
    curvature: ClassVar[float]  # the largest second derivative
    partial: ClassVar[bool]  # whether some rows have no curvature at all

    @staticmethod
    def value(m: Any) -> Any:
        """Return the loss."""

    @staticmethod
    def pull(m: Floats) -> Floats:
        """Return minus the slope: ``alpha / C``."""

    @staticmethod
    def second(m: Floats, pull: Floats) -> Floats:
        """Return the second derivative, given the pull."""

    @staticmethod
    def within(p: Floats) -> Floats:
        """Return ``alpha / C`` moved to where the conjugate is finite."""

    @staticmethod
    def divergence(p: Floats, m: Floats) -> Floats:
        """Return how far p is from being the pull of m."""

    @staticmethod
    def scaled_divergence(part: float, pull: Floats, m: Floats) -> Floats:
        """Return the divergence of ``(1 - part) pull``."""

    @staticmethod
    def bias_bounds(signs: Floats, scores: Floats, costs: Floats, lean: float) -> tuple[float, float]:
        """Return two numbers between which the best bias lies; ``lean`` is what its square costs, 0 if it is free."""


def products(matrix: _core.Matrix, w: Floats) -> Floats:
    """Return ``w.x`` of every row."""
    return _core.decide(matrix, w[None, :], np.zeros(1), 1)[:, 0]


class LogLoss(Log):
    """``log(1 + exp(-m))``; the pull is ``s(-m)``, the probability of the other class.

    The core computes both, and so with the same bits on every machine.
    """

    partial: ClassVar[bool] = False

    @staticmethod
    def value(m: Floats) -> Floats:
        """Return the loss."""
        return _core.log_values(m)

    @staticmethod
    def pull(m: Floats) -> Floats:
        """Return ``s(-m)``."""
        return _core.log_pulls(m)

    @staticmethod
    def second(m: Floats, pull: Floats) -> Floats:
        """Return ``s(-m) s(m)``."""
        return pull * (1.0 - pull)

    @staticmethod
    def within(p: Floats) -> Floats:
        """Return p inside (0, 1)."""
        return np.clip(p, 1e-300, 1.0 - _UNIT)

    @staticmethod
    def divergence(p: Floats, m: Floats) -> Floats:
        """Return the Kullback-Leibler divergence of p from ``s(-m)``."""
        return _core.log_divergences(p, m)

    @staticmethod
    def scaled_divergence(part: float, pull: Floats, m: Floats) -> Floats:
        """Return the divergence of ``(1 - part) p``."""
        return _core.log_divergences((1.0 - part) * pull, m)

    @staticmethod
    def bias_bounds(signs: Floats, scores: Floats, costs: Floats, lean: float) -> tuple[float, float]:
        """Return two numbers between which the best bias lies."""
        positive = _core.dot(np.where(signs > 0, 1.0, 0.0), costs)
        negative = _core.dot(np.where(signs > 0, 0.0, 1.0), costs)
        if lean:
            return -(positive + negative) / lean, (positive + negative) / lean
        if not (positive > 0 and negative > 0):
            return (_SURE, _SURE) if positive > 0 else (-_SURE, -_SURE)
        low = -float(scores.max()) - _log_bound(max(2.0 * negative / positive, 1.0))
        return low, -float(scores.min()) + _log_bound(max(2.0 * positive / negative, 1.0))


def _log_bound(x: float) -> float:
    """Return a number above the logarithm, the same on every machine."""
    return 0.6931472 * math.frexp(x)[1]


class SquaredHingeLoss(SquaredHinge):
    """``max(0, 1 - m)^2``; rows beyond their margin have no pull and no curvature."""

    partial: ClassVar[bool] = True

    @staticmethod
    def pull(m: Floats) -> Floats:
        """Return twice the slack."""
        return 2.0 * np.maximum(1.0 - m, 0.0)

    @staticmethod
    def second(m: Floats, pull: Floats) -> Floats:
        """Return 2 where there is slack."""
        return np.where(pull > 0.0, 2.0, 0.0)

    @staticmethod
    def within(p: Floats) -> Floats:
        """Return p, not below 0."""
        return np.maximum(p, 0.0)

    @staticmethod
    def divergence(p: Floats, m: Floats) -> Floats:
        """Return ``(slack - p / 2)^2``, and beyond the margin ``p (m - 1)`` besides."""
        slack = np.maximum(1.0 - m, 0.0)
        return np.asarray((slack - 0.5 * p) ** 2 + p * np.maximum(m - 1.0, 0.0))

    @staticmethod
    def scaled_divergence(part: float, pull: Floats, m: Floats) -> Floats:
        """Return ``(part p / 2)^2``."""
        return (0.5 * part * pull) ** 2

    @staticmethod
    def bias_bounds(signs: Floats, scores: Floats, costs: Floats, lean: float) -> tuple[float, float]:
        """Return two numbers between which the best bias lies: where the margins are met, for one that is free."""
        knots = signs - scores
        if lean:
            pulled = 2.0 * _core.dot(costs, np.maximum(1.0 - signs * scores, 0.0)) / lean
            return -pulled, pulled
        positive = signs > 0
        if positive.all():
            return (float(knots.max()),) * 2
        return float(knots.min()), float(knots.max()) if positive.any() else float(knots.min())


LOG: type[SmoothLoss] = LogLoss
SQUARED_HINGE: type[SmoothLoss] = SquaredHingeLoss
