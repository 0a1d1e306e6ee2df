"""A shard: neighbouring rows with their labels and weights, wherever they are, and what it gives to the solvers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows
from separatrix.svm.rowblocks.block import Block
from separatrix.svm.rowblocks.core_rows import CoreRows

Call = tuple[str, tuple[Any, ...]]  # a method of a block, and what it is given
KEPT = (  # the numbers of rows that a block keeps between two calls
    "scores", "moved", "alpha", "room", "surplus", "slack", "alpha_step", "surplus_step", "slack_step",
)  # fmt: skip


@dataclass
class Shard:
    """The rows from ``first`` on; ``read`` returns their values."""

    first: int
    d: int
    read: Callable[[], Any]
    codes: NDArray[np.int32]
    weights: Floats | None


class Costing(NamedTuple):
    """What the loss of a row costs: C, and what the classes weigh."""

    price: float
    by_class: Floats | None = None

    def of(self, shard: Shard) -> Floats | None:
        """Return the cost of each row of a shard, None where all cost the price."""
        if self.by_class is None and shard.weights is None:
            return None
        weights = shard.weights
        if self.by_class is not None:
            own = self.by_class[shard.codes]
            weights = own if weights is None else own * weights
        return np.asarray(self.price * weights)  # type: ignore[operator]


class BlockTask(NamedTuple):
    """A class against the rest, what its rows cost, the centre of the columns, and how many rows there are in all."""

    positive: int
    costing: Costing
    centre: Floats | None
    n: int


def block_of(shard: Shard, task: BlockTask, make: Callable[..., Block] = Block) -> Block | None:
    """Return the block of a shard's rows that count, as ``make`` makes it; None where none does."""
    costs, read, codes = task.costing.of(shard), shard.read, shard.codes
    if costs is None:
        costs = np.full(len(codes), task.costing.price)
    elif not (kept := costs > 0.0).all():
        if not kept.any():
            return None
        costs, codes = costs[kept], codes[kept]

        def read() -> Any:
            return shard.read()[kept]

    signs = np.where(codes == task.positive, 1.0, -1.0)
    return make(CoreRows(read, len(codes), shard.d, task.n, task.centre), signs, costs)


def perform(block: Any, calls: Sequence[Call]) -> Any:
    """Call methods of a block one after the other; return what the last one returns."""
    answer = None
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # a thread has its own
        for method, given in calls:
            answer = getattr(block, method)(*given)
    return answer


class Survey(NamedTuple):
    """What is asked about all rows before a fit: the costs, and the first row that no product can be formed of."""

    by_class: Floats  # the sum of the costs
    smallest_cost: float  # that is not 0
    largest_cost: float
    smallest_bad: float  # its place, infinity where there is none


class Ends(NamedTuple):
    """The range and the sum of each column."""

    smallest: Floats
    largest: Floats
    total: Floats


def survey(shard: Shard, costing: Costing, n_classes: int) -> Survey:
    """Survey the rows of a shard."""
    squares = _core.square_norms(Rows(shard.read()).matrix)
    finite = np.isfinite(squares)
    bad = math.inf if finite.all() else float(shard.first + int(np.argmin(finite)))
    costs = costing.of(shard)
    if costs is None:
        costs = np.full(len(shard.codes), costing.price)
    least = float(costs.min(initial=math.inf, where=costs > 0.0))
    by_class = np.bincount(shard.codes, costs, n_classes).astype(np.float64)
    return Survey(by_class, least, float(costs.max()), bad)


def ends(shard: Shard) -> Ends:
    """Return the range and the sum of each column in a shard."""
    values = shard.read()
    total = _core.combine(Rows(values).matrix, np.ones(len(values)))
    return Ends(values.min(axis=0).astype(np.float64), values.max(axis=0).astype(np.float64), total)


def spaced(shard: Shard, step: int) -> Any:
    """Return those rows of a shard whose place among all is a multiple of the step."""
    begin = -shard.first % step
    if begin >= len(shard.codes):
        return np.empty((0, shard.d))
    return shard.read()[begin::step]
