"""A stream does to a model what partial_fit of one row does, to the last bit, and in microseconds."""

import copy
import pickle
import threading

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


@pytest.mark.parametrize("name", ["perceptron", "averaged, another rate", "arow", "arow, full", "scw", "joint"])
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


def test_a_row_with_new_columns_that_is_refused_leaves_no_column():
    online = sx.stream(sx.Perceptron())
    for k in range(8):
        online.learn({"u": float(k), "v": float(k % 3)}, k % 2)
    before = copy.deepcopy(online).model.coef_
    bad = {"NaN in row 0": {"new": np.nan}, "a number belongs": {"new": None}, "missing label": {"new": 1.0}}
    for message, row in bad.items():
        with pytest.raises((ValueError, TypeError), match=message):
            online.learn(row, None if message == "missing label" else 1)
    with pytest.raises(ValueError, match="the row has '7' for 'new', where a number belongs"):
        online.learn({"new": "7"}, 1)
    assert online.model.n_features_in_ == 2
    assert np.array_equal(online.model.coef_, before)
    assert online.learn({"new": 1.0, "u": 1.0}, 1).model.n_features_in_ == 3


@pytest.mark.parametrize("name", ["perceptron", "averaged, another rate", "arow"])
def test_lists_may_follow_dicts_that_brought_columns(name):
    rng = np.random.default_rng(0)
    online, table = sx.stream(clone(MODELS[name])), clone(MODELS[name])
    for k in range(12):
        row = rng.normal(size=min(k // 2 + 1, 5))
        online.learn(dict(zip("uvwxy", row.tolist(), strict=False)), k % 2)
    table = copy.deepcopy(online.model)
    online.learn({"z": 2.0, "u": 1.0}, 1)
    row = rng.normal(size=6)
    assert online.predict(row) == online.model.predict([row])[0]
    table = copy.deepcopy(online.model)
    for label in (0, 1, 1, 0):
        row = rng.normal(size=6)
        online.learn(row.tolist(), label)
        table.partial_fit([row], [label])
    assert same_bits(online.model, table)


def test_a_voted_model_refuses_new_columns_and_goes_on():
    online = sx.stream(sx.Perceptron(readout="voted"))
    for k in range(8):
        online.learn({"u": float(k), "v": 1.0}, k % 2)
    with pytest.raises(ValueError, match="cannot learn columns that it has not met at first: name them in features"):
        online.learn({"u": 1.0, "new": 1.0}, 1)
    assert online.predict({"u": 1.0}) == online.model.predict([[1.0, 0.0]])[0]


def test_moments_of_sparse_rows_are_noted():
    rng = np.random.default_rng(0)
    online, rows = sx.stream(sx.Perceptron()), []
    for k in range(700):
        rows.append([rng.normal(), 0.0 if k < 5 else 5.0 * rng.normal()])
        online.learn({"u": rows[-1][0]} if k < 5 else dict(zip("uv", rows[-1], strict=True)), k % 2)
    assert np.allclose(online.model._spread.deviation, np.std(rows, axis=0))
    assert online.model._spread.count == 700


@pytest.mark.parametrize(
    ("name", "changed"),
    [("perceptron", {"eta0": 0.3}), ("perceptron", {"margin": 2.0}), ("pa1", {"C": 5.0}), ("neuron", {"alpha": 0.5}),
     ("perceptron", {"class_weight": {"a": 3.0}}), ("perceptron", {"boundary": "negative"})],
)  # fmt: skip
def test_parameters_that_are_changed_count_from_the_next_row_on(name, changed):
    X, y = data(2)
    online, table = sx.stream(clone(MODELS[name])), clone(MODELS[name])
    for k, (x, label) in enumerate(zip(X, y, strict=True)):
        if k == 30:
            online.model.set_params(**changed)
            table.set_params(**changed)
        online.learn(x, label)
        table.partial_fit([x], [label])
    assert same_bits(online.model, table)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_model_that_is_fitted_elsewhere_is_not_overwritten():
    X, y = data(2)
    model = sx.Perceptron(random_state=0)
    online = sx.stream(model)
    for x, label in zip(X, y, strict=True):
        online.learn(x, label)
    more, labels = data(4, seed=5)
    model.fit(more, labels)
    fitted = model.coef_.copy()
    assert online.predict(more[0]) == model.predict(more[:1])[0]
    assert np.array_equal(online.model.coef_, fitted)
    assert len(online.score(more[0])) == len(model.classes_)


def test_the_model_is_whole_at_every_moment(tmp_path):
    X, y = data(3)
    model = sx.Perceptron(readout="averaged", random_state=0)
    online, table = sx.stream(model), clone(model)
    for k, (x, label) in enumerate(zip(X, y, strict=True)):
        online.learn(x, label)
        table.partial_fit([x], [label])
        if k == 40:
            assert same_bits(online.model, table)
            at_40 = copy.deepcopy(table)
    sx.save(model, tmp_path / "m.sx")  # by its own name, it is as it was when the stream's model was asked for
    kept = sx.load(tmp_path / "m.sx")
    more, labels = data(3, seed=4)
    assert same_bits(kept.partial_fit(more, labels), at_40.partial_fit(more, labels))
    assert same_bits(online.model.partial_fit(more, labels), table.partial_fit(more, labels))


def test_a_batch_of_one_row_is_weighed_as_partial_fit_weighs_it():
    online, table = sx.stream(sx.Perceptron(batch_size=10)), sx.Perceptron(batch_size=10)
    for x, label, weight in (([1.0, 0.0], "a", 1), ([0.0, 1.0], "b", 1), ([3.0, 1.0], "b", 2.5), ([1.0, 2.0], "a", 3)):
        online.learn(x, label, weight)
        table.partial_fit([x], [label], sample_weight=[weight])
    assert same_bits(online.model, table)


def test_rows_of_a_frame_are_read_by_name():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"u": [1.0, 0.0, 2.0], "v": [0.0, 1.0, 1.0]})
    online = sx.stream(sx.Perceptron(random_state=0).fit(frame, [0, 1, 0]))
    row = pandas.Series({"v": 0.0, "u": 1.0})
    assert online.score(row) == online.score({"u": 1.0, "v": 0.0}) == online.score([1.0, 0.0])
    with pytest.raises(ValueError, match="features must be those that the model was fitted to"):
        sx.stream(online.model, features=["v", "u"])


def test_labels_of_other_types_are_taken_as_partial_fit_takes_them():
    X, _ = data(2)
    online, table = sx.stream(sx.Perceptron()), sx.Perceptron()
    for x, label in zip(X, [0, 1, True, np.int64(0), 1.0, np.float32(0), False] * 8, strict=False):
        online.learn(x, label)
        table.partial_fit([x], [label])
    assert same_bits(online.model, table)
    assert online.model.classes_.dtype == table.classes_.dtype
    assert sx.stream(sx.Perceptron(), classes=["a", "b"]).learn([1.0], "c").model.classes_.tolist() == ["a", "b", "c"]
    objects = sx.Perceptron(readout="voted").fit(X, np.array(list("ab" * 30), object))
    assert sx.stream(objects).predict(X[0]) in ("a", "b")


def test_threads_share_a_stream():
    X, y = data(2, n=400)
    online, table = sx.stream(sx.Perceptron(readout="averaged")), sx.Perceptron(readout="averaged")
    for x, label in zip(X[:10], y[:10], strict=True):
        online.learn(x, label)
    stop = threading.Event()

    def ask():
        while not stop.is_set():
            online.predict(X[0] * 7)

    other = threading.Thread(target=ask)
    other.start()
    for x, label in zip(X[10:], y[10:], strict=True):
        online.learn(x, label)
    stop.set()
    other.join()
    for x, label in zip(X, y, strict=True):
        table.partial_fit([x], [label])
    assert same_bits(online.model, table)


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
    "X contains NaN in row 0, column 2": lambda s: s.learn([1.0, 2.0, np.nan, 4.0, 5.0], "a"),
    "X contains infinity in row 0, column 0": lambda s: s.predict([np.inf, 2.0, 3.0, 4.0, 5.0]),
    "X contains NaN in row 0, column 0": lambda s: s.learn(sparse.csr_array([[np.nan, 0, 0, 0, 1.0]]), "a"),
    "weight must be a finite number of at least 0; found -1": lambda s: s.learn(ROW, "a", -1),
    "weight must be a finite number of at least 0; found nan": lambda s: s.learn(ROW, "a", np.nan),
    "where a number belongs": lambda s: s.learn([1.0, "x", 3.0, 4.0, 5.0], "a"),
    "the row holds '1', where": lambda s: s.learn(list("12345"), "a"),
    "found the text '12345'": lambda s: s.learn("12345", "a"),
    "the row holds 1j, where": lambda s: s.learn(np.full(5, 1j), "a"),
    "the model's columns have no names": lambda s: s.learn({"u": 1.0}, "a"),
    "labels must be all numbers or all text": lambda s: s.learn(ROW, 3),
}


@pytest.mark.parametrize("sentence", BAD)
def test_a_bad_row_is_refused_and_the_model_stays_as_it_was(sentence):
    X, y = data(2)
    online = sx.stream(sx.Perceptron())
    for x, label in zip(X, y, strict=True):
        online.learn(x, label)
    before, rows = online.model.coef_.copy(), online.n_seen
    with pytest.raises((ValueError, TypeError), match=sentence):
        BAD[sentence](online)
    assert np.array_equal(online.model.coef_, before)
    assert online.n_seen == rows
    online.learn(X[0], y[0])


def test_a_row_that_overflows_leaves_every_task_as_it_was():
    online = sx.stream(sx.Perceptron(readout="averaged"))
    online.learn([1.0, 0.0], "a").learn([0.0, 1.0], "b")
    before = online.model.coef_.copy()
    with pytest.raises(ValueError, match="sums overflow; scale the features first"):
        online.learn([1e308, 0.0], "b")
    assert np.array_equal(online.model.coef_, before)
    start = np.array([[0.0, -1.0], [0.0, -1.0], [0.0, 1e155]]), [0.0, 0.0, 0.0]
    online = sx.stream(sx.Perceptron(init=start), classes=["a", "b", "c"]).learn([1.0, 0.0], "a")
    before = online.model.coef_.copy()
    with pytest.raises(ValueError, match="so large that sums overflow"):
        online.learn([1.0, 1e155], "a")
    assert np.array_equal(online.model.coef_, before)


def test_models_that_do_not_learn_online_are_refused():
    with pytest.raises(TypeError, match="found LinearSVM: Perceptron"):
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
