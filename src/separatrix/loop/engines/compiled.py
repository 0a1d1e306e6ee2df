"""The compiled engine: the reference's loop over the C++ core, for dense and CSR rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.loop.engines.base import Step, Sums, WeightOverflowError, check_reduction, check_sum, ties
from separatrix.loop.order import EpochPlan, Order
from separatrix.loop.problem import Problem
from separatrix.loop.state import State
from separatrix.rules import Number

_PRODUCTS_A_CHUNK = 1 << 23  # a few milliseconds, to begin with


class CompiledEngine:
    """Runs a rule in the core. The GIL is released, and threads split the tasks, never the examples."""

    _core_tally: Any = staticmethod(_core.tally)

    def __init__(
        self,
        problem: Problem,
        rule: Any,
        *,
        boundary: str,
        batch_size: int | str = 1,
        n_jobs: int = 1,
        on_step: Callable[[Step], None] | None = None,
        reduction: str = "mean",
    ) -> None:
        if getattr(rule, "kernel", None) not in _core.RULES:
            raise ValueError(f"rule {rule.name!r} has no compiled form: use engine='reference'")
        if problem.exact:
            raise ValueError("exact numbers run in the reference engine only: use engine='reference'")
        if on_step is not None:
            raise ValueError("steps can be observed in the reference engine only: use engine='reference'")
        self._problem = problem
        self._given = rule
        self.rule = _core_rule(rule, 1.0)
        self._summed: dict[float, _core.Rule] = {}  # rules for folds of some weight, with reduction="sum"
        self._sums = check_reduction(reduction) == "sum" and batch_size != 1
        self._ties = ties(boundary)
        self._batch_size = batch_size
        self._n_jobs = n_jobs
        self._tasks: dict[int, tuple[State, Any]] = {}
        matrix = problem.rows.matrix
        values = problem.rows.values
        quick = isinstance(values, np.ndarray) and values.dtype == np.float32
        self._lengths = np.zeros(problem.n, dtype=np.float32) if quick else None
        self._per_row = max(1, values.nnz // problem.n if hasattr(values, "nnz") else matrix.shape[1])

    def chunk(self, n_states: int) -> int:
        """Return how many examples take a few milliseconds."""
        return max(1, _PRODUCTS_A_CHUNK // (self._per_row * max(1, n_states)))

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan."""
        if not self._sums:
            self._visit(states, plan, begin, end, self.rule)
            return
        for first, last, weight in self._weighed_folds(plan, begin, end):
            if weight not in self._summed:
                check_sum(self._given, weight)
                self._summed[weight] = _core_rule(self._given, weight)
            self._visit(states, plan, first, last, self._summed[weight])

    def _weighed_folds(self, plan: EpochPlan, begin: int, end: int) -> Iterator[tuple[int, int, float]]:
        """Yield folds, those of equal size together, and the weight of each: the core averages over it."""
        weights = self._problem.weights
        if plan.edges is not None and plan.shares is not None:
            inside = plan.edges[(plan.edges >= begin) & (plan.edges <= end)].tolist()
            for first, last in pairwise(inside):
                yield first, last, float(plan.shares[first:last].sum())
        elif isinstance(self._batch_size, str):
            rows = slice(begin, end) if plan.entries is None else plan.entries[begin:end]
            yield begin, end, float(end - begin if weights is None else weights[rows].sum())
        else:
            whole = begin + (end - begin) // self._batch_size * self._batch_size
            if whole > begin:
                yield begin, whole, float(self._batch_size)
            if whole < end:
                yield whole, end, float(end - whole)

    def _visit(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int, rule: _core.Rule) -> None:
        """Let the core learn from some entries with this rule."""
        problem = self._problem
        examples = _core.Examples(problem.codes, problem.weights, plan.entries, plan.shares)
        bad, clock = self._advance_core(states, examples, plan, begin, end, rule)
        self._refuse(bad)
        for state in states:
            state.clock = clock
            if state.votes is not None:
                votes = self.task(state).take_votes()
                if len(votes[0]):
                    state.votes.append(votes)

    def _advance_core(
        self, states: Sequence[State], examples: _core.Examples, plan: EpochPlan, begin: int, end: int, rule: _core.Rule
    ) -> tuple[int, float]:
        """Call the core, and return the row that was not finite (or -1) and the clock after."""
        problem, edges = self._problem, plan.edges
        if edges is not None:
            edges = edges[np.searchsorted(edges, begin) : np.searchsorted(edges, end, side="right")]
        return _core.visit(
            problem.rows.matrix,
            examples,
            begin,
            end,
            [self.task(state) for state in states],
            rule,
            float(problem.bias) ** 2,
            float(states[0].clock),
            max(plan.length, 2) if isinstance(self._batch_size, str) else min(self._batch_size, plan.length),
            edges,
            self._lengths,
            self._n_jobs,
        )

    def tally(
        self,
        state: State,
        weights: Any,
        bias: Number,
        rows: Order | None,
        *,
        smooth: bool = False,
        ties: tuple[bool, bool] | None = None,
    ) -> Sums:
        """Return the losses of these weights for the state's task over these rows."""
        problem = self._problem
        probe = state.probe(weights, bias, exact=False)
        end = problem.n if rows is None else len(rows)
        examples = _core.Examples(problem.codes, problem.weights, rows)
        bad, *losses = self._core_tally(problem.rows.matrix, examples, 0, end, self._make(probe, ties), smooth)
        self._refuse(bad)
        return Sums(*losses)

    def _refuse(self, bad: int) -> None:
        """Say why the activation of this row was not finite; -1 means that all were."""
        if bad < 0:
            return
        self._problem.rows.refuse_row(bad)
        raise WeightOverflowError(
            f"the activation of row {bad} is not a finite number: values of X, weights or eta0 are so large that sums "
            "overflow; scale the features first"
        )

    def task(self, state: State) -> Any:
        """Return the core's view of a state, made once."""
        held = self._tasks.get(id(state))
        if held is None:
            held = self._tasks[id(state)] = (state, self._make(state))
        return held[1]

    def _make(self, state: State, ties: tuple[bool, bool] | None = None) -> Any:
        weights: np.ndarray[Any, Any] = state.weights
        return _core.BinaryTask(
            weights, state.real, state.count, state.average_correction, state.pocket, state.positive,
            self._ties if ties is None else ties, state.votes is not None, state.spread,
        )  # fmt: skip


def _core_rule(rule: Any, weight: float) -> _core.Rule:
    """Return the rule as the core has it; its rate times the weight of a fold makes a mean a sum."""
    values = {name: float(getattr(rule, name)) for name in _core.RULES[rule.kernel]["parameters"]}
    if "eta" in values:
        values["eta"] *= weight
    return _core.Rule(rule.kernel, list(values.values()))
