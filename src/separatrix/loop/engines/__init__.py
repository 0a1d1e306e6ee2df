"""Engines: how an epoch is computed. The reference engine is the specification; the compiled one is its fast equal."""

from __future__ import annotations

from separatrix.loop.engines.base import (
    BOUNDARIES,
    Engine,
    Step,
    check_reduction,
    learns_from_folds,
    predicted_ties,
    ties,
)
from separatrix.loop.engines.compiled import CompiledEngine
from separatrix.loop.engines.joint import JointCompiled, JointReference
from separatrix.loop.engines.reference import ReferenceEngine

ENGINES: dict[str, type[CompiledEngine] | type[ReferenceEngine]] = {
    "compiled": CompiledEngine,
    "reference": ReferenceEngine,
}
JOINT_ENGINES: dict[str, type[JointCompiled] | type[JointReference]] = {  # of classes that are learned together
    "compiled": JointCompiled,
    "reference": JointReference,
}

__all__ = [
    "BOUNDARIES",
    "ENGINES",
    "JOINT_ENGINES",
    "CompiledEngine",
    "Engine",
    "ReferenceEngine",
    "Step",
    "check_reduction",
    "learns_from_folds",
    "predicted_ties",
    "ties",
]
