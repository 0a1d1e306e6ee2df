"""The values of a column of categories or labels, as codes; columns of numbers with a slip are found here."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.tables.arrow_columns import known, texts_of, values_of
from separatrix.tables.raw_rows import MISSING, UNSEEN
from separatrix.tables.sources.cells import is_number, means_number
from separatrix.tables.sources.messages import quoted

_NUMBERS = 20  # a column with so many numbers,
_MOSTLY = 0.95  # and with this share of its cells, is one of numbers in which some cells are wrong
_SLIPS = 2  # different texts, or more of them that say that a value is missing:
_ABSENT = {"", "?", "-", "--", ".", "na", "n.a.", "n/a", "#n/a", "none", "null", "nil", "nan", "unknown", "missing"}
_CODE = re.compile(r"[+-]?0[0-9]+")  # digits with a zero in front are a name
_LONG = 30  # texts this long on average are sentences, not categories


class Levels:
    """The different values of a column, numbered as they appear; a fixed list knows no others.

    Parameters
    ----------
    where, name : str
        The table and the column, for messages.
    most : int, optional
        The most values there may be.
    known : sequence, optional
        All values there can be.
    text : tuple of int and str, optional
        The first row (from 1) with a value that is not a number, and that value, where the source knows it.
    """

    def __init__(
        self,
        where: str,
        name: str,
        *,
        most: int | None = None,
        known: Sequence[Any] | None = None,
        text: tuple[int, str] | None = None,
    ) -> None:
        self._where, self._name, self._most, self._text = where, name, most, text
        self._fixed = known is not None
        self.unseen: Any = None  # the first value that a fixed list does not have
        self.codes: dict[Any, int] = {value: code for code, value in enumerate(known or ())}

    def encode(self, column: Any, first: int) -> NDArray[np.int32]:
        """Return the code of each cell of an Arrow column whose first row has this number (from 1)."""
        encoded = column.dictionary_encode()
        places = np.where(known(encoded.indices), values_of(encoded.indices, np.int32), MISSING).astype(np.int64)
        return self.translate(encoded.dictionary.to_pylist(), places, first)

    def translate(self, values: Sequence[Any], places: NDArray[Any], first: int) -> NDArray[np.int32]:
        """Return the codes of cells given as places in a list of values."""
        table = np.array([*(self._code(value) for value in values), MISSING], dtype=np.int32)
        if self._most is not None and self._text is None:
            self._text = _first_text(values, places, first)
        if self._most is not None and len(self.codes) > self._most:
            self._too_many(values, first + len(places) - 1)
        return np.asarray(table[places])  # a missing one is place -1, the last

    def _code(self, value: Any) -> int:
        if value is None or value != value:
            return MISSING
        if not self._fixed:
            return self.codes.setdefault(value, len(self.codes))
        known = next((text for text in texts_of(value) if text in self.codes), None)
        if known is None:
            self.unseen = value if self.unseen is None else self.unseen
            return UNSEEN
        return self.codes[known]

    def refuse_mixed(self, counts: Mapping[str, int]) -> None:
        """Refuse a column of numbers in which few values or cells are not numbers: no category, but a slip.

        Parameters
        ----------
        counts : dict
            How many cells have each value.
        """
        if any(map(_CODE.fullmatch, counts)):  # 007 is a name, and so is 12 beside it
            return
        plain = [value for value in counts if is_number(value)]
        other = [value for value in counts if value not in set(plain)]
        odd = [value for value in other if means_number(value)]
        if not plain or len(odd) <= _SLIPS:  # 1,2 and 2,3 among 1, 2 and 3 are answers of several
            plain, other = plain + odd, [value for value in other if value not in set(odd)]
        few = len(other) < len(plain)
        slips = len(other) <= _SLIPS or 2 * sum(value.strip().lower() in _ABSENT for value in other) > len(other)
        rare = slips and sum(counts[value] for value in plain) >= max(_NUMBERS, _MOSTLY * sum(counts.values()))
        if not (few or rare) or (self._text is None and len(counts) <= (self._most or 0)):
            return
        where, name = f"{self._where}, ", self._name
        if self._text is None:  # more categories than may be
            raise ValueError(
                f"{where}column {name!r} is text, but its first values are numbers: make them numbers at the source or "
                f"with --sql, or leave the column out with --exclude {shlex.quote(name)}"
            )
        row, cell = self._text
        if not any(map(is_number, counts)):
            raise ValueError(
                f"{where}row {row:,}, column {name!r}: {quoted(cell)} is not read as a number: write numbers with the "
                f"digits 0 to 9 and a decimal point, or leave the column out with --exclude {shlex.quote(name)}"
            )
        raise ValueError(
            f"{where}row {row:,}, column {name!r} has numbers and also {quoted(cell)}, which is not a number: fix the "
            f"cell, leave it empty if the value is missing, or leave the column out with --exclude {shlex.quote(name)}"
        )

    def _too_many(self, values: Sequence[Any], row: int) -> None:
        texts = [str(value) for value in self.codes]
        self.refuse_mixed(dict.fromkeys(texts, 1))
        long = sum(map(len, texts)) / len(texts) >= _LONG
        name = self._name
        words = f"use it as text with --text {shlex.quote(name)}"
        ways = (
            f"{words}, exclude it with --exclude {shlex.quote(name)}"
            if long
            else f"exclude it with --exclude {shlex.quote(name)}, {words}"
        )
        kind = "looks like free text" if long else "looks like a name or an id"
        raise ValueError(
            f"{self._where}, column {name!r} has more than {self._most} categories within {row:,} rows and {kind}: "
            f"{ways}, or allow more with --max-levels"
        )


def _first_text(values: Sequence[Any], places: NDArray[Any], first: int) -> tuple[int, str] | None:
    """Return the first row of a text that is not a number, and that text; cells are given as places in ``values``."""
    other = np.array([isinstance(value, str) and not is_number(value) for value in values] + [False], dtype=bool)
    rows = np.flatnonzero(other[places]).tolist() if other.any() else []
    return (first + rows[0], values[int(places[rows[0]])]) if rows else None
