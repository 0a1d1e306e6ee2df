"""One step of every rule, mode and layout is the gradient of the objective, by central differences."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import RULES
from separatrix.stops import MaxEpochs

ETA = 1e-3


def objective(name, X, signs, weights, alpha):
    """The loss of Lecture 000 or 002, written out, in extended precision."""
    X, signs, weights = (np.asarray(part, dtype=np.longdouble) for part in (X, signs, weights))

    def value(p):
        z = X @ p[:-1] + p[-1]
        if name == "perceptron":
            each = np.where(signs * z < 0, -signs * z, 0)
        else:
            a = 1 / (1 + np.exp(-z))
            t = (signs + 1) / 2
            each = (a - t) ** 2 / 2 if name == "sigmoid_neuron" else -(t * np.log(a) + (1 - t) * np.log(1 - a))
        return weights @ each / weights.sum() + alpha / 2 * p[:-1] @ p[:-1]

    return value


def central_differences(f, p, h=1e-6):
    p = np.asarray(p, dtype=np.longdouble)
    steps = np.eye(len(p), dtype=np.longdouble) * h
    return np.array([float((f(p + step) - f(p - step)) / (2 * h)) for step in steps])


@pytest.mark.parametrize("engine", ["compiled", "reference"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("mode", ["stochastic", "fold", "batch"])
@pytest.mark.parametrize("rule", ["perceptron", "sigmoid_neuron", "logistic_neuron"])
def test_a_step_is_the_gradient(rule, mode, layout, engine):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        n, d = (1, 9) if mode == "stochastic" else (24, 9)
        X = rng.standard_normal((max(n, 2), d)) * (rng.random((max(n, 2), d)) < 0.7)
        y = np.arange(len(X)) % 2
        weights = rng.uniform(0.5, 1.5, len(X)) if mode == "batch" else np.ones(len(X))
        alpha = 0.0 if rule == "perceptron" or seed % 2 else 0.3
        start = rng.standard_normal(d), float(rng.standard_normal())
        if rule == "perceptron" and mode == "stochastic" and seed % 2 == 0:
            start = (-X[0] * (2 * y[0] - 1), 0.0)  # a mistake, so that there is a step
        options = {} if rule == "perceptron" else {"alpha": alpha}
        problem = Problem(layout(X), y, sample_weight=weights if mode == "batch" else None)
        used = slice(0, n)
        if mode == "stochastic":  # only the first example: the second weighs nothing
            problem = Problem(layout(X), y, sample_weight=[1.0, 0.0])
        before = np.append(start[0], start[1])
        solution = solve(
            problem, RULES[rule](eta=ETA, **options), engine=engine, stop=MaxEpochs(1), start=start,
            batch_size={"stochastic": 1, "fold": 24, "batch": "all"}[mode],
        )  # fmt: skip
        moved = (before - np.append(solution.weights, solution.bias)) / ETA
        f = objective(rule, X[used], 2.0 * y[used] - 1, weights[used], alpha)
        expected = central_differences(f, before)
        scale = np.abs(expected).max()
        np.testing.assert_allclose(moved, expected, rtol=1e-6, atol=1e-6 * scale + 1e-12)


@pytest.mark.parametrize("rule", ["sigmoid_neuron", "logistic_neuron"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_folds_are_steps_one_after_another(rule, layout):
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((13, 4)), np.arange(13) % 2
    p = np.zeros(5)
    for begin in range(0, 13, 5):  # folds of 5, 5 and 3
        part = slice(begin, begin + 5)
        f = objective(rule, X[part], 2.0 * y[part] - 1, np.ones(len(X[part])), 0.1)
        p = p - 0.5 * central_differences(f, p)
    chosen = RULES[rule](eta=0.5, alpha=0.1)
    solution = solve(Problem(layout(X), y), chosen, stop=MaxEpochs(1), batch_size=5)
    np.testing.assert_allclose(np.append(solution.weights, solution.bias), p, rtol=1e-6, atol=1e-8)
