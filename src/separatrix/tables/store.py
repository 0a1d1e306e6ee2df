"""The rows of a source, in memory while they fit and otherwise on disk."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.disk.raw_file import RawFile
from separatrix.tables.raw_rows import Growing, RawRows, Recode, join
from separatrix.tables.settings import COPIES


class MemoryRows:
    """All rows in memory.

    Parameters
    ----------
    raw : RawRows
        The rows.
    """

    def __init__(self, raw: RawRows) -> None:
        assert raw.labels is not None
        self.raw = raw
        self.n = len(raw)

    def labels(self) -> Iterator[NDArray[np.int32]]:
        """Yield the codes of all labels, in blocks."""
        assert self.raw.labels is not None
        yield self.raw.labels


RowStore = MemoryRows | RawFile


def class_counts(rows: RowStore, classes: int) -> NDArray[np.int64]:
    """Return how many rows each class has, by code."""
    counts = np.zeros(classes, dtype=np.int64)
    for labels in rows.labels():
        counts += np.bincount(labels, minlength=classes)
    return counts


class RowCollector:
    """Takes rows as they are read, and moves them to disk when they take too much memory.

    Parameters
    ----------
    where : str
        The source, for messages.
    limit : int
        Bytes that rows may take in memory, copies included.
    folder : Path
        Where rows on disk go.
    on_disk : bool
        Go to disk at once.
    """

    def __init__(self, where: str, limit: int, folder: Path, on_disk: bool) -> None:
        self._where = where
        self._left, self._folder, self._at_once = limit, folder, on_disk
        self._parts: list[RawRows] = []
        self._numbers: Growing | None = None
        self._disk: RawFile | None = None

    def add(self, raw: RawRows, part: float | None = None) -> None:
        """Add rows, which with all before them are about this part of the source."""
        if self._disk is None:
            if not self._parts and part:  # whether all will fit can be foreseen
                self._at_once |= raw.nbytes / part * COPIES > self._left
            self._left -= raw.nbytes * COPIES
            if not (is_sparse(raw.numbers) or self._at_once):
                if self._numbers is None:
                    self._numbers = Growing(part)
                self._numbers.add(raw.numbers)
                raw = replace(raw, numbers=np.empty((0, raw.numbers.shape[1])))  # no view, which would keep the block
            self._parts.append(raw)
            if self._left >= 0 and not self._at_once:
                return
            if not all(is_sparse(text) for text in raw.texts):
                raise ValueError(
                    f"{self._where} does not fit into memory, and --text-method tfidf needs all texts at once: use "
                    "--text-method hashed"
                )
            self._disk = RawFile(self._folder / "raw", raw)
            waiting, self._parts = self._with_numbers(), []
        else:
            waiting = [raw]
        for each in waiting:
            self._disk.append(each)

    def numbers(self, n: int) -> NDArray[np.float64] | None:
        """Return the numbers of the first rows, if all are in memory and dense."""
        return None if self._numbers is None or self._disk is not None else self._numbers.take()[:n]

    def finish(self, recode: Recode) -> RowStore:
        """Return the store of all rows, their codes changed to those of sorted levels and classes."""
        if self._disk is not None:
            self._disk.recode = recode
            return self._disk
        numbers = None if self._numbers is None else self._numbers.take()
        raw = join(self._parts)
        raw = raw if numbers is None else replace(raw, numbers=numbers)
        self._parts, self._numbers = [], None
        return MemoryRows(recode(raw))

    def _with_numbers(self) -> list[RawRows]:
        """Return the parts, each with its own numbers again."""
        if self._numbers is None:
            return self._parts
        every, out, begin = self._numbers.take(), [], 0
        self._numbers = None
        for part in self._parts:
            end = begin + len(part.codes)
            out.append(replace(part, numbers=every[begin:end]))
            begin = end
        return out
