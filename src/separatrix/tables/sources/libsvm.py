"""Files in the format of libsvm and SVMlight: ``label index:value index:value # comment``, one row on each line.

Indices rise from 1 (or from 0); what a line leaves out is 0. ``qid:N`` after the label is ignored, and so are
blank lines and comments. Labels are numbers, one for each row. The text may be compressed with gzip, bz2 or xz.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy.sparse import csr_matrix

from separatrix import _core
from separatrix.geometry.rows import Floats
from separatrix.tables.sources.base import ROWS, MatrixSource
from separatrix.tables.sources.compression import PackedDataError, compression_of, unpacked_streams
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text

_CHUNK = 1 << 22  # bytes of text read at once
_GZIP = b"\x1f\x8b"
_OTHERS = {b"\x28\xb5\x2f\xfd": "Zstandard", b"PK\x03\x04": "zip"}


class BinaryFile(Protocol):
    """Something bytes can be read from, such as ``sys.stdin.buffer``."""

    def read(self, size: int, /) -> bytes | None:
        """Return at most ``size`` bytes, none at the end."""


class LibsvmSource(MatrixSource):
    r"""The rows of a libsvm file, block by block, in memory that does not grow with the file.

    Parameters
    ----------
    file : str, path or binary file
        What to read. A file that is open already can be read once.
    zero_based : bool
        Whether the first column has the index 0 and not 1.
    dtype : float64 or float32
        The type of the values; the nearest float64 is rounded once more to float32.
    name : str, optional
        What errors call the file.

    Examples
    --------
    >>> from io import BytesIO
    >>> source = LibsvmSource(BytesIO(b"+1 1:0.5 3:2\n-1 2:1 # the last\n"))
    >>> for X, y in source.blocks(rows=100):
    ...     print(X.toarray(), y)
    [[0.5 0.  2. ]
     [0.  1.  0. ]] [ 1. -1.]
    """

    sparse = True
    labelled = True

    def __init__(
        self,
        file: str | PathLike[str] | BinaryFile,
        *,
        zero_based: bool = False,
        dtype: Any = np.float64,
        name: str | None = None,
    ) -> None:
        self.zero_based = zero_based
        self.dtype = np.dtype(dtype)
        if self.dtype not in (np.float64, np.float32):
            raise ValueError(f"dtype must be float64 or float32, not {self.dtype}")
        self._path = Path(fspath(file)) if isinstance(file, (str, PathLike)) else None
        self._open = None if isinstance(file, (str, PathLike)) else file
        self._fraction: float | None = None
        if self._path is not None:
            self.files, self.mark = [str(self._path)], "libsvm"
        self.name = name or (str(self._path) if self._path else _name_of(file))

    def blocks(self, rows: int = ROWS) -> Iterator[tuple[csr_matrix, Floats]]:
        """Yield blocks of ``rows`` rows, the last of what is left, each with its labels.

        A block is as wide as the largest index up to its end or a little later needs, so that widths never fall.
        """
        if rows < 1:
            raise ValueError(f"rows must be at least 1, not {rows}")
        reader = _core.LibsvmReader(self.zero_based, self.dtype == np.float32)
        some = False
        for chunk in _checked(self._chunks(), self.name):
            try:
                reader.feed(chunk)
            except ValueError as problem:
                raise ValueError(f"{self.name}, {problem}") from None
            while reader.rows >= rows:
                some = True
                yield _block(reader, rows)
        try:
            reader.finish()
        except ValueError as problem:
            raise ValueError(f"{self.name}, {problem}") from None
        if reader.rows:
            yield _block(reader, rows)
        elif not some:
            raise ValueError(f"{self.name} has no rows, only blank lines and comments")

    def fraction(self) -> float | None:
        """Return how much of the file has been read."""
        return self._fraction

    def _chunks(self) -> Iterator[bytes]:
        if self._path is not None:
            size = max(1, self._path.stat().st_size)
            with self._path.open("rb", buffering=0) as file:
                for chunk in _read(file):
                    self._fraction = min(1.0, file.tell() / size)
                    yield chunk
            return
        if self._open is None:
            raise ValueError(f"{self.name} has been read before; a file that was open already can be read once")
        opened, self._open = self._open, None
        yield from _read(opened)


def read_libsvm(
    file: str | PathLike[str] | BinaryFile,
    *,
    width: int | None = None,
    dtype: Any = np.float64,
    zero_based: bool = False,
) -> tuple[csr_matrix, Floats]:
    r"""Read a whole libsvm file: its rows as a CSR matrix, and its labels.

    Parameters
    ----------
    file : str, path or binary file
        What to read, plain or compressed with gzip, bz2 or xz.
    width : int, optional
        The number of columns; by default as many as the largest index needs.
    dtype : float64 or float32
        The type of the values.
    zero_based : bool
        Whether the first column has the index 0 and not 1.

    Returns
    -------
    X : csr_matrix
    y : array of float64

    Examples
    --------
    >>> from io import BytesIO
    >>> X, y = read_libsvm(BytesIO(b"3 2:1\n4\n"), width=4)
    >>> X.shape, y
    ((2, 4), array([3., 4.]))
    """
    source = LibsvmSource(file, zero_based=zero_based, dtype=dtype)
    (X, y), *_ = source.blocks(rows=2**62)
    if width is None or width == X.shape[1]:
        return X, y
    if width < X.shape[1]:
        raise ValueError(f"{source.name} has {X.shape[1]} columns, more than the width {width}")
    X.resize(X.shape[0], width)
    return X, y


def _block(reader: _core.LibsvmReader, rows: int) -> tuple[csr_matrix, Floats]:
    values, columns, starts, labels = reader.take(rows)
    if starts[-1] <= np.iinfo(np.int32).max:
        starts = starts.astype(np.int32)  # else SciPy would widen the columns too
    X = csr_matrix((values, columns, starts), shape=(len(labels), reader.width))
    X.has_canonical_format = True
    return X, labels


def _name_of(file: Any) -> str:
    name = getattr(file, "name", None)
    return "standard input" if name == "<stdin>" else name if isinstance(name, str) else "the file"


def _checked(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """Pass on the chunks, and say in one sentence with the file's name why there are no more."""
    try:
        yield from chunks
    except FileNotFoundError:
        raise ValueError(f"there is no file {name}") from None
    except IsADirectoryError:
        raise ValueError(f"{name} is a folder; a libsvm file is needed") from None
    except OSError as problem:
        raise ValueError(f"{name} cannot be read: {problem.strerror or problem}") from None
    except _BadFileError as problem:
        raise ValueError(f"{name}{problem}") from None


class _BadFileError(Exception):
    """What is wrong with the bytes of a file, to go behind its name."""


def _read(file: BinaryFile) -> Iterator[bytes]:
    """Yield the text of a file in chunks."""
    first = b""
    while len(first) < 10 and (more := file.read(_CHUNK)):  # the longest mark of a compressed file
        first += more
    if not first:
        raise _BadFileError(" is empty; lines such as '1 3:0.5' are needed")
    for mark, program in _OTHERS.items():
        if first.startswith(mark):
            raise _BadFileError(f" is compressed with {program}; decompress it first, or use gzip")
    if first.startswith(_GZIP):
        yield from _decompressed(file, first)
        return
    if (compression := compression_of(first)) in ("bz2", "xz"):
        yield from _unpacked(file, first, compression)
        return
    yield first
    while chunk := file.read(_CHUNK):
        yield chunk


def _decompressed(file: BinaryFile, data: bytes) -> Iterator[bytes]:
    """Yield the text of gzip members, one behind the other, and zeros at most behind the last."""
    some = False
    while data:
        if data[:1] == b"\0":
            while data:
                if data.strip(b"\0"):
                    raise _BadFileError(": something other than gz data follows the gz data")
                data = file.read(_CHUNK) or b""
            break
        member = zlib.decompressobj(wbits=31)
        try:
            while not member.eof:
                text = member.decompress(data, _CHUNK)
                data = member.unconsumed_tail
                if text:
                    some = True
                    yield text
                if not data and not member.eof and len(text) < _CHUNK:  # else more text waits in the member
                    data = file.read(_CHUNK) or b""
                    if not data:
                        raise _BadFileError(": the gz data end early; the file is truncated")
        except zlib.error as problem:
            raise _BadFileError(f": the gz data are damaged ({problem})") from None
        data = member.unused_data or file.read(_CHUNK) or b""
    if not some:
        raise _BadFileError(" is empty inside gzip; lines such as '1 3:0.5' are needed")


def _unpacked(file: BinaryFile, data: bytes, compression: str) -> Iterator[bytes]:
    """Yield the text of bz2 or xz data."""
    some = False
    try:
        for text in unpacked_streams(file.read, data, compression, _CHUNK):
            some = True
            yield text
    except PackedDataError as problem:
        what, cut = problem.args
        raise _BadFileError(f": {what}" + "; the file is truncated" * cut) from None
    if not some:
        raise _BadFileError(f" is empty inside {compression}; lines such as '1 3:0.5' are needed")


def open_libsvm(request: Request) -> LibsvmSource:
    """Open a libsvm file."""
    return LibsvmSource(request.files[0], name=path_text(request.name))
