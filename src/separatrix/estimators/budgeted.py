"""A budget for the examples that a kernel perceptron stores, and with it ``partial_fit``."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.model import BudgetCertificate, MistakeBound
from separatrix.estimators.contract import validate_data
from separatrix.estimators.fitting import count, encoded, expected, joined, undone_on_error, weigh_classes
from separatrix.estimators.kernelled import KernelClassifier
from separatrix.estimators.one_vs_rest import carry_over, positives
from separatrix.estimators.online import OnlineClassifier
from separatrix.geometry.kernel_cache import KernelCache
from separatrix.geometry.kernels import Kernel
from separatrix.geometry.rows import Rows, stacked
from separatrix.loop.order import seed_of, start_of
from separatrix.loop.problem import Labels, Problem, check_weights
from separatrix.loop.state import State, Status
from separatrix.loop.support_set import FORGETS, SupportSet
from separatrix.models.validity import is_array, is_count, require
from separatrix.stops import MaxEpochs, Stop

_LARGEST_SEED = 2**64 - 1


class BudgetedClassifier(KernelClassifier):
    """A kernel perceptron that may have a budget; see the subclass."""

    budget: int | None
    forget: str
    readout: str
    random_state: Any
    bias: float | str | None
    alpha_: NDArray[Any]
    bias_constant_: float
    status_: Status
    _states: list[State]
    _run_seed: int

    def _learn(
        self, problem: Problem, kernel: Kernel, cache: KernelCache, states: list[State], stop: Stop, seed: int
    ) -> Any:
        raise NotImplementedError

    def _constant(self, cache: KernelCache, problem: Problem) -> float:
        raise NotImplementedError

    # ------------------------------------------------------------------------------------------ the budget

    def _check_budget(self) -> None:
        """Refuse a budget, a way to forget or a readout that cannot be meant."""
        if not isinstance(self.forget, str) or self.forget not in FORGETS:
            raise ValueError(f"forget must be one of {', '.join(FORGETS)}; found {self.forget!r}")
        if self.budget is None:
            return
        if isinstance(self.budget, bool) or not isinstance(self.budget, int | np.integer) or self.budget < 1:
            raise ValueError(f"budget must be None or a whole number of at least 1; found {self.budget!r}")
        if self.readout == "last" or (self.readout == "averaged" and self.forget == "projected"):
            return
        raise ValueError(
            "with a budget readout must be 'last', or 'averaged' with forget='projected': any other would store "
            f"examples beyond the budget; found {self.readout!r} with forget={self.forget!r}"
        )

    def _new_state(self, problem: Problem, code: int, seed: int, clock: Any = 0.0) -> State:
        state = State.new(code, np.zeros(problem.n), 0.0, readout=self.readout, clock=clock)
        if self.budget is not None:
            state.support = SupportSet.new(count("budget", self.budget), self.forget, start_of(seed, code))
        return state

    def _keep_states(self, states: list[State], seed: int) -> None:
        """Keep what ``partial_fit`` goes on from."""
        for name in ("_states", "_run_seed"):
            if name in vars(self):
                delattr(self, name)
        if self.budget is not None:
            self._states, self._run_seed = states, seed

    def _validate_states(self, n_tasks: int, n_support: int) -> None:
        if self.budget is None:
            require("_states" not in vars(self), "it keeps states without a budget")
            return
        states: Any = vars(self).get("_states")
        require(type(states) is list and len(states) == n_tasks, "its states are not one for each task")
        require(is_count(vars(self).get("_run_seed"), 0, _LARGEST_SEED), "its seed is not a whole number")
        for state in states:
            fits = type(state) is State and is_array(state.weights, "f8", (n_support,), finite=True)
            require(fits and state.support is not None, "a state stores no examples, or others than the model")
            require(state.support.forget == self.forget, "a state forgets in another way")
            averaged = state.average_correction is not None
            require(averaged == (self.readout == "averaged"), "a state keeps no average")
            require(state.pocket is None and state.votes is None, "a state keeps what a budget has no room for")

    @property
    def certificate_(self) -> Any:
        """Mistakes of the run, one number or a dict by class, and why they have no bound; only with a budget."""
        if self.budget is None or not hasattr(self, "_states"):
            raise AttributeError("certificate_ of a kernel perceptron needs a fit with a budget")
        if self.forget == "oldest":
            why = "the Forgetron's theorem compares the run with a plane of limited length, and none is known"
        else:
            why = f"no theorem that can be checked is known for forget={self.forget!r}"
        bounds = [MistakeBound(state.all_mistakes, math.inf, why) for state in self._states]
        kept = [BudgetCertificate(type(self).__name__, bound) for bound in bounds]
        return kept[0] if len(kept) == 1 else dict(zip(self.classes_.tolist(), kept, strict=True))

    # ------------------------------------------------------------------------------------------ online

    @property
    def partial_fit(self) -> Callable[..., Any]:
        """Learn online, one epoch over new examples from where the last call stopped; only with a budget.

        The kernel ("scale" and "auto" too) and the bias constant are those of the first call.

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

        Examples
        --------
        >>> from separatrix import KernelPerceptron
        >>> model = KernelPerceptron(kernel="linear", bias=1.0, budget=2)
        >>> for x, label in [(3.0, 1), (-1.0, 0), (2.0, 1), (-2.0, 0), (1.0, 1)]:
        ...     model = model.partial_fit([[x]], [label], classes=[0, 1])
        >>> model.predict([[4.0], [-4.0]]).tolist(), len(model.support_vectors_) <= 2
        ([1, 0], True)
        """
        if self.budget is None:
            raise AttributeError("partial_fit needs a budget: without one the examples of all mistakes would be stored")
        return self._partial_fit

    def _partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> Any:
        labels = expected(encoded(self, y), classes)
        return self._partial_fit_codes(X, labels.codes, labels.classes, sample_weight)

    def _partial_fit_codes(self, X: Any, codes: Any, classes: NDArray[Any], sample_weight: Any = None) -> Any:
        """Do what ``partial_fit`` does for labels that are places in the sorted ``classes``, seen or expected."""
        self._check_numbers()
        kernel = self._check_kernel()
        if kernel.precomputed:
            raise ValueError(
                "partial_fit compares new rows with stored ones, which kernel='precomputed' cannot: use fit"
            )
        if isinstance(self.class_weight, str):
            raise ValueError("class_weight='balanced' needs all examples at once; give partial_fit a dict of weights")
        with undone_on_error(self):
            first = not hasattr(self, "_states")
            rows, labels = Rows(X), Labels(classes, np.asarray(codes, dtype=np.int32))
            validate_data(self, X, reset=first, skip_check_array=True)
            if first:
                problem = Problem(rows, labels, sample_weight=sample_weight, bias=None)
                original = problem.weights
            else:
                kernel = self._known_kernel(kernel)
                problem = self._with_stored(rows, joined(labels, self.classes_), sample_weight)
            weigh_classes(problem, self.class_weight)
            if first:
                kernel = kernel.for_rows(problem.rows, original)
            cache = KernelCache(kernel, problem.rows, self.cache_size, np.float64)
            problem.bias = self._constant(cache, problem) if first else self.bias_constant_
            seed = seed_of(self.random_state) if first else self._run_seed
            states = self._states_for(problem, rows.shape[0], seed)
            self._learn(problem, kernel, cache, states, MaxEpochs(1), seed)
            self.alpha_, self.support_ = self.alpha_[..., self.support_], np.arange(len(self.support_))
            if not self.status_.interrupted:
                self.status_ = OnlineClassifier._online_status(rows.shape[0], states)
        if self.status_.interrupted:
            raise KeyboardInterrupt
        return self

    def _known_kernel(self, kernel: Kernel) -> Kernel:
        """Return the kernel of what was learned so far; refuse parameters with which that cannot go on."""
        known, support = self._kernel, self._states[0].support
        assert support is not None
        if isinstance(kernel.gamma, str):
            kernel = replace(kernel, gamma=known.gamma)
        constant = self.bias_constant_ if self.bias == "ball" else float(self.bias or 0.0)
        averaged = self._states[0].average_correction is not None
        most = max(len(state.support.stored) for state in self._states if state.support is not None)
        for name, same in (
            ("kernel, gamma, degree or coef0", kernel == known),
            ("bias", constant == self.bias_constant_),
            ("forget", self.forget == support.forget),
            ("readout", averaged == (self.readout == "averaged")),
            ("budget", count("budget", self.budget) >= most),
        ):
            if not same:
                what = "is smaller than what is stored" if name == "budget" else "differs from what was learned with"
                raise ValueError(f"{name} {what} so far: set it back, or start anew with fit")
        return known

    def _with_stored(self, rows: Rows, labels: Labels, sample_weight: Any) -> Problem:
        """Return the new examples and, with weight 0, those that are stored."""
        weights = check_weights(sample_weight, rows.shape[0])
        stored = self.support_vectors_.shape[0]
        weights = np.ones(rows.shape[0]) if weights is None else weights
        rows.check_finite()
        codes = np.concatenate([labels.codes, np.zeros(stored, dtype=np.int32)])
        together = Rows(stacked(rows.values, self.support_vectors_)) if stored else rows
        return Problem(
            together, Labels(labels.classes, codes), sample_weight=np.append(weights, np.zeros(stored)), bias=None
        )

    def _states_for(self, problem: Problem, n_new: int, seed: int) -> list[State]:
        """Return the states of the tasks, about the rows of the problem: the new ones and then the stored ones."""
        codes = positives(len(problem.classes))
        if not hasattr(self, "_states"):
            return [self._new_state(problem, code, seed) for code in codes]
        states, clock = copy.deepcopy(self._states), self._states[0].clock
        for state in states:
            state.begin_again()
            state.new_data = True
            state.weights = np.append(np.zeros(n_new), state.weights)
            if state.average_correction is not None:
                state.average_correction = np.append(np.zeros(n_new), state.average_correction)
            if state.support is not None:
                state.support.stored += n_new
                state.support.budget = count("budget", self.budget)
        states = carry_over(
            states, self.classes_, problem.classes, lambda code: self._new_state(problem, code, seed, clock)
        )
        for state, code in zip(states, codes, strict=True):
            state.positive = code
        return states
