"""Rows: a checked X that every engine can read.

Here: what an acceptable X is, and an error for each that is not. X is not copied when it is C-ordered or CSR, float32
or float64, and must then not be changed while it is in use; other numeric types are converted once (integers, booleans
and wider floats to float64, float16 to float32).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core

Floats = NDArray[np.float64]


class Rows:
    """Checked rows: ``values`` (dense or CSR), the same as a core ``matrix``, and the columns' ``names``."""

    def __init__(self, X: Any, *, what: str = "X") -> None:
        self.names = column_names(X)
        values = _from_frame(X, what) if self.names is not None else X
        self.values: Any
        self.values, self.matrix = _sparse(values, what) if is_sparse(values) else _dense(values, what)
        self.centre: Floats | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return self.matrix.shape

    def less(self, centre: Floats) -> Rows:
        """Return these rows with a matrix that the kernels of optimum problems read less this centre of each column.

        ``values`` stay what they are. A sparse column can have a centre only where every row has a value.
        """
        rows = copy(self)
        rows.matrix, rows.centre = _core.centred(self.matrix, centre), centre
        return rows

    def part(self, chosen: Any) -> Rows:
        """Return some of these rows, read in the same manner."""
        rows = Rows(self.values[chosen])
        return rows if self.centre is None else rows.less(self.centre)

    def check_finite(self, rows: Iterable[int] | None = None) -> None:
        """Raise ValueError naming the first NaN or infinity among these rows (all, if None)."""
        if rows is None:
            bad = _core.first_bad_row(self.matrix, 0, self.shape[0])
            if bad >= 0:
                self.refuse_row(bad)
            return
        for row in rows:
            if _core.first_bad_row(self.matrix, int(row), int(row) + 1) >= 0:
                self.refuse_row(int(row))

    def checked_activations(self, activations: Floats, first: int = 0) -> Floats:
        """Return the activations of these rows, or raise ValueError naming the first without one."""
        if np.isnan(activations).any():
            row = first + int(np.argmax(np.isnan(activations.reshape(len(activations), -1)).any(axis=1)))
            raise ValueError(
                f"the activation of row {row} is not a number: its values are so large that sums overflow; scale the "
                "features first"
            )
        return activations

    def refuse_row(self, row: int) -> None:
        """Raise ValueError naming the NaN or infinity in this row, if there is one."""
        values = self.values[[row]].toarray()[0] if is_sparse(self.values) else self.values[row]
        bad = np.flatnonzero(~np.isfinite(values))
        if bad.size:
            column = int(bad[0])
            name = f" ({self.names[column]!r})" if self.names else ""
            value = "NaN" if np.isnan(values[column]) else "infinity"
            raise ValueError(
                f"X contains {value} in row {row}, column {column}{name}: every value must be a finite number "
                "(fill or drop missing values first; inputs with NaN or inf are not accepted)"
            )


def column_names(X: Any) -> list[str] | None:
    """Return the names of a pandas or polars frame's columns, None for anything else."""
    if hasattr(X, "columns") and hasattr(X, "to_numpy"):
        return [str(name) for name in X.columns]
    return None


def is_sparse(X: Any) -> bool:
    """Return whether X is one of SciPy's sparse matrices or arrays."""
    return hasattr(X, "tocsr")


def frame_columns(X: Any) -> list[NDArray[Any]]:
    """Return the columns of a frame as arrays, each of its own type."""
    return [np.asarray(X[name].to_numpy()) for name in X.columns]


def _from_frame(X: Any, what: str) -> Any:
    columns = frame_columns(X)
    if columns and all(column.dtype.kind in "biuf" for column in columns):
        if len({column.dtype for column in columns}) == 1:
            return X.to_numpy()
    else:
        columns = [
            column if column.dtype.kind in "biuf" else _numbers(column, f"column {str(name)!r} of {what}")
            for name, column in zip(X.columns, columns, strict=True)
        ]
    return np.stack(columns, axis=1).astype(np.float64, copy=False) if columns else np.empty((len(X), 0))


def _numbers(values: NDArray[Any], where: str) -> Floats:
    """Convert an array of Python objects to floats, or name the first value that is not a number."""
    try:
        if values.dtype.kind == "c":
            raise ValueError(f"Complex data not supported: {where} holds complex numbers; real numbers are accepted")
        if values.dtype.kind != "O":
            raise ValueError(f"{where} holds text")
        if any(isinstance(v, complex) for v in values.flat):
            raise ValueError(f"Complex data not supported: {where} holds complex numbers; real numbers are accepted")
        return values.astype(np.float64)
    except (TypeError, ValueError) as problem:
        if "Complex" in str(problem):
            raise
        for place, entry in np.ndenumerate(values):
            value = entry.item() if isinstance(entry, np.generic) else entry
            try:
                if isinstance(value, str | bytes) or values.dtype.kind in "mM":
                    raise ValueError("text")
                float(value)
            except (TypeError, ValueError) as reason:
                at = f"row {place[0]}" + (f", column {place[1]}" if len(place) > 1 else "")
                kind = TypeError if isinstance(reason, TypeError) else ValueError
                detail = f" ({reason})" if kind is TypeError else ""
                raise kind(
                    f"{where} holds {value!r} in {at}, where a number belongs{detail}; turn it into numbers first"
                ) from None
        raise


def _dense(X: Any, what: str) -> tuple[NDArray[Any], _core.Matrix]:
    try:
        values = np.asarray(X)
    except ValueError as problem:
        raise ValueError(f"{what} cannot be read as a table of numbers: its rows differ in length") from problem
    if values.ndim != 2:
        advice = ": Reshape your data with X.reshape(-1, 1) for one feature or X.reshape(1, -1) for one example"
        raise ValueError(
            f"{what} must have 2 dimensions (rows and columns); found an array with dim {values.ndim} "
            f"and shape {values.shape}{advice if values.ndim == 1 else ''}"
        )
    _check_size(values.shape, what)
    if values.dtype.kind not in "biuf":
        values = _numbers(values, what)
    elif values.dtype.type not in (np.float32, np.float64):
        values = values.astype(np.float32 if values.dtype == np.float16 else np.float64)
    itemsize = values.itemsize
    plain = values.strides[1] == itemsize or values.shape[1] == 1
    plain = plain and (values.shape[0] == 1 or values.strides[0] >= values.shape[1] * itemsize)
    if not (plain and values.strides[0] % itemsize == 0 and values.flags.aligned and values.dtype.isnative):
        values = np.array(values, dtype=values.dtype.newbyteorder("="), order="C")
    return values, _core.dense(values)


def _sparse(X: Any, what: str) -> tuple[Any, _core.Matrix]:
    if X.ndim != 2:
        raise ValueError(f"{what} must have 2 dimensions; found a sparse array with {X.ndim}. Reshape your data")
    _check_size(X.shape, what)
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {what} holds complex numbers; real numbers are accepted")
    if X.format != "csr":
        _check_indices(X, what)
        X = X.tocsr()
    if X.dtype.type not in (np.float32, np.float64):
        X = X.astype(np.float64)
    matrix = _core_csr(X)
    if not matrix.canonical:  # entries out of order or twice: sort and sum them in a copy
        X = X.copy()
        X.sum_duplicates()
        matrix = _core_csr(X)
    return X, matrix


def _check_indices(X: Any, what: str) -> None:
    """Refuse indices outside the matrix, which SciPy's conversions would follow into other memory."""
    if X.format == "coo":
        inside = all(
            axis.size == 0 or (int(axis.min()) >= 0 and int(axis.max()) < length)
            for axis, length in zip((X.row, X.col), X.shape, strict=True)
        )
        if not inside:
            raise ValueError(f"{what} is a COO matrix with an entry outside its shape {X.shape}")
    elif X.format in ("csc", "bsr"):
        by_column = X.format == "csc"
        blocks = X.shape[::-1] if by_column else (X.shape[0] // X.blocksize[0], X.shape[1] // X.blocksize[1])
        indices, indptr = (np.ascontiguousarray(array, dtype=np.int64) for array in (X.indices, X.indptr))
        _core.csr(np.zeros(len(indices)), indices, indptr, blocks[1])
        if len(indptr) != blocks[0] + 1 or (by_column and len(X.data) < indptr[-1]):
            raise ValueError(f"{what} is a {X.format.upper()} matrix whose arrays do not fit its shape {X.shape}")


def _core_csr(X: Any) -> _core.Matrix:
    wide = X.indices.dtype == np.int64 or X.indptr.dtype == np.int64
    index = np.int64 if wide else np.int32
    indices, indptr = (np.ascontiguousarray(array, dtype=index) for array in (X.indices, X.indptr))
    return _core.csr(np.ascontiguousarray(X.data), indices, indptr, X.shape[1])


def _check_size(shape: Sequence[int], what: str) -> None:
    for count, noun in ((shape[0], "sample"), (shape[1], "feature")):
        if count == 0:
            raise ValueError(f"{what} has 0 {noun}(s) (shape={tuple(shape)}) while a minimum of 1 is required.")


def stacked(above: Any, below: Any) -> Any:
    """Return the rows of two matrices in one, CSR if one of them is sparse."""
    if is_sparse(above) or is_sparse(below):
        from scipy.sparse import csr_array, vstack

        return vstack([csr_array(above), csr_array(below)], format="csr")
    return np.concatenate([above, below])
