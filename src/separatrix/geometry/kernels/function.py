"""A kernel that is a Python function of two arrays of rows."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.kernels.base import Kernel, KernelRows, ScratchBuffer, Slots, refuse_non_finite
from separatrix.geometry.rows import Floats, is_sparse


class FunctionKernel(Kernel):
    """``K(x, z)`` as a callable gives it for all pairs of the rows of two arrays; it cannot be stored or exported."""

    supplied: ClassVar[bool] = True

    def _fill_chunk(
        self, left: KernelRows, right: KernelRows, store: NDArray[Any], slots: Slots, n_jobs: int,
        scratch: ScratchBuffer,
    ) -> None:  # fmt: skip
        store[slots] = self._called(left, right)

    def _called(self, left: KernelRows, right: KernelRows) -> Floats:
        assert self.function is not None
        try:
            result = self.function(left.values, right.values)
            result = np.asarray(result.toarray() if is_sparse(result) else result)
            if result.dtype.kind == "c":
                raise TypeError("it returned complex numbers")
            values = result.astype(np.float64, copy=False)
        except (TypeError, ValueError) as problem:
            shapes = f"{left.values.shape} and {right.values.shape}"
            raise ValueError(f"the kernel function failed on arrays of shapes {shapes}: {problem}") from problem
        if values.shape != (len(left), len(right)):
            raise ValueError(
                "the kernel function must return one row for each row of its first array and one column for each row "
                f"of its second, shape {(len(left), len(right))}; found shape {values.shape}"
            )
        refuse_non_finite(values, left, right, "every value of a kernel must be a finite number")
        return values
