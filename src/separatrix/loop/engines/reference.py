"""The reference engine: THE SPECIFICATION. Plain Python, one Step for each example, exact with ints and Fractions.

Nothing here is fast and nothing here is clever; the compiled engine must agree with it bit for bit on integer data.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import is_sparse
from separatrix.loop.engines.base import Step, Sums, WeightOverflowError, check_reduction, check_sum, ties
from separatrix.loop.order import EpochPlan, Order
from separatrix.loop.problem import Problem
from separatrix.loop.state import State
from separatrix.rules import Downhill, Number, Update
from separatrix.rules.losses import Hinge, Log, PerceptronCriterion, Squared, SquaredHinge

COPIES = _core.COPIES  # presentations of one heavy example in succession; the last takes the weight that is left


class ReferenceEngine:
    """Runs a rule in plain Python."""

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
        self._problem = problem
        self._rule = rule
        self._downhill = rule if isinstance(rule, Downhill) else None
        self._smooth = rule.threshold == math.inf
        self._spreads = self._downhill is not None and self._downhill.spread
        if problem.exact and self._smooth and not (self._downhill and self._downhill.exact):
            raise ValueError(f"rule {rule.name!r} cannot compute with exact numbers: use floats")
        self._ties = ties(boundary)
        self._batch_size = batch_size
        self._sums = check_reduction(reduction) == "sum"
        self._on_step = on_step
        self._bias_square = problem.bias * problem.bias
        if not problem.finite:
            problem.rows.check_finite()
        values = problem.rows.values
        self._table: list[list[Number]] = (values.toarray() if is_sparse(values) else values).tolist()
        self._one: Number = 1 if problem.exact else 1.0

    def chunk(self, n_states: int) -> int:
        """Return a small number of examples."""
        return 64

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan."""
        entries = range(begin, end) if plan.entries is None else [int(row) for row in plan.entries[begin:end]]
        for state in states:
            state.settle()  # as another engine may have left it in the middle of an epoch
            if self._batch_size == 1:
                run = self.steps(state, list(entries), plan.rows)
            else:
                run = self._folds(state, self._cut(list(entries), plan, begin, end), plan.rows)
            for step in run:
                if self._on_step is not None:
                    self._on_step(step)
            if end == plan.length:
                self._check_pocket(state, plan.rows)

    def _cut(self, entries: list[int], plan: EpochPlan, begin: int, end: int) -> list[list[tuple[int, Number]]]:
        """Return the folds, each a list of rows and their weights; an example of weight 0 is in none."""
        if plan.edges is not None and plan.shares is not None:
            shares: list[Number] = plan.shares[begin:end].tolist()
            edges = [int(edge) - begin for edge in plan.edges if begin <= edge <= end]
        else:
            shares = [self._weight(i) for i in entries]
            size = len(entries) if isinstance(self._batch_size, str) else self._batch_size
            edges = [*range(0, len(entries), size), len(entries)]
        pairs = list(zip(entries, shares, strict=True))
        return [[pair for pair in pairs[a:b] if pair[1] > 0] for a, b in pairwise(edges)]

    def steps(self, state: State, rows: Sequence[int], order: Order | None) -> Iterator[Step]:
        """Present these rows one at a time, yielding a Step for each presentation."""
        for i in rows:
            x, y = self._table[i], self._sign(state, i)
            remaining, clock = self._weight(i), state.clock
            for copy in range(1, COPIES + 1):
                if not remaining > 0:
                    break
                activation = self._activation(state.weights, state.bias, x)
                margin = y * activation
                mistake = self._is_mistake(margin, y)
                moves = False
                if mistake or self._smooth:
                    share = remaining if remaining < 1 or copy == COPIES else self._one
                    self._check_pocket(state, order)
                    moves = self._learn(state, i, x, y, margin, share)
                    state.mistakes += mistake
                    state.clock += share
                    remaining -= share
                    state.run_start = state.clock
                    state.pocket_checked = 0
                yield self._step(state, i, x, y, activation, margin, mistake, moves)
                if not (mistake or self._smooth):
                    break
            state.clock = clock + self._weight(i)

    def _learn(self, state: State, i: int, x: list[Number], y: int, margin: Number, share: Number) -> bool:
        """``w <- shrink * w + tau * y * x`` (or ``S x``) and what the readouts keep of it; return whether it moved."""
        gain, bias_gain = self._gain(state, x)
        q = sum(v * g for v, g in zip(x, gain, strict=True)) + bias_gain
        n = sum(w * w for w in state.weights)
        if self._bias_square:
            n += self._divide(state.bias * state.bias, self._bias_square)
        a = state.alphas.get(i, 0)
        shrink, tau, beta = self._update(state, margin, q, a, n, share)
        moves = self._moves(True, margin, q, state.updates + 1)
        state.updates += moves
        if tau == 0 and shrink == 1:
            return moves
        signed = tau * y
        back = self._move(state, shrink, [signed * v for v in gain], signed * bias_gain)
        if shrink != 1:
            state.alphas = {row: shrink * alpha for row, alpha in state.alphas.items()}
        if beta > 0:
            self._narrow(state, beta, gain, bias_gain)
        if not self._spreads:  # else the weights are no sum of examples
            state.alphas[i] = shrink * a + tau
        if back != 1:
            state.alphas = {row: back * alpha for row, alpha in state.alphas.items()}
        if state.votes is not None:
            state.votes.append((np.array([i]), np.array([float(signed)]), np.array([float(state.age)])))
        return moves

    def _gain(self, state: State, x: list[Number]) -> tuple[list[Number], Number]:
        """Return what a step of 1 adds to the weights and to the bias: x and K^2, or, with a spread, ``S x'``.

        The last coordinate of ``x'`` is K, and K times that of ``S x'`` is added to the bias.
        """
        if not self._spreads:
            return x, self._bias_square
        assert state.spread is not None
        spread: Any = state.spread.tolist()
        if state.spread.ndim == 1:
            return [s * v for s, v in zip(spread, x, strict=False)], spread[-1] * self._bias_square
        constant = self._problem.bias
        *gain, last = (sum(s * v for s, v in zip(row, x, strict=False)) + row[-1] * constant for row in spread)
        return gain, constant * last

    def _narrow(self, state: State, beta: Number, gain: list[Number], bias_gain: Number) -> None:
        """``S <- S - beta * g g^T`` with ``g = S x'``, or its diagonal; rounding leaves no spread at 0 or below."""
        spread: Any = state.spread
        if spread.ndim == 1:
            spread -= np.array([*(beta * (g * g) for g in gain), beta * (spread.item(-1) * bias_gain)], spread.dtype)
            diagonal = spread
        else:
            last = self._divide(bias_gain, self._problem.bias) if self._problem.bias else 0 * self._one
            whole = np.array([*gain, last], spread.dtype)
            spread -= beta * np.outer(whole, whole)
            diagonal = np.einsum("ii->i", spread)  # a view
        if not self._problem.exact:
            np.maximum(diagonal, sys.float_info.min, out=diagonal)

    def _update(
        self, state: State, m: Number, q: Number, a: Number, n: Number, share: Number, fold: Number | None = None
    ) -> Update:
        """Apply the rule to a part of an example or of a fold, at the state's rate, and add to the epoch's loss.

        A part of an example takes that part of the update; but a rule that counts by weight knows from ``t`` how much
        weight its update is for.
        """
        by_weight = self._downhill is not None and self._downhill.by_weight
        t = self._divide(state.age, share if fold is None else fold) + 1 if by_weight else state.updates + 1
        shrink, tau, beta = Update(*self._rule.step(m, q, a, n, t))
        if self._smooth:
            loss = self._rule.loss.value(m)
            state.epoch_loss += share * (loss if self._problem.exact else float(loss))
        part = (share if not self._smooth or fold is not None or share < 1 else self._one) * state.rate
        if not self._problem.exact:
            shrink = float(shrink)
        if by_weight and fold is None:
            return Update(shrink, tau * self._one)
        return Update(shrink if shrink == 1 or part == 1 else 1 - part * (1 - shrink), tau * part, beta * part)

    def _move(self, state: State, shrink: Number, step: list[Number], bias_step: Number) -> Number:
        """Shrink and move the weights, project them onto the rule's ball, and keep the average; return the projection.

        The average is over the weights as each example leaves them. So what changes now was missing for all the age.
        """
        moved = np.array(step, dtype=state.weights.dtype)
        before, bias_before = state.weights.copy(), state.bias
        penalised = self._downhill is not None and self._downhill.bias == "penalised"
        if shrink != 1:
            state.weights *= shrink
            state.bias *= shrink if penalised else 1
        state.weights += moved
        state.bias += bias_step
        back: Number = 1
        if self._downhill is not None and self._downhill.radius < math.inf:
            square = sum(w * w for w in state.weights.tolist())
            square += state.bias**2 / self._bias_square if penalised and self._bias_square else 0.0
            if square > self._downhill.radius**2:
                back = self._downhill.radius / math.sqrt(square)
                state.weights *= back
                state.bias *= back if penalised else 1
        if state.average_correction is not None:
            if shrink != 1 or back != 1:
                moved, bias_step = state.weights - before, state.bias - bias_before
            state.average_correction += state.age * moved
            state.average_correction_bias += state.age * bias_step
        return back

    def _folds(self, state: State, folds: list[list[tuple[int, Number]]], order: Order | None) -> Iterator[Step]:
        """Compute the updates of a whole fold with the weights fixed, then apply their weighted mean, or their sum."""
        for fold in folds:
            total = sum((weight for _, weight in fold), start=0 * self._one)
            if self._sums:
                check_sum(self._rule, float(total))
            divisor = self._one if self._sums else total
            seen = []
            step = [0 * self._one] * self._problem.d
            bias_step = decay = 0 * self._one
            n_moving = 0
            for i, weight in fold:
                x, y = self._table[i], self._sign(state, i)
                activation = self._activation(state.weights, state.bias, x)
                margin = y * activation
                mistake = self._is_mistake(margin, y)
                moves = self._moves(mistake, margin, None, state.updates + 1)
                seen.append((i, x, y, activation, margin, mistake, moves))
                if mistake or self._smooth:
                    shrink, tau, _ = self._update(state, margin, None, None, None, weight, total)
                    n_moving += moves
                    decay += 1 - shrink
                    signed = tau * y
                    step = [s + signed * v for s, v in zip(step, x, strict=True)]
                    bias_step += signed * self._bias_square
            if n_moving or decay:
                self._check_pocket(state, order)
                joint = [self._divide(s, divisor) for s in step]
                shrink = 1 - self._divide(decay, divisor) if decay else 1
                self._move(state, shrink, joint, self._divide(bias_step, divisor))
                state.run_start = state.clock + total
                state.pocket_checked = 0
                state.mistakes += sum(each[5] for each in seen)
                state.updates += n_moving > 0
            state.clock += total
            for i, x, y, activation, margin, mistake, moves in seen:
                yield self._step(state, i, x, y, activation, margin, mistake, moves)

    def _check_pocket(self, state: State, order: Order | None) -> None:
        """The ratchet: the longest run so far enters the pocket if it also makes less loss than the pocket."""
        run = state.clock - state.run_start
        if state.pocket is None or not run > state.pocket_run or state.pocket_checked:
            return
        state.pocket_checked = 1
        loss = self.tally(state, state.weights, state.bias, order).zero_one
        if loss < state.pocket_loss:
            state.pocket_loss, state.pocket_run, state.pocket_bias = loss, run, state.bias
            state.pocket = state.weights.copy()

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
        tie_is_error = self._ties if ties is None else ties
        zero_one = criterion = squared = log = hinge = squared_hinge = 0 * self._one
        for i in range(self._problem.n) if rows is None else rows:
            margin, wrong = self._judge(state, weights, bias, int(i), tie_is_error)
            if smooth:
                squared += self._weight(int(i)) * float(Squared.value(float(margin)))
                log += self._weight(int(i)) * float(Log.value(float(margin)))
                hinge += self._weight(int(i)) * Hinge.value(margin)
                squared_hinge += self._weight(int(i)) * SquaredHinge.value(margin)
            if wrong:
                zero_one += self._weight(int(i))
                criterion += self._weight(int(i)) * PerceptronCriterion.value(margin)
        return Sums(zero_one, criterion, squared, log, hinge, squared_hinge)

    def _judge(
        self, state: State, weights: Any, bias: Number, i: int, tie_is_error: tuple[bool, bool]
    ) -> tuple[Number, bool]:
        """Return the margin of an example, and whether it is an error."""
        y = self._sign(state, i)
        margin = y * self._activation(weights, bias, self._table[i])
        return margin, bool(margin < 0 or (margin == 0 and tie_is_error[y > 0]))

    def _divide(self, number: Number, by: Number) -> Number:
        return Fraction(number) / by if self._problem.exact else number / by

    def _activation(self, weights: Any, bias: Number, x: list[Number]) -> Number:
        activation = sum((w * v for w, v in zip(weights, x, strict=True)), start=0 * self._one) + bias
        if self._smooth and not self._problem.exact and not math.isfinite(activation):
            raise WeightOverflowError("an activation is not a finite number")
        return activation

    def _is_mistake(self, margin: Number, y: int) -> bool:
        threshold = 0 if self._smooth else self._rule.threshold
        return bool(margin < threshold or (margin == threshold and self._ties[y > 0]))

    def _moves(self, mistake: bool, margin: Number, q: Number | None, t: int) -> bool:
        """Return whether the example adds to the weights; some rules only shrink them at most examples."""
        return self._downhill.moves(margin, q, t) if self._downhill is not None else mistake or self._smooth

    def _sign(self, state: State, i: int) -> int:
        return 1 if self._problem.codes[i] == state.positive else -1

    def _weight(self, i: int) -> Number:
        weights = self._problem.weights
        return self._one if weights is None else float(weights[i])

    def _step(
        self,
        state: State,
        i: int,
        x: list[Number],
        y: int,
        activation: Number,
        margin: Number,
        mistake: bool,
        updated: bool,
    ) -> Step:
        weights = tuple(state.weights.tolist())
        return Step(state.epochs + 1, i, tuple(x), y, activation, margin, mistake, weights, state.bias, updated)
