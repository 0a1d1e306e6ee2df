"""The optimum of every loss, intercept and weighting, against solvers of others that are run to their end."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

INTERCEPTS = {
    "none": {"fit_intercept": False},
    "penalised": {"fit_intercept": True, "intercept_scaling": 2.0},
    "free": {"fit_intercept": True},
}
TOL = 1e-10
SEEDS = range(12)  # times losses, intercepts and weights: 216 problems


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 80)), int(rng.integers(1, 30))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-0.5, 0.5, d)
    X *= rng.random((n, d)) < rng.choice([0.3, 1.0])
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return X, signs, float(rng.choice([0.01, 1.0, 30.0])), rng.uniform(0.2, 3.0, n)


def objective(loss, X, signs, costs, w, b, constant):
    m = signs * (X @ w + b)
    slack = np.maximum(0.0, 1.0 - m)
    each = {"hinge": slack, "squared_hinge": slack**2, "log": np.logaddexp(0.0, -m)}[loss]
    return 0.5 * w @ w + (0.5 * (b / constant) ** 2 if constant else 0.0) + costs @ each


def theirs(loss, intercept, X, signs, C, weights):
    """Weights and bias of another solver, run as far as it goes."""
    costs = C * weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if loss == "log" and intercept != "penalised":
            model = LogisticRegression(
                C=C, tol=1e-14, solver="newton-cholesky", fit_intercept=intercept == "free", max_iter=1000
            ).fit(X, signs, sample_weight=weights)
            return model.coef_[0], float(np.ravel(model.intercept_)[0]) if intercept == "free" else 0.0
        if loss == "hinge" and intercept == "free":
            model = SVC(C=C, kernel="linear", tol=1e-12).fit(X, signs, sample_weight=weights)
            return model.coef_[0], float(model.intercept_[0])
        if loss == "hinge" or (loss == "squared_hinge" and intercept != "free"):
            model = LinearSVC(
                C=C, loss=loss, dual=loss == "hinge", tol=1e-13, max_iter=200_000, random_state=0,
                fit_intercept=intercept == "penalised", intercept_scaling=2.0,
            ).fit(X, signs, sample_weight=weights)  # fmt: skip
            return model.coef_[0], float(np.ravel(model.intercept_)[0]) if intercept == "penalised" else 0.0

    def value(v):
        m = signs * (X @ v[:-1] + v[-1])
        pull = expit(-m) if loss == "log" else 2.0 * np.maximum(0.0, 1.0 - m)
        lean = 0.25 if intercept == "penalised" else 0.0
        slope = np.append(v[:-1] - X.T @ (costs * signs * pull), lean * v[-1] - costs @ (signs * pull))
        return objective(loss, X, signs, costs, v[:-1], v[-1], 2.0 if lean else 0.0), slope

    best = np.zeros(X.shape[1] + 1)
    for _ in range(3):
        best = minimize(value, best, jac=True, method="L-BFGS-B", options={"ftol": 0, "gtol": 1e-12, "maxiter": 5000}).x
    return best[:-1], best[-1]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "log"])
def test_the_optimum_is_that_of_others_or_better(loss, intercept, weighted):
    for seed in SEEDS:
        X, signs, C, weights = random_problem(100 * seed + 7)
        weights = weights if weighted else np.ones(len(signs))
        kind = {"tol": TOL, "C": C, **INTERCEPTS[intercept]}
        model = sx.LogisticRegression(**kind) if loss == "log" else sx.LinearSVM(loss=loss, random_state=0, **kind)
        model.fit(X, signs, sample_weight=weights)
        constant = 2.0 if intercept == "penalised" else 0.0
        mine = objective(loss, X, signs, C * weights, model.coef_[0], float(model.intercept_[0]), constant)
        other = objective(loss, X, signs, C * weights, *theirs(loss, intercept, X, signs, C, weights), constant)
        assert model.objective_ == pytest.approx(mine, rel=1e-12)
        assert mine <= other * (1 + 1e-8)
        assert model.objective_ - model.duality_gap_ <= other * (1 + 1e-12)  # a lower bound on all there is
        assert model.duality_gap_ <= 1e-8 * mine
        if loss != "hinge":  # the others' solvers of the hinge end farther off
            assert mine >= other * (1 - 1e-8)
