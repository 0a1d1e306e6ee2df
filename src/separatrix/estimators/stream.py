"""Streams: a model that learns from one row after the other, and predicts in between, in microseconds."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np

from separatrix import _core
from separatrix.estimators.linear import RuleClassifier
from separatrix.estimators.row_columns import Columns
from separatrix.geometry.rows import Floats
from separatrix.loop.one_row import OneRow

Model = TypeVar("Model")
_SAMPLE = 256  # rows of which the moments are noted together
_FAST = ("last", "averaged")  # readouts that one row changes by a step


def stream(model: Model, *, classes: Any = None, features: Sequence[str] | str | None = None) -> Stream[Model]:
    """Return a handle through which a model learns from one row after the other.

    Every row does to the model what ``partial_fit`` of that row alone would do, to the last bit, without the time that
    checks of whole tables take.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        Fitted or not. It is changed by the stream; read its attributes through ``stream.model``.
    classes : sequence, optional
        Labels to expect; others are learned when they are first seen.
    features : sequence of str or "hash", optional
        What the keys of rows that are dicts mean: the columns' names, by default those that the model was fitted to, or
        in the order in which they are first seen; "hash" takes the column that scikit-learn's ``FeatureHasher`` takes.

    Examples
    --------
    >>> import separatrix as sx
    >>> online = sx.stream(sx.Perceptron())
    >>> for x, y in [([1.0, 2.0], "up"), ([0.0, -1.0], "down"), ([-1.0, -3.0], "down")]:
    ...     online = online.learn(x, y)
    >>> online.predict([2.0, 1.0]), online.n_seen
    ('up', 3)
    >>> online.model.predict([[2.0, 1.0]]).tolist()
    ['up']
    """
    return Stream(model, classes, features)


class Stream(Generic[Model]):
    """A model that learns row by row; see :func:`separatrix.stream`."""

    def __init__(self, model: Model, classes: Any, features: Sequence[str] | str | None) -> None:
        if not hasattr(model, "partial_fit"):
            raise TypeError(
                f"a stream needs a model that learns online, with partial_fit; found {type(model).__name__}: "
                "Perceptron, PassiveAggressive, AROW, Neuron and others have it"
            )
        self.n_seen = 0  # rows learned from
        self._model: Any = model
        self._classes = classes
        self._columns = Columns(features, model)
        self._engine: OneRow | None = None
        self._states: Any = None
        self._open()

    @property
    def model(self) -> Model:
        """The model, with all that was learned so far in its attributes."""
        self._close()
        return cast(Model, self._model)

    def learn(self, x: Any, y: Any, weight: float = 1.0) -> Stream[Model]:
        """Learn from one row and its label.

        Parameters
        ----------
        x : sequence of numbers, array, dict or sparse row
            One number for each feature; of a dict and of a sparse row those that are missing are 0.
        y : label
            Its class; it may be seen for the first time.
        weight : float, default=1
            What the row counts; 0 leaves it out.
        """
        if not weight >= 0.0 or weight == float("inf"):
            raise ValueError(f"weight must be a finite number of at least 0; found {weight!r}")
        if weight == 0.0:
            return self
        engine = self._engine
        if engine is not None and self._model._states is not self._states:
            engine = self._open()  # the model learned elsewhere meanwhile
        code = self._codes.get(y) if engine is not None else None
        if engine is None or code is None:
            self._learn_as_a_table(x, y, weight)
            return self
        sparse = self._place(x, learning=True)
        if engine is not self._engine:  # columns were added
            self._learn_as_a_table(x, y, weight)
            return self
        counted = weight if self._class_weights is None else weight * self._class_weights[code]
        if not engine.advance(code, counted, sparse):
            self._refuse(engine.row if sparse is None else None)
        self.n_seen += 1
        self._stale = True
        if sparse is None:
            self._sample[self._sampled] = engine.row[0]
            self._sampled += 1
            if self._sampled == _SAMPLE:
                self._note_sample()
        return self

    def predict(self, x: Any) -> Any:
        """Return the class of one row; None before anything was learned."""
        if self._engine is None:
            return self._model.predict(self._table(x))[0].item() if hasattr(self._model, "classes_") else None
        scores = self._scores(x)
        if len(scores) > 1:
            return self._labels[int(scores.argmax())]
        score = scores.item()
        return self._labels[score > 0.0 or (score == 0.0 and self._ties_up)]

    def score(self, x: Any) -> float | Floats:
        """Return what ``decision_function`` returns for one row: a number, or one for each of several classes."""
        fast = self._engine is not None
        scores = self._scores(x) if fast else np.ravel(self._model.decision_function(self._table(x)))
        return float(scores[0]) if len(scores) == 1 else scores

    def probabilities(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class of one row, of models that have ``predict_proba``."""
        if not hasattr(self._model, "classes_"):
            return {}
        made = self.model.predict_proba(self._table(x))[0]  # type: ignore[attr-defined]
        return dict(zip(self._model.classes_.tolist(), made.tolist(), strict=True))

    def predict_and_learn(self, x: Any, y: Any, weight: float = 1.0) -> Any:
        """Return the class predicted before learning from the row: test, then train."""
        predicted = self.predict(x)
        self.learn(x, y, weight)
        return predicted

    def __getstate__(self) -> dict[str, Any]:
        self._close()
        return {name: vars(self)[name] for name in ("n_seen", "_model", "_classes", "_columns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._open()

    # ------------------------------------------------------------------------------------------ the fast way

    def _open(self) -> OneRow | None:
        """Make an engine for the model as it is, if one row is a step of its rule and nothing else."""
        model = self._model
        self._engine, self._states = None, None
        fitted = isinstance(model, RuleClassifier) and hasattr(model, "_states") and len(model.classes_) > 1
        fast = fitted and model._rule_is_steady and model.readout in _FAST and not isinstance(model.class_weight, str)
        if not fast:
            return None
        model._check_parameters()
        model._check_continuation()
        engine = OneRow(
            model._states, model._rule(), model.classes_, bias=model._bias_constant, boundary=model.boundary
        )
        self._labels = model.classes_.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}
        self._class_weights = None
        if model.class_weight is not None:
            self._class_weights = [float(model.class_weight.get(label, 1.0)) for label in self._labels]
        self._ties_up = model.boundary != "negative"
        self._engine, self._states, self._stale = engine, model._states, True
        self._sample, self._sampled = np.empty((_SAMPLE, engine.row.shape[1])), 0
        return engine

    def _place(self, x: Any, *, learning: bool = False) -> _core.Matrix | None:
        """Put a row where the engine reads it; return it where it is sparse."""
        engine = self._engine
        assert engine is not None
        row = engine.row
        width = row.shape[1]
        if isinstance(x, Mapping):
            sparse = self._columns.matrix(x, width, learning=learning)
            if sparse is None:
                self._widen(len(self._columns))
            return sparse
        if hasattr(x, "tocsr"):
            return _sparse_row(x, width)
        if isinstance(x, np.ndarray):
            if x.shape != (width,):
                raise ValueError(f"a row must have {width} numbers; found an array of shape {x.shape}")
        elif len(x) != width:
            raise ValueError(f"a row must have {width} numbers; found {len(x)}")
        row[0] = x
        return None

    def _scores(self, x: Any) -> Floats:
        engine = self._engine
        assert engine is not None
        if self._stale:
            self._coef, self._intercept = engine.reading(self._model.readout)
            self._stale = False
        sparse = self._place(x)
        scores = engine.scores(self._coef, self._intercept, sparse)
        if not (math.isfinite(scores.item()) if len(scores) == 1 else np.isfinite(scores).all()):
            self._refuse(engine.row if sparse is None else None)
        return scores

    @staticmethod
    def _refuse(row: Floats | None) -> None:
        if row is not None and not np.isfinite(row).all():
            place = int(np.argmin(np.isfinite(row[0])))
            raise ValueError(f"the row holds {row[0, place]} in column {place}: every value must be a finite number")
        raise ValueError(
            "the activation of the row is not a finite number: it holds NaN or infinity, or values of it, weights or "
            "eta0 are so large that sums overflow; scale the features first"
        )

    def _close(self) -> None:
        """Set the model's attributes from what was learned."""
        engine, model = self._engine, self._model
        if engine is None or not engine.seen:
            return
        seen, made, updates = engine.close()
        for name, value in model._fitted(engine.states).items():
            setattr(model, name, value)
        self._note_sample()
        model.n_iter_, model.n_updates_, model._cut_short, model._data_mark = 1, updates, False, None
        model.status_ = model._told(seen, made, len(engine.states))
        model._remember(None, None, same_data=False)

    def _note_sample(self) -> None:
        if self._sampled:
            self._model._spread.add(self._sample[: self._sampled])
            self._sampled = 0

    # ------------------------------------------------------------------------------------------ the slow way

    def _learn_as_a_table(self, x: Any, y: Any, weight: float) -> None:
        """Learn by ``partial_fit``: first rows, new classes and columns, models of which a row is more than a step."""
        self._close()
        first = not hasattr(self._model, "classes_")
        self._model.partial_fit(
            self._table(x, learning=True), [y], classes=self._classes if first else None,
            sample_weight=None if weight == 1.0 else [weight],
        )  # fmt: skip
        self.n_seen += 1
        self._open()

    def _table(self, x: Any, *, learning: bool = False) -> Any:
        """Return a row as a table of one."""
        if isinstance(x, Mapping):
            from scipy.sparse import csr_array

            known = getattr(self._model, "n_features_in_", None)
            indices, values = self._columns.of(x, known=None if learning else known)
            width = max(known or 1, len(self._columns))
            if known is not None and width > known:
                self._widen(width)
            return csr_array((values, indices, np.array([0, len(indices)])), shape=(1, width))
        return x if hasattr(x, "tocsr") else [x]

    def _widen(self, width: int) -> None:
        """Give the model more columns, of which it has seen zeros only."""
        model = self._model
        if not isinstance(model, RuleClassifier) or model.readout == "voted":
            name = type(model).__name__
            raise ValueError(f"a {name} cannot learn columns that it has not met at first: name them in features")
        self._close()
        for state in model._states:
            state.widen(width)
        model._width = model.n_features_in_ = width
        model._spread.widen(width)
        for name, value in model._fitted(model._states).items():
            setattr(model, name, value)
        self._open()


def _sparse_row(x: Any, width: int) -> _core.Matrix:
    """Return one row of a SciPy matrix."""
    if x.shape != (1, width):
        raise ValueError(f"a row must have the shape (1, {width}); found {x.shape}")
    row = x.tocsr().sorted_indices()
    row.sum_duplicates()
    return _core.csr(row.data.astype(np.float64), row.indices.astype(np.int32), row.indptr.astype(np.int32), width)
