"""One task on rows of a device, as a run that the estimators know: ``go``, then ``solution``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from separatrix.geometry.device_rows import DeviceRows, to_numpy
from separatrix.svm.rowblocks.array_rows import CHUNK, ArrayRows
from separatrix.svm.rowblocks.block_run import BlockRun
from separatrix.svm.rowblocks.losses import LogBlock, SquaredHingeBlock
from separatrix.svm.rowblocks.solution import TaskSolution, of_task
from separatrix.svm.rowblocks.store import ArrayStore

_LOSSES: dict[str, Any] = {"log": LogBlock, "squared_hinge": SquaredHingeBlock, "hinge": None}
_SMALLER = 16  # so many times smaller chunks where the memory of the device does not do


class DeviceRun(BlockRun):
    """A run on rows of a device, in smaller parts where its memory does not do."""

    def __init__(
        self, rows: DeviceRows, codes: Any, positive: int, costs: Any, loss: str, tol: float, *, constant: float,
        free: bool, fetch: bool,
    ) -> None:  # fmt: skip
        super().__init__(loss, tol, constant=constant, free=free)
        self._rows, self._codes, self._positive, self._costs = rows, codes, positive, costs
        self._fetch = fetch

    def go(self, max_iter: int, halted: Callable[[], bool]) -> TaskSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        for chunk in (CHUNK, CHUNK // _SMALLER, CHUNK // _SMALLER**2):
            try:
                self.solution = self._in_chunks(max_iter, halted, widen=chunk == CHUNK, chunk=chunk)
                return self.solution
            except Exception as problem:
                if not _is_memory(problem):
                    raise
                reason = str(problem).partition("\n")[0][:200]
        raise MemoryError(
            f"the device has too little memory to train on {self._rows.shape[0]} rows, whose state takes "
            f"{15 * 8 * self._rows.shape[0] / 2**30:.2f} GiB beside them, even in small parts: free some, or train on "
            f"fewer rows ({reason})"
        )

    def _in_chunks(self, max_iter: int, halted: Callable[[], bool], *, widen: bool, chunk: int) -> TaskSolution:
        xp, values, kept = self._rows.xp, self._rows.values, self._rows.products
        if kept is None or kept.chunk != chunk:
            self._rows.products = kept = None
            self._rows.products = kept = ArrayRows(values, xp, widen=widen, chunk=chunk)
        positive = xp.asarray(self._codes, device=values.device) == self._positive
        store = ArrayStore(kept, 2.0 * xp.astype(positive, xp.float64) - 1.0, self._costs)
        loss = _LOSSES[self.loss]
        reached = self._solve(store, loss, max_iter, halted)
        of_rows = None
        if self._fetch:
            alpha, slack = store.block.of_rows(loss, reached.weights, reached.bias)
            of_rows = to_numpy(alpha), to_numpy(slack)
        return of_task(reached, kept.total(store.block.costs), of_rows)


def _is_memory(problem: Exception) -> bool:
    """Whether a device is out of memory, in the words of its library."""
    return isinstance(problem, MemoryError) or type(problem).__name__ in ("OutOfMemoryError", "AcceleratorError")
