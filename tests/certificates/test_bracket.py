"""The bracket around the largest margin: known margins, an oracle, bounds that hold, and data that are hard to like."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import linprog, minimize

from separatrix.certificates import ascent_search, pool_search
from separatrix.certificates.bracket import search
from separatrix.certificates.corral import Corral
from separatrix.geometry.rows import Rows

SQUARE = [[0.0, 0.0], [1.0, 1.0], [0.0, 1.0], [1.0, 0.0]]
XOR = [1, 1, -1, -1]


def normal(n=300, d=3, seed=0, shift=0.1):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, np.where(X[:, 0] + shift > 0, 1, -1)


def upper_of(X, y, found):
    """Return the length that the shares give, each side's sum made what it should be, in exact arithmetic."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)[found.points]
    shares = [Fraction(float(share)) for share in found.shares]
    y = [int(sign) for sign in np.asarray(y)[found.points]]
    total = [
        sum(sign * share * Fraction(float(value)) for sign, share, value in zip(y, shares, column, strict=True))
        for column in X.T
        if column.any()
    ]
    return math.sqrt(sum(value * value for value in total))


def lower_of(X, y, found):
    """Return the plane's least margin, every sum rounded once."""
    X = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)
    length = math.sqrt(math.fsum(found.weights**2))
    return min(s * math.fsum([*(x * found.weights), found.bias]) for x, s in zip(X, y, strict=True)) / length


def check(X, y, found, free):
    """The bounds are what the plane and the points give."""
    y = np.asarray(y)
    assert (np.diff(found.points) > 0).all()
    assert (found.shares > 0).all()
    for side in (1, -1) if free else (0,):
        mine = y[found.points] == side if side else np.ones(len(found.points), dtype=bool)
        assert math.fsum(found.shares[mine]) == pytest.approx(0.5 if side else 1.0, abs=1e-14)
    size = max(math.sqrt(float((np.asarray(x, dtype=np.float64) ** 2).sum())) for x in np.asarray(X)[found.points])
    assert found.upper == pytest.approx(upper_of(X, y, found), rel=1e-9, abs=1e-14 * size)
    if np.isfinite(found.lower):
        assert found.lower == pytest.approx(lower_of(X, y, found), rel=1e-9, abs=1e-13 * size)
        assert found.lower <= found.upper * (1 + 1e-9) + 1e-14 * size


def independent(X, y, points):
    """Whether the signed rows with a bias coordinate are affinely independent."""
    table = np.c_[np.asarray(X, dtype=np.float64), np.ones(len(X))][points] * np.asarray(y)[points][:, None]
    return np.linalg.matrix_rank(table[1:] - table[0]) == len(points) - 1


@pytest.mark.parametrize(
    ("X", "y", "free", "margin", "points"),
    [
        ([[0.0, 0.0], [3.0, 4.0]], [-1, 1], True, 2.5, [0, 1]),
        ([[0.0, 0.0], [0.0, 1.0], [2.0, 5.0]], [-1, -1, 1], True, math.sqrt(5.0), [1, 2]),
        ([[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1], True, 0.5, [1, 2]),
        ([[1.0], [2.0], [-3.0]], [1, 1, -1], False, 1.0, [0]),
        ([[1.0, 0.0], [0.0, 1.0]], [1, 1], False, math.sqrt(0.5), [0, 1]),
        ([[-1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]], [-1, -1, 1, 1], True, 1.0, None),
    ],
)
def test_known_margins(X, y, free, margin, points):
    found = search(Rows(X), np.array(y), free)
    assert found.ended == "narrow"
    assert found.lower == pytest.approx(margin)
    assert found.upper == pytest.approx(margin)
    if points is not None:
        assert found.points.tolist() == points
    check(X, y, found, free)


@pytest.mark.parametrize(
    ("X", "y", "free", "points"),
    [
        (SQUARE, XOR, True, [0, 1, 2, 3]),
        ([[0.0], [2.0], [1.0], [3.0]], [-1, -1, 1, 1], True, [0, 1, 2]),
        ([[0.0], [1.0], [1.0], [3.0]], [-1, -1, 1, 1], True, [1, 2]),
        ([[1.0, 2.0], [1.0, 2.0]], [1, -1], True, [0, 1]),
        ([[1.0, 2.0], [1.0, 2.0]], [1, -1], False, [0, 1]),
        ([[1.0], [0.0]], [1, -1], False, [1]),
        ([[1.0], [2.0]], [1, 1], False, None),
    ],
)
def test_known_overlaps(X, y, free, points):
    found = search(Rows(X), np.array(y), free)
    if points is None:
        assert found.ended == "narrow"
        return
    assert found.ended == "small"
    assert found.points.tolist() == points
    assert found.upper == 0.0
    check(X, y, found, free)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("d", [1, 2, 5])
def test_margins_against_an_oracle(free, d):
    X, y = normal(40, d, seed=d, shift=0.0)
    X[:, 0] += 0.2 * y
    found = search(Rows(X), y, free, tol=1e-6)
    start = np.zeros(d + 1)
    start[0] = 20.0
    best = minimize(
        lambda v: 0.5 * v[:-1] @ v[:-1],
        start,
        jac=lambda v: np.append(v[:-1], 0.0),
        constraints={"type": "ineq", "fun": lambda v: y * (X @ v[:-1] + (v[-1] if free else 0.0)) - 1.0},
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    assert found.ended == "narrow"
    assert found.upper == pytest.approx(1.0 / np.linalg.norm(best.x[:-1]), rel=1e-5)
    check(X, y, found, free)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_overlaps_against_an_oracle(free, noise):
    for seed in range(20):
        X, y = normal(60, 4, seed=seed)
        y = np.where(np.random.default_rng(seed).random(60) < noise, -y, y)
        table = -np.c_[X, np.full(60, float(free))] * y[:, None]
        bounds = [(None, None)] * 4 + [(None, None) if free else (0, 0)]
        apart = linprog(np.zeros(5), A_ub=table, b_ub=-np.ones(60), bounds=bounds).status == 0
        found = search(Rows(X), y, free)
        assert found.ended == ("narrow" if apart else "small")
        check(X, y, found, free)
        if not apart:
            assert len(found.points) <= 4 + 1 + free
            assert independent(X, y, found.points) or not free
            assert found.shares.min() > 1e-9


@pytest.mark.parametrize("kind", [np.float32, np.float64, sparse.csr_matrix])
def test_many_rows(kind):
    """Samples, pools of pools, and the passes over all rows."""
    X, y = normal(60_000, 5, shift=0.0)
    X[:, 0] += 0.1 * y
    X = kind(X) if kind is sparse.csr_matrix else X.astype(kind)
    told = []
    found = search(Rows(X), y, True, tol=1e-4, tell=told.append)
    assert found.ended == "narrow"
    assert 0.1 < found.lower <= found.upper <= found.lower * 1.0002
    assert found.upper == pytest.approx(upper_of(X, y, found))
    assert all(one.upper >= other.upper - 1e-12 for one, other in pairwise(told))
    assert all(one.lower <= other.lower for one, other in pairwise(told))
    again = search(Rows(X), y, True, tol=1e-4)
    assert (again.lower, again.upper, again.bias) == (found.lower, found.upper, found.bias)


def test_few_flips_among_many_rows():
    """No sample shows that the hulls overlap: the rows that do are found by passes."""
    X, y = normal(60_000, 5, shift=0.0)
    X[:, 0] += 0.1 * y
    y[np.argmax(np.abs(X[:, 0]))] *= -1
    found = search(Rows(X), y, True)
    assert found.ended == "small"
    assert found.upper <= 1e-14
    assert len(found.points) <= 7
    assert independent(X, y, found.points)


def wide(n=700, d=800):
    rng = np.random.default_rng(0)
    first = rng.standard_normal((n, 1)) * 0.5
    rest = sparse.random(n, d - 1, density=0.01, random_state=0, format="csr")
    return sparse.csr_matrix(sparse.hstack([first, rest])), np.where(first[:, 0] > 0, 1, -1)


@pytest.mark.parametrize("free", [True, False])
def test_wide_rows(free):
    X, y = wide()
    found = search(Rows(X), y, free)
    assert found.ended == "narrow"
    assert 0.0 < found.lower <= found.upper <= found.lower * 1.0011
    check(X.toarray(), y, found, free)


@pytest.mark.parametrize("scale", [1.0, 1e150, 1e-150])
@pytest.mark.parametrize("free", [True, False])
def test_wide_rows_that_overlap(free, scale):
    X = np.zeros((2000, 3000))
    X[:, :3], y = normal(2000)
    y = np.where(np.arange(2000) % 5 == 0, -y, y)
    found = search(Rows(sparse.csr_matrix(X * scale)), y, free)
    assert found.ended == "epsilon"
    longest = max(math.hypot(*row) for row in (X[:, :3] * scale).tolist())
    assert found.upper <= 1e-3 * math.hypot(longest, 1.0)
    assert found.upper == pytest.approx(scale * upper_of(X, y, found))


def test_a_tiny_margin():
    """Labels by a plane, no gap: the margin is what chance leaves."""
    X, y = normal(30_000, 10, shift=0.0)
    found = search(Rows(X), y, True)
    assert found.ended == "narrow"
    assert 0.0 < found.lower < 1e-2
    assert found.upper == pytest.approx(upper_of(X, y, found))
    assert found.lower == pytest.approx(lower_of(X, y, found))


def test_more_features_than_rows():
    X = np.zeros((4, 3000))
    X[:, :2] = SQUARE
    found = search(Rows(X), np.array(XOR), True)
    assert found.ended == "small"
    assert found.points.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("after", [0, 1, 3])
@pytest.mark.parametrize("data", [lambda: normal(60_000, 5), wide])
def test_halting(data, after):
    X, y = data()
    left = iter(range(after))
    found = search(Rows(X), y, True, tol=1e-12, halted=lambda: next(left, None) is None)
    assert found.ended == "halted"


def test_rounds_are_counted(monkeypatch):
    monkeypatch.setattr(pool_search, "_ROUNDS", 1)
    monkeypatch.setattr(ascent_search, "_EPOCHS", 3)
    for X, y in (normal(60_000, 5), wide()):
        found = search(Rows(X), y, True, tol=1e-9)
        assert found.ended == "stuck"
        assert found.lower < found.upper


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(
    "change",
    [
        lambda X: np.repeat(X, 10, axis=0),
        lambda X: np.c_[X, np.full(len(X), 7.0)],
        lambda X: np.c_[X, X[:, :2]],
        lambda X: X * 1e150,
        lambda X: X * 1e-150,
        lambda X: X * 1e300,
        lambda X: X * 5e-324,
        lambda X: X + 1e9,
        lambda X: np.r_[X[:-1], 1e150 * X[-1:]],
        lambda X: X * np.array([1e-100, 1.0, 1e100]),
        lambda X: np.r_[X[:-5], np.zeros((5, 3))],
        lambda X: np.zeros_like(X),
        lambda X: np.round(X),
        lambda X: X * 10.0 ** np.linspace(-200, 200, len(X))[:, None],
        lambda X: X * 10.0 ** np.linspace(-200, 200, 3),
        lambda X: X + 1e12,
        lambda X: np.c_[X, np.random.default_rng(1).standard_normal((len(X), 40)) + 1e10],
    ],
)
def test_data_that_are_hard_to_like(change, free):
    X, y = normal()
    X[:, 0] += 0.1 * y
    X = change(X)
    y = np.repeat(y, len(X) // len(y))
    found = search(Rows(X), y, free)
    assert found.ended in ("narrow", "small", "stuck")
    assert (found.shares > 0).all()
    assert np.isfinite(found.upper)
    y[0] *= -1
    assert search(Rows(X), y, free).ended in ("narrow", "small", "stuck")


@pytest.mark.parametrize("free", [True, False])
def test_corners_of_a_cube(free):
    """Many sets of corners have the same centre; the one found has weights that are more than rounding."""
    rng = np.random.default_rng(0)
    for d in (3, 6, 8):
        X = rng.integers(0, 2, (2000, d)).astype(float)
        y = np.where(rng.random(2000) < 0.5, 1, -1)
        found = search(Rows(X), y, free)
        assert found.ended == "small"
        assert found.shares.min() > 1e-4
        assert independent(X, y, found.points) or not free
        check(X, y, found, free)


def test_contradictions():
    X, y = normal(shift=0.0)
    X[:, 0] += 0.1 * y
    found = search(Rows(np.r_[X, X[:1]]), np.append(y, -y[0]), True)
    assert found.ended == "small"
    check(np.r_[X, X[:1]], np.append(y, -y[0]), found, True)


@pytest.mark.parametrize("start", [None, (np.arange(12), np.ones(12)), (np.arange(2), np.full(2, np.inf))])
def test_corral_of_dependent_points(start):
    """Points that all lie on one line, many of them the same."""
    points = np.repeat([[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], 4, axis=0)
    nearest = Corral(points, np.zeros(12, dtype=np.intp), np.ones(1)).search(start, 1e-9, lambda: False)
    assert nearest.vector.tolist() == [1.0, 1.0]
    assert nearest.weights.tolist() == [1.0]
