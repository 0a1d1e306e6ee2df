"""Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check.

``import separatrix as sx`` loads NumPy and the compiled core only; everything else loads when it is first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from separatrix import _core

__version__ = "0.1.0"

if _build := os.environ.get("SEPARATRIX_ISA"):
    try:
        _core.use_build(_build)
    except ValueError as _problem:
        raise ImportError(f"SEPARATRIX_ISA={_build}: {_problem}") from None

_HOMES = {
    "Perceptron": "separatrix.estimators",
    "Problem": "separatrix.problem",
    "Trace": "separatrix.trace",
    "datasets": "separatrix.datasets",
    "importance": "separatrix.importance",
    "observers": "separatrix.observers",
    "rules": "separatrix.rules",
    "solve": "separatrix.solve",
    "stops": "separatrix.stops",
    "trace": "separatrix.trace",
}

if TYPE_CHECKING:
    from separatrix import datasets, observers, rules, stops
    from separatrix.estimators import Perceptron
    from separatrix.importance import importance
    from separatrix.problem import Problem
    from separatrix.solve import solve
    from separatrix.trace import Trace, trace

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


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    home = importlib.import_module(_HOMES[name])
    value = home if home.__name__ == f"separatrix.{name}" and not hasattr(home, name) else getattr(home, name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
