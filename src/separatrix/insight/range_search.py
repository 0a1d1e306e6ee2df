"""Finds a C of a range whose cross-validation error is provably near the least there is in the range.

The range is cut into cells. In each, every fold has a lower bound on its errors that follows from its two fits around
the cell (``fold_bounds``). Where the mean of the bounds is too low, the cell is cut in two if its middle shows that
this will do; else the fold that leaves most rows open is fitted once more, between its two fits. Where the path of the
optima can be followed (``fold_path``), that is done instead of more fits. A value of C for which the solutions of all
folds are known is a step, of which the error is known.
"""

from __future__ import annotations

import bisect
import itertools
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from threadpoolctl import threadpool_limits

from separatrix.estimators.warm_fits import geometric
from separatrix.insight.fold_bounds import FoldBounds, FoldPoint
from separatrix.insight.fold_path import Followed
from separatrix.insight.path_reading import PathReading
from separatrix.insight.range_cells import Cell, Part, Step, around, by_cost, mean_error

_FIRST_STEP = 10.0  # between the first values of C
_TRIED_STEP = math.sqrt(10.0)  # where nothing is proved
_FIRST_TOL = 1e-7
_TIGHTER = 1e-2
_LEAST_TOL = 1e-12
_LAST_CUTS = 8  # of a cell, where no more fits will be made
_FINEST = 1.5  # ranges between two fits of a fold are cut into this many cells, before there is another fit
_NEAR = 1.2  # between two fits, for their precision to be what keeps a cell from being proved
_CLOSEST = 1.0 + 1e-6  # no fit between values of C that are nearer than this
_ROUNDING = 1e-12  # of a mean of fractions


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
    steps: list[Step] = field(default_factory=list)  # ascending
    parts: list[Part] = field(default_factory=list)
    points: list[list[FoldPoint]] = field(default_factory=list)  # of each fold, ascending
    n_fits: int = 0
    n_paths: int = 0
    ended: str = ""  # "proved", "fits", "time" or "rounding"
    _tried: set[tuple[int, float]] = field(default_factory=set)  # folds, and where following their path began
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
        return [Cell(part.low, part.high, self._mean(part.sure)) for part in self.parts]

    def run(self) -> None:
        """Search."""
        with threadpool_limits(1):  # the products are too short for threads, which would wait for each other
            self._search()

    def _search(self) -> None:
        began = time.perf_counter()
        self._first_steps(_FIRST_STEP, min(self.tol, _FIRST_TOL))
        reached = self.steps[-1].C
        self.parts = [Part(low, high, *self._decided(low, high)) for low, high in itertools.pairwise(self._edges())]
        if reached != self.high:  # the budget ended on the way
            none = [0.0] * len(self.folds)
            self.parts.append(Part(reached, self.high, none, list(none), closed=True))
        while not self.ended:
            self._round()
        if self.ended != "proved":
            self._last_cuts()
            if all(self._mean(part.sure) >= self.target for part in self.parts):
                self.ended = "proved"
        self.seconds = time.perf_counter() - began

    def try_values(self) -> None:
        """Fit a few values of C in each decade, where nothing can be proved about those between them."""
        began = time.perf_counter()
        self._first_steps(_TRIED_STEP, self.tol)
        self.ended, self.seconds = "joint", time.perf_counter() - began

    def _first_steps(self, ratio: float, tol: float) -> None:
        self.points = [[] for _ in self.folds]
        for C in geometric(self.low, self.high, ratio):
            unknown = [place for place, fold in enumerate(self.folds) if fold.known(C, C) is None]
            if self.steps and unknown and self._spent(len(unknown)):
                return
            for place in unknown:
                self._replace(place, self.folds[place].fit(float(C), tol, self.points[place][-1:]))
            self._note(float(C))
            for place in unknown:
                self._follow(place, self.points[place][-1], self.high)

    def _edges(self) -> list[float]:
        """Return where the first cells begin and end."""
        reached = self.steps[-1].C
        if all(fold.known(self.low, reached) is not None for fold in self.folds):
            return [self.low, reached]
        ends = {end for fold in self.folds for end in fold.ends if end < reached}
        return sorted(ends | {step.C for step in self.steps})

    def _note(self, C: float) -> None:
        """Keep a C as a step if the solutions of every fold are known."""
        pairs = zip(self.points, self.folds, strict=True)
        found = [next((point for point in points if point.C == C), None) or fold.seen(C) for points, fold in pairs]
        points = [point for point in found if point is not None]
        if len(points) == len(self.folds):
            self.steps = [step for step in self.steps if step.C != C]
            bisect.insort(self.steps, Step(C, points, self._mean([point.wrong for point in points])), key=by_cost)

    def _spent(self, fits: int) -> bool:
        if self.n_fits + fits > self.most:
            self.ended = "fits"
        elif self.halted():
            self.ended = "time"
        return bool(self.ended)

    def _mean(self, wrong: Sequence[Any]) -> Any:
        return mean_error(wrong, self.folds)

    def _round(self) -> None:
        """Do something about every cell whose bound is too low, the lowest first."""
        low = [part for part in self.parts if self._mean(part.sure) < self.target]
        waiting = sorted((part for part in low if not part.closed), key=lambda part: (self._mean(part.sure), part.low))
        if not waiting:
            self.ended = "rounding" if low else "proved"
        for part in waiting:
            if self._mean(part.sure) < self.target:
                if self._spent(1):
                    break
                self._raise(part)
        self._forget()

    def _raise(self, part: Part) -> None:
        """Cut a cell in two, or fit where it leaves most open."""
        known = [fold.known(part.low, part.high) for fold in self.folds]
        followed = [each for each in known if each is not None]
        if len(followed) == len(known):
            self._read(part, followed)
            return
        middle = math.sqrt(part.low) * math.sqrt(part.high)
        if not part.low * _CLOSEST < middle < part.high:
            part.closed = True
            return
        if self._worth_a_cut(part):
            sure, left = self._decided(middle, middle, part)
            if self._mean(sure) >= self.target:
                self._cut(part, middle)
                return
        else:
            left = part.left
        shares = [
            count / fold.n if path is None else 0.0 for count, fold, path in zip(left, self.folds, known, strict=True)
        ]
        for place in sorted(range(len(self.folds)), key=lambda place: -shares[place]):
            if shares[place] > 0.0 and self._refine(place, middle):
                return
        if any(shares):
            part.closed = True
            return
        for place in range(len(self.folds)):  # the error is lower here: see how low
            self._fit(place, middle)

    def _worth_a_cut(self, part: Part) -> bool:
        """Return whether a cell is not much narrower than what its open folds know: else a fit says more."""
        for place in range(len(self.folds)):
            if part.left[place]:
                first, last = around(self.points[place], part.low, part.high)
                if (part.high / part.low) ** _FINEST < last.C / first.C:
                    return False
        return True

    def _refine(self, place: int, C: float) -> bool:
        """Fit a fold between its fits around a C, or more precisely at one that is not exact enough; say if it can."""
        first, last = around(self.points[place], C, C)
        if self._follow(place, first, last.C):
            return True
        for point in (first, last) if last.C <= first.C * _NEAR else ():
            if point.tol > _LEAST_TOL and point.converged and self._imprecise(place, point):
                self._replace(place, self.folds[place].fit(point.C, max(point.tol * _TIGHTER, _LEAST_TOL), [point]))
                return True
        if last.C <= first.C * _CLOSEST:
            return False
        self._fit(place, math.sqrt(first.C) * math.sqrt(last.C))
        return True

    def _follow(self, place: int, point: FoldPoint, end: float) -> bool:
        """Follow the path of a fold from a fit as far as it goes, but once; fit it there; return whether it goes."""
        fold, tried = self.folds[place], (place, point.C)
        if tried in self._tried or not end > point.C:
            return False
        self._tried.add(tried)
        reached = fold.follow(point, end, self.halted)
        if not reached > point.C:
            return False
        self.n_paths += 1
        for part in self.parts:
            if part.low >= point.C and part.high <= reached and not part.closed:
                part.sure[place], part.left[place] = self._decide(place, part.low, part.high)
        if reached < end:
            self._replace(place, fold.fit(reached, point.tol, [point]))
        return True

    def _read(self, part: Part, followed: list[Followed]) -> None:
        """Cut a cell in which the path of every fold is known into what is proved and what is not."""
        reading = PathReading.of(followed, self.folds, part.low, part.high)
        C, error = reading.best
        if error < self.best.error:
            self._note(C)
        place = self.parts.index(part)
        self.parts[place : place + 1] = reading.parts(self.target)

    def _imprecise(self, place: int, point: FoldPoint) -> bool:
        """Return whether a fold's own precision keeps the error at one of its fits from being proved."""
        beside = [part for part in self.parts if part.low <= point.C <= part.high]
        if any(part.closed or self._mean(part.sure) >= self.target for part in beside):
            return False  # it has been, or cannot be
        if point.left is None:
            point.left = self.folds[place].decide(point, point, point.C, point.C)[1]
        return point.left > 0 and self._mean(self._decided(point.C, point.C)[0]) < self.target

    def _fit(self, place: int, C: float) -> None:
        """Fit a fold with this C, unless it has been."""
        first, last = around(self.points[place], C, C)
        if C in (first.C, last.C):
            return
        self._replace(place, self.folds[place].fit(C, max(first.tol, last.tol), [first, last]))

    def _replace(self, place: int, point: FoldPoint) -> None:
        """Add a fit of a fold, or put it in the place of a less precise one; bound anew what it is next to."""
        self.n_fits += 1
        points = self.points[place]
        at = bisect.bisect_left(points, point.C, key=by_cost)
        points[at : at + (at < len(points) and points[at].C == point.C)] = [point]
        self._note(point.C)
        for part in self.parts:
            if part.low < point.C < part.high:
                rest = Part(point.C, part.high, list(part.sure), list(part.left))
                self.parts.insert(self.parts.index(part) + 1, rest)
                part.high = point.C
                break
        least, most = points[max(at - 1, 0)].C, points[min(at + 1, len(points) - 1)].C
        for part in self.parts:
            if least <= part.low and part.high <= most and not part.closed and self._mean(part.sure) < self.target:
                part.sure[place], part.left[place] = self._decide(place, part.low, part.high)

    def _cut(self, part: Part, *places: float) -> None:
        """Cut a cell at some values of C."""
        edges = [part.low, *places, part.high]
        at = self.parts.index(part)
        pairs = itertools.pairwise(edges)
        self.parts[at : at + 1] = [Part(low, high, *self._decided(low, high, part)) for low, high in pairs]

    def _decide(self, place: int, low: float, high: float) -> tuple[float, float]:
        return self.folds[place].decide(*around(self.points[place], low, high), low, high)

    def _decided(self, low: float, high: float, part: Part | None = None) -> tuple[list[float], list[float]]:
        """Return how many validation rows of each fold are surely wrong from low to high, and how many are open.

        These lie in the part, if one is given: a fold with no open rows there has none here.
        """
        counts = [
            self._decide(place, low, high) if part is None or part.left[place] else (part.sure[place], 0)
            for place in range(len(self.folds))
        ]
        return [count[0] for count in counts], [count[1] for count in counts]

    def _last_cuts(self) -> None:
        """Cut every cell whose bound is too low evenly, so that its bound is as high as the fits allow."""
        for part in list(self.parts):
            if not part.closed and self._mean(part.sure) < self.target and part.low * _CLOSEST < part.high:
                edges = geometric(part.low, part.high, (part.high / part.low) ** (1 / _LAST_CUTS))
                self._cut(part, *(float(C) for C in edges[1:-1]))

    def _forget(self) -> None:
        """Let go of what fits prove between cells that are proved: the target never rises."""
        left = [part for part in self.parts if not part.closed and self._mean(part.sure) < self.target]
        for points in self.points:
            for at, point in enumerate(points):
                low, high = points[max(at - 1, 0)].C, points[min(at + 1, len(points) - 1)].C
                if point.planes and not any(part.low <= high and low <= part.high for part in left):
                    point.forget()
