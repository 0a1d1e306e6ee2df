"""The soft-margin support vector machine in its dual form, for any kernel, to a proven gap.

    maximise  sum_i a_i - 1/2 sum_ij a_i a_j y_i y_j K_ij   with  0 <= a_i <= C_i  and  sum_i a_i y_i = 0

Blocks of points are solved in turn (Joachims 1999; Wen and others 2018, "ThunderSVM", algorithm 1): the points that
violate the conditions of optimality most, and some of the block before, form a working set; its kernel rows come out
of one matrix product; sequential minimal optimisation solves it in the processor's cache; one pass over the rows then
tells all points. What a round gives is a bracket: the dual value from below, and from above the primal value

    1/2 |w|^2 + sum_i C_i max(0, 1 - y_i (w . x_i + b))   with  w = sum_i a_i y_i x_i

at the best b for that w. The optimum lies between them, whatever the working sets were.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.kernel_cache import KernelCache, capacity
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.state import Status
from separatrix.models.validity import is_list_of, require
from separatrix.svm.task import best_bias
from separatrix.text import times

SMALL = 1000  # examples, up to which float64 costs nothing worth saving
SINGLE_TOL = 1e-5  # the smallest relative gap for which float32 is tried
_LARGEST_SET = 768  # points in a working set: their kernel fits in a processor's nearer caches
_FINISHED = 500  # examples, up to which a problem is solved as far as rounding allows
_AUDITED = 128  # examples whose float32 sums are held against float64 ones
_PATIENCE = 30  # rounds in which the dual must rise
_WINDOW = 300  # rounds over which the pace of the gap is measured; more where a round sees a part of the points
_NEAR_END = 10  # windows before max_iter in which the pace no longer matters
_AGAIN = 30  # times that rounding may turn a gap that was reached into one that is not
_TINY = np.finfo(np.float64).tiny


class Round(NamedTuple):
    """What is known after one working set: the bracket, and the seconds since the run began.

    Where several machines are trained in turn, ``machine`` counts them.
    """

    primal: float
    dual: float
    gap: float
    seconds: float
    machine: int = 0


@dataclass
class Rounds:
    """The rounds of a run."""

    rounds: list[Round] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.rounds)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __getitem__(self, index: int) -> Round:
        return self.rounds[index]

    def validate(self) -> None:
        """Refuse what are not rounds."""
        require(is_list_of(self.rounds, Round), "its rounds are damaged")

    @property
    def primal(self) -> list[float]:
        """The primal value after each round: no smaller than the optimum."""
        return [each.primal for each in self.rounds]

    @property
    def dual(self) -> list[float]:
        """The dual value after each round: no larger than the optimum."""
        return [each.dual for each in self.rounds]

    @property
    def gap(self) -> list[float]:
        """Primal minus dual."""
        return [each.gap for each in self.rounds]

    @property
    def seconds(self) -> list[float]:
        """The time since the run began."""
        return [each.seconds for each in self.rounds]


class KernelSolution(NamedTuple):
    """A solution: the dual weights, the bias, the bracket that it was left with and how the run ended."""

    alpha: Floats
    bias: float
    f: Floats  # sum_j a_j y_j K_ij of every example
    primal: float
    dual: float
    gap: float
    rounds: Rounds
    status: Status
    precision: str


def bracket(f: Floats, alpha: Floats, y: Floats, C: Floats, b: float) -> tuple[float, float]:
    """Return the primal value at b and the dual value, given ``f_i = sum_j a_j y_j K_ij``."""
    square = float(np.dot(alpha * y, f))
    slack = np.maximum(1.0 - y * (f + b), 0.0)
    return 0.5 * square + float(np.dot(C, slack)), float(alpha.sum()) - 0.5 * square


class KernelRun:
    """One run.

    Parameters
    ----------
    kernel : Kernel
        With gamma as a number.
    rows : Rows
        The examples; for a precomputed kernel the square kernel matrix.
    y : array of +1 and -1
        Their classes.
    C : array of float
        The bound of each dual weight, positive.
    tol : float
        The gap to reach, as a share of the primal value.
    max_iter : int
        The most rounds.
    megabytes : float
        For kernel rows.
    n_jobs : int
        Threads.
    pressed : list of one bool
        Set to True to end the run after the round it is in.
    watch : callable, optional
        Told of each round.
    """

    def __init__(
        self,
        kernel: Kernel,
        rows: Rows,
        y: Floats,
        C: Floats,
        *,
        tol: float,
        max_iter: int,
        megabytes: float,
        n_jobs: int = 1,
        pressed: list[bool] | None = None,
        watch: Callable[[Round], None] | None = None,
    ) -> None:
        self._kernel, self._rows = kernel, rows
        self._y, self._C = np.asarray(y, dtype=np.float64), np.asarray(C, dtype=np.float64)
        self._tol, self._max_iter, self._megabytes, self._n_jobs = tol, max_iter, megabytes, n_jobs
        self._pressed = [False] if pressed is None else pressed
        self._watch = watch
        self._n = len(y)
        single = self._n > SMALL and tol >= SINGLE_TOL and kernel.fits_single(rows)
        if kernel.precomputed and rows.values.dtype == np.float32:
            single = True
        if single:  # float64 may be needed later
            capacity(self._n, megabytes, np.float64)
        self._cache = self._make_cache(np.float32 if single else np.float64)
        self._indefinite = False
        self._alpha = np.zeros(self._n)
        self._F = -self._y
        self._allowed = 0.0  # for rounding, in the gap to be reached
        self._set = np.empty(0, dtype=np.int64)
        self._began = time.perf_counter()

    def _make_cache(self, dtype: Any) -> KernelCache:
        return KernelCache(self._kernel, self._rows, self._megabytes, dtype, self._n_jobs)

    @property
    def _exact(self) -> bool:
        """Whether kernel values are as exact as they can be; a precomputed kernel is what it is."""
        return bool(self._cache.dtype == np.float64 or self._kernel.precomputed)

    def run(self) -> KernelSolution:
        """Return the solution, whose bracket rests on sums made anew at the end, or on some held against such sums."""
        rounds = Rounds()
        for again in range(_AGAIN):
            end = self._go(rounds)
            if self._exact:
                if end != "over":
                    self._finish()
                self._F = self._cache.combine(self._alpha * self._y) - self._y
            b, primal, dual = self._look(always=True)
            doubt = self._doubt(b, self._rounding() if self._exact else self._measured_error())
            doubt += (self._n + 8) * float(np.finfo(np.float64).eps) * (abs(primal) + abs(dual))
            gap = max(primal - dual, 0.0) + doubt
            self._indefinite |= primal < dual - doubt
            rounds.rounds[-1] = Round(primal, dual, gap, time.perf_counter() - self._began)
            reached = gap <= self._tol * primal and not self._indefinite
            if reached or end == "over" or self._indefinite or again == _AGAIN - 1:
                break
            if self._pressed[0] or len(rounds) >= self._max_iter:
                break
            if not self._exact:
                del self._cache  # before there is another
                self._cache = self._make_cache(np.float64)
                self._F = self._cache.combine(self._alpha * self._y) - self._y
            elif end in ("stuck", "stalled") or doubt >= 0.5 * self._tol * primal:
                break
            else:
                self._allowed = doubt
        status = self._status(gap / max(primal, _TINY), reached, end, len(rounds))
        return KernelSolution(
            self._alpha, b, self._F + self._y, primal, dual, gap, rounds, status, self._cache.dtype.name
        )  # fmt: skip

    def _go(self, rounds: Rounds) -> str:
        """Run rounds until the gap is "reached" by the running sums, the run is "over", or it gets no further.

        It is "stuck" if the dual no longer rises, "stalled" if the gap falls too slowly.
        """
        duals: list[float] = []
        gaps: list[float] = []  # of the best values so far
        above, below = math.inf, -math.inf
        least = 1e-15 if self._exact else 1e-9
        while True:
            up, low = self._free()
            violation = float(low.max() - up.min())
            self._round(up, low, violation)
            _, primal, dual = self._look()
            rounds.rounds.append(Round(primal, dual, max(primal - dual, 0.0), time.perf_counter() - self._began))
            if self._watch is not None:
                self._watch(rounds[-1])
            if primal - dual <= self._tol * primal - self._allowed:
                return "reached"
            if self._pressed[0] or len(rounds) >= self._max_iter:
                return "over"
            if not math.isfinite(dual):
                return "stuck"
            duals.append(dual)
            if len(duals) > _PATIENCE and dual - duals[-1 - _PATIENCE] <= least * abs(dual):
                return "stuck"
            above, below = min(above, primal), max(below, dual)
            gaps.append(above - below)
            window = _WINDOW * -(-self._n // max(len(self._set), 1))
            soon = self._max_iter - len(rounds) < _NEAR_END * window  # where stopping saves little
            if len(gaps) > window and not soon and gaps[-1] > (1.0 - window / self._max_iter) * gaps[-1 - window]:
                return "stalled"

    def _look(self, *, always: bool = False) -> tuple[float, float, float]:
        """Return a bias, the primal value there and the dual value.

        The bias half way between the two ends of the violation is at hand; the best one takes a sort, and is looked for
        when it may decide.
        """
        up, low = self._free()
        ends = float(low.max()), float(up.min())
        f = self._F + self._y
        b = -0.5 * (ends[0] + ends[1])
        primal, dual = math.inf, 0.0
        if math.isfinite(b):
            primal, dual = bracket(f, self._alpha, self._y, self._C, b)
        if always or not primal - dual > 4.0 * self._tol * primal:
            best = best_bias(f, self._y, self._C)
            value, dual = bracket(f, self._alpha, self._y, self._C, best)
            if value <= primal:
                b, primal = best, value
        return b, primal, dual

    def _finish(self) -> None:
        """Solve a small problem as far as rounding allows: it costs little, and equal problems get equal solutions."""
        if self._n > min(_FINISHED, self._cache.capacity):
            return
        self._set = np.arange(self._n, dtype=np.int64)
        self._solve(1e-13 * max(1.0, float(np.abs(self._F).max())), 50 * self._n)

    def _doubt(self, b: float, error: float) -> float:
        """Return how much the gap may grow if each f may be wrong by this error.

        What example i adds to the gap, ``a_i y_i f_i + C_i max(0, 1 - y_i (f_i + b))``, has a slope in f of at most
        ``a_i`` beyond the margin, ``C_i - a_i`` within, and ``C_i`` where the error may carry it across.
        """
        beyond = self._y * (self._F + self._y + b) - 1.0
        slope = np.where(beyond > error, self._alpha, np.where(beyond < -error, self._C - self._alpha, self._C))
        return error * float(slope.sum())

    def _rounding(self) -> float:
        """Return an estimate of the error of f in float64: that of kernel values, times the sum of the weights."""
        error = self._kernel.rounding_error(self._cache.rows, self._cache.diagonal)
        return float(error * self._alpha.sum())

    def _measured_error(self) -> float:
        """Return the error of f in float32: twice the largest difference from float64 over some of the examples."""
        some = np.unique(np.linspace(0, self._n - 1, _AUDITED).astype(np.int64))
        support = np.flatnonzero(self._alpha)
        values, center = self._rows.values, self._cache.center
        left, right = (self._kernel.prepare(values[index], np.float64, center) for index in (some, support))
        exact = self._kernel.block(left, right) @ (self._alpha * self._y)[support]
        return 2.0 * float(np.abs(exact - (self._F + self._y)[some]).max())

    def _status(self, share: float, reached: bool, end: str, n: int) -> Status:
        after = times(n, "round")
        if self._pressed[0]:
            text = f"interrupted after {after} at a relative duality gap of {share:.3g}; the model is the best so far"
            return Status(text, reached, interrupted=True)
        if self._indefinite:
            text = f"stopped after {after}: the kernel is not positive semidefinite, so the duality gap proves nothing"
            return Status(text, False)
        if reached:
            return Status(f"converged after {after}: relative duality gap {share:.3g}, at most tol={self._tol:g}", True)
        text = f"stopped after {after}: relative duality gap {share:.3g}, above tol={self._tol:g}"
        if end == "reached":
            text += "; rounding errors of the kernel values allow no smaller gap"
        if end == "stalled":
            text += f"; at its pace it would not fall so far in max_iter={self._max_iter} rounds"
        if end == "stuck":
            text += "; the dual no longer improves, as with a kernel that is not positive semidefinite"
        return Status(text, False)

    def _free(self) -> tuple[Floats, Floats]:
        """Return F where a point can move up along y (infinity elsewhere), and down (minus infinity elsewhere)."""
        below, above, positive = self._alpha < self._C, self._alpha > 0, self._y > 0
        up = np.where(np.where(positive, below, above), self._F, np.inf)
        low = np.where(np.where(positive, above, below), self._F, -np.inf)
        return up, low

    def _round(self, up: Floats, low: Floats, violation: float) -> None:
        self._set = self._choose(up, low)
        self._solve(0.1 * violation, 100 * len(self._set))

    def _solve(self, tolerance: float, max_steps: int) -> None:
        """Solve the dual on the working set, and tell all points."""
        slots = self._cache.slots(self._set)
        before = self._alpha[self._set]
        if self._kernel.supplied:
            self._check_curvature(slots)
        _core.smo(
            self._cache.store, slots, self._set, self._cache.diagonal, self._y, self._C, self._alpha, self._F,
            tolerance, max_steps,
        )  # fmt: skip
        coef = (self._alpha[self._set] - before) * self._y[self._set]
        moved = coef != 0
        _core.add_rows(self._cache.store, slots[moved], coef[moved], self._F, self._n_jobs)

    def _check_curvature(self, slots: NDArray[np.int64]) -> None:
        """Note whether two points are at a distance whose square is negative: no inner product gives that."""
        own = self._cache.diagonal[self._set]
        squares = own[:, None] + own[None, :] - 2.0 * self._cache.store[slots][:, self._set]
        self._indefinite |= bool(squares.min() < -1e-6 * np.abs(own).max())

    def _choose(self, up: Floats, low: Floats) -> NDArray[np.int64]:
        size = min(self._n, self._cache.capacity, _LARGEST_SET)
        if size == self._n:
            return np.arange(self._n, dtype=np.int64)
        # The newest half of the last set stays; what is left must hold the worst of each side, or nothing would move.
        kept = self._set[len(self._set) // 2 :] if size >= 4 else self._set[:0]
        taken = np.zeros(self._n, dtype=bool)
        taken[kept] = True
        room = size - len(kept)
        first = _smallest(np.where(taken, np.inf, up), room // 2)
        taken[first] = True
        second = _smallest(np.where(taken, np.inf, -low), room - len(first))
        return np.concatenate([kept, first, second]).astype(np.int64)


def _smallest(values: Floats, k: int) -> NDArray[np.int64]:
    """Return the places of the k smallest values that are finite."""
    at = np.argpartition(values, min(k, len(values) - 1))[:k] if k < len(values) else np.arange(len(values))
    return np.asarray(at[np.isfinite(values[at])], dtype=np.int64)
