"""The values of a column of categories or labels, as codes; columns of numbers with a slip are found here."""

from __future__ import annotations

import itertools
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.arrow_columns import known, texts_of, values_of
from separatrix.tables.date_notations import looks_dated
from separatrix.tables.notations import ABSENT, NUMBERS, all_in_parentheses, are_answers, not_in, number_notation
from separatrix.tables.raw_rows import MISSING, UNSEEN
from separatrix.tables.sources.cells import is_number, means_number
from separatrix.tables.sources.messages import quoted

_NUMBERS = 20  # a column with so many numbers,
_MOSTLY = 0.95  # and with this share of its cells, is one of numbers in which some cells are wrong
_OFTEN = 0.1  # share of cells that no slip has
_SLIPS = 2  # different texts, or more of them that say that a value is missing:
_SAMPLE = 2000  # values that show whether a column is one of numbers
_CODE = re.compile(r"[+-]?0[0-9]+")  # digits with a zero in front are a name


class Levels:
    """The different values of a column, numbered as they appear; a fixed list knows no others.

    Parameters
    ----------
    where, name : str
        The table and the column, for messages.
    known : sequence, optional
        All values there can be.
    category : bool
        Whether these are categories, whose values are texts, or labels, which are what the source has.
    text : tuple of int and str, optional
        The first row (from 1) with a value that is not a number, and that value, where the source knows it.
    flags : bool
        Whether the values are texts for true and false: their codes are those of booleans, ``spelled`` has the texts.
    """

    def __init__(
        self,
        where: str,
        name: str,
        *,
        known: Sequence[Any] | None = None,
        category: bool = False,
        text: tuple[int, str] | None = None,
        flags: bool = False,
    ) -> None:
        self._where, self._name, self._category, self._text = where, name, category, text
        self._fixed, self._flags = known is not None, flags
        self.spelled: dict[bool, str] = {}  # how the first true and the first false are written
        self.unseen: Any = None  # the first value that a fixed list does not have
        self.first_rows: dict[str, int] = {}  # of each category (from 1), in a column that looks like dates
        self.codes: dict[Any, int] = {value: code for code, value in enumerate(known or ())}

    def encode(self, column: Any, first: int) -> NDArray[np.int32]:
        """Return the code of each cell of an Arrow column whose first row has this number (from 1)."""
        encoded = column.dictionary_encode()
        places = np.where(known(encoded.indices), values_of(encoded.indices, np.int32), MISSING).astype(np.int64)
        return self.translate(encoded.dictionary.to_pylist(), places, first)

    def translate(self, values: Sequence[Any], places: NDArray[Any], first: int) -> NDArray[np.int32]:
        """Return the codes of cells given as places in a list of values."""
        table = np.array([*(self._code(value) for value in values), MISSING], dtype=np.int32)
        if self._category and self._text is None:
            self._text = _first_text(values, places, first)
        if self._category and looks_dated(str(next(filter(None, values), ""))):
            self._note_rows(values, places, first)
        return np.asarray(table[places])  # a missing one is place -1, the last

    def _note_rows(self, values: Sequence[Any], places: NDArray[Any], first: int) -> None:
        rows = np.zeros(len(values) + 1, dtype=np.int64)
        rows[places[::-1]] = np.arange(first + len(places) - 1, first - 1, -1)  # the first is written last
        for value, row in zip(values, rows.tolist(), strict=False):
            if row and isinstance(value, str):
                self.first_rows.setdefault(value, row)

    def _code(self, value: Any) -> int:
        if value is None or value != value:
            return MISSING
        if self._flags and isinstance(value, str) and value.lower() in ("true", "false"):
            text, value = value, value.lower() == "true"
            self.spelled.setdefault(value, text)
        if not self._fixed:
            value = value if not self._category or isinstance(value, str) else texts_of(value)[0]
            return self.codes.setdefault(value, len(self.codes))
        known = next((text for text in texts_of(value) if text in self.codes), None)
        if known is None:
            self.unseen = value if self.unseen is None else self.unseen
            return UNSEEN
        return self.codes[known]

    def slip(self, counts: Mapping[str, int]) -> str | None:
        """Return what is wrong with a column of numbers in which few values or cells are not numbers: a slip.

        None for categories.

        Parameters
        ----------
        counts : dict
            How many cells have each value.
        """
        if any(map(_CODE.fullmatch, counts)) or are_answers(counts) or all_in_parentheses(counts):
            return None  # 007 is a name, and so is 12 beside it
        first = list(itertools.islice(counts, _SAMPLE))
        likely = [value for value in first if means_number(value)]
        cells = sum(counts[value] for value in likely), sum(counts[value] for value in first)
        if 2 * len(likely) < len(first) and cells[0] < _MOSTLY * cells[1]:  # other values are neither few nor rare
            return None
        plain = [value for value in counts if is_number(value)]
        numbers = set(plain)
        other = [value for value in counts if value not in numbers]
        odd = [value for value in other if means_number(value)]
        if not plain or len(odd) <= _SLIPS:  # 1,2 and 2,3 among 1, 2 and 3 are answers of several
            odd_ones = set(odd)
            plain, other = plain + odd, [value for value in other if value not in odd_ones]
        few = len(other) < len(plain)
        slips = len(other) <= _SLIPS or 2 * sum(value.strip().lower() in ABSENT for value in other) > len(other)
        rare = slips and sum(counts[value] for value in plain) >= max(_NUMBERS, _MOSTLY * sum(counts.values()))
        if not (few or rare) or self._text is None or _are_levels(plain, other, counts):
            return None
        name = self._name
        row, cell = self._text
        own = shlex.quote(name)
        ways = f"leave the column out with --exclude {own}, or read it as it is with --category {own}"
        if not any(map(is_number, counts)):
            notation = min(NUMBERS, key=lambda each: len(not_in(each, counts)))
            if number_notation([cell], sure=True) is not None and (wrong := not_in(notation, counts)):
                return (
                    f"column {name!r} has numbers written as {notation} and also {quoted(wrong[0])}, which is not one: "
                    f"fix the cell, leave it empty if the value is missing, {ways}"
                )
            return (
                f"row {row:,}, column {name!r}: {quoted(cell)} is not read as a number: write numbers with the digits "
                f"0 to 9, {ways}"
            )
        return (
            f"row {row:,}, column {name!r} has numbers and also {quoted(cell)}, which is not a number: fix the cell, "
            f"leave it empty if the value is missing, {ways}"
        )


def _are_levels(plain: Sequence[str], other: Sequence[str], counts: Mapping[str, int]) -> bool:
    """Return whether texts among numbers are levels like these: few numbers, and texts too frequent to be slips.

    Examples
    --------
    >>> _are_levels(["0.5", "1", "2"], ["some"], {"0.5": 8, "1": 142, "2": 356, "some": 1064})
    True
    >>> _are_levels(["0.5", "1", "2"], ["none"], {"0.5": 8, "1": 142, "2": 356, "none": 1064})
    False
    """
    cells = sum(counts[value] for value in other)
    frequent = cells >= max(_NUMBERS * len(other), _OFTEN * sum(counts.values()))
    return len(plain) <= _NUMBERS and frequent and not any(value.strip().lower() in ABSENT for value in other)


def _first_text(values: Sequence[Any], places: NDArray[Any], first: int) -> tuple[int, str] | None:
    """Return the first row of a text that is not a number, and that text; cells are given as places in ``values``."""
    other = np.array([isinstance(value, str) and not is_number(value) for value in values] + [False], dtype=bool)
    rows = np.flatnonzero(other[places]).tolist() if other.any() else []
    return (first + rows[0], values[int(places[rows[0]])]) if rows else None
