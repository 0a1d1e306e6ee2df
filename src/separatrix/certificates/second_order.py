"""The mistake bounds of AROW and of the second-order perceptron with a full covariance, in arithmetic that proves it.

Crammer, Kulesza and Dredze 2009, theorem 2. A run from zero weights and a spread of 1 updates on the examples A, M of
them mistakes and U not. Write x for an example with its bias coordinate K, and ``X_A`` for the sum of ``x x^T`` over A,
each as often as it was met. Then for every plane u

``M <= sqrt(r |u|^2 + u . X_A u) sqrt(log det(I + X_A / r) + U) + (sum over A of the hinge losses of u) - U``.

The proof in short: an update adds ``x x^T / r`` to the inverse spread P and ``y x / r`` to ``P w``, so that
``u . P w >= (M + U - losses) / r``; it adds ``1/r - (1 - m)^2 / (v + r)`` to ``w . P w``, which is at most
``log(1 + v / r) / r`` for a mistake and ``1 / r`` more for another; and ``(u . P w)^2 <= (u . P u) (w . P w)``.

The second-order perceptron makes the updates of AROW with ``r = a`` on mistakes only. The proof asks no more of the
examples in A than that they were updated on, so with U = 0 it is the theorem of Cesa-Bianchi, Conconi and Gentile 2005:
``M <= sqrt((a |u|^2 + u . X_A u) log det(I + X_A / a)) + (sum over A of the hinge losses of u)``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.data import Data, processors
from separatrix.certificates.proving import OUTWARD
from separatrix.geometry.rows import Floats, is_sparse

_MOST_PRODUCTS = 4e9  # for the determinant
_SMALLEST, _LARGEST = 2.0**-200, 2.0**200  # numbers of which no product here overflows or vanishes


class Updates(NamedTuple):
    """What is known of the updates of a run: how many, how many are mistakes, and how often a row can have made one.

    That is once an epoch, or every time where examples are drawn with replacement.
    """

    made: int
    mistakes: int
    of_a_row: int

    def most(self, values: Floats) -> float:
        """Return the most that the sum over the updates of these values, one for each row, can be.

        Examples
        --------
        >>> 5.0 <= Updates(made=3, mistakes=1, of_a_row=2).most(np.array([1.0, 2.0, 0.5])) < 5.001
        True
        """
        whole, rest = divmod(self.made, self.of_a_row)
        largest = np.sort(values)[::-1][: whole + (rest > 0)]
        if len(largest) < whole + (rest > 0) or not np.isfinite(largest).all():
            return math.inf
        counts = np.full(len(largest), float(self.of_a_row))
        counts[whole:] = rest
        try:
            return math.fsum((counts * largest).tolist()) * (1.0 + OUTWARD)
        except OverflowError:
            return math.inf


def are_ordinary(data: Data, weights: Floats, bias: float, constant: float, parameter: float) -> bool:
    """Return whether sums of squares of these numbers are as exact as relative rounding errors say.

    Examples
    --------
    >>> from separatrix.geometry.rows import Rows
    >>> signs, plane = np.array([1.0, -1.0]), np.ones(1)
    >>> data = [Data(Rows([[x], [-x]]), signs, False, "a", "b") for x in (1.0, 1e-50, 1e-80, 1e80)]
    >>> [are_ordinary(each, plane, 0.0, 0.0, 1.0) for each in data]
    [True, True, False, False]
    """
    values = data.rows.values.data if is_sparse(data.rows.values) else data.rows.values
    longest = max(float(np.abs(values).max(initial=0.0)), constant)
    plane = max(float(np.abs(weights).max(initial=0.0)), abs(bias) / constant if constant else 0.0)
    sizes = (longest, math.sqrt(parameter), *([plane] if plane else []))
    return all(_SMALLEST <= size <= _LARGEST for size in sizes)


def arow_bound(data: Data, weights: Floats, bias: float, constant: float, r: float, updates: Updates) -> float:
    """Return the most mistakes that the theorem allows such a run, for u the given plane.

    Where the plane separates the data, also for u the plane at the length at which its least margin is 1: the smaller.
    Infinity where numbers are so large or small that products would overflow or vanish.
    """
    if updates.made and not are_ordinary(data, weights, bias, constant, r):
        return math.inf
    if not updates.made:  # mistakes without updates: values so large that no step could be computed
        return 0.0 if not updates.mistakes else math.inf
    seen = bounds.margins(data.rows, data.signs, weights, bias, processors())
    size = bounds.length(weights)[1] ** 2 + ((abs(bias) / constant) ** 2 if constant else 0.0)
    room = (r * size + updates.most(_squares(seen))) * (1.0 + OUTWARD)
    rest = updates.made - updates.mistakes
    reach = math.sqrt(room) * math.sqrt(_log_determinant(data, constant, r, updates) + rest) * (1.0 + OUTWARD)
    least = float(seen.lower.min())
    lengths = [1.0, *([1.0 / least * (1.0 + OUTWARD)] if least > 0 else [])]
    allowed = []
    for length in lengths:
        with np.errstate(over="ignore", invalid="ignore"):
            losses = np.maximum(0.0, 1.0 - length * seen.lower * (1.0 - OUTWARD * np.sign(seen.lower)))
        allowed.append(length * reach + updates.most(losses) - rest)
    best = min((each for each in allowed if not math.isnan(each)), default=math.inf)
    return best + OUTWARD * (abs(best) + rest)


def _squares(seen: bounds.Margins) -> Floats:
    """Return at least the squares of margins."""
    with np.errstate(over="ignore"):
        return np.maximum(seen.lower**2, seen.upper**2) * (1.0 + OUTWARD)


def _log_determinant(data: Data, constant: float, r: float, updates: Updates) -> float:
    """Return at least ``log det(I + X_A / r)``.

    Of all matrices with this trace the multiple of the identity has the largest determinant. And for any lower
    triangular W with ones on its diagonal, whose determinant is 1, Hadamard's inequality for ``W (I + X_A / r) W^T``
    bounds the logarithm by the sum over its rows w of ``log(|w|^2 + sum over A of (w . x)^2 / r)``. With W the inverse
    of a factor of the matrix that is nearly the determinant itself; a bad W makes the bound larger, never wrong.
    """
    d, dimension = data.d, data.d + (constant > 0)
    trace = updates.most(bounds.square_lengths(data.rows.matrix) + constant * constant)
    simple = dimension * math.log1p(trace / (r * dimension))
    if not math.isfinite(simple) or float(data.n) * dimension**2 > _MOST_PRODUCTS:
        return simple * (1.0 + OUTWARD)
    total = 0.0
    for place, row in enumerate(_decorrelating(data, constant, r, updates)):
        offset = constant if place == d else 0.0  # the last row is that of the bias: 1 times K
        scores = bounds.margins(data.rows, data.signs, np.ascontiguousarray(row[:d]), offset, processors())
        length = bounds.length(np.append(row[:d], 1.0 if place == d else 0.0))[1]
        total += math.log(length * length + updates.most(_squares(scores)) / r)
    return min(simple, total + OUTWARD * dimension) * (1.0 + OUTWARD)


def _decorrelating(data: Data, constant: float, r: float, updates: Updates) -> Floats:
    """Return the inverse of the unit lower factor of about ``I + X_A / r``; the identity where there is none."""
    values = data.rows.values.astype(np.float64)
    gram = np.asarray((values.T @ values).toarray() if is_sparse(values) else values.T @ values, dtype=np.float64)
    if constant:
        sums = constant * np.asarray(values.sum(axis=0), dtype=np.float64).ravel()
        gram = np.block([[gram, sums[:, None]], [sums[None, :], np.array([[data.n * constant * constant]])]])
    identity = np.eye(len(gram))
    try:
        with np.errstate(over="ignore", invalid="ignore"):
            gram *= updates.made / data.n / r
        factor = np.linalg.cholesky(identity + gram)
        inverse = np.tril(np.linalg.inv(factor / np.diagonal(factor)))
    except np.linalg.LinAlgError:
        return identity
    np.fill_diagonal(inverse, 1.0)
    return inverse if np.isfinite(inverse).all() else identity
