"""Logistic regression as a scikit-learn estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.estimators.one_vs_rest import joint_status, positives
from separatrix.estimators.probabilistic import Probabilistic
from separatrix.estimators.solved import Ended, SolvedClassifier, one_or_all
from separatrix.geometry.rows import Floats
from separatrix.loop.problem import Problem
from separatrix.loop.state import Status
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.stops import Stop, TimeLimit
from separatrix.svm.logistic import LogisticTask
from separatrix.svm.newton import LogisticRun
from separatrix.text import times


@dataclass(eq=False)
class LogisticState:
    """What one task has learned: weights and bias, and the run itself where it was cut short."""

    positive: int
    weights: Floats
    bias: float = 0.0
    run: LogisticRun | None = None
    ended: Any = None
    new_data: bool = False

    def begin_again(self) -> None:
        """Start a run of its own, from the weights there are."""
        self.run = self.ended = None

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        require(is_count(self.positive), "a state is of an unknown class")
        fits = is_array(self.weights, "f8", (None,), finite=True) and is_real(self.bias) and math.isfinite(self.bias)
        require(fits, "a state is damaged")
        require(self.run is None or type(self.run) is LogisticRun, "a state is damaged")
        require(self.ended is None and type(self.new_data) is bool, "a state is damaged")


class LogisticRegression(Probabilistic, SolvedClassifier):
    """L2-regularised logistic regression, with a proof of how near it is to the optimum.

    It minimises ``|w|^2 / 2 + C * sum(log(1 + exp(-y (w.x + b))))``, the objective of scikit-learn and LIBLINEAR, by
    Newton's method, until the duality gap, computed anew from the data, is at most ``tol`` of the objective: no weights
    at all can be better by more than that.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the strength of the penalty; larger fits the training examples more closely.
    tol : float, default=1e-4
        The largest gap, as a part of the objective.
    fit_intercept : bool, default=True
        Learn a bias that costs nothing. Without it the boundary goes through the origin.
    intercept_scaling : float, optional
        Learn LIBLINEAR's bias instead: the weight of one more feature, of this constant value, penalised like the
        others.
    max_iter : int, default=100
        Maximum number of iterations of Newton's method.
    stop : Stop or str, optional
        When to stop besides: ``TimeLimit`` or ``MaxEpochs``.
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of each class.
    warm_start : bool, default=False
        Start from the weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Changes nothing, because nothing is drawn; every estimator of this package has it.
    n_jobs : int, optional
        Threads for several classes (-1: all processors). They never change a result.
    verbose : int, default=0
        With 1, say how far each class is.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Weights of shape (1, n_features) or (n_classes, n_features), and biases.
    classes_ : array
        The labels, sorted. Two classes are one task; more are one task each, one-vs-rest, and their probabilities are
        divided by their sum.
    objective_, duality_gap_ : float or array
        The value reached, and by how much it can be above the optimum at most, rounding errors included.
    history_ : MarginHistory (a list of them for several classes)
        Primal and dual value, gap and seconds, iteration by iteration.
    n_iter_ : int
        Iterations of Newton's method; of several classes, the most.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, or a dict of them by class
        Certificate of the model on its training data, computed on first access.

    Notes
    -----
    A sample weight multiplies C, so a weight of 2 is the same as giving the row twice. Rows of float32 stay float32;
    all sums are double.

    The equations of Newton's method are solved with a Cholesky factor where there are few features, else by conjugate
    gradients. Features of similar size make the latter faster; the optimum depends on the size of the features, because
    the penalty does.

    Ctrl-C ends the run after the product with the rows that it is in, or the factor; the estimator is then fitted with
    the best model so far and its gap, and KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import LogisticRegression
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], ["low", "low", "high", "high"]
    >>> model = LogisticRegression(C=10.0).fit(X, y)
    >>> model.predict([[0.5], [2.5]]).tolist(), model.predict_proba([[1.5]]).round(6).tolist()
    (['low', 'high'], [[0.5, 0.5]])
    >>> model.duality_gap_ <= 1e-4 * model.objective_
    True
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        max_iter: int = 100,
        stop: Stop | str | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.stop = stop
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _state = LogisticState

    # ------------------------------------------------------------------------------------------ checks

    def _check_rule(self) -> None:
        cost, _ = self._check_problem()
        if not 0 < cost < math.inf:
            raise ValueError(f"C must be a positive, finite number; found {self.C!r}")

    def _path_mark(self) -> tuple[Any, ...]:
        return ("logistic", float(self.C), self.tol, self.fit_intercept, self.intercept_scaling)

    def _watch_mark(self) -> tuple[Any, ...]:
        return ("logistic", float(self.C))

    def _advice(self) -> str | None:
        return "Features of similar size (a scaler), a smaller C or a larger max_iter help."

    # ------------------------------------------------------------------------------------------ learning

    def _start(self, problem: Problem, seed: int) -> list[Any]:
        return [LogisticState(code, np.zeros(problem.d)) for code in positives(len(problem.classes))]

    def _run(self, problem: Problem, states: list[Any], stop: Stop, seed: int) -> None:
        rows, costs, squares, kept = self._costed_rows(problem)
        bias, free = self._bias_kind()

        def ask(state: LogisticState, epochs: int, halted: Callable[[], bool]) -> None:
            signs = np.where(problem.codes == state.positive, 1.0, -1.0)
            task = LogisticTask(rows, signs if kept is None else signs[kept], costs, bias, free, squares)
            if state.run is not None and state.run.ended in ("gap", "rounding"):
                return  # it was done before the others were cut short
            if state.run is None:
                start = state.bias if self.fit_intercept else 0.0
                state.run = LogisticRun(task, float(self.tol), state.weights.copy(), start)
            state.run.task = task
            state.run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
            state.run.go(epochs, halted)

        self._solve_each(
            states, stop, ask, lambda pressed, limit: self._keep(problem, states, interrupted=pressed, limit=limit)
        )
        self._run_seed, self._width = seed, problem.d

    def _keep(
        self, problem: Problem, states: list[LogisticState], *, interrupted: bool, limit: TimeLimit | None
    ) -> None:
        """Set the fitted attributes from the runs."""
        self._spread.add_sample(problem.rows)
        runs = [state.run for state in states if state.run is not None]
        solutions = [run.solution for run in runs]
        self.coef_ = np.stack([solution.weights for solution in solutions])
        self.intercept_ = np.array([solution.bias for solution in solutions])
        self.objective_ = one_or_all([solution.primal for solution in solutions])
        self.duality_gap_ = one_or_all([solution.proven_gap for solution in solutions])
        self.history_: Any = runs[0].history if len(runs) == 1 else [run.history for run in runs]
        self.n_iter_ = max(run.iterations - run.iterations_before for run in runs)
        ends = [Ended(_sentence(run, interrupted=interrupted, limit=limit), run.iterations) for run in runs]
        self.status_ = joint_status(ends, problem.classes)
        self._cut_short = any(run.ended == "halted" for run in runs)
        for state, run, solution in zip(states, runs, solutions, strict=True):
            state.weights, state.bias = solution.weights.copy(), solution.bias
            state.run = run.put_down() if self._cut_short and self.warm_start else None
        self._states: list[Any] = states

    def _validate_model(self, width: int, n_classes: int) -> None:
        super()._validate_model(width, n_classes)
        for state in self._states:
            require(len(state.weights) == width, "a state is of other data")
            require(state.run is None or len(state.run.weights) == width, "a run is of other data")


def _sentence(run: LogisticRun, *, interrupted: bool, limit: TimeLimit | None) -> Status:
    """Return how a run ended."""
    solution = run.solution
    gap, iterations = f"relative duality gap {solution.relative_gap:.1e}", times(run.iterations, "iteration")
    hidden = solution.rounding / max(solution.primal, solution.least)
    if run.ended == "gap":
        if not math.isfinite(hidden):
            text = f"stopped after {iterations}: {gap}, but rounding could hide any other"
            return Status(text, False, interrupted=interrupted)
        doubt = f" (rounding could hide {hidden:.1e})" if hidden > run.tol else ""
        text = f"converged after {iterations}: {gap}, at most tol={run.tol:g}{doubt}"
        return Status(text, True, interrupted=interrupted)
    if run.ended == "halted" and interrupted:
        return Status(f"interrupted in iteration {run.iterations + 1}: {gap}", False, interrupted=True)
    if run.ended == "halted" and limit is not None:
        text = f"stopped by the time limit of {limit.seconds:g} s in iteration {run.iterations + 1}: {gap}"
        return Status(text, False)
    if run.ended == "rounding":
        text = f"stopped after {iterations}: {gap}, above tol={run.tol:g}, and rounding allows no smaller one"
        return Status(text, False, interrupted=interrupted)
    return Status(f"stopped after {iterations}: {gap}, above tol={run.tol:g}", False, interrupted=interrupted)
