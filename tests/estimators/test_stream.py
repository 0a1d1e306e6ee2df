"""A stream does to a model what partial_fit of one row does, to the last bit, and in microseconds."""

import copy
import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction import FeatureHasher

import separatrix as sx

MODELS = {
    "perceptron": sx.Perceptron(),
    "averaged, another rate": sx.Perceptron(readout="averaged", eta0=0.1, intercept_scaling=3.0),
    "margin": sx.Perceptron(margin=0.5),
    "voted": sx.Perceptron(readout="voted"),
    "pocket": sx.Perceptron(readout="pocket"),
    "balanced by hand": sx.Perceptron(class_weight={"a": 2.5}),
    "joint": sx.Perceptron(multi_class="joint"),
    "pa1": sx.PassiveAggressive(C=0.3),
    "joint pa": sx.PassiveAggressive(multi_class="joint", variant="pa2"),
    "arow": sx.AROW(),
    "arow, full": sx.AROW(covariance="full"),
    "scw": sx.SCW(),
    "romma": sx.ROMMA(),
    "alma": sx.ALMA(),
    "sop": sx.SecondOrderPerceptron(),
    "neuron": sx.Neuron(loss="log", eta0=0.1, alpha=0.01),
    "neuron, rate that falls": sx.Neuron(loss="squared", eta0=0.01, learning_rate="invscaling"),
    "svm": sx.OnlineSVM(),
    "kernel": sx.KernelPerceptron(budget=20),
}


def data(classes, n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    return X, np.array(["a", "b", "c", "d"])[(X @ rng.normal(size=(5, classes))).argmax(axis=1)]


def weights_of(model):
    if isinstance(model, sx.KernelPerceptron):
        return np.ravel(model.dual_coef_), model.intercept_
    return model.coef_, model.intercept_


def same_bits(one, other):
    pairs = zip(weights_of(one), weights_of(other), strict=True)
    return all(np.asarray(a).tobytes() == np.asarray(b).tobytes() for a, b in pairs)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("classes", [2, 4])
@pytest.mark.parametrize("name", MODELS)
def test_a_row_does_what_partial_fit_of_it_does_bit_for_bit(name, classes):
    X, y = data(classes)
    table = clone(MODELS[name]).set_params(random_state=0)
    known = np.unique(y) if getattr(table, "class_weight", None) else None  # else they appear one after the other
    online = sx.stream(clone(table), classes=known)
    for k, (x, label) in enumerate(zip(X, y, strict=True)):
        table.partial_fit([x], [label], classes=known)
        online.learn(x.tolist() if k % 2 else x, label)
        if k % 7 == 3 and k > 10:
            assert online.predict(x) == table.predict([x])[0]
            assert np.array_equal(np.ravel(online.score(x)), np.ravel(table.decision_function([x])))
        if k % 20 == 19:
            assert same_bits(online.model, table)
    assert online.n_seen == len(y)
    more, labels = data(classes, seed=1)
    assert same_bits(online.model.partial_fit(more, labels), table.partial_fit(more, labels))
    x, label = more[0], labels[0]
    assert same_bits(online.learn(x, label).model, table.partial_fit([x], [label]))  # it noticed


@pytest.mark.parametrize("name", ["perceptron", "averaged, another rate", "pa1", "arow", "neuron"])
def test_weights_count_as_in_partial_fit(name):
    X, y = data(3)
    weights = np.random.default_rng(2).choice([0.0, 0.5, 1.0, 3.0], len(y))
    online, table = sx.stream(clone(MODELS[name])), clone(MODELS[name])
    for x, label, weight in zip(X, y, weights.tolist(), strict=True):
        online.learn(x, label, weight)
        if weight:
            table.partial_fit([x], [label], sample_weight=[weight])
    assert same_bits(online.model, table)
    assert online.n_seen == np.count_nonzero(weights)


@pytest.mark.parametrize("name", ["perceptron", "averaged, another rate", "arow", "arow, full", "scw"])
def test_columns_of_dicts_are_added_as_they_appear(name):
    rng = np.random.default_rng(0)
    rows = [{f"f{j}": float(rng.normal()) for j in rng.choice(2 + k // 4, 2, replace=False)} for k in range(40)]
    labels = [("x", "y", "z")[k % 3] for k in range(40)]
    online = sx.stream(clone(MODELS[name]))
    for row, label in zip(rows, labels, strict=True):
        online.learn(row, label)
    names = list(dict.fromkeys(key for row in rows for key in row))
    table = clone(MODELS[name])
    wide = [sparse.csr_array([[row.get(key, 0.0) for key in names]]) for row in rows]
    for row, label in zip(wide, labels, strict=True):
        table.partial_fit(row, [label])
    assert online.model.n_features_in_ == len(names)
    assert np.array_equal(online.model.coef_, table.coef_)  # but for the sign of 0
    assert np.array_equal(online.model.intercept_, table.intercept_)
    assert online.predict(rows[5]) == table.predict(wide[5])[0]
    assert online.predict({**rows[5], "unseen": 7.0}) == online.predict(rows[5])  # a column without a weight


def test_hashed_features_are_those_of_the_feature_hasher():
    rows = [{"city": "Bern", "n": 2.0}, {"city": "Rome", "n": -1.0}, {"city": "Bern", "n": 4.0, "m": 1.0}]
    online, table = sx.stream(sx.Perceptron(), features="hash"), sx.Perceptron()
    hasher = FeatureHasher(1 << 18)
    for row, label in zip(rows, [0, 1, 1], strict=True):
        online.learn(row, label)
        table.partial_fit(hasher.transform([row]), [label])
    assert same_bits(online.model, table)


def test_names_of_columns_are_those_of_the_frame():
    frame = pytest.importorskip("pandas").DataFrame({"u": [1.0, 0.0, 2.0], "v": [0.0, 1.0, 1.0]})
    model = sx.Perceptron(random_state=0).fit(frame, [0, 1, 0])
    online = sx.stream(model)
    assert online.predict({"v": 3.0}) == 1
    assert online.learn({"u": 1.0, "v": 0.5}, 1).model is model
    with pytest.raises(ValueError, match="a feature 'w', which is none of the model's"):
        online.learn({"w": 1.0}, 1)


def test_sparse_rows_and_moments():
    X, y = data(2)
    online, table = sx.stream(sx.Perceptron()), sx.Perceptron()
    for x, label in zip(X, y, strict=True):
        online.learn(sparse.csr_array([x]), label)
        table.partial_fit(sparse.csr_array([x]), [label])
    assert same_bits(online.model, table)
    dense = sx.stream(sx.Perceptron())
    for x, label in zip(np.tile(X, (10, 1)), np.tile(y, 10), strict=True):
        dense.learn(x, label)
    assert np.allclose(dense.model._spread.mean, X.mean(axis=0))
    assert dense.model._spread.count == 600


def test_a_fitted_model_goes_on_and_is_saved(tmp_path):
    X, y = data(2)
    model, table = (sx.Perceptron(random_state=0).fit(X, y) for _ in range(2))
    before = model.coef_.copy()
    online = sx.stream(model)
    assert online.predict(X[0]) == model.predict(X[:1])[0]
    assert np.array_equal(online.model.coef_, before)
    assert str(model.status_) == str(table.status_)  # nothing was learned yet
    others, labels = data(2, seed=3)
    for x, label in zip(others, labels, strict=True):
        online.learn(x, label)
        table.partial_fit([x], [label])
    assert same_bits(online.model, table)
    assert str(model.status_).startswith("learned online from 60 examples with ")
    sx.save(online.model, tmp_path / "m.sx")
    assert same_bits(sx.load(tmp_path / "m.sx"), table)
    assert sum(state.all_mistakes for state in model._states) == sum(state.all_mistakes for state in table._states)
    assert [state.epochs for state in model._states] == [state.epochs for state in table._states]


def test_a_stream_is_copied_and_pickled():
    X, y = data(3)
    online = sx.stream(sx.AROW())
    for x, label in zip(X[:30], y[:30], strict=True):
        online.learn(x, label)
    twins = [copy.deepcopy(online), pickle.loads(pickle.dumps(online))]
    for each in (online, *twins):
        for x, label in zip(X[30:], y[30:], strict=True):
            each.learn(x, label)
    assert all(same_bits(online.model, each.model) and each.n_seen == 60 for each in twins)


def test_probabilities_are_those_of_the_model():
    X, y = data(3)
    online = sx.stream(sx.Neuron(loss="log"))
    assert online.probabilities(X[0]) == {}
    for x, label in zip(X, y, strict=True):
        online.learn(x, label)
    assert online.probabilities(X[0]) == dict(
        zip(online.model.classes_.tolist(), online.model.predict_proba(X[:1])[0].tolist(), strict=True)
    )


def test_before_anything_was_learned_there_is_no_prediction():
    online = sx.stream(sx.Perceptron(), classes=["yes", "no"])
    assert online.predict([1.0, 2.0]) is None
    assert online.predict_and_learn([1.0, 2.0], "yes") is None
    assert online.predict_and_learn([1.0, 2.0], "yes") == "yes"
    assert isinstance(online.score([1.0, 2.0]), float)
    assert online.model.classes_.tolist() == ["no", "yes"]


ROW = [1.0, 2.0, 3.0, 4.0, 5.0]
BAD = {
    "a row must have 5 numbers; found 1": lambda s: s.learn([1.0], "a"),
    r"found an array of shape \(5, 1\)": lambda s: s.learn(np.ones((5, 1)), "a"),
    r"must have the shape \(1, 5\); found \(2, 5\)": lambda s: s.learn(sparse.csr_array(np.ones((2, 5))), "a"),
    "the row holds nan in column 2": lambda s: s.learn([1.0, 2.0, np.nan, 4.0, 5.0], "a"),
    "the row holds inf in column 0": lambda s: s.predict([np.inf, 2.0, 3.0, 4.0, 5.0]),
    "it holds NaN or infinity": lambda s: s.learn(sparse.csr_array([[np.nan, 0, 0, 0, 1.0]]), "a"),
    "weight must be a finite number of at least 0; found -1": lambda s: s.learn(ROW, "a", -1),
    "weight must be a finite number of at least 0; found nan": lambda s: s.learn(ROW, "a", np.nan),
    "could not convert string to float": lambda s: s.learn([1.0, "x", 3.0, 4.0, 5.0], "a"),
    "labels must be all numbers or all text": lambda s: s.learn(ROW, 3),
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_row_is_refused_and_the_model_stays_as_it_was(sentence):
    X, y = data(2)
    online = sx.stream(sx.Perceptron())
    for x, label in zip(X, y, strict=True):
        online.learn(x, label)
    before, rows = online.model.coef_.copy(), online.n_seen
    with pytest.raises(ValueError, match=sentence):
        BAD[sentence](online)
    assert np.array_equal(online.model.coef_, before)
    assert online.n_seen == rows
    online.learn(X[0], y[0])


def test_models_that_do_not_learn_online_are_refused():
    with pytest.raises(TypeError, match="found LinearSVM: Perceptron, PassiveAggressive, AROW, Neuron and others"):
        sx.stream(sx.LinearSVM())
    with pytest.raises(ValueError, match="features must be names, 'hash' or None; found 'names'"):
        sx.stream(sx.Perceptron(), features="names")


def test_a_row_takes_a_fraction_of_the_time_of_partial_fit():
    import time

    X, y = data(2, n=400)
    online, table = sx.stream(sx.Perceptron()), sx.Perceptron()
    for x, label in zip(X[:50], y[:50], strict=True):
        online.learn(x, label)
        table.partial_fit([x], [label])

    def seconds(learn):
        began = time.process_time()
        for x, label in zip(X[50:], y[50:], strict=True):
            learn(x, label)
        return time.process_time() - began

    ratios = [seconds(lambda x, label: table.partial_fit([x], [label])) / seconds(online.learn) for _ in range(3)]
    assert max(ratios) > 10
