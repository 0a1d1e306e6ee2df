"""What ``certificate_`` proves about logistic regression, and about L1 penalties.

A few more steps of Newton's method find probabilities near those of the optimum; the proof does not rely on them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.data import Data
from separatrix.certificates.joint import JointCertificate, JointPlanes, joint_certificate
from separatrix.certificates.log_loss import LogLoss, joint_log_objective, log_objective
from separatrix.certificates.model import Objective
from separatrix.certificates.sparse_penalty import SparseLoss, sparse_objective
from separatrix.estimators.certified import FitRecord
from separatrix.estimators.l1 import sparse_run
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.problem import Labels
from separatrix.svm.logistic import LogisticTask, at
from separatrix.svm.multinomial import MultinomialRun
from separatrix.svm.multinomial_bounds import balanced_dual, point_at
from separatrix.svm.multinomial_task import MultinomialTask
from separatrix.svm.newton import LogisticRun
from separatrix.svm.sparse_penalty import SparseTask

_MORE = 10  # iterations at most
_TOL = 1e-10


def proved_log_loss(record: FitRecord, data: Data, weights: Floats, bias: float) -> Objective:
    """Return both values of the objective of one plane."""
    asked = _asked(record, data.n)
    task = LogisticTask(data.rows, data.signs, asked.costs, asked.constant, asked.free)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = LogisticRun(task, _TOL, weights.copy(), bias)
        run.go(_MORE, lambda: False)
        run.tol = 0.0  # and one more step, because another dual point than that of the weights may have proved the gap
        best = run.go(run.iterations + 1, lambda: False)
        shares = np.abs(at(task, best.weights, best.bias).slopes) / asked.costs
    return log_objective(data, asked, weights, bias, shares)


def proved_sparse(record: FitRecord, data: Data, weights: Floats, bias: float, ratio: float) -> Objective:
    """Return both values of the objective of one plane with an L1 or elastic-net penalty."""
    loss, squared = _asked(record, data.n), "loss" in record.settings
    task = SparseTask(
        data.rows, data.signs, loss.costs, ratio, squared=squared, bias=loss.constant, free=loss.free
    )  # fmt: skip
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        best = sparse_run(task, _TOL, weights, bias).go(_MORE, lambda: False)
    asked = SparseLoss(loss.costs, squared, ratio, loss.free, loss.constant)
    return sparse_objective(data, asked, weights, bias, best.alpha)


def multinomial_certificate(
    record: FitRecord, rows: Rows, classes: NDArray[Any], coef: Floats, intercept: Floats
) -> JointCertificate:
    """Return the certificate of classes that were learned together."""
    codes = record.codes
    if record.weights is not None:
        kept = np.flatnonzero(record.weights > 0)
        rows, codes = Rows(rows.values[kept]) if len(kept) < len(codes) else rows, codes[kept]
    asked = _asked(record, len(codes))
    places = codes.astype(np.intp)
    task = MultinomialTask(rows, places, len(classes), asked.costs, asked.constant, asked.free)
    offsets = np.zeros(len(classes))
    if task.step:
        offsets = (intercept + (coef @ task.centre if asked.free else 0.0)) / task.step
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        run = MultinomialRun(task, _TOL, coef.copy(), offsets)
        run.go(_MORE, lambda: False)
        shares = balanced_dual(task, point_at(task, run.weights, run.offsets)).table
    planes = JointPlanes("the model", coef, intercept)
    name, labels = "LogisticRegression", Labels(classes, codes)
    plain = joint_certificate(name, rows, labels, planes, constant=0.0, mistakes=None, factor=lambda square: square)
    return replace(plain, objective=joint_log_objective(rows, places, asked, planes, shares))


def _asked(record: FitRecord, n: int) -> LogLoss:
    settings = record.settings
    costs = np.full(n, float(settings["C"]))
    if record.weights is not None:
        costs = costs * record.weights[record.weights > 0]
    biased, scaling = bool(settings["fit_intercept"]), settings["intercept_scaling"]
    return LogLoss(costs, biased and scaling is None, float(scaling or 0.0) if biased else 0.0)
