"""What is saved comes back: predictions, attributes and bytes."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import sklearn
from safetensors import safe_open
from scipy import sparse
from sklearn.compose import ColumnTransformer, make_column_selector, make_column_transformer
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfTransformer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    Normalizer,
    OneHotEncoder,
    OrdinalEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

import separatrix as sx
from saved_models import FRAME, READOUTS, TEXTS, THREE, TOPICS, TWO, X, plain, same, through
from separatrix.models import model_file
from separatrix.models.model_file import read_facts
from separatrix.stops import HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoMistakes, TimeLimit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

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
    **{
        f"joint perceptron {r}": (
            lambda r=r: plain(sx.Perceptron(multi_class="joint", readout=r, max_iter=8, random_state=0), y=THREE),
            X,
        )
        for r in ("last", "averaged", "pocket")
    },
    "joint passive-aggressive": (
        lambda: plain(sx.PassiveAggressive(multi_class="joint", average=True, max_iter=9), y=THREE),
        X,
    ),
    "joint perceptron of two": (lambda: plain(sx.Perceptron(multi_class="joint", max_iter=8)), X),
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
    "logistic": (lambda: plain(sx.LogisticRegression(C=2.0)), X),
    "logistic of three": (lambda: plain(sx.LogisticRegression(intercept_scaling=1.0), y=THREE), X),
    "logistic one-vs-rest": (lambda: plain(sx.LogisticRegression(multi_class="ovr"), y=THREE), X),
    "logistic l1": (lambda: plain(sx.LogisticRegression(l1_ratio=1.0)), X),
    "logistic elastic net of three": (lambda: plain(sx.LogisticRegression(l1_ratio=0.5), y=THREE), X),
    "logistic l1 cut short": (
        lambda: plain(sx.LogisticRegression(l1_ratio=1.0, stop="time:1e-9", warm_start=True, intercept_scaling=2.0)),
        X,
    ),
    "svm l1": (lambda: plain(sx.LinearSVM(loss="squared_hinge", penalty="l1")), X),
    "svm l1 cut short": (
        lambda: plain(sx.LinearSVM(loss="squared_hinge", penalty="l1", stop="time:1e-9", warm_start=True)),
        X,
    ),
    "logistic cut short": (lambda: plain(sx.LogisticRegression(stop="time:1e-9", warm_start=True)), X),
    "logistic of three cut short": (
        lambda: plain(sx.LogisticRegression(stop="time:1e-9", warm_start=True), y=THREE),
        X,
    ),
    "svm hard": (lambda: plain(sx.LinearSVM(C=math.inf), y=X[:, 0] > 0), X),
    "svm hard without a plane": (lambda: plain(sx.LinearSVM(C=math.inf, max_iter=50)), X),
    "svm online": (lambda: plain(sx.OnlineSVM(max_iter=10), y=THREE), X),
    "svm online averaged": (lambda: plain(sx.OnlineSVM(average=True, step="lecture", max_iter=9)), X),
    "passive-aggressive": (lambda: plain(sx.PassiveAggressive(max_iter=9), y=THREE), X),
    "passive-aggressive averaged": (lambda: plain(sx.PassiveAggressive(variant="pa2", average=True, max_iter=9)), X),
    "arow": (lambda: plain(sx.AROW(max_iter=9), y=THREE), X),
    "arow full averaged": (lambda: plain(sx.AROW(covariance="full", average=True, max_iter=9)), X),
    "scw": (lambda: plain(sx.SCW(max_iter=9, eta=1.0), y=THREE), X),
    "confidence-weighted": (lambda: plain(sx.SCW(variant="scw2", C=math.inf, covariance="full", max_iter=9)), X),
    "nherd": (lambda: plain(sx.NHERD(max_iter=9), y=THREE), X),
    "romma": (lambda: plain(sx.ROMMA(aggressive=True, average=True, max_iter=9), y=THREE), X),
    "alma": (lambda: plain(sx.ALMA(max_iter=9), y=THREE), X),
    "second-order perceptron": (lambda: plain(sx.SecondOrderPerceptron(covariance="full", max_iter=9), y=THREE), X),
    "kernel svm": (lambda: plain(sx.KernelSVM(C=3.0)), X),
    "kernel svm of three": (lambda: plain(sx.KernelSVM(kernel="poly", coef0=1.0), y=THREE), X),
    "kernel svm sparse": (lambda: plain(sx.KernelSVM(), sparse.csr_array(X), THREE), sparse.csr_array(X)),
    "kernel svm single": (lambda: plain(sx.KernelSVM(), np.tile(X, (20, 1)).astype(np.float32), np.tile(TWO, 20)), X),
    "kernel svm of a table": (lambda: plain(sx.KernelSVM(kernel="precomputed"), X @ X.T), X @ X.T),
    **{
        f"kernel perceptron {r}": (lambda r=r: plain(sx.KernelPerceptron(readout=r, max_iter=9), y=THREE), X)
        for r in READOUTS
    },
    **{
        f"kernel perceptron {f}": (
            lambda f=f: plain(sx.KernelPerceptron(budget=5, forget=f, stop=MaxEpochs(9)), y=THREE),
            X,
        )
        for f in ("oldest", "random", "projected")
    },
    "kernel perceptron projected averaged": (
        lambda: plain(
            sx.KernelPerceptron(budget=5, forget="projected", readout="averaged", max_iter=9), sparse.csr_array(X)
        ),
        sparse.csr_array(X),
    ),
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


@pytest.mark.parametrize("origin", ["as installed", None])
def test_the_version_of_scikit_learn_is_that_of_the_installed_one(origin, monkeypatch):
    if origin is None:  # a module without a file of its own
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    assert model_file._sklearn_version() == sklearn.__version__
