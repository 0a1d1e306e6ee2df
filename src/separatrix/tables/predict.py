"""Predictions for every row of a source, in its order, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix.tables.arrow_columns import number_column, text_column
from separatrix.tables.columns import column_called, separated
from separatrix.tables.model import TableModel
from separatrix.tables.rows import Block, ModelRows, check_unknown
from separatrix.tables.sources.base import MatrixSource, TableSource

PREDICTION = "prediction"


@dataclass(frozen=True)
class PredictOptions:
    """What to write for each row.

    Parameters
    ----------
    scores, proba : bool
        Add the activations, the probabilities.
    keep : tuple of str
        Columns of the source to pass through; ``("all",)`` for all.
    unknown : {"zero", "null", "fail"}
        What to do about a category that the model was not trained on: encode it as none of the known ones, leave the
        row without a prediction, or fail.
    """

    scores: bool = False
    proba: bool = False
    keep: tuple[str, ...] = ()
    unknown: str = "zero"

    def __post_init__(self) -> None:
        check_unknown(self.unknown)


@dataclass
class PredictionCounts:
    """How many rows there were, how many have no prediction because values are missing, and what was imputed.

    ``imputed`` and ``unknown`` count values by column.
    """

    rows: int = 0
    incomplete: int = 0
    imputed: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, int] = field(default_factory=dict)


def predict(
    model: TableModel,
    source: TableSource | MatrixSource,
    options: PredictOptions,
    counts: PredictionCounts,
    watch: Callable[[int, float | None], None] | None = None,
) -> Iterator[Any]:
    """Yield Arrow tables of predictions; those of rows with missing values are null."""
    if options.proba and not model.has_probabilities:
        raise ValueError(_without_probabilities(model))
    rows = ModelRows(model, source, unknown=options.unknown, keep=_kept_columns(model, source, options))
    counts.unknown, counts.imputed = rows.unknown_rows, rows.imputed
    for block in rows:
        yield _predicted(model, block, options, counts)
        if watch is not None:
            watch(counts.rows, source.fraction())


def _without_probabilities(model: TableModel) -> str:
    """Return that a model has no probabilities, why, and what fits one that has."""
    facts = model.facts
    if facts.on_disk:
        own = (
            "it was trained on rows on disk, where scores are not calibrated; fit --model logistic has "
            "probabilities there, and with more --memory every model"
        )
    elif facts.calibrated is not None:
        own = "update learned a new class, which its calibration does not know; fit it again, to all rows"
    elif facts.settings.calibrate == "none":
        own = "it was fitted with --calibrate none; fit it again without, or with --calibrate sigmoid"
    else:
        own = "fit it again, with --calibrate sigmoid, which says so if the rows do not allow it"
    kind = type(model.estimator).__name__
    return f"--proba: this {kind} has no probabilities: {own}. --scores writes its scores"


def _kept_columns(model: TableModel, source: Any, options: PredictOptions) -> list[str]:
    if isinstance(source, MatrixSource):
        return list(options.keep)
    by_name = {column.name: column for column in source.columns}
    all_ = options.keep == ("all",) and "all" not in by_name
    wanted = tuple(by_name) if all_ else separated(options.keep, by_name)
    keep = [column_called(source.name, by_name, name, "--keep").name for name in wanted]
    for name in (PREDICTION, *_more_names(model, options)):
        if name in keep:
            raise ValueError(f"{source.name} already has a column {name!r}, so --keep cannot pass it through")
    return keep


def _predicted(model: TableModel, block: Block, options: PredictOptions, counts: PredictionCounts) -> Any:
    import pyarrow as pa

    missing = block.incomplete
    complete = block.raw.take(~missing)
    counts.rows += len(block.raw)
    counts.incomplete += len(block.raw) - len(complete)
    X = model.preparation.matrix(complete, overwrite=True) if len(complete) else None
    places = np.flatnonzero(~missing) if missing.any() else None

    def in_place(values: Any) -> Any:
        """Return an Arrow column with the values in the places of their rows; the others are null."""
        column = number_column(values)
        if places is None:
            return column
        where = np.full(len(block.raw), -1)
        where[places] = np.arange(len(places))
        return column.take(number_column(where, where < 0))

    codes = np.empty(0, dtype=np.int32) if X is None else np.asarray(model._predict_codes(X), dtype=np.int32)
    columns = {**block.kept, PREDICTION: _labels(model).take(in_place(codes))}
    values: list[Any] = []
    if options.scores and X is not None:
        values += list(np.asarray(model.estimator.decision_function(X)).reshape(len(complete), -1).T)
    if options.proba and X is not None:
        values += list(model._probabilities(X).T)
    for place, name in enumerate(_more_names(model, options)):
        columns[name] = in_place(np.ascontiguousarray(values[place]) if values else np.empty(0))
    return pa.table(columns)


def _labels(model: TableModel) -> Any:
    """Return the classes as an Arrow column; true and false as the file had them that the model was trained on."""
    import pyarrow as pa

    classes, flags = model.classes_, model.facts.flags
    if classes.dtype.kind == "b" and flags:
        return text_column([flags[int(label)] for label in classes.tolist()])
    if classes.dtype.kind in "iuf":
        return number_column(classes)
    return text_column(classes.tolist()) if classes.dtype.kind == "U" else pa.array(classes)


def score_names(classes: list[Any]) -> list[str]:
    """Return the names of the scores: one for one or two classes, one for each of more.

    Examples
    --------
    >>> score_names(["no", "yes"]), score_names([1, 2, 3])
    (['score'], ['score_1', 'score_2', 'score_3'])
    """
    return ["score"] if len(classes) <= 2 else [f"score_{label}" for label in classes]


def proba_names(classes: list[Any]) -> list[str]:
    """Return the names of the probabilities, one for each class."""
    return [f"proba_{label}" for label in classes]


def _more_names(model: TableModel, options: PredictOptions) -> list[str]:
    """Return the names of the columns beside the prediction."""
    labels = model.classes_.tolist()
    if model.facts.flags and all(isinstance(label, bool) for label in labels):
        labels = [model.facts.flags[label] for label in labels]
    names = score_names(labels) if options.scores else []
    return names + (proba_names(labels) if options.proba else [])
