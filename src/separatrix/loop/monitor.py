"""The loss during gradient descent: the mean loss of an epoch, adaptive learning rates, divergence.

Lecture 002: the learning rate must be small enough. A run whose loss grows without bound is stopped here, with a rate
to try instead. The stop rules that users choose are in ``separatrix.stops``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from separatrix.loop.engines.base import Engine, learns_from_folds
from separatrix.loop.joint import JointState
from separatrix.loop.order import Order, Orders
from separatrix.loop.problem import Problem
from separatrix.loop.state import State
from separatrix.rules import Downhill
from separatrix.rules.losses import LOSSES, Squared
from separatrix.stops import Epoch, LossAtMost, LossFlat, MaxEpochs, Stop, StopReason, is_count

_PATIENCE = 5  # epochs without a lower loss before an adaptive learning rate is divided
_DIVISOR = 5
_LEAST_RATE = 1e-4
_FALL = 1e-4  # the least relative decrease that counts
_GROWTH = 10.0  # times the initial loss, or that of all-zero weights
_GROWN = 3  # epochs in a row


class AdaptiveRate(Protocol):
    """What an adaptive learning rate keeps: its factor, and the lowest loss with the epochs since then."""

    rate: Any
    plateau: tuple[float, int]


def adapt_rate(state: AdaptiveRate, report: Epoch, eta: float) -> StopReason | None:
    """Divide the rate when the loss no longer decreases; return a reason to stop when it has become too small."""
    loss = report.mean_loss
    assert loss is not None
    best, since = state.plateau
    state.plateau = (loss, 0) if best == math.inf or loss < best - _FALL * abs(best) else (best, since + 1)
    if state.plateau[1] < _PATIENCE:
        return None
    last = eta * state.rate
    state.rate /= _DIVISOR
    state.plateau = (loss, 0)  # the loss to beat with the smaller rate
    if state.rate >= _LEAST_RATE:
        return None
    text = f"mean loss {loss:.6g} no longer decreases, even at learning rate {last:.2g}"
    return StopReason.success(text, report.number, flat=True)


def too_large(eta: float, safe: float, epoch: int, loss: float, name: str = "eta0") -> StopReason:
    """Return the reason of a run whose rate was too large, with one that is not (0: none is known)."""
    advice = f"try {name}={min(safe, eta / 10):.2g}" if safe > 0 else "scale the features first"
    text = f"diverged: {name}={eta:g} is too large (loss {loss:.3g} in epoch {epoch}); {advice}"
    return StopReason(text, False, diverged=True)


def require_learning(
    reason: StopReason | None, loss: float, zero_loss: float, rule: Downhill, why: Callable[[], str] = lambda: ""
) -> StopReason | None:
    """Return the reason, as a failure where the loss is still that of all-zero weights, which ``why`` may explain."""
    limit = zero_loss if rule.alpha else 0.999 * zero_loss
    if reason is None or not (reason.flat and reason.converged) or loss < limit:
        return reason
    return reason.as_failure(f"no better than {zero_loss:.3g}, the loss of {rule.zero}; {why() or rule.remedy}")


class DivergenceMonitor:
    """Detects a loss that grows without bound: far above its initial value, for some epochs in a row."""

    def __init__(self, level: float) -> None:
        self._limit = _GROWTH * level
        self._epochs = 0

    def __call__(self, loss: float) -> bool:
        """Return whether the run has diverged, given the loss of one more epoch."""
        self._epochs = self._epochs + 1 if not loss <= self._limit else 0
        return self._epochs >= _GROWN


class LossMonitor:
    """Monitors the loss that a rule descends, task by task, during one run."""

    def __init__(
        self, rule: Downhill, problem: Problem, engine: Engine, orders: Orders, fold: int | str, stop: Stop,
        summed: float = 1.0,
    ) -> None:  # fmt: skip
        self._summed = summed  # the weight of a fold, where the updates of one are added and not averaged
        self._rule = rule
        limits = [part.epochs for part in stop.parts if isinstance(part, MaxEpochs)]
        lasts = min(limits, default=_GROWN) >= _GROWN
        self._can_grow = rule.can_grow and rule.schedule != "adaptive" and lasts
        self._problem = problem
        self._engine = engine
        self._orders = orders
        self._fold = fold
        self._divergence: dict[int, DivergenceMonitor] = {}
        self._before: dict[int, _Snapshot] = {}

    def start(self, states: list[State]) -> None:
        """Note the loss that each task starts from."""
        zero_loss = float(self._rule.loss.value(0.0))
        for state in states:
            if self._rule.schedule != "adaptive":
                state.rate = 1 if self._problem.exact else 1.0
            level = state.level or zero_loss
            if not state.level and self._can_grow and (np.any(state.weights) or state.bias):
                order = self._orders.epoch(state.epochs)
                weights = state.scale * state.weights
                sums = self._engine.tally(state, weights, state.bias, order, smooth=True)
                mean = getattr(sums, self._rule.loss.name) / self._total(order)
                level = max(zero_loss, mean + self._penalty(state))
            state.level = level
            self._divergence[id(state)] = DivergenceMonitor(level)
            for past in state.reports:
                self._divergence[id(state)](past.mean_loss or 0.0)
            self._before[id(state)] = _Snapshot(state)

    def begin_epoch(self, state: State) -> None:
        """Note where an epoch begins."""
        state.epoch_loss, state.epoch_loss_factor = 0.0, 1.0
        state.penalty = self._penalty(state)
        self._before[id(state)] = _Snapshot(state)

    def mean_loss(self, state: State, order: Order | None) -> float:
        """Return the objective of the epoch that has just ended."""
        return float(state.epoch_loss) / self._total(order) + state.penalty

    def check(self, state: State, report: Epoch, reason: StopReason | None) -> StopReason | None:
        """Return the stop rules' reason to stop, or that of a diverged run or of a rate that cannot be reduced."""
        assert report.mean_loss is not None
        if self._rule.schedule == "adaptive":
            reason = adapt_rate(state, report, self._rule.eta) or reason
        elif self._can_grow and self._divergence[id(state)](report.mean_loss):
            return self.diverged(report.number, report.mean_loss)
        zero_loss = float(self._rule.loss.value(0.0))
        return require_learning(reason, report.mean_loss, zero_loss, self._rule, lambda: self._flat_at_zero(state))

    def _flat_at_zero(self, state: State) -> str:
        """Return what follows where the loss of all-zero weights has no slope, or nothing.

        That slope is a multiple of the sum of ``y x``: it vanishes where both classes weigh and mean the same.
        """
        problem = self._problem
        if problem.exact or isinstance(state, JointState):
            return ""
        weights = 1.0 if problem.weights is None else problem.weights
        signed = problem.signs(state.positive) * weights
        rows = problem.rows.values
        level = not problem.bias or abs(float(signed.sum())) <= 1e-9 * float(np.abs(signed).sum())
        if not (level and np.all(np.abs(signed @ rows) <= 1e-9 * (np.abs(signed) @ abs(rows)))):
            return ""
        if self._rule.loss is Squared:
            return (
                "zero weights are a stationary point, because the classes have the same mean: start elsewhere, or try "
                "a model that is not linear"
            )
        return (
            "no linear model has a lower loss, because the classes have the same mean: try other features, or a model "
            "that is not linear"
        )

    def restore(self, state: State) -> None:
        """Take a task back to where its epoch, or this run, began."""
        self._before[id(state)].restore(state)

    def diverged(self, epoch: int, loss: float) -> StopReason:
        """Return the reason of a run whose rate was too large, or, where it has none, whose numbers were."""
        if not learns_from_folds(self._rule):
            text = f"diverged: sums overflow in epoch {epoch}; scale the features first"
            return StopReason(text, False, diverged=True)
        squares = self._problem.square_norms()
        size = float(squares.mean() if isinstance(self._fold, str) else squares.max())
        bound = max(self._rule.loss.curvature * size + float(self._rule.alpha), 1e-300)  # of the second derivative
        return too_large(float(self._rule.eta), 1.0 / (bound * self._summed), epoch, loss, self._rule.rate_name)

    def _penalty(self, state: State) -> float:
        if not self._rule.alpha:
            return 0.0
        square = state.scale**2 * np.dot(state.weights, state.weights)
        if self._rule.bias == "penalised" and self._problem.bias:
            try:
                square += state.bias**2 / self._problem.bias**2
            except OverflowError:  # of Python's own floats
                return math.inf
        return float(0.5 * self._rule.alpha * square)

    def _total(self, order: Order | None) -> float:
        weights = self._problem.weights
        if weights is None:
            return float(self._orders.pool)
        return float(weights.sum() if order is None else weights[order].sum())


class _Snapshot:
    """What an epoch changes of a state; it is restored in place, since the engines hold on to the arrays."""

    def __init__(self, state: State) -> None:
        self._arrays = [array.copy() for array in state.arrays]
        self._clock, self._position = state.clock, state.position

    def restore(self, state: State) -> None:
        for array, kept in zip(state.arrays, self._arrays, strict=True):
            array[:] = kept
        state.clock, state.position = self._clock, self._position


@dataclass(frozen=True)
class Recording:
    """The loss of the current weights that the history keeps, after every so many epochs; None for none."""

    loss: str | None = None
    every: int = 1

    def __post_init__(self) -> None:
        if self.loss is not None and not (isinstance(self.loss, str) and self.loss in LOSSES):
            raise ValueError(f"record must be None or one of {', '.join(LOSSES)}; found {self.loss!r}")
        if not is_count(self.every):
            raise ValueError(f"every must be a whole number of at least 1; found {self.every!r}")


def losses_needed(stop: Stop, epoch: int, recording: Recording) -> list[str]:
    """Return the names of the losses that are recorded, or that some stop rule needs, after this epoch."""
    checking = [part for part in stop.parts if isinstance(part, LossAtMost | LossFlat) and epoch % part.every == 0]
    names = sorted({part.loss for part in checking})
    if recording.loss is None or epoch % recording.every:
        return names
    return [recording.loss, *(name for name in names if name != recording.loss)]
