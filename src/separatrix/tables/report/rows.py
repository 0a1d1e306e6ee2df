"""The predictions of a model on every row of a source, in one pass and bounded memory.

Counts, the rows nearest to the boundary, the worst errors, and a sample for charts. Of each row only its scores are
kept, for metrics and curves, and of too many rows not even these.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.model import TableModel
from separatrix.tables.raw_rows import MISSING, RawRows
from separatrix.tables.report.boundary_distance import BoundaryDistance
from separatrix.tables.report.histogram import StreamingHistogram
from separatrix.tables.rows import Block, ModelRows
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import ColumnsChangedError

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
    unknown_categories : dict
        How many rows have a category that the model was not trained on, by column.
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
    unknown_categories: dict[str, int] = field(default_factory=dict)
    nearest: list[Row] = field(default_factory=list)
    worst: list[Row] = field(default_factory=list)
    sample: Sample | None = None
    deviations: Floats | None = None

    @property
    def predicted(self) -> int:
        """The number of rows with a prediction."""
        return self.rows - self.incomplete


def inspect_rows(
    model: TableModel, source: Any, *, unknown: str = "zero", trained_on: bool = False, watch: Watch | None = None
) -> InspectedRows:
    """Return the predictions of a model on a source, summarised; ``trained_on`` if it is known to be fitted on it."""
    try:
        return _inspect(model, source, unknown, trained_on, watch)
    except ColumnsChangedError:  # the source knows its columns now
        return _inspect(model, source, unknown, trained_on, watch)


def _inspect(model: TableModel, source: Any, unknown: str, trained_on: bool, watch: Watch | None) -> InspectedRows:
    k, facts = len(model.classes_), model.facts
    rows = ModelRows(model, source, labels="if there", unknown=unknown)
    same: bool | None = trained_on or None
    key, known = source.fingerprint(), facts.fingerprint
    if not trained_on and key is not None and known is not None and not facts.updates:
        same = key == known
    counts = [each.rows for each in facts.classes]
    majority = int(np.argmax(counts)) if len(counts) == k else 0
    inspected = InspectedRows(source.name, same, rows.labelled, Scores.none(k, majority), StreamingHistogram(k))
    inspected.unknown_categories = rows.unknown_rows
    pass_ = _Pass(model, inspected)
    for block in rows:
        pass_.add(block)
        if watch is not None:
            watch(inspected.rows, source.fraction())
    if not inspected.predicted:
        raise ValueError(f"{source.name}: every row has missing values, so there is nothing to predict")
    inspected.confusion.finish()
    inspected.deviations = _deviations(pass_.moments)
    return inspected


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

    def add(self, block: Block) -> None:
        """Add some rows."""
        inspected, model = self._inspected, self._model
        raw, missing = block.raw, block.incomplete
        labels: NDArray[np.intp] | None = None if block.labels is None else block.labels.astype(np.intp)
        first, n = inspected.rows + 1, len(raw)
        inspected.rows += n
        numbers = np.arange(first, first + n)
        if missing.any():
            inspected.incomplete += int(missing.sum())
            raw, numbers = raw.take(~missing), numbers[~missing]
            labels = None if labels is None else labels[~missing]
        if not len(raw):
            return
        inspected.labelled &= labels is not None
        labels = np.full(len(raw), MISSING, dtype=np.intp) if labels is None else labels
        X = model.preparation.matrix(raw)
        if self._measured:
            self.moments.add(X)
        predictions, scores, proba = model.predictions(X)
        near = self._distance.to_prediction(scores, predictions)
        inspected.unlabelled += int((labels == MISSING).sum())
        strange = labels >= len(model.classes_)
        inspected.unknown_labels += int(strange.sum())
        labels[strange] = _UNKNOWN
        _keep(inspected.nearest, near, np.arange(len(raw)), numbers, raw, labels, predictions)
        known = np.flatnonzero(labels >= 0)
        if len(known):
            chances = None if proba is None else proba[known]
            inspected.confusion.add(labels[known], predictions[known], scores[known], chances)
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
