"""The network: its gradient, what it can learn that a perceptron cannot, and its life as an estimator."""

from __future__ import annotations

import pickle
import signal

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.preprocessing import scale

import separatrix as sx
from separatrix.loop import network
from separatrix.loop.network import Layer, activations, back_propagate, objective, random_layers
from separatrix.stops import HeldOutFlat, LossAtMost, MaxEpochs, NoMistakes, TimeLimit

XOR = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("alpha", [0.0, 0.2])
@pytest.mark.parametrize("loss", ["squared", "log"])
@pytest.mark.parametrize("sizes", [[3, 4, 1], [5, 3, 2, 3], [2, 1]])
def test_back_propagation_is_the_gradient(sizes, loss, alpha, layout):
    rng = np.random.default_rng(sum(sizes))
    layers = random_layers(sizes, rng)
    X = rng.standard_normal((11, sizes[0])) * (rng.random((11, sizes[0])) < 0.7)
    signs = rng.choice([-1.0, 1.0], (11, sizes[-1]))
    weights = rng.uniform(0.5, 2.0, 11)
    gradient, met, _ = back_propagate(layers, layout(X), signs, weights, loss, alpha)
    assert met / weights.sum() == pytest.approx(objective(layers, X, signs, weights, loss, 0.0))
    h = 1e-5
    for place, layer in enumerate(layers):
        for part in range(2):
            for index in np.ndindex(layer[part].shape):
                values = []
                for sign in (1, -1):
                    moved = [Layer(each.weights.copy(), each.bias.copy()) for each in layers]
                    moved[place][part][index] += sign * h
                    values.append(objective(moved, X, signs, weights, loss, alpha))
                expected = (values[0] - values[1]) / (2 * h)
                assert gradient[place][part][index] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_one_step_is_that_of_scikit_learns_network():
    X, y = load_iris(return_X_y=True)
    X, y = scale(X)[:100], y[:100]
    theirs = MLPClassifier(
        (3,), activation="logistic", solver="sgd", momentum=0, alpha=0, batch_size=100, learning_rate_init=0.7,
        max_iter=1, shuffle=False, random_state=0,
    )  # fmt: skip
    theirs.partial_fit(X, y, classes=[0, 1])
    before = [Layer(w.copy(), b.copy()) for w, b in zip(theirs.coefs_, theirs.intercepts_, strict=True)]
    theirs.partial_fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)[:, None]
    gradient, _, _ = back_propagate(before, X, signs, np.ones(100), "log", 0.0)
    for layer, slope, w, b in zip(before, gradient, theirs.coefs_, theirs.intercepts_, strict=True):
        np.testing.assert_allclose(layer.weights - 0.7 * slope.weights, w, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(layer.bias - 0.7 * slope.bias, b, rtol=1e-9, atol=1e-12)


def test_the_perceptron_cannot_learn_exclusive_or_and_says_so():
    X, y = XOR
    with pytest.warns(ConvergenceWarning, match="epoch limit of 1000 reached"):
        model = sx.Perceptron().fit(X, y)
    assert not model.status_.converged
    assert model.score(X, y) < 1


@pytest.mark.parametrize("seed", range(20))
def test_the_network_learns_exclusive_or_from_every_start(seed):
    X, y = XOR
    model = sx.Network(random_state=seed).fit(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.n_iter_ <= model.max_iter == 2000


@pytest.mark.parametrize("batch_size", [1, 2, "all"])
@pytest.mark.parametrize("loss", ["log", "squared"])
def test_every_mode_learns_exclusive_or(loss, batch_size):
    X, y = XOR
    model = sx.Network(loss=loss, batch_size=batch_size, eta0=2.0, random_state=1, stop=MaxEpochs(2000)).fit(X, y)
    assert model.score(X, y) == 1


def test_digits_are_learned_and_generalised():
    X, y = load_digits(return_X_y=True)
    X = X / 16.0
    model = sx.Network((32,), random_state=0, stop=MaxEpochs(60)).fit(X[:1200], y[:1200])
    assert model.score(X[1200:], y[1200:]) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)
    assert [w.shape for w in model.coefs_] == [(64, 32), (32, 10)]
    assert model.loss_curve_[-1] < model.loss_curve_[0]


def test_sparse_rows_are_dense_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 6)) * (rng.random((60, 6)) < 0.5)
    y = rng.integers(0, 3, 60)
    model = sx.Network(random_state=0, stop=MaxEpochs(5), shuffle=False)
    dense = model.fit(X, y).decision_function(X)
    np.testing.assert_allclose(model.fit(sparse.csr_array(X), y).decision_function(sparse.csr_array(X)), dense)


@pytest.mark.parametrize("batch_size", [4, "all"])
def test_a_weight_of_two_is_two_copies(batch_size):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((30, 3)), rng.integers(0, 2, 30)
    weights = rng.integers(0, 3, 30)
    options = {"random_state": 0, "stop": MaxEpochs(4), "batch_size": batch_size}
    weighted = sx.Network(**options).fit(X, y, sample_weight=weights)
    copied = sx.Network(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.decision_function(X), copied.decision_function(X), rtol=1e-9)


def test_steps_that_are_too_large_end_the_run():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(ConvergenceWarning, match=r"diverged: eta0=1e\+06 is too large .* try eta0="):
        model = sx.Network(eta0=1e6, random_state=0).fit(1e3 * X, y)
    assert model.status_.diverged
    assert all(np.isfinite(w).all() for w in model.coefs_)


def test_every_stop_rule_works_for_a_network():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    stops = {
        NoMistakes(): "converged: no mistakes (epoch",
        TimeLimit(1e-6): "stopped: time limit",
        LossAtMost(40.0, loss="log"): "converged: loss ",
        LossAtMost(30, loss="zero_one"): "converged: loss ",
        LossAtMost(20.0, loss="perceptron"): "converged: loss ",
        HeldOutFlat(0.3): "converged: validation error not lower",
    }
    for stop, words in stops.items():
        model = sx.Network(random_state=0, stop=stop, batch_size=8).fit(X, y > 0)
        assert words in str(model.status_), stop


@pytest.mark.parametrize("schedule", ["constant", "invscaling", "adaptive"])
def test_an_interrupted_run_goes_on_to_the_same_bits(monkeypatch, schedule):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50, 4)), rng.integers(0, 3, 50)
    options = {"random_state": 3, "batch_size": 8, "learning_rate": schedule, "eta0": 0.5}
    whole = sx.Network(**options, stop=MaxEpochs(7)).fit(X, y)
    broken = sx.Network(**options, stop=MaxEpochs(7), warm_start=True)
    step, calls = network.Training._step, [0]

    def press(self, *arguments):
        calls[0] += 1
        if calls[0] == 18:
            signal.raise_signal(signal.SIGINT)
        return step(self, *arguments)

    monkeypatch.setattr(network.Training, "_step", press)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y)
    assert str(broken.status_) == "interrupted: Ctrl-C in epoch 3; the model is what was learned so far"
    broken = pickle.loads(pickle.dumps(broken))
    broken.set_params(stop=MaxEpochs(5)).fit(X, y)
    for ours, theirs in zip(broken.coefs_, whole.coefs_, strict=True):
        assert ours.tobytes() == theirs.tobytes()


def test_online_learning_takes_new_classes():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = sx.Network(random_state=0, batch_size=8).partial_fit(X[:100], y[:100])
    before = model.decision_function(X[:5])
    grown = model._grown(sx.Problem(X, y), 0)[0]
    np.testing.assert_allclose(activations(grown.layers, X[:5])[:, 1], before)
    np.testing.assert_allclose(activations(grown.layers, X[:5])[:, 0], -before)
    for _ in range(50):
        model.partial_fit(X, y)
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.score(X, y) > 0.9


@pytest.mark.parametrize("hidden", [(), (0,), (2.5,), "abc", (True,), -1, None])
def test_bad_sizes_get_one_clear_sentence(hidden):
    with pytest.raises(ValueError, match="hidden must be the sizes of one or more layers"):
        sx.Network(hidden).fit(*XOR)


def test_other_bad_parameters_are_refused():
    with pytest.raises(ValueError, match="loss must be one of squared, log; found 'hinge'"):
        sx.Network(loss="hinge").fit(*XOR)
    with pytest.raises(ValueError, match="batch_size must be a whole number of at least 1, or 'all'; found 0"):
        sx.Network(batch_size=0).fit(*XOR)
    model = sx.Network((3,), stop=MaxEpochs(1)).fit(*XOR)
    with pytest.raises(ValueError, match=r"hidden is now \(5,\), but the network was built with \(3,\)"):
        model.set_params(hidden=(5,)).partial_fit(*XOR)
    with pytest.raises(ValueError, match="X contains NaN in row 1, column 0"):
        sx.Network().fit([[0.0], [np.nan]], [0, 1])
