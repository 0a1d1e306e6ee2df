"""How many training rows a linear model gets wrong without themselves: from one fit, and refits where that is open.

``svm/removed_row.py`` derives the bounds and ``left_out_rows.py`` applies them; ``joint_leave_one_out.py`` has those of
classes learned together.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from separatrix.estimators.fitting import encoded, number
from separatrix.estimators.joint_leave_one_out import JointlyLeftOut
from separatrix.estimators.left_out_rows import OPEN, RIGHT, WRONG, LeftOutRows
from separatrix.estimators.warm_fits import with_l2
from separatrix.stops import TimeLimit, as_stop, is_count, time_limit
from separatrix.text import times


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """How many rows are misclassified by the optimum of all others.

    Attributes
    ----------
    errors : tuple of two ints
        The lowest and the highest number there can be; the same where every row is decided.
    verdicts : array of shape (n,)
        1: misclassified without itself, 0: not, -1: undecided.
    decided_by : array of shape (n,) of str
        "bound" (from the one fit), "training error" (a row that the optimum gets wrong stays wrong), "refit", "alone"
        (the only row of its class, which no other row can speak for), "weight" (a row of weight 0, which is not
        counted), or "" for rows that are undecided.
    n : int
        How many rows are counted.
    refits : int
        How many fits without a row were made.
    seconds : float
        How long it took.
    """

    errors: tuple[int, int]
    verdicts: NDArray[np.int8]
    decided_by: NDArray[np.str_]
    n: int
    refits: int
    seconds: float = field(compare=False)

    def __str__(self) -> str:
        low, high = self.errors
        if low == high:
            text = f"{times(low, 'leave-one-out error')} in {times(self.n, 'row')} ({low / self.n:.2%})"
        else:
            text = (
                f"between {low} and {high} leave-one-out errors in {times(self.n, 'row')} "
                f"({low / self.n:.2%} to {high / self.n:.2%})"
            )
        undecided, refitted = int((self.verdicts == OPEN).sum()), int((self.decided_by == "refit").sum())
        parts = [f"{times(self.n - undecided - refitted, 'row')} decided by one fit"]
        parts += [f"{refitted} by refits"] if refitted else []
        parts += [f"{undecided} undecided"] if undecided else []
        return f"{text}: {', '.join(parts)}"


def leave_one_out(model: Any, X: Any, y: Any, sample_weight: Any, max_refits: int, stop: Any) -> LeaveOneOut:
    """Return what ``SolvedClassifier.leave_one_out`` does."""
    began = time.perf_counter()
    if isinstance(max_refits, bool) or not (is_count(max_refits) or max_refits == 0):
        raise ValueError(f"max_refits must be a whole number of at least 0; found {max_refits!r}")
    limit = as_stop(stop)
    if limit is not None and not all(isinstance(part, TimeLimit) for part in limit.parts):
        raise ValueError(f"stop must be a TimeLimit or None; found {stop!r}")
    seconds = None if limit is None else time_limit(limit)
    deadline = began + seconds.seconds if seconds is not None else math.inf
    with_l2(model, "leave_one_out")
    if math.isinf(number("C", model.C)):
        raise ValueError("leave_one_out needs a finite C, because its bounds rest on the penalty: use a large one")
    labels = encoded(model, y)
    work = (JointlyLeftOut if model._learned_together else LeftOutRows)(model, X, labels, sample_weight)
    work.alone()
    with threadpool_limits(1):  # the products are too short for threads
        work.bound()
    left = work.row_by_row(lambda: time.perf_counter() >= deadline)
    refits = 0
    for row in left:
        if refits >= max_refits or time.perf_counter() >= deadline:
            break
        work.refit(row)
        refits += 1
    verdicts, counted = work.verdicts, work.counted
    low = int(((verdicts == WRONG) & counted).sum())
    high = low + int(((verdicts == OPEN) & counted).sum())
    verdicts = np.where(counted, verdicts, RIGHT).astype(np.int8)
    return LeaveOneOut((low, high), verdicts, work.decided_by, int(counted.sum()), refits, time.perf_counter() - began)
