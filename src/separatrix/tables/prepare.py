"""From collected rows to rows that a model can be trained on: split, scaled, encoded; in memory or on disk."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__, _core
from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.tables.collect import Collected
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk import rowfile
from separatrix.tables.disk.raw_file import RawFile
from separatrix.tables.disk.rowfile import RowFile, in_precision
from separatrix.tables.facts import ClassCount, ColumnUse, Facts, RowCounts
from separatrix.tables.preparation import Feature, Preparation, is_wide, learn_scale, learn_words
from separatrix.tables.raw_rows import RawRows, join
from separatrix.tables.sources.duck import identifier
from separatrix.tables.split import GivenSplit, TestSplit, split_by
from separatrix.tables.split_column import parse_split
from separatrix.tables.store import MemoryRows, class_counts

_BLOCK = 4096  # rows compared together to find constant columns
_QUANTITY = 30  # labels that are whole numbers: hardly classes
_PIECE = 16 << 20  # bytes of rows on disk that are scored together


class PreparedRows:
    """Rows in memory as a model sees them.

    Parameters
    ----------
    X : array or CSR matrix
        The features.
    labels : int32 array
        Codes of the classes.
    weights : array, optional
        Sample weights.
    """

    def __init__(self, X: Any, labels: NDArray[np.int32], weights: NDArray[np.float64] | None) -> None:
        self.X, self.labels, self.weights = X, labels, weights
        self.n = len(labels)

    def blocks(self) -> Iterator[tuple[Any, NDArray[np.int32]]]:
        """Yield features and labels."""
        if self.n:
            yield self.X, self.labels


@dataclass
class PreparedTable:
    """A table that a model can be trained on.

    Attributes
    ----------
    train, test : PreparedRows or RowFile
        The rows, in memory or on disk; ``test`` is None without a test set.
    preparation : Preparation
        What was done to each row.
    classes : list
        The labels, sorted.
    target : str
        The column with the labels.
    facts : Facts
        What is known about the rows so far.
    """

    train: PreparedRows | RowFile
    test: PreparedRows | RowFile | None
    preparation: Preparation
    classes: list[Any]
    target: str
    facts: Facts

    def test_blocks(self) -> Iterator[tuple[Any, NDArray[np.int32]]]:
        """Yield features and labels of the test set."""
        if isinstance(self.test, RowFile):
            for piece in self.test.cut(_PIECE):
                X, labels, _ = self.test.read([piece])
                yield X, labels
        elif self.test is not None:
            yield from self.test.blocks()


def prepare(
    data: Collected,
    options: ColumnOptions,
    test: float,
    seed: int,
    *,
    fingerprint: str | None,
    folder: Path,
    watch: Callable[..., None],
) -> PreparedTable:
    """Draw the test set, learn how to scale and encode rows from the others, and do it.

    Parameters
    ----------
    data : Collected
        The rows; those in memory are let go of as soon as they were prepared.
    options : ColumnOptions
        How to scale and what to do about missing values.
    test : float
        The fraction of rows in the test set.
    seed : int
        Random seed of the test set.
    fingerprint : str or None
        Of the source.
    folder : Path
        Where rows on disk go.
    watch : callable
        Called with the stage and how much of it is done.
    """
    chosen = data.chosen
    assert chosen.target is not None
    counts = class_counts(data.rows, len(data.classes))
    split = _split_of(data, counts, options, test, seed)
    n, n_test = data.rows.n, split.n_test
    when = f"with --test {test:g}; use --test 0"
    if isinstance(data.rows, MemoryRows):
        made = _in_memory(data, split, options, when)
    else:
        assert isinstance(split, TestSplit)
        made = _on_disk(data, data.rows, split, options, when, folder, watch)
    facts = Facts(
        separatrix=__version__,
        source=data.where,
        fingerprint=fingerprint,
        options=options,
        rows=RowCounts(data.n_read, data.n_dropped, n - n_test, n_test),
        columns=ColumnUse(chosen.order, chosen.unused, made.preparation.width),
        classes=tuple(ClassCount(label, int(n)) for label, n in zip(data.classes, made.counts, strict=True)),
        missing=data.missing,
        constant=tuple(made.constant),
        data=made.key,
        on_disk=isinstance(data.rows, RawFile),
    )
    return PreparedTable(made.train, made.test, made.preparation, data.classes, chosen.target.name, facts)


def _split_of(
    data: Collected, counts: NDArray[np.int64], options: ColumnOptions, test: float, seed: int
) -> TestSplit | GivenSplit:
    """Return the test set: drawn by lot, the last rows, or whole groups."""
    if options.split is None:
        return TestSplit(counts, test, seed)
    if not isinstance(data.rows, MemoryRows):
        raise ValueError(
            "--split needs all rows in memory, and these rows are on disk; draw the test set before: --test FILE"
        )
    return split_by(parse_split(options.split), data.rows.raw.order, test, seed)


class _Made(NamedTuple):
    train: PreparedRows | RowFile
    test: PreparedRows | RowFile | None
    preparation: Preparation
    counts: NDArray[np.int64]  # training rows of each class
    constant: list[str]
    key: str


def _in_memory(data: Collected, split: TestSplit | GivenSplit, options: ColumnOptions, when: str) -> _Made:
    assert isinstance(data.rows, MemoryRows)
    learned, tested = data.rows.raw, None
    data.rows = MemoryRows(learned.take(np.zeros(0, dtype=np.intp)))  # a copy of no rows: all others can be freed
    if split.n_test:
        train_rows, test_rows = split.rows(_labels(learned))
        tested = learned.take(test_rows)
        learned = learned.take(train_rows)
    labels = _labels(learned)
    check_classes(data, labels, when)
    preparation, constant = learn_preparation(data, options, learned)
    X = preparation.matrix(learned, overwrite=True)
    test = None if tested is None else PreparedRows(preparation.matrix(tested), _labels(tested), tested.weights)
    counts = np.bincount(labels, minlength=len(data.classes))
    train = PreparedRows(X, labels, learned.weights)
    return _Made(train, test, preparation, counts, constant, key_of(X, labels, learned.weights))


def _on_disk(
    data: Collected,
    rows: RawFile,
    split: TestSplit,
    options: ColumnOptions,
    when: str,
    folder: Path,
    watch: Callable[..., None],
) -> _Made:
    counts = np.zeros(len(data.classes), dtype=np.int64)

    def parts(stage: str) -> Iterator[tuple[RawRows, NDArray[np.bool_]]]:
        done = 0
        for raw, mask in zip(rows.blocks(), split.masks(rows.labels()), strict=True):
            yield raw, mask
            done += len(raw)
            watch(stage, part=done / rows.n)

    def learned() -> Iterator[RawRows]:
        for raw, mask in parts("scale"):
            part = raw.take(~mask)
            counts[:] += np.bincount(_labels(part), minlength=len(counts))
            yield part

    one_group = rows.nbytes <= rowfile.GROUP  # then all is done as in memory, to the bit
    preparation, constant = learn_preparation(data, options, join(list(learned())) if one_group else learned())
    check_classes(data, np.flatnonzero(counts), when)
    dtype = np.float64 if one_group else np.float32
    files = [
        RowFile(folder / name, preparation.width, sparse=preparation.sparse, weighted=rows.weighted, dtype=dtype)
        for name in ("train", "test")[: 2 if split.n_test else 1]
    ]
    for raw, mask in parts("write"):
        for file, part in zip(files, (raw.take(~mask), raw.take(mask)), strict=False):
            if len(part):
                file.append(in_precision(preparation.matrix(part), dtype, data.where), _labels(part), part.weights)
    rows.remove()
    test = files[1] if split.n_test else None
    return _Made(files[0], test, preparation, counts, constant, files[0].check)


def _labels(raw: RawRows) -> NDArray[np.int32]:
    assert raw.labels is not None
    return raw.labels


def check_classes(data: Collected, labels: NDArray[Any], when: str) -> None:
    """Refuse training rows that lack a class, by codes; ``when`` says how that came about and what would help."""
    absent = np.setdiff1d(np.arange(len(data.classes)), labels)
    if absent.size:
        rare = str(data.classes[absent[0]])
        if _is_quantity(data.classes):
            target = data.chosen.target.name if data.chosen.target is not None else "label"
            name, middle = identifier(target), data.classes[len(data.classes) // 2]
            query = f"select * exclude ({name}), {name} > {middle} as above from data"
            raise ValueError(
                f"{data.where}: column {target!r} has {len(data.classes):,} different whole numbers, which looks like "
                f"a regression target; for a class, use a condition: --sql {shlex.quote(query)} --target above"
            )
        raise ValueError(f"{data.where}: class {rare!r} has no training row {when}, or exclude the class")


def _is_quantity(classes: Sequence[Any]) -> bool:
    """Return whether so many labels are whole numbers that they count or measure something."""
    return len(classes) >= _QUANTITY and all(type(label) is int for label in classes)


# ---------------------------------------------------------------------------------------------- what is learned


class Statistics(NamedTuple):
    """Of the number columns: how to scale them, what to impute, and which are constant."""

    shift: Floats
    factor: Floats
    means: Floats
    constant: NDArray[np.bool_]


def learn_preparation(
    data: Collected, options: ColumnOptions, learned: RawRows | Iterable[RawRows]
) -> tuple[Preparation, list[str]]:
    """Return what is to be done to each row, and the constant columns, from training rows in memory or in blocks."""
    if isinstance(learned, RawRows):
        texts, sparse = learned.texts, is_sparse(learned.numbers)
        scale = _scale(data, options, sparse)
        known = _of_memory(data, scale, options.missing, learned.numbers)
    else:
        blocks = iter(learned)
        first = next(blocks)
        texts, sparse = [], is_sparse(first.numbers)
        scale = _scale(data, options, sparse)
        known = _of_blocks(data, scale, options.missing, first, blocks)
    bad = np.flatnonzero(~(np.isfinite(known.shift) & np.isfinite(known.factor)))
    if bad.size:
        name = data.number_name(int(bad[0]))
        raise ValueError(f"{data.where}, column {name!r} has numbers too large to be scaled; use --scale none")
    features = _features(data, options, texts)
    wide = sparse or is_wide(features)
    preparation = Preparation(
        features, options.missing, scale, known.shift, known.factor, known.means, wide, data.anonymous
    )
    constant = []
    if not data.anonymous:
        constant += [c.name for c, same in zip(data.chosen.numbers, known.constant, strict=True) if same]
        constant += [feature.name for feature in preparation.role("category") if len(feature.levels) == 1]
    return preparation, constant


def _scale(data: Collected, options: ColumnOptions, sparse: bool) -> str:
    if sparse and options.scale == "minmax":
        raise ValueError(f"{data.where} is sparse, which --scale minmax would undo; use standard or none")
    return options.scale or ("none" if sparse else "standard")


def _of_memory(data: Collected, scale: str, missing: str, numbers: Any) -> Statistics:
    width = int(numbers.shape[1])
    means, constant = np.zeros(width), np.zeros(width, dtype=bool)
    if not is_sparse(numbers):
        if not data.anonymous:
            constant = _constant(numbers)
        if missing == "mean" and width:
            columns = np.asfortranarray(numbers)
            _check_not_empty(data, ~np.isnan(columns).all(axis=0))
            means = np.nanmean(columns, axis=0)
            numbers = np.where(np.isnan(numbers), means, numbers)
    return Statistics(*learn_scale(scale, numbers), means, constant)


def _of_blocks(data: Collected, scale: str, missing: str, first: RawRows, more: Iterator[RawRows]) -> Statistics:
    moments, n = Moments(ranges=True), len(first)
    moments.add(first.numbers)
    for raw in more:
        n += len(raw)
        moments.add(raw.numbers)
    sparse = is_sparse(first.numbers)
    width = len(moments.mean) if sparse else first.numbers.shape[1]
    means, constant = np.zeros(width), np.zeros(width, dtype=bool)
    if not sparse and width:
        _check_not_empty(data, np.broadcast_to(np.asarray(moments.count) > 0, width))
        constant = np.asarray(moments.low == moments.high)
        means = np.asarray(moments.mean, dtype=np.float64) if missing == "mean" else means
    return Statistics(*moments.scale(scale, width, n), means, constant)


def _check_not_empty(data: Collected, filled: NDArray[np.bool_]) -> None:
    for place in np.flatnonzero(~filled):
        name = data.number_name(int(place))
        advice = "" if data.anonymous else f"; leave it out with --exclude {shlex.quote(name)}"
        raise ValueError(f"{data.where}, column {name!r} is empty{advice}")


def _constant(numbers: Any) -> NDArray[np.bool_]:
    """Return which columns have a single value; some rows at a time, since most columns are told after a few."""
    same = np.ones(numbers.shape[1], dtype=bool)
    first = numbers[0].copy()
    for place in np.flatnonzero(np.isnan(first)):
        first[place] = numbers[int(np.argmax(~np.isnan(numbers[:, place]))), place]
    for begin in range(0, len(numbers), _BLOCK):
        if not same.any():
            break
        part = numbers[begin : begin + _BLOCK]
        same &= ((part == first) | np.isnan(part)).all(axis=0)
    return same


def _features(data: Collected, options: ColumnOptions, texts: list[Any]) -> tuple[Feature, ...]:
    """Return the columns as features: numbers, categories, texts, each in the table's order."""
    chosen = data.chosen
    features = [Feature(column.name, "number", column.kind) for column in chosen.numbers]
    for column, levels in zip(chosen.categories, data.levels, strict=True):
        features.append(Feature(column.name, "category", column.kind, levels=tuple(levels)))
    if options.text_method == "hashed":
        return (*features, *(Feature(column.name, "text", "text") for column in chosen.texts))
    return (*features, *(learn_words(column.name, own) for column, own in zip(chosen.texts, texts, strict=True)))


def key_of(X: Any, labels: NDArray[np.int32], weights: Any = None) -> str:
    """Return a key of rows, labels and weights: of all rows, or of some thousand of many and the sums of all."""
    n = len(labels)
    rows = np.unique(np.linspace(0, n - 1, 4096).astype(np.int64)) if n > 1 << 16 else np.arange(n)
    part = Rows(X[rows] if len(rows) < n else X)
    key = hashlib.blake2b(f"{n} {X.shape[1]}".encode(), digest_size=16)
    key.update(_core.row_keys(part.matrix, 0, 1).tobytes())
    if is_sparse(X):
        key.update(f"{X.data.sum()!r} {X.indices.sum(dtype=np.int64)}".encode())
    else:
        key.update(_core.column_sums(np.ascontiguousarray(X, dtype=np.float64), None, False, 2).tobytes())
    key.update(labels.tobytes())
    if weights is not None:
        key.update(weights.tobytes())
    return key.hexdigest()
