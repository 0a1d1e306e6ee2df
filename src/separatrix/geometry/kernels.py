"""Kernels: products of examples in a space that is never built.

A kernel ``K(x, z)`` is the product of what x and z become in some larger space, where a plane can separate what no
plane separates in their own. Here: what each kernel computes, in blocks of rows with matrix products, and one clear
sentence for each parameter that cannot be meant. Which rows are kept is the business of kernel_cache.py.

Rows are computed in float32 or float64. For the Gaussian kernel dense rows are first moved to their common mean, which
changes no distance and keeps the lengths, whose rounding errors the distances inherit, as small as they can be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats, Rows, is_sparse

KERNELS = ("linear", "rbf", "poly", "precomputed")
_CHUNK_BYTES = 1 << 25  # of products held at once
_LONGEST = 1e300  # squared length of a row: products of two rows are no larger, and three of them can be added
_LONGEST_SINGLE = 1e36  # the same for float32
_ROWS_A_CHUNK = 512  # fewer would keep the matrix product from its full speed


@dataclass(frozen=True)
class Kernel:
    """A kernel and its parameters; ``gamma`` is a number once the kernel has seen the rows it is for.

    Examples
    --------
    >>> kernel = check_kernel("poly", gamma=1.0, degree=2, coef0=1.0).for_rows(Rows([[1.0, 2.0], [3.0, 0.0]]))
    >>> kernel(Rows([[1.0, 2.0]]), Rows([[3.0, 0.0]]))  # (1 * 3 + 2 * 0 + 1)^2
    array([[16.]])
    """

    name: str
    gamma: Any = 1.0
    degree: int = 3
    coef0: float = 0.0
    function: Callable[..., Any] | None = None

    def for_rows(self, rows: Rows, weights: Floats | None = None) -> Kernel:
        """Return the kernel with gamma as a number: "scale" is ``1 / (d * variance)``, "auto" is ``1 / d``.

        The variance is that of all values; a row of weight 2 counts as two rows.
        """
        if not isinstance(self.gamma, str):
            return self
        spread = 1.0
        if self.gamma == "scale" and self.name in ("rbf", "poly"):
            with np.errstate(over="ignore", invalid="ignore"):  # too large values are refused where they are used
                spread = _variance(rows.values, weights)
        return replace(self, gamma=1.0 / (rows.shape[1] * spread) if 0 < spread < math.inf else 1.0)

    def __call__(self, left: Rows, right: Rows) -> Floats:
        """Return the kernel of every row on the left with every row on the right, in float64."""
        if self.name == "precomputed":
            raise TypeError("a precomputed kernel is a table, not a function")
        center = None if is_sparse(left.values) else center_of(self, right.values)
        a, b = (Points(self, rows.values, np.float64, center) for rows in (left, right))
        return np.asarray(block(self, a, b))


def check_kernel(kernel: Any, *, gamma: Any = "scale", degree: Any = 3, coef0: Any = 0.0) -> Kernel:
    """Return the kernel that these parameters name, or refuse them.

    Examples
    --------
    >>> check_kernel("rbf", gamma=0.5).gamma
    0.5
    >>> check_kernel("cosine")
    Traceback (most recent call last):
    ...
    ValueError: kernel must be one of linear, rbf, poly, precomputed or a function of two tables; found 'cosine'
    """
    function = None
    if callable(kernel):
        name, function = "callable", kernel
    elif isinstance(kernel, str) and kernel in KERNELS:
        name = str(kernel)
    else:
        raise ValueError(f"kernel must be one of {', '.join(KERNELS)} or a function of two tables; found {kernel!r}")
    if isinstance(gamma, str):
        if gamma not in ("scale", "auto"):
            raise ValueError(f"gamma must be 'scale', 'auto' or a positive number; found {gamma!r}")
    elif not (_is_number(gamma) and 0 < gamma < math.inf):
        raise ValueError(f"gamma must be 'scale', 'auto' or a positive number; found {gamma!r}")
    if isinstance(degree, bool) or not isinstance(degree, int | np.integer) or degree < 1:
        raise ValueError(f"degree must be a whole number of at least 1; found {degree!r}")
    if not (_is_number(coef0) and math.isfinite(coef0)):
        raise ValueError(f"coef0 must be a finite number; found {coef0!r}")
    return Kernel(name, gamma if isinstance(gamma, str) else float(gamma), int(degree), float(coef0), function)


def check_precomputed(rows: Rows) -> None:
    """Refuse a table that cannot be the kernel of examples with themselves: it must be square and symmetric."""
    n, width = rows.shape
    if is_sparse(rows.values):
        raise ValueError("a precomputed kernel must be a dense table; found a sparse matrix: use X.toarray()")
    if n != width:
        raise ValueError(
            f"a precomputed kernel must be a square matrix at fit, one row and one column for each example; found "
            f"shape {(n, width)}"
        )
    rows.check_finite()
    K = rows.values
    largest = float(np.abs(K).max())
    step = max(1, _CHUNK_BYTES // (8 * n))
    for begin in range(0, n, step):
        part = slice(begin, begin + step)
        apart = np.abs(K[part] - K[:, part].T)
        if apart.max() > 1e-5 * largest:
            i, j = (int(place) for place in np.unravel_index(apart.argmax(), apart.shape))
            i += begin
            raise ValueError(
                f"a precomputed kernel must be symmetric; found {K[i, j]:g} in row {i}, column {j} and {K[j, i]:g} in "
                f"row {j}, column {i}"
            )


class Points:
    """Rows as a kernel wants them: in one precision, moved to a center, with their squared lengths in float64.

    ``names`` are the numbers by which messages call them.
    """

    def __init__(
        self, kernel: Kernel, values: Any, dtype: Any, center: Floats | None = None, names: Any = None
    ) -> None:
        self.dtype = np.dtype(dtype)
        self.names: NDArray[Any] = np.arange(values.shape[0]) if names is None else names
        self.values: Any
        if kernel.name in ("callable", "precomputed"):
            self.values = values
        elif is_sparse(values) and center is None:
            self.values = values.astype(dtype)
        elif center is None:
            with np.errstate(over="ignore"):
                self.values = np.ascontiguousarray(values, dtype=dtype)
        else:
            values = values.toarray() if is_sparse(values) else values  # moved rows have no zeros
            self.values = np.empty(values.shape, dtype=dtype)
            with np.errstate(over="ignore"):
                np.subtract(values, center, out=self.values, casting="same_kind")
        self.squares: Floats = np.empty(0)
        if kernel.name in ("rbf", "linear", "poly"):
            self.squares = np.asarray(_core.square_norms(Rows(self.values).matrix))
            longest = float(self.squares.max())
            if not longest < (_LONGEST_SINGLE if self.dtype == np.float32 else _LONGEST):
                raise ValueError(
                    f"X holds values so large that the kernel overflows (a row has the squared length {longest:.3g}): "
                    "scale the features first"
                )

    def __len__(self) -> int:
        return int(self.values.shape[0])

    def take(self, index: Any) -> Points:
        """Return some of the points."""
        some = object.__new__(Points)
        some.dtype, some.values, some.names = self.dtype, self.values[index], self.names[index]
        some.squares = self.squares[index] if len(self.squares) else self.squares
        return some


def center_of(kernel: Kernel, values: Any) -> Floats | None:
    """Return where to move the rows: their mean for the Gaussian kernel over dense rows, None for nowhere."""
    if kernel.name != "rbf" or is_sparse(values):
        return None
    return np.asarray(values.mean(axis=0, dtype=np.float64))


def block(kernel: Kernel, left: Points, right: Points, n_jobs: int = 1) -> NDArray[Any]:
    """Return the kernel of every point on the left with every point on the right."""
    out = np.empty((len(left), len(right)), dtype=left.dtype)
    fill(kernel, left, right, out, np.arange(len(left), dtype=np.int64), n_jobs)
    return out


class Scratch:
    """Room for products on their way to a kernel, asked for once: fresh memory costs as much as a matrix product."""

    def __init__(self, dtype: Any) -> None:
        self._room: NDArray[Any] = np.empty(0, dtype=dtype)

    def rows(self, n: int, width: int) -> NDArray[Any]:
        """Return a table of this shape; the one before must not be in use any more."""
        if len(self._room) < n * width:
            self._room = np.empty(n * width, dtype=self._room.dtype)
        return self._room[: n * width].reshape(n, width)


def fill(
    kernel: Kernel,
    left: Points,
    right: Points,
    store: NDArray[Any],
    slots: NDArray[np.int64],
    n_jobs: int = 1,
    scratch: Scratch | None = None,
) -> None:
    """Write the kernel of each point on the left with every point on the right into its slot of the store."""
    n, width = len(left), len(right)
    step = max(1, min(_ROWS_A_CHUNK, _CHUNK_BYTES // max(1, width * left.dtype.itemsize)))
    if is_sparse(left.values) or is_sparse(right.values):
        step = max(1, min(step, _CHUNK_BYTES // max(1, left.values.shape[1] * left.dtype.itemsize)))
    scratch = Scratch(left.dtype) if scratch is None else scratch
    in_order = bool((np.diff(slots) == 1).all())
    for begin in range(0, n, step):
        part = slice(begin, min(begin + step, n))
        some = left.take(part)
        if kernel.name == "callable":
            store[slots[part]] = _called(kernel, some, right)
            continue
        straight = in_order and kernel.name != "rbf"
        out = store[int(slots[begin]) : int(slots[begin]) + len(some)] if straight else scratch.rows(len(some), width)
        products = _products(some, right, out)
        if kernel.name == "rbf" and left.dtype == np.float32:
            _core.exponentials(products, some.squares, right.squares, kernel.gamma, store, slots[part], n_jobs)
            continue
        _from_products(kernel, products, some, right)
        if not straight:
            store[slots[part]] = products


def diagonal(kernel: Kernel, points: Points) -> Floats:
    """Return the kernel of each point with itself, in float64."""
    if kernel.name == "rbf":
        return np.ones(len(points))
    if kernel.name == "linear":
        return points.squares.copy()
    if kernel.name == "poly":
        with np.errstate(over="ignore"):  # refused where the rows are computed
            return np.asarray((kernel.gamma * points.squares + kernel.coef0) ** kernel.degree)
    if kernel.name == "precomputed":
        return np.asarray(np.diagonal(points.values), dtype=np.float64).copy()
    step = 64
    parts = []
    for begin in range(0, len(points), step):
        some = points.take(slice(begin, begin + step))
        values = _called(kernel, some, some)
        if np.abs(values - values.T).max() > 1e-6 * np.abs(values).max():
            raise ValueError(
                f"a kernel must be symmetric: the function gives other values for rows {begin} to "
                f"{begin + len(some) - 1} when they change places"
            )
        parts.append(np.diagonal(values))
    return np.concatenate(parts).astype(np.float64)


def fits_single(kernel: Kernel, rows: Rows) -> bool:
    """Return whether float32 can hold this kernel of these rows without overflow and to about four digits.

    That is for the Gaussian kernel, whose values are all of one size; the others can have rows far longer than most.
    The error of a distance in float32 is some 2^-22 of the squared lengths it is computed from; times gamma that is
    the relative error of the Gaussian kernel. Whether the digits are enough for a given gap, the solver measures.
    """
    if kernel.name != "rbf":
        return False
    squares = np.asarray(_core.square_norms(rows.matrix))
    center = center_of(kernel, rows.values)
    if center is not None:  # |x - c|^2, to the digits that matter here
        squares = squares - 2.0 * (rows.values @ center) + float(np.dot(center, center))
    largest = float(squares.max())
    return bool(largest < 1e30 and kernel.gamma * largest * 2.0**-22 < 1e-4)


def _products(left: Points, right: Points, out: NDArray[Any] | None) -> NDArray[Any]:
    a, b = left.values, right.values
    if not (is_sparse(a) or is_sparse(b)):
        return np.matmul(a, b.T, out=out)
    if is_sparse(b):  # a sparse matrix times a dense one is the product that SciPy does best
        dense = a.toarray() if is_sparse(a) else a
        product = np.ascontiguousarray(np.asarray(b @ np.ascontiguousarray(dense.T)).T)
    else:
        product = np.ascontiguousarray(np.asarray(a @ np.ascontiguousarray(b.T)))
    if out is None:
        return product
    out[:] = product
    return out


def _from_products(kernel: Kernel, products: NDArray[Any], left: Points, right: Points) -> None:
    """Turn products of points into their kernel, in place."""
    if kernel.name == "rbf":
        products *= -2.0
        products += left.squares[:, None]
        products += right.squares
        np.maximum(products, 0.0, out=products)
        products *= -kernel.gamma
        np.exp(products, out=products)
    elif kernel.name == "poly":
        products *= kernel.gamma
        products += kernel.coef0
        if kernel.degree > 1:
            with np.errstate(over="ignore", invalid="ignore"):
                base = products.copy()
                for bit in bin(kernel.degree)[3:]:  # powers by squaring: NumPy's own are a logarithm for each value
                    products *= products
                    if bit == "1":
                        products *= base
            _refuse_bad(products, left, right, "scale the features, or choose a smaller degree")


def _called(kernel: Kernel, left: Points, right: Points) -> Floats:
    assert kernel.function is not None
    try:
        found = kernel.function(left.values, right.values)
        found = np.asarray(found.toarray() if is_sparse(found) else found)
        if found.dtype.kind == "c":
            raise TypeError("it returned complex numbers")
        values = found.astype(np.float64, copy=False)
    except (TypeError, ValueError) as problem:
        shapes = f"{left.values.shape} and {right.values.shape}"
        raise ValueError(f"the kernel function failed on tables of shapes {shapes}: {problem}") from problem
    if values.shape != (len(left), len(right)):
        raise ValueError(
            f"the kernel function must return one row for each row of its first table and one column for each of its "
            f"second: {(len(left), len(right))}; found shape {values.shape}"
        )
    _refuse_bad(values, left, right, "every value of a kernel must be a finite number")
    return values


def _refuse_bad(values: NDArray[Any], left: Points, right: Points, advice: str) -> None:
    finite = np.isfinite(values)
    if not finite.all():
        i, j = (int(place) for place in np.unravel_index(int(np.argmin(finite)), values.shape))
        found = "NaN" if np.isnan(values[i, j]) else "infinity"
        raise ValueError(f"the kernel gives {found} for rows {left.names[i]} and {right.names[j]}: {advice}")


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


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.number) and not isinstance(value, bool)
