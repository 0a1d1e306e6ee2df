"""Teach a model new rows, online; new classes are allowed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.model import TableModel, incomplete, matrix_blocks, reader_for, refuse_unseen
from separatrix.tables.raw_rows import MISSING, RawRows
from separatrix.tables.reading import as_label, table_rows
from separatrix.tables.sources.base import MatrixSource, TableSource


@dataclass
class Learned:
    """What came of it."""

    rows: int = 0
    dropped: int = 0
    mistakes: int = 0
    new_classes: list[Any] = field(default_factory=list)


def update(
    model: TableModel,
    source: TableSource | MatrixSource,
    *,
    unknown: str = "fail",
    watch: Callable[[int, float | None], None] | None = None,
) -> Learned:
    """Teach the model every row of a source once, in its order, and say how it went."""
    estimator = model.estimator
    if not hasattr(estimator, "partial_fit"):
        raise ValueError(
            f"a {type(estimator).__name__} of this kind learns from all rows at once and cannot be updated; the "
            "models averaged, perceptron, voted, pocket, neuron, network and svm with --param solver=online can"
        )
    known = set(model.classes_.tolist())
    kind = type(model.classes_.tolist()[0])
    told = Learned()
    if isinstance(source, TableSource):
        source.settle()
    for raw, found in labelled_rows(model, source, unknown):
        labels = own_labels(model, found)
        gone = incomplete(model.preparation, raw) | np.array([label is None for label in labels], dtype=bool)
        if raw.weights is not None:
            gone |= np.isnan(raw.weights)
        told.dropped += int(gone.sum())
        part = raw.take(~gone)
        if not len(part):
            continue
        y = [label for label, lacking in zip(labels, gone, strict=True) if not lacking]
        new = sorted(set(y) - known, key=str)
        for label in new:
            if type(label) is not kind:
                raise ValueError(
                    f"{source.name}: the label {label!r} is not of the kind that the model knows, such as "
                    f"{model.classes_.tolist()[0]!r}"
                )
        known |= set(new)
        told.new_classes += new
        estimator.partial_fit(model.preparation.matrix(part), np.array(y), sample_weight=part.weights)
        told.rows += len(part)
        told.mistakes += sum(estimator.history_.mistakes)
        if watch is not None:
            watch(told.rows, source.fraction())
    if not told.rows:
        raise ValueError(f"{source.name} holds no complete row to learn from")
    updates = model.facts.setdefault("updates", [])
    updates.append({"source": source.name, "rows": told.rows, "mistakes": told.mistakes})
    if model.facts.pop("certificate", None) is not None:  # it was about other rows
        model.facts["uncertified"] = "updated"
    model.facts.pop("held_out", None)
    model.facts.pop("training_accuracy", None)  # of the model before
    model.facts["data"] = None
    model.facts["status"] = str(estimator.status_)
    return told


def own_labels(model: TableModel, labels: list[Any]) -> list[Any]:
    """Return labels as the model has them, where a file writes them in another way: 1.0 for 1, 0.5 for '0.5'."""
    own = {label: label for label in model.classes_.tolist()}
    named = isinstance(next(iter(own)), str)

    def as_own(label: Any) -> Any:
        if label is None or label in own:
            return own.get(label)
        plain = as_label(label)
        return str(plain) if named and not isinstance(plain, str) else plain

    return [as_own(label) for label in labels]


def labelled_rows(model: TableModel, source: Any, unknown: str) -> Iterator[tuple[RawRows, list[Any]]]:
    """Yield the rows of a source as the model reads them, with their labels; None where one is missing."""
    if isinstance(source, MatrixSource):
        yield from matrix_blocks(model, source, labels=True)
        return
    if model.preparation.anonymous:
        raise ValueError(f"the model was trained on numbers without column names; {source.name} is a table")
    reader = reader_for(model, source, labels=True)
    assert reader.classes is not None
    for raw in table_rows(source, reader):
        if unknown == "fail":
            refuse_unseen(model.preparation, reader, raw)
        yield raw, _labels(raw.labels, list(reader.classes.codes))


def _labels(codes: NDArray[np.int32] | None, values: list[Any]) -> list[Any]:
    assert codes is not None
    return [None if code == MISSING else values[code] for code in codes.tolist()]
