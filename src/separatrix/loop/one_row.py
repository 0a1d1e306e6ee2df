"""One row at a time for a rule in the core: an epoch of one example, without what a table needs.

The states end up with the bits that a run over a table of one row would leave in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.loop.engines import JOINT_ENGINES
from separatrix.loop.engines.compiled import CompiledEngine
from separatrix.loop.joint import JointState
from separatrix.loop.learning_rate import in_units
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.readouts import read
from separatrix.loop.state import State
from separatrix.rules import Downhill

_MISTAKES = _core.COUNT_SLOTS.index("mistakes")


class OneRow:
    """The engine of one example: ``row`` is a place for its numbers, where it is dense.

    ``states`` are changed in place. What a run notes at the end of an epoch is added up and noted by ``close``.
    """

    def __init__(
        self, states: Sequence[State], rule: Any, classes: NDArray[Any], *, bias: float, boundary: str
    ) -> None:
        self.row = np.zeros((1, states[0].weights.shape[-1]))
        self.states, self.seen = states, 0
        self.clock = float(max(state.clock for state in states))
        self._code, self._weight = np.zeros(1, dtype=np.int32), np.ones(1)
        self._problem = Problem(self.row, Labels(classes, self._code), bias=bias)
        self._given, self._boundary = rule, boundary
        self._matrix, self._square = self._problem.rows.matrix, float(bias) ** 2
        self._plain = _core.Examples(self._code, None, None)
        self._weighted = _core.Examples(self._code, self._weight, None)
        self._counts = [state.count for state in states]
        self._made, self._updates = [0] * len(states), [state.updates for state in states]
        self._joint = isinstance(states[0], JointState)
        self._tasks: list[Any] = []
        self._rule: Any = None

    def _begin(self) -> None:
        """Begin to change the states, as a run on new data does."""
        epochs = max(state.epochs for state in self.states)
        for state in self.states:
            state.begin_again()
            state.rejoin(self.clock, epochs)
        rule = self._given.among(1) if isinstance(self._given, Downhill) else self._given
        kind: Any = JOINT_ENGINES["compiled"] if self._joint else CompiledEngine
        engine = kind(self._problem, in_units(rule, self.states), boundary=self._boundary)
        self._rule, self._tasks = engine.rule, [engine.task(state) for state in self.states]

    def advance(self, code: int, weight: float = 1.0, sparse: _core.Matrix | None = None) -> bool:
        """Learn from the row; False where its activation is not a finite number."""
        if not self._tasks:
            self._begin()
        self._code[0] = code
        examples = self._plain
        if weight != 1.0:
            self._weight[0], examples = weight, self._weighted
        for count in self._counts:
            count[_MISTAKES] = 0
        matrix = self._matrix if sparse is None else sparse
        if self._joint:
            bad, clock = _core.visit_joint(matrix, examples, 0, 1, self._tasks[0], self._rule, self._square, self.clock)
        else:
            bad, clock = _core.visit(
                matrix, examples, 0, 1, self._tasks, self._rule, self._square, self.clock, 1, None, None, 1
            )
        if bad >= 0:
            return False
        self.clock = clock
        self.seen += 1
        for place, count in enumerate(self._counts):
            self._made[place] += int(count[_MISTAKES])
        return True

    def scores(self, coef: Floats, intercept: Floats, sparse: _core.Matrix | None = None) -> Floats:
        """Return the activations of the row."""
        return np.asarray(_core.decide(self._matrix if sparse is None else sparse, coef, intercept, 1)[0])

    def reading(self, readout: str) -> tuple[Floats, Floats]:
        """Return weights and biases as the readout names them, valid until more is learned."""
        (first, *others) = self.states
        if readout == "last" and not (others or self._joint) and first.unit == first.scale == 1.0:
            return first.weights[None, :], np.array([first.bias])
        self._settle()
        parts = [read(state, readout) for state in self.states]
        return np.vstack([weights for weights, _ in parts]), np.hstack([bias for _, bias in parts])

    def _settle(self) -> None:
        """Bring the states to where readouts expect them."""
        for state in self.states:
            state.clock = self.clock

    def close(self) -> tuple[int, int, int]:
        """Note what was learned in the states; return the examples, mistakes and updates since the last time."""
        self._settle()
        seen, made, before = self.seen, sum(self._made), sum(self._updates)
        for place, state in enumerate(self.states):
            state.epochs += seen
            state.past_mistakes += self._made[place]
            state.epoch_loss, state.epoch_loss_factor = 0.0, 1.0
            self._made[place], self._updates[place] = 0, state.updates
        self.seen = 0
        return seen, made, sum(self._updates) - before
