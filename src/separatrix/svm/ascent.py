"""Dual coordinate ascent: one example at a time, its alpha to the best value within its bounds.

This is the rule ``alpha <- clip(alpha + (1 - m - D alpha) / (q + D), 0, U)`` with ``m = y (w.x + b)`` and ``q =
|x|^2``. The free bias is found by the method of multipliers: a bias coordinate K pulls ``sum alpha y`` towards 0, and
what it has to pull with is moved into the bias after every epoch.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.svm.task import MarginTask

# The core's Point (margin.hpp).
POINT = np.dtype(
    [("alpha", "f8"), ("square", "f8"), ("cost", "f8"), ("slack", "f4"), ("sign", "i1"), ("rest", "u1"), ("wait", "u1"),
     ("leave", "u1")]
)  # fmt: skip
SHIFT, BALANCE, DRIFT, DRIFTED, DRIFTERS = range(5)  # the core's AscentReal
_RELAX, _RELAX_FROM = 1.3, 4  # steps a little beyond the top, once the first epochs have found out where to go
_SOON = 4  # epochs
_TOO_LARGE = "values of X, C or intercept_scaling are so large that sums overflow; scale the features first"
CHUNK = 1 << 21  # numbers to read between two looks at the keyboard


class Estimate(NamedTuple):
    """What an epoch of ascent knows for free: the losses are of when each row was last met, so it is no proof."""

    primal: float
    dual: float
    at_bound: int


class Ascent:
    """The state of coordinate ascent on one task."""

    def __init__(self, task: MarginTask, alpha: Floats | None, seed: int) -> None:
        self.task: Any = task
        self.points = np.zeros(task.n, dtype=POINT)
        self.points["square"] = task.squares
        self.points["cost"] = task.costs
        self.points["sign"] = task.signs
        self.points["slack"] = 1.0
        self.real = np.zeros(5)
        self.real[DRIFT] = np.inf
        self.bias_square = float(task.bias) ** 2
        if task.free:
            self.bias_square = float(np.median(self.points["square"])) or 1.0
        self.weights = aligned_zeros(task.rows.shape[1])
        self.epochs = 0
        self.touched = 0  # numbers read so far
        self._seed = seed
        self._order: NDArray[np.uint32] | None = None
        self._position = 0
        self._per_row = max(task.stored() // task.n, 1)
        self._block = 8 if is_sparse(task.rows.values) else 1
        if alpha is not None:
            self.points["alpha"] = alpha
            self.refresh()

    @property
    def alpha(self) -> Floats:
        """The dual weights, as they are now."""
        return self.points["alpha"].copy()

    @property
    def bias(self) -> float:
        """The bias, as it is now."""
        return float(self.real[SHIFT] + self.bias_square * self.real[BALANCE])

    def put_down(self) -> None:
        """Let go of the data until ``task`` is set again."""
        self.task = None

    def refresh(self) -> None:
        """Compute the weights anew from alpha."""
        signed = self.task.signs * self.points["alpha"]
        self.weights[:] = _core.combine(self.task.rows.matrix, signed)
        self.real[BALANCE] = _core.dot(self.task.signs, self.points["alpha"].copy())

    def jump(self, alpha: Floats, bias: float) -> None:
        """Go on from this alpha; every point is looked at again."""
        self.points["alpha"] = alpha
        self.points["rest"] = self.points["wait"] = self.points["leave"] = 0
        self.refresh()
        if self.task.free:
            self.real[SHIFT] = bias - self.bias_square * self.real[BALANCE]

    def step_to(self, alpha: Floats, weights: Floats) -> None:
        """Go on from this alpha; the points that rest go on resting."""
        self.points["alpha"] = alpha
        self.weights[:] = weights
        self.real[BALANCE] = _core.dot(self.task.signs, alpha)

    def epoch(self, halted: Callable[[], bool]) -> bool:
        """Visit every point that does not wait; return False when ``halted`` cut the epoch short.

        The next call then goes on where this one was cut.
        """
        points, matrix = self.points.view(np.uint8), self.task.rows.matrix
        if self._order is None:
            self._order = _core.ascent_order(points, self._block, self._seed, self.epochs)
            self._position = 0
        order = self._order
        rows = max(CHUNK // self._per_row, 1)
        while self._position < len(order):
            if halted():
                return False
            end = min(self._position + rows, len(order))
            bad = _core.ascend(
                matrix, points, order, self._position, end, self.weights, self.real, self.bias_square,
                _RELAX if self.epochs >= _RELAX_FROM else 1.0, self.task.squared,
            )  # fmt: skip
            if bad >= 0:
                self.task.rows.refuse_row(bad)
                raise OverflowError(f"the activation of row {bad} is not a finite number: {_TOO_LARGE}")
            self._position = end
        if math.isnan(self.real[DRIFTED]):
            raise OverflowError(f"the sums of an epoch are not finite numbers: {_TOO_LARGE}")
        if self.real[DRIFTERS] > 0:
            self.real[DRIFT] = max(math.sqrt(self.real[DRIFTED] / self.real[DRIFTERS]), 1e-300)
        self.real[DRIFTED] = self.real[DRIFTERS] = 0.0
        if self.task.free:
            self.real[SHIFT] += self.bias_square * self.real[BALANCE]
        self.touched += len(order) * self._per_row
        self.epochs, self._order = self.epochs + 1, None
        return True

    def wake(self, rows: NDArray[np.intp]) -> None:
        """Let the next epoch visit these."""
        for name in ("rest", "wait", "leave"):
            self.points[name][rows] = 0

    def moving(self) -> NDArray[np.intp]:
        """Return the points that moved when last visited, or are so near to their margin that they may soon."""
        return np.flatnonzero(self.points["leave"] < _SOON)

    def estimate(self) -> Estimate:
        """Return primal and dual value from the losses as last met."""
        loss, gain, at_zero, at_upper = _core.standing(self.points.view(np.uint8), self.task.squared)
        square = _core.dot(self.weights, self.weights)
        dual = gain - 0.5 * square
        balance = float(self.real[BALANCE])
        if self.task.free:
            dual -= self.bias * balance
        else:
            square += self.bias_square * balance**2
            dual -= 0.5 * self.bias_square * balance**2
        return Estimate(0.5 * square + loss, dual, at_zero + at_upper)

    def refreshed(self) -> float:
        """Return the primal value of the weights, whatever was met when; wake the points that are at a wrong bound."""
        task, points = self.task, self.points
        scores = _core.decide(task.rows.matrix, self.weights[None, :], np.zeros(1), 1)[:, 0]
        loss, _, _, _, slack = _core.margin_sums(
            task.squared, scores, self.bias, task.signs, task.costs, task.squares, task.squares, 0.0, 0.0, 0.0
        )  # fmt: skip
        wrong = (points["alpha"] <= 0.0) & (slack > 0.0)
        if not task.squared:
            wrong |= (points["alpha"] >= task.costs) & (slack <= 0.0)
        self.wake(np.flatnonzero(wrong))
        self.touched += task.stored() // 2
        square = _core.dot(self.weights, self.weights)
        if not task.free:
            square += self.bias_square * float(self.real[BALANCE]) ** 2
        return 0.5 * square + loss

    def validate(self) -> None:
        """Refuse points and orders that would lead the core astray."""
        points, order = self.points, self._order
        fits = isinstance(points, np.ndarray) and points.dtype == POINT and points.ndim == 1 and len(points) > 0
        require(fits and np.isin(points["sign"], (-1, 1)).all(), "the points of a run are damaged")
        require(np.isfinite(points["alpha"]).all() and (points["alpha"] >= 0).all(), "the points of a run are damaged")
        require(not np.isnan(points["cost"]).any() and (points["cost"] > 0).all(), "the points of a run are damaged")
        require(
            np.isfinite(points["square"]).all() and (points["square"] >= 0).all(), "the points of a run are damaged"
        )
        require(is_array(self.real, "f8", (5,)) and self.real[DRIFT] > 0, "a run is damaged")
        require(is_array(self.weights, "f8", (None,), finite=True), "the weights of a run are not finite")
        require(is_real(self.bias_square) and 0 <= self.bias_square < math.inf, "a run is damaged")
        counts = (self.epochs, self.touched, self._position)
        require(all(is_count(value) for value in counts) and is_count(self._seed, 0, 2**64 - 1), "a run is damaged")
        require(is_count(self._per_row, 1) and is_count(self._block, 1, 4096), "a run is damaged")
        if order is not None:
            fits = is_array(order, "u4", (None,)) and self._position <= len(order) <= len(points)
            require(fits and (len(order) == 0 or int(order.max()) < len(points)), "the order of a run is damaged")


def aligned_zeros(n: int) -> Floats:
    """Return zeros that begin at the start of a cache line: vectors then lie across no two of them."""
    room = np.zeros(n + 8)
    skip = -(room.ctypes.data // 8) % 8
    return room[skip : skip + n]
