"""The perceptron in dual form: it is the primal one, mistake by mistake, and it separates what no plane can."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from ctrl_c import press_ctrl_c
from separatrix.geometry.kernel_ball import kernel_radius
from separatrix.geometry.kernels import check_kernel
from separatrix.geometry.rows import Rows
from separatrix.stops import HeldOutFlat, LossAtMost, MaxEpochs, TimeLimit

READOUTS = ["last", "averaged", "voted", "pocket"]


def whole_numbers(n=120, d=6, k=2, seed=0):
    """Rows of small whole numbers, whose products float64 holds exactly, and labels that no plane separates."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-5, 6, (n, d)).astype(float)
    return X, (X @ rng.standard_normal((d, k)) + 6 * rng.standard_normal((n, k))).argmax(axis=1)


def rings(n=400, seed=0):
    rng = np.random.default_rng(seed)
    radius = np.where(np.arange(n) % 2, 1.0, 2.5) + 0.1 * rng.standard_normal(n)
    angle = rng.uniform(0, 2 * np.pi, n)
    return np.c_[radius * np.cos(angle), radius * np.sin(angle)], np.arange(n) % 2


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("shuffle", [False, True])
@pytest.mark.parametrize("k", [2, 3])
def test_with_the_linear_kernel_it_is_the_primal_perceptron(readout, shuffle, k):
    X, y = whole_numbers(k=k)
    for seed in range(3):
        options = {"shuffle": shuffle, "random_state": seed, "readout": readout, "stop": MaxEpochs(7)}
        primal = sx.Perceptron(intercept_scaling=3, **options).fit(X, y)
        dual = sx.KernelPerceptron(kernel="linear", bias=3, **options).fit(X, y)
        assert dual.history_.mistakes == primal.history_.mistakes
        assert dual.n_updates_ == primal.n_updates_
        np.testing.assert_allclose(dual.dual_coef_ @ dual.support_vectors_, primal.coef_, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dual.intercept_, primal.intercept_, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(dual.decision_function(X), primal.decision_function(X), rtol=1e-9, atol=1e-9)
        if readout == "last":
            assert (dual.dual_coef_ @ dual.support_vectors_ == primal.coef_).all()
            signs = [np.where(y == c, 1, -1) for c in ([1] if k == 2 else range(3))]
            alphas = np.atleast_2d(dual.alpha_)
            assert alphas.dtype == np.int64
            assert alphas.sum() == dual.n_updates_
            for alpha, sign, coef in zip(alphas, signs, primal.coef_, strict=True):
                assert ((alpha * sign) @ X == coef).all()


def test_sample_and_class_weights_are_those_of_the_primal():
    X, y = whole_numbers()
    rng = np.random.default_rng(1)
    weights = rng.choice([0.0, 0.5, 1.0, 3.0], len(y))
    options = {"random_state": 3, "readout": "averaged", "stop": MaxEpochs(5), "class_weight": {0: 2.0}}
    primal = sx.Perceptron(intercept_scaling=2, **options).fit(X, y, sample_weight=weights)
    dual = sx.KernelPerceptron(kernel="linear", bias=2, **options).fit(X, y, sample_weight=weights)
    assert dual.history_.mistakes == primal.history_.mistakes
    np.testing.assert_allclose(dual.dual_coef_ @ dual.support_vectors_, primal.coef_, rtol=1e-12)
    assert set(dual.support_) <= set(np.flatnonzero(weights))


@pytest.mark.parametrize("boundary", ["mistake", "positive", "negative"])
def test_boundaries_and_no_bias_are_those_of_the_primal(boundary):
    X, y = whole_numbers(seed=4)
    options = {"shuffle": False, "boundary": boundary, "stop": MaxEpochs(4)}
    primal = sx.Perceptron(fit_intercept=False, **options).fit(X, y)
    dual = sx.KernelPerceptron(kernel="linear", bias=None, **options).fit(X, y)
    assert dual.history_.mistakes == primal.history_.mistakes
    assert (dual.dual_coef_ @ dual.support_vectors_ == primal.coef_).all()
    assert dual.bias_constant_ == dual.intercept_[0] == 0


def test_stop_rules_see_the_same_losses():
    X, y = whole_numbers(seed=5)
    stop = LossAtMost(0, every=2, loss="log") | HeldOutFlat(0.2, 3) | MaxEpochs(8)
    options = {"shuffle": True, "random_state": 0, "stop": stop, "readout": "averaged"}
    primal = sx.Perceptron(intercept_scaling=2, **options).fit(X, y)
    dual = sx.KernelPerceptron(kernel="linear", bias=2, **options).fit(X, y)
    assert str(dual.status_) == str(primal.status_)
    assert dual.history_.held_out == primal.history_.held_out
    ours, theirs = ([0.0 if loss is None else loss for loss in m.history_.loss] for m in (dual, primal))
    np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_it_learns_xor():
    X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], ["no", "yes", "yes", "no"]
    for readout in READOUTS:
        model = sx.KernelPerceptron(readout=readout, random_state=0).fit(X, y)
        assert model.predict(X).tolist() == y
    assert model.status_.converged


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_it_separates_two_rings(kernel):
    X, y = rings()
    model = sx.KernelPerceptron(kernel=kernel, degree=2, coef0=1.0, random_state=0).fit(X, y)
    assert model.status_.converged
    assert model.score(X, y) == 1
    new, labels = rings(seed=1)
    assert model.score(new, labels) >= 0.98
    with pytest.warns(ConvergenceWarning, match="averaged"):
        sx.KernelPerceptron(kernel="linear", max_iter=5).fit(X, y)


def test_functions_tables_and_sparse_rows_give_the_same_run():
    X, y = rings(150)
    model = sx.KernelPerceptron(gamma=0.7, random_state=0).fit(X, y)

    def function(A, B):
        return np.exp(-0.7 * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    options = {"shuffle": False, "bias": 1.0}
    plain = sx.KernelPerceptron(gamma=0.7, **options).fit(X, y)
    called = sx.KernelPerceptron(kernel=function, **options).fit(X, y)
    table = sx.KernelPerceptron(kernel="precomputed", **options).fit(function(X, X), y)
    assert plain.alpha_.tolist() == called.alpha_.tolist() == table.alpha_.tolist()
    assert (table.predict(function(X[:40], X)) == plain.predict(X[:40])).all()
    thin = sx.KernelPerceptron(gamma=0.7, random_state=0).fit(sparse.csr_matrix(X), y)
    np.testing.assert_allclose(thin.decision_function(sparse.csr_array(X)), model.decision_function(X), rtol=1e-6)


@pytest.mark.parametrize("readout", READOUTS)
def test_a_small_cache_changes_nothing(readout):
    X, y = whole_numbers(300)
    options = {"kernel": "linear", "bias": 2, "readout": readout, "stop": MaxEpochs(4), "random_state": 0}
    model = sx.KernelPerceptron(**options).fit(X, y)
    poor = sx.KernelPerceptron(cache_size=0.01, **options).fit(X, y)
    assert (poor.alpha_ == model.alpha_).all()
    assert (poor.decision_function(X) == model.decision_function(X)).all()


def test_the_default_bias_is_the_radius_in_the_space_of_the_kernel():
    X, y = whole_numbers(40)
    ball = sx.KernelPerceptron(kernel="linear", stop=MaxEpochs(1)).fit(X, y).bias_constant_
    primal = sx.Perceptron(intercept_scaling="ball", stop=MaxEpochs(1)).fit(X, y)
    assert ball == pytest.approx(primal._bias_constant, rel=1e-11)
    # Two points at distance r: with the Gaussian kernel they are sqrt(2 - 2 exp(-gamma r^2)) apart.
    expected = 0.5 * np.sqrt(2 - 2 * np.exp(-0.3 * 4))
    radius = kernel_radius(check_kernel("rbf", gamma=0.3), Rows([[0.0], [2.0]]))
    assert radius.lower <= expected <= radius.upper
    assert radius.constant == pytest.approx(expected, rel=1e-12)


def test_the_bracket_on_the_radius_holds():
    rng = np.random.default_rng(0)
    for n, d in ((5, 2), (50, 3), (300, 10)):
        X = rng.standard_normal((n, d))
        rough, fine = (kernel_radius(check_kernel("rbf", gamma=0.2), Rows(X), precision=p) for p in (1e-2, 1e-6))
        assert rough.lower <= fine.lower <= fine.upper <= rough.upper
        assert fine.upper <= fine.lower * (1 + 1e-6)
    weights = np.r_[np.ones(n - 1), 0.0]
    X[-1] = 1e3
    kernel = check_kernel("linear")
    assert kernel_radius(kernel, Rows(X), weights).upper < 100 < kernel_radius(kernel, Rows(X)).lower


def test_examples_that_are_all_alike_get_a_bias_of_one():
    model = sx.KernelPerceptron(kernel="linear", max_iter=3, readout="averaged").fit([[1.0], [1.0]], [0, 1])
    assert model.bias_constant_ == 1


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        ({"bias": -1}, "bias must be 'ball', None, zero or a positive number below 1e150; found -1"),
        ({"bias": "box"}, "bias must be 'ball', None, zero or a positive number below 1e150; found 'box'"),
        ({"bias": True}, "found True"),
        ({"boundary": "correct"}, "boundary must be one of mistake, positive, negative; found 'correct'"),
        ({"boundary": "maybe"}, "boundary must be one of"),
        ({"readout": "first"}, "readout must be one of last, averaged, voted, pocket; found 'first'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1; found 0"),
        ({"kernel": "cosine"}, "kernel must be one of linear, rbf, poly, precomputed, or a callable"),
        ({"cache_size": 1e-6}, "one kernel row"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(parameters, text):
    with pytest.raises(ValueError, match=text):
        sx.KernelPerceptron(**parameters).fit(*rings(50))


def test_a_stop_must_be_a_stop():
    with pytest.raises(TypeError, match="stop must be a stop rule"):
        sx.KernelPerceptron(stop=5).fit(*rings(50))


def test_values_too_large_for_sums_are_refused():
    X = np.array([[1.2e154, 0.0], [-1.2e154, 1.0], [1.2e154, 2.0]])
    with pytest.raises(ValueError, match=r"so large that the kernel overflows .* scale the features first"):
        sx.KernelPerceptron(kernel="linear", bias=None, max_iter=3, shuffle=False).fit(X, [0, 1, 1])
    huge = np.array([[1, -1.7e308, 0], [-1.7e308, 1, 0], [0, 0, 1]])
    with pytest.raises(ValueError, match="the activation of row 1 is not a finite number"):
        sx.KernelPerceptron(kernel="precomputed", bias=None, shuffle=False).fit(huge, [1, 1, 0])


def test_ctrl_c_leaves_a_model():
    X, y = whole_numbers(2000, 4)
    model = sx.KernelPerceptron(kernel="linear", max_iter=10**6, random_state=0)
    press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert "interrupted" in str(model.status_)
    assert model.predict(X).shape == (2000,)


def test_a_time_limit_ends_a_run():
    X, y = whole_numbers(2000, 4)
    model = sx.KernelPerceptron(kernel="linear", max_iter=10**6, stop=TimeLimit(0.2), random_state=0).fit(X, y)
    assert "time limit" in str(model.status_)


def test_the_bar_can_be_asked_for(capfd):
    sx.KernelPerceptron(verbose=1).fit(*rings(50))
    assert capfd.readouterr().out == ""
