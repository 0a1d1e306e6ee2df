"""The squared hinge for Newton's method: a margin task as a smooth one, and its solutions with their dual weights."""

from __future__ import annotations

import numpy as np

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.svm.logistic import LogisticSolution, LogisticTask
from separatrix.svm.newton import LogisticRun
from separatrix.svm.smooth import SQUARED_HINGE, products
from separatrix.svm.task import DualSolution, MarginTask

MOST_NEWTON = 100  # iterations


def smooth_task(task: MarginTask) -> LogisticTask:
    """Return the task as Newton's method takes it."""
    return LogisticTask(task.rows, task.signs, task.costs, task.bias, task.free, task.known_squares, loss=SQUARED_HINGE)


def start_newton(task: MarginTask, alpha: Floats | None, plane: tuple[Floats, float] | None, tol: float) -> LogisticRun:
    """Return a run of Newton's method that begins with this plane, else with the weights of alpha, else with zeros."""
    if plane is not None:
        weights, bias = plane[0].copy(), plane[1] if task.free or task.bias else 0.0
    elif alpha is not None:
        weights = _core.combine(task.rows.matrix, task.signs * alpha)
        bias = task.bias**2 * _core.dot(task.signs, alpha)
    else:
        weights, bias = np.zeros(task.rows.shape[1]), 0.0
    return LogisticRun(smooth_task(task), tol, weights, bias)


def solution_of(run: LogisticRun) -> DualSolution:
    """Return the solution that a run has proved, with its dual weights."""
    best, proof = run.solution, run.proof
    assert proof is not None
    return DualSolution(proof[0], best.weights, best.bias, proof[1], best.primal, best.dual, best.rounding)


def dual_of(task: MarginTask, solution: LogisticSolution) -> tuple[Floats, tuple[Floats, float]]:
    """Return ``alpha = 2 C slack`` of these weights, and the weights and the bias."""
    margins = task.signs * (products(task.rows.matrix, solution.weights) + solution.bias)
    return task.costs * SQUARED_HINGE.pull(margins), (solution.weights, solution.bias)
