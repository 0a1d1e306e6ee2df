"""The linear support vector machine that learns one example at a time, as a scikit-learn estimator."""

from __future__ import annotations

import math
from typing import Any

from separatrix.estimators.fitting import check_free_bias, number
from separatrix.estimators.linear import RuleClassifier
from separatrix.loop.problem import Labels, Problem
from separatrix.models.validity import is_real, require
from separatrix.rules import OnlineHinge, Pegasos
from separatrix.stops import NoProgress, Stop

STEPS = ("pegasos", "lecture")


class OnlineSVM(RuleClassifier):
    """The linear support vector machine, trained by stochastic steps on one example after the other.

    It minimises the objective of :class:`LinearSVM` with the hinge loss, ``|w|^2 / 2 + C * sum(max(0, 1 - y (w.x +
    b)))``, without looking at all data at once, and can go on with ``partial_fit``; there is no duality gap.

    Parameters
    ----------
    C : float, default=1.0
        The price of slack; larger fits the training examples more closely.
    step : {"pegasos", "lecture"}, default="pegasos"
        ``1 / (lambda t)`` with ``lambda = 1 / (C n)``, or Lecture 003's, which shrinks the weights by ``1 / (2 n)`` and
        adds ``C y x``, and so hovers around the optimum for ``2 C``. n is the number of examples, with ``partial_fit``
        of all so far.
    average : bool, default=False
        Return the average of the weights of all steps.
    project : bool, default=True
        Keep Pegasos's weights within the ball that holds the optimum: it tames the long first steps.
    fit_intercept : bool, default=True
        Learn a bias that costs nothing. Without it the plane goes through the origin.
    intercept_scaling : float, optional
        Learn LIBLINEAR's bias instead: the weight of one more feature, of this constant value, penalised like the
        others.
    max_iter : int, default=1000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop, besides ``max_iter``; by default ``NoProgress()``. See ``separatrix.stops``;
        a text such as "no-mistakes | time:10" is read by its ``parse``.
    record : str, optional
        A loss to keep in ``history_.loss``: its sum over the training examples for the weights as they are after an
        epoch. Its name is one of those of ``separatrix.rules.losses``, such as "zero_one", the number of training rows
        that these weights predict wrong (Lecture 004's L), or "perceptron" (Lecture 000's E_P). For more than two
        classes it is added over the one-vs-rest problems.
    every : int, default=1
        Record it after every so many epochs: ``history_.loss`` is None after the others.
    shuffle : bool or "random", default=True
        Visit the examples in a new order each epoch, or with "random" draw them with replacement.
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of each class.
    warm_start : bool, default=False
        Start from the weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Where the order of visits comes from.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result.
    verbose : int, default=0
        With 1, show a progress bar during long runs.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Weights of shape (1, n_features) or (n_classes, n_features), and biases.
    classes_ : array
        The labels, sorted.
    n_iter_, n_updates_ : int
        Epochs and updates of the last call.
    history_ : History
        Mistakes, loss, length of the weights and seconds, epoch by epoch.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, or a dict of them by class
        Certificate of the model on its training data, computed on first access.

    Examples
    --------
    >>> from separatrix import OnlineSVM
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = OnlineSVM(random_state=0).fit(X, y)
    >>> model.predict(X).tolist()
    ['no', 'no', 'yes', 'yes']
    """

    init = "zeros"
    _weight_seen: float  # the total weight of all examples so far

    def __init__(
        self,
        *,
        C: float = 1.0,
        step: str = "pegasos",
        average: bool = False,
        project: bool = True,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        max_iter: int = 1000,
        stop: Stop | str | None = None,
        record: str | None = None,
        every: int = 1,
        shuffle: bool | str = True,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.step = step
        self.average = average
        self.project = project
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.stop = stop
        self.record = record
        self.every = every
        self.shuffle = shuffle
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _rule_is_steady = False

    @property
    def readout(self) -> str:  # type: ignore[override]
        """Which weights of a run become the model."""
        return "averaged" if self.average else "last"

    def _rule(self) -> Any:
        cost = number("C", self.C)
        if not 0 < cost < math.inf:
            raise ValueError(
                f"C must be a positive number; found {self.C!r}; the hard margin (C=inf) needs sx.LinearSVM"
            )
        check_free_bias(self.intercept_scaling)
        if self.step not in STEPS:
            raise ValueError(f"step must be one of {', '.join(STEPS)}; found {self.step!r}")
        bias = "free" if self.intercept_scaling is None else "penalised"
        seen = getattr(self, "_weight_seen", 1.0)
        if not 1e-300 <= cost * seen <= 1e300:
            raise ValueError(
                f"C times the total weight of the examples must lie between 1e-300 and 1e300; found {cost * seen:g}"
            )
        if self.step == "lecture":
            return OnlineHinge(gamma=cost, n=max(seen, 1.0), bias=bias)
        return Pegasos(lam=1.0 / (cost * seen), project=self.project, bias=bias)

    def _default_stop(self) -> Stop | None:
        return NoProgress()

    def _problem(self, X: Any, labels: Labels, sample_weight: Any, *, online: bool = False) -> Problem:
        problem = super()._problem(X, labels, sample_weight, online=online)
        weight = float(problem.n if problem.weights is None else problem.weights.sum())
        self._weight_seen = weight + (self._weight_seen if online and hasattr(self, "_states") else 0.0)
        return problem

    def _bias(self) -> float | str | None:
        return float(self.intercept_scaling or 1.0) if self.fit_intercept else None

    def _watch_mark(self) -> tuple[Any, ...]:
        return ("online", "hinge", float(self.C))

    def _check_continuation(self) -> None:
        super()._check_continuation()
        if (self._bias_constant > 0) != bool(self.fit_intercept):
            raise ValueError("fit_intercept has changed since learning began: set it back, or start anew with fit")

    def _validate_model(self, width: int, n_classes: int) -> None:
        super()._validate_model(width, n_classes)
        seen = self._weight_seen
        require(is_real(seen) and 0 <= seen < math.inf, "it does not say how much it has seen")
