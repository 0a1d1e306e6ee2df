"""Numbers that a person gives, kept exact where they are: ints, fractions and short decimals; roots; numbers as text.

Exact rows are tuples of ints and Fractions, others a NumPy array of floats. A float of at most 15 significant digits
stands for the decimal that it prints as; a longer one is the result of a computation, and stays a float. Tables of more
than :data:`MOST_EXACT` numbers are floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats, Rows, column_names, frame_columns, is_sparse
from separatrix.insight.trace_view import number
from separatrix.loop.problem import as_exact
from separatrix.rules import Number

MOST_EXACT = 10_000
TOO_LARGE = "the numbers are so large that no float holds the result: scale the features or the weights first"
_DIGITS = 15  # every decimal of that many digits is the only one of them next to its double
_LONGEST = 12  # digits of a denominator that is still shown

ExactRows = tuple[tuple[Number, ...], ...]


def is_exact(value: Number) -> bool:
    """Return whether a number is an int or a Fraction."""
    return isinstance(value, int | Fraction)


def read_number(value: Any) -> Number:
    """Return an int or a Fraction for an exact number or a short decimal, else a float.

    Examples
    --------
    >>> read_number("1/2"), read_number(2.0), read_number(0.1), read_number(0.1 + 0.2)
    (Fraction(1, 2), 2, Fraction(1, 10), 0.30000000000000004)
    """
    if isinstance(value, float | np.floating):
        if not math.isfinite(value):
            return as_exact(value)  # which says that there is none
        text = str(value)
        if sum(each.isdigit() for each in text.split("e")[0].lstrip("-0.")) > _DIGITS:
            return float(value)
        return as_exact(text)
    return as_exact(value.strip() if isinstance(value, str) else value)


def read_numbers(values: Iterable[Any]) -> tuple[Number, ...]:
    """Return numbers that are all exact, or all floats where one of them is."""
    read = tuple(read_number(value) for value in values)
    return read if all(map(is_exact, read)) else tuple(float(value) for value in read)


def read_rows(X: Any, width: int) -> tuple[ExactRows | Floats, bool]:
    """Return the rows of X, exact where they can be, and whether X was one row.

    Parameters
    ----------
    X : one row, a table of numbers, an array, a sparse matrix or a frame
        Numbers may be text such as "1/2".
    width : int
        How many numbers a row must have.
    """
    if column_names(X) is not None:
        X = list(zip(*(column.tolist() for column in frame_columns(X)), strict=True))
    if is_sparse(X):
        _check_width(X.shape[1], width)
        return _floats(X), False
    if not isinstance(X, np.ndarray):
        X = list(X) if np.iterable(X) and not isinstance(X, str | bytes) else X
        if not isinstance(X, list):
            raise ValueError(f"X must be one row of {width} numbers or a table of such rows; found {X!r}")
    single = X.ndim == 1 if isinstance(X, np.ndarray) else not any(_is_row(row) for row in X)
    table = [X] if single else X
    if len(table) == 0 or (single and len(X) == 0):
        raise ValueError(f"X has no rows; give one row of {width} numbers or a table of such rows")
    if isinstance(table, np.ndarray):
        if table.ndim != 2:
            raise ValueError(f"X must be one row or a table (1 or 2 dimensions); found {table.ndim} dimensions")
        _check_width(table.shape[1], width)
        if table.size > MOST_EXACT and table.dtype.kind in "biuf":
            return _floats(table), False
        table = table.tolist()
    for place, row in enumerate(table):
        if not _is_row(row):
            raise ValueError(f"X mixes rows and numbers: its entry {place} is {row!r}, where a row belongs")
        _check_width(len(row), width, "" if single else f" in row {place}")
    if len(table) * width > MOST_EXACT:
        return _floats(np.array([[float(as_exact(value)) for value in row] for row in table])), single
    rows = tuple(_read_row(row, place) for place, row in enumerate(table))
    if all(is_exact(value) for row in rows for value in row):
        return rows, single
    return _floats(np.array([[float(value) for value in row] for row in rows])), single


def _is_row(row: Any) -> bool:
    return np.iterable(row) and not isinstance(row, str | bytes)


def _read_row(row: Sequence[Any], place: int) -> tuple[Number, ...]:
    try:
        return tuple(read_number(value) for value in row)
    except ValueError as problem:
        raise ValueError(f"row {place} of X: {problem}; every value must be a finite number") from None


def _check_width(found: int, width: int, where: str = "") -> None:
    if found != width:
        values = "1 feature" if found == 1 else f"{found} features"
        weights = "1 weight" if width == 1 else f"{width} weights"
        raise ValueError(f"X has {values}{where}, but the plane has {weights}: give one weight for each feature")


def _floats(X: Any) -> Any:
    rows = Rows(X)
    rows.check_finite()
    return rows.values.astype(np.float64, copy=False)


def root(square: Number) -> Number:
    """Return the square root, exact where it is a fraction, else the nearest float.

    Examples
    --------
    >>> root(Fraction(9, 4)), root(2), root(10**700 * 4) == 2 * 10**350
    (Fraction(3, 2), 1.4142135623730951, True)
    """
    if not is_exact(square):
        return math.sqrt(square)
    fraction = Fraction(square)
    top, bottom = math.isqrt(fraction.numerator), math.isqrt(fraction.denominator)
    if top * top == fraction.numerator and bottom * bottom == fraction.denominator:
        return plain(Fraction(top, bottom))
    bits = max(0, 128 - fraction.numerator.bit_length() + fraction.denominator.bit_length())
    bits += bits % 2
    nearest = Fraction(math.isqrt((fraction.numerator << bits) // fraction.denominator), 1 << (bits // 2))
    try:
        return float(nearest)
    except OverflowError:
        raise ValueError(TOO_LARGE) from None


def over_root(value: Number, square: Number) -> Number:
    """Return an exact ``value / square^0.5``, exact itself where that is a fraction."""
    return plain((-1 if value < 0 else 1) * root(Fraction(value) * value / square))


def plain(value: Number) -> Number:
    """Return a whole Fraction as an int, a NumPy number as Python's."""
    if isinstance(value, Fraction):
        return int(value) if value.denominator == 1 else value
    return value.item() if isinstance(value, np.generic) else value


def shown(value: Number, *, decimals: bool = True, digits: int = 6) -> str:
    """Return a number as short text: exact as a decimal that ends or a fraction, a float with a few digits.

    Examples
    --------
    >>> shown(Fraction(5, 2)), shown(Fraction(1, 3)), shown(2**0.5), shown(Fraction(5, 2), decimals=False)
    ('2.5', '1/3', '1.41421', '5/2')
    >>> shown(-2 * 10**600), shown(Fraction(123456789 * 10**400, 7))
    ('-2e600', '1.76367e407')
    """
    if is_exact(value) and len(str(Fraction(value).denominator)) <= _LONGEST:
        text = number(value, decimals=decimals)
        if len(text) <= 2 * _LONGEST:
            return text
    try:
        return f"{float(value) + 0.0:.{digits}g}"
    except OverflowError:
        whole = str(abs(int(value)))
        leading = f"{float(f'{whole[0]}.{whole[1 : digits + 2]}'):.{digits}g}"
        return f"{'-' if value < 0 else ''}{leading}e{len(whole) - 1}"


def vector(values: Iterable[Number], *, decimals: bool = True) -> str:
    """Return numbers as text: ``(1, -0.5)``."""
    return "(" + ", ".join(shown(value, decimals=decimals) for value in values) + ")"
