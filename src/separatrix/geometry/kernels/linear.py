"""The linear kernel, ``x . z``: the space of the data."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from separatrix.geometry.kernels.base import KernelRows, ProductKernel
from separatrix.geometry.rows import Floats


class LinearKernel(ProductKernel):
    """``K(x, z) = x . z``."""

    def diagonal(self, rows: KernelRows) -> Floats:
        """Return the squared norm of each row."""
        return rows.squares.copy()

    def _from_products(self, products: NDArray[Any], left: KernelRows, right: KernelRows) -> None:
        """Leave the inner products as they are."""
