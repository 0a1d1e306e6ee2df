"""The arithmetic of one block: the numbers of its rows, and the sums over them that the solvers ask for.

Every method returns a tuple of sums (numbers and arrays), in the order of its fields; ``add`` knows which fields are
smallest or largest values instead. The numbers of the rows stay with the block. The functions are those of the array
API standard, so that the same lines serve NumPy and a GPU; products with the rows are those of ``rows``.
"""

from __future__ import annotations

from enum import Enum
from typing import Any, NamedTuple, Protocol

import numpy as np

from separatrix.geometry.rows import Floats

_ROWS_A_COLUMN = 200  # of a sample for a table: its error is about the root of one part in so many
_SPARSEST = 16


class Precision(Enum):
    """How a table of products is computed: in double; in single precision, where that is faster; from some rows."""

    DOUBLE = 0
    SINGLE = 1
    SAMPLE = 2


def stride(n: int, d: int) -> int:
    """Return one in how many rows are enough for a table that says where the next step goes."""
    return min(max(n // (_ROWS_A_COLUMN * (d + 1)), 1), _SPARSEST)


class BlockRows(Protocol):
    """The rows of a block and the products with them, all in double precision."""

    xp: Any
    n: int
    d: int

    def times(self, w: Floats) -> Any:
        """Return ``w.x`` of every row."""

    def back(self, *several: Any) -> list[Floats]:
        """Return ``sum r x`` for each of several r."""

    def gram(self, t: Any, how: Precision) -> Any:
        """Return the lower triangle of ``sum t (x, 1)(x, 1)'``."""

    def longest(self) -> float:
        """Return an upper bound on ``|x|`` of every row."""

    def total(self, values: Any) -> float:
        """Return the sum of the values."""

    def smallest(self, values: Any) -> float:
        """Return the smallest value."""

    def full(self, value: float) -> Any:
        """Return this value for every row."""


class Slope(NamedTuple):
    """Of the loss as a function of the bias or of the length of a step: value, slope and curvature."""

    value: float
    slope: float
    bend: float


class Curve(NamedTuple):
    """What Newton's method needs: the loss, ``sum alpha x`` and ``sum alpha`` of each class, the table of products."""

    loss: float
    above: Floats
    below: Floats
    above_total: float
    below_total: float
    table: Any


class Inside(NamedTuple):
    """What one iteration of the interior-point method begins with."""

    complement: float
    missing: float
    loss: float
    above: Floats
    below: Floats
    above_total: float
    below_total: float
    right: Floats
    right_total: float
    table: Any


class Bracket(NamedTuple):
    """The loss of the hinge, ``sum alpha x`` and ``sum alpha`` of each class."""

    loss: float
    above: Floats
    below: Floats
    above_total: float
    below_total: float


class Right(NamedTuple):
    """A right-hand side of the equations."""

    right: Floats
    right_total: float


class Reach(NamedTuple):
    """How far a step may go, and how the products that go to 0 change with the square of its length."""

    smallest: float  # length
    bend: float


class Extent(NamedTuple):
    """What bounds on rounding need: an upper bound on ``|x|`` of every row, and the sum of the costs."""

    largest: float  # length of a row
    costs: float


def add(one: Any, other: Any) -> Any:
    """Return the sum of two tuples of sums, field by field, or the smaller or the larger value; None adds nothing."""
    if one is None or other is None:
        return other if one is None else one
    return type(one)(
        *(
            np.minimum(a, b)
            if name.startswith("smallest")
            else np.maximum(a, b)
            if name.startswith("largest")
            else a + b
            for name, a, b in zip(one._fields, one, other, strict=True)
        )
    )


class Block:
    """Rows, signs (+1, -1), what the loss of each row counts, and the numbers that a solver keeps for each row."""

    def __init__(self, rows: BlockRows, signs: Any, costs: Any) -> None:
        self.rows, self.signs, self.costs = rows, signs, costs
        self.scores = self.moved = rows.full(0.0)

    def extent(self) -> Extent:
        """Return what bounds on rounding need."""
        return Extent(self.rows.longest(), self.rows.total(self.costs))

    def of_rows(self, loss: Any, w: Floats, bias: float) -> tuple[Any, Any]:
        """Return alpha, and how far each margin is below 1; of the hinge, alpha near a bound is at the bound."""
        self.begin(w)
        xp, costs = self.rows.xp, self.costs
        margins = self.signs * (self.scores + bias)
        slack = xp.where(margins < 1.0, 1.0 - margins, 0.0 * margins)
        if loss is not None:
            return costs * loss.pull(xp, margins), slack
        alpha = xp.where(self.alpha < 1e-5 * self.surplus * costs, 0.0 * costs, self.alpha)
        return xp.where(self.room < 1e-5 * self.slack * costs, costs, alpha), slack

    # ------------------------------------------------------------------------------------------ a smooth loss

    def begin(self, w: Floats) -> None:
        """Compute the scores of these weights."""
        self.scores = self.rows.times(w) if w.any() else self.rows.full(0.0)

    def lean(self, loss: Any, bias: float) -> Slope:
        """Return the loss, its slope and its curvature in the bias."""
        margins = self.signs * (self.scores + bias)
        pulls = loss.pull(self.rows.xp, margins)
        total, costs = self.rows.total, self.costs
        return Slope(
            total(costs * loss.value(self.rows.xp, margins)),
            -total(self.signs * costs * pulls),
            total(costs * loss.second(self.rows.xp, pulls)),
        )

    def curve(self, loss: Any, bias: float, how: Precision) -> Curve:
        """Return loss, gradient by class and the weighted table of products."""
        xp, rows, costs = self.rows.xp, self.rows, self.costs
        margins = self.signs * (self.scores + bias)
        pulls = loss.pull(xp, margins)
        above, below = self._by_class(costs * pulls)
        from_above, from_below = rows.back(above, below)
        table = rows.gram(costs * loss.second(xp, pulls), how)
        value = rows.total(costs * loss.value(xp, margins))
        return Curve(value, from_above, from_below, rows.total(above), rows.total(below), table)

    def spilt(self, loss: Any, bias: float, part: float, sign: float) -> Slope:
        """Return what it costs the dual to take this part from alpha of one class (as the value)."""
        margins = self.signs * (self.scores + bias)
        pulls = loss.pull(self.rows.xp, margins)
        lost = self.costs * loss.scaled_divergence(self.rows.xp, part, pulls, margins)
        return Slope(self.rows.total(self.rows.xp.where(self.signs == sign, lost, 0.0 * lost)), 0.0, 0.0)

    def bracket(self, loss: Any, bias: float) -> Bracket:
        """Return the loss of the hinge, and the sums of the alpha of another loss."""
        margins = self.signs * (self.scores + bias)
        xp, rows = self.rows.xp, self.rows
        above, below = self._by_class(self.costs * loss.pull(xp, margins))
        from_above, from_below = rows.back(above, below)
        value = rows.total(self.costs * xp.where(margins < 1.0, 1.0 - margins, 0.0 * margins))
        return Bracket(value, from_above, from_below, rows.total(above), rows.total(below))

    def aim(self, step: Floats) -> None:
        """Compute how the scores move with this step."""
        self.moved = self.rows.times(step)

    def along(self, loss: Any, bias: float, bias_step: float, length: float) -> Slope:
        """Return the loss at this length of the step, with its slope and curvature in the length."""
        moved = self.signs * (self.moved + bias_step)
        margins = self.signs * (self.scores + bias) + length * moved
        pulls = loss.pull(self.rows.xp, margins)
        total, weighted = self.rows.total, self.costs * moved
        return Slope(
            total(self.costs * loss.value(self.rows.xp, margins)),
            -total(weighted * pulls),
            total(weighted * moved * loss.second(self.rows.xp, pulls)),
        )

    def slide(self, length: float) -> None:
        """Make a step of this length."""
        self.scores = self.scores + length * self.moved

    def _by_class(self, values: Any) -> tuple[Any, Any]:
        xp = self.rows.xp
        none = 0.0 * values
        return xp.where(self.signs > 0, values, none), xp.where(self.signs > 0, none, values)

    # ------------------------------------------------------------------------------------------ the hinge

    def centre(self, w: Floats, bias: float, mu: float) -> None:
        """Take the place of these weights on the central path: ``mu / (C - alpha) - mu / alpha = 1 - m``."""
        self.begin(w)
        xp, costs = self.rows.xp, self.costs
        distance = 1.0 - self.signs * (self.scores + bias)
        root = xp.sqrt((distance * costs) ** 2 + 4.0 * mu * mu) + 2.0 * mu
        self.alpha, self.room = (costs * (2.0 * mu / (root + side * costs)) for side in (-distance, distance))
        self.surplus, self.slack = mu / self.alpha, mu / self.room

    def measure(self, w: Floats, bias: float, how: Precision) -> Inside:
        """Return what is missing at these weights, the values, and the equations of the predictor."""
        rows, xp = self.rows, self.rows.xp
        self.begin(w)
        wanted = 1.0 - self.signs * (self.scores + bias)
        missing = wanted + self.surplus - self.slack
        above, below = self._by_class(self.alpha)
        weight = self._weight()
        pull = self.signs * weight * wanted
        from_above, from_below, right = rows.back(above, below, pull)
        return Inside(
            rows.total(self.surplus * self.alpha) + rows.total(self.slack * self.room),
            rows.total(missing * self.alpha),
            rows.total(self.costs * xp.where(wanted > 0, wanted, 0.0 * wanted)),
            from_above, from_below, rows.total(above), rows.total(below), right, rows.total(pull),
            rows.gram(weight, how),
        )  # fmt: skip

    def predict(self, step: Floats, bias: float, bias_step: float) -> Reach:
        """Return how far the predictor's step may go."""
        self.moved = self.rows.times(step) + bias_step
        return self._reach(*self._guess(bias))

    def correct(self, bias: float, aim: float) -> Right:
        """Return the right-hand side of the corrector."""
        pull = self.signs * self._weight() * self._corrected(bias, aim)[0]
        return Right(self.rows.back(pull)[0], self.rows.total(pull))

    def step(self, step: Floats, bias: float, bias_step: float, aim: float) -> Reach:
        """Return how far the corrector's step may go; it is kept for ``move``."""
        wanted, target, box_target = self._corrected(bias, aim)
        self.moved = self.rows.times(step) + bias_step
        alpha = self._weight() * (wanted - self.signs * self.moved)
        surplus = (target - self.surplus * alpha) / self.alpha
        slack = (box_target + self.slack * alpha) / self.room
        self.alpha_step, self.surplus_step, self.slack_step = alpha, surplus, slack
        return self._reach(alpha, surplus, slack)

    def move(self, length: float) -> None:
        """Make the corrector's step."""
        step = length * self.alpha_step
        self.alpha, self.room = self.alpha + step, self.room - step
        self.surplus, self.slack = self.surplus + length * self.surplus_step, self.slack + length * self.slack_step
        del self.alpha_step, self.surplus_step, self.slack_step

    def _weight(self) -> Any:
        return 1.0 / (self.surplus / self.alpha + self.slack / self.room)

    def _guess(self, bias: float) -> tuple[Any, Any, Any]:
        wanted = 1.0 - self.signs * (self.scores + bias)
        alpha = self._weight() * (wanted - self.signs * self.moved)
        return alpha, -self.surplus - self.surplus * alpha / self.alpha, -self.slack + self.slack * alpha / self.room

    def _corrected(self, bias: float, aim: float) -> tuple[Any, Any, Any]:
        alpha, surplus, slack = self._guess(bias)
        target = aim - self.surplus * self.alpha - alpha * surplus
        box_target = aim - self.slack * self.room + alpha * slack
        missing = 1.0 - self.signs * (self.scores + bias) + self.surplus - self.slack
        return missing + target / self.alpha - box_target / self.room, target, box_target

    def _reach(self, alpha: Any, surplus: Any, slack: Any) -> Reach:
        xp = self.rows.xp
        least = float("inf")
        for place, change in (
            (self.alpha, alpha), (self.room, -alpha), (self.surplus, surplus), (self.slack, slack),
        ):  # fmt: skip
            walls = xp.where(
                change < 0, -place / xp.where(change < 0, change, -1.0 + 0.0 * change), float("inf") + 0.0 * change
            )
            least = min(least, self.rows.smallest(walls))
        return Reach(least, self.rows.total(surplus * alpha) - self.rows.total(slack * alpha))
