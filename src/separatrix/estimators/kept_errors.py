"""How many training rows a fitted model gets wrong, for its status.

A run counts mistakes while it learns: of weights that move, and always of the last ones. The model may hold others
(averaged, voted, from the pocket), and ties may count otherwise in predictions. Where a status speaks of mistakes or of
a loss, and the loop does not prove the same of the model, the training rows are predicted once more. And where a linear
model makes no error as computed, rounding may hide one: the sides of the rows are then decided without it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.certificates.data import binary_data
from separatrix.certificates.model import wrong_sides
from separatrix.estimators.one_vs_rest import positives, predicted_codes
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Problem
from separatrix.loop.state import State, Status
from separatrix.stops import add_kept_errors, counts_errors, errors_seen

_BLOCK = 1 << 22  # activations held at once


def with_kept_errors(
    status: Status,
    states: Sequence[Any],
    what: str,
    *,
    several: bool,
    proved: bool,
    count: Callable[[], tuple[int, int] | None],
    count_exactly: Callable[[], tuple[int, int] | None] = lambda: None,
) -> Status:
    """Return the status with the training errors of the kept weights, where they differ from what the loop saw.

    Parameters
    ----------
    status : Status
        Why the run stopped.
    states : sequence of State
        The tasks; each knows the mistakes of its last epoch.
    what : str
        The name of the kept weights.
    several : bool
        Whether predictions join several tasks: their mistakes are then not the model's.
    proved : bool
        Whether an epoch without mistakes proves that the kept weights make none.
    count : callable
        Returns the wrong and all training rows, or None where that would take too long.
    count_exactly : callable
        Returns the same as decided without rounding, or None where the model has no plane to decide by.
    """
    if not counts_errors(status.text) or status.interrupted:
        return status
    seen = _seen(status, states, several=several)
    if what == "last weights" and _another_loss(status, states):
        return status
    try:
        counted = (0, 0) if proved and seen == 0 else count()
        exact = count_exactly() if seen == 0 and counted is not None and counted[0] == 0 else None
    except KeyboardInterrupt:  # the model is there: what is lost is only this number
        unchecked = f"{status.text}; {what} not checked on the training rows (interrupted)"
        return replace(status, text=unchecked, interrupted=True)
    if counted is None:
        return replace(status, text=f"{status.text}; {what} not checked on the training rows")
    wrong, total = counted
    if exact is not None and exact[0]:
        return replace(status, text=f"{add_kept_errors(status.text, what, *exact)} without rounding")
    return status if wrong == seen else replace(status, text=add_kept_errors(status.text, what, wrong, total))


def verified(state: Any) -> bool:
    """Whether the mistakes of a task's last epoch were counted on all examples if there were none."""
    report = getattr(state, "last_report", None)
    return report is None or report.verified


def count_wrong(problem: Problem, decide: Callable[[Rows], Floats], *, tie_is_positive: bool) -> tuple[int, int]:
    """Return how many training rows, those of positive weight, are predicted wrong, and how many there are."""
    n, n_classes = problem.n, len(problem.classes)
    step = max(1, _BLOCK // n_classes)
    codes = np.empty(n, dtype=np.intp)
    for begin in range(0, n, step):
        part = slice(begin, begin + step)
        rows = problem.rows if step >= n else Rows(problem.rows.values[part])
        activations = rows.checked_activations(decide(rows), begin)
        codes[part] = predicted_codes(activations, n_classes, tie_is_positive=tie_is_positive)
    return compare(problem, codes)


def count_exactly(
    problem: Problem, coef: Floats, intercept: Floats, ties: tuple[bool, bool], n_jobs: int
) -> tuple[int, int]:
    """Return how many training rows, those of positive weight, are on a wrong side, and how many there are.

    Each task has a plane, and rounding decides nothing. ``ties`` says whether a tie is wrong for a negative and for a
    positive row.
    """
    rows, codes = problem.rows, problem.codes
    if problem.weights is not None:
        kept = np.flatnonzero(problem.weights > 0)
        rows, codes = Rows(rows.values[kept]), codes[kept]
    wrong = np.zeros(len(codes), dtype=bool)
    for code, weights, bias in zip(positives(len(problem.classes)), coef, intercept.tolist(), strict=True):
        data = binary_data(rows, problem.classes, codes, True, code)
        wrong |= wrong_sides(data, weights, bias, ties, n_jobs)
    return int(np.count_nonzero(wrong)), len(wrong)


class HiddenMistakes:
    """The rows that the weights of a task get wrong as they are read: as predicted, or as decided without rounding.

    Called with a state it returns them. ``ties`` says whether a tie is wrong for a negative and for a positive row.
    """

    def __init__(self, problem: Problem, ties: tuple[bool, bool], n_jobs: int) -> None:
        self._problem, self._ties, self._n_jobs = problem, ties, n_jobs
        self._data: dict[int, Any] = {}
        self._none: dict[int, int] = {}  # the updates after which a task had none

    def __call__(self, state: State) -> NDArray[np.uint32]:
        """Return the rows of positive weight that this state gets wrong."""
        if self.rules_out([state]):
            return np.empty(0, dtype=np.uint32)
        problem, code = self._problem, state.positive
        kept = None if problem.weights is None else np.flatnonzero(problem.weights > 0)
        if code not in self._data:
            rows = problem.rows if kept is None else Rows(problem.rows.values[kept])
            codes = problem.codes if kept is None else problem.codes[kept]
            self._data[code] = binary_data(rows, problem.classes, codes, True, code)
        weights, bias = state.unit * state.weights, state.unit * state.bias
        wrong = wrong_sides(self._data[code], weights, bias, self._ties, self._n_jobs)
        if state.unit != 1:  # the run has seen other products than predictions will
            rows, signs = self._data[code].rows, self._data[code].signs
            margins = signs * _core.decide(rows.matrix, weights[None, :], np.array([bias]), self._n_jobs)[:, 0]
            wrong |= (margins < 0) | ((margins == 0) & np.where(signs > 0, self._ties[1], self._ties[0]))
        if not wrong.any():
            self._none[code] = state.updates
        found = np.flatnonzero(wrong)
        return np.asarray(found if kept is None else kept[found], dtype=np.uint32)

    def rules_out(self, states: Sequence[Any]) -> bool:
        """Whether it has found that these states make none."""
        return all(self._none.get(state.positive) == state.updates for state in states)


def compare(problem: Problem, predicted: NDArray[np.intp]) -> tuple[int, int]:
    """Return how many training rows, those of positive weight, have another class, and how many there are."""
    wrong = predicted != problem.codes
    if problem.weights is not None:
        wrong = wrong[problem.weights > 0]
    return int(np.count_nonzero(wrong)), len(wrong)


def _another_loss(status: Status, states: Sequence[Any]) -> bool:
    """Whether the status tells a loss of the last weights which is not a number of errors."""
    reports = [getattr(state, "last_report", None) for state in states]
    other = all(report is not None and "zero_one" not in report.losses for report in reports)
    return "mistake" not in status.text and other


def _seen(status: Status, states: Sequence[Any], *, several: bool) -> float | None:
    """Return the errors that the status names, None where they cannot be those of the model."""
    if several:
        return 0 if status.converged and not any(state.mistakes for state in states) else None
    (state,) = states
    return errors_seen(status.text, state.mistakes, getattr(state, "last_report", None))
