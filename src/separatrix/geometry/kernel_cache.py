"""A cache of kernel rows with a memory limit: computed in blocks when first needed, the least recently used go first.

A solver sees a ``store`` of rows and, for each row that it needs, the slot of the store that holds it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.kernels import Kernel, ScratchBuffer
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
        The examples; for a precomputed kernel, the kernel matrix.
    megabytes : float
        Memory limit for kernel rows. A precomputed kernel is not copied.
    dtype : float32 or float64
        The type of the kernel values.
    n_jobs : int, default=1
        Threads for everything but matrix products.

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
        self.computed = 0  # rows so far: shows what the memory limit costs
        self.center = kernel.center(rows.values)
        self.rows = kernel.prepare(rows.values, dtype, self.center)
        self.diagonal = kernel.diagonal(self.rows)
        self.slot_of: Slots
        self.store: NDArray[Any]
        matrix = kernel.matrix(rows, dtype)
        self._whole = matrix is not None
        if matrix is not None:
            self.capacity, self.store, self.slot_of = self.n, matrix, np.arange(self.n)
            return
        self.capacity = capacity(self.n, megabytes, self.dtype)
        self.store = np.empty((self.capacity, self.n), dtype=dtype)
        self.slot_of = np.full(self.n, -1, dtype=np.int64)
        self._row_in: Slots = np.full(self.capacity, -1, dtype=np.int64)
        self._used = np.zeros(self.capacity, dtype=np.int64)
        self._scratch = ScratchBuffer(self.dtype)
        self._filled = 0
        self._tick = 0

    def slots(self, index: Slots) -> Slots:
        """Return the slots of these rows, at most ``capacity``, after computing those that are missing."""
        if self._whole:
            return index
        self._tick += 1
        slots = self.slot_of[index]
        self._used[slots[slots >= 0]] = self._tick
        missing = np.unique(index[slots < 0])
        if len(missing):
            self._compute(missing)
            slots = self.slot_of[index]
        return slots

    def _compute(self, missing: Slots) -> None:
        fresh = min(len(missing), self.capacity - self._filled)
        slots = np.arange(self._filled, self._filled + fresh, dtype=np.int64)
        self._filled += fresh
        if fresh < len(missing):
            oldest = np.argsort(self._used, kind="stable")[: len(missing)]
            oldest = oldest[~np.isin(oldest, slots)][: len(missing) - fresh]
            slots = np.concatenate([slots, oldest])
        evicted = self._row_in[slots]
        self.slot_of[evicted[evicted >= 0]] = -1
        self._row_in[slots] = -1
        self.kernel.fill(self.rows.take(missing), self.rows, self.store, slots, self.n_jobs, self._scratch)
        self.slot_of[missing] = slots
        self._row_in[slots] = missing
        self._used[slots] = self._tick
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
    """Return how many of n kernel rows fit in this many megabytes; refuse a limit too small for two."""
    if isinstance(megabytes, bool) or not isinstance(megabytes, int | float | np.number) or not megabytes > 0:
        raise ValueError(f"cache_size must be a positive number of megabytes; found {megabytes!r}")
    row = n * np.dtype(dtype).itemsize / _MEGABYTE
    if megabytes < min(2, n) * row:
        raise ValueError(
            f"cache_size={megabytes:g} MB is too small: one kernel row of {n:,} examples takes {row:.3g} MB, and two "
            "are needed at a time"
        )
    return n if megabytes >= n * row else int(megabytes / row)
