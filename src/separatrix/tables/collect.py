"""Read all rows of a source: choose columns, encode categories and labels once, drop rows with missing values."""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.arrow_columns import as_label
from separatrix.tables.columns import ChosenColumns, ColumnOptions, choose
from separatrix.tables.levels import Levels
from separatrix.tables.memory import check_columns_fit
from separatrix.tables.preparation import Feature, vectoriser
from separatrix.tables.raw_rows import RawRows, Recode
from separatrix.tables.reading import (
    ROWS,
    Reader,
    column_number,
    table_rows,
    without_column,
)
from separatrix.tables.sources.base import Column, ColumnsChangedError, MatrixSource, TableSource
from separatrix.tables.split_column import SplitReader
from separatrix.tables.store import RowCollector, RowStore
from separatrix.text import times

_MOST_CLASSES = 10_000
_FEW = 20  # different fractions may still be labels

Watch = Callable[[int, "float | None"], None]  # rows read so far, and what part of the source that is


@dataclass
class Collected:
    """All rows of a source that are used.

    Attributes
    ----------
    where : str
        The source, for messages.
    chosen : ChosenColumns
        Its columns.
    anonymous : str
        Empty for tables; for numbers without column names what kind they are ("libsvm", "npy").
    levels : list of lists
        The values of each category column, sorted: codes are places in them.
    classes : list
        The labels, sorted.
    n_read, n_dropped : int
        How many rows were read, and how many dropped.
    missing : dict
        How many values are missing, by column.
    rows : MemoryRows or RawFile
        The rows that are kept.
    """

    where: str
    chosen: ChosenColumns
    anonymous: str
    levels: list[list[str]]
    classes: list[Any]
    n_read: int
    n_dropped: int
    missing: dict[str, int]
    rows: RowStore

    def number_name(self, place: int) -> str:
        """Return the name of a number column, for messages."""
        return self.chosen.numbers[place].name if self.chosen.numbers else f"x{place}"


def collect(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    *,
    limit: int,
    folder: Path,
    on_disk: bool = False,
    exact: bool = False,
    watch: Watch | None = None,
) -> Collected:
    """Read all rows of a source.

    Parameters
    ----------
    source : TableSource or MatrixSource
        The source.
    options : ColumnOptions
        Which columns, and what to do about missing values.
    limit : int
        Bytes that the rows may take in memory, copies included; beyond it they are kept on disk.
    folder : Path
        Where rows on disk go.
    on_disk : bool
        Go to disk at once.
    exact : bool
        Refuse whole numbers that no float equals.
    watch : callable, optional
        Called with the number of rows read and the part of the source that is.
    """
    store = RowCollector(source.name, limit, folder, on_disk)
    if isinstance(source, MatrixSource):
        return _collect_matrix(source, options, store, watch)
    try:
        return _collect_table(source, options, store, exact, watch)
    except ColumnsChangedError:  # a column is not what its first rows looked like: once more from the beginning
        return _collect_table(source, options, RowCollector(source.name, limit, folder, on_disk), exact, watch)


def _collect_table(
    source: TableSource, options: ColumnOptions, store: RowCollector, exact: bool, watch: Watch | None
) -> Collected:
    if options.text:
        source.settle()
    chosen = choose(source.name, source.columns, options)
    assert chosen.target is not None
    levels = [
        Levels(source.name, column.name, most=options.max_levels, text=source.first_text(column.name))
        for column in chosen.categories
    ]
    classes = Levels(source.name, chosen.target.name)
    reader = Reader(source.name, chosen, levels, classes, exact=exact)
    reader.split = None if options.split is None else SplitReader(source.name, options.split)
    hashing = [vectoriser(Feature(c.name, "text", "text")) for c in chosen.texts] if _hashes(options) else []
    keeper = _Keeper(options.missing, reader)
    with contextlib.closing(table_rows(source, reader)) as every:
        for read in every:
            raw = keeper.keep(read)
            _check_target(source.name, chosen.target, classes.codes, keeper.kept, done=False)
            if hashing:
                raw.texts = [
                    one.transform([t or "" for t in texts]) for one, texts in zip(hashing, raw.texts, strict=True)
                ]
            part = source.fraction() if reader.part is None else reader.part
            store.add(raw, part)
            if watch is not None:
                watch(reader.rows, part)
    labels = _sorted_labels(list(keeper.met(-1, classes.codes)))
    _check_target(source.name, chosen.target, labels, keeper.kept, done=True, n_read=reader.rows)
    names = [sorted(keeper.met(place, level.codes)) for place, level in enumerate(levels)]
    for place, column in enumerate(chosen.categories):
        if not names[place]:
            raise ValueError(
                f"{source.name}, column {column.name!r} is empty: leave it out with --exclude "
                f"{shlex.quote(column.name)}"
            )
        if column.kind == "text":
            levels[place].refuse_mixed(keeper.met(place, levels[place].codes))
    new = [Recode.table(level.codes, ordered) for level, ordered in zip(levels, names, strict=True)]
    rows = store.finish(Recode(new, Recode.table(classes.codes, labels)))
    return Collected(
        source.name,
        chosen,
        "",
        names,
        named_labels(labels),
        reader.rows,
        reader.rows - keeper.kept,
        keeper.missing,
        rows,
    )


def _hashes(options: ColumnOptions) -> bool:
    return bool(options.text) and options.text_method == "hashed"


def _collect_matrix(
    source: MatrixSource, options: ColumnOptions, store: RowCollector, watch: Watch | None
) -> Collected:
    where = source.name
    place = None if source.labelled else column_number(options.target)
    if not source.labelled and place is None:
        raise ValueError(f"{where} has no labels: name the column with --target, 0 for the first or -1 for the last")
    for option, value in (
        ("--features", options.features), ("--exclude", options.exclude), ("--text", options.text),
        ("--weight", options.weight), ("--split", options.split),
    ):  # fmt: skip
        if value:
            raise ValueError(f"{option} names columns, but {where} has no column names")
    if source.labelled and options.target not in (None, "y", "label"):
        raise ValueError(f"{where} has no column names, so no column {options.target!r}; leave --target out")
    target = Column(options.target or "label", "number", False, "label")
    chosen = ChosenColumns((), (), (), (), target, None)
    classes = Levels(where, "label")
    reader = Reader(where, chosen, [], classes)
    keeper = _Keeper(options.missing, reader)
    for X, y in source.blocks(ROWS):
        if source.sparse:
            check_columns_fit(where, int(X.shape[1]), 2)
        if place is not None:
            if not -X.shape[1] <= place < X.shape[1] or X.shape[1] < 2:
                raise ValueError(
                    f"{where} has {X.shape[1]} columns: column {place} is not among them, or no other is left"
                )
            X, y = without_column(X, place)
        values, places = np.unique(y, return_inverse=True)
        codes = classes.translate([as_label(value) for value in values.tolist()], places, reader.rows + 1)
        empty = np.empty((len(codes), 0), dtype=np.int32)
        raw = keeper.keep(reader.checked(RawRows(X, empty, [], codes)))
        _check_target(where, target, classes.codes, keeper.kept, done=False)
        store.add(raw)
        if watch is not None:
            watch(reader.rows, source.fraction())
    labels = _sorted_labels(list(keeper.met(-1, classes.codes)))
    _check_target(where, target, labels, keeper.kept, done=True, n_read=reader.rows)
    if source.sparse:
        check_columns_fit(where, int(X.shape[1]), len(labels))
    rows = store.finish(Recode([], Recode.table(classes.codes, labels)))
    anonymous = "libsvm" if source.sparse else "npy"
    return Collected(
        where,
        chosen,
        anonymous,
        [],
        named_labels(labels),
        reader.rows,
        reader.rows - keeper.kept,
        keeper.missing,
        rows,
    )


class _Keeper:
    """Drops the rows in which something is missing, and counts them."""

    def __init__(self, missing: str, reader: Reader) -> None:
        self._missing, self._reader = missing, reader
        self.kept = 0
        self.missing: dict[str, int] = {}
        self._seen: dict[int, NDArray[np.int64]] = {}  # how often each code was kept; the labels' place is -1

    def _note(self, place: int, codes: NDArray[np.int32]) -> None:
        counts = np.bincount(codes[codes >= 0])
        before = self._seen.get(place, np.zeros(0, dtype=np.int64))
        longer, shorter = (counts, before) if len(counts) >= len(before) else (before, counts)
        longer = longer.astype(np.int64)
        longer[: len(shorter)] += shorter
        self._seen[place] = longer

    def met(self, place: int, values: Iterable[Any]) -> dict[Any, int]:
        """Return the values of a category (or, for -1, the labels) that some row kept has, and how many have each."""
        counts = self._seen.get(place, np.zeros(0, dtype=np.int64)).tolist()
        return {value: count for value, count in zip(values, counts, strict=False) if count}

    def keep(self, raw: RawRows) -> RawRows:
        gone = self._reader.missing(raw)
        chosen = self._reader.chosen
        needed = {column.name for column in (chosen.target, chosen.weight) if column is not None}
        keep = np.ones(len(raw), dtype=bool)
        for name, rows in gone.items():
            if self._missing == "fail":
                row = self._reader.rows - len(raw) + int(np.flatnonzero(rows)[0]) + 1
                raise ValueError(
                    f"{self._reader.where}, row {row:,}, column {name!r}: missing value; drop such rows with "
                    "--missing drop, or impute the mean with --missing mean"
                )
            self.missing[name] = self.missing.get(name, 0) + int(rows.sum())
            if self._missing == "drop" or name in needed:
                keep &= ~rows
        kept = raw.take(keep)
        self.kept += len(kept)
        if kept.labels is not None:
            self._note(-1, kept.labels)
        for place in range(kept.codes.shape[1]):
            self._note(place, kept.codes[:, place])
        return kept


def _sorted_labels(labels: list[Any]) -> list[Any]:
    """Return labels in the order of their names: classes are sorted as they are named."""
    names = named_labels(labels)
    try:
        order = sorted(range(len(labels)), key=names.__getitem__)
    except TypeError:
        order = sorted(range(len(labels)), key=lambda place: str(names[place]))
    return [labels[place] for place in order]


def named_labels(labels: list[Any]) -> list[Any]:
    """Return labels as they are, or as text where some are numbers with fractions, which no classifier takes.

    Examples
    --------
    >>> named_labels([1, 2]), named_labels([0.5, 7.0])
    ([1, 2], ['0.5', '7'])
    """
    plain = [as_label(label) for label in labels]
    return [str(label) for label in plain] if any(isinstance(label, float) for label in plain) else plain


def _check_target(
    where: str, target: Column, values: Collection[Any], n: int, *, done: bool, n_read: int | None = None
) -> None:
    """Refuse a target that does not name classes: constant, almost unique, or missing everywhere."""
    name, distinct = target.name, len(values)
    if distinct > _MOST_CLASSES or (n >= 2 * _FEW and distinct > n / 2):
        kind = "numbers" if target.kind == "number" else "texts"
        raise ValueError(
            f"{where}, column {name!r} has {distinct:,} distinct {kind} in {n:,} rows: it is almost unique, and a "
            "target must have a few classes"
        )
    fractions = any(isinstance(value, float) and not value.is_integer() for value in values)
    if fractions and distinct > _FEW:
        raise ValueError(
            f"{where}, column {name!r} has more than {_FEW} distinct numbers with fractions: it is a quantity, and a "
            "target must have a few classes"
        )
    if not done:
        return
    if n_read == 0:
        raise ValueError(f"{where} has no rows")
    if n == 0:
        raise ValueError(f"{where}: all {times(n_read or 0, 'row')} have missing values; see --missing")
    if distinct < 2:
        raise ValueError(
            f"{where}, column {name!r} is constant: every row has {next(iter(values))!r}; at least two classes are "
            "needed"
        )
