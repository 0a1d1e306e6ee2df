"""Labellings that planes realise: known counts, an independent decision, and what is refused."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from scipy.optimize import linprog

import separatrix as sx

SQUARE = [(0, 0), (0, 1), (1, 0), (1, 1)]


def realised_by_linear_programming(points, signs, free=True):
    A = np.array(points, dtype=float)
    A = np.column_stack([A, np.ones(len(A))]) if free else A
    A = -np.array(signs)[:, None] * A
    return linprog(np.zeros(A.shape[1]), A_ub=A, b_ub=-np.ones(len(A)), bounds=(None, None)).status == 0


def test_lines_realise_14_of_16_labellings_of_a_square_all_but_xor():
    found = sx.labellings(SQUARE)
    assert (found.count, found.total, found.cover, found.shattered) == (14, 16, 14, False)
    assert found.impossible == [(-1, 1, 1, -1), (1, -1, -1, 1)]
    assert "14 of 16" in str(found)
    assert found.capacity.dimension == 3


def test_every_plane_realises_its_labelling():
    found = sx.labellings([(0, 0), (2, 1), (3, 3), ("1/2", 4), (-1, 2)])
    assert found.count == found.cover == 22
    for signs, plane, realised in zip(found.signs.tolist(), found.planes, found.realised, strict=True):
        alike = len(set(signs)) == 1
        assert (plane is not None) == (bool(realised) and not alike)
        if plane is not None:
            assert plane.margin(found.points, signs) > 0 if not alike else True


@pytest.mark.parametrize(
    ("points", "count"),
    [
        ([(1,), (2,), (3,)], 6),
        ([(0, 0), (2, 0), (0, 2)], 8),
        ([(0, 0), (0.1, 0.3), (0.2, 0.6)], 6),  # on a line, which their doubles are not
        ([(0, 0), (0, 0)], 2),
        ([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], 16),
        ([(5, 5)], 2),
    ],
)  # fmt: skip
def test_known_counts(points, count):
    found = sx.labellings(points)
    assert found.count == count
    assert found.shattered == (count == 2 ** len(points))


@pytest.mark.parametrize("free", [True, False])
def test_the_decisions_are_those_of_a_linear_program(free):
    points = np.random.default_rng(3).integers(-4, 5, (6, 2))
    found = sx.labellings(points, fit_intercept=free)
    wanted = [realised_by_linear_programming(points, signs, free) for signs in product((-1, 1), repeat=6)]
    assert found.realised.tolist() == wanted
    assert found.signs.tolist() == [list(signs) for signs in product((-1, 1), repeat=6)]


def test_ten_points_in_general_position_have_covers_count():
    t = range(10)
    found = sx.labellings([(k, k * k) for k in t])  # on a parabola no three are on a line
    assert found.count == found.cover == 2 * (1 + 9 + math.comb(9, 2))


def test_through_the_origin_the_origin_has_no_side():
    assert sx.labellings([(0, 0), (1, 0)], fit_intercept=False).count == 0
    assert sx.labellings([(1, 0), (-1, 0)], fit_intercept=False).impossible == [(-1, -1), (1, 1)]


def test_fractions_and_long_floats():
    third = Fraction(1, 3)
    assert sx.labellings([(0, 0), (third, third), (2 * third, 2 * third)]).count == 6
    assert sx.labellings([(0.1234567890123456, 1.0), (2.0, 1e300), (0.0, 0.0)]).count == 8


def test_tables():
    found = sx.labellings(SQUARE)
    assert found.header() == ["labelling", "(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)", "realised", "plane"]
    assert found.rows()[3] == ["4", "-", "-", "+", "+", "yes", "x1 - 0.5 = 0"]
    assert found.rows()[6] == ["7", "-", "+", "+", "-", "no", ""]
    assert len(found.to_csv().splitlines()) == 17
    assert found.to_html().count("font-weight:bold") == 2
    assert found.to_latex().count(r"\\") == 17


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.zeros((13, 2)), "12 points at most; found 13"),
        ([], "table of points"),
        ([1, 2], "table of points"),
        ([(1, 2), (3,)], "X has 1 feature in row 1"),
        ([(1, math.inf)], "infinity"),
    ],
)  # fmt: skip
def test_what_is_refused(points, message):
    with pytest.raises(ValueError, match=message):
        sx.labellings(points)
