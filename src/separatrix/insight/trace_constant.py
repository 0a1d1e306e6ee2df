"""The constant K of the bias in exact arithmetic: the radius of the smallest ball, whose square is a fraction.

The dual form of Lecture 003 needs K^2 only (``b += y K^2``). The float search names the few rows that determine the
ball; the ball around them is then computed with fractions, and checked against every row.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations, islice

from separatrix.geometry.ball import euclidean_ball
from separatrix.geometry.rows import Rows
from separatrix.insight.trace_proof import as_floats
from separatrix.insight.trace_view import plain
from separatrix.loop.problem import as_exact
from separatrix.rules import Number

_TRIES = 2000  # sets of rows that may determine the ball


class Root:
    """The square root of a positive fraction: its square is exact, all else about it is a float.

    Examples
    --------
    >>> Root(2) * Root(2), str(Root(2)), round(float(Root(2)), 3), 2 / Root(4)
    (2, 'sqrt(2)', 1.414, 1.0)
    """

    def __init__(self, square: Number) -> None:
        self.square = square

    def __mul__(self, other: Number) -> Number:
        if isinstance(other, Root) and other.square == self.square:
            return self.square
        return float(self) * float(other)

    def __rmul__(self, other: Number) -> float:
        return float(other) * float(self)

    def __rtruediv__(self, other: Number) -> float:
        return float(other) / float(self)

    def __pow__(self, power: int) -> Number:
        return self * self if power == 2 else float(self) ** power

    def __float__(self) -> float:
        return math.sqrt(self.square)

    def __str__(self) -> str:
        return f"sqrt({self.square})"


def ball_constant(table: Sequence[Sequence[Number]], *, exact: bool) -> Number:
    """Return the radius of the smallest ball that holds the rows; 1 where it is zero.

    Exactly (a number or a Root) on request, and if few enough rows determine the ball; else rounded to 12 digits.

    Examples
    --------
    >>> str(ball_constant([[1, 1], [-1, -1], [1, -1]], exact=True)), ball_constant([[1], [Fraction(1, 2)]], exact=True)
    ('sqrt(2)', Fraction(1, 4))
    """
    ball, _ = euclidean_ball(Rows(as_floats(table)), None, 1e-9, 1000)
    if not ball.lower > 0:
        return 1
    if exact:
        support = [table[row] for row in ball.support.tolist()]
        sets = (each for size in range(2, len(table[0]) + 2) for each in combinations(support, size))
        for each in islice(sets, _TRIES):
            square = _square_of(each, table)
            if square is not None:
                return _root(square)
    return as_exact(ball.constant) if exact else ball.constant


def _root(square: Fraction) -> Number:
    above, below = math.isqrt(square.numerator), math.isqrt(square.denominator)
    if above * above == square.numerator and below * below == square.denominator:
        return plain(Fraction(above, below))
    return Root(plain(square))


def _square_of(points: Sequence[Sequence[Number]], table: Sequence[Sequence[Number]]) -> Fraction | None:
    """Return the squared radius of the ball through these points, if it is the smallest that holds the table.

    It is if its centre is a convex combination of the points and no row is outside.
    """
    first, *others = points
    edges = [[Fraction(a) - b for a, b in zip(point, first, strict=True)] for point in others]
    weights = _solved([[2 * _dot(a, b) for b in edges] + [_dot(a, a)] for a in edges])
    if weights is None or min(weights) < 0 or sum(weights) > 1:
        return None
    centre = [
        value + sum(weight * edge[j] for weight, edge in zip(weights, edges, strict=True))
        for j, value in enumerate(first)
    ]

    def distance(row: Sequence[Number]) -> Fraction:
        return Fraction(sum((a - b) ** 2 for a, b in zip(row, centre, strict=True)))

    square = distance(first)
    return square if all(distance(row) <= square for row in table) else None


def _solved(system: list[list[Fraction]]) -> list[Fraction] | None:
    """Return the solution of linear equations by elimination; None if it is not unique."""
    n = len(system)
    for j in range(n):
        pivot = next((i for i in range(j, n) if system[i][j]), None)
        if pivot is None:
            return None
        system[j], system[pivot] = system[pivot], system[j]
        system[j] = [value / system[j][j] for value in system[j]]
        for i in range(n):
            if i != j:
                system[i] = [a - system[i][j] * b for a, b in zip(system[i], system[j], strict=True)]
    return [row[-1] for row in system]


def _dot(one: Sequence[Number], other: Sequence[Number]) -> Number:
    return sum(a * b for a, b in zip(one, other, strict=True))
