"""Support vectors and the conditions of Karush, Kuhn and Tucker (Lecture 003, 2.2 to 2.4), with exact solutions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from separatrix.exercises.content import Block, Table, linear, num, points_table, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot, solved
from separatrix.exercises.topic import Data, Solved, Topic, check

_MOST_PARTS = 5  # the largest denominator of an answer
_NEAR = 1e-2  # nearer to 1 no margin of a nice answer is, unless it is 1


@dataclass(frozen=True)
class _Optimum:
    """The exact solution: all conditions hold, so that it is the optimum."""

    w: tuple[Fraction, ...]
    b: Fraction
    alpha: tuple[Fraction, ...]
    margins: tuple[Fraction, ...]


def _optimum(points: Any, labels: Any, price: Fraction | None, places: Sequence[str]) -> _Optimum | None:
    """Return the solution with these points on, inside and outside the margin, if it meets every condition strictly.

    The unknowns are w, b and the alpha of the points on the margin; ``price`` is C, None for the hard margin.
    """
    on = [i for i, place in enumerate(places) if place == "on"]
    inside = [i for i, place in enumerate(places) if place == "inside"]
    if inside and price is None:
        return None
    full = price or Fraction(0)
    system: list[list[Any]] = [[labels[i] * x for x in (*points[i], 1)] + [0] * len(on) for i in on]
    right: list[Any] = [1] * len(on)
    for j in (0, 1):
        system.append([int(k == j) for k in (0, 1)] + [0] + [-labels[i] * points[i][j] for i in on])
        right.append(full * sum(labels[i] * points[i][j] for i in inside))
    system.append([0, 0, 0] + [labels[i] for i in on])
    right.append(-full * sum(labels[i] for i in inside))
    answer = solved(system, right)
    if answer is None:
        return None
    w, b, found = tuple(answer[:2]), answer[2], dict(zip(on, answer[3:], strict=True))
    alpha = tuple(found.get(i, full if i in inside else Fraction(0)) for i in range(len(points)))
    margins = tuple(y * (dot(w, x) + b) for x, y in zip(points, labels, strict=True))
    holds = all(
        m > 1
        if place == "outside"
        else m < 1
        if place == "inside"
        else m == 1 and a > 0 and (price is None or a < price)
        for m, a, place in zip(margins, alpha, places, strict=True)
    )
    return _Optimum(w, b, alpha, margins) if holds and on else None


def _fitted(points: Any, labels: Any, price: Fraction | None) -> Any:
    """Return the conditions of the package's own solution."""
    from separatrix.estimators import LinearSVM
    from separatrix.insight.kkt import svm_conditions

    cost = float("inf") if price is None else float(price)
    model = LinearSVM(C=cost, tol=1e-10, random_state=0).fit(points, labels)
    return svm_conditions(model, points, labels, tol=_NEAR)


def _draw(draws: Draws) -> Data | None:
    form = draws.one_of(("hard", "find", "soft", "soft"))
    n = 3 + draws.below(2) if form == "find" else 5
    points = draws.points(n, -2, 4)
    w, b = (draws.between(-2, 2), draws.between(-2, 2)), draws.between(-3, 3)
    products = [int(dot(w, x)) + b for x in points]
    labels = [1 if h > 0 else -1 for h in products]
    price = None
    if form == "soft":
        price = draws.one_of((Fraction(1), Fraction(1, 2), Fraction(2)))
        place = draws.below(n)
        labels[place] = -labels[place]
    if 0 in products or abs(sum(labels)) > n - 2:
        return None
    places = _fitted(points, labels, price).place.tolist()
    optimum = _optimum(points, labels, price, places)
    if optimum is None or (form == "soft" and "inside" not in places):
        return None
    answers = (*optimum.w, optimum.b, *optimum.alpha)
    if not any(optimum.w) or max(answer.denominator for answer in answers) > _MOST_PARTS:
        return None
    return {"form": form, "points": tuple(points), "labels": tuple(labels), "C": price}


def _solve(data: Data) -> Solved:
    points, labels, price, form = data["points"], data["labels"], data["C"], data["form"]
    conditions = _fitted(points, labels, price)
    optimum = _optimum(points, labels, price, conditions.place.tolist())
    check(optimum is not None, f"the optimum of {data}")
    assert optimum is not None
    pairs = [*zip(optimum.alpha, conditions.alpha, strict=True), *zip(optimum.margins, conditions.margin, strict=True)]
    check(all(abs(float(p) - q) < _NEAR for p, q in pairs), f"the dual weights and margins of {data}")
    square, slack = dot(optimum.w, optimum.w), [max(Fraction(0), 1 - m) for m in optimum.margins]
    primal, dual = square / 2 + (price or 0) * sum(slack), sum(optimum.alpha) - square / 2
    check(primal == dual, f"the objectives of {data}")
    table = points_table(points, labels)
    plane = f"`w = {vec(optimum.w)}`, `b = {num(optimum.b)}`"
    support = [str(i) for i, a in enumerate(optimum.alpha, start=1) if a]
    if form == "soft":
        return Solved((_soft_task(plane, price), table), _soft_answer(data, optimum, slack, primal, support))
    task = _FIND if form == "find" else _HARD.format(plane=plane)
    rows = [[i, m, a] for i, (m, a) in enumerate(zip(optimum.margins, optimum.alpha, strict=True), start=1)]
    found = "" if form == "hard" else f"{plane}: the line `{linear(optimum.w, optimum.b)} = 0`. "
    return Solved(
        (task, table),
        (
            f"{found}The margins and the dual weights:",
            Table.of(["example", "`y a`", "`alpha`"], rows),
            f"The support vectors are the examples {_and(support)}: their margin is exactly 1. The others have `alpha "
            f"= 0`. With `alpha` as in the table, the sum of `alpha y x` is `{vec(optimum.w)} = w` and the sum of "
            "`alpha y` is 0. Every margin is at least 1 and no `alpha` is negative, so all conditions hold and no "
            "line has a larger margin.",
            f"`|w|^2 = {num(square)}`, which is also the sum of `alpha`; the distance of the nearest examples is `1 / "
            f"|w| = {_root(1 / square)}`.",
        ),
    )


_HARD = (
    "The hard-margin SVM of these examples is {plane}. Compute `y a` with `a = w . x + b` for each example. Which "
    "examples are support vectors? Find their dual weights `alpha` from `w`, which is the sum of `alpha y x`, and "
    "from the sum of `alpha y`, which is 0. Do all conditions of Karush, Kuhn and Tucker hold? How far are the "
    "nearest examples from the line?"
)
_FIND = (
    "Find the hard-margin SVM of these examples: the `w` and `b` with the smallest `|w|` such that `y (w . x + b) >= "
    "1` for each. (Draw the points first.) Which examples are support vectors, and what are their dual weights "
    "`alpha`? Prove by the conditions of Karush, Kuhn and Tucker that no line has a larger margin. How far are the "
    "nearest examples from the line?"
)


def _soft_task(plane: str, price: Any) -> str:
    return (
        f"The soft-margin SVM of these examples with `C = {num(price)}` is {plane}. Compute for each example `y a` "
        "with `a = w . x + b`, and its slack `max(0, 1 - y a)`. Which examples lie outside their margin, which on "
        "it, which inside? Find the dual weights `alpha`; which examples are support vectors? Compute the primal "
        "objective, `|w|^2 / 2` plus `C` times the sum of the slacks, and the dual one, the sum of `alpha` minus "
        "`|w|^2 / 2`."
    )


def _soft_answer(data: Data, optimum: _Optimum, slack: Any, value: Fraction, support: list[str]) -> tuple[Block, ...]:
    price = data["C"]
    places = ["outside" if m > 1 else "on" if m == 1 else "inside" for m in optimum.margins]
    rows = [
        [i, m, z, place, a]
        for i, (m, z, place, a) in enumerate(zip(optimum.margins, slack, places, optimum.alpha, strict=True), start=1)
    ]
    total, square = sum(slack), dot(optimum.w, optimum.w)
    return (
        Table.of(["example", "`y a`", "slack", "margin", "`alpha`"], rows),
        f"Outside the margin `alpha = 0`; inside, where there is slack, `alpha = C = {num(price)}`; on the margin "
        f"`alpha` follows from the sum of `alpha y x`, which is `{vec(optimum.w)} = w`, and the sum of `alpha y`, "
        f"which is 0. The support vectors are the examples {_and(support)}.",
        f"Primal: `{num(square / 2)} + {num(price)} * {num(total)} = {num(value)}`. Dual: `{num(sum(optimum.alpha))} "
        f"- {num(square / 2)} = {num(value)}`. They agree, which proves that this is the optimum.",
    )


def _and(names: list[str]) -> str:
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else names[0]


def _root(value: Fraction) -> str:
    """Return the square root of a fraction as text."""
    from math import isqrt

    top, bottom = value.numerator, value.denominator
    if isqrt(top) ** 2 == top and isqrt(bottom) ** 2 == bottom:
        return num(Fraction(isqrt(top), isqrt(bottom)))
    return f"sqrt({num(value)})"


TOPIC = Topic(
    "kkt",
    "support vectors and the KKT conditions",
    "Which points are support vectors? Margins, slack and dual weights of a hard or soft margin, and the proof.",
    _draw,
    _solve,
)
