"""Training on rows on disk: epoch after epoch, a group of pieces at a time.

An epoch takes the pieces of the file in a new order, a few of them from all over the file together, and the estimator
shuffles each group: a file that is sorted by class trains as well as a shuffled one, and memory holds one group.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.loop.interrupts import interrupts
from separatrix.loop.state import Status
from separatrix.stops import kept_errors
from separatrix.tables.disk import rowfile
from separatrix.tables.disk.rowfile import RowFile
from separatrix.tables.facts import TrainingProgress
from separatrix.text import times


def groups(file: RowFile, seed: int, epoch: int, *, shuffle: bool = True) -> list[list[tuple[int, int]]]:
    """Return the pieces of an epoch in their order, in groups that are in memory together."""
    held = 64  # pieces: enough for each group to have about the classes of the whole file
    pieces = file.cut(rowfile.GROUP // held)
    if shuffle:
        order = np.random.default_rng([seed, epoch]).permutation(len(pieces))
        pieces = [pieces[place] for place in order]
    return [pieces[begin : begin + held] for begin in range(0, len(pieces), held)]


class DiskTraining:
    """Trains an estimator on a file of rows.

    Parameters
    ----------
    estimator : object
        A classifier that can learn online; it is changed.
    file : RowFile
        The rows.
    classes : array
        All labels, by code.
    epochs, seed : int
        The number of epochs in all, and the random seed of their orders.
    until_no_mistakes : bool
        Whether a one-vs-rest problem is done after an epoch without mistakes.
    progress : TrainingProgress
        Where to begin, and later where training stands.
    mistakes : list of int
        The mistakes of each epoch so far.
    watch : callable, optional
        Called with the epoch (from 1) and what part of it is done.
    """

    def __init__(
        self,
        estimator: Any,
        file: RowFile,
        classes: NDArray[Any],
        *,
        epochs: int,
        seed: int,
        until_no_mistakes: bool,
        progress: TrainingProgress,
        mistakes: list[int],
        watch: Callable[[int, float], None] | None = None,
    ) -> None:
        self._estimator, self._file, self._classes = estimator, file, classes
        self._epochs, self._seed, self._until_no_mistakes = epochs, seed, until_no_mistakes
        self.progress, self.mistakes = progress, mistakes
        self._watch = watch

    def run(self, time_limit: float | None = None) -> Status:
        """Train until the epochs are over, the time is up, Ctrl-C, or no mistakes are left."""
        began = time.perf_counter()
        shuffle = bool(getattr(self._estimator, "shuffle", True))
        with interrupts() as pressed:
            while self.progress.epoch < self._epochs:
                epoch = self.progress.epoch
                every = groups(self._file, self._seed, epoch, shuffle=shuffle)
                for group in every[self.progress.group :]:
                    if pressed[0]:
                        return Status(f"interrupted in epoch {epoch + 1}", False, interrupted=True)
                    if time_limit is not None and time.perf_counter() - began >= time_limit:
                        made = times(self.progress.mistakes, "mistake")
                        limit = f"time limit of {time_limit:g} s reached in epoch {epoch + 1}"
                        return Status(f"stopped: {limit}, {made} while learning in it", False)
                    self._train(group)
                    if self._estimator.status_.diverged:
                        return self._estimator.status_  # type: ignore[no-any-return]
                    if self._watch is not None:
                        self._watch(epoch + 1, self.progress.group / len(every))
                self.mistakes.append(self.progress.mistakes)
                self.progress = TrainingProgress(epoch + 1)
                if self._until_no_mistakes and self.mistakes[-1] == 0:
                    return Status(f"converged: no mistakes (epoch {epoch + 1}){self._kept_errors(pressed)}", True)
        last = times(self.mistakes[-1] if self.mistakes else 0, "mistake")
        text = f"stopped: epoch limit of {self._epochs} reached, {last} while learning in the last epoch"
        return Status(text, False)

    def _kept_errors(self, pressed: list[bool]) -> str:
        """Return what to add about averaged weights, of which an epoch without mistakes says nothing."""
        readout = self._estimator.readout
        if readout == "last" and self._estimator.boundary != "correct":
            return ""
        wrong = total = 0
        for group in groups(self._file, self._seed, 0, shuffle=False):
            if pressed[0]:  # the model is whole; the count is not worth waiting for
                return f"; {readout} weights not checked on the training rows"
            X, labels, weights = self._file.read(group)
            counted = slice(None) if weights is None else weights > 0
            missed = (self._estimator._predict_codes(X) != labels)[counted]
            wrong, total = wrong + int(np.count_nonzero(missed)), total + len(missed)
        return f"; {kept_errors(f'{readout} weights', wrong, total)}" if wrong else ""

    def _train(self, group: list[tuple[int, int]]) -> None:
        X, labels, weights = self._file.read(group)
        self._estimator._partial_fit_codes(X, labels, self._classes, sample_weight=weights)
        made = sum(self._estimator.history_.mistakes)
        self.progress = replace(self.progress, group=self.progress.group + 1, mistakes=self.progress.mistakes + made)
