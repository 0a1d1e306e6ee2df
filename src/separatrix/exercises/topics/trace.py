"""Trace a perceptron by hand: the tables of Lectures 000, 001 and 004."""

from __future__ import annotations

from typing import Any

from separatrix.exercises.content import Table, linear, num, points_table, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.topic import Data, Solved, Topic, check
from separatrix.text import times

_FORMULAS = {
    "w x": "`w . x`", "a": "`a`", "h": "`h`", "b": "`b`", "y": "`y`", "t": "`t`", "theta": "`theta`",
    "new b": "new `b`", "new theta": "new `theta`",
}  # fmt: skip
_VIEWS: dict[str, dict[str, Any]] = {
    "augmented": {"augmented": True, "flipped": True},  # Lecture 000
    "bias": {},  # Lecture 001
    "threshold": {"threshold": True, "labels": "01"},  # Lecture 004
}
_MOST_EPOCHS = 4


def _by_hand(data: Data) -> tuple[list[tuple[int, bool, tuple[int, int], int]], bool]:
    """Return product, update, weights and bias of each step, and whether an epoch without updates ended the run."""
    (w1, w2), b = data["start"]
    neuron = data["form"] == "threshold"
    steps = []
    for _ in range(_MOST_EPOCHS):
        quiet = True
        for (x1, x2), y in zip(data["points"], data["labels"], strict=True):
            activation = w1 * x1 + w2 * x2 + b
            wrong = (activation > 0) != (y > 0) if neuron else y * activation <= 0
            if wrong:
                w1, w2, b, quiet = w1 + y * x1, w2 + y * x2, b + y, False
            steps.append((activation, wrong, (w1, w2), b))
        if quiet:
            return steps, True
    return steps, False


def _draw(draws: Draws, *, tie: bool = False) -> Data | None:
    points = draws.points(4, -2, 3)
    labels = draws.shuffled([1, 1, -1, -1]) if draws.below(2) else draws.shuffled([1, 1, 1, -1])
    if draws.below(4) == 0:
        labels = [-y for y in labels]
    w = draws.between(-1, 1), draws.between(-1, 1)
    data: Data = {
        "form": draws.one_of(tuple(_VIEWS)),
        "points": tuple(points),
        "labels": tuple(labels),
        "start": (w, draws.between(-1, 1)),
    }
    steps, ended = _by_hand(data)
    updates = sum(wrong for _, wrong, _, _ in steps)
    ties = sum(activation == 0 for activation, _, _, _ in steps)
    weights = [abs(value) for _, _, w, b in steps for value in (*w, b)]
    suits = ended and len(steps) >= 8 and 2 <= updates <= 6 and max(weights) <= 6 and any(w) and any(steps[-1][2])
    return data if suits and (ties > 0) == tie else None


def _solve(data: Data) -> Solved:
    from separatrix.insight.trace import trace

    form, points, labels = data["form"], data["points"], data["labels"]
    (w1, w2), b = data["start"]
    run = trace(
        points, labels, start=data["start"], boundary="negative" if form == "threshold" else "mistake",
        max_iter=_MOST_EPOCHS, **_VIEWS[form],
    )  # fmt: skip
    steps, _ = _by_hand(data)
    check([(s.activation, s.updated, s.weights, s.bias) for s in run] == steps, f"the steps of {data}")
    final_activations = [dot(run.weights, x) + run.bias for x in points]
    correct = [
        (a > 0) == (y > 0) and (a != 0 or form == "threshold") for a, y in zip(final_activations, labels, strict=True)
    ]
    check(all(correct), f"the last plane of {data}")
    shown = [(y > 0) * 1 for y in labels] if form == "threshold" else labels
    ask = "Write one row for each example that is presented. Give the final weights and the equation of the boundary."
    if form == "augmented":
        task = (
            f"Trace the perceptron by hand on these {len(points)} examples, presented in this order in every epoch. "
            "Put a 1 in front of each pattern, and change the sign of the patterns of class -1. Start at `w = "
            f"{vec((b, w1, w2))}` with `eta = 1`; where `w . x <= 0`, update `w <- w + x`. Stop after an epoch "
            "without an update. "
        )
    elif form == "bias":
        task = (
            f"Trace the perceptron by hand on these {len(points)} examples, presented in this order in every epoch. "
            f"Start at `w = {vec((w1, w2))}`, `b = {num(b)}`. With the activation `a = w . x + b`, update `w <- w + y "
            "x` and `b <- b + y` where `y a <= 0`. Stop after an epoch without an update. "
        )
    else:
        task = (
            f"Train a threshold neuron by hand on these {len(points)} examples, presented in this order in every "
            f"epoch. It fires (`y = 1`) where `h = w . x > theta`. Start at `w = {vec((w1, w2))}`, `theta = "
            f"{num(-b)}` with `eta = 1`; update `w <- w + (t - y) x` and `theta <- theta - (t - y)`. Stop after an "
            "epoch without an update. "
        )
    head = [_FORMULAS.get(name, name) for name in run.header()]
    line = f"`{linear(run.weights, run.bias)} = 0`"
    if form == "augmented":
        final = f"`w = {vec((run.bias, *run.weights))}`"
    else:
        last = f"theta = {num(-run.bias)}" if form == "threshold" else f"b = {num(run.bias)}"
        final = f"`w = {vec(run.weights)}`, `{last}`"
    zero = " A product of exactly 0 occurs: it counts as a mistake." if any(s.activation == 0 for s in run) else ""
    if zero and form == "threshold":
        zero = " A tie `h = theta` occurs: the neuron does not fire there."
    return Solved(
        (task + ask, points_table(points, shown, "t" if form == "threshold" else "y")),
        (
            Table.of(head, run.rows(), grouped=True),
            f"{times(run.n_updates, 'update')}; epoch {run.n_epochs} makes none, so the run ends.{zero}",
            f"Final weights: {final}. The boundary is {line}.",
        ),
    )


TOPIC = Topic(
    "trace",
    "trace a perceptron",
    "Trace a perceptron or a threshold neuron by hand until an epoch makes no mistakes (2 to 4 epochs).",
    _draw,
    _solve,
    options=("tie",),
)
