"""Solve: run a rule over a problem, for one binary task or for several.

The options are checked here and become the parts of a run; ``run.py`` is the loop itself. ``solve_tasks`` learns
several tasks in one pass over the rows. Each task stops by itself, as if it had been run alone: no bit of a task
depends on the others or on the number of threads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from separatrix.loop.engines import ENGINES, JOINT_ENGINES, check_reduction, learns_from_folds, predicted_ties, ties
from separatrix.loop.engines.base import Engine
from separatrix.loop.joint import JointState, check_joint
from separatrix.loop.learning_rate import Always, in_units, scaled_step
from separatrix.loop.monitor import LossMonitor, Recording
from separatrix.loop.order import Order, Orders
from separatrix.loop.problem import Problem, as_exact
from separatrix.loop.readouts import VotedWeights, check_readout
from separatrix.loop.run import BinaryTask, OnlineRun
from separatrix.loop.state import Solution, State
from separatrix.rules import Downhill, Number, Smooth, Spreading
from separatrix.rules.hinged import Hinged
from separatrix.stops import (
    MaxEpochs,
    NoMistakes,
    NoProgress,
    Stop,
    add_kept_errors,
    as_stop,
    counts_errors,
    errors_seen,
    held_out_fraction,
    is_count,
    watches_progress,
)

STARTS = ("zeros", "uniform")
_WIDEST = 4096  # features of a full covariance


def solve(
    problem: Problem,
    rule: Any,
    *,
    engine: str = "compiled",
    stop: Stop | str | None = None,
    readout: str = "last",
    boundary: str = "mistake",
    order: str = "cyclic",
    batch_size: int | str = 1,
    reduction: str = "mean",
    start: Any = "zeros",
    seed: int = 0,
    n_jobs: int = 1,
    observers: Sequence[Any] = (),
    record: str | None = None,
    every: int = 1,
) -> Solution:
    """Run a rule over a two-class problem until a stop rule ends the run.

    Parameters
    ----------
    problem : Problem
        The examples.
    rule : Rule
        The algorithm: what each example does to the weights.
    engine : {"compiled", "reference"}
        The core, or plain Python (which can be observed step by step and computes with exact numbers).
    stop : Stop or str, default=NoMistakes() | MaxEpochs(1000)
        When to stop, as a rule or as its text (``separatrix.stops.parse``); for rules that descend a loss the default
        is NoProgress() | MaxEpochs(1000).
    readout : {"last", "averaged", "voted", "pocket"}
        Which weights of the run become the solution. Rules that descend a loss, and so move at every example, have
        the first two.
    boundary : {"mistake", "correct", "positive", "negative"}
        What a tie is.
    order : {"cyclic", "shuffled", "random"}
        As the rows stand, shuffled anew each epoch, or drawn with replacement: as many as there are in an epoch, any of
        them with the same probability, and sample weights stay the weights of the updates. Before such a run has
        converged with no mistakes, all examples are checked.
    batch_size : int or "all", default=1
        Examples whose updates are joined, all computed with the same weights. With "all" the order has no meaning.
    reduction : {"mean", "sum"}
        How the updates of a batch are joined; "sum" steps down the lectures' sum over the examples, and so is "mean"
        with a rate that is larger by their number.
    start : "zeros", "uniform", (weights, bias) or State
        The initial weights; a State is continued.
    seed : int
        The random seed of shuffled and random orders, of the uniform start and of the validation set.
    n_jobs : int
        Threads; they never change a result.
    observers : sequence of Observer
        Objects that are notified of epochs and steps; see ``separatrix.observers``.
    record : str, optional
        The name of a loss (``separatrix.rules.losses``): its sum over the examples, for the weights as they are after
        the epoch, is in the epochs that observers see.
    every : int, default=1
        Record it after every so many epochs.

    Returns
    -------
    Solution
        Also after Ctrl-C; its status then says so.

    Examples
    --------
    >>> from separatrix.rules import Perceptron
    >>> problem = Problem([[2.0, 1.0], [-1.0, -1.0]], [1, -1])
    >>> solution = solve(problem, Perceptron())
    >>> str(solution.status), solution.weights.tolist(), solution.bias
    ('converged: no mistakes (epoch 2)', [2.0, 1.0], 1.0)
    """
    if len(problem.classes) != 2:
        raise ValueError(
            f"examples of two classes are needed; found {len(problem.classes)}: {problem.classes.tolist()}"
        )
    state = start if isinstance(start, State) else new_state(problem, 1, start, readout=readout, seed=seed)
    state.ended = None
    (solution,) = solve_tasks(
        problem, rule, [state], engine=engine, stop=stop, readout=readout, boundary=boundary, order=order,
        batch_size=batch_size, reduction=reduction, seed=seed, n_jobs=n_jobs, observers=observers,
        record=record, every=every,
    )  # fmt: skip
    proved = not isinstance(rule, Downhill) and readout in ("last", "pocket") and state.mistakes == 0
    proved = proved and boundary != "correct" and state.unit == 1
    proved = proved and (state.last_report is None or state.last_report.verified)
    rules = as_stop(stop)
    whole = rules is None or held_out_fraction(rules) == 0
    if solution.status.interrupted or (proved and whole) or not counts_errors(solution.status.text):
        return solution
    rule = rule.among(problem.n) if isinstance(rule, Downhill) else rule  # the losses of weights need no rate
    made = _engine_type(engine)(problem, rule, boundary=boundary, batch_size=1, n_jobs=n_jobs, on_step=None)
    return _with_kept_errors(solution, problem, made, boundary)


def _with_kept_errors(solution: Solution, problem: Problem, engine: Engine, boundary: str) -> Solution:
    """Return the solution; its status tells the errors of its weights where they differ from what the loop saw."""
    status, state = solution.status, solution.state
    seen = errors_seen(status.text, state.mistakes, state.last_report)
    if seen is None and solution.readout == "last":  # another loss, and of these weights
        return solution
    weights, bias = solution.weights, solution.bias
    wrong = engine.tally(state, weights, bias, None, ties=predicted_ties(boundary)).zero_one
    if wrong == seen:
        return solution
    name = "averaged" if solution.readout == "voted" else solution.readout
    counts = (wrong, problem.n) if problem.weights is None else (wrong, problem.weights.sum(), "of all weight")
    text = add_kept_errors(status.text, f"{name} weights", *counts)
    return replace(solution, status=replace(status, text=text))


def new_state(problem: Problem, positive: int, start: Any, *, readout: str, seed: int = 0, clock: Number = 0) -> State:
    """Return the initial state of a task: zeros, uniform in [-1, 1], or given (weights, bias)."""
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
        raise ValueError(f"a starting bias of {bias} needs a problem with a bias")
    state = State.new(positive, weights, bias, readout=readout, clock=clock, exact=exact)
    if readout == "voted" and not exact:
        state.voted_weights = VotedWeights((weights, bias), float(problem.bias))
    return state


def solve_tasks(
    problem: Problem,
    rule: Any,
    states: Sequence[State],
    *,
    engine: str | Callable[..., Engine] = "compiled",
    stop: Stop | str | None = None,
    readout: str = "last",
    boundary: str = "mistake",
    order: str = "cyclic",
    batch_size: int | str = 1,
    reduction: str = "mean",
    seed: int = 0,
    n_jobs: int = 1,
    observers: Sequence[Any] = (),
    record: str | None = None,
    every: int = 1,
    hidden_mistakes: Callable[[State], Order] | None = None,
) -> list[Solution]:
    """Run a rule for several tasks at once, reading each row once for all of them; see :func:`solve`.

    An engine that needs more than a problem and a rule can be given as a function that makes it. ``hidden_mistakes``
    is asked after an epoch without mistakes, and returns rows that are some without rounding: they get their step.
    """
    stop = as_stop(stop) or _default_stop(rule)
    readout = check_readout(readout)
    recording = Recording(record, every)
    if isinstance(rule, Downhill):
        _check_downhill_readout(rule, readout)
    elif watches_progress(stop):
        raise ValueError(f"NoProgress monitors the loss of gradient descent; for {rule.name!r} use LossFlat")
    joint = isinstance(states[0], JointState)
    if joint:
        check_joint(rule, readout=readout, boundary=boundary, batch_size=batch_size)
    if isinstance(rule, Spreading):
        _check_width(rule, problem.d, len(states))
    for state in states:
        _check_first_update(state, rule, boundary)
        if isinstance(rule, Spreading):
            state.begin_spread(rule.covariance)
    if isinstance(batch_size, str) and order in ("shuffled", "random"):
        order = "cyclic"
    if order == "random" and readout == "pocket":
        raise ValueError(
            "readout='pocket' compares weights on all examples of an epoch, and a random one leaves some out: use "
            "another readout, or shuffled examples"
        )
    orders = Orders(problem, order, seed, held_out_fraction(stop), first=states[0].epochs)
    if not problem.finite:
        problem.rows.check_finite(orders.unvisited(problem))
    fold = _fold_size(batch_size, readout)
    if fold != 1 and not learns_from_folds(rule):
        raise ValueError(f"rule {rule.name!r} learns from one example at a time: batch_size must be 1; found {fold!r}")
    if check_reduction(reduction) == "sum" and isinstance(rule, Hinged):
        raise ValueError(f"reduction='sum' is for the perceptron and the neurons; found {rule.name!r}")
    if isinstance(rule, Downhill):
        rule = rule.among(_total_weight(problem, orders))
    rule = in_units(rule, states, exact=problem.exact)
    step_observers = [each for each in observers if hasattr(each, "on_step")]

    def on_step(step: Any) -> None:
        step = scaled_step(step, states[0].unit)
        for each in step_observers:
            each.on_step(step)

    new_engine = partial(_engine_type(engine, joint=joint), problem, rule, boundary=boundary, n_jobs=n_jobs)
    made: Engine = new_engine(batch_size=fold, on_step=on_step if step_observers else None, reduction=reduction)
    clock, epochs = max(state.clock for state in states), max(state.epochs for state in states)
    for state in states:
        if state.position == 0:
            state.rejoin(clock, epochs)
        if state.new_data:
            _reassess_pocket(state, made, orders)
    loss_monitor = None
    if isinstance(rule, Downhill):
        summed = reduction == "sum" and fold != 1
        weight = 1.0 if not summed else float(_total_weight(problem, orders) if isinstance(fold, str) else fold)
        loss_monitor = LossMonitor(rule, problem, made, orders, fold, stop, weight)
    run = OnlineRun(
        problem,
        made,
        orders,
        stop,
        readout,
        fold,
        observers,
        loss_monitor,
        recording,
        predicted_ties(boundary),
        new_engine,
        partial(_engine_type(engine, joint=joint), problem, Always(rule.eta), boundary=boundary, n_jobs=n_jobs),
        hidden_mistakes,
    )
    tasks = [BinaryTask.begin(state, stop) for state in states]
    run.go(tasks)
    return [task.solution(readout) for task in tasks]


def _default_stop(rule: Any) -> Stop:
    limit = MaxEpochs(1000)
    if not isinstance(rule, Downhill):
        return NoMistakes() | limit
    return limit if rule.schedule == "adaptive" else NoProgress() | limit


def _engine_type(name: Any, *, joint: bool = False) -> Any:
    if callable(name):
        return name
    if name not in ENGINES:
        raise ValueError(f"engine must be one of {', '.join(ENGINES)}; found {name!r}")
    return JOINT_ENGINES[name] if joint else ENGINES[name]


def _fold_size(batch_size: Any, readout: str) -> int | str:
    whole = isinstance(batch_size, str) and batch_size == "all"
    if not (whole or is_count(batch_size)):
        raise ValueError(f"batch_size must be a whole number of at least 1, or 'all'; found {batch_size!r}")
    if readout == "voted" and (whole or batch_size != 1):
        raise ValueError("readout='voted' needs batch_size=1: the update of a batch belongs to no single example")
    return "all" if whole else int(batch_size)


def _total_weight(problem: Problem, orders: Orders) -> Number:
    """Return the total weight of the examples of an epoch, the same to the last bit in every order."""
    if problem.weights is None:
        return orders.pool
    kept = np.ones(problem.n, dtype=bool)
    if orders.held_out is not None:
        kept[orders.held_out] = False
    return float(problem.weights[kept].sum())


def _check_downhill_readout(rule: Downhill, readout: str) -> None:
    if readout in ("voted", "pocket"):
        raise ValueError(f"readout={readout!r} is kept for perceptrons only; found {rule.name!r}")
    if readout == "averaged" and isinstance(rule, Smooth) and rule.alpha:
        raise ValueError(
            "readout='averaged' needs alpha=0: shrinking weights are not kept in a form that can be averaged"
        )


def _check_width(rule: Spreading, d: int, n_tasks: int) -> None:
    """Refuse covariances of all pairs of so many weights, one for each task and a copy of it while it learns."""
    if rule.covariance != "full":
        return
    size = 8 * (d + 1) ** 2
    takes = f"covariance='full' of {d:,} features takes {size / 2**30:.1f} GiB for each class"
    if d > _WIDEST:
        raise ValueError(
            f"{takes}, and more time than memory; it is for at most {_WIDEST:,} features: use covariance='diagonal'"
        )
    try:
        np.empty(2 * size * n_tasks, dtype=np.uint8)
    except MemoryError:
        raise MemoryError(
            f"{takes}, {2 * size * n_tasks / 2**30:.1f} GiB in all while {n_tasks} are learned, which is more than "
            "there is: use covariance='diagonal'"
        ) from None


def _check_first_update(state: State, rule: Any, boundary: str) -> None:
    """Refuse a run that can never move: zero weights make every margin a tie, and no tie is a mistake."""
    if any(ties(boundary)) or rule.threshold > 0 or np.any(state.bias != 0) or np.any(state.weights != 0):
        return
    raise ValueError(
        f"boundary={boundary!r} with zero starting weights can never make a first update: every example is a tie, and "
        "a tie counts as correct. Start from init='uniform' or given weights, or use boundary='mistake'"
    )


def _reassess_pocket(state: State, engine: Engine, orders: Orders) -> None:
    """Compute the loss of pocket weights from other examples on these; their run of correct ones starts again."""
    state.new_data = False
    if state.pocket is None or state.pocket_loss == math.inf:
        return
    loss = engine.tally(state, state.pocket, state.pocket_bias, orders.epoch(state.epochs)).zero_one
    state.pocket_loss, state.pocket_run, state.run_start, state.pocket_checked = loss, 0 * loss, state.clock, 0
