"""What the linear estimators share whose penalty is L1 or elastic net: checks, states, and how a run ended."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix.estimators.fitting import number
from separatrix.estimators.solved import MOST_HIDDEN, hiding
from separatrix.geometry.rows import Floats
from separatrix.loop.state import Status
from separatrix.models.validity import is_array, is_count, is_real, require
from separatrix.stops import TimeLimit
from separatrix.svm.l1 import SparseRun
from separatrix.svm.sparse_penalty import SparseSolution, SparseTask
from separatrix.text import times

PENALTIES = ("l2", "l1", "elasticnet")
UNUSED = 0.5  # the l1_ratio of a penalty that has its own


def checked_ratio(value: Any) -> float:
    """Return the part of the penalty that is L1, or refuse it."""
    ratio = number("l1_ratio", value)
    if not 0.0 <= ratio <= 1.0:
        raise ValueError(f"l1_ratio must lie between 0 (an L2 penalty) and 1 (an L1 penalty); found {value!r}")
    return ratio


def ratio_of(penalty: Any, l1_ratio: Any) -> float:
    """Return the part of the penalty that is L1, given its name; refuse a ratio that it would not use.

    Examples
    --------
    >>> ratio_of("l2", 0.5), ratio_of("l1", 0.5), ratio_of("elasticnet", 0.5)
    (0.0, 1.0, 0.5)
    """
    if not (isinstance(penalty, str) and penalty in PENALTIES):
        raise ValueError(f"penalty must be one of {', '.join(PENALTIES)}; found {penalty!r}")
    ratio = checked_ratio(l1_ratio)
    own = {"l2": 0.0, "l1": 1.0, "elasticnet": ratio}[penalty]
    if ratio not in (own, UNUSED):
        raise ValueError(f"l1_ratio={l1_ratio!r} has no effect with penalty={penalty!r}: use penalty='elasticnet'")
    return own


@dataclass(eq=False)
class SparseState:
    """What one task has learned: weights and bias, and the run itself where it was cut short."""

    positive: int
    weights: Floats
    bias: float = 0.0
    run: SparseRun | None = None
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
        require(self.run is None or type(self.run) is SparseRun, "a state is damaged")
        require(self.ended is None and type(self.new_data) is bool, "a state is damaged")


def sparse_run(task: SparseTask, tol: float, weights: Floats, bias: float) -> SparseRun:
    """Return a run that starts from the weights of the features and the bias."""
    if task.bias:
        return SparseRun(task, tol, np.append(weights, bias / task.bias))
    return SparseRun(task, tol, weights.copy(), bias if task.free else 0.0)


def sparse_sentence(run: SparseRun, solution: SparseSolution, *, interrupted: bool, limit: TimeLimit | None) -> Status:
    """Return how a run ended that came to this solution, and how many weights are not zero."""
    gap, iterations = f"relative duality gap {solution.relative_gap:.1e}", times(run.iterations, "iteration")
    verb = "is" if solution.support == 1 else "are"
    count = f"{solution.support:,} of {len(solution.weights):,} weights {verb} not zero"
    hidden = solution.rounding / max(solution.primal, solution.least)
    if run.ended == "gap" and hidden <= MOST_HIDDEN:
        doubt = f" (rounding could hide {hidden:.1e})" if hidden > run.tol else ""
        text = f"converged after {iterations}: {gap}, at most tol={run.tol:g}{doubt}; {count}"
        return Status(text, True, interrupted=interrupted)
    if run.ended == "gap":
        text = f"stopped after {iterations}: {gap}, {hiding(hidden)}; {count}"
        return Status(text, False, interrupted=interrupted)
    if run.ended == "halted" and interrupted:
        return Status(f"interrupted in iteration {run.iterations + 1}: {gap}; {count}", False, interrupted=True)
    if run.ended == "halted" and limit is not None:
        text = f"stopped by the time limit of {limit.seconds:g} s in iteration {run.iterations + 1}: {gap}; {count}"
        return Status(text, False)
    why = ", and rounding allows no smaller one" if run.ended == "rounding" else ""
    text = f"stopped after {iterations}: {gap}, above tol={run.tol:g}{why}; {count}"
    return Status(text, False, interrupted=interrupted)


def validate_sparse(states: list[Any], width: int, n_classes: int, *, biased: bool) -> None:
    """Refuse states that are not of so many features and classes; ``biased`` says that a bias is penalised."""
    for state in states:
        require(0 <= state.positive < n_classes, "a state is of an unknown class")
        require(len(state.weights) == width, "a state is of other data")
        fits = state.run is None or (
            len(state.run.weights) == width + biased and len(state.run.solution.weights) == width
        )
        require(fits, "a run is of other data")
