"""NumPy's own files: a matrix in ``.npy``, named arrays or a sparse matrix in ``.npz``."""

from __future__ import annotations

import math
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.tables.memory import available
from separatrix.tables.sources.base import ROWS, Column, MatrixSource, TableSource
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.text import byte_size, listed

if TYPE_CHECKING:
    import pyarrow as pa


_LONGEST_LABEL = 1 << 16  # bytes
_SPARSE = {"csr": ("indices", "indptr"), "csc": ("indices", "indptr"), "coo": ("row", "col")}  # formats and their parts


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
        if y is not None and (y.dtype.kind not in "biufUS" or y.dtype.itemsize > _LONGEST_LABEL):
            raise ValueError(f"{self.name} has a y of type {y.dtype}; numbers or short texts are needed")
        if y is not None:
            _check_text(y, f"{self.name}, y")
        self.n_rows, self.width = map(int, X.shape)
        self.labelled = y is not None
        self._X, self._y, self._fraction = X, y, 0.0

    def blocks(self, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of rows with their labels."""
        for start in range(0, self._X.shape[0], rows):
            block = self._X[start : start + rows]
            labels = None if self._y is None else self._y[start : start + rows]
            self._fraction = min(1.0, (start + rows) / self._X.shape[0])
            with np.errstate(over="ignore", invalid="ignore"):  # what no double holds is refused as infinite
                values = block.astype(np.float64) if self.sparse else np.array(block, dtype=np.float64)
            yield values, labels

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
            for name in names:
                _check_text(part[name], f"{self.name}, field {name!r}")
            values = [pa.array(_aligned(part[name])) for name in names]
            arrays = [standard_array(each, self.columns[k]) for each, k in zip(values, places, strict=True)]
            self._fraction = min(1.0, (start + rows) / self.n_rows)
            yield pa.RecordBatch.from_arrays(arrays, names=list(names))

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read."""
        return self._fraction


def _check_text(values: Any, where: str) -> None:
    """Refuse texts with what is no character: NumPy makes strings of them that crash others."""
    if values.dtype.kind == "U" and values.dtype.itemsize:
        points = np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("=")).view(np.uint32)
        if ((points > 0x10FFFF) | ((points >= 0xD800) & (points < 0xE000))).any():
            raise ValueError(f"{where}: a text has characters that do not exist")


def _aligned(values: Any) -> Any:
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def open_npy(request: Request) -> MatrixSource | TableSource:
    """Open an array without reading it."""
    path, name = request.files[0], request.name
    with _damage(name):
        array = np.load(path, mmap_mode="r", allow_pickle=False)  # which refuses a file that is too short for its shape
        if not isinstance(array, np.ndarray):
            raise ValueError(f"{path_text(name)} is a zip archive; call it .npz if it has arrays")
        return RecordSource(path, name, array) if array.dtype.names else ArraySource(path, name, array)


def open_npz(request: Request) -> MatrixSource:
    """Open named arrays: ``X`` with perhaps ``y``, or what ``scipy.sparse.save_npz`` writes."""
    path, name = request.files[0], request.name
    with _damage(name), zipfile.ZipFile(path) as archive:
        _check_members(archive, name)
        names = [each.removesuffix(".npy") for each in archive.namelist()]
        twice = next((each for k, each in enumerate(names) if each in names[:k]), None)
        if twice is not None:
            raise ValueError(f"{path_text(name)} has two arrays called {twice!r}")
        if "X" in names:
            return ArraySource(path, name, _member(archive, "X"), _member(archive, "y") if "y" in names else None)
        if not {"format", "shape", "data"} <= set(names):
            raise ValueError(f"{path_text(name)} has no array X; its arrays are {listed(names) or 'none'}")
        return ArraySource(path, name, _sparse(archive, path_text(name)))


def _sparse(archive: zipfile.ZipFile, called: str) -> Any:
    """Return the sparse matrix of an archive as CSR; its indices are checked before SciPy follows them."""
    from scipy import sparse

    form = _member(archive, "format")
    text = form.item() if form.ndim == 0 and form.dtype.kind in "SU" else None
    text = text.decode("ascii", "replace") if isinstance(text, bytes) else text
    if text not in _SPARSE:
        raise ValueError(f"{called} has a sparse matrix of the format {text!r:.20}; {', '.join(_SPARSE)} can be read")
    shape = _member(archive, "shape")
    if shape.shape != (2,) or shape.dtype.kind not in "iu" or not all(0 <= size < 2**62 for size in shape.tolist()):
        raise ValueError(f"{called} has a sparse matrix whose shape is not two whole numbers")
    size = (int(shape[0]), int(shape[1]))
    if 16 * size[0] > available():
        raise ValueError(f"{called} claims {size[0]:,} rows, which do not fit into memory")
    data, *places = (_member(archive, each) for each in ("data", *_SPARSE[text]))
    if data.ndim != 1 or any(each.dtype.kind not in "iu" or each.ndim != 1 for each in places):
        raise ValueError(f"{called} has a sparse matrix whose parts are not lists of numbers")
    if text == "coo":
        return sparse.coo_matrix((data, tuple(places)), shape=size).tocsr()
    indices, starts = places
    lines, most = size if text == "csr" else size[::-1]
    rising = len(starts) == lines + 1 and starts[0] == 0 and bool((np.diff(starts.astype(np.int64)) >= 0).all())
    inside = not len(indices) or 0 <= int(indices.min()) <= int(indices.max()) < most
    if not (rising and inside and int(starts[-1]) == len(indices) == len(data)):  # SciPy would read somewhere else
        raise ValueError("the indices of its sparse matrix do not fit its shape")
    return sparse.csr_matrix((sparse.csr_matrix if text == "csr" else sparse.csc_matrix)((data, *places), shape=size))


def _check_members(archive: zipfile.ZipFile, name: str) -> None:
    """Refuse arrays that do not fit into the free memory, before they are unpacked."""
    size, free = sum(each.file_size for each in archive.infolist()), available()
    if size > free:
        raise ValueError(
            f"{path_text(name)} holds {byte_size(size)} of arrays, more than the {byte_size(free)} of memory that are "
            "free; save the rows as a .npy file, which is read in parts"
        )


def _member(archive: zipfile.ZipFile, name: str) -> Any:
    """Return an array of an archive; its header must claim what is there."""
    file = f"{name}.npy" if f"{name}.npy" in archive.namelist() else name
    with archive.open(file) as opened:
        version = np.lib.format.read_magic(opened)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
        shape, _, dtype = read(opened)
        claimed = math.prod(shape) * dtype.itemsize
        if not dtype.hasobject and opened.tell() + claimed > archive.getinfo(file).file_size:
            raise ValueError(f"the array {name} is shorter than its shape {shape}")
    with archive.open(file) as opened:
        return np.lib.format.read_array(opened, allow_pickle=False)


@contextmanager
def _damage(name: str) -> Iterator[None]:
    """Turn whatever NumPy, zipfile and the parser of headers raise for a damaged file into one sentence."""
    called = path_text(name)
    try:
        yield
    except MemoryError:
        raise ValueError(f"{called} does not fit into memory, or claims a shape that is not its own") from None
    except Exception as problem:
        if isinstance(problem, ValueError) and str(problem).startswith(called):
            raise
        if "allow_pickle" in str(problem) or "Python objects" in str(problem):
            raise ValueError(f"{called} has Python objects; only arrays of numbers can be read") from None
        why = "the header of an array cannot be read" if "malformed node" in str(problem) else short(problem)
        raise ValueError(f"{called} is not a whole file of NumPy arrays: {why}") from None
