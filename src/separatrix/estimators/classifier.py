"""What the estimators without a kernel share: fitting, warm starts, restoring after an error, predicting.

A subclass keeps what it learns in states, which it starts and runs; here is when. Online learning is in online.py.
"""

from __future__ import annotations

import copy
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.contract import (
    BaseEstimator,
    CallbackSupportMixin,
    ClassifierMixin,
    ConvergenceWarning,
    check_features,
    check_is_fitted,
    with_callbacks,
)
from separatrix.estimators.fitting import (
    check_fitted,
    checked_labels,
    count,
    encoded,
    fingerprint,
    joined,
    undone_on_error,
    weigh_classes,
)
from separatrix.estimators.kept_errors import count_wrong, verified, with_kept_errors
from separatrix.estimators.one_vs_rest import codes_as_labels, predicted_codes
from separatrix.geometry.dask_values import by_partition, on_dask
from separatrix.geometry.device_rows import DeviceRows, rows_of, to_numpy
from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.monitor import Recording
from separatrix.loop.order import order_of, seed_of
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.state import Status
from separatrix.models.probing import probe
from separatrix.models.validity import is_count, require
from separatrix.observers import History, Progress, SklearnCallbacks
from separatrix.stops import MaxEpochs, Stop, as_stop, held_out_fraction, lasting, over

Self = TypeVar("Self", bound="Classifier")


class Classifier(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The contract with scikit-learn; see the subclasses."""

    boundary: str = "mistake"
    batch_size: int | str = 1
    reduction: str = "mean"
    readout: str = "last"
    shuffle: bool | str = True
    max_iter: int
    stop: Stop | str | None
    record: str | None = None
    every: int = 1
    class_weight: Any
    warm_start: bool
    random_state: Any
    verbose: int

    classes_: NDArray[Any]
    history_: History
    status_: Status
    _states: list[Any]
    _run_seed: int
    _width: int
    _cut_short: bool
    _data_mark: tuple[Any, ...] | None
    _watched: tuple[Any, ...]
    _asked: Stop

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------------------------------ the subclass says

    def _start(self, problem: Problem, seed: int) -> list[Any]:
        """Return the states in which learning starts."""
        raise TypeError(f"{type(self).__name__} does not say where to start")

    def _run(self, problem: Problem, states: list[Any], stop: Stop, seed: int) -> None:
        """Learn, and set the fitted attributes."""
        raise TypeError(f"{type(self).__name__} does not say how to learn")

    def _loop_proves(self) -> bool:
        """Whether an epoch without mistakes proves that the weights which the model keeps make none."""
        return False

    @property
    def _learned_together(self) -> bool:
        """Whether more than two classes were learned together, so that no plane parts one from the rest."""
        return False

    def _joins_tasks(self) -> bool:
        """Whether predictions join several tasks, so that the mistakes of the tasks are not the model's."""
        return len(self.classes_) > 2

    def _count_wrong(self, problem: Problem) -> tuple[int, int] | None:
        """Return how many training rows the model gets wrong, of how many; None where that would take too long."""
        return count_wrong(problem, self._decide, tie_is_positive=self.boundary != "negative")

    def _count_exactly(self, problem: Problem, *, every_task: bool) -> tuple[int, int] | None:
        """Return how many training rows are on the wrong side of the model's plane as decided without rounding.

        None where there is no such plane. ``every_task`` says that an epoch without mistakes was one of all tasks.
        """
        return None

    def _fitted(self, states: list[Any]) -> dict[str, Any]:
        """Return the fitted attributes as they would be if the run ended now."""
        return {"classes_": self.classes_, "n_features_in_": self.n_features_in_, "_states": states}

    def _remember(self, problem: Problem | None, given: Any, *, same_data: bool | None) -> None:
        """Keep what a proof will need: the problem, None where it learned online; X as it was given.

        ``same_data`` says whether a run that went on did so on the same data; None if it began.
        """

    def _check_rule(self) -> None:
        """Refuse parameters that cannot be meant."""

    def _check_device(self) -> None:
        """Refuse rows on a device where there is no solver for them."""
        name = type(self).__name__
        raise TypeError(
            f"{name} learns from rows in memory only: copy them there (X.cpu() in torch, X.get() in CuPy); "
            "LinearSVM and LogisticRegression take rows on a device"
        )

    def _default_stop(self) -> Stop | None:
        """Return the stop rule for ``stop=None``, if there is one besides ``max_iter``."""
        return None

    def _advice(self) -> str | None:
        """Return what to do about a run that did not converge: None where that is no surprise, empty if it is said."""
        return None

    def _bias_for(self, later: bool) -> float | str | None:
        """Return the bias constant of the problem, or how to find it; ``later`` when there are states already."""
        return 1.0

    # ------------------------------------------------------------------------------------------ learning

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on all examples, epoch after epoch, until a stop rule ends the run.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The examples.
        y : sequence of n_samples labels
            Their classes, two or more.
        sample_weight : sequence of n_samples floats, optional
            Weight of each example.

        Returns
        -------
        self
            This estimator.
        """
        if on_dask(X):
            return self._fit_dask(X, y, sample_weight)
        return self._fit_labels(X, encoded(self, y), sample_weight)

    def _fit_dask(self: Self, X: Any, y: Any, sample_weight: Any) -> Self:
        """Refuse Dask collections where there is no solver for them."""
        raise TypeError(
            f"{type(self).__name__} learns from rows in memory only: gather them there (X.compute()); LinearSVM and "
            "LogisticRegression take Dask collections"
        )

    def _fit_codes(self: Self, X: Any, codes: Any, classes: NDArray[Any], sample_weight: Any = None) -> Self:
        """Do what ``fit`` does for labels that are places in the sorted ``classes``; each must have an example."""
        return self._fit_labels(X, checked_labels(codes, classes), sample_weight)

    def _fit_labels(self: Self, X: Any, labels: Labels, sample_weight: Any) -> Self:
        stop = self._check_parameters()
        with undone_on_error(self):
            problem = self._problem(X, labels, sample_weight)
            counted = problem.codes if problem.weights is None else problem.codes[problem.weights > 0]
            present = problem.classes[np.unique(counted)] if len(counted) < problem.n else problem.classes
            if len(present) < 2:
                name, label = type(self).__name__, present.tolist()[0]
                raise ValueError(f"{name} needs examples of at least two classes; found one class: {label!r}")
            self._spread = Moments(problem.d)
            mark = (*fingerprint(problem), *self._path_mark(), held_out_fraction(stop)) if self.warm_start else None
            same_data = None
            if self._goes_on(problem):
                states = copy.deepcopy(self._states)  # a failure must not spoil those there are
                seed = self._run_seed
                same_data = mark == self._data_mark
                for state in states:
                    if not (same_data and self._cut_short):
                        state.begin_again()
                        state.new_data = not same_data
                    elif self._watched != self._watch_mark():
                        state.reports, state.plateau, state.level = [], (math.inf, 0), 0.0
                    elif lasting(self._asked) != lasting(stop):
                        state.reports = []
                    state.ended = over(state, stop)
            else:
                seed = seed_of(self.random_state)
                states = self._start(problem, seed)
            self.classes_ = problem.classes
            self._run(problem, states, stop, seed)
            whole = self._loop_proves() and held_out_fraction(stop) == 0 and all(map(verified, states))
            scaled = any(getattr(state, "unit", 1.0) != 1 for state in states)  # the loop saw other weights
            self.status_ = with_kept_errors(
                self.status_, states, f"{self.readout} weights", several=self._joins_tasks(),
                proved=whole and not scaled, count=lambda: self._count_wrong(problem),
                count_exactly=lambda: self._count_exactly(problem, every_task=whole),
            )  # fmt: skip
            self._data_mark, self._watched, self._asked = mark, self._watch_mark(), stop
            self._remember(problem, X, same_data=same_data)
        self._warn()
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _warn(self) -> None:
        """Warn about a run that diverged, or that its own stop rule could not end well."""
        status = self.status_
        if status.converged or status.interrupted or not (status.diverged or self.stop is None):
            return
        advice = self._advice()
        if status.diverged or advice is not None:
            text = f"{status}. {advice}" if advice else str(status)
            warnings.warn(text, ConvergenceWarning, stacklevel=5)

    def _path_mark(self) -> tuple[Any, ...]:
        """Return what says which example comes when: a run cut short goes on only if it is the same."""
        return (self.batch_size, self.shuffle)

    def _watch_mark(self) -> tuple[Any, ...]:
        """Return what the mean loss depends on: losses of another kind cannot be compared with it."""
        return (getattr(self, "loss", None), getattr(self, "alpha", None))

    def _goes_on(self, problem: Problem) -> bool:
        """Whether a warm start can go on from the states there are."""
        return (
            self.warm_start
            and hasattr(self, "_states")
            and self._width == problem.d
            and np.array_equal(self.classes_, problem.classes)
        )

    @contextmanager
    def _observed(self, states: list[Any]) -> Iterator[tuple[History, list[Any]]]:
        """Bring together who is told about the run: the history, the bar, scikit-learn's callbacks."""
        history = History(self.record)
        observers: list[Any] = [history]
        if self.verbose:
            observers.append(Progress())
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=self.max_iter)
            context.call_on_fit_task_begin(estimator=self)
            observers.append(SklearnCallbacks(self, context, lambda: self._fitted(states)))
        yield history, observers
        if context is not None:
            context.call_on_fit_task_end(estimator=self)

    # ------------------------------------------------------------------------------------------ predicting

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row: of shape (n,) for two classes, (n, n_classes) for more."""
        check_is_fitted(self, "classes_")
        if on_dask(X):
            return cast(Floats, by_partition(X, self.decision_function, self._activation_width, np.float64))
        rows = rows_of(X)
        check_features(self, X, reset=False)
        with np.errstate(over="ignore", invalid="ignore"):
            return rows.checked_activations(self._decide(rows))

    def _decide(self, rows: Rows) -> Floats:
        """Return the activations of checked rows."""
        raise TypeError(f"{type(self).__name__} does not say how to decide")

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; a tie is positive, except with ``boundary="negative"``."""
        if on_dask(X):
            check_is_fitted(self, "classes_")
            return cast(NDArray[Any], by_partition(X, self.predict, 0, self.classes_.dtype))
        codes = self._predict_codes(X)
        return codes_as_labels(codes, self.classes_)

    @property
    def _activation_width(self) -> int:
        """How many activations a row has; 0 for one that is no column of its own."""
        return 0 if len(self.classes_) <= 2 else len(self.classes_)

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Return the place in ``classes_`` of each row's class."""
        activations = self.decision_function(X)
        return predicted_codes(activations, len(self.classes_), tie_is_positive=self.boundary != "negative")

    # ------------------------------------------------------------------------------------------ checks

    def _check_parameters(self) -> Stop:
        """Refuse what cannot be meant, and return the stop rule."""
        self._check_rule()
        order_of(self.shuffle)
        Recording(self.record, self.every)
        limit = MaxEpochs(count("max_iter", self.max_iter))
        stop = as_stop(self.stop) or self._default_stop()
        return limit if stop is None else stop | limit

    def _problem(self, X: Any, labels: Labels, sample_weight: Any, *, online: bool = False) -> Problem:
        """Check the data; online, against the width and the classes that are known already."""
        later = online and hasattr(self, "_states")
        rows = rows_of(X)
        if isinstance(rows, DeviceRows):
            self._check_device()
            sample_weight = None if sample_weight is None else to_numpy(sample_weight)
        check_features(self, X, reset=not later)
        bias = self._bias_for(later)
        if later:
            labels = joined(labels, self.classes_)
        problem = Problem(rows, labels, sample_weight=sample_weight, bias=bias, check_finite=False)
        weigh_classes(problem, self.class_weight)
        return problem

    def validate(self) -> None:
        """Refuse a model whose parts do not fit together, which only a forged or damaged file could hold."""
        width, n_classes = check_fitted(self)
        self._check_parameters()
        self._validate_model(width, n_classes)
        probe(self)

    def _validate_model(self, width: int, n_classes: int) -> None:
        """Refuse what was learned if it is not of this many features and classes."""

    def _validate_states(self, width: int, n_states: int, kind: type) -> None:
        """Refuse what is kept to go on from if it is not of these states."""
        kept = vars(self)
        for name in ("_states", "_spread", "_run_seed", "_width", "_cut_short", "_data_mark", "history_"):
            require(name in kept, f"the {type(self).__name__} has no {name}")
        fits = isinstance(self._states, list) and len(self._states) == n_states
        require(fits, "its states are not one for each task")
        require(all(type(state) is kind for state in self._states), "its states are not of one kind")
        require(is_count(self._run_seed, 0, 2**64 - 1), "its seed is not a whole number")
        require(self._width == width, "its width is not that of its features")
        require(type(self._cut_short) is bool, "it does not say whether it was cut short")
        fits = type(self._spread) is Moments and len(self._spread._mean) == width
        require(fits, "its moments are of other data")
        mark: Any = self._data_mark
        require(mark is None or type(mark) is tuple, "the mark of its data is damaged")
        if mark is not None:
            require(type(kept.get("_watched")) is tuple, "it does not say what it watched")
            require(isinstance(kept.get("_asked"), Stop), "it does not say when it was to stop")
