"""Model files, for the commands that take one."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def load_table_model(path: Path) -> Any:
    """Return the model in a file, or say that it was not made from a table."""
    from separatrix.models.model_file import load
    from separatrix.tables.model import TableModel

    model = load(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, not a model of a table; use one that "
            "separatrix fit wrote"
        )
    return model
