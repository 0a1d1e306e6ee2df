"""Pictures into files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from separatrix.files import write_whole

_ENDINGS = (".png", ".svg", ".pdf")


def check_picture(path: Path, option: str) -> None:
    """Refuse the name of a picture that is of no known kind."""
    if path.suffix.lower() not in _ENDINGS:
        raise ValueError(f"{option} {path}: the ending must be one of {', '.join(_ENDINGS)}")


def new_figure(width: float = 7.2, height: float = 5.2) -> Any:
    """Return a figure, or say what is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ValueError("plots need matplotlib: pip install 'separatrix[plot]'") from None
    return Figure(layout="constrained", figsize=(width, height))


def write_picture(figure: Any, path: Path) -> None:
    """Write a figure to a file, whole or not at all."""
    write_whole(path, lambda file: figure.savefig(file, format=path.suffix[1:].lower(), dpi=150))
