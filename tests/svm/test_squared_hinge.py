"""Newton's method for the squared hinge: dual weights, the choice of method, and runs that are cut short."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.geometry.rows import Rows
from separatrix.svm import choice
from separatrix.svm.newton import LogisticRun
from separatrix.svm.solve import Run
from separatrix.svm.task import MarginTask

BIASES = {"free": {}, "penalised": {"intercept_scaling": 2.0}, "none": {"fit_intercept": False}}


def noisy(n=6_000, d=12, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)).astype(np.float32)
    return X, (X @ rng.standard_normal(d) + 2.0 * rng.standard_normal(n) > 0).astype(int)


def wide(n=1_500, d=900, seed=1):
    rng = np.random.default_rng(seed)
    X = sparse.random(n, d, 0.02, format="csr", random_state=seed, data_rvs=np.ones)
    return X, (X @ rng.standard_normal(d) + rng.standard_normal(n) > 0).astype(int)


def task_of(X, y, C=1.0, *, bias=0.0, free=False):
    signs = np.where(y == 1, 1.0, -1.0)
    return MarginTask(Rows(X), signs, np.full(len(signs), C), True, bias, free)


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_dual_weights_are_twice_the_cost_times_the_slack(bias, C):
    X, y = noisy()
    weights = np.random.default_rng(3).uniform(0.0, 2.0, len(y)) * (np.arange(len(y)) % 7 > 0)
    model = sx.LinearSVM(loss="squared_hinge", C=C, tol=1e-9, random_state=0, **BIASES[bias])
    model.fit(X, y, sample_weight=weights)
    assert model.history_.method == ["newton"] * len(model.history_)
    assert "by Newton's method" in str(model.status_)
    signs = np.where(y == 1, 1.0, -1.0)
    slack = np.maximum(0.0, 1.0 - signs * model.decision_function(X))
    np.testing.assert_allclose(model.slack_, slack, atol=1e-12)
    alpha = np.zeros(len(y))
    alpha[model.support_] = model.dual_coef_[0] * signs[model.support_]
    np.testing.assert_allclose(alpha, 2.0 * C * weights * slack, atol=1e-4 * C)
    np.testing.assert_allclose(model.coef_[0], (signs * alpha) @ X, atol=1e-4 * (1.0 + np.sqrt(model.objective_)))
    assert sx.kkt(model, X, y, sample_weight=weights).worst < 1e-3


@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("data", [noisy, wide])
def test_all_methods_reach_one_optimum(bias, data, monkeypatch):
    X, y = data()
    kind = {"loss": "squared_hinge", "C": 3.0, "tol": 1e-8, "random_state": 0, **BIASES[bias]}
    values, methods = [], []
    # A factor, conjugate gradients, ascent.
    for first_try, passes, epochs in ((np.inf, np.inf, np.inf), (0.0, 0.0, 0.0), (0.0, np.inf, 0.0)):
        monkeypatch.setattr(choice, "ASCENT_EPOCHS", epochs)
        monkeypatch.setattr(choice, "FIRST_TRY", first_try)
        monkeypatch.setattr(choice, "NEWTON_PASSES", passes)
        model = sx.LinearSVM(max_iter=100_000, **kind).fit(X, y)
        assert model.duality_gap_ <= 1.1e-8 * model.objective_
        values.append(model.objective_)
        methods.append(set(model.history_.method))
    np.testing.assert_allclose(values, values[0], rtol=2.2e-8)
    assert methods[0] == {"newton"}
    assert "newton-cg" in methods[1] or "newton" in methods[1]
    assert "ascent" in methods[2]


def test_far_to_go_lets_newton_take_over_from_ascent():
    X, y = wide()
    model = sx.LinearSVM(loss="squared_hinge", C=100.0, tol=1e-6, random_state=0, fit_intercept=False).fit(X, y)
    assert model.history_.method[0] == "ascent"
    assert model.history_.method[-1].startswith("newton")
    assert model.n_iter_ < 300
    assert model.status_.converged


def test_too_many_features_for_a_matrix_are_no_error(monkeypatch):
    X, y = noisy(400, 30)
    monkeypatch.setattr(choice, "MOST_EQUATIONS", 10)
    monkeypatch.setattr(choice, "MOST_INTERIOR_EQUATIONS", 10)
    for loss in ("hinge", "squared_hinge"):
        assert sx.LinearSVM(loss=loss, random_state=0, max_iter=100_000).fit(X, y).status_.converged
    assert sx.LogisticRegression().fit(X, y).history_.method[-1] == "newton-cg"


@pytest.mark.parametrize(("data", "C"), [(noisy, 1.0), (wide, 100.0)])
def test_a_run_cut_short_anywhere_goes_on_to_the_same_bits(data, C):
    X, y = data()
    whole = Run(task_of(X, y, C, free=True), 1e-6, 0)
    whole.go(10_000, lambda: False)
    run = Run(task_of(X, y, C, free=True), 1e-6, 0)
    cuts = 0
    while True:
        polls = iter([False] * (3 + 7 * (cuts % 40)))
        run.go(10_000, lambda polls=polls: next(polls, True))
        if run.ended != "halted":
            break
        cuts += 1
        assert run.solution.primal >= whole.solution.dual
        run = pickle.loads(pickle.dumps(run.put_down()))
        run.task = task_of(X, y, C, free=True)
    assert cuts > 0
    np.testing.assert_array_equal(run.solution.weights, whole.solution.weights)
    np.testing.assert_array_equal(run.solution.alpha, whole.solution.alpha)
    assert (run.solution.bias, run.finishing) == (whole.solution.bias, whole.finishing)


def test_a_warm_start_begins_with_the_dual_weights():
    X, y = noisy()
    model = sx.LinearSVM(loss="squared_hinge", warm_start=True, tol=1e-6, random_state=0).fit(X, y)
    cold = model.n_iter_
    assert model.fit(X, y).n_iter_ < cold
    again = model.set_params(C=1.1).fit(X, y)
    assert again.objective_ == pytest.approx(
        sx.LinearSVM(loss="squared_hinge", C=1.1, tol=1e-9).fit(X, y).objective_, rel=2e-6
    )


def test_every_build_gives_the_same_bits():
    usual = sx._core.build()
    found = []
    try:
        for build in sx._core.builds():
            sx._core.use_build(build)
            fits = [
                sx.LinearSVM(loss="squared_hinge", C=C, random_state=0, tol=1e-7).fit(*data())
                for C in (1.0, 100.0)
                for data in (noisy, wide)
            ]
            found.append([(fit.coef_.tobytes(), fit.dual_coef_.tobytes()) for fit in fits])
    finally:
        sx._core.use_build(usual)
    assert all(each == found[0] for each in found)


def test_rows_without_curvature_are_left_out_of_the_gram_matrix():
    rng = np.random.default_rng(0)
    for n, d in ((300, 5), (131, 40)):
        X = rng.standard_normal((n, d))
        t = rng.uniform(0.1, 1.0, n) * (rng.random(n) < 0.3)
        kept = t > 0
        whole = sx._core.gram(Rows(X).matrix, t)
        np.testing.assert_array_equal(whole, sx._core.gram(Rows(X[kept]).matrix, t[kept]))
        Z = np.column_stack([X, np.ones(n)])
        np.testing.assert_allclose(np.tril(whole), np.tril((Z * t[:, None]).T @ Z), atol=1e-11)


def test_the_reach_of_a_step_is_where_the_first_number_would_be_0():
    rng = np.random.default_rng(0)
    for n in (0, 1, 7, 8, 100):
        value, way = rng.uniform(0.1, 1.0, n), rng.standard_normal(n)
        for sign in (1.0, -1.0):
            falling = sign * way < 0
            expected = (value / (-sign * way))[falling].min(initial=np.inf)
            assert sx._core.reach(value, way, sign) == expected
    with pytest.raises(ValueError, match="differ in length"):
        sx._core.reach(np.ones(2), np.ones(3), 1.0)


def test_the_interior_point_method_stops_at_the_tolerance():
    X, y = noisy(30_000, 8)
    loose, tight = (sx.LinearSVM(C=100.0, tol=tol, random_state=0).fit(X, y) for tol in (1e-2, 1e-8))
    assert "interior" in loose.history_.method
    assert loose.n_iter_ < tight.n_iter_
    assert tight.duality_gap_ <= 1.1e-8 * tight.objective_


def test_the_smallest_tasks_are_solved_exactly_whatever_the_tolerance():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [0.5, 0.25]]), np.array([0, 1, 1, 0])
    for loss in ("hinge", "squared_hinge"):
        for kind in BIASES.values():
            model = sx.LinearSVM(loss=loss, tol=0.1, random_state=0, **kind).fit(X, y)
            assert model.duality_gap_ <= 1e-11 * model.objective_


def test_a_damaged_run_of_newtons_method_is_refused():
    run = Run(task_of(*noisy(200, 3)), 1e-6, 0)
    run.go(10, lambda: False)
    run.validate()
    assert type(run.newton) is LogisticRun
    run.newton = 5
    with pytest.raises(ValueError, match="damaged"):
        run.validate()


@pytest.mark.parametrize(("C", "first"), [(0.01, "ascent"), (100.0, "newton")])
def test_on_sparse_rows_a_small_cost_is_left_to_ascent(C, first):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix((rng.random((3_000, 120)) < 0.2).astype(float))
    y = X @ rng.standard_normal(120) + rng.standard_normal(3_000) > 0
    model = sx.LinearSVM(loss="squared_hinge", C=C, tol=1e-3, random_state=0, fit_intercept=False).fit(X, y)
    assert set(model.history_.method) == {first}
    assert model.status_.converged
    other = sx.LinearSVM(loss="squared_hinge", C=C, tol=1e-9, random_state=0, fit_intercept=False).fit(X, y)
    assert other.objective_ <= model.objective_ <= other.objective_ + model.duality_gap_
