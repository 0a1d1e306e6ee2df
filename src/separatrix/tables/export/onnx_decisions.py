"""From the numbers of a row to its scores, in ONNX operators: planes, networks, kernels and votes.

Everything is in doubles. ONNX's own ``Sigmoid`` is not used: onnxruntime's loses all digits below -37.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np

from separatrix.tables.export.kernel_formulas import ONNX, formula_of
from separatrix.tables.export.onnx_nodes import Nodes
from separatrix.tables.export.scorer import KernelExpansion, Layers, Linear, Scorer, Voted, VoterSequence


def scores(nodes: Nodes, scorer: Scorer, x: str) -> str:
    """Return the scores of rows: a column for one or two classes, one for each of more."""
    decision = scorer.decision
    if isinstance(decision, Linear):
        product = nodes.products(x, decision.weights, in_lanes=not scorer.sparse)
        return nodes.add("Add", product, decision.bias)
    if isinstance(decision, Layers):
        return _network(nodes, decision, x)
    if isinstance(decision, Voted):
        return _voted(nodes, scorer, decision, x)
    if len(decision.support):
        sums = nodes.matrix_product(_kernel(nodes, decision, x), decision.coef)
    else:  # the same for every row
        sums = nodes.matrix_product(x, np.zeros((scorer.width, len(decision.bias))))
    activations = nodes.add("Add", sums, decision.bias)
    return _votes_of_pairs(nodes, scorer, activations) if decision.pairs else activations


def _network(nodes: Nodes, layers: Layers, x: str) -> str:
    *hidden, (weights, bias) = zip(layers.weights, layers.biases, strict=True)
    for inner, inner_bias in hidden:
        x = sigmoid(nodes, nodes.add("Add", nodes.matrix_product(x, inner), inner_bias))
    return nodes.add("Add", nodes.matrix_product(x, weights), bias)


def sigmoid(nodes: Nodes, z: str) -> str:
    """Return ``1 / (1 + exp(-z))`` without overflow."""
    small = nodes.add("Exp", nodes.add("Neg", nodes.add("Abs", z)))
    above = nodes.add("Where", nodes.add("Less", z, np.array(0.0)), small, np.array(1.0))
    return nodes.add("Div", above, nodes.add("Add", small, np.array(1.0)))


# ------------------------------------------------------------------------------------------------ kernels


def _kernel(nodes: Nodes, decision: KernelExpansion | Voted, x: str, *, in_lanes: bool = False) -> str:
    """Return the kernel of each row with each support vector."""
    return formula_of(ONNX, decision.kernel, "onnx")(nodes, decision, x, in_lanes)


def _votes_of_pairs(nodes: Nodes, scorer: Scorer, activations: str) -> str:
    """Return a score for each class from one activation for each pair: votes, and a third at most for how clear."""
    pairs = list(combinations(range(len(scorer.classes)), 2))
    first, second = np.zeros((2, len(pairs), len(scorer.classes)))
    for k, (one, other) in enumerate(pairs):
        first[k, one], second[k, other] = 1.0, 1.0
    won = nodes.add("GreaterOrEqual", activations, np.array(0.0))
    votes = [
        nodes.matrix_product(nodes.add("Cast", flags, to=nodes.onnx.TensorProto.DOUBLE), side)
        for flags, side in ((won, first), (nodes.add("Not", won), second))
    ]
    sums = nodes.matrix_product(activations, first - second)
    size = nodes.add("Mul", nodes.add("Add", nodes.add("Abs", sums), np.array(1.0)), np.array(3.0))
    return nodes.add("Add", nodes.add("Add", *votes), nodes.add("Div", sums, size))


# ------------------------------------------------------------------------------------------------ voters


def _voted(nodes: Nodes, scorer: Scorer, decision: Voted, x: str) -> str:
    in_lanes = not scorer.sparse
    starts = np.array([task.start for task in decision.voters])
    biases = np.array([task.bias for task in decision.voters])
    first = nodes.add("Add", nodes.products(x, starts, in_lanes=in_lanes), biases)
    kernel = _kernel(nodes, decision, x, in_lanes=in_lanes) if len(decision.support) else ""
    shares = [
        _share(nodes, task, nodes.column(first, k), kernel, scorer.tie_is_positive)
        for k, task in enumerate(decision.voters)
    ]
    return nodes.add("Concat", *shares, axis=1)


def _share(nodes: Nodes, task: VoterSequence, first: str, kernel: str, tie_is_positive: bool) -> str:
    """Return the fraction of votes for a class minus the fraction against it."""
    activations = first
    if len(task.rows):
        values = nodes.add("Gather", kernel, task.rows.astype(np.int64), axis=1)
        steps = nodes.add("Mul", nodes.add("Add", values, np.array(task.square)), task.signed)
        later = nodes.add("Add", nodes.add("CumSum", steps, np.array(1)), first)
        activations = nodes.add("Concat", first, later, axis=1)
    positive = nodes.add("GreaterOrEqual" if tie_is_positive else "Greater", activations, np.array(0.0))
    votes = nodes.add("Where", positive, np.array(1.0), np.array(-1.0))
    share = nodes.matrix_product(votes, task.counts[:, None])
    total = float(task.counts.sum())
    return nodes.add("Div", share, np.array(total)) if total > 0 else share
