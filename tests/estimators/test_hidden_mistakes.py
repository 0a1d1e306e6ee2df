"""A run that ends with "no mistakes" is right on every row: as predicted, and as decided without rounding."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx

START = (np.array([[0.1, 0.2, -0.3]]), np.array([0.1]))
SETTINGS = [
    {"boundary": "positive"},
    {"boundary": "negative"},
    {"boundary": "positive", "readout": "pocket"},
    {"boundary": "positive", "batch_size": 4},
    {"boundary": "positive", "shuffle": "random", "random_state": 0},
    {"boundary": "positive", "init": START},
    {"init": START},
    {"init": (np.array([[0.1, 0.7, -0.3]]), np.array([0.6]))},
    {"margin": 0.3},
]


def problem(seed):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, 3)).astype(float)
    y = (X @ rng.integers(-3, 4, 3) > 0).astype(int)
    y[:2] = 0, 1
    return X, y


def wrong_in_fractions(model, X, y):
    """Return how many rows are on the wrong side of the plane of these very floats."""
    weights, bias = [Fraction(w) for w in model.coef_[0].tolist()], Fraction(float(model.intercept_[0]))
    count = 0
    for x, label in zip(X.tolist(), y.tolist(), strict=True):
        activation = sum(w * Fraction(v) for w, v in zip(weights, x, strict=True)) + bias
        tie = model.boundary == ("positive" if label else "negative")
        margin = activation if label else -activation
        count += margin < 0 or (margin == 0 and not tie)
    return count


@pytest.mark.parametrize("options", SETTINGS, ids=str)
def test_a_run_that_ends_without_mistakes_makes_none(options):
    converged = 0
    for seed in range(20):
        X, y = problem(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = sx.Perceptron(**({"shuffle": False, "eta0": 0.1, "max_iter": 200} | options)).fit(X, y)
        if not model.status_.converged:
            continue
        converged += 1
        assert model.predict(X).tolist() == y.tolist(), seed
        assert wrong_in_fractions(model, X, y) == 0, seed
        assert str(model.status_).startswith("converged: no mistakes"), seed
        assert "wrong" not in str(model.status_), seed
    assert converged > 5


def test_ties_that_the_learning_rate_breaks_are_learned_from():
    """In units of the rate some row lies on the plane, which is right for it; its product with the floats does not."""
    found = 0
    for seed in range(30):
        X, y = problem(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            whole, tenth = (
                sx.Perceptron(boundary="positive", shuffle=False, eta0=eta, max_iter=200).fit(X, y)
                for eta in (1.0, 0.1)
            )
        found += tenth.n_updates_ > whole.n_updates_
        assert tenth.n_updates_ >= whole.n_updates_
    assert found > 0


def test_several_classes_and_sparse_rows_are_right_too():
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, (30, 4)).astype(float)
    y = np.digitize(X[:, 0] + X[:, 1], [-2, 2])
    models = [
        sx.Perceptron(boundary="positive", eta0=0.1, max_iter=30, stop="no-mistakes", random_state=0).fit(data, y)
        for data in (X, sparse.csr_array(X))
    ]
    assert models[0].coef_.tolist() == models[1].coef_.tolist()
    assert [epoch.mistakes for epoch in models[0].history_] == [epoch.mistakes for epoch in models[1].history_]


def test_rows_without_weight_are_no_hidden_mistakes():
    X, y = problem(3)
    weights = np.ones(len(y))
    weights[4] = 0.0
    y[4] = 1 - y[4]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.Perceptron(boundary="positive", shuffle=False, eta0=0.1).fit(X, y, sample_weight=weights)
    assert model.status_.converged == ((model.predict(X) == y)[weights > 0].all())
