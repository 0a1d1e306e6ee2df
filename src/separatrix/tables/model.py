"""A model of a table: what is done to a row, the estimator, and what is known about how it came to be."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.models.probing import probe
from separatrix.models.validity import is_array
from separatrix.tables.arrow_columns import number_column, text_column
from separatrix.tables.calibration import Calibration
from separatrix.tables.facts import Facts
from separatrix.tables.frames import as_arrow
from separatrix.tables.levels import Levels
from separatrix.tables.preparation import Preparation
from separatrix.tables.raw_rows import RawRows, join
from separatrix.tables.rows import ModelRows, check_width, incomplete
from separatrix.tables.scores import Predictions, predictions
from separatrix.tables.thresholds import Threshold
from separatrix.text import html_table, listed, times


@dataclass(repr=False)
class TableModel:
    """Predicts from raw tables, as ``separatrix fit`` stores it in a file.

    Attributes
    ----------
    preparation : Preparation
        What is done to each row.
    estimator : object
        The fitted estimator.
    target : str
        The column with the labels.
    weight : str, optional
        The column with the sample weights.
    facts : Facts
        How it came to be: settings, source, rows, scores, certificate, versions.
    deviations : array, optional
        The standard deviation of each feature, as the estimator sees it, in the rows of the fit; None where it is not
        known. An update does not change it, nor the scaling.
    calibration : Calibration, optional
        From scores to probabilities, for an estimator without probabilities of its own.
    threshold : Threshold, optional
        From which score on a row is of the second of two classes; without it, from 0 on.
    """

    preparation: Preparation
    estimator: Any
    target: str
    weight: str | None = None
    facts: Facts = field(default_factory=Facts)
    deviations: Floats | None = None
    calibration: Calibration | None = None
    threshold: Threshold | None = None

    def __post_init__(self) -> None:
        if isinstance(self.facts, dict):  # as version 0.1 stored them
            self.facts = Facts.from_dict(self.facts)
        if not isinstance(self.preparation, Preparation) or not isinstance(self.facts, Facts):
            raise ValueError("a model of a table has a preparation and facts")
        if not isinstance(self.target, str) or not isinstance(self.weight, str | None):
            raise ValueError("target and weight must be names of columns")
        width = getattr(self.estimator, "n_features_in_", None)
        if width != self.preparation.width:
            raise ValueError(f"the estimator takes {width} numbers, but rows become {self.preparation.width}")
        spread = self.deviations
        if spread is not None and not (is_array(spread, "f8", (width,)) and (spread >= 0).all()):
            raise ValueError(f"the standard deviations must be {width} numbers, none of them negative")
        if not isinstance(self.calibration, Calibration | None) or not isinstance(self.threshold, Threshold | None):
            raise ValueError("a calibration and a threshold must be of their own classes")
        n_classes = len(getattr(self.estimator, "classes_", ()))
        if self.calibration is not None and self.calibration.n_scores != (1 if n_classes <= 2 else n_classes):
            raise ValueError(f"the calibration is of {self.calibration.n_scores} scores, not of {n_classes} classes")
        if self.threshold is not None and n_classes != 2:
            raise ValueError(f"a threshold is for two classes; the model has {n_classes}")

    def __repr__(self) -> str:
        estimator, target, features, classes = self._described().values()
        return f"<TableModel: {estimator}, target {target}, {features}, classes {classes}>"

    def _repr_html_(self) -> str:
        cells = self._described()
        return html_table(list(cells), [list(cells.values())])

    def _described(self) -> dict[str, str]:
        """Return what it is in a few words: no list in it is longer than a line."""
        preparation, classes = self.preparation, self.classes_.tolist()
        columns = "" if preparation.anonymous else f"{times(len(preparation.features), 'column')} as "
        return {
            "estimator": type(self.estimator).__name__,
            "target": repr(listed([self.target])),
            "features": f"{columns}{times(preparation.width, 'feature')}",
            "classes": f"{len(classes)} ({listed([str(label) for label in classes], 3)})",
        }

    def __sklearn_clone__(self) -> TableModel:
        return self  # it is fitted, and has no ``fit`` of its own

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels, sorted."""
        return np.asarray(self.estimator.classes_)

    @property
    def feature_names_in_(self) -> list[str]:
        """The columns that it needs."""
        return [feature.name for feature in self.preparation.features]

    @property
    def certificate(self) -> Any:
        """The certificate that it was stored with, None if there is none."""
        from separatrix.certificates.multiclass import from_json

        stored = self.facts.certificate
        return None if stored is None else from_json(json.dumps(stored))

    def example_row(self) -> Any:
        """Return a made-up row to predict."""
        preparation = self.preparation
        if preparation.anonymous:
            return np.zeros((1, preparation.width))
        zero = np.zeros(1)
        if all(each.role in ("number", "category") and not each.notation for each in preparation.features):
            codes = [  # as of a plain CSV file, for which Arrow is not imported
                Levels("the table", each.name, known=each.levels).translate([str(each.levels[0])], zero.astype(int), 1)
                for each in preparation.role("category")
            ]
            numbers = np.zeros((1, len(preparation.role("number"))))
            return RawRows(numbers, np.array(codes, dtype=np.int32).reshape(1, len(codes)))
        import pyarrow as pa

        cells = {
            "number": number_column(zero),
            "text": text_column(["a"]),
            "date": number_column(zero.astype("M8[us]")),
        }
        features = preparation.features
        return pa.table({each.name: cells.get(each.role) or text_column([str(each.levels[0])]) for each in features})

    def validate(self) -> None:
        """Refuse a model that cannot predict; its parts have been checked."""
        probe(self)

    def predict(self, table: Any) -> NDArray[Any]:
        """Return the class of each row of a frame or Arrow table with the columns of fit, or of a matrix."""
        return np.asarray(self.classes_[self._predict_codes(self._matrix(table))])

    def decision_function(self, table: Any) -> Floats:
        """Return the activation of each row."""
        return np.asarray(self.estimator.decision_function(self._matrix(table)))

    @property
    def predict_proba(self) -> Callable[[Any], Floats]:
        """Returns the probability of each class for each row; only there if the model is calibrated or has its own."""
        if not self.has_probabilities:
            raise AttributeError(f"a {type(self.estimator).__name__} has no probabilities unless it is calibrated")
        return lambda table: self._probabilities(self._matrix(table))

    @property
    def has_probabilities(self) -> bool:
        """Whether there are probabilities: by calibration, or the estimator's own."""
        return self.calibration is not None or hasattr(self.estimator, "predict_proba")

    def predictions(self, X: Any) -> Predictions:
        """Return the codes, scores and probabilities (None without) of prepared rows."""
        made = predictions(self.estimator, X)
        codes = made.codes if self.threshold is None else self.threshold.codes(made.scores)
        proba = made.proba if self.calibration is None else self.calibration.probabilities(made.scores)
        return Predictions(codes, made.scores, proba)

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Return the place in ``classes_`` of each prepared row's class."""
        if self.threshold is None:
            return np.asarray(self.estimator._predict_codes(X))
        return self.threshold.codes(self.estimator.decision_function(X))

    def _probabilities(self, X: Any) -> Floats:
        """Return the probability of each class for each prepared row."""
        if self.calibration is None:
            return np.asarray(self.estimator.predict_proba(X))
        return self.calibration.probabilities(self.estimator.decision_function(X))

    def _matrix(self, table: Any) -> Any:
        raw = self._read(table)
        missing = incomplete(self.preparation, raw)
        if missing.any():
            row = int(np.flatnonzero(missing)[0])
            raise ValueError(f"row {row + 1:,} has missing values; drop such rows, or impute them")
        return self.preparation.matrix(raw)

    def _read(self, table: Any) -> RawRows:
        if isinstance(table, RawRows):
            return table
        if self.preparation.anonymous:
            X = table if is_sparse(table) else np.asarray(table, dtype=np.float64)
            check_width(self.preparation, X, "the matrix")
            return RawRows(X, np.empty((X.shape[0], 0), dtype=np.int32))
        from separatrix.tables.sources.in_memory import TableInMemory

        return join([block.raw for block in ModelRows(self, TableInMemory(as_arrow(table), "the table"))])
