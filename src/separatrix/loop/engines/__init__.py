"""Engines: how an epoch is computed. The reference engine is the specification; the compiled one is its fast equal."""

from __future__ import annotations

from separatrix.loop.engines.base import BOUNDARIES, Engine, Step, check_reduction, predicted_ties, ties
from separatrix.loop.engines.compiled import CompiledEngine
from separatrix.loop.engines.reference import ReferenceEngine

ENGINES: dict[str, type[CompiledEngine] | type[ReferenceEngine]] = {
    "compiled": CompiledEngine,
    "reference": ReferenceEngine,
}

__all__ = [
    "BOUNDARIES",
    "ENGINES",
    "CompiledEngine",
    "Engine",
    "ReferenceEngine",
    "Step",
    "check_reduction",
    "predicted_ties",
    "ties",
]
