"""Model files, for the commands that take one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from separatrix.cli.guard import guard
from separatrix.cli.writing import say
from separatrix.files import locked


def load_model(path: Path) -> Any:
    """Return the model in a file, which is an input of the command."""
    from separatrix.models.model_file import load

    guard().reads(path)
    return load(path)


def load_table_model(path: Path) -> Any:
    """Return the model in a file, or say that it was not made from a table."""
    from separatrix.tables.model import TableModel

    model = load_model(path)
    if not isinstance(model, TableModel):
        raise ValueError(
            f"{path} holds a {type(model).__name__} that was saved from Python, not a model of a table; use one that "
            "separatrix fit wrote"
        )
    return model


def replacing(path: Path) -> None:
    """Keep a model file that the command reads and writes anew from others that do the same: they wait for its end."""

    def wait() -> None:
        say(f"waiting for another process that writes {path}", err=True)

    guard().held.enter_context(locked(path, wait))
    guard().replaces(path)
