"""The smooth losses in the functions of the array API standard."""

from __future__ import annotations

import math
from typing import Any

from separatrix import _core


class LogBlock:
    """``log(1 + exp(-m))``."""

    name = "log"
    curvature = 0.25

    @staticmethod
    def value(xp: Any, m: Any) -> Any:
        """Return the loss."""
        return xp.log1p(xp.exp(-xp.abs(m))) + xp.where(m < 0, -m, 0.0 * m)

    @staticmethod
    def pull(xp: Any, m: Any) -> Any:
        """Return minus the slope."""
        small = xp.exp(-xp.abs(m))
        return xp.where(m > 0, small, 0.0 * m + 1.0) / (1.0 + small)

    @staticmethod
    def second(xp: Any, pull: Any) -> Any:
        """Return the curvature."""
        return pull * (1.0 - pull)

    @staticmethod
    def scaled_divergence(xp: Any, part: float, pull: Any, m: Any) -> Any:
        """Return how far ``(1 - part) pull`` is from being the pull of m."""
        kept = 1.0 - part
        down = math.log1p(-part) if part < 1.0 else 0.0
        return kept * down * pull + ((1.0 - pull) + part * pull) * LogBlock.value(xp, m - math.log(part))


class CoreLogBlock(LogBlock):
    """The same from the core, with the same bits on every machine, for rows in memory."""

    @staticmethod
    def value(xp: Any, m: Any) -> Any:
        """Return the loss."""
        return _core.log_values(m)

    @staticmethod
    def pull(xp: Any, m: Any) -> Any:
        """Return minus the slope."""
        return _core.log_pulls(m)

    @staticmethod
    def scaled_divergence(xp: Any, part: float, pull: Any, m: Any) -> Any:
        """Return how far ``(1 - part) pull`` is from being the pull of m."""
        return _core.log_divergences((1.0 - part) * pull, m)


class SquaredHingeBlock:
    """``max(0, 1 - m)^2``."""

    name = "squared_hinge"
    curvature = 2.0

    @staticmethod
    def value(xp: Any, m: Any) -> Any:
        """Return the loss."""
        slack = xp.where(m < 1.0, 1.0 - m, 0.0 * m)
        return slack * slack

    @staticmethod
    def pull(xp: Any, m: Any) -> Any:
        """Return minus the slope."""
        return xp.where(m < 1.0, 2.0 * (1.0 - m), 0.0 * m)

    @staticmethod
    def second(xp: Any, pull: Any) -> Any:
        """Return the curvature."""
        return xp.where(pull > 0, 2.0 + 0.0 * pull, 0.0 * pull)

    @staticmethod
    def scaled_divergence(xp: Any, part: float, pull: Any, m: Any) -> Any:
        """Return how far ``(1 - part) pull`` is from being the pull of m."""
        return (0.5 * part * pull) ** 2
