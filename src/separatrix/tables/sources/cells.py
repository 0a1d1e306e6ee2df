r"""What a cell of text is: missing, a number, a whole number, a flag, a date or a time; else text.

This is decided here and nowhere else. Each `CellType` has one regular expression, which Python and DuckDB both match.
A column has a type if all its cells that are not missing have it. Whole numbers with a zero in front are text, as ZIP
codes are. The core's reader (``plain_csv``) reads a subset of the numbers and leaves all other cells to DuckDB.
"""

from __future__ import annotations

import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from separatrix.loop.problem import as_exact

MISSING_CELLS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")


def _any_case(word: str) -> str:
    return "".join(f"[{letter.lower()}{letter.upper()}]" for letter in word)


_SPACE = r"[ \t\n\v\f\r]*"
_WHOLE = r"(?:0|[1-9][0-9]*)"
_EXPONENT = r"[eE][+-]?[0-9]+"
_FINITE = rf"{_WHOLE}|[0-9]+{_EXPONENT}|(?:[0-9]+\.[0-9]*|\.[0-9]+)(?:{_EXPONENT})?"
_DATE = "[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}"
_TIME = r"(?:(?:[01]?[0-9]|2[0-3]):[0-5][0-9](?::[0-5]?[0-9](?:\.[0-9]*)?)?|24:00(?::00)?)"
_ZONE = "(?:Z|[+-][0-9]{2}(?::?[0-5][0-9])?)"


@dataclass(frozen=True)
class CellType:
    """A type that a cell can have.

    Parameters
    ----------
    name : str
        As DuckDB calls it.
    pattern : str
        The regular expression that the cell matches, in the syntax that Python and RE2 share.
    exists : callable, optional
        Whether a cell that matches has a value: there is no 30 February, and no whole number beyond 64 bits.
    """

    name: str
    pattern: str
    exists: Callable[[str], bool] | None = None

    @cached_property
    def _matches(self) -> Any:
        return re.compile(self.pattern).fullmatch

    def accepts(self, cell: str) -> bool:
        """Return whether a cell that is not missing has this type."""
        return self._matches(cell) is not None and (self.exists is None or self.exists(cell))

    def sql(self, cell: str) -> str:
        """Return the condition on a cell, an SQL expression, that `accepts` states."""
        condition = f"regexp_full_match({cell}, '{self.pattern}')"
        return condition if self.exists is None else f"{condition} and try_cast({cell} as {self.name}) is not null"


def _fits_64_bits(cell: str) -> bool:
    return len(cell) <= 18 or (len(cell.strip()) <= 20 and -(2**63) <= int(cell) < 2**63)


def _is_in_calendar(cell: str) -> bool:
    year, month, day = map(int, re.split("[ T]", cell)[0].split("-"))
    return 1 <= month <= 12 and 1 <= day <= monthrange(year or 4, month)[1]  # the year 0 is a leap year


WHOLE = CellType("BIGINT", f"{_SPACE}[+-]?{_WHOLE}{_SPACE}", _fits_64_bits)
NUMBER = CellType(
    "DOUBLE",
    f"{_SPACE}[+-]?(?:{_FINITE}|{_any_case('inf')}(?:{_any_case('inity')})?|{_any_case('nan')}){_SPACE}",
)
FLAG = CellType("BOOLEAN", f"{_any_case('true')}|{_any_case('false')}")
DATES = (
    CellType("DATE", _DATE, _is_in_calendar),
    CellType("TIMESTAMP", f"{_DATE}(?:[ T]{_TIME})?", _is_in_calendar),
    CellType("TIMESTAMPTZ", f"{_DATE}[ T]{_TIME}{_ZONE}", _is_in_calendar),
    CellType("TIME", _TIME),
)
TEXT = "VARCHAR"
TYPES = {kind.name: kind for kind in (WHOLE, NUMBER, FLAG, *DATES)}  # the first that all cells have is the column's
WIDER = {"BIGINT": "DOUBLE", "DATE": "TIMESTAMP"}  # what a column may become when more rows are read

_EXACT = re.compile(f"{_SPACE}[+-]?(?:{_FINITE}|[0-9]+/0*[1-9][0-9]*){_SPACE}")


def is_number(cell: str) -> bool:
    """Return whether a text is written like a number; 007 is not, but a name.

    Examples
    --------
    >>> [is_number(text) for text in ("7", "-0.5", "1e3", "007", "1_0", "seven")]
    [True, True, True, False, False, False]
    """
    return NUMBER.accepts(cell)


def cell_type(cell: str) -> str | None:
    """Return the type of one cell, None if it is missing.

    Examples
    --------
    >>> [cell_type(text) for text in ("7", "7.0", "007", "true", "2024-01-05", "NA")]
    ['BIGINT', 'DOUBLE', 'VARCHAR', 'BOOLEAN', 'DATE', None]
    """
    if cell in MISSING_CELLS:
        return None
    return next((name for name, kind in TYPES.items() if kind.accepts(cell)), TEXT)


def exact_number(cell: str) -> Any:
    """Return the int or Fraction that a cell is: a finite number, or a ratio of whole numbers; None if it is neither.

    Examples
    --------
    >>> exact_number("0.1"), exact_number(" 4 "), exact_number("1/3"), exact_number("007"), exact_number("inf")
    (Fraction(1, 10), 4, Fraction(1, 3), None, None)
    """
    return as_exact(cell.strip()) if _EXACT.fullmatch(cell) else None
