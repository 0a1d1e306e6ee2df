"""What a solver over blocks answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from separatrix.geometry.rows import Floats
from separatrix.svm.history import MarginHistory


@dataclass(eq=False)
class BlockSolution:
    """Weights, bias, the primal value and how far it can be above the optimum; and how the run ended."""

    weights: Floats
    bias: float
    primal: float = math.inf
    gap: float = math.inf
    iterations: int = 0
    ended: str = ""  # "gap", "iterations", "halted" or "rounding"
    history: MarginHistory = field(default_factory=MarginHistory)

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the primal value."""
        return self.gap / self.primal if 0.0 < self.primal < math.inf else math.inf
