"""Streams: a model that learns from one row after the other, and predicts in between, in microseconds."""

from __future__ import annotations

import copy
import operator
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Generic, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.estimators.contract import parameter_names
from separatrix.estimators.linear import RuleClassifier
from separatrix.estimators.row_columns import Columns
from separatrix.geometry.rows import Floats
from separatrix.loop.one_row import OneRow

Model = TypeVar("Model")
_SAMPLE = 256  # rows of which the moments are noted together
_FAST = ("last", "averaged")  # readouts that one row changes by a step
_TAME = 1e100  # squared length of a row, and 1e50 of parameters, from which sums might overflow: rows go the slow way


def stream(model: Model, *, classes: Any = None, features: Sequence[str] | str | None = None) -> Stream[Model]:
    """Return a handle through which a model learns from one row after the other.

    Every row does to the model what ``partial_fit`` of that row alone would do, to the last bit, without the time that
    checks of whole tables take.

    Parameters
    ----------
    model : estimator with ``partial_fit``
        Fitted or not. What the stream learns is in it once ``stream.model`` is asked for; if it is fitted elsewhere
        meanwhile, the stream goes on from that.
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
    """A model that learns row by row; see :func:`separatrix.stream`. Threads may share it."""

    def __init__(self, model: Model, classes: Any, features: Sequence[str] | str | None) -> None:
        if isinstance(model, type) or not hasattr(model, "partial_fit"):
            name = model.__name__ if isinstance(model, type) else type(model).__name__
            raise TypeError(
                f"a stream needs a model that learns online, with partial_fit; found {name}: Perceptron(), "
                "PassiveAggressive(), AROW(), Neuron() and others have it (of a pipeline, stream the last step)"
            )
        self.n_seen = 0  # rows learned from
        self._model: Any = model
        self._classes = classes
        self._columns = Columns(features, model)
        self._lock = threading.RLock()
        self._open()

    @property
    def model(self) -> Model:
        """The model, with all that was learned so far in its attributes."""
        with self._lock:
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
        if not 0.0 <= weight < np.inf:
            raise ValueError(f"weight must be a finite number of at least 0; found {weight!r}")
        if weight > 0.0:
            with self._lock:
                self._learn(x, y, weight)
                self.n_seen += 1
        return self

    def predict(self, x: Any) -> Any:
        """Return the class of one row, as a value of Python; None before anything was learned."""
        with self._lock:
            engine = self._current()
            scores = None if engine is None else self._scores(engine, x)
            if scores is None:
                fitted = hasattr(self._model, "classes_")
                return self.model.predict(self._table(x)).tolist()[0] if fitted else None  # type: ignore[attr-defined]
            if len(scores) > 1:
                return self._labels[int(scores.argmax())]
            score = scores.item()
            return self._labels[score > 0.0 or (score == 0.0 and self._ties_up)]

    def score(self, x: Any) -> float | Floats:
        """Return what ``decision_function`` returns for one row: a number, or one for each of several classes."""
        with self._lock:
            engine = self._current()
            scores = None if engine is None else self._scores(engine, x)
            if scores is None:
                scores = np.ravel(self.model.decision_function(self._table(x)))  # type: ignore[attr-defined]
        return float(scores[0]) if len(scores) == 1 else scores

    def probabilities(self, x: Any) -> dict[Any, float]:
        """Return the probability of each class of one row, of models that have ``predict_proba``."""
        with self._lock:
            if not hasattr(self._model, "classes_"):
                return {}
            made = self.model.predict_proba(self._table(x))[0]  # type: ignore[attr-defined]
            return dict(zip(self._model.classes_.tolist(), made.tolist(), strict=True))

    def predict_and_learn(self, x: Any, y: Any, weight: float = 1.0) -> Any:
        """Return the class predicted before learning from the row: test, then train."""
        with self._lock:
            predicted = self.predict(x)
            self.learn(x, y, weight)
        return predicted

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            self._close()
            return {name: vars(self)[name] for name in ("n_seen", "_model", "_classes", "_columns")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.RLock())
        self._open()

    def __copy__(self) -> Stream[Model]:
        return copy.deepcopy(self)

    # ------------------------------------------------------------------------------------------ the fast way

    def _open(self) -> OneRow | None:
        """Make an engine for copies of the model's states, if one row is a step of its rule and nothing else."""
        model = self._model
        self._engine: OneRow | None = None
        self._states = getattr(model, "_states", None)
        names: list[str] = parameter_names(cast(Any, type(model)))
        self._read = operator.itemgetter(*names) if len(names) > 1 else tuple
        self._given = self._read(vars(model)) if set(names) <= set(vars(model)) else ()
        if not (isinstance(model, RuleClassifier) and self._states is not None and len(model.classes_) > 1):
            return None
        weights = _class_weights(model.class_weight, model.classes_.tolist())
        fast = weights is not None and model._rule_is_steady and model.readout in _FAST and model.batch_size == 1
        tame = [value for value in self._given if isinstance(value, float | int)]
        if not (fast and all(abs(value) < 1e50 for value in tame) and np.abs(model.coef_).max() < _TAME):
            return None
        model._check_parameters()
        model._check_continuation()
        bias = model._bias_for(True)
        how: dict[str, Any] = {"bias": float(bias or 0.0), "boundary": model.boundary}
        states = copy.deepcopy(self._states)
        self._engine = OneRow(states, model._rule(), model.classes_, **how)
        self._labels = model.classes_.tolist()
        self._codes = {label: code for code, label in enumerate(self._labels)}
        self._kinds = {type(label) for label in self._labels} | {model.classes_.dtype.type}
        self._class_weights = weights
        self._ties_up, self._readout, self._stale = model.boundary != "negative", model.readout, True
        self._dense, self._filled = np.empty((_SAMPLE, self._engine.row.shape[1])), 0
        self._roomy = False  # whether the engine has columns that no row had so far
        self._sparse: list[tuple[NDArray[np.int32], Floats]] = []
        return self._engine

    def _changed(self) -> bool:
        """Whether the model was fitted elsewhere or has other parameters than when the engine was made."""
        known = vars(self._model)
        if known.get("_states") is not self._states:
            return True
        try:
            return bool(self._read(known) != self._given)
        except (ValueError, KeyError):  # of arrays
            return True

    def _current(self) -> OneRow | None:
        """Return the engine; another one where the model has changed."""
        if self._engine is None or self._changed():
            self._close()
            return self._open()
        return self._engine

    def _learn(self, x: Any, y: Any, weight: float) -> None:
        engine = self._current()
        code = None
        if engine is not None and type(y) in self._kinds:
            code = self._codes.get(y)
        if engine is None or code is None:
            self._learn_as_a_table(x, y, weight)
            return
        counted = weight * self._class_weights[code] if self._class_weights else weight
        x = _as_row(x)
        new = self._columns.new(x, self._width()) if isinstance(x, Mapping) else []
        self._columns.add(new)
        try:
            sparse, values, indices = self._placed(engine, x)
            tame = 0.0 < counted < 1e50 and _core.dot(values, values) < _TAME
            learned = tame and engine.advance(code, counted, sparse)
        except BaseException:
            self._columns.remove(new)
            raise
        if not learned:
            self._columns.remove(new)  # which are learned, or refused, together with the row
            self._learn_as_a_table(x, y, weight)
            return
        self._stale = True
        if indices is None:
            self._dense[self._filled] = values
            self._filled += 1
        else:
            self._sparse.append((indices, values.copy()))
        if self._filled == _SAMPLE or len(self._sparse) == _SAMPLE:
            self._note_sample()

    def _placed(self, engine: OneRow, x: Any) -> tuple[_core.Matrix | None, Floats, NDArray[np.int32] | None]:
        """Put a row where the engine reads it, or make a matrix of it where it is sparse; return its numbers too."""
        if isinstance(x, Mapping):
            if self._columns.width > engine.row.shape[1]:
                self._grow(engine)
            return self._columns.matrix(x, engine.row.shape[1])
        if self._roomy:
            self._resize(engine, max(self._width(), self._columns.width))
        width = engine.row.shape[1]
        if hasattr(x, "tocsr"):
            return _sparse_row(x, width)
        made = x if type(x) is np.ndarray else np.array(x)
        if made.shape != (width,) or made.dtype.kind not in "biuf":
            if made.ndim == 1 and len(made) == width:
                raise ValueError(f"the row holds {_no_number(made)!r}, where a number belongs")
            raise ValueError(f"a row must have {width} numbers; found {_shape(x)}")
        row = engine.row[0]
        row[:] = made
        return None, row, None

    def _scores(self, engine: OneRow, x: Any) -> Floats | None:
        """Return the activations of a row; None where they must be asked of the model."""
        sparse, values, _ = self._placed(engine, _as_row(x))
        if self._stale:
            self._coef, self._intercept = engine.reading(self._readout)
            self._stale = False
        return engine.scores(self._coef, self._intercept, sparse) if _core.dot(values, values) < _TAME else None

    def _grow(self, engine: OneRow) -> None:
        """Make room for more columns, some ahead."""
        width = self._columns.width
        full = vars(self._model).get("covariance") == "full"
        self._resize(engine, width if full else max(width, 2 * engine.row.shape[1]))
        self._roomy = engine.row.shape[1] > width

    def _resize(self, engine: OneRow, width: int) -> None:
        self._note_sample()
        engine.resize(width)
        self._dense, self._roomy, self._stale = np.empty((_SAMPLE, width)), False, True

    def _close(self) -> None:
        """Put what was learned into the model."""
        engine, model = self._engine, self._model
        if engine is None or not engine.seen or getattr(model, "_states", None) is not self._states:
            return
        self._note_sample()
        seen, made, updates = engine.close()
        width = max(self._width(), self._columns.width)
        states = [
            state.resized(width) if width < state.weights.shape[-1] else copy.deepcopy(state) for state in engine.states
        ]
        for name, value in model._fitted(states).items():
            setattr(model, name, value)
        model._width = model.n_features_in_ = width
        model._spread.widen(width)
        model.n_iter_, model.n_updates_, model._cut_short, model._data_mark = 1, updates, False, None
        model.status_ = model._told(seen, made, len(states))
        model._remember(None, None, same_data=False)
        self._states = model._states

    def _note_sample(self) -> None:
        if self._filled:
            self._model._spread.add(self._dense[: self._filled])
            self._filled = 0
        if self._sparse:
            from scipy.sparse import csr_array

            ends = np.cumsum([0, *(len(indices) for indices, _ in self._sparse)])
            parts = [np.concatenate([row[k] for row in self._sparse]) for k in (1, 0)]
            width = max(self._width(), self._columns.width)
            self._model._spread.widen(width)
            self._model._spread.add(csr_array((*parts, ends), shape=(len(self._sparse), width)))
            self._sparse = []

    # ------------------------------------------------------------------------------------------ the slow way

    def _learn_as_a_table(self, x: Any, y: Any, weight: float) -> None:
        """Learn by ``partial_fit``: first rows, new classes, and models of which a row is more than a step."""
        self._close()
        model, x = self._model, _as_row(x)
        before = dict(vars(model))
        new = self._columns.new(x, self._width()) if isinstance(x, Mapping) else []
        self._columns.add(new)
        try:
            if new and hasattr(model, "_states"):
                self._widen(self._columns.width)
            classes = self._classes
            if hasattr(model, "classes_"):
                classes = None
            elif classes is not None and y not in list(classes):
                classes = [*classes, y]
            model.partial_fit(
                self._table(x), [y], classes=classes, **({} if weight == 1.0 else {"sample_weight": [weight]})
            )
        except BaseException:
            self._columns.remove(new)
            vars(model).clear()
            vars(model).update(before)
            raise
        self._open()

    def _width(self) -> int:
        return int(getattr(self._model, "n_features_in_", 0))

    def _table(self, x: Any) -> Any:
        """Return a row as a table of one."""
        x = _as_row(x)
        if not isinstance(x, Mapping):
            return x if hasattr(x, "tocsr") else [x]
        from scipy.sparse import csr_array

        if hasattr(self._model, "classes_"):
            self._columns.new(x, self._width())  # which refuses what no column can be for
        indices, values = self._columns.of(x)
        width = max(self._width(), self._columns.width, 1)
        return csr_array((values, indices, np.array([0, len(indices)])), shape=(1, width))

    def _widen(self, width: int) -> None:
        """Give the model more columns, of which it has seen zeros only."""
        model = self._model
        if not isinstance(model, RuleClassifier) or model.readout == "voted":
            name = type(model).__name__
            raise ValueError(f"this {name} cannot learn columns that it has not met at first: name them in features")
        states = [state.resized(width) for state in model._states]
        model._spread = copy.copy(model._spread)
        model._spread.widen(width)
        model._width = model.n_features_in_ = width
        for name, value in model._fitted(states).items():
            setattr(model, name, value)


def _as_row(x: Any) -> Any:
    """Return a row of a frame as a dict, and refuse a text."""
    if type(x) in (list, dict, np.ndarray):
        return x
    if isinstance(x, str | bytes):
        raise TypeError(f"a row must be numbers or a dict; found the text {x!r:.60}")
    return x.to_dict() if hasattr(x, "to_dict") else x


def _class_weights(given: Any, labels: list[Any]) -> Any:
    """Return the weight of each class, None where only ``partial_fit`` can say; an empty tuple is none."""
    if given is None:
        return ()
    if not isinstance(given, dict) or not set(given) <= set(labels):
        return None
    weights = [given.get(label, 1.0) for label in labels]
    return weights if all(isinstance(each, int | float) and 0.0 < each < 1e50 for each in weights) else None


def _no_number(made: NDArray[Any]) -> Any:
    return next((value for value in made.tolist() if not isinstance(value, int | float)), made.dtype.name)


def _shape(x: Any) -> str:
    shape = np.shape(x)
    return str(shape[0]) if len(shape) == 1 else f"an array of shape {shape}"


def _sparse_row(x: Any, width: int) -> tuple[_core.Matrix, Floats, NDArray[np.int32]]:
    """Return one row of a SciPy matrix, its values and their columns."""
    if x.shape != (1, width):
        raise ValueError(f"a row must have the shape (1, {width}); found {x.shape}")
    row = x.tocsr().sorted_indices()
    row.sum_duplicates()
    if row.data.dtype.kind not in "biuf" or (row.nnz and not 0 <= row.indices.min() <= row.indices.max() < width):
        raise ValueError(f"a sparse row must hold numbers in columns 0 to {width - 1}")
    values, indices = row.data.astype(np.float64), row.indices.astype(np.int32)
    return _core.csr(values, indices, row.indptr.astype(np.int32), width), values, indices
