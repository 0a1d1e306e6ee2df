"""One update by hand: the perceptron with labels +-1, and the delta rule of the threshold neuron (Lecture 004)."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

from separatrix.exercises.content import num, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.topic import Data, Solved, Topic, check
from separatrix.insight.trace_view import number


def _draw(draws: Draws) -> Data | None:
    neuron = bool(draws.below(2))
    d = draws.between(2, 3)
    x = tuple(draws.between(-3, 3) for _ in range(d))
    label = draws.one_of((-1, 1))
    if neuron:
        w = tuple(Fraction(draws.between(-6, 6), 2) for _ in range(d))
        b = Fraction(-draws.between(-4, 6), 2)
        eta = draws.one_of((Fraction(1, 10), Fraction(1, 5), Fraction(1, 4), Fraction(1, 2)))
    else:
        w = tuple(Fraction(draws.between(-4, 4)) for _ in range(d))
        b, eta = Fraction(draws.between(-3, 3)), draws.one_of((Fraction(1), Fraction(1), Fraction(1, 2), Fraction(2)))
    activation = dot(w, x) + b
    wrong = (activation > 0) != (label > 0) if neuron else label * activation <= 0
    if not wrong and draws.below(4):  # one in five or so needs no update
        return None
    suits = 0 not in x and sum(map(bool, w)) > 1
    return {"form": "delta" if neuron else "sign", "w": w, "b": b, "eta": eta, "x": x, "y": label} if suits else None


def _solve(data: Data) -> Solved:
    from separatrix.insight.trace import trace

    w, b, eta, x, y = (data[name] for name in ("w", "b", "eta", "x", "y"))
    neuron = data["form"] == "delta"
    # A run needs both classes: the second row is not looked at.
    step = trace([x, x], [y, -y], start=(w, b), eta0=eta, max_iter=1, boundary="negative" if neuron else "mistake")[0]
    activation = dot(w, x) + b
    wrong = (activation > 0) != (y > 0) if neuron else y * activation <= 0
    change = eta * y if wrong else 0
    after = tuple(p + change * q for p, q in zip(w, x, strict=True)), b + change
    check((step.activation, step.updated) == (activation, wrong), f"the decision of {data}")
    check((tuple(step.weights), step.bias) == after, f"the update of {data}")
    return _delta(data, step) if neuron else _sign(data, step)


def _sign(data: Data, step: Any) -> Solved:
    w, b, eta, x, y = (data[name] for name in ("w", "b", "eta", "x", "y"))
    sign = "+1" if y > 0 else "-1"
    statement = (
        f"A perceptron has `w = {vec(w)}`, `b = {num(b)}` and the learning rate `eta = {num(eta)}`. It is presented "
        f"`x = {vec(x)}` with `y = {sign}`. Compute the activation `a = w . x + b`. Is this a mistake (`y a <= 0`)? "
        "If so, update `w` and `b`, and compute `y a` once more. By how much has it changed?"
    )
    a = step.activation
    first = f"`a = {_sum(w, x)} {_signed(b)} = {num(a)}`, so `y a = {num(y * a)} {'<=' if step.updated else '>'} 0`"
    if not step.updated:
        return Solved((statement,), (f"{first}: correct, and nothing changes.",))
    later = dot(step.weights, x) + step.bias
    square = dot(x, x)
    check(y * later - y * a == eta * (square + 1), f"the change of the margin of {data}")
    verdict = "now it is correct" if y * later > 0 else "still a mistake, but a smaller one"
    return Solved(
        (statement,),
        (
            f"{first}: a mistake.",
            f"`w <- w + eta y x = {vec(step.weights)}` and `b <- b + eta y = {num(step.bias)}`.",
            f"The new activation is `{num(later)}`, so `y a = {num(y * later)}`: {verdict}. The change is `eta (|x|^2 "
            f"+ 1) = {num(eta)} * ({num(square)} + 1) = {num(eta * (square + 1))}`, whatever `w` was.",
        ),
    )


def _delta(data: Data, step: Any) -> Solved:
    w, b, eta, x, y = (data[name] for name in ("w", "b", "eta", "x", "y"))
    target, h = int(y > 0), dot(w, x)
    out = int(h > -b)
    statement = (
        f"A threshold neuron has `w = {_decimals(w)}`, `theta = {_decimal(-b)}` and the learning rate `eta = "
        f"{_decimal(eta)}`. It is presented `x = {vec(x)}` with the target `t = {target}`. Compute `h = w . x` and "
        "the output `y` (1 if `h > theta`, else 0). Then update `w <- w + eta (t - y) x` and `theta <- theta - eta "
        "(t - y)`. Which output does the neuron give for `x` now?"
    )
    relation = ">" if out else "=" if h == -b else "<"
    first = f"`h = {_sum(w, x, decimals=True)} = {_decimal(h)} {relation} theta`"
    first += f", so `y = {out}` and `t - y = {target - out}`"
    if not step.updated:
        return Solved((statement,), (f"{first}: nothing changes, and the output stays `{out}`.",))
    later = dot(step.weights, x)
    now = int(later > -step.bias)
    relation = ">" if now else "=" if later == -step.bias else "<"
    return Solved(
        (statement,),
        (
            f"{first}.",
            f"`w <- {_decimals(step.weights)}` and `theta <- {_decimal(-step.bias)}`.",
            f"Now `h = {_decimal(later)} {relation} theta`: the output is `{now}`"
            + (", as the target." if now == target else ", still not the target; more updates are needed."),
        ),
    )


def _decimal(value: Any) -> str:
    return number(Fraction(value), decimals=True)


def _decimals(values: Any) -> str:
    return "(" + ", ".join(map(_decimal, values)) + ")"


def _signed(value: Any) -> str:
    return f"{'-' if value < 0 else '+'} {num(abs(value))}"


def _sum(w: Any, x: Any, *, decimals: bool = False) -> str:
    """Return the products of an inner product, as one writes them down."""
    shown = _decimal if decimals else num
    factors = [(shown(p), shown(q)) for p, q in zip(w, x, strict=True)]
    terms = [f"{_in_brackets(p) if place else p} * {_in_brackets(q)}" for place, (p, q) in enumerate(factors)]
    return " + ".join(terms)


def _in_brackets(text: str) -> str:
    return f"({text})" if text.startswith("-") else text


TOPIC = Topic(
    "update",
    "one update by hand",
    "One update by hand: the perceptron with labels -1 and +1, or the delta rule with a threshold.",
    _draw,
    _solve,
)
