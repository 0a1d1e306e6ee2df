"""``sx.exercise``: a sheet of exercises on a topic, from a seed."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, overload

from separatrix.exercises import writers
from separatrix.exercises.content import Block
from separatrix.exercises.draws import Draws
from separatrix.exercises.topic import Data, Topic
from separatrix.exercises.topics import topics
from separatrix.text import listed

MOST = 100  # exercises on a sheet
MIXED = "mixed"
_DRAWS = 20_000  # for one exercise, of which a few hundred are usual


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise with its solution.

    Attributes
    ----------
    topic : str
        The name of its topic.
    number : int
        Its place on the sheet, from 1.
    statement, solution : tuple of blocks
        Paragraphs, as text with formulas between backticks, and tables, with ``head`` and ``rows``.
    data : mapping
        The numbers of the statement.
    """

    topic: str
    number: int
    statement: tuple[Block, ...]
    solution: tuple[Block, ...]
    data: Data

    def __repr__(self) -> str:
        return f"<Exercise {self.number}: {self.topic}>"

    def to_markdown(self, *, solution: bool = False) -> str:
        """Return the exercise as Markdown."""
        return writers.markdown_exercise(self, solution=solution)

    def to_latex(self, *, solution: bool = False) -> str:
        """Return the exercise as LaTeX, for the body of a document."""
        return writers.latex_exercise(self, solution=solution)

    def to_html(self, *, solution: bool = False) -> str:
        """Return the exercise as HTML, for the body of a page."""
        return writers.html_exercise(self, solution=solution)

    def _repr_html_(self) -> str:
        return self.to_html(solution=True)


class Sheet(Sequence[Exercise]):
    """The exercises of a sheet, in order. Made by :func:`separatrix.exercise`.

    Attributes
    ----------
    topic, seed, options
        What it was made from.
    title : str
        The title of its documents.
    """

    def __init__(
        self, topic: str, title: str, seed: int, options: dict[str, Any], exercises: Sequence[Exercise]
    ) -> None:
        self.topic = topic
        self.title = title
        self.seed = seed
        self.options = options
        self._exercises = tuple(exercises)

    @overload
    def __getitem__(self, index: int) -> Exercise: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Exercise]: ...
    def __getitem__(self, index: int | slice) -> Exercise | Sequence[Exercise]:
        return self._exercises[index]

    def __len__(self) -> int:
        return len(self._exercises)

    def __iter__(self) -> Iterator[Exercise]:
        return iter(self._exercises)

    def __repr__(self) -> str:
        return f"<Sheet: {len(self)} exercises on {self.topic}, seed {self.seed}>"

    @property
    def command(self) -> str:
        """The command that makes the same sheet."""
        options = "".join(f" --{name}" for name, value in self.options.items() if value)
        return f"separatrix exercise {self.topic} --seed {self.seed} --count {len(self)}{options}"

    def to_markdown(self, *, solution: bool = False) -> str:
        """Return the sheet as Markdown."""
        return self._written("markdown", solution)

    def to_latex(self, *, solution: bool = False) -> str:
        """Return the sheet as a LaTeX document."""
        return self._written("latex", solution)

    def to_html(self, *, solution: bool = False) -> str:
        """Return the sheet as an HTML page."""
        return self._written("html", solution)

    def _written(self, form: str, solution: bool) -> str:
        note = f"Sheet {self.seed}{' with solutions' if solution else ''}, made by"
        command = self.command + (" --solution" if solution else "")
        return writers.SHEETS[form](self.title, note, command, self, solution=solution)


def exercise(topic: str, *, seed: int = 7, count: int = 10, tie: bool = False) -> Sheet:
    """Make a sheet of exercises: the same seed makes the same sheet, everywhere.

    Each solution is computed by this package, in exact arithmetic, and checked; no two exercises are the same. With a
    larger count, the first exercises stay what they were.

    Parameters
    ----------
    topic : {"descent", "dual", "gate", "kkt", "margin", "scale", "separable", "trace", "update"} or "mixed"
        What the exercises are about; "mixed" takes the topics in turn.
    seed : int, default=7
        Which sheet.
    count : int, default=10
        How many exercises, at most 100.
    tie : bool, default=False
        For "trace": at least one product is exactly 0. Without it, none is.

    Returns
    -------
    Sheet
        A sequence of exercises, each with statement, solution and data; prints as Markdown, LaTeX or HTML.

    Examples
    --------
    >>> from separatrix import exercise
    >>> sheet = exercise("update", seed=7, count=3)
    >>> sheet
    <Sheet: 3 exercises on update, seed 7>
    >>> sheet[0].to_markdown().splitlines()[0]
    '## Exercise 1'
    >>> sheet.to_html() == exercise("update", seed=7, count=3).to_html()
    True
    """
    every = topics()
    if topic != MIXED and topic not in every:
        raise ValueError(f"topic must be one of {listed((*every, MIXED))}; got {topic!r:.60}")
    for name, value, least in (("seed", seed, 0), ("count", count, 1)):
        if isinstance(value, bool) or not hasattr(value, "__index__") or value < least:
            raise ValueError(f"{name} must be a whole number, at least {least}; got {value!r:.60}")
    if count > MOST:
        raise ValueError(f"count must be at most {MOST}; got {count}")
    seed, count = int(seed), int(count)
    options = {"tie": True} if tie else {}
    if tie and (topic == MIXED or "tie" not in every[topic].options):
        having = listed(name for name, each in every.items() if "tie" in each.options)
        raise ValueError(f"tie is an option of the topic {having}; got the topic {topic}")
    chosen = list(every.values()) if topic == MIXED else [every[topic]]
    streams = [_stream(each, seed, options) for each in chosen]
    exercises = [replace(next(streams[place % len(streams)]), number=place + 1) for place in range(count)]
    title = "Exercises: linear classifiers" if topic == MIXED else f"Exercises: {every[topic].title}"
    return Sheet(topic, title, seed, options, exercises)


def listing() -> dict[str, str]:
    """Return the topics, each with a sentence on its exercises."""
    return {**{name: topic.sentence for name, topic in topics().items()}, MIXED: "All topics in turn."}


def _stream(topic: Topic, seed: int, options: dict[str, Any]) -> Iterator[Exercise]:
    """Yield the exercises of a topic, one after the other."""
    draws = Draws(" ".join([topic.name, str(seed), *options]))
    seen: set[str] = set()
    for number in itertools.count(1):
        data = topic.suitable(draws, seen, _DRAWS, **options)
        solved = topic.solve(data)
        yield Exercise(topic.name, number, solved.statement, solved.solution, data)
