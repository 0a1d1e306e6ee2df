r"""What a cell of text is: missing, a number, a whole number, a flag, a date or a time; else text.

This is the definition; the core has the same one for whole columns (``csv_cells.hpp``). A column has a type if all its
cells that are not missing have it. Whole numbers with a zero in front are text, as ZIP codes are. White space around a
number is not part of it, be it of ASCII or Unicode. The core's reader of plain files (``plain_csv``) reads a subset of
the numbers and leaves all other cells to its reader of any file (``csv_rows``).
"""

from __future__ import annotations

import re
import unicodedata
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from separatrix.loop.problem import as_exact

MISSING_CELLS = ("", "NA", "N/A", "NaN", "nan", "NULL", "null")


def _any_case(word: str) -> str:
    return "".join(f"[{letter.lower()}{letter.upper()}]" for letter in word)


SPACES = (
    " \t\n\v\f\r\x85\xa0\u1680\u180e"
    + "".join(map(chr, [*range(0x2000, 0x2010), *range(0x2028, 0x2030)]))
    + "\u205f\u2060\u3000\ufeff"
)  # also what has no width, as a byte order mark
_SPACE = f"[{SPACES}]*"
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
        The regular expression that the cell matches.
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


def _fits_64_bits(cell: str) -> bool:
    digits = cell.strip(SPACES)
    return len(digits) <= 20 and -(2**63) <= int(digits) < 2**63


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

_THOUSANDS = re.compile(r"(?<=[0-9])[,'\u2019](?=[0-9]{3}(?:[,'\u2019][0-9]{3})*(?:\.[0-9]*)?\s*$)")
_NEGATIVE = re.compile(r"^\s*\((.*)\)\s*$")
_COMMA = re.compile(r"^([^,]*),([^,]*)$")
_EXACT = re.compile(f"{_SPACE}[+-]?(?:{_FINITE}|[0-9]+/0*[1-9][0-9]*){_SPACE}")


def is_number(cell: str) -> bool:
    """Return whether a text is written like a number; 007 is not, but a name.

    Examples
    --------
    >>> [is_number(text) for text in ("7", "-0.5", "1e3", "007", "1_0", "seven")]
    [True, True, True, False, False, False]
    """
    return NUMBER.accepts(cell)


def means_number(cell: str) -> bool:
    """Return whether a text is a number, or one in another notation: other digits, a comma, a long minus.

    Examples
    --------
    >>> [means_number(text) for text in ("7", "\uff17", "\u22127", "0,5", "1,000.5", "007", "A1", "1,2,3")]
    [True, True, True, True, True, False, False, False]
    >>> means_number("(1,234.50)"), means_number("1'234.50"), means_number("(a)")
    (True, True, False)
    """
    plain = "".join(str(unicodedata.decimal(letter, letter)) for letter in cell).replace("\u2212", "-")
    plain = _NEGATIVE.sub(r"\1", plain)
    return is_number(plain) or is_number(_THOUSANDS.sub("", plain)) or is_number(_COMMA.sub(r"\1.\2", plain))


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
    try:
        return as_exact(cell.strip(SPACES)) if _EXACT.fullmatch(cell) else None
    except ValueError:  # 1e999999999
        return None
