"""The smallest enclosing ball: known balls, brackets that hold, and the radius as a bias constant."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize

import separatrix as sx
from separatrix.ball import smallest_ball
from separatrix.rows import Rows


@pytest.mark.parametrize(
    ("points", "radius"),
    [
        ([[3.0, 4.0]], 0.0),
        ([[0.0, 0.0], [2.0, 0.0]], 1.0),
        ([[0.0, 0.0], [2.0, 0.0], [1.0, np.sqrt(3)]], 2 / np.sqrt(3)),
        ([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [0.0, 0.0]], np.sqrt(2)),
    ],
)
def test_known_balls(points, radius):
    ball = smallest_ball(Rows(points))
    assert ball.lower <= radius + 1e-12
    assert radius <= ball.upper + 1e-12
    assert ball.upper <= radius * 1.001 + 1e-6


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 10**6))
def test_the_ball_holds_every_point_and_the_bracket_is_tight(n, d, seed):
    X = np.random.default_rng(seed).standard_normal((n, d)) * 5 + 3
    for data in (X, sparse.csr_array(X)):
        ball = smallest_ball(Rows(data))
        assert np.linalg.norm(X - ball.center, axis=1).max() <= ball.upper * (1 + 1e-9) + 1e-6
        assert ball.lower <= ball.upper <= ball.lower * 1.0011 + 1e-5


def test_an_independent_optimiser_finds_no_smaller_ball():
    X = np.random.default_rng(5).standard_normal((30, 3))
    ball = smallest_ball(Rows(X))
    found = minimize(lambda c: ((X - c) ** 2).sum(axis=1).max(), X.mean(axis=0), method="Nelder-Mead")
    assert ball.lower <= np.sqrt(found.fun) * (1 + 1e-6)


def test_the_estimator_uses_the_radius_as_its_bias_constant():
    X, y = sx.datasets.load("lecture-000")
    K = smallest_ball(Rows(X)).upper
    model = sx.Perceptron(intercept_scaling="ball", shuffle=False, max_iter=1, stop=sx.stops.MaxEpochs(1)).fit(X, y)
    steps = model.intercept_[0] / K**2
    assert steps == pytest.approx(round(steps), abs=1e-9)
    assert np.array_equal(
        model.coef_, sx.Perceptron(intercept_scaling=K, shuffle=False, stop=sx.stops.MaxEpochs(1)).fit(X, y).coef_
    )
