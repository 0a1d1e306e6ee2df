"""Rows on a device: array_api_strict, which has the functions of the standard and no others, stands for a GPU."""

import array_api_strict as xp
import numpy as np
import pytest

import separatrix as sx
from brackets import brackets_meet, noisy_classes
from separatrix.svm.rowblocks import array_rows, device_run

MODELS = {
    "hinge": lambda **how: sx.LinearSVM(**how),
    "squared hinge": lambda **how: sx.LinearSVM(loss="squared_hinge", **how),
    "log": lambda **how: sx.LogisticRegression(multi_class="ovr", **how),
}
SETTINGS = {
    "small C, free intercept": {"C": 0.01},
    "penalised intercept": {"C": 1.0, "intercept_scaling": 2.0},
    "large C, no intercept": {"C": 100.0, "fit_intercept": False},
    "large C, free intercept": {"C": 100.0},
}


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("loss", MODELS)
def test_the_optimum_is_that_of_rows_in_memory(loss, settings):
    X, y = noisy_classes()
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    how = {"tol": 1e-7, **SETTINGS[settings]}
    here = MODELS[loss](**how).fit(X, y, weights)
    there = MODELS[loss](**how).fit(xp.asarray(X), xp.asarray(y), xp.asarray(weights))
    assert there.status_.converged
    assert there.duality_gap_ <= 2e-7 * there.objective_
    assert brackets_meet(here, there)


@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize(
    "shape", ["wide", "two rows", "constant columns", "zero rows", "twice", "far apart sizes", "separable", "far away"]
)
def test_odd_rows_reach_the_optimum_too(loss, shape):
    X, y = noisy_classes(60, 3, seed=2)
    if shape == "wide":
        X, y = noisy_classes(20, 80, seed=2)
    elif shape == "two rows":
        X, y = np.array([[0.0, 1.0], [1.0, 1.0]]), np.array([0, 1])
    elif shape == "constant columns":
        X[:, 1] = 7.0
    elif shape == "zero rows":
        X[::3] = 0.0
    elif shape == "twice":
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    elif shape == "far apart sizes":
        X = X * np.array([1e-9, 1.0, 1e6])
    elif shape == "separable":
        X[:, 0] = 10.0 * y - 5.0
    else:
        X = X + 1000.0
    here, there = (MODELS[loss](tol=1e-5).fit(rows, y) for rows in (X, xp.asarray(X)))
    assert there.status_.converged
    assert brackets_meet(here, there)


def test_rows_in_single_precision_are_read_as_they_are():
    X, y = noisy_classes(400, 5)
    single = X.astype(np.float32)
    here, there = sx.LinearSVM(tol=1e-6).fit(single, y), sx.LinearSVM(tol=1e-6).fit(xp.asarray(single), y)
    assert brackets_meet(here, there)
    assert np.allclose(here.coef_, there.coef_, atol=1e-2)


def test_predictions_stay_on_the_device():
    X, y = noisy_classes(classes=3)
    model = sx.LogisticRegression(multi_class="ovr").fit(xp.asarray(X), y)
    rows = xp.asarray(X)
    for method in ("decision_function", "predict_proba", "predict_log_proba", "predict"):
        answer = getattr(model, method)(rows)
        assert type(answer) is type(rows)
        assert np.allclose(np.asarray(answer), getattr(model, method)(X), atol=1e-12)
    named = sx.LinearSVM().fit(rows, np.array(["a", "b", "c"])[y])
    assert named.predict(rows).tolist() == named.predict(X).tolist()


def test_labels_may_be_on_the_device_or_not():
    X, y = noisy_classes()
    models = [sx.LogisticRegression().fit(xp.asarray(X), labels) for labels in (y, xp.asarray(y), xp.asarray(y - 7))]
    assert len({model.coef_.tobytes() for model in models}) == 1
    assert models[2].classes_.tolist() == [-7, -6]


def test_the_same_rows_give_the_same_bits_again():
    X, y = noisy_classes()
    assert len({sx.LinearSVM().fit(xp.asarray(X), y).coef_.tobytes() for _ in range(3)}) == 1


def test_the_certificate_of_a_small_model_proves_its_objective_in_memory():
    X, y = noisy_classes(80, 2)
    model = sx.LinearSVM(tol=1e-6).fit(xp.asarray(X), y)
    proved = model.certificate_.objective
    assert proved.gap <= 1e-4 * proved.primal
    assert proved.dual <= sx.LinearSVM(tol=1e-9).fit(X, y).objective_ <= proved.primal * (1 + 1e-9)


def test_a_model_of_many_rows_keeps_nothing_for_each_row(monkeypatch):
    monkeypatch.setattr("separatrix.estimators.linear_svm._MOST_FETCHED", 100)
    X, y = noisy_classes()
    model = sx.LinearSVM().fit(X, y)
    model.fit(xp.asarray(X), y)
    assert not hasattr(model, "dual_coef_")
    assert not hasattr(model, "slack_")
    assert model.certificate_.objective is None
    assert model.certificate_.wrong == np.count_nonzero(model.predict(X) != y)


def test_a_model_file_holds_it(tmp_path):
    X, y = noisy_classes(classes=3)
    model = sx.LinearSVM().fit(xp.asarray(X), y)
    sx.save(model, tmp_path / "model.sx")
    assert (sx.load(tmp_path / "model.sx").predict(X) == model.predict(X)).all()


def test_a_time_limit_leaves_a_model_with_its_gap():
    X, y = noisy_classes()
    model = sx.LogisticRegression(tol=0.0, stop="time:1e-9").fit(xp.asarray(X), y)
    assert "time limit" in str(model.status_)
    assert 0 < model.duality_gap_ < np.inf
    best = sx.LogisticRegression(tol=1e-9).fit(X, y).objective_
    assert model.objective_ - model.duality_gap_ <= best <= model.objective_


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_is_cut_short_counts_its_iterations():
    X, y = noisy_classes()
    assert str(sx.LinearSVM(max_iter=3).fit(xp.asarray(X), y).status_).startswith("stopped after 3 iterations: ")


class OutOfMemoryError(RuntimeError):
    """What torch raises, by its name."""


@pytest.mark.parametrize("room", [256, 2])
def test_too_little_memory_is_met_with_smaller_parts_and_then_with_a_sentence(monkeypatch, room):
    X, y = noisy_classes()
    kept, sizes = array_rows.ArrayRows.times, []

    def times(rows, w):
        sizes.append(max(part.stop - part.start for part in rows._parts) * rows.d)
        if sizes[-1] > room:
            raise OutOfMemoryError("CUDA out of memory.\nTried to allocate")
        return kept(rows, w)

    monkeypatch.setattr(array_rows.ArrayRows, "times", times)
    monkeypatch.setattr(device_run, "CHUNK", 1024)
    if room == 2:
        with pytest.raises(MemoryError, match=r"too little memory to train on 300 rows, .* \(CUDA out of memory\.\)$"):
            sx.LogisticRegression().fit(xp.asarray(X), y)
        return
    model = sx.LogisticRegression().fit(xp.asarray(X), y)
    assert model.status_.converged
    assert (sizes[0], sizes[-1]) == (1024, 64)
    assert brackets_meet(model, sx.LogisticRegression().fit(X, y))


def refused(model, X, y, **how):
    return lambda: model.fit(X, y, **how)


X, Y = noisy_classes(20, 2)
BAD = {
    "learns from rows in memory only": refused(sx.Perceptron(), xp.asarray(X), Y),
    "C=inf needs rows in memory": refused(sx.LinearSVM(C=np.inf), xp.asarray(X), Y),
    "warm_start needs rows in memory": refused(sx.LinearSVM(warm_start=True), xp.asarray(X), Y),
    "an L1 penalty needs rows in memory": refused(sx.LogisticRegression(l1_ratio=1.0), xp.asarray(X), Y),
    "NaN in row 3, column 1": refused(sx.LinearSVM(), xp.asarray(np.where(X[3, 1] == X, np.nan, X)), Y),
    "found shape \\(2,\\)": refused(sx.LinearSVM(), xp.asarray(X[0]), Y),
    "X has 20 rows, y has 5 labels": refused(sx.LinearSVM(), xp.asarray(X), Y[:5]),
    "X has 20 rows, y has 4 labels": refused(sx.LinearSVM(), xp.asarray(X), xp.asarray(Y[:4])),
    "found int64: convert it, as to float32": refused(sx.LinearSVM(), xp.asarray(X.astype(np.int64)), Y),
    "at least two classes": refused(sx.LinearSVM(), xp.asarray(X), xp.asarray(np.zeros(20, dtype=np.int64))),
    "a minimum of 1 is required": refused(sx.LinearSVM(), xp.asarray(X[:0]), Y[:0]),
    "sample_weight gives -1": refused(sx.LinearSVM(), xp.asarray(X), Y, sample_weight=xp.asarray(-np.ones(20))),
}


@pytest.mark.parametrize("sentence", BAD)
def test_what_a_device_cannot_do_is_said_in_a_sentence(sentence):
    with pytest.raises((ValueError, TypeError), match=sentence):
        BAD[sentence]()


def test_other_columns_are_refused_at_prediction():
    model = sx.LinearSVM().fit(xp.asarray(X), Y)
    with pytest.raises(ValueError, match="X has 1 features, but LinearSVM is expecting 2"):
        model.predict(xp.asarray(X[:, :1]))
