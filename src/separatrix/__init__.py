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
    from separatrix import plots as plots
    from separatrix import river as river
    from separatrix.certificates.certificate import Certificate
    from separatrix.certificates.certifying import certify
    from separatrix.certificates.multiclass import Certificates
    from separatrix.estimators import (
        ALMA,
        AROW,
        NHERD,
        ROMMA,
        SCW,
        KernelPerceptron,
        KernelSVM,
        LinearSVM,
        LogisticRegression,
        Network,
        Neuron,
        OnlineSVM,
        PassiveAggressive,
        Perceptron,
        SecondOrderPerceptron,
    )
    from separatrix.estimators.stream import Stream, stream
    from separatrix.exercises.sheet import exercise
    from separatrix.geometry.ball import Ball
    from separatrix.insight.certified_tuning import Tuning, tune
    from separatrix.insight.descent import Descent, descend
    from separatrix.insight.enclosing_ball import enclosing_ball
    from separatrix.insight.feature_importance import importance
    from separatrix.insight.kkt import Conditions, kkt
    from separatrix.insight.labellings import Labellings, labellings
    from separatrix.insight.original_units import original_units
    from separatrix.insight.plane import Plane
    from separatrix.insight.regularisation_path import RegularisationPath, path
    from separatrix.insight.trace import Trace, trace
    from separatrix.loop.problem import Problem
    from separatrix.loop.solve import solve
    from separatrix.models.model_file import load, save
    from separatrix.studio.widget import Studio as Studio
    from separatrix.tables.export.exporting import export
    from separatrix.tables.table_preparation import TablePreparation

__version__ = "0.1.0"
_is_command = False  # whether this process runs the command, and no other code (separatrix.estimators.contract)

__all__ = [
    "ALMA",
    "AROW",
    "NHERD",
    "ROMMA",
    "SCW",
    "Ball",
    "Certificate",
    "Certificates",
    "Conditions",
    "Descent",
    "KernelPerceptron",
    "KernelSVM",
    "Labellings",
    "LinearSVM",
    "LogisticRegression",
    "Network",
    "Neuron",
    "OnlineSVM",
    "PassiveAggressive",
    "Perceptron",
    "Plane",
    "Problem",
    "RegularisationPath",
    "SecondOrderPerceptron",
    "Stream",
    "TablePreparation",
    "Trace",
    "Tuning",
    "certify",
    "datasets",
    "descend",
    "enclosing_ball",
    "exercise",
    "export",
    "importance",
    "kkt",
    "labellings",
    "load",
    "observers",
    "original_units",
    "path",
    "rules",
    "save",
    "solve",
    "stops",
    "stream",
    "trace",
    "tune",
]

# No name here is also the name of a module it comes from: Python would put the module in its place.
_ON_FIRST_USE = {
    "ALMA": "separatrix.estimators",
    "AROW": "separatrix.estimators",
    "Ball": "separatrix.geometry.ball",
    "Certificate": "separatrix.certificates.certificate",
    "Certificates": "separatrix.certificates.multiclass",
    "Conditions": "separatrix.insight.kkt",
    "Descent": "separatrix.insight.descent",
    "KernelPerceptron": "separatrix.estimators",
    "KernelSVM": "separatrix.estimators",
    "Labellings": "separatrix.insight.labellings",
    "LinearSVM": "separatrix.estimators",
    "LogisticRegression": "separatrix.estimators",
    "NHERD": "separatrix.estimators",
    "Network": "separatrix.estimators",
    "Neuron": "separatrix.estimators",
    "OnlineSVM": "separatrix.estimators",
    "PassiveAggressive": "separatrix.estimators",
    "Perceptron": "separatrix.estimators",
    "Plane": "separatrix.insight.plane",
    "Problem": "separatrix.loop.problem",
    "ROMMA": "separatrix.estimators",
    "SCW": "separatrix.estimators",
    "RegularisationPath": "separatrix.insight.regularisation_path",
    "SecondOrderPerceptron": "separatrix.estimators",
    "Stream": "separatrix.estimators.stream",
    "Studio": "separatrix.studio.widget",
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


_EXTRAS = ("plots", "river")  # which need packages of their own, so that `import *` must not ask for them


def __getattr__(name: str) -> Any:
    if name in _ON_FIRST_USE:
        value = getattr(importlib.import_module(_ON_FIRST_USE[name]), name)
    elif name in __all__ or name in _EXTRAS:
        value = importlib.import_module(f"separatrix.{name}")
    else:
        raise AttributeError(f"module 'separatrix' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_EXTRAS, "Studio"})
