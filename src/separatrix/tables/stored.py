"""What a model file may hold of this room."""

from __future__ import annotations

from typing import Any

from separatrix.models.registry import Stored

_GUESS = "; the data may not be separable"  # which earlier versions added to the status at an epoch limit


def without_guess(parts: dict[str, Any]) -> dict[str, Any]:
    """Let a status say how training ended, and the certificate whether the classes are separable."""
    status = parts.get("status")
    return parts | {"status": status.replace(_GUESS, "")} if isinstance(status, str) else parts


STORED = {
    "TableModel": Stored("separatrix.tables.model", model=True, defaults={"deviations": None}),
    "Preparation": Stored("separatrix.tables.preparation", model=True),
    "Feature": Stored(
        "separatrix.tables.preparation", defaults={"gaps": False, "pooled": False, "notation": "", "parts": ()}
    ),
    "Facts": Stored("separatrix.tables.facts", defaults={"notes": ()}, unpack=without_guess),
    "RowCounts": Stored("separatrix.tables.facts"),
    "ColumnUse": Stored("separatrix.tables.facts"),
    "ClassCount": Stored("separatrix.tables.facts"),
    "TrainingProgress": Stored("separatrix.tables.facts"),
    "UpdateRecord": Stored("separatrix.tables.facts"),
    "ColumnOptions": Stored(
        "separatrix.tables.columns",
        defaults={"category": (), "number": (), "date": (), "dates": "parts", "detect": False},
    ),
    "Settings": Stored("separatrix.tables.settings", defaults={"stop": None}),
    "Scores": Stored("separatrix.tables.scores", defaults={"metrics": None}),
    "Metrics": Stored("separatrix.tables.scores"),
    "Curve": Stored("separatrix.tables.curves"),
}
