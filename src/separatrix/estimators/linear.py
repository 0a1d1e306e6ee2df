"""What the linear estimators share: weights and a bias for each one-vs-rest task, and most often a rule to learn them.

A subclass of ``RuleClassifier`` says which rule it runs (``_rule``), when it stops by itself (``_default_stop``) and
what it advises when it did not converge (``_advice``).
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from separatrix import _core
from separatrix.estimators.certified import Certified, FitRecord
from separatrix.estimators.classifier import Classifier
from separatrix.estimators.contract import parameter_names
from separatrix.estimators.fitting import threads
from separatrix.estimators.kept_errors import HiddenMistakes, count_exactly
from separatrix.estimators.one_vs_rest import carry_over, joint_status, positives
from separatrix.estimators.online import OnlineClassifier
from separatrix.geometry.device_rows import DeviceRows
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.engines import predicted_ties, ties
from separatrix.loop.order import order_of
from separatrix.loop.problem import Problem
from separatrix.loop.readouts import read
from separatrix.loop.solve import STARTS, new_state, solve_tasks
from separatrix.loop.state import State
from separatrix.models.validity import is_array, is_real, require
from separatrix.stops import NoMistakes, Stop, held_out_fraction


class LinearClassifier(Certified, Classifier):
    """Predicts with weights and a bias for each task; see the subclasses."""

    fit_intercept: bool
    intercept_scaling: float | str | None
    n_jobs: int | None
    _state: type  # the class of what each task keeps

    def _decide(self, rows: Rows) -> Floats:
        if isinstance(rows, DeviceRows):
            scores = rows.decide(self.coef_, self.intercept_)
            if not bool(rows.xp.all(rows.xp.isfinite(scores))):
                rows.check_finite()
            return cast(Floats, scores[:, 0] if scores.shape[1] == 1 else scores)
        activations = _core.decide(rows.matrix, self.coef_, self.intercept_, threads(self.n_jobs))
        if not np.isfinite(activations).all():
            rows.check_finite()
        return np.asarray(activations[:, 0] if activations.shape[1] == 1 else activations)

    def _remember(self, problem: Problem | None, given: Any, *, same_data: bool | None) -> None:
        if problem is None:
            self._fit_record = None
            return
        before = getattr(self, "_fit_record", None)
        kind: type = type(self)
        settings = {name: getattr(self, name) for name in parameter_names(kind)}
        one_run = same_data is None or (same_data and before is not None and before.goes_on_in(settings))
        self._fit_record = FitRecord(problem, given, settings, one_run=one_run)

    def _validate_weights(self, width: int, n_tasks: int) -> None:
        """Refuse weights and biases that are not of this shape."""
        require(
            is_array(self.coef_, "f8", (n_tasks, width), finite=True), "its coef_ are not finite weights of its shape"
        )
        require(
            is_array(self.intercept_, "f8", (n_tasks,), finite=True), "its intercept_ is not finite or of its shape"
        )

    def _validate_model(self, width: int, n_classes: int) -> None:
        n_tasks = len(positives(n_classes))
        self._validate_weights(width, n_tasks)
        self._validate_states(width, n_tasks, self._state)
        for state in self._states:
            require(0 <= state.positive < n_classes, "a state is of an unknown class")


class RuleClassifier(LinearClassifier, OnlineClassifier):
    """Learns its weights with a rule of the package; see the subclasses."""

    # What a subclass does not offer as a parameter.
    intercept_scaling: float | str | None = 1.0

    _rule_is_steady = True  # the rule does not depend on how much was learned from
    init: Any
    _state = State
    _states: list[State]
    _readout: str
    _bias_constant: float

    def _rule(self) -> Any:
        """Return the rule, or refuse its parameters."""
        raise TypeError(f"{type(self).__name__} names no rule")

    def _check_rule(self) -> None:
        self._rule()

    def _goes_on(self, problem: Problem) -> bool:
        return (
            super()._goes_on(problem)
            and self._readout == self.readout
            and (self._bias_constant > 0) == (problem.bias > 0)
        )

    def _check_continuation(self) -> None:
        if self._readout != self.readout:
            raise ValueError(
                f"readout is now {self.readout!r}, but what was learned so far was kept for {self._readout!r}: "
                "set it back, or start anew with fit"
            )

    def _grown(self, problem: Problem, seed: int) -> list[State]:
        states = copy.deepcopy(self._states)
        known = self.classes_
        if len(problem.classes) == len(known):
            return states
        start = self.init if isinstance(self.init, str) else "zeros"
        clock = states[0].clock
        return carry_over(
            states,
            known,
            problem.classes,
            lambda code: new_state(problem, code, start, readout=self.readout, seed=seed, clock=clock),
        )

    def _run(self, problem: Problem, states: list[State], stop: Stop, seed: int) -> None:
        self._assign_classes(states, len(problem.classes))
        with self._observed(states) as (history, observers):
            solutions = solve_tasks(
                problem, self._rule(), states, stop=stop, readout=self.readout, boundary=self.boundary,
                order=order_of(self.shuffle), batch_size=self.batch_size,
                reduction=self.reduction, seed=seed, n_jobs=threads(self.n_jobs), observers=observers,
                record=self.record, every=self.every, hidden_mistakes=self._hidden_mistakes(problem, stop),
            )  # fmt: skip
            self._spread.add_sample(problem.rows)
            for state in states:
                if state.voted_weights is not None:
                    state.voted_weights.extend(problem, state)
            for name, value in self._fitted(states).items():
                setattr(self, name, value)
            self._run_seed, self._readout, self._width = seed, self.readout, problem.d
            self._cut_short = any(state.ended is None or state.ended.cut for state in states)
            self._bias_constant = float(problem.bias)
            self.history_ = history
            self.n_iter_ = max(solution.n_epochs for solution in solutions)
            self.n_updates_ = sum(solution.n_updates for solution in solutions)
            self.status_ = joint_status(solutions, self.classes_)

    def _hidden_mistakes(self, problem: Problem, stop: Stop) -> HiddenMistakes | None:
        """Return what finds mistakes that rounding hides, for a run that is to make none with the weights it keeps."""
        whole = held_out_fraction(stop) == 0 and any(isinstance(part, NoMistakes) for part in stop.parts)
        if not (whole and self._loop_proves()):
            return None
        return HiddenMistakes(problem, ties(self.boundary), threads(self.n_jobs))

    def _assign_classes(self, states: list[State], n_classes: int) -> None:
        """Say which class each state is of."""
        for state, code in zip(states, positives(n_classes), strict=True):
            state.positive = code

    def _loop_proves(self) -> bool:
        return self._rule().threshold < math.inf and self.readout in ("last", "pocket") and self.boundary != "correct"

    def _count_exactly(self, problem: Problem, *, every_task: bool) -> tuple[int, int] | None:
        if self.readout == "voted" or not (every_task or len(self.classes_) == 2):
            return None
        sides = ties(self.boundary) if every_task else predicted_ties(self.boundary)
        return count_exactly(problem, self.coef_, self.intercept_, sides, threads(self.n_jobs))

    def _fitted(self, states: list[State]) -> dict[str, Any]:
        readings = [read(state, self.readout) for state in states]
        return super()._fitted(states) | {
            "coef_": np.vstack([weights for weights, _ in readings]).astype(np.float64, copy=False),
            "intercept_": np.hstack([bias for _, bias in readings]).astype(np.float64, copy=False),
        }

    def _start(self, problem: Problem, seed: int) -> list[State]:
        codes = positives(len(problem.classes))
        starts: Sequence[Any] = [self.init] * len(codes)
        if isinstance(self.init, str):
            if self.init not in STARTS:
                raise ValueError(f"init must be 'zeros', 'uniform' or (coef, intercept); found {self.init!r}")
        else:
            try:
                coef = np.atleast_2d(np.asarray(self.init[0], dtype=np.float64))
                intercept = np.atleast_1d(np.asarray(self.init[1], dtype=np.float64))
            except (TypeError, ValueError, IndexError):
                raise ValueError(f"init must be 'zeros', 'uniform' or (coef, intercept); found {self.init!r}") from None
            shapes = ((len(codes), problem.d), (len(codes),))
            if (coef.shape, intercept.shape) != shapes:
                raise ValueError(
                    f"init needs a coef of shape {shapes[0]} and an intercept of shape {shapes[1]}; "
                    f"found {coef.shape} and {intercept.shape}"
                )
            starts = list(zip(coef, intercept.tolist(), strict=True))
        return [
            new_state(problem, code, start, readout=self.readout, seed=seed)
            for code, start in zip(codes, starts, strict=True)
        ]

    def _bias_for(self, later: bool) -> float | str | None:
        return self._bias_constant if later and self.intercept_scaling == "ball" else self._bias()

    def _bias(self) -> float | str | None:
        """Return the bias constant K, or how to find it."""
        if not self.fit_intercept:
            return None
        scaling = self.intercept_scaling
        if isinstance(scaling, str) and scaling == "ball":
            return scaling
        if (
            isinstance(scaling, str | bool)
            or not isinstance(scaling, int | float | np.number)
            or not 0 < scaling < 1e150
        ):
            raise ValueError(f"intercept_scaling must be 'ball' or a positive number below 1e150; found {scaling!r}")
        return float(scaling)

    def _validate_model(self, width: int, n_classes: int) -> None:
        super()._validate_model(width, n_classes)
        self._validate_kept(width)

    def _validate_kept(self, width: int) -> None:
        """Refuse states that do not keep what the readout needs."""
        readout, constant = self._readout, self._bias_constant
        require(readout in ("last", "averaged", "voted", "pocket"), "its readout is unknown")
        require(is_real(constant) and 0 <= constant < math.inf, "its bias constant is not a number")
        voted, spreads = readout == "voted", getattr(self._rule(), "spread", False)
        for state in self._states:
            require(state.weights.shape[-1] == width, "a state has weights of the wrong number")
            averaged = state.average_correction is not None
            require(averaged == (readout in ("averaged", "voted")), "a state keeps no average")
            require((state.spread is not None) == spreads, "a state keeps no spread, or one that it cannot have")
            require((state.pocket is not None) == (readout == "pocket"), "a state keeps no pocket")
            votes = (state.voted_weights is not None) == voted and (state.votes is not None) == voted
            require(votes, "a state keeps no votes")
            if voted:
                start, rows = state.voted_weights.start[0], state.voted_weights.rows
                fits = state.votes == [] and len(start) == width and (rows is None or rows.shape[1] == width)
                require(fits, "the voted weights are of other data")
