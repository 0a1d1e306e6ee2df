"""Train a model online on new rows; new classes are allowed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from separatrix.tables.facts import UpdateRecord
from separatrix.tables.kinds import UPDATED
from separatrix.tables.model import TableModel
from separatrix.tables.rows import ModelRows
from separatrix.tables.sources.base import MatrixSource, TableSource


@dataclass
class UpdateResult:
    """Rows trained on and dropped, how many were predicted wrong before, new classes, unknown categories by column."""

    rows: int = 0
    dropped: int = 0
    errors: int = 0
    new_classes: list[Any] = field(default_factory=list)
    unknown_categories: dict[str, int] = field(default_factory=dict)


def update(
    model: TableModel,
    source: TableSource | MatrixSource,
    *,
    unknown: str = "zero",
    watch: Callable[[int, float | None], None] | None = None,
) -> UpdateResult:
    """Train the model on every row of a source once, in its order."""
    estimator = model.estimator
    if not hasattr(estimator, "partial_fit"):
        raise ValueError(
            f"a {type(estimator).__name__} is trained on all rows at once and cannot be updated; the models "
            f"{', '.join(UPDATED)} can, and kernel-perceptron with --param budget=..."
        )
    kind = type(model.classes_.tolist()[0])
    result = UpdateResult()
    if isinstance(source, TableSource):
        source.settle()
    rows = ModelRows(model, source, labels="need", unknown=unknown)
    known, n_classes = len(rows.labels), len(model.classes_)
    result.unknown_categories = rows.unknown_rows
    for block in rows:
        assert block.labels is not None
        keep = block.labelled
        if block.raw.weights is not None:
            keep &= ~np.isnan(block.raw.weights)
        result.dropped += int((~keep).sum())
        part, labels = block.raw.take(keep), block.labels[keep]
        if not len(part):
            continue
        for code in np.unique(labels[labels >= known]).tolist():
            label = rows.labels[code]
            if type(label) is not kind:
                raise ValueError(
                    f"{source.name}: the label {label!r} is not of the type of the classes, such as "
                    f"{model.classes_.tolist()[0]!r}"
                )
        classes, codes = _sorted_codes(rows.labels, labels, known, estimator.classes_)
        X = model.preparation.matrix(part)
        predicted = np.searchsorted(classes, model.classes_[model._predict_codes(X)])  # before it learns these rows
        result.errors += int(np.count_nonzero(predicted != codes))
        estimator._partial_fit_codes(X, codes, classes, sample_weight=part.weights)
        if len(classes) > n_classes:  # they are about other scores
            model.calibration = model.threshold = None
        result.rows += len(part)
        if watch is not None:
            watch(result.rows, source.fraction())
    if not result.rows:
        raise ValueError(f"{source.name} has no complete row to train on")
    result.new_classes = [label for label in estimator.classes_.tolist() if label in rows.labels[known:]]
    facts, certified = model.facts, model.facts.certificate is not None
    model.facts = replace(
        facts,
        updates=(*facts.updates, UpdateRecord(source.name, result.rows, result.errors)),
        certificate=None,  # it is about other rows, as the scores are
        no_certificate="updated" if certified else facts.no_certificate,
        test=None,
        training_accuracy=None,
        data=None,
        status=str(estimator.status_),
    )
    return result


def _sorted_codes(labels: list[Any], codes: Any, known: int, classes: Any) -> tuple[Any, Any]:
    """Return the classes of the model and those new in these rows, sorted, and the codes of the rows among them."""
    new = [labels[code] for code in np.unique(codes[codes >= known]).tolist()]
    every = np.union1d(classes, new) if new else classes
    place = {label: code for code, label in enumerate(every.tolist())}
    table = np.array([place.get(label, -1) for label in labels], dtype=np.int32)
    return every, table[codes]
