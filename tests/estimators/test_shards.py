"""Many rows in memory are trained on in shards: the same optimum, and the same bits with any number of threads."""

import numpy as np
import pytest

import separatrix as sx
from brackets import brackets_meet
from separatrix.svm.rowblocks import sharded, smoothing, tree
from small_shards import MODELS, learned, problem

pytestmark = pytest.mark.usefixtures("small_shards")

SETTINGS = {
    "free intercept": {"C": 0.1},
    "penalised intercept, weighted classes": {"intercept_scaling": 2.0, "class_weight": "balanced"},
    "no intercept, large C": {"C": 100.0, "fit_intercept": False},
}
WEIGHTS = np.random.default_rng(1).integers(0, 4, 1500).astype(float)
WEIGHTS[128:320] = 0.0  # whole shards among them


def usual(loss, **how):
    """Return a model that takes no shards."""
    return MODELS[loss](warm_start=True, **how)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("loss", MODELS)
def test_threads_never_change_a_bit_and_the_optimum_is_that_of_the_usual_solvers(loss, settings):
    X, y = problem()
    how = {"tol": 1e-6, **SETTINGS[settings]}
    models = [MODELS[loss](n_jobs=jobs, **how).fit(X, y, WEIGHTS) for jobs in (1, 2, 4)]
    assert len(set(map(learned, models))) == 1
    assert models[0].status_.converged
    assert brackets_meet(models[0], usual(loss, **how).fit(X, y, WEIGHTS))


def test_shards_are_used_where_rows_are_many_and_tall_and_they_are_as_fast(monkeypatch):
    made = []
    kept = sharded.MemoryStore.__init__
    monkeypatch.setattr(sharded.MemoryStore, "__init__", lambda *given: (made.append(1), kept(*given))[1])
    X, y = problem()
    sx.LinearSVM().fit(X, y)
    assert made
    made.clear()
    sx.LinearSVM().fit(X[:200], y[:200])
    sx.LinearSVM(warm_start=True).fit(X, y)
    monkeypatch.setattr(tree, "_TALL", 1000)
    sx.LogisticRegression().fit(X, y)
    assert not made


def test_the_cut_depends_on_the_shape_alone_and_has_at_most_4096_shards(monkeypatch):
    monkeypatch.undo()
    for n, d in ((1, 1), (10**5, 3), (2 * 10**6, 64), (10**9, 256), (3 * 10**9, 7)):
        rows = tree.shard_rows(n, d)
        assert rows & (rows - 1) == 0
        assert -(-n // rows) <= 4096


@pytest.mark.parametrize("loss", MODELS)
def test_timestamps_keep_their_digits(loss):
    X, y = problem(dtype=np.float64)
    X[:, 1] += 1.7e9
    one, two = MODELS[loss](tol=1e-6).fit(X, y), usual(loss, tol=1e-6).fit(X, y)
    assert one.status_.converged
    assert one.duality_gap_ <= 1e-4 * one.objective_
    assert brackets_meet(one, two)


@pytest.mark.parametrize("loss", MODELS)
@pytest.mark.parametrize("shape", ["constant columns", "zero rows", "twice", "far apart sizes", "separable", "one row"])
def test_odd_rows_reach_the_optimum_too(loss, shape):
    X, y = problem(600, seed=2, dtype=np.float64)
    if shape == "constant columns":
        X[:, 1] = 7.0
    elif shape == "zero rows":
        X[::3] = 0.0
    elif shape == "twice":
        X, y = np.repeat(X, 2, axis=0), np.repeat(y, 2)
    elif shape == "far apart sizes":
        X = X * np.array([1e-9, 1.0, 1e6, 1.0])
    elif shape == "separable":
        X[:, 0] = 10.0 * y - 5.0
    else:  # of a class
        y = (np.arange(len(y)) == 77).astype(int)
    one, two = MODELS[loss](tol=1e-5).fit(X, y), usual(loss, tol=1e-5).fit(X, y)
    assert one.status_.converged
    assert brackets_meet(one, two)


def test_where_smoothing_leads_nowhere_the_interior_point_method_goes_on(monkeypatch):
    X, y = problem()
    smooth = sx.LinearSVM(tol=1e-6).fit(X, y)
    assert "by Newton's method" in str(smooth.status_)
    monkeypatch.setattr(smoothing, "_NARROWEST", 1e4)
    model = sx.LinearSVM(tol=1e-6).fit(X, y)
    assert "by the interior-point method" in str(model.status_)
    assert brackets_meet(model, smooth)


def test_a_model_of_several_classes_and_its_dual_weights():
    X, y = problem(classes=3)
    model = sx.LinearSVM(tol=1e-6).fit(X, y, WEIGHTS)
    reference = usual("hinge", tol=1e-6).fit(X, y, WEIGHTS)
    assert brackets_meet(model, reference)
    signed = np.zeros((3, len(y)))
    signed[:, model.support_] = model.dual_coef_
    assert np.allclose(signed @ X, model.coef_, atol=1e-3)
    assert not np.any(signed[:, WEIGHTS == 0])
    assert np.allclose(model.slack_, reference.slack_, atol=1e-3)


def test_the_certificate_proves_the_objective():
    X, y = problem()
    proved = sx.LinearSVM(tol=1e-5).fit(X, y).certificate_.objective
    assert proved.gap <= 1e-4 * proved.primal
    assert proved.dual <= usual("hinge", tol=1e-8).fit(X, y).objective_ <= proved.primal * (1 + 1e-9)


@pytest.mark.parametrize("loss", MODELS)
def test_a_time_limit_leaves_a_model_with_its_gap(loss):
    X, y = problem()
    model = MODELS[loss](tol=0.0, stop="time:1e-9").fit(X, y)
    assert "time limit of 1e-09 s in iteration 1: relative duality gap" in str(model.status_)
    assert 0 < model.duality_gap_ < np.inf
    best = usual(loss, tol=1e-8).fit(X, y).objective_
    assert model.objective_ - model.duality_gap_ <= best <= model.objective_ * (1 + 1e-9)


def test_ctrl_c_is_noticed_between_two_shards(monkeypatch):
    X, y = problem()
    visits = []
    kept = sharded.ShardStore.look

    def look(store):
        visits.append(store)
        store.halted = lambda: len(visits) > 1200
        kept(store)

    monkeypatch.setattr(sharded.ShardStore, "look", look)
    model = sx.LinearSVM(tol=1e-9, stop="time:1000").fit(X, y)
    assert 1200 < len(visits) < 1300
    assert 0 < model.duality_gap_ < np.inf
    assert "time limit" in str(model.status_)


@pytest.mark.parametrize(
    ("value", "sentence"), [(np.nan, "X contains NaN in row 700, column 2"), (3e38, r"row 700 .* overflows")]
)
def test_numbers_of_which_no_product_can_be_formed_are_named(value, sentence):
    X, y = problem(dtype=np.float64)
    X[700, 2] = value if np.isnan(value) else 1e300
    with pytest.raises(ValueError, match=sentence):
        sx.LinearSVM().fit(X, y)


def test_a_model_file_holds_it(tmp_path):
    X, y = problem(classes=3)
    model = sx.LogisticRegression(multi_class="ovr").fit(X, y)
    sx.save(model, tmp_path / "model.sx")
    assert (sx.load(tmp_path / "model.sx").predict(X) == model.predict(X)).all()
