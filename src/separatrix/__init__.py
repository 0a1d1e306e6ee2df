"""Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check.

``import separatrix as sx`` loads NumPy and the compiled core only; what needs more loads when it is first used.
"""

from __future__ import annotations

import importlib
import os
from typing import TYPE_CHECKING, Any

from separatrix import _core
from separatrix.estimators import __all__ as _estimators

if _build := os.environ.get("SEPARATRIX_ISA"):
    try:
        _core.use_build(_build)
    except ValueError as _problem:
        raise ImportError(f"SEPARATRIX_ISA={_build}: {_problem}") from None

__version__ = "0.1.0"
_is_command = False  # whether this process runs the command, and no other code (separatrix.estimators.contract)

if TYPE_CHECKING:
    from separatrix import datasets as datasets
    from separatrix import observers as observers
    from separatrix import plots as plots
    from separatrix import river as river
    from separatrix import rules as rules
    from separatrix import stops as stops
    from separatrix.certificates.certificate import Certificate as Certificate
    from separatrix.certificates.certifying import certify as certify
    from separatrix.certificates.multiclass import Certificates as Certificates
    from separatrix.estimators import *  # noqa: F403
    from separatrix.estimators.stream import Stream as Stream
    from separatrix.estimators.stream import stream as stream
    from separatrix.exercises.sheet import exercise as exercise
    from separatrix.geometry.ball import Ball as Ball
    from separatrix.insight.certified_tuning import Tuning as Tuning
    from separatrix.insight.certified_tuning import tune as tune
    from separatrix.insight.descent import Descent as Descent
    from separatrix.insight.descent import descend as descend
    from separatrix.insight.enclosing_ball import enclosing_ball as enclosing_ball
    from separatrix.insight.feature_importance import importance as importance
    from separatrix.insight.kkt import Conditions as Conditions
    from separatrix.insight.kkt import kkt as kkt
    from separatrix.insight.labellings import Labellings as Labellings
    from separatrix.insight.labellings import labellings as labellings
    from separatrix.insight.original_units import original_units as original_units
    from separatrix.insight.plane import Plane as Plane
    from separatrix.insight.regularisation_path import RegularisationPath as RegularisationPath
    from separatrix.insight.regularisation_path import path as path
    from separatrix.insight.trace import Trace as Trace
    from separatrix.insight.trace import trace as trace
    from separatrix.loop.problem import Problem as Problem
    from separatrix.loop.solve import solve as solve
    from separatrix.models.model_file import load as load
    from separatrix.models.model_file import save as save
    from separatrix.studio.widget import Studio as Studio
    from separatrix.tables.export.exporting import export as export
    from separatrix.tables.table_preparation import TablePreparation as TablePreparation

# No name here is also the name of a module it comes from: Python would put the module in its place.
_ON_FIRST_USE = {
    **dict.fromkeys(_estimators, "separatrix.estimators"),
    "Ball": "separatrix.geometry.ball",
    "Certificate": "separatrix.certificates.certificate",
    "Certificates": "separatrix.certificates.multiclass",
    "Conditions": "separatrix.insight.kkt",
    "Descent": "separatrix.insight.descent",
    "Labellings": "separatrix.insight.labellings",
    "Plane": "separatrix.insight.plane",
    "Problem": "separatrix.loop.problem",
    "RegularisationPath": "separatrix.insight.regularisation_path",
    "Stream": "separatrix.estimators.stream",
    "TablePreparation": "separatrix.tables.table_preparation",
    "Trace": "separatrix.insight.trace",
    "Tuning": "separatrix.insight.certified_tuning",
    "certify": "separatrix.certificates.certifying",
    "descend": "separatrix.insight.descent",
    "enclosing_ball": "separatrix.insight.enclosing_ball",
    "exercise": "separatrix.exercises.sheet",
    "export": "separatrix.tables.export.exporting",
    "importance": "separatrix.insight.feature_importance",
    "kkt": "separatrix.insight.kkt",
    "labellings": "separatrix.insight.labellings",
    "load": "separatrix.models.model_file",
    "original_units": "separatrix.insight.original_units",
    "path": "separatrix.insight.regularisation_path",
    "save": "separatrix.models.model_file",
    "solve": "separatrix.loop.solve",
    "stream": "separatrix.estimators.stream",
    "trace": "separatrix.insight.trace",
    "tune": "separatrix.insight.certified_tuning",
}
_MODULES = ("datasets", "observers", "rules", "stops")
if not TYPE_CHECKING:  # type checkers take the imports above
    __all__ = sorted([*_ON_FIRST_USE, *_MODULES])


# What needs packages of its own, so that `import *` must not ask for it: modules, and names by their modules.
_EXTRAS = ("plots", "river")
_NEEDING_EXTRAS = {"Studio": "separatrix.studio.widget"}


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE or name in _NEEDING_EXTRAS:
        value = getattr(importlib.import_module(_ON_FIRST_USE.get(name) or _NEEDING_EXTRAS[name]), name)
    elif name in (*_MODULES, *_EXTRAS):
        value = importlib.import_module(f"separatrix.{name}")
    else:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *_ON_FIRST_USE, *_MODULES, *_EXTRAS, *_NEEDING_EXTRAS})
