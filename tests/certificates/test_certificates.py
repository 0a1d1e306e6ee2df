"""Certificates: right verdicts and honest brackets."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_digits, load_iris
from test_exact_decision import by_alternatives, degenerate_problem, signed_rows

import separatrix as sx
from exact_separation import exact_sides, exact_sum
from separation_data import endometrial, lizards
from separatrix.certificates.multiclass import Certificates, from_json

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
