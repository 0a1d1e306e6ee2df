"""Rows in memory that are cut into shards; and what all stores of shards share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.block import Block, add
from separatrix.svm.rowblocks.core_rows import CoreEquations
from separatrix.svm.rowblocks.shard import BlockTask, Call, Shard, block_of, perform, spaced
from separatrix.svm.task import HaltedError

_SHARES = 8  # subtrees of shards that each thread takes, so that none waits long for another

Part = TypeVar("Part")


class Source(Protocol):
    """Where the shards come from."""

    n: int
    d: int

    def reduce(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of each shard, and add up what it returns."""

    def spaced(self, most: int) -> Any:
        """Return at most so many evenly spaced rows."""

    def store(self, task: BlockTask) -> Any:
        """Return the blocks of a task."""


class ShardStore:
    """Blocks of shards; a call that asks for no sum waits for the next one that does, so that rows are read once."""

    def __init__(self, n: int, d: int) -> None:
        self.n, self.d = n, d
        self.halted: Callable[[], bool] = lambda: False
        self._waiting: list[Call] = []

    def look(self) -> None:
        """Raise HaltedError if the run is to end; asked before each block."""
        if self.halted():
            raise HaltedError

    def each(self, method: str, *given: Any) -> None:
        """Call a method of every block, at the latest with the next sum."""
        self._waiting.append((method, given))

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of every block; add up what they return, in the fixed tree."""
        calls, self._waiting = [*self._waiting, (method, given)], []
        return self._reduce(calls)

    def equations(self, table: Floats, lean: float | None) -> CoreEquations:
        """Return Newton's equations for a sum of tables."""
        return CoreEquations(table, lean)

    def close(self) -> None:
        """Let go of what is kept for the rows."""

    @abstractmethod
    def _reduce(self, calls: Sequence[Call]) -> Any: ...


class Threads:
    """Calls a function of each part of a list, neighbours one after the other; adds up in the fixed tree."""

    def __init__(self, threads: int) -> None:
        self._threads = threads
        self._pool: Any = None
        if threads > 1:
            from concurrent.futures import ThreadPoolExecutor

            self._pool = ThreadPoolExecutor(threads)

    def reduce(self, function: Callable[[Part], Any], parts: Sequence[Part]) -> Any:
        """Return the sum of what the function returns."""
        many = max(1, len(parts) // (_SHARES * self._threads))
        size = 1 << (many.bit_length() - 1)
        subtrees = [parts[first : first + size] for first in range(0, len(parts), size)]

        def subtree(some: Sequence[Part]) -> Any:
            return tree.add_up(map(function, some), add)

        totals: Iterable[Any] = self._pool.map(subtree, subtrees) if self._pool else map(subtree, subtrees)
        return tree.add_up(totals, add)

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)


class MemorySource:
    """Rows in memory."""

    def __init__(self, values: Any, codes: NDArray[np.int32], weights: Floats | None, threads: int) -> None:
        self.n, self.d = values.shape
        self.threads = threads
        self._values, self._codes, self._weights = values, codes, weights

    def _shard(self, part: slice) -> Shard:
        weights = None if self._weights is None else self._weights[part]
        return Shard(part.start, self.d, lambda: self._values[part], self._codes[part], weights)

    def shards(self) -> list[Shard]:
        """Return all shards."""
        return [self._shard(part) for part in tree.cut(self.n, self.d)]

    def reduce(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of each shard, and add up what it returns."""
        pool = Threads(self.threads)
        try:
            return pool.reduce(lambda shard: function(shard, *given), self.shards())
        finally:
            pool.close()

    def spaced(self, most: int) -> Any:
        """Return at most so many evenly spaced rows."""
        step = -(-self.n // most)
        return np.concatenate([spaced(shard, step) for shard in self.shards()])

    def store(self, task: BlockTask) -> MemoryStore:
        """Return the blocks of a task."""
        return MemoryStore(self, task)


class MemoryStore(ShardStore):
    """Blocks of rows in memory, each read by one of some threads."""

    def __init__(self, source: MemorySource, task: BlockTask) -> None:
        super().__init__(source.n, source.d)
        made = [block_of(shard, task) for shard in source.shards()]
        self._blocks: list[Block | None] = made
        self._threads = Threads(source.threads)

    def _reduce(self, calls: Sequence[Call]) -> Any:
        def visit(block: Block | None) -> Any:
            self.look()
            return None if block is None else perform(block, calls)

        return self._threads.reduce(visit, self._blocks)

    def of_rows(self, loss: Any, weights: Floats, bias: float) -> tuple[Floats, Floats]:
        """Return alpha and the slack of all rows that count."""
        parts = [block.of_rows(loss, weights, bias) for block in self._blocks if block is not None]
        alphas, slacks = zip(*parts, strict=True)
        return np.concatenate(alphas), np.concatenate(slacks)

    def close(self) -> None:
        """Let go of the blocks."""
        self._threads.close()
        self._blocks = []
