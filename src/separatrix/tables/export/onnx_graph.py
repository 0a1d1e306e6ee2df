"""A model as an ONNX graph: the columns of a table go in, labels and scores come out.

Needs onnx, which the ``onnx`` extra installs. What comes in between is in onnx_decisions.py.
"""

from __future__ import annotations

import json
from itertools import count
from typing import Any

import numpy as np

from separatrix.tables.export.onnx_decisions import scores
from separatrix.tables.export.onnx_nodes import IR_VERSION, ML_OPSET, OPSET, Nodes
from separatrix.tables.export.onnx_probabilities import probabilities
from separatrix.tables.export.scorer import Input, Scorer

ROWS = "N"  # the name of the size that is not fixed
_ALL_ZEROS, _NO_PREDICTION = -1, -2  # codes of a category encoded as all zeros, and of one without a prediction


def as_onnx(scorer: Scorer) -> bytes:
    """Return a model as the bytes of an ONNX file, of opset 13 and opset 2 of ai.onnx.ml.

    A table has one input of shape [N, 1] for each column, by its name: numbers as doubles, categories as strings. Rows
    without column names are one input ``X`` of shape [N, width]. A missing number is NaN, a missing category is the
    empty string, unless that is one of its values.

    The outputs are ``label`` of shape [N] and ``scores``, doubles of shape [N, 1] for one or two classes and one
    column for each of more; for a model with probabilities also ``probabilities``, a column for each class. Texts are
    strings, whole numbers int64, flags int64 0 and 1, floats doubles. A row without
    a prediction, such as one with an infinite number, has the scores NaN and a label that is not a class: the empty
    string, -1 or the next smaller whole number, NaN.

    The file says in its metadata: ``target``, ``kind``, ``classes`` and the ``labels`` they are given out as (JSON),
    ``no_answer`` (the label of a row without one), ``unknown``, ``separatrix`` (the version), ``inputs`` and
    ``outputs`` (JSON: names in the graph and what they stand for), ``notations`` (JSON: how columns of numbers were
    written that were text in the table; the graph takes the numbers). An output whose name is also a column's is
    renamed: underscores are appended until it is free. A column without a name is called ``column``.

    The sums of dense linear models are added as in the package, so that scores are equal to the last bit and ties fall
    alike; those of sparse rows, of more than 16,384 products a row, of networks and of kernels may differ in it.

    The same model gives the same bytes.

    Examples
    --------
    >>> import onnx
    >>> import separatrix as sx
    >>> from separatrix.tables.export.conversion import scorer_of
    >>> model = sx.Perceptron().fit([[2.0, 1.0], [-1.0, -2.0]], ["up", "down"])
    >>> graph = onnx.load_from_string(as_onnx(scorer_of(model))).graph
    >>> [each.name for each in (*graph.input, *graph.output)]
    ['X', 'label', 'scores']
    """
    try:
        import onnx
    except ImportError as problem:
        raise ImportError("export to ONNX needs the onnx package: pip install 'separatrix[onnx]'") from problem
    names = _input_names(scorer)
    nodes = Nodes(onnx, list(names))
    x, gone = _row(nodes, scorer, list(names))
    values = scores(nodes, scorer, x)
    labels, outputs = _labels(scorer.classes)
    label_name, scores_name, proba_name = (_free(name, names) for name in ("label", "scores", "probabilities"))
    index = nodes.add("Where", gone, np.array(len(scorer.classes)), _winner(nodes, scorer, values))
    nodes.add("Squeeze", nodes.add("Gather", outputs, index), np.array([1]), into=label_name)
    nodes.add("Where", gone, np.array(np.nan), values, into=scores_name)
    if scorer.calibration is not None:
        nodes.add("Where", gone, np.array(np.nan), probabilities(nodes, scorer.calibration, values), into=proba_name)

    helper, kinds = onnx.helper, onnx.TensorProto
    kind = {"O": kinds.STRING, "i": kinds.INT64, "f": kinds.DOUBLE}[outputs.dtype.kind]
    sizes = {label_name: 0, scores_name: len(scorer.score_names)}
    outputs_of = {label_name: "label", scores_name: "scores"}
    if scorer.calibration is not None:
        sizes[proba_name], outputs_of[proba_name] = len(scorer.classes), "probabilities"
    graph = helper.make_graph(
        nodes.nodes,
        scorer.kind,
        _inputs(onnx, scorer, list(names)),
        [
            helper.make_tensor_value_info(name, kinds.DOUBLE if size else kind, [ROWS, size] if size else [ROWS])
            for name, size in sizes.items()
        ],
        nodes.constants,
    )
    return _file(onnx, scorer, graph, {
        "classes": _json(scorer.classes),
        "labels": _json(labels),
        "no_answer": str(outputs.tolist()[-1]),
        "inputs": _json(names),
        "outputs": _json(outputs_of),
        "notations": _json({each.name: each.notation for each in scorer.inputs if each.notation}),
    })  # fmt: skip


def _file(onnx: Any, scorer: Scorer, graph: Any, more: dict[str, str]) -> bytes:
    from separatrix import __version__

    opsets = [onnx.helper.make_opsetid("", OPSET), onnx.helper.make_opsetid("ai.onnx.ml", ML_OPSET)]
    made = onnx.helper.make_model(
        graph,
        opset_imports=opsets,
        ir_version=IR_VERSION,
        producer_name="separatrix",
        producer_version=__version__,
    )
    said = {"target": scorer.target, "kind": scorer.kind, "separatrix": __version__, "unknown": scorer.unknown, **more}
    onnx.helper.set_model_props(made, said)
    return bytes(made.SerializeToString(deterministic=True))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


# ------------------------------------------------------------------------------------------------ what goes in


def _input_names(scorer: Scorer) -> dict[str, str]:
    """Return the names of the inputs and what they stand for."""
    if not scorer.named:
        return {"X": "X"}
    names: dict[str, str] = {}
    for each in scorer.inputs:
        if each.name in names.values():
            raise ValueError(f"column {each.name!r} appears twice; ONNX inputs need distinct names")
        names[each.name or _free("column", [other.name for other in scorer.inputs])] = each.name
    return names


def _free(name: str, taken: Any) -> str:
    while name in taken:
        name += "_"
    return name


def _inputs(onnx: Any, scorer: Scorer, names: list[str]) -> list[Any]:
    kinds = onnx.TensorProto
    if not scorer.named:
        return [onnx.helper.make_tensor_value_info(names[0], kinds.DOUBLE, [ROWS, scorer.width])]
    return [
        onnx.helper.make_tensor_value_info(name, kinds.DOUBLE if each.role == "number" else kinds.STRING, [ROWS, 1])
        for name, each in zip(names, scorer.inputs, strict=True)
    ]


def _row(nodes: Nodes, scorer: Scorer, names: list[str]) -> tuple[str, str]:
    """Return the numbers of each row and, as a table of one column, whether it has no prediction."""
    parts, gone = [], []
    numbers = scorer.role("number")
    if numbers:
        x = nodes.add("Concat", *names[: len(numbers)], axis=1) if scorer.named else names[0]
        fills = np.array([np.nan if each.fill is None else each.fill for each in numbers])
        if scorer.gaps:
            places = np.array([each.place for each in scorer.gaps])
            missing_numbers = nodes.add("IsNaN", nodes.add("Gather", x, places, axis=1))
        if not np.isnan(fills).all():
            x = nodes.add("Where", nodes.add("IsNaN", x), fills, x)
        finite = nodes.add("LessOrEqual", nodes.add("Abs", x), np.array(np.finfo(np.float64).max))
        gone.append(nodes.any_of(nodes.add("Not", finite)))
        for operation, values in scorer.steps:
            operator = {"minus": "Sub", "over": "Div", "times": "Mul", "plus": "Add"}[operation]
            x = nodes.add(operator, x, values)
        parts.append(x)
        if scorer.gaps:
            parts.append(nodes.add("Cast", missing_numbers, to=nodes.onnx.TensorProto.DOUBLE))
    for name, category in zip(names[len(numbers) :], scorer.inputs[len(numbers) :], strict=True):
        code = _code(nodes, category, name, scorer.unknown)
        gone.append(nodes.add("Equal", code, np.array(_NO_PREDICTION)))
        one_hot = nodes.add("Equal", code, np.arange(category.width))
        parts.append(nodes.add("Cast", one_hot, to=nodes.onnx.TensorProto.DOUBLE))
    missing = gone[0]
    for more in gone[1:]:
        missing = nodes.add("Or", missing, more)
    return (nodes.add("Concat", *parts, axis=1) if len(parts) > 1 else parts[0]), missing


def _code(nodes: Nodes, category: Input, name: str, unknown: str) -> str:
    """Return the places of texts among the levels of a category."""
    missing = _NO_PREDICTION if not category.optional else _ALL_ZEROS
    codes = {"": missing if category.gap is None else category.gap - category.place}
    other = _ALL_ZEROS if unknown == "zero" else _NO_PREDICTION
    codes.update({text: place for place, texts in enumerate(category.levels) for text in texts})
    return nodes.add(
        "LabelEncoder",
        name,
        domain="ai.onnx.ml",
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=other if category.pooled is None else category.pooled - category.place,
    )


# ------------------------------------------------------------------------------------------------ what comes out


def _winner(nodes: Nodes, scorer: Scorer, scores: str) -> Any:
    """Return the place of each row's class, as a table of one column."""
    if len(scorer.classes) == 1:
        return np.array([[0]])
    if len(scorer.classes) > 2:
        return nodes.add("ArgMax", scores, axis=1)
    positive = nodes.add("GreaterOrEqual" if scorer.tie_is_positive else "Greater", scores, np.array(scorer.threshold))
    return nodes.add("Cast", positive, to=nodes.onnx.TensorProto.INT64)


def _labels(classes: list[Any]) -> tuple[list[Any], Any]:
    """Return how the classes are given out, and the same as an array that ends in the label for no prediction."""
    if isinstance(classes[0], str):
        return classes, np.array([*classes, _free("", classes)], dtype=object)
    if isinstance(classes[0], float):
        return classes, np.array([*classes, np.nan])
    labels = [int(label) for label in classes]  # flags too
    none = -1 if -1 not in labels else min(labels) - 1
    if none < -(2**63):
        none = next(value for value in count(none + 1) if value not in labels)
    return labels, np.array([*labels, none], dtype=np.int64)
