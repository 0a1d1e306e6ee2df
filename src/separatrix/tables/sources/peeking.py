"""The beginning of a file: whether it exists, of which kind it is, how it is compressed, and in which encoding."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from separatrix.tables.sources.compression import ENDINGS, Content, compression_of, cut_short, ending_of
from separatrix.tables.sources.kinds import SourceKind, kind_of
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.text_encoding import UTF_8, detect, in_utf8

PEEK = 1 << 20  # bytes


@dataclass(frozen=True)
class Peek:
    """The beginning of a file.

    Parameters
    ----------
    kind : SourceKind
        The kind of file.
    compression : str
        ``"none"``, ``"gzip"``, ``"zstd"``, ``"bz2"`` or ``"xz"``.
    head : bytes
        The first bytes, uncompressed; those of a text in UTF-8.
    whole : bool
        Whether that is the whole file.
    share : float
        The fraction of the file's own bytes that ``head`` takes.
    encoding : str
        Of a text file, as it is in the file.
    """

    kind: SourceKind
    compression: str
    head: bytes
    whole: bool
    share: float
    encoding: str = UTF_8


def is_pipe(path: str) -> bool:
    """Return whether a path is a pipe, as ``/dev/stdin`` may be, a FIFO, or what the shell makes of ``<(command)``."""
    try:
        return stat.S_ISFIFO(os.stat(path).st_mode)
    except OSError:
        return False


def must_exist(path: str) -> None:
    """Raise a ValueError if there is no such file or folder, with the nearest name."""
    if re.match(r"[a-zA-Z][a-zA-Z0-9+.-]+://", path):
        raise ValueError(f"{path_text(path)} is a URL; only local files can be read")
    if os.path.exists(path):
        mode = os.stat(path).st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            what = "a socket" if stat.S_ISSOCK(mode) else "a device"
            raise ValueError(f"{path_text(path)} is {what}; a file or a pipe is needed")
        return
    if os.path.islink(path):
        raise ValueError(f"{path_text(path)} is a link to {path_text(os.readlink(path))}, which does not exist")
    folder, name = os.path.split(path)
    try:
        near = difflib.get_close_matches(name, os.listdir(folder or "."), n=1)
    except OSError:
        near = []
    hint = f"; did you mean {path_text(os.path.join(folder, near[0]))}?" if near else ""
    raise ValueError(f"there is no file {path_text(path)}{hint}")


def peek(path: str, name: str, size: int = PEEK, encoding: str | None = None) -> Peek:
    """Read the beginning of a file and recognise its kind by its ending, else by its content.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it; its ending gives the kind.
    size : int
        How many uncompressed bytes to read.
    encoding : str, optional
        Of a text file; detected by default.
    """
    try:
        with open(path, "rb") as file:
            raw = file.read(64)
    except IsADirectoryError:
        raise ValueError(f"{path_text(name)} is a folder; a file is needed") from None
    except PermissionError:
        raise ValueError(f"{path_text(name)} cannot be read: permission denied") from None
    except OSError as problem:
        raise ValueError(f"{path_text(name)} cannot be read: {short(problem.strerror)}") from None
    if not raw:
        raise ValueError(f"{path_text(name)} is empty")
    compression = compression_of(raw)
    ending = os.path.splitext(name.lower())[1]
    if ending in ENDINGS and compression == "none":
        raise ValueError(f"{path_text(name)} is not a {ending} file")
    raw, whole, share = _beginning(path, name, compression, size)
    if not raw:
        raise ValueError(f"{path_text(name)} is empty")
    if compression == "zstd" and not _ends_well(path):  # engines do not always notice
        raise ValueError(cut_short(name, compression))
    kind = kind_of(raw, name, ending_of(name))
    if not kind.text:
        if compression != "none":
            raise ValueError(
                f"{path_text(name)} is a {kind.name} file compressed with {compression}; decompress it first"
            )
        return Peek(kind, compression, raw, whole, share)
    encoding = encoding or detect(raw, whole)
    if encoding != UTF_8:
        raw = b"".join(in_utf8(iter([raw]), encoding, name, whole=whole))
        kind = kind_of(raw, name, ending_of(name))
    return Peek(kind, compression, raw, whole, share, encoding)


def longer(head: Peek, path: str, name: str, size: int) -> Peek:
    """Return more of the beginning of a text file."""
    raw, whole, share = _beginning(path, name, head.compression, size)
    raw = b"".join(in_utf8(iter([raw]), head.encoding, name, whole=whole))
    return replace(head, head=raw, whole=whole, share=share)


def _beginning(path: str, name: str, compression: str, size: int) -> tuple[bytes, bool, float]:
    """Return the first bytes of a file's content, whether they are all, and the fraction of the file that they take."""
    content = Content(path, name, compression)
    parts, got = [], 0
    try:
        for part in content.pieces(min(size, 65536) if compression != "none" else size):
            parts.append(part)
            got += len(part)
            if got > size or (got == size and compression == "none"):
                break
    except OSError as problem:
        raise ValueError(f"{path_text(name)} cannot be read: {short(problem.strerror)}") from None
    total = os.path.getsize(path)
    whole = got == total if compression == "none" else got <= size
    return b"".join(parts)[:size], whole, min(1.0, content.used / max(total, 1))


def _ends_well(path: str) -> bool:
    """Return whether a zstd file has its last block; blocks are skipped, not decompressed."""
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        while file.tell() < size:
            magic = int.from_bytes(file.read(4), "little")
            if magic & 0xFFFFFFF0 == 0x184D2A50:  # a frame to skip
                file.seek(int.from_bytes(file.read(4), "little"), os.SEEK_CUR)
                continue
            first = file.read(1)
            if magic != 0xFD2FB528 or not first:
                return False
            single, checksum = first[0] >> 5 & 1, first[0] >> 2 & 1
            counted = (single, 2, 4, 8)[first[0] >> 6]  # bytes of the size of the content
            file.seek((not single) + (0, 1, 2, 4)[first[0] & 3] + counted, os.SEEK_CUR)
            last = 0
            while not last:
                head = file.read(3)
                if len(head) < 3:
                    return False
                number = int.from_bytes(head, "little")
                last, kind, length = number & 1, number >> 1 & 3, number >> 3
                file.seek(1 if kind == 1 else length, os.SEEK_CUR)
            file.seek(4 * checksum, os.SEEK_CUR)
        return file.tell() == size


def files_below(folder: str, endings: Sequence[str]) -> list[str]:
    """Return every file below a folder with one of these endings, in order, except hidden ones."""
    files = []
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder).parts
        if path.suffix.lower() in endings and path.is_file() and not any(p[0] in "._" for p in inside):
            files.append(str(path))
    return files
