"""Rows of optimum.py with several classes learned together, and the choice of C: scikit-learn as the peer."""

from __future__ import annotations

import warnings

import numpy as np
from optimum_binary import estimator
from optimum_runs import Problem, timed, whole_task
from scipy.special import logsumexp
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

import separatrix as sx

OURS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
SKLEARN = {"lbfgs": (1e-1, 1e-2, 1e-3, 1e-4, 1e-6), "newton-cg": (1e-1, 1e-2, 1e-3, 1e-4), "saga": (1e-1, 1e-2, 1e-3)}


def several(n, d, k, seed):
    """Normal classes around random centres, which overlap."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    X = rng.normal(size=(k, d))[y] + 1.5 * rng.normal(size=(n, d))
    return X, y


CLASSES = {
    "10 classes, 10,000 x 20": lambda: several(10_000, 20, 10, 0),
    "100 classes, 10,000 x 20": lambda: several(10_000, 20, 100, 1),
}


def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X), y


def blobs():
    return make_classification(400, 10, n_informative=5, flip_y=0.1, random_state=0)


TUNED = {"breast cancer": cancer, "400 x 10": blobs}


def objective(X, y, C, w):
    scores = X @ w.T
    return 0.5 * float(np.sum(w * w)) + C * float(np.sum(logsumexp(scores, axis=1) - scores[np.arange(len(y)), y]))


def problem(name, X, y, C, peers):
    def ours(tol, **others):
        return sx.LogisticRegression(
            C=C, tol=tol, fit_intercept=False, multi_class="multinomial", max_iter=1000, **others
        )

    sides = {"ours": (OURS, lambda tol: timed(ours(tol), X, y))}
    for solver, tolerances in SKLEARN.items() if peers else ():
        sides[solver] = (
            tolerances,
            lambda tol, solver=solver: timed(
                LogisticRegression(C=C, tol=tol, solver=solver, fit_intercept=False, max_iter=10**4), X, y
            ),
        )

    def reference(limit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = ours(1e-9, stop=sx.TimeLimit(3 * limit)).fit(X, y)
        return float(model.objective_ - model.duality_gap_), float(model.objective_)

    return Problem(name, X.shape, "multinomial", C, sides, lambda w: objective(X, y, C, w), reference)


def choices_of_cost(name, X, y, repeats, limit):
    """Yield a record for each loss: C between 1e-3 and 1e3 to a proven 0.005, against a grid search of ten values."""
    peers = {
        "log": LogisticRegression(), "hinge": LinearSVC(loss="hinge"), "squared_hinge": LinearSVC(),
    }  # fmt: skip
    grid = {"C": np.geomspace(1e-3, 1e3, 10)}
    for loss, peer in peers.items():
        model = estimator(loss, 1.0, 1e-4, fit_intercept=True, max_iter=1000)
        works = {
            "ours": lambda model=model: sx.tune(model, X, y, C=(1e-3, 1e3), folds=5, within=0.005),
            "grid search": lambda peer=peer: GridSearchCV(peer, grid, cv=5).fit(X, y),
        }
        yield whole_task(name, X.shape, f"tune {loss}", works, repeats, limit)
