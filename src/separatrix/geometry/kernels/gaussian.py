"""The Gaussian kernel (radial basis function), ``exp(-gamma |x - z|^2)``.

Distances are computed from inner products and squared norms, and inherit the rounding errors of the norms. Dense rows
are first centered at their mean: that changes no distance and keeps the norms small.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.kernels.base import KernelRows, ProductKernel, ScratchBuffer, Slots, products_of, refuse_length
from separatrix.geometry.rows import Floats, Rows, is_sparse


class GaussianKernel(ProductKernel):
    """``K(x, z) = exp(-gamma |x - z|^2)``."""

    parameters: ClassVar[tuple[str, ...]] = ("gamma",)

    def center(self, values: Any) -> Floats | None:
        """Return the mean of dense rows; None for sparse rows, which would lose their zeros."""
        if is_sparse(values):
            return None
        with np.errstate(over="ignore", invalid="ignore"):
            mean = np.asarray(values.mean(axis=0, dtype=np.float64))
            refuse_length(float(np.dot(mean, mean)))  # or rows near zero could not be compared with these
        return mean

    def diagonal(self, rows: KernelRows) -> Floats:
        """Return 1 for each row."""
        return np.ones(len(rows))

    def _fill_chunk(
        self, left: KernelRows, right: KernelRows, store: NDArray[Any], slots: Slots, n_jobs: int,
        scratch: ScratchBuffer,
    ) -> None:  # fmt: skip
        products = products_of(left, right, scratch.rows(len(left), len(right)))
        if left.dtype == np.float32:
            _core.exponentials(products, left.squares, right.squares, self.gamma, store, slots, n_jobs)
            return
        self._from_products(products, left, right)
        store[slots] = products

    def _from_products(self, products: NDArray[Any], left: KernelRows, right: KernelRows) -> None:
        products *= -2.0
        products += left.squares[:, None]
        products += right.squares
        np.maximum(products, 0.0, out=products)
        with np.errstate(over="ignore"):  # so far apart that the kernel is 0
            products *= -self.gamma
        np.exp(products, out=products)

    def fits_single(self, rows: Rows) -> bool:
        """Return whether float32 can hold this kernel of these rows without overflow and to about four digits.

        It can where all values are of similar size, as here; other kernels may have rows much longer than most. The
        error of a distance in float32 is about 2^-22 of the squared norms it is computed from; times gamma that is the
        relative error of the kernel. The solver measures whether that is enough for a given gap.
        """
        squares = np.asarray(_core.square_norms(rows.matrix))
        center = self.center(rows.values)
        if center is not None:  # |x - c|^2, to the digits that matter here
            squares = squares - 2.0 * (rows.values @ center) + float(np.dot(center, center))
        largest = float(squares.max())
        return bool(largest < 1e30 and self.gamma * largest * 2.0**-22 < 1e-4)

    def rounding_error(self, rows: KernelRows, diagonal: Floats) -> float:
        """Return an estimate of the largest error of a kernel value in float64: at most 1, as the values are."""
        return min(super().rounding_error(rows, diagonal), 1.0)

    def _largest(self, value: float, rows: KernelRows) -> float:
        return float(value + self.gamma * float(rows.squares.max()))
