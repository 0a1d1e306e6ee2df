"""A model of a table: what is done to a row, the estimator, and what is known about how it came to be."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.columns import Chosen
from separatrix.tables.preparation import Preparation
from separatrix.tables.raw_rows import MISSING, UNSEEN, RawRows, join
from separatrix.tables.reading import ROWS, Levels, Reader, all_finite, as_label, check_finite
from separatrix.tables.sources.base import MatrixSource
from separatrix.text import listed


@dataclass
class TableModel:
    """Predicts from raw tables, as ``separatrix fit`` leaves it in a file.

    Attributes
    ----------
    preparation : Preparation
        What is done to each row.
    estimator : object
        The fitted estimator.
    target : str
        The column with the labels.
    weight : str, optional
        The column with the weights.
    facts : dict
        Where it comes from: settings, source, rows, scores, certificate, versions. Plain values only.
    """

    preparation: Preparation
    estimator: Any
    target: str
    weight: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not isinstance(self.preparation, Preparation) or not isinstance(self.facts, dict):
            raise ValueError("a model of a table has a preparation and facts")
        if not isinstance(self.target, str) or not isinstance(self.weight, str | None):
            raise ValueError("target and weight must be names of columns")
        width = getattr(self.estimator, "n_features_in_", None)
        if width != self.preparation.width:
            raise ValueError(f"the estimator takes {width} numbers, but rows become {self.preparation.width}")

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return np.asarray(self.estimator.classes_)

    @property
    def feature_names_in_(self) -> list[str]:
        """The columns that it needs."""
        return [feature.name for feature in self.preparation.features]

    def example_row(self) -> Any:
        """Return a made-up row that it can be asked about."""
        preparation = self.preparation
        if preparation.anonymous:
            return np.zeros((1, preparation.width))
        import pyarrow as pa

        cells = {"number": [0.0], "text": ["a"]}
        return pa.table({each.name: cells.get(each.role) or [each.levels[0]] for each in preparation.features})

    def predict(self, table: Any) -> NDArray[Any]:
        """Return the class of each row of a frame or Arrow table with the columns of fit, or of a matrix."""
        return np.asarray(self.estimator.predict(self._matrix(table)))

    def decision_function(self, table: Any) -> Floats:
        """Return the activation of each row."""
        return np.asarray(self.estimator.decision_function(self._matrix(table)))

    @property
    def predict_proba(self) -> Callable[[Any], Floats]:
        """Gives the probability of each class for each row; only there if the estimator has them."""
        own = self.estimator.predict_proba
        return lambda table: np.asarray(own(self._matrix(table)))

    def _matrix(self, table: Any) -> Any:
        raw = self._read(table)
        lacking = incomplete(self.preparation, raw)
        if lacking.any():
            row = int(np.flatnonzero(lacking)[0])
            raise ValueError(f"row {row + 1:,} lacks a value that the model needs; leave such rows out")
        return self.preparation.matrix(raw)

    def _read(self, table: Any) -> RawRows:
        if self.preparation.anonymous:
            X = table if is_sparse(table) else np.asarray(table, dtype=np.float64)
            check_width(self.preparation, X, "the matrix")
            return RawRows(X, np.empty((X.shape[0], 0), dtype=np.int32))
        import pyarrow as pa

        from separatrix.tables.sources.in_memory import TableInMemory

        if hasattr(table, "to_arrow"):
            table = table.to_arrow()
        elif hasattr(table, "iloc"):
            table = pa.Table.from_pandas(table, preserve_index=False)
        elif isinstance(table, pa.RecordBatch):
            table = pa.Table.from_batches([table])
        if not isinstance(table, pa.Table):
            raise TypeError(
                f"a frame or an Arrow table with the columns of fit is needed; found {type(table).__name__}"
            )
        source = TableInMemory(table, "the table")
        reader = reader_for(self, source)
        parts = []
        for batch in source.batches(reader.chosen.names):
            parts.append(reader.read(batch))
            refuse_unseen(self.preparation, reader, parts[-1])
        return join(parts)


def incomplete(preparation: Preparation, raw: RawRows) -> NDArray[np.bool_]:
    """Return which rows lack something that cannot be filled in."""
    if preparation.missing == "mean" or is_sparse(raw.numbers):
        return np.zeros(len(raw), dtype=bool)
    gone = (raw.codes == MISSING).any(axis=1)
    if not all_finite(raw.numbers):
        gone |= np.isnan(raw.numbers).any(axis=1)
    for texts in raw.texts:
        if not is_sparse(texts):
            gone |= np.array([text is None for text in texts], dtype=bool)
    return np.asarray(gone)


def check_width(preparation: Preparation, X: Any, where: str) -> None:
    """Refuse rows of another width; sparse ones may be narrower."""
    if X.shape[1] > preparation.width or (X.shape[1] < preparation.width and not is_sparse(X)):
        raise ValueError(f"{where} has {X.shape[1]:,} features; the model was trained on {preparation.width:,}")


def reader_for(model: TableModel, source: Any, *, labels: bool = False) -> Reader:
    """Return a reader of the model's columns in a table, or say which column is absent or of another kind."""
    by_name = {column.name: column for column in source.columns}
    preparation = model.preparation
    needed = [feature.name for feature in preparation.features]
    needed += [model.target] if labels else []
    needed += [model.weight] if labels and model.weight else []
    absent = [name for name in needed if name not in by_name]
    if absent:
        which = f"column {absent[0]!r}" if len(absent) == 1 else f"columns {listed(repr(name) for name in absent)}"
        raise ValueError(
            f"{source.name} has no {which}, which the model was trained on; its columns are {listed(by_name)}"
        )
    numbers = [feature.name for feature in preparation.role("number")]
    source.read_as(numbers, [feature.name for feature in preparation.features if feature.role != "number"])
    by_name = {column.name: column for column in source.columns}
    for name in numbers:
        column = by_name[name]
        if column.kind in ("date", "flag"):
            raise ValueError(
                f"{source.name}, column {name!r} holds {column.type} where the model was trained on numbers"
            )
    roles = {role: tuple(by_name[f.name] for f in preparation.role(role)) for role in ("number", "category", "text")}
    target = by_name[model.target] if labels else None
    weight = by_name[model.weight] if labels and model.weight else None
    chosen = Chosen(roles["number"], roles["category"], roles["text"], tuple(needed), target, weight)
    levels = [Levels(source.name, f.name, known=f.levels) for f in preparation.role("category")]
    classes = Levels(source.name, model.target) if labels else None
    return Reader(source.name, chosen, levels, classes)


def refuse_unseen(preparation: Preparation, reader: Reader, raw: RawRows) -> None:
    """Say in which of the rows read last the first category stands that the model does not know."""
    unseen = raw.codes == UNSEEN
    if not unseen.any():
        return
    row, place = (int(k) for k in np.argwhere(unseen)[0])
    feature = preparation.role("category")[place]
    at = f"{reader.where}, row {reader.rows - len(raw) + row + 1:,}, column {feature.name!r}"
    raise ValueError(
        f"{at} holds a text that the model was not trained on, as {reader.levels[place].unseen!r}; it knows "
        f"{listed(repr(level) for level in feature.levels)} (--unknown zero takes it for none of them)"
    )


def matrix_blocks(model: TableModel, source: MatrixSource, *, labels: bool = False) -> Iterator[tuple[RawRows, Any]]:
    """Yield the rows of a matrix as a model that was trained on one reads them, and their labels if they are wanted."""
    preparation = model.preparation
    if not preparation.anonymous:
        raise ValueError(
            f"the model was trained on the columns {listed(model.feature_names_in_)}; {source.name} has no column names"
        )
    row = 1
    for X, y in source.blocks(ROWS):
        if y is None and X.shape[1] == preparation.width + 1 and (place := column_number(model.target)) is not None:
            X, y = without_column(X, place)
        if labels and y is None:
            raise ValueError(f"{source.name} holds no labels to learn from")
        check_width(preparation, X, source.name)
        check_finite(source.name, X, [], row)
        row += X.shape[0]
        yield (
            RawRows(X, np.empty((X.shape[0], 0), dtype=np.int32)),
            None if y is None else [as_label(v) for v in y.tolist()],
        )


def column_number(name: str | None) -> int | None:
    """Return the number of a column without a name, as in ``-1`` for the last; None if it is no number."""
    try:
        return int(name or "")
    except ValueError:
        return None


def without_column(X: Any, place: int) -> tuple[Any, NDArray[np.float64]]:
    """Return a dense matrix without one of its columns, and that column."""
    return np.delete(X, place, axis=1), np.asarray(X[:, place], dtype=np.float64)


def stored_certificate(facts: dict[str, Any]) -> Any:
    """Return the certificate that a model file holds, None if it holds none."""
    import json

    from separatrix.certificates.multiclass import from_json

    if facts.get("certificate") is None:
        return None
    return from_json(json.dumps(facts["certificate"]))
