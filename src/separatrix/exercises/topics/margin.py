"""The margin of a given plane: functional and geometric, signed distances, the bound (Lectures 000, 001, 003)."""

from __future__ import annotations

from typing import Any

from separatrix.exercises.content import Block, Table, linear, num, points_table, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.topic import Data, Solved, Topic, check

_LENGTHS = {  # weights whose length is a whole number
    (3, 4): 5, (4, 3): 5, (5, 12): 13, (6, 8): 10, (1, 2, 2): 3, (2, 1, 2): 3, (2, 2, 1): 3, (2, 3, 6): 7,
}  # fmt: skip


def _draw(draws: Draws) -> Data | None:
    sizes = draws.one_of((*list(_LENGTHS)[:2] * 2, *_LENGTHS))
    w = tuple(draws.one_of((-1, 1)) * size for size in sizes)
    b = draws.between(-6, 6)
    points = draws.points(4, -3, 4, len(w))
    activations = [int(dot(w, x)) + b for x in points]
    labels = [1 if a > 0 else -1 for a in activations]
    if draws.below(5) == 0:  # one of five planes does not separate
        place = draws.below(4)
        labels[place] = -labels[place]
    margins = [y * a for y, a in zip(labels, activations, strict=True)]
    least = min(margins)
    beta = max(int(dot(x, x)) for x in points) + 1
    top = beta * (int(dot(w, w)) + b * b)
    if len(set(labels)) < 2 or least == 0 or (least > 0 and (top % least or top > 400 * least**2)):
        return None
    return {"w": w, "b": b, "points": tuple(points), "labels": tuple(labels)}


def _solve(data: Data) -> Solved:
    from separatrix.insight.plane import Plane

    w, b, points, labels = data["w"], data["b"], data["points"], data["labels"]
    plane = Plane(w, b)
    length: Any = plane.norm
    activations, distances = plane.activation(points).tolist(), plane.distance(points).tolist()
    margins = plane.margins(points, labels).tolist()
    check(length * length == dot(w, w) and activations == [dot(w, x) + b for x in points], f"the activations of {data}")
    check(margins == [y * a for y, a in zip(labels, activations, strict=True)], f"the margins of {data}")
    check([d * length for d in distances] == activations, f"the distances of {data}")
    kind = "line" if len(w) == 2 else "plane"
    statement: tuple[Block, ...] = (
        f"Given are the {kind} `{linear(w, b)} = 0` (so `w = {vec(w)}`, `b = {num(b)}`) and {len(points)} examples. "
        "Compute for each example the activation `a = w . x + b`, the margin `y a` and the signed distance `a / "
        f"|w|`. What are the functional margin of the {kind} (the smallest `y a`; `-inf` if it does not separate the "
        "classes) and its geometric margin (that divided by `|w|`)? A perceptron starts from zero weights: how many "
        "mistakes can it make on these examples at most, by the bound `beta |w'|^2 / alpha^2` with `w' = (b, w)` and "
        "a 1 in front of each `x`?",
        points_table(points, labels),
    )
    rows = [[i, *values] for i, values in enumerate(zip(activations, margins, distances, strict=True), start=1)]
    table = Table.of(["example", "`a`", "`y a`", "distance"], rows)
    first = f"`|w| = {num(length)}`, so:"
    return Solved(statement, (first, table, *_margins(data, plane, kind)))


def _margins(data: Data, plane: Any, kind: str) -> tuple[Block, ...]:
    w, b, points, labels = data["w"], data["b"], data["points"], data["labels"]
    bound = plane.mistake_bound(points, labels)
    least = min(y * (dot(w, x) + b) for x, y in zip(points, labels, strict=True))
    if least <= 0:
        check(plane.margin(points, labels) == float("-inf") and bound.k_max is None, f"the margin of {data}")
        wrong = [str(i) for i, (x, y) in enumerate(zip(points, labels, strict=True), 1) if y * (dot(w, x) + b) <= 0]
        return (
            f"Example {wrong[0]} is on the wrong side: the {kind} does not separate the classes. Both margins are "
            f"`-inf`, and this {kind} gives no bound.",
        )
    alpha, beta, square = least, max(dot(x, x) for x in points) + 1, dot(w, w) + b * b
    check(plane.margin(points, labels) == least, f"the margin of {data}")
    check(plane.geometric_margin(points, labels) * plane.norm == least, f"the geometric margin of {data}")
    check((bound.alpha, bound.beta, bound.k_max) == (alpha, beta, beta * square / alpha**2), f"the bound of {data}")
    whole = "" if bound.k_max == int(bound.k_max) else f", so at most `{num(int(bound.k_max))}`"
    return (
        f"The functional margin is `{num(alpha)}`, the geometric margin "
        f"`{num(plane.geometric_margin(points, labels))}`.",
        f"`alpha = {num(alpha)}` (the functional margin), `beta = max (|x|^2 + 1) = {num(beta)}`, `|w'|^2 = "
        f"{num(square)}`: at most `{num(beta)} * {num(square)} / {num(alpha)}^2 = {num(bound.k_max)}` mistakes{whole}.",
    )


TOPIC = Topic(
    "margin",
    "margin and bound of a plane",
    "Functional and geometric margin, signed distances and the mistake bound of a given line or plane.",
    _draw,
    _solve,
)
