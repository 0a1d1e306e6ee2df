"""Learning from rows on disk: epoch after epoch, some pieces at a time.

An epoch takes the pieces of the file in a new order, a few of them from all over the file together, and the estimator
shuffles what it is given: so a file that is sorted by class teaches as well as a mixed one, and memory holds only
what is being learned from.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.loop.solve import interrupts
from separatrix.loop.state import Status
from separatrix.tables.disk.rowfile import RowFile
from separatrix.text import times

PIECE = 1 << 20  # bytes of rows that lie together
HELD = 16  # pieces in memory at once


@dataclass
class Place:
    """Where a run stands: epochs done, groups of pieces done in this one, mistakes in it so far."""

    epoch: int = 0
    group: int = 0
    mistakes: int = 0

    @classmethod
    def of(cls, facts: Any) -> Place:
        """Return the place that a model file tells, or refuse it."""
        names = ("epoch", "group", "mistakes")
        if not (isinstance(facts, dict) and set(facts) == set(names)):
            raise ValueError("--resume: the model does not say where its run stands")
        if not all(type(facts[name]) is int and facts[name] >= 0 for name in names):
            raise ValueError("--resume: the model does not say where its run stands")
        return cls(**facts)


def groups(file: RowFile, seed: int, epoch: int, *, shuffle: bool = True) -> list[list[tuple[int, int]]]:
    """Return the pieces of an epoch in their order, in groups that are in memory together."""
    pieces = file.cut(PIECE)
    if shuffle:
        order = np.random.default_rng([seed, epoch]).permutation(len(pieces))
        pieces = [pieces[place] for place in order]
    return [pieces[begin : begin + HELD] for begin in range(0, len(pieces), HELD)]


def train(
    estimator: Any,
    file: RowFile,
    classes: NDArray[Any],
    *,
    epochs: int,
    seed: int,
    place: Place,
    time_limit: float | None = None,
    until_no_mistakes: bool,
    watch: Callable[[int, float], None] | None = None,
    history: list[int] | None = None,
) -> Status:
    """Learn until the epochs are over, the time is up, Ctrl-C, or an epoch made no mistake.

    Parameters
    ----------
    estimator : object
        Has ``partial_fit``; it is changed.
    file : RowFile
        The rows.
    classes : array
        All labels, by code.
    epochs, seed : int
        How many epochs in all, and where their orders come from.
    place : Place
        Where to begin; it is changed as the run goes on.
    time_limit : float, optional
        Seconds.
    until_no_mistakes : bool
        Whether an epoch without mistakes is the end.
    watch : callable, optional
        Told the epoch (from 1) and what part of it is done.
    history : list, optional
        The mistakes of each epoch are added to it.
    """
    began, made = time.perf_counter(), 0
    shuffle = bool(getattr(estimator, "shuffle", True))
    with interrupts() as pressed:
        while place.epoch < epochs:
            every = groups(file, seed, place.epoch, shuffle=shuffle)
            for group in every[place.group :]:
                if pressed[0]:
                    text = f"interrupted in epoch {place.epoch + 1}; the model is the last so far"
                    return Status(text, False, interrupted=True)
                if time_limit is not None and time.perf_counter() - began >= time_limit:
                    where = f"in epoch {place.epoch + 1}, with {times(place.mistakes, 'mistake')} in it"
                    return Status(f"stopped by the time limit of {time_limit:g} s {where}", False)
                X, labels, weights = file.read(group)
                estimator.partial_fit(X, classes[labels], classes=classes, sample_weight=weights)
                if estimator.status_.diverged:
                    return estimator.status_  # type: ignore[no-any-return]
                place.mistakes += sum(estimator.history_.mistakes)
                place.group += 1
                if watch is not None:
                    watch(place.epoch + 1, place.group / len(every))
            made, place.mistakes, place.group = place.mistakes, 0, 0
            place.epoch += 1
            if history is not None:
                history.append(made)
            if until_no_mistakes and made == 0:
                return Status(f"no mistakes in epoch {place.epoch}", True)
    return Status(f"stopped after {times(place.epoch, 'epoch')} with {times(made, 'mistake')} in the last", False)
