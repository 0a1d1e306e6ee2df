"""The machine with a kernel: its objective is SVC's, its gap is true, its weights keep to their bounds."""

from __future__ import annotations

import signal
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import separatrix as sx
from ctrl_c import press_ctrl_c
from separatrix import _core
from separatrix.geometry.kernels import check_kernel
from separatrix.geometry.rows import Rows
from separatrix.svm.blocks import KernelRun, best_bias, bracket


def noisy(n=80, d=3, noise=0.5, share=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    activation = X[:, 0] + X[:, 1] * X[:, -1] + noise * rng.standard_normal(n)
    return X, (activation > np.quantile(activation, 1 - share)).astype(int)


def exact(model, X, y):
    """Return the dual weights of a machine for two classes, the labels as signs, and its kernel in float64."""
    alpha = np.zeros(len(y))
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    return alpha, np.where(y == model.classes_[1], 1.0, -1.0), model._kernel(Rows(X), Rows(X))


KERNELS = [
    {"kernel": "rbf"},
    {"kernel": "rbf", "gamma": 2.0},
    {"kernel": "linear"},
    {"kernel": "poly", "degree": 2, "coef0": 1.0, "gamma": 0.5},
    {"kernel": "poly", "degree": 3, "gamma": 0.2, "coef0": 0.3},
]
CHANGES = ["plain", "duplicates", "unbalanced", "sparse", "weights", "float32"]


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.parametrize("number", range(5))
def test_objective_and_gap_against_scikit_learn(change, number):
    parameters, C = KERNELS[number], [1e-3, 0.1, 1.0, 30.0, 1e3][(number + CHANGES.index(change)) % 5]
    C = 1.0 if number == 2 and change == "unbalanced" else C  # the peer alone would take a quarter of a minute
    X, y = noisy(share=0.1 if change == "unbalanced" else 0.5, seed=number)
    weights = np.ones(len(y))
    if change == "duplicates":
        X, y = np.repeat(X[:40], 2, axis=0), np.r_[np.repeat(y[:38], 2), 0, 1, 1, 0]
    if change == "sparse":
        X = np.where(np.abs(X) < 0.6, 0.0, X)
    if change == "weights":
        weights = np.random.default_rng(9).choice([0.0, 0.3, 1.0, 4.0], len(y))
    if change == "float32":
        X = X.astype(np.float32).astype(float)
    given = {"sparse": sparse.csr_matrix, "float32": np.float32}.get(change, np.asarray)(X)
    gamma = check_kernel("rbf", gamma=parameters.get("gamma", "scale")).for_rows(Rows(X)).gamma
    parameters = {**parameters, "gamma": gamma, "C": C}
    peer = SVC(tol=1e-10, **parameters).fit(X, y, sample_weight=weights)
    kernel = check_kernel(**{k: v for k, v in parameters.items() if k != "C"})
    K, signs, bounds = kernel(Rows(X), Rows(X)), np.where(y == 1, 1.0, -1.0), C * weights

    def look(model):
        alpha = np.zeros(len(y))
        alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
        f = K @ (alpha * signs)
        return alpha, *bracket(f, alpha, signs, bounds, float(model.intercept_[0]))

    _, theirs, lower = look(peer)
    for tol in (1e-3, 1e-8):
        model = sx.KernelSVM(tol=tol, **parameters).fit(given, y, sample_weight=weights)
        alpha, primal, dual = look(model)
        rounding = 1e-9 * theirs
        assert model.status_.converged, str(model.status_)
        assert model.objective_ == pytest.approx(primal, rel=1e-6 if change == "float32" else 1e-9)
        assert model.duality_gap_ <= tol * model.objective_
        assert primal - model.duality_gap_ <= theirs + rounding  # the gap is no smaller than the distance to the best
        assert primal >= lower - rounding
        assert dual <= theirs + rounding
        assert (alpha >= 0).all()
        assert (alpha <= bounds).all()
        assert abs(alpha @ signs) <= 1e-11 * max(1.0, alpha.sum())
        assert model.objective_ <= theirs * (1 + tol) + rounding
    np.testing.assert_allclose(model.decision_function(given), peer.decision_function(X), atol=2e-3, rtol=2e-3)


def test_the_best_bias_is_the_best():
    rng = np.random.default_rng(0)
    for _ in range(50):
        n = rng.integers(2, 12)
        f, C = rng.integers(-3, 4, n).astype(float), rng.choice([0.5, 1.0, 2.0], n)
        y = np.r_[1.0, -1.0, rng.choice([-1.0, 1.0], n - 2)]
        found = bracket(f, np.zeros(n), y, C, best_bias(f, y, C))[0]
        assert found <= min(bracket(f, np.zeros(n), y, C, b)[0] for b in np.arange(-6, 6.25, 0.25)) + 1e-12


@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_of_several_classes_it_names_the_same_as_scikit_learn(load):
    X, y = load(return_X_y=True)
    X, once = np.unique(X, axis=0, return_index=True)  # the weights of copies are not unique
    y = y[once]
    X, names = StandardScaler().fit_transform(X), np.array(["c", "a", "b"])[y]
    peer = SVC(tol=1e-8, break_ties=True).fit(X, names)
    model = sx.KernelSVM(tol=1e-8).fit(X, names)
    assert (model.predict(X) == peer.predict(X)).all()
    np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)

    def table(machine):  # an example whose weight is all but zero may be a support vector of one side only
        coef = np.zeros((2, len(y)))
        coef[:, machine.support_] = machine.dual_coef_
        return coef

    np.testing.assert_allclose(table(model), table(peer), atol=1e-4)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
    assert model.n_support_.sum() == len(model.support_)
    assert names[model.support_].tolist() == np.repeat(model.classes_, model.n_support_).tolist()
    np.testing.assert_allclose(model.support_vectors_, X[model.support_])
    assert {each.machine for each in model.history_} == {0, 1, 2}
    assert "all 3 pairs of classes converged" in str(model.status_)


def test_attributes_for_two_classes_are_those_of_scikit_learn():
    X, y = noisy()
    peer, model = SVC(tol=1e-10).fit(X, y), sx.KernelSVM(tol=1e-10).fit(X, y)
    assert model.support_.tolist() == peer.support_.tolist()
    np.testing.assert_allclose(model.dual_coef_, peer.dual_coef_, atol=1e-6)
    np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-6)
    assert model.n_iter_ == len(model.history_) >= 1
    assert model.history_.gap[-1] == model.duality_gap_
    assert model.history_.primal[-1] == model.objective_
    assert model.history_.seconds == sorted(model.history_.seconds)
    assert all(dual <= model.objective_ for dual in model.history_.dual)


def test_real_data_is_learned_as_well_as_by_scikit_learn():
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X)
    assert cross_val_score(sx.KernelSVM(), X, y).mean() >= cross_val_score(SVC(), X, y).mean() - 0.003


@pytest.mark.parametrize("build", _core.builds())
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_single_precision_ends_with_a_true_gap(build, layout):
    X, y = noisy(1500, 6, noise=1.0)
    was = _core.build()
    try:
        _core.use_build(build)
        model = sx.KernelSVM(n_jobs=2).fit(layout(X), y)
    finally:
        _core.use_build(was)
    assert model._precision == "float32"
    fine = sx.KernelSVM(tol=1e-9).fit(X, y)
    assert fine._precision == "float64"
    best = fine.objective_ - fine.duality_gap_
    alpha, signs, K = exact(model, X, y)
    primal, dual = bracket(K @ (alpha * signs), alpha, signs, np.ones(1500), float(model.intercept_[0]))
    assert best <= primal <= fine.objective_ + model.duality_gap_
    assert primal - dual <= model.duality_gap_ <= 1e-3 * model.objective_
    np.testing.assert_allclose(model.decision_function(layout(X)), K @ (alpha * signs) + model.intercept_, atol=1e-4)


def test_where_single_precision_is_too_rough_it_goes_on_in_double(monkeypatch):
    X, y = noisy(1500, 6)
    monkeypatch.setattr("separatrix.svm.blocks.SINGLE_TOL", 1e-12)
    model = sx.KernelSVM(tol=1e-9, C=10).fit(X, y)
    assert model._precision == "float64"
    assert model.status_.converged
    assert model.duality_gap_ <= 1e-9 * model.objective_
    assert "at most tol=1e-09" in str(model.status_)


def test_a_gap_below_rounding_is_said_to_be_out_of_reach():
    X, y = noisy(200)
    with pytest.warns(ConvergenceWarning, match="rounding errors of the kernel values allow no smaller gap"):
        model = sx.KernelSVM(kernel="linear", C=1e3, tol=1e-13).fit(X, y)
    assert model.duality_gap_ < 1e-6 * model.objective_


def test_a_small_cache_only_costs_time():
    X, y = noisy(1200, 4, noise=1.0)
    model = sx.KernelSVM(tol=1e-6).fit(X, y)
    poor = sx.KernelSVM(tol=1e-6, cache_size=1.5).fit(X, y)
    assert poor.objective_ == pytest.approx(model.objective_, rel=2e-6)
    for rows in (2, 3, 5, 13):
        tiny = sx.KernelSVM(cache_size=rows * 100 * 8 / 2**20).fit(X[:100], y[:100])
        assert tiny.status_.converged, rows
    with pytest.raises(ValueError, match=r"cache_size=0.001 MB is too small: one kernel row of 1,200 examples takes"):
        sx.KernelSVM(cache_size=0.001).fit(X, y)


def test_functions_and_tables_are_kernels_too():
    X, y = noisy(90)
    model = sx.KernelSVM(gamma=0.4, tol=1e-9).fit(X, y)

    def function(A, B):
        return np.exp(-0.4 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    called = sx.KernelSVM(kernel=function, tol=1e-9).fit(X, y)
    table = sx.KernelSVM(kernel="precomputed", tol=1e-9).fit(function(X, X), y)
    rough = sx.KernelSVM(kernel="precomputed").fit(function(X, X).astype(np.float32), y)
    new = noisy(50, seed=1)[0]
    expected = model.decision_function(new)
    np.testing.assert_allclose(called.decision_function(new), expected, atol=1e-6)
    np.testing.assert_allclose(table.decision_function(function(new, X)), expected, atol=1e-6)
    np.testing.assert_allclose(rough.decision_function(function(new, X)), expected, atol=1e-1)
    assert rough.status_.converged
    classes = np.arange(90) % 3
    three = sx.KernelSVM(kernel="precomputed").fit(function(X, X), classes)
    assert (three.predict(function(X, X)) == sx.KernelSVM(gamma=0.4).fit(X, classes).predict(X)).all()
    with pytest.raises(ValueError, match="one column for each of the 90 examples of fit"):
        table.predict(function(new, X[:80]))
    scores = cross_val_score(sx.KernelSVM(kernel="precomputed"), function(X, X), y)
    assert scores.tolist() == cross_val_score(sx.KernelSVM(gamma=0.4), X, y).tolist()


def test_weights_multiply_c_and_zero_leaves_out():
    X, y = noisy(60, seed=2)
    counts = np.random.default_rng(0).integers(0, 3, 60)
    weighted = sx.KernelSVM(tol=1e-9).fit(X, y, sample_weight=counts)
    repeated = sx.KernelSVM(tol=1e-9).fit(np.repeat(X, counts, axis=0), np.repeat(y, counts))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), atol=1e-6)
    assert not set(weighted.support_) & set(np.flatnonzero(counts == 0))
    balanced = sx.KernelSVM(class_weight="balanced", tol=1e-9).fit(X[:50], y[:50])
    peer = SVC(class_weight="balanced", tol=1e-9).fit(X[:50], y[:50])
    np.testing.assert_allclose(balanced.decision_function(X), peer.decision_function(X), atol=1e-5)
    lost = sx.KernelSVM().fit(X, np.arange(60) % 3, sample_weight=(np.arange(60) % 3 < 2).astype(float))
    assert set(lost.predict(X)) <= {0, 1, 2}
    assert lost.n_support_[2] == 0


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"C": 0}, "C must be a positive number; found 0"),
        ({"C": float("nan")}, "C must be a positive number; found nan"),
        ({"C": float("inf")}, "C must be a positive number; found inf"),
        ({"tol": 0}, "tol must be a positive number; found 0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1; found 0"),
        ({"kernel": "sigmoid"}, "kernel must be one of linear, rbf, poly, precomputed, or a callable"),
        ({"kernel": "precomputed"}, r"must be a square matrix at fit, .* found shape \(80, 3\)"),
        ({"gamma": -1.0}, "gamma must be 'scale', 'auto' or a positive number; found -1.0"),
        ({"kernel": lambda A, B: np.full((len(A), len(B)), np.nan)}, "the kernel gives NaN for rows 0 and 0"),
        ({"cache_size": 0}, "cache_size must be a positive number of megabytes; found 0"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(parameters, text):
    with pytest.raises(ValueError, match=text):
        sx.KernelSVM(**parameters).fit(*noisy())


def test_other_kinds_of_nonsense_are_refused_too():
    X, y = noisy()
    with pytest.raises(TypeError, match="C must be a number; found 'one'"):
        sx.KernelSVM(C="one").fit(X, y)
    with pytest.raises(ValueError, match="needs examples of at least two classes; found one class: 1"):
        sx.KernelSVM().fit(X, np.ones(80))
    with pytest.raises(ValueError, match="found one class"):
        sx.KernelSVM().fit(X, y, sample_weight=y)
    with pytest.raises(NotFittedError):
        sx.KernelSVM().predict(X)
    with pytest.raises(ValueError, match="so large that the kernel overflows"):
        sx.KernelSVM().fit(1e200 * X, y)
    model = sx.KernelSVM().fit(X, y)
    with pytest.raises(ValueError, match="X contains NaN in row 1"):
        model.predict([[0.0, 0, 0], [np.nan, 0, 0]])
    before = model.dual_coef_
    with pytest.raises(ValueError, match="C must be"):
        model.set_params(C=-1).fit(X, y)
    assert model.dual_coef_ is before


def test_too_few_rounds_are_warned_about_and_the_gap_is_still_true():
    X, y = noisy(1500, 4, noise=2.0)
    with pytest.warns(ConvergenceWarning, match="stopped after 1 round: relative duality gap"):
        model = sx.KernelSVM(max_iter=1).fit(X, y)
    best = sx.KernelSVM(tol=1e-9).fit(X, y)
    assert model.objective_ - model.duality_gap_ <= best.objective_
    assert model.objective_ >= best.objective_ - best.duality_gap_


def test_a_kernel_that_is_none_does_not_hang():
    rng = np.random.default_rng(0)
    K = rng.standard_normal((60, 60))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.KernelSVM(kernel="precomputed", tol=1e-8).fit(K + K.T, np.arange(60) % 2)
    assert np.isfinite(model.duality_gap_)


def test_ctrl_c_leaves_a_model_with_its_true_gap():
    X, y = noisy(3000, 5, noise=2.0)

    def slow(A, B):
        if len(pressed) == 0 and len(A) > 64:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)
        return A @ B.T + (A @ B.T) ** 2

    pressed: list[bool] = []
    model = sx.KernelSVM(kernel=slow, C=100, tol=1e-6)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert "interrupted after 1 round at a relative duality gap of" in str(model.status_)
    alpha, signs, K = exact(model, X, y)
    primal, dual = bracket(K @ (alpha * signs), alpha, signs, np.full(3000, 100.0), float(model.intercept_[0]))
    assert model.objective_ == pytest.approx(primal)
    assert model.duality_gap_ == pytest.approx(primal - dual)


def test_ctrl_c_between_classes_leaves_all_of_them():
    X, _ = noisy(900, 4)
    model = sx.KernelSVM(kernel="linear", C=1e6, tol=1e-12)
    press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, np.random.default_rng(0).integers(0, 3, 900))
    assert set(model.predict(X)) <= {0, 1, 2}


def test_the_gap_can_be_watched(capfd):
    sx.KernelSVM(verbose=1).fit(*noisy())
    assert capfd.readouterr().out == ""


def test_the_machine_can_be_told_of_each_round():
    X, y = noisy()
    seen = []
    machine = KernelRun(
        check_kernel("rbf", gamma=1.0), Rows(X), np.where(y, 1.0, -1.0), np.ones(80), tol=1e-6, max_iter=100,
        megabytes=10, watch=seen.append,
    ).run()  # fmt: skip
    assert len(seen) == len(machine.rounds)
    assert seen[0].gap > machine.gap


def rings_away_from_the_origin():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 2)) + 3.0
    return X, (np.hypot(*(X - 3.0).T) > 1.1).astype(int)


@pytest.mark.parametrize("model", [sx.KernelSVM(), sx.KernelPerceptron(max_iter=20, readout="averaged")])
def test_dense_and_sparse_rows_predict_alike(model):
    X, y = rings_away_from_the_origin()
    for fitted in (X, sparse.csr_matrix(X)):
        model.fit(fitted, y)
        np.testing.assert_allclose(
            model.decision_function(X), model.decision_function(sparse.csr_array(X)), rtol=1e-6, atol=1e-6
        )


def test_a_few_long_rows_do_not_spoil_a_linear_kernel():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 3))
    y = np.where(X[:, 0] + rng.normal(size=1500) > 0, 1, -1)
    far = [5, 7, 17, 19, 20]
    X[far], y[far] = 1e6, [1, -1, 1, -1, 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = sx.KernelSVM(kernel="linear", C=1e-4, max_iter=200).fit(X, y)
    w = model.dual_coef_ @ model.support_vectors_
    expected = X @ w[0] + model.intercept_[0]
    found = model.decision_function(X)
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    primal = 0.5 * float((w**2).sum()) + 1e-4 * np.maximum(0.0, 1.0 - y * expected).sum()
    dual = np.abs(model.dual_coef_).sum() - 0.5 * float((w**2).sum())
    assert model.duality_gap_ >= (primal - dual) * (1 - 1e-6)


def test_a_class_without_weight_is_never_predicted():
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(90, 2)), np.repeat([0, 1, 2], 30)
    for absent in range(3):
        model = sx.KernelSVM().fit(X, y, sample_weight=(y != absent).astype(float))
        assert absent not in model.predict(X)


@pytest.mark.parametrize("shift", [3.0, 1e3])
def test_a_kernel_that_is_none_proves_no_gap(shift):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 4))
    y = (X[:, 0] > 0).astype(int)
    with pytest.warns(ConvergenceWarning, match="not positive semidefinite"):
        sx.KernelSVM(kernel="precomputed").fit(X @ X.T - shift * np.eye(60), y)
    with pytest.raises(ValueError, match="the kernel must be symmetric"):
        sx.KernelSVM(kernel=lambda a, b: a @ b.T + 3.0 * a[:, :1]).fit(X, y)
    with pytest.raises(ValueError, match="complex"):
        sx.KernelSVM(kernel=lambda a, b: (a @ b.T) * 1j).fit(X, y)
    model = sx.KernelSVM(kernel="precomputed").fit(X @ X.T, y)
    with pytest.raises(ValueError, match="dense array"):
        model.predict(sparse.csr_matrix(X @ X.T))


def test_a_nearly_symmetric_table_is_made_symmetric():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(100, 3))
    y = (X[:, 0] + 0.5 * rng.normal(size=100) > 0).astype(int)
    K = np.exp(-0.3 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    noise = 1e-7 * rng.normal(size=K.shape)
    noisy = sx.KernelSVM(kernel="precomputed", C=100.0, tol=1e-6).fit(K + noise - noise.T, y)
    assert noisy.objective_ == pytest.approx(sx.KernelSVM(kernel="precomputed", C=100.0, tol=1e-6).fit(K, y).objective_)


def test_a_sparse_variance_keeps_its_digits():
    X = np.random.default_rng(4).normal(size=(50, 3)) * 1e-3 + 1e6
    dense, csr = (check_kernel("rbf").for_rows(Rows(each)).gamma for each in (X, sparse.csr_matrix(X)))
    assert csr == pytest.approx(dense, rel=1e-6)
