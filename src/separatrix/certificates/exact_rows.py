"""The rows of the data as the whole numbers that they are, and the exact side of a plane on which each lies.

Every float is a whole number times a power of two. Here row i becomes ``z_i = y_i (x_i, 1)`` (without the 1 where there
is no bias), with every column divided by the one power of two that makes it a column of whole numbers. Dividing a
column only multiplies the plane's coordinate: whether some W has ``z_i . W > 0`` does not change.

For all rows at once, ``z_i . W`` is taken in floating point, with a bound on the error: that of the sum, of rounding W,
and of whatever is too small for a float. Most rows are decided so; the others are decided in whole numbers. Where every
sum is a whole number below 2^53, nothing is rounded and nothing is left over.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from separatrix import _core
from separatrix.certificates.integers import Integers, dependence, primitive
from separatrix.geometry.rows import Floats, Rows, is_sparse

Places = NDArray[np.intp]
Exponents = NDArray[np.int64]

_AT_ONCE = 1 << 20  # values that a block of rows may hold
_EXACT_AT_ONCE = 1 << 17  # whole numbers that a block of rows may hold
_MANTISSA = 53
_WORD = (1 << _MANTISSA) - 1
_TOP, _BOTTOM = 1000, -1000  # exponents between which words of a plane are exact
_EPS = 2.0**-52  # twice the relative error of one operation
_TAME = 400  # columns with values below 2^400 and not all below 2^-400 are multiplied as they are
_VANISHED = 2.0**-600  # more than what one product can lose below the smallest floats
_NONE = 1 << 20  # beyond any exponent


class ExactSpace(Protocol):
    """The interface of exact rows to a search: those of the data, or others derived from them."""

    n: int
    dimension: int

    def take(self, indices: Sequence[int] | Places) -> Integers:
        """Return these rows in whole numbers."""

    def dependence(self, indices: Places) -> list[int] | None:
        """Return the only weights (but for their scale) that combine these rows to zero, if there are such."""

    def floats(self, indices: Places) -> tuple[Floats, Exponents]:
        """Return these rows rounded, each column divided by a power of two, and its exponents."""

    def estimates(self, W: Sequence[int] | Integers, among: Places | None = None) -> tuple[Floats, Floats]:
        """Return ``z_i . W`` of all (or these) rows times a positive factor, and how far each may be from the truth."""

    def sides(self, W: Sequence[int] | Integers, among: Places | None = None) -> NDArray[np.int8]:
        """Return the exact sign of ``z_i . W`` for all (or these) rows."""


class ExactRows:
    """Whole numbers behind the rows: ``n`` rows in ``dimension`` coordinates, the last of them 1 where there is a bias.

    Examples
    --------
    >>> space = ExactRows(Rows([[0.5, 3.0], [0.25, -4.0]]), [1, -1], bias=True)
    >>> space.take([0, 1])
    array([[2, 3, 1],
           [-1, 4, -1]], dtype=object)
    >>> space.sides([1, -1, 1])
    array([ 0, -1], dtype=int8)
    >>> space.plane([1, -1, 1])
    (4, -1, 1)
    """

    def __init__(self, rows: Rows, signs: ArrayLike, bias: bool) -> None:
        self.n, features = rows.shape
        self.dimension = features + bias
        self._values, self._matrix, self._bias = rows.values, rows.matrix, bias
        self._signs: NDArray[np.int8] = np.asarray(signs).astype(np.int8)
        self._step = max(1, _AT_ONCE // features)
        self._low, self._high = self._exponents(features)
        self._wild = bool((abs(self._high) > _TAME).any())
        self._reach = np.zeros(self.dimension, dtype=np.int64)  # exponents by which blocks are brought down
        if self._wild:
            self._reach[:features] = self._high[:features]

    def take(self, indices: Sequence[int] | Places) -> Integers:
        """Return these rows in whole numbers."""
        rows = np.asarray(indices, dtype=np.intp)
        chosen = self._values[rows]
        whole = self._whole(chosen.toarray() if is_sparse(chosen) else chosen, self._low[: chosen.shape[1]])
        if self._bias:
            whole = np.concatenate([whole, np.full((len(rows), 1), 1, dtype=object)], axis=1)
        return np.asarray(whole * self._signs[rows, None].astype(object))

    def dependence(self, indices: Places) -> list[int] | None:
        """Return the only weights (but for their scale) that combine these rows to zero, if there are such."""
        return dependence(self.take(indices))

    def floats(self, indices: Places) -> tuple[Floats, Exponents]:
        """Return these rows as they are, each column divided by a power of two above its values, and its exponents."""
        chosen = self._values[indices]
        values = (chosen.toarray() if is_sparse(chosen) else chosen).astype(np.float64)
        if self._bias:
            values = np.append(values, np.ones((len(values), 1)), axis=1)
        values = np.ldexp(values, -self._high.astype(np.int32))
        return values * self._signs[indices, None], self._high - self._low

    def plane(self, W: Sequence[int] | Integers) -> tuple[int, ...]:
        """Return the same plane, up to a positive factor, for the rows as they were given."""
        return primitive([int(w) << int(shift) for w, shift in zip(W, max(self._low) - self._low, strict=True)])

    def whole_plane(self, plane: Sequence[float]) -> tuple[int, ...]:
        """Return the plane W, up to a positive factor, that these floats are for the rows as they were given."""
        ratios = [float(value).as_integer_ratio() for value in plane]
        common = max(denominator for _, denominator in ratios)
        return primitive(
            [
                numerator * (common // denominator) << int(shift)
                for (numerator, denominator), shift in zip(ratios, self._low - min(self._low), strict=True)
            ]
        )

    def scaled(self, plane: Sequence[int]) -> tuple[tuple[int, ...], Fraction]:
        """Return W for a plane of whole numbers for the rows as they were given, and the unit of ``z . W`` there.

        A row's ``y (w.x + b)`` is ``z . W`` times that unit.
        """
        lowest = min(self._low)
        shifted = [int(value) << int(shift) for value, shift in zip(plane, self._low - lowest, strict=True)]
        common = math.gcd(*shifted) or 1
        return primitive(shifted), common * Fraction(2) ** int(lowest)

    def least(self, W: Sequence[int] | Integers) -> int:
        """Return the least ``z_i . W`` of all rows."""
        values, errors = self.estimates(W)
        near = np.flatnonzero(~(values - errors > (values + errors).min()))
        w = np.array([int(value) for value in W], dtype=object)
        step = max(1, _EXACT_AT_ONCE // self.dimension)
        return int(min((self.take(near[k : k + step]) @ w).min() for k in range(0, len(near), step)))

    def estimates(self, W: Sequence[int] | Integers, among: Places | None = None) -> tuple[Floats, Floats]:
        """Return ``z_i . W`` of all (or these) rows times one power of two, and how far each may be from the truth."""
        w, exact = self._rounded(W)
        size = np.abs(w)
        last, last_size = (w[-1], size[-1]) if self._bias else (0.0, 0.0)
        slack, lost = (self.dimension + 8) * _EPS, self.dimension * _VANISHED
        count = self.n if among is None else len(among)
        values = np.empty(count)
        largest = float(np.ldexp(size, (self._high - self._reach).astype(np.int32)).sum())  # of all sums of sizes
        errors = np.full(count, 0.0 if exact else slack * largest + lost)
        for first in range(0, count, self._step):
            part = slice(first, first + self._step)
            block = self._block(part if among is None else among[part])
            width = block.shape[1]
            values[part] = block @ w[:width] + last
            near = np.flatnonzero(np.abs(values[part]) <= errors[part])
            if len(near) and not exact:
                errors[first + near] = slack * (abs(block[near]) @ size[:width] + last_size) + lost
        return values * (self._signs if among is None else self._signs[among]), errors

    def sides(self, W: Sequence[int] | Integers, among: Places | None = None) -> NDArray[np.int8]:
        """Return the exact sign of ``z_i . W`` for all (or these) rows."""
        values, errors = self.estimates(W, among)
        sides: NDArray[np.int8] = np.sign(values).astype(np.int8)
        unsure = np.flatnonzero((np.abs(values) <= errors) & (errors > 0.0))
        step = max(1, _EXACT_AT_ONCE // self.dimension)
        for first in range(0, len(unsure), step):
            part = unsure[first : first + step]
            sides[part] = self._exact_sides(W, part if among is None else among[part])
        return sides

    def combined(self, weights: Sequence[int] | Integers) -> Integers:
        """Return the sum of all rows, each times its whole number."""
        factors = np.array([int(weight) for weight in weights], dtype=object) * self._signs.astype(object)
        total: Integers = np.zeros(self.dimension, dtype=object)
        step = max(1, _EXACT_AT_ONCE // self.dimension)
        for first in range(0, self.n, step):
            block, some = self._values[first : first + step], factors[first : first + step]
            if is_sparse(block):
                times = np.repeat(some, np.diff(block.indptr))
                np.add.at(total, block.indices, self._whole(block.data, self._low[block.indices]) * times)
            else:
                width = block.shape[1]
                total[:width] += some @ self._whole(block, self._low[:width])
        if self._bias:
            total[-1] = sum(factors)
        return total

    def square_length(self, vector: Integers) -> Fraction:
        """Return the squared length of a vector in these coordinates, without that of the bias, for rows as given."""
        features = len(vector) - self._bias
        shifts = self._low[:features] - self._low[:features].min()
        total = sum((int(value) << int(shift)) ** 2 for value, shift in zip(vector[:features], shifts, strict=True))
        return total * Fraction(4) ** int(self._low[:features].min())

    def outside(self, N: Integers, among: Places | None = None) -> NDArray[np.bool_]:
        """Return which of all (or these) rows have ``z_i N != 0``."""
        rows = np.arange(self.n) if among is None else among
        outside = np.zeros(len(rows), dtype=bool)
        rounded = [self._rounded(W) for W in N.T]
        short = [w for w, exact in rounded if exact]
        if short:  # all at once, with nothing rounded
            table = np.stack(short, axis=1)
            for first in range(0, len(rows), self._step):
                part = slice(first, first + self._step)
                block = self._block(rows[part])
                products = np.asarray(block @ table[: block.shape[1]])
                outside[part] = (products + table[-1] if self._bias else products).any(axis=1)
        long = N[:, [k for k, (_, exact) in enumerate(rounded) if not exact]]
        mixed = long @ np.arange(1, 1 + long.shape[1]).astype(object)  # finds nearly all of them at once
        for W in (mixed, *long.T) if long.shape[1] else ():
            rest = np.flatnonzero(~outside)
            outside[rest] = self.sides(W, rows[rest]) != 0
        return outside

    def _exponents(self, features: int) -> tuple[Exponents, Exponents]:
        """Return for each column the exponent of its lowest bit, and of a power of two above all its values."""
        low, high = np.full(features, _NONE), np.full(features, -_NONE)
        for first in range(0, self.n, self._step):
            block = self._values[first : first + self._step]
            if is_sparse(block):
                lowest, highest = _bit_range(block.data)
                np.minimum.at(low, block.indices, lowest)
                np.maximum.at(high, block.indices, highest)
            else:
                lowest, highest = _bit_range(block)
                np.minimum(low, lowest.min(axis=0), out=low)
                np.maximum(high, highest.max(axis=0), out=high)
        empty = low == _NONE
        low[empty] = high[empty] = 0
        return (np.append(low, 0), np.append(high, 1)) if self._bias else (low, high)

    def _whole(self, values: NDArray[Any], low: Exponents) -> Integers:
        """Return the values as whole numbers, in units of their columns' lowest bits."""
        mantissas, exponents = _parts(values)
        shifts = np.where(mantissas == 0, 0, exponents - low)
        whole = mantissas >> np.maximum(-shifts, 0)
        left = np.maximum(shifts, 0)
        if not left.size or int(left.max()) < 63 - _MANTISSA:
            return (whole << left).astype(object)
        return np.asarray(whole.astype(object) << left.astype(object))

    def _rounded(self, W: Sequence[int] | Integers) -> tuple[Floats, bool]:
        """Return W as floats for :meth:`_block`, all products at most 1, and whether no product or sum is rounded."""
        lengths = np.array([int(w).bit_length() for w in W], dtype=np.int64)
        used = lengths > 0
        tops = lengths + self._high - self._low
        top = int(tops[used].max()) if used.any() else 0
        exact = not self._wild and top + self.dimension.bit_length() <= _MANTISSA
        cuts = np.maximum(lengths - 64, 0)
        floats = np.array([float(int(w) >> int(cut)) for w, cut in zip(W, cuts, strict=True)])
        shifts = cuts - self._low - top + self._reach
        return np.ldexp(floats, np.maximum(shifts, -3000).astype(np.int32)), exact

    def _block(self, rows: slice | Places) -> Any:
        """Return rows as floats, each column brought below 1 if some column is wild."""
        block = self._values[rows]
        if not self._wild:
            return block if is_sparse(block) else block.astype(np.float64, copy=False)
        if is_sparse(block):
            block = block.astype(np.float64)
            block.data = np.ldexp(block.data, -self._reach[block.indices].astype(np.int32))
            return block
        return np.ldexp(block.astype(np.float64), -self._reach[: block.shape[1]].astype(np.int32))

    def _exact_sides(self, W: Sequence[int] | Integers, rows: Places) -> NDArray[np.int8]:
        words = self._words(W)
        if words is not None:
            return _core.exact_sides(self._matrix, rows.astype(np.int64), words) * self._signs[rows]
        w = np.array([int(value) for value in W], dtype=object)
        if not is_sparse(self._values):
            return np.asarray(np.sign(self.take(rows) @ w), dtype=np.int8)
        chosen = self._values[rows]
        products = self._whole(chosen.data, self._low[chosen.indices]) * w[chosen.indices]
        last = int(w[-1]) if self._bias else 0
        totals = [sum(products[first:end], last) for first, end in pairwise(chosen.indptr)]
        return np.array([(total > 0) - (total < 0) for total in totals], dtype=np.int8) * self._signs[rows]

    def _words(self, W: Sequence[int] | Integers) -> Floats | None:
        """Return floats that sum up to the plane for the rows as they were given; None if that needs more range."""
        lengths = np.array([int(w).bit_length() for w in W])
        used = np.flatnonzero(lengths)
        tops = (lengths - self._low)[used]
        shift = _TOP - int(tops.max()) if len(used) else 0
        if len(used) and shift - int(self._low[used].max()) < _BOTTOM:
            return None
        words = np.zeros((max(1, -(-int(lengths.max()) // _MANTISSA)), len(self._low) + (not self._bias)))
        for j in used.tolist():
            size, sign, place = abs(int(W[j])), 1.0 if W[j] > 0 else -1.0, 0
            while size:
                words[place, j] = sign * math.ldexp(size & _WORD, place * _MANTISSA - int(self._low[j]) + shift)
                size, place = size >> _MANTISSA, place + 1
        return words


def _parts(values: NDArray[Any]) -> tuple[NDArray[np.int64], Exponents]:
    """Return whole numbers of at most 53 bits and exponents: ``values = whole * 2^exponents``."""
    mantissas, exponents = np.frexp(values.astype(np.float64, copy=False))
    return np.ldexp(mantissas, _MANTISSA).astype(np.int64), exponents.astype(np.int64) - _MANTISSA


def _bit_range(values: NDArray[Any]) -> tuple[Exponents, Exponents]:
    """Return the exponent of each value's lowest bit, and of a power of two above it; neither matters where it is 0."""
    whole, exponents = _parts(values)
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    zero = whole == 0
    return np.where(zero, _NONE, exponents + lowest), np.where(zero, -_NONE, exponents + _MANTISSA)
