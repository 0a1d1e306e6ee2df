"""Kernels: one file and one class for each, and the registry by name.

A kernel ``K(x, z)`` is the inner product of what x and z become in some larger space, where a hyperplane can separate
what no hyperplane separates in their own. A new kernel is a subclass of ``Kernel`` in a file of its own, and its name
in ``KERNELS``. Which kernel rows are kept in memory is decided in kernel_cache.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from separatrix.geometry.kernels.base import Kernel, KernelRows, ScratchBuffer
from separatrix.geometry.kernels.function import FunctionKernel
from separatrix.geometry.kernels.gaussian import GaussianKernel
from separatrix.geometry.kernels.linear import LinearKernel
from separatrix.geometry.kernels.polynomial import PolynomialKernel
from separatrix.geometry.kernels.precomputed import PrecomputedKernel

__all__ = [
    "KERNELS", "FunctionKernel", "GaussianKernel", "Kernel", "KernelRows", "LinearKernel", "PolynomialKernel",
    "PrecomputedKernel", "ScratchBuffer", "check_kernel",
]  # fmt: skip

KERNELS: dict[str, type[Kernel]] = {
    "linear": LinearKernel,
    "rbf": GaussianKernel,
    "poly": PolynomialKernel,
    "precomputed": PrecomputedKernel,
}


def check_kernel(kernel: Any, *, gamma: Any = "scale", degree: Any = 3, coef0: Any = 0.0) -> Kernel:
    """Return the kernel with this name (or the callable as a kernel) and these parameters, or refuse them.

    Examples
    --------
    >>> check_kernel("rbf", gamma=0.5).gamma
    0.5
    >>> check_kernel("cosine")
    Traceback (most recent call last):
    ...
    ValueError: kernel must be one of linear, rbf, poly, precomputed, or a callable; found 'cosine'
    """
    if not callable(kernel) and not (isinstance(kernel, str) and kernel in KERNELS):
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)}, or a callable; found {kernel!r}")
    if not (gamma in ("scale", "auto") if isinstance(gamma, str) else _is_number(gamma) and 0 < gamma < math.inf):
        raise ValueError(f"gamma must be 'scale', 'auto' or a positive number; found {gamma!r}")
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 1:
        raise ValueError(f"degree must be a whole number of at least 1; found {degree!r}")
    if not (_is_number(coef0) and math.isfinite(coef0)):
        raise ValueError(f"coef0 must be a finite number; found {coef0!r}")
    parameters = (gamma if isinstance(gamma, str) else float(gamma), int(degree), float(coef0))
    if callable(kernel):
        return FunctionKernel("callable", *parameters, kernel)
    return Kernel(str(kernel), *parameters)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
