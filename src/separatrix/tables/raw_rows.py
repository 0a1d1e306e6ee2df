"""Rows of a table as they were read: numbers, codes of categories, texts, codes of labels, sample weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse

MISSING = -1  # the code of a missing category
UNSEEN = -2  # the code of a category that the model was not trained on


@dataclass
class RawRows:
    """Some rows.

    Attributes
    ----------
    numbers : array of shape (n, number columns), or CSR matrix
        NaN where one is missing.
    codes : int32 array of shape (n, category columns)
        Places in the lists of levels; -1 where one is missing.
    texts : list
        For each text column its n texts (None where one is missing), or a CSR matrix of their hashed words.
    labels : int32 array of n, optional
        Places in the list of classes.
    weights : float64 array of n, optional
        The sample weight of each row.
    order : float64 array of n, optional
        The time or the group of each row, by which the test set is drawn.
    """

    numbers: Any
    codes: NDArray[np.int32]
    texts: list[Any] = field(default_factory=list)
    labels: NDArray[np.int32] | None = None
    weights: NDArray[np.float64] | None = None
    order: NDArray[np.float64] | None = None

    def __len__(self) -> int:
        return int(self.numbers.shape[0])

    def take(self, rows: Any) -> RawRows:
        """Return the rows of these places, or those marked True."""
        if isinstance(rows, np.ndarray) and rows.dtype == bool:
            if rows.all():
                return self
            rows = np.flatnonzero(rows)
        return RawRows(
            self.numbers[rows],
            self.codes[rows],
            [_take(text, rows) for text in self.texts],
            None if self.labels is None else self.labels[rows],
            None if self.weights is None else self.weights[rows],
            None if self.order is None else self.order[rows],
        )

    @property
    def nbytes(self) -> int:
        """How much memory the rows take, about."""
        total = size_of(self.numbers) + self.codes.nbytes + sum(size_of(text) for text in self.texts)
        return total + sum(a.nbytes for a in (self.labels, self.weights) if a is not None)


def _take(text: Any, rows: Any) -> Any:
    if is_sparse(text):
        return text[rows]
    places = range(len(text))[rows] if isinstance(rows, slice) else rows
    return [text[place] for place in places]


def size_of(values: Any) -> int:
    """Return the bytes of an array, a CSR matrix or a list of texts."""
    if is_sparse(values):
        return int(values.data.nbytes + values.indices.nbytes + values.indptr.nbytes)
    if isinstance(values, np.ndarray):
        return values.nbytes
    return sum(len(text) + 57 for text in values if text is not None)


def join(parts: Sequence[RawRows]) -> RawRows:
    """Return the rows of all parts, one after the other."""
    if len(parts) == 1:
        return parts[0]
    first = parts[0]
    return RawRows(
        _join([part.numbers for part in parts]),
        np.concatenate([part.codes for part in parts]),
        [_join([part.texts[k] for part in parts]) for k in range(len(first.texts))],
        None if first.labels is None else np.concatenate([p.labels for p in parts if p.labels is not None]),
        None if first.weights is None else np.concatenate([p.weights for p in parts if p.weights is not None]),
        None if first.order is None else np.concatenate([p.order for p in parts if p.order is not None]),
    )


@dataclass
class Recode:
    """Changes codes in the order of appearance to codes of sorted levels and classes; -1, a missing value, stays.

    Attributes
    ----------
    codes : list of arrays
        For each category column the new code of each old one; the last entry is that of -1.
    labels : array, optional
        The same for the labels.
    """

    codes: list[NDArray[np.int32]]
    labels: NDArray[np.int32] | None

    @staticmethod
    def table(before: Iterable[Any], after: Iterable[Any]) -> NDArray[np.int32]:
        """Return the new code of each value, -1 for one that is not there any more."""
        places = {value: place for place, value in enumerate(after)}
        return np.array([*(places.get(value, -1) for value in before), -1], dtype=np.int32)

    def __call__(self, raw: RawRows) -> RawRows:
        """Return the rows with new codes."""
        codes = raw.codes.copy() if self.codes else raw.codes
        for place, table in enumerate(self.codes):
            codes[:, place] = table[raw.codes[:, place]]
        labels = raw.labels if self.labels is None or raw.labels is None else self.labels[raw.labels]
        return RawRows(raw.numbers, codes, raw.texts, labels, raw.weights, raw.order)


class Growing:
    """Rows that are added block by block, into memory that is allocated for all of them at once.

    Parameters
    ----------
    part : float, optional
        What part of all rows the first block is, about.
    """

    def __init__(self, part: float | None) -> None:
        self._part, self.n = part, 0
        self._rows: Any = None

    def add(self, rows: NDArray[Any]) -> None:
        """Add rows at the end."""
        end = self.n + len(rows)
        if self._rows is None or end > len(self._rows):
            size = max(2 * end, 1024) if self._rows is not None or not self._part else int(1.03 * end / self._part) + 64
            grown = np.empty((size, *rows.shape[1:]), dtype=rows.dtype)  # what is not used takes no memory
            if self.n:
                grown[: self.n] = self._rows[: self.n]
            self._rows = grown
        self._rows[self.n : end] = rows
        self.n = end

    def take(self) -> NDArray[Any]:
        """Return all rows."""
        return np.asarray(self._rows[: self.n])


def _join(parts: list[Any]) -> Any:
    if is_sparse(parts[0]):
        from scipy import sparse

        width = max(part.shape[1] for part in parts)
        for part in parts:  # a row file's width is known at its end
            part.resize(part.shape[0], width)
        return sparse.vstack(parts, format="csr")
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return [text for part in parts for text in part]
