"""The hard margin: no slack at all, so a solution exists only if some plane separates the classes.

The largest margin lies between two numbers that any run gives: the least margin of any plane found, and the length of
``sum lambda y x`` for any convex weights lambda (with a free bias: half the distance between the points that lambda
makes of the two classes). The run ends when they meet. If no plane is found soon, a linear program decides whether
there is one; if there is none, its dual gives convex weights whose combination is zero, and those are the witness.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats, is_sparse
from separatrix.svm import choice
from separatrix.svm.ascent import Ascent
from separatrix.svm.solve import Run
from separatrix.svm.task import MarginTask

_SMALLEST = 1e-300  # size of a feature
_NOTHING = 1e-9  # a margin that is less than this part of the size of the data is none


class HardRun(Run):
    """One run without slack."""

    @property
    def hard(self) -> bool:
        """Whether no slack is allowed."""
        return True

    @property
    def tiny(self) -> bool:
        """Whether the exact solution, as far as rounding allows, costs next to nothing."""
        return self.price(self._task().n) <= choice.HARD_TO_THE_END

    def _at_once(self) -> bool:
        return False  # first a plane must be found

    def _is_time(self) -> bool:
        return self.epochs & (self.epochs - 1) == 0 or self.epochs % 32 == 0

    def _look(self, ascent: Ascent, halted: Callable[[], bool]) -> bool:
        """Measure; finish once some plane separates; solve the linear program if none does for long."""
        task = self._task()
        near = self.judge(ascent.alpha, self._candidate(ascent), "ascent")
        assert self.best is not None
        separated = self.best.primal < math.inf
        if not separated and not self.checked and choice.program_next(task, self.epochs):
            self.checked = True
            self._decide(ascent)
            separated = self.best.primal < math.inf
        if separated and self.tiny and not self.polished:
            self.polished = True  # so few rows that the exact solution costs nothing
            near = self._finish(np.arange(task.n), ascent.alpha, self.best.weights, self.best.bias, halted)
        if near:
            self.ended = "gap"
        elif separated and not self.ended and self.epochs >= 4:
            chosen = ascent.moving()
            if len(chosen) and self.price(len(chosen)) < 2.0 * ascent.touched - self.patience:
                self.patience = 2.0 * ascent.touched
                if self._finish_rounds(ascent, chosen, halted):
                    self.ended = "gap"
        return bool(self.ended)

    def _candidate(self, ascent: Ascent) -> tuple[Floats, float]:
        return ascent.weights, ascent.bias

    def _decide(self, ascent: Ascent) -> None:
        """Let a linear program decide whether a plane separates; go on from that plane, or keep the witness."""
        plane, witness = separating_plane(self._task())
        if plane is not None and self.judge(ascent.alpha, plane, "program"):
            self.ended = "gap"
        if self.best is not None and math.isinf(self.best.primal) and witness is not None:
            widest, size = widest_margin(self._task(), witness)
            if widest <= _NOTHING * size:
                self.ended, self.witness, self.widest = "inseparable", witness, widest


def separating_plane(task: MarginTask) -> tuple[tuple[Floats, float] | None, Floats | None]:
    """Return a plane with the largest least margin for ``max |w_j| <= 1``, and convex weights that combine to least.

    The program is ``max t`` over ``y (w.x + b) >= t``, ``-1 <= w <= 1``; its dual weights are convex and sum up to
    zero when t is zero. Features are first moved to their mean (dense rows and a bias only) and brought to the same
    size: the program's tolerances are meant for numbers near 1.
    """
    from scipy import sparse

    values = task.rows.values
    n, d = task.rows.shape
    biased = task.free or task.bias > 0
    signs = task.signs[:, None]
    middle = np.zeros(d)
    if is_sparse(values):
        size = np.ravel(abs(values).max(axis=0).toarray()).astype(np.float64)
        table = sparse.csr_array(values).astype(np.float64)
    else:
        middle = values.mean(axis=0, dtype=np.float64) if biased else middle
        moved = values - middle
        size = np.abs(moved).max(axis=0)
        table = sparse.csr_array(moved)
    size[size == 0] = 1.0
    size = np.maximum(size, _SMALLEST)  # of which the reciprocal is finite
    table = table.multiply(signs).multiply(1.0 / size[None, :]).tocsr()
    table = sparse.hstack([table, sparse.csr_array(signs)]).tocsr() if biased else table
    program = largest_least(table, unbounded=int(biased))
    if program is None:
        return None, None
    weights = np.asarray(program.plane[:d] / size, dtype=np.float64)
    plane = (weights, float(program.plane[d]) - _core.dot(weights, middle) if biased else 0.0)
    witness = np.maximum(program.weights, 0.0)
    total = _core.dot(witness, np.ones(n))
    return plane, witness / total if total > 0 else None


class LinearProgram(NamedTuple):
    """The solution of a linear program: a plane, its least product with the rows, and the rows' dual weights."""

    plane: Floats
    least: float
    weights: Floats


def largest_least(table: Any, *, unbounded: int = 0) -> LinearProgram | None:
    """Return W with the largest ``t <= 1`` for which ``z . W >= t`` for all rows z of the table; None if it fails.

    The numbers of W lie between -1 and 1, but for as many at its end as are ``unbounded``.
    """
    from scipy import sparse
    from scipy.optimize import linprog

    n, d = table.shape
    level = np.ones((n, 1))
    left = sparse.hstack([-table, sparse.csr_array(level)]).tocsr() if is_sparse(table) else np.hstack([-table, level])
    goal = np.zeros(d + 1)
    goal[-1] = -1.0
    bounds = [(-1.0, 1.0)] * (d - unbounded) + [(None, None)] * unbounded + [(None, 1.0)]
    if not np.isfinite(left.data if is_sparse(left) else left).all():
        return None
    result = linprog(goal, A_ub=left, b_ub=np.zeros(n), bounds=bounds, method="highs")
    if result.x is None:
        return None
    return LinearProgram(result.x[:-1], float(result.x[-1]), -np.asarray(result.ineqlin.marginals, dtype=np.float64))


def widest_margin(task: MarginTask, witness: Floats) -> tuple[float, float]:
    """Return what these convex weights prove: no plane has a margin above the first number; and the size of the data.

    For a plane of length 1, ``margin <= sum lambda y (w.x + b) <= |sum lambda y x|`` when ``sum lambda y = 0`` or
    there is no bias. The rows are seen from one of those that count, which a free bias allows, so that far-off data
    keep their digits; where the sum of lambda y is not 0, the difference is charged for the distance from there.
    """
    chosen = np.flatnonzero(witness)
    values = task.rows.values[chosen]
    rows = np.asarray(values.toarray() if is_sparse(values) else values, dtype=np.float64)
    signed = (task.signs * witness)[chosen]
    if task.free:
        rows = rows - rows[0]
    lengths = np.sqrt((rows * rows).sum(axis=1))
    size = float(lengths.max())
    combined = np.array([math.fsum(column) for column in (rows * signed[:, None]).T])
    square = float((combined * combined).sum())
    if task.bias:
        square += (task.bias * math.fsum(signed)) ** 2
        size += task.bias
    widest = math.sqrt(square) + (abs(math.fsum(signed)) * size if task.free else 0.0)
    return widest + 4.0 * float(np.finfo(np.float64).eps) * math.fsum(np.abs(signed) * lengths), size
