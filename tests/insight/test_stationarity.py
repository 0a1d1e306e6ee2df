"""The conditions of optimality of smooth losses, against slopes by finite differences and hand-made faults."""

from __future__ import annotations

import math

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx
from separatrix.insight.stationarity import Stationarity

MODELS = {
    "log": sx.LogisticRegression(C=0.7, tol=1e-12),
    "log, no bias": sx.LogisticRegression(C=0.7, tol=1e-12, fit_intercept=False, class_weight={0: 2.0, 1: 1.0}),
    "log, penalised bias": sx.LogisticRegression(C=0.7, tol=1e-12, intercept_scaling=2.0),
    "log, no penalty": sx.LogisticRegression(C=math.inf, tol=1e-12),
    "log, L1": sx.LogisticRegression(C=0.1, tol=1e-12, l1_ratio=1.0),
    "log, elastic net": sx.LogisticRegression(C=0.1, tol=1e-12, l1_ratio=0.4, intercept_scaling=2.0),
    "squared hinge, L1": sx.LinearSVM(C=0.03, tol=1e-12, loss="squared_hinge", penalty="l1"),
    "squared hinge, elastic net": sx.LinearSVM(C=0.03, tol=1e-12, loss="squared_hinge", penalty="elasticnet"),
}


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((90, 5))
    return X, (X[:, 0] + rng.standard_normal(90) > 0).astype(int), rng.uniform(0.2, 2.0, 90)


def objective(model, X, y, weights, w, b):
    signs = np.where(y == 1, 1.0, -1.0)
    counted = weights * np.where(y == 0, 2.0, 1.0) if model.class_weight else weights
    m = signs * (X @ w + b)
    losses = np.logaddexp(0.0, -m) if isinstance(model, sx.LogisticRegression) else np.maximum(0.0, 1.0 - m) ** 2
    if math.isinf(model.C):
        return counted @ losses
    ratio = model._ratio
    penalised = w if model.intercept_scaling is None else np.append(w, b / model.intercept_scaling)
    return model.C * counted @ losses + 0.5 * (1 - ratio) * penalised @ penalised + ratio * np.abs(penalised).sum()


@pytest.mark.parametrize("name", MODELS)
def test_no_residual_at_the_optimum_and_that_of_the_slope_elsewhere(name, problem):
    X, y, weights = problem
    model = MODELS[name].fit(X, y, sample_weight=weights)
    found = sx.kkt(model, X, y, sample_weight=weights)
    assert isinstance(found, Stationarity)
    assert found.worst < 1e-5
    assert found.stationarity < 1e-5
    moved = model.coef_[0] + np.array([0.3, 0.0, -0.2, 0.4, 0.1])
    model.coef_, optimum = moved[None, :], model.coef_
    there = sx.kkt(model, X, y, sample_weight=weights)
    bias, h = float(model.intercept_[0]), 1e-6

    def value(w):
        return objective(model, X, y, weights, w, bias)

    for j in range(5):
        step = np.zeros(5)
        step[j] = h
        up, down = (value(moved + step) - value(moved)) / h, (value(moved - step) - value(moved)) / h
        steepest = max(-up, -down, 0.0)  # by how much the value falls in the better direction
        assert there.residual[j] == pytest.approx(steepest, abs=2e-4)
    if model.fit_intercept:
        model.coef_ = optimum
        model.intercept_ = model.intercept_ + 0.5
        slope = (objective(model, X, y, weights, optimum[0], bias + 0.5 + h)
                 - objective(model, X, y, weights, optimum[0], bias + 0.5 - h)) / (2 * h)  # fmt: skip
        scale = model.intercept_scaling or 1.0  # of the weight of the bias's feature
        assert sx.kkt(model, X, y, sample_weight=weights).balance == pytest.approx(abs(slope) * scale, rel=1e-4)


def test_a_row_pulls_with_the_probability_of_the_other_class(problem):
    X, y, _ = problem
    model = sx.LogisticRegression(C=0.7).fit(X, y)
    found = sx.kkt(model, X, y)
    np.testing.assert_allclose(found.alpha, 0.7 * model.predict_proba(X)[np.arange(90), 1 - y], rtol=1e-12)
    assert found.counts["wrong"] == int((model.predict(X) != y).sum())
    assert found.rows_to_markdown(1).splitlines()[2].split()[3] == "wrong"
    assert str(found).startswith("rows: ")


def test_coefficients_of_an_l1_penalty_lie_where_their_slopes_allow(problem):
    X, y, _ = problem
    model = sx.LogisticRegression(C=0.1, l1_ratio=1.0, tol=1e-10).fit(X, y)
    found = sx.kkt(model, X, y)
    assert set(found.coefficient_place) >= {"positive", "zero"}
    assert (np.abs(found.slope[found.coefficient_place == "zero"]) < 1.0).all()
    np.testing.assert_allclose(found.slope[found.coefficient_place == "positive"], 1.0, atol=1e-4)
    assert len(found.to_markdown(3).splitlines()) == 5


def test_each_class_of_one_vs_rest_has_its_own_and_multinomial_models_are_refused():
    X, y = load_iris(return_X_y=True)
    rest = sx.LogisticRegression(multi_class="ovr", tol=1e-9).fit(X, y)
    found = sx.kkt(rest, X, y)
    alone = sx.kkt(sx.LogisticRegression(tol=1e-9).fit(X, y == 1), X, y == 1)
    np.testing.assert_allclose(found.of_class(1).alpha, alone.alpha, atol=1e-4)
    assert found.residual.shape == (4, 3)
    with pytest.raises(ValueError, match="a table shows two classes"):
        found.to_markdown()
    with pytest.raises(ValueError, match="no task for the class 7"):
        found.of_class(7)
    with pytest.raises(ValueError, match="kkt is about a plane for each class: fit with multi_class='ovr'"):
        sx.kkt(sx.LogisticRegression().fit(X, y), X, y)
