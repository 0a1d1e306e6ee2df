"""The one loop over the rows of a source as a model reads them: for predict, update, reports and whole tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.arrow_columns import as_label
from separatrix.tables.columns import ChosenColumns
from separatrix.tables.levels import Levels
from separatrix.tables.preparation import ROLES, Preparation
from separatrix.tables.raw_rows import MISSING, UNSEEN, RawRows
from separatrix.tables.reading import (
    ROWS,
    Reader,
    all_finite,
    check_finite,
    column_number,
    table_rows,
    without_column,
)
from separatrix.tables.sources.base import MatrixSource
from separatrix.tables.sources.dialect import header_hint
from separatrix.text import listed

UNKNOWN = ("zero", "null", "fail")


def check_unknown(unknown: str) -> None:
    """Refuse a word that does not say what to do about a category that the model was not trained on."""
    if unknown not in UNKNOWN:
        raise ValueError(f"--unknown must be one of {', '.join(UNKNOWN)}; found {unknown!r}")


@dataclass
class Block:
    """Some rows of a source.

    Attributes
    ----------
    raw : RawRows
        The rows, categories as codes of the model's levels.
    incomplete : array of bool
        Which rows have missing values that are not imputed: they have no prediction.
    labels : array or None
        Codes of the labels: places in ``ModelRows.labels``, -1 where one is missing; None where none are read.
    kept : dict
        Columns of the source to pass through, by name.
    """

    raw: RawRows
    incomplete: NDArray[np.bool_]
    labels: NDArray[np.int32] | None = None
    kept: dict[str, Any] = field(default_factory=dict)

    @property
    def labelled(self) -> NDArray[np.bool_]:
        """Which rows are complete and have a label."""
        assert self.labels is not None
        return np.asarray(~self.incomplete & (self.labels != MISSING))


class ModelRows:
    """Reads the rows of a source as a model needs them.

    Parameters
    ----------
    model : TableModel
        The model.
    source : TableSource or MatrixSource
        The rows.
    labels : {"no", "need", "if there"}
        Whether to read the labels (and sample weights).
    unknown : {"zero", "null", "fail"}
        What to do about a category that the model was not trained on: encode it as none of the known ones, leave the
        row without a prediction, or fail. Where rare levels were pooled in fit, it is one of those.
    keep : sequence of str
        Columns of the source to pass through.

    Attributes
    ----------
    labels : list
        The classes of the model, then new labels in the order in which they appear.
    unknown_rows : dict
        How many of the rows so far have a category that the model was not trained on, by column.
    imputed : dict
        How many values were missing in the rows so far that have a prediction, and are imputed, by column.
    """

    def __init__(
        self, model: Any, source: Any, *, labels: str = "no", unknown: str = "zero", keep: Sequence[str] = ()
    ) -> None:
        check_unknown(unknown)
        self._model, self._source, self._unknown, self._keep = model, source, unknown, list(keep)
        self._needed = labels == "need"
        self.unknown_rows: dict[str, int] = {}
        self.imputed: dict[str, int] = {}
        self.labels: list[Any] = model.classes_.tolist()
        self._codes = {label: code for code, label in enumerate(self.labels)}
        preparation = model.preparation
        self._matrix = isinstance(source, MatrixSource)
        if self._matrix != bool(preparation.anonymous):
            raise ValueError(_mismatch(model, source))
        if self._matrix and keep:
            raise ValueError(f"--keep names columns, but {source.name} has no column names")
        there = self._matrix or model.target in {column.name for column in source.columns}
        self.labelled = labels == "need" or (labels == "if there" and there)

    def __iter__(self) -> Iterator[Block]:
        return self._matrix_blocks() if self._matrix else self._table_blocks()

    def _table_blocks(self) -> Iterator[Block]:
        preparation = self._model.preparation
        reader = reader_for(self._model, self._source, labels=self.labelled)
        for raw, kept in self._raw_rows(reader):
            unseen = self._unseen(reader, raw)
            labels = None
            if raw.labels is not None and reader.classes is not None:
                labels = self._coded(list(reader.classes.codes), raw.labels)
            gone = incomplete(preparation, raw)
            gone = gone if unseen is None else gone | unseen
            self._count_imputed(reader, raw, gone)
            yield Block(raw, gone, labels, kept)

    def _unseen(self, reader: Reader, raw: RawRows) -> NDArray[np.bool_] | None:
        """Count categories that the model was not trained on; return the rows that have no prediction for that."""
        if not len(raw.codes) or raw.codes.min(initial=0) > UNSEEN:
            return None
        categories = self._model.preparation.role("category")
        unseen = (raw.codes == UNSEEN) & ~np.array([feature.pooled for feature in categories])
        if not unseen.any():
            return None
        if self._unknown == "fail":
            refuse_unseen(categories, reader, unseen)
        for feature, n in zip(categories, unseen.sum(axis=0).tolist(), strict=True):
            if n:
                self.unknown_rows[feature.name] = self.unknown_rows.get(feature.name, 0) + n
        return np.asarray(unseen.any(axis=1)) if self._unknown == "null" else None

    def _count_imputed(self, reader: Reader, raw: RawRows, gone: NDArray[np.bool_]) -> None:
        """Count the missing values of rows that have a prediction, as all have that are not ``gone``."""
        if self._model.preparation.imputes:
            features = {feature.name for feature in self._model.preparation.features}
            for name, rows in reader.missing(raw).items():
                if name in features and (n := int((rows & ~gone).sum())):
                    self.imputed[name] = self.imputed.get(name, 0) + n

    def _raw_rows(self, reader: Reader) -> Iterator[tuple[RawRows, dict[str, Any]]]:
        if not self._keep:
            yield from ((raw, {}) for raw in table_rows(self._source, reader))
            return
        needed = reader.chosen.names
        names = needed + [name for name in self._keep if name not in needed]
        for batch in self._source.batches(names, rows=ROWS):
            kept = {name: batch.column(batch.schema.names.index(name)) for name in self._keep}
            yield reader.read(batch), kept

    def _matrix_blocks(self) -> Iterator[Block]:
        model, source, row = self._model, self._source, 1
        preparation, place = model.preparation, column_number(model.target)
        for X, y in source.blocks(ROWS):
            if y is None and X.shape[1] == preparation.width + 1 and place is not None:
                X, y = without_column(X, place)
            if self._needed and y is None:
                raise ValueError(f"{source.name} has no labels")
            check_width(preparation, X, source.name)
            check_finite(source.name, X, [], row)
            row += X.shape[0]
            raw = RawRows(X, np.empty((X.shape[0], 0), dtype=np.int32))
            labels = None
            if self.labelled and y is not None:
                values, places = np.unique(y, return_inverse=True)
                labels = self._coded([as_label(value) for value in values.tolist()], places)
            yield Block(raw, incomplete(preparation, raw), labels)

    def _coded(self, values: list[Any], places: NDArray[Any]) -> NDArray[np.int32]:
        """Return codes of labels given as places in a list of values, the last place being a missing one."""
        table = [MISSING if value is None else self._code(self._own(value)) for value in values]
        return np.asarray(np.array([*table, MISSING], dtype=np.int32)[places])

    def _code(self, label: Any) -> int:
        if label not in self._codes:
            self._codes[label] = len(self.labels)
            self.labels.append(label)
        return self._codes[label]

    def _own(self, label: Any) -> Any:
        """Return a label as the model has it, where a file writes it in another way: 1.0 for 1, 0.5 for '0.5'."""
        if label in self._codes:
            return self.labels[self._codes[label]]
        plain = as_label(label)
        named = isinstance(self.labels[0], str)
        return str(plain) if named and not isinstance(plain, str) else plain


def _mismatch(model: Any, source: Any) -> str:
    if model.preparation.anonymous:
        kind = model.preparation.anonymous
        return f"the model was trained on numbers without column names ({kind}), but {source.name} is a table"
    columns = listed(model.feature_names_in_)
    return f"the model was trained on the columns {columns}, but {source.name} has no column names"


def incomplete(preparation: Preparation, raw: RawRows) -> NDArray[np.bool_]:
    """Return which rows have missing values that are not imputed."""
    if preparation.imputes or is_sparse(raw.numbers):
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


def reader_for(model: Any, source: Any, *, labels: bool = False) -> Reader:
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
            f"{header_hint(absent, by_name)}"
        )
    numbers = [feature.name for feature in preparation.role("number") if not feature.notation]
    source.read_as(numbers, [feature.name for feature in preparation.features if feature.name not in set(numbers)])
    by_name = {column.name: column for column in source.columns}
    for name in numbers:
        column = by_name[name]
        if column.kind in ("date", "flag"):
            raise ValueError(f"{source.name}, column {name!r} is {column.type}, but the model was trained on numbers")
    for feature in preparation.role("date"):
        if (column := by_name[feature.name]).kind not in ("date", "text", "number"):
            raise ValueError(
                f"{source.name}, column {column.name!r} is {column.type}, but the model was trained on dates"
            )
    roles = {role: tuple(by_name[f.name] for f in preparation.role(role)) for role in ROLES}
    target = by_name[model.target] if labels else None
    weight = by_name[model.weight] if labels and model.weight else None
    chosen = ChosenColumns(
        roles["number"], roles["category"], roles["text"], tuple(needed), target, weight, dates=roles["date"],
        notations={feature.name: feature.notation for feature in preparation.features if feature.notation},
        parts={feature.name: feature.parts for feature in preparation.role("date")},
    )  # fmt: skip
    levels = [Levels(source.name, f.name, known=f.levels) for f in preparation.role("category")]
    classes = Levels(source.name, model.target) if labels else None
    return Reader(source.name, chosen, levels, classes)


def refuse_unseen(categories: Sequence[Any], reader: Reader, unseen: NDArray[np.bool_]) -> None:
    """Say in which of the rows read last the first category appears that the model was not trained on."""
    row, place = (int(k) for k in np.argwhere(unseen)[0])
    feature = categories[place]
    at = f"{reader.where}, row {reader.rows - len(unseen) + row + 1:,}, column {feature.name!r}"
    raise ValueError(
        f"{at}: the model was not trained on the category {reader.levels[place].unseen!r}; it knows "
        f"{listed(repr(level) for level in feature.levels)} (--unknown zero encodes it as none of these, --unknown "
        "null leaves the row without a prediction)"
    )
