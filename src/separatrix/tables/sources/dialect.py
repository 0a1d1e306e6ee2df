"""How a CSV file is written, detected from its beginning: the delimiter, the header, and the types of the first rows.

The first line that is not blank has the names of the columns; one with numbers only is refused. The delimiter is the
one of ``,``, ``;``, tab and ``|`` that cuts the first rows into equally many cells, unless it is given. Cells may be in
double quotes.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections.abc import Iterator
from typing import NamedTuple

from separatrix import _core
from separatrix.tables.sources.cells import MISSING_CELLS, NUMBER, TEXT, WHOLE, cell_type, is_number
from separatrix.tables.sources.csv_rows import problem_text
from separatrix.tables.sources.messages import path_text
from separatrix.tables.sources.peeking import Peek, ending_of

_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"(?:[^\S\r\n]*(?:\r\n|\n|\r))*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_DELIMITERS = ",;\t|"
_NAMED = {"\\t": "\t", "tab": "\t", "space": " "}
_SNIFFED = 200_000  # characters that show the delimiter
_ROWS = 1000  # rows that suggest the types of a file that may be plain
_ENOUGH = 100  # cells of a column that suggest its type
EXACT_DIGITS = 15  # digits of a whole number that a float surely holds


class Dialect(NamedTuple):
    """How a CSV file is written.

    Attributes
    ----------
    names : list of str
        The names of the columns.
    delimiter : str
        One character.
    skip, start : int
        Blank lines before the header, and the byte at which it begins.
    row : float
        Bytes of an average row.
    """

    names: list[str]
    delimiter: str
    skip: int
    start: int
    row: float


def check_delimiter(text: str) -> str:
    """Return the delimiter that a person means."""
    delimiter = _NAMED.get(text, text)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"the delimiter must be one character other than a quote; got {delimiter!r}")
    return delimiter


def read_dialect(peek: Peek, name: str, delimiter: str | None) -> Dialect | None:
    """Read the header of a CSV file, and find its delimiter if that is None; None if more of the file is needed."""
    text = _decoded(peek, name)
    blank = _BLANK.match(text)
    before = blank.group() if blank else ""
    body = text[len(before) :]
    if not body.strip():
        raise ValueError(f"{path_text(name)} is empty: it has blank lines only")
    skip = len(_LINE_END.findall(before))
    if delimiter is None:
        preferred = {".tsv": "\t", ".psv": "|"}.get(ending_of(name), "")
        delimiter = _delimiter(body, peek.whole, preferred)
    try:
        cells = _core.csv_header(body.encode(), delimiter.encode(), peek.whole)
    except _core.CsvProblem as problem:
        raise ValueError(problem_text(problem, path_text(name), (), skip)) from None
    if cells is None:
        return None
    names = [cell.decode().strip() for cell in cells]
    if all(is_number(cell) for cell in names):
        raise ValueError(
            f"the first line of {path_text(name)} has numbers only; a header line with the names of the columns is "
            "needed"
        )
    known: set[str] = set()
    for place, cell in enumerate(names, start=1):
        if not cell:
            raise ValueError(f"{path_text(name)} has no name for column {place} in its header line")
        if cell in known:
            raise ValueError(f"{path_text(name)} has two columns called {cell!r}")
        known.add(cell)
    mark = len(_BOM) if peek.head.startswith(_BOM) else 0
    return Dialect(names, delimiter, skip, mark + len(before.encode()), len(text.encode()) / max(1, text.count("\n")))


def first_types(peek: Peek, dialect: Dialect) -> list[str] | None:
    """Return the types that the first rows suggest, None if they are not certain.

    A large file that turns out to be plain then needs no closer look.
    """
    try:
        text = peek.head.decode("utf-8-sig", errors="strict" if peek.whole else "ignore")
        rows = list(itertools.islice(_rows(text, dialect.delimiter, strict=True), 1, _ROWS + 1))
    except csv.Error:
        return None
    rows = rows if peek.whole or len(rows) == _ROWS else rows[:-1]  # the last may be cut
    if len(rows) < _ENOUGH or any(len(row) != len(dialect.names) for row in rows):
        return None
    types = []
    for column in zip(*rows, strict=True):
        cells = [cell for cell in column if cell not in MISSING_CELLS]
        if len(cells) < _ENOUGH:
            return None
        if all(map(WHOLE.accepts, cells)) and max(map(len, cells)) <= EXACT_DIGITS:
            types.append(WHOLE.name)
        elif all(map(NUMBER.accepts, cells)):
            types.append(NUMBER.name)
        elif all(cell_type(cell) == TEXT for cell in cells):
            types.append(TEXT)
        else:
            return None
    return types


def _rows(text: str, delimiter: str, strict: bool = False) -> Iterator[list[str]]:
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=strict)


def _decoded(peek: Peek, name: str) -> str:
    raw = peek.head
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{path_text(name)} is text in UTF-16; save it as UTF-8")
    if b"\x00" in raw:
        half = raw[:2000]
        if max(half[::2].count(0), half[1::2].count(0)) > len(half) * 0.4:
            raise ValueError(f"{path_text(name)} is text in UTF-16; save it as UTF-8")
        raise ValueError(f"{path_text(name)} is not text; a CSV file is needed")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if not peek.whole and problem.start > len(raw) - 4:
            return raw[: problem.start].decode("utf-8-sig")
        control = sum(byte < 9 or 13 < byte < 27 for byte in raw[:2000])
        if control > len(raw[:2000]) * 0.05:
            raise ValueError(f"{path_text(name)} is not text; a CSV file is needed") from None
        line = raw[: problem.start].count(b"\n") + 1
        raise ValueError(f"{path_text(name)}, line {line}: the text is not UTF-8; save the file as UTF-8") from None


def _delimiter(text: str, whole: bool, preferred: str) -> str:
    """Choose what cuts the first rows into as many cells as the header, and among those what cuts most."""
    best, best_score = preferred or ",", (0.0, 0)
    for letter in dict.fromkeys(preferred + _DELIMITERS):
        try:
            rows = [len(row) for row in itertools.islice(_rows(text[:_SNIFFED], letter), 51)]
        except csv.Error:
            continue
        if len(rows) > 2 and not (whole and len(text) <= _SNIFFED):
            rows = rows[:-1]  # the last may be cut
        if not rows or rows[0] < 2:
            continue
        alike = sum(cells == rows[0] for cells in rows) / len(rows)
        score = (round(alike, 1) if alike > 0.5 else 0.1, rows[0])
        if score > best_score or letter == preferred:
            best, best_score = letter, score
        if letter == preferred:
            break
    return best
