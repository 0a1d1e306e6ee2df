"""What a model says about every row of a source, in one pass and bounded memory.

Counts, the rows nearest to the boundary, the worst mistakes, and a sample for pictures. Nothing is kept for each row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.model import TableModel, incomplete, matrix_blocks, reader_for, refuse_unseen
from separatrix.tables.raw_rows import MISSING, RawRows
from separatrix.tables.reading import table_rows
from separatrix.tables.report.binned import Binned
from separatrix.tables.report.closeness import Closeness
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import ColumnsChangedError, MatrixSource
from separatrix.tables.update import own_labels

SHOWN = 10  # rows in a list
_SAMPLE = 1200  # rows in a picture
_SAMPLE_NUMBERS = 20_000_000
_ROUNDING = 1e-12  # of the mean, below which a spread is none
_UNKNOWN = -2  # the code of a label that the model does not know

Watch = Callable[[int, "float | None"], None]


class Row(NamedTuple):
    """A row of a list: its number from 1, its cells as they were read, label (-1 for none), answer and distance."""

    number: int
    raw: RawRows
    label: int
    answer: int
    distance: float


@dataclass
class Sample:
    """Some rows as the model sees them, drawn by a key of their numbers: the same ones each time."""

    keys: NDArray[np.uint64]
    X: Any
    labels: NDArray[np.intp]
    answers: NDArray[np.intp]
    scores: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of them."""
        return Sample(self.keys[rows], self.X[rows], self.labels[rows], self.answers[rows], self.scores[rows])

    def joined(self, other: Sample) -> Sample:
        """Return both."""
        if is_sparse(self.X):
            from scipy import sparse

            X = sparse.vstack([self.X, other.X], format="csr")
        else:
            X = np.concatenate([self.X, other.X])
        parts = [np.concatenate([getattr(s, name) for s in (self, other)]) for name in ("labels", "answers", "scores")]
        return Sample(np.concatenate([self.keys, other.keys]), X, *parts)


@dataclass
class Seen:
    """What was found in a source.

    Attributes
    ----------
    source : str
        Its name.
    trained_on : bool or None
        Whether the model was fitted to it as it is, and to nothing else; None where that cannot be told. False does not
        say that its rows are new to the model: some of them, or all, may be among those learned from.
    labelled : bool
        Whether it holds labels.
    rows, lacking, unlabelled, foreign : int
        All rows; those that lack a value and are not answered; answered ones without a label, and those whose label the
        model does not know.
    confusion : Scores
        Rows by label and answer.
    margins : Binned
        How far rows are on the side of their own label, by label.
    nearest, worst : lists of Row
        Nearest to the boundary; answered wrongly and furthest on the wrong side.
    sample : Sample or None
        Rows for pictures; None where there is none.
    spreads : array or None
        The standard deviation of each number that the model sees, unless all of them are scaled by theirs.
    """

    source: str
    trained_on: bool | None
    labelled: bool
    confusion: Scores
    margins: Binned
    rows: int = 0
    lacking: int = 0
    unlabelled: int = 0
    foreign: int = 0
    nearest: list[Row] = field(default_factory=list)
    worst: list[Row] = field(default_factory=list)
    sample: Sample | None = None
    spreads: Floats | None = None

    @property
    def answered(self) -> int:
        """How many rows the model has an answer for."""
        return self.rows - self.lacking


def look(
    model: TableModel, source: Any, *, unknown: str = "fail", trained_on: bool = False, watch: Watch | None = None
) -> Seen:
    """Return what a model says about the rows of a source; ``trained_on`` if it is known to be fitted to them."""
    try:
        return _look(model, source, unknown, trained_on, watch)
    except ColumnsChangedError:  # the source knows its columns now
        return _look(model, source, unknown, trained_on, watch)


def _look(model: TableModel, source: Any, unknown: str, trained_on: bool, watch: Watch | None) -> Seen:
    labelled = _is_labelled(model, source)
    k = len(model.classes_)
    same: bool | None = trained_on or None
    key, known = source.fingerprint(), model.facts.get("fingerprint")
    if not trained_on and key is not None and known is not None and not model.facts.get("updates"):
        same = key == known
    counts = [int(each["rows"]) for each in model.facts.get("classes", [])]
    majority = int(np.argmax(counts)) if len(counts) == k else 0
    seen = Seen(source.name, same, labelled, Scores.none(k, majority), Binned(k))
    pass_ = _Pass(model, seen)
    for raw, labels in _coded_rows(model, source, unknown, labelled):
        pass_.add(raw, labels)
        if watch is not None:
            watch(seen.rows, source.fraction())
    if not seen.answered:
        raise ValueError(f"{source.name} holds no row that the model can answer: each lacks a value")
    seen.spreads = _deviations(pass_.moments)
    return seen


def _is_labelled(model: TableModel, source: Any) -> bool:
    if isinstance(source, MatrixSource):
        return True  # the blocks tell
    return model.target in {column.name for column in source.columns}


def _coded_rows(
    model: TableModel, source: Any, unknown: str, labelled: bool
) -> Iterator[tuple[RawRows, NDArray[np.intp] | None]]:
    """Yield rows with the places of their labels among the model's classes."""
    place = {label: code for code, label in enumerate(model.classes_.tolist())}
    preparation = model.preparation
    if isinstance(source, MatrixSource):
        for raw, found in matrix_blocks(model, source):
            yield raw, None if found is None else _codes(own_labels(model, found), place)
        return
    if preparation.anonymous:
        raise ValueError(f"the model was trained on numbers without column names; {source.name} is a table")
    reader = reader_for(model, source, labels=labelled)
    for raw in table_rows(source, reader):
        if unknown == "fail":
            refuse_unseen(preparation, reader, raw)
        labels = None
        if labelled:
            assert reader.classes is not None
            assert raw.labels is not None
            table = np.append(_codes(own_labels(model, list(reader.classes.codes)), place), MISSING)
            labels = table[raw.labels]  # a missing one is place -1, the last
        yield raw, labels


def _codes(labels: list[Any], place: dict[Any, int]) -> NDArray[np.intp]:
    return np.array([MISSING if each is None else place.get(each, _UNKNOWN) for each in labels], dtype=np.intp)


class _Pass:
    """One pass over the rows."""

    def __init__(self, model: TableModel, seen: Seen) -> None:
        self._model, self._seen = model, seen
        self._closeness = Closeness.of(model)
        self._most = max(200, min(_SAMPLE, _SAMPLE_NUMBERS // model.preparation.width))
        preparation = model.preparation
        scaled = preparation.scale == "standard"
        self._measured = not scaled or preparation.width > len(preparation.shift)
        self.moments = Moments()

    def add(self, raw: RawRows, labels: NDArray[np.intp] | None) -> None:
        """Look at some rows."""
        seen, model = self._seen, self._model
        first, n = seen.rows + 1, len(raw)
        seen.rows += n
        numbers = np.arange(first, first + n)
        lacking = incomplete(model.preparation, raw)
        if lacking.any():
            seen.lacking += int(lacking.sum())
            raw, numbers = raw.take(~lacking), numbers[~lacking]
            labels = None if labels is None else labels[~lacking]
        if not len(raw):
            return
        if labels is None:
            seen.labelled = False
            labels = np.full(len(raw), MISSING, dtype=np.intp)
        X = model.preparation.matrix(raw)
        if self._measured:
            self.moments.add(X)
        scores = np.asarray(model.estimator.decision_function(X), dtype=np.float64)
        answers = np.searchsorted(model.classes_, model.estimator.predict(X))
        near = self._closeness.near(scores, answers)
        seen.unlabelled += int((labels == MISSING).sum())
        seen.foreign += int((labels == _UNKNOWN).sum())
        _keep(seen.nearest, near, np.arange(len(raw)), numbers, raw, labels, answers)
        known = np.flatnonzero(labels >= 0)
        if len(known):
            seen.confusion.add(labels[known], answers[known])
            own = self._closeness.own(scores[known], labels[known])
            seen.margins.add(own, labels[known])
            wrong = labels[known] != answers[known]
            _keep(seen.worst, own[wrong], known[wrong], numbers, raw, labels, answers)
        self._draw(Sample(_mixed(numbers), X, labels, answers, scores))

    def _draw(self, rows: Sample) -> None:
        """Keep the rows whose keys are smallest."""
        before = self._seen.sample
        if len(rows) > self._most:
            rows = rows.take(np.sort(np.argpartition(rows.keys, self._most)[: self._most]))
        rows = rows if before is None else before.joined(rows)
        if len(rows) > self._most:
            rows = rows.take(np.sort(np.argpartition(rows.keys, self._most)[: self._most]))
        self._seen.sample = rows


def _keep(
    kept: list[Row], values: Floats, places: NDArray[np.intp], numbers: NDArray[np.int64], raw: RawRows,
    labels: NDArray[np.intp], answers: NDArray[np.intp],
) -> None:  # fmt: skip
    """Put the rows with the smallest values into a list that holds the smallest so far."""
    if not len(values):
        return
    order = np.arange(len(values))
    if len(values) > SHOWN:
        bar = np.partition(values, SHOWN - 1)[SHOWN - 1]
        order = np.flatnonzero(values <= bar)
    order = order[np.argsort(values[order], kind="stable")][:SHOWN]
    for each in order.tolist():
        at = int(places[each])
        one = raw.take(np.array([at]))
        kept.append(Row(int(numbers[at]), one, int(labels[at]), int(answers[at]), float(values[each])))
    kept.sort(key=lambda row: (row.distance, row.number))
    del kept[SHOWN:]


def _mixed(numbers: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return well mixed keys of row numbers (the finaliser of SplitMix64)."""
    keys = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(keys ^ (keys >> np.uint64(31)))


def _deviations(moments: Moments) -> Floats | None:
    """Return the standard deviation of each column, None if there were no rows; one within rounding of 0 is 0."""
    if not moments.count:
        return None
    return np.where(moments.deviation > _ROUNDING * np.abs(moments.mean), moments.deviation, 0.0)
