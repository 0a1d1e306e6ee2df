"""The lectures' own numbers, exactly."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import separatrix as sx
from separatrix import datasets
from separatrix.loop.solve import solve
from separatrix.observers import StepRecorder
from separatrix.rules import Perceptron
from separatrix.stops import MaxEpochs

LECTURE_000 = """\
(1, 1, 1)   | (1, 0, 0)  | 1  | No  | (1, 0, 0)
(1, 1, -1)  | (1, 0, 0)  | 1  | No  | (1, 0, 0)
(1, 0, -1)  | (1, 0, 0)  | 1  | No  | (1, 0, 0)
(-1, 1, 1)  | (1, 0, 0)  | -1 | Yes | (0, 1, 1)
(-1, 1, -1) | (0, 1, 1)  | 0  | Yes | (-1, 2, 0)
(-1, 0, -1) | (-1, 2, 0) | 1  | No  | (-1, 2, 0)
(1, 1, 1)   | (-1, 2, 0) | 1  | No  | (-1, 2, 0)
(1, 1, -1)  | (-1, 2, 0) | 1  | No  | (-1, 2, 0)
(1, 0, -1)  | (-1, 2, 0) | -1 | Yes | (0, 2, -1)
(-1, 1, 1)  | (0, 2, -1) | 1  | No  | (0, 2, -1)
(-1, 1, -1) | (0, 2, -1) | 3  | No  | (0, 2, -1)
(-1, 0, -1) | (0, 2, -1) | 1  | No  | (0, 2, -1)"""


def example_trace(name, **changes):
    example = datasets.example(name)
    return sx.trace(example.X, example.y, **{**example.options, **example.view, **changes})


def test_lecture_000_prints_the_two_epochs_of_the_worked_table():
    rows = [[cell.strip() for cell in line.split("|")] for line in LECTURE_000.splitlines()]
    run = example_trace("lecture-000")
    assert [row[2:] for row in run.rows()[:12]] == rows


def test_lecture_000_updates_at_4_and_5_then_3_then_never_and_ends_at_0_2_minus1():
    run = example_trace("lecture-000")
    updated = [(step.epoch, step.index + 1) for step in run if step.mistake]
    assert updated == [(1, 4), (1, 5), (2, 3)]
    assert (run.bias, *run.weights) == (0, 2, -1)
    assert (run.n_updates, run.n_epochs, str(run.status)) == (3, 3, "converged: no mistakes (epoch 3)")


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_lecture_000_through_solve(engine):
    X, y = datasets.load("lecture-000")
    solution = solve(sx.Problem(X, y), Perceptron(), engine=engine, start=([0, 0], 1))
    assert (solution.bias, *solution.weights) == (0, 2, -1)


def test_lecture_000_through_the_estimator():
    X, y = datasets.load("lecture-000")
    model = sx.Perceptron(shuffle=False, init=([[0, 0]], [1])).fit(X, y)
    assert model.coef_.tolist() == [[2, -1]]
    assert model.intercept_.tolist() == [0]
    assert (model.n_updates_, model.n_iter_) == (3, 3)
    assert model.history_.mistakes == [2, 1, 0]


def test_lecture_001_makes_one_update_at_the_second_point():
    run = example_trace("lecture-001")
    first = run[:4]
    assert [step.activation for step in first] == [1, Fraction(1, 2), Fraction(-5, 2), Fraction(-1, 2)]
    assert [step.mistake for step in first] == [False, True, False, False]
    assert first[3].weights == (Fraction(1, 2), 1)
    assert first[3].bias == -1


def test_lecture_001_activation_grows_by_the_squared_length_and_one():
    step = example_trace("lecture-001")[1]
    before = step.margin
    after = step.y * (sum(w * x for w, x in zip(step.weights, step.x, strict=True)) + step.bias)
    assert after == before + sum(x * x for x in step.x) + 1


def fires(weights, theta, x):
    """Return the sum h and the output of the threshold neuron, from a model that holds these weights."""
    X = np.array([x, [9, 9, 9]], dtype=float)
    model = sx.Perceptron(boundary="negative", stop=MaxEpochs(1)).fit(X, [0, 1])
    model.coef_, model.intercept_ = np.array([weights], dtype=float), np.array([-float(theta)])
    return model.decision_function(X[:1])[0] + theta, int(model.predict(X[:1])[0])


@pytest.mark.parametrize(
    ("weights", "x", "h", "y"),
    [
        ((2.5, -1, 1.5), (1, 3, 2), 2.5, 1),
        ((2.5, -1, 1.5), (1.5, 1, -1), 1.25, 0),
        ((2.5, -3, 1.5), (-1, 2, 4), -2.5, 0),
        ((2.5, -3, 1.5), (2, -1, -2), 5, 1),
    ],
)
def test_lecture_004_neurons_fire_above_the_threshold_2(weights, x, h, y):
    assert fires(weights, 2, x) == (h, y)


def test_lecture_004_a_sum_equal_to_the_threshold_does_not_fire():
    assert fires((1, 0, 0), 2, (2, 5, 5)) == (2, 0)


def test_lecture_004_exercise_2_one_update():
    # The exercise says y = 1 for x = (1, 1, 2), where h = 2.5 - 3 + 3 = 2.5 > 2.
    run = sx.trace(
        [[1, 1, 2], [0, 0, 0]], [0, 1], start=((2.5, -3, 1.5), -2), eta0=0.1, boundary="negative", max_iter=1,
        labels="01", threshold=True, decimals=True,
    )  # fmt: skip
    assert run.rows()[0][2:] == ["(1, 1, 2)", "0", "(2.5, -3, 1.5)", "2", "2.5", "Yes", "(2.4, -3.1, 1.3)", "2.1"]
    assert run[0].weights == (Fraction(24, 10), Fraction(-31, 10), Fraction(13, 10))
    assert run[0].bias == Fraction(-21, 10)


def test_lecture_004_finds_a_line_for_its_five_points():
    run = example_trace("lecture-004")
    assert str(run.status) == "converged: no mistakes (epoch 5)"
    X, t = datasets.load("lecture-004")
    w = np.array([float(v) for v in run.weights])
    assert ((X @ w + float(run.bias) > 0) == (t == 1)).all()


@pytest.mark.parametrize(("name", "separable"), [("and", True), ("or", True), ("xor", False)])
def test_and_and_or_are_separable_and_xor_is_not(name, separable):
    run = example_trace(name)
    assert run.status.converged is separable
    if not separable:
        assert str(run.status).startswith("stopped: epoch limit of 100 reached, ")
        assert "in the last epoch; last weights: 2 of 4 training rows wrong" in str(run.status)


def test_lecture_003_the_bias_moves_by_y_times_k_squared():
    recorder = StepRecorder()
    problem = sx.Problem([[1.0], [-3.0]], [1, -1], bias=5.0)
    solve(problem, Perceptron(), engine="reference", stop=MaxEpochs(1), observers=[recorder])
    assert [(step.weights, step.bias) for step in recorder.steps] == [((1.0,), 25.0), ((4.0,), 0.0)]


def test_perceptron_starting_strict_at_zero_says_why_nothing_can_happen():
    with pytest.raises(ValueError, match="can never make a first update"):
        sx.trace([[1, 1], [-1, -1]], [1, -1], boundary="correct")
    X, y = datasets.load("and")
    with pytest.raises(ValueError, match="boundary='correct' with zero starting weights"):
        sx.Perceptron(boundary="correct").fit(X, y)
    assert sx.Perceptron(boundary="correct", init="uniform", random_state=0).fit(X, y).score(X, y) == 1
