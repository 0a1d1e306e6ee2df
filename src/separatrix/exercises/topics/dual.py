"""The perceptron in dual form by hand: counts alpha, and ``b += y K^2`` (Lecture 003, 2.5)."""

from __future__ import annotations

from typing import Any

from separatrix.exercises.content import Table, num, points_table, vec
from separatrix.exercises.draws import Draws
from separatrix.exercises.exact import dot
from separatrix.exercises.topic import Data, Solved, Topic, check
from separatrix.text import times

_MOST_EPOCHS = 4

Steps = list[tuple[int, bool, tuple[int, ...], int]]


def _by_hand(points: Any, labels: Any, radius: int) -> tuple[Steps, bool]:
    """Return activation, update, counts and bias of each step, and whether an epoch without updates ended the run."""
    alpha, b = [0] * len(points), 0
    gram = [[int(dot(p, q)) for q in points] for p in points]
    steps: Steps = []
    for _ in range(_MOST_EPOCHS):
        quiet = True
        for i, y in enumerate(labels):
            a = sum(alpha[j] * labels[j] * gram[j][i] for j in range(len(points))) + b
            if y * a <= 0:
                alpha[i], b, quiet = alpha[i] + 1, b + y * radius**2, False
            steps.append((a, y * a <= 0, tuple(alpha), b))
        if quiet:
            return steps, True
    return steps, False


def _draw(draws: Draws) -> Data | None:
    radius, axis = draws.between(1, 3), draws.below(2)
    centre = [draws.between(-2, 2), draws.between(-2, 2)]
    ends = [tuple(c + sign * radius * (j == axis) for j, c in enumerate(centre)) for sign in (-1, 1)]
    inside = [tuple(c + draws.between(-radius, radius) for c in centre) for _ in range(2)]
    points = draws.shuffled([*ends, *inside])
    far = [sum((p - c) ** 2 for p, c in zip(x, centre, strict=True)) for x in points]
    labels = draws.shuffled([1, 1, -1, -1])
    if len(set(points)) < 4 or max(far) > radius**2:
        return None
    steps, ended = _by_hand(points, labels, radius)
    updates = sum(wrong for _, wrong, _, _ in steps)
    if not ended or len(steps) < 8 or not 2 <= updates <= 6 or max(abs(a) for a, _, _, _ in steps) > 40:
        return None
    return {"points": tuple(points), "labels": tuple(labels), "radius": radius, "centre": tuple(centre)}


def _solve(data: Data) -> Solved:
    from separatrix.insight.enclosing_ball import enclosing_ball
    from separatrix.loop.problem import Problem
    from separatrix.loop.solve import solve
    from separatrix.observers import StepRecorder
    from separatrix.rules import RULES
    from separatrix.stops import MaxEpochs, NoMistakes

    points, labels, radius = data["points"], data["labels"], data["radius"]
    ball: Any = enclosing_ball(points)
    check(abs(ball.radius - radius) < 1e-5, f"the ball of {data}")
    recorder = StepRecorder()
    solution = solve(
        Problem.from_exact(points, labels, bias=radius), RULES["perceptron"](), engine="reference",
        stop=NoMistakes() | MaxEpochs(_MOST_EPOCHS), observers=[recorder],
    )  # fmt: skip
    steps, _ = _by_hand(points, labels, radius)
    alpha, b = steps[-1][2], steps[-1][3]
    check([(s.activation, s.updated, s.bias) for s in recorder.steps] == [(a, u, c) for a, u, _, c in steps],
          f"the steps of {data}")  # fmt: skip
    w = tuple(sum(k * y * x[j] for k, y, x in zip(alpha, labels, points, strict=True)) for j in (0, 1))
    check((*solution.weights, solution.bias) == (*w, b), f"the weights of {data}")
    check(min(y * (dot(w, x) + b) for x, y in zip(points, labels, strict=True)) > 0, f"the plane of {data}")
    statement = (
        "Train the perceptron in dual form by hand on these examples, presented in this order in every epoch. Each "
        "has a count `alpha`, 0 at the start, as is `b`. The activation `a` of the example `z` that is presented is "
        "the sum of `alpha y (x . z)` over all examples `x`, plus `b`. Where `y a <= 0`, add 1 to the count of `z` "
        "and `y K^2` to `b`, with `K` the radius of the smallest ball (here: circle) that contains the examples. "
        "Stop after an epoch without an update. What are `K`, the counts, `b`, and the weights `w` that belong to "
        "them?",
        points_table(points, labels),
    )
    gram = [[f"{i}", *(dot(p, q) for q in points)] for i, p in enumerate(points, start=1)]
    rows = [
        [step.epoch, step.index + 1, f"{labels[step.index]:+d}", a, "Yes" if updated else "No", vec(counts), bias]
        for step, (a, updated, counts, bias) in zip(recorder.steps, steps, strict=True)
    ]
    return Solved(
        statement,
        (
            f"The smallest circle has the centre `{vec(data['centre'])}` and `K = {radius}`: two examples are "
            f"opposite points of it, and no example lies outside. So `K^2 = {radius**2}`. The inner products of the "
            "examples:",
            Table.of(["example", *(str(i) for i in range(1, len(points) + 1))], gram),
            "The run:",
            Table.of(["epoch", "example", "`y`", "`a`", "update?", "new `alpha`", "new `b`"], rows, grouped=True),
            f"{times(solution.n_updates, 'update')}; epoch {solution.n_epochs} makes none, so the run ends with "
            f"`alpha = {vec(alpha)}` and `b = {num(b)}`. The weights, the sum of `alpha y x`, are `w = {vec(w)}`.",
        ),
    )


TOPIC = Topic(
    "dual",
    "the dual perceptron",
    "Train the perceptron in dual form by hand: the counts alpha, and b with the radius of the smallest ball.",
    _draw,
    _solve,
)
