"""What the linear estimators share that solve a convex problem to a proven duality gap, task by task."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.estimators.contract import check_is_fitted
from separatrix.estimators.fitting import (
    check_costs,
    check_free_bias,
    class_factors,
    encoded,
    number,
    refuse_weightless,
    threads,
    undone_on_error,
)
from separatrix.estimators.linear import LinearClassifier
from separatrix.estimators.sharded import Sharded, SourceProblem, shards_of
from separatrix.geometry.device_rows import DeviceRows
from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.interrupts import interrupts
from separatrix.loop.order import seed_of
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.state import Status
from separatrix.stops import MaxEpochs, Stop, TimeLimit, as_stop, time_limit
from separatrix.svm.centring import centred
from separatrix.svm.rowblocks.sharded import Source

if TYPE_CHECKING:
    from separatrix.estimators.leave_one_out import LeaveOneOut
    from separatrix.svm.multinomial_task import MultinomialTask


Self = TypeVar("Self", bound="SolvedClassifier")

MOST_HIDDEN = 1.0  # part of the objective that rounding may hide in a fit that has converged


class CostedRows(NamedTuple):
    """The rows that count, what the loss of each costs, their squared lengths; and where they are among all rows.

    ``kept`` is None where there are no weights, so that they are all rows.
    """

    rows: Rows
    costs: Floats
    squares: Floats
    kept: NDArray[np.intp] | None

    def centred(self) -> CostedRows:
        """Return these with the columns that are far from the origin read less their means."""
        rows = self.rows if isinstance(self.rows, DeviceRows) else centred(self.rows)
        return self if rows is self.rows else self._replace(rows=rows, squares=_core.square_norms(rows.matrix))

    def among_all(self, values: Floats, n: int) -> Floats:
        """Return values of these rows as values of all n, 0 for those that do not count."""
        if self.kept is None:
            return values
        whole = np.zeros(n)
        whole[self.kept] = values
        return whole


class Ended(NamedTuple):
    """How a task's run ended, and after how many epochs or iterations."""

    status: Status
    n_epochs: int


class SolvedClassifier(LinearClassifier):
    """Minimises ``|w|^2 / 2`` plus C times the losses until the duality gap is small enough; see the subclasses."""

    C: float
    tol: float

    def leave_one_out(
        self, X: Any, y: Any, sample_weight: Any = None, *, max_refits: int = 100, stop: Stop | str | None = None
    ) -> LeaveOneOut:
        """Count the training rows that the optimum of all other rows misclassifies, as far as that is proved.

        Most rows are decided by this fit alone; the model is fitted anew without a row only where its sign is open.

        Parameters
        ----------
        X, y, sample_weight
            What the model was fitted to.
        max_refits : int, default=100
            The most refits; rows that are open after them make the answer an interval.
        stop : TimeLimit or str, optional
            A limit of time.

        Returns
        -------
        LeaveOneOut
            ``errors``, the lowest and the highest number; ``str()`` of it is a sentence.

        Notes
        -----
        Class weights stay those of all rows. An L1 penalty and C=inf are refused, and so is a multinomial model of more
        than 1,500 weights and intercepts.
        """
        from separatrix.estimators.leave_one_out import leave_one_out

        check_is_fitted(self, "classes_")
        return leave_one_out(self, X, y, sample_weight, max_refits, stop)

    def _check_problem(self) -> tuple[float, float]:
        """Return C and tol, or refuse what no solver could mean."""
        cost, tol = number("C", self.C), number("tol", self.tol)
        if not 0 <= tol < 1:
            raise ValueError(f"tol must be at least 0 and below 1; found {self.tol!r}")
        check_free_bias(self.intercept_scaling)
        stop = as_stop(self.stop)
        for part in () if stop is None else stop.parts:
            if not isinstance(part, TimeLimit | MaxEpochs):
                raise ValueError(
                    f"{type(self).__name__} stops when its gap is small enough (tol), and accepts TimeLimit and "
                    f"MaxEpochs besides; found stop={part!r}"
                )
        return cost, tol

    def _fit_dask(self: Self, X: Any, y: Any, sample_weight: Any) -> Self:
        from separatrix.estimators import dask_rows

        rows = dask_rows.in_memory(X, y, sample_weight)
        if rows is not None:
            return self._fit_labels(rows[0], encoded(self, rows[1]), rows[2])
        self._check_parameters()
        self._check_elsewhere("are on Dask workers")
        there = dask_rows.on_workers(X, y, sample_weight)
        if len(there.classes) < 2:
            name, label = type(self).__name__, there.classes.tolist()[0]
            raise ValueError(f"{name} needs examples of at least two classes; found one class: {label!r}")
        return self._fit_source(there.source, there.classes, there.counts, there.names)

    def _fit_source(
        self: Self, source: Source, classes: NDArray[Any], counts: Any = None, names: Sequence[str] | None = None
    ) -> Self:
        """Do what ``fit`` does for rows of a source, whose labels are places in the sorted ``classes``."""
        stop = self._check_parameters()
        self._check_elsewhere("are not all in memory")
        with undone_on_error(self):
            problem: Any = SourceProblem(source, classes, class_factors(self.class_weight, classes, counts))
            self._spread = Moments(problem.d)
            seed = seed_of(self.random_state)
            self.classes_, self.n_features_in_ = classes, problem.d
            self.__dict__.pop("feature_names_in_", None)
            if names is not None:
                self.feature_names_in_ = np.array(names, dtype=object)
            self._run(problem, self._start(problem, seed), stop, seed)
            self._data_mark, self._watched, self._asked = None, self._watch_mark(), stop
            self._fit_record = None
        self._warn()
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _check_device(self) -> None:
        self._check_elsewhere("are on a device")

    def _check_elsewhere(self, where: str) -> None:
        """Refuse what needs rows in memory."""
        needs = {"warm_start": self.warm_start, "C=inf": math.isinf(self.C), "an L1 penalty": self._ratio > 0}
        for what, wanted in needs.items():
            if wanted:
                raise ValueError(f"{what} needs rows in memory; those of X {where}")

    @property
    def _ratio(self) -> float:
        """The part of the penalty that is L1."""
        return 0.0

    def _device_run(self, problem: Problem, counted: CostedRows, positive: int, loss: str, *, fetch: bool) -> Any:
        """Return a run of one task on rows of a device."""
        from separatrix.svm.rowblocks.device_run import DeviceRun

        constant, free = self._bias_kind()
        codes = problem.codes if counted.kept is None else problem.codes[counted.kept]
        costs = float(self.C) if counted.kept is None else counted.costs
        assert isinstance(counted.rows, DeviceRows)
        return DeviceRun(
            counted.rows, codes, positive, costs, loss, float(self.tol), constant=constant, free=free, fetch=fetch
        )

    def _joint_device_run(self, rows: DeviceRows, task: MultinomialTask, kept: NDArray[np.intp] | None) -> Any:
        """Return a run of all classes together on rows of a device."""
        from separatrix.svm.rowblocks.device_run import DeviceJointRun

        costs = float(self.C) if kept is None else task.costs
        how: dict[str, Any] = {"constant": task.bias, "free": task.free}
        return DeviceJointRun(rows, task.codes, task.n_classes, costs, float(self.tol), **how)

    def _sharded(self, problem: Any, tasks: int) -> Sharded | None:
        """Return the rows in shards, where they are trained on so."""
        unfit = self.warm_start or math.isinf(self.C) or self._ratio > 0
        if unfit and not isinstance(problem, SourceProblem):
            return None
        jobs = threads(self.n_jobs)
        return shards_of(problem, self._price, free=self._bias_kind()[1], threads=max(1, jobs // tasks))

    def _shard_run(self, sharded: Sharded, positive: int, loss: str, *, fetch: bool) -> Any:
        """Return a run of one task over shards."""
        constant, free = self._bias_kind()
        return sharded.run(positive, loss, float(self.tol), constant=constant, free=free, fetch=fetch)

    def _bias_for(self, later: bool) -> None:
        """The solver has a bias of its own."""

    def _problem(self, X: Any, labels: Labels, sample_weight: Any, *, online: bool = False) -> Problem:
        problem = super()._problem(X, labels, sample_weight, online=online)
        refuse_weightless(problem)
        return problem

    def _bias_kind(self) -> tuple[float, bool]:
        """Return the constant of a penalised bias coordinate, 0 for none, and whether the bias costs nothing."""
        constant = float(self.intercept_scaling or 0.0) if self.fit_intercept else 0.0
        return constant, bool(self.fit_intercept and self.intercept_scaling is None)

    @property
    def _price(self) -> float:
        """What the loss of a row of weight 1 costs."""
        return float(self.C)

    def _costed_rows(self, problem: Problem, sharded: Sharded | None = None) -> CostedRows:
        """Leave rows of weight 0 out, and refuse numbers whose squares overflow; of shards, costs are their sum."""
        if sharded is not None:
            kept = None if problem.weights is None else np.flatnonzero(problem.weights > 0)
            return CostedRows(sharded.rows, np.array([sharded.costs]), np.empty(0), kept)
        device = isinstance(problem.rows, DeviceRows)
        costs = np.full(1 if device and problem.weights is None else problem.n, self._price)
        kept = None
        if problem.weights is not None:
            kept = np.flatnonzero(problem.weights > 0)
            costs = costs[kept] * problem.weights[kept]
            if len(kept) < problem.n:
                problem.rows.check_finite()  # the rows that are left out too
        if kept is None or len(kept) == problem.n:
            rows = problem.rows
        else:
            rows = problem.rows.where(kept) if isinstance(problem.rows, DeviceRows) else Rows(problem.rows.values[kept])
        if not math.isinf(self._price):
            check_costs(costs)
        if device:
            problem.rows.check_finite()
            return CostedRows(rows, costs, np.empty(0), kept)
        squares = _core.square_norms(rows.matrix)
        if not np.isfinite(squares).all():
            problem.rows.check_finite()
            worst = int(np.argmax(~np.isfinite(squares)))
            row = worst if kept is None else kept[worst]
            raise ValueError(f"row {row} of X is so long that its square overflows: scale the features first")
        return CostedRows(rows, costs, squares, kept)

    def _solve_each(
        self,
        states: list[Any],
        stop: Stop,
        ask: Callable[[Any, int, Callable[[], bool]], None],
        keep: Callable[[bool, TimeLimit | None], None],
    ) -> None:
        """Let ``ask`` solve each task (state, epochs, whether to stop now), in threads; then let ``keep`` have it all.

        ``keep`` is told whether Ctrl-C was pressed, and of the time limit.
        """
        limit = time_limit(stop)
        deadline = time.perf_counter() + limit.seconds if limit is not None else math.inf
        epochs = min(part.epochs for part in stop.parts if isinstance(part, MaxEpochs))
        with self._observed(states), interrupts() as pressed:

            def halted() -> bool:
                return pressed[0] or time.perf_counter() >= deadline

            jobs = threads(self.n_jobs)
            workers = min(jobs, len(states))

            def solve(state: Any) -> None:
                before = _core.product_threads(jobs // workers)  # those that have no task of their own
                try:
                    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):  # a thread has its own
                        ask(state, epochs, halted)
                finally:
                    _core.product_threads(before)

            if workers == 1:
                for state in states:
                    solve(state)
            else:
                from concurrent.futures import ThreadPoolExecutor

                with ThreadPoolExecutor(workers) as pool:
                    list(pool.map(solve, states))
            keep(pressed[0], limit)

    def _teller(self, problem: Problem, positive: int | None, unit: str = "epoch") -> Callable[[Any], None]:
        """Return what says once a second how far a run is: of one class, or of all together."""
        label = "" if positive is None else f"class {problem.classes[positive : positive + 1].tolist()[0]!r}: "
        last = time.perf_counter()

        def tell(run: Any) -> None:
            nonlocal last
            if time.perf_counter() - last >= 1.0:
                last = time.perf_counter()
                gap = run.history.gap[-1] / run.history.primal[-1]
                print(f"{label}{unit} {run.epochs or run.iterations}, relative duality gap {gap:.1e}", file=sys.stderr)

        return tell


def hiding(hidden: float) -> str:
    """Return what to say of a gap beside which rounding could hide this part of the objective, or more."""
    return (
        f"but rounding could hide one of {hidden:.1g}" if math.isfinite(hidden) else "but rounding could hide any other"
    )


def one_or_all(values: list[Any]) -> Any:
    """Return the value of the only task, or those of all as an array."""
    return values[0] if len(values) == 1 else np.array(values)
