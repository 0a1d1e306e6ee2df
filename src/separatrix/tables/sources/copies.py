"""Copies of text files in UTF-8, not compressed: what an engine that reads neither xz nor latin-1 gets in their place.

Copies are in a temporary folder, removed with the source. Content is unpacked, decoded and written piece by piece, and
not to the last byte of the disk.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from separatrix.files import ScratchFolder
from separatrix.tables.sources.base import MatrixSource, TableSource, fingerprint_of
from separatrix.tables.sources.compression import Content
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text
from separatrix.tables.sources.peeking import Peek
from separatrix.tables.sources.text_encoding import UTF_8, in_utf8
from separatrix.text import byte_size

_LOOK = 64 << 20  # bytes of copies between two looks at the disk
_SPARE = 256 << 20  # bytes of the disk that are left to others


class Copies:
    """Temporary copies of files.

    Parameters
    ----------
    files : sequence of str
        The files that are copied, for the fingerprint.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files = list(files)
        self._folder = ScratchFolder()
        self._made: list[str] = []

    def write(self, pieces: Iterable[bytes], name: str) -> str:
        """Write one copy and return its path; ``name`` is what messages call the file."""
        path = str(self._folder.path / f"copy{len(self._made)}")
        self._made.append(path)
        written = looked = 0
        try:
            with open(path, "wb", buffering=0) as file:
                for piece in pieces:
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[file.write(rest) :]
                    written += len(piece)
                    if written - looked >= _LOOK:
                        looked = written
                        self._check_space(name, written)
        except OSError as problem:
            raise ValueError(
                f"{path_text(name)} cannot be copied to {path_text(tempfile.gettempdir())}: {problem.strerror}"
            ) from None
        return path

    def _check_space(self, name: str, written: int) -> None:
        if shutil.disk_usage(self._folder.path).free < _SPARE:
            raise ValueError(
                f"{path_text(name)} takes more than the {byte_size(written)} that {path_text(tempfile.gettempdir())} "
                "has room for; set TMPDIR to a folder with more"
            )

    def close(self) -> None:
        """Remove the copies."""
        self._folder.close()

    def others(self, source: TableSource | MatrixSource) -> list[str]:
        """Return the files of a source that reads the copies: those copied, and what a query reads besides."""
        return [*self._files, *(path for path in source.files if path not in self._made and path not in self._files)]

    def fingerprint_of(self, source: TableSource | MatrixSource) -> str | None:
        """Return the fingerprint of a source that reads the copies: that of the files copied."""
        return None if source.fingerprint() is None else fingerprint_of(self._files, source.mark or "")


def text_of(path: str, name: str, peek: Peek, watch: Callable[[float], None] | None = None) -> Iterator[bytes]:
    """Yield the text of a file in UTF-8; ``watch`` is told which part of the file has been read."""
    content, size = Content(path, name, peek.compression), max(1, os.path.getsize(path))
    for piece in in_utf8(content.pieces(), peek.encoding, name):
        if watch is not None:
            watch(min(1.0, content.used / size))
        yield piece


def copied(request: Request, copies: Copies) -> Request:
    """Return a request for copies of the files that are not read as they are."""
    files, peeks = [], []
    for path, name, peek in zip(request.files, request.labels, request.peeks, strict=True):
        if peek.encoding != UTF_8 or peek.compression not in peek.kind.unpacks:
            path = copies.write(text_of(path, name, peek, request.watch), name)
            share = len(peek.head) / max(1, os.path.getsize(path))
            peek = replace(peek, compression="none", encoding=UTF_8, share=min(1.0, share))
        files.append(path)
        peeks.append(peek)
    return replace(request, files=files, peeks=peeks, names=request.labels)
