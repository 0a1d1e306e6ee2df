"""What the estimators share that keep a spread of the weights; see :class:`separatrix.rules.Spreading`."""

from __future__ import annotations

import math
from typing import Any

from separatrix.certificates.data import Data
from separatrix.certificates.model import MistakeBound, PlaneMeasures
from separatrix.estimators.certified import FitRecord
from separatrix.estimators.fitting import number
from separatrix.estimators.linear import RuleClassifier
from separatrix.geometry.rows import Floats
from separatrix.loop.problem import Problem
from separatrix.stops import NoProgress, Stop


class SpreadingClassifier(RuleClassifier):
    """Learns weights with a spread; see the subclasses."""

    init = "zeros"
    average: bool
    covariance: str

    @property
    def readout(self) -> str:  # type: ignore[override]
        """Which weights of a run become the model."""
        return "averaged" if self.average else "last"

    def _default_stop(self) -> Stop | None:
        return NoProgress()

    def _watch_mark(self) -> tuple[Any, ...]:
        return (repr(self._rule()),)

    def _goes_on(self, problem: Problem) -> bool:
        return super()._goes_on(problem) and self._same_covariance()

    def _check_continuation(self) -> None:
        super()._check_continuation()
        if not self._same_covariance():
            raise ValueError(
                f"covariance is now {self.covariance!r}, but what was learned so far has the other form: set it back, "
                "or start anew with fit"
            )

    def _same_covariance(self) -> bool:
        spread = self._states[0].spread
        return spread is not None and (spread.ndim == 2) == (self.covariance == "full")

    def _claims(
        self, record: FitRecord, data: Data, which: int, weights: Floats, bias: float, measured: PlaneMeasures
    ) -> dict[str, Any]:
        if not record.one_run:
            return {}
        return {"mistakes": MistakeBound(self._states[which].all_mistakes, math.inf, self._unproved(record))}

    def _unproved(self, record: FitRecord) -> str:
        """Return why there is no bound on the mistakes."""
        return f"no theorem is known for {type(self).__name__}"


def positive(name: str, value: Any, *, infinite: bool = False) -> float:
    """Return a parameter that is a factor, or refuse one whose products might overflow."""
    found = number(name, value)
    if not (1e-150 <= found <= 1e150 or (infinite and found == math.inf)):
        more = ", or infinity" if infinite else ""
        raise ValueError(f"{name} must be a positive number from 1e-150 to 1e150{more}; found {value!r}")
    return found
