"""What all kernels share: the class ``Kernel``, rows in the form that kernels need, and kernel values in blocks.

Kernel values are computed in float32 or float64, a block of rows at a time. No kernel's own formula is here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.models.validity import is_count, is_real, require

CHUNK_BYTES = 1 << 25  # of kernel values computed at once
LONGEST = 1e300  # squared norm of a row: inner products are no larger, and three of them can be added
_LONGEST_SINGLE = 1e36  # the same for float32
_ROWS_A_CHUNK = 512  # fewer would slow down the matrix product
_DIAGONAL_ROWS = 64  # rows whose kernel is computed at once for its diagonal

Slots = NDArray[np.int64]


@dataclass(frozen=True)
class Kernel:
    """A kernel and its parameters; ``gamma`` is a number once the kernel has seen the rows it is for.

    ``Kernel(name, ...)`` makes an object of the class that ``KERNELS`` has under this name. A model file keeps every
    kernel as these five fields.

    Examples
    --------
    >>> kernel = Kernel("poly", gamma=1.0, degree=2, coef0=1.0)
    >>> type(kernel).__name__, kernel(Rows([[1.0, 2.0]]), Rows([[3.0, 0.0]]))  # (1 * 3 + 2 * 0 + 1)^2
    ('PolynomialKernel', array([[16.]]))
    """

    name: str
    gamma: Any = 1.0
    degree: int = 3
    coef0: float = 0.0
    function: Callable[..., Any] | None = None

    stored_as: ClassVar[str] = "Kernel"  # in model files, whatever the subclass
    parameters: ClassVar[tuple[str, ...]] = ()  # those of gamma, degree and coef0 that it uses
    precomputed: ClassVar[bool] = False  # X is the kernel matrix itself
    supplied: ClassVar[bool] = False  # the user supplies the values, which may be those of no inner product

    def __new__(cls, name: str = "", *_: Any, **__: Any) -> Kernel:
        """Return an object of the class with this name."""
        from separatrix.geometry.kernels import KERNELS

        kind = KERNELS.get(name, cls) if cls is Kernel and isinstance(name, str) else cls
        return object.__new__(kind)

    def for_rows(self, rows: Rows, weights: Floats | None = None) -> Kernel:
        """Return the kernel with gamma as a number: "scale" is ``1 / (d * variance)``, "auto" is ``1 / d``.

        The variance is that of all values; a row of weight 2 counts as two rows.
        """
        if not isinstance(self.gamma, str):
            return self
        variance = 1.0
        if self.gamma == "scale" and "gamma" in self.parameters:
            with np.errstate(over="ignore", invalid="ignore"):  # too large values are refused where they are used
                variance = _variance(rows.values, weights)
        with np.errstate(over="ignore"):
            gamma = 1.0 / (rows.shape[1] * variance) if 0 < variance < math.inf else 1.0
        return replace(self, gamma=min(gamma, float(np.finfo(np.float64).max)))

    def validate(self) -> None:
        """Refuse a kernel that no model file can hold, or that no rows give."""
        from separatrix.geometry.kernels import KERNELS

        require(self.function is None, "its kernel is a function, which a model file cannot keep")
        require(self.name in tuple(KERNELS), "its kernel is unknown")
        require(is_real(self.gamma) and 0 < self.gamma < math.inf, "its gamma is not a positive number")
        require(is_count(self.degree, 1, 2**31), "its degree is not a whole number")
        require(is_real(self.coef0) and math.isfinite(self.coef0), "its coef0 is not a number")

    # ------------------------------------------------------------------------------------------ kernel values

    def __call__(self, left: Rows, right: Rows) -> Floats:
        """Return the kernel of every row on the left with every row on the right, in float64."""
        center = None if is_sparse(left.values) else self.center(right.values)
        a, b = (self.prepare(rows.values, np.float64, center) for rows in (left, right))
        return np.asarray(self.block(a, b))

    def center(self, values: Any) -> Floats | None:
        """Return what to subtract from all rows, None for nothing."""
        return None

    def prepare(self, values: Any, dtype: Any, center: Floats | None = None, names: Any = None) -> KernelRows:
        """Return rows in the form that this kernel needs; ``names`` are the row numbers for messages."""
        return KernelRows(values, np.empty(0), dtype, names)

    def block(self, left: KernelRows, right: KernelRows, n_jobs: int = 1) -> NDArray[Any]:
        """Return the kernel of every row on the left with every row on the right."""
        out = np.empty((len(left), len(right)), dtype=left.dtype)
        self.fill(left, right, out, np.arange(len(left), dtype=np.int64), n_jobs)
        return out

    def fill(
        self,
        left: KernelRows,
        right: KernelRows,
        store: NDArray[Any],
        slots: Slots,
        n_jobs: int = 1,
        scratch: ScratchBuffer | None = None,
    ) -> None:
        """Write the kernel of each row on the left with every row on the right into its slot of the store."""
        n, width = len(left), len(right)
        step = max(1, min(_ROWS_A_CHUNK, CHUNK_BYTES // max(1, width * left.dtype.itemsize)))
        if is_sparse(left.values) or is_sparse(right.values):
            step = max(1, min(step, CHUNK_BYTES // max(1, left.values.shape[1] * left.dtype.itemsize)))
        scratch = ScratchBuffer(left.dtype) if scratch is None else scratch
        for begin in range(0, n, step):
            part = slice(begin, min(begin + step, n))
            self._fill_chunk(left.take(part), right, store, slots[part], n_jobs, scratch)

    def _fill_chunk(
        self, left: KernelRows, right: KernelRows, store: NDArray[Any], slots: Slots, n_jobs: int,
        scratch: ScratchBuffer,
    ) -> None:  # fmt: skip
        raise NotImplementedError

    def diagonal(self, rows: KernelRows) -> Floats:
        """Return the kernel of each row with itself, in float64."""
        parts = []
        for begin in range(0, len(rows), _DIAGONAL_ROWS):
            some = rows.take(slice(begin, begin + _DIAGONAL_ROWS))
            values = self.block(some, some)
            if np.abs(values - values.T).max() > 1e-6 * np.abs(values).max():
                raise ValueError(
                    f"the kernel must be symmetric, but K(x, z) and K(z, x) differ among rows {begin} to "
                    f"{begin + len(some) - 1}"
                )
            parts.append(np.diagonal(values))
        return np.concatenate(parts).astype(np.float64)

    def matrix(self, rows: Rows, dtype: Any) -> NDArray[Any] | None:
        """Return the whole kernel matrix if it need not be computed, else None."""
        return None

    # ------------------------------------------------------------------------------------------ precision

    def fits_single(self, rows: Rows) -> bool:
        """Return whether float32 can hold this kernel of these rows without overflow and to about four digits."""
        return False

    def rounding_error(self, rows: KernelRows, diagonal: Floats) -> float:
        """Return an estimate of the largest error of a kernel value in float64."""
        return float(4.0 * np.finfo(np.float64).eps * float(np.abs(diagonal).max()))

    # ------------------------------------------------------------------------------------------ examples of a model

    def check_examples(self, rows: Rows) -> Rows:
        """Return the examples of a fit as this kernel can use them, or refuse them."""
        return rows

    def check_new(self, rows: Rows, n_examples: int, model: str) -> None:
        """Refuse new rows that this kernel cannot compare with the examples of a fit."""

    def subset(self, rows: Rows, index: NDArray[np.intp]) -> Rows:
        """Return some of the examples of a fit."""
        return Rows(rows.values[index])

    def support_vectors(self, rows: Rows, index: NDArray[np.intp]) -> Any:
        """Return the examples that a model keeps in order to predict."""
        return rows.values[index]

    def with_support(
        self, vectors: Any, index: NDArray[np.intp], dtype: Any, center: Floats | None, n_jobs: int = 1
    ) -> Callable[[Any, int], NDArray[Any]]:
        """Return a function from new rows and the number of the first to their kernel with the support vectors."""
        support = self.prepare(vectors, dtype, center, index)

        def values(new: Any, first: int) -> NDArray[Any]:
            names = np.arange(first, first + new.shape[0])
            return self.block(self.prepare(new, dtype, center, names), support, n_jobs)

        return values


class ProductKernel(Kernel):
    """A kernel that is a function of the inner product of two rows and their squared norms."""

    def prepare(self, values: Any, dtype: Any, center: Floats | None = None, names: Any = None) -> KernelRows:
        """Return rows in one precision, less the center, with their squared norms."""
        if is_sparse(values) and center is None:
            values = values.astype(dtype)
        elif center is None:
            with np.errstate(over="ignore"):
                values = np.ascontiguousarray(values, dtype=dtype)
        else:
            given = values.toarray() if is_sparse(values) else values  # centered rows have no zeros
            values = np.empty(given.shape, dtype=dtype)
            with np.errstate(over="ignore"):
                np.subtract(given, center, out=values, casting="same_kind")
        squares = np.asarray(_core.square_norms(Rows(values).matrix))
        refuse_length(float(squares.max()), _LONGEST_SINGLE if np.dtype(dtype) == np.float32 else LONGEST)
        return KernelRows(values, squares, dtype, names)

    def _fill_chunk(
        self, left: KernelRows, right: KernelRows, store: NDArray[Any], slots: Slots, n_jobs: int,
        scratch: ScratchBuffer,
    ) -> None:  # fmt: skip
        if bool((np.diff(slots) == 1).all()):  # consecutive slots: the products are computed where they are to be
            out = store[int(slots[0]) : int(slots[0]) + len(left)]
            self._from_products(products_of(left, right, out), left, right)
            return
        products = products_of(left, right, scratch.rows(len(left), len(right)))
        self._from_products(products, left, right)
        store[slots] = products

    def _from_products(self, products: NDArray[Any], left: KernelRows, right: KernelRows) -> None:
        """Turn inner products into kernel values, in place."""
        raise NotImplementedError

    def rounding_error(self, rows: KernelRows, diagonal: Floats) -> float:
        """Return an estimate of the largest error of a kernel value in float64."""
        terms = 4.0 + rows.values.shape[1]
        return float(terms * np.finfo(np.float64).eps * self._largest(float(np.abs(diagonal).max()), rows))

    def _largest(self, value: float, rows: KernelRows) -> float:
        """Return what rounding errors are relative to, given the largest kernel value."""
        return value


class KernelRows:
    """Rows in the form that a kernel needs: in one precision, perhaps centered, perhaps with their squared norms.

    ``names`` are the row numbers for messages.
    """

    def __init__(self, values: Any, squares: Floats, dtype: Any, names: Any = None) -> None:
        self.values, self.squares, self.dtype = values, squares, np.dtype(dtype)
        self.names: NDArray[Any] = np.arange(values.shape[0]) if names is None else names

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, index: Any) -> KernelRows:
        """Return some of the rows."""
        squares = self.squares[index] if len(self.squares) else self.squares
        return KernelRows(self.values[index], squares, self.dtype, self.names[index])


class ScratchBuffer:
    """Memory for inner products, allocated once: allocating costs as much as a matrix product."""

    def __init__(self, dtype: Any) -> None:
        self._buffer: NDArray[Any] = np.empty(0, dtype=dtype)

    def rows(self, n: int, width: int) -> NDArray[Any]:
        """Return an array of this shape; the previous one must no longer be in use."""
        if len(self._buffer) < n * width:
            self._buffer = np.empty(n * width, dtype=self._buffer.dtype)
        return self._buffer[: n * width].reshape(n, width)


def refuse_length(square: float, longest: float = LONGEST) -> None:
    """Raise ValueError if a row with this squared norm is too long for inner products."""
    if not square < longest:
        raise ValueError(
            f"X holds values so large that the kernel overflows (a row has the squared norm {square:.3g}): "
            "scale the features first"
        )


def refuse_non_finite(values: NDArray[Any], left: KernelRows, right: KernelRows, advice: str) -> None:
    """Raise ValueError naming the first two rows whose kernel is NaN or infinite."""
    finite = np.isfinite(values)
    if not finite.all():
        i, j = (int(place) for place in np.unravel_index(int(np.argmin(finite)), values.shape))
        value = "NaN" if np.isnan(values[i, j]) else "infinity"
        raise ValueError(f"the kernel gives {value} for rows {left.names[i]} and {right.names[j]}: {advice}")


def products_of(left: KernelRows, right: KernelRows, out: NDArray[Any]) -> NDArray[Any]:
    """Write the inner product of every row on the left with every row on the right into ``out``, and return it."""
    a, b = left.values, right.values
    if not (is_sparse(a) or is_sparse(b)):
        return np.matmul(a, b.T, out=out)
    if is_sparse(b):  # a sparse matrix times a dense one is the product that SciPy does best
        dense = a.toarray() if is_sparse(a) else a
        out[:] = np.asarray(b @ np.ascontiguousarray(dense.T)).T
    else:
        out[:] = np.asarray(a @ np.ascontiguousarray(b.T))
    return out


def _variance(values: Any, weights: Floats | None) -> float:
    """Return the variance of all values, each row counting as often as it weighs."""
    share = np.ones(values.shape[0]) if weights is None else weights
    total = float(share.sum() * values.shape[1])
    if is_sparse(values):
        mean = float(share @ np.asarray(values.sum(axis=1, dtype=np.float64)).ravel()) / total
        stored = np.repeat(share, np.diff(values.indptr))
        squares = float(stored @ np.square(values.data - mean))
        return (squares + (total - float(stored.sum())) * mean * mean) / total
    if weights is None:
        return float(values.var(dtype=np.float64))
    mean = float(share @ values.sum(axis=1, dtype=np.float64)) / total
    return float(share @ np.square(values - mean).sum(axis=1)) / total
