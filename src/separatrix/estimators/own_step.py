"""What the estimators share whose rule sets the length of each step; see :class:`separatrix.rules.hinged.OwnStep`."""

from __future__ import annotations

from typing import Any

from separatrix.certificates.second_order import Updates
from separatrix.estimators.certified import FitRecord
from separatrix.estimators.linear import RuleClassifier
from separatrix.loop.state import State
from separatrix.stops import NoProgress, Stop


class OwnStepClassifier(RuleClassifier):
    """Learns from zero weights, and returns the last ones or their average; see the subclasses."""

    init = "zeros"
    average: bool

    @property
    def readout(self) -> str:  # type: ignore[override]
        """Which weights of a run become the model."""
        return "averaged" if self.average else "last"

    def _default_stop(self) -> Stop | None:
        return NoProgress()

    def _watch_mark(self) -> tuple[Any, ...]:
        return (repr(self._rule()),)


def updates_of(state: State, record: FitRecord) -> Updates:
    """Return what is known of the updates of a run."""
    epochs, drawn = state.epochs + (state.position > 0), record.settings["shuffle"] == "random"
    return Updates(state.updates, state.all_mistakes, max(state.updates, 1) if drawn else epochs)
