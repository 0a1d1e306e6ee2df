"""Optima found by other programs, to compare with: LIBSVM, LIBLINEAR, scikit-learn's Newton method."""

from typing import NamedTuple

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


class Case(NamedTuple):
    """A small data set, the weights of its rows and classes, and the same rows as other programs should see them."""

    X: np.ndarray
    y: np.ndarray
    near: np.ndarray
    sample_weight: np.ndarray | None
    class_weight: dict | None

    @property
    def counted(self):
        """What each row counts."""
        weights = np.ones(len(self.y)) if self.sample_weight is None else self.sample_weight
        return weights if self.class_weight is None else weights * np.array([self.class_weight[k] for k in self.y])

    def margins(self, model, train, rows):
        """Return the margins of rows by another program's optimum on others; of several classes over the best rival."""
        codes = [1] if len(np.unique(self.y)) == 2 else np.unique(self.y)
        scores = []
        for code in codes:
            fitted = model.fit(self.near[train], (self.y[train] == code).astype(int), sample_weight=self.counted[train])
            scores.append(fitted.decision_function(self.near[rows]))
        if len(codes) == 1:
            return np.where(self.y[rows] == 1, scores[0], -scores[0])
        own = np.array(scores)[self.y[rows], np.arange(len(rows))]
        rivals = np.array(scores)
        rivals[self.y[rows], np.arange(len(rows))] = -np.inf
        return own - rivals.max(axis=0)


def case(seed, name, **sizes):
    """Return a data set for a solver: with class weights, sample weights, far from the origin or of three classes.

    A free intercept makes up for any shift, so that others may see the rows where they lie about the origin.
    """
    X, y = overlapping(seed, **sizes)
    rng = np.random.default_rng(1000 + seed)
    kind = ("plain", "class weights", "sample weights", "far", "three classes")[seed // len(SOLVERS) % 5]
    weights = rng.uniform(0.3, 2.0, len(y)) if kind in ("sample weights", "far") else None
    by_class = {0: 0.5, 1: 2.0} if kind in ("class weights", "far") else None
    if kind == "three classes":
        y = np.where(rng.random(len(y)) < 0.3, 2, y)
    free = name in ("log", "hinge")
    return Case(X + (1e4 if kind == "far" and free else 0.0), y, X, weights, by_class)
