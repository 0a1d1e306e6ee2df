"""What fitted models prove about themselves."""

from __future__ import annotations

import gc
import json
import math
import pickle
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import separatrix as sx


@pytest.fixture(scope="module")
def separable():
    return sx.datasets.separable(200, 3, margin=0.05, random_state=0)


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


@pytest.mark.parametrize(
    "model",
    [
        sx.Perceptron(random_state=0),
        sx.Perceptron(shuffle=False, intercept_scaling=3.0),
        sx.Perceptron(random_state=1, intercept_scaling="ball", readout="averaged"),
    ],
)
def test_the_perceptron_keeps_to_its_bound(separable, model):
    model = clone(model).fit(separable.X, separable.y)
    found = model.certificate_
    assert found.model == "Perceptron"
    assert found.mistakes.made == model.n_updates_
    assert found.mistakes.holds
    assert found.data.separable == "strict"
    constant = Fraction(model._bias_constant)
    plane = found.data.witness.plane
    signs = np.where(separable.y == 1, 1, -1)
    activations = [
        int(s)
        * (sum(Fraction(w) * Fraction(v) for w, v in zip(plane.weights, row, strict=True)) + Fraction(plane.bias))
        for row, s in zip(separable.X.tolist(), signs, strict=True)
    ]
    square = max(sum(Fraction(v) ** 2 for v in row) for row in separable.X.tolist()) + constant**2
    length = sum(Fraction(w) ** 2 for w in plane.weights) + (Fraction(plane.bias) / constant) ** 2
    truth = square * length / min(activations) ** 2
    assert truth <= Fraction(found.mistakes.allowed) <= truth * Fraction(1.00001)


def test_training_margin_and_distances(separable):
    X, y = separable.X, separable.y
    model = sx.Perceptron(random_state=0).fit(X, y)
    found = model.certificate_
    w, b = model.coef_[0], model.intercept_[0]
    distances = (X @ w + b) / np.linalg.norm(w)
    np.testing.assert_allclose(found.distances, distances, rtol=1e-12)
    least = (np.where(y == 1, 1, -1) * distances).min()
    assert found.margin <= least <= found.margin * (1 + 1e-6)
    assert found.wrong == 0
    flipped = np.where(np.arange(200) == 5, -y, y)
    bad = sx.Perceptron(max_iter=3, stop=sx.stops.MaxEpochs(3)).fit(X, flipped).certificate_
    assert bad.margin == -math.inf
    assert bad.wrong > 0
    assert bad.mistakes.allowed == math.inf
    assert bad.mistakes.holds


@pytest.mark.parametrize("model", [sx.Perceptron(init="uniform", random_state=0), sx.Perceptron(margin=0.5),
                                   sx.Perceptron(class_weight={-1: 2.0, 1: 1.0})])  # fmt: skip
def test_where_the_theorem_does_not_apply_nothing_is_claimed(separable, model):
    assert clone(model).fit(separable.X, separable.y).certificate_.mistakes.why


@pytest.mark.parametrize("options", [
    {}, {"C": 10.0, "loss": "squared_hinge"}, {"fit_intercept": False}, {"intercept_scaling": 2.0, "C": 0.1},
    {"class_weight": "balanced"}, {"loss": "squared_hinge", "intercept_scaling": 1.0},
])  # fmt: skip
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_the_svms_objective_is_proved(cancer, options, layout):
    X, y = cancer
    X = X[:150, :5].round(3)
    model = sx.LinearSVM(tol=1e-6, **options).fit(layout(X), y[:150])
    found = model.certificate_
    exact = exact_objective(model, X, y[:150])
    assert found.objective.dual <= found.objective.primal
    assert exact <= found.objective.primal <= exact * (1 + 1e-7)
    assert found.objective.gap <= 1e-5 * exact
    assert found.mistakes is None
    assert str(found).startswith("rows on the correct side")


def exact_objective(model, X, y):
    """The primal value in exact numbers."""
    weights, bias = [Fraction(v) for v in model.coef_[0]], Fraction(model.intercept_[0])
    costs = np.full(len(y), float(model.C))
    if model.class_weight == "balanced":
        costs = costs * (len(y) / (2 * np.bincount(y)))[y]
    total = sum(w * w for w in weights) / 2
    if model.intercept_scaling is not None:
        total += (bias / Fraction(model.intercept_scaling)) ** 2 / 2
    for row, label, cost in zip(X.tolist(), y, costs, strict=True):
        value = sum(w * Fraction(v) for w, v in zip(weights, row, strict=True)) + bias
        slack = max(1 - (value if label == 1 else -value), 0)
        total += Fraction(cost) * (slack**2 if model.loss == "squared_hinge" else slack)
    return float(total)


def test_sample_weights_count_in_the_objective_and_zeros_are_left_out(cancer):
    X, y = cancer
    X, y = X[:100, :4], y[:100]
    weights = np.arange(100) % 3
    weighted = sx.LinearSVM(tol=1e-7).fit(X, y, sample_weight=weights).certificate_
    copies = sx.LinearSVM(tol=1e-7).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights)).certificate_
    assert len(weighted.distances) == np.count_nonzero(weights)
    assert weighted.objective.dual <= copies.objective.primal
    assert copies.objective.dual <= weighted.objective.primal


def test_the_hard_margin(separable):
    found = sx.LinearSVM(C=np.inf).fit(separable.X, separable.y).certificate_
    assert found.margin > 0
    assert found.objective.primal < math.inf
    assert 0 < found.objective.dual <= found.objective.primal
    assert found.objective.gap <= 1e-3 * found.objective.primal
    data = sx.certify(separable.X, separable.y)
    assert found.objective.dual <= 0.5 / data.margin.lower**2
    assert found.objective.primal >= 0.5 / data.margin.upper**2


def test_several_classes_and_neurons():
    X, y = load_iris(return_X_y=True)
    found = sx.Perceptron(max_iter=50, readout="averaged", random_state=0).fit(X, y).certificate_
    assert list(found) == [0, 1, 2]
    assert found[0].mistakes.holds
    assert found[0].data.separable == "strict"
    assert found[1].margin == -math.inf
    assert found[1].negative is None
    neuron = sx.Neuron(loss="log").fit(X[:100], y[:100]).certificate_
    assert neuron.mistakes is None
    assert neuron.objective is None
    assert json.loads(neuron.to_json())["model"] == "Neuron"
    assert "training margin" in neuron.explain()
    assert "<table" in neuron._repr_html_()


def test_online_pickled_and_forgotten_models_say_why_there_is_none(separable):
    X, y = separable.X, separable.y
    model = sx.Perceptron(random_state=0)
    with pytest.raises(AttributeError, match="needs the data of fit"):
        model.certificate_  # noqa: B018
    online = sx.Perceptron().partial_fit(X, y)
    with pytest.raises(AttributeError, match="learned online, is a copy or was read from a file"):
        online.certificate_  # noqa: B018
    model.fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    with pytest.raises(AttributeError, match="is a copy"):
        loaded.certificate_  # noqa: B018
    assert model.certificate_.wrong == 0
    assert not hasattr(online, "certificate_")


def test_large_data_are_not_kept_alive():
    X = np.random.default_rng(0).normal(size=(90_000, 100))
    y = (X[:, 0] > 0).astype(int)
    model = sx.Perceptron(max_iter=2, stop=sx.stops.MaxEpochs(2), shuffle=False).fit(X, y)
    assert model._fit_record.rows().values is X
    del X
    gc.collect()
    with pytest.raises(AttributeError, match="must still be in memory"):
        model.certificate_  # noqa: B018


def test_a_warm_start_on_other_data_loses_the_theorem(separable):
    X, y = separable.X, separable.y
    model = sx.Perceptron(warm_start=True, random_state=0).fit(X, y)
    assert model.certificate_.mistakes is not None
    model.fit(X, y)
    assert model.certificate_.mistakes is not None
    model.fit(X[:150], y[:150])
    assert model.certificate_.mistakes.why
    model.fit(X[:150], y[:150])
    assert model.certificate_.mistakes.why
    model.set_params(warm_start=False).fit(X[:150], y[:150])
    assert model.certificate_.mistakes is not None


def test_data_that_were_changed_give_no_certificate(separable):
    for size, layout in ((1, np.array), (400, np.array), (1, sparse.csr_array)):
        X, y = layout(np.repeat(separable.X, size, axis=0)), np.repeat(separable.y, size)
        model = sx.Perceptron(random_state=0, max_iter=2, stop=sx.stops.MaxEpochs(2)).fit(X, y)
        assert model.certificate_.distances.shape == (200 * size,)
        if isinstance(X, np.ndarray):
            X[:] = 0.0
        else:
            X.data[:] = 0.0
        with pytest.raises(AttributeError, match="unchanged"):
            model.certificate_  # noqa: B018


def test_later_settings_change_no_claim(separable):
    X, y = separable.X, separable.y
    svm = sx.LinearSVM(C=1.0, tol=1e-6).fit(X, y)
    gap = svm.certificate_.objective.gap
    svm = sx.LinearSVM(C=1.0, tol=1e-6).fit(X, y).set_params(C=100.0, loss="squared_hinge", fit_intercept=False)
    assert svm.certificate_.objective.gap == gap
    model = sx.Perceptron(margin=1.0, random_state=0).fit(X, y).set_params(margin=0.0)
    assert model.certificate_.mistakes.why


def test_certificates_are_computed_once_and_only_when_asked_for(separable, monkeypatch):
    from separatrix.estimators import certified

    calls = []
    monkeypatch.setattr(
        certified, "measure_plane", lambda *given, real=certified.measure_plane: calls.append(1) or real(*given)
    )
    model = sx.Perceptron(random_state=0).fit(separable.X, separable.y)
    model._repr_html_()
    dir(model)
    assert calls == []
    first = model.certificate_
    assert model.certificate_ is first
    assert calls == [1]
    model.intercept_ = model.intercept_ + 1.0
    assert model.certificate_ is not first


def test_weights_of_one_are_no_weights(separable):
    X, y = separable.X, separable.y
    assert sx.Perceptron(random_state=0).fit(X, y, sample_weight=np.ones(200)).certificate_.mistakes.holds


def test_large_frames_are_not_kept_either():
    import pandas as pd

    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30_000, 80)))
    y = (frame[0] > 0).astype(int)
    model = sx.Perceptron(max_iter=2, stop=sx.stops.MaxEpochs(2), shuffle=False).fit(frame, y)
    assert len(model.certificate_.distances) == 30_000
    kept = model._fit_record._rows
    del frame
    gc.collect()
    assert kept() is None


def test_a_warm_start_with_other_steps_loses_the_theorem(separable):
    X, y = separable.X, separable.y
    for change in ({"eta0": 1e-5}, {"margin": 0.1}, {"intercept_scaling": 2.0}, {"init": "uniform"}):
        model = sx.Perceptron(warm_start=True, random_state=0).fit(X, y)
        model.set_params(**change).fit(X, y)
        assert model.certificate_.mistakes.why, change
    model = sx.Perceptron(warm_start=True, random_state=0).fit(X, y)
    assert model.set_params(max_iter=5000).fit(X, y).certificate_.mistakes.holds


def test_steps_that_vanish_in_rounding_are_not_claimed_to_be_few(separable):
    model = sx.Perceptron(fit_intercept=False, max_iter=5, stop=sx.stops.MaxEpochs(5))
    assert model.fit(separable.X * 1e-160, separable.y).certificate_.mistakes.why
    corners, y = sx.datasets.load("and")
    ball = sx.Perceptron(intercept_scaling="ball", eta0=1e-8, random_state=1, max_iter=20, stop=sx.stops.MaxEpochs(20))
    assert ball.fit(corners * 1e-160, y).certificate_.mistakes.why


def test_the_theorem_is_about_every_learning_rate(separable):
    few = [sx.Perceptron(eta0=eta, random_state=0).fit(separable.X, separable.y) for eta in (1.0, 1e-280)]
    assert few[0].certificate_.mistakes == few[1].certificate_.mistakes
    assert few[1].certificate_.mistakes.holds
    assert few[1].certificate_.wrong == 0


def test_weights_changed_after_fit_change_no_claim():
    X, y = sx.datasets.load("xor")
    weights = np.ones(4)
    model = sx.LinearSVM().fit(X, y, sample_weight=weights)
    weights *= 1e-3
    assert model.certificate_.objective.primal == pytest.approx(4.0)
