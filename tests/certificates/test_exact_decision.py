"""Exact decisions of separability: known answers, two other exact programs, proofs in fractions, extreme floats."""

from __future__ import annotations

import math
import sys
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from separatrix.certificates import guessing, integers
from separatrix.certificates.deciding import combines_to_zero, decide, spans
from separatrix.certificates.exact_rows import ExactRows
from separatrix.certificates.gordan import gordan
from separatrix.certificates.integers import circuit, combination, dependence, lift, null_space, rank
from separatrix.geometry.rows import Rows
from separatrix.svm.task import HaltedError

TINIEST = 5e-324
CORNERS = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]
KNOWN = [
    ("AND", CORNERS, [-1, -1, -1, 1], True, "strict"),
    ("XOR", CORNERS, [-1, 1, 1, -1], True, "none"),
    ("a shared corner", [[0, 0], [1, 0], [0, 1], [0, 0], [-1, 0], [0, -1]], [1, 1, 1, -1, -1, -1], True, "weak"),
    (
        "hulls that share an edge",
        [[0, 0], [2, 0], [1, 1], [1, 0], [3, 0], [2, -1]],
        [1, 1, 1, -1, -1, -1],
        True,
        "weak",
    ),
    ("collinear and apart", [[1, 2], [2, 4], [3, 6], [4, 8]], [1, 1, -1, -1], True, "strict"),
    ("collinear and mixed", [[1, 2], [2, 4], [3, 6], [4, 8]], [1, -1, 1, -1], True, "none"),
    ("collinear, mixed, and one beside", [[1, 2], [2, 4], [3, 6], [0, 1]], [1, -1, 1, 1], True, "weak"),
    ("duplicates", [[1, 2], [1, 2], [3, 4], [3, 4]], [1, 1, -1, -1], True, "strict"),
    ("contradictory duplicates", [[1, 2], [1, 2]], [1, -1], True, "none"),
    ("contradictory duplicates and another", [[1, 2], [1, 2], [0, 0]], [1, -1, 1], True, "weak"),
    ("a column of zeros", [[0, 1], [0, 2], [0, 3]], [1, -1, 1], True, "none"),
    ("a constant column", [[7, 1], [7, 2], [7, 3]], [-1, 1, 1], True, "strict"),
    ("one dimension, touching", [[1], [2], [2], [3]], [-1, -1, 1, 1], True, "weak"),
    ("one dimension, none", [[1], [2], [3], [1]], [-1, 1, -1, 1], True, "none"),
    ("one class", [[1, 2], [-3, 4]], [1, 1], True, "strict"),
    ("one row", [[1, 2, 3]], [-1], True, "strict"),
    ("fewer rows than columns", [[1, 0, 2, 5], [0, 1, 1, 1], [3, 0, 0, 0]], [1, -1, 1], True, "strict"),
    ("no bias, opposite rows", [[1, 2], [-1, -2]], [1, 1], False, "none"),
    ("no bias, a row of zeros", [[0, 0], [1, 2]], [1, 1], False, "weak"),
    ("no bias, only zeros", [[0, 0], [0, 0]], [1, -1], False, "none"),
    ("no bias, zeros and none", [[0, 0], [1, 1], [-1, -1], [2, 1], [-2, -1]], [1, 1, 1, 1, 1], False, "none"),
    ("no bias, the same side", [[1, 2], [2, 1]], [1, 1], False, "strict"),
    ("the tiniest gap", [[0.0], [TINIEST]], [-1, 1], True, "strict"),
    ("no gap at all", [[TINIEST], [TINIEST]], [-1, 1], True, "none"),
    ("minus zero", [[0.0], [-0.0]], [-1, 1], True, "none"),
    ("huge and tiny", [[1e300, TINIEST], [1e300, 0.0]], [1, -1], True, "strict"),
    ("all huge", [[1.7e308], [-1.7e308], [1e300]], [1, -1, -1], True, "strict"),
    ("all huge and mixed", [[1.7e308], [-1.7e308], [1e300]], [1, 1, -1], True, "none"),
    ("neighbours above 2^53", [[2.0**53], [2.0**53 + 2], [2.0**53 + 4]], [1, -1, 1], True, "none"),
    ("1/10 thrice is not 3/10", [[0.1, 0.3], [0.1 + 0.2, 0.9], [0.3, 0.9]], [1, 1, -1], True, "strict"),
]


def space_of(X, signs, bias=True, dtype=float):
    return ExactRows(Rows(np.array(X, dtype=dtype)), signs, bias)


def signed_rows(X, signs, bias):
    """Return ``y (x, 1)`` in fractions."""
    return [
        [int(y) * Fraction(float(x)) for x in row] + [Fraction(int(y))] * bias for row, y in zip(X, signs, strict=True)
    ]


def dot(a, b):
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def fraction_rank(rows):
    rows, found = [list(row) for row in rows], 0
    for column in range(len(rows[0])):
        pivot = next((k for k in range(found, len(rows)) if rows[k][column]), None)
        if pivot is None:
            continue
        rows[found], rows[pivot] = rows[pivot], rows[found]
        for k in range(found + 1, len(rows)):
            factor = rows[k][column] / rows[found][column]
            rows[k] = [a - factor * b for a, b in zip(rows[k], rows[found], strict=True)]
        found += 1
    return found


def whole(line, basic=None):
    """Return a line of a table times its denominators; the unit of its basic variable changes with it."""
    scale = math.lcm(*(value.denominator for value in line))
    line = [int(value * scale) for value in line]
    if basic is not None:
        line[basic] = 1
    return line, scale


def maximum(table, basis):
    """Run Bland's rule on a table whose last line is the negative goal and whose last column is the right side.

    The lines are whole numbers over one denominator, the last pivot (Edmonds): much faster than fractions.
    """
    *lines, goal = table
    lines = [whole(line, basic)[0] for line, basic in zip(lines, basis, strict=True)]
    goal, unit = whole(goal)
    lines.append(goal)
    under = 1
    while True:
        column = next((j for j, value in enumerate(lines[-1][:-1]) if value < 0), None)
        if column is None:
            return Fraction(lines[-1][-1], under * unit)
        ratios = [
            (Fraction(line[-1], line[column]), basis[k], k) for k, line in enumerate(lines[:-1]) if line[column] > 0
        ]
        row = min(ratios)[2]
        top, basis[row] = lines[row], column
        pivot = top[column]
        for k, line in enumerate(lines):
            if k != row:
                factor = line[column]
                lines[k] = [(pivot * a - factor * b) // under for a, b in zip(line, top, strict=True)]
        under = pivot


def feasible(columns, right):
    """Return whether some nonnegative weights of the columns make the right side."""
    size = len(right)
    table = []
    for k in range(size):
        line = [column[k] for column in columns] + [right[k]]
        if right[k] < 0:
            line = [-value for value in line]
        table.append(line[:-1] + [Fraction(k == j) for j in range(size)] + line[-1:])
    goal = [-sum(line[j] for line in table) for j in range(len(columns))] + [Fraction(0)] * size
    table.append([*goal, -sum(line[-1] for line in table)])
    return maximum(table, list(range(len(columns), len(columns) + size))) == 0


def by_alternatives(rows):
    """Decide by Gordan's and Stiemke's theorems: are there weights that are not all zero, and all of them positive?"""
    zero = [Fraction(0)] * len(rows[0])
    if not feasible([[*row, Fraction(1)] for row in rows], [*zero, Fraction(1)]):
        return "strict"
    total = [-sum(column) for column in zip(*rows, strict=True)]
    return "none" if feasible(rows, total) else "weak"


def by_konis(rows):
    """Decide by ``max sum s`` over ``Z w >= s``, ``0 <= s <= 1``: all of the sum, none of it, or some."""
    n, d = len(rows), len(rows[0])
    table = []
    for k, row in enumerate(rows):
        table.append([-z for z in row] + list(row) + [Fraction(j == k) for j in range(3 * n)] + [Fraction(0)])
        table[-1][2 * d + n + k] = Fraction(1)
    for k in range(n):
        line = [Fraction(0)] * (2 * d + 3 * n + 1)
        line[2 * d + k] = line[2 * d + 2 * n + k] = line[-1] = Fraction(1)
        table.append(line)
    table.append([Fraction(0)] * (2 * d) + [Fraction(-1)] * n + [Fraction(0)] * (2 * n + 1))
    best = maximum(table, list(range(2 * d + n, 2 * d + 3 * n)))
    return {n: "strict", 0: "none"}.get(best, "weak")


def assert_proved(X, signs, bias, space, decision):
    """Check the proof from the floats as given, in fractions."""
    rows = signed_rows(X, signs, bias)
    if decision.plane is not None:
        plane = [Fraction(w) for w in space.plane(decision.plane)]
        sides = [dot(row, plane) for row in rows]
        assert min(sides) >= 0 < max(sides)
        assert decision.kind == "weak" or min(sides) > 0
    if decision.kind == "strict":
        assert decision.points == decision.weights == ()
        return
    chosen = [rows[k] for k in decision.points]
    assert min(decision.weights) > 0
    assert np.gcd.reduce(np.array(decision.weights, dtype=object)) == 1
    assert all(dot(decision.weights, column) == 0 for column in zip(*chosen, strict=True))
    assert combines_to_zero(space, decision.points, decision.weights)
    assert len(set(decision.points)) == len(decision.points)
    if decision.kind == "none":
        assert decision.plane is None
        assert fraction_rank(chosen) == fraction_rank(rows)
        assert spans(space, decision.points)
        assert len(decision.points) <= max(1, 2 * fraction_rank(rows))


def degenerate_problem(rng):
    """Return a small problem of whole numbers, most with something special about it."""
    d, n = int(rng.integers(1, 7)), int(rng.integers(2, 41))
    X = rng.integers(0, int(rng.choice([2, 3, 3, 10, 100])), size=(n, d))
    w, b = rng.integers(-2, 3, size=d), int(rng.integers(-2, 3))
    special = rng.integers(9)
    if special == 0:
        X = X[rng.integers(0, n, size=n) // 2]
    elif special == 1:
        X = np.outer(X[:, 0], rng.integers(-2, 3, size=d)) + rng.integers(0, 3, size=d)
    elif special == 2:
        X[:, rng.integers(0, d)] = 0
    elif special == 3 and d > 1:
        X[:, 0] = X[:, 1:].sum(axis=1)
    side = X @ w + b - int(np.median(X @ w))
    signs = np.where(side > 0, 1, -1)
    if special >= 4:
        signs = np.where(side == 0, rng.choice([-1, 1], size=n), signs)
    if special >= 7:
        signs = np.where(rng.random(n) < 0.2, -signs, signs)
    if special == 8:
        signs = rng.choice([-1, 1], size=n)
    return X.astype(float), signs, bool(rng.integers(4))


@pytest.mark.parametrize(("X", "signs", "bias", "kind"), [pytest.param(*case[1:], id=case[0]) for case in KNOWN])
def test_known_answers(X, signs, bias, kind):
    values = np.array(X, dtype=float)
    wide = np.hstack([np.zeros((len(X), 30)), values])  # so many columns that the answer is guessed first
    for form in (values, sparse.csr_array(values), wide, sparse.csr_array(wide)):
        space = ExactRows(Rows(form), signs, bias)
        decision = decide(space)
        assert decision.kind == kind
        assert_proved(form.toarray() if sparse.issparse(form) else form, signs, bias, space, decision)
    assert by_alternatives(signed_rows(X, signs, bias)) == kind
    assert by_konis(signed_rows(X, signs, bias)) == kind


@pytest.mark.parametrize("block", range(20))
def test_random_problems_agree_with_other_programs(block):
    rng = np.random.default_rng(block)
    kinds = []
    for _ in range(100):
        X, signs, bias = degenerate_problem(rng)
        space = space_of(X, signs, bias)
        decision = decide(space)
        rows = signed_rows(X, signs, bias)
        assert decision.kind == by_alternatives(rows)
        if len(X) <= 12:
            assert decision.kind == by_konis(rows)
        assert_proved(X, signs, bias, space, decision)
        kinds.append(decision.kind)
    assert min(kinds.count(kind) for kind in ("strict", "weak", "none")) >= 5


@pytest.mark.parametrize("block", range(4))
def test_floats_of_all_sizes_agree_with_other_programs(block):
    rng = np.random.default_rng(100 + block)
    values = [0.0, 1.0, -1.0, 0.1, 0.3, 1e300, -1e300, TINIEST, -3 * TINIEST, 2.0**53, 2.0**53 + 2, 2.2e-308]
    for _ in range(25):
        d, n = int(rng.integers(1, 4)), int(rng.integers(2, 11))
        dtype = rng.choice([np.float64, np.float32])
        X = rng.choice(np.array(values), size=(n, d))
        if dtype == np.float32:
            X = np.clip(X, -3e38, 3e38).astype(np.float32)
        signs, bias = rng.choice([-1, 1], size=n), bool(rng.integers(4))
        space = ExactRows(Rows(X), signs, bias)
        decision = decide(space)
        assert decision.kind == by_alternatives(signed_rows(X, signs, bias))
        assert_proved(X, signs, bias, space, decision)


@pytest.mark.parametrize("d", [20, 30])
def test_larger_problems_are_decided_at_once(d):
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, size=(2000, d)).astype(float)
    w = rng.integers(-5, 6, size=d)
    side = X @ w
    on = np.flatnonzero(side == 0)
    weak = (np.concatenate([X, X[on]]), np.concatenate([np.where(side >= 0, 1, -1), np.full(len(on), -1)]))
    cases = {
        "none": (X, rng.choice([-1, 1], size=2000)),
        "weak": weak,
        "strict": (X[side != 0], np.where(side > 0, 1, -1)[side != 0]),
    }
    for kind, (rows, signs) in cases.items():
        space = space_of(rows, signs)
        decision = decide(space)
        assert decision.kind == kind
        if kind == "strict":
            assert decide(space, plane=space.whole_plane([*w, 0.0])).kind == "strict"
        else:
            assert combines_to_zero(space, decision.points, decision.weights)
        if kind == "none":
            assert spans(space, decision.points)
            assert decide(space, hints=decision.points) == decision


@pytest.mark.parametrize("guessed", [True, False])
def test_rows_are_measured_in_part_when_there_are_many(guessed, monkeypatch):
    monkeypatch.setattr("separatrix.certificates.gordan._WHOLE", 1000)
    if not guessed:
        monkeypatch.setattr("separatrix.certificates.gordan.guess", lambda space, halted: (None, np.arange(0)))
    rng = np.random.default_rng(1)
    X = rng.normal(size=(20_000, 4)).astype(np.float32)
    side = X @ np.float32([1, -2, 0, 1])
    for signs, kind in ((np.where(side > 0, 1, -1), "strict"), (rng.choice([-1, 1], size=len(X)), "none")):
        space = ExactRows(Rows(X), signs, True)
        decision = decide(space)
        assert decision.kind == kind
        if kind == "none":
            assert combines_to_zero(space, decision.points, decision.weights)
            assert spans(space, decision.points)


def test_hints_may_be_the_answer_or_of_no_use():
    X = [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0], [5.0, 5.0]]
    space = space_of(X, [-1, 1, 1, -1, 1])
    for hints in ((0, 1, 2, 3), (3, 2, 1, 0)):
        assert gordan(space, hints).weights == (1, 1, 1, 1)
    for hints in ((4,), (0, 4), (1, 2), range(5)):
        found = gordan(space, hints)
        assert combines_to_zero(space, found.points, found.weights)
    space = space_of([[0.0], [1.0], [2.0], [1.0]], [1, -1, 1, 1])
    assert gordan(space, (0, 1, 2)).points == (0, 1, 2)
    assert gordan(space, (0, 1, 3)).points == (1, 3)  # row 0 has no weight


def test_a_search_can_be_halted():
    with pytest.raises(HaltedError):
        decide(space_of(CORNERS, [-1, 1, 1, -1]), halted=lambda: True)


@pytest.mark.parametrize("loaded", [True, False])
def test_the_solver_of_linear_programs_is_loaded_only_if_there_is_time_for_it(loaded, monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", sys)
    if not loaded:
        monkeypatch.delitem(sys.modules, "scipy.optimize")
    solved = []
    monkeypatch.setattr(guessing, "_program", lambda table, exponents: solved.append(table) or (None, np.zeros(4)))
    for ahead in (0.01, 100.0):
        guessing.guess(space_of(CORNERS, [-1, 1, 1, -1]), lambda more=0.0, left=ahead: more >= left)
    assert len(solved) == 1 + loaded


def test_false_proofs_are_refused():
    space = space_of(CORNERS, [-1, 1, 1, -1])
    assert combines_to_zero(space, (0, 1, 2, 3), (2, 2, 2, 2))
    assert not combines_to_zero(space, (0, 1, 2, 3), (1, 1, 1, 2))
    assert not combines_to_zero(space, (0, 1, 2, 3), (-1, -1, -1, -1))
    assert not combines_to_zero(space, (), ())
    assert not spans(space, (0, 1))
    assert spans(space, (0, 1, 2))


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_whole_rows_and_sides_are_those_of_fractions(dtype, form):
    rng = np.random.default_rng(2)
    top = 1e300 if dtype == np.float64 else 1e38
    values = np.array(
        [0.0, -0.0, 1.0, 0.1, -0.3, 3.0, top, -top, float(np.finfo(dtype).smallest_subnormal)], dtype=dtype
    )
    for _ in range(60):
        n, d = int(rng.integers(1, 8)), int(rng.integers(1, 5))
        X = rng.choice(values if rng.integers(2) else values[:6], size=(n, d))
        signs, bias = rng.choice([-1, 1], size=n), bool(rng.integers(2))
        space = ExactRows(Rows(form(X)), signs, bias)
        rows = signed_rows(X, signs, bias)
        W = [
            int(w) << int(shift)
            for w, shift in zip(rng.integers(-3, 4, d + bias), rng.integers(0, 2100, d + bias), strict=True)
        ]
        if rng.integers(2) and n > 1:  # a plane through some of the rows, where floats cannot tell
            space_rows = space.take(range(min(n, d + bias - 1)))
            basis = null_space(space_rows)
            W = [int(w) for w in basis[:, 0]] if basis.shape[1] else W
        plane = space.plane(W)
        expected = [(s > 0) - (s < 0) for s in (dot(row, plane) for row in rows)]
        assert space.sides(W).tolist() == expected
        chosen = np.flatnonzero(rng.integers(2, size=n))
        assert space.sides(W, chosen).tolist() == [expected[k] for k in chosen]
        assert [(s > 0) - (s < 0) for s in space.take(range(n)) @ np.array(W, dtype=object)] == expected
        assert space.outside(np.array([W], dtype=object).T).tolist() == [bool(side) for side in expected]


def test_planes_go_to_whole_numbers_and_back():
    space = space_of([[0.75, 1e-300, 0.0], [3.0, 5.0, 0.0]], [1, -1])
    plane = [0.1, -(2.0**200), 3.0, TINIEST]
    there = space.plane(space.whole_plane(plane))
    factors = {Fraction(a) / Fraction(b) for a, b in zip(there, plane, strict=True)}
    assert len(factors) == 1
    assert min(factors) > 0


def integer_matrix(rng, m, d, bits):
    return np.array(
        [[int(rng.integers(-(1 << 30), 1 << 30)) << bits >> 30 for _ in range(d)] for _ in range(m)], dtype=object
    )


@pytest.mark.parametrize(("size", "bits"), [(1, 5), (5, 60), (17, 24), (25, 53), (10, 2000), (60, 8)])
def test_lifting_solves_exactly(size, bits):
    rng = np.random.default_rng(size)
    A, b = integer_matrix(rng, size, size, bits), integer_matrix(rng, 1, size, bits)[0]
    numerators, denominator = lift(A, b)
    assert denominator > 0
    assert (A @ np.array(numerators, dtype=object) == denominator * b).all()
    A[0] = A[-1] if size > 1 else 0
    assert lift(A, b) is None


def test_lifting_finds_small_answers_of_large_systems():
    rng = np.random.default_rng(3)
    A = integer_matrix(rng, 40, 40, 60)
    x = np.array([int(value) for value in rng.integers(-9, 10, size=40)], dtype=object)
    assert lift(A, A @ x) == (x.tolist(), 1)
    thirds = np.array([3 * k + 1 for k in range(40)], dtype=object)
    assert lift(3 * A, A @ thirds) == (thirds.tolist(), 9 // 3)


@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 3), st.randoms(use_true_random=False))
def test_null_spaces_and_ranks_are_those_of_sympy(m, d, values, random):
    Z = np.array([[random.randint(-values, values) for _ in range(d)] for _ in range(m)], dtype=object)
    expected = sympy.Matrix(Z.tolist())
    found, rows, columns = rank(Z)
    assert found == expected.rank() == len(rows) == len(columns)
    if found:
        assert sympy.Matrix(Z[rows][:, columns].tolist()).det() != 0
    N = null_space(Z)
    assert N.shape == (d, d - found)
    assert not (Z @ N).any()
    if N.size:
        assert sympy.Matrix(N.tolist()).rank() == d - found


def test_rows_that_vanish_modulo_the_first_prime():
    prime = integers._MODULI[0]
    Z = np.array([[prime, 0, 0], [0, 1, 1]], dtype=object)
    assert rank(Z)[0] == 1
    assert null_space(Z).T.tolist() == [[0, -1, 1]]
    assert combination(Z, np.array([1, 2, 2], dtype=object)) == ([1, 2 * prime], prime)
    assert combination(Z, np.array([0, 1, 0], dtype=object)) is None
    rng = np.random.default_rng(5)
    for _ in range(40):
        X, signs, bias = degenerate_problem(rng)
        space = space_of(X * prime, signs, bias)
        decision = decide(space)
        assert decision.kind == decide(space_of(X, signs, bias)).kind
        assert_proved(X * prime, signs, bias, space, decision)


@given(st.integers(1, 6), st.integers(1, 5), st.randoms(use_true_random=False))
def test_circuits_are_the_only_dependence(m, d, random):
    Z = np.array([[random.randint(-2, 2) for _ in range(d)] for _ in range(m)], dtype=object)
    kernel = sympy.Matrix(Z.T.tolist()).nullspace()
    weights = dependence(Z)
    assert (weights is None) == (len(kernel) != 1)
    if weights is None:
        assert circuit(Z) is None
        return
    assert sympy.Matrix([weights, list(kernel[0])]).rank() == 1
    assert sympy.gcd(weights) == 1
    assert (circuit(Z) is None) == (min(weights) <= 0)


def test_circuits_of_long_numbers():
    rng = np.random.default_rng(4)
    for size, bits in ((4, 3000), (30, 60)):
        Z = integer_matrix(rng, size, size, bits)
        last = -sum((k + 1) * row for k, row in enumerate(Z))
        assert circuit(np.vstack([Z, last])) == [*range(1, size + 1), 1]


def test_every_subset_of_a_square_is_decided():
    points = [[float(x), float(y)] for x in range(3) for y in range(3)]
    for chosen in combinations(range(9), 3):
        signs = [1 if k in chosen else -1 for k in range(9)]
        space = space_of(points, signs)
        decision = decide(space)
        assert decision.kind == by_alternatives(signed_rows(points, signs, True))
        assert_proved(points, signs, True, space, decision)
