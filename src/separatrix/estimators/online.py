"""Online learning: one epoch over new examples, from where the last call stopped."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.classifier import Classifier
from separatrix.estimators.contract import with_callbacks
from separatrix.estimators.fitting import encoded, expected, undone_on_error
from separatrix.geometry.moments import Moments
from separatrix.loop.order import seed_of
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.state import Status
from separatrix.stops import MaxEpochs
from separatrix.text import times

Self = TypeVar("Self", bound="OnlineClassifier")


class OnlineClassifier(Classifier):
    """An estimator with ``partial_fit``."""

    def _grown(self, problem: Problem, seed: int) -> list[Any]:
        """Return copies of the states, with room for classes that have just appeared."""
        raise TypeError(f"{type(self).__name__} cannot learn new classes")

    def _check_continuation(self) -> None:
        """Refuse parameters with which what was learned so far cannot go on."""

    @with_callbacks  # type: ignore[untyped-decorator, unused-ignore]
    def partial_fit(self: Self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Self:
        """Learn online: one epoch over these examples, from where the last call stopped.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_samples, n_features)
            The new examples.
        y : sequence of n_samples labels
            Their classes; a class may be seen here for the first time.
        classes : sequence, optional
            Classes to expect, not needed: those of ``y`` must then be among them.
        sample_weight : sequence of n_samples floats, optional
            Weight of each example.

        Returns
        -------
        self
            This estimator.
        """
        labels = expected(encoded(self, y), classes)
        return self._partial_fit_codes(X, labels.codes, labels.classes, sample_weight)

    def _partial_fit_codes(self: Self, X: Any, codes: Any, classes: NDArray[Any], sample_weight: Any = None) -> Self:
        """Do what ``partial_fit`` does for labels that are places in the sorted ``classes``, seen or expected."""
        self._check_parameters()
        if isinstance(self.class_weight, str):
            raise ValueError("class_weight='balanced' needs all examples at once; give partial_fit a dict of weights")
        with undone_on_error(self):
            first = not hasattr(self, "_states")
            if not first:
                self._check_continuation()
            labels = Labels(classes, np.asarray(codes, dtype=np.int32))
            problem = self._problem(X, labels, sample_weight, online=True)
            if first:
                seed = seed_of(self.random_state)
                states = self._start(problem, seed)
                self._spread = Moments(problem.d)
            else:
                seed = self._run_seed
                states = self._grown(problem, seed)
            for state in states:
                state.begin_again()
                state.new_data = True
            self.classes_ = problem.classes
            self._run(problem, states, MaxEpochs(1), seed)
            self._data_mark = None
            self._remember(None, None, same_data=False)
            if not (self.status_.interrupted or self.status_.diverged):
                self.status_ = self._online_status(problem.n, states)
        if self.status_.diverged:
            self._warn()
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    @staticmethod
    def _online_status(n: int, states: list[Any]) -> Status:
        """Return what was learned from and the mistakes; of the weights that are kept now it says nothing."""
        return OnlineClassifier._told(n, sum(state.mistakes for state in states), len(states))

    @staticmethod
    def _told(n: int, mistakes: int, n_tasks: int) -> Status:
        among = f" in {n_tasks} one-vs-rest problems" if n_tasks > 1 else ""
        text = f"learned online from {times(n, 'example')} with {times(mistakes, 'mistake')}{among}"
        return Status(f"{text}, each counted before learning from it", True)
