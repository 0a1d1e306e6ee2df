"""Read all rows of a source: choose columns, encode categories and labels once, drop rows with missing values.

What a column is may show only in its values. Rows are then read once more, from the beginning, with the roles that
they suggest; for long tables the first block of rows decides.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.arrow_columns import as_label
from separatrix.tables.columns import ChosenColumns, ColumnOptions, Role, choose, refuse_all
from separatrix.tables.levels import Levels
from separatrix.tables.memory import check_columns_fit
from separatrix.tables.preparation import Feature, vectoriser
from separatrix.tables.raw_rows import RawRows, Recode
from separatrix.tables.reading import (
    ROWS,
    NotationError,
    Reader,
    column_number,
    table_rows,
    without_column,
)
from separatrix.tables.roles import AS_TEXT, ENOUGH, RolesChanged, suggested
from separatrix.tables.sources.base import Column, ColumnsChangedError, MatrixSource, TableSource
from separatrix.tables.split_column import SplitReader
from separatrix.tables.store import RowCollector, RowStore
from separatrix.text import listed, times

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
    options : ColumnOptions
        What was asked for.
    flags : tuple of str
        How false and true are written, where these are the labels and the source is text.
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
    options: ColumnOptions
    flags: tuple[str, ...] = ()

    def number_name(self, place: int) -> str:
        """Return the name of a number column or part of a date, for messages."""
        names = self.chosen.number_names
        return names[place] if names else f"x{place}"


def collect(
    source: TableSource | MatrixSource,
    options: ColumnOptions,
    *,
    limit: int,
    folder: Path,
    on_disk: bool = False,
    exact: bool = False,
    labelled: bool = True,
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
    labelled : bool
        Whether there is a target; without it, all labels are 0.
    watch : callable, optional
        Called with the number of rows read and the part of the source that is.
    """
    if isinstance(source, MatrixSource):
        return _collect_matrix(source, options, RowCollector(source.name, limit, folder, on_disk), watch)
    options = options.with_names({column.name: column for column in source.columns})
    detected: dict[str, Role] = {}
    flags: set[str] = set()
    changed = False
    while True:
        store = RowCollector(source.name, limit, folder, on_disk)
        try:
            return _collect_table(source, options, detected, flags, store, exact, labelled, watch)
        except RolesChanged as change:  # once more from the beginning
            detected |= change.roles
        except NotationError as problem:  # later rows are written otherwise than those that decided
            if problem.column not in detected or problem.column in options.roles:
                raise
            dates = detected[problem.column].role == "date"
            warning = f"Warning: {problem}; the column is a category." if dates else ""
            detected[problem.column] = Role("category", warning=warning)
        except ColumnsChangedError:  # a column is not what its first rows looked like
            if changed:
                raise
            changed = True


def _collect_table(
    source: TableSource,
    options: ColumnOptions,
    detected: dict[str, Role],
    flags: set[str],
    store: RowCollector,
    exact: bool,
    labelled: bool,
    watch: Watch | None,
) -> Collected:
    if options.text:
        source.settle()
    natives = {name for name, role in detected.items() if role.role == "number" and not role.notation}
    if any(column.kind == "text" for column in source.columns if column.name in natives):
        source.read_as(sorted(natives), [])  # their texts have been looked at
    chosen = choose(source.name, source.columns, options, detected, labelled=labelled)
    read_as_text(source, chosen, [column.name for column in chosen.numbers if column.kind == "number"])
    levels = [
        Levels(source.name, column.name, category=True, text=source.first_text(column.name))
        for column in chosen.categories
    ]
    target = chosen.target
    flags |= {target.name} if target is not None and target.kind == "flag" else set()  # read as text from now on
    classes = None if target is None else Levels(source.name, target.name, flags=target.name in flags)
    reader = Reader(source.name, chosen, levels, classes, exact=exact)
    reader.split = None if options.split is None else SplitReader(source.name, options.split)
    hashing = [vectoriser(Feature(c.name, "text", "text")) for c in chosen.texts]
    hashing = hashing if options.text_method == "hashed" else []
    keeper = _Keeper(options.missing, reader)
    first_rows = 0
    with contextlib.closing(table_rows(source, reader)) as every:
        for read in every:
            raw = keeper.keep(read)
            if not first_rows:
                first_rows = reader.rows
                if first_rows >= ENOUGH:
                    _check_roles(keeper, levels, options, detected, raw.numbers, untyped=not source.typed, done=False)
            if chosen.target is not None and classes is not None:
                _check_target(source.name, chosen.target, classes.codes, keeper.kept, done=False)
            if hashing:
                raw.texts = [
                    one.transform([t or "" for t in texts]) for one, texts in zip(hashing, raw.texts, strict=True)
                ]
            part = source.fraction() if reader.part is None else reader.part
            store.add(raw if raw.labels is not None else replace(raw, labels=np.zeros(len(raw), dtype=np.int32)), part)
            if watch is not None:
                watch(reader.rows, part)
    labels: list[Any] = []
    keeper.leave_out_empty()
    if options.detect:
        keeper.refuse_few()
    if chosen.target is not None and classes is not None:
        labels = _sorted_labels(list(keeper.met(-1, classes.codes)))
        _check_target(source.name, chosen.target, labels, keeper.kept, done=True, n_read=reader.rows)
    numbers = store.numbers(first_rows) if reader.rows == first_rows else None
    _check_roles(keeper, levels, options, detected, numbers, untyped=not source.typed, done=True)
    names = [sorted(keeper.met(place, level.codes)) for place, level in enumerate(levels)]
    new = [Recode.table(level.codes, ordered) for level, ordered in zip(levels, names, strict=True)]
    rows = store.finish(Recode(new, None if classes is None else Recode.table(classes.codes, labels)))
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
        options,
        () if classes is None or len(classes.spelled) < 2 else (classes.spelled[False], classes.spelled[True]),
    )


def read_as_text(source: TableSource, chosen: ChosenColumns, numbers: list[str]) -> None:
    """Let a source of text give out as text what is read in a notation, as a date or as a category."""
    if source.typed:
        return
    texts = {column.name for column in (*chosen.dates, *chosen.texts)} | set(chosen.notations)
    texts |= {column.name for column in chosen.categories if column.kind not in ("text", "flag")}
    if chosen.target is not None and chosen.target.kind == "flag":  # for how true and false are written
        texts.add(chosen.target.name)
    if any(column.kind != "text" for column in source.columns if column.name in texts):
        source.settle()
        source.read_as(numbers, sorted(texts))


def _check_roles(
    keeper: _Keeper,
    levels: list[Levels],
    options: ColumnOptions,
    detected: dict[str, Role],
    numbers: Any,
    *,
    untyped: bool,
    done: bool,
) -> None:
    """Read all rows again if their values suggest other roles of columns; refuse columns of numbers with slips.

    Once enough values of a column have been seen, later ones change its role no more.
    """
    chosen = keeper.chosen
    values = {column.name: keeper.met(k, levels[k].codes) for k, column in enumerate(chosen.categories)}
    seen = {name: sum(counts.values()) for name, counts in values.items()}
    if done and numbers is None:
        settled = {name for name, n in keeper.settled.items() if n >= ENOUGH}
        values = {name: {} if name in settled and seen[name] else counts for name, counts in values.items()}
        chosen = replace(chosen, categories=tuple(c for c in chosen.categories if c.name not in settled))
    keeper.settled = seen
    lacking = keeper.lacking if done else {}
    first_rows = {column.name: levels[k].first_rows for k, column in enumerate(keeper.chosen.categories)}
    roles, problems = suggested(chosen, options, values, numbers, lacking, keeper.kept, first_rows, detected, untyped)
    decided = {name for name, role in detected.items() if role.role == "category" and role.why != AS_TEXT}
    roles = {name: role for name, role in roles.items() if name not in decided}
    if not done:  # more rows may fill it
        roles = {name: role for name, role in roles.items() if role.why != "empty"}
    if done:
        places = {column.name: k for k, column in enumerate(keeper.chosen.categories)}
        for column in keeper.chosen.categories:
            left_out = column.name not in roles or roles[column.name].role == "none"
            if column.kind == "text" and left_out and column.name not in options.roles:
                counts = keeper.met(places[column.name], levels[places[column.name]].codes)
                if (slip := levels[places[column.name]].slip(counts)) is not None:
                    problems.append(slip)
        refuse_all(keeper.where, problems)
    if roles:
        raise RolesChanged(roles)


def _collect_matrix(
    source: MatrixSource, options: ColumnOptions, store: RowCollector, watch: Watch | None
) -> Collected:
    where = source.name
    place = None if source.labelled else column_number(options.target)
    if not source.labelled and place is None:
        raise ValueError(f"{where} has no labels: name the column with --target, 0 for the first or -1 for the last")
    for option, value in (
        ("--features", options.features), ("--exclude", options.exclude), ("--text", options.text),
        ("--weight", options.weight), ("--split", options.split), ("--category", options.category),
        ("--number", options.number), ("--date", options.date),
        ("--target-encode", options.target_encode),
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
        options,
    )


class _Keeper:
    """Drops the rows in which something is missing, and counts them."""

    def __init__(self, missing: str, reader: Reader) -> None:
        self._missing, self._reader = missing, reader
        self.chosen, self.where = reader.chosen, reader.where
        self.kept = 0
        self.missing: dict[str, int] = {}
        self.lacking: dict[str, int] = {}  # of the rows that are kept
        self.settled: dict[str, int] = {}  # how many values of a category column had been seen when it was judged
        self._seen: dict[int, NDArray[np.int64]] = {}  # how often each code was kept; the labels' place is -1

    def _note(self, place: int, codes: NDArray[np.int32]) -> None:
        counts = np.bincount(codes[codes >= 0])
        before = self._seen.get(place, np.zeros(0, dtype=np.int64))
        longer, shorter = (counts, before) if len(counts) >= len(before) else (before, counts)
        longer = longer.astype(np.int64)
        longer[: len(shorter)] += shorter
        self._seen[place] = longer

    def leave_out_empty(self) -> None:
        """Read all rows again without columns of which no value is known, where they would drop every row."""
        names = [name for name in self.chosen.order if self.missing.get(name, 0) == self._reader.rows > 0]
        if self._missing == "drop" and 0 < len(names) < len(self.chosen.order):
            raise RolesChanged({name: Role("none", why="empty") for name in names})

    def refuse_few(self) -> None:
        """Refuse to train on the rows without gaps where more than half of all rows have some."""
        read = self._reader.rows
        if self._missing != "drop" or 2 * self.kept >= read:
            return
        worst = sorted(self.missing.items(), key=lambda pair: -pair[1])[:3]
        named = listed(f"{name} ({count:,})" for name, count in worst)
        raise ValueError(
            f"{self.where}: --missing drop leaves {self.kept:,} of {read:,} rows; most values are missing in {named}: "
            f"impute them with --missing impute, or leave columns out with --exclude {shlex.quote(worst[0][0])}"
        )

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
                    f"{self._reader.where}, row {row:,}, column {name!r}: missing value; impute such values with "
                    "--missing impute, or drop the rows with --missing drop"
                )
            self.missing[name] = self.missing.get(name, 0) + int(rows.sum())
            if self._missing == "drop" or name in needed:
                keep &= ~rows
        for name, rows in gone.items():
            self.lacking[name] = self.lacking.get(name, 0) + int((rows & keep).sum())
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
