"""What a model file may hold of this room: runs that were cut short, and what they have found."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.models.registry import Stored
from separatrix.models.validity import is_array, require

_PUT_DOWN = {"task": None, "tell": None, "_began": 0.0}
_RUN_BEFORE = {"plane": None, "newton": None, "newton_over": False, "fresh_from": 0.0, "stale": 0.5, "judged": 0}


def _without_due(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of a run without when its gap was to be looked at next, which older files say."""
    return {name: part for name, part in parts.items() if name != "due"}


def _columns(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an ascent with its points as arrays of their own."""
    points = parts["points"]
    return {**parts, "points": {name: np.ascontiguousarray(points[name]) for name in points.dtype.names}}


def _points(parts: dict[str, Any]) -> dict[str, Any]:
    """Return the parts of an ascent with its points as the core wants them, and its weights where it wants them."""
    from separatrix.svm.ascent import POINT, aligned_zeros

    names = tuple(POINT.names or ())
    columns: Any = parts.get("points")
    weights: Any = parts.get("weights")
    require(isinstance(columns, dict) and set(columns) == set(names), "the points of a run are damaged")
    n = len(columns["alpha"])
    for name in names:
        require(is_array(columns[name], POINT[name].str, (n,)), "the points of a run are damaged")
    require(is_array(weights, "f8", (None,)), "the weights of a run are damaged")
    points, aligned = np.zeros(n, dtype=POINT), aligned_zeros(len(weights))
    for name in names:
        points[name] = columns[name]
    aligned[:] = weights
    return {**parts, "points": points, "weights": aligned}


STORED = {
    "Run": Stored("separatrix.svm.solve", unkept=_PUT_DOWN, defaults=_RUN_BEFORE, unpack=_without_due),
    "HardRun": Stored("separatrix.svm.hard", unkept=_PUT_DOWN, defaults=_RUN_BEFORE, unpack=_without_due),
    "LogisticRun": Stored(
        "separatrix.svm.newton", unkept={**_PUT_DOWN, "_factor": None},
        defaults={"sampled": True, "anchor": None, "proof": None},
    ),
    "LogisticSolution": Stored("separatrix.svm.logistic"),
    "SparseRun": Stored(
        "separatrix.svm.l1", unkept={**_PUT_DOWN, "_columns": None, "_reached": None}, defaults={"part": 1.0}
    ),
    "SparseSolution": Stored("separatrix.svm.sparse_penalty"),
    "MultinomialRun": Stored("separatrix.svm.multinomial", unkept={**_PUT_DOWN, "_spare": None}),
    "MultinomialSolution": Stored("separatrix.svm.multinomial_bounds"),
    "MarginHistory": Stored("separatrix.svm.history"),
    "DualSolution": Stored("separatrix.svm.task", old_names=("Answer",)),
    "Ascent": Stored(
        "separatrix.svm.ascent",
        ("points", "real", "bias_square", "weights", "epochs", "touched", "_seed", "_order", "_position", "_per_row",
         "_block"),
        unkept={"task": None}, pack=_columns, unpack=_points,
    ),
    "Rounds": Stored("separatrix.svm.blocks"),
    "Round": Stored("separatrix.svm.blocks"),
}  # fmt: skip
