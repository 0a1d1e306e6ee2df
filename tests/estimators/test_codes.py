"""Labels given as codes: the private way in and out, which the tables use."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import separatrix as sx

MODELS = [
    sx.Perceptron(max_iter=5, readout="averaged", random_state=0),
    sx.Perceptron(max_iter=5, readout="averaged", class_weight="balanced", random_state=0),
    sx.Neuron(max_iter=5, stop=sx.stops.MaxEpochs(5), class_weight={"a": 2.0}, random_state=0),
    sx.Network(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.LinearSVM(random_state=0),
    sx.LogisticRegression(),
    sx.OnlineSVM(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.AROW(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.SCW(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.NHERD(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.ROMMA(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.ALMA(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.SecondOrderPerceptron(max_iter=5, stop=sx.stops.MaxEpochs(5), random_state=0),
    sx.KernelSVM(class_weight="balanced"),
    sx.KernelPerceptron(max_iter=5, readout="averaged", random_state=0),
]
CLASSES = np.array(["a", "b", "c"])


def examples(n=60, n_classes=3):
    rng = np.random.default_rng(0)
    return rng.standard_normal((n, 4)), rng.integers(0, n_classes, n), rng.integers(1, 3, n).astype(float)


def same(one, other, X):
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))
    assert one.classes_.tolist() == other.classes_.tolist()
    np.testing.assert_array_equal(one.predict(X), one.classes_[one._predict_codes(X)])
    assert one._predict_codes(X).dtype == np.intp


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_a_fit_to_codes_is_the_fit_to_their_labels(model, n_classes):
    X, codes, weights = examples(n_classes=n_classes)
    classes = CLASSES[:n_classes]
    plain = clone(model).fit(X, classes[codes], sample_weight=weights)
    same(clone(model)._fit_codes(X, codes, classes, sample_weight=weights), plain, X)


@pytest.mark.parametrize("model", [model for model in MODELS if hasattr(model, "partial_fit")], ids=repr)
def test_learning_codes_online_is_learning_their_labels(model):
    X, codes, weights = examples()
    model = clone(model).set_params(class_weight=None)
    plain, coded = clone(model), clone(model)
    for part in (slice(0, 30), slice(30, 60)):
        plain.partial_fit(X[part], CLASSES[codes[part]], classes=CLASSES, sample_weight=weights[part])
        coded._partial_fit_codes(X[part], codes[part], CLASSES, sample_weight=weights[part])
    same(coded, plain, X)


def test_codes_of_new_classes_join_those_that_are_known():
    X, codes, _ = examples()
    known = sx.Perceptron(random_state=0)._partial_fit_codes(X, codes % 2, CLASSES[::2])
    known._partial_fit_codes(X, codes % 2, CLASSES[1:])
    plain = sx.Perceptron(random_state=0).partial_fit(X, CLASSES[::2][codes % 2])
    plain.partial_fit(X, CLASSES[1:][codes % 2])
    assert known.classes_.tolist() == ["a", "b", "c"]
    same(known, plain, X)


@pytest.mark.parametrize("model", [sx.Perceptron(), sx.KernelSVM()], ids=repr)
def test_codes_of_no_class_and_classes_without_examples_are_refused(model):
    X, codes, _ = examples(n_classes=2)
    with pytest.raises(ValueError, match="the class 'c' has no examples: leave it out of the classes"):
        model._fit_codes(X, codes, CLASSES)
    for wrong in (codes + 2, codes - 1):
        with pytest.raises(ValueError, match="codes must be places in the 3 classes; found"):
            model._fit_codes(X, wrong, CLASSES)
    assert not hasattr(model, "classes_")
