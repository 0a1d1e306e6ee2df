"""Files that appear whole or not at all, whatever happens while they are written."""

from __future__ import annotations

import contextlib
import os
import platform
import re
import secrets
import stat
import time
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

_DAY = 86400.0  # seconds, after which a part that was left behind is nobody's
_SHOWN = 40  # characters of the name that a part has in its own


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Let ``write`` fill a file that takes the place of the one at ``path`` in one step, once it is on the disk.

    Until then the file there stays as it was; it keeps its mode. A link is followed, a device or pipe is written to.
    A process that is killed can leave a part behind, ``.NAME.xxxx.part`` in the same folder; the next call that writes
    to the same path removes it.
    """
    given, target = Path(path), Path(os.path.realpath(path))
    try:
        if given.exists() and not given.is_file():  # by its own name: the end of a pipe has no other
            with given.open("wb") as file:
                write(file)
            return
        _replace(target, write)
    except OSError as problem:
        raise ValueError(f"cannot write {path}: {problem.strerror or problem}") from None


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 in the same way."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes in the same way."""

    def write(file: BinaryIO) -> None:
        file.write(content)

    write_whole(path, write)


def _replace(target: Path, write: Callable[[BinaryIO], None]) -> None:
    _tidy(target)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
    part = target.parent / f".{target.name[:_SHOWN]}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
    try:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
        handle = os.open(part, flags, 0o666 if mode is None else 0o600)
        with os.fdopen(handle, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            os.chmod(part, mode)
        os.replace(part, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(part)
        raise
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Bring the folder's own entry for the file to the disk, where the system can."""
    with contextlib.suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _tidy(target: Path) -> None:
    """Remove the parts of this file that killed processes of this machine, or of any a day ago, have left behind."""
    parts = re.compile(re.escape(f".{target.name[:_SHOWN]}.") + r"([0-9a-f]{8})-([0-9]{1,10})-[0-9a-f]{8}\.part")
    with contextlib.suppress(OSError), os.scandir(target.parent) as entries:
        for entry in entries:
            found = parts.fullmatch(entry.name)
            if found is None:
                continue
            with contextlib.suppress(OSError):
                old = time.time() - entry.stat(follow_symlinks=False).st_mtime > _DAY
                if old or (found[1] == _host() and not _lives(int(found[2]))):
                    os.unlink(entry.path)


def _lives(process: int) -> bool:
    if os.name == "nt":
        return True  # asking would end it
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    return f"{zlib.crc32(platform.node().encode()):08x}"
