"""The protocol of engines, the Step, and the choices that belong to the engine and not to a rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from separatrix import _core
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


# How the updates of a fold, all computed with the same weights, become one: their weighted mean, or their sum.
REDUCTIONS = ("mean", "sum")


def check_reduction(reduction: Any) -> str:
    """Return how the updates of a fold become one, or refuse it."""
    if not isinstance(reduction, str) or reduction not in REDUCTIONS:
        raise ValueError(f"reduction must be one of {', '.join(REDUCTIONS)}; found {reduction!r}")
    return reduction


def learns_from_folds(rule: Any) -> bool:
    """Return whether a rule can learn from several examples at once, as the core says; one that it does not know can.

    Examples
    --------
    >>> from separatrix.rules import PA, Perceptron
    >>> learns_from_folds(Perceptron()), learns_from_folds(PA())
    (True, False)
    """
    known = _core.RULES.get(getattr(rule, "kernel", ""))
    return known is None or bool(known["folds"])


def check_sum(rule: Any, weight: float) -> None:
    """Refuse a rule whose penalty would turn the weights around in the step of a fold of this weight."""
    eta, alpha = float(rule.eta), float(getattr(rule, "alpha", 0.0))
    if not eta * alpha * weight < 1:
        raise ValueError(
            "with reduction='sum', eta0 * alpha times the examples of a batch must be below 1, or a step would change "
            f"the sign of the weights; found {eta:g} * {alpha:g} * {weight:g}"
        )


def ties(boundary: Any) -> tuple[bool, bool]:
    """Return whether a tie is a mistake for a negative and for a positive example."""
    if not isinstance(boundary, str) or boundary not in BOUNDARIES:
        raise ValueError(f"boundary must be one of {', '.join(BOUNDARIES)}; found {boundary!r}")
    return BOUNDARIES[boundary]


def predicted_ties(boundary: Any) -> tuple[bool, bool]:
    """Return whether a tie is predicted wrong for a negative and for a positive example.

    Predictions must name a class: the positive one, or with "negative" the negative one, whatever a tie was while
    learning.

    Examples
    --------
    >>> predicted_ties("mistake"), predicted_ties("negative")
    ((True, False), (False, True))
    """
    return BOUNDARIES["negative" if boundary == "negative" else "positive"]


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
    ``zero_one`` counts ties as :func:`ties` says, or as :func:`predicted_ties` where the loss of predictions is meant.
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
        reduction: str = "mean",
    ) -> None: ...

    def chunk(self, n_states: int) -> int:
        """Return how many examples to run before the first check of the clock and of Ctrl-C."""
        ...

    def advance(self, states: Sequence[State], plan: EpochPlan, begin: int, end: int) -> None:
        """Learn from the entries ``begin..end`` of the plan, changing the states in place."""
        ...

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
        """Return the losses of these weights for the state's task over these rows (all, if None).

        With ``smooth`` also those that are positive for correct predictions. ``ties`` says whether a tie is an error
        for a negative and for a positive example; by default, as while learning.
        """
        ...
