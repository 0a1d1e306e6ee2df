"""Fits of one estimator to the same data for one C after another, each from where the last one ended.

Here is what a path along C, certified tuning and leave-one-out share. The estimator must be a ``LinearSVM`` or a
``LogisticRegression``; its data are checked once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix import _core
from separatrix.estimators.fitting import refuse_weightless, weigh_classes
from separatrix.estimators.linear_svm import LinearSVM, MarginState
from separatrix.estimators.logistic_regression import LogisticRegression, LogisticState
from separatrix.estimators.one_vs_rest import positives
from separatrix.estimators.solved import SolvedClassifier
from separatrix.geometry.moments import Moments
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Labels, Problem
from separatrix.svm import optimum_ball
from separatrix.svm.centring import bias_within, centred
from separatrix.svm.optimum_ball import Evidence, evidence


def solved(estimator: Any, what: str) -> SolvedClassifier:
    """Return the estimator if it is one whose optimum can be proved, else refuse it by name."""
    if isinstance(estimator, type) or not isinstance(estimator, LinearSVM | LogisticRegression):
        name = estimator.__name__ if isinstance(estimator, type) else type(estimator).__name__
        raise TypeError(f"{what} needs a LinearSVM or a LogisticRegression (an instance); found {name}")
    return estimator


def with_l2(estimator: Any, what: str) -> None:
    """Refuse an estimator whose penalty is not L2, for which no bound is proved."""
    if estimator._ratio > 0:
        raise ValueError(
            f"{what} needs an L2 penalty, for which its bounds are proved; found l1_ratio={estimator._ratio:g}"
        )


def copy_of(estimator: SolvedClassifier, **changed: Any) -> Any:
    """Return an estimator with the same parameters that has learned nothing."""
    return type(estimator)(**{**estimator.get_params(deep=False), **changed})


class WarmFits:
    """One estimator, its data, and the states that its last fit left."""

    def __init__(self, estimator: SolvedClassifier, X: Any, labels: Labels, sample_weight: Any = None) -> None:
        self.model: Any = copy_of(estimator, warm_start=False)
        rows = X if isinstance(X, Rows) else Rows(X)
        rows.check_finite()
        self.problem = Problem(rows, labels, sample_weight=sample_weight, bias=None, check_finite=False)
        weigh_classes(self.problem, self.model.class_weight)
        refuse_weightless(self.problem)
        self.model.n_features_in_, self.model.classes_ = self.problem.d, self.problem.classes
        self._last: list[tuple[float, list[Any]]] = []

    def fit(self, C: float, tol: float | None = None, near: Sequence[tuple[float, list[Any]]] | None = None) -> Any:
        """Fit with this C, to the estimator's tolerance or another, and return the estimator.

        The fit begins between those that are ``near``: values of C and the states of their fits; the last one if None.
        """
        model = self.model
        model.C = C
        if tol is not None:
            model.tol = tol
        stop = model._check_parameters()
        model._spread = Moments(self.problem.d)
        states = model._start(self.problem, 0)
        near = self._last if near is None else near
        for place, state in enumerate(states):
            _begin(state, C, [(other, them[place]) for other, them in near])
        model._run(self.problem, states, stop, 0)
        self._last = [(C, states)]
        if model.status_.interrupted:
            raise KeyboardInterrupt
        return model

    def take(self, fitted: Any) -> None:
        """Take over what an estimator has learned from these data, with the parameters that it was fitted with."""
        record = getattr(fitted, "_fit_record", None)
        settings = fitted.get_params(deep=False) if record is None else record.settings
        self.model = type(fitted)(**settings)
        for name in ("_states", "coef_", "intercept_", "classes_", "n_features_in_"):
            setattr(self.model, name, getattr(fitted, name))

    @property
    def converged(self) -> bool:
        """Whether the last fit reached its tolerance."""
        return bool(self.model.status_.converged)

    @property
    def joint(self) -> bool:
        """Whether more than two classes are learned together, so that there is no plane of each."""
        return isinstance(self.model, LogisticRegression) and self.model._is_multinomial(self.problem)

    def planes(self, *, about_centre: bool = True) -> list[optimum_ball.Problem]:
        """Return the binary problem of each task; with a free intercept, of columns far from the origin less a centre.

        The weights are those of the values as they are; the intercept is ``centring.bias_within``.
        """
        model, problem = self.model, self.problem
        constant, free = model._bias_kind()
        loss = "log" if isinstance(model, LogisticRegression) else model.loss
        kept = None if problem.weights is None else np.flatnonzero(problem.weights > 0)
        whole = kept is None or len(kept) == problem.n
        rows = problem.rows if whole else Rows(problem.rows.values[kept])
        counts = np.ones(problem.n) if problem.weights is None else problem.weights
        rows = centred(rows) if free and about_centre else rows
        lengths = np.sqrt(_core.square_norms(rows.matrix))
        planes = []
        for positive in positives(len(problem.classes)):
            signs = np.where(problem.codes == positive, 1.0, -1.0)
            some = slice(None) if whole else kept
            planes.append(
                optimum_ball.Problem(rows, signs[some], counts[some].astype(float), loss, constant, free, lengths)
            )
        return planes

    def evidence(self, planes: list[optimum_ball.Problem]) -> list[Evidence]:
        """Return what the last fit proves, task by task."""
        model = self.model
        alphas: list[Floats | None] = [self._alpha(state) for state in model._states]
        return [
            evidence(plane, float(model.C), weights, bias_within(plane.rows, weights, float(bias)), alpha)
            for plane, weights, bias, alpha in zip(planes, model.coef_, model.intercept_, alphas, strict=True)
        ]

    def _alpha(self, state: MarginState | LogisticState) -> Floats | None:
        if type(state) is not MarginState or state.alpha is None:
            return None
        weights = self.problem.weights
        return state.alpha if weights is None or (weights > 0).all() else state.alpha[weights > 0]


def _begin(state: Any, C: float, near: Sequence[tuple[float, Any]]) -> None:
    """Let a fit begin at the mean of others: of their dual weights, as parts of C, or else of their weights."""
    if not near:
        return
    share = 1.0 / len(near)
    if type(state) is MarginState:
        parts = [(C / other * share) * each.alpha for other, each in near]
        state.alpha = np.sum(parts, axis=0)
    state.weights = np.sum([share * each.weights for _, each in near], axis=0)
    state.bias = sum(share * each.bias for _, each in near)


def scored(plane: optimum_ball.Problem, proof: Evidence) -> Floats:
    """Return the score of every row of a problem."""
    bias = proof.bias + proof.weights[-1] * plane.constant
    return _core.decide(plane.rows.matrix, proof.weights[None, :-1], np.array([bias]), 1)[:, 0]


def checked_costs(name: str, values: Any) -> Floats:
    """Return ascending positive numbers, or refuse them by name."""
    try:
        costs = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must hold positive, finite numbers in ascending order; found {values!r}") from None
    fits = costs.ndim == 1 and len(costs) > 0 and np.isfinite(costs).all() and (costs > 0).all()
    if not fits or (np.diff(costs) <= 0).any():
        raise ValueError(f"{name} must hold positive, finite numbers in ascending order; found {values!r}")
    return costs


def geometric(low: float, high: float, most: float) -> Floats:
    """Return numbers from low to high, each the same multiple of the last and at most ``most`` times it."""
    steps = max(math.ceil(math.log(high / low) / math.log(most) - 1e-9), 1)
    inner = [low * (high / low) ** (step / steps) for step in range(1, steps)]
    return np.array([low, *inner, high])
