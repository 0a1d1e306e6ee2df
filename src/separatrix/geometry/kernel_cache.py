"""Kernel rows kept within a memory limit: computed in blocks when first asked for, the longest unused forgotten first.

What a solver sees is a ``store`` of rows and, for each row that it asks for, the slot where it lies.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.kernels import Kernel, Points, Scratch, center_of, diagonal, fill
from separatrix.geometry.rows import Floats, Rows

Slots = NDArray[np.int64]
_MEGABYTE = 1 << 20


class KernelCache:
    """The rows of the kernel matrix of some examples with themselves.

    Parameters
    ----------
    kernel : Kernel
        With gamma as a number.
    rows : Rows
        The examples; for a precomputed kernel, the kernel matrix itself.
    megabytes : float
        The most memory that kernel rows may take. A precomputed kernel is read where it is.
    dtype : float32 or float64
        In which to compute them.
    n_jobs : int, default=1
        Threads, for what is not a matrix product.

    Examples
    --------
    >>> from separatrix.geometry.kernels import check_kernel
    >>> cache = KernelCache(check_kernel("linear"), Rows([[1.0, 2.0], [0.0, 1.0]]), 1.0, np.float64)
    >>> cache.store[cache.slots(np.array([1]))]
    array([[2., 1.]])
    """

    def __init__(self, kernel: Kernel, rows: Rows, megabytes: float, dtype: Any, n_jobs: int = 1) -> None:
        self.n = rows.shape[0]
        self.dtype = np.dtype(dtype)
        self.n_jobs = n_jobs
        self.kernel = kernel
        self.computed = 0  # rows, for those who want to know what the memory limit costs
        self.center = center_of(kernel, rows.values)
        self.points = Points(kernel, rows.values, dtype, self.center)
        self.diagonal = diagonal(kernel, self.points)
        self._whole = kernel.name == "precomputed"
        self.slot_of: Slots
        if self._whole:
            self.capacity = self.n
            self.store: NDArray[Any] = np.ascontiguousarray(rows.values, dtype=dtype)
            self.slot_of = np.arange(self.n)
            return
        self.capacity = capacity(self.n, megabytes, self.dtype)
        self.store = np.empty((self.capacity, self.n), dtype=dtype)
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self._row_in: Slots = np.full(self.capacity, -1, dtype=np.int64)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._scratch = Scratch(self.dtype)
        self._filled = 0
        self._tick = 0

    def slots(self, index: Slots) -> Slots:
        """Return where these rows lie in the store, at most ``capacity`` of them, computing those that are missing."""
        if self._whole:
            return index
        self._tick += 1
        found = self.slot_of[index]
        self._used[found[found >= 0]] = self._tick
        missing = np.unique(index[found < 0])
        if len(missing):
            self._compute(missing)
            found = self.slot_of[index]
        return found

    def _compute(self, missing: Slots) -> None:
        fresh = min(len(missing), self.capacity - self._filled)
        into = np.arange(self._filled, self._filled + fresh, dtype=np.int64)
        self._filled += fresh
        if fresh < len(missing):
            oldest = np.argsort(self._used, kind="stable")[: len(missing)]
            oldest = oldest[~np.isin(oldest, into)][: len(missing) - fresh]
            into = np.concatenate([into, oldest])
        gone = self._row_in[into]
        self.slot_of[gone[gone >= 0]] = -1
        self._row_in[into] = -1
        fill(self.kernel, self.points.take(missing), self.points, self.store, into, self.n_jobs, self._scratch)
        self.slot_of[missing] = into
        self._row_in[into] = missing
        self._used[into] = self._tick
        self.computed += len(missing)

    def combine(self, coef: Floats) -> Floats:
        """Return ``sum_i coef_i K(x_i, x_j)`` for every j."""
        sums = np.zeros(self.n)
        index = np.flatnonzero(coef).astype(np.int64)
        for begin in range(0, len(index), step := max(1, min(self.capacity, 512))):
            part = index[begin : begin + step]
            _core.add_rows(self.store, self.slots(part), coef[part], sums, self.n_jobs)
        return sums


def capacity(n: int, megabytes: Any, dtype: Any) -> int:
    """Return how many kernel rows of n values fit in the memory given, all if they do, or refuse what holds not two."""
    if isinstance(megabytes, bool) or not isinstance(megabytes, int | float | np.number) or not megabytes > 0:
        raise ValueError(f"cache_size must be a positive number of megabytes; found {megabytes!r}")
    row = n * np.dtype(dtype).itemsize / _MEGABYTE
    if megabytes < min(2, n) * row:
        raise ValueError(
            f"cache_size={megabytes:g} MB is too small: one kernel row of {n:,} examples takes {row:.3g} MB, and two "
            "are needed at a time"
        )
    return n if megabytes >= n * row else int(megabytes / row)
