"""What a model file may hold of this room."""

from __future__ import annotations

from typing import Any

from separatrix.models.registry import Stored

_GUESS = "; the data may not be separable"  # which earlier versions added to the status at an epoch limit


def without_guess(parts: dict[str, Any]) -> dict[str, Any]:
    """Let a status say how training ended, and the certificate whether the classes are separable."""
    status = parts.get("status")
    return parts | {"status": status.replace(_GUESS, "")} if isinstance(status, str) else parts


def _none(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


STORED = {
    "TableModel": Stored(
        "separatrix.tables.model", model=True, defaults=_none("deviations", "calibration", "threshold")
    ),
    "Preparation": Stored("separatrix.tables.preparation", model=True),
    "Feature": Stored(
        "separatrix.tables.preparation",
        defaults={"gaps": False, "pooled": False, "notation": "", "parts": (), "shares": (), "encoding": None},
    ),
    "SigmoidCalibration": Stored("separatrix.tables.calibration"),
    "IsotonicCalibration": Stored("separatrix.tables.calibration"),
    "TemperatureCalibration": Stored("separatrix.tables.calibration"),
    "Threshold": Stored("separatrix.tables.thresholds"),
    "Facts": Stored(
        "separatrix.tables.facts",
        defaults={"notes": (), "flags": (), **_none("cross_validation", "tuning", "calibrated")},
        unpack=without_guess,
    ),
    "CalibratedOn": Stored("separatrix.tables.facts"),
    "CrossValidation": Stored("separatrix.tables.facts"),
    "TuningRecord": Stored("separatrix.tables.facts", defaults={"distance": None, "ended": ""}),
    "RowCounts": Stored("separatrix.tables.facts"),
    "ColumnUse": Stored("separatrix.tables.facts"),
    "ClassCount": Stored("separatrix.tables.facts"),
    "TrainingProgress": Stored("separatrix.tables.facts"),
    "UpdateRecord": Stored("separatrix.tables.facts"),
    "ColumnOptions": Stored(
        "separatrix.tables.columns",
        defaults={
            **dict.fromkeys(("category", "number", "date", "target_encode"), ()),
            "dates": "parts",
            "detect": False,
            "split": None,
            "decimal": "",
        },
    ),
    "Settings": Stored(
        "separatrix.tables.settings",
        defaults={
            **_none("stop", "class_weight", "calibrate", "threshold", "positive", "cv", "test_file", "within"),
            "tune": False,
        },
    ),
    "Scores": Stored("separatrix.tables.scores", defaults={"metrics": None}),
    "Metrics": Stored("separatrix.tables.scores", defaults={"points": ()}),
    "OperatingPoint": Stored("separatrix.tables.curves"),
    "Curve": Stored("separatrix.tables.curves"),
}
