"""What a model file may hold of this room."""

from __future__ import annotations

from typing import Any

from separatrix.models.registry import Stored


def _none(*names: str) -> dict[str, Any]:
    return dict.fromkeys(names)


STORED = {
    "TableModel": Stored(
        "separatrix.tables.model", model=True, defaults=_none("deviations", "calibration", "threshold")
    ),
    "Preparation": Stored("separatrix.tables.preparation", model=True),
    "Feature": Stored("separatrix.tables.preparation"),
    "SigmoidCalibration": Stored("separatrix.tables.calibration"),
    "IsotonicCalibration": Stored("separatrix.tables.calibration"),
    "TemperatureCalibration": Stored("separatrix.tables.calibration"),
    "Threshold": Stored("separatrix.tables.thresholds"),
    "Facts": Stored("separatrix.tables.facts", defaults=_none("cross_validation", "tuning")),
    "CrossValidation": Stored("separatrix.tables.facts"),
    "TuningRecord": Stored("separatrix.tables.facts"),
    "RowCounts": Stored("separatrix.tables.facts"),
    "ColumnUse": Stored("separatrix.tables.facts"),
    "ClassCount": Stored("separatrix.tables.facts"),
    "TrainingProgress": Stored("separatrix.tables.facts"),
    "UpdateRecord": Stored("separatrix.tables.facts"),
    "ColumnOptions": Stored("separatrix.tables.columns", defaults=_none("split")),
    "Settings": Stored(
        "separatrix.tables.settings",
        defaults={
            **_none("stop", "class_weight", "calibrate", "threshold", "positive", "cv", "test_file"),
            "tune": False,
        },
    ),
    "Scores": Stored("separatrix.tables.scores"),
}
