"""What a weight means, and when weights cannot be compared."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.stops import MaxEpochs


def fitted(scale=1.0, container=lambda X: X, k=2):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 3))
    y = (X @ [0.2, -3.0, 1.0] > 0).astype(int) if k == 2 else rng.integers(0, k, 300)
    return sx.Perceptron(readout="averaged", stop=MaxEpochs(5), random_state=0).fit(container(X * [1.0, 1.0, scale]), y)


def test_similar_features_are_ranked_as_their_weights_are():
    ranked = sx.importance(fitted())
    assert [feature.name for feature in ranked] == ["x1", "x2", "x0"]
    assert ranked.comparable
    assert "similar standard deviations" in ranked.message
    assert len(ranked) == 3
    assert ranked[0].weight < 0


@pytest.mark.parametrize("container", [lambda X: X, sparse.csr_array])
def test_unlike_scales_are_named_and_features_are_ranked_by_effect(container):
    ranked = sx.importance(fitted(scale=1000.0, container=container))
    assert not ranked.comparable
    assert "The weights cannot be compared: the standard deviation of 'x2' is" in ranked.message
    effects = [abs(feature.weight * feature.std) for feature in ranked]
    assert effects == sorted(effects, reverse=True)
    assert ranked.message in str(ranked)


def test_names_come_from_the_frame_and_deviations_from_data_on_request():
    model = fitted(container=lambda X: pd.DataFrame(X, columns=["height", "weight", "age"]))
    assert {feature.name for feature in sx.importance(model)} == {"height", "weight", "age"}
    X = np.random.default_rng(1).standard_normal((50, 3)) * [1, 500, 1]
    assert not sx.importance(model, X).comparable
    with pytest.raises(ValueError, match="X has 2 columns, but the model has 3 weights"):
        sx.importance(model, X[:, :2])


def test_several_classes_need_a_label():
    model = fitted(k=3)
    assert len(sx.importance(model, label=1)) == 3
    with pytest.raises(ValueError, match="weights for 3 classes: choose one with label="):
        sx.importance(model)
    with pytest.raises(ValueError, match=r"has no class 9; its classes are \[0, 1, 2\]"):
        sx.importance(model, label=9)


def test_deviations_are_learned_online_one_row_at_a_time():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3)) * [1.0, 1.0, 500.0]
    model = sx.Perceptron(random_state=0)
    for row, label in zip(X, X[:, 0] > 0, strict=True):
        model.partial_fit([row], [label])
    np.testing.assert_allclose(model._spread.deviation, X.std(axis=0), rtol=1e-9)
    assert not sx.importance(model).comparable


def test_a_label_of_a_two_class_model_is_looked_up():
    model = fitted()
    assert [f.weight for f in sx.importance(model, label=0)] == [-f.weight for f in sx.importance(model, label=1)]
    with pytest.raises(ValueError, match="has no class 99"):
        sx.importance(model, label=99)


def test_what_is_not_a_fitted_linear_model_is_refused():
    with pytest.raises(TypeError, match="needs a fitted linear model with coef_; found Perceptron"):
        sx.importance(sx.Perceptron())


def test_features_that_do_not_vary_are_said():
    model = sx.Perceptron(stop=MaxEpochs(1)).fit(np.ones((4, 2)), [0, 1, 0, 1])
    assert "All features are constant" in sx.importance(model).message
