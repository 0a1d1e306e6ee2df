"""Fits over shards of rows: in memory where there are many, in files, on other machines."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.fitting import check_costs
from separatrix.geometry.device_rows import DeviceRows
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.centring import far
from separatrix.svm.rowblocks.block_run import ShardRun
from separatrix.svm.rowblocks.shard import BlockTask, Costing, Shard, ends, survey
from separatrix.svm.rowblocks.sharded import MemorySource, Source
from separatrix.svm.rowblocks.tree import MOST_COLUMNS, tall

_HEAD = 8  # rows that are looked at first for columns far from the origin


class SourceRows:
    """The rows of a source, as far as a fit asks for them by themselves."""

    names = None

    def __init__(self, source: Source, centre: Floats | None = None) -> None:
        self._source, self.centre = source, centre
        self.shape = source.n, source.d

    def sample(self, most: int) -> Rows:
        """Return at most so many evenly spaced rows, in memory."""
        return Rows(self._source.spaced(most))

    def less(self, centre: Floats) -> SourceRows:
        """Return these rows read less this centre of each column."""
        return SourceRows(self._source, centre)

    def refuse_row(self, row: int) -> None:
        """Raise ValueError naming the NaN or infinity in this row, if there is one."""
        values = self._source.reduce(_row, row).values
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            what = "NaN" if np.isnan(values[bad[0]]) else "infinity"
            raise ValueError(
                f"X contains {what} in row {row}, column {bad[0]}: every value must be a finite number (fill or drop "
                "missing values first; inputs with NaN or inf are not accepted)"
            )


class SourceProblem:
    """What the estimators know as a problem, of rows that are not all in memory; ``by_class`` weighs the classes."""

    weights = None

    def __init__(self, source: Source, classes: NDArray[Any], by_class: Floats | None) -> None:
        self.source, self.classes, self.by_class = source, classes, by_class
        self.n, self.d = source.n, source.d
        self.rows = SourceRows(source)


class Sharded:
    """The rows of a problem in shards, surveyed: what they cost in all, and what far columns are read less."""

    def __init__(self, source: Source, costing: Costing, rows: Any, classes: NDArray[Any], *, free: bool) -> None:
        self._source, self._costing = source, costing
        seen = source.reduce(survey, costing, len(classes))
        if math.isfinite(seen.smallest_bad):
            bad = int(seen.smallest_bad)
            rows.refuse_row(bad)
            raise ValueError(f"row {bad} of X is so long that its square overflows: scale the features first")
        if not seen.by_class.all():
            label = classes[np.argmin(seen.by_class) :].tolist()[0]
            raise ValueError(
                f"every example of the class {label!r} has weight 0: leave its rows out, or give them weight"
            )
        check_costs(np.array([seen.smallest_cost, seen.largest_cost]))
        self.costs = float(seen.by_class.sum())
        self._centre = _centre(source) if free else None
        self.rows = rows if self._centre is None else rows.less(self._centre)

    def run(self, positive: int, *rule: Any, fetch: bool, **how: Any) -> ShardRun:
        """Return a run of one class against the others."""
        task = BlockTask(positive, self._costing, self._centre, self._source.n)
        return ShardRun(lambda: self._source.store(task), self.costs, *rule, fetch=fetch, **how)


def shards_of(problem: Any, price: float, *, free: bool, threads: int) -> Sharded | None:
    """Return the rows of a problem in shards; None where they are in memory, and sparse, few or not tall."""
    if isinstance(problem, SourceProblem):
        return Sharded(problem.source, Costing(price, problem.by_class), problem.rows, problem.classes, free=free)
    rows = problem.rows
    if isinstance(rows, DeviceRows) or is_sparse(rows.values) or not tall(problem.n, problem.d):
        return None
    source = MemorySource(problem.rows.values, problem.codes, problem.weights, threads)
    return Sharded(source, Costing(price), problem.rows, problem.classes, free=free)


def check_shape(d: int, *, sparse: bool, where: str) -> None:
    """Refuse rows elsewhere than in memory that no solver is for."""
    if sparse:
        raise ValueError(f"{where}: sparse rows must fit into memory for this model; dense numbers need not")
    if d > MOST_COLUMNS:
        raise ValueError(
            f"{where}: rows of {d:,} columns must fit into memory for this model; {MOST_COLUMNS:,} need not"
        )


def _centre(source: Source) -> Floats | None:
    """Return the means of the columns that are far from the origin, 0 for the others; None where none is."""
    head = source.spaced(_HEAD).astype(np.float64)
    if not far(head.min(axis=0), head.max(axis=0)).any():
        return None
    seen = source.reduce(ends)
    columns = far(seen.smallest, seen.largest)
    return np.where(columns, seen.total / source.n, 0.0) if columns.any() else None


def _row(shard: Shard, row: int) -> Any:
    place = row - shard.first
    return _Found(np.asarray(shard.read()[place], dtype=np.float64)) if 0 <= place < len(shard.codes) else None


class _Found(NamedTuple):
    values: Floats
