"""A progress bar on standard error, where it is a terminal."""

from __future__ import annotations

import time
from typing import Any

from rich.console import Console

_DELAY = 0.5  # seconds; shorter work needs no bar


_TITLES = {
    "read": "reading", "scale": "scaling", "write": "writing rows", "epoch": "training", "predict": "predicting",
    "contender": "comparing", "growth": "measuring growth", "fold": "cross-validating",
    "prove": "tuning",
}  # fmt: skip


class Bar:
    """Shows progress: rows read with their speed and the time left, or epochs.

    It is called as ``bar(stage, **numbers)`` and used as a context manager.
    """

    def __init__(self) -> None:
        self._console = Console(stderr=True)
        self._began = time.perf_counter()
        self._bar: Any = None
        self._task: Any = None
        self._stage = ""

    @property
    def visible(self) -> bool:
        """Whether someone can see it."""
        return self._console.is_terminal

    def __enter__(self) -> Bar:
        return self

    def __exit__(self, *problem: object) -> None:
        self.clear()

    def clear(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None

    def __call__(self, stage: str, **numbers: Any) -> None:
        """Say how far it is."""
        if stage not in _TITLES:
            self.clear()
            return
        now = time.perf_counter()
        if stage != self._stage:
            self.clear()
            self._stage, self._began = stage, now
        steps = stage in ("contender", "growth")  # few and long: shown at once
        if (now - self._began < _DELAY and not steps) or not self.visible:
            return
        if self._bar is None:
            self._start()
        part, rows = numbers.get("part"), numbers.get("rows")
        seen = f"{rows:,} rows, {rows / (now - self._began):,.0f} rows/s" if rows else ""
        if stage == "epoch":
            total = numbers["epochs"]
            seen = f"epoch {numbers['epoch']} of {total}"
            part = (numbers["epoch"] - 1 + numbers["part"]) / total
        if steps or stage == "fold":
            seen, part = f"{numbers['name']}, {numbers['done'] + 1} of {numbers['of']}", numbers["done"] / numbers["of"]
        if stage == "prove":
            seen = f"{numbers['fits']:,} fits"
        total = 1.0 if part is not None else None
        self._bar.update(self._task, total=total, completed=part or 0.0, seen=seen)

    def _start(self) -> None:
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        self._bar = Progress(
            TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[seen]}"), TimeElapsedColumn(),
            TextColumn("left"), TimeRemainingColumn(), console=self._console, transient=True,
        )  # fmt: skip
        self._task = self._bar.add_task(_TITLES[self._stage], total=None, seen="")
        self._bar.start()
