"""What a model file may hold of this room, and the history of a run."""

from __future__ import annotations

from typing import Any

from separatrix.models.registry import Stored

_NO_RECORD = {"record": None, "every": 1}  # of files written before losses could be recorded
_MEAN = {"reduction": "mean"}
_ONE_VS_REST = {"multi_class": "ovr"}
_L2_SVM = {"penalty": "l2", "l1_ratio": 0.5}
_DATA = ("_fit_record", "certificate_")  # what the model was fitted to


def _without_solver(parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what version 0.1 had as a LinearSVM with a solver as a LinearSVM or an OnlineSVM."""
    if parts.get("solver") == "online":
        return "OnlineSVM", {name: part for name, part in parts.items() if name not in ("solver", "loss", "tol")}
    gone = ("solver", "step", "average", "project", "shuffle", "_met", "_readout", "_bias_constant")
    return "LinearSVM", {name: part for name, part in parts.items() if name not in gone}


STORED = {
    "Perceptron": Stored(
        "separatrix.estimators.perceptron", transient=_DATA, estimator=True,
        defaults={**_NO_RECORD, **_MEAN, **_ONE_VS_REST, "batch_size": 1},
    ),
    "Neuron": Stored(
        "separatrix.estimators.neuron", transient=_DATA, defaults={**_NO_RECORD, **_MEAN}, estimator=True
    ),
    "LinearSVM": Stored(
        "separatrix.estimators.linear_svm", transient=_DATA, upgrade=_without_solver, defaults=_L2_SVM, estimator=True
    ),
    "LogisticRegression": Stored(
        "separatrix.estimators.logistic_regression", transient=(*_DATA, "separation_"),
        defaults={**_ONE_VS_REST, "l1_ratio": 0.0}, estimator=True,
    ),
    "OnlineSVM": Stored(
        "separatrix.estimators.online_svm", transient=_DATA, old_fields={"_met": "_weight_seen"}, defaults=_NO_RECORD,
        estimator=True,
    ),
    "PassiveAggressive": Stored(
        "separatrix.estimators.passive_aggressive", transient=_DATA, defaults=_ONE_VS_REST, estimator=True
    ),
    "AROW": Stored("separatrix.estimators.arow", transient=_DATA, estimator=True),
    "SCW": Stored("separatrix.estimators.scw", transient=_DATA, estimator=True),
    "NHERD": Stored("separatrix.estimators.nherd", transient=_DATA, estimator=True),
    "ROMMA": Stored("separatrix.estimators.romma", transient=_DATA, estimator=True),
    "ALMA": Stored("separatrix.estimators.alma", transient=_DATA, estimator=True),
    "SecondOrderPerceptron": Stored(
        "separatrix.estimators.second_order_perceptron", transient=_DATA, estimator=True
    ),
    "KernelSVM": Stored("separatrix.estimators.kernel_svm", estimator=True),
    "KernelPerceptron": Stored(
        "separatrix.estimators.kernel_perceptron", defaults={**_NO_RECORD, "budget": None, "forget": "oldest"},
        estimator=True,
    ),
    "Network": Stored("separatrix.estimators.network", defaults=_NO_RECORD, estimator=True),
    "MarginState": Stored("separatrix.estimators.linear_svm", defaults={"weights": None, "bias": 0.0}),
    "LogisticState": Stored("separatrix.estimators.logistic_regression"),
    "SparseState": Stored("separatrix.estimators.l1"),
    "MultinomialState": Stored("separatrix.estimators.logistic_regression"),
    "History": Stored("separatrix.observers", ("epochs", "record"), defaults={"record": None}),
}  # fmt: skip
