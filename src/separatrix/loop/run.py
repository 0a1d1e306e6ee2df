"""One run of the loop: epoch after epoch over all binary tasks that have not stopped.

After each epoch the stop rules see every task by itself, and the observers see all of them together. The options of a
run are checked in ``solve.py``; how an epoch is computed is up to the engine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.loop.engines.base import Engine, WeightOverflowError
from separatrix.loop.interrupts import interrupted, interrupts, stopped_by_callback
from separatrix.loop.monitor import LossMonitor, Recording, losses_needed
from separatrix.loop.order import EpochPlan, Order, Orders
from separatrix.loop.problem import Problem
from separatrix.loop.readouts import read
from separatrix.loop.state import Solution, State, Status
from separatrix.stops import Epoch, Monitor, Stop, StopReason, time_limit


@dataclass
class BinaryTask:
    """One binary problem ("class c or not?") on its way through a run."""

    state: State
    monitor: Monitor
    reason: StopReason | None  # None while it runs
    updates_before: int
    number: int = 0  # finished epochs of this run
    report: Epoch | None = None  # of the last epoch
    known: dict[str, float] = field(default_factory=dict)  # each loss as it was last seen
    interrupted: bool = False

    @classmethod
    def begin(cls, state: State, stop: Stop) -> BinaryTask:
        """Return the task of a state; the stop rule sees the epochs of a run that was cut short first."""
        task = cls(state, stop.begin(), state.ended, state.updates)
        for past in state.reports:
            task.monitor(past)
        if task.reason is not None and (last := state.last_report) is not None:
            task.report, task.known = last, dict(last.losses)
        return task

    def solution(self, readout: str) -> Solution:
        """Return what the task has learned, once it has stopped."""
        state, reason = self.state, self.reason
        assert reason is not None
        weights, bias = read(state, readout)
        status = Status(reason.text, reason.converged, self.interrupted, reason.diverged)
        epochs = self.number + (1 if state.position else 0)
        return Solution(weights, bias, status, epochs, state.updates - self.updates_before, readout, state)


class OnlineRun:
    """What stays the same from epoch to epoch."""

    def __init__(
        self,
        problem: Problem,
        engine: Engine,
        orders: Orders,
        stop: Stop,
        readout: str,
        fold: int | str,
        observers: Sequence[Any],
        loss_monitor: LossMonitor | None,
        recording: Recording,
        prediction_ties: tuple[bool, bool],
        new_engine: Callable[[], Engine],
        insist: Callable[[], Engine],
        hidden_mistakes: Callable[[State], Order] | None,
    ) -> None:
        self._insist, self._hidden_mistakes = insist, hidden_mistakes
        self._new_engine = new_engine  # for a look at all examples, with steps that nobody observes
        self._recording = recording
        self._prediction_ties = prediction_ties  # losses are those of predictions, which must name a class on a tie
        self._loss_monitor = loss_monitor
        self._problem = problem
        self._engine = engine
        self._orders = orders
        self._stop = stop
        self._limit = time_limit(stop)
        self._readout = readout
        self._fold = fold
        self._observers = observers
        self._began = time.perf_counter()

    def go(self, tasks: list[BinaryTask]) -> None:
        """Run every task until it stops."""
        self._notify("on_begin", tasks=len(tasks), pool=self._orders.pool, stop=self._stop)
        try:
            with interrupts() as pressed:
                if self._loss_monitor is not None:
                    self._loss_monitor.start([task.state for task in tasks])
                while active := [task for task in tasks if task.reason is None]:
                    plan = self._orders.plan(active[0].state.epochs, self._fold)
                    self._notify("on_epoch_begin")
                    if self._epoch(active, plan, pressed) and (left := self._unbroken(active)):
                        self._close_epoch(tasks, left, plan)
                    if pressed[0]:
                        for task in (each for each in active if each.reason is None):
                            task.reason = interrupted(task.number, in_epoch=task.state.position > 0)
                for task in tasks:
                    task.interrupted = pressed[0]
        finally:
            self._notify("on_end")

    def _epoch(self, active: list[BinaryTask], plan: EpochPlan, pressed: list[bool]) -> bool:
        """Run what is left of the epoch; False when Ctrl-C or the time limit cut it short.

        No result depends on the size of the chunks, which follows the clock: some tens of milliseconds each.
        """
        states = [task.state for task in active]
        pool = plan.length
        fold = pool if isinstance(self._fold, str) else self._fold
        begin = states[0].position if states[0].position < pool else 0
        if begin == 0:
            for state in states:
                state.mistakes = 0
                if self._loss_monitor is not None:
                    self._loss_monitor.begin_epoch(state)
        chunk = self._engine.chunk(len(states))
        while begin < pool:
            end = plan.end_of_chunk(begin, chunk, fold)
            before = self._seconds()
            try:
                self._engine.advance(states, plan, begin, end)
            except WeightOverflowError:
                if self._loss_monitor is None:
                    raise
                self._one_by_one(active, plan)
                return True
            for state in states:
                state.position = end
            self._notify("on_advance", epoch=active[0].number + 1, done=end, pool=pool)
            begin, now = end, self._seconds()
            chunk = chunk * 2 if now - before < 0.02 else max(1, chunk // 4) if now - before > 0.1 else chunk
            if end < pool and (pressed[0] or (self._limit is not None and now >= self._limit.seconds)):
                for task in active:
                    self._cut_short(task)
                return False
        return True

    def _one_by_one(self, active: list[BinaryTask], plan: EpochPlan) -> None:
        """Run an epoch in which some weights overflowed once more, task by task, and stop those that do again."""
        assert self._loss_monitor is not None
        for task in active:
            self._loss_monitor.restore(task.state)
        for task in active:
            try:
                self._engine.advance([task.state], plan, task.state.position, plan.length)
            except WeightOverflowError:
                self._diverge(task)

    def _unbroken(self, active: list[BinaryTask]) -> list[BinaryTask]:
        """Return the tasks whose weights are still finite: the last step of an epoch may have overflowed."""
        for task in active:
            if self._loss_monitor is not None and task.reason is None:
                state = task.state
                if not all(map(math.isfinite, (_norm([state]), *np.ravel(state.bias).tolist()))):
                    self._diverge(task)
        return [task for task in active if task.reason is None]

    def _diverge(self, task: BinaryTask) -> None:
        """Stop a task whose weights overflowed, with those that its epoch began with."""
        assert self._loss_monitor is not None
        self._loss_monitor.restore(task.state)
        task.number += 1
        task.reason = task.state.ended = self._loss_monitor.diverged(task.number, math.inf)

    def _cut_short(self, task: BinaryTask) -> None:
        """Stop a task that the time limit cuts short in the middle of an epoch (Ctrl-C is noted later)."""
        if self._limit is not None and self._seconds() >= self._limit.seconds:
            task.reason = self._limit.reason(task.number + 1, task.state.mistakes)

    def _keep_best(self, state: State, order: Order | None) -> None:
        """Weights that ended an epoch without a mistake go into the pocket, even if older ones had a longer run."""
        if state.pocket is None or not state.pocket_loss > 0:
            return
        loss = self._engine.tally(state, state.weights, state.bias, order).zero_one
        if loss < state.pocket_loss:
            state.pocket, state.pocket_bias = state.weights.copy(), state.bias
            state.pocket_loss, state.pocket_run = loss, state.clock - state.run_start

    def _verified(self, state: State, plan: EpochPlan) -> bool:
        """Whether an epoch without mistakes is one of all examples; one of random draws is asked about the others."""
        if plan.drawn is None or state.mistakes:
            return True
        if self._loss_monitor is not None:
            return not self._engine.tally(state, state.weights, state.bias, plan.rows).zero_one
        probe = state.probe(state.weights, state.bias, exact=self._problem.exact)
        length = self._problem.n if plan.rows is None else len(plan.rows)
        engine, begin = self._new_engine(), 0
        while begin < length and not probe.mistakes:  # weights that make none do not move
            end = min(begin + engine.chunk(1), length)
            engine.advance([probe], EpochPlan(plan.rows, plan.rows, length), begin, end)
            begin = end
        return not probe.mistakes

    def _correct_hidden(self, state: State, plan: EpochPlan) -> None:
        """Present the examples once more that are mistakes of the weights as they are read, but not as they were met.

        Rounding hides such mistakes, also that of the learning rate where the run is in units of it.
        """
        if self._hidden_mistakes is None or state.mistakes or not self._verified(state, plan):
            return
        rows = self._hidden_mistakes(state)
        if len(rows) == 0:
            return
        everything = np.arange(self._problem.n, dtype=np.uint32) if plan.rows is None else plan.rows
        order = np.concatenate([rows, everything[~np.isin(everything, rows)]])
        clock = state.clock  # tasks share it
        self._insist().advance([state], EpochPlan(order, order, len(order)), 0, len(rows))
        state.clock = state.run_start = clock
        if state.pocket is not None:  # which may hold the same weights
            counts = self._problem.weights
            state.pocket_loss = float(len(rows) if counts is None else counts[rows].sum())

    def _close_epoch(self, tasks: list[BinaryTask], active: list[BinaryTask], plan: EpochPlan) -> None:
        """Apply the stop rules to each task, and report all of them together to the observers."""
        reports, order = [], plan.rows
        seconds = self._seconds()  # the same for all, so that a time limit ends them in the same epoch
        for task in active:
            state = task.state
            self._correct_hidden(state, plan)
            if state.mistakes == 0:
                self._keep_best(state, order)
            state.past_mistakes += state.mistakes
            state.epochs += 1
            state.position = 0
            task.number += 1
            task.report = state.last_report = self._report(task, plan, seconds)
            task.known.update(task.report.losses)
            reports.append(task.report)
        for task, report in zip(active, reports, strict=True):
            reason = task.monitor(report)
            if self._loss_monitor is not None:
                reason = self._loss_monitor.check(task.state, report, reason)
            task.reason = reason
            task.state.ended = None if reason is not None and reason.cut else reason
            task.state.reports.append(report)
            if task.state.ended is not None:
                task.state.reports = []
            name = self._recording.loss
            if task.reason is not None and len(tasks) > 1 and name is not None and name not in report.losses:
                task.known |= self._losses(task.state, order, [name])  # what it adds to later epochs of the others
        if self._notify("on_epoch", epoch=_together(reports[0], tasks)):
            for task in active:
                if task.reason is None:
                    task.reason = stopped_by_callback(task.number)

    def _report(self, task: BinaryTask, plan: EpochPlan, seconds: float) -> Epoch:
        state, order = task.state, plan.rows
        held_out = None
        since = len(state.reports) + 1
        losses = self._losses(state, order, losses_needed(self._stop, since, self._recording))
        rows = self._orders.held_out
        if rows is not None:
            weights, bias = read(state, self._readout)
            wrong = self._engine.tally(state, weights, bias, rows, ties=self._prediction_ties).zero_one
            counts = self._problem.weights
            held_out = float(wrong) / (len(rows) if counts is None else float(counts[rows].sum()))
        updates = state.updates - task.updates_before
        mean_loss = None if self._loss_monitor is None else self._loss_monitor.mean_loss(state, plan.presented)
        return Epoch(
            task.number, state.mistakes, updates, _norm([state]), seconds, losses, held_out, mean_loss, since,
            self._verified(state, plan),
        )  # fmt: skip

    def _losses(self, state: State, order: Order | None, names: Sequence[str]) -> dict[str, float]:
        """Return the losses of these names for the weights as they are, over the examples of the epoch."""
        if not names:
            return {}
        smooth = any(name not in ("zero_one", "perceptron") for name in names)
        ties = self._prediction_ties
        weights, bias = state.weights, state.bias
        if state.unit != 1:
            weights, bias = state.unit * weights, state.unit * bias
        sums = self._engine.tally(state, weights, bias, order, smooth=smooth, ties=ties)
        return {name: float(getattr(sums, name)) for name in names}

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _notify(self, event: str, **what: Any) -> bool:
        return notify(self._observers, event, **what)


def notify(observers: Sequence[Any], event: str, **what: Any) -> bool:
    """Call this method of every observer that has it; True when one of them returns true, to stop the run."""
    results = [getattr(each, event)(**what) for each in observers if hasattr(each, event)]
    return any(bool(result) for result in results)


def _norm(states: Sequence[State]) -> float:
    """Return the norm of all weights; the states of a run have one unit."""
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return states[0].unit * math.sqrt(sum(_square(state.weights) for state in states))
    except OverflowError:  # exact numbers have no largest
        return math.inf


def _square(weights: Any) -> float:
    """Return ``|w|^2``; not by NumPy, whose threads cost more than they help where the cores are busy."""
    weights = weights.ravel()
    return float(np.dot(weights, weights)) if weights.dtype == object else _core.dot(weights, weights)


def _together(now: Epoch, tasks: Sequence[BinaryTask]) -> Epoch:
    """Return one report for all tasks, the last of each: sums of the counts and losses, the norm of all weights."""
    if len(tasks) == 1:
        return now
    reports = [task.report for task in tasks if task.report is not None]
    held_out = [report.held_out for report in reports if report.held_out is not None]
    return Epoch(
        now.number,
        sum(report.mistakes for report in reports),
        sum(report.updates for report in reports),
        _norm([task.state for task in tasks]),
        max(report.seconds for report in reports),
        {name: sum(task.known.get(name, 0.0) for task in tasks) for name in now.losses},
        sum(held_out) / len(held_out) if held_out else None,
        None if now.mean_loss is None else sum(report.mean_loss or 0.0 for report in reports),
        now.since,
        all(report.verified for report in reports),
    )
