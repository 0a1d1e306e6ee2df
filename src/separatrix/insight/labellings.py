"""Which labellings of a few points planes realise: "14 of 16", shattered or not (VC dimension, Lecture 003).

A labelling that a plane realises is one that it realises on fewer of the points too, so that labellings grow point by
point, and only those of the points before that can be realised are looked at. Each is decided exactly by ``certify``,
on the points times a common denominator; its opposite has the same plane turned round.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.certificate import Capacity, Certificate
from separatrix.certificates.certifying import certify
from separatrix.geometry.rows import Floats, column_names
from separatrix.insight.exact_numbers import is_exact, read_rows, vector
from separatrix.insight.plane import Plane
from separatrix.text import csv_text, html_table, latex, markdown, times

MOST_POINTS = 12

Signs = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Labellings:
    """The result of :func:`labellings`.

    Attributes
    ----------
    points : tuple of tuples
        The points.
    signs : array of shape (2^n, n)
        Every labelling, +1 and -1, from all -1 to all +1 in the order of binary numbers.
    realised : array of 2^n bool
        Whether some plane has every +1 on its positive side and every -1 on its negative side.
    planes : list of Plane or None
        Such a plane; None where there is none, and where all labels are alike, which any plane far away realises.
    fit_intercept : bool
        Whether planes may miss the origin.
    """

    points: tuple[tuple[Any, ...], ...]
    signs: NDArray[np.int64]
    realised: NDArray[np.bool_]
    planes: list[Plane | None]
    fit_intercept: bool = True

    @property
    def count(self) -> int:
        """How many labellings are realised."""
        return int(np.count_nonzero(self.realised))

    @property
    def total(self) -> int:
        """How many labellings there are."""
        return len(self.realised)

    @property
    def shattered(self) -> bool:
        """Whether planes realise every labelling."""
        return self.count == self.total

    @property
    def impossible(self) -> list[Signs]:
        """The labellings that no plane realises."""
        return [tuple(row) for row in self.signs[~self.realised].tolist()]

    @property
    def capacity(self) -> Capacity:
        """The VC dimension of these planes."""
        return Capacity.of(len(self.points), len(self.points[0]), self.fit_intercept)

    @property
    def cover(self) -> int:
        """How many labellings of as many points in general position are realised (Cover 1965).

        Examples
        --------
        >>> labellings([(0, 0), (0, 1), (1, 0), (1, 1)]).cover
        14
        """
        n = len(self.points)
        return 2 * sum(math.comb(n - 1, k) for k in range(self.capacity.dimension))

    def __str__(self) -> str:
        n, d = len(self.points), len(self.points[0])
        by = {1: "thresholds", 2: "lines", 3: "planes"}.get(d, "hyperplanes")
        by = by if self.fit_intercept else f"{by} through the origin"
        points = f"{times(n, 'point')} in {times(d, 'dimension')}"
        text = f"{by} realise {self.count:,} of {self.total:,} labellings of {points}"
        if self.shattered:
            return f"{text}: the points are shattered (VC dimension {self.capacity.dimension})"
        special = "" if self.count == self.cover else f"; in general position it would be {self.cover:,}"
        return f"{text}: not shattered (VC dimension {self.capacity.dimension}){special}"

    def header(self) -> list[str]:
        """Return the names of the table's columns: one for each point."""
        return ["labelling", *(vector(point) for point in self.points), "realised", "plane"]

    def rows(self) -> list[list[str]]:
        """Return the table's cells as text, a row for each labelling."""
        out = []
        for place, (signs, realised) in enumerate(zip(self.signs.tolist(), self.realised.tolist(), strict=True)):
            plane = self.planes[place]
            shown = str(plane) if plane is not None else "any far away" if realised else ""
            cells = ["+" if sign > 0 else "-" for sign in signs]
            out.append([str(place + 1), *cells, "yes" if realised else "no", shown])
        return out

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown(self.header(), self.rows())

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        return latex(self.header(), self.rows())

    def to_html(self) -> str:
        """Return the table as HTML, with the labellings that no plane realises marked and the count below."""
        return html_table(self.header(), self.rows(), marked=(~self.realised).tolist(), caption=str(self))

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_csv(self) -> str:
        """Return the table as comma-separated values."""
        return csv_text(self.header(), self.rows())


def labellings(X: Any, *, fit_intercept: bool = True) -> Labellings:
    """Decide for each labelling of a few points whether a plane realises it.

    Parameters
    ----------
    X : table of numbers
        The points, 12 at most. Fractions, ints and short decimals are exact.
    fit_intercept : bool, default=True
        Allow planes that miss the origin.

    Returns
    -------
    Labellings
        How many labellings are realised, which are not, and a plane for each that is.

    Examples
    --------
    The four corners of a square: lines realise all labellings but XOR and its opposite.

    >>> from separatrix import labellings
    >>> found = labellings([(0, 0), (0, 1), (1, 0), (1, 1)])
    >>> print(found)
    lines realise 14 of 16 labellings of 4 points in 2 dimensions: not shattered (VC dimension 3)
    >>> found.impossible
    [(-1, 1, 1, -1), (1, -1, -1, 1)]
    >>> labellings([(0, 0), (0, 1), (1, 0)]).shattered
    True
    """
    table, width = _table(X)
    if len(table) > MOST_POINTS:
        raise ValueError(f"labellings are for {MOST_POINTS} points at most; found {len(table):,} rows")
    rows, _ = read_rows(table, width)
    values = [tuple(row) for row in (rows if isinstance(rows, tuple) else rows.tolist())]
    numbers, factors = _in_integers(values)
    n = len(values)
    realised: dict[Signs, Any] = {}  # by labellings whose first point is negative, which are half of all
    if fit_intercept or bool(numbers[0].any()):  # no plane through the origin has it on a side
        realised[-1,] = True
    for size in range(2, n + 1):
        longer: dict[Signs, Any] = {}
        for signs, plane in realised.items():
            for sign in (-1, 1):
                wanted = (*signs, sign)
                known = _kept(plane, numbers[size - 1], sign) if size < n else None
                answer = known if known is not None else _decided(numbers[:size], wanted, fit_intercept)
                if answer is not False:
                    longer[wanted] = answer
        realised = longer
    every = np.array([[1 if place >> (n - 1 - k) & 1 else -1 for k in range(n)] for place in range(2**n)])
    planes: list[Plane | None] = []
    done = np.zeros(2**n, dtype=bool)
    for place, row in enumerate(every.tolist()):
        key = tuple(row) if row[0] < 0 else tuple(-sign for sign in row)
        done[place] = key in realised
        found = realised.get(key)
        turned = 1 if row[0] < 0 else -1
        planes.append(None if found is None or found is True else _plane(found, factors, turned))
    return Labellings(tuple(values), every, done, planes, fit_intercept)


def _table(X: Any) -> tuple[list[Any], int]:
    if column_names(X) is not None:
        X = X.to_numpy()
    table = X.toarray().tolist() if hasattr(X, "toarray") else X.tolist() if hasattr(X, "tolist") else list(X)
    if not table or not all(np.iterable(row) and not isinstance(row, str) for row in table) or not len(list(table[0])):
        raise ValueError("X must be a table of points, a row of numbers for each")
    return table, len(list(table[0]))


def _in_integers(values: Sequence[Sequence[Any]]) -> tuple[Floats, list[int]]:
    """Return the points times a factor for each column that makes its numbers whole, and the factors.

    Where the whole numbers are too large for floats, the points themselves are returned, as floats.
    """
    factors = [math.lcm(*(Fraction(row[j]).denominator for row in values)) for j in range(len(values[0]))]
    whole = [[Fraction(value) * factor for value, factor in zip(row, factors, strict=True)] for row in values]
    if all(abs(value) < 2**53 for row in whole for value in row) and all(map(is_exact, values[0])):
        return np.array([[float(value) for value in row] for row in whole]), factors
    return np.array([[float(value) for value in row] for row in values]), [1] * len(factors)


def _decided(numbers: Floats, signs: Signs, free: bool) -> Any:
    """Return the weights and bias of a plane that realises a labelling, True where none is needed, False without."""
    labels, rows = np.array(signs), numbers
    if len(set(signs)) == 1:
        if free:
            return True
        labels, rows = labels.copy(), numbers.copy()
        labels[0], rows[0] = -labels[0], -rows[0]  # through the origin, a point and its opposite are on two sides
    certificate = certify(rows, labels, tol=1e-2, fit_intercept=free, random_state=0)
    assert isinstance(certificate, Certificate)
    if certificate.separable is None:
        raise ValueError(f"the labelling {signs} could not be decided: use smaller numbers")
    if certificate.separable != "strict":
        return False
    plane = certificate.witness.plane
    assert plane is not None
    return (tuple(map(Fraction, plane.weights)), Fraction(plane.bias))


def _kept(plane: Any, point: Floats, sign: int) -> Any:
    """Return the plane of the points before, if it has the next one on the right side as well; else None."""
    if plane is True:
        return None
    weights, bias = plane
    score = sum(weight * Fraction(value) for weight, value in zip(weights, point.tolist(), strict=True)) + bias
    return plane if score * sign > 0 else None


def _plane(found: Any, factors: Sequence[int], turned: int) -> Plane:
    """Return the plane in the coordinates of the points."""
    weights, bias = found
    return Plane(
        [float(turned * weight * factor) for weight, factor in zip(weights, factors, strict=True)],
        float(turned * bias),
    )
