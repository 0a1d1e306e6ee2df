"""Cells of a range of C, the values of C between them, and what is known of each."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from separatrix.insight.fold_bounds import FoldBounds, FoldPoint

_FEWEST_FITS = 20  # of each fold, by default
_MOST_FITS = 1000  # of planes, by default


class Cell(NamedTuple):
    """A range of C, and a lower bound on the cross-validation error of every C in it."""

    low: float
    high: float
    bound: float


class Step(NamedTuple):
    """One value of C that all folds have been fitted with, and its cross-validation error."""

    C: float
    folds: list[FoldPoint]
    error: float


@dataclass(eq=False)
class Part:
    """A cell in the making: how many validation rows of each fold are surely wrong in it, and how many are open.

    Where rows have weights these are what they count.
    """

    low: float
    high: float
    sure: list[float]
    left: list[float]
    closed: bool = False  # nothing more can or need be done


def mean_error(wrong: Sequence[Any], folds: Sequence[FoldBounds]) -> Any:
    """Return the mean over the folds of the part of the validation rows, alike for alike totals.

    ``wrong`` holds a number for each fold, or an array of them.
    """
    totals: dict[float, Any] = {}
    for count, fold in zip(wrong, folds, strict=True):
        totals[fold.n] = totals.get(fold.n, 0) + count
    return sum(total / n for n, total in totals.items()) / len(folds)


def default_fits(folds: Sequence[FoldBounds]) -> int:
    """Return how many fits a search may make by default: fewer where each is of many classes."""
    planes = max(fold.n_planes for fold in folds)
    return max(_MOST_FITS // planes, _FEWEST_FITS * len(folds))


def by_cost(each: Step | FoldPoint) -> float:
    """Return the C, to sort by."""
    return each.C


def around(points: Sequence[FoldPoint], low: float, high: float) -> tuple[FoldPoint, FoldPoint]:
    """Return the nearest of some fits, which ascend, that have a range of C between them."""
    at = bisect.bisect_right(points, low, key=by_cost) - 1
    return points[at], points[min(at + (high > points[at].C), len(points) - 1)]
