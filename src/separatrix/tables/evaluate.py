"""The scores of a model on the labelled rows of a source, some rows at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.tables.model import TableModel
from separatrix.tables.raw_rows import MISSING
from separatrix.tables.rows import ModelRows
from separatrix.tables.scores import Scores
from separatrix.tables.sources.base import ColumnsChangedError, MatrixSource, TableSource
from separatrix.text import listed


@dataclass
class Evaluation:
    """How good a model is on a source.

    Attributes
    ----------
    source : str
        Its name.
    scores : Scores
        Of the rows that have a prediction and a label that the model knows.
    rows, unlabelled, incomplete : int
        All rows; those without a label; labelled ones without a prediction because of missing values or categories.
    unknown_labels : Counter
        Labels that the model does not know, with their numbers of rows.
    same_source : bool
        Whether it is the source of the fit: the training rows are among its rows.
    unknown_categories : dict
        How many rows have a category that the model was not trained on, by column.
    """

    source: str
    scores: Scores
    rows: int = 0
    unlabelled: int = 0
    incomplete: int = 0
    unknown_labels: Counter[Any] = field(default_factory=Counter)
    same_source: bool = False
    unknown_categories: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        unknown = [{"label": label, "rows": rows} for label, rows in self.unknown_labels.most_common()]
        return {
            "source": self.source, "same_source": self.same_source, "rows_read": self.rows,
            "unlabelled": self.unlabelled, "incomplete": self.incomplete, "unknown_labels": unknown,
            "unknown_categories": self.unknown_categories,
            **self.scores.to_dict(),
        }  # fmt: skip


def evaluate(
    model: TableModel,
    source: TableSource | MatrixSource,
    *,
    unknown: str = "zero",
    watch: Callable[[int, float | None], None] | None = None,
) -> Evaluation:
    """Return the scores of a model on the labelled rows of a source.

    Parameters
    ----------
    model : TableModel
        The model, as ``separatrix fit`` makes it.
    source : TableSource or MatrixSource
        The rows; it must have the model's target.
    unknown : {"zero", "null", "fail"}
        What to do about a category that the model was not trained on: encode it as none of the known ones, skip the
        row, or fail.
    watch : callable, optional
        Called with the number of rows so far, and the share of the source.
    """
    try:
        return _evaluate(model, source, unknown, watch)
    except ColumnsChangedError:  # the source knows its columns now
        return _evaluate(model, source, unknown, watch)


def _evaluate(model: TableModel, source: Any, unknown: str, watch: Any) -> Evaluation:
    k, facts = len(model.classes_), model.facts
    counts = [each.rows for each in facts.classes]
    majority = int(np.argmax(counts)) if len(counts) == k else 0
    key = source.fingerprint()
    same = key is not None and key == facts.fingerprint and not facts.updates
    evaluation = Evaluation(source.name, Scores.none(k, majority), same_source=same)
    rows = ModelRows(model, source, labels="need", unknown=unknown)
    evaluation.unknown_categories = rows.unknown_rows
    for block in rows:
        assert block.labels is not None
        evaluation.rows += len(block.raw)
        evaluation.unlabelled += int((block.labels == MISSING).sum())
        evaluation.incomplete += int((block.incomplete & (block.labels != MISSING)).sum())
        strange = block.labels[block.labels >= k]
        evaluation.unknown_labels.update(rows.labels[code] for code in strange.tolist())
        keep = block.labelled & (block.labels < k)
        if keep.any():
            X = model.preparation.matrix(block.raw.take(keep))
            evaluation.scores.add(block.labels[keep], *model.predictions(X))
        if watch is not None:
            watch(evaluation.rows, source.fraction())
    if not evaluation.scores.n:
        raise ValueError(_nothing(evaluation, model))
    evaluation.scores.finish()
    return evaluation


def _nothing(evaluation: Evaluation, model: TableModel) -> str:
    """Return why there is no row to score."""
    where, classes = evaluation.source, listed(repr(label) for label in model.classes_.tolist())
    if evaluation.unknown_labels:
        strange = listed(repr(label) for label, _ in evaluation.unknown_labels.most_common())
        return f"{where}: no row has a label that the model knows; found {strange}, the model knows {classes}"
    if evaluation.incomplete:
        return f"{where}: every labelled row has missing values, so there is nothing to evaluate"
    return f"{where} has no row with a label in the column {model.target!r}; the model knows {classes}"
