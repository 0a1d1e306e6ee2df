"""Finds a C of a range whose cross-validation error is provably near the least there is in the range.

Between two neighbouring values of C that have been fitted, every fold has a lower bound on its errors
(``fold_bounds``). A range is cut into cells until the bound is high enough, or until the middle of a cell shows that it
cannot be: then there is one more fit between the two.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from threadpoolctl import threadpool_limits

from separatrix.estimators.warm_fits import geometric
from separatrix.insight.fold_bounds import FoldBounds, FoldPoint

_FIRST_STEP = 10.0  # between the first values of C
_TRIED_STEP = math.sqrt(10.0)  # where nothing is proved
_FIRST_TOL = 1e-7
_TIGHTER = 1e-2
_LEAST_TOL = 1e-12
_CUTS = 5  # of a range between two fits, into halves
_CLOSEST = 1.0 + 1e-6  # no fit between values of C that are nearer than this
_ROUNDING = 1e-12  # of a mean of fractions


class Cell(NamedTuple):
    """A range of C, and a lower bound on the cross-validation error of every C in it."""

    low: float
    high: float
    bound: float


@dataclass(eq=False)
class Step:
    """One value of C: its fits in the folds, and its cross-validation error."""

    C: float
    folds: list[FoldPoint]
    error: float
    tol: float


@dataclass(eq=False)
class Range:
    """What lies between two neighbouring values of C."""

    first: Step
    last: Step
    cells: list[Cell] = field(default_factory=list)
    closed: bool = False  # nothing more can or need be done

    @property
    def bound(self) -> float:
        """The lower bound on the error in the whole range."""
        return min((cell.bound for cell in self.cells), default=0.0)


@dataclass(eq=False)
class Search:
    """A search in [low, high] that makes at most ``most`` fits and ends when ``halted`` says so."""

    folds: Sequence[FoldBounds]
    low: float
    high: float
    within: float
    tol: float
    most: int
    halted: Callable[[], bool]
    steps: list[Step] = field(default_factory=list)
    ranges: list[Range] = field(default_factory=list)
    n_fits: int = 0
    ended: str = ""  # "proved", "fits", "time" or "rounding"
    seconds: float = 0.0

    @property
    def best(self) -> Step:
        """The step with the least error, the smallest C of several."""
        return min(self.steps, key=lambda step: (step.error, step.C))

    @property
    def target(self) -> float:
        """The bound that every cell needs."""
        return self.best.error - self.within - _ROUNDING

    @property
    def cells(self) -> list[Cell]:
        """All cells, in order."""
        return [cell for each in self.ranges for cell in each.cells]

    def run(self) -> None:
        """Search."""
        with threadpool_limits(1):  # the products are too short for threads, which would wait for each other
            self._search()

    def _search(self) -> None:
        began = time.perf_counter()
        tol = min(self.tol, _FIRST_TOL)
        for C in geometric(self.low, self.high, _FIRST_STEP):
            if self.steps and self._spent():
                break
            self.steps.append(self._fitted(float(C), tol, self.steps[-1:]))
        self.ranges = [Range(one, two) for one, two in itertools.pairwise(self.steps)]
        last, reached = self.steps[-1], self.steps[-1].C
        if reached != self.high:  # the budget ended on the way
            self.ranges.append(Range(last, last, [Cell(reached, self.high, 0.0)], True))
        while not self.ended:
            self._round()
        for each in self.ranges:
            if not each.closed and each.bound < self.target:
                each.cells = self._finer(each)
        if self.ended != "proved" and all(each.bound >= self.target for each in self.ranges):
            self.ended = "proved"
        self.seconds = time.perf_counter() - began

    def try_values(self) -> None:
        """Fit a few values of C in each decade, where nothing can be proved about those between them."""
        began = time.perf_counter()
        for C in geometric(self.low, self.high, _TRIED_STEP):
            if self.steps and self._spent():
                break
            self.steps.append(self._fitted(float(C), self.tol, self.steps[-1:]))
        self.ended, self.seconds = "joint", time.perf_counter() - began

    def _spent(self) -> bool:
        if self.n_fits + len(self.folds) > self.most:
            self.ended = "fits"
        elif self.halted():
            self.ended = "time"
        return bool(self.ended)

    def _fitted(self, C: float, tol: float, near: Sequence[Step]) -> Step:
        """Fit every fold, starting between the steps that are near."""
        points = [fold.fit(C, tol, [step.folds[place] for step in near]) for place, fold in enumerate(self.folds)]
        self.n_fits += len(points)
        return Step(C, points, self._mean([point.wrong for point in points]), tol)

    def _mean(self, wrong: Sequence[int]) -> float:
        return sum(count / fold.n for count, fold in zip(wrong, self.folds, strict=True)) / len(self.folds)

    def _round(self) -> None:
        """Bound every range that is open, and fit once more in each whose bound is too low."""
        for each in self.ranges:
            if not each.cells and not each.closed:
                each.cells = self._cells(each)
        waiting = [each for each in self.ranges if each.bound < self.target and not each.closed]
        if not waiting:
            low = [each for each in self.ranges if each.bound < self.target]
            self.ended = "rounding" if low else "proved"
            return
        for each in sorted(waiting, key=lambda each: (each.bound, each.first.C)) if self._few(waiting) else waiting:
            if each.bound >= self.target:
                continue
            if self._spent():
                return
            self._divide(each)
        self._forget()

    def _few(self, waiting: list[Range]) -> bool:
        """Return whether the fits that are left do not suffice for all: then the lowest bounds come first."""
        return self.most - self.n_fits < len(waiting) * len(self.folds)

    def _divide(self, each: Range) -> None:
        """Fit in the middle of a range, or more precisely at an end that its own precision keeps from being proved."""
        for step in (each.first, each.last):
            own = self._bound(step, step, step.C, step.C)
            if own < self.target and step.tol > _LEAST_TOL and all(point.converged for point in step.folds):
                tighter = self._fitted(step.C, max(step.tol * _TIGHTER, _LEAST_TOL), [step])
                step.folds, step.error, step.tol = tighter.folds, tighter.error, tighter.tol
                for other in self.ranges:
                    if (other.first is step or other.last is step) and not other.closed:
                        other.cells = []
                return
        if each.last.C <= each.first.C * _CLOSEST:
            each.closed = True
            return
        middle = math.sqrt(each.first.C) * math.sqrt(each.last.C)
        step = self._fitted(middle, max(each.first.tol, each.last.tol), [each.first, each.last])
        self.steps.insert(self.steps.index(each.last), step)
        place = self.ranges.index(each)
        self.ranges[place : place + 1] = [Range(each.first, step), Range(step, each.last)]

    def _bound(self, first: Step, last: Step, low: float, high: float) -> float:
        wrong = [
            fold.surely_wrong(one, two, low, high)
            for fold, one, two in zip(self.folds, first.folds, last.folds, strict=True)
        ]
        return self._mean(wrong)

    def _cells(self, each: Range) -> list[Cell]:
        """Cut a range into cells whose bounds are high enough, as far as more cuts help."""
        waiting, cells = [(each.first.C, each.last.C, 0)], []
        failed = False
        while waiting:
            low, high, cuts = waiting.pop()
            bound = self._bound(each.first, each.last, low, high)
            middle = math.sqrt(low) * math.sqrt(high)
            if bound < self.target and not failed and cuts < _CUTS and low < middle < high:
                if self._bound(each.first, each.last, middle, middle) < self.target:
                    failed = True  # no cut will do: wait for a fit
                else:
                    waiting += [(middle, high, cuts + 1), (low, middle, cuts + 1)]
                    continue
            cells.append(Cell(low, high, bound))
        return cells

    def _finer(self, each: Range) -> list[Cell]:
        """Cut a range that no more fits will be made in evenly, so that its bound is as high as the fits allow."""
        edges = [float(C) for C in geometric(each.first.C, each.last.C, (each.last.C / each.first.C) ** (1 / 8))]
        edges[0], edges[-1] = each.first.C, each.last.C
        pairs = itertools.pairwise(edges)
        return [Cell(low, high, self._bound(each.first, each.last, low, high)) for low, high in pairs]

    def _forget(self) -> None:
        """Let go of the scores of steps between ranges that are proved: the target never rises."""
        open_steps = {
            id(step) for each in self.ranges if not each.cells or each.bound < self.target
            for step in (each.first, each.last)
        }  # fmt: skip
        for step in self.steps:
            if id(step) not in open_steps:
                for point in step.folds:
                    point.forget()
