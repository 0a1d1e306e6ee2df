"""Every solution of many exercises, computed again from the statement's numbers with plain fractions."""

from __future__ import annotations

import itertools
import re
from fractions import Fraction
from math import isqrt

import pytest

import separatrix as sx
from separatrix.exercises.content import Table

SEEDS = {"kkt": 6, "separable": 15, "gate": 20, "dual": 20, "scale": 20}  # of the others 60
FORMULA = re.compile(r"`([^`]*)`")


def drawn(topic, **options):
    """Yield two exercises for each of many seeds, small and huge ones."""
    for seed in [*range(SEEDS.get(topic, 60)), 2**80 + 1]:
        yield from sx.exercise(topic, seed=seed, count=2, **options)


def table(blocks, place=0):
    return [block for block in blocks if isinstance(block, Table)][place]


def text(blocks):
    return "\n".join(block for block in blocks if isinstance(block, str))


def vector(written):
    return tuple(Fraction(cell.strip()) for cell in written.strip().strip("()").split(","))


def given(blocks, name):
    """Return the number or vector that a text gives to a name: of `w = (1, 2)` (1, 2)."""
    found = re.search(rf"`(?:[^`]*[ (])?{re.escape(name)} (?:=|<-) ([^`=]*)`", text(blocks))
    assert found, (name, text(blocks))
    value = found[1]
    return vector(value) if value.startswith("(") else Fraction(value)


def shown(exercise):
    """Return the points and labels of the statement's table, as the reader sees them."""
    rows = table(exercise.statement).rows
    return [tuple(map(Fraction, row[1:-1])) for row in rows], [int(row[-1]) for row in rows]


def dot(u, v):
    return sum(p * q for p, q in zip(u, v, strict=True))


# ---------------------------------------------------------------------------------------------- traces


def presented(form, points, labels, w, b):
    """Run the algorithm of the statement; yield example, product, update, weights and bias for each step."""
    while True:
        changed = False
        for i, (x, label) in enumerate(zip(points, labels, strict=True), start=1):
            product = dot(w, x) + b
            y = (1 if label else -1) if form == "threshold" else label
            update = (label != int(product > 0)) if form == "threshold" else y * product <= 0
            before = w, b
            if update:
                w, b, changed = tuple(p + y * q for p, q in zip(w, x, strict=True)), b + y, True
            yield i, x, y, before, product, update, (w, b)
        if not changed:
            return


def seen(form, w, b):
    """Return weights and bias as the table of this form writes them."""
    return [(b, *w)] if form == "augmented" else [w, (-b if form == "threshold" else b,)]


@pytest.mark.parametrize("tie", [False, True])
def test_traces_are_those_of_the_algorithm_in_the_statement(tie):
    for exercise in drawn("trace", tie=tie):
        form = exercise.data["form"]
        points, labels = shown(exercise)
        start = given(exercise.statement[:1], "w")
        if form == "augmented":
            b, *w = start
        else:
            w, b = start, given(exercise.statement[:1], "theta" if form == "threshold" else "b")
            b = -b if form == "threshold" else b
        steps = list(presented(form, points, labels, tuple(w), b))
        head, rows = table(exercise.solution).head, table(exercise.solution).rows
        assert len(rows) == len(steps)
        assert 2 <= len(rows) // len(points) <= 4
        assert any(step[4] == 0 for step in steps) == tie
        for row, (i, x, y, before, product, update, after) in zip(rows, steps, strict=True):
            cells = dict(zip(head, row, strict=True))
            assert int(cells["example"]) == i
            assert cells["update?"] == ("Yes" if update else "No")
            if form == "augmented":
                assert vector(cells["adjusted pattern"]) == tuple(y * value for value in (1, *x))
                assert Fraction(cells["`w . x`"]) == y * product
            else:
                value = product - before[1] if form == "threshold" else product
                assert Fraction(cells["`h`" if form == "threshold" else "`a`"]) == value
            width = len(seen(form, *after))
            assert [vector(cell) for cell in row[-width:]] == [tuple(each) for each in seen(form, *after)]
        w, b = steps[-1][-1]
        final = given(exercise.solution[-1:], "w")
        assert final == ((b, *w) if form == "augmented" else w)


def test_dual_perceptrons_end_with_these_counts():
    for exercise in drawn("dual"):
        points, labels = shown(exercise)
        # The smallest circle has two of the points as ends of a diameter: the widest pair.
        far = max(dot(d, d) for p in points for q in points if (d := [a - b for a, b in zip(p, q, strict=True)]))
        radius = given(exercise.solution, "K")
        assert 4 * radius**2 == far
        centre = vector(re.search(r"centre `([^`]*)`", text(exercise.solution))[1])
        assert all(sum((a - c) ** 2 for a, c in zip(p, centre, strict=True)) <= radius**2 for p in points)
        counts, b, rows = [0] * len(points), Fraction(0), iter(table(exercise.solution, 1).rows)
        changed = True
        while changed:
            changed = False
            for i, (z, y) in enumerate(zip(points, labels, strict=True)):
                a = sum(k * t * dot(x, z) for k, t, x in zip(counts, labels, points, strict=True)) + b
                if y * a <= 0:
                    counts[i], b, changed = counts[i] + 1, b + y * radius**2, True
                row = next(rows)
                assert (Fraction(row[3]), vector(row[5]), Fraction(row[6])) == (a, tuple(counts), b)
        assert next(rows, None) is None
        w = tuple(sum(k * y * x[j] for k, y, x in zip(counts, labels, points, strict=True)) for j in (0, 1))
        assert given(exercise.solution[-1:], "w") == w


# ---------------------------------------------------------------------------------------------- single steps


def test_updates_are_right():
    for exercise in drawn("update"):
        statement, answer = exercise.statement, text(exercise.solution)
        w, x, eta = (given(statement, name) for name in ("w", "x", "eta"))
        if exercise.data["form"] == "delta":
            theta, target = given(statement, "theta"), given(statement, "t")
            h = dot(w, x)
            error = target - int(h > theta)
            new = tuple(p + eta * error * q for p, q in zip(w, x, strict=True)), theta - eta * error
            output = int(dot(new[0], x) > new[1])
            assert f"`t - y = {error}`" in answer
            if error:
                assert (given(exercise.solution, "w"), given(exercise.solution, "theta")) == new
            assert re.search(rf"output (?:is|stays) `{output}`", answer)
        else:
            b, y = given(statement, "b"), given(statement, "y")
            margin = y * (dot(w, x) + b)
            assert f"`y a = {margin} {'>' if margin > 0 else '<='} 0`" in answer
            if margin <= 0:
                new = tuple(p + eta * y * q for p, q in zip(w, x, strict=True)), b + eta * y
                assert f"`w <- w + eta y x = ({', '.join(map(str, new[0]))})`" in answer
                assert f"`b <- b + eta y = {new[1]}`" in answer
                after = y * (dot(new[0], x) + new[1])
                assert f"`y a = {after}`" in answer
                assert f"= {after - margin}`, whatever" in answer
            else:
                assert "nothing changes" in answer


def test_descents_are_right():
    for exercise in drawn("descent"):
        a, c, d = (Fraction(exercise.data[name]) for name in ("a", "c", "d"))
        x, h = given(exercise.statement, "x"), given(exercise.statement, "h")
        for row in table(exercise.solution).rows:
            assert [Fraction(cell) for cell in row[1:]] == [x, 2 * a * (x - c), a * (x - c) ** 2 + d]
            x = x - h * 2 * a * (x - c)
        factor = 1 - 2 * a * h
        answer = text(exercise.solution)
        assert f"= {factor}` in each step" in answer
        assert ("diverges" in answer, "oscillates" in answer) == (abs(factor) > 1, factor == -1)
        function = re.search(r"`f\(x\) = ([^`]*)`", text(exercise.statement))[1]
        python = re.sub(r"^(\d+) ", r"\1*", function).replace("^", "**")
        assert eval(python, {"x": Fraction(5)}) == a * (5 - c) ** 2 + d


# ---------------------------------------------------------------------------------------------- planes


def test_margins_and_bounds_are_right():
    separating = 0
    for exercise in drawn("margin"):
        points, labels = shown(exercise)
        w, b = given(exercise.statement, "w"), given(exercise.statement, "b")
        activations = [dot(w, x) + b for x in points]
        length = isqrt(int(dot(w, w)))
        assert length**2 == dot(w, w)
        rows = [[Fraction(cell) for cell in row[1:]] for row in table(exercise.solution).rows]
        assert rows == [[a, y * a, a / length] for a, y in zip(activations, labels, strict=True)]
        alpha = min(row[1] for row in rows)
        answer = text(exercise.solution)
        if alpha > 0:
            separating += 1
            assert f"functional margin is `{alpha}`, the geometric margin `{alpha / length}`" in answer
            bound = (max(dot(x, x) for x in points) + 1) * (dot(w, w) + b * b) / alpha**2
            assert f"= {bound}` mistakes" in answer
            assert (f"so at most `{int(bound)}`" in answer) == (bound.denominator > 1)
            if separating <= 20:
                assert sx.trace(points, labels, max_iter=1000).n_updates <= bound
        else:
            assert "Both margins are `-inf`" in answer
    assert 60 < separating < 122


def test_gates_have_these_weights_or_no_weights():
    kinds = set()
    for exercise in drawn("gate"):
        rows = table(exercise.statement).rows
        wanted = {tuple(map(int, row[:-1])): int(row[-1]) for row in rows}
        assert len(wanted) == len(rows) == 2 ** len(next(iter(wanted)))
        answer = text(exercise.solution)
        kinds.add("none" in answer)
        if "One answer" in answer:
            w, theta = given(exercise.solution, "w"), given(exercise.solution, "theta")
            assert all(int(dot(w, x) > theta) == t for x, t in wanted.items())
        else:
            left, right, total = re.search(r"The proof: `(.*?)`", answer)[1].split(" = ")
            pairs = [[vector(each) for each in side.split(" + ")] for side in (left, right)]
            assert [[wanted[x] for x in pair] for pair in pairs] == [[1, 1], [0, 0]]
            assert [tuple(map(sum, zip(*pair, strict=True))) for pair in pairs] == [vector(total)] * 2
    assert kinds == {True, False}


def test_separability_is_proved():
    verdicts = set()
    for exercise in drawn("separable"):
        points, labels = shown(exercise)
        answer = text(exercise.solution)
        verdicts.add(answer[:2])
        if answer.startswith("Yes"):
            w, b = given(exercise.solution, "w"), given(exercise.solution, "b")
            margins = [y * (dot(w, x) + b) for x, y in zip(points, labels, strict=True)]
            assert min(margins) > 0
            assert [Fraction(row[2]) for row in table(exercise.solution).rows] == margins
            continue
        common = vector(re.search(r"The point `([^`]*)`", answer)[1])
        for sign in (1, -1):
            name = f"class {sign:+d}"
            combined = re.search(rf"`([^`]*)` \({re.escape(name)}\)", answer)
            if combined is None:
                place = int(re.search(rf"example (\d+) \({re.escape(name)}\)", answer)[1]) - 1
                parts = [(Fraction(1), points[place])]
            else:
                parts = [(Fraction(k), vector(x)) for k, x in re.findall(r"([\d/]+) (\([^)]*\))", combined[1])]
            assert all((x, sign) in zip(points, labels, strict=True) and k > 0 for k, x in parts)
            assert sum(k for k, _ in parts) == 1
            assert tuple(sum(k * x[j] for k, x in parts) for j in (0, 1)) == common
    assert verdicts == {"Ye", "No"}


def test_support_vectors_meet_every_condition():
    forms = set()
    for exercise in drawn("kkt"):
        form, price = exercise.data["form"], exercise.data["C"]
        forms.add(form)
        points, labels = shown(exercise)
        where = exercise.solution if form == "find" else exercise.statement
        w, b = given(where, "w"), given(where, "b")
        rows = table(exercise.solution).rows
        alpha = [Fraction(row[-1]) for row in rows]
        margins = [y * (dot(w, x) + b) for x, y in zip(points, labels, strict=True)]
        assert [Fraction(row[1]) for row in rows] == margins
        assert tuple(sum(a * y * x[j] for a, y, x in zip(alpha, labels, points, strict=True)) for j in (0, 1)) == w
        assert dot(alpha, labels) == 0
        for a, m in zip(alpha, margins, strict=True):
            assert (a == 0 and m > 1) or (a > 0 and m == 1) or (price is not None and a == price and m < 1)
            assert a >= 0
            assert price is None or a <= price
        support = [str(i) for i, a in enumerate(alpha, start=1) if a]
        assert re.search(r"vectors are the examples ([\d, and]*\d)", text(exercise.solution))[1] == " and ".join(
            [", ".join(support[:-1]), support[-1]]
        )
        if form == "soft":
            slack = [max(Fraction(0), 1 - m) for m in margins]
            assert [Fraction(row[2]) for row in rows] == slack
            value = dot(w, w) / 2 + price * sum(slack)
            assert text(exercise.solution).count(f"= {value}`") == 2
        else:
            assert f"`|w|^2 = {dot(w, w)}`" in text(exercise.solution)
            assert sum(alpha) == dot(w, w)
    assert forms == {"hard", "find", "soft"}


def test_scaled_models_are_the_same_in_the_original_units():
    for exercise in drawn("scale"):
        rows = [tuple(map(Fraction, row[1:])) for row in table(exercise.statement).rows]
        w, b = given(exercise.statement, "w"), given(exercise.statement, "b")
        lows, highs = ([pick(column) for column in zip(*rows, strict=True)] for pick in (min, max))
        scaled = [tuple((x - p) / (q - p) for x, p, q in zip(row, lows, highs, strict=True)) for row in rows]
        answers = [[Fraction(cell) for cell in row[1:]] for row in table(exercise.solution).rows]
        assert answers == [[*x, dot(w, x) + b] for x in scaled]
        answer = text(exercise.solution)
        found = [Fraction(re.search(rf"`w{j}' =(?: [^`]* =)? (\S+(?: / \d+)?)`", answer)[1].replace(" ", ""))
                 for j in (1, 2)]  # fmt: skip
        bias = Fraction(re.search(r"`b' = [^`]* = ([^`]*)`", answer)[1])
        assert [dot(found, row) + bias for row in rows] == [row[-1] for row in answers]


def test_every_topic_is_tested_here():
    from separatrix.exercises.topics import topics

    assert set(topics()) == {
        "descent", "dual", "gate", "kkt", "margin", "scale", "separable", "trace", "update",
    }  # fmt: skip


def test_a_gate_without_weights_is_no_threshold_function():
    """Search all small weights: for three inputs those up to 2, with halves as thresholds, give every gate there is."""
    square = list(itertools.product((0, 1), repeat=3))
    possible = set()
    for *w, theta in itertools.product(range(-2, 3), range(-2, 3), range(-2, 3), range(-9, 10)):
        possible.add(tuple(int(2 * dot(w, x) > theta) for x in square))
    assert len(possible) == 104
    for exercise in sx.exercise("gate", count=30):
        if len(exercise.data["outputs"]) == 8:
            assert (exercise.data["outputs"] in possible) == ("One answer" in text(exercise.solution))
