"""What gradient descent asks of the outer loop: the mean loss of an epoch, rates that adapt, steps that are too large.

Lecture 002: the rate must be small enough; a run whose loss grows without bound ends here, with a rate to try instead.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

import numpy as np

from separatrix.loop.engines.base import Engine
from separatrix.loop.order import Order, Orders
from separatrix.loop.problem import Problem
from separatrix.loop.state import Array, State
from separatrix.rules import Downhill
from separatrix.stops import Ending, Epoch, MaxEpochs, Stop

_PATIENCE = 5  # epochs without a lower loss before an adaptive rate is divided
_DIVISOR = 5
_LEAST_RATE = 1e-4
_FALL = 1e-4  # a lower loss is lower by this part
_GROWTH = 10.0  # times the loss at the start, or that of answering 1/2 to everything
_GROWN = 3  # epochs in a row


class Adapting(Protocol):
    """What a rate that adapts keeps: what is left of it, and the lowest loss with the epochs since then."""

    rate: Any
    plateau: tuple[float, int]


def adapt(state: Adapting, report: Epoch, eta: float) -> Ending | None:
    """Divide the rate when the loss has stopped falling; return an ending when there is nothing left to divide."""
    loss = report.mean_loss
    assert loss is not None
    best, since = state.plateau
    state.plateau = (loss, 0) if best == math.inf or loss < best - _FALL * abs(best) else (best, since + 1)
    if state.plateau[1] < _PATIENCE:
        return None
    last = eta * state.rate
    state.rate /= _DIVISOR
    state.plateau = (loss, 0)  # smaller steps are judged by what they find
    if state.rate >= _LEAST_RATE:
        return None
    text = f"the mean loss falls no more, even with steps of {last:.2g} (it is {loss:.6g} after epoch {report.number})"
    return Ending(text, True, flat=True)


def too_large(eta: float, safe: float, epoch: int, loss: float, name: str = "eta0") -> Ending:
    """Return the ending of a run whose steps were too large, with one that is not (0: none is known)."""
    grew = f"the loss grows without bound (it is {loss:.3g} after epoch {epoch})"
    advice = f"try {name}={min(safe, eta / 10):.2g}" if safe > 0 else "scale the features first"
    return Ending(f"{grew}: steps of {name}={eta:g} are too large; {advice}", False, diverged=True)


def learned(verdict: Ending | None, loss: float, coin: float, rule: Downhill) -> Ending | None:
    """Return the verdict, which is no success where the loss is still that of weights that are all zero."""
    if verdict is None or not (verdict.flat and verdict.converged) or loss < (coin if rule.alpha else 0.999 * coin):
        return verdict
    no_better = f"that is no better than {coin:.3g}, the loss of {rule.zero}"
    return verdict._replace(text=f"{verdict.text}: {no_better}; {rule.remedy}", converged=False)


class Growth:
    """Tells when a loss grows without bound: far above where it began, for some epochs in a row."""

    def __init__(self, level: float) -> None:
        self._limit = _GROWTH * level
        self._epochs = 0

    def __call__(self, loss: float) -> bool:
        """Return whether it does, after this epoch."""
        self._epochs = self._epochs + 1 if not loss <= self._limit else 0
        return self._epochs >= _GROWN


class Slope:
    """Watches the loss that a rule walks down during one run."""

    def __init__(
        self, rule: Downhill, problem: Problem, machine: Engine, orders: Orders, fold: int | str, stop: Stop
    ) -> None:
        self._rule = rule
        limits = [part.epochs for part in stop.parts if isinstance(part, MaxEpochs)]
        lasts = min(limits, default=_GROWN) >= _GROWN
        self._can_grow = rule.can_grow and rule.schedule != "adaptive" and lasts
        self._problem = problem
        self._machine = machine
        self._orders = orders
        self._fold = fold
        self._growth: dict[int, Growth] = {}
        self._before: dict[int, _Snapshot] = {}

    def start(self, states: list[State]) -> None:
        """Note the loss that each question starts from."""
        coin = float(self._rule.loss.value(0.0))
        for state in states:
            if self._rule.schedule != "adaptive":
                state.rate = 1 if self._problem.exact else 1.0
            level = state.level or coin
            if not state.level and self._can_grow and (np.any(state.weights) or state.bias):
                order = self._orders.epoch(state.epochs)
                weights = state.scale * state.weights
                sums = self._machine.tally(state, weights, state.bias, order, smooth=True)
                level = max(coin, getattr(sums, self._rule.loss.name) / self._total(order) + self._penalty(state))
            state.level = level
            self._growth[id(state)] = Growth(level)
            for past in state.reports:
                self._growth[id(state)](past.mean_loss or 0.0)
            self._before[id(state)] = _Snapshot(state)

    def begin_epoch(self, state: State) -> None:
        """Note where an epoch begins."""
        state.met, state.met_factor = 0.0, 1.0
        state.penalty = self._penalty(state)
        self._before[id(state)] = _Snapshot(state)

    def mean_loss(self, state: State, order: Order | None) -> float:
        """Return the objective of the epoch that has just ended."""
        return float(state.met) / self._total(order) + state.penalty

    def judge(self, state: State, report: Epoch, verdict: Ending | None) -> Ending | None:
        """Return the stop rules' verdict, or an ending when the loss grows without bound or a rate is used up."""
        assert report.mean_loss is not None
        if self._rule.schedule == "adaptive":
            verdict = adapt(state, report, self._rule.eta) or verdict
        elif self._can_grow and self._growth[id(state)](report.mean_loss):
            return self.too_large(report.number, report.mean_loss)
        return learned(verdict, report.mean_loss, float(self._rule.loss.value(0.0)), self._rule)

    def restore(self, state: State) -> None:
        """Take a question back to where its epoch, or this run, began."""
        self._before[id(state)].restore(state)

    def too_large(self, epoch: int, loss: float) -> Ending:
        """Return the ending of a run whose steps were too large."""
        squares = self._problem.square_norms()
        size = float(squares.mean() if isinstance(self._fold, str) else squares.max())
        bound = max(self._rule.loss.curvature * size + float(self._rule.alpha), 1e-300)  # of the second derivative
        return too_large(float(self._rule.eta), 1.0 / bound, epoch, loss, self._rule.rate_name)

    def _penalty(self, state: State) -> float:
        if not self._rule.alpha:
            return 0.0
        square = state.scale**2 * np.dot(state.weights, state.weights)
        if self._rule.bias == "penalised" and self._problem.bias:
            square += state.bias**2 / self._problem.bias**2
        return float(0.5 * self._rule.alpha * square)

    def _total(self, order: Order | None) -> float:
        weights = self._problem.weights
        if weights is None:
            return float(self._orders.pool)
        return float(weights.sum() if order is None else weights[order].sum())


class _Snapshot:
    """What an epoch changes of a state, and the way back, in place: the engines hold on to the arrays."""

    def __init__(self, state: State) -> None:
        self._arrays = [array.copy() for array in self._of(state)]
        self._clock, self._position = state.clock, state.position

    @staticmethod
    def _of(state: State) -> list[Array]:
        return [state.weights, state.real, state.count] + ([] if state.drift is None else [state.drift])

    def restore(self, state: State) -> None:
        for array, kept in zip(self._of(state), self._arrays, strict=True):
            array[:] = kept
        state.clock, state.position = self._clock, self._position
