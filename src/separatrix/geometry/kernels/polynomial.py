"""The polynomial kernel, ``(gamma x . z + coef0)^degree``."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.kernels.base import KernelRows, ProductKernel, refuse_non_finite
from separatrix.geometry.rows import Floats


class PolynomialKernel(ProductKernel):
    """``K(x, z) = (gamma x . z + coef0)^degree``."""

    parameters: ClassVar[tuple[str, ...]] = ("gamma", "degree", "coef0")

    def diagonal(self, rows: KernelRows) -> Floats:
        """Return the kernel of each row with itself, in float64."""
        with np.errstate(over="ignore"):  # refused where the rows are computed
            return np.asarray((self.gamma * rows.squares + self.coef0) ** self.degree)

    def _from_products(self, products: NDArray[Any], left: KernelRows, right: KernelRows) -> None:
        products *= self.gamma
        products += self.coef0
        if self.degree > 1:
            with np.errstate(over="ignore", invalid="ignore"):
                base = products.copy()
                for bit in bin(self.degree)[3:]:  # powers by squaring: NumPy's own take a logarithm for each value
                    products *= products
                    if bit == "1":
                        products *= base
            refuse_non_finite(products, left, right, "scale the features, or choose a smaller degree")

    def _largest(self, value: float, rows: KernelRows) -> float:
        return value * self.degree
