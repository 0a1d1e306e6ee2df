"""One task over blocks, as a run that the estimators know: ``go``, then ``solution``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from separatrix.svm.history import MarginHistory
from separatrix.svm.rowblocks.interior import follow
from separatrix.svm.rowblocks.losses import CoreLogBlock, SquaredHingeBlock
from separatrix.svm.rowblocks.newton import newton
from separatrix.svm.rowblocks.smoothing import SmoothedHinge, shrink
from separatrix.svm.rowblocks.solution import BlockSolution, TaskSolution, of_task
from separatrix.svm.task import HaltedError

_LOSSES: dict[str, Any] = {"log": CoreLogBlock, "squared_hinge": SquaredHingeBlock, "hinge": None}


class BlockRun:
    """A run of Newton's method (log, squared hinge) or of the interior-point method (hinge)."""

    witness = None
    hard = False
    epochs = iterations_before = 0
    widest = 0.0
    ended = ""
    solution: TaskSolution
    _hinge = staticmethod(follow)

    def __init__(self, loss: str, tol: float, *, constant: float, free: bool) -> None:
        self.loss, self.tol, self._constant, self._free = loss, tol, constant, free
        self.newton = None if loss == "hinge" else self
        self.history, self.iterations = MarginHistory(), 0
        self.tell: Callable[[Any], None] | None = None
        self._reached: BlockSolution | None = None

    def put_down(self) -> None:
        """Keep nothing to go on from."""

    def _solve(self, store: Any, loss: Any, max_iter: int, halted: Callable[[], bool]) -> BlockSolution:
        def tell(reached: BlockSolution) -> None:
            self._reached, self.history, self.iterations = reached, reached.history, reached.iterations
            if self.tell is not None:
                self.tell(self)

        how: dict[str, Any] = {"tol": self.tol, "free": self._free, "constant": self._constant}
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            if loss is None:
                reached = self._hinge(store, max_iter=max_iter, halted=halted, tell=tell, **how)
            else:
                reached = newton(store, loss, max_iter=max_iter, halted=halted, tell=tell, **how)
        self.history, self.iterations, self.ended = reached.history, reached.iterations, reached.ended
        return reached


class ShardRun(BlockRun):
    """A run over a store of shards; ``costs`` is the sum of all C, ``fetch`` whether what is known of rows is kept.

    The hinge is solved by Newton's method with a smoothed corner too, and by the interior-point method if that fails.
    """

    _hinge = staticmethod(shrink)

    def __init__(self, open_store: Callable[[], Any], costs: float, *rule: Any, fetch: bool, **how: Any) -> None:
        super().__init__(*rule, **how)
        self._open, self._costs, self._fetch = open_store, costs, fetch

    def go(self, max_iter: int, halted: Callable[[], bool]) -> TaskSolution:
        """Run until the gap is small enough, ``max_iter`` iterations are over, or ``halted`` says so."""
        store, loss = self._open(), _LOSSES[self.loss]
        store.halted = lambda: self._reached is not None and halted()  # not before there is a solution with a gap
        try:
            reached = self._solved(store, loss, max_iter, halted)
            if loss is None and reached.width:
                loss = SmoothedHinge(reached.width)
            self.newton = None if loss is None else self
            of_rows = store.of_rows(loss, reached.weights, reached.bias) if self._fetch else None
        finally:
            store.close()
        self.solution = of_task(reached, self._costs, of_rows)
        return self.solution

    def _solved(self, store: Any, loss: Any, max_iter: int, halted: Callable[[], bool]) -> BlockSolution:
        try:
            return self._solve(store, loss, max_iter, halted)
        except HaltedError:
            store.halted = lambda: False
            reached = self._reached
            assert reached is not None
            self.ended = reached.ended = "halted"
            return reached
