"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import copy
import warnings
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix import _core
from separatrix.engines import ties
from separatrix.estimators.one_vs_rest import carry_over, joint_status, positives
from separatrix.observers import History, Progress, SklearnCallbacks
from separatrix.problem import Problem, check_weights, encode_labels
from separatrix.readouts import Ballot, check_readout, read
from separatrix.rows import Floats, Rows, is_sparse
from separatrix.rules import MarginPerceptron
from separatrix.rules import Perceptron as PerceptronRule
from separatrix.solution import Solution, State, Status
from separatrix.solving import new_state, solve_targets
from separatrix.spread import Spread
from separatrix.stops import MaxEpochs, NoMistakes, Stop, times

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


class Perceptron(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron, in every form of the lectures.

    Each example that is misclassified moves the weights: ``w += eta0 * y * x``. If some plane separates the classes,
    the run ends with one that does, after at most ``(R / gamma)^2`` updates.

    Parameters
    ----------
    eta0 : float, default=1.0
        The learning rate. From a zero start and without a margin it scales the weights and changes no decision.
    max_iter : int, default=1000
        The most epochs.
    readout : {"last", "averaged", "voted", "pocket"}, default="last"
        Which weights become the model. On data that no plane separates, "averaged" and "pocket" do far better than
        "last"; "voted" is the most exact and the slowest to predict.
    boundary : {"mistake", "correct", "positive", "negative"}, default="mistake"
        What an activation of exactly 0 is while learning: a mistake, correct, or a vote for one class. Predictions on
        a tie are positive, except with "negative".
    fit_intercept : bool, default=True
        Learn a bias. Without it the plane goes through the origin.
    intercept_scaling : float or "ball", default=1.0
        The constant K that stands for the bias as one more feature, so the bias moves by ``eta0 * y * K**2``; "ball" is
        the radius of the smallest ball that holds the data.
    shuffle : bool, default=True
        Visit the examples in a new order each epoch. The order depends on what the examples hold and on
        ``random_state``, not on how they are sorted; copies of an example stay together, as a weight would have them.
    init : {"zeros", "uniform"} or (coef, intercept), default="zeros"
        Where to start; "uniform" draws from [-1, 1].
    margin : float, default=0.0
        Also learn from correct answers whose margin is at most this (the margin perceptron).
    stop : Stop, optional
        When to stop, besides ``max_iter``; by default when an epoch makes no mistakes. See ``separatrix.stops``.
    class_weight : dict or "balanced", optional
        How often an example of each class counts.
    warm_start : bool, default=False
        Go on from where the last ``fit`` stopped; after Ctrl-C or a time limit and on the same data, in the middle of
        the epoch, to the bits that an uninterrupted run gives. When the classes, the number of features, the readout
        or the kind of bias have changed, ``fit`` starts anew.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result.
    random_state : int, RandomState or None
        Where the orders and the uniform start come from.
    verbose : int, default=0
        With 1, show a bar during long runs.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        The weights. For the voted readout, which has no single weight vector, the averaged ones.
    intercept_ : array of shape (1,) or (n_classes,)
        The bias.
    classes_ : array
        The labels, sorted.
    n_iter_ : int
        Epochs run in the last call.
    n_updates_ : int
        Updates made in the last call, over all classes.
    history_ : History
        Mistakes, loss, length of the weights and seconds, epoch by epoch.
    status_ : Status
        How the run ended; ``str(status_)`` is a sentence.

    Notes
    -----
    A sample weight of 2 is the same as giving the row twice, 0 the same as leaving it out; a fraction makes the step
    that much smaller. Numeric types other than float32 and float64 are converted once, to float64 (float16: to
    float32).

    Ctrl-C ends the run within a second; the estimator is then fitted with the best state so far and
    KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import Perceptron, datasets
    >>> X, y = datasets.load("lecture-000")
    >>> model = Perceptron(shuffle=False).fit(X, y)
    >>> str(model.status_), model.coef_.tolist(), model.intercept_.tolist()
    ('no mistakes in epoch 3', [[3.0, -2.0]], [0.0])
    """

    classes_: NDArray[Any]
    status_: Status
    _states: list[State]
    _ballots: list[Ballot]
    _readout: str
    _run_seed: int
    _cut_short: bool
    _bias_constant: float
    _data_mark: tuple[Any, ...] | None

    def __init__(
        self,
        *,
        eta0: float = 1.0,
        max_iter: int = 1000,
        readout: str = "last",
        boundary: str = "mistake",
        fit_intercept: bool = True,
        intercept_scaling: float | str = 1.0,
        shuffle: bool = True,
        init: Any = "zeros",
        margin: float = 0.0,
        stop: Stop | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.eta0 = eta0
        self.max_iter = max_iter
        self.readout = readout
        self.boundary = boundary
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.shuffle = shuffle
        self.init = init
        self.margin = margin
        self.stop = stop
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    # ------------------------------------------------------------------------------------------ learning

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Perceptron:
        """Learn from all examples, epoch after epoch, until the stop rule speaks.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The examples.
        y : sequence of n_samples labels
            Their classes, two or more.
        sample_weight : sequence of n_samples floats, optional
            How often each example counts.

        Returns
        -------
        Perceptron
            This estimator.
        """
        stop = self._check_parameters()
        with _undone_on_error(self):
            problem = self._problem(X, y, sample_weight)
            counted = problem.codes if problem.weights is None else problem.codes[problem.weights > 0]
            present = problem.classes[np.unique(counted)] if len(counted) < problem.n else problem.classes
            if len(present) < 2:
                found = present.tolist()[0]
                raise ValueError(f"Perceptron needs examples of at least two classes; found one class: {found!r}")
            self._spread = Spread(problem.d)
            mark = _fingerprint(problem) if self.warm_start else None
            if self._goes_on(problem):
                states, ballots = self._copies()
                seed = self._run_seed
                same_data = mark == self._data_mark
                for state in states:
                    if not (same_data and self._cut_short):
                        state.ended, state.position = None, 0
                    state.new_data = not same_data
            else:
                seed = self._seed()
                states = self._start(problem, seed)
                ballots = _ballots(states, problem)
            self.classes_ = problem.classes
            solutions = self._run(problem, states, ballots, stop, seed)
            self._data_mark = mark
        if self.readout == "last" and self.stop is None and not (self.status_.converged or self.status_.interrupted):
            warnings.warn(
                f"{self.status_}. The last weights of such a run are arbitrary: readout='averaged' or 'pocket' fits "
                "better, and max_iter can be much smaller.",
                ConvergenceWarning,
                stacklevel=3,
            )
        if any(solution.status.interrupted for solution in solutions):
            raise KeyboardInterrupt
        return self

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Perceptron:
        """Learn online: one epoch over these examples, from where the last call stopped.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The new examples.
        y : sequence of n_samples labels
            Their classes; a class may be seen here for the first time.
        classes : sequence, optional
            Classes to expect. Not needed.
        sample_weight : sequence of n_samples floats, optional
            How often each example counts.

        Returns
        -------
        Perceptron
            This estimator.
        """
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ValueError("class_weight='balanced' needs all examples at once; give partial_fit a dict of weights")
        with _undone_on_error(self):
            first = not hasattr(self, "_states")
            if not first and self._readout != self.readout:
                raise ValueError(
                    f"readout is now {self.readout!r}, but what was learned so far was kept for {self._readout!r}: "
                    "set it back, or start anew with fit"
                )
            problem = self._problem(X, y, sample_weight, online=True, expected=classes)
            if first:
                seed = self._seed()
                states = self._start(problem, seed)
                ballots = _ballots(states, problem)
                self._spread = Spread(problem.d)
            else:
                seed = self._run_seed
                states, ballots = self._grown(problem, seed)
            for state in states:
                state.ended, state.position, state.new_data = None, 0, True
            self.classes_ = problem.classes
            solutions = self._run(problem, states, ballots, MaxEpochs(1), seed)
            self._data_mark = None
            if not self.status_.interrupted:
                mistakes = times(sum(solution.state.mistakes for solution in solutions), "mistake")
                self.status_ = Status(f"learned online from {times(problem.n, 'example')} with {mistakes}", True)
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _goes_on(self, problem: Problem) -> bool:
        """Whether a warm start can go on from the states there are."""
        return (
            self.warm_start
            and hasattr(self, "_states")
            and self._readout == self.readout
            and self._states[0].weights.shape == (problem.d,)
            and (self._bias_constant > 0) == (problem.bias > 0)
            and np.array_equal(self.classes_, problem.classes)
        )

    def _copies(self) -> tuple[list[State], list[Ballot]]:
        """Return states and ballots to learn on with: a failure must not spoil those there are."""
        return copy.deepcopy(self._states), [copy.copy(ballot) for ballot in self._ballots]

    def _grown(self, problem: Problem, seed: int) -> tuple[list[State], list[Ballot]]:
        """Return copies of the states and ballots, with those of classes that have just appeared."""
        states, ballots = self._copies()
        known = self.classes_
        if len(problem.classes) == len(known):
            return states, ballots
        start = self.init if isinstance(self.init, str) else "zeros"
        clock = states[0].clock
        new = {
            code: new_state(problem, code, start, readout=self.readout, seed=seed, clock=clock)
            for code in positives(len(problem.classes))
        }
        states = carry_over(states, known, problem.classes, new.__getitem__)
        if ballots:
            fresh = dict(zip(new, _ballots(list(new.values()), problem), strict=True))
            ballots = carry_over(ballots, known, problem.classes, fresh.__getitem__)
        return states, ballots

    def _run(
        self, problem: Problem, states: list[State], ballots: list[Ballot], stop: Stop, seed: int
    ) -> list[Solution]:
        """Solve all questions and set the fitted attributes."""
        history = History()
        observers: list[Any] = [history]
        if self.verbose:
            observers.append(Progress())
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=self.max_iter)
            context.call_on_fit_task_begin(estimator=self)
            observers.append(SklearnCallbacks(self, context, lambda: self._fitted(states, ballots)))
        for state, code in zip(states, positives(len(problem.classes)), strict=True):
            state.positive = code
        solutions = solve_targets(
            problem, self._rule(), states, stop=stop, readout=self.readout, boundary=self.boundary,
            order="shuffled" if self.shuffle else "cyclic", seed=seed, n_jobs=self._threads(), observers=observers,
        )  # fmt: skip
        self._spread.add(problem.rows)
        for ballot, state in zip(ballots, states, strict=False):
            ballot.extend(problem, state)
        for name, value in self._fitted(states, ballots).items():
            setattr(self, name, value)
        self._states, self._run_seed, self._readout = states, seed, self.readout
        self._cut_short = any(state.ended is None for state in states)
        self._bias_constant = float(problem.bias)
        self.history_ = history
        self.n_iter_ = max(solution.n_epochs for solution in solutions)
        self.n_updates_ = sum(solution.n_updates for solution in solutions)
        self.status_ = joint_status(solutions, self.classes_)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        return solutions

    def _fitted(self, states: list[State], ballots: list[Ballot]) -> dict[str, Any]:
        """Return the fitted attributes as they would be if the run ended now."""
        readings = [read(state, self.readout) for state in states]
        return {
            "coef_": np.array([weights for weights, _ in readings], dtype=np.float64),
            "intercept_": np.array([float(bias) for _, bias in readings]),
            "classes_": self.classes_,
            "n_features_in_": self.n_features_in_,
            "_ballots": ballots,
        }

    def _start(self, problem: Problem, seed: int) -> list[State]:
        codes = positives(len(problem.classes))
        starts: Sequence[Any] = [self.init] * len(codes)
        if not isinstance(self.init, str):
            try:
                coef = np.atleast_2d(np.asarray(self.init[0], dtype=np.float64))
                intercept = np.atleast_1d(np.asarray(self.init[1], dtype=np.float64))
            except (TypeError, ValueError, IndexError):
                raise ValueError(f"init must be 'zeros', 'uniform' or (coef, intercept); found {self.init!r}") from None
            shapes = ((len(codes), problem.d), (len(codes),))
            if (coef.shape, intercept.shape) != shapes:
                raise ValueError(
                    f"init needs a coef of shape {shapes[0]} and an intercept of shape {shapes[1]}; "
                    f"found {coef.shape} and {intercept.shape}"
                )
            starts = list(zip(coef, intercept.tolist(), strict=True))
        return [
            new_state(problem, code, start, readout=self.readout, seed=seed)
            for code, start in zip(codes, starts, strict=True)
        ]

    # ------------------------------------------------------------------------------------------ answering

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row: of shape (n,) for two classes, (n, n_classes) for more.

        For the voted readout it is the share of votes for the class minus the share against it.
        """
        check_is_fitted(self, "coef_")
        rows = Rows(X)
        validate_data(self, X, reset=False, skip_check_array=True)
        activations = _core.decide(rows.matrix, self.coef_, self.intercept_, self._threads())
        if not np.isfinite(activations).all():
            rows.check_finite()
        if getattr(self, "_ballots", None):
            tie = self.boundary != "negative"
            activations = np.stack([ballot.decide(rows, tie_is_positive=tie) for ballot in self._ballots], axis=1)
        return np.asarray(activations[:, 0] if activations.shape[1] == 1 else activations)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; a tie is positive, unless ``boundary="negative"``."""
        activations = self.decision_function(X)
        if len(self.classes_) == 1:
            return np.asarray(np.repeat(self.classes_, len(activations)))
        if activations.ndim == 1:
            positive = activations > 0 if self.boundary == "negative" else activations >= 0
            return np.asarray(self.classes_[positive.astype(np.intp)])
        return np.asarray(self.classes_[activations.argmax(axis=1)])

    # ------------------------------------------------------------------------------------------ checks

    def _check_parameters(self) -> Stop:
        """Refuse what cannot be meant, and return the stop rule."""
        self._rule()
        check_readout(self.readout)
        ties(self.boundary)
        if isinstance(self.max_iter, bool) or not isinstance(self.max_iter, int | np.integer) or self.max_iter < 1:
            raise ValueError(f"max_iter must be a whole number of at least 1; found {self.max_iter!r}")
        if self.stop is not None and not isinstance(self.stop, Stop):
            raise TypeError(f"stop must be a stop rule such as NoMistakes() | TimeLimit(10); found {self.stop!r}")
        return (self.stop or NoMistakes()) | MaxEpochs(int(self.max_iter))

    def _rule(self) -> Any:
        eta, margin = _number("eta0", self.eta0), _number("margin", self.margin)
        return MarginPerceptron(eta=eta, margin=margin) if margin else PerceptronRule(eta=eta)

    def _problem(self, X: Any, y: Any, sample_weight: Any, *, online: bool = False, expected: Any = None) -> Problem:
        """Check the data; online, against the width and the classes that are known already."""
        if y is None:
            raise ValueError("This Perceptron estimator requires y to be passed, but the target y is None.")
        later = online and hasattr(self, "_states")
        rows = Rows(X)
        validate_data(self, X, reset=not later, skip_check_array=True)
        if not (isinstance(y, np.ndarray) and y.ndim == 1):
            y = column_or_1d(y, warn=True)
        classes = _all_classes(y, self.classes_ if later else None, expected) if online else None
        bias = self._bias_constant if later and self.intercept_scaling == "ball" else self._bias()
        problem = Problem(rows, y, sample_weight=sample_weight, bias=bias, classes=classes, check_finite=False)
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=problem.classes, y=y)
            weights = by_class[problem.codes] * (1.0 if problem.weights is None else problem.weights)
            problem.weights = check_weights(weights, problem.n, what="class_weight")
        return problem

    def _bias(self) -> float | str | None:
        """Return the bias constant K, or how to find it."""
        if not self.fit_intercept:
            return None
        scaling = self.intercept_scaling
        if isinstance(scaling, str) and scaling == "ball":
            return scaling
        if (
            isinstance(scaling, str | bool)
            or not isinstance(scaling, int | float | np.number)
            or not 0 < scaling < 1e150
        ):
            raise ValueError(f"intercept_scaling must be 'ball' or a positive number below 1e150; found {scaling!r}")
        return float(scaling)

    def _seed(self) -> int:
        state = self.random_state
        if isinstance(state, int | np.integer) and not isinstance(state, bool) and 0 <= state < 2**32:
            return int(state)  # making a generator of it would take longer than checking the data
        return int(check_random_state(state).randint(np.iinfo(np.int32).max))

    def _threads(self) -> int:
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))


def _ballots(states: list[State], problem: Problem) -> list[Ballot]:
    """Return an empty ballot for each state that votes."""
    return [Ballot(state.start, float(problem.bias)) for state in states if state.start is not None]


def _number(name: str, value: Any) -> float:
    if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
        raise TypeError(f"{name} must be a number; found {value!r}")
    try:
        return float(value)
    except OverflowError:
        raise ValueError(f"{name} is too large for a floating-point number") from None


def _all_classes(y: Any, known: NDArray[Any] | None, expected: Any) -> NDArray[Any]:
    """Return the classes of these labels together with those known or expected; all must be of one kind."""
    parts = [encode_labels(part)[0] for part in (y, known, expected) if part is not None]
    if len({part.dtype.kind in "biuf" for part in parts}) > 1:
        shown = " and ".join(repr(part.tolist()[0]) for part in parts)
        raise ValueError(f"labels must be all numbers or all text; found {shown}")
    return np.asarray(np.unique(np.concatenate(parts)))


def _fingerprint(problem: Problem) -> tuple[Any, ...]:
    """Return what tells this data from other data: the shape, all labels and weights, and some of the rows."""
    values = problem.rows.values
    sample = values[:: max(1, problem.n // 64)]
    arrays = (sample.indices, sample.data) if is_sparse(sample) else (sample,)
    weights = () if problem.weights is None else (problem.weights,)
    return (
        problem.n,
        problem.d,
        *(zlib.crc32(np.ascontiguousarray(a).tobytes()) for a in (problem.codes, *weights, *arrays)),
    )


@contextmanager
def _undone_on_error(estimator: Any) -> Iterator[None]:
    """Leave the estimator as it was when something goes wrong: a failed fit must not spoil a good one."""
    before = dict(vars(estimator))
    try:
        yield
    except BaseException:
        callbacks = {name: value for name, value in vars(estimator).items() if "callback" in name}
        vars(estimator).clear()
        vars(estimator).update({**before, **callbacks})
        raise
