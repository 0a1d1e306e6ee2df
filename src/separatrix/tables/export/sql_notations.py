"""Numbers that are text in a table, as 1,234.50 or 12 km, in SQL that DuckDB, PostgreSQL and SQLite read alike.

The three have no pattern matching in common but LIKE, so what is not a number is told by what is left when signs,
currencies and digits are trimmed away. A text that ``predict`` refuses has no value, and its row no prediction.
"""

from __future__ import annotations

from typing import NamedTuple

from separatrix.tables.notations import ABSENT, CURRENCIES, number_parts
from separatrix.tables.sources.cells import SPACES

_DIGITS = "'0123456789'"
_BLANKS = " \t\n\v\f\r\x85\xa0"  # fewer: a database that knows only bytes would trim bytes of dashes
_AROUND = SPACES + CURRENCIES
_GROUPS = 5  # of three digits behind the first: numbers below 10^18


class NumberText(NamedTuple):
    """Expressions about a cell: whether it is missing, whether it is a number, and the number if it is one."""

    missing: str
    valid: str
    value: str


def number_text(cell: str, notation: str) -> NumberText:
    """Return what SQL says of a cell, which is text in a notation of numbers.

    Parameters
    ----------
    cell : str
        The cell as an expression, as in ``t."x"``.
    notation : str
        The notation, as in ``1,234.5 km``.

    Examples
    --------
    >>> import sqlite3
    >>> database = sqlite3.connect(":memory:")
    >>> _ = database.execute("CREATE TABLE t (x TEXT)")
    >>> _ = database.executemany("INSERT INTO t VALUES (?)", [("1.234,5 km",), ("7",), ("1.5",), ("?",), ("far",)])
    >>> made = number_text("t.x", "1.234,5 km")
    >>> database.execute(f"SELECT {made.value} FROM t WHERE {made.valid}").fetchall()
    [(1234.5,), (7.0,), (1.5,)]
    >>> database.execute(f"SELECT x FROM t WHERE {made.missing}").fetchall()
    [('?',)]
    >>> database.close()
    """
    thousands, decimal, unit = number_parts(notation)
    text = f"CAST({cell} AS TEXT)"
    absent = ", ".join(_quoted(word) for word in sorted(ABSENT))
    missing = f"({cell} IS NULL OR lower({_trimmed(text, _BLANKS, _BLANKS)}) IN ({absent}))"
    bare = f"replace({text}, {_quoted(unit)}, '')" if unit else text
    number = _trimmed(bare, f"{_AROUND}(+-\u2212", f"{_AROUND})%")  # without its sign
    for mark in thousands[1:]:
        number = f"replace({number}, {_quoted(mark)}, {_quoted(thousands[0])})"
    negative = f"ltrim({text}, {_quoted(_AROUND)}) LIKE '-%' OR {text} LIKE '%\u2212%' OR {text} LIKE '%(%'"
    plain = f"replace({number}, {_quoted(thousands[0])}, '')" if thousands else number
    plain = f"replace({plain}, ',', '.')" if decimal == "," else plain
    valid = _is_plain(plain)
    if thousands:
        valid = f"({valid} AND {_is_grouped(number, thousands[0], decimal)})"
    if decimal == ",":
        valid = f"({valid} AND {number} NOT LIKE ',%' AND {number} NOT LIKE '%,')"
    if thousands[:1] == ".":  # 1.5 is in no such notation, but a number
        unsigned = _trimmed(text, f"{SPACES}+-\u2212", SPACES)
        valid = f"({valid} OR {_is_plain(unsigned)})"
        noted = f"{number} LIKE '%,%' OR {number} LIKE '%.%.%'"
        noted += f" OR ({number} LIKE '%.___' AND length({number}) <= 7 AND {number} NOT LIKE '0%')"
        plain = f"CASE WHEN {noted} THEN {plain} ELSE {number} END"
    paired = f"({text} LIKE '%(%)%' OR ({text} NOT LIKE '%(%' AND {text} NOT LIKE '%)%'))"
    value = f"CAST({plain} AS DOUBLE PRECISION)"
    return NumberText(missing, f"({paired} AND {valid})", f"CASE WHEN {negative} THEN -{value} ELSE {value} END")


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _trimmed(text: str, left: str, right: str) -> str:
    return f"ltrim(rtrim({text}, {_quoted(right)}), {_quoted(left)})"


def _is_decimal(text: str) -> str:
    """Return whether a text has digits and at most one point."""
    return f"(rtrim(ltrim({text}, {_DIGITS}), {_DIGITS}) IN ('', '.') AND {text} NOT IN ('', '.'))"


def _is_plain(text: str) -> str:
    """Return whether a text is a number without a sign, perhaps with an exponent."""
    head = f"rtrim({text}, {_DIGITS})"  # of 1.5e-07: 1.5e-
    exponent = f"lower({head}) LIKE '%e' OR lower({head}) LIKE '%e-' OR lower({head}) LIKE '%e+'"
    mantissa = _is_decimal(f"rtrim({head}, 'eE+-')")
    return f"({_is_decimal(text)} OR (({exponent}) AND {head} <> {text} AND {mantissa}))"


def _is_grouped(text: str, mark: str, decimal: str) -> str:
    """Return whether there are no marks of thousands in a number, or one before every third digit from the end."""
    head = f"rtrim({text}, {_DIGITS})"
    whole = f"CASE WHEN {head} LIKE '%{decimal}' THEN rtrim({head}, '{decimal}') ELSE {text} END"
    whole = f"({whole})"
    own = mark.replace("'", "''")
    marks = f"length({text}) - length(replace({text}, '{own}', ''))"
    cases = " OR ".join(
        f"({marks} = {n} AND {whole} LIKE '%{(own + '___') * n}' AND length({whole}) <= {4 * n + 3} "
        f"AND length({whole}) > {4 * n})"
        for n in range(1, _GROUPS + 1)
    )
    return f"({text} NOT LIKE '%{own}%' OR ({text} NOT LIKE '0%' AND {whole} NOT LIKE '%{decimal}%' AND ({cases})))"
