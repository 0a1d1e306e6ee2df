"""Logistic regression without a penalty: the maximum of the likelihood, or the proof that there is none."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize
from scipy.special import expit
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def free_model(**options):
    return sx.LogisticRegression(C=math.inf, **options)


def separation_by_linear_programming(X, y, *, biased):
    """Whether the classes are separated strictly, weakly or not at all: Konis 2007, as detectseparation has it."""
    Z = np.hstack([X, np.ones((len(X), 1))]) if biased else np.asarray(X)
    signed = np.where(y == 1, 1.0, -1.0)[:, None] * Z
    box = [(-1.0, 1.0)] * Z.shape[1]
    weak = linprog(-signed.sum(axis=0), A_ub=-signed, b_ub=np.zeros(len(Z)), bounds=box)
    slack = np.append(np.zeros(Z.shape[1]), -1.0)
    strict = linprog(
        slack, A_ub=np.hstack([-signed, np.ones((len(Z), 1))]), b_ub=np.zeros(len(Z)), bounds=[*box, (0, 1)]
    )
    return "strict" if strict.fun < -1e-7 else "weak" if weak.fun < -1e-7 else "none"


@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_whether_a_maximum_exists_is_what_linear_programming_says(biased):
    seen = set()
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n, d = int(rng.integers(5, 16)), int(rng.integers(1, 4))
        X = rng.integers(-3, 4, (n, d)).astype(float)
        y = rng.integers(0, 2, n) if seed % 2 else (X[:, 0] + rng.integers(-1, 2, n) > 0).astype(int)
        if len(set(y)) < 2 or not X.any():
            continue
        model = free_model(fit_intercept=biased).fit(X, y)
        truth = separation_by_linear_programming(X, y, biased=biased)
        seen.add(truth)
        if truth == "none":
            assert model.status_.converged
            assert "a maximum likelihood estimate exists" in str(model.status_)
            assert model.separation_ is None or model.separation_.separable == "none"
        else:
            assert not model.status_.converged
            assert "no maximum likelihood estimate exists" in str(model.status_)
            assert model.separation_.separable == truth
            assert model.separation_.verify(X, y)
            assert model.duality_gap_ >= model.objective_  # nothing but that no loss is below 0
    assert seen == {"strict", "weak", "none"}


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("biased", [True, False], ids=["bias", "no bias"])
def test_the_maximum_is_that_of_another_solver_and_the_gap_covers_the_distance(biased, layout):
    for seed in range(6):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((90, 4)) * 10.0 ** rng.uniform(-2, 2, 4)
        X[rng.random(X.shape) < 0.3] = 0.0
        signs = np.where(X @ (1.0 / X.std(axis=0)) + 2.0 * rng.standard_normal(90) > 0, 1.0, -1.0)
        weights = rng.uniform(0.0, 3.0, 90) * (rng.random(90) < 0.9)
        size = X.std(axis=0)

        def value(v, X=X / size, signs=signs, weights=weights):
            m = signs * (X @ v[:-1] + biased * v[-1])
            pull = weights * signs * expit(-m)
            return weights @ np.logaddexp(0.0, -m), -np.append(X.T @ pull, biased * pull.sum())

        best = minimize(value, np.zeros(5), jac=True, method="BFGS", options={"gtol": 1e-9})
        for tol in (1e-1, 1e-4, 1e-10):
            model = free_model(tol=tol, fit_intercept=biased).fit(layout(X), signs, sample_weight=weights)
            mine = value(np.append(model.coef_[0] * size, model.intercept_[0]))[0]
            assert model.status_.converged
            assert model.objective_ == pytest.approx(mine, rel=1e-12)
            assert -1e-11 * mine <= mine - best.fun <= model.duality_gap_ + 1e-11 * mine
            assert model.duality_gap_ <= 1.01 * tol * mine
        np.testing.assert_allclose(model.coef_[0] * size, best.x[:-1], atol=1e-4)


def test_data_far_from_the_origin_have_the_same_maximum():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] + rng.standard_normal(200) > 0
    near, far = (free_model(tol=1e-9).fit(X + shift, y) for shift in (0.0, 1e6))
    assert far.status_.converged
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-5)


def test_one_column_that_separates_is_complete_separation_and_a_tie_makes_it_quasi_complete():
    X = np.array([[1.0], [2.0], [3.0], [4.0]])
    with pytest.warns(ConvergenceWarning, match="A finite C has an optimum"):
        model = free_model().fit(X, [0, 0, 1, 1])
    assert str(model.status_).endswith(
        "no maximum likelihood estimate exists, because a plane separates the classes (complete separation, proved by "
        "separation_): the likelihood rises as long as the weights grow along it"
    )
    assert model.predict(X).tolist() == [0, 0, 1, 1]
    touching = free_model().fit(np.vstack([X, [[2.5], [2.5]]]), [0, 0, 1, 1, 0, 1])
    assert "(quasi-complete separation, proved by separation_)" in str(touching.status_)
    assert not touching.separation_.verify(np.vstack([X, [[2.5], [2.5]]]), [0, 0, 1, 1, 1, 1])


def test_columns_that_others_make_up_keep_the_weight_0():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 2))
    y = X[:, 0] + rng.standard_normal(80) > 0
    whole = free_model(tol=1e-9).fit(np.column_stack([X, X[:, 0] + X[:, 1], np.full(80, 7.0)]), y)
    plain = free_model(tol=1e-9).fit(X, y)
    assert whole.coef_[0, 2:].tolist() == [0.0, 0.0]
    assert "; 2 columns are linear combinations of others" in str(whole.status_)
    np.testing.assert_allclose(whole.coef_[0, :2], plain.coef_[0], rtol=1e-6)
    assert whole.objective_ == pytest.approx(plain.objective_, rel=1e-12)


def test_columns_without_effect_leave_the_share_of_the_classes():
    model = free_model(tol=1e-9).fit(np.full((40, 2), 3.0), np.arange(40) % 4 == 0)
    assert model.status_.converged
    assert model.intercept_[0] == pytest.approx(-math.log(3.0), abs=1e-4)
    assert free_model(fit_intercept=False).fit(np.zeros((4, 1)), [0, 1, 0, 1]).objective_ == pytest.approx(
        4 * math.log(2)
    )


def test_columns_of_very_different_size_have_the_same_maximum():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((500, 20))
    y = X[:, 0] + rng.standard_normal(500) > 0
    size = 10.0 ** rng.uniform(-8, 8, 20)
    plain, scaled = free_model(tol=1e-9).fit(X, y), free_model(tol=1e-9).fit(X * size, y)
    assert scaled.status_.converged
    np.testing.assert_allclose(scaled.coef_ * size, plain.coef_, rtol=1e-5)


def test_several_classes_are_learned_one_vs_rest_each_with_its_verdict():
    X, y = load_iris(return_X_y=True)
    model = free_model().fit(X, y)
    assert [None if each is None else each.separable for each in model.separation_] == ["strict", None, None]
    assert "class 0: stopped after 1 iteration: no maximum likelihood estimate exists" in str(model.status_)
    with pytest.raises(ValueError, match="multi_class='multinomial' needs an L2 penalty; found C=inf: use multi_class"):
        free_model(multi_class="multinomial").fit(X, y)


def test_more_features_than_a_hessian_may_have_are_decided_only_where_the_classes_are_separable():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((12, 2100))
    y = np.arange(12) % 2
    model = free_model().fit(X, y)
    assert model.separation_.verify(X, y)
    assert model.score(X, y) == 1.0
    with pytest.raises(ValueError, match=r"at most 2,000 features, unless a plane separates the classes; found 2,100"):
        free_model().fit(np.vstack([X, X[:1]]), np.append(y, 1 - y[0]))


def test_a_huge_c_on_separable_classes_says_what_no_penalty_would_do():
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    said = "; the classes are separable: without a penalty the weights would grow without bound"
    assert str(sx.LogisticRegression(C=1e8).fit(X, y).status_).endswith(said)
    assert said not in str(sx.LogisticRegression(C=1e8).fit([*X, [2.0]], [*y, 0]).status_)
    assert said not in str(sx.LogisticRegression(C=1e3).fit(X, y).status_)


def test_a_warm_start_and_a_limit_leave_a_model():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((100, 3))
    y = X[:, 0] + rng.standard_normal(100) > 0
    short = free_model(max_iter=1, warm_start=True, tol=1e-10).fit(X, y)
    assert str(short.status_) == "stopped after 1 iteration: a maximum likelihood estimate exists"
    assert short.separation_.separable == "none"
    done = short.set_params(max_iter=100).fit(X, y)
    assert done.status_.converged
    assert done.n_iter_ < free_model(tol=1e-10).fit(X, y).n_iter_ + 1


def test_a_model_file_keeps_the_weights_but_not_the_certificate(tmp_path):
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    model = free_model().fit(X, y)
    sx.save(model, tmp_path / "model.sx")
    loaded = sx.load(tmp_path / "model.sx")
    assert loaded.predict(X).tolist() == y
    assert not hasattr(loaded, "separation_")
