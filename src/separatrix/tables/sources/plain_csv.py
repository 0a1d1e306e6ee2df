"""Large CSV files of plain numbers and labels, read by the core in several threads.

For files whose delimiter, quote and kinds of columns are known already. Whatever is not plain for certain raises
:class:`NotPlain`, and what is left of the file must be read in another way: a row with another number of cells, a
cell that is not a finite number where one belongs, a line end or a NUL inside a cell, a blank line, a label that is not
text in UTF-8.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix._core import NotPlain
from separatrix.geometry.rows import Floats

__all__ = ["NotPlain", "PlainCsv"]

_CHUNK = 1 << 23  # bytes of text read at once
_LONGEST_LINE = 64_000_000
_BOM = b"\xef\xbb\xbf"


class PlainCsv:
    r"""The numbers and labels of a plain CSV file, block by block, in memory that does not grow with the file.

    Parameters
    ----------
    path : str or path
        The file, not compressed.
    delimiter, quote : str
        One ASCII character each; no quote if that is empty.
    names : sequence of str
        What the columns are called.
    kinds : sequence of str
        For each column ``"number"``, ``"label"`` (any text) or ``"skip"``.
    n_jobs : int
        How many threads read. The result does not depend on it.
    header : bool
        Whether the first line is passed over.
    max_levels : int
        A column with more different labels than this is not plain.

    Attributes
    ----------
    number_names, label_names : list of str
        The names of the columns of numbers and of labels.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder) / "points.csv"
    ...     _ = path.write_text("a,b,kind\n1,2.5,yes\n-3,,no\n4,5,yes\n")
    ...     file = PlainCsv(path, ",", '"', ["a", "b", "kind"], ["number", "number", "label"])
    ...     for X, codes in file.blocks():
    ...         print(X, codes.ravel(), file.levels("kind"))
    [[ 1.   2.5]
     [-3.   nan]
     [ 4.   5. ]] [0 1 0] ['yes', 'no']
    """

    def __init__(
        self,
        path: str | PathLike[str],
        delimiter: str,
        quote: str,
        names: Sequence[str],
        kinds: Sequence[str],
        n_jobs: int = 1,
        *,
        header: bool = True,
        max_levels: int = 10_000,
    ) -> None:
        if len(names) != len(kinds):
            raise ValueError(f"{len(names)} names and {len(kinds)} kinds of columns differ in number")
        self.path = Path(path)
        self.delimiter, self.quote = _byte(delimiter), _byte(quote)
        self.kinds = list(kinds)
        self.n_jobs, self.header, self.max_levels = n_jobs, header, max_levels
        self.number_names = [name for name, kind in zip(names, kinds, strict=True) if kind == "number"]
        self.label_names = [name for name, kind in zip(names, kinds, strict=True) if kind == "label"]
        self._label_places = {name: place for place, name in enumerate(self.label_names)}
        self._reader = self._begin()
        self.position = 0  # bytes read so far

    def blocks(self) -> Iterator[tuple[Floats, NDArray[np.int32]]]:
        """Yield the numbers of some rows, NaN where a cell is empty, and the codes of their labels, -1 where empty.

        A block has one row for each line of some megabytes of text; both arrays have the rows of the block and one
        column for each that is a number, or a label. Codes count the labels of a column as they first come in the file.
        """
        self._reader = reader = self._begin()
        known = [0] * len(self.label_names)
        for text in self._lines():
            block = reader.feed(text)
            for k, before in enumerate(known):
                known[k] = reader.count(k)
                if known[k] > before:
                    _decoded(reader.levels(k)[before:])
            yield block

    def levels(self, name: str) -> list[str]:
        """Return the labels that a column has had so far, in the order of their codes."""
        return _decoded(self._reader.levels(self._label_places[name]))

    def _begin(self) -> _core.CsvReader:
        return _core.CsvReader(self.delimiter, self.quote, self.kinds, self.n_jobs, self.max_levels)

    def _lines(self) -> Iterator[memoryview]:
        """Yield whole lines; each view is valid until the next."""
        self.position = 0
        room, begin, end = bytearray(_CHUNK), True, b"\n"
        kept = 0  # bytes at the front of the room, of a line whose end has not come yet
        with self.path.open("rb", buffering=0) as file:
            while True:
                if kept == len(room):
                    if kept >= _LONGEST_LINE:
                        raise NotPlain("a line is too long")
                    room = room + bytearray(len(room))
                view = memoryview(room)
                size = file.readinto(view[kept:]) or 0
                self.position += size
                filled = kept + size
                stop = room.rfind(b"\n", kept, filled) + 1 if size else filled
                if size and not stop:
                    kept = filled
                    continue
                start = self._first_row(room, filled) if begin else 0
                begin = False
                if not size:  # the last line needs no end
                    if start < stop:
                        yield memoryview(bytes(view[start:stop]) + end)
                    return
                yield view[start:stop]
                end = b"\r\n" if room.endswith(b"\r\n", 0, stop) else b"\n"
                kept = filled - stop
                room[:kept] = room[stop:filled]

    def _first_row(self, text: bytearray, size: int) -> int:
        """Where the rows begin, behind a byte order mark and the header."""
        start = len(_BOM) if text.startswith(_BOM) else 0
        if not self.header:
            return start
        stop = text.find(b"\n", start, size) + 1
        if not stop:
            raise NotPlain("the header has no end, or one that is no line feed")
        if self.quote and text.count(self.quote, start, stop) % 2:
            raise NotPlain("the header goes on behind its line")
        return stop


def _byte(text: str) -> bytes:
    try:
        return text.encode("ascii")
    except UnicodeEncodeError:
        raise NotPlain(f"{text!r} is more than one byte") from None


def _decoded(names: list[bytes]) -> list[str]:
    try:
        return [name.decode() for name in names]
    except UnicodeDecodeError:
        raise NotPlain("a label is not text in UTF-8") from None
