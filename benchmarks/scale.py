"""A simulation, not a measurement: how long a fit to 10^9 rows would take on 1,000 workers, and where the time goes.

    python benchmarks/scale.py [--rows 1000000000] [--columns 256] [--workers 1000] [--threads 8]

What is measured, on this machine: the seconds that each call of the solvers takes on a shard, and the calls of a small
fit. What is assumed, and printed: the network, the scheduler's time for a task, how fast workers differ. A call is what
it is in the package: it goes to every group of shards; sums go up a tree of workers, 16 at a time; the client solves
one system of equations a round. Nothing of Dask runs here.
"""

from __future__ import annotations

import argparse
import math
import time
from collections import Counter

import numpy as np

from separatrix.svm.rowblocks.block import Precision
from separatrix.svm.rowblocks.core_rows import CoreEquations
from separatrix.svm.rowblocks.dask_store import group_rows
from separatrix.svm.rowblocks.losses import CoreLogBlock
from separatrix.svm.rowblocks.newton import newton
from separatrix.svm.rowblocks.shard import BlockTask, Costing
from separatrix.svm.rowblocks.sharded import MemorySource, MemoryStore
from separatrix.svm.rowblocks.smoothing import shrink

NETWORKS = {"10 Gb/s": 10e9 / 8, "100 Gb/s": 100e9 / 8}  # bytes a second
LATENCY = 1e-4  # seconds
TASK = 2e-4  # seconds of the scheduler for a task; two tasks a group and call, one for 16 sums
ADDED = 16
SLOW = 0.15  # deviation of the logarithm of a worker's time in a call,
STRAGGLERS, STRAGGLE = 0.01, 3.0  # and so many take so many times as long


class Watched(MemoryStore):
    """A store that makes each call at once, and notes how long it took."""

    def __init__(self, *given) -> None:
        super().__init__(*given)
        self.seconds: dict[tuple[str, str], list[float]] = {}

    def each(self, method, *given) -> None:
        """Make a call without a sum."""
        self.sum(method, *given)

    def sum(self, method, *given):
        """Make a call."""
        how = next((each.name for each in given if isinstance(each, Precision)), "")
        began = time.process_time()
        answer = self._reduce([(method, given)])
        self.seconds.setdefault((method, how), []).append(time.process_time() - began)
        return answer


def rows(n: int, d: int):
    """Rows with noise, and their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = X @ rng.standard_normal(d).astype(np.float32) / math.sqrt(d) + 0.7 * rng.standard_normal(n) > 0
    return X, y.astype(np.int32)


def fitted(loss: str, n: int, d: int, of: int) -> dict[tuple[str, str], list[float]]:
    """Return the seconds of the calls of a fit to so many rows, as if they were a part ``of`` more, in one thread."""
    X, y = rows(n, d)
    store = Watched(MemorySource(X, y, None, 1), BlockTask(1, Costing(1.0), None, of))
    with np.errstate(all="ignore"):
        shrink(store, tol=1e-4) if loss == "hinge" else newton(store, CoreLogBlock, tol=1e-4)
    return store.seconds


def simulated(calls, some: int, n: int, d: int, workers: int, threads: int, bandwidth: float) -> dict[str, float]:
    """Return the seconds of a fit, by where they go; ``calls`` are those of a fit to ``some`` rows."""
    rng, spent = np.random.default_rng(0), Counter()
    size = group_rows(n, d, workers * threads)
    groups = -(-n // size)
    longest = size * -(-groups // (workers * threads))  # rows of a thread in a call
    tables = {"curve", "measure"}
    for (method, _), seconds in calls.items():
        per_row, count = float(np.median(seconds)) / some, len(seconds)
        waits = method in ("begin", "centre", "aim", "slide", "move")  # done with the next call: no message of its own
        message = 8 * ((d + 1) ** 2 + 5 * d if method in tables else 2 * d)
        for _ in range(count):
            speed = np.exp(SLOW * rng.standard_normal(workers)) * np.where(
                rng.random(workers) < STRAGGLERS, STRAGGLE, 1
            )
            work = per_row * longest
            spent["computing"] += work
            spent["waiting for the slowest"] += work * (speed.max() - 1.0)
            if waits:
                continue
            spent["scheduling"] += TASK * groups * (2 + 1 / ADDED)
            levels = math.ceil(math.log(groups, ADDED))
            spent["adding up"] += levels * (LATENCY + (ADDED - 1) * message / bandwidth) + LATENCY + message / bandwidth
        if method in tables:
            began = time.perf_counter()
            CoreEquations(np.eye(d + 1) * 2.0, 0.0)
            spent["solving"] += count * (time.perf_counter() - began)
    return dict(spent)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("rows", 10**9), ("columns", 256), ("workers", 1000), ("threads", 8)):
        parser.add_argument(f"--{name}", type=int, default=value)
    asked = parser.parse_args()
    print(
        f"SIMULATION of {asked.rows:,} x {asked.columns} float32 on {asked.workers:,} workers of {asked.threads} "
        f"threads, to a relative gap of 1e-4.\nAssumed: {LATENCY * 1e3:g} ms a message, {TASK * 1e3:g} ms of the "
        f"scheduler a task, workers that differ by {SLOW:.0%}, {STRAGGLERS:.0%} of them {STRAGGLE:g} times as slow.\n"
        "Measured here: the seconds of each call on a shard, and the calls of a small fit.\n"
    )
    parts = ("computing", "waiting for the slowest", "scheduling", "adding up", "solving")
    print("| loss | network | seconds | " + " | ".join(parts) + " |\n|---|---|---|" + "---|" * len(parts))
    for loss in ("log", "hinge"):
        some = 200 * asked.columns
        calls = fitted(loss, some, asked.columns, asked.rows)
        for name, bandwidth in NETWORKS.items():
            spent = simulated(calls, some, asked.rows, asked.columns, asked.workers, asked.threads, bandwidth)
            cells = " | ".join(f"{spent.get(part, 0.0):.2g}" for part in parts)
            print(f"| {loss} | {name} | {sum(spent.values()):.3g} | {cells} |")


if __name__ == "__main__":
    main()
