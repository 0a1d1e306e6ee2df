"""Which rows are the test set: drawn by a seed, each class keeping its share, whether rows are in memory or on disk.

The rows are those of scikit-learn's ``train_test_split`` with the same seed; the only row of a class, which it refuses,
is for training. The memory is one byte a row, and the labels may come in blocks. Instead of by lot, the test set may be
the last rows by a time, or whole groups.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.split_column import SplitBy

Counts = NDArray[np.int64]
Mask = NDArray[np.bool_]


class TestSplit:
    """A test set of rows whose labels come in blocks, in the order of the rows.

    Parameters
    ----------
    counts : array
        How many rows each class has, by code.
    test : float
        The fraction of rows in the test set; 0 for none.
    seed : int
        Decides which rows are drawn.

    Examples
    --------
    >>> labels = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 1], dtype=np.int32)
    >>> split = TestSplit(np.bincount(labels), 0.2, seed=0)
    >>> [mask.astype(int).tolist() for mask in split.masks([labels[:6], labels[6:]])]
    [[0, 0, 0, 0, 0, 0], [0, 1, 1, 0]]
    """

    __test__ = False  # for pytest, which takes the name for a test

    def __init__(self, counts: Counts, test: float, seed: int) -> None:
        self._counts = np.asarray(counts, dtype=np.int64)
        n = int(self._counts.sum())
        self.n_test = int(np.ceil(n * test)) if test else 0
        self._drawn: Mask | None = None  # by class and row within the class; not stratified: by row
        self.stratified = False
        if not self.n_test:
            return
        n_train = n - self.n_test
        if n_train < 2:
            raise ValueError(f"{n} rows are too few for --test {test:g}: use --test 0")
        # The only row of a class is for training.
        several = np.flatnonzero(self._counts >= 2)
        there = self._counts[several]
        n_train -= int(np.count_nonzero(self._counts == 1))
        self.stratified = min(self.n_test, n_train) >= max(len(there), 1)
        rng = np.random.RandomState(seed)
        self._drawn = np.zeros(n, dtype=bool)
        if not self.stratified:
            self._drawn[rng.permutation(n)[: self.n_test]] = True
            return
        train = _shares(there, n_train, rng)
        held = _shares(there - train, self.n_test, rng)
        begins = (np.cumsum(self._counts) - self._counts)[several]
        for begin, count, first, taken in zip(
            begins.tolist(), there.tolist(), train.tolist(), held.tolist(), strict=True
        ):
            self._drawn[begin + rng.permutation(count)[first : first + taken]] = True

    def masks(self, labels: Iterable[NDArray[np.int32]]) -> Iterator[Mask]:
        """Yield for each block of labels, by code, which of its rows are in the test set."""
        after = np.concatenate([[0], np.cumsum(self._counts)[:-1]])  # where the next row of each class is in _drawn
        row = 0
        for block in labels:
            if self._drawn is None:
                yield np.zeros(len(block), dtype=bool)
            elif not self.stratified:
                yield self._drawn[row : row + len(block)]
            else:
                order = np.argsort(block, kind="stable")
                seen = np.bincount(block, minlength=len(after))
                rank = np.arange(len(block)) - np.repeat(np.cumsum(seen) - seen, seen)
                mask = np.empty(len(block), dtype=bool)
                mask[order] = self._drawn[np.repeat(after, seen) + rank]
                after += seen
                yield mask
            row += len(block)

    def rows(self, labels: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows to train on and those of the test set, where all labels are in memory."""
        mask = next(self.masks([labels]))
        return np.flatnonzero(~mask), np.flatnonzero(mask)


class GivenSplit:
    """A test set of known rows in memory.

    Parameters
    ----------
    test : array of bool
        Which rows are in the test set.
    """

    def __init__(self, test: Mask) -> None:
        self._test = test
        self.n_test = int(np.count_nonzero(test))

    def rows(self, labels: NDArray[np.int32]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return the rows to train on and those of the test set."""
        return np.flatnonzero(~self._test), np.flatnonzero(self._test)


def split_by(by: SplitBy, order: Any, test: float, seed: int) -> GivenSplit:
    """Return the test set of rows with these times or groups."""
    mask = last_rows(order, test) if by.kind == "time" else whole_groups(order, test, seed)
    return GivenSplit(mask)


def last_rows(order: NDArray[np.float64], test: float) -> Mask:
    """Return which rows are the last by a time or number: about the fraction ``test``, rows of one time together.

    Examples
    --------
    >>> last_rows(np.array([3.0, 1.0, 2.0, 3.0, 0.0]), 0.2).astype(int).tolist()
    [1, 0, 0, 1, 0]
    """
    if not test:
        return np.zeros(len(order), dtype=bool)
    times, counts = np.unique(order, return_counts=True)
    if len(times) < 2:
        raise ValueError("--split time: every row has the same time, so none is later; use another column, or --test 0")
    later = np.cumsum(counts[::-1])[::-1][1:]  # how many rows are of each time or later, but for the first
    nearest = int(np.argmin(np.abs(later - test * len(order))))
    return np.asarray(order >= times[1 + nearest])


def whole_groups(groups: NDArray[np.float64], test: float, seed: int) -> Mask:
    """Return which rows are of the groups drawn for the test set, as scikit-learn's ``GroupShuffleSplit`` draws them.

    Examples
    --------
    >>> whole_groups(np.array([0.0, 0.0, 1.0, 2.0, 2.0]), 0.4, seed=0).astype(int).tolist()
    [0, 0, 1, 1, 1]
    """
    mask = np.zeros(len(groups), dtype=bool)
    if not test:
        return mask
    from sklearn.model_selection import GroupShuffleSplit

    if len(np.unique(groups)) < 2:
        raise ValueError("--split group: every row is of the same group; use another column, or --test 0")
    _, drawn = next(GroupShuffleSplit(1, test_size=test, random_state=seed).split(mask, groups=groups))
    mask[drawn] = True
    return mask


def _shares(counts: Counts, n: int, rng: np.random.RandomState) -> Counts:
    """Return how many of ``n`` draws each class gets: its share rounded down, the rest by remainder, ties by lot."""
    exact = counts / counts.sum() * n
    shares = np.floor(exact)
    left = int(n - shares.sum())
    remainder = exact - shares
    for value in np.unique(remainder)[::-1]:
        if not left:
            break
        tied = np.flatnonzero(remainder == value)
        taken = rng.choice(tied, size=min(len(tied), left), replace=False)
        shares[taken] += 1
        left -= len(taken)
    return np.asarray(shares, dtype=np.int64)
