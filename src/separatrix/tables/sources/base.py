"""What every source of data offers: named columns as Arrow batches, or a matrix of numbers in blocks."""

from __future__ import annotations

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from separatrix.text import listed

if TYPE_CHECKING:
    import pyarrow as pa
    from typing_extensions import Self

ROWS = 65536
NOTHING = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")  # cells of a text file in which a value is missing


class ColumnsChangedError(ValueError):
    """A closer look showed that a column is of another kind than its first rows suggested; the source knows it now."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        As the source calls it.
    kind : str
        ``"number"``, ``"flag"`` (true or false), ``"text"``, ``"date"`` (a date, a time, both or a span) or ``"other"``
        (lists, structures, bytes).
    whole : bool
        Whether it is a number column of integers that 64 bits hold.
    type : str
        As the engine calls it, for messages.
    """

    name: str
    kind: str
    whole: bool
    type: str


class Source(ABC):
    """What tables and matrices have in common.

    Attributes
    ----------
    name : str
        For messages: the path as given, ``"standard input"`` or ``"the query"``.
    n_rows : int or None
        How many rows there are, where that is known without reading them all.
    """

    name: str
    n_rows: int | None = None

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read, from 0 to 1; None where it cannot be told."""
        return None

    def fingerprint(self) -> str | None:
        """Return a text that changes when the source changes; None where that cannot be told."""
        return None

    def close(self) -> None:
        """Let go of files, connections and temporary folders."""
        return None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()


class TableSource(Source):
    """Named columns, read as a stream of Arrow record batches.

    Attributes
    ----------
    columns : tuple of Column
        In the order of the source.
    """

    columns: tuple[Column, ...]
    plain: Any = None  # how the core can read it, where it is a CSV file of plain text

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text, whatever they look like, where the source has no types."""
        return None

    def settle(self) -> None:
        """Make sure of the columns, where they rest on the first rows alone so far."""
        return None

    @abstractmethod
    def batches(self, names: Sequence[str], *, rows: int = ROWS, raw: bool = False) -> Iterator[pa.RecordBatch]:
        """Read some columns, in the source's order of rows; can be called again and again.

        Parameters
        ----------
        names : sequence of str
            The columns wanted, in the order wanted.
        rows : int, default=65536
            The most rows in one batch.
        raw : bool, default=False
            Leave values as the source has them. Otherwise numbers come as float64, or as int64 where the column is
            whole, flags as bool and text as string. A missing value is null either way.

        Yields
        ------
        pyarrow.RecordBatch
            At least one row each. A source without rows raises a ValueError instead.
        """

    def chosen(self, names: Sequence[str]) -> list[int]:
        """Return where the named columns are; a name that is not there is a ValueError."""
        places = {column.name: place for place, column in enumerate(self.columns)}
        for name in names:
            if name not in places:
                raise ValueError(f"{self.name} has no column {name!r}; its columns are {listed(places)}")
        return [places[name] for name in names]


class MatrixSource(Source):
    """Rows of numbers without names, perhaps with labels.

    Attributes
    ----------
    sparse : bool
        Whether blocks are sparse matrices.
    labelled : bool
        Whether the rows have labels.
    width : int or None
        The number of columns, where it is known.
    """

    sparse: bool = False
    labelled: bool = False
    width: int | None = None

    @abstractmethod
    def blocks(self, rows: int = ROWS) -> Iterator[tuple[Any, Any]]:
        """Yield blocks of rows (an array of float64 or a CSR matrix) with their labels, None where there are none."""


def fingerprint_of(paths: Iterable[str | os.PathLike[str]], *more: str) -> str | None:
    """Hash where files are, how large and how old, and whatever else decides what is read."""
    told: list[Any] = list(more)
    try:
        for path in paths:
            found = os.stat(path)
            told.append((os.path.abspath(path), found.st_size, found.st_mtime_ns))
    except OSError:
        return None
    return hashlib.sha256(repr(told).encode("utf-8", "surrogateescape")).hexdigest()
