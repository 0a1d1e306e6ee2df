"""Certificates: right verdicts, honest brackets, and no forgery that verify accepts."""

from __future__ import annotations

import dataclasses
import json
import math
import time
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from test_exact_decision import by_alternatives, degenerate_problem, signed_rows

import separatrix as sx
from separation_data import endometrial, lizards
from separatrix.certificates import certifying, integers
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certifying import certify_task
from separatrix.certificates.data import binary_data, read
from separatrix.certificates.multiclass import Certificates, from_json
from separatrix.certificates.proving import prove
from separatrix.certificates.witness import Plane, WeightedRows, Witness


def exact_sum(points, X, signs):
    """The signed, weighted sum of the points with a coordinate for the bias, in exact numbers."""
    total = [Fraction(0)] * (X.shape[1] + 1)
    for row, weight in zip(points.rows, points.weights, strict=True):
        for j, value in enumerate([*X[row].tolist(), 1.0]):
            total[j] += Fraction(weight) * int(signs[row]) * Fraction(value)
    return total


def exact_sides(plane, X, signs):
    """The exact activations on each row's own side."""
    values = [Fraction(w) for w in plane.weights]
    return [
        int(sign) * (sum(w * Fraction(v) for w, v in zip(values, row, strict=True)) + Fraction(plane.bias))
        for row, sign in zip(X.tolist(), signs, strict=True)
    ]


# ------------------------------------------------------------------------------------------------ known answers


@pytest.mark.parametrize(("name", "verdict"), [("and", "strict"), ("or", "strict"), ("xor", "none")])
def test_boolean_functions(name, verdict):
    X, y = sx.datasets.load(name)
    found = sx.certify(X, y)
    assert found.separable == verdict
    assert found.verify(X, y)
    if verdict == "strict":
        assert found.margin.lower <= 2**-1.5 <= found.margin.upper
        assert found.margin.upper - found.margin.lower < 1e-8
    else:
        assert found.margin == (0.0, 0.0)
        assert found.mistake_bound == math.inf
        assert sorted(found.witness.points.rows) == [0, 1, 2, 3]


def test_touching_hulls_are_weakly_separable():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.5, 0.0]]), np.array([0, 0, 1, 1])
    found = sx.certify(X, y)
    assert found.separable == "weak"
    assert found.margin == (0.0, 0.0)
    sides = exact_sides(found.witness.plane, X, np.where(y == 1, 1, -1))
    assert min(sides) == 0 < max(sides)
    assert not any(exact_sum(found.witness.points, X, np.where(y == 1, 1, -1)))
    assert found.verify(X, y)


def test_the_endometrial_data_are_quasi_completely_separated():
    X, y = endometrial()
    found = sx.certify(X, y)
    assert found.separable == "weak"
    assert found.verify(X, y)
    weights = np.array(found.witness.plane.weights, dtype=float)
    assert weights[0] > 0  # neovasculation alone does it
    assert np.abs(weights[1:]).max() == 0


def test_the_lizards_overlap():
    X, y = lizards()
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert found.n_contradictions > 0
    a, b = found.contradictions[0]
    assert (X[a] == X[b]).all()
    assert y[a] != y[b]
    assert found.verify(X, y)


def test_iris():
    X, y = load_iris(return_X_y=True)
    names = load_iris().target_names[y]
    found = sx.certify(X, names)
    assert isinstance(found, Certificates)
    assert {name: each.separable for name, each in found.rest.items()} == {
        "setosa": "strict", "versicolor": "none", "virginica": "none",
    }  # fmt: skip
    assert {pair: each.separable for pair, each in found.pairs.items()} == {
        ("setosa", "versicolor"): "strict", ("setosa", "virginica"): "strict", ("versicolor", "virginica"): "none",
    }  # fmt: skip
    assert found.verify(X, names)
    assert set(names[list(found.pairs["versicolor", "virginica"].witness.points.rows)]) == {"versicolor", "virginica"}
    again = from_json(found.to_json())
    assert again == found
    assert again.verify(X, names)
    assert not again.verify(X, names[::-1])
    few = list(found.rest.items())[:2]
    for forged in (
        Certificates({}, {}),
        Certificates(dict(few), found.pairs),
        Certificates(found.rest, {}),
        Certificates({**found.rest, "setosa": found.rest["virginica"]}, found.pairs),
        Certificates({**found.rest, "setosa": found.pairs["setosa", "virginica"]}, found.pairs),
        Certificates(found.rest, {**found.pairs, ("setosa", "other"): found.pairs["setosa", "virginica"]}),
    ):
        assert "one certificate for each class" in str(forged.verify(X, names))


def test_digits_are_pairwise_separable():
    X, y = load_digits(return_X_y=True)
    keep = np.isin(y, (1, 7, 8))
    found = sx.certify(X[keep], y[keep])
    assert all(each.separable == "strict" for each in found.pairs.values())
    assert all(each.margin.upper <= each.margin.lower * 1.002 for each in found.pairs.values())
    assert found.verify(X[keep], y[keep])


def test_without_an_intercept():
    X, y = np.array([[1.0], [2.0]]), [0, 1]
    assert sx.certify(X, y).separable == "strict"
    found = sx.certify(X, y, fit_intercept=False)
    assert found.separable == "none"
    assert found.witness.points.rows == (0, 1)
    assert found.witness.points.weights == (2, 1)
    assert found.verify(X, y)
    assert sx.certify([[0.0], [1.0]], [0, 1], fit_intercept=False).separable == "weak"


def test_the_largest_margin_is_the_hard_margin_solvers():
    data = sx.datasets.separable(200, 5, margin=0.05, random_state=3)
    found = sx.certify(data.X, data.y, tol=1e-6)
    low, high = sx.LinearSVM(C=np.inf, tol=1e-8).fit(data.X, data.y).margin_bracket_
    assert found.margin.lower <= high
    assert found.margin.upper >= low
    assert found.margin.upper - found.margin.lower <= 2e-6 * found.margin.upper


def test_the_mistake_bound_holds_and_is_one_theorem_in_three_notations():
    data = sx.datasets.separable(300, 4, margin=0.05, random_state=0)
    found = sx.certify(data.X, data.y)
    for seed in range(5):
        model = sx.Perceptron(random_state=seed).fit(data.X, data.y)
        assert model.n_updates_ <= found.mistake_bound
    assert [form.lecture for form in found.mistake_forms] == ["Lecture 000", "Lecture 001", "Lecture 003"]
    numbers = [float(eval(form.numbers.replace("^", "**"))) for form in found.mistake_forms]  # as they are printed
    assert numbers == pytest.approx([found.mistake_bound] * 3, rel=2e-3)
    signs = np.where(data.y == 1, 1, -1)
    activations = exact_sides(found.witness.plane, data.X, signs)
    square = max(sum(Fraction(v) ** 2 for v in row) + 1 for row in data.X.tolist())
    length = sum(Fraction(v) ** 2 for v in (*found.witness.plane.weights, found.witness.plane.bias))
    truth = square * length / min(activations) ** 2
    assert truth <= Fraction(found.mistake_bound) <= truth * Fraction(1.0 + 1e-6)


def test_capacity():
    few = sx.certify([[0.0, 1.0], [1.0, 0.0], [2.0, 2.0]], [0, 1, 1])
    assert few.capacity.dimension == 3
    assert few.capacity.chance == 1.0
    assert "separability says nothing here" in str(few.capacity)
    many = sx.certify(*sx.datasets.load("and"))
    assert many.capacity.chance == 14 / 16  # all Boolean functions of two inputs but XOR and its opposite
    assert str(many.capacity).endswith("in general position, and 14 of the 16 labellings of 4")
    large = sx.certify(np.eye(3)[[0, 1, 2] * 9], [0, 1, 1] * 9)
    assert "of all labellings of 27" in str(large.capacity)


@pytest.mark.parametrize("block", range(20))
def test_two_thousand_small_problems_are_decided_as_by_an_exact_program(block):
    rng = np.random.default_rng([5, block])
    done = 0
    while done < 100:
        X, signs, bias = degenerate_problem(rng)
        if len(set(signs)) < 2:
            continue
        done += 1
        found = sx.certify(X, signs, fit_intercept=bias, random_state=block)
        assert found.separable == by_alternatives(signed_rows(X, signs, bias))
        assert found.verify(X, signs)


# ------------------------------------------------------------------------------------------------ brackets


@given(st.integers(0, 10_000))
def test_brackets_hold_in_exact_numbers(seed):
    random = np.random.default_rng(seed)
    n, d = int(random.integers(2, 30)), int(random.integers(1, 5))
    X = random.normal(size=(n, d)).astype(random.choice([np.float32, np.float64]))
    y = (X @ random.normal(size=d) + 0.3 * random.normal(size=n) * random.integers(0, 2) > 0).astype(int)
    if len(set(y)) < 2:
        return
    found = sx.certify(X, y)
    assert found.separable is not None
    assert found.verify(X, y)
    assert found.verify(sparse.csr_array(X), y)
    signs = np.where(y == 1, 1, -1)
    if found.separable == "strict":
        plane = found.witness.plane
        square = sum(Fraction(w) ** 2 for w in plane.weights)
        assert min(exact_sides(plane, X, signs)) ** 2 >= Fraction(found.margin.lower) ** 2 * square
        shares = np.zeros(n)
        shares[list(found.witness.points.rows)] = found.witness.points.weights
        means = []
        for sign in (1, -1):
            mine = signs == sign
            total = sum(Fraction(v) for v in shares[mine])
            parts = [Fraction(share) / total for share in shares[mine]]
            means.append(
                [sum(p * Fraction(float(v)) for p, v in zip(parts, column, strict=True)) for column in X[mine].T]
            )
        distance = sum((a - b) ** 2 for a, b in zip(*means, strict=True)) / 4
        assert distance <= Fraction(found.margin.upper) ** 2
    else:
        assert not any(exact_sum(found.witness.points, X, signs))


def test_a_time_limit_leaves_an_honest_bracket():
    random = np.random.default_rng(0)
    X = random.normal(size=(20_000, 60))
    y = (X @ random.normal(size=60) > 0).astype(int)
    found = sx.certify(X, y, time_limit=1e-6)
    assert found.margin.lower <= found.margin.upper
    assert found.verify(X, y)
    assert found.separable in (None, "strict")
    assert "not decided" in str(sx.certify(X, np.where(random.random(20_000) < 0.1, 1 - y, y), time_limit=1e-6))


def test_wide_data_that_are_not_separable_by_much():
    random = np.random.default_rng(1)
    X = sparse.random_array((60, 4000), density=0.01, rng=random, format="csr")
    X = sparse.vstack([X, X[:1]]).tocsr()
    y = np.append(random.integers(0, 2, 60), 0)
    y[0] = 1
    found = sx.certify(X, y)
    assert found.separable is None
    assert found.margin == (0.0, 0.0)
    assert found.contradictions == ((0, 60),)
    assert "not strictly separable" in str(found)
    assert found.verify(X, y)
    assert found.verify(X.toarray(), y)


def test_the_seed_decides_and_the_bracket_closes_over_time():
    data = sx.datasets.separable(5000, 20, margin=0.02, random_state=1)
    one, two = (sx.certify(data.X, data.y, random_state=7) for _ in range(2))
    assert one == two
    times, lows, highs = zip(*one.history, strict=True)
    assert list(times) == sorted(times)
    assert len(times) > 3
    assert highs[0] > 1.001 * highs[-1]
    assert all(low <= one.margin.upper for low in lows)


# ------------------------------------------------------------------------------------------------ forgery


def cases():
    data = sx.datasets.separable(60, 3, margin=0.05, random_state=2)
    yield "strict", data.X, data.y
    yield "weak", *endometrial()
    X, y = load_iris(return_X_y=True)
    yield "none", X[50:], y[50:]


CASES = {name: (X, y, sx.certify(X, y)) for name, X, y in cases()}


def bent(value):
    """Other values, some of them only a little different."""
    if value is None:
        others = ["strict", "none"]
    elif isinstance(value, bool):
        others = [not value]
    elif isinstance(value, str):
        others = ["weak", "none", "0" * 24]
    elif isinstance(value, int):
        others = [value + 1, 0]
    elif math.isinf(value):
        others = [1e6]
    else:
        others = [value * (1 + 1e-6), value * (1 - 1e-6), value + 1.0, 1e-9]
    return [other for other in others if other != value]


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "field",
    ["separable", "radius", "mistake_bound", "positive", "negative", "fit_intercept", "n_contradictions", "data"],
)
def test_every_field_is_checked(name, field):
    X, y, found = CASES[name]
    assert found.verify(X, y)
    for value in bent(getattr(found, field)):
        forged = dataclasses.replace(found, **{field: value})
        check = forged.verify(X, y)
        assert not check, (field, value)
        assert str(check).startswith("rejected: ")


@pytest.mark.parametrize("name", CASES)
def test_margin_and_capacity_are_checked(name):
    X, y, found = CASES[name]
    for side in ("lower", "upper"):
        for value in bent(getattr(found.margin, side)):
            forged = dataclasses.replace(found, margin=found.margin._replace(**{side: value}))
            assert not forged.verify(X, y), (side, value)
    for part in ("n", "d", "dimension"):
        for value in bent(getattr(found.capacity, part)):
            capacity = dataclasses.replace(found.capacity, **{part: value})
            assert not dataclasses.replace(found, capacity=capacity).verify(X, y), (part, value)
    for pairs in (((0, 1),), ((0, 0),), ((10**9, 1),)):
        assert not dataclasses.replace(found, contradictions=pairs).verify(X, y)


def forge(found, **changes):
    return dataclasses.replace(found, witness=dataclasses.replace(found.witness, **changes))


@pytest.mark.parametrize("name", ["weak", "none"])
def test_whole_weights_off_by_one_are_rejected(name):
    X, y, found = CASES[name]
    points = found.witness.points
    for k in range(len(points.rows)):
        for change in (1, -1, -points.weights[k], -2 * points.weights[k]):
            weights = list(points.weights)
            weights[k] += change
            assert not forge(found, points=WeightedRows(points.rows, tuple(weights))).verify(X, y)
    for rows in (points.rows[1:], (points.rows[0], *points.rows), tuple(row + 1 for row in points.rows)):
        weights = (points.weights * 2)[: len(rows)]
        assert not forge(found, points=WeightedRows(rows, weights)).verify(X, y)
    assert not forge(found, points=None).verify(X, y)
    assert not forge(found, points=WeightedRows((), ())).verify(X, y)
    floats = WeightedRows(points.rows, tuple(float(weight) for weight in points.weights))
    assert not forge(found, points=floats).verify(X, y)


def test_a_weak_plane_off_by_one_is_rejected():
    X, y, found = CASES["weak"]
    plane = found.witness.plane
    values = [*plane.weights, plane.bias]
    for k in range(len(values)):
        for factor, change in ((1, 1), (1, -1), (10**30, 1), (10**30, -1)):
            bent_values = [value * factor + (change if j == k else 0) for j, value in enumerate(values)]
            forged = forge(found, plane=Plane(tuple(bent_values[:-1]), bent_values[-1]))
            if min(exact_sides(forged.witness.plane, X, np.where(y == 1, 1, -1))) < 0:
                assert not forged.verify(X, y)
    nearly = np.nextafter(np.array(values, dtype=float), np.inf)
    assert not forge(found, plane=Plane(tuple(nearly[:-1].tolist()), float(nearly[-1]))).verify(X, y)
    assert not forge(found, plane=Plane((0,) * len(plane.weights), 1)).verify(X, y)
    assert not forge(found, plane=Plane(plane.weights[:-1], plane.bias)).verify(X, y)
    assert not forge(found, plane=None).verify(X, y)


def test_numbers_that_do_not_belong_together_prove_nothing():
    X, y, found = CASES["strict"]
    plane, points = found.witness.plane, found.witness.points
    for weights in ((10**400, *plane.weights[1:]), (True, *plane.weights[1:]), (np.float64(1.0), *plane.weights[1:])):
        assert not forge(found, plane=Plane(weights, plane.bias)).verify(X, y)
        assert not forge(found, points=WeightedRows(points.rows, (*weights[:1], *points.weights[1:]))).verify(X, y)
    assert not forge(found, points=WeightedRows(tuple(row + 60 for row in points.rows), points.weights)).verify(X, y)


def test_a_strict_plane_that_misses_a_row_is_rejected():
    X, y, found = CASES["strict"]
    plane = found.witness.plane
    for bias in (plane.bias + 10.0, math.nan, math.inf):
        assert not forge(found, plane=Plane(plane.weights, bias)).verify(X, y)
    flipped = tuple(-weight for weight in plane.weights)
    assert not forge(found, plane=Plane(flipped, -plane.bias)).verify(X, y)
    points = found.witness.points
    for weights in ([-w for w in points.weights], [math.nan] * len(points.rows), [math.inf] * len(points.rows)):
        assert not forge(found, points=WeightedRows(points.rows, tuple(weights))).verify(X, y)
    heavier = tuple(w * (1 + 0.5 * (k == 0)) for k, w in enumerate(points.weights))
    assert not forge(found, points=WeightedRows(points.rows, heavier)).verify(X, y)


@pytest.mark.parametrize("name", CASES)
def test_other_data_are_rejected(name):
    X, y, found = CASES[name]
    for other in (
        (X[:-1], y[:-1]),
        (np.vstack([X, X[:1]]), np.append(y, y[0])),
        (X[::-1].copy(), y[::-1]),
        (X[:, ::-1].copy(), y),
        (np.hstack([X, X[:, :1]]), y),
        (np.where(np.arange(X.size).reshape(X.shape) == 5, np.nextafter(X, np.inf), X), y),
        (X, np.roll(y, 1)),
        (X, ["a" if label == y[0] else "b" for label in y]),
        (X, [y[0]] * len(y)),
    ):
        check = found.verify(*other)
        assert not check
        assert check.problems


# ------------------------------------------------------------------------------------------------ JSON


@pytest.mark.parametrize("name", CASES)
def test_json_brings_back_the_same_certificate(name):
    X, y, found = CASES[name]
    text = found.to_json()
    assert Certificate.from_json(text) == found
    assert from_json(text).verify(X, y)
    assert json.loads(text)["separable"] == name


@pytest.mark.parametrize("name", CASES)
def test_no_damaged_json_passes(name):
    X, y, found = CASES[name]
    whole = json.loads(found.to_json())

    def leaves(node, path=()):
        if isinstance(node, dict | list):
            for key, value in node.items() if isinstance(node, dict) else enumerate(node):
                yield from leaves(value, (*path, key))
        yield path

    for path in leaves(whole):
        for value in (None, "x", -1, 1e308, [], {}, True, math.nan, [[1]], "9" * 50, "-0x"):
            damaged = json.loads(json.dumps(whole))
            if path:
                node = damaged
                for key in path[:-1]:
                    node = node[key]
                if node[path[-1]] == value and type(node[path[-1]]) is type(value):
                    continue
                node[path[-1]] = value
            else:
                damaged = value
            try:
                read = from_json(json.dumps(damaged))
            except ValueError:
                continue
            if path[:2] == ("witness", "plane") and name == "weak" and value == "9" * 50:
                continue  # the same plane in another scale
            assert read == found or not read.verify(X, y), (path, value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[" * 100_000, "nested too deeply"),
        ("[]", "not a separatrix certificate"),
        ('{"format": "separatrix certificate", "version": 2}', "version 2"),
        ('{"format": "separatrix certificate", "version": 1}', "no field 'separable'"),
        ("1" * 5000, "too many digits"),
        ("[Infinity]", "a NaN or an infinity"),
    ],
)
def test_what_is_no_certificate_gets_a_sentence(text, message):
    with pytest.raises(ValueError, match=message):
        from_json(text)


def test_reading_says_which_field_is_wrong():
    fields = json.loads(CASES["none"][2].to_json())
    for name, value, message in (
        ("separable", "maybe", "separable must be"),
        ("margin", [0, 0], "margin must be an object"),
        ("fit_intercept", 1, "fit_intercept must be"),
        ("contradictions", [[1]], "pairs of rows"),
        ("positive", None, "positive must be a label"),
        ("witness", {"plane": None, "points": {"rows": [0.5], "weights": [1]}}, "rows must be a nonnegative integer"),
        ("witness", {"plane": None, "points": {"rows": [0], "weights": ["1e5"]}}, "integers as text"),
        ("witness", {"plane": {"weights": [1]}, "points": None}, "no field 'bias'"),
        ("witness", {"plane": {"weights": [10**400, 1], "bias": 1}, "points": None}, "too large for a number"),
        ("surprise", 1, "unknown field 'surprise'"),
    ):
        with pytest.raises(ValueError, match=message):
            from_json(json.dumps({**fields, name: value}))


# ------------------------------------------------------------------------------------------------ bad and odd input


def test_contradictory_duplicates_are_named():
    X = [[0.0, 1.0], [2.0, 3.0], [0.0, 1.0], [2.0, 3.0], [5.0, 5.0]]
    found = sx.certify(X, [0, 0, 1, 1, 1])
    assert found.separable == "weak"
    assert found.contradictions == ((0, 2), (1, 3))
    assert "different labels: 0 and 2; 1 and 3" in found.explain()
    alike = sx.certify([[1.0], [1.0]], ["a", "b"])
    assert alike.separable == "none"
    assert alike.verify([[1.0], [1.0]], ["a", "b"])


def test_minus_zero_is_zero():
    assert sx.certify([[0.0], [-0.0], [1.0]], [0, 1, 1]).contradictions == ((0, 1),)


@pytest.mark.parametrize("scale", [1e300, 1e-300, 5e-324, 1e160, 1e-160, 1.0])
@pytest.mark.parametrize(("labels", "verdict"), [((0, 0, 1, 1), "strict"), ((0, 1, 0, 1), "none")])
def test_extreme_scales(scale, labels, verdict):
    X = np.array([[0.0], [1.0], [2.0], [3.0]]) * scale
    found = sx.certify(X, labels)
    assert found.separable == verdict
    assert found.verify(X, labels)
    if verdict == "strict":
        assert found.margin.lower <= 0.5 * scale <= found.margin.upper
        assert found.margin.lower > 0 or scale == 5e-324  # the margin is half the least float


def test_columns_of_very_different_size():
    X = np.array([[1e300, 1e-300], [-1e300, 1e-300], [1e300, -1e-300], [-1e300, -1e-300]])
    assert sx.certify(X, [1, 0, 1, 0]).separable == "strict"
    found = sx.certify(X, [1, 1, 0, 0])
    assert found.separable == "strict"
    assert found.verify(X, [1, 1, 0, 0])
    assert sx.certify(X, [1, 0, 0, 1]).separable == "none"


def test_one_unit_in_the_last_place_separates():
    X = np.array([[1.0], [np.nextafter(1.0, 2.0)]])
    found = sx.certify(X, [0, 1])
    assert found.separable == "strict"
    assert 0 < found.margin.lower <= 2.0**-53 <= found.margin.upper
    assert found.verify(X, [0, 1])
    far = np.array([[1.7e18, 3.0], [1.7e18 + 256, -1.0], [1.7e18 + 512, 3.0], [1.7e18 + 768, -1.0]])
    found = sx.certify(far, [0, 0, 1, 1])
    assert found.separable == "strict"
    assert found.verify(far, [0, 0, 1, 1])


def test_whole_numbers_that_no_float_holds_are_refused():
    big = 2**53
    assert sx.certify(np.array([[big], [big + 2]]), [0, 1]).separable == "strict"
    for X in (
        np.array([[1], [big + 1]]),
        [[0.5], [big + 1]],
        np.array([[1], [np.int64(big + 1)]], dtype=object),
        [[1], [Fraction(1, 3)]],
        [[1], [Decimal("0.1")]],
        *([[[1], [np.longdouble(1) / 3]]] if np.finfo(np.longdouble).nmant > 52 else []),
        pd.DataFrame({"a": [1, big + 1]}),
        pd.DataFrame({"a": [1, Fraction(1, 3)]}),
        [[1], [big + 1]],
        np.array([[1], [2**64 - 1]], dtype=np.uint64),
        [[1], [10**400]],
    ):
        with pytest.raises(ValueError, match="row 1, column 0, which is not exactly a 64-bit float"):
            sx.certify(X, [0, 1])
    for layout in (sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.lil_array, sparse.dok_array):
        with pytest.raises(ValueError, match="row 1, column 0, which is not exactly a 64-bit float"):
            sx.certify(layout(np.array([[1, 0], [big + 1, 3]])), [0, 1])
    twice = sparse.coo_array(([1, big, 1], ([0, 1, 1], [0, 0, 0])), shape=(2, 1))
    with pytest.raises(ValueError, match="row 1, column 0, which is not"):
        sx.certify(twice, [0, 1])
    assert twice.nnz == 3
    assert sx.certify([[Fraction(1, 2)], [Decimal("0.25")]], [0, 1]).separable == "strict"
    with pytest.raises(ValueError, match="masked"):
        sx.certify(np.ma.masked_values([[1.0], [2.0]], 2.0), [0, 1])


def test_constant_features_and_a_single_row_of_each_class():
    found = sx.certify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0]], [0, 1])
    assert found.separable == "strict"
    assert found.margin.lower <= 0.5 <= found.margin.upper
    none = sx.certify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0], [7.0, 3.0, 0.0]], [0, 1, 0])
    assert none.separable == "none"
    assert none.verify([[7.0, 1.0, 0.0], [7.0, 2.0, 0.0], [7.0, 3.0, 0.0]], [0, 1, 0])


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([[1.0], [2.0]], [1, 1]), {}, ValueError, "found only the class 1"),
        (([[1.0], [math.nan]], [0, 1]), {}, ValueError, "NaN in row 1, column 0"),
        (([[1.0], [math.inf]], [0, 1]), {}, ValueError, "infinity in row 1, column 0"),
        (([[1.0], [2.0]], [0, 1, 1]), {}, ValueError, "differ in length"),
        ((np.empty((0, 2)), []), {}, ValueError, "0 sample"),
        (([["a"], ["b"]], [0, 1]), {}, ValueError, "'a' in row 0"),
        (([[1.0], [2.0]], [0, 1]), {"tol": 0}, ValueError, "tol must be"),
        (([[1.0], [2.0]], [0, 1]), {"tol": "x"}, ValueError, "tol must be"),
        (([[1.0], [2.0]], [0, 1]), {"time_limit": -1}, ValueError, "time_limit must be"),
        (([[1.0], [2.0]], [0, 1]), {"fit_intercept": "yes"}, TypeError, "fit_intercept must be"),
    ],
)
def test_bad_input_gets_a_sentence(arguments, options, error, message):
    with pytest.raises(error, match=message):
        sx.certify(*arguments, **options)


def test_the_largest_floats_and_badly_scaled_features():
    for X in ([[1.7e308] * 2, [-1.7e308] * 2], [[1.79e308, 0.0], [-1.79e308, 1.0]]):
        found = sx.certify(X, [0, 1])
        assert found.separable == "strict"
        assert found.verify(X, [0, 1])
        assert found.explain()
    X, y = load_breast_cancer(return_X_y=True)
    found = sx.certify(X, y)
    assert found.separable == "strict"
    assert 4.1e-5 < found.margin.lower <= found.margin.upper < 4.2e-5
    assert found.margin.upper <= 1.002 * found.margin.lower
    assert found.verify(X, y)


def test_whole_weights_of_any_length_can_be_shown_and_written():
    random = np.random.default_rng(0)
    X, y = random.normal(size=(900, 260)), random.integers(0, 2, 900)
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert max(found.witness.points.weights).bit_length() > 14_300  # more digits than Python writes
    assert "0x" in repr(found)
    assert Certificate.from_json(found.to_json()) == found
    assert found.verify(X, y)
    assert found.explain()


def test_frames_and_lists_and_text_labels():
    frame = pd.DataFrame({"a": [0, 1, 2, 3], "b": [0.5, 0.5, 1.5, 1.5]})
    found = sx.certify(frame, ["no", "no", "yes", "yes"])
    assert found.separable == "strict"
    assert (found.positive, found.negative) == ("yes", "no")
    assert found.verify(frame.to_numpy(), ["no", "no", "yes", "yes"])
    assert Certificate.from_json(found.to_json()) == found


def test_words_and_html():
    X, y = sx.datasets.load("xor")
    found = sx.certify(X, y)
    assert "add up to exactly zero" in found.explain()
    assert "they span all others" in found.explain()
    assert "<table" in found._repr_html_()
    strict = CASES["strict"][2]
    for word in ("Lecture 000", "Lecture 001", "Lecture 003", "all rounding errors", "No plane has a margin above"):
        assert word in strict.explain()
    assert "&lt;b&gt;" in sx.certify(X, ["<b>", "a", "a", "a"])._repr_html_()


# ------------------------------------------------------------------------------------------------ what once went wrong


@pytest.mark.parametrize("center", [1e9, 1e157, 3.7085427135678394e161, 1e170, 1e200, 1e300])
def test_neighbouring_floats_far_from_the_origin(center):
    X, y = np.array([[np.nextafter(center, 0)], [np.nextafter(center, np.inf)]]), [0, 1]
    found = sx.certify(X, y)
    truth = (Fraction(X[1, 0]) - Fraction(X[0, 0])) / 2
    assert Fraction(found.margin.lower) <= truth <= Fraction(found.margin.upper)
    assert found.verify(X, y)


def test_margins_below_the_normal_floats_are_rounded_down():
    least = 5e-324
    X, y = np.array([[2 * least, 2 * least], [-2 * least, -2 * least]]), [1, 0]
    found = sx.certify(X, y, fit_intercept=False)
    assert found.separable == "strict"
    assert Fraction(found.margin.lower) ** 2 <= 8 * Fraction(least) ** 2 <= Fraction(found.margin.upper) ** 2


def test_what_is_not_finite_is_never_verified():
    for good, bad, labels, witness in (
        ([[1.0], [2.0], [-1.0]], [[1.0], [np.inf], [-1.0]], [1, 1, 0], Witness(Plane((1,), 0))),
        ([[0.0], [0.0], [1.0], [-1.0]], [[0.0], [0.0], [1.0], [np.nan]], [1, 0, 1, 0],
         Witness(Plane((1,), 0), WeightedRows((0, 1), (1, 1)))),
    ):  # fmt: skip
        rows, classes, codes = read(np.array(good), labels)
        data = binary_data(rows, classes, codes, True, 1)
        found = Certificate.of(data, witness, prove(data, witness))
        assert found.separable is not None
        assert found.verify(good, labels)
        rows, classes, codes = read(np.array(bad), labels, finite=False)
        forged = dataclasses.replace(found, data=binary_data(rows, classes, codes, True, 1).key)
        assert not forged.verify(bad, labels)


def test_numbers_that_vanish_modulo_the_primes_in_use():
    D = np.diag([float(prime) for prime in integers._MODULI])
    X, y = np.concatenate([D, -D, np.zeros((1, 3))]), [1] * 6 + [0]
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert found.verify(X, y)


def test_rows_whose_keys_agree_do_not_hide_a_contradiction():
    one, other = [6.441151958158444e-232, 1.0000008471639146], [3.4970922687076606e74, 5.042557658600514e-23]
    found = sx.certify([one, other, other], [0, 0, 1])
    assert found.contradictions == ((1, 2),)


def test_many_contradictory_pairs_that_span_everything():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 60))
    y = (X @ rng.normal(size=60) > 0).astype(int)
    X, y = np.concatenate([X, X[:70]]), np.concatenate([y, 1 - y[:70]])
    found = sx.certify(X, y)
    assert found.separable == "none"
    assert found.n_contradictions == 70
    assert set(found.witness.points.weights) == {1}
    assert found.verify(X, y)
    few = sx.certify(X[:405], y[:405])
    assert few.separable == "weak"
    assert few.verify(X[:405], y[:405])


def test_certificates_that_no_reader_could_have_made_are_rejected_not_believed():
    X, y = np.array([[0.0, 0.0], [0.0, 0.0], [1.0, 0.0], [-1.0, 0.0], [0.0, 1.0]]), [1, 0, 1, 0, 1]
    found = sx.certify(X, y)
    assert found.separable == "weak"
    forged = dataclasses.replace(found, separable="none", fit_intercept=-1)
    assert not forged.verify(X, y)
    points = found.witness.points
    halves = tuple(row + 0.5 for row in points.rows)
    for rows, weights in (
        ((2**63, 1), (1, 1)),
        (points.rows, (*points.weights, 1)),
        ((), ()),
        (halves, points.weights),
        (("a",), (1,)),
    ):
        assert not forge(found, points=WeightedRows(rows, weights)).verify(X, y)
    X, y, strict = CASES["strict"]
    upside_down = strict.margin._replace(lower=strict.margin.upper, upper=strict.margin.lower)
    assert "above margin.upper" in str(dataclasses.replace(strict, margin=upside_down).verify(X, y))


def test_a_time_limit_is_kept_where_integers_would_take_long():
    rng = np.random.default_rng(3)
    X, y = rng.standard_normal((3000, 250)), rng.integers(0, 2, 3000)
    began = time.process_time()  # of this process: other work on the machine does not count
    found = sx.certify(X, y, time_limit=0.5)
    assert time.process_time() - began < 10
    assert found.separable in (None, "none")
    assert found.verify(X, y)


def test_a_class_that_takes_long_has_the_time_that_the_others_do_not_need(monkeypatch):
    limits = []

    def task(data, tol, seed, deadline):
        limits.append(deadline - time.perf_counter())
        if data.n < 60 or limits[-1] > 0.9:  # decided at once, unless it is one class against the rest
            return certify_task(data, tol, seed, time.perf_counter() + 60.0)
        return certify_task(data, tol, seed, time.perf_counter()).with_history(((limits[-1], 0.0, 1.0),))

    monkeypatch.setattr(certifying, "certify_task", task)
    X, y = np.random.default_rng(3).normal(size=(60, 3)), np.arange(60) % 3
    made = sx.certify(X, y, time_limit=3.0)
    assert len(limits) == 9
    assert max(limits[:3]) < 0.9 < min(limits[6:])
    assert all(each.separable == "none" for each in made.all)
