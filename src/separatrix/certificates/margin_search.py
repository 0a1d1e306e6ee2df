"""The search for the largest margin: what it has found so far, and what both ways of searching share.

Not here: the two searches (pool_search.py, ascent_search.py), and any proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.exact_rows import Places
from separatrix.geometry.rows import Floats, Rows

PULL = 0.01  # of the bias coordinate that keeps the classes in balance, as a part of the rows' squared length


@dataclass(frozen=True, eq=False)
class Candidate:
    """A plane and convex weights, and the bounds that they give on the largest margin.

    Attributes
    ----------
    weights, bias
        The plane with the largest least margin so far: ``weights`` have length 1, or are zero before any pass.
    lower : float
        Its least margin, which is negative if it does not separate; -inf before any pass.
    points, shares
        Rows in ascending order, and their positive weights, of sum 1/2 on each class (without a bias: 1 in all).
    upper : float
        The length of ``sum shares_i y_i x_i``; inf while there are no points.
    """

    weights: Floats
    bias: float
    lower: float
    points: Places
    shares: Floats
    upper: float


@dataclass(frozen=True, eq=False)
class SearchResult(Candidate):
    """The last bracket, and why it is the last.

    Attributes
    ----------
    ended : str
        "narrow", the bounds are as near as asked; "small", the upper bound is nothing but rounding, and ``points`` are
        a smallest set of rows that shows it; "epsilon", it is at most ``tol`` times the longest row; "halted"; or
        "stuck", when rounding or the size of the data stands in the way.
    """

    ended: str


@dataclass(eq=False)
class MarginSearch:
    """The data, and the best plane and weights so far."""

    rows: Rows
    signs: Floats
    free: bool
    tol: float
    seed: int
    halted: Callable[[], bool]
    tell: Callable[[Candidate], None] | None

    def __post_init__(self) -> None:
        self.plane: tuple[Floats, float, float] = np.zeros(self.rows.shape[1]), 0.0, -math.inf
        self.points: Places = np.empty(0, dtype=np.intp)
        self.shares = np.empty(0)
        self.upper = math.inf

    def report(self) -> None:
        """Tell how far it is."""
        if self.tell is not None:
            self.tell(Candidate(*self.plane, *self._in_order(), self.upper))

    def end(self, why: str) -> SearchResult:
        """Return what was found."""
        return SearchResult(*self.plane, *self._in_order(), self.upper, why)

    def _in_order(self) -> tuple[Places, Floats]:
        order = np.argsort(self.points)
        return self.points[order], self.shares[order]

    def keep(self, weights: Floats, bias: float, least: float) -> None:
        """Keep this plane, with this least margin, if it is the best so far."""
        if least > self.plane[2]:
            self.plane = weights, bias, least
            self.report()


def half_way(margins: Floats, signs: Floats, bias: float) -> tuple[float, float]:
    """Return the bias half-way between the classes, given the margins with another, and the least margin with it."""
    above, below = (float(np.min(margins[signs == side])) for side in (1.0, -1.0))
    return bias + 0.5 * (below - above), 0.5 * (below + above)


def scaled(value: float, exponent: int) -> float:
    """Return ``value 2^exponent``, infinite where it is too large for a number."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        return math.copysign(math.inf, value)


def exponent(values: NDArray[Any]) -> int:
    """Return the power of two that is just above the largest of these numbers, 0 if all are zero."""
    largest = max(float(values.max()), -float(values.min())) if values.size else 0.0
    return int(np.frexp(largest)[1])
