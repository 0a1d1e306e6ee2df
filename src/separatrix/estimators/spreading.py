"""What the estimators share that keep a spread of the weights; see :class:`separatrix.rules.Spreading`."""

from __future__ import annotations

import math
from typing import Any

from separatrix.certificates.data import Data
from separatrix.certificates.model import MistakeBound, PlaneMeasures
from separatrix.certificates.second_order import arow_bound
from separatrix.estimators.certified import FitRecord, no_bound
from separatrix.estimators.fitting import number
from separatrix.estimators.own_step import OwnStepClassifier, updates_of
from separatrix.geometry.rows import Floats
from separatrix.loop.problem import Problem


class SpreadingClassifier(OwnStepClassifier):
    """Learns weights with a spread; see the subclasses."""

    covariance: str
    _theorem_about: str | None = None  # the parameter r of :func:`arow_bound`, which holds for a full covariance

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
        """The theorem is about a full covariance, and about runs from zero over examples as they are."""
        state = self._states[which]
        mistakes = state.all_mistakes
        if self._theorem_about is None or record.settings["covariance"] != "full":
            return no_bound(mistakes, self._unproved(record))
        if why := record.not_plain():
            return no_bound(mistakes, why)
        made = updates_of(state, record)
        factor = float(record.settings[self._theorem_about])
        allowed = arow_bound(data, weights, bias, self._bias_constant, factor, made)
        why = "" if math.isfinite(allowed) else "it is too large for a number, or the values are too large or too small"
        return {"mistakes": MistakeBound(mistakes, allowed, why)}

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
