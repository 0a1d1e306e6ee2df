"""NumPy's own files: a matrix in ``.npy``, named arrays or a sparse matrix in ``.npz``."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.tables.sources.base import ROWS, Column, MatrixSource, TableSource
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.text import listed

if TYPE_CHECKING:
    import pyarrow as pa


class ArraySource(MatrixSource):
    """Rows held in arrays.

    Parameters
    ----------
    path : str
        The file, for the fingerprint.
    name : str
        What messages call it.
    X : ndarray or CSR matrix
        The rows.
    y : ndarray or None
        The labels.
    """

    def __init__(self, path: str, name: str, X: Any, y: Any = None) -> None:
        self.name = path_text(name)
        self.files, self.mark = [path], "array"
        self.sparse = not isinstance(X, np.ndarray)
        if X.ndim != 2:
            raise ValueError(f"{self.name} has an array of {X.ndim} dimensions; two are needed (rows and columns)")
        if X.dtype.kind not in "biuf":
            raise ValueError(f"{self.name} has values of type {X.dtype}; numbers are needed")
        if not X.shape[0] or not X.shape[1]:
            raise ValueError(f"{self.name} has an empty matrix of shape {X.shape}")
        if y is not None and y.shape != (X.shape[0],):
            raise ValueError(f"{self.name} has {X.shape[0]} rows in X and a y of shape {y.shape}")
        self.n_rows, self.width = map(int, X.shape)
        self.labelled = y is not None
        self._X, self._y, self._fraction = X, y, 0.0

    def blocks(self, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of rows with their labels."""
        for start in range(0, self._X.shape[0], rows):
            block = self._X[start : start + rows]
            labels = None if self._y is None else self._y[start : start + rows]
            self._fraction = min(1.0, (start + rows) / self._X.shape[0])
            yield (block.astype(np.float64) if self.sparse else np.array(block, dtype=np.float64)), labels

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._fraction

    def close(self) -> None:
        """Let go of the arrays."""
        self._X, self._y = np.empty((0, 0)), None


class RecordSource(TableSource):
    """A structured array: a table of its fields."""

    def __init__(self, path: str, name: str, array: Any) -> None:
        import pyarrow as pa

        from separatrix.tables.sources import arrow_files

        self.name = path_text(name)
        self.files, self.mark = [path], "array"
        self._array, self._fraction = array.reshape(-1), 0.0
        self.n_rows = len(self._array)
        columns = []
        for field in array.dtype.names:
            try:
                kind = pa.array(_aligned(self._array[field][:1])).type
            except (pa.ArrowException, TypeError, ValueError):
                raise ValueError(
                    f"{self.name}, field {field!r}: values of type {array.dtype[field]} cannot be read"
                ) from None
            columns.append(arrow_files.column_of(pa.field(field, kind)))
        self.columns: tuple[Column, ...] = tuple(columns)

    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns; see `TableSource.batches`."""
        import pyarrow as pa

        from separatrix.tables.sources.arrow_files import standard_array

        places = self.places(names)
        if not self.n_rows:
            raise ValueError(f"{self.name} has no rows")
        for start in range(0, self.n_rows, rows):
            part = self._array[start : start + rows]
            values = [pa.array(_aligned(part[name])) for name in names]
            arrays = [standard_array(each, self.columns[k]) for each, k in zip(values, places, strict=True)]
            self._fraction = min(1.0, (start + rows) / self.n_rows)
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._fraction


def _aligned(values: Any) -> Any:
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def open_npy(request: Request) -> MatrixSource | TableSource:
    """Open an array without reading it."""
    path, name = request.files[0], request.name
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError, OSError) as problem:
        raise ValueError(_refused(name, problem)) from None
    return RecordSource(path, name, array) if array.dtype.names else ArraySource(path, name, array)


def open_npz(request: Request) -> MatrixSource:
    """Open named arrays: ``X`` with perhaps ``y``, or what ``scipy.sparse.save_npz`` writes."""
    path, name = request.files[0], request.name
    try:
        with open(path, "rb") as opened, np.load(opened, allow_pickle=False) as file:
            names = list(file.files)
            if "X" in names:
                return ArraySource(path, name, file["X"], file["y"] if "y" in names else None)
            if not {"format", "shape", "data"} <= set(names):
                raise ValueError(f"{path_text(name)} has no array X; its arrays are {listed(names) or 'none'}")
        from scipy import sparse

        return ArraySource(path, name, sparse.csr_matrix(sparse.load_npz(path)))
    except (EOFError, OSError, zipfile.BadZipFile, KeyError) as problem:
        raise ValueError(_refused(name, problem)) from None
    except ValueError as problem:
        if str(problem).startswith(path_text(name)):
            raise
        raise ValueError(_refused(name, problem)) from None


def _refused(name: str, problem: BaseException) -> str:
    if "allow_pickle" in str(problem) or "Python objects" in str(problem):
        return f"{path_text(name)} has Python objects; only arrays of numbers can be read"
    return f"{path_text(name)} is not a whole file of NumPy arrays: {short(problem)}"
