"""What a witness proves about data: everything recomputed from the numbers themselves, nothing taken on trust.

Write z for a row times its sign (+1, -1), with a coordinate 1 for the bias where there is one. A plane W with ``z . W >
0`` for all rows separates the classes strictly; its least margin is a lower bound on the largest there is. Weights
lambda >= 0 bound the largest margin from above, by the distance between the points that they make of the two classes
(half of it; without a bias: the length of the mean of all z). If ``sum lambda z`` is exactly 0 no plane separates
strictly (Gordan). If moreover those rows span all others, any plane with ``z . W >= 0`` everywhere is 0 on all of them:
not even weak separation is possible (Stiemke).

Planes and weights of whole numbers are checked in integers; floats, with a bound on every rounding, and where that
bound depends on how the rows are stored and does not decide, in integers too.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.data import Data, processors
from separatrix.certificates.deciding import combines_to_zero, spans
from separatrix.certificates.integers import rank
from separatrix.certificates.witness import Plane, WeightedRows, Witness, in_integers

OUTWARD = 2.0**-30  # claims are this much weaker than the proof: another order of summation proves them too
_OTHERS = 16  # rows that are tried against a span
_MOST_NORMALS = 1_000_000  # numbers of vectors at right angles to it
_TINY = 2.0**-900  # squares below this are measured at another scale
_LARGEST = sys.float_info.max
_UNIT = 2.0**-53


@dataclass(frozen=True)
class Reach:
    """What a strictly separating plane reaches: its least ``y (w.x + b)``, at least; ``|w|`` and ``|b|``, at most."""

    least: float
    length: float
    bias: float

    @property
    def margin(self) -> float:
        """At least so far is every row from the plane."""
        return max(_down(self.least / self.length), 0.0)


@dataclass(frozen=True)
class ProvedBounds:
    """What has been proved; ``longest`` is an upper bound on the length of the rows, infinite if there is none."""

    separable: str | None
    lower: float
    upper: float
    longest: float
    reach: Reach | None

    def radius(self, constant: float) -> float:
        """Return R, the length of the longest row with the bias as a coordinate of this size, at most."""
        return hypotenuse(self.longest, constant)

    def mistakes(self, constant: float) -> float:
        """Return ``(R / gamma)^2`` in the coordinates (x, constant), at most; infinite if nothing is proved.

        There the plane is ``(w, b / constant)``, and gamma its least ``y (w.x + b)`` divided by its length.
        """
        if self.reach is None or self.reach.least == 0.0:  # too small for a number
            return math.inf
        length = hypotenuse(self.reach.length, _up(self.reach.bias / constant) if constant else 0.0)
        ratio = _up(self.radius(constant) * _up(length / self.reach.least))
        return _up(ratio * ratio) if ratio < 1e150 else math.inf


def _expect_finite(data: Data) -> None:
    try:
        data.rows.check_finite()
    except ValueError as problem:
        raise NotFiniteError(str(problem)) from None


def _up(x: float) -> float:
    return math.nextafter(x, math.inf)


def _down(x: float) -> float:
    return math.nextafter(x, -math.inf)


def hypotenuse(a: float, b: float) -> float:
    """Return no less than the length of (a, b); the standard library's is within one unit of it."""
    return a if b == 0.0 else _up(_up(math.hypot(a, b)))


class NotFiniteError(ValueError):
    """The data hold a NaN or an infinity, about which nothing can be proved."""


def prove(data: Data, witness: Witness) -> ProvedBounds:
    """Return what this witness proves about these data."""
    plane, points = witness.plane, witness.points
    weak, reach, longest = False, None, math.inf
    if plane is not None and len(plane.weights) == data.d and (data.free or plane.bias == 0):
        if plane.whole:
            weak, reach = _whole_plane(data, plane)
        elif plane.kinds == {float}:
            reach, longest = _float_plane(data, plane)
    touching, upper = (False, math.inf) if points is None else _points(data, points)
    if math.isinf(longest):
        longest = bounds.radius(data.rows)[1]
    if math.isinf(longest):  # else no row can hold what is not finite
        _expect_finite(data)
    separable = None
    if reach is not None:
        separable = "strict"
    elif touching and weak:
        separable = "weak"
    elif touching and points is not None and _spanned(data, points):
        separable = "none"
    return ProvedBounds(separable, 0.0 if reach is None else reach.margin, upper, longest, reach)


def prove_exactly(data: Data, witness: Witness) -> tuple[ProvedBounds, ProvedBounds]:
    """Return what this witness proves if nothing is rounded on the way, and the least that floats prove of it.

    The first does not depend on how the rows are stored. What :func:`prove` proves does, and lies between the two: sums
    of sparse and of dense rows round in other places, and far from the origin a margin is little beside such errors.
    """
    exact = loosest = prove(data, witness)
    plane, points, longest = witness.plane, witness.points, exact.longest
    if plane is not None and plane.kinds == {float} and len(plane.weights) == data.d and (data.free or plane.bias == 0):
        reach = _whole_plane(data, plane.in_integers)[1] if np.isfinite((*plane.weights, plane.bias)).all() else None
        if reach is not None:
            lost = 3.0 * (data.d + 16) * _UNIT * (reach.length * longest + reach.bias)
            least = replace(reach, least=max(reach.least - lost, 0.0))
            exact = replace(exact, separable="strict", lower=reach.margin, reach=reach)
            loosest = replace(loosest, separable="strict", lower=least.margin, reach=least)
    if points is not None and points.kinds == {float}:
        upper = _exact_gap(data, points)
        lost = (256.0 * _UNIT + 8.0 * (len(points.rows) * _UNIT) ** 2) * math.sqrt(data.d) * longest
        exact, loosest = replace(exact, upper=upper), replace(loosest, upper=upper + lost)
    return exact, loosest


def useful(witness: Witness, proof: ProvedBounds) -> Witness:
    """Return the parts of the witness that prove something: what proves nothing could be anything."""
    return Witness(
        witness.plane if proof.separable in ("strict", "weak") else None,
        witness.points if math.isfinite(proof.upper) else None,
    )


def _float_plane(data: Data, plane: Plane) -> tuple[Reach | None, float]:
    """Return what the plane reaches, if it separates strictly, and how long the longest row is at most."""
    weights, bias = np.array(plane.weights, dtype=np.float64), float(plane.bias)
    least, square = bounds.least(data.rows, data.signs, weights, bias, processors())
    length = bounds.length(weights)[1]
    separates = 0 < least < math.inf and 0 < length < math.inf
    longest = _up(math.sqrt(square)) if square > _TINY else math.inf
    return (Reach(least, length, abs(bias)) if separates else None), longest


def _whole_plane(data: Data, plane: Plane) -> tuple[bool, Reach | None]:
    """Return whether the plane separates weakly, and what it reaches if it separates strictly.

    The plane is measured in units of its largest weight, in fractions, and what comes out is rounded to the safe side.
    """
    whole = [int(value) for value in (*plane.weights, *([plane.bias] if data.free else []))]
    if not any(plane.weights):
        return False, None
    _expect_finite(data)
    exact = data.exact
    scaled, unit = exact.scaled(whole)
    sides = exact.sides(scaled)
    if (sides <= 0).any():
        return bool((sides >= 0).all() and (sides > 0).any()), None
    size = max(abs(int(value)) for value in plane.weights)
    root = _root(Fraction(sum(int(value) ** 2 for value in plane.weights), size * size))
    least, bias = exact.least(scaled) * unit / size, abs(Fraction(int(plane.bias), size))
    return True, Reach(rounded(least, up=False), rounded(root, up=True), rounded(bias, up=True))


def rounded(value: Fraction, *, up: bool) -> float:
    """Return a float that is no less, or no more, than a fraction that is not negative."""
    try:
        nearest = float(value)
    except OverflowError:
        return math.inf if up else _LARGEST
    if up:
        return nearest if Fraction(nearest) >= value else _up(nearest)
    return nearest if Fraction(nearest) <= value else _down(nearest)


def _root(value: Fraction) -> Fraction:
    """Return no less than the square root, by a part of 2^-60 at most."""
    shift = max(0, 64 + (value.denominator.bit_length() - value.numerator.bit_length()) // 2 + 1)
    return Fraction(math.isqrt((value.numerator << 2 * shift) // value.denominator) + 1, 1 << shift) if value else value


def _exact_gap(data: Data, points: WeightedRows) -> float:
    """Return :func:`bounds.hull_gap` of these rows and weights with one rounding, the last."""
    part = _part(data, points)
    if part is None or not all(0.0 < weight < math.inf for weight in points.weights):
        return math.inf
    shares = np.array(in_integers(points.weights)[0], dtype=object)
    if not data.free:
        length = part.exact.square_length(part.exact.combined(shares))
        return rounded(_root(length) / int(shares.sum()), up=True)
    above, below = np.where(part.signs > 0, shares, 0), np.where(part.signs > 0, 0, shares)
    if not (above.any() and below.any()):
        return math.inf
    one, other = int(above.sum()), int(below.sum())
    apart = part.exact.combined(above) * other + part.exact.combined(below) * one  # rows carry their signs
    return rounded(_root(part.exact.square_length(apart)) / (2 * one * other), up=True)


def _part(data: Data, points: WeightedRows) -> Data | None:
    """Return the data of the points alone; None if they are no rows with one weight each."""
    places = data.places(points.rows)
    if places is None or not len(places) == len(points.weights) > 0:
        return None
    part = data.part(places)
    _expect_finite(part)
    return part


def _points(data: Data, points: WeightedRows) -> tuple[bool, float]:
    """Return whether the weighted rows add up to exactly zero, and the margin that no plane exceeds."""
    part = _part(data, points)
    if part is None:
        return False, math.inf
    if points.whole:
        whole = [int(weight) for weight in points.weights]
        touching = min(whole) > 0 and combines_to_zero(part.exact, range(part.n), whole)
        return touching, 0.0 if touching else math.inf
    shares = np.array(points.weights, dtype=np.float64) if points.kinds == {float} else np.zeros(1)
    if not ((shares > 0).all() and np.isfinite(shares).all()):
        return False, math.inf
    return False, bounds.hull_gap(part.rows, part.signs, shares, free=data.free)


def _spanned(data: Data, points: WeightedRows) -> bool:
    """Return whether it is proved that all rows lie in the span of the points.

    They do if the points span everything. They do not if with some other rows the rank is larger than that of rows that
    depend on each other can be. Else vectors at right angles to the points must be at right angles to all rows.
    """
    places = data.places(points.rows)
    assert places is not None
    few = data.part(places).exact
    size = rank(few.take(range(few.n)))[0]
    if size == few.dimension:
        return True
    others = np.unique(np.linspace(0, data.n - 1, min(few.n + _OTHERS, data.n)).astype(np.intp))
    some = data.part(np.union1d(places, others)).exact
    if rank(some.take(range(some.n)))[0] >= few.n or (few.dimension - size) * few.dimension > _MOST_NORMALS:
        return False
    try:
        return spans(data.exact, places.tolist())
    except (ArithmeticError, ValueError):  # ranks that could not be told from those modulo primes; too many equations
        return False
