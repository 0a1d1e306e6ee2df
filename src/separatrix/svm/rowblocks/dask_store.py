"""Shards of rows on the workers of a Dask cluster, with the numbers that a solver keeps for each row beside them.

Every visit to a group of neighbouring shards is a task that takes the group and what the last visit left, and changes
neither: what is lost with a worker is computed again by Dask, from its source on. Sums go from worker to worker in the
fixed tree; the client sees totals, of the size of the features.
"""

from __future__ import annotations

import threading
import time
from asyncio import TimeoutError as StillWaiting
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.block import add
from separatrix.svm.rowblocks.shard import KEPT, BlockTask, Call, Shard, block_of, perform, spaced
from separatrix.svm.rowblocks.sharded import ShardStore

_BUSY = 0.9  # the part of their time in which the cluster's threads are to work,
_GROUPS = 4  # unless that takes more groups for each thread
_GROUP_NUMBERS = 1 << 25  # at most, unless a single shard has more
_ADDED = 16  # sums that a task adds up: a power of two
_PATIENCE = 15.0  # seconds without a scheduler or a worker
_ASKED = 0.5  # seconds between two looks at Ctrl-C and the connection
_FETCHED = 5.0  # seconds for a result to come, before another look


class Group(NamedTuple):
    """Neighbouring shards, each of so many rows, in one piece."""

    first: int
    rows: int
    values: Any
    codes: NDArray[np.int32]
    weights: Floats | None

    def shards(self) -> list[Shard]:
        """Return the shards."""
        d = self.values.shape[1]
        out = []
        for begin in range(0, len(self.codes), self.rows):
            part = slice(begin, begin + self.rows)
            weights = None if self.weights is None else self.weights[part]
            values = self.values[part]
            out.append(Shard(self.first + begin, d, lambda values=values: values, self.codes[part], weights))  # type: ignore[misc]
        return out


class Visited(NamedTuple):
    """What a visit leaves: the numbers kept for the rows of each shard, and the sum of what the last call returned."""

    kept: list[dict[str, Any]]
    total: Any


def group_rows(n: int, d: int, threads: int) -> int:
    """Return how many rows a group has: those of 2^k shards, so that its sum is a subtree of the fixed tree.

    There are as few groups as keep all threads busy, since each call takes two tasks a group.
    """
    shard = tree.shard_rows(n, d)
    shards = -(-n // shard)
    size = 1
    while 2 * size * shard * d <= _GROUP_NUMBERS and 2 * size * threads <= shards:
        size *= 2
    while size > 1 and -(-shards // size) < _GROUPS * threads and _busy(shards, size, threads) < _BUSY:
        size //= 2
    return shard * size


def _busy(shards: int, size: int, threads: int) -> float:
    """Return the part of their time in which threads work, if each takes one group of this size after the other."""
    rounds = -(-shards // (size * threads))
    return shards / (rounds * size * threads)


class DaskSource:
    """Groups of shards, as futures, in the order of the rows."""

    def __init__(self, client: Any, groups: Sequence[Any], n: int, d: int) -> None:
        self.client, self.groups, self.n, self.d = client, list(groups), n, d

    def reduce(self, function: Callable[..., Any], *given: Any) -> Any:
        """Call a function of each shard, and add up what it returns."""
        return self.result(self.added([self.submit(_each, group, function, given) for group in self.groups]))

    def spaced(self, most: int) -> Any:
        """Return at most so many evenly spaced rows."""
        step = -(-self.n // most)
        return np.concatenate([self.result(self.submit(_spaced, group, step)) for group in self.groups])

    def store(self, task: BlockTask) -> DaskStore:
        """Return the blocks of a task."""
        return DaskStore(self, task)

    def submit(self, function: Callable[..., Any], *given: Any) -> Any:
        """Submit a task."""
        return self.client.submit(function, *given, pure=False)

    def added(self, totals: list[Any]) -> Any:
        """Return the future of the sum of totals of full subtrees, in the fixed tree."""
        while len(totals) > 1:
            parts = [totals[first : first + _ADDED] for first in range(0, len(totals), _ADDED)]
            totals = [self.submit(_added, part) for part in parts]
        return totals[0]

    def result(self, future: Any, look: Callable[[], None] = lambda: None) -> Any:
        """Wait for a future; ``look`` is called now and then."""
        gone, done = 0.0, threading.Event()
        future.add_done_callback(lambda _: done.set())
        while True:
            if done.wait(_ASKED):
                try:
                    return future.result(timeout=_FETCHED)
                except (TimeoutError, StillWaiting, UnboundLocalError):
                    pass  # the worker that had it was lost meanwhile (the last error is how Dask says so)
                except CancelledError:
                    raise ConnectionError(self._lost("the scheduler")) from None
            look()
            missing = self._missing()
            gone = 0.0 if not missing else gone or time.monotonic()
            if gone and time.monotonic() - gone > _PATIENCE:
                raise ConnectionError(self._lost(missing))

    def _missing(self) -> str:
        if self.client.status != "running":
            return "the scheduler"
        return "" if self.client.scheduler_info().get("workers") else "every worker"

    def _lost(self, what: str) -> str:
        where = getattr(self.client.scheduler, "address", "")
        return f"the Dask cluster {where} has lost {what}: the fit ends without a model; start the cluster and fit anew"


class DaskStore(ShardStore):
    """Blocks of rows on workers."""

    def __init__(self, source: DaskSource, task: BlockTask) -> None:
        super().__init__(source.n, source.d)
        self._source, self._task = source, task
        self._visited: list[Any] = [None] * len(source.groups)

    def _reduce(self, calls: Sequence[Call]) -> Any:
        source = self._source
        self.look()
        self._visited = [
            source.submit(_visit, group, visited, self._task, calls)
            for group, visited in zip(source.groups, self._visited, strict=True)
        ]
        total = source.result(source.added([source.submit(_total, visited) for visited in self._visited]), self.look)
        return None if total is None else type(total)(*map(_own, total))

    def close(self) -> None:
        """Let go of what the workers keep."""
        self._visited = []


# ---------------------------------------------------------------------------------------------- on the workers


def _visit(group: Group, before: Visited | None, task: BlockTask, calls: Sequence[Call]) -> Visited:
    """Call methods of the blocks of a group."""
    task = task._replace(centre=_own(task.centre))
    calls = [(method, tuple(map(_own, given))) for method, given in calls]
    kept: list[dict[str, Any]] = []
    answers: list[Any] = []
    for place, shard in enumerate(group.shards()):
        block = block_of(shard, task)
        if block is None:
            kept.append({})
            answers.append(None)
            continue
        if before is not None:
            vars(block).update({name: _aligned(values) for name, values in before.kept[place].items()})
        answers.append(perform(block, calls))
        own = vars(block)
        kept.append({name: own[name] for name in KEPT if name in own})
    return Visited(kept, tree.add_up(answers, add))


def _own(value: Any) -> Any:
    """Return a copy of an array, which may have come in a message: read-only, and anywhere in memory."""
    return value.copy() if isinstance(value, np.ndarray) else value


def _aligned(values: Floats) -> Floats:
    return values if values.flags.aligned else values.copy()


def _total(visited: Visited) -> Any:
    return visited.total


def _added(totals: Sequence[Any]) -> Any:
    return tree.add_up(totals, add)


def _each(group: Group, function: Callable[..., Any], given: tuple[Any, ...]) -> Any:
    return tree.add_up((function(shard, *given) for shard in group.shards()), add)


def _spaced(group: Group, step: int) -> Any:
    return np.concatenate([spaced(shard, step) for shard in group.shards()])
