"""From scores to probabilities, in ONNX operators."""

from __future__ import annotations

from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.calibration import Calibration, IsotonicCalibration, SigmoidCalibration
from separatrix.tables.export.onnx_decisions import sigmoid
from separatrix.tables.export.onnx_nodes import Nodes


def probabilities(nodes: Nodes, calibration: Calibration, scores: str) -> str:
    """Return the probability of each class, a column for each."""
    if isinstance(calibration, SigmoidCalibration):
        line = nodes.add("Add", nodes.add("Mul", scores, calibration.slope), calibration.intercept)
        outputs = sigmoid(nodes, nodes.add("Neg", line))
    elif isinstance(calibration, IsotonicCalibration):
        maps = zip(calibration.knots, calibration.values, strict=True)
        columns = [_interpolated(nodes, nodes.column(scores, k), *each) for k, each in enumerate(maps)]
        outputs = nodes.add("Concat", *columns, axis=1) if len(columns) > 1 else columns[0]
    elif calibration.n_scores > 1:
        return nodes.add("Softmax", nodes.add("Mul", scores, np.full(calibration.n_scores, calibration.beta)), axis=1)
    else:
        outputs = sigmoid(nodes, nodes.add("Mul", scores, np.array([2.0 * calibration.beta])))
    if calibration.n_scores == 1:
        return nodes.add("Concat", nodes.add("Sub", np.array(1.0), outputs), outputs, axis=1)
    total = nodes.add("ReduceSum", outputs, np.array([1]))
    nothing = nodes.add("Equal", total, np.array(0.0))
    divided = nodes.add("Div", outputs, nodes.add("Where", nothing, np.array(1.0), total))
    return nodes.add("Where", nothing, np.array(1.0 / calibration.n_scores), divided)


def _interpolated(nodes: Nodes, score: str, knots: Floats, values: Floats) -> Any:
    """Return a map that is linear between knots: the first value, and for each piece what it has risen by."""
    if len(knots) == 1:
        return nodes.add("Add", nodes.add("Mul", score, np.array([0.0])), values)
    lengths = np.diff(knots)
    gone = nodes.add("Div", nodes.add("Sub", score, knots[:-1]), lengths)
    part = nodes.add("Min", nodes.add("Max", gone, np.array(0.0)), np.array(1.0))
    risen = nodes.add("ReduceSum", nodes.add("Mul", part, np.diff(values)), np.array([1]))
    return nodes.add("Add", risen, values[:1])
