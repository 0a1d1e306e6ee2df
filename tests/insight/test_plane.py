"""A plane that the user gives: the lectures' numbers, exact arithmetic against floats, and what is refused."""

from __future__ import annotations

import math
import pickle
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix import datasets
from separatrix.rules.losses import LOSSES

HALF = Fraction(1, 2)


def test_lecture_000_the_boundary_of_the_worked_example():
    data = datasets.example("lecture-000")
    plane = sx.Plane((2, -1))
    assert str(plane) == "2 x1 - x2 = 0"
    assert plane.activation(data.X).tolist() == [1, 3, 1, -1, -3, -1]
    assert plane.side(data.X).tolist() == list(data.y)
    assert plane.margin(data.X, data.y) == 1
    assert plane.geometric_margin(data.X, data.y) == pytest.approx(1 / math.sqrt(5), rel=1e-15)
    assert plane.mistakes(data.X, data.y) == plane.criterion(data.X, data.y) == 0


def test_lecture_000_the_bound_by_hand():
    # Augmented and sign-flipped, w*.x is 1, 3, 1, 1, 3, 1; |x|^2 is 3, 3, 2, 3, 3, 2; |w*|^2 = 0 + 4 + 1.
    data = datasets.example("lecture-000")
    bound = sx.Plane((2, -1)).mistake_bound(data.X, data.y)
    assert (bound.alpha, bound.beta, bound.square, bound.k_max, bound.ratio, bound.most) == (1, 3, 5, 15, 15, 15)
    assert bound.radius == pytest.approx(math.sqrt(3))
    assert bound.gamma == pytest.approx(1 / math.sqrt(5))
    assert (bound.radius / bound.gamma) ** 2 == pytest.approx(15)
    run = sx.trace(data.X, data.y)  # from zero, as the theorem wants
    assert run.n_updates <= bound.most
    without = sx.Plane((2, -1)).mistake_bound(data.X, data.y, augmented=False)
    assert (without.beta, without.k_max) == (2, 10)


def test_lecture_001_one_update_and_the_margin_after_it():
    data = datasets.example("lecture-001")
    start = sx.Plane((1, 0))
    assert start.margin(data.X, data.y) == -math.inf
    moved = start.update(data.X[1], -1)
    assert (moved.weights, moved.bias) == ((HALF, 1), -1)
    assert all(moved.update(x, y) is moved for x, y in zip(data.X, data.y, strict=True))
    assert moved.activation(data.X).tolist() == [HALF, Fraction(-7, 4), Fraction(-5, 2), -HALF]
    assert moved.margin(data.X, data.y) == HALF
    # a'y = ay + |x|^2 + 1
    before, after = (plane.margins([data.X[1]], [-1])[0] for plane in (start, moved))
    assert after == before + HALF**2 + 1 + 1


def test_lecture_004_the_neuron_and_its_exercises():
    neuron = sx.Plane((2.5, -1, 1.5), threshold=2)
    assert (neuron.h((1, 3, 2)), neuron.fires((1, 3, 2))) == (Fraction(5, 2), 1)
    assert (neuron.h((1.5, 1, -1)), neuron.fires((1.5, 1, -1))) == (Fraction(5, 4), 0)
    neuron = sx.Plane((2.5, -3, 1.5), threshold=2)
    assert neuron.h([(-1, 2, 4), (2, -1, -2)]).tolist() == [Fraction(-5, 2), 5]
    assert neuron.fires([(-1, 2, 4), (2, -1, -2)]).tolist() == [0, 1]
    moved = neuron.delta((1, 1, 2), 0, eta=0.1)
    assert moved == sx.Plane(("2.4", "-3.1", "1.3"), threshold="2.1")
    assert moved.threshold == Fraction(21, 10)
    assert neuron.delta((1, 1, 2), 1, eta=0.1) is neuron  # its output is right


def test_a_tie_belongs_to_the_class_that_the_convention_says():
    plane = sx.Plane((1, -1))
    assert plane.side((1, 1)) == 1
    assert plane.side((1, 1), tie=-1) == -1
    assert plane.side([(1, 1)], tie=0).tolist() == [0]
    assert plane.fires((1, 1)) == 0  # Lecture 004: h > theta
    counts = {
        name: [plane.mistakes([(1, 1)], [y], boundary=name) for y in (1, -1)]
        for name in ("mistake", "correct", "positive", "negative")
    }
    assert counts == {"mistake": [1, 1], "correct": [0, 0], "positive": [0, 1], "negative": [1, 0]}
    assert plane.margin([(1, 1), (2, 0)], [1, 1]) == -math.inf
    assert not plane.mistake_bound([(1, 1), (2, 0)], [1, 1])


def test_projection_and_component_are_exact():
    plane = sx.Plane((3, 4), threshold=5)
    assert plane.norm == 5
    assert plane.distance((2, 1)) == 1
    assert plane.projection((2, 1)) == (Fraction(7, 5), Fraction(1, 5))
    scalar, vector, limit = plane.component((2, 1))
    assert (scalar, vector, limit) == (Fraction(2, 5), (Fraction(6, 5), Fraction(8, 5)), Fraction(1, 5))
    assert plane.unit() == sx.Plane((Fraction(3, 5), Fraction(4, 5)), -1)
    assert plane.scaled(-2) == sx.Plane((-6, -8), 10)


NUMBERS = st.fractions(-20, 20, max_denominator=7)


@settings(max_examples=40)
@given(st.integers(1, 4).flatmap(lambda d: st.tuples(
    st.lists(NUMBERS, min_size=d, max_size=d), NUMBERS,
    st.lists(st.lists(NUMBERS, min_size=d, max_size=d), min_size=2, max_size=5))))  # fmt: skip
def test_exact_answers_agree_with_floats_and_with_geometry(drawn):
    weights, bias, rows = drawn
    if not any(weights):
        weights[0] = Fraction(1)
    plane = sx.Plane(weights, bias)
    X, w, b = np.array(rows, dtype=float), np.array(weights, dtype=float), float(bias)
    near = {"rtol": 1e-9, "atol": 1e-9}
    np.testing.assert_allclose(plane.activation(rows).astype(float), X @ w + b, **near)
    np.testing.assert_allclose(plane.distance(rows).astype(float), (X @ w + b) / np.linalg.norm(w), **near)
    feet = plane.projection(rows)
    assert plane.activation(feet.tolist()).tolist() == [0] * len(rows)  # exactly on the plane
    offsets = np.array(rows, dtype=object) - feet
    np.testing.assert_allclose(
        np.linalg.norm(offsets.astype(float), axis=1), np.abs(plane.distance(rows).astype(float)), **near
    )
    y = [1, -1] + [1] * (len(rows) - 2)
    m = np.array(y) * (X @ w + b)
    losses = plane.losses(rows, y)
    assert set(losses) == set(LOSSES)
    np.testing.assert_allclose(float(losses["hinge"].sum), np.maximum(1 - m, 0).sum(), **near)
    np.testing.assert_allclose(float(losses["squared_hinge"].mean), (np.maximum(1 - m, 0) ** 2).mean(), **near)
    np.testing.assert_allclose(losses["log"].sum, np.logaddexp(0, -m).sum(), **near)
    np.testing.assert_allclose(losses["squared"].sum, (0.5 / (1 + np.exp(np.minimum(m, 300))) ** 2).sum(), **near)
    np.testing.assert_allclose(float(plane.criterion(rows, y)), np.maximum(-m, 0).sum(), **near)


def test_many_rows_are_floats_and_agree_with_exact_ones():
    rng = np.random.default_rng(0)
    X = rng.integers(-50, 50, (6000, 2)) / 4
    y = rng.choice(["no", "yes"], 6000)
    plane = sx.Plane((0.5, -1.25), 0.75)
    assert plane.activation(X).dtype == np.float64
    assert plane.activation(X[:100]).dtype == object
    assert plane.activation(X[:100]).astype(float).tolist() == plane.activation(X)[:100].tolist()
    assert plane.side(X)[:100].tolist() == plane.side(X[:100]).tolist()
    m = np.where(y == "yes", 1, -1) * (X @ [0.5, -1.25] + 0.75)
    assert plane.mistakes(X, y) == np.count_nonzero(m <= 0)
    assert plane.losses(X, y)["zero_one"].sum == np.count_nonzero(m <= 0)
    assert plane.criterion(X, y) == pytest.approx(np.maximum(-m, 0).sum())


def test_a_bound_in_floats_is_that_of_the_data():
    data = datasets.separable(6000, 2, margin=0.05, random_state=1)
    bound = sx.Plane(data.weights, data.bias).mistake_bound(data.X, data.y)
    assert bound.gamma >= 0.05 - 1e-12
    assert bound.k_max == pytest.approx((bound.radius / bound.gamma) ** 2)
    assert bound.k_max <= data.bound * (1 + 1e-9)


def test_every_kind_of_table_is_read_alike():
    rows = [[1.0, 0.5], [-2.0, 3.0]]
    plane = sx.Plane((1, 2), -1)
    for X in (rows, tuple(map(tuple, rows)), np.array(rows), np.array(rows, dtype=object), pd.DataFrame(rows),
              sparse.csr_array(rows), [["1", "1/2"], ["-2", "3"]], np.array(rows, dtype=np.float32)):  # fmt: skip
        assert [float(a) for a in plane.activation(X)] == [1.0, 3.0]
    assert plane.activation(np.array(rows, dtype=np.float32)).tolist() == [1, 3]


def test_floats_of_a_computation_stay_floats():
    assert sx.Plane((0.1, 0.2)).weights == (Fraction(1, 10), Fraction(1, 5))
    assert sx.Plane((0.1 + 0.2, 1)).weights == (0.1 + 0.2, 1.0)
    answer = sx.Plane((1, 1)).activation([[1 / 3, 1.0]])
    assert answer.dtype == np.float64


def test_huge_and_tiny_numbers():
    huge = sx.Plane((3e200, 4e200))
    assert huge.norm == 5 * 10**200
    assert huge.distance((1, 0)) == Fraction(3, 5)
    tiny = sx.Plane((1e-200, 1e-200))
    assert tiny.distance((1, 1)) == pytest.approx(math.sqrt(2), rel=1e-15)
    with pytest.raises(ValueError, match="so large that sums overflow"):
        sx.Plane((1e300, 1.0)).activation(np.full((6000, 2), 1e300))
    with pytest.raises(ValueError, match="no float holds the result"):
        _ = sx.Plane(("1e400", 2)).norm
    with pytest.raises(ValueError, match="no float holds the result"):
        sx.Plane(("1e400", 2)).losses([[1, 1], [-1, 1]], [1, -1])
    assert sx.Plane(("1e400", 0)).norm == 10**400
    long = sx.Plane((1.0, 0.0)).mistake_bound(np.array([[1e300, 1 / 3], [-1e300, 1.0]]), [1, -1])
    assert "overflows" in long.reason


def test_a_plane_is_frozen_equal_by_value_and_can_be_pickled():
    plane = sx.Plane((1, "1/2"), threshold="3")
    assert plane == sx.Plane([1.0, Fraction(1, 2)], -3) == pickle.loads(pickle.dumps(plane))
    assert hash(plane) == hash(sx.Plane((1, HALF), -3))
    with pytest.raises(AttributeError):
        plane.bias = 1


def test_the_plane_of_a_model_and_of_a_pipeline_in_the_units_of_the_data():
    X, y = datasets.load("lecture-000")
    model = sx.Perceptron(random_state=0).fit(X, y)
    plane = sx.Plane.from_model(model)
    np.testing.assert_allclose(plane.activation(X).astype(float), model.decision_function(X))
    assert plane.mistakes(X, y) == 0
    pipeline = make_pipeline(StandardScaler(), sx.LinearSVM()).fit(X * [100, 1] + 3, y)
    plane = sx.Plane.from_model(pipeline)
    np.testing.assert_allclose(
        plane.activation(X * [100, 1] + 3).astype(float), pipeline.decision_function(X * [100, 1] + 3)
    )
    with pytest.raises(ValueError, match="3 planes, one for each class"):
        sx.Plane.from_model(sx.Perceptron(random_state=0).fit([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]], [0, 1, 2]))
    with pytest.raises(ValueError, match="KernelSVM has no coef_"):
        sx.Plane.from_model(sx.KernelSVM().fit(X, y))


def test_tables_in_every_format():
    table = sx.Plane((1, -2), 0.5).table([[1, 1], [3, 0.5]], ["a", "b"])
    assert table.header() == ["example", "x", "y", "activation", "side", "distance", "margin"]
    assert table.rows()[1] == ["2", "(3, 0.5)", "b", "2.5", "1", "1.11803", "2.5"]
    assert table.to_csv().splitlines()[0] == "example,x1,x2,y,activation,side,distance,margin"
    assert table.to_latex().startswith(r"\begin{tabular}{lllllll}")
    assert "<b" not in table.to_html()
    assert table.to_html().count("<tr") == 3
    neuron = sx.Plane((1, -2), threshold=0.5).table((1, 0), threshold=True, decimals=False)
    assert neuron.header() == ["example", "x", "h", "output", "distance"]
    assert neuron.rows()[0][2:4] == ["1", "1"]
    # On the plane: wrong for class 1, right for class 0 that does not fire.
    assert sx.Plane((1,), threshold=1).table([[1], [1]], [0, 1], threshold=True).wrong == [False, True]
    assert sx.Plane((1,), threshold=1).table([[1], [1]], [0, 1]).wrong == [True, True]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: sx.Plane((1, 2), 1, threshold=1), "not both"),
        (lambda: sx.Plane(()), "weights is empty"),
        (lambda: sx.Plane("1,2"), "must be a sequence of numbers"),
        (lambda: sx.Plane(("a", 1)), "'a' is not a number; give finite numbers"),
        (lambda: sx.Plane((math.nan, 1)), "NaN and infinity"),
        (lambda: sx.Plane((1, 2)).activation([[1, 2, 3]]), "X has 3 features in row 0, but the plane has 2 weights"),
        (lambda: sx.Plane((1, 2)).activation((1, 2, 3)), "X has 3 features, but the plane has 2 weights"),
        (lambda: sx.Plane((1, 2)).activation([[1, math.nan]]), "row 0 of X: NaN and infinity"),
        (lambda: sx.Plane((1, 2)).activation([]), "X has no rows"),
        (lambda: sx.Plane((1, 2)).activation(5), "X must be one row of 2 numbers"),
        (lambda: sx.Plane((1, 2)).activation([[1, 2], 3]), "mixes rows and numbers"),
        (lambda: sx.Plane((0, 0)).distance((1, 2)), "all weights are 0"),
        (lambda: sx.Plane((1, 2)).margin([[1, 2], [3, 4], [5, 6]], [0, 1, 2]), "y has 3"),
        (lambda: sx.Plane((1, 2)).margin([[1, 2]], ["a"]), "only the label"),
        (lambda: sx.Plane((1, 2)).margin([[1, 2]], [1, 1]), "differ in length"),
        (lambda: sx.Plane((1, 2)).side([[1, 2]], tie=2), "tie must be"),
        (lambda: sx.Plane((1, 2)).mistakes([[1, 2]], [1], boundary="up"), "boundary must be one of"),
        (lambda: sx.Plane((1, 2)).update((1, 2), 0), "y must be 1 or -1"),
        (lambda: sx.Plane((1, 2)).delta((1, 2), -1), "t must be 0 or 1"),
        (lambda: sx.Plane((1, 2)).update((-1, 2), -1, eta=0), "eta must be positive"),
        (lambda: sx.Plane((1, 2)).scaled(0), "factor is 0"),
        (lambda: sx.Plane((1, 2)).equation(["a"]), "one name for each of the 2 weights"),
    ],
)  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_bound_that_there_is_not_says_why():
    plane = sx.Plane((1, 0), -1)
    bound = plane.mistake_bound([[2, 0], [3, 1]], [1, -1])
    assert not bound
    assert bound.k_max is bound.most is None
    assert str(bound) == (
        "no mistake bound: the plane does not separate the classes: 1 row is on the wrong side or on the plane"
    )
    through = plane.mistake_bound([[2, 0], [0, 1]], [1, -1], augmented=False)
    assert "must go through the origin, but its bias is -1" in through.reason


def test_one_class_and_fifty_features():
    assert sx.Plane((1,)).margin([[2], [3]], [1, 1]) == 2
    assert sx.Plane((1,)).margin([[2], [3]], [0, 0]) == -math.inf
    X = np.eye(50)
    plane = sx.Plane(range(1, 51))
    assert plane.activation(X).tolist() == list(range(1, 51))
    assert plane.square == sum(k * k for k in range(1, 51))


@pytest.mark.parametrize("weight", [1.1234567890123456e-200, 1.1234567890123456e200, 1.1234567890123456e-300])
def test_weights_whose_squares_leave_the_floats(weight):
    plane = sx.Plane((weight,))
    bound = plane.mistake_bound([[1.5], [-2.5]], [1, -1])
    assert bound.most == 3  # (R / gamma)^2 = (2.5^2 + 1) / 1.5^2
    with pytest.raises(ValueError, match=r"\|w\|\^2 is no floating-point number"):
        plane.component([[1.5]])
