"""Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check.

``import separatrix as sx`` loads NumPy and the compiled core only; what needs more loads when it is first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from separatrix import _core

if _build := os.environ.get("SEPARATRIX_ISA"):
    try:
        _core.use_build(_build)
    except ValueError as _problem:
        raise ImportError(f"SEPARATRIX_ISA={_build}: {_problem}") from None

if TYPE_CHECKING:
    from separatrix import datasets, observers, rules, stops
    from separatrix.estimators import Perceptron
    from separatrix.feature_importance import importance
    from separatrix.problem import Problem
    from separatrix.solving import solve
    from separatrix.tracing import Trace, trace

__version__ = "0.1.0"

__all__ = [
    "Perceptron",
    "Problem",
    "Trace",
    "datasets",
    "importance",
    "observers",
    "rules",
    "solve",
    "stops",
    "trace",
]

# No name here is also the name of a module it comes from: Python would put the module in its place.
_ON_FIRST_USE = {
    "Perceptron": "separatrix.estimators",
    "Problem": "separatrix.problem",
    "Trace": "separatrix.tracing",
    "importance": "separatrix.feature_importance",
    "solve": "separatrix.solving",
    "trace": "separatrix.tracing",
}


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        value = getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    elif name in __all__:
        value = importlib.import_module(f"separatrix.{name}")
    else:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
