"""The learning rate of a perceptron: from zero and without a margin it only scales the weights (Lecture 001).

Such a run is that of eta = 1, whatever eta is: its state keeps the weights in units of eta (``State.unit``), and eta
comes in where they are read. So the mistakes of every eta are the same to the last bit, until a run ends without
mistakes and its weights times eta, which round, still make one (``hidden_mistakes`` of solve.py). Where eta matters,
because the run starts elsewhere, has a margin or goes on with another rate, the unit is 1.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from separatrix.loop.engines.base import Step
from separatrix.loop.state import State
from separatrix.rules import MarginPerceptron, Number, Perceptron, Update


@dataclass(frozen=True)
class Always:
    """The rule of a step at every example that is presented, whatever its margin."""

    eta: Number
    name: ClassVar[str] = "always"
    kernel: ClassVar[str] = "threshold"
    threshold: ClassVar[Number] = math.inf

    def step(self, m: Number, q: Number, a: Number, n: Number, t: int) -> Update:
        """Add the example, ``eta`` times."""
        return Update(1, self.eta)


def in_units(rule: Any, states: Sequence[State], *, exact: bool = False) -> Any:
    """Return the rule to run, of rate 1 where the rate only scales; all states are brought to one unit.

    With ``exact`` numbers there is nothing to gain.

    Examples
    --------
    >>> state = State.new(1, [0.0, 0.0], 0.0, readout="last")
    >>> in_units(Perceptron(eta=0.1), [state]), state.unit
    (Perceptron(eta=1.0), 0.1)
    """
    if type(rule) in (Perceptron, MarginPerceptron) and not rule.threshold and not exact:
        eta = float(rule.eta)
        for state in states:
            if not (state.updates or np.any(state.bias) or state.weights.any()):
                state.unit = eta
        if all(state.unit == eta for state in states):
            return replace(rule, eta=1.0)
    for state in states:
        _multiply_out(state)
    return rule


def _multiply_out(state: State) -> None:
    """Multiply the unit into the weights and everything that is kept of them."""
    unit = state.unit
    if unit == 1:
        return
    for array in (state.weights, state.average_correction, state.pocket):
        if array is not None:
            array *= unit
    state.bias *= unit
    state.average_correction_bias *= unit
    state.pocket_bias *= unit
    state.alphas = {row: unit * alpha for row, alpha in state.alphas.items()}
    if state.votes is not None:
        state.votes = [(rows, unit * signed, times) for rows, signed, times in state.votes]
    if state.voted_weights is not None:
        state.voted_weights = state.voted_weights.scaled(unit)
    state.unit = 1.0


def scaled_step(step: Step, unit: Number) -> Step:
    """Return a step in units as one of the weights themselves."""
    if unit == 1:
        return step
    weights = tuple(unit * weight for weight in step.weights)
    return replace(
        step, activation=unit * step.activation, margin=unit * step.margin, weights=weights, bias=unit * step.bias
    )
