"""What a report is about: a model, its facts, its certificate, and the rows of a source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from separatrix.tables.facts import Facts
from separatrix.tables.model import TableModel
from separatrix.tables.report.drawing import COLOURS
from separatrix.tables.report.rows import InspectedRows


@dataclass(frozen=True)
class ReportContext:
    """A model, the certificate of its training rows, and its predictions on the rows of a source."""

    model: TableModel
    certificate: Any
    inspected: InspectedRows | None

    @property
    def facts(self) -> Facts:
        """What the model file says about the fit."""
        return self.model.facts

    @property
    def labels(self) -> list[str]:
        """The classes, as text."""
        return [str(label) for label in self.model.classes_.tolist()]

    @property
    def drawn(self) -> list[int]:
        """The classes that have a colour of their own: all of a few, else the largest."""
        counts = [each.rows for each in self.facts.classes]
        codes = range(len(self.labels))
        if len(codes) <= COLOURS or len(counts) != len(codes):
            return list(codes[:COLOURS])
        return sorted(sorted(codes, key=lambda code: -counts[code])[:COLOURS])
