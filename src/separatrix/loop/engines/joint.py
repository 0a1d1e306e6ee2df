"""The engines of classes that are learned together: the specification in plain Python, and the core's equal.

The correct class y meets its worst rival r: the wrong class with the highest score, the first of those that tie. The
rule sees the margin ``m = w_y.x - w_r.x`` (with the biases) and, for q, ``2 |x|^2`` (with the bias coordinate): the
square of the length of the table that has x in the row of y and -x in that of r, which the weights move by ``tau``
times.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.loop.engines.compiled import CompiledEngine
from separatrix.loop.engines.reference import COPIES, ReferenceEngine
from separatrix.loop.joint import JointState
from separatrix.loop.order import EpochPlan
from separatrix.loop.state import State
from separatrix.rules import Number


class JointReference(ReferenceEngine):
    """Runs a rule over all classes together in plain Python; its steps cannot be observed."""

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan."""
        (state,) = states
        assert isinstance(state, JointState)
        for i in range(begin, end) if plan.entries is None else map(int, plan.entries[begin:end]):
            remaining, clock = self._weight(i), state.clock
            for copy in range(1, COPIES + 1):
                y, rival, margin = self._meet(state.weights, state.bias, i)
                mistake = self._is_joint_mistake(margin, y, rival)
                if not (remaining > 0 and (mistake or self._smooth)):
                    break
                share = remaining if remaining < 1 or copy == COPIES else self._one
                self._check_pocket(state, plan.rows)
                self._learn_jointly(state, i, y, rival, margin, share, mistake=mistake)
                state.mistakes += mistake
                state.clock += share
                remaining -= share
                state.run_start = state.clock
                state.pocket_checked = 0
            state.clock = clock + self._weight(i)
        if end == plan.length:
            self._check_pocket(state, plan.rows)

    def _learn_jointly(
        self, state: JointState, i: int, y: int, rival: int, margin: Number, share: Number, *, mistake: bool
    ) -> None:
        """``w_y <- w_y + tau x`` and ``w_r <- w_r - tau x``, and what the average keeps of it."""
        x = np.array(self._table[i], state.weights.dtype)
        q = 2 * (sum(v * v for v in self._table[i]) + self._bias_square)
        tau = self._update(state, margin, q, 0, 0, share).tau
        if not self._moves(mistake, margin, q, state.updates + 1):
            return
        for code, step in ((y, tau), (rival, -tau)):
            state.weights[code] += step * x
            state.biases[0, code] += step * self._bias_square
            if state.average_correction is not None:
                state.average_correction[code] += state.age * (step * x)
                state.biases[1, code] += state.age * (step * self._bias_square)
        state.updates += 1

    def _meet(self, weights: Any, bias: Any, i: int) -> tuple[int, int, Number]:
        """Return the class of an example, its worst rival, and the margin of the one over the other."""
        scores = [self._activation(w, b, self._table[i]) for w, b in zip(weights, bias, strict=True)]
        y = int(self._problem.codes[i])
        rival = max((code for code in range(len(scores)) if code != y), key=lambda code: (scores[code], -code))
        return y, rival, scores[y] - scores[rival]

    def _is_joint_mistake(self, margin: Number, y: int, rival: int) -> bool:
        threshold = 0 if self._smooth else self._rule.threshold
        return bool(margin < threshold or (margin == threshold and self._ties[rival > y]))

    def _judge(
        self, state: State, weights: Any, bias: Number, i: int, tie_is_error: tuple[bool, bool]
    ) -> tuple[Number, bool]:
        y, rival, margin = self._meet(weights, bias, i)
        return margin, bool(margin < 0 or (margin == 0 and tie_is_error[rival > y]))


class JointCompiled(CompiledEngine):
    """Runs a rule over all classes together in the core, in one thread: each example waits for the one before."""

    _core_tally = staticmethod(_core.tally_joint)

    def chunk(self, n_states: int) -> int:
        """Return how many examples take a few milliseconds."""
        return super().chunk(len(self._problem.classes))

    def _advance_core(
        self, states: Sequence[State], examples: _core.Examples, plan: EpochPlan, begin: int, end: int, rule: _core.Rule
    ) -> tuple[int, float]:
        problem, (state,) = self._problem, states
        square, clock = float(problem.bias) ** 2, float(state.clock)
        return _core.visit_joint(problem.rows.matrix, examples, begin, end, self.task(state), rule, square, clock)

    def _make(self, state: State, ties: tuple[bool, bool] | None = None) -> Any:
        assert isinstance(state, JointState)
        return _core.JointTask(
            state.weights, state.biases, state.real, state.count, state.average_correction, state.pocket,
            self._ties if ties is None else ties,
        )  # fmt: skip
