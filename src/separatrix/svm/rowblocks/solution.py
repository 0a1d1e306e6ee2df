"""What a solver over blocks answers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.svm.history import MarginHistory

_UNIT = float(np.finfo(np.float64).eps)


@dataclass(eq=False)
class BlockSolution:
    """Weights, bias, the primal value and how far it can be above the optimum; and how the run ended.

    ``rounding`` bounds what rounding can have added to the value and taken from the gap.
    """

    weights: Floats
    bias: float
    primal: float = math.inf
    gap: float = math.inf
    rounding: float = math.inf
    iterations: int = 0
    width: float = 0.0  # of the smoothed corner of the hinge whose alpha gives the gap; 0 where there is none
    ended: str = ""  # "gap", "iterations", "halted" or "rounding"
    history: MarginHistory = field(default_factory=MarginHistory)

    @property
    def relative_gap(self) -> float:
        """The gap as a part of the primal value."""
        return self.gap / self.primal if 0.0 < self.primal < math.inf else math.inf

    @property
    def proven_gap(self) -> float:
        """An upper bound on the primal value's distance from the optimum, whatever rounding did."""
        return self.gap + self.rounding


@dataclass(eq=False)
class TaskSolution:
    """A solution as the estimators read it, with the dual weights and the slack of each row where they are kept."""

    weights: Floats
    bias: float
    primal: float
    gap: float
    relative_gap: float
    rounding: float
    least: float  # of the values that rounding is compared with
    alpha: Floats | None = None
    slack: Floats | None = None

    @property
    def proven_gap(self) -> float:
        """An upper bound on the primal value's distance from the optimum, whatever rounding did."""
        return self.gap + self.rounding


def of_task(solution: BlockSolution, costs: float, of_rows: tuple[Floats, Floats] | None) -> TaskSolution:
    """Return a solution with what is known of each row; ``costs`` is the sum of all C."""
    return TaskSolution(
        solution.weights, solution.bias, solution.primal, solution.gap, solution.relative_gap, solution.rounding,
        1e-16 * costs, *(of_rows or (None, None)),
    )  # fmt: skip


@dataclass(frozen=True)
class RoundingBound:
    """Bounds on what rounding changes of the two values, for any order of the sums.

    Sums of k terms are off by at most about k units in the last place of the sum of their sizes (Higham, Accuracy and
    Stability of Numerical Algorithms, 3.1). ``longest`` bounds ``|x|``, ``costs`` is the sum of all C.
    """

    n: int
    d: int
    longest: float
    costs: float

    def of_margins(self, weights: Floats, bias: float) -> float:
        """Return how far a margin can be from what was computed."""
        return (self.d + 4) * _UNIT * (1.0 + self._norm(weights, bias) * (1.0 + self.longest))

    def smooth(self, solution: BlockSolution, alpha: float, gradient: float, steep: float, step: float) -> float:
        """Return the bound for a smooth loss.

        ``alpha`` is the sum of all alpha, ``gradient`` the length of the gradient, ``steep`` the largest curvature of
        the loss, ``step`` the constant of the bias, 0 without one.
        """
        off = self.of_margins(solution.weights, solution.bias)
        steep = max(steep, 1.0)
        margins = (alpha + steep * self.costs * off) * off + (self.n + 16) * _UNIT * solution.primal
        sums = (self.n + 4) * _UNIT * (alpha * self.longest + self._norm(solution.weights, solution.bias))
        pair = steep**2 * self.costs * (off + 8 * _UNIT) ** 2
        reach = abs(solution.bias) + step + (gradient + sums) * self.longest
        return 2.0 * (margins + (gradient + sums) * sums + pair + (self.n + 4) * _UNIT * step * alpha * reach)

    def hinge(self, solution: BlockSolution, alpha: float, length: float) -> float:
        """Return the bound for the hinge; ``length`` is that of the sum of alpha y x."""
        margins = self.costs * self.of_margins(solution.weights, solution.bias)
        sums = (self.n + self.d) * length * alpha * (self.longest + 1.0)
        total = (self.n + 4) * (solution.primal + (1.0 + abs(solution.bias)) * alpha + length**2)
        return 2.0 * (margins + _UNIT * (sums + total))

    @staticmethod
    def _norm(weights: Floats, bias: float) -> float:
        return float(np.sqrt(weights @ weights)) + abs(bias)
