"""What a command reads is never written over by it: every input and every output is noted here, and compared.

Inputs are the files that a command opens (model files, certificates, all files of a source, also those that a query
names, and the file behind standard input); outputs are those that it writes. Files are compared by device and number,
so that links and other spellings of a path are the same file.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import os
import stat
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from separatrix.files import before_writing, is_special

_PARQUET = (".parquet", ".pq")  # what is read of a folder

_Id = tuple[int, int]


class Guard:
    """The inputs and outputs of one command."""

    def __init__(self) -> None:
        self._inputs: dict[_Id, str] = {}
        self._outputs: dict[Path, str] = {}  # with the option that names it
        self._replaced: dict[str, tuple[int, ...] | None] = {}  # paths, and what their files were like when read
        self._sources: list[Any] = []
        self._listings: list[str] = []  # folders and patterns, whose files a later run may find
        self.held = contextlib.ExitStack()  # locks, until the command ends

    def reads(self, file: str | os.PathLike[str] | int, name: str | None = None) -> None:
        """Note an input: a path, or the number of an open file."""
        number = _id(file)
        if number is not None:
            self._inputs[number] = name or str(file)
            self._check_all()

    def reads_source(self, source: Any, where: str | None) -> None:
        """Note all files of an open source; those that it opens later count too."""
        self._sources.append(source)
        if where == "-" and sys.stdin is not None:
            with contextlib.suppress(OSError, ValueError):
                self.reads(sys.stdin.fileno(), "standard input")
        if where is not None and where != "-" and (os.path.isdir(where) or not os.path.exists(where)):
            self._listings.append(where)
        self._check_all()

    def replaces(self, path: Path) -> None:
        """Note an input that the command writes anew, such as the model of an update, before it is read.

        If it changes in the meantime, it is not replaced.
        """
        self._replaced[os.path.realpath(path)] = _state(path)

    def writes(self, path: Path, option: str = "-o") -> None:
        """Note an output; refuse one that cannot be written, that is an input, or that is another output too."""
        if path.is_dir():
            raise ValueError(f"{path} is a folder; {option} needs a file name")
        folder = path.resolve().parent
        if not folder.is_dir():
            raise ValueError(f"cannot write {path}: the folder {folder} does not exist")
        replaced = not is_special(path)  # by a new file, which the folder must take
        if (replaced and not os.access(folder, os.W_OK)) or (path.exists() and not os.access(path, os.W_OK)):
            raise ValueError(f"cannot write {path}: permission denied")
        for other, its in self._outputs.items():
            if other.resolve() == path.resolve():
                raise ValueError(f"{its} and {option} both name {path}; each needs a file of its own")
        self._outputs[path] = option
        self._check_all()

    def check(self, path: Path, option: str = "-o") -> None:
        """Refuse a path that is an input, or that the same command would read as one if it were run again."""
        target = os.path.realpath(path)
        if target in self._replaced:
            if _state(path) != self._replaced[target]:
                raise ValueError(f"{path} has changed since it was read and is not replaced; run the command again")
            return
        inputs, number = self._known(), _id(path)
        if number is not None and number in inputs:
            raise ValueError(f"{option} {path} would overwrite the input {inputs[number]}; choose another file")
        for listing in self._listings:
            if _lists(listing, path):
                raise ValueError(f"{option} {path} would be one of the files of the input {listing}; choose another")

    def _check_all(self) -> None:
        inputs = self._known()
        printed = _id(1)
        if printed is not None and printed in inputs:
            raise ValueError(f"standard output is the input {inputs[printed]}; choose another file")
        for path, option in self._outputs.items():
            self.check(path, option)

    def _known(self) -> dict[_Id, str]:
        files = {number: str(file) for source in self._sources for file in source.files if (number := _id(file))}
        return {**files, **self._inputs}


_current: ContextVar[Guard | None] = ContextVar("guard", default=None)


def guard() -> Guard:
    """Return the guard of the command that runs."""
    return _current.get() or Guard()


@contextlib.contextmanager
def guarded() -> Iterator[None]:
    """Guard the inputs of one command; whatever it writes is compared with them once more before it is replaced."""
    new = Guard()
    current, writing = _current.set(new), before_writing.set(new.check)
    try:
        with new.held:
            yield
    finally:
        before_writing.reset(writing)
        _current.reset(current)


def _id(file: str | os.PathLike[str] | int) -> _Id | None:
    """Return what tells a regular file from all others; None for anything else."""
    try:
        status = os.stat(file)
    except (OSError, ValueError):
        return None
    return (status.st_dev, status.st_ino) if stat.S_ISREG(status.st_mode) else None


def _state(path: Path) -> tuple[int, ...] | None:
    """Return what changes with a file."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _lists(listing: str, path: Path) -> bool:
    """Return whether a folder or a pattern that is read includes a path."""
    target = os.path.realpath(path)
    if os.path.isdir(listing):
        inside = os.path.realpath(listing) + os.sep
        return target.startswith(inside) and path.suffix.lower() in _PARQUET
    return glob.has_magic(listing) and _matches(Path(target).parts, Path(os.path.realpath(listing)).parts)


def _matches(parts: tuple[str, ...], patterns: tuple[str, ...]) -> bool:
    """Return whether glob would find a path: only ** spans folders, and hidden names need a dot in the pattern."""
    if not parts or not patterns:
        return not parts and not patterns
    if patterns[0] == "**":
        return _matches(parts, patterns[1:]) or (not parts[0].startswith(".") and _matches(parts[1:], patterns))
    hidden = parts[0].startswith(".") and not patterns[0].startswith(".")
    return not hidden and fnmatch.fnmatchcase(parts[0], patterns[0]) and _matches(parts[1:], patterns[1:])
