"""Exact arithmetic for the checks: inner products and small linear systems in fractions."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from separatrix.rules import Number


def dot(u: Sequence[Number], v: Sequence[Number]) -> Fraction:
    """Return the inner product.

    Examples
    --------
    >>> dot((1, Fraction(1, 2)), (3, 4))
    Fraction(5, 1)
    """
    return sum((Fraction(p) * Fraction(q) for p, q in zip(u, v, strict=True)), Fraction(0))


def solved(rows: Sequence[Sequence[Number]], right: Sequence[Number]) -> list[Fraction] | None:
    """Return the only solution of a linear system, None if it has none or many.

    Examples
    --------
    >>> solved([[1, 1], [1, -1]], [3, 1])
    [Fraction(2, 1), Fraction(1, 1)]
    >>> solved([[1, 1]], [3]) is None
    True
    """
    table = [[*map(Fraction, row), Fraction(value)] for row, value in zip(rows, right, strict=True)]
    unknowns = len(table[0]) - 1
    for column in range(unknowns):
        place = next((i for i in range(column, len(table)) if table[i][column]), None)
        if place is None:
            return None
        table[column], table[place] = table[place], table[column]
        pivot = table[column]
        table[column] = pivot = [value / pivot[column] for value in pivot]
        for i, row in enumerate(table):
            if i != column and row[column]:
                table[i] = [p - row[column] * q for p, q in zip(row, pivot, strict=True)]
    if any(row[-1] for row in table[unknowns:]):
        return None
    return [row[-1] for row in table[:unknowns]]
