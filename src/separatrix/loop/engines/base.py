"""The protocol of engines, the Step, and the choices that belong to the engine and not to a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from separatrix.loop.order import EpochPlan, Order
from separatrix.loop.problem import Problem
from separatrix.loop.state import State
from separatrix.rules import Number

# For each boundary: is a tie a mistake for a negative example, for a positive example?
BOUNDARIES: dict[str, tuple[bool, bool]] = {
    "mistake": (True, True),
    "correct": (False, False),
    "positive": (True, False),
    "negative": (False, True),
}


def ties(boundary: Any) -> tuple[bool, bool]:
    """Return whether a tie is a mistake for a negative and for a positive example."""
    if not isinstance(boundary, str) or boundary not in BOUNDARIES:
        raise ValueError(f"boundary must be one of {', '.join(BOUNDARIES)}; found {boundary!r}")
    return BOUNDARIES[boundary]


@dataclass(frozen=True)
class Step:
    """One example presented to a rule; ``weights`` and ``bias`` are those after the step."""

    epoch: int
    index: int
    x: tuple[Number, ...]
    y: int
    activation: Number
    margin: Number
    mistake: bool
    weights: tuple[Number, ...]
    bias: Number
    updated: bool


class Sums(NamedTuple):
    """The total losses of one weight vector over some examples.

    Those that are positive for correct predictions too (from ``squared`` on) are 0 unless computed with ``smooth``.
    """

    zero_one: Number
    perceptron: Number
    squared: Number
    log: Number
    hinge: Number
    squared_hinge: Number


class WeightOverflowError(ValueError):
    """An activation was not finite although its row is: the weights have grown too large."""


class Engine(Protocol):
    """Presents examples to a rule. Engines that can be observed call ``on_step`` for each example."""

    def __init__(
        self,
        problem: Problem,
        rule: Any,
        *,
        boundary: str,
        batch_size: int | str,
        n_jobs: int,
        on_step: Callable[[Step], None] | None,
    ) -> None: ...

    def chunk(self, n_states: int) -> int:
        """Return how many examples to run before the first check of the clock and of Ctrl-C."""
        ...

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan, changing the states in place."""
        ...

    def tally(self, state: State, weights: Any, bias: Number, rows: Order | None, *, smooth: bool = False) -> Sums:
        """Return the losses of these weights for the state's task over these rows (all, if None).

        With ``smooth`` also those that are positive for correct predictions.
        """
        ...
