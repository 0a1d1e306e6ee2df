"""What the values of a column suggest that it is: numbers or dates in another notation, free text, an id, nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.tables.columns import ChosenColumns, ColumnOptions, Role
from separatrix.tables.notations import date_notation, mostly_dates, number_notation
from separatrix.tables.sources.base import Column
from separatrix.tables.sources.cells import SPACES
from separatrix.tables.sources.messages import quoted

ENOUGH = 1000  # known values that decide on a column for good
_FEWEST = 20  # rows: in fewer, values are unique by chance
_LONG = 30  # letters of a sentence, on average
_WORDS = 3  # and words of a text
_WORD = re.compile(r"\w\w")  # one of a bag of words
_NAMED_ID = re.compile(
    r"(?i:(?:^|[^a-z])(?:ids?|uuid|guid|index|key|rowid|row_?numbers?|row_?names?|unnamed: ?0)$)|[a-z](?:Id|ID)$"
)


class RolesChanged(Exception):  # noqa: N818 - it is no error
    """The values of some columns suggest other roles than those they were read in; ``roles`` has them by name."""

    def __init__(self, roles: Mapping[str, Role]) -> None:
        super().__init__(", ".join(roles))
        self.roles = roles


def suggested(
    chosen: ChosenColumns,
    options: ColumnOptions,
    values: Mapping[str, Mapping[str, int]],
    numbers: Any,
    missing: Mapping[str, int],
    rows: int,
    first_rows: Mapping[str, Mapping[str, int]],
) -> tuple[dict[str, Role], list[str]]:
    """Return the roles that rows suggest for columns where it is another than now, and what is wrong with given ones.

    Parameters
    ----------
    chosen : ChosenColumns
        The columns as they were read.
    options : ColumnOptions
        What was asked for.
    values : dict of dict
        For each category column how many rows have each value.
    numbers : array or None
        The numbers of the first rows.
    missing : dict
        How many values are missing, by column.
    rows : int
        How many rows there are.
    first_rows : dict of dict
        For category columns that look like dates the first row with each value.
    """
    out: dict[str, Role] = {}
    problems: list[str] = []
    given = options.roles
    for column in chosen.categories:
        try:
            counts, known_rows = values[column.name], first_rows.get(column.name, {})
            role = _of_values(column, counts, options, given.get(column.name), known_rows)
        except ValueError as problem:
            problems.append(str(problem))
            continue
        if role is not None:
            out[column.name] = role
    if options.detect and numbers is not None:
        for place, column in enumerate(chosen.numbers):
            if column.name not in given:
                role = _of_numbers(column, numbers[:, place])
                if role is not None:
                    out[column.name] = role
    for column in (*chosen.numbers, *chosen.dates, *chosen.texts):
        if rows and missing.get(column.name, 0) >= rows:
            out[column.name] = Role("none", why="empty")
    named = set(options.features)
    out = {name: role for name, role in out.items() if role.role != "none" or name not in named or role.why == "empty"}
    ids = [name for name, role in out.items() if role.why.startswith("id")]
    if len(ids) == len(chosen.order):  # nothing else is left to learn from
        out = {name: role for name, role in out.items() if name not in ids}
    return out, problems


def _of_values(
    column: Column,
    counts: Mapping[str, int],
    options: ColumnOptions,
    given: str | None,
    first_rows: Mapping[str, int],
) -> Role | None:
    """Return what the different texts of a category column suggest; None for a category."""
    if not counts:
        return Role("none", why="empty")
    if given in ("number", "date"):
        notation = (number_notation if given == "number" else date_notation)(counts, sure=True)
        if notation is None:
            raise ValueError(_no_notation(column.name, counts, given))
        return Role(given, notation)
    if column.kind != "text" or not options.detect or given is not None:
        return None
    if (notation := number_notation(counts)) is not None:
        return Role("number", notation)
    if (notation := date_notation(counts)) is not None:
        return Role("none", why="dates") if options.dates == "drop" else Role("date", notation)
    role = _of_texts(counts)
    if (dates := mostly_dates(counts)) is None:
        return role
    role = role or Role("category")
    return replace(role, warning=_not_all_dates(column.name, counts, first_rows, *dates, role))


def _not_all_dates(
    name: str, counts: Mapping[str, int], first_rows: Mapping[str, int], notation: str, wrong: list[str], role: Role
) -> str:
    """Return the warning of a column in which some cells are not dates."""
    those = {value: first_rows.get(value, 0) for value in counts if value.strip(SPACES) in wrong}
    cell = min(those, key=lambda value: those[value])
    row = f", the first in row {those[cell]:,}" if those[cell] else ", as"
    use = {"none": "left out", "text": "read as text"}.get(role.role, "a category")
    cells, known = sum(counts[value] for value in those), sum(counts.values())
    return (
        f"Warning: column {name!r} is almost all dates ({notation}), but {cells:,} of {known:,} values are not{row} "
        f"({quoted(cell)}), so it is {use}: fix these cells, or leave them empty if the value is missing."
    )


def _of_texts(counts: Mapping[str, int]) -> Role | None:
    """Return whether different texts are sentences or ids; None for a category."""
    different, known = len(counts), sum(counts.values())
    if different < max(_FEWEST, known / 2):
        return None
    letters = sum(len(text) * n for text, n in counts.items()) / known
    words = sum((text.count(" ") + 1) * n for text, n in counts.items()) / known
    if (words >= _WORDS or letters >= _LONG * words > _LONG) and any(map(_WORD.search, counts)):
        return Role("text")
    if different == known:
        return Role("none", why="id: as many values as rows")
    return None


def _no_notation(name: str, counts: Mapping[str, int], given: str) -> str:
    """Return why a column is not what an option says."""
    if given == "date":
        return (
            f"column {name!r}: --date names it, but no notation of dates fits all its values, as {next(iter(counts))!r}"
        )
    cell = next((text for text in counts if number_notation([text], sure=True) is None), next(iter(counts)))
    return f"column {name!r}: --number names it, but {cell!r} is not a number as the others are"


def _of_numbers(column: Column, cells: Any) -> Role | None:
    """Return that a number column counts the rows, or names them; None for a quantity."""
    if len(cells) < _FEWEST or not np.isfinite(cells).all() or (cells != np.floor(cells)).any():
        return None
    with np.errstate(over="ignore"):  # numbers near 1e308
        steps = np.diff(cells)
    if cells[0] in (0.0, 1.0) and (steps == 1.0).all():
        return Role("none", why="id: it counts the rows")
    if _NAMED_ID.search(column.name) is None:
        return None
    if (steps > 0).all() or len(np.unique(cells)) == len(cells):
        return Role("none", why="id: as many values as rows")
    return None
