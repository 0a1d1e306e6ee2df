"""Advice that is true: wrong gradients, steps that go back and forth, data that no linear model fits."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx


def square(x):
    return float(np.dot(x, x)) if np.ndim(x) else x * x


@pytest.mark.parametrize(("start", "slopes"), [(3.0, "-6 .* slope 6"), ([1.0, 2.0], r"\(-2, -4\) .* slope \(2, 4\)")])
def test_a_gradient_of_the_wrong_sign_is_named(start, slopes):
    run = sx.descend(square, lambda x: -2 * x, start, 0.1)
    assert run.outcome == "diverging"
    assert "too large" not in str(run.status)
    with pytest.raises(AssertionError, match=f"the gradient has the wrong sign: it is {slopes}$"):
        raise AssertionError(str(run.status))


def test_a_gradient_that_climbs_to_a_maximum_is_named():
    run = sx.descend(np.sin, lambda x: -np.cos(x), 1.0, 0.1)
    assert "the gradient has the wrong sign: it is -0.5403 at the start" in str(run.status)


def test_a_gradient_of_another_function_is_named():
    run = sx.descend(square, lambda x: 3 * x + 1, 3.0, 1.1)
    assert str(run.status).endswith("the gradient is wrong: it is 10 at the start, where f has the slope 6")


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e12])
@pytest.mark.parametrize("offset", [0.0, 1e3])
def test_a_right_gradient_is_never_blamed(scale, offset):
    for step in (1.1, 1.0, 1e-7):
        run = sx.descend(
            lambda x: scale * x * x + offset, lambda x: 2 * scale * x, 3.0, step / scale, max_steps=60, tol=0
        )
        assert "gradient is wrong" not in str(run.status)
        assert "wrong sign" not in str(run.status)


def test_a_kink_is_no_wrong_gradient():
    run = sx.descend(abs, lambda x: 1.0 if x >= 0 else -1.0, 0.0, 0.7, max_steps=20)
    assert "wrong" not in str(run.status)


def test_a_step_that_goes_back_and_forth_is_said_to():
    run = sx.descend(square, lambda x: 2 * x, 3.0, 1.0)
    assert run.outcome == "too many steps"
    assert str(run.status) == (
        "stopped after 1000 steps: the gradient norm is still 6, and the steps go back and forth between -3 and 3; the "
        "step 1 is too large, try 0.5"
    )
    plane = sx.descend(square, lambda x: 2 * x, [1.0, 2.0], 1.0)
    assert "go back and forth between two points; the step 1 is too large, try 0.5" in str(plane.status)


def test_a_slow_run_is_only_slow():
    run = sx.descend(square, lambda x: 2 * x, 3.0, 1e-5)
    assert str(run.status).startswith("stopped after 1000 steps: the gradient norm is still 5.88")
    assert "too large" not in str(run.status)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"loss": "squared"}, "zero weights are a stationary point, because the classes have the same mean"),
        ({"loss": "log"}, "no linear model has a lower loss, because the classes have the same mean"),
        ({"loss": "log", "batch_size": "all"}, "no linear model has a lower loss"),
    ],
)
def test_a_neuron_on_xor_is_not_told_to_scale_the_features(options, told):
    X, y = sx.datasets.load("xor")
    with pytest.warns(ConvergenceWarning, match=told) as caught:
        model = sx.Neuron(random_state=0, **options).fit(X, y)
    assert told in str(model.status_)
    assert not any("cale the features" in str(each.message) for each in caught)


def test_an_online_svm_on_xor_is_told_that_no_linear_model_is_better():
    X, y = sx.datasets.load("xor")
    assert "no linear model has a lower loss" in str(sx.OnlineSVM(random_state=0).fit(X, y).status_)


def test_features_that_are_too_small_are_still_told_to_be_scaled():
    y = np.arange(40) % 2
    with pytest.warns(ConvergenceWarning, match="scale the features, or try another eta0"):
        sx.Neuron(batch_size="all").fit(1e-9 * (2.0 * y[:, None] - 1), y)


def test_equal_means_of_one_large_feature_are_not_those_of_all():
    X = [[1e12, 1.0], [-1e12, 1.0], [1e12, -1.0], [-1e12, -1.0]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.Neuron(loss="log", eta0=1e-30, max_iter=50).fit(X, [1, 1, 0, 0])
    assert "same mean" not in str(model.status_)
