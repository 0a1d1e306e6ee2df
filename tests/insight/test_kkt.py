"""The dual solution of a support vector machine: bias of free support vectors, objective, one-vs-rest tasks."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_blobs

import separatrix as sx


@pytest.fixture(scope="module")
def blobs():
    return make_blobs(60, centers=2, random_state=3, cluster_std=3.0)


@pytest.mark.parametrize(
    "model",
    [
        sx.LinearSVM(C=0.5, tol=1e-9),
        sx.LinearSVM(C=0.5, tol=1e-9, loss="squared_hinge"),
        sx.LinearSVM(C=0.5, tol=1e-9, intercept_scaling=2.0),
        sx.LinearSVM(C=0.5, tol=1e-9, fit_intercept=False),
        sx.LinearSVM(C=0.5, tol=1e-9, class_weight={0: 3, 1: 1}),
        sx.KernelSVM(C=0.5, tol=1e-9),
        sx.KernelSVM(C=0.5, tol=1e-9, kernel="linear"),
    ],
    ids=lambda model: f"{type(model).__name__}-{getattr(model, 'loss', model.get_params().get('kernel'))}",
)
def test_the_objective_is_the_models_and_the_gap_closes(model, blobs):
    X, y = blobs
    found = sx.kkt(model.fit(X, y), X, y)
    value = found.objective
    assert value.primal == pytest.approx(model.objective_, rel=1e-9)
    assert value.primal == value.regulariser + value.penalty
    assert abs(value.gap) < 1e-6 * value.primal
    weights = 1.0 if model.class_weight is None else np.where(y == 0, 3, 1)
    assert value.mean_loss == pytest.approx(value.primal / np.sum(0.5 * weights * np.ones(len(y))))
    known = found.free_bias[~np.isnan(found.free_bias)]
    if getattr(model, "fit_intercept", True):
        assert len(known) == found.free.sum() > 0
        np.testing.assert_allclose(known, found.bias, atol=1e-5)
    else:
        assert len(known) == 0


def test_the_numbers_of_lecture_000_by_hand():
    # C = 1: w = (3/2, -1/2), b = 0; alpha = 3/4 on (1, 1) and (-1, -1), 1 on (0, -1) and (0, 1) with slack 1/2.
    X, y = sx.datasets.load("lecture-000")
    found = sx.kkt(sx.LinearSVM(C=1.0, tol=1e-12).fit(X, y), X, y)
    np.testing.assert_allclose(found.alpha, [0.75, 0, 1, 0.75, 0, 1], atol=1e-9)
    np.testing.assert_allclose(found.slack, [0, 0, 0.5, 0, 0, 0.5], atol=1e-9)
    value = found.objective
    assert (value.regulariser, value.penalty) == pytest.approx((1.25, 1.0))
    assert (value.mean_loss, value.dual) == pytest.approx((2.25 / 6, 3.5 - 1.25))
    np.testing.assert_allclose(found.free_bias[[0, 3]], 0.0, atol=1e-9)
    assert np.isnan(found.free_bias[[1, 2, 4, 5]]).all()


def test_the_hard_margin_has_no_slack_to_pay():
    X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [3.0, 1.0]], [0, 0, 1, 1]
    value = sx.kkt(sx.LinearSVM(C=float("inf")).fit(X, y), X, y).objective
    assert value.penalty == 0.0
    assert value.mean_loss is None
    assert value.primal == pytest.approx(value.dual) == pytest.approx(0.5)


def test_each_class_of_several_has_its_own_conditions():
    X, y = load_iris(return_X_y=True)
    model = sx.LinearSVM(tol=1e-6).fit(X, y)
    found = sx.kkt(model, X, y)
    assert found.classes == (0, 1, 2)
    for k in range(3):
        alone = sx.LinearSVM(tol=1e-6).fit(X, y == k)
        own = found.of_class(k)
        assert own.objective.primal == pytest.approx(alone.objective_, rel=1e-5)
        assert own.bias == pytest.approx(model.intercept_[k])
        assert own.alpha.ndim == 1
    assert found.stationarity == pytest.approx(np.linalg.norm(found.stationarities))
    with pytest.raises(ValueError, match="of_class"):
        _ = found.objective
    with pytest.raises(ValueError, match="no task for the class 7"):
        found.of_class(7)


def test_other_models_with_dual_weights_are_refused():
    X, y = sx.datasets.load("and")
    with pytest.raises(ValueError, match="KernelPerceptron has no dual weights"):
        sx.kkt(sx.KernelPerceptron().fit(X, y), X, y)


def test_an_alpha_of_rounding_errors_is_not_a_support_vector():
    X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    model = sx.LinearSVM().fit(X, y)
    model.support_ = np.array([1, 2, 3], dtype=np.int32)
    model.dual_coef_ = np.array([[-0.5, 0.5, 2e-17]])
    conditions = sx.kkt(model, X, y)
    assert conditions.worst < 1e-9
    assert conditions.free.tolist() == [False, True, True, False]
