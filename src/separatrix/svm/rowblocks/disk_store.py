"""Shards of rows in a file, with the numbers that a solver keeps for each row in files beside it.

A visit to a shard reads what its calls ask for and writes what they set, so that memory holds one shard a thread.
"""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.block import Block
from separatrix.svm.rowblocks.shard import KEPT, BlockTask, Call, Shard, block_of, perform
from separatrix.svm.rowblocks.sharded import ShardStore, Threads


class Rows(Protocol):
    """A file of rows."""

    n: int
    width: int

    def values(self, begin: int, end: int) -> Any:
        """Return the features of rows."""

    def about(self, begin: int, end: int) -> tuple[Any, Any]:
        """Return the labels of rows, as codes, and their weights, None without any."""


class DiskSource:
    """Rows in a file; what a solver keeps for them goes to ``folder``, which is there."""

    def __init__(self, file: Rows, folder: Path, threads: int = 1) -> None:
        self.n, self.d = file.n, file.width
        self.threads, self._file, self._folder = threads, file, folder

    def shard(self, part: slice) -> Shard:
        """Return a shard."""
        codes, weights = self._file.about(part.start, part.stop)
        return Shard(part.start, self.d, lambda: self._file.values(part.start, part.stop), codes, weights)

    def reduce(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of each shard, and add up what it returns."""
        pool = Threads(self.threads)
        try:
            return pool.reduce(lambda part: function(self.shard(part), *given), tree.cut(self.n, self.d))
        finally:
            pool.close()

    def spaced(self, most: int) -> Any:
        """Return at most so many evenly spaced rows."""
        step = -(-self.n // most)
        return np.concatenate([self._file.values(row, row + 1) for row in range(0, self.n, step)])

    def store(self, task: BlockTask) -> DiskStore:
        """Return the blocks of a task."""
        return DiskStore(self, self._folder / f"state{task.positive}", task)


class DiskStore(ShardStore):
    """Blocks of rows on disk."""

    def __init__(self, source: DiskSource, folder: Path, task: BlockTask) -> None:
        super().__init__(source.n, source.d)
        self._source, self._task = source, task
        self._threads = Threads(source.threads)
        self._kept = KeptNumbers(folder)

    def _reduce(self, calls: Sequence[Call]) -> Any:
        def visit(part: slice) -> Any:
            self.look()
            block: Any = block_of(self._source.shard(part), self._task, lambda *given: _Block(self._kept, part, *given))
            if block is None:
                return None
            answer = perform(block, calls)
            block.keep()
            return answer

        return self._threads.reduce(visit, tree.cut(self.n, self.d))

    def close(self) -> None:
        """Remove the files."""
        self._threads.close()
        self._kept.close()


class _Block(Block):
    """A block whose numbers of rows are read when they are asked for; ``keep`` writes those that were set."""

    def __init__(self, kept: KeptNumbers, part: slice, *given: Any) -> None:
        self._kept, self._begin = kept, part.start
        self._read: dict[str, Any] = {}
        self.rows, self.signs, self.costs = given

    def __getattr__(self, name: str) -> Any:
        if name not in KEPT:
            raise AttributeError(name)
        values = self._read[name] = self._kept.read(name, self._begin, self.rows.n)
        setattr(self, name, values)
        return values

    def keep(self) -> None:
        """Write what was set since the block was made."""
        for name in KEPT:
            values = vars(self).get(name)
            if values is not None and values is not self._read.get(name):
                self._kept.write(name, self._begin, values)


class KeptNumbers:
    """Arrays of a number for each row, by name, in files that are read and written in pieces."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(exist_ok=True)

    def read(self, name: str, begin: int, count: int) -> Floats:
        """Return numbers of neighbouring rows."""
        values = np.empty(count)
        left: Any = values.data.cast("B")
        with open(self._folder / name, "rb", buffering=0) as file:
            file.seek(8 * begin)
            while left:
                got = file.readinto(left)
                if not got:
                    raise ValueError(f"the file {self._folder / name} ends early; was it changed?")
                left = left[got:]
        return values

    def write(self, name: str, begin: int, values: Floats) -> None:
        """Keep numbers of neighbouring rows."""
        left: Any = np.ascontiguousarray(values, dtype=np.float64).data.cast("B")
        try:
            handle = os.open(self._folder / name, os.O_WRONLY | os.O_CREAT | getattr(os, "O_BINARY", 0), 0o600)
            with open(handle, "wb", buffering=0) as file:
                file.seek(8 * begin)
                while left:
                    left = left[file.write(left) :]
        except OSError as problem:
            reason = "the disk is full" if problem.errno == errno.ENOSPC else problem.strerror
            raise ValueError(f"numbers about rows cannot be written to the folder {self._folder}: {reason}") from None

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)
