"""What cannot be saved is refused in one sentence."""

from __future__ import annotations

import os

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    QuantileTransformer,
    StandardScaler,
)

import separatrix as sx
from saved_models import TEXTS, TOPICS, TWO, X, plain
from separatrix.stops import MaxEpochs, Stop

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


class OwnStop(Stop):
    def begin(self):
        return lambda epoch: None


class OwnPerceptron(sx.Perceptron):
    pass


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (
            lambda: 3,
            "^a model file holds a fitted ALMA, AROW, KernelPerceptron, KernelSVM, LinearSVM, LogisticRegression, "
            "NHERD, Network, Neuron, OnlineSVM, PassiveAggressive, Perceptron, ROMMA, SCW or SecondOrderPerceptron, or "
            "a scikit-learn Pipeline that ends in one; found an int",
        ),
        (lambda: StandardScaler().fit(X), "found a StandardScaler"),
        (lambda: LogisticRegression().fit(X, TWO), "found a LogisticRegression"),
        (lambda: plain(OwnPerceptron()), "found an OwnPerceptron"),
        (lambda: sx.Perceptron(), "this Perceptron is not fitted yet: call fit first"),
        (lambda: make_pipeline(StandardScaler(), sx.Perceptron()), "this Pipeline is not fitted yet: call fit first"),
        (
            lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, TWO),
            "the last step 'logisticregression' must be a fitted ALMA",
        ),
        (
            lambda: make_pipeline(QuantileTransformer(n_quantiles=5), sx.Perceptron()).fit(X, TWO),
            "the step 'quantiletransformer' is a QuantileTransformer; before the last step a model file holds",
        ),
        (
            lambda: make_pipeline(FunctionTransformer(np.abs), sx.Perceptron()).fit(X, TWO),
            "the step 'functiontransformer' is a FunctionTransformer with a function; before the last step",
        ),
        (
            lambda: make_pipeline(ColumnTransformer([("k", FunctionTransformer(np.abs), [0])]), sx.Perceptron()).fit(
                X, TWO
            ),
            "the step 'columntransformer/k' is a FunctionTransformer with a function",
        ),
        (
            lambda: make_pipeline(make_pipeline(FunctionTransformer(np.abs)), sx.Perceptron()).fit(X, TWO),
            "the step 'pipeline/functiontransformer' is a FunctionTransformer with a function",
        ),
        (
            lambda: make_pipeline(CountVectorizer(analyzer=str.split), sx.Perceptron()).fit(TEXTS, TOPICS),
            "the step 'countvectorizer' is a CountVectorizer whose analyzer is a function",
        ),
        (
            lambda: plain(sx.KernelSVM(kernel=lambda a, b: a @ b.T)),
            "its kernel is a function, which a model file cannot keep: use one of linear",
        ),
        (lambda: plain(sx.KernelPerceptron(kernel=lambda a, b: a @ b.T)), "its kernel is a function"),
        (
            lambda: plain(sx.Perceptron(stop=OwnStop() | MaxEpochs(2))),
            "stop.* is an OwnStop, which a model file cannot keep",
        ),
        (
            lambda: plain(sx.Perceptron(stop=OwnStop(), max_iter=3)),
            "stop is an OwnStop, which a model file cannot keep",
        ),
        (lambda: plain(sx.Network(range(2, 4), max_iter=3)), "hidden is a range, which a model file cannot keep"),
        (lambda: _with(note=plain), r"note is a function \(plain\)"),
        (lambda: _with(note=np.zeros(2, dtype="M8[s]")), "note is an array of datetime64"),
        (lambda: _with(note=np.float128(1) if hasattr(np, "float128") else 1j), "note is a"),
        (
            lambda: plain(sx.Perceptron(max_iter=2), y=(TWO == "yes").astype("M8[D]")),
            r"its classes_ are of the type datetime64\[D\], which a model file cannot keep",
        ),
        (lambda: _with(note=b"abc"), "note is a bytes, which a model file cannot keep"),
        (lambda: _with(note=_knotted()), "holds itself, which a model file cannot keep"),
        (lambda: _with(note=_deep(100)), "nested too deeply"),
        (lambda: _with(coef_=np.full((1, 4), np.nan)), "this Perceptron cannot be saved: its coef_ are not finite"),
    ],
)
def test_what_cannot_be_saved_is_refused_in_one_sentence(make, text, tmp_path):
    model = make()
    with pytest.raises(ValueError, match=text) as refused:
        sx.save(model, tmp_path / "m.sx")
    assert "\n" not in str(refused.value)
    assert os.listdir(tmp_path) == []


def _with(**attributes):
    model = plain(sx.Perceptron(max_iter=3))
    vars(model).update(attributes)
    return model


def _knotted():
    found = [1]
    found.append(found)
    return found


def _deep(depth):
    return [_deep(depth - 1)] if depth else []
