"""Every stopping condition of Lecture 004, alone and joined, and the sentence each ends with."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import separatrix as sx
from separatrix.loop.engines.compiled import CompiledEngine
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.observers import History
from separatrix.rules import Perceptron
from separatrix.stops import Epoch, HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoMistakes, TimeLimit


def noisy(n=200, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return Problem(X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1, -1))


def test_no_mistakes_and_max_epochs_speak_in_sentences():
    X, y = sx.datasets.load("and")
    assert str(solve(Problem(X, y), Perceptron()).status) == "converged: no mistakes (epoch 9)"
    X, y = sx.datasets.load("xor")
    status = solve(Problem(X, y), Perceptron(), stop=MaxEpochs(1000)).status
    assert (
        str(status)
        == "stopped: epoch limit of 1000 reached, 4 mistakes in the last epoch; last weights: 2 of 4 training rows "
        "wrong"  # all four are ties, which predictions call positive
    )
    assert not status.converged
    X, y = sx.datasets.load("and")
    assert (
        str(solve(Problem(X, y), Perceptron(), stop=MaxEpochs(9)).status)
        == "stopped: epoch limit of 9 reached, no mistakes in the last epoch"
    )


def test_loss_at_most_counts_the_misclassified_examples():
    history = History()
    solution = solve(noisy(), Perceptron(), stop=LossAtMost(50) | MaxEpochs(500), observers=[history])
    assert solution.status.converged
    problem = noisy()
    wrong = (problem.signs() * (problem.rows.values @ solution.weights + solution.bias) <= 0).sum()
    assert history.loss[-1] == wrong <= 50
    assert all(loss > 50 for loss in history.loss[:-1])
    assert str(solution.status) == f"converged: loss {wrong}, at most 50 (epoch {len(history)})"


def test_the_perceptron_criterion_can_be_watched_instead():
    history = History()
    solution = solve(noisy(), Perceptron(), stop=LossAtMost(0, loss="perceptron") | MaxEpochs(3), observers=[history])
    problem = noisy()
    margins = problem.signs() * (problem.rows.values @ solution.weights + solution.bias)
    assert history.loss[-1] == pytest.approx(np.maximum(0, -margins).sum())


def test_the_loss_is_computed_only_every_k_epochs():
    history = History()
    solve(noisy(), Perceptron(), stop=LossAtMost(0, every=4) | MaxEpochs(10), observers=[history])
    assert [epoch.number for epoch in history if epoch.loss is not None] == [4, 8]


def test_loss_flat_waits_for_its_patience():
    monitor = LossFlat(change=1.0, patience=2).begin()
    reasons = [
        monitor(Epoch(k + 1, 1, 1, 0.0, 0.0, {"zero_one": loss}))
        for k, loss in enumerate([9.0, 5.0, 5.5, 9.0, 8.0, 8.5])
    ]
    assert [reason is None for reason in reasons] == [True, True, True, True, True, False]
    assert reasons[-1].text == "converged: loss 8.5, changed by at most 1 in 2 checks (epoch 6)"


def test_held_out_flat_stops_when_the_held_out_part_gets_no_better():
    monitor = HeldOutFlat(patience=2).begin()
    reasons = [monitor(Epoch(k + 1, 1, 1, 0.0, 0.0, {}, share)) for k, share in enumerate([0.5, 0.3, 0.4, 0.3])]
    assert [reason is None for reason in reasons] == [True, True, True, False]
    assert reasons[-1].text == "converged: validation error not lower for 2 epochs, best 0.3 (epoch 4)"
    history = History()
    solution = solve(noisy(), Perceptron(), readout="averaged", stop=HeldOutFlat(0.25, 3), observers=[history])
    assert solution.status.converged
    assert all(0 <= share <= 1 for share in history.held_out)
    assert solution.state.clock == 150 * len(history)


def test_the_time_limit_ends_a_run_in_the_middle_of_an_epoch(monkeypatch):
    """By a clock that goes on by 0.05 s with every look: before and after each 100 rows."""
    ticks = itertools.count()
    monkeypatch.setattr("time.perf_counter", lambda: 0.05 * next(ticks))
    monkeypatch.setattr(CompiledEngine, "chunk", lambda *_: 100)
    solution = solve(noisy(1000), Perceptron(), stop=TimeLimit(0.28), order="shuffled")
    assert str(solution.status).startswith("stopped: time limit of 0.28 s reached in epoch 1 (")
    assert solution.state.clock == 300


def test_joined_rules_stop_at_the_first_that_speaks():
    stop = NoMistakes() | TimeLimit(60) | (MaxEpochs(7) | MaxEpochs(3))
    assert len(stop.parts) == 4
    assert "epoch limit of 3 reached" in str(solve(noisy(), Perceptron(), stop=stop).status)
    with pytest.raises(TypeError):
        NoMistakes() | 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: MaxEpochs(0), "whole number of at least 1; found 0"),
        (lambda: MaxEpochs(2.5), "whole number of at least 1; found 2.5"),
        (lambda: TimeLimit(0), "positive number of seconds; found 0"),
        (lambda: LossAtMost(-1), "zero or positive; found -1"),
        (lambda: LossAtMost(1, every=0), "every must be a whole number of at least 1; found 0"),
        (lambda: LossAtMost(1, loss="huber"), "squared, log, hinge, squared_hinge; found 'huber'"),
        (lambda: LossFlat(patience=0), "patience must be a whole number of at least 1; found 0"),
        (lambda: LossFlat(change=-1), "change must be zero or positive; found -1"),
        (lambda: HeldOutFlat(1.0), "must lie between 0 and 1; found 1.0"),
        (lambda: HeldOutFlat(patience=0), "patience must be a whole number of at least 1; found 0"),
    ],
)
def test_impossible_rules_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_joined_rules_on_losses_do_not_hear_each_other():
    alone = LossFlat(10, 2, every=10)
    ended = solve(noisy(), Perceptron(), stop=alone | MaxEpochs(200)).n_epochs
    joined = solve(noisy(), Perceptron(), stop=alone | LossAtMost(0) | MaxEpochs(200)).n_epochs
    assert ended == joined >= 30
    X, y = sx.datasets.load("xor")
    stop = LossAtMost(3.5, every=3) | LossAtMost(1e-9, every=2, loss="perceptron") | MaxEpochs(6)
    history = History()
    status = solve(Problem(X, y), Perceptron(), stop=stop, observers=[history]).status
    assert [sorted(epoch.losses) for epoch in history] == [
        [], ["perceptron"], ["zero_one"], ["perceptron"], [], ["perceptron", "zero_one"]
    ][: len(history)]  # fmt: skip
    assert str(status).startswith("converged: loss ")


@pytest.mark.parametrize(
    ("options", "kind", "message"),
    [
        ({"stop": 3}, TypeError, "stop must be a stop rule"),
        ({"engine": "gpu"}, ValueError, "engine must be one of compiled, reference; found 'gpu'"),
        ({"readout": "best"}, ValueError, "readout must be one of last, averaged, voted, pocket; found 'best'"),
        (
            {"boundary": "none"},
            ValueError,
            "boundary must be one of mistake, correct, positive, negative; found 'none'",
        ),
        ({"start": "ones"}, ValueError, "the start must be zeros, uniform or"),
        ({"start": ([1.0], 0.0)}, ValueError, "the start needs 5 weights"),
        ({"start": ([np.nan] * 5, 0.0)}, ValueError, "must be finite numbers"),
        ({"seed": -1}, ValueError, "the seed must be a whole number from 0"),
        ({"batch_size": 0}, ValueError, "batch_size must be a whole number of at least 1, or 'all'; found 0"),
        ({"batch_size": 4, "readout": "voted"}, ValueError, "readout='voted' needs batch_size=1"),
        (
            {"observers": [sx.observers.StepRecorder()]},
            ValueError,
            "steps can be observed in the reference engine only",
        ),
    ],
)
def test_solve_refuses_what_cannot_be_meant(options, kind, message):
    with pytest.raises(kind, match=message):
        solve(noisy(), Perceptron(), **options)


def test_solve_needs_two_classes():
    with pytest.raises(ValueError, match="examples of two classes are needed; found 3"):
        solve(Problem(np.eye(3), [0, 1, 2]), Perceptron())
