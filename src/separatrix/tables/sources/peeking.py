"""The beginning of a file: whether it exists, of which kind it is, and how it is compressed."""

from __future__ import annotations

import difflib
import os
import re
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from separatrix.tables.sources.kinds import SourceKind, kind_of
from separatrix.tables.sources.messages import path_text, short

PEEK = 1 << 20  # bytes

_COMPRESSED = {".gz": "gzip", ".zst": "zstd"}


@dataclass(frozen=True)
class Peek:
    """The beginning of a file.

    Parameters
    ----------
    kind : SourceKind
        The kind of file.
    compression : str
        ``"none"``, ``"gzip"`` or ``"zstd"``.
    head : bytes
        The first bytes, uncompressed.
    whole : bool
        Whether that is the whole file.
    share : float
        The fraction of the file's own bytes that ``head`` takes.
    """

    kind: SourceKind
    compression: str
    head: bytes
    whole: bool
    share: float


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


def peek(path: str, name: str, size: int = PEEK) -> Peek:
    """Read the beginning of a file and recognise its kind by its ending, else by its content.

    Parameters
    ----------
    path : str
        The file.
    name : str
        What messages call it; its ending gives the kind.
    size : int
        How many uncompressed bytes to read.
    """
    try:
        with open(path, "rb") as file:
            total = os.fstat(file.fileno()).st_size
            raw = file.read(size)
    except IsADirectoryError:
        raise ValueError(f"{path_text(name)} is a folder; a file is needed") from None
    except PermissionError:
        raise ValueError(f"{path_text(name)} cannot be read: permission denied") from None
    except OSError as problem:
        raise ValueError(f"{path_text(name)} cannot be read: {short(problem.strerror)}") from None
    if not raw:
        raise ValueError(f"{path_text(name)} is empty")
    compression = "gzip" if raw[:2] == b"\x1f\x8b" else "zstd" if raw[:4] == b"\x28\xb5\x2f\xfd" else "none"
    stem, ending = os.path.splitext(name.lower())
    if ending in _COMPRESSED:
        if compression == "none":
            raise ValueError(f"{path_text(name)} is not a {ending[1:]} file")
        ending = os.path.splitext(stem)[1]
    share = len(raw) / max(total, 1)
    whole = len(raw) == total
    if compression != "none":
        raw, whole, used = _decompressed(path, name, compression, size)
        share = min(1.0, used / max(total, 1))
        if not raw:
            raise ValueError(f"{path_text(name)} is empty")
        if compression == "zstd" and not _ends_well(path):  # engines do not always notice
            raise ValueError(cut_short(name, compression))
    kind = kind_of(raw, name, ending)
    if compression != "none" and not kind.compressible:
        raise ValueError(f"{path_text(name)} is a {kind.name} file compressed with {compression}; decompress it first")
    return Peek(kind, compression, raw, whole, share)


def _decompressed(path: str, name: str, compression: str, size: int) -> tuple[bytes, bool, int]:
    import pyarrow as pa

    parts, got, whole, used = [], 0, False, 0
    try:
        with pa.OSFile(path) as below, pa.CompressedInputStream(below, compression) as file:
            while got < size:
                part = file.read(min(65536, size - got))
                if not part:
                    whole = True
                    break
                parts.append(part)
                got += len(part)
            used = below.tell()
    except OSError as problem:
        if "runcated" in str(problem) or "end of" in str(problem):
            raise ValueError(cut_short(name, compression)) from None
        raise ValueError(f"{path_text(name)} is damaged: {short(problem)}") from None
    return b"".join(parts), whole, used


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


def cut_short(name: str, compression: str) -> str:
    """Return the message for a compressed file whose end is missing."""
    return f"{path_text(name)} is truncated: its {'gz' if compression == 'gzip' else 'zst'} data end early"


def ending_of(path: str) -> str:
    """Return a file's ending in lower case, without that of compression."""
    stem, ending = os.path.splitext(path.lower())
    return os.path.splitext(stem)[1] if ending in _COMPRESSED else ending


def files_below(folder: str, endings: Sequence[str]) -> list[str]:
    """Return every file below a folder with one of these endings, in order, except hidden ones."""
    files = []
    for path in sorted(Path(folder).rglob("*")):
        inside = path.relative_to(folder).parts
        if path.suffix.lower() in endings and path.is_file() and not any(p[0] in "._" for p in inside):
            files.append(str(path))
    return files
