"""One task on rows of a device, as a run that the estimators know: ``go``, then ``solution``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.geometry.device_rows import DeviceRows, to_numpy
from separatrix.geometry.rows import Floats
from separatrix.svm.history import MarginHistory
from separatrix.svm.rowblocks.array_rows import CHUNK, ArrayRows
from separatrix.svm.rowblocks.interior import follow
from separatrix.svm.rowblocks.losses import LogBlock, SquaredHingeBlock
from separatrix.svm.rowblocks.newton import newton
from separatrix.svm.rowblocks.solution import BlockSolution
from separatrix.svm.rowblocks.store import ArrayStore

LOSSES: dict[str, Any] = {"log": LogBlock, "squared_hinge": SquaredHingeBlock, "hinge": None}
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


class DeviceRun:
    """A run of Newton's method (log, squared hinge) or of the interior-point method (hinge)."""

    witness = None
    hard = False
    epochs = iterations_before = 0
    widest = 0.0
    ended = ""

    def __init__(
        self, rows: DeviceRows, codes: Any, positive: int, costs: Any, loss: str, tol: float, *, constant: float,
        free: bool, fetch: bool,
    ) -> None:  # fmt: skip
        self._rows, self._codes, self._positive, self._costs, self._loss = rows, codes, positive, costs, loss
        self._fetch = fetch
        self.tol, self._constant, self._free = tol, constant, free
        self.newton = None if loss == "hinge" else self
        self.history, self.iterations = MarginHistory(), 0
        self.tell: Callable[[Any], None] | None = None

    def go(self, max_iter: int, halted: Callable[[], bool]) -> DeviceSolution:
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
            f"{15 * 8 * self._rows.shape[0] / 2**30:.2f} GiB beside them, even in small parts: free some, or train on "
            f"fewer rows ({reason})"
        )

    def put_down(self) -> None:
        """Keep nothing to go on from."""

    def _solve(self, max_iter: int, halted: Callable[[], bool], *, widen: bool, chunk: int) -> DeviceSolution:
        def tell(reached: BlockSolution) -> None:
            self.history, self.iterations = reached.history, reached.iterations
            if self.tell is not None:
                self.tell(self)

        xp, values, kept = self._rows.xp, self._rows.values, self._rows.products
        if kept is None or kept.chunk != chunk:
            self._rows.products = kept = None
            self._rows.products = kept = ArrayRows(values, xp, widen=widen, chunk=chunk)
        positive = xp.asarray(self._codes, device=values.device) == self._positive
        store = ArrayStore(kept, 2.0 * xp.astype(positive, xp.float64) - 1.0, self._costs)
        loss = LOSSES[self._loss]
        how: dict[str, Any] = {"tol": self.tol, "free": self._free, "constant": self._constant}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if loss is None:
                reached = follow(store, max_iter=max_iter, halted=halted, tell=tell, **how)
            else:
                reached = newton(store, loss, max_iter=max_iter, halted=halted, tell=tell, **how)
        self.history, self.iterations = reached.history, reached.iterations
        self.ended = reached.ended

        of_rows = None
        if self._fetch:
            alpha, slack = store.block.of_rows(loss, reached.weights, reached.bias)
            of_rows = to_numpy(alpha), to_numpy(slack)
        return DeviceSolution(reached, of_rows, 1e-16 * kept.total(store.block.costs))


def _is_memory(problem: Exception) -> bool:
    """Whether a device is out of memory, in the words of its library."""
    return isinstance(problem, MemoryError) or type(problem).__name__ in ("OutOfMemoryError", "AcceleratorError")
