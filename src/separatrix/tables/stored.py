"""What a model file may hold of this room."""

from __future__ import annotations

from separatrix.models.registry import Stored

STORED = {
    "TableModel": Stored("separatrix.tables.model", model=True, defaults={"deviations": None}),
    "Preparation": Stored("separatrix.tables.preparation", model=True),
    "Feature": Stored(
        "separatrix.tables.preparation", defaults={"gaps": False, "pooled": False, "notation": "", "parts": ()}
    ),
    "Facts": Stored("separatrix.tables.facts", defaults={"notes": ()}),
    "RowCounts": Stored("separatrix.tables.facts"),
    "ColumnUse": Stored("separatrix.tables.facts"),
    "ClassCount": Stored("separatrix.tables.facts"),
    "TrainingProgress": Stored("separatrix.tables.facts"),
    "UpdateRecord": Stored("separatrix.tables.facts"),
    "ColumnOptions": Stored(
        "separatrix.tables.columns",
        defaults={"category": (), "number": (), "date": (), "dates": "parts", "detect": True},
    ),
    "Settings": Stored("separatrix.tables.settings", defaults={"stop": None}),
    "Scores": Stored("separatrix.tables.scores"),
}
