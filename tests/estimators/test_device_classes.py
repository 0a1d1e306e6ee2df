"""Several classes learned together from rows on a device, which array_api_strict stands for."""

import array_api_strict as xp
import numpy as np
import pytest

import separatrix as sx
from brackets import brackets_meet, noisy_classes

SETTINGS = {
    "small C, free intercept": {"C": 0.01},
    "penalised intercept": {"C": 1.0, "intercept_scaling": 2.0},
    "large C, no intercept": {"C": 100.0, "fit_intercept": False},
    "large C, free intercept": {"C": 1000.0},
}


@pytest.mark.parametrize("settings", SETTINGS)
def test_the_optimum_is_that_of_rows_in_memory(settings):
    X, y = noisy_classes(classes=5)
    weights = np.random.default_rng(1).integers(0, 4, len(y)).astype(float)
    how = {"tol": 1e-8, **SETTINGS[settings]}
    here = sx.LogisticRegression(**how).fit(X, y, weights)
    there = sx.LogisticRegression(**how).fit(xp.asarray(X), xp.asarray(y), xp.asarray(weights))
    assert there.status_.converged
    assert there.duality_gap_ <= 2e-8 * there.objective_
    assert brackets_meet(here, there)
    assert np.abs(here.coef_ - there.coef_).max() <= 1e-3 * np.abs(here.coef_).max()
    assert np.array_equal(here.predict(X), np.asarray(there.predict(xp.asarray(X))))
    made = np.asarray(there.predict_proba(xp.asarray(X)))
    assert np.allclose(made, here.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
@pytest.mark.parametrize("shape", ["wide", "a rare class", "zero rows", "far apart sizes", "separable", "far away"])
def test_odd_rows_reach_the_optimum_too(shape, C):
    X, y = noisy_classes(60, 3, seed=2, classes=3)
    if shape == "wide":
        X, y = noisy_classes(20, 80, seed=2, classes=3)
    elif shape == "a rare class":
        y[:] = np.arange(60) % 2
        y[7] = 2
    elif shape == "zero rows":
        X[::3] = 0.0
    elif shape == "far apart sizes":
        X *= [1e-3, 1.0, 1e3]
    elif shape == "separable":
        X += 20.0 * np.eye(3)[y]
    elif shape == "far away":
        X += 1e3
    here = sx.LogisticRegression(C=C, tol=1e-6).fit(X, y)
    there = sx.LogisticRegression(C=C, tol=1e-6).fit(xp.asarray(X), y)
    assert there.status_.converged, there.status_
    assert brackets_meet(here, there)


def test_rows_in_small_parts_give_the_same_optimum(monkeypatch):
    X, y = noisy_classes(classes=5)
    monkeypatch.setattr("separatrix.svm.rowblocks.device_run.CHUNK", 300)
    there = sx.LogisticRegression(tol=1e-8).fit(xp.asarray(X.astype(np.float32)), y)
    assert there.status_.converged
    assert brackets_meet(sx.LogisticRegression(tol=1e-8).fit(X.astype(np.float32), y), there)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_run_that_is_cut_short_says_the_gap_of_its_weights():
    X, y = noisy_classes(classes=5)
    best = sx.LogisticRegression(tol=1e-9).fit(X, y).objective_
    for most in range(1, 4):
        model = sx.LogisticRegression(tol=1e-12, max_iter=most).fit(xp.asarray(X), y)
        assert not model.status_.converged
        assert model.n_iter_ == most
        assert model.objective_ - model.duality_gap_ <= best * (1 + 1e-8)
        assert best <= model.objective_ * (1 + 1e-12)


@pytest.mark.parametrize("scaling", [None, 1.0])
def test_many_rows_start_from_the_solution_of_some(scaling, monkeypatch):
    X, y = noisy_classes(4000, 3, classes=3)
    how = {"C": 10.0, "tol": 1e-7, "intercept_scaling": scaling}
    there = sx.LogisticRegression(**how).fit(xp.asarray(X + 2.0), y)
    assert brackets_meet(sx.LogisticRegression(**how).fit(X + 2.0, y), there)
    monkeypatch.setattr("separatrix.svm.rowblocks.device_run._SAMPLE", 1)
    assert there.n_iter_ < sx.LogisticRegression(**how).fit(xp.asarray(X + 2.0), y).n_iter_
