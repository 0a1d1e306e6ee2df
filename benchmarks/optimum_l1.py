"""Rows of optimum.py with an L1 penalty: LIBLINEAR (s5, s6), celer, skglm and scikit-learn's saga as peers.

Peers that are not installed are left out: ``pip install liblinear-official celer skglm``. No intercept. A path is one
fit after another along C, each from where the last one ended; skglm's and saga's warm starts are their own.
"""

from __future__ import annotations

import importlib.util
import warnings

import numpy as np
from optimum_binary import Liblinear
from optimum_runs import Problem, timed, whole_task
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import separatrix as sx

LOSSES = {"L1 log": 6, "L1 squared_hinge": 5}  # LIBLINEAR's solvers
TARGETS = (1e-4,)
OURS = (0.5, 0.3, 0.1, 3e-2, 1e-2, 1e-3, 1e-4, 1e-5)
LIBLINEAR = (0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5)
CELER, SKGLM, SAGA = (1e-1, 1e-2, 1e-3, 1e-4), (10.0, 1.0, 0.1, 1e-2, 1e-3), (1e-1, 1e-2, 1e-3)
PATH = np.geomspace(0.01, 10.0, 20)


def objective(X, y, C, loss, w):
    m = y * (X @ np.asarray(w, dtype=np.float64))
    losses = np.maximum(0.0, 1.0 - m) ** 2 if loss == "L1 squared_hinge" else np.logaddexp(0.0, -m)
    return float(np.abs(w).sum() + C * losses.sum())


def estimator(loss, C, tolerance):
    options = {"C": C, "tol": tolerance, "fit_intercept": False, "max_iter": 2000}
    if loss == "L1 squared_hinge":
        return sx.LinearSVM(loss="squared_hinge", penalty="l1", **options)
    return sx.LogisticRegression(l1_ratio=1.0, **options)


def celer(C, tolerance, n):
    from celer import LogisticRegression as Celer

    return Celer(C=C, penalty="l1", tol=tolerance, fit_intercept=False)


def skglm(C, tolerance, n):
    from skglm import SparseLogisticRegression

    return SparseLogisticRegression(alpha=1.0 / (C * n), tol=tolerance / n, fit_intercept=False)


def saga(C, tolerance, n):
    return LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=tolerance, fit_intercept=False, max_iter=200)


def problem(name, X, y, loss, C, peers):
    sides = {"ours": (OURS, lambda tol: timed(estimator(loss, C, tol), X, y))}
    if peers:
        ready = Liblinear(X, y)
        sides[f"s{LOSSES[loss]}"] = (LIBLINEAR, lambda tol: ready.train(LOSSES[loss], C, tol))
    if peers and loss == "L1 log":
        wide = X.astype(np.float64)
        columns = sparse.csc_matrix(wide) if sparse.issparse(X) else np.asfortranarray(wide)  # not timed
        for module, make, tolerances in (("celer", celer, CELER), ("skglm", skglm, SKGLM)):
            if importlib.util.find_spec(module):
                sides[module] = (tolerances, lambda tol, make=make: timed(make(C, tol, len(y)), columns, y))
        sides["saga"] = (SAGA, lambda tol: timed(saga(C, tol, len(y)), wide, y))

    def reference(limit):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exact = estimator(loss, C, 1e-7).fit(X, y)
        return float(exact.objective_ - exact.duality_gap_), float(exact.objective_)

    return Problem(name, X.shape, loss, C, sides, lambda w: objective(X, y, C, loss, w), reference, TARGETS)


def path(name, X, y, repeats, limit):
    """Return the record of a path of 20 values of C to a gap of 1e-4, or to what the peers call 1e-4 and 1e-3."""
    wide = X.astype(np.float64)

    def walk(model, set_C):
        for C in PATH:
            set_C(model, C).fit(wide, y)

    works = {"ours": lambda: sx.path(estimator("L1 log", 1.0, 1e-4), X, y, PATH)}
    first = LogisticRegression(l1_ratio=1.0, solver="saga", tol=1e-3, fit_intercept=False, warm_start=True)
    works["saga"] = lambda: walk(first.set_params(max_iter=200), lambda model, C: model.set_params(C=C))
    if importlib.util.find_spec("celer"):
        works["celer"] = lambda: walk(
            celer(1.0, 1e-4, len(y)).set_params(warm_start=True), lambda model, C: model.set_params(C=C)
        )
    ready = Liblinear(X, y)
    works["s6"] = lambda: [ready.train(6, C, 3e-3) for C in PATH]  # it has no warm start
    return whole_task(name, X.shape, "L1 path", works, repeats, limit)
