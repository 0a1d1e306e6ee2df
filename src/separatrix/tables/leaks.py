"""Columns that give the target away by themselves: such a model is too good to be true."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.collect import Collected
from separatrix.tables.raw_rows import RawRows
from separatrix.tables.roles import COUNTING

_FEWEST = 50  # rows: in fewer, a column may be right by chance
_MOST = 20_000  # rows that are looked at, evenly spaced
_SURE = 0.999  # of the rows that a column alone predicts correctly
_CELLS = 10_000_000  # of a table of values and classes
_LEVELS = 10  # rows for each level of a category, on average


def leaks(data: Collected, raw: RawRows) -> list[str]:
    """Return the names of columns that alone predict the class of almost every row.

    A number does if the classes stand one behind the other when rows are sorted by it; a category if its levels do not
    mix classes.
    """
    if raw.labels is None or len(raw) < _FEWEST or data.anonymous or is_sparse(raw.numbers):
        return []
    step = -(-len(raw) // _MOST)
    labels = raw.labels[::step]
    if np.bincount(labels).max() > _SURE * len(labels):  # so does no column at all
        return []
    return list(_named(data, raw, labels, step))


def order_warnings(data: Collected, raw: RawRows) -> tuple[str, ...]:
    """Return a warning where rows are in the order of their classes, which a column that counts them would give away.

    Such a column is left out, but not where an option names it; and other columns may hold the order too.
    """
    counting = [name for name, why in data.chosen.left_out.items() if why == COUNTING]
    if not counting or raw.labels is None or len(raw) < _FEWEST or data.chosen.target is None:
        return ()
    if not _sorted_by(np.arange(len(raw), dtype=np.float64), raw.labels):
        return ()
    return (
        f"Warning: the rows are in the order of {data.chosen.target.name!r}, so {counting[0]}, which counts them, "
        "would predict it: it is left out; do the same with others that follow the order.",
    )


def _named(data: Collected, raw: RawRows, labels: NDArray[np.int32], step: int) -> Iterator[str]:
    for place, column in enumerate(data.chosen.numbers):
        if _sorted_by(raw.numbers[::step, place], labels):
            yield column.name
    for place, column in enumerate(data.chosen.categories):
        levels = len(data.levels[place])
        if _LEVELS * levels <= len(labels) and _by_level(raw.codes[::step, place], labels):
            yield column.name


def _sorted_by(numbers: Any, labels: NDArray[np.int32]) -> bool:
    """Return whether a number is one quantity for each class, or all its values of one class are below another's."""
    known = ~np.isnan(numbers)
    if known.mean() < _SURE:
        return False
    values, first = np.unique(numbers[known], return_inverse=True)
    if len(values) == 1:
        return False
    own = labels[known]
    counts = (
        np.zeros((len(values), int(own.max()) + 1), dtype=np.int64) if len(values) * (own.max() + 1) < 1e7 else None
    )
    if counts is None:
        return False
    np.add.at(counts, (first, own), 1)
    best = counts.argmax(axis=1)
    right = int(counts.max(axis=1).sum())
    runs = 1 + int(np.count_nonzero(np.diff(best)))
    return right >= _SURE * len(own) and runs <= counts.shape[1]


def _by_level(codes: Any, labels: NDArray[np.int32]) -> bool:
    """Return whether the majority class of each level is the class of almost every row that has it."""
    counts = np.zeros((int(codes.max(initial=-1)) + 2, int(labels.max()) + 1), dtype=np.int64)
    np.add.at(counts, (codes, labels), 1)  # a missing one is the last
    return int(counts.max(axis=1).sum()) >= _SURE * len(labels)
