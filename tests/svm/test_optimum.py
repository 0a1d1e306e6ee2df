"""The optimum of every loss, penalty, intercept and weighting, against solvers of others that are run to their end.

The others are LIBSVM for the hinge, LIBLINEAR for its square, scikit-learn's Newton method for the log loss, SciPy's
L-BFGS for several classes; with an L1 part, Newton's method on the weights that are not 0, as written here. Their last
digits come from Newton's method on the piece of the objective on which they end.
"""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import expit, log_softmax, softmax
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC

import separatrix as sx

INTERCEPTS = {
    "none": {"fit_intercept": False},
    "penalised": {"fit_intercept": True, "intercept_scaling": 2.0},
    "free": {"fit_intercept": True},
}
TOL = 1e-10
RATIOS = {"l2": 0.0, "elasticnet": 0.4, "l1": 1.0}
LOSSES = [("hinge", "l2"), *((loss, penalty) for loss in ("squared_hinge", "log") for penalty in RATIOS)]
SEEDS = range(5)  # times losses with their penalties, intercepts and weights: 210 problems


class Problem(NamedTuple):
    """Rows with the bias's column last, where there is a bias, and what the objective holds."""

    loss: str
    Z: np.ndarray
    signs: np.ndarray
    costs: np.ndarray
    ridge: np.ndarray  # of each weight
    lasso: np.ndarray

    def value(self, v):
        m = self.signs * (self.Z @ v)
        slack = np.maximum(0.0, 1.0 - m)
        each = {"hinge": slack, "squared_hinge": slack**2, "log": np.logaddexp(0.0, -m)}[self.loss]
        return 0.5 * self.ridge @ (v * v) + self.lasso @ np.abs(v) + self.costs @ each

    def smooth(self, v, lasso=0.0):
        """Value, slope and second derivative; ``lasso`` are the slopes of the L1 part."""
        m = self.signs * (self.Z @ v)
        if self.loss == "log":
            value, pull = np.logaddexp(0.0, -m), expit(-m)
            bend = pull * (1.0 - pull)
        else:
            value, pull, bend = np.maximum(0.0, 1.0 - m) ** 2, 2.0 * np.maximum(0.0, 1.0 - m), 2.0 * (m < 1.0)
        slope = self.ridge * v + lasso - self.Z.T @ (self.costs * self.signs * pull)
        curve = np.diag(self.ridge) + (self.Z.T * (self.costs * bend)) @ self.Z
        return 0.5 * self.ridge @ (v * v) + np.sum(lasso * v) + self.costs @ value, slope, curve


def random_problem(seed, classes=2):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(8, 60)), int(rng.integers(1, 16))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-0.5, 0.5, d)
    X *= rng.random((n, d)) < rng.choice([0.3, 1.0])
    C, weights = float(rng.choice([0.01, 1.0, 30.0])), rng.uniform(0.2, 3.0, n)
    if classes > 2:
        y = np.argmax(X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes)), axis=1)
        y[:classes] = np.arange(classes)
        return X, y, C, weights
    signs = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return X, signs, C, weights


def by_newton(problem, v, lasso=0.0):
    """Newton's method on the value with the L1 part held linear, until it does not fall."""
    value, slope, curve = problem.smooth(v, lasso)
    for _ in range(200):
        lift = 1e-9 * np.trace(curve) + 1e-12  # flat pieces of the squared hinge are followed to their end
        step = -np.linalg.solve(curve + lift * np.eye(len(v)), slope)
        for length in 0.5 ** np.arange(30):
            ahead = problem.smooth(v + length * step, lasso)
            if ahead[0] < value:
                break
        else:
            return v
        v, (value, slope, curve) = v + length * step, ahead
    return v


def with_lasso(problem):
    """The optimum with an L1 part: Newton's method on the weights that are not 0, which enter one at a time."""
    v, entered = np.zeros(len(problem.ridge)), problem.lasso == 0.0
    for _ in range(300):
        some = entered | (v != 0.0)
        slope = problem.smooth(v)[1]
        signs = np.where(v != 0.0, np.sign(v), -np.sign(slope)) * (problem.lasso > 0.0)
        part = problem._replace(Z=problem.Z[:, some], ridge=problem.ridge[some], lasso=problem.lasso[some])
        towards = np.zeros(len(v))
        towards[some] = by_newton(part, v[some], part.lasso * signs[some])
        crossed = (v != 0.0) & (towards * signs < 0.0)
        length = min(1.0, *(v[crossed] / (v - towards)[crossed]), 1.0)
        v = v + length * (towards - v)
        v[crossed & (np.abs(v) < 1e-14 * np.abs(v).max())] = 0.0
        beyond = np.where(v == 0.0, np.abs(problem.smooth(v)[1]) - problem.lasso, 0.0)
        entered = problem.lasso == 0.0
        if length == 1.0:
            if beyond.max() < 1e-9:
                break
            entered[np.argmax(beyond)] = True
    return v


def at_the_kink(problem, v):
    """The optimum of the hinge loss if the rows that lie on their margin now are those that do there."""
    candidates = [v]
    m = problem.signs * (problem.Z @ v)
    for near in (1e-6, 1e-4, 1e-3, 1e-2):
        on = np.abs(m - 1.0) < near
        rows = problem.signs[:, None] * problem.Z
        fixed = rows[m <= 1.0 - near].T @ problem.costs[m <= 1.0 - near]
        k, held = len(v), int(on.sum())
        system = np.block([[np.diag(problem.ridge), -rows[on].T], [rows[on], np.zeros((held, held))]])
        candidates.append(np.linalg.lstsq(system, np.append(fixed, np.ones(held)), rcond=None)[0][:k])
    return min(candidates, key=problem.value)


def theirs(problem, intercept, X, C, weights):
    """Weights (the bias's last) of another solver."""
    loss, signs = problem.loss, problem.signs
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        if problem.lasso.any():
            return with_lasso(problem)
        if loss == "log" and intercept == "penalised":
            return by_newton(problem, np.zeros(len(problem.ridge)))
        if loss == "hinge":
            return at_the_kink(problem, by_libsvm(problem, free=intercept == "free"))
        if loss == "log":
            model = LogisticRegression(C=C, tol=1e-14, solver="newton-cholesky", fit_intercept=intercept == "free")
        else:
            kind = {"fit_intercept": intercept != "none", "intercept_scaling": 2.0}
            model = LinearSVC(C=C, loss=loss, dual=False, tol=1e-13, max_iter=200_000, **kind)
        model.fit(X, signs, sample_weight=weights)
    return by_newton(problem, model.coef_[0] if intercept == "none" else np.append(model.coef_[0], model.intercept_[0]))


def by_libsvm(problem, *, free):
    """LIBSVM has a free bias; with every row mirrored the best one is 0."""
    signs, costs = problem.signs, problem.costs
    if free:
        model = SVC(kernel="linear", tol=1e-12).fit(problem.Z[:, :-1], signs, sample_weight=costs)
        return np.append(model.coef_[0], model.intercept_[0])
    size = np.sqrt(problem.ridge)  # so that each weight costs the same
    both = np.vstack([problem.Z / size, -problem.Z / size])
    model = SVC(kernel="linear", tol=1e-12)
    return model.fit(both, np.append(signs, -signs), sample_weight=0.5 * np.tile(costs, 2)).coef_[0] / size


def estimator(loss, penalty, **kind):
    if loss == "log":
        return sx.LogisticRegression(l1_ratio=RATIOS[penalty], **kind)
    kind = {**kind, "l1_ratio": 0.4} if penalty == "elasticnet" else kind
    return sx.LinearSVM(loss=loss, penalty=penalty, random_state=0, **kind)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(("loss", "penalty"), LOSSES)
def test_the_optimum_is_that_of_others(loss, penalty, intercept, weighted):
    for seed in SEEDS:
        X, signs, C, weights = random_problem(100 * seed + 7)
        class_weight = {-1.0: 2.0, 1.0: 0.7} if weighted else None
        weights = weights if weighted else np.ones(len(signs))
        counted = weights * np.where(signs > 0, 0.7, 2.0) if weighted else weights
        kind = {"tol": TOL, "C": C, "class_weight": class_weight, **INTERCEPTS[intercept]}
        model = estimator(loss, penalty, **kind).fit(X, signs, sample_weight=weights)
        d, biased, ratio = X.shape[1], intercept != "none", RATIOS[penalty]
        scale = 0.5 if intercept == "penalised" else 0.0
        problem = Problem(
            loss, np.hstack([X, np.ones((len(X), 1))]) if biased else X, signs, C * counted,
            (1.0 - ratio) * np.append(np.ones(d), [scale**2] * biased), ratio * np.append(np.ones(d), [scale] * biased),
        )  # fmt: skip
        mine = problem.value(np.append(model.coef_[0], model.intercept_) if biased else model.coef_[0])
        other = problem.value(theirs(problem, intercept, X, C, counted))
        assert model.objective_ == pytest.approx(mine, rel=1e-12)
        assert mine <= other * (1 + 1e-8)
        assert mine >= other * (1 - 1e-8)
        assert model.objective_ - model.duality_gap_ <= other * (1 + 1e-12)  # a lower bound on all there is
        assert model.duality_gap_ <= 1e-8 * mine


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_the_optimum_of_several_classes_learned_together_is_that_of_others(intercept):
    biased = intercept != "none"
    for seed in range(2 * len(SEEDS)):
        X, y, C, weights = random_problem(100 * seed + 7, classes=3 + seed % 2)
        k, n, d = 3 + seed % 2, *X.shape
        class_weight = dict(enumerate([2.0, 0.7, 1.0, 1.5][:k])) if seed % 3 else None
        counted = C * weights * (np.array([2.0, 0.7, 1.0, 1.5])[y] if class_weight else 1.0)
        model = sx.LogisticRegression(tol=TOL, C=C, class_weight=class_weight, **INTERCEPTS[intercept])
        model.fit(X, y, sample_weight=weights)
        lean = 0.25 if intercept == "penalised" else 0.0
        Z = np.hstack([X, np.ones((n, 1))]) if biased else X
        ridge = np.append(np.ones(d), [lean] * biased)

        def value(flat, y=y, Z=Z, ridge=ridge, counted=counted, k=k):
            V = flat.reshape(k, -1)
            scores = Z @ V.T
            apart = softmax(scores, axis=1)
            apart[np.arange(len(y)), y] -= 1.0
            losses = -log_softmax(scores, axis=1)[np.arange(len(y)), y]
            slope = ridge * V + (counted[:, None] * apart).T @ Z
            return 0.5 * float((ridge * V * V).sum()) + float(counted @ losses), slope.ravel()

        flat = np.zeros(k * Z.shape[1])
        for _ in range(2):
            options = {"ftol": 0.0, "gtol": 1e-10, "maxiter": 3000, "maxcor": 50}
            flat = minimize(value, flat, jac=True, method="L-BFGS-B", options=options).x
        other = value(flat)[0]
        mine = value(np.hstack([model.coef_, model.intercept_[:, None]] if biased else [model.coef_]).ravel())[0]
        assert model.objective_ == pytest.approx(mine, rel=1e-12)
        assert other * (1 - 1e-8) <= mine <= other * (1 + 1e-8)
        assert model.objective_ - model.duality_gap_ <= other * (1 + 1e-12)
        assert model.duality_gap_ <= 1e-8 * mine
