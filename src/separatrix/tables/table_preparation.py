"""``sx.TablePreparation``: what ``separatrix fit`` does to a table, as a transformer of scikit-learn."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from separatrix.files import ScratchFolder
from separatrix.tables.collect import collect
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.frames import as_arrow
from separatrix.tables.memory import available
from separatrix.tables.prepare import LearnedPreparation, learn_preparation, notes
from separatrix.tables.raw_rows import RawRows, join
from separatrix.tables.rows import ModelRows, incomplete
from separatrix.tables.settings import COPIES
from separatrix.tables.sources.in_memory import TableInMemory
from separatrix.tables.store import MemoryRows

if TYPE_CHECKING:
    from typing_extensions import Self


class TablePreparation(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Turn the rows of a table into numbers, as the command line does before it trains.

    Numbers are scaled, categories one-hot encoded, dates become their parts and texts bags of words; missing values are
    imputed. What a column is shows in its values, unless an option names it. Frames of pandas and polars and Arrow
    tables are taken.

    Parameters
    ----------
    missing : {"impute", "drop", "mean", "fail"}, default="impute"
        Missing values: impute the median with a feature that says so, a missing category being a level of its own;
        impute the mean, a missing category being all zeros; or fail. "drop" learns from the other rows, and refuses to
        transform one with missing values.
    scale : {"standard", "minmax", "none"}, default="standard"
        How numbers are scaled.
    max_levels : int, default=100
        Of more levels in a category column, the most frequent are one-hot encoded and the others pooled.
    category, number, date, text, exclude : sequences of str
        Columns that are categories, numbers, dates or texts whatever they look like, and those to leave out.
    dates : {"parts", "seconds", "drop"}, default="parts"
        Dates as their parts, as seconds since 1970, or not at all.
    text_method : {"tfidf", "hashed"}, default="tfidf"
        Unigrams and bigrams weighted by tf-idf, or hashed.
    target_encode : sequence of str
        Categories that become the share of each class among the rows that have the level, as by scikit-learn's
        TargetEncoder; ``fit`` then needs the labels, and ``fit_transform`` encodes by cross-fitting.
    random_state : int, default=0
        Random seed of the folds of cross-fitting.
    decimal : {"", ".", ","}, default=""
        The decimal mark of numbers that are text, where 1.549 or 1,549 could be either; by default as the columns show.

    Attributes
    ----------
    preparation_ : Preparation
        What is done to each row.
    feature_names_in_ : array of str
        The columns that are used.
    notes_ : tuple of str
        What was found out about the columns, in sentences.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"size": [1.0, None, 3.0], "colour": ["red", "blue", None]})
    >>> steps = TablePreparation(scale="none").fit(table)
    >>> steps.get_feature_names_out().tolist()
    ['size', 'size missing', 'colour=blue', 'colour=red', 'colour=(missing)']
    >>> steps.transform(table).tolist()
    [[1.0, 0.0, 0.0, 1.0, 0.0], [2.0, 1.0, 1.0, 0.0, 0.0], [3.0, 0.0, 0.0, 0.0, 1.0]]
    """

    stored_within = (
        "a model file holds one only within a model of a table, which separatrix fit writes: save it so, or keep the "
        "pipeline with pickle"
    )  # for the refusal of sx.save

    def __init__(
        self,
        *,
        missing: str = "impute",
        scale: str = "standard",
        max_levels: int = 100,
        category: Sequence[str] = (),
        number: Sequence[str] = (),
        date: Sequence[str] = (),
        text: Sequence[str] = (),
        exclude: Sequence[str] = (),
        dates: str = "parts",
        text_method: str = "tfidf",
        target_encode: Sequence[str] = (),
        random_state: int = 0,
        decimal: str = "",
    ) -> None:
        self.missing, self.scale, self.max_levels = missing, scale, max_levels
        self.category, self.number, self.date, self.text, self.exclude = category, number, date, text, exclude
        self.dates, self.text_method = dates, text_method
        self.target_encode, self.random_state, self.decimal = target_encode, random_state, decimal

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn what is to be done to each row of a frame or Arrow table.

        Parameters
        ----------
        X : frame of pandas or polars, or Arrow table
            The rows; without the target.
        y : array, optional
            The labels, which ``target_encode`` needs.
        """
        self._learn(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Learn from rows and return their numbers; target-encoded columns by cross-fitting."""
        made, raw = self._learn(X, y)
        return made.training_matrix(raw, self.random_state) if self.target_encode else self.transform(X)

    def _learn(self, X: Any, y: Any) -> tuple[LearnedPreparation, RawRows]:
        """Learn what is to be done to each row; return it, and the rows."""
        options = ColumnOptions(
            exclude=tuple(self.exclude), text=tuple(self.text), text_method=self.text_method, missing=self.missing,
            scale=self.scale, max_levels=self.max_levels, category=tuple(self.category), number=tuple(self.number),
            date=tuple(self.date), dates=self.dates, target_encode=tuple(self.target_encode),
            decimal=self.decimal,
        )  # fmt: skip
        with ScratchFolder() as folder:
            source = TableInMemory(as_arrow(X), "the table")
            data = collect(source, options, limit=available() * COPIES, folder=folder, labelled=False)
        assert isinstance(data.rows, MemoryRows)
        raw = data.rows.raw
        if options.target_encode:
            if y is None or len(y) != len(raw):
                rows = "none" if y is None else f"{len(y):,} for {len(raw):,} rows without missing values"
                raise ValueError(f"target_encode needs the label of each row, y; found {rows}")
            classes, codes = np.unique(np.asarray(y), return_inverse=True)
            data.classes, raw = classes.tolist(), replace(raw, labels=codes.astype(np.int32))
        made = learn_preparation(data, options, raw)
        self.preparation_ = made.preparation
        self.notes_ = (*notes(data, made.preparation), *made.warnings)
        self.feature_names_in_ = np.array([each.name for each in made.preparation.features], dtype=object)
        self.n_features_in_ = len(self.feature_names_in_)
        return made, raw

    def transform(self, X: Any) -> Any:
        """Return the numbers of each row: an array, or a CSR matrix where most of them are 0."""
        check_is_fitted(self)
        model = SimpleNamespace(preparation=self.preparation_, classes_=np.array([]), target=None, weight=None)
        raw = join([block.raw for block in ModelRows(model, TableInMemory(as_arrow(X), "the table"))])
        gone = incomplete(self.preparation_, raw)
        if gone.any():
            row = int(np.flatnonzero(gone)[0]) + 1
            raise ValueError(f"row {row:,} has missing values; drop such rows, or use missing='impute'")
        return self.preparation_.matrix(raw)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the numbers."""
        check_is_fitted(self)
        return np.array(self.preparation_.names, dtype=object)
