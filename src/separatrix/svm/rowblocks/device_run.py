"""One task on rows of a device, as a run that the estimators know: ``go``, then ``solution``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.geometry.device_rows import DeviceRows, to_numpy
from separatrix.geometry.rows import Floats
from separatrix.svm.history import MarginHistory
from separatrix.svm.multinomial_bounds import MultinomialSolution
from separatrix.svm.rowblocks.array_rows import CHUNK, ArrayRows
from separatrix.svm.rowblocks.interior import follow
from separatrix.svm.rowblocks.joint_block import JointBlock
from separatrix.svm.rowblocks.joint_newton import JointRun
from separatrix.svm.rowblocks.losses import LogBlock, SquaredHingeBlock
from separatrix.svm.rowblocks.newton import newton
from separatrix.svm.rowblocks.solution import BlockSolution
from separatrix.svm.rowblocks.store import ArrayStore

LOSSES: dict[str, Any] = {"log": LogBlock, "squared_hinge": SquaredHingeBlock, "hinge": None}
_SAMPLE = 16  # one in so many rows at most is enough to find where a run on all rows starts
_ROWS_A_WEIGHT = 20  # of such a sample
_SAMPLE_TOL, _SAMPLE_ITERATIONS = 1e-2, 30
_SMALLER = 16  # so many times smaller chunks where the memory of the device does not do


class DeviceSolution:
    """A solution, with the dual weights and the slack of each row if they were fetched."""

    def __init__(self, plain: BlockSolution, of_rows: tuple[Floats, Floats] | None, least: float) -> None:
        self.weights, self.bias, self.primal, self.rounding = plain.weights, plain.bias, plain.primal, plain.rounding
        self.gap, self.relative_gap, self.proven_gap, self.least = (
            plain.gap,
            plain.relative_gap,
            plain.proven_gap,
            least,
        )
        if of_rows is not None:
            self.alpha, self.slack = of_rows


class _Run:
    """What the runs share: the task, and smaller parts of the rows where the memory of the device does not do."""

    epochs = iterations_before = 0
    ended = ""
    solution: Any

    def __init__(self, rows: DeviceRows, codes: Any, costs: Any, tol: float, *, constant: float, free: bool) -> None:
        self._rows, self._codes, self._costs = rows, codes, costs
        self.tol, self._constant, self._free = tol, constant, free
        self.history, self.iterations = MarginHistory(), 0
        self.tell: Callable[[Any], None] | None = None

    def go(self, max_iter: int, halted: Callable[[], bool]) -> Any:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        for chunk in (CHUNK, CHUNK // _SMALLER, CHUNK // _SMALLER**2):
            try:
                self.solution = self._solve(max_iter, halted, widen=chunk == CHUNK, chunk=chunk)
                return self.solution
            except Exception as problem:
                if not _is_memory(problem):
                    raise
                reason = str(problem).partition("\n")[0][:200]
        raise MemoryError(
            f"the device has too little memory to train on {self._rows.shape[0]} rows, whose state takes "
            f"{8 * self._numbers() * self._rows.shape[0] / 2**30:.2f} GiB beside them, even in small parts: free some, "
            f"or train on fewer rows ({reason})"
        )

    def put_down(self) -> None:
        """Keep nothing to go on from."""

    def _numbers(self) -> int:
        """Return how many numbers are kept for each row."""
        raise NotImplementedError

    def _solve(self, max_iter: int, halted: Callable[[], bool], *, widen: bool, chunk: int) -> Any:
        """Run with parts of the rows of so many numbers, with a copy of the rows in double or not."""
        raise NotImplementedError

    def _in_parts(self, *, widen: bool, chunk: int) -> ArrayRows:
        kept = self._rows.products
        if kept is None or kept.chunk != chunk:
            self._rows.products = kept = None
            self._rows.products = kept = ArrayRows(self._rows.values, self._rows.xp, widen=widen, chunk=chunk)
        assert isinstance(kept, ArrayRows)
        return kept

    def _tell(self, reached: Any) -> None:
        self.history, self.iterations = reached.history, reached.iterations
        if self.tell is not None:
            self.tell(self)


class DeviceRun(_Run):
    """A run of Newton's method (log, squared hinge) or of the interior-point method (hinge)."""

    witness = None
    hard = False
    widest = 0.0

    def __init__(
        self, rows: DeviceRows, codes: Any, positive: int, costs: Any, loss: str, tol: float, *, constant: float,
        free: bool, fetch: bool,
    ) -> None:  # fmt: skip
        super().__init__(rows, codes, costs, tol, constant=constant, free=free)
        self._positive, self._loss, self._fetch = positive, loss, fetch
        self.newton = None if loss == "hinge" else self

    def _numbers(self) -> int:
        return 15

    def _solve(self, max_iter: int, halted: Callable[[], bool], *, widen: bool, chunk: int) -> DeviceSolution:
        xp, values = self._rows.xp, self._rows.values
        kept = self._in_parts(widen=widen, chunk=chunk)
        positive = xp.asarray(self._codes, device=values.device) == self._positive
        store = ArrayStore(kept, 2.0 * xp.astype(positive, xp.float64) - 1.0, self._costs)
        loss = LOSSES[self._loss]
        how: dict[str, Any] = {"tol": self.tol, "free": self._free, "constant": self._constant}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if loss is None:
                reached = follow(store, max_iter=max_iter, halted=halted, tell=self._tell, **how)
            else:
                reached = newton(store, loss, max_iter=max_iter, halted=halted, tell=self._tell, **how)
        self.history, self.iterations = reached.history, reached.iterations
        self.ended = reached.ended

        of_rows = None
        if self._fetch:
            alpha, slack = store.block.of_rows(loss, reached.weights, reached.bias)
            of_rows = to_numpy(alpha), to_numpy(slack)
        return DeviceSolution(reached, of_rows, 1e-16 * kept.total(store.block.costs))


class DeviceJointRun(_Run):
    """A run of Newton's method for several classes that are learned together."""

    def __init__(
        self, rows: DeviceRows, codes: Any, n_classes: int, costs: Any, tol: float, *, constant: float, free: bool
    ) -> None:
        super().__init__(rows, codes, costs, tol, constant=constant, free=free)
        self._n_classes = n_classes

    def _numbers(self) -> int:
        return 3 * self._n_classes

    def _solve(self, max_iter: int, halted: Callable[[], bool], *, widen: bool, chunk: int) -> MultinomialSolution:
        kept = self._in_parts(widen=widen, chunk=chunk)
        costs = kept.full(self._costs) if isinstance(self._costs, float) else kept.to_device(self._costs)
        codes = kept.xp.asarray(self._codes, device=kept.device)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            run = JointRun(
                JointBlock(kept, codes, costs, self._n_classes), self.tol, self._free, self._constant, halted,
                self._tell, start=self._sampled(kept, codes, costs, halted),
            )  # fmt: skip
            solution = run.go(max_iter)
        self.history, self.iterations, self.ended = run.history, run.iterations, run.ended
        return solution

    def _sampled(self, kept: ArrayRows, codes: Any, costs: Any, halted: Callable[[], bool]) -> Any:
        """Return where to start: the solution for some of the rows, None where there are too few rows for that."""
        every = min(_SAMPLE, kept.n // (_ROWS_A_WEIGHT * (kept.d + self._n_classes)))
        if every < 2 or len(np.unique(self._codes[::every])) < self._n_classes:
            return None
        rows = ArrayRows(self._rows.values[::every, :], kept.xp, widen=False, chunk=kept.chunk)
        block = JointBlock(rows, codes[::every], float(every) * costs[::every], self._n_classes)
        run = JointRun(block, max(self.tol, _SAMPLE_TOL), self._free, self._constant, halted)
        run.go(_SAMPLE_ITERATIONS)
        return run.reached()


def _is_memory(problem: Exception) -> bool:
    """Whether a device is out of memory, in the words of its library."""
    return isinstance(problem, MemoryError) or type(problem).__name__ in ("OutOfMemoryError", "AcceleratorError")
