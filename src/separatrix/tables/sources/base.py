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
# Arrow's spans of time, and how many of their units are a second: they are numbers, in seconds.
DURATIONS = {"duration[s]": 1, "duration[ms]": 10**3, "duration[us]": 10**6, "duration[ns]": 10**9}


class ColumnsChangedError(ValueError):
    """A column is of another kind than its first rows suggested; the source knows it now."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Parameters
    ----------
    name : str
        As the source calls it.
    kind : str
        ``"number"``, ``"flag"`` (true or false), ``"text"``, ``"date"`` (a date, a time or both) or ``"other"``
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
    files : sequence of str
        Every file that is read, with those that a query names and those of patterns and folders; not a temporary
        copy of standard input.
    mark : str or None
        How the files are read, for the fingerprint; None where more than the files decides on the rows.
    log : str
        The ending of the write-ahead log of a database, which lies beside the first of the files.
    notes : sequence of str
        What a person should know about how it is read, one sentence each.
    """

    name: str
    n_rows: int | None = None
    files: Sequence[str] = ()
    mark: str | None = None
    log: str = ""
    notes: Sequence[str] = ()

    def fraction(self) -> float | None:
        """Return how much of the current pass has been read, from 0 to 1; None if it is not known."""
        return None

    def fingerprint(self) -> str | None:
        """Return a text that changes when the source changes; None if changes cannot be noticed."""
        if self.mark is None:
            return None
        if not self.log:
            return fingerprint_of(self.files, self.mark)
        first, *others = self.files
        logged = with_log(first, self.log)  # the log comes and goes
        return fingerprint_of([*logged, *(path for path in others if not path.endswith(self.log))], self.mark)

    def close(self) -> None:
        """Close files and connections, and remove temporary folders."""
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
    typed: bool = True  # whether the source has types of its own; text files have none
    plain: Any = None  # how the core can read it, if it is a CSV file of plain text

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text; no effect on a source with types of its own."""
        return None

    def first_text(self, name: str) -> tuple[int, str] | None:
        """Return the first row (from 1) in which a column has no number, and its text, if that is known unread."""
        return None

    def settle(self) -> None:
        """Decide on the columns by more rows, where only the first have been read."""
        return None

    @abstractmethod
    def batches(self, names: Sequence[str], *, rows: int = ROWS) -> Iterator[pa.RecordBatch]:
        """Read some columns, in the source's order of rows; can be called again and again.

        Parameters
        ----------
        names : sequence of str
            The columns wanted, in the order wanted.
        rows : int, default=65536
            The most rows in one batch.

        Yields
        ------
        pyarrow.RecordBatch
            At least one row each. Numbers are float64, or int64 where the column is whole, flags bool and text string;
            a missing value is null. A source without rows raises a ValueError instead.
        """

    def places(self, names: Sequence[str]) -> list[int]:
        """Return the places of the named columns; an unknown name is a ValueError."""
        known = {column.name: place for place, column in enumerate(self.columns)}
        for name in names:
            if name not in known:
                raise ValueError(f"{self.name} has no column {name!r}; its columns are {listed(known)}")
        return [known[name] for name in names]


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


def with_log(path: str, ending: str) -> list[str]:
    """Return the file of a database and that of its write-ahead log, if there is one; links are followed for it."""
    log = (os.path.realpath(path) if os.path.islink(path) else path) + ending
    return [path, log] if os.path.exists(log) else [path]


def fingerprint_of(paths: Iterable[str | os.PathLike[str]], *more: str) -> str | None:
    """Hash where files are, how large and how old, and whatever else decides what is read."""
    parts: list[Any] = list(more)
    try:
        for path in paths:
            status = os.stat(path)
            parts.append((os.path.abspath(path), status.st_size, status.st_mtime_ns))
    except OSError:
        return None
    return hashlib.sha256(repr(parts).encode("utf-8", "surrogateescape")).hexdigest()
