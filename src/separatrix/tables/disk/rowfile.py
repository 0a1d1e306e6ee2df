"""Rows on disk: what does not fit into memory is written once, in the form that the core reads, and read in pieces.

Pieces are read, not memory-mapped: mapped pages would count against limits on memory and address space. The operating
system keeps in its page cache what fits.
"""

from __future__ import annotations

import errno
import json
import os
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.text import read_json

GROUP = 16 << 20  # bytes of rows that are trained on together
_FORM = 2  # of the files; a cache of another form is not used


class ArrayFile:
    """An array in a file that grows by rows."""

    def __init__(self, path: Path, dtype: Any, width: int = 1, *, new: bool = True) -> None:
        self.path, self.dtype, self.width = path, np.dtype(dtype), width
        self._row = self.dtype.itemsize * width
        if new:
            path.write_bytes(b"")
        self.n = path.stat().st_size // self._row
        self.check = 0  # of all that was written

    def append(self, values: Any) -> None:
        """Add rows at the end."""
        values = np.ascontiguousarray(values, dtype=self.dtype)
        self.n += len(values)
        left: Any = values.data.cast("B") if values.size else b""
        self.check = zlib.crc32(left, self.check)
        try:
            with open(self.path, "ab", buffering=0) as file:
                while left:
                    left = left[file.write(left) :]
        except OSError as problem:
            reason = "the disk is full" if problem.errno == errno.ENOSPC else problem.strerror
            raise ValueError(f"rows cannot be written to the cache folder {self.path.parent}: {reason}") from None

    def read(self, begin: int, end: int, out: NDArray[Any] | None = None) -> NDArray[Any]:
        """Return rows, read into ``out`` where it is given."""
        shape = (end - begin,) if self.width == 1 else (end - begin, self.width)
        values = np.empty(shape, dtype=self.dtype) if out is None else out[: end - begin]
        if values.size:
            with open(self.path, "rb", buffering=0) as file:
                file.seek(begin * self._row)
                left: Any = values.data.cast("B")
                while left:
                    got = file.readinto(left)
                    if not got:
                        raise ValueError(f"the row file {self.path} ends early; was it changed?")
                    left = left[got:]
        return values


class RowFile:
    """Rows with their labels and weights in a folder; dense or CSR, float32 unless said otherwise.

    Parameters
    ----------
    folder : Path
        Where the files lie; it is made if need be.
    width : int
        Numbers in a row.
    sparse, weighted : bool
        Whether rows are CSR, and whether they have weights.
    dtype : dtype
        Of the numbers.
    new : bool
        False opens what is there.
    """

    def __init__(
        self, folder: Path, width: int, *, sparse: bool, weighted: bool, dtype: Any = np.float32, new: bool = True
    ) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder, self.width, self.sparse = folder, width, sparse
        self._numbers: ArrayFile
        if sparse:
            self._numbers = self._data = ArrayFile(folder / "data", dtype, new=new)
            self._indices = ArrayFile(folder / "indices", np.int32, new=new)
            self._ends = ArrayFile(folder / "ends", np.int64, new=new)
        else:
            self._numbers = self._dense = ArrayFile(folder / "rows", dtype, width, new=new)
        self._labels = ArrayFile(folder / "labels", np.int32, new=new)
        self._weights = ArrayFile(folder / "weights", np.float64, new=new) if weighted else None
        self.n = self._labels.n

    def append(self, X: Any, labels: NDArray[np.int32], weights: Any = None) -> None:
        """Add rows at the end."""
        if self.sparse:
            before = self._data.n
            self._data.append(X.data)
            self._indices.append(X.indices)
            self._ends.append(X.indptr[1:].astype(np.int64) + before)
            self.width = max(self.width, X.shape[1])
        else:
            self._dense.append(X)
        self._labels.append(labels)
        if self._weights is not None:
            self._weights.append(weights)
        self.n = self._labels.n

    @property
    def check(self) -> str:
        """A key of all rows, labels and weights that were written."""
        return " ".join(f"{name}:{file.check:08x}" for name, file in self._files())

    def _files(self) -> list[tuple[str, ArrayFile]]:
        names = ("_data", "_indices", "_ends", "_dense", "_labels", "_weights")
        files = [(name, getattr(self, name, None)) for name in names]
        return [(name, file) for name, file in files if file is not None]

    @property
    def _whole(self) -> bool:
        """Whether all files have the length that belongs to the number of rows."""
        if self.sparse:
            stored = int(self._ends.read(self.n - 1, self.n)[0]) if self.n and self._ends.n == self.n else -1
            fits = self._data.n == self._indices.n == stored
        else:
            fits = self._dense.n == self.n
        return fits and (self._weights is None or self._weights.n == self.n)

    @property
    def nbytes(self) -> int:
        """The size of the rows."""
        if self.sparse:
            return int(self._data.n * self._data.dtype.itemsize + self._indices.n * 4 + self._ends.n * 8)
        return int(self.n * self.width * self._dense.dtype.itemsize)

    def read(self, pieces: Sequence[tuple[int, int]]) -> tuple[Any, NDArray[np.int32], Any]:
        """Return the rows, labels and weights of some ranges of rows, one after the other."""
        sizes = [end - begin for begin, end in pieces]
        starts = np.concatenate([[0], np.cumsum(sizes)])
        labels = np.empty(starts[-1], dtype=np.int32)
        weights = None if self._weights is None else np.empty(starts[-1])
        X = None if self.sparse else np.empty((starts[-1], self.width), dtype=self._dense.dtype)
        for (begin, end), start in zip(pieces, starts, strict=False):
            self._labels.read(begin, end, labels[start:])
            if self._weights is not None and weights is not None:
                self._weights.read(begin, end, weights[start:])
            if X is not None:
                self._dense.read(begin, end, X[start:])
        return self._csr(pieces, sizes) if X is None else X, labels, weights

    def _csr(self, pieces: Sequence[tuple[int, int]], sizes: Sequence[int]) -> Any:
        from scipy import sparse

        ends = []
        spans = []
        for begin, end in pieces:
            before = int(self._ends.read(begin - 1, begin)[0]) if begin else 0
            own = self._ends.read(begin, end)
            spans.append((before, int(own[-1]) if len(own) else before))
            ends.append(own - before)
        starts = np.concatenate([[0], np.cumsum([end - begin for begin, end in spans])])
        data = np.empty(starts[-1], dtype=self._data.dtype)
        indices = np.empty(starts[-1], dtype=np.int32)
        for (begin, end), start in zip(spans, starts, strict=False):
            self._data.read(begin, end, data[start:])
            self._indices.read(begin, end, indices[start:])
        indptr = np.concatenate([[0], *(own + start for own, start in zip(ends, starts, strict=False))])
        kind = np.int32 if starts[-1] < 2**31 else np.int64
        return sparse.csr_matrix((data, indices, indptr.astype(kind)), shape=(sum(sizes), self.width))

    def values(self, begin: int, end: int) -> Any:
        """Return the features of neighbouring rows."""
        if self.sparse:
            return self._csr([(begin, end)], [end - begin])
        return self._dense.read(begin, end).reshape(end - begin, self.width)

    def about(self, begin: int, end: int) -> tuple[NDArray[np.int32], NDArray[np.float64] | None]:
        """Return the labels and the weights of neighbouring rows."""
        return self._labels.read(begin, end), None if self._weights is None else self._weights.read(begin, end)

    def whole(self) -> tuple[Any, NDArray[np.int32], Any] | None:
        """Return all rows, labels and weights where they are at most one group; None where they are more."""
        return self.read([(0, self.n)]) if self.nbytes <= GROUP else None

    def cut(self, size: int) -> list[tuple[int, int]]:
        """Return ranges of rows of about this many bytes each."""
        rows = max(1, int(size * self.n / max(self.nbytes, 1)))
        return [(begin, min(begin + rows, self.n)) for begin in range(0, self.n, rows)]

    def remove(self) -> None:
        """Delete the files."""
        for path in self.folder.iterdir():
            path.unlink()
        self.folder.rmdir()

    # ------------------------------------------------------------------------------------------ a cache to keep

    def seal(self) -> None:
        """Note that the files are whole, and how to read them."""
        own = {
            "form": _FORM, "n": self.n, "width": self.width, "sparse": self.sparse,
            "weighted": self._weights is not None, "dtype": self._numbers.dtype.name,
        }  # fmt: skip
        temporary = self.folder / "about.part"
        temporary.write_text(json.dumps(own), encoding="utf-8")
        os.replace(temporary, self.folder / "about.json")

    @classmethod
    def reopen(cls, folder: Path) -> RowFile | None:
        """Return the rows kept in a folder; None if there are none that are whole."""
        try:
            own = read_json((folder / "about.json").read_text(encoding="utf-8"), "about.json")
            if own["form"] != _FORM:
                return None
            made = cls(
                folder, int(own["width"]), sparse=bool(own["sparse"]), weighted=bool(own["weighted"]),
                dtype=np.dtype(own["dtype"]), new=False,
            )  # fmt: skip
        except (OSError, ValueError, KeyError, TypeError):
            return None
        return made if made.n == own["n"] and made._whole else None


def in_precision(X: Any, dtype: Any, where: str) -> Any:
    """Return rows in float32 or float64, as a row file stores them."""
    with np.errstate(over="ignore"):
        X = X.astype(dtype, copy=False)
    if is_sparse(X):
        X.sort_indices()
    if not np.isfinite(X.data if is_sparse(X) else X).all():
        raise ValueError(
            f"{where} has a number beyond 3.4e38, which rows on disk cannot hold: scale the numbers, or allow more "
            "--memory"
        )
    return X
