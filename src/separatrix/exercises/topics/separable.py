"""Is it linearly separable? With the proof: a line, or a point that lies in the convex hulls of both classes."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations, product
from typing import Any

from separatrix.exercises.content import Block, Table, linear, num, points_table, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot, solved
from separatrix.exercises.no_plane import no_plane
from separatrix.exercises.topic import Data, Solved, Topic, check

Points = Sequence[tuple[int, ...]]

_SMALL = sorted(product(range(-4, 5), repeat=2), key=lambda w: (w[0] ** 2 + w[1] ** 2, w))
_MOST_PARTS = 4  # of a convex combination


def _line(points: Points, labels: Sequence[int]) -> tuple[tuple[int, ...], int] | None:
    """Return the line with the smallest whole weights between the classes, in the middle between them."""
    for w in _SMALL:
        products = [w[0] * x[0] + w[1] * x[1] for x in points]
        low = min(h for h, y in zip(products, labels, strict=True) if y > 0)
        high = max(h for h, y in zip(products, labels, strict=True) if y < 0)
        if low > high:
            tight = low - high == 1  # no whole number lies between
            return (2 * w[0], 2 * w[1]) if tight else w, -(low + high) if tight else -((low + high) // 2)
    return None


def _common(points: Points, labels: Sequence[int]) -> tuple[dict[int, int], int] | None:
    """Return whole weights of rows whose two classes have the same weighted mean, and the weight of each class.

    Of a point on a segment, two segments that cross and a point in a triangle, the one with the smallest weights; by
    Radon's theorem one of them is there if the classes cannot be separated.
    """
    best: tuple[dict[int, int], int] | None = None
    for rows in _candidates(labels):
        signs = [labels[i] for i in rows]
        system = [[s * points[i][j] for s, i in zip(signs, rows, strict=True)] for j in (0, 1)]
        system += [[int(s > 0) for s in signs], [int(s < 0) for s in signs]]
        shares = solved(system, [0, 0, 1, 1])
        if shares is None or min(shares) <= 0:
            continue
        total = math.lcm(*(share.denominator for share in shares))
        if best is None or total < best[1]:
            best = {i: int(share * total) for i, share in zip(rows, shares, strict=True)}, total
    return best


def _candidates(labels: Sequence[int]) -> Iterator[tuple[int, ...]]:
    sides = [[i for i, y in enumerate(labels) if y == sign] for sign in (1, -1)]
    for first, second in ((1, 2), (2, 1), (2, 2), (1, 3), (3, 1)):
        for one, other in product(combinations(sides[0], first), combinations(sides[1], second)):
            yield (*one, *other)


def _draw(draws: Draws) -> Data | None:
    points = draws.points(draws.between(5, 6), -3, 4)
    labels = draws.shuffled([1, 1, -1, -1] + [draws.one_of((-1, 1)) for _ in points[4:]])
    wanted = bool(draws.below(2))
    line = _line(points, labels)
    if (line is not None) != wanted:
        return None
    if line is not None:
        suits = all(0 < abs(weight) <= 4 for weight in line[0])  # a line along an axis one sees at once
    else:
        common = _common(points, labels)
        suits = common is not None and common[1] <= _MOST_PARTS
    return {"points": tuple(points), "labels": tuple(labels)} if suits else None


def _solve(data: Data) -> Solved:
    from separatrix.certificates.certifying import certify

    points, labels = data["points"], data["labels"]
    statement = (
        "Is there a line with all examples of class +1 strictly on one side and all of class -1 strictly on the "
        "other? If so, give `w` and `b` with `y (w . x + b) > 0` for every example. If not, prove it: give a point "
        "that is a convex combination of examples of class +1, and also of examples of class -1.",
        points_table(points, labels),
    )
    certificate: Any = certify(points, labels)
    check(certificate.verify(points, labels), f"the certificate of {data}")
    strict = certificate.separable == "strict"
    return Solved(statement, _with_line(data) if strict else _with_point(data))


def _with_line(data: Data) -> tuple[Block, ...]:
    from separatrix.insight.plane import Plane

    points, labels = data["points"], data["labels"]
    line = _line(points, labels)
    check(line is not None, f"the line of {data}")
    assert line is not None
    w, b = line
    check(Plane(w, b).margin(points, labels) > 0, f"the line of {data}")
    activations = [dot(w, x) + b for x in points]
    margins = [y * a for y, a in zip(labels, activations, strict=True)]
    check(min(margins) > 0, f"the line of {data}")
    rows = [[i, a, m] for i, (a, m) in enumerate(zip(activations, margins, strict=True), start=1)]
    return (
        f"Yes. One answer of many: `w = {vec(w)}`, `b = {num(b)}`, the line `{linear(w, b)} = 0`. With `a = w . x + "
        "b`, every `y a` is positive:",
        Table.of(["example", "`a`", "`y a`"], rows),
    )


def _with_point(data: Data) -> tuple[Block, ...]:
    points, labels = data["points"], data["labels"]
    common = _common(points, labels)
    check(common is not None, f"the witness of {data}")
    assert common is not None
    weights, total = common
    check(no_plane(points, labels, weights), f"the witness of {data}")
    sides = [[i for i in weights if labels[i] == y] for y in (1, -1)]
    means = [tuple(Fraction(sum(weights[i] * points[i][j] for i in side), total) for j in (0, 1)) for side in sides]
    check(
        means[0] == means[1] and all(sum(weights[i] for i in side) == total for side in sides), f"the point of {data}"
    )
    written = [
        " + ".join(f"{num(Fraction(weights[i], total))} {vec(points[i])}" for i in side) if len(side) > 1 else None
        for side in sides
    ]
    ways = [
        f"`{text}` (class {name})" if text else f"example {side[0] + 1} (class {name})"
        for text, side, name in zip(written, sides, ("+1", "-1"), strict=True)
    ]
    return (
        f"No. The point `{vec(means[0])}` belongs to the convex hulls of both classes: it is {ways[0]} and {ways[1]}.",
        "If a line had all of class +1 strictly on its positive side, `w . x + b` would be positive at this point, "
        "as the weights are positive and add up to 1; with all of class -1 strictly on the other side it would be "
        "negative. Both cannot be.",
    )


TOPIC = Topic(
    "separable",
    "is it separable?",
    "Is a set of points linearly separable? The answer is a line, or a point in the convex hulls of both classes.",
    _draw,
    _solve,
)
