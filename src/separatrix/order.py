"""The order in which an epoch visits the examples: as they stand, or shuffled anew each epoch.

A shuffled order is a function of the seed, the number of the epoch and what the examples hold. It does not depend on
where they stand in X, on the layout or on the number of threads, so a run can be repeated from a shuffled file.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.problem import Problem

Order = NDArray[np.uint32]

ORDERS = ("cyclic", "shuffled")
_HELD_OUT = 2**64 - 1  # the number of the "epoch" whose order picks the held-out examples


class Orders:
    """The orders of one run.

    Parameters
    ----------
    problem : Problem
        The examples.
    order : {"cyclic", "shuffled"}
        As the rows stand, or shuffled anew each epoch.
    seed : int
        Where the shuffled orders and the held-out examples come from.
    held_out : float, default=0
        The part of the examples to keep out of every epoch.
    first : int, default=0
        The epoch that will be asked for first.

    Attributes
    ----------
    held_out : array or None
        The rows kept out.
    pool : int
        How many examples an epoch visits.
    """

    def __init__(self, problem: Problem, order: str, seed: int, held_out: float = 0.0, first: int = 0) -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; found {order!r}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"the seed must be a whole number from 0 to 2^64 - 1; found {seed!r}")
        self._seed = seed
        self._shuffler: _core.Shuffler | None = None
        self._train: Order | None = None
        self.held_out: Order | None = None
        if order == "shuffled" or held_out:
            examples = _core.Examples(problem.codes, problem.weights, None)
            shuffler = _core.Shuffler(problem.rows.matrix, examples, seed, first)
            self._shuffler = shuffler if order == "shuffled" else None
            if held_out:
                drawn = shuffler.epoch(seed, _HELD_OUT)
                kept_out = round(held_out * len(drawn))
                if not 0 < kept_out < len(drawn):
                    raise ValueError(
                        f"cannot hold out {held_out:g} of {len(drawn)} examples: at least one must be held out and "
                        "one left to learn from"
                    )
                self.held_out = drawn[:kept_out]
                self._train = np.sort(drawn[kept_out:])
        whole = self.epoch(first) if problem.weights is not None else self._train
        self.pool = problem.n if whole is None else len(whole)

    def epoch(self, number: int) -> Order | None:
        """Return the rows of this epoch (from 0) in order; None for all rows as they stand."""
        if self._shuffler is None:
            return self._train
        order = self._shuffler.epoch(self._seed, number)
        if self._train is None:
            return order
        return order[np.isin(order, self._train, assume_unique=True)]

    def unvisited(self, problem: Problem) -> list[int]:
        """Return the rows that no epoch will look at."""
        if self._train is None and (self._shuffler is None or problem.weights is None):
            return []
        seen = np.zeros(problem.n, dtype=bool)
        order = self.epoch(0)
        seen[order if order is not None else slice(None)] = True
        return [int(row) for row in np.flatnonzero(~seen)]
