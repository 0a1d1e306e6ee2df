"""What a topic is: how to draw the data of an exercise, and how to state and solve it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from separatrix.exercises.content import Block
from separatrix.exercises.draws import Draws

Data = Mapping[str, Any]


class CheckError(RuntimeError):
    """A solution did not pass its check: a bug of the package, and the exercise is not shown."""


@dataclass(frozen=True)
class Solved:
    """The texts of an exercise."""

    statement: tuple[Block, ...]
    solution: tuple[Block, ...]


@dataclass(frozen=True)
class Topic:
    """One kind of exercise.

    Attributes
    ----------
    name : str
        What the user types.
    title : str
        The title of its sheets.
    sentence : str
        What its exercises ask for.
    draw : callable
        Takes the draws, returns the data of an exercise, or None if they are not suitable: too long, or not nice.
    solve : callable
        Takes the data; returns statement and solution, computed by the package and checked.
    options : tuple of str
        The options that ``draw`` takes.
    """

    name: str
    title: str
    sentence: str
    draw: Callable[..., Data | None]
    solve: Callable[[Data], Solved]
    options: tuple[str, ...] = ()

    def suitable(self, draws: Draws, seen: set[str], most: int, **options: Any) -> Data:
        """Return the data of an exercise that is not among those seen, and add it to them."""
        for _ in range(most):
            data = self.draw(draws, **options)
            if data is not None and repr(data) not in seen:
                seen.add(repr(data))
                return data
        raise RuntimeError(f"no new exercise on {self.name} in {most} draws; ask for fewer")


def check(holds: object, what: str) -> None:
    """Refuse a solution whose check failed."""
    if not holds:
        raise CheckError(f"the solution of an exercise is not shown, as its check failed: {what}; please report it")
