"""The smallest ball that holds the examples in the space of a kernel, where only products are known.

The centre has no coordinates there, only convex weights. The search itself is in ball.py.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.ball import Ball, Look, Places, enclose, rounded_up
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Floats, Rows, is_sparse

_EPS = float(np.finfo(np.float64).eps)
_AT_ONCE = 1 << 21  # values that a block of rows, or of their kernel values, may hold
_PAIRS = 64  # rows whose kernel values are computed at once when only those of each row with itself are wanted
_FEW = 500


def kernel_radius(kernel: Kernel, rows: Rows, weights: Floats | None = None, *, precision: float | None = None) -> Ball:
    """Return a ball that holds the examples of positive weight, its radius within ``precision`` of the smallest.

    By default that is 1e-4, and 1e-10 for few examples, whose radius should not depend on the order in which they
    stand. As in :func:`separatrix.geometry.ball.smallest_ball` the radius is rounded up to 24 bits.

    Examples
    --------
    >>> from separatrix.geometry.kernels import check_kernel
    >>> ball = kernel_radius(check_kernel("linear"), Rows([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]))
    >>> ball.lower <= 1.0 <= ball.upper, ball.upper < 1.001
    (True, True)
    """
    precision = (1e-10 if rows.shape[0] <= _FEW else 1e-4) if precision is None else precision
    ignored = None if weights is None else weights == 0
    ball, _ = enclose(KernelSpace(rows, kernel.for_rows(rows, weights), ignored), ignored, precision, 1000)
    return rounded_up(ball)


class KernelSpace:
    """The space of a kernel k, where the inner product of two rows is k of them."""

    def __init__(self, rows: Rows, kernel: Kernel, ignored: NDArray[np.bool_] | None) -> None:
        self.n, self._d = rows.shape
        self._counted = slice(None) if ignored is None else ~ignored
        self._values = rows.values
        self._kernel = None if kernel.name == "precomputed" else kernel
        self._squares, uneven = self._given() if self._kernel is None else (self._own(), 0.0)
        self._refuse(self._squares < 0.0, "gives {} for it and itself", self._squares)
        self._largest = float(self._squares.max())
        if uneven > 1e-6 * self._largest:
            raise ValueError("a precomputed kernel must be symmetric: the values for a pair differ with its order")
        self._noise = uneven + (self._d if self._kernel is not None else 0) * _EPS * self._largest

    def look(self, support: Places, weights: Floats) -> Look:
        """Measure by ``k(x, x) - 2 sum p_i k(x, x_i) + sum p_i p_j k(x_i, x_j)``."""
        products = np.empty(self.n)
        step = max(1, _AT_ONCE // max(len(support), self._d if self._kernel else 1))
        for first in range(0, self.n, step):
            products[first : first + step] = self._between(slice(first, first + step), support) @ weights
        square = float(weights @ products[support])
        distances = self._squares - 2.0 * products + square
        error = (4 * len(support) + 16) * _EPS * self._largest + 4.0 * self._noise
        if (products[self._counted] == square).all() and (self._squares[self._counted] == square).all():
            error = 0.0  # rows that are all alike
        self._refuse(distances < -error - 1e-9 * self._largest, "puts it at a squared distance of {}", distances)
        return Look(None, distances, error)

    def sharpen(self, look: Look, rows: Places) -> Floats:
        """Return the same distances from above: there is no better way to measure."""
        return np.maximum(look.distances[rows], 0.0) + look.error

    def dual(self, look: Look, support: Places, weights: Floats) -> float:
        """Return ``sum p_i |x_i - c|^2``, less what rounding can have added."""
        return max(float(weights @ look.distances[support]) - look.error, 0.0)

    def gram(self, core: Places) -> Floats:
        """Return the inner products of the rows, seen from the first."""
        products = self._between(core, core)
        return np.asarray(products - products[0] - products[:, :1] + products[0, 0])

    def _between(self, first: Any, second: Places) -> Floats:
        if self._kernel is None:
            block = self._values[first][:, second]
            values = np.asarray(block.toarray() if is_sparse(block) else block, dtype=np.float64)
        else:
            values = self._kernel(self._wide(first), self._wide(second))
        return values

    def _wide(self, rows: Any) -> Rows:
        return Rows(self._values[rows].astype(np.float64, copy=False))

    def _own(self) -> Floats:
        """Return the kernel value of each row with itself."""
        found = np.empty(self.n)
        for first in range(0, self.n, _PAIRS):
            block = self._wide(slice(first, first + _PAIRS))
            assert self._kernel is not None
            found[first : first + _PAIRS] = self._kernel(block, block).diagonal()
        self._refuse(~np.isfinite(found), "gives {} for it and itself", found)
        return found

    def _given(self) -> tuple[Floats, float]:
        """Return the diagonal of a precomputed kernel, and how far it is from symmetric."""
        if self._d != self.n:
            raise ValueError(f"a precomputed kernel must be square, one row and column for each example; found shape "
                             f"{(self.n, self._d)}")  # fmt: skip
        uneven = 0.0
        step = max(1, _AT_ONCE // self.n)
        for first in range(0, self.n, step):
            rows = slice(first, first + step)
            difference = self._values[rows] - self._values[:, rows].T
            uneven = max(uneven, float(abs(difference).max()))
        return np.asarray(self._values.diagonal(), dtype=np.float64), uneven

    def _refuse(self, bad: Any, what: str, values: Floats) -> None:
        if bad.any():
            row = int(np.flatnonzero(bad)[0])
            raise ValueError(f"the kernel is no inner product at row {row}: it {what.format(float(values[row]))}")
