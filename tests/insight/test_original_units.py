"""The way back from scaled features: the same decisions on the raw ones."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC

import separatrix as sx

SCALERS = [
    MinMaxScaler,
    lambda: MinMaxScaler(feature_range=(-3, 5)),
    StandardScaler,
    lambda: StandardScaler(with_mean=False),
    lambda: StandardScaler(with_std=False),
    MaxAbsScaler,
    RobustScaler,
    lambda: RobustScaler(with_centering=False, quantile_range=(10, 80)),
    lambda: RobustScaler(with_scaling=False),
]


def random_problem(rng, n_classes):
    n, d = int(rng.integers(20, 60)), int(rng.integers(1, 8))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-3, 3, d) + rng.standard_normal(d) * 10.0 ** rng.uniform(
        -2, 2, d
    )
    if d > 2:
        X[:, 1] = 7.5  # a constant feature
    y = rng.integers(0, n_classes, n)
    y[:n_classes] = np.arange(n_classes)
    return X, np.array(["a", "b", "c"])[y]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_hundred_random_pipelines_and_their_models_agree():
    for seed in range(100):
        rng = np.random.default_rng(seed)
        X, y = random_problem(rng, 2 + seed % 2)
        chain = [SCALERS[k]() for k in rng.integers(0, len(SCALERS), int(rng.integers(1, 4)))]
        last = [
            sx.Neuron(loss="log", eta0=0.1, max_iter=20, random_state=0),
            sx.Perceptron(readout="averaged", max_iter=20, random_state=0),
            LogisticRegression(max_iter=50) if seed % 4 == 0 else SGDClassifier(max_iter=20, random_state=0),
        ][seed % 3]
        pipeline = make_pipeline(*chain, last).fit(X, y)
        model = sx.original_units(pipeline)
        new = np.concatenate([X, X + rng.standard_normal(X.shape)])
        expected, found = pipeline.decision_function(new), model.decision_function(new)
        assert found.shape == expected.shape
        scale = np.abs(expected).max()
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9 * scale, err_msg=f"{seed} {chain}")
        clear = np.abs(expected) > 1e-9 * scale if expected.ndim == 1 else np.ptp(expected, axis=1) > 1e-9 * scale
        assert np.array_equal(model.predict(new)[clear], pipeline.predict(new)[clear])
        if isinstance(last, sx.Neuron):
            np.testing.assert_allclose(model.predict_proba(new), pipeline.predict_proba(new), rtol=1e-7, atol=1e-9)
        else:
            assert not hasattr(model, "predict_proba")


def test_a_weight_is_per_unit_of_its_feature():
    X = np.array([[1000.0], [2000.0], [4000.0], [5000.0]])
    pipeline = make_pipeline(MinMaxScaler(), sx.Perceptron(random_state=0)).fit(X, [0, 0, 1, 1])
    model = sx.original_units(pipeline)
    assert model.coef_[0, 0] == pytest.approx(pipeline[-1].coef_[0, 0] / 4000)
    assert model.intercept_[0] == pytest.approx(pipeline[-1].intercept_[0] - pipeline[-1].coef_[0, 0] / 4)


def test_names_sparse_data_and_passthrough():
    frame = pd.DataFrame({"height": [1.0, 2.0, 8.0, 9.0], "age": [30.0, 10.0, 20.0, 40.0]})
    pipeline = make_pipeline(StandardScaler(), sx.Neuron(loss="log", eta0=1.0)).fit(frame, [0, 0, 1, 1])
    model = sx.original_units(pipeline)
    assert model.feature_names_in_.tolist() == ["height", "age"]
    assert model.predict(frame).tolist() == [0, 0, 1, 1]
    with pytest.raises(ValueError, match=r"the columns of X are \['age', 'height'\]; the model was trained on"):
        model.predict(frame[["age", "height"]])
    with pytest.raises(ValueError, match="X has 1 features, but the model was trained on 2"):
        model.predict([[1.0]])
    with pytest.raises(ValueError, match="X contains NaN in row 0, column 1"):
        model.predict([[1.0, np.nan]])
    X = sparse.random_array((30, 5), density=0.5, rng=np.random.default_rng(0), format="csr")
    y = np.arange(30) % 2
    scaled = make_pipeline("passthrough", MaxAbsScaler(), sx.Neuron(loss="log", stop=sx.stops.MaxEpochs(5))).fit(X, y)
    np.testing.assert_allclose(sx.original_units(scaled).decision_function(X), scaled.decision_function(X))


def pipelines():
    X, y = np.random.default_rng(0).standard_normal((20, 3)), np.arange(20) % 3
    neuron = sx.Neuron(max_iter=2, stop=sx.stops.MaxEpochs(2))
    return {
        "PCA": (
            make_pipeline(PCA(2), neuron), y,
            r"step 'pca' \(PCA\) cannot be undone feature by feature; supported are Min",
        ),
        "function": (make_pipeline(FunctionTransformer(np.exp), neuron), y, "step 'functiontransformer'"),
        "clip": (make_pipeline(MinMaxScaler(clip=True), neuron), y, "clips values to its range"),
        "not linear": (make_pipeline(MinMaxScaler(), GaussianNB()), y, "is not a fitted linear classifier"),
        "voted": (
            make_pipeline(MinMaxScaler(), sx.Perceptron(readout="voted", max_iter=2)), y,
            "is not a linear model: use readout",
        ),
        "network": (
            make_pipeline(MinMaxScaler(), sx.Network(max_iter=2, stop=sx.stops.MaxEpochs(2))), y, "is not a fitted"
        ),
        "one vs one": (make_pipeline(MinMaxScaler(), SVC(kernel="linear")), np.arange(20) % 4, "does not decide by"),
    }, X  # fmt: skip


@pytest.mark.parametrize("case", pipelines()[0])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_what_cannot_be_undone_is_refused_by_name(case):
    cases, X = pipelines()
    pipeline, y, message = cases[case]
    with pytest.raises(ValueError, match=message):
        sx.original_units(pipeline.fit(X, y))


def test_what_is_no_fitted_pipeline_is_refused():
    with pytest.raises(TypeError, match="original_units needs a fitted scikit-learn Pipeline; found Neuron"):
        sx.original_units(sx.Neuron())
    from sklearn.exceptions import NotFittedError

    with pytest.raises(NotFittedError):
        sx.original_units(make_pipeline(MinMaxScaler(), sx.Neuron()))
