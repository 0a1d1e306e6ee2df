"""Min-max scaling and its inverse: a model in scaled features, brought back to the original units (Lecture 002)."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from separatrix.exercises.content import Table, linear, num, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.topic import Data, Solved, Topic, check

_FEATURES = (  # name, smallest value, what values are multiples of
    ("age", 20, 5), ("height in cm", 150, 5), ("temperature", -10, 5), ("hours", 0, 1), ("price", 100, 50),
    ("distance in km", 2, 2),
)  # fmt: skip


def _draw(draws: Draws) -> Data | None:
    features = draws.shuffled(_FEATURES)[:2]
    spans = [draws.one_of((4, 5, 8, 10)) for _ in features]
    starts = [low + step * draws.between(0, 3) for _, low, step in features]
    parts = [(0, *(draws.between(1, span - 1) for _ in range(2)), span) for span in spans]
    columns = [
        draws.shuffled([start + step * part for part in every])
        for start, (_, _, step), every in zip(starts, features, parts, strict=True)
    ]
    rows = tuple(zip(*columns, strict=True))
    w = (draws.one_of((-1, 1)) * draws.between(1, 4), draws.one_of((-1, 1)) * draws.between(1, 4))
    b = draws.between(-3, 3)
    scaled = _scaled(rows)
    activations = [dot(w, x) + b for x in scaled]
    factors = [max(column) - min(column) for column in columns]
    bias = b - sum(
        Fraction(weight * min(column), span) for weight, column, span in zip(w, columns, factors, strict=True)
    )
    suits = 0 not in activations and len({a > 0 for a in activations}) == 2 and bias.denominator <= 10
    suits = suits and len(set(rows)) == 4 and all(x.denominator <= 10 for row in scaled for x in row)
    return {"names": tuple(name for name, _, _ in features), "rows": rows, "w": w, "b": b} if suits else None


def _scaled(rows: Any) -> list[tuple[Fraction, ...]]:
    lows, highs = ([pick(column) for column in zip(*rows, strict=True)] for pick in (min, max))
    return [tuple(Fraction(x - low, high - low) for x, low, high in zip(row, lows, highs, strict=True)) for row in rows]


def _solve(data: Data) -> Solved:
    rows, w, b, names = data["rows"], data["w"], data["b"], data["names"]
    scaled = _scaled(rows)
    lows, highs = ([pick(column) for column in zip(*rows, strict=True)] for pick in (min, max))
    spans = [high - low for low, high in zip(lows, highs, strict=True)]
    weights = tuple(Fraction(weight, span) for weight, span in zip(w, spans, strict=True))
    bias = b - dot(weights, lows)
    activations = [dot(w, x) + b for x in scaled]
    check([dot(weights, row) + bias for row in rows] == activations, f"the model of {data}")
    _compare(data, activations, weights, bias)
    heads = [f"`x{j}` ({name})" for j, name in enumerate(names, start=1)]
    statement = (
        "Scale both features of these rows to the interval from 0 to 1 (min-max scaling). A linear model was trained "
        f"on the scaled features: it has `w = {vec(w)}`, `b = {num(b)}`. Compute its activation for each row. Then "
        "bring it back to the original units: find `w'` and `b'` such that `w' . x + b'` is the same activation for "
        "the rows as they are.",
        Table.of(["row", *heads], [[i, *row] for i, row in enumerate(rows, start=1)]),
    )
    table = [[i, *x, a] for i, (x, a) in enumerate(zip(scaled, activations, strict=True), start=1)]
    scalings = ", ".join(
        f"`{_shifted(j, low)} / {span}`" for j, (low, span) in enumerate(zip(lows, spans, strict=True), 1)
    )
    steps = ", ".join(
        f"`w{j}' = {p} / {span}" + ("`" if num(q) == f"{p}/{span}" else f" = {num(q)}`")
        for j, (p, span, q) in enumerate(zip(w, spans, weights, strict=True), 1)
    )
    products = [(num(weights[0]), rows[0][0]), (_brackets(weights[1]), rows[0][1])]
    first = " + ".join(f"{weight} * {_brackets(x)}" for weight, x in products)
    return Solved(
        statement,
        (
            f"The scaled features are {scalings}:",
            Table.of(["row", "scaled `x1`", "scaled `x2`", "activation"], table),
            f"Each weight is divided by the range of its feature: {steps}. The bias takes up the shifts: `b' = b - w' "
            f". (min x1, min x2) = {num(b)} - {_brackets(dot(weights, lows))} = {num(bias)}`.",
            f"The model in the original units is `{linear(weights, bias)}`. Check, row 1: `{first} "
            f"{'-' if bias < 0 else '+'} {num(abs(bias))} = {num(activations[0])}`.",
        ),
    )


def _shifted(j: int, low: int) -> str:
    return f"(x{j} {'-' if low > 0 else '+'} {abs(low)})" if low else f"x{j}"


def _brackets(value: Any) -> str:
    return f"({num(value)})" if value < 0 else num(value)


def _compare(data: Data, activations: list[Fraction], weights: Any, bias: Any) -> None:
    """Let the package scale the rows, keep the model (which makes no mistakes) and bring it back."""
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler

    from separatrix.estimators import Perceptron
    from separatrix.insight.original_units import original_units

    rows = [[float(value) for value in row] for row in data["rows"]]
    labels = [1 if a > 0 else -1 for a in activations]
    start = [[float(weight) for weight in data["w"]]], [float(data["b"])]
    pipeline = make_pipeline(MinMaxScaler(), Perceptron(shuffle=False, init=start)).fit(rows, labels)
    check(pipeline[-1].n_updates_ == 0, f"the classes of {data}")
    model = original_units(pipeline)
    pairs = zip((*model.coef_[0], model.intercept_[0]), (*weights, bias), strict=True)
    check(
        all(math.isclose(p, q, rel_tol=1e-9, abs_tol=1e-9) for p, q in pairs), f"the model of {data} in original units"
    )


TOPIC = Topic(
    "scale",
    "scale and unscale",
    "Min-max scale some rows, then bring a model of the scaled features back to the original units.",
    _draw,
    _solve,
)
