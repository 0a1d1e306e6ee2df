"""Compressed files: which compression their first bytes show, and their content in pieces.

Arrow unpacks gzip and zstd, Python bz2 and xz. Memory does not grow with the content, however small the file is.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from separatrix.tables.sources.messages import path_text, short

ENDINGS = {".gz": "gzip", ".zst": "zstd", ".bz2": "bz2", ".xz": "xz"}  # of file names, and what Arrow calls it
PIECE = 1 << 20  # bytes of content at once
_ENDING_OF = {compression: ending[1:] for ending, compression in ENDINGS.items()}
_BZ2 = (b"1AY&SY", b"\x17rE8P\x90")  # the first block, or the end
_END_MISSING = re.compile(r"end of GZIP|Truncated|unexpected end of .*stream|Zstd.*(?:frame|end|src)|ZSTD", re.I)
_XZ_MEMORY = 256 << 20  # bytes of the largest dictionary; xz -9 needs 65 MB


class PackedDataError(Exception):
    """What is wrong with bz2 or xz data; the second argument says whether their end is missing."""


def compression_of(raw: bytes) -> str:
    """Return ``"gzip"``, ``"zstd"``, ``"bz2"``, ``"xz"`` or ``"none"`` by the first bytes of a file.

    A DuckDB file begins with a checksum, which may be any bytes.
    """
    if raw[8:12] == b"DUCK":
        return "none"
    if raw.startswith(b"\x1f\x8b"):
        return "gzip"
    if raw.startswith(b"\x28\xb5\x2f\xfd"):
        return "zstd"
    if raw.startswith(b"\xfd7zXZ\x00"):
        return "xz"
    return "bz2" if raw.startswith(b"BZh") and raw[3:4] in b"123456789" and raw[4:10] in _BZ2 else "none"


def ending_of(path: str) -> str:
    """Return a file's ending in lower case, without that of compression.

    Examples
    --------
    >>> ending_of("a.CSV.xz"), ending_of("b.arff"), ending_of("c.gz")
    ('.csv', '.arff', '')
    """
    stem, ending = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if ending in ENDINGS else ending


def cut_short(name: str, compression: str) -> str:
    """Return the message for a compressed file whose end is missing."""
    return f"{path_text(name)} is truncated: its {_ENDING_OF[compression]} data end early"


def tells_of_missing_end(message: str, compression: str, files: Sequence[str]) -> bool:
    """Return whether DuckDB's message means that the end of compressed data is missing, whatever its files are called.

    Examples
    --------
    >>> tells_of_missing_end("ZSTD Decompression failed", "zstd", ["a.csv.zst"])
    True
    >>> tells_of_missing_end("no header in truncated.csv.gz", "gzip", ["truncated.csv.gz"])
    False
    """
    for path in files:
        message = message.replace(path, "")
    return compression != "none" and _END_MISSING.search(message) is not None


class Content:
    """The content of a file, unpacked if it is compressed.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it.
    compression : str
        As `compression_of` returns it.

    Attributes
    ----------
    used : int
        Bytes of the file itself that have been read.
    """

    def __init__(self, path: str, name: str, compression: str) -> None:
        self.path, self.name, self.compression = path, name, compression
        self.used = 0

    def pieces(self, size: int = PIECE, start: int = 0) -> Iterator[bytes]:
        """Yield the content from a byte of it on, at most ``size`` bytes at once; what is damaged is a ValueError."""
        if self.compression == "none":
            with open(self.path, "rb", buffering=0) as plain:
                plain.seek(start)
                while piece := plain.read(size):
                    self.used += len(piece)
                    yield piece
            return
        unpacked = self._by_python(size) if self.compression in ("bz2", "xz") else self._by_arrow(size)
        for piece in unpacked:
            if start < len(piece):
                yield piece[start:] if start else piece
            start = max(0, start - len(piece))

    def _by_arrow(self, size: int) -> Iterator[bytes]:
        import pyarrow as pa

        try:
            with pa.OSFile(self.path) as below, pa.CompressedInputStream(below, self.compression) as packed:
                while piece := packed.read(size):
                    self.used = below.tell()
                    yield piece
        except OSError as problem:
            if "runcated" in str(problem) or "end of" in str(problem):
                raise ValueError(cut_short(self.name, self.compression)) from None
            raise ValueError(f"{path_text(self.name)} is damaged: {short(problem)}") from None

    def _by_python(self, size: int) -> Iterator[bytes]:
        try:
            with open(self.path, "rb", buffering=0) as file:
                for piece in unpacked_streams(file.read, b"", self.compression, size):
                    self.used = file.tell()
                    yield piece
        except PackedDataError as problem:
            what, cut = problem.args
            if cut:
                raise ValueError(cut_short(self.name, self.compression)) from None
            raise ValueError(f"{path_text(self.name)} is damaged: {what}") from None


def unpacked_streams(
    read: Callable[[int], bytes | None], data: bytes, compression: str, size: int = PIECE
) -> Iterator[bytes]:
    """Yield the content of bz2 or xz streams, one behind the other; zeros may follow each.

    Parameters
    ----------
    read : callable
        Returns at most so many more bytes, none at the end.
    data : bytes
        The first bytes.
    compression : str
        ``"bz2"`` or ``"xz"``.
    size : int
        The most bytes of content at once.

    Raises
    ------
    PackedDataError
        With a message, and whether the end is missing.
    """
    ending = _ENDING_OF[compression]
    first = True
    while True:
        while not (data := data.lstrip(b"\0") if not first else data):
            data = read(PIECE) or b""
            if not data:
                if first:
                    raise PackedDataError(f"the {ending} data end early", True)
                return
        stream = _decompressor(compression)
        while not stream.eof:
            if stream.needs_input and not data:
                data = read(PIECE) or b""
                if not data:
                    raise PackedDataError(f"the {ending} data end early", True)
            try:
                piece = stream.decompress(data, size)
            except EOFError:
                break
            except Exception as problem:  # lzma.LZMAError, OSError or ValueError, each with a message
                if "emory usage limit" in str(problem):
                    what = f"the {ending} data need more than {_XZ_MEMORY >> 20} MB of memory"
                elif first:
                    what = f"the {ending} data cannot be unpacked ({short(problem)})"
                else:
                    what = f"something other than {ending} data follows the {ending} data, or they are damaged"
                raise PackedDataError(what, False) from None
            data = b""
            if piece:
                yield piece
        data, first = stream.unused_data, False


def _decompressor(compression: str) -> Any:
    if compression == "bz2":
        import bz2

        return bz2.BZ2Decompressor()
    import lzma

    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
