"""The kernel perceptron with a budget: what it stores, what it forgets, and that it is the papers' algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from budget_oracle import Oracle
from ctrl_c import press_ctrl_c
from separatrix.geometry.kernels import check_kernel
from separatrix.geometry.rows import Rows
from separatrix.loop.order import start_of
from separatrix.models.model_file import load, save
from separatrix.stops import MaxEpochs, TimeLimit

FORGETS = ["oldest", "random", "projected"]


def noisy(n=90, d=4, k=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, (X @ rng.standard_normal((d, k)) + rng.standard_normal((n, k))).argmax(axis=1)


def rings(n, seed):
    rng = np.random.default_rng(seed)
    radius = np.where(np.arange(n) % 2, 1.0, 2.5) + 0.1 * rng.standard_normal(n)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], np.arange(n) % 2


def budgeted(forget, budget, **options):
    return sx.KernelPerceptron(budget=budget, forget=forget, **{"shuffle": False, "bias": 1.0, **options})


def learned(model):
    return model.dual_coef_.tolist(), model.intercept_.tolist(), model.support_.tolist()


# ---------------------------------------------------------------------------------------------------- known answers


def test_the_oldest_of_two_is_removed_after_shrinking_by_the_largest_factor_allowed():
    # K = 1 on the diagonal and 0 elsewhere, no bias, budget 1. Mistake 1 stores x0, mistake 2 x1, and x0 must go:
    # s = 1, m = 1 (its own activation), cost phi^2 (1 - 2) + 2 phi <= 15/32 * 2 gives phi = 1 - sqrt(1 - 15/16) = 3/4.
    model = budgeted("oldest", 1, kernel="precomputed", bias=None, max_iter=1)
    with pytest.warns(ConvergenceWarning, match="budget"):
        model.fit(np.eye(2), [1, 0])
    assert model.support_.tolist() == [1]
    assert model.dual_coef_.tolist() == [[-0.75]]
    assert model.alpha_.tolist() == [0, 0.75]


def test_a_random_one_is_removed_without_shrinking():
    model = budgeted("random", 2, kernel="precomputed", bias=None, stop=MaxEpochs(1)).fit(np.eye(5), [1, 0, 1, 0, 1])
    assert len(model.support_) == 2
    assert 4 in model.support_
    assert (np.abs(model.dual_coef_) == 1).all()
    drawn = {
        tuple(
            budgeted("random", 2, kernel="precomputed", bias=None, stop=MaxEpochs(1), random_state=seed)
            .fit(np.eye(5), [1, 0, 1, 0, 1]).support_.tolist()
        )
        for seed in range(40)
    }  # fmt: skip
    assert len(drawn) == 4  # any of the four others


def test_an_example_is_replaced_by_its_projection():
    # x0 = (2, 0) is stored; x1 = (1, 3), a mistake of the other class, has the projection 1/2 x0.
    model = budgeted("projected", 1, kernel="linear", bias=None, stop=MaxEpochs(1)).fit(
        [[2.0, 0.0], [1.0, 3.0]], [1, 0]
    )
    assert model.support_.tolist() == [0]
    assert model.dual_coef_.tolist() == [[0.5]]


def test_an_example_that_the_others_span_gives_its_place_away():
    # x1 = 3 x0 on the line, so x2 takes its place and nothing is lost: f = -x0 + x1 + x2 = 2 x0 + x2.
    X, y = [[1.0, 0.0], [3.0, 0.0], [-5.0, 1.0], [0.0, 0.0]], [0, 1, 1, 1]
    whole = sx.KernelPerceptron(kernel="linear", bias=None, shuffle=False, stop=MaxEpochs(1)).fit(X[:3], y[:3])
    model = budgeted("projected", 2, kernel="linear", bias=None, stop=MaxEpochs(1)).fit(X[:3], y[:3])
    assert whole.n_updates_ == model.n_updates_ == 3
    assert model.support_.tolist() == [0, 2]
    assert model.dual_coef_.tolist() == [[2.0, 1.0]]


# ---------------------------------------------------------------------------------------------------- the oracle


@pytest.mark.parametrize("forget", FORGETS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_algorithm_written_down_in_numpy(forget, kernel, weighted):
    for seed, budget in [(0, 1), (1, 3), (2, 7), (3, 20)]:
        X, y = noisy(n=60, seed=seed)
        weights = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 2.5], len(y)) if weighted else None
        gamma = 0.3
        model = budgeted(
            forget, budget, kernel=kernel, gamma=gamma, degree=2, coef0=1.0, bias=2.0, stop=MaxEpochs(3), random_state=5
        ).fit(X, y, sample_weight=weights)
        K = check_kernel(kernel, gamma=gamma, degree=2, coef0=1.0)(Rows(X), Rows(X)) + 4.0
        oracle = Oracle(K, np.where(y, 1, -1), budget, forget, seed=start_of(5, 1))
        mistakes = [
            sum(oracle.show(i, 1.0 if weights is None else weights[i]) for i in range(len(y))) for _ in range(3)
        ]
        assert model.history_.mistakes == mistakes
        assert set(model.support_.tolist()) == set(oracle.held)
        wanted = [oracle.held[i] for i in model.support_.tolist()]
        np.testing.assert_allclose(model.dual_coef_[0], wanted, rtol=1e-6, atol=1e-7)
        np.testing.assert_allclose(model.intercept_, 4.0 * np.sum(wanted), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("k", [2, 3])
def test_the_average_of_projections_is_that_of_all_weight_vectors(k):
    X, y = noisy(n=50, k=k, seed=4)
    model = budgeted("projected", 5, gamma=0.5, readout="averaged", stop=MaxEpochs(2)).fit(X, y)
    K = check_kernel("rbf", gamma=0.5)(Rows(X), Rows(X)) + 1.0
    for place, code in enumerate([1] if k == 2 else range(3)):
        oracle, total = Oracle(K, np.where(y == code, 1, -1), 5, "projected"), np.zeros(len(y))
        for _ in range(2):
            for i in range(len(y)):
                oracle.show(i)
                total += [oracle.held.get(j, 0.0) for j in range(len(y))]
        expected = (K @ total) / 100
        ours = model.decision_function(X)
        np.testing.assert_allclose(ours if k == 2 else ours[:, place], expected, rtol=1e-7, atol=1e-7)


# ---------------------------------------------------------------------------------------------------- the budget


@pytest.mark.parametrize("forget", FORGETS)
@pytest.mark.parametrize("kernel", ["rbf", "linear", "poly"])
@pytest.mark.parametrize("k", [2, 3])
def test_a_budget_that_is_never_full_changes_no_bit(forget, kernel, k):
    X, y = noisy(k=k, seed=2)
    options = {"kernel": kernel, "random_state": 3, "stop": MaxEpochs(6)}
    whole = sx.KernelPerceptron(**options).fit(X, y)
    for budget in (np.count_nonzero(np.atleast_2d(whole.alpha_), axis=1).max(), 10**9):
        model = sx.KernelPerceptron(budget=budget, forget=forget, **options).fit(X, y)
        assert learned(model) == learned(whole)
        assert (model.alpha_ == whole.alpha_).all()
        assert model.history_.mistakes == whole.history_.mistakes


@pytest.mark.parametrize("forget", FORGETS)
@pytest.mark.parametrize("k", [2, 3])
def test_no_more_is_stored_than_the_budget(forget, k):
    X, y = noisy(n=200, k=k, seed=3)
    stored = []
    for epochs in range(1, 6):
        model = budgeted(forget, 7, stop=MaxEpochs(epochs)).fit(X, y)
        stored.append((np.atleast_2d(model.alpha_) != 0).sum(axis=1).max())
        assert model.support_vectors_.shape[0] <= 7 * (1 if k == 2 else 3)
    assert max(stored) <= 7
    for begin in range(0, 200, 30):
        model.partial_fit(X[begin : begin + 30], y[begin : begin + 30])
        assert (np.atleast_2d(model.dual_coef_) != 0).sum(axis=1).max() <= 7
        assert model.support_vectors_.shape[0] <= 7 * (1 if k == 2 else 3)


@pytest.mark.parametrize("budget", [5, 6, 20])
def test_the_projected_perceptron_of_a_plane_loses_nothing(budget):
    for seed in range(10):
        X, y = noisy(n=150, d=4, seed=seed)
        options = {"kernel": "linear", "bias": 1.5, "random_state": seed, "stop": MaxEpochs(10)}
        whole = sx.KernelPerceptron(**options).fit(X, y)
        model = sx.KernelPerceptron(budget=budget, forget="projected", **options).fit(X, y)
        assert len(model.support_) <= budget < len(whole.support_)
        assert model.history_.mistakes == whole.history_.mistakes
        np.testing.assert_allclose(model.decision_function(X), whole.decision_function(X), rtol=1e-7, atol=1e-7)


def test_the_mistakes_of_the_oldest_are_within_the_bound_on_500_problems():
    rng = np.random.default_rng(0)
    tight = 0.0
    for _ in range(500):
        n, d, budget = int(rng.integers(5, 80)), int(rng.integers(1, 5)), int(rng.integers(1, 30))
        X, u = rng.standard_normal((n, d)), rng.standard_normal(d)
        y = np.where(X @ u + rng.choice([0.0, 0.7]) * rng.standard_normal(n) > 0, 1, -1)
        y[:2] = 1, -1
        constant = float(rng.choice([0.5, 2.0]))
        model = budgeted("oldest", budget, kernel="linear", bias=constant, stop=MaxEpochs(int(rng.integers(1, 4))))
        model.fit(X, y)
        support = model._states[0].support
        mistakes = sum(model.history_.mistakes)
        assert support.step_sum == mistakes
        Z = np.c_[X, np.full(n, constant)]
        Z /= np.sqrt((Z**2).sum(axis=1).max())
        K = Z @ Z.T
        oracle, wrong = Oracle(K, y, budget, "oldest"), np.zeros(n)
        for _ in range(model.n_iter_):
            for i in range(n):
                wrong[i] += oracle.show(i)
        assert wrong.sum() == mistakes
        assert support.shrinkage == pytest.approx(oracle.shrinkage, rel=1e-6, abs=1e-9)
        candidates = [u / np.linalg.norm(u) * s for s in (0.5, 2.0, 8.0)]
        for w in [np.append(c, 0.0) for c in candidates] + [
            np.linalg.lstsq(Z, y, rcond=None)[0] * s for s in (0.3, 1, 3)
        ]:
            right = w @ w * (1 + support.shrinkage) + 2 * wrong @ np.maximum(0.0, 1 - y * (Z @ w))
            assert 17 / 32 * mistakes <= right + 1e-9
            tight = max(tight, 17 / 32 * mistakes / right if right else 0.0)
    assert tight > 0.2  # so the bound is no empty one


# ---------------------------------------------------------------------------------------------------- streams


@pytest.mark.parametrize("forget", FORGETS)
def test_a_stream_in_pieces_is_one_epoch(forget):
    X, y = rings(300, seed=0)
    whole = budgeted(forget, 25, gamma=1.0, stop=MaxEpochs(1)).fit(X, y)
    parts = budgeted(forget, 25, gamma=1.0)
    for begin in range(0, 300, 50):
        parts.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
    np.testing.assert_allclose(parts.decision_function(X), whole.decision_function(X), rtol=1e-6, atol=1e-6)
    new, labels = rings(300, seed=1)
    assert parts.score(new, labels) > 0.9


@pytest.mark.parametrize("forget", FORGETS)
def test_a_model_file_goes_on_with_the_same_bits(forget, tmp_path):
    X, y = noisy(n=160, k=3, seed=5)
    model = sx.KernelPerceptron(budget=9, forget=forget, random_state=1)
    model.partial_fit(X[:80], y[:80])
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    assert (again.decision_function(X) == model.decision_function(X)).all()
    for each in (model, again):
        each.partial_fit(X[80:], y[80:])
    assert learned(model) == learned(again)


def test_new_classes_may_appear_and_rows_may_be_sparse():
    X, y = noisy(n=120, k=4, seed=6)
    model = sx.KernelPerceptron(budget=12, forget="projected", kernel="linear", random_state=0)
    model.partial_fit(X[y < 2], y[y < 2])
    assert model.classes_.tolist() == [0, 1]
    model.partial_fit(sparse.csr_matrix(X), y)
    assert model.decision_function(X).shape == (120, 4)
    model.partial_fit(X.astype(np.float32), y)
    assert np.isfinite(model.decision_function(X)).all()


def test_a_long_stream_takes_the_memory_of_the_budget():
    model = budgeted("oldest", 20, gamma=0.5)
    sizes = []
    for seed in range(40):
        X, y = noisy(n=100, seed=seed)
        model.partial_fit(X, y)
        sizes.append(len(sx_bytes(model)))
    assert max(sizes[5:]) < 1.2 * sizes[5]


def sx_bytes(model):
    import pickle

    return pickle.dumps(model)


def test_a_run_online_says_what_it_learned_from():
    X, y = noisy(n=40)
    model = budgeted("random", 5).partial_fit(X, y)
    model.partial_fit(X[:7], y[:7])
    assert str(model.status_).startswith("learned online from 7 examples with")


# ---------------------------------------------------------------------------------------------------- limits and errors


@pytest.mark.parametrize("forget", FORGETS)
def test_a_small_cache_changes_no_decision(forget):
    X, y = noisy(n=200, seed=8)
    options = {"gamma": 0.5, "stop": MaxEpochs(4), "random_state": 2}
    plenty = budgeted(forget, 10, **options).fit(X, y)
    size = (11 if forget == "projected" else 2) * 200 * 8 / 2**20
    little = budgeted(forget, 10, cache_size=size, **options).fit(X, y)
    assert little.history_.mistakes == plenty.history_.mistakes
    np.testing.assert_allclose(little.dual_coef_, plenty.dual_coef_, rtol=1e-9)


def test_ctrl_c_and_time_limits_keep_what_is_stored():
    X, y = noisy(n=400, seed=9)
    model = budgeted("oldest", 10, stop=TimeLimit(1e-9)).fit(X, y)
    assert "time" in str(model.status_)
    slow = budgeted("projected", 10, max_iter=10**6)
    press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        slow.fit(X, y)
    assert slow.status_.interrupted
    assert len(slow.support_) <= 10


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": 0}, "budget must be None or a whole number of at least 1; found 0"),
        ({"budget": 2.5}, "budget must be None or a whole number of at least 1; found 2.5"),
        ({"budget": True}, "budget must be"),
        ({"budget": "many"}, "budget must be"),
        ({"forget": "newest"}, "forget must be one of oldest, random, projected; found 'newest'"),
        ({"forget": None, "budget": 3}, "forget must be one of"),
        ({"budget": 3, "readout": "voted"}, "with a budget readout must be 'last', or 'averaged' with"),
        ({"budget": 3, "readout": "averaged"}, "with a budget readout must be 'last', or 'averaged' with"),
        ({"budget": 3, "readout": "pocket", "forget": "projected"}, "with a budget readout must be"),
        ({"budget": 9, "forget": "projected", "cache_size": 0.001}, "cache_size is too small"),
    ],
)
def test_bad_parameters_are_refused_with_one_sentence(options, message):
    X, y = noisy(n=40)
    with pytest.raises(ValueError, match=message) as refusal:
        sx.KernelPerceptron(**options).fit(X, y)
    assert "\n" not in str(refusal.value)


def test_what_cannot_go_on_is_refused():
    X, y = noisy(n=40)
    assert not hasattr(sx.KernelPerceptron(), "partial_fit")
    with pytest.raises(AttributeError, match="needs a budget"):
        _ = sx.KernelPerceptron().partial_fit
    with pytest.raises(ValueError, match="precomputed"):
        sx.KernelPerceptron(kernel="precomputed", budget=3).partial_fit(X @ X.T, y)
    with pytest.raises(ValueError, match="balanced"):
        sx.KernelPerceptron(class_weight="balanced", budget=3).partial_fit(X, y)
    for name, value in [("budget", 2), ("forget", "random"), ("gamma", 3.0), ("kernel", "linear"), ("bias", 7.0)]:
        model = budgeted("oldest", 5).partial_fit(X, y)
        before = learned(model)
        with pytest.raises(ValueError, match=name):
            model.set_params(**{name: value}).partial_fit(X, y)
        assert learned(model) == before
    budgeted("oldest", 5).partial_fit(X, y).set_params(budget=8).partial_fit(X, y)  # more may be stored later


def test_random_orders_and_fractions_of_weight_run():
    X, y = noisy(n=60)
    for forget in FORGETS:
        model = budgeted(forget, 6, shuffle="random", stop=MaxEpochs(5)).fit(X, y, sample_weight=np.full(60, 0.25))
        assert np.isfinite(model.decision_function(X)).all()


def test_separable_data_within_the_budget_converge():
    X, y = rings(200, seed=3)
    for forget in FORGETS:
        for shuffle in (True, "random"):
            model = sx.KernelPerceptron(budget=60, forget=forget, shuffle=shuffle, random_state=0).fit(X, y)
            assert model.status_.converged
            assert model.score(X, y) == 1


def test_checking_the_rows_that_random_draws_left_out_changes_nothing_that_is_stored():
    X, y = rings(60, seed=3)
    for forget in FORGETS:
        model = budgeted(forget, 4, shuffle="random", random_state=0, gamma=1.0, stop=MaxEpochs(40)).fit(X, y)
        moved = sum(model.history_.mistakes)
        assert model._states[0].support.counts[2] == moved  # of the steps, none is the check's


def test_a_certificate_with_a_budget_has_the_mistakes_and_says_why_they_have_no_bound():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), np.arange(40) % 3
    options = {"budget": 5, "max_iter": 2, "stop": MaxEpochs(2), "random_state": 0}
    for forget in ("oldest", "random", "projected"):
        two = sx.KernelPerceptron(forget=forget, **options).fit(X, y == 0)
        made = two.certificate_.mistakes
        assert made.made == sum(epoch.mistakes for epoch in two.history_)
        assert not np.isfinite(made.allowed)
        assert "no bound: " in str(two.certificate_)
        three = sx.KernelPerceptron(forget=forget, **options).fit(X, y).certificate_
        assert list(three) == [0, 1, 2]
    assert not hasattr(sx.KernelPerceptron().fit(X[:4], y[:4]), "certificate_")
