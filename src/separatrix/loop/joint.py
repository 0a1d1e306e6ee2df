"""The state of several classes that are learned together: a weight vector each, and one rule for all.

The rule sees the margin of the correct class over its worst rival, the wrong class with the highest score (the first of
those that tie), and the update adds to the weights of the one what it takes from those of the other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.loop.problem import Problem
from separatrix.loop.state import Array, State
from separatrix.models.validity import is_array, require
from separatrix.rules import Downhill, Number


def _bias_row(row: int) -> property:
    """Return a property that is a copy of this row, as a number would be."""

    def get(self: JointState) -> Array:
        return np.array(self.biases[row])

    def put(self: JointState, value: Any) -> None:
        self.biases[row] = value

    return property(get, put)


@dataclass(eq=False)
class JointState(State):
    """The state of all classes together: weights, average correction and pocket have a row for each class.

    ``biases`` has a column for each class, and three rows: the biases, their part of ``average_correction``, and those
    of the pocket. Everything else is as in a :class:`State`, for one task; ``positive`` has no meaning.
    """

    biases: Any = None

    bias = _bias_row(0)
    average_correction_bias = _bias_row(1)
    pocket_bias = _bias_row(2)

    def __post_init__(self) -> None:
        if self.biases is None and isinstance(self.weights, np.ndarray):
            self.biases = np.zeros((_core.JOINT_BIAS_ROWS, len(self.weights)), self.weights.dtype)

    def probe(self, weights: Array, bias: Number, *, exact: bool) -> JointState:
        """Return a fresh state with these weights."""
        return JointState.new(0, weights, bias, readout="last", exact=exact)

    @property
    def arrays(self) -> list[Array]:
        """The arrays that an epoch changes."""
        return [*super().arrays, self.biases]

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        super().validate()
        n_classes = len(self.weights)
        require(n_classes > 2, "a joint state is of more than two classes")
        fits = is_array(self.biases, "f8", (_core.JOINT_BIAS_ROWS, n_classes), finite=True)
        require(fits, "the biases of a joint state are not finite numbers, one for each class")
        unknown = (self.spread, self.votes, self.start, self.voted_weights)
        require(all(part is None for part in unknown), "a joint state keeps what it cannot have")

    @staticmethod
    def _shape() -> tuple[None, ...]:
        return (None, None)


def joint_state(problem: Problem, states: Sequence[State], *, readout: str) -> JointState:
    """Return the state that starts from the weights of these, one for each class, on the clock of the first."""
    weights, bias = np.stack([state.weights for state in states]), np.array([state.bias for state in states])
    return JointState.new(0, weights, bias, readout=readout, clock=states[0].clock, exact=problem.exact)


def check_joint(rule: Any, *, readout: str, boundary: str, batch_size: Any) -> None:
    """Refuse choices that have no meaning where several classes are learned together."""
    joint = "of classes that are learned together (multi_class='joint')"
    if not _core.RULES.get(getattr(rule, "kernel", ""), {}).get("joint"):
        raise ValueError(f"rule {rule.name!r} has no form for classes that are learned together")
    if readout == "voted":
        raise ValueError(
            f"readout='voted' keeps no votes {joint}: use 'averaged', or multi_class='ovr'"
        )  # each voter would be a table of weights
    if boundary not in ("mistake", "correct"):
        raise ValueError(f"boundary must be 'mistake' or 'correct' {joint}: none is positive; found {boundary!r}")
    if batch_size != 1:
        raise ValueError(f"batch_size must be 1 {joint}; found {batch_size!r}")


def from_binary(state: State, rule: Any, places: Sequence[int], n_classes: int) -> JointState:
    """Return the joint state of a run that has seen two classes only, or one; ``places`` are theirs, in order.

    The weights of the second class are those of the binary run, and of the first the opposite, as if they had been
    learned together; rules that go for a margin of 1 share it: each class has half. Other classes begin at zero.
    """
    part = 0.5 if isinstance(rule, Downhill) else 1.0
    signs = np.zeros(n_classes)
    signs[list(places)] = [-part, part] if len(places) == 2 else [part]

    def shared(weights: Array | None) -> Array | None:
        return None if weights is None else np.outer(signs, weights)

    table = shared(state.weights)
    assert table is not None
    grown = JointState(0, table, state.real.copy(), state.count.copy())
    _copy_progress(grown, state)
    grown.average_correction, grown.pocket = shared(state.average_correction), shared(state.pocket)
    grown.biases[:] = np.outer([state.bias, state.average_correction_bias, state.pocket_bias], signs)
    return grown


def grown(state: JointState, places: Sequence[int], n_classes: int) -> JointState:
    """Return the state with room for more classes, whose weights are zero; ``places`` are those of the known ones."""

    def spread_out(table: Array | None) -> Array | None:
        if table is None:
            return None
        wide = np.zeros((n_classes, table.shape[1]))
        wide[list(places)] = table
        return wide

    table = spread_out(state.weights)
    assert table is not None
    wider = JointState(0, table, state.real.copy(), state.count.copy())
    _copy_progress(wider, state)
    wider.average_correction, wider.pocket = spread_out(state.average_correction), spread_out(state.pocket)
    wider.biases[:, list(places)] = state.biases
    return wider


def _copy_progress(to: JointState, state: State) -> None:
    """Copy what is the same for any number of classes."""
    names = ("past_mistakes", "epochs", "position", "clock", "ended", "new_data", "penalty", "plateau", "level", "unit")
    for name in (*names, "last_report"):
        setattr(to, name, getattr(state, name))
    to.reports = list(state.reports)
