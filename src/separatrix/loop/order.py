"""The order in which an epoch visits the examples: as they stand, or shuffled anew each epoch.

A shuffled order is a function of the seed, the number of the epoch and what the examples hold. It does not depend on
where they stand in X, on the layout or on the number of threads, so a run can be repeated from a shuffled file.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.loop.problem import Problem

Order = NDArray[np.uint32]


class EpochPlan(NamedTuple):
    """The examples of an epoch, in the order in which they are presented.

    ``rows`` are its examples in order, None for all as they stand. Where folds are cut by weight, ``entries`` are the
    rows as presented, one that lies across a cut twice, with the weights ``shares``, and ``edges`` are where folds
    begin and end; else the two are None and ``entries`` is ``rows``. ``length`` counts the entries.
    """

    rows: Order | None
    entries: Order | None
    length: int
    shares: NDArray[np.float64] | None = None
    edges: NDArray[np.int64] | None = None

    def end_of_chunk(self, begin: int, chunk: int, fold: int) -> int:
        """Return where to pause after about this many entries: always between two folds."""
        if self.edges is None:
            return min(begin + max(chunk // fold, 1) * fold, self.length)
        return int(self.edges[np.searchsorted(self.edges, min(begin + chunk, self.length))])


def cut_by_weight(order: Order, weights: NDArray[np.float64], fold: int, *, most: int = 1000) -> tuple[Order, Any, Any]:
    """Cut an order into folds that weigh ``fold`` each (the last may weigh less): entries, shares, edges.

    So an example of weight 2 is in every way two examples. Where the examples weigh more than ``most`` on average the
    folds are heavier, which bounds the length of a run: there are at most ``most`` times as many as without weights.

    Examples
    --------
    >>> cut_by_weight(np.arange(3, dtype=np.uint32), np.array([1.0, 4.0, 1.0]), 2)
    (array([0, 1, 1, 1, 2], dtype=uint32), array([1., 1., 2., 1., 1.]), array([0, 2, 3, 5]))
    """
    ends = np.cumsum(weights)
    weight = max(float(fold), fold * (ends[-1] / (most * len(order))))
    rounding = min(1e-15 * len(order) * ends[-1], 1e-3 * weight)  # of the sums: no fold or part of a row is so small
    rounding = max(rounding, 1e-9 * weight)
    cuts = weight * np.arange(1, np.ceil((ends[-1] - rounding) / weight))
    at = np.searchsorted(ends, cuts - rounding)
    inside = ends[at] > cuts + rounding
    entries = np.insert(order, at[inside], order[at[inside]])
    shares = np.diff(np.insert(ends, at[inside], cuts[inside]), prepend=0.0)
    edges = np.concatenate([[0], at + np.cumsum(inside) + ~inside, [len(entries)]])
    return entries, shares, edges.astype(np.int64)


ORDERS = ("cyclic", "shuffled")
_HELD_OUT = 2**64 - 1  # the number of the "epoch" whose order draws the validation set


class Orders:
    """The orders of one run.

    Parameters
    ----------
    problem : Problem
        The examples.
    order : {"cyclic", "shuffled"}
        As the rows stand, or shuffled anew each epoch.
    seed : int
        The random seed of the shuffled orders and of the validation set.
    held_out : float, default=0
        The fraction of the examples that become the validation set and are in no epoch.
    first : int, default=0
        The first epoch of the run.

    Attributes
    ----------
    held_out : array or None
        The rows of the validation set.
    pool : int
        The number of examples of an epoch.
    """

    def __init__(self, problem: Problem, order: str, seed: int, held_out: float = 0.0, first: int = 0) -> None:
        if order not in ORDERS:
            raise ValueError(f"order must be one of {', '.join(ORDERS)}; found {order!r}")
        if not 0 <= seed < 2**64:
            raise ValueError(f"the seed must be a whole number from 0 to 2^64 - 1; found {seed!r}")
        self._seed = seed
        self._weights = problem.weights
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
                        f"a validation fraction of {held_out:g} does not split {len(drawn)} examples: both parts need "
                        "at least one"
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

    def plan(self, number: int, fold: int | str, *, most: int | None = None) -> EpochPlan:
        """Return what this epoch presents, in folds of this weight ("all": in one); ``most`` is for cut_by_weight.

        Folds of 1 are cut by weight only if it is given: the engines present a heavy example several times anyway.
        """
        rows = self.epoch(number)
        if self._weights is None or isinstance(fold, str) or (fold == 1 and most is None):
            return EpochPlan(rows, rows, self.pool)
        order = np.arange(len(self._weights), dtype=np.uint32) if rows is None else rows
        entries, shares, edges = cut_by_weight(order, self._weights[order], fold, most=most or 1000)
        return EpochPlan(rows, entries, len(entries), shares, edges)

    def unvisited(self, problem: Problem) -> list[int]:
        """Return the rows that no epoch visits."""
        if self._train is None and (self._shuffler is None or problem.weights is None):
            return []
        seen = np.zeros(problem.n, dtype=bool)
        order = self.epoch(0)
        seen[order if order is not None else slice(None)] = True
        return [int(row) for row in np.flatnonzero(~seen)]


def seed_of(random_state: Any) -> int:
    """Return the seed that a random_state stands for; a whole number is the seed itself."""
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool) and 0 <= random_state < 2**32:
        return int(random_state)  # making a generator of it would take longer than checking the data
    from sklearn.utils import check_random_state

    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
