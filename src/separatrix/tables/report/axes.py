"""Axes of a chart: where a number goes, and which numbers are written beside it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from separatrix.geometry.rows import Floats

_TICKS = 5


@dataclass(frozen=True)
class Axis:
    """A range of numbers along one side of a chart.

    Parameters
    ----------
    low, high : float
        Its ends.
    label : str
        What is counted or measured.
    log : bool
        Whether equal steps are equal factors.
    whole : bool
        Whether only whole numbers are written beside it.
    """

    low: float
    high: float
    label: str
    log: bool = False
    whole: bool = False

    def share(self, values: Floats) -> Floats:
        """Return how far along the axis each number lies: 0 at the low end, 1 at the high end."""
        if self.log:
            low, high = math.log(self.low), math.log(self.high)
            return np.asarray((np.log(values) - low) / (high - low))
        return np.asarray((values - self.low) / (self.high - self.low))

    def ticks(self) -> list[tuple[float, str]]:
        """Return the numbers that are written, and how."""
        if self.log and len(powers := self._powers()) > 1:
            return powers
        step = _nice((self.high - self.low) / _TICKS)
        if self.whole:
            step = max(1.0, step)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        places = max(0, -math.floor(math.log10(step) + 1e-9))
        values = [round(k * step, places + 2) for k in range(first, last + 1)]
        if places > 4 or max((abs(value) for value in values), default=0.0) >= 1e6:
            return [(value, f"{value:.3g}") for value in values]
        return [(value, f"{value:,.{places}f}".replace("-", "\u2212")) for value in values]

    def _powers(self) -> list[tuple[float, str]]:
        first, last = math.ceil(math.log10(self.low) - 1e-9), math.floor(math.log10(self.high) + 1e-9)
        every = max(1, math.ceil((last - first) / _TICKS))
        values = [10.0**power for power in range(first, last + 1, every)]
        return [(value, f"{value:,.0f}" if 1 <= value < 1e6 else f"{value:.0e}") for value in values]


def _nice(step: float) -> float:
    """Return 1, 2 or 5 times a power of ten, at least this."""
    power = 10.0 ** math.floor(math.log10(step))
    return next(factor * power for factor in (1.0, 2.0, 5.0, 10.0) if factor * power >= step * (1 - 1e-9))
