"""The linear support vector machine as a scikit-learn estimator."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.certificates.data import Data
from separatrix.certificates.model import PlaneMeasures, SoftMargin
from separatrix.estimators.certified import FitRecord, soft_margin
from separatrix.estimators.l1 import UNUSED, SparseState, ratio_of, sparse_run, sparse_sentence, validate_sparse
from separatrix.estimators.loss_proofs import proved_sparse
from separatrix.estimators.one_vs_rest import joint_status, positives
from separatrix.estimators.sharded import SourceProblem
from separatrix.estimators.solved import MOST_HIDDEN, CostedRows, Ended, SolvedClassifier, hiding, one_or_all
from separatrix.geometry.device_rows import DeviceRows, to_numpy
from separatrix.geometry.rows import Floats
from separatrix.loop.problem import Problem
from separatrix.loop.state import Status
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.stops import Stop, TimeLimit
from separatrix.svm.centring import bias_within, restored
from separatrix.svm.hard import HardRun
from separatrix.svm.rowblocks.block_run import BlockRun
from separatrix.svm.solve import Run
from separatrix.svm.sparse_penalty import SparseTask
from separatrix.svm.task import MarginTask
from separatrix.text import times

LOSSES = ("hinge", "squared_hinge")
_OF_ROWS = ("support_", "n_support_", "dual_coef_", "slack_")
_MOST_FETCHED = 1 << 20  # numbers about rows that are fetched from a device


@dataclass(eq=False)
class MarginState:
    """What one task has learned: its dual weights and its plane, and the run itself where it was cut short."""

    positive: int
    alpha: Floats | None = None
    weights: Floats | None = None
    bias: float = 0.0
    run: Run | None = None
    ended: Any = None
    new_data: bool = False

    def begin_again(self) -> None:
        """Start a run of its own, from the dual weights there are."""
        self.run = self.ended = None

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        require(is_count(self.positive), "a state is of an unknown class")
        parts = [part for part in (self.alpha, self.weights) if part is not None]
        require(all(is_array(part, "f8", (None,), finite=True) for part in parts), "a state is damaged")
        require(is_real(self.bias) and math.isfinite(self.bias), "a state is damaged")
        require(self.run is None or type(self.run) in (Run, HardRun), "a state is damaged")
        require(self.ended is None and type(self.new_data) is bool, "a state is damaged")


class LinearSVM(SolvedClassifier):
    """The linear support vector machine: the plane with the largest margin, and a proof of how near it is to the best.

    It minimises ``|w|^2 / 2 + C * sum(loss(1 - y (w.x + b)))`` (Lecture 003) until the duality gap, computed anew from
    the data, is at most ``tol`` of the objective: no plane at all can be better by more than that.

    Parameters
    ----------
    C : float, default=1.0
        The price of slack; larger fits the training examples more closely. ``float("inf")`` is the hard margin: no
        slack at all, for classes that a plane separates; if none does, the run ends with a proof of that in
        ``witness_``.
    loss : {"hinge", "squared_hinge"}, default="hinge"
        What slack costs: its size, or its square.
    penalty : {"l2", "l1", "elasticnet"}, default="l2"
        What weights cost: ``|w|^2 / 2``, ``|w|_1``, or ``(1 - l1_ratio) |w|^2 / 2 + l1_ratio |w|_1``. The last two make
        weights exactly zero; they are for the squared hinge only.
    l1_ratio : float, default=0.5
        The part of the penalty "elasticnet" that is L1; the other penalties refuse another value than their own.
    tol : float, default=1e-4
        The largest gap, as a part of the objective; for the hard margin, of ``|w|^2 / 2``.
    fit_intercept : bool, default=True
        Learn a bias that costs nothing, as ``SVC(kernel="linear")`` has it. Without it the plane goes through the
        origin.
    intercept_scaling : float, optional
        Learn LIBLINEAR's bias instead: the weight of one more feature, of this constant value, penalised like the
        others.
    max_iter : int, default=1000
        Maximum number of epochs.
    stop : Stop or str, optional
        When to stop besides: ``TimeLimit`` or ``MaxEpochs``.
    class_weight : dict or "balanced", optional
        Multiplies C for the examples of each class.
    warm_start : bool, default=False
        Start from the dual weights of the last ``fit``; a run that was cut short goes on where it was.
    random_state : int, RandomState or None
        Where the order of visits comes from.
    n_jobs : int, optional
        Threads for several classes and, beyond those, for long products with the rows (-1: all processors). They never
        change a result.
    verbose : int, default=0
        With 1, say how far each class is.

    Attributes
    ----------
    coef_, intercept_ : arrays
        Weights of shape (1, n_features) or (n_classes, n_features), and biases.
    classes_ : array
        The labels, sorted. Two classes are one task; more are one task each, one-vs-rest.
    dual_coef_ : array of shape (1, n_support) or (n_classes, n_support)
        ``alpha y`` of the support vectors.
    support_, n_support_ : arrays
        The rows with a positive alpha in some task, and their number in each class.
    slack_ : array of shape (n,) or (n, n_classes)
        How far each training example is on the wrong side of its margin.
    margin_ : float or array
        ``1 / |w|``: half the width of the corridor between the classes.
    margin_bracket_ : tuple of two floats or arrays
        For the hard margin: the largest margin there is lies between them (with ``intercept_scaling``, the largest in
        the space with that feature).
    objective_, duality_gap_ : float or array
        The value reached, and by how much it can be above the optimum at most, rounding errors included.
    history_ : MarginHistory (a list of them for several classes)
        Primal and dual value, gap and seconds as the run went on.
    witness_ : array of shape (n,), or list
        For the hard margin on inseparable classes: convex weights with ``sum witness_ * y * x = 0`` (and, with a free
        bias, ``sum witness_ * y = 0``), which no plane can allow. Else None.
    n_iter_ : int
        Epochs of coordinate ascent together with the iterations of the methods that finish its work.
    status_ : Status
        Why the run stopped; ``str(status_)`` is a sentence.
    certificate_ : ModelCertificate, or a dict of them by class
        Certificate of the model on its training data, computed on first access.

    Notes
    -----
    Rows that are on a GPU, as a tensor of torch or an array of CuPy, are trained on there; Dask arrays and dataframes,
    on the workers of the present client.

    A sample weight multiplies C, so a weight of 2 is the same as giving the row twice. Rows of float32 stay float32;
    all sums are double. With a free intercept and a finite C, columns far from the origin (timestamps) are read less
    their means; the weights and the intercept are those of X as it is.

    Ctrl-C ends the run within a second or so; the estimator is then fitted with the best model so far and its
    gap, and KeyboardInterrupt is raised.

    Examples
    --------
    >>> from separatrix import LinearSVM
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], ["no", "no", "yes", "yes"]
    >>> model = LinearSVM(C=float("inf")).fit(X, y)
    >>> abs(model.coef_.round(6)).tolist(), model.intercept_.round(6).tolist(), round(model.margin_, 6)
    ([[1.0, 0.0]], [-1.0], 1.0)
    """

    def __init__(
        self,
        *,
        C: float = 1.0,
        loss: str = "hinge",
        penalty: str = "l2",
        l1_ratio: float = UNUSED,
        tol: float = 1e-4,
        fit_intercept: bool = True,
        intercept_scaling: float | None = None,
        max_iter: int = 1000,
        stop: Stop | str | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.C = C
        self.loss = loss
        self.penalty = penalty
        self.l1_ratio = l1_ratio
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

    _state = MarginState

    # ------------------------------------------------------------------------------------------ checks

    def _check_rule(self) -> None:
        cost, _ = self._check_problem()
        if not cost > 0:
            raise ValueError(f"C must be a positive number, or infinity for the hard margin; found {self.C!r}")
        if self.loss not in LOSSES:
            raise ValueError(f"loss must be one of {', '.join(LOSSES)}; found {self.loss!r}")
        if math.isinf(cost) and self.loss != "hinge":
            raise ValueError("C=inf allows no slack, so the loss has no meaning: leave loss at 'hinge'")
        if self._ratio > 0 and self.loss != "squared_hinge":
            raise ValueError(f"penalty={self.penalty!r} needs a smooth loss, 'squared_hinge'; found loss={self.loss!r}")

    @property
    def _ratio(self) -> float:
        """The part of the penalty that is L1."""
        return ratio_of(self.penalty, self.l1_ratio)

    # ------------------------------------------------------------------------------------------ going on

    def _path_mark(self) -> tuple[Any, ...]:
        mark = ("dual", float(self.C), self.loss, self.tol, self.fit_intercept, self.intercept_scaling)
        return (*mark, self._ratio) if self._ratio else mark

    def _watch_mark(self) -> tuple[Any, ...]:
        return ("dual", self.loss, float(self.C))

    def _goes_on(self, problem: Problem) -> bool:
        sparse = hasattr(self, "_states") and type(self._states[0]) is SparseState
        if sparse or self._ratio > 0:
            return super()._goes_on(problem) and sparse == (self._ratio > 0)
        alpha = self._states[0].alpha if super()._goes_on(problem) else None
        return alpha is not None and len(alpha) == problem.n

    def _advice(self) -> str | None:
        if math.isinf(self.C):
            return "A finite C allows slack."
        return "Features of similar size (a scaler), a smaller C or a larger max_iter help."

    # ------------------------------------------------------------------------------------------ learning

    def _start(self, problem: Problem, seed: int) -> list[Any]:
        codes = positives(len(problem.classes))
        if self._ratio > 0:
            return [SparseState(code, np.zeros(problem.d)) for code in codes]
        return [MarginState(code) for code in codes]

    def _run(self, problem: Problem, states: list[Any], stop: Stop, seed: int) -> None:
        if hasattr(self, "margin_bracket_"):  # which the hard margin alone has
            del self.margin_bracket_
        sharded = self._sharded(problem, len(states))
        counted = self._costed_rows(problem, sharded)
        bias, free = self._bias_kind()
        if free and not math.isinf(self.C) and sharded is None:
            counted = counted.centred()
        rows, costs, squares, kept = counted
        ratio = self._ratio

        def solve_sparsely(state: SparseState, epochs: int, halted: Callable[[], bool]) -> None:
            signs = np.where(problem.codes == state.positive, 1.0, -1.0)
            task = SparseTask(
                rows, signs if kept is None else signs[kept], costs, ratio, squared=True, bias=bias, free=free,
                known_squares=squares,
            )  # fmt: skip
            if state.run is not None and state.run.ended in ("gap", "rounding"):
                return  # it was done before the others were cut short
            if state.run is None:
                start = bias_within(rows, state.weights, state.bias) if self.fit_intercept else 0.0
                state.run = sparse_run(task, float(self.tol), state.weights, start)
            state.run.task = task
            state.run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
            state.run.go(epochs, halted)

        def ask(state: Any, epochs: int, halted: Callable[[], bool]) -> None:
            if ratio > 0:
                solve_sparsely(state, epochs, halted)
                return
            if sharded is not None or isinstance(rows, DeviceRows):
                fetch, which = self._fetches(problem), (state.positive, self.loss)
                state.run = (
                    self._device_run(problem, counted, *which, fetch=fetch)
                    if sharded is None
                    else self._shard_run(sharded, *which, fetch=fetch)
                )
                state.run.tell = self._teller(problem, state.positive, "iteration") if self.verbose else None
                state.run.go(epochs, halted)
                return
            signs = np.where(problem.codes == state.positive, 1.0, -1.0)
            task = MarginTask(
                rows, signs if kept is None else signs[kept], costs, self.loss == "squared_hinge", bias, free, squares
            )
            if state.run is not None and state.run.ended in ("gap", "inseparable"):
                return  # it was done before the others were cut short
            if state.run is None:
                start = None
                if state.alpha is not None:
                    start = np.minimum(state.alpha if kept is None else state.alpha[kept], costs)
                plane = None
                if state.weights is not None:
                    plane = state.weights, bias_within(rows, state.weights, state.bias)
                state.run = (HardRun if task.hard else Run)(task, float(self.tol), seed, start, plane)
            state.run.task = task
            state.run.tell = self._teller(problem, state.positive) if self.verbose else None
            state.run.go(epochs, halted)

        self._solve_each(
            states, stop, ask,
            lambda pressed, limit: self._keep(problem, states, counted, interrupted=pressed, limit=limit),
        )  # fmt: skip
        self._run_seed, self._width = seed, problem.d

    def _keep(
        self,
        problem: Problem,
        states: list[Any],
        counted: CostedRows,
        *,
        interrupted: bool,
        limit: TimeLimit | None,
    ) -> None:
        """Set the fitted attributes from the runs."""
        self._spread.add_sample(problem.rows)
        runs: list[Any] = [state.run for state in states if state.run is not None]
        everything, squared = float(counted.costs.sum()), self.loss == "squared_hinge"
        answers = [restored(counted.rows, run.solution, everything, squared=squared) for run in runs]
        alone = len(states) == 1
        self.coef_ = np.stack([answer.weights for answer in answers])
        self.intercept_ = np.array([answer.bias for answer in answers])
        device = isinstance(problem.rows, DeviceRows)
        alphas: Any = [None] * len(answers)
        if self._fetches(problem):
            alphas = self._keep_of_rows(problem, states, answers, counted)
        else:
            for name in _OF_ROWS:
                self.__dict__.pop(name, None)
        with np.errstate(divide="ignore", over="ignore"):
            self.margin_ = one_or_all([float(1.0 / _length(answer.weights)) for answer in answers])
        self.objective_ = one_or_all([answer.primal for answer in answers])
        self.duality_gap_ = one_or_all([answer.proven_gap for answer in answers])
        if math.isinf(self.C):
            highs = [min(answer.widest, run.widest) for answer, run in zip(answers, runs, strict=True)]
            self.margin_bracket_ = (one_or_all([answer.narrowest for answer in answers]), one_or_all(highs))
        proofs = [getattr(run, "witness", None) for run in runs]
        witnesses = [None if proof is None else counted.among_all(proof, problem.n) for proof in proofs]
        self.witness_ = witnesses[0] if alone else witnesses
        self.history_: Any = runs[0].history if alone else [run.history for run in runs]
        sparse = self._ratio > 0
        self.n_iter_ = max(run.iterations - (run.iterations_before if sparse else 0) for run in runs)
        sentence = sparse_sentence if sparse else _sentence
        ends = [
            Ended(sentence(run, answer, interrupted=interrupted, limit=limit), run.epochs)
            for run, answer in zip(runs, answers, strict=True)
        ]
        self.status_ = joint_status(ends, problem.classes)
        self._cut_short = any(run.ended == "halted" for run in runs)
        for state, run, answer, alpha in zip(states, runs, answers, alphas, strict=True):
            if not sparse and not device:
                state.alpha = alpha
            state.weights, state.bias = answer.weights.copy(), float(answer.bias)
            state.run = run.put_down() if self._cut_short and self.warm_start else None
        self._states: list[Any] = states

    def _fetches(self, problem: Any) -> bool:
        """Whether what is known of each row is kept: of rows on a device only if they are few, of others in memory."""
        if isinstance(problem, SourceProblem):
            return False
        numbers = problem.n * len(positives(len(problem.classes)))
        return not isinstance(problem.rows, DeviceRows) or numbers <= _MOST_FETCHED

    def _keep_of_rows(self, problem: Problem, states: list[Any], answers: list[Any], counted: CostedRows) -> Any:
        """Set the attributes that are about rows; return their dual weights, task by task."""
        alphas = [counted.among_all(answer.alpha, problem.n) for answer in answers]
        alone = len(states) == 1
        supports = alphas[0] > 0
        for alpha in alphas[1:]:
            supports |= alpha > 0
        self.support_ = np.flatnonzero(supports)
        codes = problem.codes[self.support_]
        self.n_support_ = np.bincount(codes, minlength=len(problem.classes))
        each = zip(states, (alpha[self.support_] for alpha in alphas), strict=True)
        self.dual_coef_ = np.stack([np.where(codes == state.positive, alpha, -alpha) for state, alpha in each])
        if counted.kept is None and not self._ratio:
            self.slack_ = answers[0].slack if alone else np.stack([answer.slack for answer in answers], axis=1)
        else:  # rows of weight 0 were left out, but have a slack too; a sparse solution keeps none
            signs = np.stack([np.where(problem.codes == state.positive, 1.0, -1.0) for state in states])
            scores = to_numpy(self._decide(problem.rows)).reshape(problem.n, -1)
            slack = np.maximum(1.0 - signs.T * scores, 0.0)
            self.slack_ = slack[:, 0] if alone else slack
        return alphas

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        settings = record.settings
        ratio = ratio_of(settings["penalty"], settings["l1_ratio"])
        if ratio > 0:
            return {"objective": proved_sparse(record, data, weights, bias, ratio)}
        if not hasattr(self, "dual_coef_"):
            return {}  # what no one kept cannot be claimed
        signed = np.zeros(len(record.codes))
        signed[self.support_] = self.dual_coef_[which]
        costs = np.full(data.n, float(settings["C"]))
        if record.weights is not None:
            kept = record.weights > 0
            signed, costs = signed[kept], costs * record.weights[kept]
        biased, scaling = bool(settings["fit_intercept"]), settings["intercept_scaling"]
        constant = float(scaling or 0.0) if biased else 0.0
        asked = SoftMargin(costs, settings["loss"] == "squared_hinge", biased and scaling is None, constant)
        return soft_margin(data, asked, weights, bias, measured, signed * data.signs)

    def _validate_model(self, width: int, n_classes: int) -> None:
        states: Any = vars(self).get("_states")
        if isinstance(states, list) and states and type(states[0]) is SparseState:
            n_tasks = len(positives(n_classes))
            self._validate_weights(width, n_tasks)
            self._validate_states(width, n_tasks, SparseState)
            validate_sparse(states, width, n_classes, biased=self._bias_kind()[0] > 0)
            return
        super()._validate_model(width, n_classes)
        for run in (state.run for state in self._states if state.run is not None):
            kept = [part for part in (run.best, run.shown, run.ascent, run.newton) if part is not None]
            require(all(len(part.weights) == width for part in kept), "a run is of other data")
        lengths = {None if state.alpha is None else len(state.alpha) for state in self._states}
        require(len(lengths) <= 1, "its states are of different data")
        planes = [state.weights for state in self._states if state.weights is not None]
        require(all(len(weights) == width for weights in planes), "a state is of other data")


def _length(weights: Floats) -> Any:
    """Return ``|w|``, also where its square is too small for a floating-point number."""
    length, largest = np.linalg.norm(weights), np.abs(weights).max()
    return length if length > 0.0 or largest == 0.0 else largest * np.linalg.norm(weights / largest)


def _sentence(run: Run | BlockRun, answer: Any, *, interrupted: bool, limit: TimeLimit | None) -> Status:
    """Return how a run ended that came to this answer."""
    epochs = times(run.epochs, "epoch")
    if run.ended == "inseparable":
        assert run.witness is not None
        rows = times(int(np.count_nonzero(run.witness)), "row")
        by = f" by a margin above {run.widest:.2g}" if run.widest > 0 else ""
        text = f"no plane separates the classes{by}: {rows}, with the weights in witness_, combine to zero"
        return Status(text, False, interrupted=interrupted)
    gap = f"relative duality gap {min(answer.relative_gap, 1.0):.1e}"  # no optimum is below 0
    if run.hard and math.isinf(answer.primal):
        gap = "no separating plane found" + (
            f" and none has a margin above {answer.widest:.3g}" if answer.dual > 0 else ""
        )
    if run.ended == "gap":
        method = "the interior-point method" if run.newton is None else "Newton's method"
        by = f"after {epochs}" if run.epochs else f"by {method}" if run.iterations else "at the start"
        hidden = answer.rounding / answer.primal if answer.primal > 0 else 0.0
        if not hidden <= MOST_HIDDEN:
            return Status(f"stopped {by}: {gap}, {hiding(hidden)}", False, interrupted=interrupted)
        doubt = f" (rounding could hide {hidden:.1e})" if hidden > run.tol else ""
        return Status(f"converged {by}: {gap}, at most tol={run.tol:g}{doubt}", True, interrupted=interrupted)
    at = f"iteration {run.iterations + 1}" if isinstance(run, BlockRun) else f"epoch {run.epochs + 1}"
    if interrupted:
        return Status(f"interrupted in {at}: {gap}", False, interrupted=True)
    if run.ended == "halted" and limit is not None:
        return Status(f"stopped by the time limit of {limit.seconds:g} s in {at}: {gap}", False)
    done = epochs if run.epochs else times(run.iterations, "iteration")
    return Status(f"stopped after {done}: {gap}, above tol={run.tol:g}", False)
