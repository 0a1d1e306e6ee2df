"""Logistic regression as a scikit-learn estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.bounds import least
from separatrix.certificates.data import Data, binary_data
from separatrix.certificates.model import PlaneMeasures
from separatrix.estimators.certified import FitRecord
from separatrix.estimators.l1 import checked_ratio, sparse_run, sparse_sentence, validate_sparse
from separatrix.estimators.loss_proofs import multinomial_certificate, proved_log_loss, proved_sparse
from separatrix.estimators.one_vs_rest import joint_status, positives
from separatrix.estimators.probabilistic import Probabilistic
from separatrix.estimators.sharded import SourceProblem
from separatrix.estimators.solved import MOST_HIDDEN, CostedRows, Ended, SolvedClassifier, hiding, one_or_all
from separatrix.estimators.unpenalised import ADVICE, LikelihoodRun, likelihood_sentence
from separatrix.geometry.device_rows import DeviceRows
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Problem
from separatrix.loop.state import Status
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.stops import Stop, TimeLimit
from separatrix.svm.centring import bias_within, restored
from separatrix.svm.l1 import SparseRun
from separatrix.svm.logistic import LogisticSolution, LogisticTask
from separatrix.svm.multinomial import MultinomialRun
from separatrix.svm.multinomial_bounds import MultinomialSolution, first_offsets
from separatrix.svm.multinomial_task import MultinomialTask
from separatrix.svm.newton import LogisticRun
from separatrix.svm.sparse_penalty import SparseSolution, SparseTask
from separatrix.svm.unpenalised import UnpenalisedTask
from separatrix.text import times

_MULTI_CLASS = ("auto", "multinomial", "ovr")
_MOST_WEIGHTS = 2_000_000  # of a multinomial model, with "auto"
_MOST_CLASSES = 100
_HUGE = 1e6  # a C that penalises so little that separable classes are worth a word


@dataclass(eq=False)
class LogisticState:
    """What one task has learned: weights and bias, and the run itself where it was cut short."""

    positive: int
    weights: Floats
    bias: float = 0.0
    run: Any = None
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
        require(self.run is None or type(self.run) in (LogisticRun, SparseRun), "a state is damaged")
        require(self.ended is None and type(self.new_data) is bool, "a state is damaged")


@dataclass(eq=False)
class MultinomialState:
    """What a multinomial model has learned: weights and biases of its classes, and a run that was cut short."""

    weights: Floats
    bias: Floats
    run: MultinomialRun | None = None
    ended: Any = None
    new_data: bool = False

    def begin_again(self) -> None:
        """Start a run of its own, from the weights there are."""
        self.run = self.ended = None

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        fits = is_array(self.weights, "f8", (None, None), finite=True)
        require(fits and is_array(self.bias, "f8", (len(self.weights),), finite=True), "a state is damaged")
        require(self.run is None or type(self.run) is MultinomialRun, "a state is damaged")
        require(self.ended is None and type(self.new_data) is bool, "a state is damaged")


class LogisticRegression(Probabilistic, SolvedClassifier):
    """Regularised logistic regression, with a proof of how near it is to the optimum.

    It minimises ``|w|^2 / 2 + C * sum(log(1 + exp(-y (w.x + b))))`` for two classes, and for more the cross-entropy of
    the softmax, ``|W|^2 / 2 + C * sum(log(sum_k exp(w_k.x + b_k)) - w_y.x - b_y)``: the objectives of scikit-learn. It
    does so by Newton's method, until the duality gap, computed anew from the data, is at most ``tol`` of the objective:
    no weights at all can be better by more than that. With ``l1_ratio`` r above 0, the penalty is ``(1 - r) |w|^2 / 2 +
    r |w|_1`` instead, which makes weights exactly zero; more than two classes are then learned one-vs-rest.

    Parameters
    ----------
    C : float, default=1.0
        The inverse of the strength of the penalty; larger fits the training examples more closely. ``inf`` is no
        penalty: the maximum of the likelihood, with a proof that it exists. Where a plane separates the classes, also
        if some rows lie on it, there is none: ``status_`` says so, and ``separation_`` proves it.
    l1_ratio : float, default=0.0
        The part of the penalty that is L1, as in scikit-learn: 0 is an L2 penalty, 1 an L1 penalty, what lies between
        an elastic net.
    tol : float, default=1e-4
        The largest gap, as a part of the objective.
    fit_intercept : bool, default=True
        Learn a bias that costs nothing. Without it the boundary goes through the origin.
    intercept_scaling : float, optional
        Learn LIBLINEAR's bias instead: the weight of one more feature, of this constant value, penalised like the
        others.
    max_iter : int, default=100
        Maximum number of iterations of Newton's method.
    multi_class : {"auto", "multinomial", "ovr"}, default="auto"
        How more than two classes are learned: together, with the softmax of their scores as probabilities
        ("multinomial"), or each against the rest ("ovr"). "auto" is multinomial for up to 100 classes whose weights
        (classes x features) are at most 2 million, else one-vs-rest; with an ``l1_ratio`` above 0 or C=inf it is
        one-vs-rest, and "multinomial" is refused. Two classes are one task whatever it is.
    stop : Stop or str, optional
        When to stop besides: ``TimeLimit`` or ``MaxEpochs``.
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of each class.
    warm_start : bool, default=False
        Start from the weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Changes nothing, because nothing is drawn; every estimator of this package has it.
    n_jobs : int, optional
        Threads for the classes of one-vs-rest, for predictions and, beyond those, for long products with the rows (-1:
        all processors). They never change a result.
    verbose : int, default=0
        With 1, say how far each class is.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Weights of shape (1, n_features) or (n_classes, n_features), and biases.
    classes_ : array
        The labels, sorted. Of several that are learned one-vs-rest, the probabilities are divided by their sum.
    objective_, duality_gap_ : float, or an array for one-vs-rest
        The value reached, and by how much it can be above the optimum at most, rounding errors included.
    separation_ : Certificate or None (a list of them for one-vs-rest)
        For C=inf where a maximum of the likelihood was not proved at once: whether a plane separates the rows of weight
        above 0; ``separation_.verify(X, y)`` checks it. The weights that grow without end are those of
        ``separation_.witness.plane``, the model's are where the run stopped.
    history_ : MarginHistory (a list of them for one-vs-rest)
        Primal and dual value, gap and seconds, iteration by iteration.
    n_iter_ : int
        Iterations of Newton's method; of one-vs-rest, the most.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, a dict of them by class for one-vs-rest, or JointCertificate for multinomial
        Certificate of the model on its training data, computed on first access: the training errors, and both values
        of the objective, recomputed from the weights and the data (not with C=inf).

    Notes
    -----
    Rows that are on a GPU, as a tensor of torch or an array of CuPy, are trained on there; Dask arrays and dataframes,
    on the workers of the present client.

    A sample weight multiplies C, so a weight of 2 is the same as giving the row twice. Rows of float32 stay float32;
    all sums are double.

    Of two classes with a free intercept, columns far from the origin (timestamps) are read less their means; the
    weights and the intercept are those of X as it is.

    The weights and biases of a multinomial model add up to 0 over the classes, as scikit-learn's do.

    The equations of Newton's method are solved with a Cholesky factor where there are few weights, else by conjugate
    gradients. Features of similar size make the latter faster; the optimum depends on the size of the features, because
    the penalty does.

    Without a penalty there is no dual value: that a maximum exists, and how near it is, follows from the last step of
    Newton's method (``svm/unpenalised.py``). ``objective_`` is then the sum of the losses alone.

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
        l1_ratio: float = 0.0,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        max_iter: int = 100,
        multi_class: str = "auto",
        stop: Stop | str | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.l1_ratio = l1_ratio
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.stop = stop
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _state = LogisticState

    @property
    def _probabilities(self) -> str:
        return "softmax" if type(self._states[0]) is MultinomialState else "sigmoid"

    @property
    def _learned_together(self) -> bool:
        return self._probabilities == "softmax"

    # ------------------------------------------------------------------------------------------ checks

    def _check_rule(self) -> None:
        cost, _ = self._check_problem()
        if not cost > 0:
            raise ValueError(f"C must be a positive number, or infinity for no penalty; found {self.C!r}")
        ratio = checked_ratio(self.l1_ratio)
        if math.isinf(cost) and (ratio > 0 or self.intercept_scaling is not None):
            unused = f"l1_ratio={self.l1_ratio!r}" if ratio > 0 else f"intercept_scaling={self.intercept_scaling!r}"
            raise ValueError(f"C=inf means no penalty, so {unused} has no meaning: use a finite C, or leave it out")
        if not (isinstance(self.multi_class, str) and self.multi_class in _MULTI_CLASS):
            raise ValueError(f"multi_class must be 'auto', 'multinomial' or 'ovr'; found {self.multi_class!r}")

    def _path_mark(self) -> tuple[Any, ...]:
        mark = ("logistic", float(self.C), self.tol, self.fit_intercept, self.intercept_scaling)
        return (*mark, float(self.l1_ratio)) if self.l1_ratio else mark

    def _watch_mark(self) -> tuple[Any, ...]:
        mark = ("logistic", float(self.C))
        return (*mark, float(self.l1_ratio)) if self.l1_ratio else mark

    def _advice(self) -> str | None:
        if math.isinf(self.C) and self._separated():
            return ADVICE
        return "Features of similar size (a scaler), a smaller C or a larger max_iter help."

    @property
    def _price(self) -> float:
        return 1.0 if math.isinf(self.C) else float(self.C)  # without a penalty nothing is compared with the loss

    def _separated(self) -> bool:
        """Whether separability is proved for some task."""
        proofs = self.separation_ if isinstance(self.separation_, list) else [self.separation_]
        return any(proof is not None and proof.separable in ("strict", "weak") for proof in proofs)

    @property
    def _ratio(self) -> float:
        """The part of the penalty that is L1."""
        return checked_ratio(self.l1_ratio)

    def _is_multinomial(self, problem: Any) -> bool:
        """Whether the classes of a problem are learned together."""
        k = len(problem.classes)
        if self.l1_ratio > 0 or math.isinf(self.C):
            if k > 2 and self.multi_class == "multinomial":
                what = f"l1_ratio={self.l1_ratio!r}" if self.l1_ratio > 0 else "C=inf"
                raise ValueError(f"multi_class='multinomial' needs an L2 penalty; found {what}: use multi_class='ovr'")
            return False
        if isinstance(problem, SourceProblem) and k > 2 and self.multi_class != "ovr":
            raise ValueError(
                "several classes are learned together only from rows in memory or on a GPU (found multi_class="
                f"{self.multi_class!r}): use 'ovr', or such rows"
            )
        few = k <= _MOST_CLASSES and k * problem.d <= _MOST_WEIGHTS
        return k > 2 and (self.multi_class == "multinomial" or (self.multi_class == "auto" and few))

    def _goes_on(self, problem: Problem) -> bool:
        joint = self._is_multinomial(problem)
        return super()._goes_on(problem) and (self._probabilities == "softmax") == joint

    # ------------------------------------------------------------------------------------------ learning

    def _start(self, problem: Problem, seed: int) -> list[Any]:
        if self._is_multinomial(problem):
            k = len(problem.classes)
            return [MultinomialState(np.zeros((k, problem.d)), np.zeros(k))]
        return [LogisticState(code, np.zeros(problem.d)) for code in positives(len(problem.classes))]

    def _run(self, problem: Problem, states: list[Any], stop: Stop, seed: int) -> None:
        if hasattr(self, "separation_"):  # which C=inf alone has
            del self.separation_
        if type(states[0]) is MultinomialState:
            self._run_multinomial(problem, states[0], stop)
        else:
            self._run_each(problem, states, stop)
        self._run_seed, self._width = seed, problem.d

    def _run_multinomial(self, problem: Problem, state: MultinomialState, stop: Stop) -> None:
        rows, costs, squares, kept = self._costed_rows(problem)
        bias, free = self._bias_kind()
        codes = (problem.codes if kept is None else problem.codes[kept]).astype(np.intp)
        task = MultinomialTask(rows, codes, len(problem.classes), costs, bias, free, squares)

        def begin(state: MultinomialState) -> Any:
            if isinstance(rows, DeviceRows):
                return self._joint_device_run(rows, task, kept)
            if state.run is None:
                offsets = first_offsets(task)
                if state.weights.any() and task.step:
                    offsets = (state.bias + (state.weights @ task.centre if free else 0.0)) / task.step
                state.run = MultinomialRun(task, float(self.tol), state.weights, offsets)
            state.run.task = task
            return state.run

        def ask(state: MultinomialState, epochs: int, halted: Callable[[], bool]) -> None:
            state.run = begin(state)
            state.run.tell = self._teller(problem, None, "iteration") if self.verbose else None
            state.run.go(epochs, halted)

        def keep(pressed: bool, limit: TimeLimit | None) -> None:
            self._spread.add_sample(problem.rows)
            run = state.run
            assert run is not None
            solution = run.solution
            self.coef_, self.intercept_ = solution.weights, solution.bias
            self.objective_, self.duality_gap_ = solution.primal, solution.proven_gap
            self.history_ = run.history
            self.n_iter_ = run.iterations - run.iterations_before
            self.status_ = _sentence(run, solution, interrupted=pressed, limit=limit)
            self._cut_short = run.ended == "halted"
            state.weights, state.bias = self.coef_.copy(), self.intercept_.copy()
            state.run = run.put_down() if self._cut_short and self.warm_start else None
            self._states = [state]

        self._solve_each([state], stop, ask, keep)

    def _run_each(self, problem: Problem, states: list[Any], stop: Stop) -> None:
        sharded = self._sharded(problem, len(states))
        counted = self._costed_rows(problem, sharded)
        given = counted.rows
        bias, free = self._bias_kind()
        if free and not math.isinf(self.C) and sharded is None:
            counted = counted.centred()
        rows, costs, squares, kept = counted

        def ask(state: LogisticState, epochs: int, halted: Callable[[], bool]) -> None:
            if sharded is not None or isinstance(rows, DeviceRows):
                state.run = (
                    self._device_run(problem, counted, state.positive, "log", fetch=False)
                    if sharded is None
                    else self._shard_run(sharded, state.positive, "log", fetch=False)
                )
                state.run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
                state.run.go(epochs, halted)
                return
            signs = self._signs_of(problem, state, kept)
            if math.isinf(self.C):
                likelihood = UnpenalisedTask(rows, signs, costs, free)
                state.run = LikelihoodRun(likelihood, float(self.tol), state.weights.copy(), state.bias * free)
                state.run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
                codes = problem.codes if kept is None else problem.codes[kept]
                state.run.decide(binary_data(rows, problem.classes, codes, free, state.positive), epochs, halted)
                return
            if state.run is not None and state.run.ended in ("gap", "rounding"):
                return  # it was done before the others were cut short
            start = bias_within(rows, state.weights, state.bias) if self.fit_intercept else 0.0
            tol = float(self.tol)
            run: Any = state.run
            if self.l1_ratio > 0:
                ratio = float(self.l1_ratio)
                part = SparseTask(rows, signs, costs, ratio, squared=False, bias=bias, free=free, known_squares=squares)
                run = sparse_run(part, tol, state.weights, start) if run is None else run
                run.task = part
            else:
                task = LogisticTask(rows, signs, costs, bias, free, squares)
                run = LogisticRun(task, tol, state.weights.copy(), start) if run is None else run
                run.task = task
            state.run = run
            run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
            run.go(epochs, halted)

        self._solve_each(
            states, stop, ask,
            lambda pressed, limit: self._keep(problem, states, counted, interrupted=pressed, limit=limit),
        )  # fmt: skip
        if (
            _HUGE <= self.C < math.inf
            and sharded is None
            and not isinstance(given, DeviceRows)
            and all(
                least(given, self._signs_of(problem, state, kept), state.weights, state.bias)[0] > 0.0
                for state in states
            )
        ):
            note = "the classes are separable: without a penalty the weights would grow without bound"
            text = f"{self.status_.text}; {note}"
            self.status_ = replace(self.status_, text=text)

    @staticmethod
    def _signs_of(problem: Problem, state: LogisticState, kept: NDArray[np.intp] | None) -> Floats:
        """Return the signs of the rows that count in a task."""
        signs = np.where(problem.codes == state.positive, 1.0, -1.0)
        return signs if kept is None else signs[kept]

    def _keep(
        self,
        problem: Problem,
        states: list[LogisticState],
        counted: CostedRows,
        *,
        interrupted: bool,
        limit: TimeLimit | None,
    ) -> None:
        """Set the fitted attributes from the runs."""
        self._spread.add_sample(problem.rows)
        runs: list[Any] = [state.run for state in states if state.run is not None]
        everything = float(counted.costs.sum())
        solutions = [restored(counted.rows, run.solution, everything, squared=False) for run in runs]
        self.coef_ = np.stack([solution.weights for solution in solutions])
        self.intercept_ = np.array([solution.bias for solution in solutions])
        self.objective_ = one_or_all([solution.primal for solution in solutions])
        self.duality_gap_ = one_or_all([solution.proven_gap for solution in solutions])
        self.history_: Any = runs[0].history if len(runs) == 1 else [run.history for run in runs]
        self.n_iter_ = max(run.iterations - run.iterations_before for run in runs)
        ends = [
            Ended(_sentence(run, solution, interrupted=interrupted, limit=limit), run.iterations)
            for run, solution in zip(runs, solutions, strict=True)
        ]
        self.status_ = joint_status(ends, problem.classes)
        if math.isinf(self.C):
            proofs = [run.separation for run in runs]
            self.separation_ = proofs[0] if len(proofs) == 1 else proofs
        self._cut_short = any(run.ended == "halted" for run in runs)
        for state, run, solution in zip(states, runs, solutions, strict=True):
            state.weights, state.bias = solution.weights.copy(), solution.bias
            resumed = self._cut_short and self.warm_start and not math.isinf(self.C)
            state.run = run.put_down() if resumed else None
        self._states: list[Any] = states

    # ------------------------------------------------------------------------------------------ what is proved

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        if math.isinf(record.settings["C"]):
            proof = self.separation_[which] if isinstance(self.separation_, list) else self.separation_
            return {} if proof is None else {"data": proof}
        if record.settings["l1_ratio"] > 0:
            return {"objective": proved_sparse(record, data, weights, bias, float(record.settings["l1_ratio"]))}
        return {"objective": proved_log_loss(record, data, weights, bias)}

    def _certificates(self, record: FitRecord, rows: Rows) -> Any:
        if not self._learned_together:
            return super()._certificates(record, rows)
        return multinomial_certificate(record, rows, self.classes_, self.coef_, self.intercept_)

    def _validate_model(self, width: int, n_classes: int) -> None:
        states: Any = vars(self).get("_states")
        if isinstance(states, list) and states and type(states[0]) is MultinomialState:
            require(n_classes > 2, "its states are of several classes")
            self._validate_weights(width, n_classes)
            self._validate_states(width, 1, MultinomialState)
            state, run = states[0], states[0].run
            require(state.weights.shape == (n_classes, width), "a state is of other data")
            fits = run is None or (run.weights.shape[1] == width and len(run.weights) <= n_classes)
            require(fits, "a run is of other data")
            return
        super()._validate_model(width, n_classes)
        for state in self._states:
            require(len(state.weights) == width, "a state is of other data")
            if type(state.run) is SparseRun:
                validate_sparse([state], width, n_classes, biased=self._bias_kind()[0] > 0)
            else:
                require(state.run is None or len(state.run.weights) == width, "a run is of other data")


def _sentence(
    run: LogisticRun | SparseRun | LikelihoodRun | MultinomialRun,
    solution: LogisticSolution | SparseSolution | MultinomialSolution,
    *,
    interrupted: bool,
    limit: TimeLimit | None,
) -> Status:
    """Return how a run ended that came to this solution."""
    if isinstance(solution, SparseSolution):
        assert isinstance(run, SparseRun)
        return sparse_sentence(run, solution, interrupted=interrupted, limit=limit)
    if isinstance(run, LikelihoodRun):
        return likelihood_sentence(run, interrupted=interrupted, limit=limit)
    gap, iterations = f"relative duality gap {min(solution.relative_gap, 1.0):.1e}", times(run.iterations, "iteration")
    hidden = solution.rounding / max(solution.primal, solution.least)
    if run.ended == "gap":
        if not hidden <= MOST_HIDDEN:
            text = f"stopped after {iterations}: {gap}, {hiding(hidden)}"
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
