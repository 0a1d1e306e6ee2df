"""The order in which an epoch visits the examples: as they stand, shuffled anew each epoch, or drawn at random.

A shuffled or random order is a function of the seed, the number of the epoch and what the examples hold. It does not
depend on where they stand in X, on the layout or on the number of threads, so a run can be repeated from a shuffled
file.

A random epoch draws as many examples as there are, each time any of them with the same probability (Lectures 002 and
003), so that it meets some several times and about a third not at all. Sample weights stay the weights of the updates:
what an example weighs in an epoch is its weight on average, as it is exactly in the other orders.
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
    begin and end; else the two are None and ``entries`` is ``rows``. ``length`` counts the entries. In a random order
    ``rows`` are the examples to draw from, and ``drawn`` those that were.
    """

    rows: Order | None
    entries: Order | None
    length: int
    shares: NDArray[np.float64] | None = None
    edges: NDArray[np.int64] | None = None
    drawn: Order | None = None

    @property
    def presented(self) -> Order | None:
        """The examples as presented, one that is drawn twice twice; None for all as they stand."""
        return self.rows if self.drawn is None else self.drawn

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


ORDERS = ("cyclic", "shuffled", "random")
_HELD_OUT = 2**64 - 1  # the number of the "epoch" whose order draws the validation set
_LIST = 2**64 - 2  # and of the one whose order is the list from which random epochs draw
_GOLDEN = 0x9E3779B97F4A7C15


def order_of(shuffle: Any) -> str:
    """Return the order that an estimator's ``shuffle`` names, or refuse it.

    Examples
    --------
    >>> order_of(True), order_of(False), order_of("random")
    ('shuffled', 'cyclic', 'random')
    """
    if isinstance(shuffle, str):
        if shuffle != "random":
            raise ValueError(f"shuffle must be True, False or 'random'; found {shuffle!r}")
        return shuffle
    return "shuffled" if shuffle else "cyclic"


def draws(n: int, count: int, seed: int, number: int) -> NDArray[np.int64]:
    """Return ``count`` numbers below ``n``, drawn with replacement: those of the epoch of this number.

    The generator is SplitMix64 (Steele, Lea and Flood 2014), begun where the core's Shuffler begins an epoch.

    Examples
    --------
    >>> draws(10, 8, seed=0, number=0), draws(10, 8, seed=0, number=1)
    (array([2, 6, 5, 5, 4, 9, 3, 4]), array([8, 1, 2, 5, 8, 5, 3, 0]))
    """
    steps = np.arange(count, dtype=np.uint64) * np.uint64(_GOLDEN)
    mixed = _mix(np.uint64(start_of(seed, number)) + steps)
    return ((mixed >> np.uint64(32)) * np.uint64(n) >> np.uint64(32)).astype(np.int64)


def start_of(seed: int, number: int) -> int:
    """Return where the generator begins the stream of this number.

    Examples
    --------
    >>> start_of(0, 0) == start_of(0, 1), 0 <= start_of(0, 0) < 2**64
    (False, True)
    """
    (start,) = _mix(_mix(np.array([seed], dtype=np.uint64)) ^ np.uint64(number + 1))
    return int(start)


def _mix(v: NDArray[np.uint64]) -> NDArray[np.uint64]:
    v = v + np.uint64(_GOLDEN)
    v = (v ^ (v >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    v = (v ^ (v >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(v ^ (v >> np.uint64(31)))


class Orders:
    """The orders of one run.

    Parameters
    ----------
    problem : Problem
        The examples.
    order : {"cyclic", "shuffled", "random"}
        As the rows stand, shuffled anew each epoch, or drawn with replacement.
    seed : int
        The random seed of shuffled and random orders and of the validation set.
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
        self._list: Order | None = None  # from which random epochs draw
        self.held_out: Order | None = None
        if order != "cyclic" or held_out:
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
            if order == "random":
                self._list = self._kept(shuffler.epoch(seed, _LIST))
        whole = self.epoch(first) if problem.weights is not None else self._train
        self.pool = problem.n if whole is None else len(whole)
        if self._list is not None:
            self.pool = len(self._list)

    def epoch(self, number: int) -> Order | None:
        """Return the rows of this epoch (from 0) in order, None for all rows as they stand.

        Those of a random epoch are the rows from which it draws.
        """
        if self._shuffler is None:
            return self._train
        return self._kept(self._shuffler.epoch(self._seed, number))

    def _kept(self, order: Order) -> Order:
        """Return the rows of an order that are not in the validation set."""
        return order if self._train is None else order[np.isin(order, self._train, assume_unique=True)]

    def plan(self, number: int, fold: int | str, *, most: int | None = None) -> EpochPlan:
        """Return what this epoch presents, in folds of this weight ("all": in one); ``most`` is for cut_by_weight.

        Folds of 1 are cut by weight only if it is given: the engines present a heavy example several times anyway.
        """
        rows, drawn = self.epoch(number), None
        if self._list is not None:
            drawn = self._list[draws(self.pool, self.pool, self._seed, number)]
        order = rows if drawn is None else drawn
        if self._weights is None or isinstance(fold, str) or (fold == 1 and most is None):
            return EpochPlan(rows, order, self.pool, drawn=drawn)
        order = np.arange(len(self._weights), dtype=np.uint32) if order is None else order
        entries, shares, edges = cut_by_weight(order, self._weights[order], fold, most=most or 1000)
        return EpochPlan(rows, entries, len(entries), shares, edges, drawn)

    def unvisited(self, problem: Problem) -> list[int] | None:
        """Return the rows that no epoch visits; None for all, where it is not known which it will visit."""
        if self._list is not None:
            return None
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
