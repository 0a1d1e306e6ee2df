"""Estimators: thin scikit-learn classes over ``solve``. One-vs-rest lives here only. Each is loaded on first use."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from separatrix.estimators.alma import ALMA
    from separatrix.estimators.arow import AROW
    from separatrix.estimators.kernel_perceptron import KernelPerceptron
    from separatrix.estimators.kernel_svm import KernelSVM
    from separatrix.estimators.linear_svm import LinearSVM
    from separatrix.estimators.logistic_regression import LogisticRegression
    from separatrix.estimators.network import Network
    from separatrix.estimators.neuron import Neuron
    from separatrix.estimators.nherd import NHERD
    from separatrix.estimators.online_svm import OnlineSVM
    from separatrix.estimators.passive_aggressive import PassiveAggressive
    from separatrix.estimators.perceptron import Perceptron
    from separatrix.estimators.romma import ROMMA
    from separatrix.estimators.scw import SCW
    from separatrix.estimators.second_order_perceptron import SecondOrderPerceptron

__all__ = [
    "ALMA",
    "AROW",
    "NHERD",
    "ROMMA",
    "SCW",
    "KernelPerceptron",
    "KernelSVM",
    "LinearSVM",
    "LogisticRegression",
    "Network",
    "Neuron",
    "OnlineSVM",
    "PassiveAggressive",
    "Perceptron",
    "SecondOrderPerceptron",
]

_MODULES = {
    "ALMA": "alma",
    "AROW": "arow",
    "KernelPerceptron": "kernel_perceptron",
    "KernelSVM": "kernel_svm",
    "LinearSVM": "linear_svm",
    "LogisticRegression": "logistic_regression",
    "NHERD": "nherd",
    "Network": "network",
    "Neuron": "neuron",
    "OnlineSVM": "online_svm",
    "PassiveAggressive": "passive_aggressive",
    "Perceptron": "perceptron",
    "ROMMA": "romma",
    "SCW": "scw",
    "SecondOrderPerceptron": "second_order_perceptron",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value
