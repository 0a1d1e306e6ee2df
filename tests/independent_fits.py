"""Optima found by other programs, to compare with: LIBSVM, LIBLINEAR, scikit-learn's Newton method."""

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

SOLVERS = {
    "log": (
        lambda: sx.LogisticRegression(max_iter=1000),
        lambda C: LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000),
    ),
    "log without intercept": (
        lambda: sx.LogisticRegression(fit_intercept=False, max_iter=1000),
        lambda C: LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10, max_iter=1000, fit_intercept=False),
    ),
    "hinge": (
        lambda: sx.LinearSVM(max_iter=100_000),
        lambda C: SVC(C=C, kernel="linear", tol=1e-5),
    ),
    "squared hinge, penalised intercept": (
        lambda: sx.LinearSVM(loss="squared_hinge", intercept_scaling=1.0, max_iter=100_000),
        lambda C: LinearSVC(C=C, dual=False, tol=1e-10, max_iter=100_000),
    ),
}

NEAR_ZERO = 1e-3  # a score by these programs whose sign may not be that of the optimum


def overlapping(seed, *, smallest=24, largest=60):
    """Return a small data set whose two classes overlap, off the origin, in features of various sizes."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(smallest, largest)), int(rng.integers(1, 7))
    y = np.concatenate([np.repeat([0, 1], 6), rng.integers(0, 2, n - 12)])
    X = rng.normal(size=(n, d)) * rng.uniform(0.3, 2.0, d) + np.outer(y, rng.normal(size=d) * rng.uniform(0.0, 1.5))
    return X + rng.choice([0.0, 2.0]), y
