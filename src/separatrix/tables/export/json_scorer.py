"""A model as JSON, and the script that answers from it in browsers and in node (scorer.js).

The format, version 1, is one object; numbers are doubles that read back exactly, and the same model gives the same
bytes.

format, version, written_by
    ``"separatrix-scorer"``, 1, and what wrote it.
kind, target, named
    The estimator, what it predicts, and whether columns have names; without, a row is an array.
columns
    In the order of their numbers in a row. Each has ``name`` and ``role``: a "number" becomes itself (``fill`` in place
    of a missing one); a "category" a 1 among zeros (``levels``: for each value the ways to write it); a "text" its
    words and pairs of words (``words`` and the ``rarity`` each is multiplied by, or ``hashed`` into so many places),
    to length 1. ``optional``: a missing one counts as none.
unknown
    "null": a row with a category that is in no level has no answer; "zero": it counts as none.
steps
    What is done to the number columns, in this order: ``operation`` is "minus", "over", "times" or "plus".
sparse
    Whether products are added in 4 sums of the nonzero numbers, or in 16 of all.
decision
    ``type`` "linear" (``weights``, ``bias``), "layers" (``layers`` with the ``weights`` of each neuron and ``bias``),
    "kernelled" (``kernel``, ``support``, ``coefficients``, ``bias``, ``pairs``) or "voted" (``kernel``, ``support``,
    ``ballots``). A vector of weights or a support vector that is mostly zeros is ``{"size", "places", "values"}``.
classes, tie_is_positive
    ``labels`` of ``type`` "text", "whole", "flag", "number", or "large": whole numbers beyond 2^53, as texts. Of two
    classes a score of 0 is the second if ``tie_is_positive``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from separatrix import __version__
from separatrix.geometry.kernels import KERNELS
from separatrix.geometry.rows import Floats
from separatrix.tables.export.scorer import Decision, Input, Kernelled, Layers, Linear, Scorer, Voted

FORMAT, VERSION = "separatrix-scorer", 1
_SAFE = 2**53 - 1  # whole numbers that JavaScript's numbers can tell apart
_SPARSE = 32  # shorter vectors are written whole


def as_json(scorer: Scorer) -> str:
    """Return the model as the text of a JSON file; ``scorer.js`` answers from it.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.tables.export.scorer import scorer_of
    >>> model = Perceptron().fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1])
    >>> json.loads(as_json(scorer_of(model)))["classes"]
    {'type': 'whole', 'labels': [0, 1]}
    """
    parts = {
        "format": FORMAT,
        "version": VERSION,
        "written_by": f"separatrix {__version__}",
        "kind": scorer.kind,
        "target": scorer.target,
        "named": scorer.named,
        "columns": [_column(each) for each in scorer.inputs],
        "unknown": scorer.unknown,
        "steps": [{"operation": step, "numbers": values.tolist()} for step, values in scorer.steps],
        "sparse": scorer.sparse,
        "decision": _decision(scorer.decision),
        "classes": _classes(scorer.classes),
        "tie_is_positive": scorer.tie_is_positive,
    }
    try:
        lines = [f"{json.dumps(key)}: {_compact(value)}" for key, value in parts.items()]
    except ValueError:
        raise ValueError("a model with a weight that is not a finite number cannot be exported") from None
    return "{\n" + ",\n".join(lines) + "\n}\n"


def javascript() -> str:
    """Return the text of the script that answers from the JSON."""
    return Path(__file__).with_name("scorer.js").read_text(encoding="utf-8")


def _compact(value: Any) -> str:
    """Return JSON in ASCII that can stand in a page too, where ``</script>`` would end it."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _column(each: Input) -> dict[str, Any]:
    found: dict[str, Any] = {"name": each.name, "role": each.role}
    if each.role == "number":
        return found if each.fill is None else {**found, "fill": each.fill}
    found["optional"] = each.optional
    if each.role == "category":
        return {**found, "levels": [list(level) for level in each.levels]}
    if each.words is None:
        return {**found, "hashed": each.width}
    assert each.rarity is not None
    return {**found, "words": sorted(each.words, key=each.words.__getitem__), "rarity": each.rarity.tolist()}


def _classes(labels: list[Any]) -> dict[str, Any]:
    if all(isinstance(label, bool) for label in labels):
        kind = "flag"
    elif all(isinstance(label, int) for label in labels):
        if any(abs(label) > _SAFE for label in labels):
            return {"type": "large", "labels": [str(label) for label in labels]}
        kind = "whole"
    else:
        kind = "text" if all(isinstance(label, str) for label in labels) else "number"
    return {"type": kind, "labels": labels}


def _decision(made: Decision) -> dict[str, Any]:
    if isinstance(made, Linear):
        return {"type": "linear", "weights": _vectors(made.weights), "bias": made.bias.tolist()}
    if isinstance(made, Layers):
        layers = zip(made.weights, made.biases, strict=True)
        return {"type": "layers", "layers": [{"weights": _vectors(w.T), "bias": b.tolist()} for w, b in layers]}
    if isinstance(made, Kernelled):
        return {
            "type": "kernelled",
            "kernel": _kernel(made),
            "pairs": made.pairs,
            "bias": made.bias.tolist(),
            "coefficients": made.coef.tolist(),
            "support": _vectors(made.support),
        }
    ballots = [
        {
            "start": _vector(each.start),
            "bias": float(each.bias),
            "constant": float(each.square),
            "rows": each.rows.tolist(),
            "steps": each.signed.tolist(),
            "counts": each.counts.tolist(),
        }
        for each in made.ballots
    ]
    return {"type": "voted", "kernel": _kernel(made), "ballots": ballots, "support": _vectors(made.support)}


def _kernel(made: Kernelled | Voted) -> dict[str, Any]:
    return {"name": made.kernel, **{each: getattr(made, each) for each in KERNELS[made.kernel].parameters}}


def _vectors(rows: Floats) -> list[Any]:
    return [_vector(row) for row in rows]


def _vector(row: Floats) -> Any:
    places = np.flatnonzero(row)
    if len(row) < _SPARSE or 3 * len(places) > len(row):
        return row.tolist()
    return {"size": len(row), "places": places.tolist(), "values": row[places].tolist()}
