"""Plain gradient descent: where it ends, and what it says when it does not."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

import separatrix as sx
from separatrix.rules.losses import Squared


def square(x):
    return x * x


def slope(x):
    return 2 * x


@given(start=st.floats(-100, 100), step=st.floats(0.05, 0.9))
def test_on_a_parabola_every_step_is_a_known_factor(start, step):
    run = sx.descend(square, slope, start, step)
    assert run.outcome == "converged"
    expected = start * (1 - 2 * step) ** np.arange(run.n_steps + 1)
    np.testing.assert_allclose(run.path, expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(run.values, run.path**2)
    np.testing.assert_allclose(run.slopes, np.abs(2 * run.path))
    assert abs(run.x) <= 1e-6
    assert run.value == run.values[-1]


@pytest.mark.parametrize("step", [1.001, 1.1, 3.0, 1e300])
def test_steps_beyond_the_limit_diverge_and_a_smaller_one_is_named(step):
    run = sx.descend(square, slope, 2.0, step, max_steps=100_000)
    assert run.outcome == "diverging"
    assert not run.status.converged
    better = float(str(run.status).rsplit(" ", 1)[1])
    assert sx.descend(square, slope, 2.0, better).outcome == "converged"


def test_small_steps_run_out():
    run = sx.descend(square, slope, 2.0, 1e-4, max_steps=50)
    assert run.outcome == "too many steps"
    assert str(run.status).startswith("stopped after 50 steps: the gradient norm is still 3.96")
    assert run.n_steps == 50


def test_many_variables():
    A = np.diag([1.0, 4.0, 9.0])
    run = sx.descend(lambda x: 0.5 * x @ A @ x, lambda x: A @ x, [1.0, 2.0, 3.0], 0.2)
    assert run.path.shape == (run.n_steps + 1, 3)
    np.testing.assert_allclose(run.x, 0, atol=1e-6)
    assert sx.descend(lambda x: 0.5 * x @ A @ x, lambda x: A @ x, [1.0, 2.0, 3.0], 0.23).outcome == "diverging"


def test_a_function_without_a_bottom_diverges():
    assert sx.descend(lambda x: -x * x, lambda x: -2 * x, 1.0, 0.1, max_steps=10_000).outcome == "diverging"
    assert sx.descend(lambda x: -x, lambda x: -1.0, 0.0, 1.0, max_steps=100).outcome == "too many steps"


def test_a_start_at_the_bottom_takes_no_step():
    run = sx.descend(square, slope, 0.0, 0.1)
    assert (run.outcome, run.n_steps) == ("converged", 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((square, slope, np.nan, 0.1), "start must be a finite number"),
        ((square, slope, [], 0.1), "start must be a finite number"),
        ((square, slope, 1.0, 0), "step must be a positive finite number; found 0"),
        ((square, slope, 1.0, "big"), "step must be a positive finite number; found 'big'"),
        ((lambda x: [x, x], slope, 1.0, 0.1), "f must return one number; found an array of shape"),
        ((square, lambda x: [x, x], 1.0, 0.1), r"gradient must return the shape of the start, \(\); found \(2,\)"),
    ],
)
def test_bad_arguments_get_one_clear_sentence(arguments, message):
    with pytest.raises(ValueError, match=message):
        sx.descend(*arguments)
    with pytest.raises(ValueError, match="max_steps must be a whole number, at least 1; found 0"):
        sx.descend(square, slope, 1.0, 0.1, max_steps=0)


def test_batch_descent_is_stuck_where_stochastic_descent_is_not():
    wine = load_wine()
    first_four = np.concatenate([np.flatnonzero(wine.target == grower)[:4] for grower in range(3)])
    x = scale(wine.data[first_four, 0])
    y = np.where(wine.target[first_four] == 0, 1, -1)

    def loss(p):
        return Squared.value(y * (p[0] * x + p[1])).mean()

    def gradient(p):
        each = Squared.slope(y * (p[0] * x + p[1])) * y
        return np.array([(each * x).mean(), each.mean()])

    batch = sx.descend(loss, gradient, (0.0, 0.0), 4.0)
    assert batch.outcome == "converged"
    h = 1e-4
    hessian = np.array([(gradient(batch.x + e) - gradient(batch.x - e)) / (2 * h) for e in np.eye(2) * h])
    assert np.linalg.eigvalsh((hessian + hessian.T) / 2).min() > 1e-3  # a minimum, not a saddle or a plateau
    ring = [batch.x + 0.3 * np.array([np.cos(angle), np.sin(angle)]) for angle in np.linspace(0, 7, 100)]
    assert min(loss(p) for p in ring) > batch.value
    neuron = sx.Neuron(batch_size="all", eta0=4.0, stop=sx.stops.NoProgress(1e-10), max_iter=5000).fit(x[:, None], y)
    np.testing.assert_allclose([neuron.coef_[0, 0], neuron.intercept_[0]], batch.x, atol=1e-3)
    for seed in range(10):
        free = sx.Neuron(eta0=4.0, stop=sx.stops.MaxEpochs(100), random_state=seed).fit(x[:, None], y)
        assert loss((free.coef_[0, 0], free.intercept_[0])) < 0.75 * batch.value
