"""Answers for every row of a source, in its order, some rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.tables.columns import found, parted
from separatrix.tables.model import TableModel, incomplete, matrix_blocks, reader_for, refuse_unseen
from separatrix.tables.raw_rows import RawRows
from separatrix.tables.reading import ROWS, table_rows
from separatrix.tables.sources.base import MatrixSource, TableSource

PREDICTION = "prediction"
_FEW = 16  # classes


@dataclass
class Answers:
    """What is asked for each row.

    Parameters
    ----------
    scores, proba : bool
        The activations, the probabilities.
    keep : tuple of str
        Columns of the source to pass through; ``("all",)`` for all of them.
    unknown : {"fail", "zero"}
        What to do about a category that the model was not trained on.
    """

    scores: bool = False
    proba: bool = False
    keep: tuple[str, ...] = ()
    unknown: str = "fail"

    def __post_init__(self) -> None:
        if self.unknown not in ("fail", "zero"):
            raise ValueError(f"--unknown must be fail or zero; found {self.unknown!r}")


@dataclass
class Tally:
    """How many rows were answered, and how many could not be because something is missing."""

    rows: int = 0
    unanswered: int = 0


def predict(
    model: TableModel,
    source: TableSource | MatrixSource,
    asked: Answers,
    tally: Tally,
    watch: Callable[[int, float | None], None] | None = None,
) -> Iterator[Any]:
    """Yield Arrow tables of answers; rows that lack a value have none."""
    if asked.proba and not hasattr(model.estimator, "predict_proba"):
        kind = type(model.estimator).__name__
        raise ValueError(f"a {kind} has no probabilities, so --proba cannot be answered; use --scores")
    for raw, kept in _rows(model, source, asked):
        yield _answered(model, raw, kept, asked, tally)
        if watch is not None:
            watch(tally.rows, source.fraction())


def _rows(model: TableModel, source: Any, asked: Answers) -> Iterator[tuple[RawRows, dict[str, Any]]]:
    preparation = model.preparation
    if isinstance(source, MatrixSource):
        if asked.keep:
            raise ValueError(f"--keep names columns, but {source.name} has no column names")
        yield from ((raw, {}) for raw, _ in matrix_blocks(model, source))
        return
    if preparation.anonymous:
        raise ValueError(
            f"the model was trained on numbers without column names ({preparation.anonymous}); {source.name} is a table"
        )
    by_name = {column.name: column for column in source.columns}
    every = tuple(by_name) if asked.keep == ("all",) and "all" not in by_name else parted(asked.keep, by_name)
    keep = [found(source.name, by_name, name, "--keep").name for name in every]
    for name in (PREDICTION, *_more_names(model, asked)):
        if name in keep:
            raise ValueError(f"{source.name} has a column {name!r} already, which cannot be kept beside the answers")
    reader = reader_for(model, source)
    if not keep:
        for raw in table_rows(source, reader):
            if asked.unknown == "fail":
                refuse_unseen(preparation, reader, raw)
            yield raw, {}
        return
    needed = reader.chosen.names
    names = needed + [name for name in keep if name not in needed]
    for batch in source.batches(names, rows=ROWS):
        raw = reader.read(batch)
        if asked.unknown == "fail":
            refuse_unseen(preparation, reader, raw)
        yield raw, {name: batch.column(batch.schema.names.index(name)) for name in keep}


def _answered(model: TableModel, raw: RawRows, kept: dict[str, Any], asked: Answers, tally: Tally) -> Any:
    import pyarrow as pa

    estimator, classes = model.estimator, model.classes_
    lacking = incomplete(model.preparation, raw)
    every = not lacking.any()
    complete = raw if every else raw.take(~lacking)
    tally.rows += len(raw)
    tally.unanswered += len(raw) - len(complete)
    X = model.preparation.matrix(complete, overwrite=True) if len(complete) else None

    def spread(values: Any, kind: Any) -> Any:
        """Put values in the places of their rows; the others have none."""
        if every:
            return pa.array(values, type=kind) if values.dtype.kind != "U" else _texts(values, classes)
        out = np.full(len(raw), None, dtype=object)
        if values is not None:
            out[~lacking] = values.tolist()
        return pa.array(out.tolist(), type=kind)

    columns = {**kept, PREDICTION: spread(None if X is None else estimator.predict(X), pa.array(classes).type)}
    names = _more_names(model, asked)
    more: list[Any] = []
    if X is not None and asked.scores:
        scores = np.asarray(estimator.decision_function(X))
        more += list(scores.reshape(len(complete), -1).T)
    if X is not None and asked.proba:
        more += list(np.asarray(estimator.predict_proba(X)).T)
    for place, name in enumerate(names):
        columns[name] = spread(more[place] if more else None, pa.float64())
    return pa.table(columns)


def _texts(labels: Any, classes: Any) -> Any:
    """Return labels that are texts as an Arrow column: a few comparisons are faster than reading a million texts."""
    import pyarrow as pa

    if len(classes) > _FEW:
        return pa.array(labels)
    codes = np.zeros(len(labels), dtype=np.int32)
    for code, label in enumerate(classes[1:], start=1):
        codes[labels == label] = code
    return pa.array(classes.tolist(), type=pa.string()).take(pa.array(codes))


def score_names(classes: list[Any]) -> list[str]:
    """Return the names of the scores: one for one or two classes, one for each of more.

    Examples
    --------
    >>> score_names(["no", "yes"]), score_names([1, 2, 3])
    (['score'], ['score_1', 'score_2', 'score_3'])
    """
    return ["score"] if len(classes) <= 2 else [f"score_{label}" for label in classes]


def _more_names(model: TableModel, asked: Answers) -> list[str]:
    """Return the names of the columns beside the prediction."""
    labels = model.classes_.tolist()
    names = score_names(labels) if asked.scores else []
    return names + ([f"proba_{label}" for label in labels] if asked.proba else [])
