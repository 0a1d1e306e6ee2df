"""What the values of a column suggest that it is: numbers or dates in another notation, free text, an id, nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from separatrix.tables.columns import ChosenColumns, ColumnOptions, Role
from separatrix.tables.date_notations import date_notation, misfit, mostly_dates
from separatrix.tables.notations import decimal_mark, either_mark, number_notation
from separatrix.tables.sources.base import Column
from separatrix.tables.sources.cells import SPACES
from separatrix.tables.sources.messages import quoted

ENOUGH = 1000  # known values that decide on a column for good
_FEWEST = 20  # rows: in fewer, values are unique by chance
_LONG = 30  # letters of a sentence, on average
_WORDS = 3  # and words of a text
_WORD = re.compile(r"[^\W\d_]{2}")  # of letters: numbers of telephones are no sentences
COUNTING = "id: it counts the rows"
AS_TEXT = "read as text, which shows whether its points are decimal marks"  # why a number column is a category first
_SOME = 0.01  # of the numbers of a column are whole, where points may set thousands apart
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
    detected: Mapping[str, Role],
    untyped: bool,
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
    detected : dict
        The roles that earlier readings of the table suggested.
    untyped : bool
        Whether the table is text, in which a number column may mean other numbers.
    """
    out: dict[str, Role] = {}
    problems: list[str] = []
    given = options.roles
    natives: dict[str, Any] = {}
    if untyped and options.detect and numbers is not None:
        natives = {column.name: numbers[:, place] for place, column in enumerate(chosen.numbers)}
    natives = {name: cells for name, cells in natives.items() if name not in detected and name not in chosen.notations}
    marks = _decimal_marks(chosen, options, values, natives, detected)
    for column in chosen.categories:
        try:
            counts, known_rows = values[column.name], first_rows.get(column.name, {})
            if counts and column.name in detected and detected[column.name].why == AS_TEXT:
                out[column.name] = _of_number_texts(column.name, counts, marks)
                continue
            role = _of_values(column, counts, options, given.get(column.name), known_rows, marks)
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
    for name, cells in natives.items():
        if name not in out and _may_have_thousands(cells, marks):
            out[name] = Role("category", why=AS_TEXT)
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
    marks: set[str],
) -> Role | None:
    """Return what the different texts of a category column suggest; None for a category."""
    if not counts:
        return Role("none", why="empty")
    if given == "number" and (role := _number(column.name, counts, marks, sure=True)) is not None:
        return role
    if given == "date" and (notation := date_notation(counts, sure=True)) is not None:
        return Role(given, notation)
    if given in ("number", "date"):
        raise ValueError(_no_notation(column.name, counts, given))
    if column.kind != "text" or not options.detect or given is not None:
        return None
    if (role := _number(column.name, counts, marks)) is not None:
        return role
    if (notation := date_notation(counts)) is not None:
        return Role("none", why="dates") if options.dates == "drop" else Role("date", notation)
    role = _of_texts(counts)
    if (dates := mostly_dates(counts)) is None:
        return role
    role = role or Role("category")
    return replace(role, warning=_not_all_dates(column.name, counts, first_rows, *dates, role))


def _decimal_marks(
    chosen: ChosenColumns,
    options: ColumnOptions,
    values: Mapping[str, Mapping[str, int]],
    natives: Mapping[str, Any],
    detected: Mapping[str, Role],
) -> set[str]:
    """Return the decimal marks that the columns of a table show: the one that is given, none, one or both."""
    if options.decimal:
        return {options.decimal}
    marks = {role.decimal for role in detected.values()} - {""}
    for column in chosen.categories:
        counts = values[column.name]
        if column.kind == "text" and options.detect and (notation := number_notation(counts)) is not None:
            marks |= {decimal_mark(notation, counts)} - {""}
    return marks | ({"."} if any(map(_has_decimals, natives.values())) else set())


def _number(name: str, counts: Mapping[str, int], marks: set[str], *, sure: bool = False) -> Role | None:
    """Return the notation of the numbers of a column, None if there is none; the marks of other columns decide."""
    decimal = next(iter(marks)) if len(marks) == 1 else ""
    notation = number_notation(counts, sure=sure, decimal=decimal)
    if notation is None:
        return None
    mark = either_mark(counts)
    warning = _of_either(name, counts, mark) if mark and not decimal and (mark == "." or marks) else ""
    return Role("number", notation, warning=warning, decimal=decimal_mark(notation, counts))


def _of_either(name: str, counts: Mapping[str, int], mark: str) -> str:
    """Return the warning of a column such as 1.549 and 297, of which no other column tells what the point is."""
    plain = next((text for text in counts if any(map(str.isdigit, text)) and mark not in text), None)
    if plain is None:
        return ""
    marked = next(text for text in counts if mark in text)
    now = "point is read as a decimal mark. If it separates thousands"
    if mark == ",":
        now = "comma is read as separating thousands. If it is a decimal mark"
    return (
        f"Warning: column {name!r} has {quoted(marked)} beside {quoted(plain)}: the {now}, use --decimal , (if not, "
        "--decimal .)."
    )


def _of_number_texts(name: str, counts: Mapping[str, int], marks: set[str]) -> Role:
    """Return how to read a number column, now that its texts are known: in a notation, or as it was."""
    role = _number(name, counts, marks, sure=True) or Role("number")
    return replace(role, notation="") if role.notation == "1234.5" else role


def _has_decimals(cells: Any) -> bool:
    """Return whether points in numbers cannot set thousands apart, as in 0.82, 1.2345 and 1234.5."""
    part = cells[cells != np.floor(cells)]
    part = np.abs(part[np.isfinite(part)])
    return bool(len(part)) and bool(((part < 1) | (part >= 1000) | (np.round(part, 3) != part)).any())


def _may_have_thousands(cells: Any, marks: set[str]) -> bool:
    """Return whether points in numbers may set thousands apart: where commas are decimal marks, or if it looks so."""
    if marks == {"."}:
        return False
    known = cells[np.isfinite(cells)]
    part = known[known != np.floor(known)]
    if not len(part) or _has_decimals(part):
        return False
    if "," in marks:
        return True
    whole, part = 1 - len(part) / len(known), np.unique(part)
    return whole >= _SOME and 2 * int((np.round(part, 2) != part).sum()) >= len(part)


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
    if (words >= _WORDS or letters >= _LONG * words > _LONG) and 2 * sum(
        n for text, n in counts.items() if _WORD.search(text)
    ) > known:
        return Role("text")
    if different == known:
        return Role("none", why="id: as many values as rows")
    return None


def _no_notation(name: str, counts: Mapping[str, int], given: str) -> str:
    """Return why a column is not what an option says."""
    if given == "date":
        notation, cell = misfit(counts) or ("", next(iter(counts)))
        if notation:
            return f"column {name!r}: --date names it, but {cell!r} is not a date as the others are ({notation})"
        return f"column {name!r}: --date names it, but no notation of dates fits all its values, as {cell!r}"
    cell = next((text for text in counts if number_notation([text], sure=True) is None), next(iter(counts)))
    return f"column {name!r}: --number names it, but {cell!r} is not a number as the others are"


def _of_numbers(column: Column, cells: Any) -> Role | None:
    """Return that a number column counts the rows, or names them; None for a quantity."""
    if len(cells) < _FEWEST or not np.isfinite(cells).all() or (cells != np.floor(cells)).any():
        return None
    with np.errstate(over="ignore"):  # numbers near 1e308
        steps = np.diff(cells)
    if cells[0] in (0.0, 1.0) and (steps == 1.0).all():
        return Role("none", why=COUNTING)
    if _NAMED_ID.search(column.name) is None:
        return None
    if (steps > 0).all() or len(np.unique(cells)) == len(cells):
        return Role("none", why="id: as many values as rows")
    return None
