"""Rows on disk as they were read: they are scaled and encoded once all have been seen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.disk.rowfile import ArrayFile, RowFile
from separatrix.tables.raw_rows import RawRows, Recode

_WINDOW = 16 << 20  # bytes of rows in memory at once


def window_of(rows: RawRows) -> int:
    """Return how many rows like these are read at once."""
    width = int(rows.codes.shape[1]) + (0 if is_sparse(rows.numbers) else int(rows.numbers.shape[1]))
    return max(1, min(1 << 16, _WINDOW // (8 * (width + 4))))


class RawFile:
    """Rows in a folder, added at the end and read in windows.

    Parameters
    ----------
    folder : Path
        Where the files are; it is created.
    first : RawRows
        Some rows, which say what there is to store.
    """

    def __init__(self, folder: Path, first: RawRows) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        texts = [text for text in first.texts if is_sparse(text)]
        self.sparse = is_sparse(first.numbers)
        self._numbers: ArrayFile | RowFile
        if self.sparse:
            self._numbers = RowFile(folder / "numbers", 0, sparse=True, weighted=False, dtype=np.float64)
        else:
            self._numbers = ArrayFile(folder / "numbers", np.float64, max(first.numbers.shape[1], 1))
        self._has_numbers = first.numbers.shape[1] > 0 or self.sparse
        self._codes = ArrayFile(folder / "codes", np.int32, max(first.codes.shape[1], 1))
        self._categories = first.codes.shape[1]
        self._texts = [
            RowFile(folder / f"text{k}", text.shape[1], sparse=True, weighted=False, dtype=np.float64)
            for k, text in enumerate(texts)
        ]
        self._labels = ArrayFile(folder / "labels", np.int32)
        self._weights = None if first.weights is None else ArrayFile(folder / "weights", np.float64)
        self.window = window_of(first)  # rows
        self.n = self.nbytes = 0
        self.recode = Recode([], None)  # to sorted levels and classes, which are known once all rows were read

    @property
    def weighted(self) -> bool:
        """Whether rows have weights."""
        return self._weights is not None

    def append(self, raw: RawRows) -> None:
        """Add rows."""
        assert raw.labels is not None
        if isinstance(self._numbers, RowFile):
            self._numbers.append(raw.numbers, raw.labels)
        elif self._has_numbers:
            self._numbers.append(raw.numbers)
        if self._categories:
            self._codes.append(raw.codes)
        for file, text in zip(self._texts, raw.texts, strict=True):
            file.append(text, raw.labels)
        self._labels.append(raw.labels)
        if self._weights is not None:
            self._weights.append(raw.weights)
        self.n += len(raw)
        self.nbytes += raw.nbytes

    def blocks(self) -> Iterator[RawRows]:
        """Yield all rows, some at a time."""
        for begin in range(0, self.n, self.window):
            yield self.read(begin, min(begin + self.window, self.n))

    def labels(self) -> Iterator[NDArray[np.int32]]:
        """Yield the codes of all labels, as many at a time as ``blocks``."""
        assert self.recode.labels is not None
        for begin in range(0, self.n, self.window):
            yield self.recode.labels[self._labels.read(begin, min(begin + self.window, self.n))]

    def read(self, begin: int, end: int) -> RawRows:
        """Return rows, with codes of sorted levels and classes."""
        if isinstance(self._numbers, RowFile):
            numbers, _, _ = self._numbers.read([(begin, end)])
        else:
            numbers = np.empty((end - begin, 0))
            if self._has_numbers:
                numbers = self._numbers.read(begin, end).reshape(end - begin, -1)
        codes = np.empty((end - begin, self._categories), dtype=np.int32)
        if self._categories:
            codes = self._codes.read(begin, end).reshape(end - begin, -1)
        texts = [file.read([(begin, end)])[0] for file in self._texts]
        weights = None if self._weights is None else self._weights.read(begin, end)
        return self.recode(RawRows(numbers, codes, texts, self._labels.read(begin, end), weights))

    def remove(self) -> None:
        """Delete the files."""
        for file in (self._numbers, *self._texts):
            if isinstance(file, RowFile):
                file.remove()
        for part in (self._numbers, self._codes, self._labels, self._weights):
            if isinstance(part, ArrayFile):
                part.path.unlink()
        self.folder.rmdir()
