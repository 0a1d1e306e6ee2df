"""All rows of a source, in memory while they fit, else on disk."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.columns import Chosen, ColumnOptions, choose
from separatrix.tables.disk.rowfile import ArrayFile, RowFile
from separatrix.tables.model import column_number, without_column
from separatrix.tables.preparation import Feature, vectoriser
from separatrix.tables.raw_rows import Growing, RawRows, join
from separatrix.tables.reading import ROWS, Levels, Reader, as_label, is_number, mixed, table_rows
from separatrix.tables.sources.base import Column, ColumnsChangedError, MatrixSource, TableSource
from separatrix.text import times

COPIES = 3  # of the rows that a fit in memory holds at its peak
_MOST_CLASSES = 10_000
_FEW = 20  # different fractions may still be labels

Watch = Callable[[int, "float | None"], None]  # rows read so far, and what part of the source that is


@dataclass
class Gathered:
    """What a source holds.

    ``raw`` are the rows in memory; where they did not fit it is None and ``disk`` has them. Codes of categories and
    labels count ``levels`` and ``classes``, which are sorted.
    """

    where: str
    chosen: Chosen
    anonymous: str
    levels: list[list[str]]
    classes: list[Any]
    n_read: int
    n_dropped: int
    missing: dict[str, int]
    raw: RawRows | None
    disk: RawFile | None

    @property
    def n(self) -> int:
        """How many rows are kept."""
        return len(self.raw) if self.raw is not None else self.disk.n if self.disk is not None else 0

    def windows(self, rows: int = ROWS) -> Iterator[RawRows]:
        """Yield the rows that lie on disk, some at a time."""
        assert self.disk is not None
        for begin in range(0, self.disk.n, rows):
            yield self.disk.read(begin, min(begin + rows, self.disk.n))


class RawFile:
    """Rows as they were read, on disk: they are scaled and coded when all have been seen."""

    def __init__(self, folder: Path, first: RawRows) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        texts = [text for text in first.texts if is_sparse(text)]
        self._sparse = is_sparse(first.numbers)
        self._numbers: ArrayFile | RowFile
        if self._sparse:
            self._numbers = RowFile(folder / "numbers", 0, sparse=True, weighted=False, dtype=np.float64)
        else:
            self._numbers = ArrayFile(folder / "numbers", np.float64, max(first.numbers.shape[1], 1))
        self._has_numbers = first.numbers.shape[1] > 0 or self._sparse
        self._codes = ArrayFile(folder / "codes", np.int32, max(first.codes.shape[1], 1))
        self._categories = first.codes.shape[1]
        self._texts = [
            RowFile(folder / f"text{k}", text.shape[1], sparse=True, weighted=False, dtype=np.float64)
            for k, text in enumerate(texts)
        ]
        self._labels = ArrayFile(folder / "labels", np.int32)
        self._weights = None if first.weights is None else ArrayFile(folder / "weights", np.float64)
        self.n = 0
        self.new_codes: list[NDArray[np.int32]] = []
        self.new_labels: NDArray[np.int32] | None = None

    def append(self, raw: RawRows) -> None:
        """Add rows."""
        assert raw.labels is not None
        if isinstance(self._numbers, RowFile):
            self._numbers.append(raw.numbers, raw.labels)
        elif self._has_numbers:
            self._numbers.append(raw.numbers)
        if self._categories:
            self._codes.append(raw.codes)
        for file, text in zip(self._texts, raw.texts, strict=True):
            file.append(text, raw.labels)
        self._labels.append(raw.labels)
        if self._weights is not None:
            self._weights.append(raw.weights)
        self.n += len(raw)

    def read(self, begin: int, end: int) -> RawRows:
        """Return rows, their codes counting sorted levels and classes."""
        if isinstance(self._numbers, RowFile):
            numbers, _, _ = self._numbers.read([(begin, end)])
        else:
            numbers = np.empty((end - begin, 0))
            if self._has_numbers:
                numbers = self._numbers.read(begin, end).reshape(end - begin, -1)
        codes = np.empty((end - begin, self._categories), dtype=np.int32)
        if self._categories:
            codes = self._codes.read(begin, end).reshape(end - begin, -1)
        texts = [file.read([(begin, end)])[0] for file in self._texts]
        weights = None if self._weights is None else self._weights.read(begin, end)
        raw = RawRows(numbers, codes, texts, self._labels.read(begin, end), weights)
        return renumbered(raw, self.new_codes, self.new_labels)

    def remove(self) -> None:
        """Delete the files."""
        for file in (self._numbers, *self._texts):
            if isinstance(file, RowFile):
                file.remove()
        for part in (self._numbers, self._codes, self._labels, self._weights):
            if isinstance(part, ArrayFile):
                part.path.unlink()
        self.folder.rmdir()


def renumbered(raw: RawRows, new_codes: list[NDArray[np.int32]], new_labels: NDArray[np.int32] | None) -> RawRows:
    """Return rows whose codes count sorted levels; a missing one, -1, stays."""
    codes = raw.codes.copy()
    for place, table in enumerate(new_codes):
        codes[:, place] = table[raw.codes[:, place]]
    labels = raw.labels if new_labels is None or raw.labels is None else new_labels[raw.labels]
    return RawRows(raw.numbers, codes, raw.texts, labels, raw.weights)


def gather(
    source: TableSource | MatrixSource,
    asked: ColumnOptions,
    *,
    budget: int,
    folder: Path,
    on_disk: bool = False,
    exact: bool = False,
    watch: Watch | None = None,
) -> Gathered:
    """Read all rows.

    Parameters
    ----------
    source : TableSource or MatrixSource
        Where they come from.
    asked : ColumnOptions
        Which columns, and what to do about missing values.
    budget : int
        Bytes that the rows may take in memory, copies included; beyond it they go to disk.
    folder : Path
        Where.
    on_disk : bool
        Go to disk at once.
    exact : bool
        Refuse whole numbers that no float equals.
    watch : callable, optional
        Told how many rows were read and what part of the source that is.
    """
    store = _Store(source.name, budget, folder, on_disk)
    if isinstance(source, MatrixSource):
        return _gather_matrix(source, asked, store, watch)
    try:
        return _gather_table(source, asked, store, exact, watch)
    except ColumnsChangedError:  # a column is not what its first rows looked like: once more from the beginning
        return _gather_table(source, asked, _Store(source.name, budget, folder, on_disk), exact, watch)


def _gather_table(
    source: TableSource, asked: ColumnOptions, store: _Store, exact: bool, watch: Watch | None
) -> Gathered:
    if asked.text:
        source.settle()
    chosen = choose(source.name, source.columns, asked)
    assert chosen.target is not None
    levels = [Levels(source.name, column.name, most=asked.max_levels) for column in chosen.categories]
    classes = Levels(source.name, chosen.target.name)
    reader = Reader(source.name, chosen, levels, classes, exact=exact)
    hashing = [vectoriser(Feature(c.name, "text", "text")) for c in chosen.texts] if _hashes(asked) else []
    keeper = _Keeper(asked.missing, reader)
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
    labels = _sorted_labels(keeper.met(-1, classes.codes))
    _check_target(source.name, chosen.target, labels, keeper.kept, done=True, n_read=reader.rows)
    names = [sorted(keeper.met(place, level.codes)) for place, level in enumerate(levels)]
    for column, values in zip(chosen.categories, names, strict=True):
        _check_mixed(source.name, column, values)
    new = [_new_numbers(list(level.codes), ordered) for level, ordered in zip(levels, names, strict=True)]
    found = store.finish(new, _new_numbers(list(classes.codes), labels))
    return Gathered(
        source.name,
        chosen,
        "",
        names,
        named_labels(labels),
        reader.rows,
        reader.rows - keeper.kept,
        keeper.missing,
        *found,
    )


def _hashes(asked: ColumnOptions) -> bool:
    return bool(asked.text) and asked.text_method == "hashed"


def _gather_matrix(source: MatrixSource, asked: ColumnOptions, store: _Store, watch: Watch | None) -> Gathered:
    where = source.name
    place = None if source.labelled else column_number(asked.target)
    if not source.labelled and place is None:
        raise ValueError(
            f"{where} holds no labels: say which column does with --target, 0 for the first or -1 for the last"
        )
    for option, value in (
        ("--features", asked.features), ("--exclude", asked.exclude), ("--text", asked.text),
        ("--weight", asked.weight),
    ):  # fmt: skip
        if value:
            raise ValueError(f"{option} names columns, but {where} has no column names")
    if source.labelled and asked.target not in (None, "y", "label"):
        raise ValueError(f"{where} has no column names, so no column {asked.target!r}; leave --target out")
    target = Column(asked.target or "label", "number", False, "label")
    chosen = Chosen((), (), (), (), target, None)
    classes = Levels(where, "label")
    reader = Reader(where, chosen, [], classes)
    keeper = _Keeper(asked.missing, reader)
    for X, y in source.blocks(ROWS):
        if place is not None:
            if not -X.shape[1] <= place < X.shape[1] or X.shape[1] < 2:
                raise ValueError(f"{where} has {X.shape[1]} columns, so none has the number {place}, or none is left")
            X, y = without_column(X, place)
        values, places = np.unique(y, return_inverse=True)
        codes = classes.translate([as_label(value) for value in values.tolist()], places, reader.rows + 1)
        empty = np.empty((len(codes), 0), dtype=np.int32)
        raw = keeper.keep(reader.checked(RawRows(X, empty, [], codes)))
        _check_target(where, target, classes.codes, keeper.kept, done=False)
        store.add(raw)
        if watch is not None:
            watch(reader.rows, source.fraction())
    labels = _sorted_labels(keeper.met(-1, classes.codes))
    _check_target(where, target, labels, keeper.kept, done=True, n_read=reader.rows)
    found = store.finish([], _new_numbers(list(classes.codes), labels))
    anonymous = "libsvm" if source.sparse else "npy"
    return Gathered(
        where,
        chosen,
        anonymous,
        [],
        named_labels(labels),
        reader.rows,
        reader.rows - keeper.kept,
        keeper.missing,
        *found,
    )


class _Keeper:
    """Drops the rows in which something is missing, and counts them."""

    def __init__(self, missing: str, reader: Reader) -> None:
        self._missing, self._reader = missing, reader
        self.kept = 0
        self.missing: dict[str, int] = {}
        self._seen: dict[int, NDArray[np.int64]] = {}  # how often each code was kept; the labels' place is -1

    def _note(self, place: int, codes: NDArray[np.int32]) -> None:
        found = np.bincount(codes[codes >= 0])
        before = self._seen.get(place, np.zeros(0, dtype=np.int64))
        longer, shorter = (found, before) if len(found) >= len(before) else (before, found)
        longer = longer.astype(np.int64)
        longer[: len(shorter)] += shorter
        self._seen[place] = longer

    def met(self, place: int, values: Iterable[Any]) -> list[Any]:
        """Return the values of a category (or, for -1, the labels) that some row kept has."""
        counts = self._seen.get(place, np.zeros(0, dtype=np.int64))
        return [value for code, value in enumerate(values) if code < len(counts) and counts[code]]

    def keep(self, raw: RawRows) -> RawRows:
        gone = self._reader.missing(raw)
        chosen = self._reader.chosen
        needed = {column.name for column in (chosen.target, chosen.weight) if column is not None}
        keep = np.ones(len(raw), dtype=bool)
        for name, rows in gone.items():
            if self._missing == "fail":
                row = self._reader.rows - len(raw) + int(np.flatnonzero(rows)[0]) + 1
                raise ValueError(
                    f"{self._reader.where}, row {row:,}, column {name!r}: the value is missing; --missing drop leaves "
                    "such rows out, --missing mean fills in the mean"
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


class _Store:
    """Keeps rows in memory until they take too much."""

    def __init__(self, where: str, budget: int, folder: Path, on_disk: bool) -> None:
        self._where = where
        self._left, self._folder, self._at_once = budget, folder, on_disk
        self._parts: list[RawRows] = []
        self._numbers: Growing | None = None
        self._disk: RawFile | None = None

    def add(self, raw: RawRows, part: float | None = None) -> None:
        if self._disk is None:
            if not self._parts and part:  # whether all will fit can be foreseen
                self._at_once |= raw.nbytes / part * COPIES > self._left
            self._left -= raw.nbytes * COPIES
            if not (is_sparse(raw.numbers) or self._at_once):
                if self._numbers is None:
                    self._numbers = Growing(part)
                self._numbers.add(raw.numbers)
                raw = replace(raw, numbers=raw.numbers[:0])
            self._parts.append(raw)
            if self._left >= 0 and not self._at_once:
                return
            if not all(is_sparse(text) for text in raw.texts):
                raise ValueError(
                    f"{self._where} does not fit into memory, and --text-method tfidf needs all texts at once: use "
                    "--text-method hashed"
                )
            self._disk = RawFile(self._folder / "raw", raw)
            waiting, self._parts = self._with_numbers(), []
        else:
            waiting = [raw]
        for each in waiting:
            self._disk.append(each)

    def finish(
        self, new_codes: list[NDArray[np.int32]], new_labels: NDArray[np.int32]
    ) -> tuple[RawRows | None, RawFile | None]:
        if self._disk is not None:
            self._disk.new_codes, self._disk.new_labels = new_codes, new_labels
            return None, self._disk
        numbers = None if self._numbers is None else self._numbers.take()
        raw = join(self._parts)
        raw = raw if numbers is None else replace(raw, numbers=numbers)
        self._parts, self._numbers = [], None
        return renumbered(raw, new_codes, new_labels), None

    def _with_numbers(self) -> list[RawRows]:
        """Return the parts, each with its own numbers again."""
        if self._numbers is None:
            return self._parts
        every, out, begin = self._numbers.take(), [], 0
        self._numbers = None
        for part in self._parts:
            end = begin + len(part.codes)
            out.append(replace(part, numbers=every[begin:end]))
            begin = end
        return out


def _check_mixed(where: str, column: Column, values: list[str]) -> None:
    """Refuse a column of numbers in which some cells are no numbers: it must not become a category unnoticed."""
    if not values:
        raise ValueError(f"{where}, column {column.name!r} is empty: leave it out with --exclude {column.name}")
    if column.kind != "text":
        return
    others = [value for value in values if not is_number(value)]
    if 0 < len(others) < len(values) / 2:
        raise ValueError(mixed(where, column.name, others[0]))


def _sorted_labels(labels: list[Any]) -> list[Any]:
    try:
        return sorted(labels)
    except TypeError:
        return sorted(labels, key=str)


def named_labels(labels: list[Any]) -> list[Any]:
    """Return labels as they are, or as text where some are numbers with fractions, which no classifier takes.

    Examples
    --------
    >>> named_labels([1, 2]), named_labels([0.5, 7.0])
    ([1, 2], ['0.5', '7'])
    """
    found = [as_label(label) for label in labels]
    return [str(label) for label in found] if any(isinstance(label, float) for label in found) else found


def _new_numbers(before: list[Any], after: list[Any]) -> NDArray[np.int32]:
    places = {value: place for place, value in enumerate(after)}
    return np.array([*(places.get(value, -1) for value in before), -1], dtype=np.int32)


def _check_target(
    where: str, target: Column, values: Collection[Any], n: int, *, done: bool, n_read: int | None = None
) -> None:
    """Refuse a target that is no class: constant, almost unique, or missing everywhere."""
    name, found = target.name, len(values)
    if found > _MOST_CLASSES or (n >= 2 * _FEW and found > n / 2):
        kind = "numbers" if target.kind == "number" else "texts"
        raise ValueError(
            f"{where}, column {name!r} holds {found:,} different {kind} in {n:,} rows: it is almost unique, and a "
            "target must name a few classes"
        )
    fractions = any(isinstance(value, float) and not value.is_integer() for value in values)
    if fractions and found > _FEW:
        raise ValueError(
            f"{where}, column {name!r} holds more than {_FEW} different numbers with fractions: it is a quantity, and "
            "a target must name a few classes"
        )
    if not done:
        return
    if n_read == 0:
        raise ValueError(f"{where} has no rows")
    if n == 0:
        raise ValueError(f"{where}: all {times(n_read or 0, 'row')} lack a value; see --missing")
    if found < 2:
        raise ValueError(
            f"{where}, column {name!r} is constant: every row holds {next(iter(values))!r}, and two classes are needed"
        )
