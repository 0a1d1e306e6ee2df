"""How cells of text stand for numbers: notations that a whole column has in common, as 1,234.50 and 12 km.

A notation is found from the different values of a column (``number_notation``), is kept in the model, and reads the
same column of other files (``read_numbers``). Dates and times are in date_notations.py.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.arrow_columns import as_floats, is_text, known, missing_text, text_column, values_of
from separatrix.tables.sources.cells import SPACES

# Cells that say that a value is missing, where all others of the column are numbers or dates.
ABSENT = frozenset(
    ("", "?", "-", "--", "\u2212", "\u2013", "\u2014", ".", "na", "n.a.", "n/a", "#n/a", "none", "null", "nil", "nan",
     "unknown", "missing")
)  # fmt: skip
_PLAIN = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_SIGN = "[+\u2212-]?"
SPACES_WITHIN = " \u00a0\u202f"
CURRENCIES = "$€£"
_MONEY = f"(?:[{CURRENCIES}][{SPACES_WITHIN}]?)?"
_TAIL = f"(?:[{SPACES_WITHIN}]?[%{CURRENCIES}])?"
# A number as -$3, $-3, or ($3) and $(3) for a negative one.
_WRITTEN = rf"{_SIGN}{_MONEY}(?:@){_TAIL}|{_MONEY}{_SIGN}(?:@){_TAIL}|{_MONEY}\({_MONEY}(?:@){_TAIL}\){_TAIL}"
_NUMBERS = {  # notation: what its numbers match, the thousands separators, the decimal mark
    "1234.5": (_PLAIN, "", "."),
    "1,234.5": (r"[1-9][0-9]{0,2}(?:,[0-9]{3})*(?:\.[0-9]*)?|0(?:\.[0-9]*)?|" + _PLAIN, ",", "."),
    "1234,5": (r"[0-9]+(?:,[0-9]+)?(?:[eE][+-]?[0-9]+)?", "", ","),
    "1.234,5": (r"[1-9][0-9]{0,2}(?:\.[0-9]{3})*(?:,[0-9]+)?|[0-9]+(?:,[0-9]+)?", ".", ","),
    "1'234.5": ("[1-9][0-9]{0,2}(?:['\u2019][0-9]{3})*(?:[.][0-9]*)?|0(?:[.][0-9]*)?|" + _PLAIN, "'\u2019", "."),
    "1 234,5": ("[1-9][0-9]{0,2}(?:[ \u00a0\u202f][0-9]{3})*(?:,[0-9]+)?|[0-9]+(?:,[0-9]+)?", " \u00a0\u202f", ","),
}
NUMBERS = tuple(_NUMBERS)
_UNIT = r"(?:[^\W\d_]|[°/·]){1,12}"  # km, km/h, °C, m²
_WITH_UNIT = re.compile(f"{_SIGN}[0-9.][0-9.,'\u2019{SPACES_WITHIN}]*?([{SPACES_WITHIN}]?)({_UNIT})")
_IN_PARENTHESES = re.compile(r"[^0-9]*\(([0-9]+)\)[^0-9]*")
_NO_DIGITS, _EXPONENT = re.compile("[^0-9.,]"), re.compile("[0-9][eE][+-]?[0-9]")
_EITHER = re.compile("[0-9]+|[1-9][0-9]{0,2}[.,][0-9]{3}")
_CODE = re.compile("0[0-9]+")  # digits with a zero in front: a name where all are equally long
_SEVERAL = re.compile("[0-9]{1,2}(?:,[0-9]{1,2})+")
_FEW = 20


def number_notation(values: Collection[str], *, sure: bool = False, decimal: str = "") -> str | None:
    """Return the notation in which all texts are numbers, but for those that say that one is missing; None if none.

    Where the decimal mark of the table is known, as in ``decimal``, notations with this mark come first. Codes with
    zeros in front, and answers of several as 1,2 among 1, 2 and 3, are numbers only where it is ``sure`` that these
    are numbers.

    Examples
    --------
    >>> number_notation(["1,234", "56", "?"]), number_notation(["0,5", "12,25"]), number_notation(["1", "none", "3"])
    ('1,234.5', '1234,5', '1234.5')
    >>> number_notation(["12 km", "3.5 km"]), number_notation(["12 km", "3 kg"]), number_notation(["12A", "13A"])
    ('1234.5 km', None, None)
    >>> number_notation(["007", "012"]), number_notation(["a", "1"]), number_notation(["?", "-"])
    (None, None, None)
    >>> number_notation(["00501", "90210"]), number_notation(["00501", "90210"], sure=True)
    (None, '1234.5')
    >>> number_notation(["1.549", "297"]), number_notation(["1.549", "297"], decimal=",")
    ('1234.5', '1.234,5')
    >>> number_notation(["(1,234.50)", "7.25"]), number_notation(["1'234.5", "8"]), number_notation(["(1)", "(2)"])
    ('1,234.5', "1'234.5", None)
    """
    sample = [text for value in values if (text := value.strip(SPACES)).lower() not in ABSENT]
    if not sample:
        return None
    digits = {len(text) for text in sample}
    if not sure and any(map(_CODE.fullmatch, sample)) and (len(digits) == 1 or all(text.isdigit() for text in sample)):
        return None  # 007 and 012, 00501 and 90210 are names
    if not sure and (are_answers(sample) or all_in_parentheses(sample)):  # (1) and (2) are names
        return None
    unit = _unit(sample)
    bare = [text.removesuffix(unit).rstrip(SPACES_WITHIN) for text in sample] if unit else sample
    marked = decimal and any("." in text or "," in text for text in bare)
    for notation in sorted(_NUMBERS, key=lambda each: marked and _NUMBERS[each][2] != decimal):
        match = _pattern(notation).fullmatch
        if all(map(match, bare)):
            return f"{notation} {unit}" if unit else notation
    return None


def either_mark(values: Iterable[str]) -> str:
    """Return the mark of numbers that could be decimals or have thousands apart: 1.549 and 297. Empty if none could.

    Examples
    --------
    >>> either_mark(["1.549", "297"]), either_mark(["$1,549", "?"]), either_mark(["1.549", "0.82"]), either_mark(["1"])
    ('.', ',', '', '')
    """
    marks: set[str] = set()
    for value in values:
        text = value.strip(SPACES)
        if text.lower() in ABSENT:
            continue
        digits = _NO_DIGITS.sub("", text)
        if _EITHER.fullmatch(digits) is None or _EXPONENT.search(text):
            return ""
        marks |= {mark for mark in ".," if mark in digits}
    return marks.pop() if len(marks) == 1 else ""


def decimal_mark(notation: str, values: Iterable[str]) -> str:
    """Return the decimal mark that texts in a notation show: empty where none has one, and where it is not certain.

    Examples
    --------
    >>> decimal_mark("1234,5", ["0,82"]), decimal_mark("1,234.5", ["1,549"]), decimal_mark("1234.5", ["7"])
    (',', '', '')
    """
    every = list(values)
    base, _ = _parted(notation)
    _, thousands, decimal = _NUMBERS[base]
    shown = any(decimal in text for text in every) or (len(thousands) == 1 and any(thousands in text for text in every))
    return decimal if shown and not either_mark(every) else ""


def _unit(sample: Sequence[str]) -> str:
    """Return the unit that follows all numbers, empty if there is none; without a space it has two letters or more."""
    match = _WITH_UNIT.fullmatch(sample[0])
    if match is None or (not match[1] and len(match[2]) < 2) or match[2].lower() in ("am", "pm"):
        return ""
    return match[2] if all(text.endswith(match[2]) for text in sample) else ""


def is_number_notation(notation: str) -> bool:
    """Return whether this is a notation of numbers, with or without a unit.

    Examples
    --------
    >>> is_number_notation("1,234.5"), is_number_notation("1 234,5 km/h"), is_number_notation("1234.5 12")
    (True, True, False)
    """
    return any(
        notation == each or (notation.startswith(f"{each} ") and re.fullmatch(_UNIT, notation[len(each) + 1 :]))
        for each in NUMBERS
    )


def _parted(notation: str) -> tuple[str, str]:
    """Return a notation of numbers without its unit, and the unit."""
    base = next(each for each in NUMBERS if f"{notation} ".startswith(f"{each} "))
    return base, notation[len(base) + 1 :]


def number_parts(notation: str) -> tuple[str, str, str]:
    """Return the marks of thousands, the decimal mark and the unit of a notation of numbers.

    Examples
    --------
    >>> number_parts("1,234.5 km"), number_parts("1234,5")
    ((',', '.', 'km'), ('', ',', ''))
    """
    base, unit = _parted(notation)
    return *_NUMBERS[base][1:], unit


def are_answers(sample: Collection[str]) -> bool:
    """Return whether few texts are answers of one or several: 1,2 and 1,3 among at least as many of 1, 2 and 3.

    Examples
    --------
    >>> are_answers(["1", "2", "1,2"]), are_answers(["1", "2", "1,2", "1,2,3"]), are_answers(["7", "12,5"])
    (True, True, False)
    """
    if len(sample) > _FEW:
        return False
    several = [[int(part) for part in text.split(",")] for text in sample if _SEVERAL.fullmatch(text)]
    ascending = all(first < second for parts in several for first, second in itertools.pairwise(parts))
    single = sum(text.isdigit() for text in sample)
    return bool(several) and ascending and len(several) <= single == len(sample) - len(several)


def all_in_parentheses(sample: Collection[str]) -> bool:
    """Return whether all texts are whole numbers in parentheses, as (1), (2), (3): names rather than negative numbers.

    Examples
    --------
    >>> all_in_parentheses(["(1)", "(2)"]), all_in_parentheses(["(1)", "2"]), all_in_parentheses(["(1.50)"])
    (True, False, False)
    """
    return all(map(_IN_PARENTHESES.fullmatch, sample))


def not_in(notation: str, values: Iterable[str]) -> list[str]:
    """Return the texts that are not numbers of a notation, nor say that one is missing.

    Examples
    --------
    >>> not_in("1234,5", ["0,5", "7", "?", "abc", "1.5"])
    ['abc', '1.5']
    """
    match = _pattern(notation).fullmatch
    return [each for each in values if not match(text := each.strip(SPACES)) and text.lower() not in ABSENT]


def _pattern(notation: str) -> re.Pattern[str]:
    return re.compile(written(_NUMBERS[notation][0]))


def written(number: str) -> str:
    """Return the regular expression of numbers with signs, currencies, per cent and parentheses around ``number``."""
    return f"(?:{_WRITTEN.replace('@', number)})"


def read_numbers(column: Any, notation: str) -> Floats:
    """Return the numbers of an Arrow column of text, NaN where one is missing; a cell that is none is a ValueError.

    The error's only argument is the place of the first such cell.

    Examples
    --------
    >>> import pyarrow as pa
    >>> read_numbers(pa.array(["1,234", " 5.5 ", "?", None]), "1,234.5")
    array([1234. ,    5.5,    nan,    nan])
    >>> read_numbers(pa.array(["1.234,5", "1.234", "1.5"]), "1.234,5")  # the last is in no other notation than 1234.5
    array([1234.5, 1234. ,    1.5])
    >>> read_numbers(pa.array(["12 km", "3.5km", "7"]), "1234.5 km")
    array([12. ,  3.5,  7. ])
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    if not is_text(column):
        return as_floats(column)
    encoded = column.dictionary_encode()
    texts = pc.utf8_trim(encoded.dictionary.cast(pa.string()), SPACES)
    base, unit = _parted(notation)
    pattern, thousands, decimal = _NUMBERS[base]
    bare = pc.replace_substring_regex(texts, f"[{SPACES_WITHIN}]?{re.escape(unit)}$", "") if unit else texts
    fits = pc.match_substring_regex(bare, f"^{written(pattern)}$")
    plain = pc.match_substring_regex(texts, f"^{_SIGN}{_PLAIN}$")  # another file may be written so
    marks = pc.replace_substring_regex(bare, f"[{CURRENCIES}%){SPACES_WITHIN}{thousands}]", "")
    digits = pc.if_else(fits, pc.replace_substring(pc.replace_substring(marks, decimal, "."), "(", "-"), texts)
    digits = pc.replace_substring_regex(pc.replace_substring(digits, "\u2212", "-"), r"^\+", "")
    fits = pc.or_(fits, plain)
    numbers = pc.if_else(fits, digits, missing_text()).cast(pa.float64())
    numbers = np.append(as_floats(numbers), np.nan)
    absent = pc.is_in(pc.utf8_lower(texts), text_column(sorted(ABSENT)))
    bad = np.append(~np.array(pc.or_(fits, absent).to_pylist(), dtype=bool), False)
    places = np.where(known(encoded.indices), values_of(encoded.indices, np.int32), len(texts))
    if bad.any() and (wrong := bad[places]).any():
        raise ValueError(int(np.flatnonzero(wrong)[0]))
    return np.asarray(numbers[places])
