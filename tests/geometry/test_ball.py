"""The smallest enclosing ball: known balls, brackets that hold, kernels, and the radius as a bias constant."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.geometry import ball as module
from separatrix.geometry.ball import smallest_ball
from separatrix.geometry.rows import Rows
from separatrix.geometry.simplex import convex_weights
from separatrix.loop.problem import Problem

SIMPLEX = np.eye(6)
KNOWN = [
    ([[3.0, 4.0]], 0.0),
    ([[0.1, 0.2, 0.3]] * 5, 0.0),
    ([[0.0, 0.0], [2.0, 0.0]], 1.0),
    ([[-1.0], [5.0], [0.5]], 3.0),
    ([[0.0, 0.0], [2.0, 0.0], [1.0, np.sqrt(3)]], 2 / np.sqrt(3)),
    ([[0.0, 0.0], [2.0, 0.0], [1.0, 0.1]], 1.0),
    ([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0], [0.0, 0.0]], np.sqrt(2)),
    (SIMPLEX, np.sqrt(5 / 6)),
    ([[float(t), 2.0 * t, -2.0 * t] for t in (0, 7, 3, 3, -1)], 12.0),
]


def exact_square_radius(points):
    """Return the squared radius by trying the circumsphere of every set of at most d + 1 points, in fractions."""
    points = [[Fraction(value) for value in point] for point in points]
    best = None
    for size in range(1, len(points[0]) + 2):
        for chosen in combinations(points, size):
            center = circumcenter(chosen)
            if center is None:
                continue
            radius = max(square_distance(point, center) for point in points)
            best = radius if best is None else min(best, radius)
    return best


def square_distance(a, b):
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def circumcenter(points):
    """Return the point of their affine hull that is equally far from all, None if they are affinely dependent."""
    origin, *others = points
    edges = [[x - o for x, o in zip(point, origin, strict=True)] for point in others]
    system = [[2 * dot(a, b) for b in edges] + [dot(a, a)] for a in edges]
    for k in range(len(edges)):
        pivot = next((row for row in range(k, len(edges)) if system[row][k] != 0), None)
        if pivot is None:
            return None
        system[k], system[pivot] = system[pivot], system[k]
        system[k] = [value / system[k][k] for value in system[k]]
        for row in range(len(edges)):
            if row != k:
                system[row] = [a - system[row][k] * b for a, b in zip(system[row], system[k], strict=True)]
    return [o + sum(row[-1] * edge[j] for row, edge in zip(system, edges, strict=True)) for j, o in enumerate(origin)]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def holds_exactly(ball, points, square):
    """Whether the bracket holds the squared radius, and the ball every point, in exact arithmetic."""
    center = [Fraction(value) for value in ball.center]
    inside = all(
        square_distance(map(Fraction, map(float, point)), center) <= Fraction(ball.upper) ** 2 for point in points
    )
    return inside and Fraction(ball.lower) ** 2 <= square <= Fraction(ball.upper) ** 2


@pytest.mark.parametrize(("points", "radius"), KNOWN)
def test_known_balls(points, radius):
    for ball, precision in ((sx.enclosing_ball(points), 1e-6), (smallest_ball(Rows(points)), 1e-8)):
        assert ball.lower <= radius * (1 + 1e-15)
        assert radius <= ball.upper * (1 + 1e-15)
        assert ball.upper <= radius * (1 + precision)
        assert ball.weights.sum() == pytest.approx(1.0, abs=1e-12)
        assert (ball.weights > 0).all()
        np.testing.assert_allclose(ball.weights @ np.array(points)[ball.support], ball.center, atol=1e-12)


def test_the_rows_that_hold_the_ball_are_its_support():
    ball = sx.enclosing_ball([[1.0, 0.2], [0.0, 0.0], [1.5, -0.3], [4.0, 0.0]])
    assert ball.support.tolist() == [1, 3]
    np.testing.assert_allclose(ball.weights, [0.5, 0.5], atol=1e-9)
    np.testing.assert_allclose(ball.center, [2.0, 0.0], atol=1e-9)
    assert ball.radius == ball.upper
    np.testing.assert_allclose(sx.enclosing_ball(SIMPLEX).weights, np.full(6, 1 / 6), atol=1e-9)


@given(st.lists(st.tuples(*[st.integers(-4, 4)] * 3), min_size=1, max_size=7), st.integers(1, 3))
def test_on_small_whole_numbers_the_bracket_holds_the_exact_radius(points, d):
    points = [point[:d] for point in points]
    square = exact_square_radius(points)
    ball = sx.enclosing_ball(np.array(points, dtype=float))
    assert holds_exactly(ball, points, square)
    assert ball.upper <= (1 + 1e-6) * ball.lower


@pytest.mark.filterwarnings("ignore:the enclosing ball did not reach tol")
@given(st.lists(st.tuples(*[st.floats(allow_nan=False, allow_infinity=False)] * 2), min_size=1, max_size=5))
def test_on_any_finite_numbers_the_bracket_holds_the_exact_radius(points):
    square = exact_square_radius(points)
    ball = sx.enclosing_ball(np.array(points))
    if np.isfinite(ball.upper):  # twice the largest number there is has no name
        assert holds_exactly(ball, points, square)
    else:
        assert Fraction(ball.lower) ** 2 <= square


@given(st.integers(1, 60), st.integers(1, 6), st.integers(0, 10**6), st.sampled_from([0.0, 1e3, 1e9]))
def test_the_ball_holds_every_point_and_the_bracket_is_tight(n, d, seed, offset):
    X = np.random.default_rng(seed).standard_normal((n, d)) * 5 + offset
    for data in (X, sparse.csr_array(X)):
        ball = sx.enclosing_ball(data)
        assert np.linalg.norm(X - ball.center, axis=1).max() <= ball.upper * (1 + 1e-12)
        assert ball.lower <= ball.upper <= ball.lower * (1 + 1e-6)
        rough = smallest_ball(Rows(data))
        assert ball.lower <= rough.upper
        assert rough.lower <= ball.upper
        assert rough.upper <= rough.lower * 1.00101


def test_an_independent_optimiser_finds_the_same_ball():
    X = np.random.default_rng(5).standard_normal((30, 3))
    ball = sx.enclosing_ball(X)
    cone = {"type": "ineq", "fun": lambda v: v[3] - ((X - v[:3]) ** 2).sum(axis=1)}
    start = np.append(X.mean(axis=0), 20.0)
    found = minimize(lambda v: v[3], start, method="SLSQP", constraints=[cone], options={"ftol": 1e-14})
    np.testing.assert_allclose(ball.center, found.x[:3], atol=1e-5)
    assert ball.radius == pytest.approx(np.sqrt(found.x[3]), rel=1e-7)


@pytest.mark.parametrize("scale", [1e-310, 1e-150, 1e-40, 1e40, 1e150, 1e300])
def test_huge_and_tiny_numbers_have_their_ball(scale):
    points = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5], [0.3, -0.2]]) * scale
    ball = sx.enclosing_ball(points)
    assert holds_exactly(ball, points.tolist(), exact_square_radius(points.tolist()))
    assert ball.upper == pytest.approx(scale, rel=1e-6)


@pytest.mark.parametrize("d", [2, 3, 40])
def test_many_points_on_one_sphere(d):
    X = np.random.default_rng(d).standard_normal((20_000, d))
    X /= np.linalg.norm(X, axis=1)[:, None]
    for offset in (0.0, 1e6):
        ball = sx.enclosing_ball(X + offset)
        assert ball.radius == pytest.approx(1.0, rel=2e-6)


def test_repeated_rows_change_nothing():
    X = np.random.default_rng(0).integers(-3, 4, (12, 3)).astype(float)
    once, often = sx.enclosing_ball(X), sx.enclosing_ball(np.repeat(X, 400, axis=0))
    assert often.radius == pytest.approx(once.radius, rel=1e-6)
    np.testing.assert_allclose(often.center, once.center, atol=1e-3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sparse_equals_dense(dtype):
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((500, 40)) * (rng.random((500, 40)) < 0.2)).astype(dtype)
    dense, csr = sx.enclosing_ball(X), sx.enclosing_ball(sparse.csr_array(X))
    assert dense.support.tolist() == csr.support.tolist()
    np.testing.assert_allclose(csr.weights, dense.weights, atol=1e-9)
    assert sx.enclosing_ball(sparse.csr_array((3, 2))).radius == 0.0


def test_rows_too_wide_to_spread_out_are_measured_as_they_are(monkeypatch):
    X = sparse.random_array((400, 3000), density=0.01, format="csr", rng=np.random.default_rng(0))
    spread = sx.enclosing_ball(X)
    monkeypatch.setattr(module, "_BLOCK_VALUES", 1000)
    assert sx.enclosing_ball(X).radius == pytest.approx(spread.radius, rel=1e-9)


def test_rows_of_weight_zero_are_left_out():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [100.0, 3.0], [1.0, 0.5]])
    ball = sx.enclosing_ball(X, sample_weight=[1, 7, 0, 1])
    assert ball.radius == pytest.approx(1.0, rel=1e-6)
    assert ball.support.tolist() == [0, 1]
    only = sx.enclosing_ball(X, sample_weight=[0, 0, 1, 0], kernel="rbf")
    assert (only.support.tolist(), only.radius) == ([2], 0.0)


def linear(a, b):
    return a @ b.T


@pytest.mark.parametrize("n", [2, 30, 300])
def test_the_ball_of_the_linear_kernel_is_the_one_of_the_data(n):
    X = np.random.default_rng(n).standard_normal((n, 4)) + 2.0
    plain = sx.enclosing_ball(X)
    np.testing.assert_array_equal(sx.enclosing_ball(X, kernel="linear").center, plain.center)
    for ball in (
        sx.enclosing_ball(X, kernel=linear),
        sx.enclosing_ball(X @ X.T, kernel="precomputed"),
        sx.enclosing_ball(sparse.csr_array(X @ X.T), kernel="precomputed"),
        sx.enclosing_ball(X, kernel="poly", degree=1, gamma=1.0),
    ):
        assert ball.center is None
        assert ball.radius == pytest.approx(plain.radius, rel=1e-6)
        np.testing.assert_allclose(ball.weights @ X[ball.support], plain.center, atol=1e-5)


@pytest.mark.parametrize("gamma", ["auto", 1e-3, 0.5, 50.0])
def test_in_a_gaussian_kernels_space_no_radius_exceeds_one(gamma):
    X = np.random.default_rng(1).standard_normal((300, 3))
    ball = sx.enclosing_ball(X, kernel="rbf", gamma=gamma)
    assert 0.0 < ball.lower <= ball.upper <= 1.0
    assert ball.upper <= (1 + 1e-6) * ball.lower
    K = rbf_kernel(X, gamma=1 / 3 if gamma == "auto" else gamma)
    p = np.zeros(300)
    p[ball.support] = ball.weights
    distances = np.sqrt(1.0 - 2.0 * K @ p + p @ K @ p)
    assert distances.max() <= ball.upper * (1 + 1e-9)
    assert np.sqrt(p @ distances**2) >= ball.lower * (1 - 1e-9)
    moved = sx.enclosing_ball(X + 1e6, kernel="rbf", gamma=gamma)
    assert moved.radius == pytest.approx(ball.radius, rel=1e-6)


def test_two_points_far_apart_are_orthogonal_in_a_gaussian_kernels_space():
    ball = sx.enclosing_ball([[0.0], [100.0]], kernel="rbf", gamma=1.0)
    assert ball.radius == pytest.approx(np.sqrt(0.5), rel=1e-6)
    assert sx.enclosing_ball([[2.0, 1.0]] * 9, kernel="rbf").radius == 0.0


def test_a_search_that_is_cut_short_warns_and_gives_the_bracket_it_has():
    X = np.random.default_rng(0).standard_normal((500, 5))
    full = sx.enclosing_ball(X)
    with pytest.warns(ConvergenceWarning, match=r"did not reach tol=1e-06.*stopped after max_iter=2 passes"):
        ball = sx.enclosing_ball(X, max_iter=2)
    assert ball.lower <= full.upper
    assert full.lower <= ball.upper
    assert ball.upper > (1 + 1e-6) * ball.lower
    assert np.linalg.norm(X - ball.center, axis=1).max() <= ball.upper
    with pytest.warns(ConvergenceWarning, match="limited by rounding errors"):
        sx.enclosing_ball(X, tol=1e-15)


def test_a_ball_held_by_too_many_rows_is_still_a_bracket(monkeypatch):
    monkeypatch.setattr(module, "_MAX_SUPPORT", 50)
    with pytest.warns(ConvergenceWarning, match="more than 50 support rows"):
        ball = sx.enclosing_ball(np.eye(200))
    assert ball.lower <= np.sqrt(1 - 1 / 200) <= ball.upper <= 1.02


def test_the_weights_of_singular_inner_products_are_found():
    X = np.random.default_rng(0).integers(0, 2, (60, 2)).astype(float)  # the corners of a square, often
    p = convex_weights((X - X[0]) @ (X - X[0]).T)
    distances = ((X - p @ X) ** 2).sum(axis=1)
    assert p.min() > 0
    assert distances.max() - p @ distances < 1e-12


def test_the_number_of_threads_changes_no_bit():
    X = np.random.default_rng(2).standard_normal((3000, 150))
    found = []
    for threads in (1, 4):
        with threadpool_limits(threads):
            ball = sx.enclosing_ball(X)
        found.append((ball.lower, ball.upper, ball.support.tolist(), ball.weights.tobytes(), ball.center.tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tol": 0.0}, "tol must be a number between 0 and 1; found 0.0"),
        ({"tol": "small"}, "tol must be a number between 0 and 1; found 'small'"),
        ({"max_iter": 0}, "max_iter must be a whole number, at least 1; found 0"),
        (
            {"kernel": "sigmoid"},
            "kernel must be one of linear, rbf, poly, precomputed, or a callable; found 'sigmoid'",
        ),
        ({"kernel": "rbf", "gamma": -1.0}, "gamma must be 'scale', 'auto' or a positive number; found -1.0"),
        ({"kernel": "poly", "degree": 0}, "degree must be a whole number of at least 1; found 0"),
        ({"kernel": lambda a, b: a}, r"one row for each row of its first array .* \(2, 2\); found shape \(2, 3\)"),
        (
            {"kernel": lambda a, b: -a @ b.T},
            "the kernel is not an inner product at row 0: it gives -1.0 for it and itself",
        ),
        ({"kernel": "precomputed"}, r"must be square, one row and column for each example; found shape \(2, 3\)"),
        ({"sample_weight": [0, 0]}, "sample_weight is zero everywhere"),
    ],
)
def test_wrong_options_get_one_clear_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        sx.enclosing_ball([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]], **options)


@pytest.mark.parametrize(
    ("X", "kernel", "message"),
    [
        ([[1.0, np.nan]], None, "X contains NaN in row 0, column 1"),
        ([[1.0], [np.inf]], "rbf", "X contains infinity in row 1, column 0"),
        (
            [[1.0, 2.0], [2.0, 1.0]],
            "precomputed",
            "not an inner product at row 1: it puts it at a squared distance of -2.0",
        ),
        ([[1.0, 0.5], [0.0, 1.0]], "precomputed", "a precomputed kernel must be symmetric"),
        ([[1e200], [1.0]], "poly", "so large that the kernel overflows"),
        ([1.0, 2.0], None, "X must have 2 dimensions"),
    ],
)
def test_rows_and_kernels_without_a_ball_are_refused(X, kernel, message):
    with pytest.raises(ValueError, match=message):
        sx.enclosing_ball(X, kernel=kernel)


@pytest.mark.parametrize("scale", [1.0, 0.25, 2.0**300, 2.0**-300])
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_the_constant_of_the_lectures_is_the_double(scale, kind):
    X = np.array([[0.0, 0.0], [3.125, 0.0], [1.5625, 1.0], [1.5625, -1.5625]])  # the radius 1.5625 has few bits
    if kind == np.float32 and not 1e-30 < scale < 1e30:
        return
    X = (X * scale).astype(kind)
    assert Problem(X, [0, 1, 0, 1], bias="ball").bias == 1.5625 * scale
    if 1e-30 < scale < 1e30:
        assert sx.KernelPerceptron(kernel="linear").fit(X, [0, 1, 1, 1]).bias_constant_ == 1.5625 * scale


@pytest.mark.parametrize(("points", "radius"), KNOWN)
def test_the_constant_is_the_radius_to_twelve_digits(points, radius):
    assert smallest_ball(Rows(points)).constant == pytest.approx(radius, rel=2e-12)


@given(st.integers(2, 300), st.integers(1, 8), st.integers(0, 10**6))
@settings(max_examples=30)
def test_the_constant_does_not_depend_on_the_order_of_rows(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    constants = [smallest_ball(Rows(X[rng.permutation(n)])).constant for _ in range(3)]
    assert max(constants) <= min(constants) * (1 + 2e-12)


def test_the_estimator_uses_the_radius_as_its_bias_constant():
    X, y = sx.datasets.load("lecture-000")
    K = smallest_ball(Rows(X)).constant
    model = sx.Perceptron(intercept_scaling="ball", shuffle=False, max_iter=1, stop=sx.stops.MaxEpochs(1)).fit(X, y)
    steps = model.intercept_[0] / K**2
    assert steps == pytest.approx(round(steps), abs=1e-9)
    assert np.array_equal(
        model.coef_, sx.Perceptron(intercept_scaling=K, shuffle=False, stop=sx.stops.MaxEpochs(1)).fit(X, y).coef_
    )


def test_the_weights_prove_the_lower_bound():
    ball = sx.enclosing_ball([[3.0], [4.0], [2.0], [4.0]], tol=0.05)
    X = np.array([3.0, 4.0, 2.0, 4.0])[ball.support]
    proven = np.sqrt(ball.weights @ X**2 - (ball.weights @ X) ** 2)
    assert proven >= ball.lower * (1 - 1e-12)
