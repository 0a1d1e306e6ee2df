"""Gradient descent on a parabola by hand, with steps that are small, good or too large (Lecture 000)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from separatrix.exercises.content import Table, num
from separatrix.exercises.draws import Draws
from separatrix.exercises.topic import Data, Solved, Topic, check

_STEPS = 4


def _path(data: Data) -> list[Fraction]:
    x = Fraction(data["start"])
    path = [x]
    for _ in range(_STEPS):
        x = x - data["step"] * 2 * data["a"] * (x - data["c"])
        path.append(x)
    return path


def _draw(draws: Draws) -> Data | None:
    a, c, constant = draws.one_of((1, 1, 2, 3)), draws.between(-4, 4), draws.between(-3, 5)
    factor = draws.one_of([*(Fraction(k, 2) for k in (-4, -3, -2, -1, -1, 0, 1, 1)), Fraction(1, 3), Fraction(-1, 3)])
    step = (1 - factor) / (2 * a)
    start = c + draws.one_of((-1, 1)) * draws.one_of((1, 2, 4, 8) if factor.denominator != 3 else (3, 9))
    data = {"a": a, "c": c, "d": constant, "start": start, "step": step}
    path = _path(data)
    suits = max(x.denominator for x in path) <= 9 and max(a * (x - c) ** 2 for x in path) <= 300 and abs(start) <= 9
    return data if suits else None


def _solve(data: Data) -> Solved:
    from separatrix.insight.descent import descend

    a, c, d, step, start = (data[name] for name in ("a", "c", "d", "step", "start"))
    path = _path(data)
    factor = 1 - 2 * a * step
    run: Any = descend(
        lambda x: a * (x - c) ** 2 + d,
        lambda x: 2 * a * (x - c),
        float(start),
        float(step),
        max_steps=_STEPS,
        tol=1e-12,
    )
    made = run.path.tolist()
    check(len(made) == len(path) or path[len(made) - 1] == c, f"the number of steps of {data}")
    check(all(abs(p - float(q)) < 1e-9 for p, q in zip(made, path, strict=False)), f"the path of {data}")
    check(all(x - c == factor**k * (start - c) for k, x in enumerate(path)), f"the factor of {data}")
    middle = "x" if c == 0 else f"(x {'-' if c > 0 else '+'} {abs(c)})"
    function = f"{a if a > 1 else ''} {middle}^2".strip() + (f" {'-' if d < 0 else '+'} {abs(d)}" if d else "")
    slope = f"{2 * a} {middle}"
    statement = (
        f"Minimise `f(x) = {function}` by gradient descent from `x = {num(start)}` with the step `h = {num(step)}`: "
        f"`x <- x - h f'(x)`. Make {_STEPS} steps by hand. By what factor does the distance from the minimum change "
        "in each step? Does the descent converge? For which `h` would it, and for which would one step be enough?"
    )
    rows = [[k, x, 2 * a * (x - c), a * (x - c) ** 2 + d] for k, x in enumerate(path)]
    return Solved(
        (statement,),
        (
            f"`f'(x) = {slope}`, and the minimum is at `x = {num(c)}`.",
            Table.of(["step", "`x`", "`f'(x)`", "`f(x)`"], rows),
            f"The difference `{middle.strip('()')}` is multiplied by `1 - {2 * a} h = {num(factor)}` in each step: "
            f"{_verdict(factor)}.",
            f"It converges where `|1 - {2 * a} h| < 1`, so for `0 < h < {num(Fraction(1, a))}`; one step is enough "
            f"with `h = {num(Fraction(1, 2 * a))}`.",
        ),
    )


def _verdict(factor: Fraction) -> str:
    if factor == 0:
        return "the first step ends at the minimum"
    if abs(factor) > 1:
        return "the descent diverges, the step is too large"
    if factor == -1:
        return "the descent oscillates and does not converge"
    return "the descent converges" + (", from side to side" if factor < 0 else "")


TOPIC = Topic(
    "descent",
    "gradient descent on a parabola",
    "Some steps of gradient descent on a parabola by hand, with steps that are good, slow or too large.",
    _draw,
    _solve,
)
