"""What a run has seen of its primal and dual value, look by look."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from separatrix.models.validity import is_real, require


@dataclass
class MarginHistory:
    """Primal value, dual value, gap and seconds, epoch by epoch.

    Where ``exact`` is True they were computed anew from all rows; elsewhere they are estimates, from the losses as each
    row was last met, which cost next to nothing. ``method`` says who did the work: ascent, newton or interior.
    """

    primal: list[float] = field(default_factory=list)
    dual: list[float] = field(default_factory=list)
    gap: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    exact: list[bool] = field(default_factory=list)
    method: list[str] = field(default_factory=list)

    def add(self, primal: float, dual: float, seconds: float, *, exact: bool, method: str) -> None:
        """Keep one more look."""
        self.primal.append(primal)
        self.dual.append(dual)
        self.gap.append(max(primal - dual, 0.0))
        self.seconds.append(seconds)
        self.exact.append(exact)
        self.method.append(method)

    def forget(self, length: int) -> None:
        """Keep the first looks only."""
        for name in ("primal", "dual", "gap", "seconds", "exact", "method"):
            del getattr(self, name)[length:]

    def __len__(self) -> int:
        return len(self.primal)

    def validate(self) -> None:
        """Refuse columns that do not fit together."""
        columns: list[Any] = [self.primal, self.dual, self.gap, self.seconds, self.exact, self.method]
        fits = all(type(column) is list for column in columns) and len({len(column) for column in columns}) == 1
        require(fits and all(is_real(value) for column in columns[:4] for value in column), "its history is damaged")
