"""Estimators whose classes can be learned together: ``multi_class="joint"`` beside one-vs-rest."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificates.data import Data
from separatrix.certificates.joint import JointPlanes, joint_certificate, measure_joint
from separatrix.certificates.model import PlaneMeasures
from separatrix.estimators.certified import FitRecord, no_bound, within_bound
from separatrix.estimators.fitting import threads
from separatrix.estimators.kept_errors import HiddenMistakes
from separatrix.estimators.linear import RuleClassifier
from separatrix.geometry.rows import Floats, Rows
from separatrix.loop.engines import predicted_ties, ties
from separatrix.loop.joint import JointState, check_joint, from_binary, grown, joint_state
from separatrix.loop.problem import Labels, Problem
from separatrix.loop.readouts import read
from separatrix.loop.state import State
from separatrix.models.validity import require
from separatrix.stops import Stop

MULTI_CLASS = ("ovr", "joint")


class Theorem(NamedTuple):
    """A bound on the mistakes of a run: those made, and the bound times gamma^2 as a function of R^2."""

    made: int
    factor: Callable[[float], float]


class JointClassifier(RuleClassifier):
    """Learns more than two classes each against the rest, or together; see the subclasses."""

    multi_class: str

    def _theorem(self, record: FitRecord, state: State) -> Theorem | str:
        """Return the bound on the mistakes of the run, or why the theorem does not apply."""
        return "no theorem is known for this model"

    @property
    def _joint(self) -> JointState | None:
        """The state of classes that were learned together; None for one-vs-rest."""
        first = self._states[0]
        return first if isinstance(first, JointState) else None

    @property
    def _learned_together(self) -> bool:
        return self._joint is not None

    def _is_joint(self, n_classes: int) -> bool:
        """Whether so many classes are learned together. Two have one plane either way."""
        return self.multi_class == "joint" and n_classes > 2

    # ------------------------------------------------------------------------------------------ checks

    def _check_rule(self) -> None:
        super()._check_rule()
        if not (isinstance(self.multi_class, str) and self.multi_class in MULTI_CLASS):
            raise ValueError(f"multi_class must be 'ovr' or 'joint'; found {self.multi_class!r}")

    def _check_if_joint(self, problem: Problem) -> bool:
        """Return whether the classes are learned together; refuse choices that then have no meaning."""
        if not self._is_joint(len(problem.classes)):
            return False
        check_joint(self._rule(), readout=self.readout, boundary=self.boundary, batch_size=self.batch_size)
        return True

    def _goes_on(self, problem: Problem) -> bool:
        return super()._goes_on(problem) and (self._joint is not None) == self._is_joint(len(problem.classes))

    def _check_continuation(self) -> None:
        super()._check_continuation()
        kept = "joint" if self._joint is not None else "ovr"
        if len(self.classes_) > 2 and self.multi_class != kept:
            raise ValueError(
                f"multi_class is now {self.multi_class!r}, but what was learned so far was learned with {kept!r}: set "
                "it back, or start anew with fit"
            )

    # ------------------------------------------------------------------------------------------ learning

    def _start(self, problem: Problem, seed: int) -> list[State]:
        joint = self._check_if_joint(problem)
        states = super()._start(problem, seed)
        return [joint_state(problem, states, readout=self.readout)] if joint else states

    def _grown(self, problem: Problem, seed: int) -> list[State]:
        if not self._check_if_joint(problem):
            return super()._grown(problem, seed)
        (state,) = copy.deepcopy(self._states)
        n_classes, places = len(problem.classes), np.searchsorted(problem.classes, self.classes_).tolist()
        if not isinstance(state, JointState):
            return [from_binary(state, self._rule(), places, n_classes)]
        return [state] if len(places) == n_classes else [grown(state, places, n_classes)]

    def _assign_classes(self, states: list[State], n_classes: int) -> None:
        if not self._is_joint(n_classes):
            super()._assign_classes(states, n_classes)

    def _hidden_mistakes(self, problem: Problem, stop: Stop) -> HiddenMistakes | None:
        return None if self._is_joint(len(problem.classes)) else super()._hidden_mistakes(problem, stop)

    def _joins_tasks(self) -> bool:
        return len(self._states) > 1

    def _count_exactly(self, problem: Problem, *, every_task: bool) -> tuple[int, int] | None:
        if self._joint is None:
            return super()._count_exactly(problem, every_task=every_task)
        sides = ties(self.boundary) if every_task else predicted_ties(self.boundary)
        rows, codes = _counted(problem.rows, problem.codes, problem.weights)
        planes = JointPlanes("the model", self.coef_, self.intercept_)
        wrong = measure_joint(rows, codes, planes, sides, threads(self.n_jobs)).wrong
        return int(np.count_nonzero(wrong)), len(wrong)

    # ------------------------------------------------------------------------------------------ what is proved

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        theorem = self._theorem(record, self._states[which])
        if isinstance(theorem, str):
            return no_bound(self._states[which].all_mistakes, theorem)
        return within_bound(data, theorem.made, self._bias_constant, theorem.factor)

    def _certificates(self, record: FitRecord, rows: Rows) -> Any:
        state = self._joint
        if state is None:
            return super()._certificates(record, rows)
        part, codes = _counted(rows, record.codes, record.weights)
        theorem = self._theorem(record, state)
        last = JointPlanes("the last weights of the run", *read(state, "last"))
        name = "the weights of the model" if self.readout != "last" else last.source
        return joint_certificate(
            type(self).__name__, part, Labels(self.classes_, codes), JointPlanes(name, self.coef_, self.intercept_),
            constant=self._bias_constant, mistakes=theorem.made if isinstance(theorem, Theorem) else state.all_mistakes,
            factor=theorem.factor if isinstance(theorem, Theorem) else theorem,
            others=() if self.readout == "last" else (last,),
        )  # fmt: skip

    # ------------------------------------------------------------------------------------------ files

    def _validate_model(self, width: int, n_classes: int) -> None:
        states: Any = vars(self).get("_states")
        if not (isinstance(states, list) and states and isinstance(states[0], JointState)):
            super()._validate_model(width, n_classes)
            return
        self._validate_weights(width, n_classes)
        self._validate_states(width, 1, JointState)
        require(states[0].weights.shape == (n_classes, width), "its state is of other classes")
        self._validate_kept(width)


def _counted(rows: Rows, codes: Any, weights: Floats | None) -> tuple[Rows, Any]:
    """Return the rows of positive weight, and their codes."""
    if weights is None or bool((weights > 0).all()):
        return rows, codes
    kept = np.flatnonzero(weights > 0)
    return Rows(rows.values[kept]), codes[kept]
