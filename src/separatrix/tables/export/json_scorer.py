"""A model as JSON, and the script that predicts from it in browsers and in node (scorer.js).

The format, version 1, is one object; numbers are doubles that read back exactly, and the same model gives the same
bytes.

format, version, written_by
    ``"separatrix-scorer"``, 1, and what wrote it.
kind, target, named
    The estimator, what it predicts, and whether columns have names; without, a row is an array.
columns
    In the order of their numbers in a row. Each has ``name`` and ``role``: a "number" becomes itself (``fill`` in place
    of a missing one); a "category" is one-hot encoded (``levels``: the spellings of each); a "text" is a bag of
    unigrams and bigrams (``words`` and their inverse document frequencies ``rarity``, or ``hashed`` into this many
    features) of length 1. ``optional``: a missing value is encoded as all zeros. ``gap``: a feature is 1 where the
    value is missing; those of numbers stand behind all numbers, that of a category behind its levels. ``pooled``: a
    feature behind the levels is 1 for every other level. ``notation``: how a number was written that was text in the
    table, as 1,234.5; a row has the number itself.
unknown
    "null": a row with an unknown category has no prediction; "zero": it is encoded as all zeros.
steps
    What is done to the number columns, in this order: ``operation`` is "minus", "over", "times" or "plus".
sparse
    Whether products are added in 4 sums of the nonzero numbers, or in 16 of all.
decision
    ``type`` "linear" (``weights``, ``bias``), "layers" (``layers`` with the ``weights`` of each neuron and ``bias``),
    "kernelled" (``kernel``, ``support``, ``coefficients``, ``bias``, ``pairs``) or "voted" (``kernel``, ``support``,
    ``ballots``). A vector of weights or a support vector that is mostly zeros is ``{"size", "places", "values"}``.
classes, threshold, tie_is_positive
    ``labels`` of ``type`` "text", "whole", "flag", "number", or "large": whole numbers beyond 2^53, as texts. Of two
    classes a score above the threshold is the second, and one that equals it if ``tie_is_positive``.
probabilities
    null where there are none; else ``method`` "sigmoid" (``slope``, ``intercept`` of each score), "isotonic" (``knots``
    and ``values`` of each) or "temperature" (``beta``, the inverse). The first two are divided by their sum.
"""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from separatrix import __version__
from separatrix.geometry.kernels import KERNELS
from separatrix.geometry.rows import Floats
from separatrix.tables.calibration import Calibration, IsotonicCalibration, SigmoidCalibration
from separatrix.tables.export.scorer import Decision, Input, KernelExpansion, Layers, Linear, Scorer, Voted

FORMAT, VERSION = "separatrix-scorer", 1
_SAFE = 2**53 - 1  # whole numbers that JavaScript's numbers can tell apart
_SPARSE = 32  # shorter vectors are written whole


def as_json(scorer: Scorer) -> str:
    """Return the model as the text of a JSON file; ``scorer.js`` reads it.

    Examples
    --------
    >>> from separatrix import Perceptron
    >>> from separatrix.tables.export.conversion import scorer_of
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
        "threshold": scorer.threshold,
        "probabilities": _probabilities(scorer.calibration),
    }
    try:
        lines = [f"{json.dumps(key)}: {_compact(value)}" for key, value in parts.items()]
    except ValueError:
        raise ValueError("cannot export a model with weights that are not finite") from None
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _compact(value: Any) -> str:
    """Return JSON in ASCII that can stand in a page too, where ``</script>`` would end it."""
    return json.dumps(value, allow_nan=False, separators=(",", ":")).replace("<", "\\u003c")


def _column(each: Input) -> dict[str, Any]:
    column: dict[str, Any] = {"name": each.name, "role": each.role}
    if each.role == "number":
        column |= {} if each.fill is None else {"fill": each.fill}
        column |= {"notation": each.notation} if each.notation else {}
        return column if each.gap is None else {**column, "gap": True}
    column["optional"] = each.optional
    if each.role == "category":
        more = {name: True for name in ("pooled", "gap") if getattr(each, name) is not None}
        return {**column, "levels": [list(level) for level in each.levels], **more}
    if each.words is None:
        return {**column, "hashed": each.width}
    assert each.rarity is not None
    return {**column, "words": sorted(each.words, key=each.words.__getitem__), "rarity": each.rarity.tolist()}


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
    if isinstance(made, KernelExpansion):
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
        for each in made.voters
    ]
    return {"type": "voted", "kernel": _kernel(made), "ballots": ballots, "support": _vectors(made.support)}


def _probabilities(made: Calibration | None) -> dict[str, Any] | None:
    if made is None:
        return None
    if isinstance(made, SigmoidCalibration):
        numbers: dict[str, Any] = {"slope": made.slope.tolist(), "intercept": made.intercept.tolist()}
    elif isinstance(made, IsotonicCalibration):
        numbers = {name: [own.tolist() for own in getattr(made, name)] for name in ("knots", "values")}
    else:
        numbers = {"beta": made.beta}
    return {"method": made.method, **numbers}


def _kernel(made: KernelExpansion | Voted) -> dict[str, Any]:
    return {"name": made.kernel, **{each: getattr(made, each) for each in KERNELS[made.kernel].parameters}}


def _vectors(rows: Floats) -> list[Any]:
    return [_vector(row) for row in rows]


def _vector(row: Floats) -> Any:
    places = np.flatnonzero(row)
    if len(row) < _SPARSE or 3 * len(places) > len(row):
        return row.tolist()
    return {"size": len(row), "places": places.tolist(), "values": row[places].tolist()}
