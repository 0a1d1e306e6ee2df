import re
import signal
import threading
import time

import numpy as np
import pytest
from sklearn.datasets import load_iris

import separatrix as sx
from independent_fits import overlapping

CS = np.geomspace(0.01, 100.0, 9)


@pytest.mark.parametrize(
    "model",
    [
        sx.LinearSVM(max_iter=100_000),
        sx.LinearSVM(loss="squared_hinge", intercept_scaling=1.0, max_iter=100_000),
        sx.LogisticRegression(),
    ],
    ids=["hinge", "squared hinge", "log"],
)
def test_each_fit_of_a_path_equals_a_cold_fit_within_the_gaps(model):
    X, y = overlapping(2)
    path = sx.path(model, X, y, CS)
    assert path.converged_.all()
    for place, C in enumerate(CS):
        cold = type(model)(**{**model.get_params(), "C": C, "tol": 1e-10}).fit(X, y)
        gap, objective = path.duality_gap_[place, 0], path.objective_[place, 0]
        assert gap <= 1e-4 * objective * (1 + 1e-9) + 1e-9
        assert -1e-9 * objective <= objective - cold.objective_ <= gap + 1e-9 * objective
        moved = np.linalg.norm(path.coef_[place] - cold.coef_)
        assert moved <= np.sqrt(2 * gap) + np.sqrt(2 * cold.duality_gap_) + 1e-6


@pytest.mark.parametrize(
    "model",
    [sx.LogisticRegression(l1_ratio=1.0, tol=1e-8), sx.LinearSVM(loss="squared_hinge", penalty="elasticnet", tol=1e-8)],
    ids=["log", "squared hinge"],
)
def test_a_path_with_an_l1_penalty_lets_weights_in(model):
    X, y = overlapping(2)
    X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 6))])
    path = sx.path(model, X, y, CS)
    assert path.converged_.all()
    assert path.n_nonzero_[0] < path.n_nonzero_[-1]
    for place, C in enumerate(CS):
        cold = type(model)(**{**model.get_params(), "C": C}).fit(X, y)
        assert abs(path.objective_[place, 0] - cold.objective_) <= 1e-7 * cold.objective_


def test_the_estimator_is_left_as_it_was():
    X, y = overlapping(2)
    model = sx.LogisticRegression(C=3.0)
    sx.path(model, X, y, [0.1, 1.0])
    assert model.C == 3.0
    assert not hasattr(model, "coef_")


def test_support_vectors_and_weights_are_counted():
    X, y = overlapping(2)
    path = sx.path(sx.LinearSVM(), X, y, CS)
    last = sx.LinearSVM(C=100.0, tol=1e-8).fit(X, y)
    assert path.n_nonzero_.tolist() == [X.shape[1]] * len(CS)
    assert abs(path.n_support_[-1] - len(last.support_)) <= 5
    assert sx.path(sx.LogisticRegression(), X, y, CS).n_support_ is None


def test_several_classes_have_a_plane_each():
    X, y = load_iris(return_X_y=True)
    joint = sx.path(sx.LogisticRegression(), X, y, [0.1, 1.0])
    assert joint.coef_.shape == (2, 3, 4)
    assert joint.objective_.shape == (2, 1)
    rest = sx.path(sx.LinearSVM(loss="squared_hinge"), X, y, [0.1, 1.0])
    assert rest.objective_.shape == (2, 3)


def test_a_sample_weight_of_two_is_the_row_twice():
    X, y = overlapping(2)
    twice = sx.path(sx.LogisticRegression(tol=1e-12), np.vstack([X, X[:5]]), np.append(y, y[:5]), CS)
    weights = np.ones(len(y))
    weights[:5] = 2.0
    weighted = sx.path(sx.LogisticRegression(tol=1e-12), X, y, CS, sample_weight=weights)
    np.testing.assert_allclose(weighted.coef_, twice.coef_, atol=1e-5)


def test_the_path_says_what_it_did():
    X, y = overlapping(2)
    text = str(sx.path(sx.LogisticRegression(), X, y, CS))
    assert text.startswith("9 fits from C = 0.01 to 100, relative duality gap at most ")


@pytest.mark.parametrize("Cs", [[1.0, 0.1], [], [0.0, 1.0], [1.0, 1.0], [1.0, float("nan")], 3.0, ["a"]])
def test_values_of_c_that_are_not_ascending_are_refused(Cs):
    with pytest.raises(ValueError, match=r"^Cs must hold positive, finite numbers in ascending order; found"):
        sx.path(sx.LinearSVM(), *overlapping(2), Cs)


def test_one_class_and_other_estimators_are_refused():
    X, _ = overlapping(2)
    with pytest.raises(ValueError, match=r"^path needs examples of at least two classes; found one class: 1"):
        sx.path(sx.LinearSVM(), X, [1] * len(X), [1.0])
    with pytest.raises(TypeError, match=r"^path needs a LinearSVM or a LogisticRegression"):
        sx.path(sx.Perceptron(), X, [1] * len(X), [1.0])


@pytest.mark.parametrize(
    "search",
    [lambda *given: sx.path(*given, np.geomspace(0.01, 1e4, 200)), lambda *given: sx.tune(*given, within=1e-6)],
    ids=["path", "tune"],
)
def test_ctrl_c_ends_a_path_and_a_search_soon(search):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(4000, 60)), rng.integers(0, 2, 4000)
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    began = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            search(sx.LinearSVM(tol=1e-12, max_iter=10**6), X, y)
    finally:
        timer.cancel()
    assert time.monotonic() - began < 20
    assert sx.path(sx.LogisticRegression(), X[:50], y[:50], [1.0]).converged_.all()  # Ctrl-C is itself again


def test_a_path_says_how_far_each_fit_is(monkeypatch, capsys):
    X, y = overlapping(2)
    ticks = iter(range(10**6))
    monkeypatch.setattr(time, "perf_counter", lambda: float(next(ticks)))
    sx.path(sx.LogisticRegression(verbose=1), X, y, [1.0])
    assert re.match(r"class 1: iteration \d+, relative duality gap \d", capsys.readouterr().err)
