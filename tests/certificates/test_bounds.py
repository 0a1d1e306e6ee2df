"""The arithmetic that proves: every bound against exact fractions, whatever the size of the numbers."""

from __future__ import annotations

import ctypes
import math
import platform
import sys
from contextlib import contextmanager
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix import _core
from separatrix.certificates import bounds
from separatrix.geometry.rows import Rows

SETTINGS = settings(max_examples=150)


@contextmanager
def built_as(build):
    used = _core.build()
    _core.use_build(build)
    try:
        yield
    finally:
        _core.use_build(used)


def in_every_build(compute):
    """What compute() returns, after a check that every build returns the same bits."""
    results = []
    for build in _core.builds():
        with built_as(build):
            results.append(compute())
    for other in results[1:]:
        for mine, theirs in zip(results[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)
    return results[-1]


# Numbers of all sizes, with the special ones and pairs that cancel often enough to matter.
ORDINARY = st.floats(-10, 10, allow_subnormal=False) | st.integers(-3, 3).map(float)
EXTREME = st.builds(
    lambda digits, exponent: math.ldexp(digits, exponent),
    st.sampled_from([0.0, 1.0, -1.0, 0.75, -0.75, 1.0 + 2**-52, -1.0 - 2**-52, 1 / 3, -1 / 3]),
    st.integers(-1080, 1000),
)
NUMBERS = st.one_of(ORDINARY, EXTREME)


@st.composite
def tables(draw, numbers=NUMBERS, most=40):
    """Rows in one of the four layouts, and the same numbers as fractions."""
    n, d = draw(st.integers(1, 7)), draw(st.sampled_from([1, 2, 3, 5, 16, 19, most]))
    few = draw(st.lists(numbers, min_size=1, max_size=8))
    picks = draw(st.lists(st.integers(0, len(few) - 1), min_size=n * d, max_size=n * d))
    X = np.array([few[k] for k in picks]).reshape(n, d)
    if draw(st.booleans()):
        with np.errstate(over="ignore"):
            X = X.astype(np.float32)
        X[~np.isfinite(X)] = 1.0
    if draw(st.booleans()):
        X = X * (np.arange(n * d).reshape(n, d) % 3 == 0)
    return Rows(sparse.csr_array(X) if draw(st.booleans()) else np.ascontiguousarray(X)), X


def vectors(draw, d, numbers=NUMBERS):
    few = draw(st.lists(numbers, min_size=1, max_size=6))
    return np.array([few[draw(st.integers(0, len(few) - 1))] for _ in range(d)])


def exact_dot(a, b):
    return sum((Fraction(float(p)) * Fraction(float(q)) for p, q in zip(a, b, strict=True)), Fraction(0))


def at_most(low, exact):
    return low == -np.inf or (low != np.inf and Fraction(float(low)) <= exact)


def at_least(high, exact):
    return high == np.inf or (high != -np.inf and Fraction(float(high)) >= exact)


@SETTINGS
@given(data=st.data())
def test_scores_and_squares_are_within_their_bounds(data):
    rows, X = data.draw(tables())
    w, b = vectors(data.draw, X.shape[1]), data.draw(NUMBERS)
    scores, errors, squares = in_every_build(lambda: _core.enclosed_scores(rows.matrix, w, b, 1))
    np.testing.assert_array_equal(scores, _core.decide(rows.matrix, w[None], np.array([b]), 1)[:, 0])
    for mine, theirs in zip((scores, errors, squares), _core.enclosed_scores(rows.matrix, w, b, 2), strict=True):
        np.testing.assert_array_equal(mine, theirs)
    for x, score, error, square in zip(X, scores, errors, squares, strict=True):
        if error < np.inf:
            assert abs(Fraction(float(score)) - exact_dot(w, x) - Fraction(b)) <= Fraction(float(error))
        assert at_least(square, exact_dot(x, x))
        if not np.any((w != 0) & (x != 0)):
            assert score == b
            assert error == 0
        if not x.any():
            assert square == 0
    ordinary = np.abs(np.concatenate([w, X.ravel(), [b]]).astype(float))
    if ((ordinary == 0) | ((ordinary > 1e-100) & (ordinary < 1e100))).all():  # then the bounds are of use as well
        sizes = np.abs(X.astype(float)) @ np.abs(w) + abs(b)
        assert (errors <= 20 * 2.0**-53 * sizes).all()


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_nothing_is_proved_from_numbers_that_are_not_finite(bad):
    X = np.ones((2, 3))
    X[1, 2] = bad
    for data in (X, sparse.csr_array(X)):
        rows = Rows(data)
        for w in (np.ones(3), np.zeros(3)):
            _, errors, squares = _core.enclosed_scores(rows.matrix, w, 0.0, 1)
            assert errors[0] < 1
            assert errors[1] == squares[1] == np.inf
        _, errors = _core.enclosed_sums(rows.matrix, np.ones(2), None)
        assert errors[1] < 1
        assert errors[2] == np.inf
        with pytest.raises(ValueError, match="row 1 holds a NaN or an infinity"):
            _core.exact_sides(rows.matrix, np.arange(2), np.ones((1, 4)))
        signs = np.array([1.0, -1.0])
        found = bounds.margins(rows, signs, np.ones(3), 0.0)
        assert (found.lower[1], found.upper[1]) == (-np.inf, np.inf)
        assert bounds.least(rows, signs, np.ones(3), 0.0) == (-np.inf, np.inf)
        assert bounds.hull_gap(rows, signs, np.ones(2), free=True) == np.inf
        assert bounds.radius(rows)[1] == np.inf
    good = Rows(np.ones((2, 3)))
    for w, b in ((np.array([1.0, bad, 1.0]), 0.0), (np.ones(3), bad)):
        assert (_core.enclosed_scores(good.matrix, w, b, 1)[1] == np.inf).all()
    assert (_core.enclosed_sums(good.matrix, np.array([1.0, bad]), None)[1] == np.inf).all()
    with pytest.raises(ValueError, match="words hold a NaN"):
        _core.exact_sides(good.matrix, np.arange(2), np.full((1, 4), bad))


@SETTINGS
@given(data=st.data())
def test_sums_are_within_their_bounds(data):
    rows, X = data.draw(tables())
    n, d = X.shape
    v = vectors(data.draw, n)
    origin = None
    if not sparse.issparse(rows.values) and data.draw(st.booleans()):
        origin = vectors(data.draw, d)
    sums, errors = in_every_build(lambda: _core.enclosed_sums(rows.matrix, v, origin))
    for j in range(d):
        if errors[j] == np.inf:
            continue
        o = Fraction(0) if origin is None else Fraction(float(origin[j]))
        exact = sum(
            (Fraction(float(f)) * (Fraction(float(x)) - o) for f, x in zip(v, X[:, j], strict=True)), Fraction(0)
        )
        assert abs(Fraction(float(sums[j])) - exact) <= Fraction(float(errors[j]))


def test_sums_of_many_rows_keep_their_digits():
    rng = np.random.default_rng(0)
    X = 1e6 + rng.standard_normal((3001, 3))
    v = rng.standard_normal(3001)
    sums, errors = in_every_build(lambda: _core.enclosed_sums(_core.dense(X), v, X[0].copy()))
    exact = [
        sum((Fraction(f) * (Fraction(x) - Fraction(X[0, j])) for f, x in zip(v, X[:, j], strict=True)), Fraction(0))
        for j in range(3)
    ]
    assert all(abs(Fraction(s) - e) <= Fraction(r) for s, e, r in zip(sums, exact, errors, strict=True))
    assert (errors < 1e-12 * 3).all()


@SETTINGS
@given(data=st.data())
def test_sides_are_exact(data):
    rows, X = data.draw(tables(most=20))
    n, d = X.shape
    words = np.array([vectors(data.draw, d + 1) for _ in range(data.draw(st.integers(1, 3)))])
    if data.draw(st.booleans()):  # the same terms once more with the other sign: nothing but a small word is left
        small = np.zeros((1, d + 1))
        small[0, data.draw(st.integers(0, d))] = data.draw(NUMBERS)
        words = np.concatenate([words, -words, small])
    chosen = np.array(data.draw(st.lists(st.integers(0, n - 1), max_size=9)), np.int64)
    (sides,) = in_every_build(lambda: (_core.exact_sides(rows.matrix, chosen, words),))
    for i, side in zip(chosen, sides, strict=True):
        exact = sum((exact_dot(word, np.append(X[i].astype(float), 1.0)) for word in words), Fraction(0))
        assert side == (exact > 0) - (exact < 0)


def test_sides_see_the_least_double_beside_the_largest():
    tiny, huge = 2.0**-1074, float(np.finfo(float).max)
    X = np.array([[huge, tiny], [huge, 0.0], [huge, -tiny]])
    words = np.array([[huge, tiny, 0.0], [-huge, 0.0, 0.0]])
    assert _core.exact_sides(_core.dense(X), np.arange(3), words).tolist() == [1, 0, -1]
    many = np.full((1, 5000), huge)
    words = np.concatenate([np.full((1, 5000), huge), np.zeros((1, 1))], axis=1)
    assert _core.exact_sides(_core.dense(many), np.zeros(1, np.int64), words).tolist() == [1]
    assert _core.exact_sides(_core.dense(many), np.zeros(1, np.int64), -words).tolist() == [-1]


@SETTINGS
@given(data=st.data())
def test_keys_know_the_numbers_and_their_places_only(data):
    rows, X = data.draw(tables())
    n, d = X.shape
    wide = X.astype(np.float64)
    stored = sparse.csr_array(np.ones((n, d)))
    stored.data = wide.ravel().copy()  # zeros are stored as well
    (keys,) = in_every_build(lambda: (_core.row_keys(rows.matrix, 0, 1),))
    for same in (wide, sparse.csr_array(wide), stored, np.pad(wide, ((0, 0), (0, 2)))[:, :d], wide + 0.0):
        matrix = Rows(same).matrix
        np.testing.assert_array_equal(_core.row_keys(matrix, 0, 2), keys)
    row, column, value = data.draw(st.integers(0, n - 1)), data.draw(st.integers(0, d - 1)), data.draw(NUMBERS)
    changed = wide.copy()
    changed[row, column] = value
    same = np.array_equal(changed, wide)
    assert np.array_equal(_core.row_keys(Rows(changed).matrix, 0, 1), keys) == same


def test_keys_tell_small_numbers_apart():
    grid = np.stack(np.meshgrid(np.arange(-200.0, 200.0), np.arange(-200.0, 200.0)), axis=-1).reshape(-1, 2)
    for X in (grid, grid / 64, grid[:, [0]] * [[1.0, 1.0]] + [[0.0, 0.5]] * grid[:, [1]]):
        assert len(np.unique(_core.row_keys(Rows(X).matrix, 0, 1))) == len(np.unique(X, axis=0))


def test_keys_on_both_sides_are_found():
    rng = np.random.default_rng(0)
    for n in (1, 2, 50, 3000):
        keys, positive = rng.integers(0, 2**63, n, dtype=np.uint64) * np.uint64(2), rng.random(n) < 0.4
        keys[: n // 3] = keys[n - n // 3 :]
        found = _core.on_both_sides(keys, positive)
        truth = [i for i in range(n) if keys[i] in keys[positive != positive[i]]]
        assert set(truth) <= set(found.tolist())
        assert len(found) <= len(truth) + n // 5
    with pytest.raises(ValueError, match="differ in number"):
        _core.on_both_sides(np.zeros(3, np.uint64), np.zeros(2, bool))


def test_arguments_that_do_not_belong_together_are_refused():
    X, S = _core.dense(np.ones((4, 2))), _core.csr(np.ones(1), np.zeros(1, np.int32), np.array([0, 1], np.int32), 2)
    twice = _core.csr(np.ones(2), np.zeros(2, np.int32), np.array([0, 2], np.int32), 2)
    with pytest.raises(ValueError, match="weights and columns of X differ"):
        _core.enclosed_scores(X, np.ones(3), 0.0, 1)
    with pytest.raises(ValueError, match="factors and rows differ"):
        _core.enclosed_sums(X, np.ones(3), None)
    with pytest.raises(ValueError, match="origin and columns of X differ"):
        _core.enclosed_sums(X, np.ones(4), np.ones(3))
    with pytest.raises(ValueError, match="only dense rows have an origin"):
        _core.enclosed_sums(S, np.ones(1), np.ones(2))
    with pytest.raises(ValueError, match="one column more than X"):
        _core.exact_sides(X, np.arange(4), np.ones((1, 2)))
    for row in (-1, 4):
        with pytest.raises(ValueError, match="rows name a row that is not there"):
            _core.exact_sides(X, np.array([row]), np.ones((1, 3)))
    for use in (
        lambda: _core.enclosed_scores(twice, np.ones(2), 0.0, 1),
        lambda: _core.enclosed_sums(twice, np.ones(1), None),
        lambda: _core.row_keys(twice, 0, 1),
    ):
        with pytest.raises(ValueError, match="must ascend within each row"):
            use()
    with pytest.raises(ValueError, match="finite and not negative"):
        bounds.hull_gap(Rows(np.ones((2, 2))), np.array([1.0, -1.0]), np.array([-1.0, 1.0]), free=True)


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="names the modes by number")
@pytest.mark.parametrize("mode", [0x400, 0x800, 0xC00])
def test_nothing_is_proved_while_the_processor_rounds_another_way(mode):
    libm = ctypes.CDLL("libm.so.6")
    X, w, failed = _core.dense(np.ones((2, 2))), np.ones(2), None
    libm.fesetround(mode)
    try:
        _core.enclosed_scores(X, w, 0.0, 1)
    except RuntimeError as problem:
        failed = problem
    finally:
        libm.fesetround(0)
    assert "has changed how this process rounds" in str(failed)


def below_root(low, square):
    """Whether low is at most the root of an exact square, by exact comparison."""
    return low <= 0 or (low < np.inf and Fraction(float(low)) ** 2 <= square)


def above_root(high, square):
    return high == np.inf or (high >= 0 and Fraction(float(high)) ** 2 >= square)


@SETTINGS
@given(data=st.data())
def test_lengths_are_enclosed(data):
    w = vectors(data.draw, data.draw(st.sampled_from([0, 1, 2, 5, 40])))
    low, high = in_every_build(lambda: bounds.length(w))
    square = exact_dot(w, w)
    assert below_root(low, square)
    assert above_root(high, square)
    if 2.0**-1000 < high < np.inf:
        assert high - low <= 32 * 2.0**-53 * high
    if not square:
        assert low == high == 0


@SETTINGS
@given(data=st.data())
def test_margins_are_enclosed(data):
    rows, X = data.draw(tables())
    n, d = X.shape
    w, b = vectors(data.draw, d), data.draw(NUMBERS)
    signs = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=n, max_size=n)))
    lower, upper = in_every_build(lambda: bounds.margins(rows, signs, w, b))
    exact = [Fraction(y) * (exact_dot(w, x) + Fraction(b)) for x, y in zip(X, signs, strict=True)]
    assert all(at_most(low, m) for low, m in zip(lower, exact, strict=True))
    assert all(at_least(high, m) for high, m in zip(upper, exact, strict=True))
    least, square = in_every_build(lambda: bounds.least(rows, signs, w, b))
    assert at_most(least, min(exact))
    assert least >= np.nextafter(lower.min(), -np.inf)
    assert at_least(square, max(exact_dot(x, x) for x in X))


@SETTINGS
@given(data=st.data())
def test_no_plane_is_wider_than_the_gap_between_hulls(data):
    rows, X = data.draw(tables())
    n, d = X.shape
    signs = np.array(data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=n, max_size=n)))
    shares = np.abs(vectors(data.draw, n))
    points = [[Fraction(float(x)) for x in row] for row in X]
    # Shares that vanish beside the largest of their class do not count, here as there.
    parts = [np.where(signs == y, shares, 0.0) for y in (1.0, -1.0)]
    for part in (*parts, shares):
        part[part < part.max() * 2.0**-300] = 0.0

    def mean(part):
        total = sum(map(Fraction, part), Fraction(0))
        return [
            sum((Fraction(f) * p[j] for f, p in zip(part, points, strict=True)), Fraction(0)) / total for j in range(d)
        ]

    (gap,) = in_every_build(lambda: (bounds.hull_gap(rows, signs, sum(parts), free=True),))
    if parts[0].any() and parts[1].any():
        square = sum(((p - q) ** 2 for p, q in zip(mean(parts[0]), mean(parts[1]), strict=True)), Fraction(0)) / 4
        assert above_root(gap, square)
        if float(np.abs(X).max()) < 1e300:
            assert gap < np.inf
    else:
        assert gap == np.inf
    (gap,) = in_every_build(lambda: (bounds.hull_gap(rows, signs, shares, free=False),))
    if not shares.any():
        assert gap == np.inf
        return
    points = [[Fraction(float(y)) * x for x in row] for row, y in zip(points, signs, strict=True)]
    assert above_root(gap, sum((p * p for p in mean(shares)), Fraction(0)))
    if float(np.abs(X).max()) < 1e300:
        assert gap < np.inf


def test_the_gap_is_tight_where_the_answer_is_known():
    rng = np.random.default_rng(1)
    for far in (0.0, 1e8):
        X = np.array([[far + 1.0, far], [far - 1.0, far]]) + np.zeros((2, 2))
        gap = bounds.hull_gap(Rows(X), np.array([1.0, -1.0]), np.ones(2), free=True)
        assert 1.0 <= gap < 1.0 + 1e-14
    for scale in (1e-310, 1e-200, 1.0, 1e200, 1e300):
        X = np.concatenate([rng.uniform(1, 2, (500, 2)), -rng.uniform(1, 2, (500, 2))]) * scale
        signs = np.repeat([1.0, -1.0], 500)
        for data in (X, sparse.csr_array(X)):
            margin = bounds.least(Rows(data), signs, np.array([0.5, 0.5]), 0.0)[0] * math.sqrt(2)
            assert 0 < margin <= bounds.hull_gap(Rows(data), signs, np.ones(1000), free=True) < 2.2 * scale
            truth = float((signs * (X / scale).sum(axis=1)).min()) / math.sqrt(2) * scale
            assert margin == pytest.approx(truth, rel=1e-9)


@SETTINGS
@given(data=st.data())
def test_radii_are_enclosed(data):
    rows, X = data.draw(tables())
    constant = data.draw(NUMBERS)
    low, high = in_every_build(lambda: bounds.radius(rows, constant))
    square = max(exact_dot(x, x) for x in X) + Fraction(constant) ** 2
    assert below_root(low, square)
    assert above_root(high, square)
    if 2.0**-1000 < high < np.inf:
        assert high - low <= 1e-13 * high
    if square < 2**2000:
        assert high < np.inf
