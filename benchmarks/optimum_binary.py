"""Rows of optimum.py with an L2 penalty and one plane: LIBLINEAR and scikit-learn as peers. No intercept."""

from __future__ import annotations

import time
import warnings

import numpy as np
from optimum_runs import Problem, timed
from scipy import sparse
from sklearn.linear_model import LogisticRegression

import separatrix as sx

LOSSES = ("hinge", "squared_hinge", "log")
OURS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
LIBLINEAR = {"hinge": (3,), "squared_hinge": (1, 2), "log": (0, 7)}
DUAL = (1.0, 0.1, 0.01, 1e-3, 1e-4, 1e-5)
PRIMAL = (0.3, 0.03, 3e-3, 3e-4, 3e-5, 3e-6)
ROUGH = (1e-1, 1e-2, 1e-3, 1e-4, 1e-6)
SKLEARN = {"lbfgs": ROUGH, "newton-cholesky": ROUGH, "newton-cg": ROUGH, "saga": (1e-1, 1e-2, 1e-3, 1e-4)}
REFERENCE = 1e-9


def objective(X, signs, C, loss, w, bias=0.0):
    """The value of these weights, in double precision."""
    margins = signs * (X @ np.asarray(w, dtype=np.float64) + bias)
    if loss == "log":
        each = np.logaddexp(0.0, -margins)
    else:
        each = np.maximum(1.0 - margins, 0.0)
        each = each * each if loss == "squared_hinge" else each
    return 0.5 * float(w @ w) + C * float(each.sum())


def estimator(loss, C, tolerance, **others):
    others = {"fit_intercept": False, "max_iter": 10**6, **others}
    if loss == "log":
        return sx.LogisticRegression(C=C, tol=tolerance, **others)
    return sx.LinearSVM(loss=loss, C=C, tol=tolerance, random_state=0, **others)


class Liblinear:
    """LIBLINEAR on a problem that is made once."""

    def __init__(self, X, signs):
        from liblinear.liblinear import liblinear, parameter, problem

        self._library, self._parameter = liblinear, parameter
        self._problem = problem(signs, sparse.csr_matrix(X).astype(np.float64))
        self._problem.set_bias(-1)
        self._width = X.shape[1]

    def train(self, solver, C, tolerance):
        options = self._parameter(f"-s {solver} -c {C} -B -1 -e {tolerance} -q")
        began = time.process_time()
        model = self._library.train(self._problem, options)
        seconds = time.process_time() - began
        w = np.ctypeslib.as_array(model.contents.w, (self._width,)).copy()
        return seconds, w if model.contents.label[0] > 0 else -w


def problem(name, X, signs, peer, loss, C, peers):
    """Return a row; ``peer`` is LIBLINEAR with these data, and no peer takes part unless ``peers`` says so."""
    sides = {"ours": (OURS, lambda tol: timed(estimator(loss, C, tol), X, signs))}
    if peers and peer is not None:
        for solver in LIBLINEAR[loss]:
            tolerances = PRIMAL if solver in (0, 2) else DUAL
            sides[f"s{solver}"] = (tolerances, lambda tol, solver=solver: peer.train(solver, C, tol))
    if peers and loss == "log":
        double = X.astype(np.float64)
        for solver, tolerances in SKLEARN.items():
            if solver == "newton-cholesky" and X.shape[1] > 3000:
                continue
            sides[solver] = (
                tolerances,
                lambda tol, solver=solver: timed(
                    LogisticRegression(C=C, tol=tol, solver=solver, fit_intercept=False, max_iter=10**5), double, signs
                ),
            )

    def reference(limit):
        model = estimator(loss, C, REFERENCE, stop=sx.TimeLimit(3 * limit))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, signs)
        return float(model.objective_ - model.duality_gap_), float(model.objective_)

    return Problem(name, X.shape, loss, C, sides, lambda w: objective(X, signs, C, loss, w), reference)
