"""Linear algebra in whole numbers, without rounding.

A square system A x = b is solved by Dixon's lifting. With C the inverse of A modulo a prime p, the digits of x to the
base p follow one after the other: ``x_k = C r_k mod p`` and ``r_{k+1} = (r_k - A x_k) / p``, from ``r_0 = b``. Once
there are enough digits, only one fraction with a small numerator and a small denominator agrees with them, and Euclid's
algorithm finds it. The products run in floating point on numbers cut so small that every sum is a whole number below
2^53: nothing is rounded, whatever the order of the sums. Small systems, and those of very long numbers, are solved by
elimination without fractions instead. A solution counts only after it is put into the equations.

A rank modulo a prime is at most the true rank. Vectors that are sent to zero prove the other direction.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.simplex import one_thread

Integers = NDArray[np.object_]
Residues = NDArray[np.int64]

_BASES = (67108859, 67108837, 67108819)  # the largest primes below 2^26
_DIGIT = 26  # bits of a digit
_HALF = 13
_EXACT = 53  # bits of a whole number that a float holds
_MODULI = (1769167381, 1397687939, 1921618807)  # primes below 2^31, no round numbers: data are rarely multiples
_MORE_MODULI = 8
_SMALL = 16  # unknowns; so few are eliminated
_LONG = 60  # bits of an entry for each unknown; longer ones are eliminated
_SPARE = 21  # bits by which a fraction must be smaller than the largest that the digits could tell apart
_MIX = 10  # bits of the multipliers that mix all unknowns into one


def lift(A: Integers, b: Integers | Sequence[int]) -> tuple[list[int], int] | None:
    """Solve A x = b: numerators and one positive denominator, or None if A is singular modulo each of three primes.

    Examples
    --------
    >>> lift(np.array([[2, 1], [0, 3]], dtype=object), [1, 1])
    ([1, 1], 3)
    """
    solution = solve(A, np.array(b, dtype=object).reshape(-1, 1))
    return None if solution is None else ([int(value) for value in solution[0][:, 0]], solution[1])


def solve(A: Integers, B: Integers) -> tuple[Integers, int] | None:
    """Solve A X = B, one column of B at a time or many, with one denominator for all: as :func:`lift`."""
    size = len(A)
    if size <= _SMALL or _bits(A) > _LONG * size:
        solution = _eliminate(A, B)
    else:
        with one_thread():  # products this small lose much by waiting for busy cores
            solution = _dixon(A, B)
    if solution is None:
        return None
    X, denominator = solution
    common = math.gcd(denominator, *X.flat)
    return X // common, denominator // common


def rank(Z: Integers, modulus: int = _MODULI[0]) -> tuple[int, list[int], list[int]]:
    """Return the rank modulo a prime, and the rows and columns of a minor of that size that is not zero."""
    rest: Residues = (Z % modulus).astype(np.int64)
    order = np.arange(len(Z))
    columns: list[int] = []
    for column in range(rest.shape[1]):
        done = len(columns)
        candidates = done + np.flatnonzero(rest[done:, column])
        if not len(candidates):
            continue
        pivot = [done, candidates[0]]
        rest[pivot], order[pivot] = rest[pivot[::-1]], order[pivot[::-1]]
        columns.append(column)
        if len(columns) == len(Z):
            break
        top = rest[done, column:] * pow(int(rest[done, column]), -1, modulus) % modulus
        below = rest[done + 1 :, column:]
        below -= below[:, :1] * top
        below %= modulus
    return len(columns), [int(row) for row in order[: len(columns)]], columns


def null_space(Z: Integers) -> Integers:
    """Return independent columns that are a basis of all W with Z W = 0.

    Examples
    --------
    >>> null_space(np.array([[2, 4, 0], [1, 2, 0]], dtype=object))
    array([[-2, 0],
           [1, 0],
           [0, 1]], dtype=object)
    """
    for modulus in _moduli():
        _, rows, columns = rank(Z, modulus)
        free = np.setdiff1d(np.arange(Z.shape[1]), columns)
        basis: Integers = np.zeros((Z.shape[1], len(free)), dtype=object)
        if not len(free):
            return basis
        minor = Z[rows]
        solution = solve(minor[:, columns], -minor[:, free])
        if solution is None:
            continue
        basis[columns] = solution[0]
        basis[free, np.arange(len(free))] = solution[1]
        for column in basis.T:
            column //= math.gcd(*column)
        if not (Z @ basis).any():
            return basis
    raise ArithmeticError("the rank differs from the rank modulo each prime that was tried")


def dependence(Z: Integers) -> list[int] | None:
    """Return the only weights (but for their scale) that combine the rows to zero; None if there is not just one."""
    size, rows, columns = rank(Z)
    if size != len(Z) - 1:
        return None
    (last,) = set(range(len(Z))) - set(rows)
    solution = lift(Z[rows][:, columns].T, -Z[last, columns])
    if solution is None:
        return None
    weights: Integers = np.empty(len(Z), dtype=object)
    weights[rows], weights[last] = solution
    return [int(weight) for weight in weights] if not (weights @ Z).any() else None


def combination(Z: Integers, vector: Integers) -> tuple[list[int], int] | None:
    """Return coefficients and a positive denominator that combine the rows to the vector; None if none were found.

    Examples
    --------
    >>> combination(np.array([[2, 0], [4, 0], [0, 3]], dtype=object), np.array([1, 1], dtype=object))
    ([3, 0, 2], 6)
    """
    for modulus in _moduli():
        _, rows, columns = rank(Z, modulus)
        solution = lift(Z[rows][:, columns].T, vector[columns])
        if solution is None:
            continue
        coefficients: Integers = np.zeros(len(Z), dtype=object)
        coefficients[rows], denominator = solution
        if not (coefficients @ Z - denominator * vector).any():
            return [int(value) for value in coefficients], denominator
    return None


def circuit(Z: Integers) -> list[int] | None:
    """Return the only weights that combine the rows to zero if they are all positive, else None.

    Examples
    --------
    >>> circuit(np.array([[1, 0], [0, 1], [-2, -3]], dtype=object))
    [2, 3, 1]
    >>> circuit(np.array([[1, 0], [0, 1], [2, 3]], dtype=object)) is None
    True
    """
    weights = dependence(Z)
    return weights if weights is not None and min(weights) > 0 else None


def primitive(values: Sequence[int] | Integers) -> tuple[int, ...]:
    """Return the values divided by their greatest common divisor."""
    common = math.gcd(*values) or 1
    return tuple(int(value) // common for value in values)


def _moduli() -> Iterator[int]:
    """Yield primes: the same few at first, and then such as no data can have been made to vanish for."""
    yield from _MODULI
    small = np.arange(3, 1 << 16, 2)
    for _ in range(_MORE_MODULI):
        candidate = secrets.randbits(29) | (1 << 30) | 1
        while not (candidate % small).all():
            candidate += 2
        yield candidate


def _bits(values: Integers) -> int:
    return max((int(value).bit_length() for value in values.flat), default=0)


def _eliminate(A: Integers, B: Integers) -> tuple[Integers, int] | None:
    """Solve by Gauss and Jordan without fractions: every division leaves no remainder."""
    size = len(A)
    table: Integers = np.concatenate([A, B], axis=1)
    last = 1
    for k in range(size):
        candidates = np.flatnonzero(table[k:, k])
        if not len(candidates):
            return None
        swap = [k, k + candidates[0]]
        table[swap] = table[swap[::-1]]
        top = table[k].copy()
        table = (top[k] * table - table[:, k, None] * top) // last
        table[k] = top
        last = top[k]
    X, denominator = table[:, size:] * (-1 if last < 0 else 1), abs(int(last))
    if not _holds(A, X, denominator, B):
        raise ArithmeticError("elimination left a remainder")
    return X, denominator


def _holds(A: Integers, X: Integers, denominator: int, B: Integers) -> bool:
    return not (A @ X - denominator * B).any()


def _dixon(A: Integers, B: Integers) -> tuple[Integers, int] | None:
    """Solve by lifting; the digits are read as soon as they tell, at the latest where Hadamard's bound says so."""
    for base in _BASES:
        inverse = _inverse(A, base)
        if inverse is not None:
            break
    else:
        return None
    limb, parts = _limbs(A)
    multipliers = np.random.default_rng(0).integers(1, 1 << _MIX, size=B.size)
    most = math.ceil(2 * (_hadamard(A, B) + _MIX + B.size.bit_length() + _SPARE + 2) / math.log2(base)) + 1
    rest, digits, mixed = B, list[Integers](), list[Any]()
    next_try = 8
    while True:
        low = (rest % base).astype(np.int64)
        digit = _product(inverse, low, base)
        digits.append(digit.astype(object))
        mixed.append(int(multipliers @ digit.ravel()))
        rest = (rest - _combined(parts @ digit.astype(np.float64), limb, len(A))) // base
        if len(digits) == min(next_try, most):
            solution = _read(digits, mixed, base)
            if solution is not None and _holds(A, *solution, B):
                return solution
            if len(digits) == most:
                raise ArithmeticError("more digits than Hadamard's bound asks for")
            next_try *= 2


def _inverse(A: Integers, prime: int) -> NDArray[np.float64] | None:
    """Return the inverse modulo the prime, or None, by Gauss and Jordan in place."""
    work: Residues = (A % prime).astype(np.int64)
    order = np.arange(len(A))
    for k in range(len(A)):
        candidates = np.flatnonzero(work[k:, k])
        if not len(candidates):
            return None
        swap = [k, k + candidates[0]]
        work[swap], order[swap] = work[swap[::-1]], order[swap[::-1]]
        pivot = pow(int(work[k, k]), -1, prime)
        work[k, k] = 1
        work[k] = work[k] * pivot % prime
        top, left = work[k].copy(), work[:, k].copy()
        left[k] = 0
        work[:, k] = np.where(np.arange(len(A)) == k, top[k], 0)
        work -= left[:, None] * top
        work %= prime
    inverse = np.empty(work.shape)
    inverse[:, order] = work
    return inverse


def _product(matrix: NDArray[np.float64], digit: Residues, prime: int) -> Residues:
    """Multiply residues exactly: one factor in halves of 13 bits."""
    low = (matrix @ (digit & ((1 << _HALF) - 1)).astype(np.float64)).astype(np.int64)
    high = (matrix @ (digit >> _HALF).astype(np.float64)).astype(np.int64)
    product: Residues = ((high % prime << _HALF) + low % prime) % prime
    return product


def _limbs(A: Integers) -> tuple[int, NDArray[np.float64]]:
    """Cut the entries into limbs so short that sums of their products with digits are exact; put one below another."""
    limb = _EXACT - _DIGIT - len(A).bit_length()
    if limb < _HALF:
        raise ValueError(f"{len(A)} equations are more than this method can take")
    signs, rest = np.sign(A), abs(A)
    parts: list[NDArray[np.float64]] = []
    while not parts or rest.any():
        parts.append((signs * (rest & ((1 << limb) - 1))).astype(np.float64))
        rest = rest >> limb
    return limb, np.concatenate(parts)


def _combined(products: NDArray[np.float64], limb: int, size: int) -> Integers:
    whole = products.astype(np.int64).astype(object)
    total = whole[-size:]
    for last in range(len(whole) - size, 0, -size):
        total = (total << limb) + whole[last - size : last]
    return total


def _hadamard(A: Integers, B: Integers) -> int:
    """Bound the bits of every determinant of columns of A and at most one of B, by the product of the rows' lengths."""
    squares = (A * A).sum(axis=1) + (B * B).max(axis=1)
    return math.prod(map(int, squares)).bit_length() // 2 + 1


def _read(digits: list[Integers], mixed: list[Any], base: int) -> tuple[Integers, int] | None:
    """Return the small fractions that have these digits, or None if there are none."""
    modulus = base ** len(digits)
    bound = math.isqrt(modulus) >> _SPARE
    denominator = _denominator(_value(mixed, base) % modulus, modulus, bound, bound)
    if denominator is None:
        return None
    residues = _value(digits, base)
    while True:
        numerators = residues * denominator % modulus
        numerators = np.where(numerators > modulus // 2, numerators - modulus, numerators)
        large = np.flatnonzero(abs(numerators).ravel() > bound)
        if not len(large):
            return numerators, denominator
        more = _denominator(numerators.flat[large[0]] % modulus, modulus, bound, bound // denominator)
        if more is None:
            return None
        denominator *= more


def _value(digits: list[Any], base: int) -> Any:
    """Return ``sum digits_k base^k``, joining neighbours so that long numbers meet long numbers."""
    while len(digits) > 1:
        pairs = [low + high * base for low, high in zip(digits[::2], digits[1::2], strict=False)]
        digits = pairs + digits[2 * len(pairs) :]
        base *= base
    return digits[0]


def _denominator(residue: int, modulus: int, bound: int, largest: int) -> int | None:
    """Return the least denominator whose product with the residue is at most the bound; None if above the largest."""
    before, now = modulus, residue
    old, new = 0, 1
    while now > bound:
        quotient, after = divmod(before, now)
        before, now = now, after
        old, new = new, old - quotient * new
    return abs(new) if abs(new) <= largest else None
