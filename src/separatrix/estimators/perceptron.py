"""The perceptron as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted, validate_data

from separatrix import _core
from separatrix.ball import smallest_ball
from separatrix.engines import ties
from separatrix.estimators.one_vs_rest import carry_over, joint_status, positives
from separatrix.observers import History, Progress, SklearnCallbacks
from separatrix.problem import Floats, Problem, Rows
from separatrix.readouts import Ballot, check_readout, read
from separatrix.rules import MarginPerceptron
from separatrix.rules import Perceptron as PerceptronRule
from separatrix.solution import Solution, State, Status
from separatrix.solving import new_state, solve_targets
from separatrix.stops import MaxEpochs, NoMistakes, Stop

try:  # scikit-learn 1.9 and later
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


_SCALE_BLOCKS, _SCALE_ROWS = 8, 32  # blocks of so many rows are looked at to learn each feature's scale


class Perceptron(CallbackSupportMixin, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The perceptron, in every form of the lectures.

    Each example that is misclassified moves the weights: ``w += eta0 * y * x``. If some plane separates the classes,
    the run ends with one that does, after at most ``(R / gamma)^2`` updates.

    Parameters
    ----------
    eta0 : float, default=1.0
        The learning rate. From a zero start it scales the weights and changes no decision.
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
        ``random_state``, not on how they are sorted.
    init : {"zeros", "uniform"} or (coef, intercept), default="zeros"
        Where to start; "uniform" draws from [-1, 1].
    margin : float, default=0.0
        Also learn from correct answers whose margin is at most this (the margin perceptron).
    stop : Stop, optional
        When to stop, besides ``max_iter``; by default when an epoch makes no mistakes. See ``separatrix.stops``.
    class_weight : dict or "balanced", optional
        How often an example of each class counts.
    warm_start : bool, default=False
        Go on from where the last ``fit`` stopped.
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
        Epochs run.
    n_updates_ : int
        Updates made, over all classes.
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
        problem = self._problem(X, y, sample_weight, reset=True)
        counted = problem.codes if problem.weights is None else problem.codes[problem.weights > 0]
        present = problem.classes[np.unique(counted)] if len(counted) < problem.n else problem.classes
        if len(present) < 2:
            raise ValueError(
                f"Perceptron needs examples of at least two classes; found one class: {np.asarray(present)[0]!r}"
            )
        seed = self._seed()
        go_on = self.warm_start and hasattr(self, "_states") and np.array_equal(self.classes_, problem.classes)
        if not (go_on and self._states[0].weights.shape == (problem.d,) and self._readout == self.readout):
            self._states = self._start(problem, seed)
            self._ballots = self._fresh_ballots(problem)
        self.classes_ = problem.classes
        solutions = self._run(problem, stop, seed)
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
        if self.class_weight == "balanced":
            raise ValueError("class_weight='balanced' needs all examples at once; give partial_fit a dict of weights")
        first = not hasattr(self, "_states")
        known = np.empty(0) if first else self.classes_
        problem = self._problem(X, y, sample_weight, reset=first, known=None if first else known, expected=classes)
        seed = self._seed() if first else self._run_seed
        if first:
            self._states = self._start(problem, seed)
            self._ballots = self._fresh_ballots(problem)
        elif len(problem.classes) > len(known):
            clock = self._states[0].clock
            self._states = carry_over(
                self._states, known, problem.classes,
                lambda code: new_state(problem, code, "zeros", readout=self.readout, seed=seed, clock=clock),
            )  # fmt: skip
            if self._ballots:
                zero = (np.zeros(problem.d), 0.0)
                self._ballots = carry_over(
                    self._ballots, known, problem.classes, lambda code: Ballot(zero, float(problem.bias))
                )
        for state in self._states:
            state.position = 0
        self.classes_ = problem.classes
        for solution in self._run(problem, MaxEpochs(1), seed):
            if solution.status.interrupted:
                raise KeyboardInterrupt
        return self

    def _run(self, problem: Problem, stop: Stop, seed: int) -> list[Solution]:
        """Solve all questions and set the fitted attributes."""
        self.history_ = History()
        observers: list[Any] = [self.history_]
        if self.verbose:
            observers.append(Progress())
        context = None
        if getattr(self, "_skl_callbacks", None):
            context = self._init_callback_context(max_subtasks=self.max_iter)
            context.call_on_fit_task_begin(estimator=self)
            observers.append(SklearnCallbacks(self, context, self._fitted_now))
        for state, code in zip(self._states, positives(len(problem.classes)), strict=True):
            state.positive = code
        solutions = solve_targets(
            problem, self._rule(), self._states, stop=stop, readout=self.readout, boundary=self.boundary,
            order="shuffled" if self.shuffle else "cyclic", seed=seed, n_jobs=self._threads(), observers=observers,
        )  # fmt: skip
        latest = max(state.epochs for state in self._states)
        for state in self._states:  # a question that ended early rejoins the others' numbering
            state.epochs = latest if state.position == 0 else state.epochs
        self._run_seed = seed
        self._readout = self.readout
        self._bias_constant = float(problem.bias)
        for ballot, state in zip(self._ballots, self._states, strict=False):
            ballot.extend(problem, state)
        for name, value in self._fitted_now().items():
            setattr(self, name, value)
        self.n_iter_ = max(solution.n_epochs for solution in solutions)
        self.n_updates_ = sum(solution.n_updates for solution in solutions)
        self.status_ = joint_status([solution.status for solution in solutions], self.classes_)
        if context is not None:
            context.call_on_fit_task_end(estimator=self)
        return solutions

    def _fitted_now(self) -> dict[str, Any]:
        """Return the fitted attributes as they would be if the run ended now."""
        readings = [read(state, self.readout) for state in self._states]
        return {
            "coef_": np.array([weights for weights, _ in readings], dtype=np.float64),
            "intercept_": np.array([float(bias) for _, bias in readings]),
            "classes_": self.classes_,
            "n_features_in_": self.n_features_in_,
            "_ballots": self._ballots,
        }

    def _start(self, problem: Problem, seed: int) -> list[State]:
        codes = positives(len(problem.classes))
        starts: Sequence[Any] = [self.init] * len(codes)
        if not isinstance(self.init, str):
            try:
                coef, intercept = np.atleast_2d(np.asarray(self.init[0])), np.atleast_1d(np.asarray(self.init[1]))
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

    def _fresh_ballots(self, problem: Problem) -> list[Ballot]:
        return [Ballot(state.start, float(problem.bias)) for state in self._states if state.start is not None]

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
        for name in ("eta0", "margin"):
            value = getattr(self, name)
            if isinstance(value, bool | str) or not isinstance(value, int | float | np.number):
                raise TypeError(f"{name} must be a number; found {value!r}")
        if self.margin:
            return MarginPerceptron(eta=float(self.eta0), margin=float(self.margin))
        return PerceptronRule(eta=float(self.eta0))

    def _problem(
        self, X: Any, y: Any, sample_weight: Any, *, reset: bool, known: Any = None, expected: Any = None
    ) -> Problem:
        if y is None:
            raise ValueError("This Perceptron estimator requires y to be passed, but the target y is None.")
        rows = Rows(X)
        validate_data(self, X, reset=reset, skip_check_array=True)
        if not (isinstance(y, np.ndarray) and y.ndim == 1):
            y = column_or_1d(y, warn=True)
        problem = Problem(rows, y, sample_weight=sample_weight, bias=None, check_finite=False)
        if known is not None or expected is not None:
            parts = [part for part in (known, expected) if part is not None]
            classes = np.unique(np.concatenate([problem.classes, *parts]))
            problem = Problem(rows, y, sample_weight=sample_weight, bias=None, classes=classes, check_finite=False)
        problem.bias = self._bias(problem, reset)
        if self.class_weight is not None:
            by_class = compute_class_weight(self.class_weight, classes=problem.classes, y=y)
            weights = by_class[problem.codes]
            problem.weights = weights if problem.weights is None else problem.weights * weights
        if reset:
            self._feature_scale = _scale(rows)
        return problem

    def _bias(self, problem: Problem, reset: bool) -> float:
        """Return the bias constant K."""
        if not self.fit_intercept:
            return 0.0
        scaling = self.intercept_scaling
        if isinstance(scaling, str):
            if scaling != "ball":
                raise ValueError(f"intercept_scaling must be a positive number or 'ball'; found {scaling!r}")
            if not reset:
                return self._bias_constant
            problem.rows.check_finite()
            ball = smallest_ball(problem.rows, problem.weights)
            return ball.upper if ball.lower > 0 else 1.0  # all rows alike have no radius
        if isinstance(scaling, bool) or not (0 < scaling < np.inf):
            raise ValueError(f"intercept_scaling must be a positive number or 'ball'; found {scaling!r}")
        return float(scaling)

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _threads(self) -> int:
        from joblib import effective_n_jobs

        return int(effective_n_jobs(self.n_jobs))


def _scale(rows: Rows) -> Floats:
    """Return the standard deviation of each feature over some blocks of rows, for ``importance``."""
    n, d = rows.shape
    starts = np.unique(np.linspace(0, max(0, n - _SCALE_ROWS), _SCALE_BLOCKS, dtype=np.intp))
    blocks = [slice(start, min(n, start + _SCALE_ROWS)) for start in starts]
    values = rows.values
    with np.errstate(all="ignore"):
        if not hasattr(values, "tocsr"):
            return np.asarray(np.concatenate([values[block] for block in blocks]).std(axis=0, dtype=np.float64))
        parts = [slice(values.indptr[block.start], values.indptr[block.stop]) for block in blocks]
        columns = np.concatenate([values.indices[part] for part in parts])
        entries = np.concatenate([values.data[part] for part in parts]).astype(np.float64)
        count = sum(block.stop - block.start for block in blocks)
        mean = np.bincount(columns, entries, minlength=d) / count
        square = np.bincount(columns, entries * entries, minlength=d) / count
        return np.asarray(np.sqrt(np.maximum(square - mean * mean, 0.0)))
