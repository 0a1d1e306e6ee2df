"""Where blocks live: in memory, in the hands of threads."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Protocol

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.block import Block, add
from separatrix.svm.rowblocks.core_rows import CoreEquations, CoreRows

_TOGETHER = 8  # subtrees of shards that each thread takes, so that none waits long for another


class Store(Protocol):
    """Blocks of rows, and what the solvers do with them."""

    n: int
    d: int

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of every block; add up what they return, in the fixed tree."""

    def each(self, method: str, *given: Any) -> None:
        """Call a method of every block."""

    def equations(self, table: Any, lean: float | None) -> Any:
        """Return Newton's equations for a sum of tables."""


class MemoryStore:
    """Rows in memory; threads share the shards."""

    def __init__(self, values: Any, signs: Floats, costs: Floats, threads: int = 1) -> None:
        self.n, self.d = values.shape
        self.blocks = [Block(CoreRows(values[part]), signs[part], costs[part]) for part in tree.cut(self.n, self.d)]
        self._threads = max(1, min(threads, len(self.blocks)))
        many = max(1, len(self.blocks) // (_TOGETHER * self._threads))
        self._subtree = 1 << (many.bit_length() - 1)
        self._pool = ThreadPoolExecutor(self._threads) if self._threads > 1 else None

    def sum(self, method: str, *given: Any) -> Any:
        """Call a method of every block; add up what they return, in the fixed tree."""
        return tree.add_up(self._work(lambda part: tree.add_up((getattr(b, method)(*given) for b in part), add)), add)

    def each(self, method: str, *given: Any) -> None:
        """Call a method of every block."""

        def work(part: list[Block]) -> None:
            for block in part:
                getattr(block, method)(*given)

        for _ in self._work(work):
            pass

    def equations(self, table: Floats, lean: float | None) -> CoreEquations:
        """Return Newton's equations for a sum of tables."""
        return CoreEquations(table, lean)

    def _work(self, function: Any) -> Iterator[Any]:
        parts = [self.blocks[first : first + self._subtree] for first in range(0, len(self.blocks), self._subtree)]
        return iter(self._pool.map(function, parts)) if self._pool else map(function, parts)
