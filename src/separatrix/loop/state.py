"""What a run changes and what it returns: State, Status, Solution.

A :class:`State` is everything that learning one binary task ("class c or not?") changes. Both engines change it in
place, it can be pickled, and a run continues from it as if it had never stopped.
"""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.loop.support_set import SupportSet
from separatrix.models.validity import is_array, is_count, is_index, is_list_of, is_real, require
from separatrix.rules import Number
from separatrix.stops import Epoch, StopReason

Array = NDArray[Any]
Kind = TypeVar("Kind", bound="State")

_PLAIN = (int, float, str, StopReason, Epoch)  # numbers, texts and what nothing changes
SLOTS, COUNTS = len(_core.REAL_SLOTS), len(_core.COUNT_SLOTS)  # of State.real and State.count


def _real(name: str) -> property:
    slot = _core.REAL_SLOTS.index(name)

    def get(self: State) -> Number:
        return self.real.item(slot)

    def put(self: State, value: Number) -> None:
        self.real[slot] = value

    return property(get, put)


def _count(name: str) -> property:
    slot = _core.COUNT_SLOTS.index(name)

    def get(self: State) -> int:
        return int(self.count[slot])

    def put(self: State, value: int) -> None:
        self.count[slot] = value

    return property(get, put)


class Resumable:
    """A state from which a run can be resumed or begun again."""

    ended: Any
    position: Any
    rate: Any
    plateau: Any
    reports: Any
    level: Any
    epochs: Any
    updates: Any
    mistakes: Any
    penalty: Any
    epoch_loss: Any
    new_data: Any

    def begin_again(self) -> None:
        """Forget how the last run ended and keep what it learned."""
        self.ended, self.position, self.reports = None, 0, []
        self.rate, self.plateau, self.level = 1.0, (float("inf"), 0), 0.0

    def _validate_progress(self) -> None:
        counts = (self.epochs, self.position, self.updates, self.mistakes)
        require(all(is_count(value) for value in counts), "a state counts what cannot be")
        numbers = (self.rate, self.level, self.penalty, self.epoch_loss)
        require(all(is_real(value) for value in numbers), "a state holds what is not a number")
        plateau = self.plateau
        fits = type(plateau) is tuple and len(plateau) == 2 and is_real(plateau[0]) and is_count(plateau[1])
        require(fits and type(self.new_data) is bool, "a state is damaged")
        require(self.ended is None or type(self.ended) is StopReason, "a state ended in a way that cannot be")
        require(is_list_of(self.reports, Epoch), "its epochs are damaged")


@dataclass(eq=False)
class State(Resumable):
    """The state of one binary task.

    The weights are ``scale * weights``; the scale is 1 between epochs. They and all that is kept of them are in units
    of ``unit``: the rate of a perceptron where that only scales them (learning_rate.py), else 1. ``clock`` counts the
    examples presented so far (by weight). ``average_correction`` keeps the average in lazy form: the averaged weights
    are ``weights - average_correction / age``, or, in an epoch whose weights shrink,
    ``weights * (1 - scale_deficit / age) - average_correction / age`` with ``scale_deficit`` the sum of ``1 - scale``
    over the examples since it was last 1; ``square`` is then ``|weights|^2``, for rules that need it. ``votes`` holds,
    for each update, the row, ``tau * y`` and the age at which it happened; ``voted_weights`` keeps them between runs.
    ``spread`` is the covariance of the weights and, last, of the bias, for rules that keep one: its diagonal, of shape
    (d + 1,), or all of it, (d + 1, d + 1). ``support`` are the examples that a dual perceptron with a budget stores.
    ``past_mistakes`` counts those of all finished epochs. ``epochs`` and ``position`` say how far the run has come;
    ``ended`` is the reason why a stop rule ended it, and such a state is not run again. With ``new_data`` the next run
    is on other examples than the last. ``reports`` are the epochs of a run that was cut short, which its stop rules see
    first when it is resumed; ``last_report`` is the last.

    For rules that descend a loss, ``epoch_loss`` sums the loss of the epoch's examples, each as it was met (plus the
    logarithm of ``epoch_loss_factor``, which is 1 between epochs), and ``penalty`` is that of the weights when the
    epoch began; ``rate`` is the factor of an adaptive learning rate, ``plateau`` the lowest loss so far and the epochs
    since then, and ``level`` the initial loss of the run.
    """

    positive: int
    weights: Array
    real: Array
    count: NDArray[np.int64]
    average_correction: Array | None = None
    pocket: Array | None = None
    votes: list[tuple[Array, Array, Array]] | None = None
    start: tuple[Array, Number] | None = None
    voted_weights: Any = None
    past_mistakes: int = 0
    epochs: int = 0
    position: int = 0
    clock: Number = 0
    ended: StopReason | None = None
    new_data: bool = False
    penalty: float = 0.0
    plateau: tuple[float, int] = (float("inf"), 0)
    reports: list[Epoch] = field(default_factory=list)
    last_report: Epoch | None = None
    level: float = 0.0
    alphas: dict[int, Number] = field(default_factory=dict)
    spread: Array | None = None
    unit: float = 1.0
    support: SupportSet | None = None

    bias = _real("bias")
    birth = _real("birth")
    average_correction_bias = _real("average_correction_bias")
    run_start = _real("run_start")
    pocket_bias = _real("pocket_bias")
    pocket_run = _real("pocket_run")
    pocket_loss = _real("pocket_loss")
    scale = _real("scale")
    rate = _real("rate")
    epoch_loss = _real("epoch_loss")
    epoch_loss_factor = _real("epoch_loss_factor")
    scale_deficit = _real("scale_deficit")
    square = _real("square")
    updates = _count("updates")
    mistakes = _count("mistakes")
    pocket_checked = _count("pocket_checked")

    @classmethod
    def new(
        cls: type[Kind], positive: int, weights: Array, bias: Number, *, readout: str, clock: Number = 0,
        exact: bool = False,
    ) -> Kind:  # fmt: skip
        """Return a fresh state that starts from these weights."""
        kind: Any = object if exact else np.float64
        weights = np.array(weights, dtype=kind)
        zero: Number = 0 if exact else 0.0
        real = np.array([zero] * SLOTS, dtype=kind)
        state = cls(positive, weights, real, np.zeros(COUNTS, dtype=np.int64), clock=clock)
        state.bias = bias
        state.scale = state.rate = state.epoch_loss_factor = zero + 1
        state.birth = state.run_start = clock
        if readout in ("averaged", "voted"):
            state.average_correction = np.zeros_like(weights)
        if readout == "voted":
            state.votes = []
            state.start = (weights.copy(), bias)
        if readout == "pocket":
            state.pocket = weights.copy()
            state.pocket_bias = bias
            state.pocket_loss = float("inf")
        return state

    def __deepcopy__(self, memo: dict[int, Any]) -> State:
        """Copy the arrays, and what is empty, without asking each number what it is: a copy is made before each row."""
        twin = copy.copy(self)
        for name, value in vars(self).items():
            if isinstance(value, np.ndarray) and value.dtype != object:
                setattr(twin, name, value.copy())
            elif value is not None and not isinstance(value, _PLAIN):
                setattr(twin, name, type(value)() if value == [] or value == {} else copy.deepcopy(value, memo))
        return twin

    def widen(self, width: int) -> None:
        """Make room for more columns at the end, all of whose values were 0 so far."""
        more = width - self.weights.shape[-1]
        for name in ("weights", "average_correction", "pocket"):
            array = getattr(self, name)
            if array is not None:
                setattr(self, name, np.pad(array, [(0, 0)] * (array.ndim - 1) + [(0, more)]))
        if self.spread is not None:  # that of the bias is the last
            places = np.concatenate([np.arange(width - more), [width]])
            spread = np.ones(width + 1) if self.spread.ndim == 1 else np.eye(width + 1)
            spread[places if self.spread.ndim == 1 else np.ix_(places, places)] = self.spread
            self.spread = spread

    def rejoin(self, clock: Number, epochs: int) -> None:
        """Set the clock forward to that of the other tasks, without growing older."""
        wait = clock - self.clock
        self.clock, self.birth, self.run_start = clock, self.birth + wait, self.run_start + wait
        self.epochs = epochs

    def begin_spread(self, covariance: str) -> None:
        """Start with a spread of 1 for each weight and for the bias, "diagonal" or "full", unless there is one."""
        size = len(self.weights) + 1
        shape = (size,) if covariance == "diagonal" else (size, size)
        if self.spread is None:
            kind = self.weights.dtype
            self.spread = np.ones(size, kind) if covariance == "diagonal" else np.eye(size, dtype=kind)
        elif self.spread.shape != shape:
            raise ValueError(
                f"covariance is now {covariance!r}, but what was learned so far has a spread of another form: set it "
                "back, or start anew"
            )

    def settle(self) -> None:
        """Multiply the scale into the weights, leaving the average as it is."""
        if self.scale == 1:
            return
        if self.average_correction is not None:
            self.average_correction += (self.age * self.scale - (self.age - self.scale_deficit)) * self.weights
        self.weights *= self.scale
        self.scale, self.scale_deficit = 0 * self.scale + 1, 0 * self.scale_deficit

    def mirrored(self) -> State:
        """Return the state of the opposite task: what is positive here is negative there."""
        twin = copy.deepcopy(self)
        twin.weights = -twin.weights
        twin.average_correction = None if twin.average_correction is None else -twin.average_correction
        twin.pocket = None if twin.pocket is None else -twin.pocket
        twin.bias, twin.average_correction_bias, twin.pocket_bias = (
            -twin.bias,
            -twin.average_correction_bias,
            -twin.pocket_bias,
        )
        if twin.start is not None:
            twin.start = (-twin.start[0], -twin.start[1])
        if twin.voted_weights is not None:
            twin.voted_weights = twin.voted_weights.mirrored()
        if twin.votes is not None:
            twin.votes = [(rows, -signed, times) for rows, signed, times in twin.votes]
        return twin

    def probe(self, weights: Array, bias: Number, *, exact: bool) -> State:
        """Return a fresh state of the same task with these weights."""
        probe = State.new(self.positive, weights, bias, readout="last", exact=exact)
        probe.support = copy.deepcopy(self.support)  # which mistakes of the probe change
        return probe

    @property
    def arrays(self) -> list[Array]:
        """The arrays that an epoch changes."""
        kept = (self.weights, self.real, self.count, self.average_correction, self.spread)
        return [array for array in kept if array is not None]

    @property
    def all_mistakes(self) -> int:
        """The mistakes since this task was begun, those of an epoch that was cut short included."""
        return self.past_mistakes + (self.mistakes if self.position else 0)

    @property
    def age(self) -> Number:
        """The weight of the examples presented since this task was begun."""
        return self.clock - self.birth

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        from separatrix.loop.readouts import VotedWeights

        fits = is_array(self.weights, "f8", self._shape(), finite=True)
        require(fits, "the weights of a state are not finite numbers")
        shape, width = self.weights.shape, self.weights.shape[-1]
        require(is_array(self.real, "f8", (SLOTS,)) and is_array(self.count, "i8", (COUNTS,)), "a state is damaged")
        for part in (self.average_correction, self.pocket):
            require(part is None or is_array(part, "f8", shape), "a state holds weights of another number")
        spread = self.spread
        if spread is not None:
            full = isinstance(spread, np.ndarray) and spread.ndim == 2
            fits = is_array(spread, "f8", (width + 1,) * (2 if full else 1), finite=True)
            fits = fits and bool(np.all((np.diagonal(spread) if full else spread) > 0))
            require(fits, "the spread of a state is not one positive number for each weight and the bias")
        require(is_count(self.positive), "a state is of an unknown class")
        require(is_count(self.past_mistakes), "a state counts what cannot be")
        require(is_real(self.clock) and 0 <= self.clock < math.inf, "the clock of a state is not a number")
        require(is_real(self.unit) and 0 < self.unit < math.inf, "the unit of a state is not a positive number")
        support = self.support
        fits = support is None or (type(support) is SupportSet and support.fits(width))
        require(fits, "the examples that a state stores are damaged")
        start: Any = self.start
        fits = type(start) is tuple and len(start) == 2 and is_array(start[0], "f8", (width,)) and is_real(start[1])
        require(start is None or fits, "a state began where it cannot have")
        fits = self.voted_weights is None or type(self.voted_weights) is VotedWeights
        require(fits, "the voted weights are damaged")
        require(self.last_report is None or type(self.last_report) is Epoch, "its epochs are damaged")
        votes: Any = [] if self.votes is None else self.votes
        require(type(self.alphas) is dict and type(votes) is list, "a state is damaged")
        for vote in votes:
            require(type(vote) is tuple and len(vote) == 3 and is_index(vote[0], "iu"), "a vote is damaged")
            require(all(is_array(part, "f8", (len(vote[0]),)) for part in vote[1:]), "a vote is damaged")
        self._validate_progress()

    @staticmethod
    def _shape() -> tuple[None, ...]:
        """Return the form of the weights."""
        return (None,)


@dataclass(frozen=True)
class Status:
    """How a run ended. ``str(status)`` is a sentence: ``converged: ...``, ``stopped: ...`` and so on.

    ``converged`` is True when the run reached its goal; ``interrupted`` when Ctrl-C ended it; ``diverged`` when its
    steps were too large.
    """

    text: str
    converged: bool
    interrupted: bool = False
    diverged: bool = False

    def __str__(self) -> str:
        return self.text

    def validate(self) -> None:
        """Refuse a status that cannot have been."""
        flags = (self.converged, self.interrupted, self.diverged)
        require(type(self.text) is str and all(type(flag) is bool for flag in flags), "its status_ is damaged")


@dataclass(frozen=True)
class Solution:
    """The result of a run: the weights and bias of the readout, how the run ended, and its state."""

    weights: Array
    bias: Number
    status: Status
    n_epochs: int
    n_updates: int
    readout: str
    state: State
