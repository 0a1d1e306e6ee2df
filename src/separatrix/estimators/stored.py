"""What a model file may hold of this room, and the history of a run."""

from __future__ import annotations

from typing import Any

from separatrix import estimators
from separatrix.models.registry import Stored

_NO_RECORD = {"record": None, "every": 1}  # of files written before losses could be recorded
_MEAN = {"reduction": "mean"}
_ONE_VS_REST = {"multi_class": "ovr"}
_L2_SVM = {"penalty": "l2", "l1_ratio": 0.5}
_DATA = {"transient": ("_fit_record", "certificate_")}  # what the model was fitted to


def _without_solver(parts: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return what version 0.1 had as a LinearSVM with a solver as a LinearSVM or an OnlineSVM."""
    if parts.get("solver") == "online":
        return "OnlineSVM", {name: part for name, part in parts.items() if name not in ("solver", "loss", "tol")}
    gone = ("solver", "step", "average", "project", "shuffle", "_met", "_readout", "_bias_constant")
    return "LinearSVM", {name: part for name, part in parts.items() if name not in gone}


_SPECIAL: dict[str, dict[str, Any]] = {  # of an estimator; by default it is _DATA
    "Perceptron": {**_DATA, "defaults": {**_NO_RECORD, **_MEAN, **_ONE_VS_REST, "batch_size": 1}},
    "Neuron": {**_DATA, "defaults": {**_NO_RECORD, **_MEAN}},
    "LinearSVM": {**_DATA, "defaults": _L2_SVM, "upgrade": _without_solver},
    "LogisticRegression": {
        "transient": (*_DATA["transient"], "separation_"), "defaults": {**_ONE_VS_REST, "l1_ratio": 0.0},
    },
    "OnlineSVM": {**_DATA, "defaults": _NO_RECORD, "old_fields": {"_met": "_weight_seen"}},
    "PassiveAggressive": {**_DATA, "defaults": _ONE_VS_REST},
    "KernelSVM": {},
    "KernelPerceptron": {"defaults": {**_NO_RECORD, "budget": None, "forget": "oldest"}},
    "Network": {"defaults": _NO_RECORD},
}  # fmt: skip

STORED = {
    name: Stored(estimators.module_of(name), estimator=True, **_SPECIAL.get(name, _DATA)) for name in estimators.__all__
} | {
    "MarginState": Stored("separatrix.estimators.linear_svm", defaults={"weights": None, "bias": 0.0}),
    "LogisticState": Stored("separatrix.estimators.logistic_regression"),
    "SparseState": Stored("separatrix.estimators.l1"),
    "MultinomialState": Stored("separatrix.estimators.logistic_regression"),
    "History": Stored("separatrix.observers", ("epochs", "record"), defaults={"record": None}),
}
