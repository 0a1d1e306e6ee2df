"""The predictions of a model on every row of a source, in one pass and bounded memory.

Counts, the rows nearest to the boundary, the worst errors, and a sample for charts. Nothing is kept for each row.
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
from separatrix.tables.report.boundary_distance import BoundaryDistance
from separatrix.tables.report.facts import RecordedFit
from separatrix.tables.report.histogram import StreamingHistogram
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import ColumnsChangedError, MatrixSource
from separatrix.tables.update import own_labels

SHOWN = 10  # rows in a list
_SAMPLE = 1200  # rows in a chart
_SAMPLE_NUMBERS = 20_000_000
_ROUNDING = 1e-12  # of the mean, below which a standard deviation is 0
_UNKNOWN = -2  # the code of a label that the model does not know

Watch = Callable[[int, "float | None"], None]


class Row(NamedTuple):
    """A row of a list: its number from 1, its cells as read, label (-1 for none), prediction and distance."""

    number: int
    raw: RawRows
    label: int
    prediction: int
    distance: float


@dataclass
class Sample:
    """A random sample of prepared rows, chosen by a hash of their numbers: the same each time."""

    keys: NDArray[np.uint64]
    X: Any
    labels: NDArray[np.intp]
    predictions: NDArray[np.intp]
    scores: Floats

    def __len__(self) -> int:
        return len(self.keys)

    def take(self, rows: NDArray[np.intp]) -> Sample:
        """Return some of them."""
        return Sample(self.keys[rows], self.X[rows], self.labels[rows], self.predictions[rows], self.scores[rows])

    def joined(self, other: Sample) -> Sample:
        """Return both."""
        if is_sparse(self.X):
            from scipy import sparse

            X = sparse.vstack([self.X, other.X], format="csr")
        else:
            X = np.concatenate([self.X, other.X])
        names = ("labels", "predictions", "scores")
        parts = [np.concatenate([getattr(each, name) for each in (self, other)]) for name in names]
        return Sample(np.concatenate([self.keys, other.keys]), X, *parts)


@dataclass
class InspectedRows:
    """The predictions on a source, summarised.

    Attributes
    ----------
    source : str
        Its name.
    trained_on : bool or None
        Whether the model was fitted on exactly this source; None where that is unknown. False does not mean that its
        rows are new to the model: some or all may be training rows.
    labelled : bool
        Whether it has labels.
    rows, incomplete, unlabelled, unknown_labels : int
        All rows; those without a prediction because of missing values; predicted ones without a label, and those whose
        label is not a class of the model.
    confusion : Scores
        Rows by label and prediction.
    margins : StreamingHistogram
        Signed distances of rows from the boundary of their label, by label.
    nearest, worst : lists of Row
        Nearest to the boundary; misclassified and furthest on the wrong side.
    sample : Sample or None
        Rows for charts.
    deviations : array or None
        The standard deviation of each feature, unless all are scaled to 1.
    """

    source: str
    trained_on: bool | None
    labelled: bool
    confusion: Scores
    margins: StreamingHistogram
    rows: int = 0
    incomplete: int = 0
    unlabelled: int = 0
    unknown_labels: int = 0
    nearest: list[Row] = field(default_factory=list)
    worst: list[Row] = field(default_factory=list)
    sample: Sample | None = None
    deviations: Floats | None = None

    @property
    def predicted(self) -> int:
        """The number of rows with a prediction."""
        return self.rows - self.incomplete


def inspect_rows(
    model: TableModel, source: Any, *, unknown: str = "fail", trained_on: bool = False, watch: Watch | None = None
) -> InspectedRows:
    """Return the predictions of a model on a source, summarised; ``trained_on`` if it is known to be fitted on it."""
    try:
        return _inspect(model, source, unknown, trained_on, watch)
    except ColumnsChangedError:  # the source knows its columns now
        return _inspect(model, source, unknown, trained_on, watch)


def _inspect(model: TableModel, source: Any, unknown: str, trained_on: bool, watch: Watch | None) -> InspectedRows:
    labelled = _is_labelled(model, source)
    k = len(model.classes_)
    same: bool | None = trained_on or None
    recorded = RecordedFit.of(model)
    key, known = source.fingerprint(), recorded.source_fingerprint
    if not trained_on and key is not None and known is not None and not recorded.updates:
        same = key == known
    counts = [rows for _, rows in recorded.class_counts]
    majority = int(np.argmax(counts)) if len(counts) == k else 0
    inspected = InspectedRows(source.name, same, labelled, Scores.none(k, majority), StreamingHistogram(k))
    pass_ = _Pass(model, inspected)
    for raw, labels in _coded_rows(model, source, unknown, labelled):
        pass_.add(raw, labels)
        if watch is not None:
            watch(inspected.rows, source.fraction())
    if not inspected.predicted:
        raise ValueError(f"{source.name}: every row has missing values, so there is nothing to predict")
    inspected.deviations = _deviations(pass_.moments)
    return inspected


def _is_labelled(model: TableModel, source: Any) -> bool:
    if isinstance(source, MatrixSource):
        return True  # the blocks say so
    return model.target in {column.name for column in source.columns}


def _coded_rows(
    model: TableModel, source: Any, unknown: str, labelled: bool
) -> Iterator[tuple[RawRows, NDArray[np.intp] | None]]:
    """Yield rows with the codes of their labels among the model's classes."""
    place = {label: code for code, label in enumerate(model.classes_.tolist())}
    preparation = model.preparation
    if isinstance(source, MatrixSource):
        for raw, given in matrix_blocks(model, source):
            yield raw, None if given is None else _codes(own_labels(model, given), place)
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

    def __init__(self, model: TableModel, inspected: InspectedRows) -> None:
        self._model, self._inspected = model, inspected
        self._distance = BoundaryDistance.of(model)
        self._most = max(200, min(_SAMPLE, _SAMPLE_NUMBERS // model.preparation.width))
        preparation = model.preparation
        scaled = preparation.scale == "standard"
        self._measured = not scaled or preparation.width > len(preparation.shift)
        self.moments = Moments()

    def add(self, raw: RawRows, labels: NDArray[np.intp] | None) -> None:
        """Add some rows."""
        inspected, model = self._inspected, self._model
        first, n = inspected.rows + 1, len(raw)
        inspected.rows += n
        numbers = np.arange(first, first + n)
        missing = incomplete(model.preparation, raw)
        if missing.any():
            inspected.incomplete += int(missing.sum())
            raw, numbers = raw.take(~missing), numbers[~missing]
            labels = None if labels is None else labels[~missing]
        if not len(raw):
            return
        if labels is None:
            inspected.labelled = False
            labels = np.full(len(raw), MISSING, dtype=np.intp)
        X = model.preparation.matrix(raw)
        if self._measured:
            self.moments.add(X)
        scores = np.asarray(model.estimator.decision_function(X), dtype=np.float64)
        predictions = np.searchsorted(model.classes_, model.estimator.predict(X))
        near = self._distance.to_prediction(scores, predictions)
        inspected.unlabelled += int((labels == MISSING).sum())
        inspected.unknown_labels += int((labels == _UNKNOWN).sum())
        _keep(inspected.nearest, near, np.arange(len(raw)), numbers, raw, labels, predictions)
        known = np.flatnonzero(labels >= 0)
        if len(known):
            inspected.confusion.add(labels[known], predictions[known])
            own = self._distance.signed(scores[known], labels[known])
            inspected.margins.add(own, labels[known])
            wrong = labels[known] != predictions[known]
            _keep(inspected.worst, own[wrong], known[wrong], numbers, raw, labels, predictions)
        self._draw(Sample(_mixed(numbers), X, labels, predictions, scores))

    def _draw(self, rows: Sample) -> None:
        """Keep the rows whose keys are smallest."""
        before = self._inspected.sample
        if len(rows) > self._most:
            rows = rows.take(np.sort(np.argpartition(rows.keys, self._most)[: self._most]))
        rows = rows if before is None else before.joined(rows)
        if len(rows) > self._most:
            rows = rows.take(np.sort(np.argpartition(rows.keys, self._most)[: self._most]))
        self._inspected.sample = rows


def _keep(
    kept: list[Row], values: Floats, places: NDArray[np.intp], numbers: NDArray[np.int64], raw: RawRows,
    labels: NDArray[np.intp], predictions: NDArray[np.intp],
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
        kept.append(Row(int(numbers[at]), one, int(labels[at]), int(predictions[at]), float(values[each])))
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
