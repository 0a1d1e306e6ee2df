"""Runs on rows of a device, as the estimators know them: ``go``, then ``solution``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.geometry.device_rows import DeviceRows, to_numpy
from separatrix.svm.history import MarginHistory
from separatrix.svm.multinomial_bounds import MultinomialSolution
from separatrix.svm.rowblocks.array_rows import CHUNK, ArrayRows
from separatrix.svm.rowblocks.block_run import BlockRun
from separatrix.svm.rowblocks.joint_block import JointBlock
from separatrix.svm.rowblocks.joint_newton import JointRun
from separatrix.svm.rowblocks.losses import LogBlock, SquaredHingeBlock
from separatrix.svm.rowblocks.solution import TaskSolution, of_task
from separatrix.svm.rowblocks.store import ArrayStore

_LOSSES: dict[str, Any] = {"log": LogBlock, "squared_hinge": SquaredHingeBlock, "hinge": None}
_SMALLER = 16  # so many times smaller chunks where the memory of the device does not do
_SAMPLE = 16  # one in so many rows at most is enough to find where a run on all rows starts
_ROWS_A_WEIGHT = 20  # of such a sample
_SAMPLE_TOL, _SAMPLE_ITERATIONS = 1e-2, 30


def in_chunks(rows: DeviceRows, numbers: int, run: Callable[[ArrayRows], Any]) -> Any:
    """Run on the rows, in smaller parts where the memory of the device does not do.

    ``numbers`` are kept for each row.
    """
    for chunk in (CHUNK, CHUNK // _SMALLER, CHUNK // _SMALLER**2):
        try:
            kept = rows.products
            if kept is None or kept.chunk != chunk:
                rows.products = kept = None
                rows.products = kept = ArrayRows(rows.values, rows.xp, widen=chunk == CHUNK, chunk=chunk)
            return run(kept)
        except Exception as problem:
            if not _is_memory(problem):
                raise
            reason = str(problem).partition("\n")[0][:200]
    raise MemoryError(
        f"the device has too little memory to train on {rows.shape[0]} rows, whose state takes "
        f"{8 * numbers * rows.shape[0] / 2**30:.2f} GiB beside them, even in small parts: free some, or train on fewer "
        f"rows ({reason})"
    )


class DeviceRun(BlockRun):
    """A run of one task."""

    def __init__(
        self, rows: DeviceRows, codes: Any, positive: int, costs: Any, loss: str, tol: float, *, constant: float,
        free: bool, fetch: bool,
    ) -> None:  # fmt: skip
        super().__init__(loss, tol, constant=constant, free=free)
        self._rows, self._codes, self._positive, self._costs = rows, codes, positive, costs
        self._fetch = fetch

    def go(self, max_iter: int, halted: Callable[[], bool]) -> TaskSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        self.solution = in_chunks(self._rows, 15, lambda kept: self._on(kept, max_iter, halted))
        return self.solution

    def _on(self, kept: ArrayRows, max_iter: int, halted: Callable[[], bool]) -> TaskSolution:
        xp = kept.xp
        positive = xp.asarray(self._codes, device=kept.device) == self._positive
        store = ArrayStore(kept, 2.0 * xp.astype(positive, xp.float64) - 1.0, self._costs)
        loss = _LOSSES[self.loss]
        reached = self._solve(store, loss, max_iter, halted)
        of_rows = None
        if self._fetch:
            alpha, slack = store.block.of_rows(loss, reached.weights, reached.bias)
            of_rows = to_numpy(alpha), to_numpy(slack)
        return of_task(reached, kept.total(store.block.costs), of_rows)


class DeviceJointRun:
    """A run of several classes that are learned together."""

    epochs = iterations_before = 0
    ended = ""
    solution: MultinomialSolution

    def __init__(
        self, rows: DeviceRows, codes: Any, n_classes: int, costs: Any, tol: float, *, constant: float, free: bool
    ) -> None:
        self._rows, self._codes, self._n_classes, self._costs = rows, codes, n_classes, costs
        self.tol, self._constant, self._free = tol, constant, free
        self.history, self.iterations = MarginHistory(), 0
        self.tell: Callable[[Any], None] | None = None

    def put_down(self) -> None:
        """Keep nothing to go on from."""

    def go(self, max_iter: int, halted: Callable[[], bool]) -> MultinomialSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        self.solution = in_chunks(self._rows, 3 * self._n_classes, lambda kept: self._on(kept, max_iter, halted))
        return self.solution

    def _on(self, kept: ArrayRows, max_iter: int, halted: Callable[[], bool]) -> MultinomialSolution:
        costs = kept.full(self._costs) if isinstance(self._costs, float) else kept.to_device(self._costs)
        codes = kept.xp.asarray(self._codes, device=kept.device)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            run = JointRun(
                JointBlock(kept, codes, costs, self._n_classes), self.tol, self._free, self._constant, halted,
                self._tell, start=self._sampled(kept, codes, costs, halted),
            )  # fmt: skip
            solution = run.go(max_iter)
        self._tell(run)
        self.ended = run.ended
        return solution

    def _tell(self, reached: JointRun) -> None:
        self.history, self.iterations = reached.history, reached.iterations
        if self.tell is not None and not reached.ended:
            self.tell(self)

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
