"""Networks: layers of sigmoid neurons, back-propagation (Lecture 002), and the loop that trains them.

A network is a list of layers; ``a_l = sigmoid(a_(l-1) W_l + b_l)``, with ``a_0 = x``, as NumPy matrix products. The
loop of ``run.py`` runs rules over rows; this one runs back-propagation over batches, with the same orders, stop rules
and observers.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.loop.interrupts import interrupted, interrupts, stopped_by_callback
from separatrix.loop.monitor import DivergenceMonitor, Recording, adapt_rate, losses_needed, require_learning, too_large
from separatrix.loop.order import EpochPlan, Orders
from separatrix.loop.problem import Problem
from separatrix.loop.run import notify
from separatrix.loop.state import Resumable, Status
from separatrix.models.validity import is_array, is_list_of, require
from separatrix.rules import Smooth
from separatrix.rules.losses import LOSSES, sigmoid
from separatrix.stops import Epoch, Monitor, Stop, StopReason, held_out_fraction, time_limit

_LARGEST_SUM = 1e290  # of the values of a row: weights of 1e10 and gradients are finite too
_MOST = 10  # folds are cut by weight up to examples that weigh this much on average


class Layer(NamedTuple):
    """Weights of shape (inputs, neurons) and a bias for each neuron."""

    weights: Floats
    bias: Floats

    def validate(self) -> None:
        """Refuse weights and biases that do not fit together."""
        fits = is_array(self.weights, "f8", (None, None), finite=True)
        fits = fits and is_array(self.bias, "f8", (self.weights.shape[1],), finite=True)
        require(fits, "a layer is damaged")


def random_layers(sizes: list[int], rng: np.random.Generator) -> list[Layer]:
    """Return layers of these sizes, uniform in ``2 sqrt(6 / (inputs + neurons))`` around 0.

    Sigmoid neurons bend little near 0: twice the range that is usual for tanh (Glorot and Bengio 2010) leaves the
    plateau at the start sooner.
    """
    layers = []
    for inputs, neurons in pairwise(sizes):
        reach = 2.0 * np.sqrt(6.0 / (inputs + neurons))
        layers.append(Layer(rng.uniform(-reach, reach, (inputs, neurons)), rng.uniform(-reach, reach, neurons)))
    return layers


def activations(layers: list[Layer], X: Any) -> Floats:
    """Return what goes into the last layer's sigmoids, of shape (n, outputs)."""
    for layer in layers[:-1]:
        X = sigmoid(X @ layer.weights + layer.bias)
    return np.asarray(X @ layers[-1].weights + layers[-1].bias)


def objective(layers: list[Layer], X: Any, signs: Floats, weights: Floats, loss: str, alpha: float) -> float:
    """Return the weighted mean loss, added over the outputs, plus ``alpha / 2`` times the square of all weights."""
    values = LOSSES[loss].value(signs * activations(layers, X)).sum(axis=1)
    return float(weights @ values / weights.sum()) + penalty(layers, alpha)


def penalty(layers: list[Layer], alpha: float) -> float:
    """Return ``alpha / 2 |W|^2``; biases are free."""
    return 0.5 * alpha * sum(float(np.vdot(layer.weights, layer.weights)) for layer in layers) if alpha else 0.0


def back_propagate(
    layers: list[Layer], X: Any, signs: Floats, weights: Floats, loss: str, alpha: float
) -> tuple[list[Layer], float, int]:
    """Return the gradient of :func:`objective`, the weighted sum of the losses, and the number of mistakes.

    Parameters
    ----------
    layers : list of Layer
        The network.
    X : array or sparse matrix of shape (n, inputs)
        A fold.
    signs : array of shape (n, outputs)
        +1 where an output should fire, -1 where not.
    weights : array of shape (n,)
        How much each example counts.
    loss : {"squared", "log"}
        Of each output.
    alpha : float
        The strength of the penalty.
    """
    outputs = [X]
    for layer in layers[:-1]:
        outputs.append(sigmoid(outputs[-1] @ layer.weights + layer.bias))
    margins = signs * (outputs[-1] @ layers[-1].weights + layers[-1].bias)
    total = float(weights @ LOSSES[loss].value(margins).sum(axis=1))
    blame = signs * LOSSES[loss].slope(margins) * (weights / weights.sum())[:, None]  # d objective / d activation
    gradient: list[Layer] = []
    for layer, given in zip(reversed(layers), reversed(outputs), strict=True):
        gradient.append(Layer(np.asarray(given.T @ blame) + alpha * layer.weights, blame.sum(axis=0)))
        if len(gradient) < len(layers):
            blame = (blame @ layer.weights.T) * given * (1.0 - given)
    return gradient[::-1], total, int((margins[weights > 0] <= 0).sum())


@dataclass
class NetworkState(Resumable):
    """All that learning changes, and where in a run it stands; the names are those of ``state.State``."""

    layers: list[Layer]
    updates: int = 0
    mistakes: int = 0
    epochs: int = 0
    position: int = 0
    epoch_loss: float = 0.0
    penalty: float = 0.0
    rate: float = 1.0
    plateau: tuple[float, int] = (math.inf, 0)
    ended: StopReason | None = None
    new_data: bool = False
    reports: list[Epoch] = field(default_factory=list)
    level: float = 0.0
    start: list[Layer] = field(default_factory=list)  # of the epoch

    def validate(self) -> None:
        """Refuse a state that no run leaves."""
        for layers in (self.layers, self.start):
            require(is_list_of(layers, Layer), "the layers of a state are damaged")
        self._validate_progress()


@dataclass
class Training:
    """One run of back-propagation.

    Parameters
    ----------
    problem : Problem
        The examples.
    signs : array of shape (n, outputs)
        +1 where an output should fire, -1 where not.
    rule : Smooth
        The loss, rate, schedule and penalty.
    stop, order, batch_size, seed, observers
        As in :func:`separatrix.solve`.
    recording : Recording
        The loss to record.
    """

    problem: Problem
    signs: Floats
    rule: Smooth
    stop: Stop
    order: str
    batch_size: int | str
    seed: int
    observers: Sequence[Any]
    recording: Recording

    def __post_init__(self) -> None:
        problem = self.problem
        problem.rows.check_finite()
        self._X = problem.rows.values
        largest = max(float(self._X.max()), -float(self._X.min()))
        if not largest * problem.d < _LARGEST_SUM:
            raise ValueError(f"X holds a value of size {largest:.3g}, so large that sums overflow: scale the features")
        self._weights = np.ones(problem.n) if problem.weights is None else problem.weights
        self._limit = time_limit(self.stop)
        self._began = time.perf_counter()

    def run(self, state: NetworkState) -> tuple[Status, int]:
        """Train until a stop rule ends the run, changing the state; return its status and the epochs begun."""
        kind = "cyclic" if isinstance(self.batch_size, str) else self.order
        self._orders = Orders(self.problem, kind, self.seed, held_out_fraction(self.stop), first=state.epochs)
        rule = self.rule
        self._zero_loss = float(rule.loss.value(0.0)) * self.signs.shape[1]
        if not state.level:
            began = objective(state.layers, self._X, self.signs, self._weights, rule.loss.name, rule.alpha)
            state.level = max(self._zero_loss, began)
        divergence, monitor = DivergenceMonitor(state.level), self.stop.begin()
        for past in state.reports:
            monitor(past)
            divergence(past.mean_loss or 0.0)
        if rule.schedule != "adaptive":
            state.rate = 1.0
        notify(self.observers, "on_begin", tasks=1, pool=self._orders.pool, stop=self.stop)
        try:
            return self._epochs(state, monitor, divergence)
        finally:
            notify(self.observers, "on_end")

    def _epochs(self, state: NetworkState, monitor: Monitor, divergence: DivergenceMonitor) -> tuple[Status, int]:
        number, updates, reason = 0, state.updates, state.ended
        with interrupts() as pressed, np.errstate(over="ignore", invalid="ignore"):
            while reason is None:
                plan = self._orders.plan(state.epochs, self.batch_size, most=_MOST)
                notify(self.observers, "on_epoch_begin")
                if self._epoch(state, plan, number + 1, pressed):
                    state.epochs, state.position, number = state.epochs + 1, 0, number + 1
                    report = self._report(state, plan, number, state.updates - updates)
                    reason = self._check(state, report, monitor(report), divergence)
                    state.ended = None if reason is not None and reason.cut else reason
                    state.reports.append(report)
                    if state.ended is not None:
                        state.reports = []
                    if notify(self.observers, "on_epoch", epoch=report) and reason is None:
                        reason = stopped_by_callback(number)
                elif self._limit is not None and not pressed[0]:
                    reason = self._limit.reason(number + 1, state.mistakes)
                if pressed[0] and reason is None:
                    reason = interrupted(number, in_epoch=state.position > 0)
        status = Status(reason.text, reason.converged, pressed[0], reason.diverged)
        return status, number + (1 if state.position else 0)

    def _epoch(self, state: NetworkState, plan: EpochPlan, number: int, pressed: list[bool]) -> bool:
        """Run what is left of an epoch; False when Ctrl-C or the time limit cut it short."""
        if state.position == 0:
            state.mistakes, state.epoch_loss = 0, 0.0
            state.penalty = penalty(state.layers, self.rule.alpha)
            state.start = state.layers
        for begin, end in self._folds(plan, state.position):
            self._step(state, plan, begin, end)
            state.position = end
            if end < plan.length:
                notify(self.observers, "on_advance", epoch=number, done=end, pool=plan.length)
                late = self._limit is not None and time.perf_counter() - self._began >= self._limit.seconds
                if pressed[0] or late:
                    return False
        notify(self.observers, "on_advance", epoch=number, done=plan.length, pool=plan.length)
        return True

    def _folds(self, plan: EpochPlan, position: int) -> Iterator[tuple[int, int]]:
        size = plan.length if isinstance(self.batch_size, str) else self.batch_size
        while position < plan.length:
            end = plan.end_of_chunk(position, 1, size)
            yield position, end
            position = end

    def _step(self, state: NetworkState, plan: EpochPlan, begin: int, end: int) -> None:
        """Move every layer down the slope of one fold."""
        rows: Any = slice(begin, end) if plan.entries is None else plan.entries[begin:end]
        weights = self._weights[rows] if plan.shares is None else plan.shares[begin:end]
        if not weights.sum() > 0:
            return
        rule = self.rule
        gradient, loss, mistakes = back_propagate(
            state.layers, self._X[rows], self.signs[rows], weights, rule.loss.name, rule.alpha
        )
        eta = rule.eta * state.rate
        if rule.schedule == "invscaling":
            eta /= math.sqrt(state.updates + 1)
        state.layers = [
            Layer(layer.weights - eta * slope.weights, layer.bias - eta * slope.bias)
            for layer, slope in zip(state.layers, gradient, strict=True)
        ]
        state.epoch_loss += loss
        state.mistakes += mistakes
        state.updates += 1

    def _check(
        self, state: NetworkState, report: Epoch, reason: StopReason | None, divergence: DivergenceMonitor
    ) -> StopReason | None:
        loss = report.mean_loss
        assert loss is not None
        if not all(np.isfinite(layer.weights).all() and np.isfinite(layer.bias).all() for layer in state.layers):
            state.layers = state.start
            return too_large(self.rule.eta, self.rule.eta / 10, report.number, math.inf)
        if self.rule.schedule == "adaptive":
            reason = adapt_rate(state, report, self.rule.eta) or reason
        elif divergence(loss):
            return too_large(self.rule.eta, self.rule.eta / 10, report.number, loss)
        return require_learning(reason, loss, self._zero_loss, self.rule)

    def _report(self, state: NetworkState, plan: EpochPlan, number: int, updates: int) -> Epoch:
        losses: dict[str, float] = {}
        since = len(state.reports) + 1
        if needed := losses_needed(self.stop, since, self.recording):
            rows = slice(None) if plan.rows is None else plan.rows
            signs = self.signs[rows]
            margins = signs * activations(state.layers, self._X[rows])
            value: dict[str, Callable[[Floats], Any]] = {name: loss.value for name, loss in LOSSES.items()}
            value |= {"zero_one": lambda m: _wrong(m, signs), "perceptron": lambda m: np.maximum(-m, 0)}
            losses = {name: float(self._weights[rows] @ value[name](margins).sum(axis=1)) for name in needed}
        held_out = None
        if (kept := self._orders.held_out) is not None:
            wrong = _wrong(self.signs[kept] * activations(state.layers, self._X[kept]), self.signs[kept]).any(axis=1)
            held_out = float(self._weights[kept] @ wrong / self._weights[kept].sum())
        norm = math.sqrt(sum(float(np.vdot(layer.weights, layer.weights)) for layer in state.layers))
        total = self._weights.sum() if plan.presented is None else self._weights[plan.presented].sum()
        seconds = time.perf_counter() - self._began
        mean = state.epoch_loss / float(total) + state.penalty
        return Epoch(
            number, state.mistakes, updates, norm, seconds, losses, held_out, mean, since, self._verified(state, plan)
        )

    def _verified(self, state: NetworkState, plan: EpochPlan) -> bool:
        """Whether an epoch without mistakes is one of all examples; one of random draws is asked about the others."""
        if plan.drawn is None or state.mistakes:
            return True
        rows = np.flatnonzero(self._weights > 0) if plan.rows is None else plan.rows
        return not _wrong(self.signs[rows] * activations(state.layers, self._X[rows]), self.signs[rows]).any()


def _wrong(margins: Floats, signs: Floats) -> NDArray[np.bool_]:
    """Return which outputs predict wrong; a tie is predicted positive."""
    return np.asarray((margins < 0) | ((margins == 0) & (signs < 0)))
