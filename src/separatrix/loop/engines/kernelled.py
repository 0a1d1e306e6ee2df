"""The engine of the perceptron in dual form: weights are those of the examples, and a kernel stands for products.

A state's ``weights`` are ``alpha_i y_i``, one for each example, and so are its ``average_correction`` and its
``pocket``: every readout is the same sum in other coordinates. The engine keeps the activations of all examples; a
correct prediction costs a comparison, a mistake one kernel row. Rows are computed in blocks, for the mistake at hand
and those expected next. A state with a ``support`` forgets examples beyond its budget; the core does that too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.kernel_cache import KernelCache
from separatrix.geometry.rows import Floats
from separatrix.loop.engines.base import Step, Sums, WeightOverflowError, ties
from separatrix.loop.order import EpochPlan, Order
from separatrix.loop.problem import Problem
from separatrix.loop.state import State
from separatrix.rules import Number
from separatrix.rules.losses import LOSSES

_PRODUCTS_A_CHUNK = 1 << 24  # a few milliseconds, if every example is a mistake
_FIRST_BLOCK, _LARGEST_BLOCK = 8, 256  # kernel rows computed at once
_HORIZON = 4096  # examples ahead among which the next mistakes are looked for


class KernelEngine:
    """Runs the perceptron in dual form; the kernel rows, in float64, come from ``cache``."""

    def __init__(
        self,
        problem: Problem,
        rule: Any,
        *,
        cache: KernelCache,
        boundary: str,
        batch_size: int | str = 1,
        n_jobs: int = 1,
        on_step: Callable[[Step], None] | None = None,
        reduction: str = "mean",
    ) -> None:
        if batch_size != 1 or on_step is not None or getattr(rule, "kernel", None) != "threshold":
            raise ValueError("the dual form is for the perceptron with batch_size=1 and without step observers")
        self._problem = problem
        self._rule = rule
        self._ties = ties(boundary)
        self._cache = cache
        self._block = _FIRST_BLOCK
        self._activations: dict[int, tuple[State, Floats]] = {}
        self._unused = np.zeros(problem.n)  # in place of activations that the core sums up itself
        self._budgets: dict[int, tuple[State, _core.Budget]] = {}

    def chunk(self, n_states: int) -> int:
        """Return how many examples take a few milliseconds."""
        return max(1, _PRODUCTS_A_CHUNK // (self._problem.n * max(1, n_states)))

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan."""
        problem, cache, rule = self._problem, self._cache, self._rule
        before = clock = float(states[0].clock)
        for state in states:
            at, clock, budget = begin, before, self._budget(state)
            while True:
                projecting = state.support is not None and state.support.projecting
                activation = self._unused if projecting else self._activation(state)
                missing, at, clock, *votes = _core.dual_visit(
                    cache.store, cache.slot_of, problem.codes, problem.weights, plan.entries, at, end, state.weights,
                    state.average_correction, state.pocket, activation, state.real, state.count,
                    state.positive, self._ties, float(rule.eta), float(rule.threshold), float(problem.bias) ** 2, clock,
                    state.votes is not None, budget,
                )  # fmt: skip
                if state.votes is not None and len(votes[0]):
                    state.votes.append((votes[0], votes[1], votes[2]))
                if missing == -1:
                    break
                if missing < -1:
                    raise WeightOverflowError(
                        f"the activation of row {-2 - missing} is not a finite number: the kernel's values are so "
                        "large that sums overflow; scale the features first"
                    )
                self._fetch(state, plan.entries, at, end, missing)
            if state.support is not None and state.support.projecting:
                self._activations.pop(id(state), None)  # the core sums up those that it needs
        for state in states:
            state.clock = clock

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
        activation = self._activation(state) if weights is state.weights else self._cache.combine(weights)
        index = np.arange(problem.n) if rows is None else rows
        positive = problem.codes[index] == state.positive
        margin = np.where(positive, 1.0, -1.0) * (activation[index] + float(bias))
        share = np.ones(len(index)) if problem.weights is None else problem.weights[index]
        of_negative, of_positive = self._ties if ties is None else ties
        wrong = (margin < 0) | ((margin == 0) & np.where(positive, of_positive, of_negative))
        others = (
            float(share @ np.array([LOSSES[name].value(m) for m in margin.tolist()])) if smooth else 0.0
            for name in ("squared", "log", "hinge", "squared_hinge")
        )
        return Sums(float(share[wrong].sum()), -float(share[wrong] @ margin[wrong]), *others)

    def _activation(self, state: State) -> Floats:
        held = self._activations.get(id(state))
        if held is None:
            held = self._activations[id(state)] = (state, self._cache.combine(state.weights))
        return held[1]

    def _budget(self, state: State) -> _core.Budget | None:
        """Return the budget of a state; a projection needs the kernel rows of all that is stored."""
        support, cache = state.support, self._cache
        if support is None:
            return None
        if id(state) not in self._budgets:
            if support.forget == "projected" and support.budget < self._problem.n and cache.capacity <= support.budget:
                raise ValueError(
                    f"cache_size is too small: forget='projected' needs {support.budget + 1:,} kernel rows of "
                    f"{self._problem.n:,} examples at a time, and {cache.capacity:,} fit: raise cache_size or lower "
                    "budget"
                )
            made = support.begin(cache.diagonal, float(self._problem.bias) ** 2)
            self._budgets[id(state)] = (state, made)
        if support.projecting:
            cache.slots(support.rows)
        return self._budgets[id(state)][1]

    def _fetch(self, state: State, order: Order | None, at: int, end: int, missing: int) -> None:
        """Compute the kernel row of a mistake, and those of the mistakes expected next."""
        if state.support is not None and state.support.forget == "projected" and state.support.full:
            self._cache.slots(np.append(state.support.rows, missing))
            return
        stop = min(end, at + _HORIZON)
        ahead = np.arange(at, stop) if order is None else order[at:stop].astype(np.int64)
        signs = np.where(self._problem.codes[ahead] == state.positive, 1.0, -1.0)
        margin = signs * (self._activation(state)[ahead] + state.bias)
        wanted = (margin <= self._rule.threshold) & (self._cache.slot_of[ahead] < 0) & (ahead != missing)
        room = min(self._block, max(1, self._cache.capacity // 2)) - 1
        self._cache.slots(np.concatenate([[missing], ahead[wanted][:room]]).astype(np.int64))
        self._block = min(2 * self._block, _LARGEST_BLOCK)
