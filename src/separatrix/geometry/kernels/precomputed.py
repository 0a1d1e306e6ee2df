"""A precomputed kernel: X is the kernel matrix itself, at predict with one column for each example of fit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.kernels.base import CHUNK_BYTES, Kernel, KernelRows
from separatrix.geometry.rows import Floats, Rows, is_sparse

_SPARSE = "a precomputed kernel must be a dense array; found a sparse matrix: use X.toarray()"


class PrecomputedKernel(Kernel):
    """``K(x_i, x_j)`` is the entry in row i and column j of X."""

    precomputed: ClassVar[bool] = True
    supplied: ClassVar[bool] = True

    def __call__(self, left: Rows, right: Rows) -> Floats:
        """Refuse: there is nothing to compute."""
        raise TypeError("a precomputed kernel is a matrix, not a function")

    def diagonal(self, rows: KernelRows) -> Floats:
        """Return the diagonal of the matrix, in float64."""
        return np.asarray(np.diagonal(rows.values), dtype=np.float64).copy()

    def matrix(self, rows: Rows, dtype: Any) -> NDArray[Any]:
        """Return X."""
        return np.ascontiguousarray(rows.values, dtype=dtype)

    def check_examples(self, rows: Rows) -> Rows:
        """Return the matrix exactly symmetric; refuse one that is sparse, not square or far from symmetric."""
        n, width = rows.shape
        if is_sparse(rows.values):
            raise ValueError(_SPARSE)
        if n != width:
            raise ValueError(
                f"a precomputed kernel must be a square matrix at fit, one row and one column for each example; found "
                f"shape {(n, width)}"
            )
        rows.check_finite()
        K = rows.values
        largest = float(np.abs(K).max())
        step = max(1, CHUNK_BYTES // (8 * n))
        for begin in range(0, n, step):
            part = slice(begin, begin + step)
            difference = np.abs(K[part] - K[:, part].T)
            if difference.max() > 1e-5 * largest:
                i, j = (int(place) for place in np.unravel_index(difference.argmax(), difference.shape))
                i += begin
                raise ValueError(
                    f"a precomputed kernel must be symmetric; found {K[i, j]:g} in row {i}, column {j} and {K[j, i]:g} "
                    f"in row {j}, column {i}"
                )
        # A small asymmetry must not appear as a duality gap.
        return rows if np.array_equal(K, K.T) else Rows(0.5 * (K + K.T))

    def check_new(self, rows: Rows, n_examples: int, model: str) -> None:
        """Refuse a sparse matrix and one without a column for each example of fit."""
        if is_sparse(rows.values):
            raise ValueError(_SPARSE)
        if rows.shape[1] != n_examples:
            raise ValueError(
                f"a precomputed kernel needs one column for each of the {n_examples} examples of fit; X has "
                f"{rows.shape[1]} features, but {model} is expecting {n_examples} features as input"
            )

    def subset(self, rows: Rows, index: NDArray[np.intp]) -> Rows:
        """Return some of the rows, and the same columns."""
        return Rows(rows.values[np.ix_(index, index)])

    def support_vectors(self, rows: Rows, index: NDArray[np.intp]) -> Any:
        """Return nothing: a prediction needs the numbers of the examples only."""
        return np.empty((0, 0))

    def with_support(
        self, vectors: Any, index: NDArray[np.intp], dtype: Any, center: Floats | None, n_jobs: int = 1
    ) -> Callable[[Any, int], NDArray[Any]]:
        """Return a function from new rows to their columns for the support vectors."""
        return lambda new, first: np.asarray(new[:, index], dtype=np.float64)
