"""What a run works on and what it gives back: State, Status, Solution.

A :class:`State` is everything that learning one question ("class c or not?") changes; both engines change it in place,
it can be pickled, and a run goes on from it as if it had never stopped.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.rules import Number
from separatrix.stops import Ending, Epoch

Array = NDArray[Any]

# The slots of State.real and State.count, as the core's Target counts them (core.hpp).
(
    BIAS, BIRTH, DRIFT_BIAS, RUN_START, POCKET_BIAS, POCKET_RUN, POCKET_LOSS, SCALE, RATE, MET, MET_FACTOR, LAG, SQUARE,
    SLOTS,
) = range(14)  # fmt: skip
UPDATES, MISTAKES, POCKET_CHECKED = range(3)


def _real(slot: int) -> property:
    def get(self: State) -> Number:
        return self.real.item(slot)

    def put(self: State, value: Number) -> None:
        self.real[slot] = value

    return property(get, put)


def _count(slot: int) -> property:
    def get(self: State) -> int:
        return int(self.count[slot])

    def put(self: State, value: int) -> None:
        self.count[slot] = value

    return property(get, put)


class Resumable:
    """A state that a run can go on from, or begin again."""

    ended: Any
    position: Any
    rate: Any
    plateau: Any
    reports: Any
    level: Any

    def begin_again(self) -> None:
        """Start a run of its own: nothing of how the last one ended is left, only what it learned."""
        self.ended, self.position, self.reports = None, 0, []
        self.rate, self.plateau, self.level = 1.0, (float("inf"), 0), 0.0


@dataclass(eq=False)
class State(Resumable):
    """The state of one question.

    The weights are ``scale * weights``; the scale is 1 between epochs. ``clock`` counts the examples presented so far
    (by weight). ``drift`` keeps the average in lazy form: the averaged weights are ``weights - drift / age``, or, in an
    epoch whose weights shrink, ``weights * (1 - lag / age) - drift / age`` with ``lag`` the sum of ``1 - scale`` over
    the examples since it was last 1; ``square`` is then ``|weights|^2``, for rules that ask for it. ``votes`` holds,
    for each update, the row, ``tau * y`` and the age at which it happened; ``ballot`` keeps them between runs.
    ``epochs`` and ``position`` say where in the run it stands; ``ended`` is what a stop rule said of it, and such a
    state is left alone. With ``new_data`` the next run is on other examples than the last. ``reports`` are the epochs
    of a run that was cut short, which a run that goes on tells to its stop rules first; ``last_report`` is the last.

    For neurons, ``met`` sums the loss of the epoch's examples, each as it was met (with the logarithm of
    ``met_factor``, which is 1 between epochs), and ``penalty`` is what the weights cost when the epoch began; ``rate``
    is what is left of the learning rate, ``plateau`` the lowest loss so far and the epochs since then, and ``level``
    the loss that the run began with.
    """

    positive: int
    weights: Array
    real: Array
    count: NDArray[np.int64]
    drift: Array | None = None
    pocket: Array | None = None
    votes: list[tuple[Array, Array, Array]] | None = None
    start: tuple[Array, Number] | None = None
    ballot: Any = None
    epochs: int = 0
    position: int = 0
    clock: Number = 0
    ended: Ending | None = None
    new_data: bool = False
    penalty: float = 0.0
    plateau: tuple[float, int] = (float("inf"), 0)
    reports: list[Epoch] = field(default_factory=list)
    last_report: Epoch | None = None
    level: float = 0.0
    alphas: dict[int, Number] = field(default_factory=dict)

    bias = _real(BIAS)
    birth = _real(BIRTH)
    drift_bias = _real(DRIFT_BIAS)
    run_start = _real(RUN_START)
    pocket_bias = _real(POCKET_BIAS)
    pocket_run = _real(POCKET_RUN)
    pocket_loss = _real(POCKET_LOSS)
    scale = _real(SCALE)
    rate = _real(RATE)
    met = _real(MET)
    met_factor = _real(MET_FACTOR)
    lag = _real(LAG)
    square = _real(SQUARE)
    updates = _count(UPDATES)
    mistakes = _count(MISTAKES)
    pocket_checked = _count(POCKET_CHECKED)

    @classmethod
    def new(
        cls, positive: int, weights: Array, bias: Number, *, readout: str, clock: Number = 0, exact: bool = False
    ) -> State:
        """Return a fresh state that starts from these weights."""
        kind: Any = object if exact else np.float64
        weights = np.array(weights, dtype=kind)
        zero: Number = 0 if exact else 0.0
        real = np.array([zero] * SLOTS, dtype=kind)
        state = cls(positive, weights, real, np.zeros(3, dtype=np.int64), clock=clock)
        state.bias = bias
        state.scale = state.rate = state.met_factor = zero + 1
        state.birth = state.run_start = clock
        if readout in ("averaged", "voted"):
            state.drift = np.array([zero] * len(weights), dtype=kind)
        if readout == "voted":
            state.votes = []
            state.start = (weights.copy(), bias)
        if readout == "pocket":
            state.pocket = weights.copy()
            state.pocket_bias = bias
            state.pocket_loss = float("inf")
        return state

    def rejoin(self, clock: Number, epochs: int) -> None:
        """Set the clock forward to where other questions are, without growing older."""
        wait = clock - self.clock
        self.clock, self.birth, self.run_start = clock, self.birth + wait, self.run_start + wait
        self.epochs = epochs

    def settle(self) -> None:
        """Bring the scale into the weights, leaving the average as it is."""
        if self.scale == 1:
            return
        if self.drift is not None:
            self.drift += (self.age * self.scale - (self.age - self.lag)) * self.weights
        self.weights *= self.scale
        self.scale, self.lag = 0 * self.scale + 1, 0 * self.lag

    def mirrored(self) -> State:
        """Return the state of the opposite question: what is positive here is negative there."""
        twin = copy.deepcopy(self)
        twin.weights = -twin.weights
        twin.drift = None if twin.drift is None else -twin.drift
        twin.pocket = None if twin.pocket is None else -twin.pocket
        twin.bias, twin.drift_bias, twin.pocket_bias = -twin.bias, -twin.drift_bias, -twin.pocket_bias
        if twin.start is not None:
            twin.start = (-twin.start[0], -twin.start[1])
        if twin.ballot is not None:
            twin.ballot = twin.ballot.mirrored()
        if twin.votes is not None:
            twin.votes = [(rows, -signed, times) for rows, signed, times in twin.votes]
        return twin

    @property
    def age(self) -> Number:
        """The weight of the examples presented since this question was first asked."""
        return self.clock - self.birth


@dataclass(frozen=True)
class Status:
    """How a run ended. ``str(status)`` is a sentence.

    ``converged`` is True when the run reached what it was looking for; ``interrupted`` when Ctrl-C ended it;
    ``diverged`` when its steps were too large, which the sentence then says.
    """

    text: str
    converged: bool
    interrupted: bool = False
    diverged: bool = False

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True)
class Solution:
    """What a run gives back: the weights and bias that the readout names, how the run ended, and its state."""

    weights: Array
    bias: Number
    status: Status
    n_epochs: int
    n_updates: int
    readout: str
    state: State
