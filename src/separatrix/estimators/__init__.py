"""Estimators: thin scikit-learn classes over ``solve``. One-vs-rest lives here only. Each is loaded on first use.

A new one is a file and its name here, for type checkers and in ``__all__``: the package, model files and pipelines find
it by that.
"""

from __future__ import annotations

import importlib
import re
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


def module_of(name: str) -> str:
    """Return the module of an estimator.

    Examples
    --------
    >>> module_of("LinearSVM"), module_of("ALMA")
    ('separatrix.estimators.linear_svm', 'separatrix.estimators.alma')
    """
    return f"{__name__}.{re.sub('(?<=[a-z])(?=[A-Z])', '_', name).lower()}"


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(module_of(name)), name)
    globals()[name] = value
    return value
