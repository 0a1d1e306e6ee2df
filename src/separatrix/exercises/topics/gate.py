"""Truth tables and threshold neurons (Lectures 000 and 004): find weights, or prove that there are none."""

from __future__ import annotations

from itertools import combinations, product
from typing import Any

from separatrix.exercises.content import Table, num, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.no_plane import no_plane
from separatrix.exercises.topic import Data, Solved, Topic, check

_NAMES = {
    (0, 0, 0, 1): "AND", (0, 1, 1, 1): "OR", (1, 1, 1, 0): "NAND", (1, 0, 0, 0): "NOR", (0, 1, 1, 0): "XOR",
    (1, 0, 0, 1): "XNOR (the negation of XOR)",
}  # fmt: skip
_MOST_EPOCHS = 60


def _inputs(n: int, low: int) -> list[tuple[int, ...]]:
    return [tuple(1 if bit else low for bit in bits) for bits in product((0, 1), repeat=n)]


def _trained(inputs: list[tuple[int, ...]], outputs: tuple[int, ...]) -> tuple[tuple[int, ...], int] | None:
    """Return weights and threshold that the delta rule finds from zero, None if it takes too long."""
    w, theta = [0] * len(inputs[0]), 0
    for _ in range(_MOST_EPOCHS):
        quiet = True
        for x, t in zip(inputs, outputs, strict=True):
            error = t - int(sum(p * q for p, q in zip(w, x, strict=True)) > theta)
            if error:
                w, theta, quiet = [p + error * q for p, q in zip(w, x, strict=True)], theta - error, False
        if quiet:
            return tuple(w), theta
    return None


def _draw(draws: Draws) -> Data | None:
    n = 2 if draws.below(4) == 0 else 3
    low = -1 if draws.below(4) == 0 else 0
    outputs = tuple(draws.below(2) for _ in range(2**n))
    if len(set(outputs)) < 2:
        return None
    trained = _trained(_inputs(n, low), outputs)
    wanted = draws.below(5) < 3  # that many have an answer
    if (trained is not None) != wanted or (trained is not None and max(map(abs, trained[0])) > 4):
        return None
    used = all(any(outputs[i] != outputs[i ^ (1 << bit)] for i in range(2**n)) for bit in range(n))
    return {"low": low, "outputs": outputs} if used else None  # every input matters


def _solve(data: Data) -> Solved:
    from separatrix.certificates.certifying import certify

    low, outputs = data["low"], data["outputs"]
    n = len(outputs).bit_length() - 1
    inputs = _inputs(n, low)
    heads = [f"`x{j}`" for j in range(1, n + 1)]
    statement = (
        f"A threshold neuron with {n} inputs, each {low} or 1, has the output 1 where `h = w . x > theta`, and 0 "
        "elsewhere. Find weights and a threshold, in whole numbers, such that its output is `t`; or prove that there "
        "are none.",
        Table.of([*heads, "`t`"], [[*x, t] for x, t in zip(inputs, outputs, strict=True)]),
    )
    certificate: Any = certify(inputs, outputs)
    check(certificate.verify(inputs, outputs), f"the certificate of {data}")
    name = f"This is {_NAMES[outputs]}. " if outputs in _NAMES else ""
    if certificate.separable == "strict":
        return Solved(statement, _weights(data, inputs, name))
    return Solved(statement, _proof(data, inputs, name))


def _weights(data: Data, inputs: list[tuple[int, ...]], name: str) -> tuple[str, Table]:
    from separatrix.insight.plane import Plane
    from separatrix.insight.trace import trace

    outputs = data["outputs"]
    run = trace(inputs, outputs, boundary="negative", max_iter=_MOST_EPOCHS)
    w, theta = run.weights, -run.bias
    sums = [dot(w, x) for x in inputs]
    check(Plane(w, threshold=theta).fires(inputs).tolist() == list(outputs), f"the weights of {data}")
    check([int(h > theta) for h in sums] == list(outputs), f"the weights of {data}")
    heads = [f"`x{j}`" for j in range(1, len(w) + 1)]
    rows = [[*x, h, int(h > theta)] for x, h in zip(inputs, sums, strict=True)]
    return (
        f"{name}One answer of many: `w = {vec(w)}`, `theta = {num(theta)}` (the delta rule finds it from zero "
        "weights). The output is `t` in every row:",
        Table.of([*heads, "`h`", "output"], rows),
    )


def _pairs(inputs: list[tuple[int, ...]], outputs: tuple[int, ...]) -> tuple[list[int], list[int]] | None:
    """Return two rows with output 1 and two with output 0 that have the same sum."""
    rows: dict[int, list[list[int]]] = {t: [] for t in (0, 1)}
    for pair in combinations(range(len(inputs)), 2):
        if outputs[pair[0]] == outputs[pair[1]]:
            rows[outputs[pair[0]]].append(list(pair))
    total = {tuple(inputs[i][k] + inputs[j][k] for k in range(len(inputs[0]))): [i, j] for i, j in rows[0]}
    for i, j in rows[1]:
        other = total.get(tuple(inputs[i][k] + inputs[j][k] for k in range(len(inputs[0]))))
        if other is not None:
            return [i, j], other
    return None  # never for up to eight inputs: there, what no such pairs forbid a neuron computes


def _proof(data: Data, inputs: list[tuple[int, ...]], name: str) -> tuple[str, ...]:
    outputs = data["outputs"]
    pairs = _pairs(inputs, outputs)
    check(pairs is not None, f"the verdict on {data}")
    assert pairs is not None
    ones, zeros = pairs
    check(no_plane(inputs, outputs, dict.fromkeys((*ones, *zeros), 1)), f"the witness of {data}")
    sums = [tuple(inputs[i][k] + inputs[j][k] for k in range(len(inputs[0]))) for i, j in (ones, zeros)]
    check(sums[0] == sums[1] and [outputs[i] for i in (*ones, *zeros)] == [1, 1, 0, 0], f"the witness of {data}")
    left, right = (f"{vec(inputs[i])} + {vec(inputs[j])}" for i, j in (ones, zeros))
    return (
        f"{name}There are none. The proof: `{left} = {right} = {vec(sums[0])}`, on the left two rows with `t = 1`, on "
        "the right two with `t = 0`.",
        "So for any `w` the values of `h` on the left and on the right have the same sum. But on the left both are "
        "above `theta`, so their sum is `> 2 theta`; on the right neither is, so their sum is `<= 2 theta`. Both "
        "cannot be.",
    )


TOPIC = Topic(
    "gate",
    "gates and threshold neurons",
    "Find weights and a threshold for a truth table such as AND or OR, or prove that there are none, as for XOR.",
    _draw,
    _solve,
)
