"""The smallest enclosing ball of the examples in the space of a kernel, where only inner products are known.

The centre has no coordinates there, only convex weights. The search itself is in ball.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.ball import Ball, Indices, SquaredDistances, enclose
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Floats, Rows, is_sparse

_EPS = float(np.finfo(np.float64).eps)
_BLOCK_VALUES = 1 << 21  # of rows, or of their kernel, computed at once
_DIAGONAL_ROWS = 64  # rows whose kernel is computed at once for its diagonal
_FEW = 500


def kernel_radius(kernel: Kernel, rows: Rows, weights: Floats | None = None, *, precision: float | None = None) -> Ball:
    """Return a ball that encloses the examples of positive weight, its radius within ``precision`` of the smallest.

    By default that is 1e-6, and 1e-10 for few examples, whose radius should not depend on their order.

    Examples
    --------
    >>> from separatrix.geometry.kernels import check_kernel
    >>> ball = kernel_radius(check_kernel("linear"), Rows([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    >>> ball.lower <= 1.0 <= ball.upper, ball.constant
    (True, 1.0)
    """
    precision = (1e-10 if rows.shape[0] <= _FEW else 1e-6) if precision is None else precision
    ignored = None if weights is None else weights == 0
    ball, _ = enclose(kernel_space(rows, kernel.for_rows(rows, weights), ignored), ignored, precision, 1000)
    return ball


def kernel_space(rows: Rows, kernel: Kernel, ignored: NDArray[np.bool_] | None) -> KernelSpace:
    """Return the space of the kernel."""
    return (PrecomputedSpace if kernel.precomputed else KernelSpace)(rows, kernel, ignored)


class KernelSpace:
    """The space of a kernel k, where the inner product of two rows x and z is k(x, z)."""

    def __init__(self, rows: Rows, kernel: Kernel, ignored: NDArray[np.bool_] | None) -> None:
        self.n, self._d = rows.shape
        self._counted = slice(None) if ignored is None else ~ignored
        self._values = rows.values
        self._kernel = kernel
        self._squares = self._diagonal()
        self._refuse(self._squares < 0.0, "gives {} for it and itself", self._squares)
        self._largest = float(self._squares.max())
        self._error = self._value_error()

    def distances(self, support: Indices, weights: Floats) -> SquaredDistances:
        """Return ``k(x, x) - 2 sum p_i k(x, x_i) + sum p_i p_j k(x_i, x_j)`` for each row x."""
        products = np.empty(self.n)
        step = max(1, _BLOCK_VALUES // max(len(support), self._width()))
        for first in range(0, self.n, step):
            products[first : first + step] = self._between(slice(first, first + step), support) @ weights
        square = float(weights @ products[support])
        values = self._squares - 2.0 * products + square
        error = (4 * len(support) + 16) * _EPS * self._largest + 4.0 * self._error
        if (products[self._counted] == square).all() and (self._squares[self._counted] == square).all():
            error = 0.0  # all rows are the same
        self._refuse(values < -error - 1e-9 * self._largest, "puts it at a squared distance of {}", values)
        return SquaredDistances(None, values, error)

    def upper_bounds(self, distances: SquaredDistances, rows: Indices) -> Floats:
        """Return the same distances, rounded up: there is no tighter bound."""
        return np.maximum(distances.values[rows], 0.0) + distances.error

    def lower_bound(self, distances: SquaredDistances, support: Indices, weights: Floats) -> float:
        """Return ``sum p_i |x_i - c|^2`` less its rounding errors."""
        return max(float(weights @ distances.values[support]) - distances.error, 0.0)

    def gram(self, core: Indices) -> Floats:
        """Return the inner products of these rows less the first."""
        products = self._between(core, core)
        return np.asarray(products - products[0] - products[:, :1] + products[0, 0])

    def _between(self, first: Any, second: Indices) -> Floats:
        """Return the kernel of the first rows with the second."""
        return self._kernel(self._double(first), self._double(second))

    def _width(self) -> int:
        """Return how many values a row takes while its kernel is computed."""
        return self._d

    def _double(self, rows: Any) -> Rows:
        return Rows(self._values[rows].astype(np.float64, copy=False))

    def _diagonal(self) -> Floats:
        """Return the kernel of each row with itself."""
        values = np.empty(self.n)
        for first in range(0, self.n, _DIAGONAL_ROWS):
            block = self._double(slice(first, first + _DIAGONAL_ROWS))
            values[first : first + _DIAGONAL_ROWS] = self._kernel(block, block).diagonal()
        self._refuse(~np.isfinite(values), "gives {} for it and itself", values)
        return values

    def _value_error(self) -> float:
        """Return a bound on the error of a kernel value."""
        return self._d * _EPS * self._largest

    def _refuse(self, bad: Any, what: str, values: Floats) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"the kernel is not an inner product at row {row}: it {what.format(float(values[row]))}")


class PrecomputedSpace(KernelSpace):
    """The space of a precomputed kernel, whose rows are those of the kernel matrix, dense or sparse."""

    def _between(self, first: Any, second: Indices) -> Floats:
        block = self._values[first][:, second]
        return np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)

    def _width(self) -> int:
        return 1

    def _diagonal(self) -> Floats:
        if self._d != self.n:
            raise ValueError(f"a precomputed kernel must be square, one row and column for each example; found shape "
                             f"{(self.n, self._d)}")  # fmt: skip
        return np.asarray(self._values.diagonal(), dtype=np.float64)

    def _value_error(self) -> float:
        """Return how far the matrix is from symmetric."""
        asymmetry = 0.0
        step = max(1, _BLOCK_VALUES // self.n)
        for first in range(0, self.n, step):
            rows = slice(first, first + step)
            difference = self._values[rows] - self._values[:, rows].T
            asymmetry = max(asymmetry, float(abs(difference).max()))
        if asymmetry > 1e-6 * self._largest:
            raise ValueError("a precomputed kernel must be symmetric: the values for a pair differ with its order")
        return asymmetry
