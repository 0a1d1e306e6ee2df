"""The perceptron in dual form, with a kernel, as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.budgeted import BudgetedClassifier
from separatrix.estimators.contract import ConvergenceWarning, check_is_fitted
from separatrix.estimators.fitting import checked_labels, count, encoded, undone_on_error
from separatrix.estimators.kept_errors import compare, count_wrong, verified, with_kept_errors
from separatrix.estimators.one_vs_rest import joint_status, positives, predicted_codes
from separatrix.estimators.voting import by_class
from separatrix.geometry.kernel_ball import kernel_radius
from separatrix.geometry.kernel_cache import KernelCache
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.engines import ties
from separatrix.loop.engines.kernelled import KernelEngine
from separatrix.loop.kernel_votes import KernelVotedWeights
from separatrix.loop.monitor import Recording
from separatrix.loop.order import order_of, seed_of
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.readouts import check_readout, read
from separatrix.loop.solve import solve_tasks
from separatrix.loop.state import Solution, State
from separatrix.models.validity import is_array, is_list_of, require
from separatrix.observers import History, Progress
from separatrix.rules import Perceptron as PerceptronRule
from separatrix.stops import MaxEpochs, NoMistakes, Stop, as_stop, held_out_fraction

Self = TypeVar("Self", bound="KernelPerceptron")

_VOTES = 1 << 22  # votes computed at once
_SMALL = 1 << 18  # kernel values that cost some milliseconds
_VOTED_WORK = 1 << 26  # products, up to which the votes on the training rows are worth counting: some 0.1 s


class KernelPerceptron(BudgetedClassifier):
    """The perceptron in dual form, with a kernel in place of inner products (Lecture 003, 2.5).

    The weights are never computed. Each example has a count of its mistakes, and a mistake at i, ``y_i a_i <= 0`` with
    the activation ``a_i = sum_j alpha_j y_j K(x_j, x_i) + b``, updates ``alpha_i += 1`` and ``b += y_i K^2``. With the
    linear kernel that is the run of :class:`Perceptron`, mistake by mistake; other kernels have curved boundaries.

    Parameters
    ----------
    kernel : {"rbf", "linear", "poly", "precomputed"} or callable, default="rbf"
        ``exp(-gamma |x - z|^2)``, ``x . z`` or ``(gamma x . z + coef0)^degree``. A callable takes two arrays and
        returns the kernel of each row of the first with each row of the second. With "precomputed", X is the kernel
        matrix.
    gamma : {"scale", "auto"} or float, default="scale"
        ``1 / (n_features * X.var())``, ``1 / n_features`` or a positive number, for "rbf" and "poly".
    degree : int, default=3
        For "poly".
    coef0 : float, default=0.0
        For "poly".
    bias : "ball", float or None, default="ball"
        The constant K of the bias, a positive number; "ball" is the radius of the smallest enclosing ball of the
        examples in the space of the kernel. With None or 0 there is no bias.
    budget : int, optional
        Store at most this many examples for each one-vs-rest problem (two classes: one problem); None stores every
        example of a mistake. Such a run may never end without mistakes, and the bound on the mistakes of the perceptron
        does not hold for it.
    forget : {"oldest", "random", "projected"}, default="oldest"
        What happens at a mistake when the budget is full; without one it has no meaning. "oldest" is the self-tuned
        Forgetron: all counts shrink, and the example whose last mistake is the longest ago is removed. "random" removes
        any stored example, as the randomised budget perceptron does. "projected", the Projectron, stores no more than
        is there and replaces the example by its projection onto the span of the stored ones; those that are
        combinations of others give their places away first. It keeps ``budget + 1`` kernel rows in the cache.
    readout : {"last", "averaged", "voted", "pocket"}, default="last"
        Which counts become the model, as for :class:`Perceptron`. With a budget the average of all weights is kept for
        ``forget="projected"`` only, where it is a combination of the stored examples too; voted and pocket would store
        others.
    max_iter : int, default=1000
        Maximum number of epochs.
    shuffle : bool or "random", default=True
        Shuffle the examples before each epoch, or draw them at random with replacement: the orders of
        :class:`Perceptron` for the same ``random_state``.
    boundary : {"mistake", "positive", "negative"}, default="mistake"
        How an activation of exactly 0 counts in training. ("correct" could never make a first update.)
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default when an epoch makes no mistakes. See ``separatrix.stops``;
        a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong (Lecture 004's L), or "perceptron" (Lecture 000's E_P). For more than two
        classes it is added over the one-vs-rest problems.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    class_weight : dict or "balanced", optional
        Weight of the examples of each class.
    cache_size : float, default=500
        Size of the cache of kernel rows in megabytes. Rows that do not fit are recomputed when needed.
    random_state : int, RandomState or None
        Seed of the orders.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    alpha_ : array of shape (n_samples,) or (n_classes, n_samples)
        Number of updates with each example at the end of the run; with weights, their sum. With a budget, what is left
        of it. After ``partial_fit`` it is about the support vectors alone.
    support_ : array of shape (n_SV,)
        The rows that the model needs; after ``partial_fit``, which keeps no others, 0, 1, 2, ...
    support_vectors_ : array or sparse matrix of shape (n_SV, n_features)
        The rows themselves; empty for a precomputed kernel.
    dual_coef_ : array of shape (1, n_SV) or (n_classes, n_SV)
        ``alpha_i y_i`` of the readout; of the voted readout, which has many, their average.
    intercept_ : array of shape (1,) or (n_classes,)
        The bias.
    bias_constant_ : float
        The constant K, 0 for none.
    classes_ : array
        The labels, sorted.
    n_iter_, n_updates_ : int
        Epochs and updates, over all classes.
    history_ : History
        Mistakes, loss, length of the vector of counts and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    votes_ : tuple of Vote, or for more than two classes one such tuple for each class
        With ``readout="voted"``: the ``alpha_i y_i`` over the support vectors after each update (``weights``), with
        ``bias`` and ``count``, the number of examples that they survived. Computed on access.

    Notes
    -----
    More than two classes are trained one-vs-rest. A sample weight of 2 is the same as giving the row twice, 0 the same
    as leaving it out (with a budget, a row given twice may take two places). Kernel rows are computed in float64.

    With a budget, ``partial_fit`` learns from a stream of any length and keeps the stored examples only. "oldest" is
    the algorithm of Dekel, Shalev-Shwartz and Singer (SIAM Journal on Computing 37, 2008) where each example is
    presented once. Of one call of ``fit`` with weights of at most 1 this holds, where every ``K(x, x) + K^2`` has been
    scaled to at most 1: for every weight vector u in the space of the kernel, M mistakes and shrinking factors phi,
    ``17/32 M <= |u|^2 (1 + sum (1 - phi) / (1 + phi)) + 2 sum max(0, 1 - y u . x)``, the last sum over the mistakes.
    The paper bounds the shrinking too, for large budgets and short u. "random" (Cavallanti, Cesa-Bianchi and Gentile,
    Machine Learning 69, 2007) has a bound in expectation. "projected" is the algorithm of Orabona, Keshet and Caputo
    (Journal of Machine Learning Research 10, 2009) with a limit on the examples in place of one on the residuals, so
    that its bound does not hold.

    Ctrl-C ends the run within a second; the estimator is then fitted with the best state so far and
    KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import KernelPerceptron
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]
    >>> model = KernelPerceptron(shuffle=False).fit(X, y)
    >>> model.predict(X).tolist(), str(model.status_)
    ([0, 1, 1, 0], 'converged: no mistakes (epoch 2)')
    """

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        gamma: float | str = "scale",
        degree: int = 3,
        coef0: float = 0.0,
        bias: float | str | None = "ball",
        budget: int | None = None,
        forget: str = "oldest",
        readout: str = "last",
        max_iter: int = 1000,
        shuffle: bool | str = True,
        boundary: str = "mistake",
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        class_weight: Any = None,
        cache_size: float = 500,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.bias = bias
        self.budget = budget
        self.forget = forget
        self.readout = readout
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.boundary = boundary
        self.stop = stop
        self.record = record
        self.every = every
        self.class_weight = class_weight
        self.cache_size = cache_size
        self.random_state = random_state
        self.verbose = verbose

    # ------------------------------------------------------------------------------------------ fitting

    def fit(self: Self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Train on all examples, epoch after epoch, until a stop rule ends the run.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The examples; for a precomputed kernel the kernel matrix, of shape (n_samples, n_samples).
        y : sequence of n_samples labels
            Their classes, two or more.
        sample_weight : sequence of n_samples floats, optional
            Weight of each example.

        Returns
        -------
        self
            This estimator.
        """
        return self._fit_labels(X, encoded(self, y), sample_weight)

    def _fit_codes(self: Self, X: Any, codes: Any, classes: NDArray[Any], sample_weight: Any = None) -> Self:
        """Do what ``fit`` does for labels that are places in the sorted ``classes``; each must have an example."""
        return self._fit_labels(X, checked_labels(codes, classes), sample_weight)

    def _fit_labels(self: Self, X: Any, labels: Labels, sample_weight: Any) -> Self:
        stop = self._check_numbers()
        with undone_on_error(self):
            problem, kernel = self._checked(X, labels, sample_weight)
            cache = KernelCache(kernel, problem.rows, self.cache_size, np.float64)
            problem.bias = self._constant(cache, problem)
            seed = seed_of(self.random_state)
            states = [self._new_state(problem, code, seed) for code in positives(len(problem.classes))]
            self._learn(problem, kernel, cache, states, stop, seed)
            small = problem.n * len(self.support_) <= _SMALL  # where rounding could decide, predictions do
            self.status_ = with_kept_errors(
                self.status_, states, f"{self.readout} weights",
                several=len(self.classes_) > 2,
                proved=not small and self.readout in ("last", "pocket") and held_out_fraction(stop) == 0
                and all(map(verified, states)),
                count=lambda: self._count_wrong(problem, cache, small=small),
            )  # fmt: skip
        if not self.status_.converged and not self.status_.interrupted and self.stop is None and self.readout == "last":
            advice = "The last counts of such a run are arbitrary: readout='averaged' or 'pocket' fits better."
            if self.budget is not None:
                advice = "A run with a budget may always make mistakes: max_iter can be much smaller."
            warnings.warn(f"{self.status_}. {advice}", ConvergenceWarning, stacklevel=3)
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _learn(
        self, problem: Problem, kernel: Kernel, cache: KernelCache, states: list[State], stop: Stop, seed: int
    ) -> list[Solution]:
        """Run, and set the fitted attributes but for the status."""
        history = History(self.record)
        solutions = solve_tasks(
            problem, PerceptronRule(), states, engine=partial(KernelEngine, cache=cache), stop=stop,
            readout=self.readout, boundary=self.boundary, order=order_of(self.shuffle), seed=seed,
            observers=[history, *([Progress()] if self.verbose else [])], record=self.record, every=self.every,
        )  # fmt: skip
        self.history_ = history
        self._keep(problem, kernel, cache, solutions)
        self._keep_states(states, seed)
        self.status_ = joint_status(solutions, self.classes_)
        return solutions

    def _default_stop(self) -> Stop:
        return NoMistakes()

    def _check_numbers(self) -> Stop:
        check_readout(self.readout)
        self._check_budget()
        ties(self.boundary)
        if self.boundary == "correct":
            raise ValueError(
                "boundary must be one of mistake, positive, negative; found 'correct': all counts are zero at first, "
                "so every example is a tie, and if a tie is correct nothing is ever learned"
            )
        bias = self.bias
        named = isinstance(bias, str) and bias == "ball"
        if not (named or bias is None) and (
            isinstance(bias, str | bool) or not isinstance(bias, int | float | np.number) or not 0 <= bias < 1e150
        ):
            raise ValueError(f"bias must be 'ball', None, zero or a positive number below 1e150; found {bias!r}")
        order_of(self.shuffle)
        Recording(self.record, self.every)
        return (as_stop(self.stop) or self._default_stop()) | MaxEpochs(count("max_iter", self.max_iter))

    def _validate_machines(self, n_classes: int, n_support: int) -> None:
        n_tasks, ballots = len(positives(n_classes)), self._ballots
        fits = is_array(self.dual_coef_, "f8", (n_tasks, n_support), finite=True)
        require(fits, "its dual_coef_ are not of their shape")
        require(is_array(self.intercept_, "f8", (n_tasks,), finite=True), "its intercept_ is not of its shape")
        fits = is_list_of(ballots, KernelVotedWeights) and len(ballots) in (0, n_tasks)
        require(fits, "its voted weights are damaged")
        self._validate_states(n_tasks, n_support)
        for rows in (ballot.voters().rows for ballot in ballots):
            fits = len(rows) == 0 or (rows.min() >= 0 and rows.max() < n_support)
            require(fits, "the voted weights name rows that are not there")

    def _constant(self, cache: KernelCache, problem: Problem) -> float:
        """Return the bias constant K."""
        if self.bias != "ball":
            return float(self.bias or 0.0)
        radius = kernel_radius(cache.kernel, problem.rows, problem.weights)
        return radius.constant if radius.lower > 0 else 1.0  # identical examples have no radius

    def _keep(self, problem: Problem, kernel: Kernel, cache: KernelCache, solutions: list[Solution]) -> None:
        """Set the fitted attributes."""
        coef = np.array([read(solution.state, self.readout)[0] for solution in solutions])
        needed = (coef != 0).any(axis=0) | np.any([solution.state.weights != 0 for solution in solutions], axis=0)
        if self.readout == "pocket":
            needed = (coef != 0).any(axis=0)
        for support in (solution.state.support for solution in solutions):
            if support is not None:
                needed[support.rows] = True  # of which some may have a coefficient of 0
        index = np.flatnonzero(needed)
        signs = [np.where(problem.codes == solution.state.positive, 1.0, -1.0) for solution in solutions]
        counts = np.array([solution.state.weights for solution in solutions]) * signs + 0.0  # no zero is negative
        if problem.weights is None and self.budget is None:
            counts = counts.astype(np.int64)
        self.alpha_ = counts[0] if len(counts) == 1 else counts
        self.classes_ = problem.classes
        self._precision, self._center = "float64", cache.center
        self._keep_support(problem, kernel, index)
        self.dual_coef_ = coef[:, index]
        self.intercept_ = np.array([float(solution.bias) for solution in solutions])
        self.bias_constant_ = float(problem.bias)
        self._ballots = []
        place = np.cumsum(needed) - 1
        if self.readout == "voted":
            for state in (solution.state for solution in solutions):
                ballot = KernelVotedWeights(state.votes or [], float(state.age), self.bias_constant_)
                ballot.settle(place)
                self._ballots.append(ballot)
        for state in (solution.state for solution in solutions):
            if state.support is not None:
                state.support.settle(place)
                state.weights = state.weights[index]
                if state.average_correction is not None:
                    state.average_correction = state.average_correction[index]
        self.n_iter_ = max(solution.n_epochs for solution in solutions)
        self.n_updates_ = sum(solution.n_updates for solution in solutions)

    def _count_wrong(self, problem: Problem, cache: KernelCache, *, small: bool) -> tuple[int, int] | None:
        """Return how many training rows the model gets wrong, of how many; None where that would take too long."""
        tie = self.boundary != "negative"
        voters = max((ballot.n_voters for ballot in self._ballots), default=0)
        votes = problem.n * max(voters, len(self.support_) * problem.d)
        if small or (voters and votes <= _VOTED_WORK):
            return count_wrong(problem, self._decide, tie_is_positive=tie)
        if voters or len(self.support_) > cache.capacity:
            return None
        coef = np.zeros((len(self.dual_coef_), problem.n))
        coef[:, self.support_] = self.dual_coef_
        activations = np.stack([cache.combine(each) for each in coef], axis=1) + self.intercept_
        activations = activations[:, 0] if len(coef) == 1 else activations
        return compare(problem, predicted_codes(activations, len(self.classes_), tie_is_positive=tie))

    # ------------------------------------------------------------------------------------------ predicting

    @property
    def votes_(self) -> tuple[Any, ...]:
        """The dual weights after each update of a voted run, with the number of examples that they survived."""
        check_is_fitted(self, "dual_coef_")
        return by_class([partial(ballot.votes, len(self.support_)) for ballot in self._ballots])

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row: of shape (n,) for two classes, (n, n_classes) for more.

        For the voted readout it is the fraction of votes for the class minus the fraction against it.
        """
        check_is_fitted(self, "dual_coef_")
        rows = self._checked_new(X)
        with np.errstate(over="ignore", invalid="ignore"):
            return rows.checked_activations(self._decide(rows))

    def _decide(self, rows: Rows) -> Floats:
        """Return the activations of checked rows."""
        if not self._ballots:
            activations = self._activations(rows, self.dual_coef_.T) + self.intercept_
        else:
            activations = np.empty((rows.shape[0], len(self._ballots)))
            step = max(1, _VOTES // max(ballot.n_voters for ballot in self._ballots))
            for begin, values in self._kernel_blocks(rows, step):
                for k, ballot in enumerate(self._ballots):
                    votes = ballot.decide(values, tie_is_positive=self.boundary != "negative")
                    activations[begin : begin + len(values), k] = votes
        return np.asarray(activations[:, 0] if activations.shape[1] == 1 else activations)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; a tie is positive, except with ``boundary="negative"``."""
        codes = self._predict_codes(X)
        return np.asarray(self.classes_[codes])

    def _predict_codes(self, X: Any) -> NDArray[np.intp]:
        """Return the place in ``classes_`` of each row's class."""
        activations = self.decision_function(X)
        return predicted_codes(activations, len(self.classes_), tie_is_positive=self.boundary != "negative")
