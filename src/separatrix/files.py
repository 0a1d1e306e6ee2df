"""Files that appear whole or not at all, whatever happens while they are written; locks; temporary folders."""

from __future__ import annotations

import contextlib
import importlib
import os
import platform
import re
import secrets
import shutil
import stat
import tempfile
import time
import weakref
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from pathlib import Path
from typing import Any, BinaryIO

fcntl: Any = None if os.name == "nt" else importlib.import_module("fcntl")  # on Windows nothing is locked

_DAY = 86400.0  # seconds, after which a part that was left behind is nobody's
_SHOWN = 40  # characters of the name that a part has in its own
_SCRATCH = "separatrix-"
_SCRATCH_NAME = re.compile(r"separatrix-[a-z0-9_]{8}")  # as tempfile makes them
_LOCK = ".separatrix-owner"  # in each, an empty file

before_writing: ContextVar[Callable[[Path], None] | None] = ContextVar("before_writing", default=None)
"""Called with each path that is about to be written; may refuse it with a ValueError."""


def write_whole(path: str | os.PathLike[str], write: Callable[[BinaryIO], None]) -> None:
    """Let ``write`` fill a file that takes the place of the one at ``path`` in one step, once it is on the disk.

    Until then the file there stays as it was; it keeps its mode. A link is followed, a device or pipe is written to.
    A process that is killed can leave a part behind, ``.NAME.xxxx.part`` in the same folder; the next call that writes
    to the same path removes it.
    """
    with _explained(path):
        if not is_special(Path(path)):
            _replace({Path(path): write})
            return
        with Path(path).open("wb") as file:  # by its own name: the end of a pipe has no other
            write(file)


def write_together(contents: Mapping[Path, bytes]) -> None:
    """Write several files so that none of them appears, or changes, unless all of them are on the disk."""
    with _explained(", ".join(map(str, contents))):
        _replace({path: _filling(content) for path, content in contents.items()})


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write a text in UTF-8 in the same way."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path: str | os.PathLike[str], content: bytes) -> None:
    """Write bytes in the same way."""
    write_whole(path, _filling(content))


def _filling(content: bytes) -> Callable[[BinaryIO], None]:
    def write(file: BinaryIO) -> None:
        file.write(content)

    return write


def is_special(path: Path) -> bool:
    """Return whether a path is a device or a pipe: written to, not replaced."""
    return path.exists() and not path.is_file()


@contextlib.contextmanager
def _explained(path: object) -> Iterator[None]:
    try:
        yield
    except OSError as problem:
        raise ValueError(f"cannot write {path}: {problem.strerror or problem}") from None


def _replace(files: Mapping[Path, Callable[[BinaryIO], None]]) -> None:
    """Fill a part for each file; once all are on the disk, let them take the files' places."""
    check = before_writing.get()
    parts: dict[Path, Path] = {}
    try:
        for path, write in files.items():
            target = Path(os.path.realpath(path))
            if check is not None:
                check(path)
            _tidy(target)
            mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else None
            part = target.parent / f".{target.name[:_SHOWN]}.{_host()}-{os.getpid()}-{secrets.token_hex(4)}.part"
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
            handle = os.open(part, flags, 0o666 if mode is None else 0o600)
            parts[target] = part
            with os.fdopen(handle, "wb") as file:
                write(file)
                file.flush()
                os.fsync(file.fileno())
            if mode is not None:
                os.chmod(part, mode)
        if check is not None:  # once more: what is there may have changed while the parts were written
            for path in files:
                check(path)
        for target, part in parts.items():
            os.replace(part, target)
    except BaseException:
        for part in parts.values():
            with contextlib.suppress(OSError):
                os.unlink(part)
        raise
    for folder in {target.parent for target in parts}:
        _settle(folder)


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


# ---------------------------------------------------------------------------------------------- locks


@contextlib.contextmanager
def locked(path: str | os.PathLike[str], wait: Callable[[], None] = lambda: None) -> Iterator[None]:
    """Hold the only lock on a file that exists; ``wait`` is called once if another process holds it.

    Whoever writes the file by `write_whole` replaces it, so the lock is taken again on the file that has its place. A
    file that cannot be locked (a system without locks, a file that is not there) is not locked.
    """
    handle = -1
    try:
        while fcntl is not None:
            try:
                handle = os.open(path, os.O_RDONLY)
            except OSError:
                break
            if _lock(handle) is False:
                wait()
                wait = lambda: None  # noqa: E731
                with contextlib.suppress(OSError):
                    fcntl.flock(handle, fcntl.LOCK_EX)
            with contextlib.suppress(OSError):
                if os.path.samestat(os.fstat(handle), os.stat(path)):
                    break
            os.close(handle)
            handle = -1
        yield
    finally:
        if handle >= 0:
            os.close(handle)


def _lock(handle: int) -> bool | None:
    """Lock an open file; return False if another process has locked it, None if it cannot be locked."""
    if fcntl is None:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return None
    return True


# ---------------------------------------------------------------------------------------------- temporary folders


class ScratchFolder:
    """A temporary folder, removed when it is closed, when nothing holds it any longer, or when the process ends.

    What a killed process leaves behind is removed by the next process that makes one in the same place: the owner of a
    folder holds a lock on a file in it for as long as it lives.

    Parameters
    ----------
    parent : path, optional
        Where to make it; by default where the system keeps temporary files.
    """

    def __init__(self, parent: str | os.PathLike[str] | None = None) -> None:
        where = Path(tempfile.gettempdir() if parent is None else parent)
        _sweep(where)
        while True:
            self.path = Path(tempfile.mkdtemp(prefix=_SCRATCH, dir=where))
            lock = os.open(self.path / _LOCK, os.O_RDWR | os.O_CREAT, 0o600)
            with contextlib.suppress(OSError):
                if _lock(lock) is not False and os.path.samestat(os.fstat(lock), os.stat(self.path / _LOCK)):
                    break
            os.close(lock)  # a process that removes what others left was faster, and took it for such
        self._end = weakref.finalize(self, _remove, self.path, lock, os.getpid())

    def close(self) -> None:
        """Remove the folder."""
        self._end()

    def __enter__(self) -> Path:
        return self.path

    def __exit__(self, *problem: object) -> None:
        self.close()


def _remove(folder: Path, lock: int, owner: int) -> None:
    if os.getpid() != owner:  # a fork that ends
        return
    if os.name == "nt":  # which removes no file that is open
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)
    else:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(lock)


def _sweep(parent: Path) -> None:
    """Remove the temporary folders of this user whose owners are dead."""
    if fcntl is None:
        return
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if not _SCRATCH_NAME.fullmatch(entry.name) or not entry.is_dir(follow_symlinks=False):
                continue
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid != os.geteuid():
                    continue
                handle = os.open(Path(entry.path) / _LOCK, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0))
                try:
                    if _lock(handle) is True and not os.fstat(handle).st_size:
                        shutil.rmtree(entry.path, ignore_errors=True)
                finally:
                    os.close(handle)
