"""Bounds that hold whatever rounding did: margins, lengths, gaps between hulls, radii.

The data are the exact numbers that they are stored as. Every operation on doubles rounds to the nearest, so the exact
result lies between the two neighbours of the computed one: each bound here is a few operations on numbers that are
bounds themselves, each pushed outwards. Sums over rows and columns come from the core with bounds of their own, and
have the same bits on every machine. Powers of two are exact factors: numbers whose squares would overflow or vanish are
brought to a middling size first.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse

_UNIT = 2.0**-53
_LARGEST = float(np.finfo(np.float64).max)
_BLOCK = 4096  # rows that are copied to another scale at a time
_LIFT = 500  # an exponent that brings subnormal numbers up, or the largest down, and leaves room for sums and products


class Margins(NamedTuple):
    """Bounds on ``y (w.x + b)`` of every row."""

    lower: Floats
    upper: Floats


def margins(rows: Rows, signs: Floats, weights: Floats, bias: float, n_jobs: int = 1) -> Margins:
    """Return bounds on every row's margin ``y (w.x + b)``; infinite where the numbers overflow.

    The core bounds the error of each score, and the sign of an example changes no digit. Where the error is 0 the score
    is exact, and so are both bounds; elsewhere the sum of score and error rounds once more.

    Examples
    --------
    >>> enclosed = margins(Rows([[0.0, 0.0], [1.0, 2.0]]), np.array([1.0, -1.0]), np.array([1.0, 1.0]), 0.0)
    >>> bool(enclosed.lower[0] == enclosed.upper[0] == 0.0), bool(enclosed.lower[1] <= -3.0 <= enclosed.upper[1])
    (True, True)
    """
    scores, errors, _ = _core.enclosed_scores(rows.matrix, weights, float(bias), n_jobs)
    known = np.isfinite(errors)
    middle, errors = signs * np.where(known, scores, 0.0), np.where(known, errors, np.inf)
    exact = errors == 0.0
    with np.errstate(over="ignore"):
        lower = np.where(exact, middle, np.nextafter(middle - errors, -np.inf))
        upper = np.where(exact, middle, np.nextafter(middle + errors, np.inf))
    return Margins(lower, upper)


def least(rows: Rows, signs: Floats, weights: Floats, bias: float, n_jobs: int = 1) -> tuple[float, float]:
    """Return a lower bound on the least ``y (w.x + b)``, and an upper bound on the largest ``|x|^2``.

    The same as the least of :func:`margins`: rounding down the least difference of score and error is rounding down
    all.
    """
    scores, errors, squares = _core.enclosed_scores(rows.matrix, weights, float(bias), n_jobs)
    square = float(squares.max())
    if not math.isfinite(float(errors.max())):
        return -math.inf, square
    scores *= signs
    scores -= errors
    return _down(float(scores.min())), square


def length(weights: Floats) -> tuple[float, float]:
    """Return bounds on the Euclidean length of a vector.

    The vector is first scaled by a power of two until its largest number is between 1/2 and 1. Numbers that vanish at
    that scale add less than a part 2^-900 to the square, as does what their products lose. The square is a sum of n
    squares in 16 lanes: no more than n/16 + 5 roundings are between a number and the sum, and none of it can cancel.

    Examples
    --------
    >>> low, high = length(np.array([3e200, 4e200]))
    >>> low <= 5e200 <= high, high - low < 1e186
    (True, True)
    """
    largest = float(np.abs(weights).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0.0
    if not math.isfinite(largest):
        return 0.0, math.inf
    exponent = math.frexp(largest)[1]
    scaled = np.ldexp(np.asarray(weights, dtype=np.float64), -exponent)
    square = _core.dot(scaled, scaled)
    doubt = _up(square * (len(scaled) / 16 + 8) * _UNIT * 1.01)
    low, high = _down(math.sqrt(_down(square - doubt))), _up(math.sqrt(_up(square + doubt)))
    return _shift_down(low, exponent), _shift_up(high, exponent)


def hull_gap(rows: Rows, signs: Floats, shares: Floats, *, free: bool) -> float:
    """Return an upper bound on the margin ``min y (w.x + b) / |w|`` of every plane; infinite where there is none.

    The shares are nonnegative numbers, one for each row. With a free bias both classes must have some: the least margin
    of any plane is at most half the distance of the two classes' weighted means c+ and c-, because the mean of the
    positive margins is ``(w.c+ + b) / |w|``, that of the negative ones ``-(w.c- + b) / |w|``, and half their sum is
    ``w.(c+ - c-) / 2 |w|``. Without one, the mean of all margins is ``w.z / |w|``, where z is the mean of ``y x``, so
    that no margin is above ``|z|``.

    Since any shares give a bound, they may be scaled by powers of two, each class by its own, and what vanishes does
    not count. Dense rows with a free bias are seen from one of them, which moves both means alike: far from the origin
    they keep their digits.
    """
    shares = np.asarray(shares, dtype=np.float64)
    if not (np.isfinite(shares).all() and (shares >= 0.0).all()):
        raise ValueError("the shares of the rows must be finite and not negative")
    best = math.inf
    for lift in (0, -_LIFT, _LIFT):
        apart = _means_apart(rows, signs, shares, lift) if free else _mean_length(rows, signs, shares, lift)
        best = min(best, _up(0.5 * apart) if free else apart)
        if 2.0**-800 < best < math.inf:
            break
    return best


def radius(rows: Rows, bias: float = 0.0) -> tuple[float, float]:
    """Return bounds on the length of the longest ``(x, K)``, where K is the bias coordinate (0: none).

    From above, the largest of the core's bounds on ``|x|^2``, at a scale where it neither overflows nor vanishes; from
    below, the length of the row that has it.

    Examples
    --------
    >>> low, high = radius(Rows([[3.0, 4.0], [1.0, 1.0]]), 12.0)
    >>> low <= 13.0 <= high, high - low < 1e-13
    (True, True)
    """
    squares = square_lengths(rows.matrix)
    square, row, exponent = float(squares.max()), int(np.argmax(squares)), 0
    if not 2.0**-800 < square < 2.0**1000:
        square, row, exponent = _rescaled_square(rows)
    longest = _dense_row(rows, row)
    low = length(np.append(longest, bias))[0]
    x = _shift_up(_up(math.sqrt(square)), exponent) if square > 0.0 else 0.0
    if not math.isfinite(x):
        return low, math.inf
    return low, length(np.array([x, bias]))[1]


def _up(x: float) -> float:
    return math.nextafter(x, math.inf)


def _down(x: float) -> float:
    return math.nextafter(x, -math.inf)


def _shift_up(x: float, exponent: int) -> float:
    """Return no less than ``x 2^exponent``."""
    try:
        shifted = math.ldexp(x, exponent)
    except OverflowError:
        return math.inf if x > 0.0 else -_LARGEST
    return shifted if math.ldexp(shifted, -exponent) == x else _up(shifted)


def _shift_down(x: float, exponent: int) -> float:
    """Return no more than ``x 2^exponent``."""
    return -_shift_up(-x, exponent)


def _total(numbers: Floats) -> tuple[float, float]:
    """Return bounds on the sum of numbers that are not negative, from the core's sum in two doubles."""
    sums, errors = _core.enclosed_sums(_core.dense(numbers[:, None]), np.ones(len(numbers)), None)
    total, error = float(sums[0]), float(errors[0])
    return max(_down(total - error), 0.0), _up(total + error)


def _mean(rows: Rows, shares: Floats, factors: Floats, origin: Floats | None) -> tuple[Floats, Floats]:
    """Return the sum of ``factors (x - origin)`` by the sum of the shares, and bounds on its errors.

    Let s be the sum that the core computed, within e of the exact one, and let the exact total be between low and high.
    Then ``s / low`` is off by at most ``e / low + |s / low| (high - low) / low``; dividing rounds once more, by no more
    than u of the result or half the least double, for which 4 u more and ``_raised`` pay.
    """
    sums, errors = _core.enclosed_sums(rows.matrix, factors, origin)
    low, high = _total(shares)
    if not (low > 0.0 and math.isfinite(high) and np.isfinite(errors).all()):
        return np.zeros(len(sums)), np.full(len(sums), np.inf)
    relative = _up(_up(high - low) / low) + 4.0 * _UNIT
    with np.errstate(over="ignore", under="ignore"):
        mean = sums / low
        return mean, _raised(errors / low + np.abs(mean) * relative)


def _raised(bounds: Floats) -> Floats:
    """Return these bounds made larger by what a few roundings and underflows can have taken from them."""
    raised: Floats = bounds * (1.0 + 16.0 * _UNIT) + 2.0**-1072
    return raised


def _lifted(shares: Floats, lift: int) -> Floats:
    """Return the shares times a power of two, the largest between half of ``2^lift`` and all of it."""
    exponent = math.frexp(float(shares.max(initial=0.0)))[1]
    with np.errstate(under="ignore"):
        return np.ldexp(shares, lift - exponent)


def _means_apart(rows: Rows, signs: Floats, shares: Floats, lift: int) -> float:
    """Return an upper bound on the distance of the two classes' means."""
    classes = [_lifted(np.where(signs * side > 0, shares, 0.0), lift) for side in (1.0, -1.0)]
    if not all(part.any() for part in classes):
        return math.inf
    origin = None if is_sparse(rows.values) else _dense_row(rows, int(np.argmax(classes[0] > 0.0)))
    (one, one_error), (other, other_error) = (_mean(rows, part, part, origin) for part in classes)
    with np.errstate(over="ignore", invalid="ignore"):
        return _longest(one - other, one_error + other_error)


def _mean_length(rows: Rows, signs: Floats, shares: Floats, lift: int) -> float:
    """Return an upper bound on the length of the mean of ``y x``."""
    shares = _lifted(shares, lift)
    if not shares.any():
        return math.inf
    return _longest(*_mean(rows, shares, signs * shares, None))


def _longest(vector: Floats, errors: Floats) -> float:
    """Return an upper bound on the length of a vector of differences, each rounded once and known within its error."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        sizes = _raised(np.abs(vector) * (1.0 + 2.0 * _UNIT) + errors)
    return length(sizes)[1] if np.isfinite(sizes).all() else math.inf


def square_lengths(matrix: _core.Matrix) -> Floats:
    """Return upper bounds on ``|x|^2``: every square and every sum rounds by u, or loses half the least double."""
    count = matrix.shape[1] + 8
    with np.errstate(over="ignore"):
        return _raised(_core.square_norms(matrix) * (1.0 + 2.0 * count * _UNIT) + count * 2.0**-1074)


def _dense_row(rows: Rows, row: int) -> Floats:
    values = rows.values[[row]].toarray()[0] if is_sparse(rows.values) else rows.values[row]
    return np.ascontiguousarray(values, dtype=np.float64)


def _rescaled_square(rows: Rows) -> tuple[float, int, int]:
    """Return a bound on the largest ``|x|^2``, its row, and an exponent: the square belongs to ``2^-exponent x``.

    A number that vanishes at the scale where the largest is about 1 adds nothing that the core's bound does not allow
    for: its square would vanish too.
    """
    values = rows.values
    largest = float(np.abs(values.data if is_sparse(values) else values).max(initial=0.0))
    if largest == 0.0:
        return 0.0, 0, 0
    if not math.isfinite(largest):
        return math.inf, 0, 0
    exponent = math.frexp(largest)[1]
    best, row = -1.0, 0
    for first in range(0, rows.shape[0], _BLOCK):
        squares = square_lengths(Rows(_shifted(values[first : first + _BLOCK], -exponent)).matrix)
        at = int(np.argmax(squares))
        if squares[at] > best:
            best, row = float(squares[at]), first + at
    return best, row, exponent


def _shifted(values: Any, exponent: int) -> Any:
    with np.errstate(under="ignore"):
        if not is_sparse(values):
            return np.ldexp(values.astype(np.float64), exponent)
        moved = values.astype(np.float64)
        data: NDArray[np.float64] = np.ldexp(moved.data, exponent)
        moved.data = data
        return moved
