"""From collected rows to rows that a model can be trained on: split, scaled, encoded; in memory or on disk."""

from __future__ import annotations

import hashlib
import shlex
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__, _core
from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.svm.rowblocks.tree import in_shards
from separatrix.tables.collect import Collected
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk import rowfile
from separatrix.tables.disk.raw_file import RawFile, window_of
from separatrix.tables.disk.rowfile import RowFile, in_precision
from separatrix.tables.facts import ClassCount, ColumnUse, Facts, RowCounts
from separatrix.tables.leaks import leaks, order_warnings
from separatrix.tables.preparation import Feature, Preparation, is_wide, learn_scale, learn_words
from separatrix.tables.raw_rows import MISSING, UNSEEN, RawRows, Recode, join
from separatrix.tables.reading import all_finite
from separatrix.tables.sources.base import Column
from separatrix.tables.sources.duck import identifier
from separatrix.tables.spellings import spelling_warnings
from separatrix.tables.split import GivenSplit, TestSplit, split_by
from separatrix.tables.split_column import parse_split
from separatrix.tables.store import MemoryRows, class_counts
from separatrix.tables.target_encoding import cross_fitted, encoded_classes, target_encoding

_BLOCK = 4096  # rows compared together to find constant columns
_QUANTITY = 30  # labels that are whole numbers: hardly classes
_NEARLY_ALL = 0.8  # of the values of a category: pooled, they say little
_PIECE = 16 << 20  # bytes of rows on disk that are scored together
_MEDIAN_ROWS = 1 << 16  # that show the median of a column without gaps, or of rows on disk,
_MEDIAN_NUMBERS = 8_000_000  # if they hold no more numbers than these


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
    order : array, optional
        The time or the group of each row, where ``--split`` names one.
    """

    def __init__(
        self,
        X: Any,
        labels: NDArray[np.int32],
        weights: NDArray[np.float64] | None,
        order: NDArray[np.float64] | None = None,
    ) -> None:
        self.X, self.labels, self.weights, self.order = X, labels, weights, order
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
    solved: bool = False,
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
    solved : bool
        Whether the model is one that is solved to a duality gap, with the same bits in memory and on disk: all rows
        are then prepared in the same manner, as on disk where they are many, else as in memory.
    """
    chosen = data.chosen
    assert chosen.target is not None
    counts = class_counts(data.rows, len(data.classes))
    split = _split_of(data, counts, options, test, seed)
    n, n_test = data.rows.n, split.n_test
    when = f"with --test {test:g}; use --test 0"
    many = _many(data, n - n_test) if solved else None
    if isinstance(data.rows, MemoryRows):
        made = _in_memory(data, split, options, when, seed, many=bool(many))
    else:
        assert isinstance(split, TestSplit)
        if options.target_encode:
            raise ValueError("--target-encode needs all rows in memory, and these rows are on disk; leave it out")
        made = _on_disk(data, data.rows, split, options, when, folder, watch, many=many)
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
        notes=(*notes(data, made.preparation), *made.warnings, *_warnings(data, made.leaks), *spelling_warnings(data)),
        data=made.key,
        on_disk=isinstance(data.rows, RawFile),
        flags=data.flags,
    )
    return PreparedTable(made.train, made.test, made.preparation, data.classes, chosen.target.name, facts)


def notes(data: Collected, preparation: Preparation) -> Iterator[str]:
    """Yield what was found out about the columns, in sentences."""
    chosen, named = data.chosen, set(data.options.roles)
    if chosen.left_out:
        yield "Left out: " + ", ".join(f"{name} ({why})" for name, why in chosen.left_out.items()) + "."
    for role, what in (("number", "numbers"), ("date", "dates")):
        noted = [feature for feature in preparation.role(role) if feature.notation]
        if noted:
            yield f"Read as {what}: " + ", ".join(f"{each.name} ({each.notation})" for each in noted) + "."
    texts = [column.name for column in chosen.texts if column.name not in named]
    encoded = [feature.name for feature in preparation.features if feature.shares]
    if encoded:
        yield f"Target encoded (training rows by cross-fitting): {', '.join(encoded)}."
    if texts:
        yield f"Read as text (bag of words): {', '.join(texts)}."
    pooled = [
        f"{feature.name} ({len(levels) - len(feature.levels):,} of {len(levels):,})"
        for feature, levels in zip(preparation.role("category"), data.levels, strict=True)
        if feature.pooled
    ]
    yield from chosen.warnings
    if pooled:
        yield f"Rare levels pooled: {', '.join(pooled)}."


def _pooling_warnings(
    columns: Sequence[Column], counts: Sequence[NDArray[np.int64]], pools: Sequence[Any]
) -> list[str]:
    """Return a warning for each category whose values are nearly all pooled, which leaves little of it."""
    out = []
    for column, count, pool in zip(columns, counts, pools, strict=True):
        levels, rare = count[:-1], pool[:-1] == UNSEEN
        known, gone = int(levels.sum()), int(levels[rare].sum())
        if gone > _NEARLY_ALL * known:
            own = shlex.quote(column.name)
            out.append(
                f"Warning: column {column.name!r}: {gone:,} of {known:,} values are rare levels and pooled, so little "
                f"is left of it: write its values as numbers or dates if they are such, use --target-encode {own} or a "
                f"higher --max-levels, or leave it out with --exclude {own}."
            )
    return out


def _warnings(data: Collected, giving_away: list[str]) -> Iterator[str]:
    """Yield a warning for columns that give the target away."""
    if giving_away and data.chosen.target is not None:
        names = ", ".join(giving_away)
        them, alone = ("them", "each alone") if len(giving_away) > 1 else ("it", "alone")
        verb = "predict" if len(giving_away) > 1 else "predicts"
        yield (
            f"Warning: {names} {alone} {verb} {data.chosen.target.name!r} for almost every row: a leak? If new rows "
            f"will not have {them}, use --exclude {shlex.quote(','.join(giving_away))}."
        )


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


def _many(data: Collected, n: int) -> bool:
    """Whether so many rows are learned from that a model is trained on shards of them."""
    raw = data.rows.raw if isinstance(data.rows, MemoryRows) else data.rows.read(0, 1)
    width = raw.numbers.shape[1] + raw.codes.shape[1]
    return not (is_sparse(raw.numbers) or raw.texts) and in_shards(n, width)


class _Made(NamedTuple):
    train: PreparedRows | RowFile
    test: PreparedRows | RowFile | None
    preparation: Preparation
    counts: NDArray[np.int64]  # training rows of each class
    constant: list[str]
    key: str
    leaks: list[str]
    warnings: tuple[str, ...]


def _in_memory(
    data: Collected, split: TestSplit | GivenSplit, options: ColumnOptions, when: str, seed: int, *, many: bool
) -> _Made:
    assert isinstance(data.rows, MemoryRows)
    learned, tested = data.rows.raw, None
    n, window = len(learned), window_of(learned)
    train_rows = np.arange(n)
    data.rows = MemoryRows(learned.take(np.zeros(0, dtype=np.intp)))  # a copy of no rows: all others can be freed
    if split.n_test:
        train_rows, test_rows = split.rows(_labels(learned))
        tested = learned.take(test_rows)
        learned = learned.take(train_rows)
    labels = _labels(learned)
    check_classes(data, labels, when)
    ends = np.searchsorted(train_rows, np.arange(window, n + window, window)).tolist()  # as blocks on disk end
    windows = list(map(slice, [0, *ends], ends))
    made = learn_preparation(data, options, (lambda: map(learned.take, windows)) if many else learned)
    giving_away, warnings = leaks(data, learned), (*made.warnings, *order_warnings(data, learned))
    X = made.training_matrix(learned, seed, overwrite=True)
    T = None if tested is None else made.matrix(tested)
    if many:
        X, T = (None if each is None else in_precision(each, np.float32, data.where) for each in (X, T))
    test = None if tested is None else PreparedRows(T, _labels(tested), tested.weights)
    counts = np.bincount(labels, minlength=len(data.classes))
    train = PreparedRows(X, labels, learned.weights, learned.order)
    key = key_of(X, labels, learned.weights)
    return _Made(train, test, made.preparation, counts, made.constant, key, giving_away, warnings)


def _on_disk(
    data: Collected,
    rows: RawFile,
    split: TestSplit,
    options: ColumnOptions,
    when: str,
    folder: Path,
    watch: Callable[..., None],
    *,
    many: bool | None,
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
            yield raw.take(~mask)

    for labels, mask in zip(rows.labels(), split.masks(rows.labels()), strict=True):
        counts += np.bincount(labels[~mask], minlength=len(counts))
    check_classes(data, np.flatnonzero(counts), when)
    whole = rows.nbytes <= rowfile.GROUP if many is None else not many  # then all is done as in memory, to the bit
    made = learn_preparation(data, options, join(list(learned())) if whole else learned)
    preparation = made.preparation
    dtype = np.float64 if whole else np.float32
    files = [
        RowFile(folder / name, preparation.width, sparse=preparation.sparse, weighted=rows.weighted, dtype=dtype)
        for name in ("train", "test")[: 2 if split.n_test else 1]
    ]
    for raw, mask in parts("write"):
        for file, part in zip(files, (raw.take(~mask), raw.take(mask)), strict=False):
            if len(part):
                file.append(in_precision(made.matrix(part), dtype, data.where), _labels(part), part.weights)
    giving_away = leaks(data, rows.read(0, min(rows.n, rows.window)))
    rows.remove()
    test = files[1] if split.n_test else None
    return _Made(files[0], test, preparation, counts, made.constant, files[0].check, giving_away, made.warnings)


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
    """Of the number columns and parts of dates: how to scale them, what to impute, which are constant, have gaps."""

    shift: Floats
    factor: Floats
    fills: Floats
    constant: NDArray[np.bool_]
    gaps: NDArray[np.bool_]


class LearnedPreparation(NamedTuple):
    """What is to be done to each row, the constant columns, the new codes of pooled categories, how many classes.

    And a warning for each category of which pooling leaves little.
    """

    preparation: Preparation
    constant: list[str]
    pooling: Recode
    classes: int
    warnings: tuple[str, ...] = ()

    def matrix(self, raw: RawRows, *, overwrite: bool = False) -> Any:
        """Return the features of rows whose codes are those of all levels."""
        return self.preparation.matrix(self.pooling(raw), overwrite=overwrite)

    def training_matrix(self, raw: RawRows, seed: int, *, overwrite: bool = False) -> Any:
        """Return the features of the rows that this was learned from; target-encoded columns by cross-fitting."""
        if not any(feature.shares for feature in self.preparation.features):
            return self.matrix(raw, overwrite=overwrite)
        labels = _labels(raw)
        encoded = {
            feature.name: cross_fitted(raw.codes[:, k], len(feature.levels), labels, self.classes, feature.gaps, seed)
            for k, feature in enumerate(self.preparation.role("category"))
            if feature.shares
        }
        return self.preparation.matrix(self.pooling(raw), overwrite=overwrite, encoded=encoded)


def learn_preparation(
    data: Collected, options: ColumnOptions, learned: RawRows | Callable[[], Iterable[RawRows]]
) -> LearnedPreparation:
    """Return what is to be done to each row, learned from training rows in memory, or in blocks each time it is called.

    Parameters
    ----------
    data : Collected
        The columns and levels.
    options : ColumnOptions
        How to scale, and what to do about missing values and many levels.
    learned : RawRows or callable
        The training rows.
    """
    texts: list[Any] = []
    if isinstance(learned, RawRows):
        texts, sparse = learned.texts, is_sparse(learned.numbers)
        scale = _scale(data, options, sparse)
        known = _of_memory(data, scale, options.missing, learned.numbers)
        counts = [_counted(learned.codes[:, k], len(levels)) for k, levels in enumerate(data.levels)]
    else:
        sparse = is_sparse(next(iter(learned())).numbers)
        scale = _scale(data, options, sparse)
        counts = [np.zeros(len(levels) + 1, dtype=np.int64) for levels in data.levels]
        known = _of_blocks(data, scale, options.missing, learned, counts)
    bad = np.flatnonzero(~(np.isfinite(known.shift) & np.isfinite(known.factor)))
    if bad.size:
        name = data.number_name(int(bad[0]))
        raise ValueError(f"{data.where}, column {name!r} has numbers too large to be scaled; use --scale none")
    pools = [
        _pooled(count, len(count) if column.name in options.target_encode else options.max_levels)
        for column, count in zip(data.chosen.categories, counts, strict=True)
    ]
    features = _features(data, options, texts, known.gaps, counts, pools)
    if options.target_encode:
        assert isinstance(learned, RawRows)
        features = tuple(_target_encoded(data, options, learned, features))
    preparation = Preparation(
        features, options.missing, scale, known.shift, known.factor, known.fills, sparse or is_wide(features),
        data.anonymous,
    )  # fmt: skip
    constant = []
    if not data.anonymous:
        same, place = known.constant, 0
        for feature in preparation.numeric:
            constant += [feature.name] * bool(same[place : place + feature.width].all() and not feature.gaps)
            place += feature.width
        one_hot = [feature for feature in preparation.role("category") if not feature.shares]
        constant += [feature.name for feature in one_hot if feature.width == 1]
    warnings = tuple(_pooling_warnings(data.chosen.categories, counts, pools))
    return LearnedPreparation(preparation, constant, Recode(pools, None), len(data.classes), warnings)


def _target_encoded(
    data: Collected, options: ColumnOptions, learned: RawRows, features: Sequence[Feature]
) -> Iterator[Feature]:
    """Yield the features, those that are to be target encoded with the shares of the classes."""
    shares = tuple(str(data.classes[label]) for label in encoded_classes(len(data.classes)))
    place = {column.name: k for k, column in enumerate(data.chosen.categories)}
    for feature in features:
        if feature.name not in options.target_encode:
            yield feature
            continue
        codes = learned.codes[:, place[feature.name]]
        encoding = target_encoding(codes, len(feature.levels), _labels(learned), len(data.classes), feature.gaps)
        yield replace(feature, shares=shares, encoding=encoding)


def _counted(codes: NDArray[np.int32], levels: int) -> NDArray[np.int64]:
    """Return how many rows have each level, and behind them how many have none."""
    counts = np.bincount(codes + 1, minlength=levels + 1)
    return np.append(counts[1:], counts[0]).astype(np.int64)


def _pooled(counts: NDArray[np.int64], most: int) -> NDArray[np.int32]:
    """Return the new code of each level and of a missing one: of too many, all but the most frequent are pooled.

    Of equally frequent levels the later are kept, as by scikit-learn's OneHotEncoder.
    """
    levels = len(counts) - 1
    codes = np.append(np.arange(levels, dtype=np.int32), np.int32(MISSING))
    if levels > most:
        rare = np.argsort(counts[:-1], kind="stable")[: levels - most]
        kept = np.setdiff1d(np.arange(levels), rare)
        codes[rare] = UNSEEN
        codes[kept] = np.arange(len(kept))
    return codes


def _scale(data: Collected, options: ColumnOptions, sparse: bool) -> str:
    if sparse and options.scale == "minmax":
        raise ValueError(f"{data.where} is sparse, which --scale minmax would undo; use standard or none")
    return options.scale or ("none" if sparse else "standard")


def _of_memory(data: Collected, scale: str, missing: str, numbers: Any) -> Statistics:
    width = int(numbers.shape[1])
    fills, constant, gaps = np.zeros(width), np.zeros(width, dtype=bool), np.zeros(width, dtype=bool)
    if not is_sparse(numbers):
        if not data.anonymous:
            constant = _constant(numbers)
        if missing in ("impute", "mean") and width:
            complete = all_finite(numbers)
            gone = None if complete else np.isnan(numbers)
            gaps = gaps if gone is None else gone.any(axis=0)
            if gone is not None:
                _check_not_empty(data, ~gone.all(axis=0))
            if missing == "impute":
                fills = _medians(numbers, gaps)
            elif gone is not None:
                fills = np.nanmean(np.asfortranarray(numbers), axis=0)
            else:
                fills = np.asfortranarray(numbers).mean(axis=0)
            if gone is not None:
                numbers = np.where(gone, fills, numbers)
    return Statistics(*learn_scale(scale, numbers), fills, constant, gaps & (missing == "impute"))


def _medians(numbers: Floats, gaps: NDArray[np.bool_]) -> Floats:
    """Return the median of each column; of one without gaps, that of evenly spaced rows if there are many."""
    some = numbers[:: -(-len(numbers) // _MEDIAN_ROWS)] if len(numbers) else numbers
    out = np.empty(numbers.shape[1])
    for place, gap in enumerate(gaps.tolist()):
        column = numbers[:, place] if gap else some[:, place]
        out[place] = np.median(column[~np.isnan(column)] if gap else column)
    return out


def _of_blocks(
    data: Collected,
    scale: str,
    missing: str,
    learned: Callable[[], Iterable[RawRows]],
    counts: list[NDArray[np.int64]],
) -> Statistics:
    """Return the statistics of rows in blocks, and add up how many have each level; medians are those of a sample."""
    moments, n, sample = Moments(ranges=True), 0, _Sample()
    for raw in learned():
        n += len(raw)
        moments.add(raw.numbers)
        for k, count in enumerate(counts):
            count += _counted(raw.codes[:, k], len(count) - 1)
        if missing == "impute" and not is_sparse(raw.numbers):
            sample.add(raw.numbers)
    sparse = moments.low is None
    width = len(moments.mean)
    fills, constant, gaps = np.zeros(width), np.zeros(width, dtype=bool), np.zeros(width, dtype=bool)
    if not sparse and width:
        present = np.broadcast_to(np.asarray(moments.count), width)
        _check_not_empty(data, present > 0)
        constant = np.asarray(moments.low == moments.high)
        if missing == "mean":
            fills = np.asarray(moments.mean, dtype=np.float64)
        if missing == "impute":
            gaps = present < n
            fills = sample.medians(np.asarray(moments.mean))
            if gaps.any():  # once more, with the gaps filled
                moments = Moments(ranges=True)
                for raw in learned():
                    moments.add(np.where(np.isnan(raw.numbers), fills, raw.numbers))
    return Statistics(*moments.scale(scale, width, n), fills, constant, gaps)


class _Sample:
    """Some of the rows of all blocks, for medians: evenly spaced, fewer and fewer of them as more rows come."""

    def __init__(self) -> None:
        self._rows: list[Floats] = []
        self._step, self._skip, self._n = 1, 0, 0

    def add(self, numbers: Floats) -> None:
        """Add rows."""
        most = max(64, min(_MEDIAN_ROWS, _MEDIAN_NUMBERS // max(1, numbers.shape[1])))
        part = numbers[self._skip :: self._step].copy()
        self._skip = (self._skip - len(numbers)) % self._step
        self._rows.append(part)
        self._n += len(part)
        while self._n > most:
            every = np.concatenate(self._rows)
            self._skip = (self._skip + self._step * (len(every) % 2)) % (2 * self._step)
            self._rows, self._step = [every[::2]], 2 * self._step
            self._n = len(self._rows[0])

    def medians(self, means: Floats) -> Floats:
        """Return the median of each column; the mean where all its values in the sample are missing."""
        every = np.concatenate(self._rows)
        known = ~np.isnan(every)
        return np.array([
            np.median(every[known[:, k], k]) if known[:, k].any() else means[k] for k in range(every.shape[1])
        ])  # fmt: skip


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


def _features(
    data: Collected,
    options: ColumnOptions,
    texts: list[Any],
    gaps: NDArray[np.bool_],
    counts: list[NDArray[np.int64]],
    pools: list[NDArray[np.int32]],
) -> tuple[Feature, ...]:
    """Return the columns as features: numbers, dates, categories, texts, each in the table's order."""
    chosen, place = data.chosen, 0
    features: list[Feature] = []
    for role, columns in (("number", chosen.numbers), ("date", chosen.dates)):
        for column in columns:
            parts = chosen.parts.get(column.name, ()) if role == "date" else ()
            notation = chosen.notations.get(column.name, "")
            gap = bool(gaps[place : place + max(1, len(parts))].any())
            features.append(Feature(column.name, role, column.kind, gaps=gap, notation=notation, parts=parts))
            place += features[-1].width
    imputed = options.missing == "impute"
    for column, levels, count, pool in zip(chosen.categories, data.levels, counts, pools, strict=True):
        kept = tuple(level for level, code in zip(levels, pool.tolist(), strict=False) if code >= 0)
        gap, pooled = imputed and bool(count[-1]), len(kept) < len(levels)
        features.append(Feature(column.name, "category", column.kind, levels=kept, gaps=gap, pooled=pooled))
    if options.text_method == "hashed":
        return (*features, *(Feature(column.name, "text", "text") for column in chosen.texts))
    for column, own in zip(chosen.texts, texts, strict=True):
        try:
            features.append(learn_words(column.name, own))
        except ValueError as problem:
            raise ValueError(f"{data.where}, {problem} with --exclude {shlex.quote(column.name)}") from None
    return tuple(features)


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
