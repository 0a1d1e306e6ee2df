"""The only outer loop: epochs, stops, observers, Ctrl-C.

``solve`` answers one yes-or-no question; ``solve_targets`` answers several in one pass over the rows. Each question
stops by itself, as if it had been asked alone: no question's bits depend on the others or on the number of threads.
"""

from __future__ import annotations

import math
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.loop.engines import BOUNDARIES, ENGINES, ties
from separatrix.loop.engines.base import Engine, WeightOverflowError
from separatrix.loop.monitor import Slope
from separatrix.loop.order import Order, Orders, Plan
from separatrix.loop.problem import Problem, as_exact
from separatrix.loop.readouts import Ballot, check_readout, read
from separatrix.loop.state import Solution, State, Status
from separatrix.rules import Downhill, Number, Smooth
from separatrix.stops import (
    Ending,
    Epoch,
    Judge,
    MaxEpochs,
    NoMistakes,
    NoProgress,
    Stop,
    held_out_fraction,
    is_count,
    losses_asked,
    time_limit,
    watches_progress,
)

STARTS = ("zeros", "uniform")


def solve(
    problem: Problem,
    rule: Any,
    *,
    engine: str = "compiled",
    stop: Stop | None = None,
    readout: str = "last",
    boundary: str = "mistake",
    order: str = "cyclic",
    batch_size: int | str = 1,
    start: Any = "zeros",
    seed: int = 0,
    n_jobs: int = 1,
    observers: Sequence[Any] = (),
) -> Solution:
    """Run a rule over a two-class problem until a stop rule speaks.

    Parameters
    ----------
    problem : Problem
        The examples.
    rule : Rule
        What to do with each.
    engine : {"compiled", "reference"}
        How to run it.
    stop : Stop, default=NoMistakes() | MaxEpochs(1000)
        When to stop; for rules that walk down a loss the default is NoProgress() | MaxEpochs(1000).
    readout : {"last", "averaged", "voted", "pocket"}
        Which weights of the run become the solution. Rules that walk down a loss, and so move at every example, have
        the first two.
    boundary : {"mistake", "correct", "positive", "negative"}
        What a tie is.
    order : {"cyclic", "shuffled"}
        As the rows stand, or shuffled anew each epoch.
    batch_size : int or "all", default=1
        Examples answered with the same weights; their answers are averaged. With "all" their order has no meaning.
    start : "zeros", "uniform", (weights, bias) or State
        Where to start; from a State the run goes on.
    seed : int
        Where shuffled orders, the uniform start and held-out examples come from.
    n_jobs : int
        Threads; they never change a result.
    observers : sequence of Observer
        Who is told.

    Returns
    -------
    Solution
        After Ctrl-C too: its status then says so.

    Examples
    --------
    >>> from separatrix.rules import Perceptron
    >>> problem = Problem([[2.0, 1.0], [-1.0, -1.0]], [1, -1])
    >>> solution = solve(problem, Perceptron())
    >>> str(solution.status), solution.weights.tolist(), solution.bias
    ('no mistakes in epoch 2', [2.0, 1.0], 1.0)
    """
    if len(problem.classes) != 2:
        raise ValueError(
            f"examples of two classes are needed; found {len(problem.classes)}: {problem.classes.tolist()}"
        )
    state = start if isinstance(start, State) else new_state(problem, 1, start, readout=readout, seed=seed)
    state.ended = None
    return solve_targets(
        problem, rule, [state], engine=engine, stop=stop, readout=readout, boundary=boundary, order=order,
        batch_size=batch_size, seed=seed, n_jobs=n_jobs, observers=observers,
    )[0]  # fmt: skip


def new_state(problem: Problem, positive: int, start: Any, *, readout: str, seed: int = 0, clock: Number = 0) -> State:
    """Return the state in which a question starts: zeros, uniform in [-1, 1], or given (weights, bias)."""
    readout = check_readout(readout)
    exact = problem.exact
    weights: Any
    bias: Number
    if isinstance(start, str):
        if start not in STARTS:
            raise ValueError(f"the start must be zeros, uniform or (weights, bias); found {start!r}")
        weights, bias = np.zeros(problem.d), 0.0
        if start == "uniform":
            drawn = np.random.default_rng([seed, positive]).uniform(-1.0, 1.0, problem.d + 1)
            weights, bias = drawn[1:], float(drawn[0]) if problem.bias else 0.0
    else:
        try:
            weights, bias = start
        except (TypeError, ValueError):
            raise ValueError(f"the start must be zeros, uniform or (weights, bias); found {start!r}") from None
    if exact:
        weights, bias = [as_exact(w) for w in weights], as_exact(bias)
    else:
        weights, bias = np.asarray(weights, dtype=np.float64), float(bias)
        if weights.shape == (1, problem.d):
            weights = weights[0]
        if not (np.isfinite(weights).all() and math.isfinite(bias)):
            raise ValueError("the starting weights and bias must be finite numbers")
    if np.shape(weights) != (problem.d,):
        raise ValueError(f"the start needs {problem.d} weights, one for each column; found shape {np.shape(weights)}")
    if bias and not problem.bias:
        raise ValueError(f"a starting bias of {bias} needs a bias: it is switched off here")
    state = State.new(positive, weights, bias, readout=readout, clock=clock, exact=exact)
    if readout == "voted" and not exact:
        state.ballot = Ballot((weights, bias), float(problem.bias))
    return state


@dataclass
class _Question:
    """One state on its way through a run."""

    state: State
    judge: Judge
    number: int = 0  # finished epochs of this run
    report: Epoch | None = None  # of the last epoch
    known: dict[str, float] = field(default_factory=dict)  # each loss as it was last seen
    updates_before: int = 0
    ending: Ending | None = None
    interrupted: bool = False


def solve_targets(
    problem: Problem,
    rule: Any,
    states: Sequence[State],
    *,
    engine: str | Callable[..., Engine] = "compiled",
    stop: Stop | None = None,
    readout: str = "last",
    boundary: str = "mistake",
    order: str = "cyclic",
    batch_size: int | str = 1,
    seed: int = 0,
    n_jobs: int = 1,
    observers: Sequence[Any] = (),
) -> list[Solution]:
    """Run a rule for several questions at once, reading each row once for all; see :func:`solve`.

    An engine that needs more than a problem and a rule can be given as a function that makes it.
    """
    stop = _default_stop(rule) if stop is None else stop
    if not isinstance(stop, Stop):
        raise TypeError(f"stop must be a stop rule such as NoMistakes() | MaxEpochs(10); found {stop!r}")
    readout = check_readout(readout)
    if isinstance(rule, Downhill):
        _check_downhill_readout(rule, readout)
    elif watches_progress(stop):
        raise ValueError(f"NoProgress watches the loss of gradient descent, which {rule.name!r} is not: use LossFlat")
    for state in states:
        _check_first_update(state, rule, boundary)
    if isinstance(batch_size, str) and order == "shuffled":
        order = "cyclic"
    orders = Orders(problem, order, seed, held_out_fraction(stop), first=states[0].epochs)
    if not problem.finite:
        problem.rows.check_finite(orders.unvisited(problem))
    fold = _fold_size(batch_size, readout)
    if isinstance(rule, Downhill):
        rule = rule.among(_weight(problem, orders))
    step_observers = [each for each in observers if hasattr(each, "on_step")]

    def on_step(step: Any) -> None:
        for each in step_observers:
            each.on_step(step)

    machine: Engine = _engine(engine)(
        problem, rule, boundary=boundary, batch_size=fold, n_jobs=n_jobs, on_step=on_step if step_observers else None
    )
    clock, epochs = max(state.clock for state in states), max(state.epochs for state in states)
    for state in states:
        if state.position == 0:
            state.rejoin(clock, epochs)
        if state.new_data:
            _weigh_pocket(state, machine, orders)
    slope = Slope(rule, problem, machine, orders, fold, stop) if isinstance(rule, Downhill) else None
    run = _Run(problem, machine, orders, stop, readout, fold, observers, slope)
    questions = [_Question(state, stop.begin(), updates_before=state.updates, ending=state.ended) for state in states]
    for question in questions:
        for past in question.state.reports:
            question.judge(past)
        if question.ending is not None and (last := question.state.last_report) is not None:
            question.report, question.known = last, dict(last.losses)
    run.go(questions)
    return [_solution(question, readout) for question in questions]


def _default_stop(rule: Any) -> Stop:
    limit = MaxEpochs(1000)
    if not isinstance(rule, Downhill):
        return NoMistakes() | limit
    return limit if rule.schedule == "adaptive" else NoProgress() | limit


def _engine(name: Any) -> Any:
    if callable(name):
        return name
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; found {name!r}")
    return ENGINES[name]


def _fold_size(batch_size: Any, readout: str) -> int | str:
    whole = isinstance(batch_size, str) and batch_size == "all"
    if not (whole or is_count(batch_size)):
        raise ValueError(f"batch_size must be a whole number of at least 1, or 'all'; found {batch_size!r}")
    if readout == "voted" and (whole or batch_size != 1):
        raise ValueError("the voted readout needs batch_size=1: a fold's update belongs to no single example")
    return "all" if whole else int(batch_size)


def _weight(problem: Problem, orders: Orders) -> Number:
    """Return what the examples of an epoch weigh together, the same to the last bit in every order."""
    if problem.weights is None:
        return orders.pool
    kept = np.ones(problem.n, dtype=bool)
    if orders.held_out is not None:
        kept[orders.held_out] = False
    return float(problem.weights[kept].sum())


def _check_downhill_readout(rule: Downhill, readout: str) -> None:
    if readout in ("voted", "pocket"):
        raise ValueError(f"the {readout} readout belongs to rules that step on mistakes only; found {rule.name!r}")
    if readout == "averaged" and isinstance(rule, Smooth) and rule.alpha:
        raise ValueError("the averaged readout needs alpha=0: weights that shrink are not kept in a form that averages")


def _check_first_update(state: State, rule: Any, boundary: str) -> None:
    """With a strict boundary and zero weights every margin is a tie, no tie is a mistake, and nothing ever moves."""
    if any(ties(boundary)) or rule.threshold > 0 or state.bias != 0 or any(state.weights != 0):
        return
    raise ValueError(
        f"boundary={boundary!r} with zero starting weights can never make a first update: every example is a tie, and "
        "a tie counts as correct. Start from init='uniform' or given weights, or use boundary='mistake'"
    )


def _weigh_pocket(state: State, machine: Engine, orders: Orders) -> None:
    """What a state carries in its pocket from other examples is judged by these; a run among the old counts no more."""
    state.new_data = False
    if state.pocket is None or state.pocket_loss == math.inf:
        return
    loss = machine.tally(state, state.pocket, state.pocket_bias, orders.epoch(state.epochs)).zero_one
    state.pocket_loss, state.pocket_run, state.run_start, state.pocket_checked = loss, 0 * loss, state.clock, 0


class _Run:
    """One run: what stays the same from epoch to epoch."""

    def __init__(
        self,
        problem: Problem,
        machine: Engine,
        orders: Orders,
        stop: Stop,
        readout: str,
        fold: int | str,
        observers: Sequence[Any],
        slope: Slope | None,
    ) -> None:
        self._slope = slope
        self._problem = problem
        self._machine = machine
        self._orders = orders
        self._stop = stop
        self._limit = time_limit(stop)
        self._readout = readout
        self._fold = fold
        self._observers = observers
        self._began = time.perf_counter()

    def go(self, questions: list[_Question]) -> None:
        """Run every question to its end."""
        self._tell("on_begin", questions=len(questions), pool=self._orders.pool, stop=self._stop)
        try:
            with interrupts() as pressed:
                if self._slope is not None:
                    self._slope.start([question.state for question in questions])
                while active := [question for question in questions if question.ending is None]:
                    plan = self._orders.plan(active[0].state.epochs, self._fold)
                    self._tell("on_epoch_begin")
                    if self._epoch(active, plan, pressed) and (left := self._standing(active)):
                        self._judge(questions, left, plan.rows)
                    if pressed[0]:
                        for question in active:
                            self._interrupt(question)
                for question in questions:
                    question.interrupted = pressed[0]
        finally:
            self._tell("on_end")

    def _epoch(self, active: list[_Question], plan: Plan, pressed: list[bool]) -> bool:
        """Run what is left of the epoch; False when Ctrl-C or the time limit cut it short.

        No result depends on the size of the chunks, which follows the clock: some tens of milliseconds each.
        """
        states = [question.state for question in active]
        pool = plan.length
        fold = pool if isinstance(self._fold, str) else self._fold
        begin = states[0].position if states[0].position < pool else 0
        if begin == 0:
            for state in states:
                state.mistakes = 0
                if self._slope is not None:
                    self._slope.begin_epoch(state)
        chunk = self._machine.chunk(len(states))
        while begin < pool:
            end = plan.end_of_chunk(begin, chunk, fold)
            before = self._seconds()
            try:
                self._machine.advance(states, plan, begin, end)
            except WeightOverflowError:
                if self._slope is None:
                    raise
                self._one_by_one(active, plan)
                return True
            for state in states:
                state.position = end
            self._tell("on_advance", epoch=active[0].number + 1, done=end, pool=pool)
            begin, now = end, self._seconds()
            chunk = chunk * 2 if now - before < 0.02 else max(1, chunk // 4) if now - before > 0.1 else chunk
            if end < pool and (pressed[0] or (self._limit is not None and now >= self._limit.seconds)):
                for question in active:
                    self._cut_short(question)
                return False
        return True

    def _one_by_one(self, active: list[_Question], plan: Plan) -> None:
        """Run an epoch in which some weights overflowed once more, question by question, and end those that fall."""
        assert self._slope is not None
        for question in active:
            self._slope.restore(question.state)
        for question in active:
            try:
                self._machine.advance([question.state], plan, question.state.position, plan.length)
            except WeightOverflowError:
                self._end_fallen(question)

    def _standing(self, active: list[_Question]) -> list[_Question]:
        """Return the questions that an epoch has not ended: its last step may have been too long for numbers."""
        for question in active:
            if self._slope is not None and question.ending is None:
                state = question.state
                if not (math.isfinite(_norm([state])) and math.isfinite(state.bias)):
                    self._end_fallen(question)
        return [question for question in active if question.ending is None]

    def _end_fallen(self, question: _Question) -> None:
        """End a question whose weights overflowed where its epoch began."""
        assert self._slope is not None
        self._slope.restore(question.state)
        question.number += 1
        question.ending = question.state.ended = self._slope.too_large(question.number, math.inf)

    def _interrupt(self, question: _Question) -> None:
        if question.ending is None:
            where = f"in epoch {question.number + 1}" if question.state.position else f"after epoch {question.number}"
            question.ending = Ending(f"interrupted {where}; the model is what was learned so far", False)

    def _cut_short(self, question: _Question) -> None:
        """End a question that the time limit (or Ctrl-C, which is said later) stops in the middle of an epoch."""
        if self._limit is not None and self._seconds() >= self._limit.seconds:
            question.ending = self._limit.ending(question.number + 1, question.state.mistakes)

    def _keep_best(self, state: State, order: Order | None) -> None:
        """Weights that ended an epoch without a mistake go into the pocket, even if older ones had a longer run."""
        if state.pocket is None or not state.pocket_loss > 0:
            return
        loss = self._machine.tally(state, state.weights, state.bias, order).zero_one
        if loss < state.pocket_loss:
            state.pocket, state.pocket_bias = state.weights.copy(), state.bias
            state.pocket_loss, state.pocket_run = loss, state.clock - state.run_start

    def _judge(self, questions: list[_Question], active: list[_Question], order: Order | None) -> None:
        """Close the epoch: tell the observers about all questions together, ask the stop rules about each."""
        reports = []
        seconds = self._seconds()  # the same for all, so that a time limit ends them in the same epoch
        for question in active:
            state = question.state
            if state.mistakes == 0:
                self._keep_best(state, order)
            state.epochs += 1
            state.position = 0
            question.number += 1
            question.report = state.last_report = self._report(question, order, seconds)
            question.known.update(question.report.losses)
            reports.append(question.report)
        for question, report in zip(active, reports, strict=True):
            verdict = question.judge(report)
            if self._slope is not None:
                verdict = self._slope.judge(question.state, report, verdict)
            question.ending = verdict
            question.state.ended = None if verdict is not None and verdict.cut else verdict
            question.state.reports.append(report)
            if question.state.ended is not None:
                question.state.reports = []
        whole = _together(reports[0], questions)
        if self._tell("on_epoch", epoch=whole):
            for question in active:
                if question.ending is None:
                    question.ending = Ending(f"stopped by a callback after epoch {question.number}", False)

    def _report(self, question: _Question, order: Order | None, seconds: float) -> Epoch:
        state = question.state
        losses: dict[str, float] = {}
        held_out = None
        since = len(state.reports) + 1
        if asked := losses_asked(self._stop, since):
            smooth = any(name not in ("zero_one", "perceptron") for name in asked)
            sums = self._machine.tally(state, state.weights, state.bias, order, smooth=smooth)
            losses = {name: float(getattr(sums, name)) for name in asked}
        rows = self._orders.held_out
        if rows is not None:
            weights, bias = read(state, self._readout)
            wrong = self._machine.tally(state, weights, bias, rows).zero_one
            counts = self._problem.weights
            held_out = float(wrong) / (len(rows) if counts is None else float(counts[rows].sum()))
        return Epoch(
            question.number, state.mistakes, state.updates - question.updates_before, _norm([state]),
            seconds, losses, held_out, None if self._slope is None else self._slope.mean_loss(state, order),
            since,
        )  # fmt: skip

    def _seconds(self) -> float:
        return time.perf_counter() - self._began

    def _tell(self, event: str, **what: Any) -> bool:
        return tell(self._observers, event, **what)


def tell(observers: Sequence[Any], event: str, **what: Any) -> bool:
    """Tell every observer that listens; True when one of them asks to stop."""
    answers = [getattr(each, event)(**what) for each in observers if hasattr(each, event)]
    return any(bool(answer) for answer in answers)


def _norm(states: Sequence[State]) -> float:
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            return math.sqrt(sum(_square(state.weights) for state in states))
    except OverflowError:  # exact numbers have no largest
        return math.inf


def _square(weights: Any) -> float:
    """Return ``|w|^2``; not by NumPy, whose threads cost more than they help where the cores are busy."""
    return float(np.dot(weights, weights)) if weights.dtype == object else _core.dot(weights, weights)


def _together(now: Epoch, questions: Sequence[_Question]) -> Epoch:
    """Return one report for all questions, the last of each: sums of the counts and losses, the norm of all weights."""
    if len(questions) == 1:
        return now
    reports = [question.report for question in questions if question.report is not None]
    held_out = [report.held_out for report in reports if report.held_out is not None]
    return Epoch(
        now.number,
        sum(report.mistakes for report in reports),
        sum(report.updates for report in reports),
        _norm([question.state for question in questions]),
        max(report.seconds for report in reports),
        {name: sum(question.known.get(name, 0.0) for question in questions) for name in now.losses},
        sum(held_out) / len(held_out) if held_out else None,
        None if now.mean_loss is None else sum(report.mean_loss or 0.0 for report in reports),
        now.since,
    )


def _solution(question: _Question, readout: str) -> Solution:
    ending = question.ending
    assert ending is not None
    weights, bias = read(question.state, readout)
    status = Status(ending.text, ending.converged, question.interrupted, ending.diverged)
    epochs = question.number + (1 if question.state.position else 0)
    updates = question.state.updates - question.updates_before
    return Solution(weights, bias, status, epochs, updates, readout, question.state)


@contextmanager
def interrupts() -> Iterator[list[bool]]:
    """Turn the first Ctrl-C into a flag that the loop looks at, so that no array is left half changed.

    A second Ctrl-C raises at once. Outside the main thread, or where the program has its own handler, nothing changes.
    """
    pressed = [False]
    usual = threading.current_thread() is threading.main_thread()
    if not usual or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield pressed
        return

    def note(number: int, frame: FrameType | None) -> None:
        if pressed[0]:
            raise KeyboardInterrupt
        pressed[0] = True

    signal.signal(signal.SIGINT, note)
    try:
        yield pressed
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


__all__ = ["BOUNDARIES", "STARTS", "interrupts", "new_state", "solve", "solve_targets", "tell"]
