"""Fits of one binary problem for one C after another, from where fits nearby ended, without an estimator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.svm import choice
from separatrix.svm.logistic import LogisticTask
from separatrix.svm.newton import LogisticRun
from separatrix.svm.optimum_ball import Problem
from separatrix.svm.smooth import LOG
from separatrix.svm.solve import Run
from separatrix.svm.squared import dual_of, smooth_task
from separatrix.svm.task import MarginTask


@dataclass(frozen=True, eq=False)
class PlaneFit:
    """A solution for one C; ``alpha`` is None where the slopes of the log loss are the dual weights."""

    C: float
    weights: Floats
    bias: float
    alpha: Floats | None
    converged: bool


def fit_plane(problem: Problem, C: float, tol: float, max_iter: int, near: Sequence[PlaneFit] = ()) -> PlaneFit:
    """Solve a problem for one C to a relative gap of ``tol``, beginning on the line through the fits that are near."""
    costs = C * problem.counts
    weights, bias, alpha = _between(problem, C, near)
    constant, free = problem.constant, problem.free
    if problem.loss == "log":
        task = LogisticTask(problem.rows, problem.signs, costs, constant, free, loss=LOG)
        run = LogisticRun(task, tol, weights, bias)
        solution = run.go(max_iter, _never)
        return PlaneFit(C, solution.weights, float(solution.bias), None, run.ended == "gap")
    margin = MarginTask(problem.rows, problem.signs, costs, problem.loss == "squared_hinge", constant, free)
    if margin.squared and choice.factor_at_once(margin):
        newton = LogisticRun(smooth_task(margin), tol, weights, bias)
        smooth = newton.go(max_iter, _never)
        if newton.ended == "gap":
            dual, plane = dual_of(margin, smooth)
            return PlaneFit(C, plane[0], float(plane[1]), dual, True)
    start = alpha if alpha is None or margin.squared else np.minimum(alpha, costs)
    ascent = Run(margin, tol, 0, start, (weights, bias) if near else None)
    best = ascent.go(max_iter, _never)
    return PlaneFit(C, best.weights, float(best.bias), best.alpha, ascent.ended == "gap")


def _never() -> bool:
    return False


def _between(problem: Problem, C: float, near: Sequence[PlaneFit]) -> tuple[Floats, float, Floats | None]:
    """Return weights, bias and dual weights to begin with: linear in C between two fits, in proportion to one."""
    if not near:
        return np.zeros(problem.rows.shape[1]), 0.0, None
    first, last = near[0], near[-1]
    if not first.C < last.C:
        return first.weights.copy(), first.bias, None if first.alpha is None else first.alpha * (C / first.C)
    t = min(max((C - first.C) / (last.C - first.C), 0.0), 1.0)
    weights = (1.0 - t) * first.weights + t * last.weights
    bias = math.fsum(((1.0 - t) * first.bias, t * last.bias))
    if first.alpha is None or last.alpha is None:
        return weights, bias, None
    return weights, bias, (1.0 - t) * first.alpha + t * last.alpha
