"""Model files: what comes back, what is refused, and what is left when something goes wrong."""

from __future__ import annotations

import errno
import json
import math
import os
import re
import signal
import stat
import struct
import subprocess
import sys
import time
import warnings
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import sklearn
from safetensors import safe_open
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    QuantileTransformer,
    RobustScaler,
    StandardScaler,
)

import separatrix as sx
from forged_models import apart, attribute, mutated, nodes, put, reheaded, together
from separatrix import files
from separatrix.models import model_file
from separatrix.models.codec import RefusedError
from separatrix.models.decoding import decode
from separatrix.models.encoding import encode
from separatrix.models.model_file import read_facts
from separatrix.models.registry import Registry, Stored, stored_classes
from separatrix.stops import HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoMistakes, Stop, TimeLimit

ROOT = Path(__file__).parents[2]
CORPUS = sorted((ROOT / "fuzz" / "corpus" / "model_file").glob("*"))
READOUTS = ("last", "averaged", "voted", "pocket")

rng = np.random.default_rng(5)
X = rng.normal(size=(60, 4))
TWO = np.where(X[:, 0] + 0.8 * rng.normal(size=60) > 0, "yes", "no")
THREE = np.array(["a", "b", "c"])[rng.integers(0, 3, 60)]
TEXTS = ["a red dog", "one cat", "dog and cat", "fish", "red fish", "the cat and a fish"] * 5
TOPICS = [0, 1, 0, 1, 0, 1] * 5
FRAME = pd.DataFrame(
    {
        "size": [1.0, 2.0, np.nan, 4.0, 0.5, 3.0] * 5,
        "count": [1, 2, 3, 4, 5, 6] * 5,
        "color": ["red", "blue", "red", "green", "blue", "red"] * 5,
        "text": TEXTS,
    }
)

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def plain(model, X=X, y=TWO, **kwargs):
    return model.fit(X, y, **kwargs)


MODELS = {
    **{
        f"perceptron {r}": (lambda r=r: plain(sx.Perceptron(readout=r, max_iter=8, random_state=0)), X)
        for r in READOUTS
    },
    **{
        f"perceptron {r} of three": (
            lambda r=r: plain(sx.Perceptron(readout=r, max_iter=8, random_state=0), y=THREE),
            X,
        )
        for r in READOUTS
    },
    "perceptron voted sparse": (
        lambda: plain(sx.Perceptron(readout="voted", max_iter=8), sparse.csr_array(X), THREE),
        sparse.csr_matrix(X),
    ),
    "perceptron with everything": (
        lambda: plain(
            sx.Perceptron(
                init=(np.ones((1, 4)), [0.5]),
                class_weight={"yes": 2.0, "no": 1},
                n_jobs=2,
                margin=0.5,
                max_iter=20,
                intercept_scaling="ball",
                random_state=np.int64(3),
                stop=NoMistakes() | LossAtMost(1.5, 2, "hinge") | LossFlat() | TimeLimit(60) | HeldOutFlat(0.2),
            )
        ),
        X,
    ),
    "perceptron of numbers": (lambda: plain(sx.Perceptron(max_iter=5), y=(TWO == "yes").astype(np.int16)), X),
    "perceptron of truths": (lambda: plain(sx.Perceptron(max_iter=5), y=TWO == "yes"), X),
    "perceptron of bytes": (lambda: plain(sx.Perceptron(max_iter=5), y=THREE.astype("S3")), X),
    "perceptron of objects": (lambda: plain(sx.Perceptron(max_iter=5), y=THREE.astype(object)), X),
    "neuron": (lambda: plain(sx.Neuron(max_iter=10, learning_rate="adaptive", alpha=0.01)), X),
    "neuron of three": (lambda: plain(sx.Neuron(max_iter=10, loss="log", batch_size=8), y=THREE), X),
    "svm": (lambda: plain(sx.LinearSVM(C=2.0)), X),
    "svm of three": (lambda: plain(sx.LinearSVM(loss="squared_hinge", intercept_scaling=1.0), y=THREE), X),
    "svm weighted": (lambda: plain(sx.LinearSVM(), sample_weight=np.arange(60) % 3), X),
    "svm hard": (lambda: plain(sx.LinearSVM(C=math.inf), y=X[:, 0] > 0), X),
    "svm hard without a plane": (lambda: plain(sx.LinearSVM(C=math.inf, max_iter=50)), X),
    "svm online": (lambda: plain(sx.OnlineSVM(max_iter=10), y=THREE), X),
    "svm online averaged": (lambda: plain(sx.OnlineSVM(average=True, step="lecture", max_iter=9)), X),
    "kernel svm": (lambda: plain(sx.KernelSVM(C=3.0)), X),
    "kernel svm of three": (lambda: plain(sx.KernelSVM(kernel="poly", coef0=1.0), y=THREE), X),
    "kernel svm sparse": (lambda: plain(sx.KernelSVM(), sparse.csr_array(X), THREE), sparse.csr_array(X)),
    "kernel svm single": (lambda: plain(sx.KernelSVM(), np.tile(X, (20, 1)).astype(np.float32), np.tile(TWO, 20)), X),
    "kernel svm of a table": (lambda: plain(sx.KernelSVM(kernel="precomputed"), X @ X.T), X @ X.T),
    **{
        f"kernel perceptron {r}": (lambda r=r: plain(sx.KernelPerceptron(readout=r, max_iter=9), y=THREE), X)
        for r in READOUTS
    },
    "kernel perceptron of a table": (
        lambda: plain(sx.KernelPerceptron(kernel="precomputed", readout="voted", max_iter=5), X @ X.T),
        X @ X.T,
    ),
    "network": (lambda: plain(sx.Network((3, 2), max_iter=20, random_state=0), y=THREE), X),
    "network of two": (lambda: plain(sx.Network([5], max_iter=20, random_state=0, batch_size="all")), X),
    "frame": (
        lambda: plain(sx.Perceptron(max_iter=5), pd.DataFrame(X, columns=list("abcd"))),
        pd.DataFrame(X, columns=list("abcd")),
    ),
    "scalers": (
        lambda: plain(
            make_pipeline(
                StandardScaler(),
                MinMaxScaler(),
                MaxAbsScaler(),
                RobustScaler(),
                PolynomialFeatures(2),
                Normalizer(),
                "passthrough",
                make_pipeline(StandardScaler(with_mean=False), sx.LinearSVM()),
            )
        ),
        X,
    ),
    "columns": (
        lambda: plain(
            make_pipeline(
                ColumnTransformer(
                    [
                        ("n", make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["size"]),
                        ("o", OneHotEncoder(drop="first", min_frequency=6), ["color"]),
                        ("i", OneHotEncoder(handle_unknown="ignore", dtype=np.float32), ["color", "count"]),
                        (
                            "r",
                            OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1),
                            make_column_selector(dtype_exclude=np.number),
                        ),
                        ("p", "passthrough", ["count"]),
                        ("d", "drop", ["size"]),
                        ("m", SimpleImputer(strategy="most_frequent"), slice("size", "size")),
                        ("t", TfidfVectorizer(ngram_range=(1, 2)), "text"),
                        ("c", CountVectorizer(stop_words=["dog"], max_features=3), "text"),
                    ],
                    remainder="drop",
                    transformer_weights={"n": 2.0},
                ),
                sx.Perceptron(readout="averaged", max_iter=9),
            ),
            FRAME,
            TOPICS,
        ),
        FRAME,
    ),
    "columns by number": (
        lambda: plain(
            make_pipeline(
                make_column_transformer(
                    (StandardScaler(), [0, 2]), (MinMaxScaler(), [True, False, False, False]), remainder=MaxAbsScaler()
                ),
                sx.Neuron(max_iter=5),
            )
        ),
        X,
    ),
    "a mean among categories": (
        lambda: plain(
            make_pipeline(SimpleImputer(), OneHotEncoder(), sx.Perceptron(max_iter=4)),
            [[1.0], [2.0], [3.0], [1.0]],
            [0, 1, 0, 1],
        ),
        [[1.0], [2.0]],
    ),
    "a frame on the way": (
        lambda: plain(make_pipeline(StandardScaler().set_output(transform="pandas"), sx.Perceptron(max_iter=4))),
        X,
    ),
    "text": (
        lambda: plain(
            make_pipeline(CountVectorizer(stop_words="english"), TfidfTransformer(), sx.LinearSVM()), TEXTS, TOPICS
        ),
        TEXTS,
    ),
    "many words": (
        lambda: plain(
            make_pipeline(TfidfVectorizer(analyzer="char", ngram_range=(1, 4)), sx.LinearSVM()), TEXTS, TOPICS
        ),
        TEXTS,
    ),
    "hashed text": (
        lambda: plain(make_pipeline(HashingVectorizer(n_features=64), sx.Perceptron()), TEXTS, TOPICS),
        TEXTS,
    ),
}


def same(model, other, rows):
    for method in ("predict", "decision_function", "predict_proba"):
        if hasattr(model, method):
            found, expected = getattr(other, method)(rows), getattr(model, method)(rows)
            assert found.dtype == expected.dtype
            assert found.tobytes() == expected.tobytes() if found.dtype != object else (found == expected).all()


def through(model, tmp_path, name="model.sx"):
    sx.save(model, tmp_path / name)
    return sx.load(tmp_path / name)


# ---------------------------------------------------------------------------------------------- what comes back


@pytest.mark.parametrize("name", MODELS)
def test_a_model_predicts_the_same_to_the_bit(name, tmp_path):
    make, rows = MODELS[name]
    model = make()
    again = through(model, tmp_path)
    assert type(again) is type(model)
    same(model, again, rows)
    if not isinstance(model, Pipeline):
        assert str(again.status_) == str(model.status_)
        assert repr(again) == repr(model)
        assert set(vars(model)) - set(vars(again)) <= {"_fit_record", "_skl_callbacks"}
        for value, found in ((vars(model)[key], vars(again)[key]) for key in vars(again)):
            assert type(value) is type(found)
            if isinstance(value, np.ndarray):
                assert value.dtype == found.dtype
                assert value.tobytes() == found.tobytes() or value.dtype == object
                assert value.flags.f_contiguous == found.flags.f_contiguous
                assert found.flags.writeable


@pytest.mark.parametrize("name", MODELS)
def test_the_same_model_gives_the_same_bytes(name, tmp_path):
    model = MODELS[name][0]()
    for file in ("one", "two"):
        sx.save(model, tmp_path / file)
    sx.save(sx.load(tmp_path / "one"), tmp_path / "three")
    one, two, three = ((tmp_path / file).read_bytes() for file in ("one", "two", "three"))
    assert one == two == three


def test_bytes_do_not_depend_on_the_process(tmp_path):
    script = (
        "import sys, numpy as np, separatrix as sx; from sklearn.pipeline import make_pipeline;"
        "from sklearn.feature_extraction.text import CountVectorizer as C;"
        "m = make_pipeline(C(stop_words=['aa', 'bb', 'the']), sx.LinearSVM(random_state=0));"
        "m.fit(['xx yy', 'yy zz', 'zz ww', 'ww'], [0, 0, 1, 1]);"
        "m[-1].history_.seconds[:] = [0.0] * len(m[-1].history_.seconds); sx.save(m, sys.argv[1])"
    )
    for k in range(2):
        env = {**os.environ, "PYTHONHASHSEED": str(k + 1)}
        subprocess.run([sys.executable, "-c", script, str(tmp_path / f"{k}")], check=True, env=env)
    assert (tmp_path / "0").read_bytes() == (tmp_path / "1").read_bytes()


def test_it_is_a_safetensors_file(tmp_path):
    model = plain(sx.Perceptron(max_iter=5))
    sx.save(model, tmp_path / "m.sx")
    with safe_open(tmp_path / "m.sx", framework="np") as file:
        assert file.metadata()["format"] == "separatrix model"
        assert (file.get_tensor("coef_") == model.coef_).all()
        assert (file.get_tensor("_states.0.weights") == model._states[0].weights).all()


def test_every_attribute_of_a_scikit_learn_step_comes_back(tmp_path):
    model = MODELS["columns"][0]()
    again = through(model, tmp_path)
    assert again.get_params().keys() == model.get_params().keys()
    assert (again[0].get_feature_names_out() == model[0].get_feature_names_out()).all()
    assert (again.feature_names_in_ == model.feature_names_in_).all()


def test_a_generator_as_random_state_becomes_the_seed_that_was_drawn(tmp_path):
    model = plain(sx.Perceptron(random_state=np.random.RandomState(4), max_iter=5))
    again = through(model, tmp_path)
    assert again.random_state == model._run_seed
    assert (again.fit(X, TWO).coef_ == model.coef_).all()
    with pytest.raises(ValueError, match="random_state of KernelPerceptron is a generator, which a model file cannot"):
        sx.save(plain(sx.KernelPerceptron(random_state=np.random.RandomState(4))), tmp_path / "m.sx")


def test_callbacks_and_data_stay_behind(tmp_path):
    model = plain(sx.Perceptron(readout="averaged", max_iter=5))
    model._skl_callbacks = [lambda: None]
    again = through(model, tmp_path)
    assert not hasattr(again, "_skl_callbacks")
    assert model.certificate_ is not None
    with pytest.raises(AttributeError, match=r"certificate_ needs the data of fit .* or was read from a file"):
        _ = again.certificate_


def test_the_memory_of_a_pipeline_stays_behind(tmp_path):
    model = Pipeline([("s", StandardScaler()), ("p", sx.Perceptron())], memory=str(tmp_path / "cache")).fit(X, TWO)
    again = through(model, tmp_path)
    assert again.memory is None
    same(model, again, X)


def test_what_a_file_is_can_be_read_without_the_model(tmp_path):
    sx.save(plain(sx.Perceptron(max_iter=5)), tmp_path / "m.sx")
    facts = read_facts(tmp_path / "m.sx")
    assert (facts["kind"], facts["schema"], facts["separatrix"]) == ("Perceptron", 1, sx.__version__)
    assert facts["numpy"] == np.__version__


# ---------------------------------------------------------------------------------------------- going on

WIDE = rng.normal(size=(300, 6))
NOISY = np.where(WIDE @ [1, 2, 0, 0, -1, 0.5] + 2 * rng.normal(size=300) > 0, 1, 0)
MORE = rng.integers(0, 3, 300)


def learners():
    for readout in READOUTS:
        yield f"perceptron {readout}", lambda r=readout, **k: sx.Perceptron(readout=r, max_iter=12, **k), NOISY
        yield f"perceptron {readout} of three", lambda r=readout, **k: sx.Perceptron(readout=r, max_iter=12, **k), MORE
    for name, more in (
        ("constant", {}),
        ("adaptive", {"learning_rate": "adaptive", "eta0": 0.5}),
        ("invscaling", {"learning_rate": "invscaling", "loss": "log", "batch_size": 7}),
    ):
        yield f"neuron {name}", lambda m=more, **k: sx.Neuron(max_iter=12, **m, **k), MORE
    for average in (False, True):
        yield (
            f"svm online {average}",
            lambda a=average, **k: sx.OnlineSVM(average=a, max_iter=12, **k),
            MORE,
        )
    yield "network", lambda **k: sx.Network((4,), max_iter=12, batch_size=16, **k), MORE
    yield "network adaptive", lambda **k: sx.Network((3, 3), max_iter=12, learning_rate="adaptive", **k), NOISY


LEARNERS = {name: (make, y) for name, make, y in learners()}


def learned(model):
    """Return what a run has left, as bytes, but for the time it took."""
    tree, arrays = encode(model._states, Registry())
    text = re.sub(r'"seconds":(\{[^}]*\}|[-0-9.e]+)', "", json.dumps(tree, separators=(",", ":")))
    return text, {name: array.tobytes() for name, array in arrays.items() if "seconds" not in name}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_cut_short_goes_on_to_the_same_bits_through_the_file(name, tmp_path, monkeypatch):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True, stop=TimeLimit(1e6)).fit(WIDE, y)
    model = make(random_state=3, warm_start=True, stop=TimeLimit(1e6))
    cuts = 0
    for _ in range(200):
        model.set_params(stop=TimeLimit(1e-9))  # a little of an epoch, or an epoch
        model.fit(WIDE, y)
        model = through(model, tmp_path)
        cuts += model._cut_short
        assert model._cut_short or not model.status_.text.startswith("stopped: time")
        if not model._cut_short or model._states[0].epochs >= 5:
            break
    assert cuts >= 1
    left = 12 - model._states[0].epochs
    if model._cut_short:
        model.set_params(stop=TimeLimit(1e6), max_iter=left).fit(WIDE, y)
    attributes = ("coef_", "intercept_") if hasattr(whole, "coef_") else ("coefs_", "intercepts_")
    for attribute_name in attributes:
        for one, other in zip(getattr(model, attribute_name), getattr(whole, attribute_name), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
    same(whole, model, WIDE)


@pytest.mark.parametrize("name", LEARNERS)
def test_an_interrupted_run_goes_on_to_the_same_bits_through_the_file(name, tmp_path, monkeypatch):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True).fit(WIDE, y)
    model = make(random_state=3, warm_start=True)
    from separatrix.observers import History

    seen = []
    keep = History.on_epoch

    def press(self, epoch):
        keep(self, epoch)
        seen.append(epoch)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(History, "on_epoch", press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WIDE, y)
    monkeypatch.setattr(History, "on_epoch", keep)
    again = through(model, tmp_path)
    assert again._cut_short
    again.set_params(max_iter=12 - again._states[0].epochs).fit(WIDE, y)
    model.set_params(max_iter=12 - model._states[0].epochs).fit(WIDE, y)
    assert learned(again) == learned(model)
    same(whole, again, WIDE)


class StopAfterTwo:
    """A scikit-learn callback that ends a run after two epochs."""

    epochs = 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.epochs += context.task_name == "epoch"
        return self.epochs == 2

    def teardown(self, estimator, context):
        pass


@pytest.mark.skipif(not hasattr(sx.Perceptron, "set_callbacks"), reason="this scikit-learn has no callbacks")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_that_a_callback_ended_goes_on_to_the_same_bits_through_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True).fit(WIDE, y)
    model = make(random_state=3, warm_start=True).set_callbacks(StopAfterTwo()).fit(WIDE, y)
    assert "requested by a callback after epoch 2" in str(model.status_)
    again = through(model, tmp_path)
    again.set_params(max_iter=10).fit(WIDE, y)
    assert again._states[0].epochs == whole._states[0].epochs
    same(whole, again, WIDE)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_finished_run_goes_on_alike_with_and_without_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    model = make(random_state=3, warm_start=True, stop=MaxEpochs(3)).fit(WIDE, y)
    again = through(model, tmp_path)
    for each in (model, again):
        each.fit(WIDE, y)
    assert learned(again) == learned(model)
    again = through(again, tmp_path)
    for each in (model, again):
        each.fit(WIDE[::-1], y)
    assert learned(again) == learned(model)


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_online_goes_on_to_the_same_bits_through_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    whole, model = make(random_state=3), make(random_state=3)
    for begin in range(0, 300, 60):
        part = slice(begin, begin + 60)
        whole.partial_fit(WIDE[part], y[part])
        model = through(model.partial_fit(WIDE[part], y[part]), tmp_path)
    assert learned(model) == learned(whole)
    same(whole, model, WIDE)
    for each in (whole, model):
        each.partial_fit(WIDE[:9], np.full(9, 7))  # a new class
    assert learned(model) == learned(whole)
    same(whole, model, WIDE)


def test_a_model_of_one_class_comes_back(tmp_path):
    for model in (sx.Perceptron(), sx.Neuron(), sx.Network(), sx.OnlineSVM()):
        again = through(model.partial_fit(X[:5], ["a"] * 5), tmp_path)
        assert again.predict(X[:2]).tolist() == ["a", "a"]
        for each in (model, again):
            each.partial_fit(X, THREE)
        same(model, again, X)


@pytest.mark.parametrize(
    ("C", "loss", "y"),
    [(5.0, "hinge", MORE), (2.0, "squared_hinge", NOISY), (math.inf, "hinge", (WIDE[:, 0] > 0).astype(int))],
)
@pytest.mark.parametrize("size", [300, 40])
def test_the_dual_solver_goes_on_to_the_same_bits_through_the_file(C, loss, y, size, tmp_path):
    rows, y = np.asarray(WIDE[:size]), y[:size]

    def make(stop):
        # It has something to begin with, so that small questions are not answered at once.
        model = sx.LinearSVM(C=1.0, random_state=2, warm_start=True, tol=1e-6).fit(rows, y)
        return model.set_params(C=C, loss=loss, stop=stop)

    whole = make(None).fit(rows, y)
    model = make(TimeLimit(1e-9))
    cuts = 0
    for _ in range(60):
        model = through(model.fit(rows, y), tmp_path)
        if not model._cut_short:
            break
        cuts += 1
        model.set_params(stop=TimeLimit(1e-9 if cuts % 2 else 0.002))
    if model._cut_short:
        model = through(model.set_params(stop=None).fit(rows, y), tmp_path)
    assert cuts >= 1
    for name in ("coef_", "intercept_", "dual_coef_", "slack_"):
        assert getattr(model, name).tobytes() == getattr(whole, name).tobytes()
    assert np.array_equal(model.duality_gap_, whole.duality_gap_)
    same(whole, model, rows)


# ---------------------------------------------------------------------------------------------- what is not saved


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
            "^a model file holds a fitted Perceptron, Neuron, LinearSVM, OnlineSVM, KernelSVM, KernelPerceptron or "
            "Network, or a scikit-learn Pipeline that ends in one; found an int",
        ),
        (lambda: StandardScaler().fit(X), "found a StandardScaler"),
        (lambda: LogisticRegression().fit(X, TWO), "found a LogisticRegression"),
        (lambda: plain(OwnPerceptron()), "found an OwnPerceptron"),
        (lambda: sx.Perceptron(), "this Perceptron is not fitted yet: call fit first"),
        (lambda: make_pipeline(StandardScaler(), sx.Perceptron()), "this Pipeline is not fitted yet: call fit first"),
        (
            lambda: make_pipeline(StandardScaler(), LogisticRegression()).fit(X, TWO),
            "the last step 'logisticregression' must be a fitted Perceptron",
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
            "its kernel is a function, which a model file cannot keep: name one of linear",
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


# ---------------------------------------------------------------------------------------------- the codec


@pytest.mark.parametrize(
    "value",
    [
        None,
        True,
        0,
        -(2**63),
        2**63,
        -(10**100),
        0.0,
        -0.0,
        5e-324,
        math.inf,
        -math.inf,
        0.1,
        "",
        "é\x00\ud800",
        [],
        (),
        [1, [2, (3, "x")]],
        {},
        {"a": 1, 2: "b", None: 3, (1, 2): [4], 1.5: 5, np.int64(7): 6},
        {1, 2, 3},
        {"x", "y"},
        pytest.param(frozenset({1, "a"}), id="frozenset"),
        Fraction(-1, 3),
        Fraction(10**50, 7),
        slice(1, None, -2),
        slice("a", "b"),
        np.float64(0.1),
        np.float32(-0.0),
        np.int8(-5),
        np.bool_(True),
        np.str_("a"),
        np.uint64(2**64 - 1),
        np.float16(0.5),
        np.float64,
        float,
        int,
        object,
        np.number,
        np.dtype("<f4"),
        np.dtype(object),
        np.dtype("<U7"),
        np.dtype(bool),
        [0.1] * 40,
        [math.nan, math.inf, -0.0] * 20,
        list(range(40)),
        [2**70] * 40,
        [True, False] * 20,
        ["é", "", "\ud800"] * 20,
        [None, 1.0] * 20,
        {f"word {k}": k for k in range(100)},
        [TimeLimit(float(k + 1)) for k in range(40)],
        [NoMistakes()] * 40,
    ],
    ids=lambda value: "".join(sorted(repr(value)[:20])) if isinstance(value, set) else repr(value)[:40],
)
def test_plain_values_come_back_as_they_were(value):
    tree, arrays = encode(value, Registry())
    again = decode(json.loads(json.dumps(tree, allow_nan=False)), arrays, Registry())
    assert type(again) is type(value)
    assert repr(again) == repr(value)
    assert arrays == {}


def test_a_nan_keeps_its_bits():
    value = struct.unpack(">d", bytes.fromhex("fff8000000000123"))[0]
    tree, arrays = encode([value], Registry())
    assert struct.pack(">d", decode(tree, arrays, Registry())[0]).hex() == "fff8000000000123"


@pytest.mark.parametrize(
    "array",
    [
        np.zeros((0, 3)),
        np.array(3.5),
        np.arange(6).reshape(2, 3),
        np.arange(6.0).reshape(2, 3).T,
        np.arange(8)[::2],
        np.array([True, False]),
        np.float16([1, 2]),
        np.arange(3, dtype=">i4"),
        np.array(["a", "bcd"]),
        np.array("text"),
        np.array([], dtype="<U5"),
        np.array([["é", ""], ["\ud800", "d"]]),
        np.array(["x" * 9] * 50, dtype="<U12"),
        np.array([None, 1, "a", 2.5, True, np.int64(4)], dtype=object),
        np.empty((2, 0), dtype=object),
    ],
    ids=lambda array: f"{array.dtype}{array.shape}",
)
def test_arrays_come_back_as_they_were(array):
    tree, arrays = encode(array, Registry())
    again = decode(json.loads(json.dumps(tree)), arrays, Registry())
    assert again.shape == array.shape
    assert again.dtype == array.dtype.newbyteorder("=")
    assert again.tolist() == array.tolist()


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.csr_matrix])
def test_sparse_matrices_come_back_as_they_were(kind):
    matrix = kind(np.diag([1.0, 2.0, 0.0, 4.0]))
    tree, arrays = encode(matrix, Registry())
    again = decode(tree, arrays, Registry())
    assert type(again) is kind
    assert (again.toarray() == matrix.toarray()).all()
    with pytest.raises(RefusedError, match="is a csc_array, which a model file cannot keep"):
        encode(sparse.csc_array(np.eye(2)), Registry())


def test_tables_of_text_cannot_be_made_to_fill_the_memory():
    wide = np.array(["a"], dtype="<U40000000")
    tree, arrays = encode([wide, wide], Registry())
    found = decode(tree, arrays, Registry())
    assert [each.dtype.itemsize // 4 for each in found] == [40_000_000, 1]
    with pytest.raises(RefusedError, match="a table of text has the wrong width"):
        decode([tree[0], tree[0]], {}, Registry())


@dataclass(frozen=True)
class Column:
    name: str
    levels: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    columns: list[Column]
    means: np.ndarray
    estimator: object
    notes: dict[str, object]


def test_a_dataclass_of_the_table_is_a_model_by_itself(monkeypatch, tmp_path):
    def check(table):
        if not table.columns:
            raise ValueError("it has no columns")

    monkeypatch.setitem(stored_classes(), "Column", Stored(__name__))
    monkeypatch.setitem(stored_classes(), "Table", Stored(__name__, validate=check, model=True))
    model = make_pipeline(StandardScaler(), sx.Perceptron(max_iter=3)).fit(X, TWO)
    columns = [Column(f"c{k}", ("a", "b")) for k in range(40)]
    again = through(Table(columns, np.arange(3.0), model, {"rows": 60}), tmp_path)
    assert (again.columns, again.means.tolist(), again.notes) == (columns, [0.0, 1.0, 2.0], {"rows": 60})
    same(model, again.estimator, X)
    with pytest.raises(ValueError, match="this Table cannot be saved: it has no columns"):
        sx.save(Table([], np.zeros(1), model, {}), tmp_path / "m.sx")
    foreign = make_pipeline(QuantileTransformer(n_quantiles=5), sx.Perceptron()).fit(X, TWO)
    with pytest.raises(
        ValueError, match=r"estimator.steps.0.1 is a QuantileTransformer, which a model file cannot keep"
    ):
        sx.save(Table(columns, np.zeros(1), foreign, {}), tmp_path / "m.sx")


def test_a_dataclass_is_one_line_of_the_table(monkeypatch):
    from separatrix.stops import Epoch

    monkeypatch.setitem(stored_classes(), "Epoch", Stored("separatrix.stops"))
    value = {"parts": [Epoch(1, 2, 3, 0.5, 0.1, {"hinge": 1.0}), Epoch(2, 0, 3, 0.5, 0.2)]}
    tree, arrays = encode(value, Registry())
    assert decode(tree, arrays, Registry()) == value
    monkeypatch.delitem(stored_classes(), "Epoch")
    with pytest.raises(RefusedError, match="is an Epoch, which a model file cannot keep"):
        encode(value, Registry())
    with pytest.raises(RefusedError, match="unknown class 'Epoch'"):
        decode(tree, {}, Registry())


@pytest.mark.parametrize(
    "tree",
    [
        2**63,
        {"a": 1, "b": 2},
        {},
        {"int": 5},
        {"int": "0x" + "f" * 70000},
        {"float": "x"},
        {"tuple": 3},
        {"dict": [[1], []]},
        {"dict": [[[1]], [1]]},
        {"dict": [["a", "a"], [1, 2]]},
        {"set": [[1]]},
        {"fraction": ["0x1", "0x0"]},
        {"fraction": ["0x1", "-0x2"]},
        {"slice": [1, 2]},
        {"slice": [1.5, 2, 3]},
        {"array": "a"},
        {"array": ["a"]},
        {"text": [[2], 1, ["a"]]},
        {"text": [[1], 0, ["a"]]},
        {"text": [[1], 2**40, ["a"]]},
        {"text": [[-1], 1, []]},
        {"text": [[1], 1, [5]]},
        {"cells": [[1], [[1]]]},
        {"cells": [[2**60], []]},
        {"scalar": ["float64", 1]},
        {"scalar": ["int8", 1000]},
        {"scalar": ["os", 1]},
        {"scalar": ["bool", 1]},
        {"type": "os"},
        {"dtype": "<f1"},
        {"dtype": "V8"},
        {"csr": ["csr_array", [1, 1], 1, 2, 3]},
        {"csr": [1]},
        {"object": ["os", {}]},
        {"object": ["Epoch", []]},
        {"object": ["Epoch", {}]},
        {"objects": ["Epoch", [], []]},
        {"objects": ["NoMistakes", ["a"], [[1], [2]]]},
        {"object": ["TimeLimit", {"seconds": -1}]},
        {"object": ["Perceptron", {}]},
        {"texts": ["a", "b"]},
        {"floats": 1},
        json.loads("[" * 80 + "]" * 80),
    ],
    ids=lambda tree: json.dumps(tree)[:40],
)
def test_a_tree_that_no_value_has_is_refused(tree):
    with pytest.raises(ValueError, match=r"\w"):
        decode(tree, {}, Registry())


# ---------------------------------------------------------------------------------------------- what is not read


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "small.sx"
    sx.save(sx.Perceptron(max_iter=2, shuffle=False, random_state=0).fit([[0.0], [1.0]], [0, 1]), path)
    return path


def refuse(path, text):
    with pytest.raises(ValueError, match=text) as refused:
        sx.load(path)
    assert str(refused.value).startswith(str(path))
    assert "\n" not in str(refused.value)
    return str(refused.value)


def test_files_that_are_no_models_are_refused_by_name(tmp_path):
    refuse(tmp_path / "none.sx", "none.sx: there is no such file$")
    refuse(tmp_path, ": this is a folder, not a model file$")
    for content in (b"", b"1", b"\x00" * 100, b"a,b,c\n1,2,3\n" * 100, os.urandom(1000), struct.pack("<Q", 2) + b"{}"):
        (tmp_path / "other").write_bytes(content)
        refuse(tmp_path / "other", "is not a model file of separatrix, or its beginning is damaged$")
    (tmp_path / "two\nlines").write_bytes(b"")
    with pytest.raises(ValueError, match="two lines is not a model file"):
        sx.load(tmp_path / "two\nlines")
    os.mkfifo(tmp_path / "pipe")
    refuse(tmp_path / "pipe", ": this is no file, not a model file$")
    with pytest.raises(ValueError, match="cannot be read: embedded null"):
        sx.load("a\0b")
    with pytest.raises(TypeError):
        sx.load(None)


def test_another_tensor_file_is_refused(tmp_path):
    from safetensors.numpy import save_file

    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors")
    refuse(tmp_path / "weights.safetensors", "is not a model file of separatrix")
    save_file({"a": np.zeros(3)}, tmp_path / "weights.safetensors", metadata={"format": "pt"})
    refuse(tmp_path / "weights.safetensors", "is not a model file of separatrix")


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="everyone may read")
def test_a_file_that_may_not_be_read_is_refused(small):
    small.chmod(0)
    refuse(small, "it cannot be read: Permission denied$")


def test_no_permission_is_said(small, monkeypatch):
    def refused(*given, **more):
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(model_file, "open", refused, raising=False)
    refuse(small, "small.sx: it cannot be read: Permission denied$")


def test_a_newer_schema_asks_for_an_update(small):
    small.write_bytes(reheaded(small.read_bytes(), {"schema": "7"}))
    refuse(small, r"was written by a newer separatrix \(model schema 7; this one reads 1\): update the package$")
    with pytest.raises(ValueError, match="newer separatrix"):
        read_facts(small)


def test_another_scikit_learn_is_a_warning_where_its_steps_are_held(small, tmp_path):
    small.write_bytes(reheaded(small.read_bytes(), {"scikit-learn": "0.1"}))
    sx.load(small)
    path = tmp_path / "pipe.sx"
    sx.save(make_pipeline(StandardScaler(), sx.Perceptron()).fit(X, TWO), path)
    path.write_bytes(reheaded(path.read_bytes(), {"scikit-learn": "0.1"}))
    with pytest.warns(UserWarning, match=r"pipe.sx holds steps of scikit-learn 0.1, and this is "):
        sx.load(path)
    metadata, tree, arrays = apart(path.read_bytes())
    arrays["steps.0.1.scale_"] = np.zeros(3)
    path.write_bytes(together(metadata, tree, arrays))
    refuse(path, r"is damaged: the scale_ .* \(it was written with scikit-learn 0.1, this is ")


def test_every_changed_byte_is_noticed(small):
    raw = small.read_bytes()
    assert len(raw) < 6000
    for place in range(len(raw)):
        for other in (raw[place] ^ 0xFF, raw[place] ^ 1, 0x20, 0x00, 0x30):
            if other == raw[place]:
                continue
            with pytest.raises(ValueError, match=r"^x\.sx"):
                model_file.build(raw[:place] + bytes([other]) + raw[place + 1 :], "x.sx")


def test_every_missing_end_is_noticed(small):
    raw = small.read_bytes()
    for length in range(len(raw)):
        with pytest.raises(ValueError, match=r"^x\.sx"):
            model_file.build(raw[:length], "x.sx")
    for more in (b"\x00", b" ", raw):
        with pytest.raises(ValueError, match=r"^x\.sx"):
            model_file.build(raw + more, "x.sx")


def test_a_cut_file_says_so(small):
    raw = small.read_bytes()
    small.write_bytes(raw[: len(raw) // 2])
    refuse(small, "is damaged: it ends too early$")
    small.write_bytes(raw[:-4])
    refuse(small, "is damaged: its arrays cannot be read")
    small.write_bytes(raw[:-1] + bytes([raw[-1] ^ 1]))
    refuse(small, "is damaged: its checksum is wrong$")


# ---------------------------------------------------------------------------------------------- forged files


def forged(raw, change):
    metadata, tree, arrays = apart(raw)
    tree = change(tree, arrays) or tree
    return together(metadata, tree, arrays)


def setting(*names, to):
    return lambda tree, arrays: put(tree, attribute(tree, *names), to)


def dropping(*names):
    def change(tree, arrays):
        *before, last = attribute(tree, *names)
        for key in before:
            tree = tree[key]
        del tree[last]

    return change


def arranging(name, change):
    def apply(tree, arrays):
        arrays[name] = change(arrays[name])

    return apply


def wrong_order(tree, arrays):
    arrays["order"] = np.array([0, 100], dtype=np.uint32)
    return put(tree, attribute(tree, "_states", 0, "run", "ascent", "_order"), {"array": "order"})


NAN = {"float": "7ff8000000000000"}
FIRST = ("steps", 0, "tuple", 1)
ENCODER, IMPUTER = ("transformers_", 0, "tuple", 1), ("transformers_", 3, "tuple", 1, *FIRST)
FORGED = [
    ("perceptron_voted", setting("max_iter", to=-1), "max_iter must be a whole number"),
    ("perceptron_voted", setting("eta0", to="x"), "eta0 must be a number"),
    ("perceptron_voted", setting("readout", to="loud"), "readout must be one of"),
    ("perceptron_voted", setting("n_jobs", to=10**9), "n_jobs is not a number of threads"),
    ("perceptron_voted", setting("n_features_in_", to=3), "coef_ are not finite weights of its shape"),
    ("perceptron_voted", setting("n_features_in_", to=10**15), "coef_"),
    ("perceptron_voted", setting("n_features_in_", to={"int": "0x" + "f" * 50}), "n_features_in_ is not a number"),
    ("perceptron_voted", setting("_states", to=[]), "states are not one for each task"),
    ("perceptron_voted", setting("_states", 0, "positive", to=5), "a state is of an unknown class"),
    ("perceptron_voted", setting("_states", 0, "position", to=-1), "a state counts what cannot be"),
    ("perceptron_voted", setting("_states", 0, "clock", to=NAN), "the clock of a state is not a number"),
    ("perceptron_voted", setting("_states", 0, "ballot", to=None), "a state keeps no votes"),
    ("perceptron_voted", setting("_width", to=9), "its width is not that of its features"),
    ("perceptron_voted", setting("_run_seed", to=-5), "its seed is not a whole number"),
    ("perceptron_voted", setting("status_", to="fine"), "its status_ is damaged"),
    ("perceptron_voted", setting("stop", to="now"), "stop must be a stop rule"),
    ("perceptron_voted", setting("classes_", to={"text": [[2], 1, ["b", "a"]]}), "classes_ are not sorted"),
    ("perceptron_voted", dropping("coef_"), "coef_"),
    ("perceptron_voted", dropping("eta0"), "eta0"),
    ("perceptron_voted", dropping("_states", 0, "real"), "field too many or too few: 'real'"),
    ("perceptron_voted", arranging("coef_", lambda a: a * np.nan), "coef_ are not finite"),
    ("perceptron_voted", arranging("coef_", lambda a: a[:, :1]), "coef_ are not finite weights of its shape"),
    ("perceptron_voted", arranging("coef_", lambda a: a.astype(np.float32)), "coef_ are not finite weights"),
    ("perceptron_voted", arranging("_states.0.real", lambda a: a[:3]), "a state is damaged"),
    ("perceptron_voted", arranging("_states.0.count", lambda a: a.astype(np.int32)), "a state is damaged"),
    ("perceptron_voted", arranging("_states.0.drift", lambda a: a[:1]), "a state holds weights of another number"),
    ("perceptron_voted", arranging("_states.0.ballot._index", lambda a: a + 10**6), "names rows that are not there"),
    ("perceptron_voted", arranging("_states.0.ballot._index", lambda a: a - 10**6), "names rows that are not there"),
    ("perceptron_voted", arranging("_states.0.ballot._times", lambda a: a[:-1]), "a ballot is damaged"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.indices", lambda a: a + 9), "sparse matrix do not fit"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.indptr", lambda a: a[::-1].copy()), "sparse matrix do not"),
    ("perceptron_sparse", arranging("_states.0.ballot._rows.data", lambda a: a[:-1]), "sparse matrix do not fit"),
    ("kernel_perceptron_voted", arranging("_ballots.0._rows", lambda a: a + 99), "a ballot names rows that are not"),
    (
        "kernel_perceptron_voted",
        arranging("support_vectors_", lambda a: a[:-1]),
        "support vectors are not of their shape",
    ),
    ("kernel_svm", arranging("n_support_", lambda a: a + 1), "n_support_ does not count"),
    ("kernel_svm", arranging("n_support_", lambda a: a * 0 - 1), "n_support_ does not count"),
    ("kernel_svm", arranging("dual_coef_", lambda a: a[:-1]), "dual_coef_ are not of their shape"),
    ("kernel_svm", setting("_kernel", "name", to="callable"), "its kernel is unknown"),
    ("kernel_svm", setting("_kernel", "gamma", to=-1.0), "gamma is not a positive number"),
    ("kernel_svm", setting("_precision", to="float8"), "its precision is unknown"),
    ("kernel_svm", setting("kernel", to="cosine"), "kernel must be one of"),
    ("kernel_svm_table", arranging("support_", lambda a: a + 100), "support_ names rows that cannot be"),
    ("network", arranging("coefs_.0", lambda a: a[:1]), "the weights of a layer are not of its shape"),
    ("network", arranging("_states.0.layers.0.weights", lambda a: a[:1]), "its state has other layers"),
    ("network", setting("hidden", to="many"), "hidden must be the sizes"),
    ("svm_cut", wrong_order, "the order of a run is damaged"),
    ("svm_cut", arranging("_states.0.run.ascent.points.values.4", lambda a: a * 0), "the points of a run are damaged"),
    ("svm_cut", arranging("_states.0.run.ascent.real", np.zeros_like), "a run is damaged"),
    ("svm_cut", arranging("_states.0.run.shown.alpha", lambda a: a[:-1]), "an answer is damaged"),
    ("svm_cut", setting("_states", 0, "run", "ended", to=""), "a run ended in a way that cannot be"),
    ("svm_cut", setting("_states", 0, "run", "shown", to=None), "a run has no answer|uses"),
    ("words", setting(*FIRST, "vocabulary_", to={"dict": [["a", "b"], [0, 10**9]]}), "does not number its words"),
    ("words", setting(*FIRST, "token_pattern", to="("), ""),
    ("words", setting(*FIRST, "analyzer", to="lines"), ""),
    ("hashed", setting(*FIRST, "n_features", to=0), "n_features"),
    ("hashed", setting(*FIRST, "n_features", to=8), ""),
    ("scalers", arranging("steps.0.1.scale_", lambda a: a[:1]), "the scale_ of its StandardScaler is not of its shape"),
    ("scalers", setting("steps", 5, "tuple", 1, "degree", to=10**8), "degree"),
    ("scalers", setting("steps", 5, "tuple", 1, "n_output_features_", to=7), "PolynomialFeatures are damaged"),
    ("scalers", setting("steps", to=[]), "steps of its Pipeline are damaged|uses"),
    ("columns", setting(*FIRST, *ENCODER, "_n_features_outs", to=[1000]), "the columns of an encoder"),
    ("columns", setting(*FIRST, "n_jobs", to=10**6), "n_jobs is not a number of threads"),
    ("columns", setting(*FIRST, *IMPUTER, "indicator_", "_n_features", to=-1), "MissingIndicator is damaged"),
]


@pytest.mark.parametrize(("name", "change", "text"), FORGED, ids=lambda part: part if isinstance(part, str) else "")
def test_a_forged_file_is_refused_though_its_checksum_is_right(name, change, text, tmp_path):
    path = tmp_path / "forged.sx"
    path.write_bytes(forged((ROOT / "fuzz" / "corpus" / "model_file" / f"{name}.sx").read_bytes(), change))
    refuse(path, f"is damaged: .*({text})")


def test_attributes_that_would_take_the_place_of_methods_are_refused(small):
    for name in (
        "predict",
        "decision_function",
        "__class__",
        "_fit_record",
        "certificate_",
        "_skl_callbacks",
        "a b",
        "fit",
    ):
        metadata, tree, arrays = apart(small.read_bytes())
        tree["object"][1][name] = 5
        with pytest.raises(ValueError, match="has an attribute that cannot be"):
            model_file.build(together(metadata, tree, arrays), "x.sx")


def test_classes_are_found_by_name_only(small):
    for name in (
        "os.system",
        "sklearn.svm.SVC",
        "separatrix.estimators.Perceptron",
        "OwnPerceptron",
        "print",
        "Stored",
    ):
        metadata, tree, arrays = apart(small.read_bytes())
        tree["object"][0] = name
        with pytest.raises(ValueError, match=r"^x.sx is damaged: it holds an object of the unknown class"):
            model_file.build(together(metadata, tree, arrays), "x.sx")
    metadata, tree, arrays = apart(small.read_bytes())
    tree["object"][0] = "Neuron"
    with pytest.raises(ValueError, match=r"^x.sx is damaged: "):
        model_file.build(together(metadata, tree, arrays), "x.sx")
    metadata, tree, arrays = apart(small.read_bytes())
    with pytest.raises(ValueError, match=r"^x.sx is damaged: it is not of the kind that it says"):
        model_file.build(together({**metadata, "kind": "Neuron"}, tree, arrays), "x.sx")
    with pytest.raises(ValueError, match=r"^x.sx is damaged: a model file holds a fitted"):
        model_file.build(together(metadata, {"tuple": []}, {}), "x.sx")


@pytest.mark.parametrize(
    "tree", ["[" * 100_000, '{"tuple":' * 3000 + "[]" + "}" * 3000, "nonsense", "1e999", "NaN", ""]
)
def test_trees_that_are_too_deep_or_no_json_are_refused(small, tree):
    metadata, _, _ = apart(small.read_bytes())
    with pytest.raises(ValueError, match=r"^x.sx is damaged: "):
        model_file.build(together(metadata, tree, {}), "x.sx")


def test_an_array_that_is_used_twice_or_not_at_all_is_refused(small):
    metadata, tree, arrays = apart(small.read_bytes())
    raw = together(metadata, tree, {**arrays, "extra": np.zeros(3)})
    with pytest.raises(ValueError, match="nothing in it uses the array 'extra'"):
        model_file.build(raw, "x.sx")
    tree["object"][1]["note"] = {"array": "coef_"}
    with pytest.raises(ValueError, match="the array 'coef_' is missing, or used twice"):
        model_file.build(together(metadata, tree, arrays), "x.sx")


def holds(raw):
    """Check what must hold for any file: refused by name in one line, or a model that answers."""
    try:
        model = model_file.build(raw, "x.sx")
    except ValueError as problem:
        assert re.fullmatch(r"x\.sx.*", str(problem))  # noqa: PT017
        return False
    from separatrix.models.probing import example

    row = example(model)
    if row is not None:
        try:
            model.predict(row)
        except ValueError as problem:
            assert not isinstance(row, np.ndarray) or row.dtype == object or "categories" in str(problem)  # noqa: PT017
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name[:30])
def test_the_corpus_of_the_fuzzer_holds(path):
    raw = path.read_bytes()
    loaded = holds(raw)
    assert loaded or path.suffix != ".sx" or read_facts(path)["scikit-learn"] != sklearn.__version__
    if loaded:
        for seed in range(60):
            holds(mutated(raw, seed))


@pytest.mark.filterwarnings("ignore")
def test_every_node_of_a_tree_can_be_missing_or_odd(small):
    raw = small.read_bytes()
    _, tree, _ = apart(raw)
    for path in list(nodes(tree)):
        for odd in (None, -1, 1e300, "x", [], {}, {"tuple": []}, 2**62, {"cells": [[1], ["a"]]}):
            metadata, other, arrays = apart(raw)
            holds(together(metadata, put(other, path, odd), arrays))


def test_the_corpus_is_small():
    assert len(CORPUS) < 80
    assert sum(path.stat().st_size for path in CORPUS) < 250_000


# ---------------------------------------------------------------------------------------------- writing

OLD, NEW = b"old" * 1000, b"new" * 5000


def test_a_full_disk_leaves_the_old_file(small, monkeypatch):
    before = small.read_bytes()

    def full(*given):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(files.os, "fsync", full)
    with pytest.raises(ValueError, match=r"^cannot write .*small.sx: No space left on device$"):
        sx.save(plain(sx.Perceptron()), small)
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_a_limit_on_sizes_leaves_the_old_file(small):
    before = small.read_bytes()
    script = (
        "import resource, signal, sys, numpy as np, separatrix as sx;"
        "m = sx.Perceptron().fit(np.eye(50), np.arange(50) % 2);"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000));"
        "sx.save(m, sys.argv[1])"
    )
    ran = subprocess.run([sys.executable, "-c", script, str(small)], capture_output=True, text=True)
    assert ran.stderr.strip().splitlines()[-1] == f"ValueError: cannot write {small}: File too large"
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_ctrl_c_leaves_the_old_file(small, monkeypatch):
    before = small.read_bytes()

    def pressed(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr(files.os, "replace", pressed)
    with pytest.raises(KeyboardInterrupt):
        sx.save(plain(sx.Perceptron()), small)
    assert small.read_bytes() == before
    assert os.listdir(small.parent) == ["small.sx"]


def test_a_link_is_followed_and_the_mode_is_kept(small):
    link = small.parent / "link.sx"
    link.symlink_to(small.name)
    small.chmod(0o640)
    model = plain(sx.Perceptron())
    sx.save(model, link)
    assert link.is_symlink()
    assert stat.S_IMODE(small.stat().st_mode) == 0o640
    same(model, sx.load(small), X)


def test_a_new_file_has_the_mode_that_the_umask_says(tmp_path):
    before = os.umask(0o027)
    try:
        sx.save(plain(sx.Perceptron()), tmp_path / "m.sx")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "m.sx").stat().st_mode) == 0o640


def test_where_nothing_can_be_written_it_says_so(tmp_path):
    model = plain(sx.Perceptron())
    for path, why in ((tmp_path, "Is a directory"), (tmp_path / "no" / "m.sx", "No such file or directory")):
        with pytest.raises(ValueError, match=rf"^cannot write {path}: {why}$"):
            sx.save(model, path)
    sx.save(model, tmp_path / ("n" * 250))


def test_parts_that_killed_processes_left_are_removed(tmp_path):
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    host = files._host()
    stale = tmp_path / f".m.sx.{host}-{gone.pid}-0123abcd.part"
    old = tmp_path / ".m.sx.00000000-1-0123abcd.part"
    fresh = tmp_path / ".m.sx.00000000-1-0123abce.part"
    alive = tmp_path / f".m.sx.{host}-{os.getpid()}-0123abcd.part"
    others = tmp_path / f".n.sx.{host}-{gone.pid}-0123abcd.part"
    mine = tmp_path / ".m.sx.notes.part"
    for path in (stale, old, fresh, alive, others, mine):
        path.write_bytes(b"")
    os.utime(old, (time.time() - 2e5,) * 2)
    sx.save(plain(sx.Perceptron()), tmp_path / "m.sx")
    assert {path.name for path in (fresh, alive, others, mine)} | {"m.sx"} == set(os.listdir(tmp_path))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="processes cannot be killed like that")
def test_a_killed_process_leaves_the_old_file_or_the_new(tmp_path):
    kills = int(os.environ.get("SEPARATRIX_KILLS", "40"))
    path = tmp_path / "m.sx"
    script = (
        "import os, sys, numpy as np, separatrix as sx;"
        "X = np.random.default_rng(0).normal(size=(40, 3000)); y = np.arange(40) % 2;"
        "one, two = (sx.Perceptron(max_iter=k, readout='voted', random_state=k).fit(X, y) for k in (100, 200));"
        "sx.save(one, sys.argv[1]); print(len(sx.load(sys.argv[1]).coef_), flush=True)\n"
        "while sys.stdin.readline():\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        while True: sx.save(one, sys.argv[1]); sx.save(two, sys.argv[1])\n"
        "    print(child, flush=True); os.waitpid(child, 0); print('gone', flush=True)\n"
    )
    chance = np.random.default_rng(1)
    seen = []
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as saver:
        saver.stdout.readline()
        for _ in range(kills):
            saver.stdin.write("go\n")
            saver.stdin.flush()
            child = int(saver.stdout.readline())
            time.sleep(chance.uniform(0.0, 0.05))
            os.kill(child, signal.SIGKILL)
            assert saver.stdout.readline() == "gone\n"
            seen.append(sx.load(path).max_iter)
            assert len(os.listdir(tmp_path)) <= 2
        saver.stdin.close()
    assert set(seen) == {100, 200}
    sx.save(sx.load(path), path)
    assert os.listdir(tmp_path) == ["m.sx"]


def test_loading_leaves_random_numbers_and_warnings_alone(small):
    state = np.random.get_state()[1].copy()
    filters = list(warnings.filters)
    sx.load(small)
    assert (np.random.get_state()[1] == state).all()
    assert warnings.filters == filters
