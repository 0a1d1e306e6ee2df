"""CSV files of any kind, read by the core: the types of columns, and batches of columns; compressed files too.

The text is read in pieces, in memory that does not grow with the file and in time that grows with its cells, however
many columns there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from separatrix import _core
from separatrix.tables.sources.base import Column
from separatrix.tables.sources.cells import TEXT, TYPES
from separatrix.tables.sources.compression import Content
from separatrix.tables.sources.messages import path_text, quoted
from separatrix.tables.sources.text_encoding import not_utf8
from separatrix.text import times

if TYPE_CHECKING:
    import pyarrow as pa

LONGEST_LINE = 64_000_000  # bytes of the longest row
_PIECE = 4 << 20  # bytes of text read at once
_FRUGAL_PIECE = 1 << 20
_PLAIN_QUOTES = "; if quotes are plain text in this file, give --no-quotes"
_WANTED = {"BIGINT": "a whole number", "DOUBLE": "a number", "BOOLEAN": "true or false"}


class CsvFile(NamedTuple):
    """A CSV file in UTF-8.

    Attributes
    ----------
    path, name : str
        The file, and what messages call it.
    compression : str
        As `compression.compression_of` returns it.
    start, line : int
        The byte and the line at which its header begins, or its first row if it has none.
    header : bytes
        A line to put before the rows, if it has no header of its own.
    quotes : bool
        Whether cells may be in double quotes.
    """

    path: str
    name: str
    compression: str
    start: int
    line: int
    header: bytes = b""
    quotes: bool = True


class ScannedColumn(NamedTuple):
    """What the cells of a column have in common.

    Attributes
    ----------
    type : str or None
        The type that all cells have; None if all are missing.
    spaces : bool
        Whether a number has white space beyond ASCII around it.
    longest : int
        Bytes of the longest cell.
    text_row, text : int, str
        The first row (from 1) whose cell is not a number, 0 if there is none, and that cell.
    """

    type: str | None
    spaces: bool
    longest: int
    text_row: int
    text: str


class Scan(NamedTuple):
    """The rows of some files: how many, whether all, the columns, bytes of the longest line, bits of line ends."""

    rows: int
    whole: bool
    columns: list[ScannedColumn]
    longest_line: int
    line_ends: int


def threads() -> int:
    """Return how many threads may work at once."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def scan(
    files: Sequence[CsvFile],
    delimiter: str,
    names: Sequence[str],
    *,
    most_rows: int | None = None,
    most_bytes: int | None = None,
    frugal: bool = False,
    watch: Callable[[int], None] | None = None,
) -> Scan:
    """Find the types of columns by all rows, or by about so many rows or bytes; ``watch`` is told the bytes so far."""
    reader = _core.CsvScan(delimiter.encode(), len(names), 1 if frugal else threads(), LONGEST_LINE)
    whole, done = True, 0
    for file in files:
        reader.begin(file.line - bool(file.header))
        for text in _pieces(file, delimiter, frugal):
            try:
                reader.feed(text, not text)
            except _core.CsvProblem as problem:
                raise problem_error(problem, file, names) from None
            done += len(text)
            if watch is not None:
                watch(done)
            if (most_rows is not None and reader.rows >= most_rows) or (most_bytes is not None and done >= most_bytes):
                whole = not text and file is files[-1]
                break
        else:
            continue
        break
    columns = []
    for types, spaces, cells, longest, text_row, text in reader.columns():
        kind = next((name for bit, name in enumerate(TYPES) if types >> bit & 1), TEXT) if cells else None
        columns.append(ScannedColumn(kind, spaces, longest, text_row + 1, text.decode(errors="ignore")))
    return Scan(reader.rows, whole, columns, reader.longest_line, reader.line_ends)


def read_columns(
    files: Sequence[CsvFile], delimiter: str, columns: Sequence[Column], places: Sequence[int], *, frugal: bool = False
) -> Iterator[list[pa.Array]]:
    """Yield some columns of numbers, flags or text, as Arrow arrays of some rows each."""
    wanted = set(places)
    kinds = [_kind(column) if place in wanted else "skip" for place, column in enumerate(columns)]
    order = [place for kind in ("number", "whole", "flag", "text") for place, k in enumerate(kinds) if k == kind]
    slots = {place: slot for slot, place in enumerate(order)}
    reader = _core.CsvColumns(delimiter.encode(), kinds, 1 if frugal else threads(), LONGEST_LINE)
    names, types = [column.name for column in columns], [column.type for column in columns]
    for file in files:
        reader.begin(file.line - bool(file.header))
        for text in _pieces(file, delimiter, frugal):
            try:
                block = reader.feed(text, not text)
            except _core.CsvProblem as problem:
                raise problem_error(problem, file, names, types) from None
            if block[3].shape[1] if order else 0:
                arrays = _arrays(*block)
                yield [arrays[slots[place]] for place in places]


def problem_error(problem: Exception, file: CsvFile, names: Sequence[str], types: Sequence[str] = ()) -> ValueError:
    """Return what the core refuses as an error of one sentence with the file, the line and the column."""
    word, line, *_ = problem.args
    if word == "utf-8":
        return not_utf8(f"{path_text(file.name)}, line {line}", file.path)
    return ValueError(problem_text(problem, path_text(file.name), names, types=types, header=not file.header))


def problem_text(
    problem: Exception,
    where: str,
    names: Sequence[str],
    before: int = 0,
    *,
    types: Sequence[str] = (),
    header: bool = True,
) -> str:
    """Return what the core refuses as one sentence with the file, the line and the column."""
    word, line, column, cell = problem.args
    at, text = f"{where}, line {line + before}", cell.decode(errors="replace")
    if word == "cells":
        first = f"the header has {len(names)}" if header else f"there are {len(names)} columns"
        return f"{at}: {times(int(text), 'cell')} where {first}"
    if word == "value":
        return (
            f"{at}, column {names[column]!r}: {quoted(text)} is not {_WANTED[types[column]]}; fix the cell, or leave "
            "it empty if the value is missing"
        )
    return (
        f"{at}: "
        + {
            "quote": f"unclosed quote{_PLAIN_QUOTES}",
            "after": (
                f"text follows the closing quote of {quoted(text)}; a quote inside a cell must be doubled"
                f"{_PLAIN_QUOTES}"
            ),
            "nul": "a zero byte; a CSV file is text",
            "long": (
                f"the line is longer than {LONGEST_LINE:,} bytes, the most that can be read; is a quote unclosed, or "
                "is the file not CSV?"
            ),
        }[word]
    )


def _kind(column: Column) -> str:
    return "whole" if column.whole else column.kind


def _pieces(file: CsvFile, delimiter: str, frugal: bool) -> Iterator[bytes]:
    """Yield the text of a file from its header on, and at the end an empty piece."""
    if file.header:
        yield file.header
    pieces = Content(file.path, file.name, file.compression).pieces(_FRUGAL_PIECE if frugal else _PIECE, file.start)
    yield from pieces if file.quotes else requoted(pieces, delimiter.encode())
    yield b""


def requoted(pieces: Iterable[bytes], delimiter: bytes) -> Iterator[bytes]:
    r"""Yield a text in which double quotes are plain text as one in which they are not: cells with quotes are quoted.

    Examples
    --------
    >>> b"".join(requoted([b'5" tape,1\nan', b' 8" one,2'], b","))
    b'"5"" tape",1\n"an 8"" one",2'
    """
    held: list[bytes] = []  # a line whose end has not come
    length = 0
    for piece in pieces:
        stop = max(piece.rfind(b"\n"), piece.rfind(b"\r")) + 1
        if not stop and length <= LONGEST_LINE:
            held.append(piece)
            length += len(piece)
            continue
        if text := b"".join([*held, piece[:stop]]):
            yield _requoted(text, delimiter)
        held, length = [piece[stop:]], len(piece) - stop
    if text := b"".join(held):
        yield _requoted(text, delimiter)


def _requoted(text: bytes, delimiter: bytes) -> bytes:
    if b'"' not in text:
        return text
    return b"".join(
        _requoted_line(line, delimiter) if b'"' in line else line for line in text.splitlines(keepends=True)
    )


def _requoted_line(line: bytes, delimiter: bytes) -> bytes:
    body = line.rstrip(b"\r\n")
    cells = (b'"' + cell.replace(b'"', b'""') + b'"' if b'"' in cell else cell for cell in body.split(delimiter))
    return delimiter.join(cells) + line[len(body) :]


def _arrays(
    numbers: Any, wholes: Any, flags: Any, valid: Any, offsets: Any, starts: list[int], texts: bytes
) -> list[pa.Array]:
    """Return the columns of a block as Arrow arrays: numbers, whole numbers, flags, texts."""
    import numpy as np
    import pyarrow as pa

    n = valid.shape[1]
    missing = np.where(valid.all(axis=1), 0, n - valid.sum(axis=1, dtype=np.int64)).tolist()
    bits = np.packbits(valid, axis=1, bitorder="little")
    out: list[pa.Array] = []

    def add(kind: pa.DataType, *buffers: pa.Buffer) -> None:
        none = missing[len(out)]
        known = pa.py_buffer(bits[len(out)]) if none else None
        out.append(pa.Array.from_buffers(kind, n, [known, *buffers], none))

    for kind, values in ((pa.float64(), numbers), (pa.int64(), wholes)):
        for column in values:
            add(kind, pa.py_buffer(column))
    for column in np.packbits(flags, axis=1, bitorder="little"):
        add(pa.bool_(), pa.py_buffer(column))
    every = pa.py_buffer(texts)
    for k, column in enumerate(offsets):
        add(pa.string(), pa.py_buffer(column), every.slice(starts[k], starts[k + 1] - starts[k]))
    return out
