"""How a CSV file is written, detected from its beginning: the delimiter, the header, and the types of the first rows.

The first line that is not blank has the names of the columns, unless the file is said to have none: then they are
called c1, c2 and so on, as is a column without a name. A first line that is data for certain is refused. The delimiter
is the one of ``,``, ``;``, tab and ``|`` that cuts the first rows into equally many cells, unless it is given or a line
``sep=;`` before the header says so. Cells may be in double quotes.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from separatrix import _core
from separatrix.tables.sources.cells import MISSING_CELLS, NUMBER, TEXT, WHOLE, cell_type, is_number
from separatrix.tables.sources.compression import ending_of
from separatrix.tables.sources.csv_rows import problem_text, requoted
from separatrix.tables.sources.messages import path_text, quoted
from separatrix.tables.sources.peeking import Peek
from separatrix.tables.sources.text_encoding import is_text, not_utf8

_BOM = b"\xef\xbb\xbf"
_BLANK = re.compile(r"(?:[^\S\r\n]*(?:\r\n|\n|\r))*")
_LINE_END = re.compile(r"\r\n|\n|\r")
_SEP = re.compile(r'"?sep=([^\r\n"])"?(?:\r\n|\n|\r)', re.IGNORECASE)  # what spreadsheets write and read
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
        Lines before the header, blank or with the delimiter, and the byte at which it begins.
    row : float
        Bytes of an average row.
    header : bytes
        A line to put before the rows, if the file has none; it ends as the first line does.
    before : int
        Lines of the file that are not in the text.
    spaced : bool
        Whether a space follows each delimiter of the first rows: it is no part of a text then.
    unnamed : tuple of str
        The names of those columns that have none in the file.
    """

    names: list[str]
    delimiter: str
    skip: int
    start: int
    row: float
    header: bytes = b""
    before: int = 0
    spaced: bool = False
    unnamed: tuple[str, ...] = ()


def check_delimiter(text: str) -> str:
    """Return the delimiter that a person means."""
    delimiter = _NAMED.get(text, text)
    if len(delimiter) != 1 or delimiter in '"\r\n':
        raise ValueError(f"the delimiter must be one character other than a quote; got {delimiter!r}")
    return delimiter


def read_dialect(
    peek: Peek, path: str, name: str, delimiter: str | None, *, header: bool = True, quotes: bool = True
) -> Dialect | None:
    """Read the header of a CSV file, and find its delimiter if that is None; None if more of the file is needed.

    Parameters
    ----------
    peek : Peek
        The beginning of the file.
    path, name : str
        The file, and what messages call it.
    delimiter : str or None
        The delimiter, if it is given.
    header, quotes : bool
        Whether the first line has names, and whether cells may be in double quotes.
    """
    text = _decoded(peek, path, name)
    blank = _BLANK.match(text)
    before = blank.group() if blank else ""
    sep = _SEP.match(text, len(before))
    if sep is not None:
        before += sep.group()
        delimiter = delimiter or sep.group(1)
    body = text[len(before) :]
    if not body.strip():
        raise ValueError(f"{path_text(name)} is empty: it has blank lines only")
    skip = len(_LINE_END.findall(before))
    if delimiter is None:
        preferred = {".tsv": "\t", ".psv": "|"}.get(ending_of(name), "")
        delimiter = _delimiter(body, peek.whole, preferred, quotes)
    raw = body.encode()
    try:
        first = raw if quotes else b"".join(requoted([raw], delimiter.encode()))
        cells = _core.csv_header(first, delimiter.encode(), peek.whole)
    except _core.CsvProblem as problem:
        raise ValueError(problem_text(problem, path_text(name), (), skip)) from None
    if cells is None:
        return None
    names = [cell.decode().strip() for cell in cells]
    mark = len(_BOM) if peek.head.startswith(_BOM) else 0
    row = len(text.encode()) / max(1, text.count("\n"))
    start = mark + len(before.encode())
    rows = _first_rows(body, peek.whole, delimiter, quotes)
    spaced = len(names) > 1 and bool(rows) and all(cell[:1] == " " for cells in rows for cell in cells[1:] if cell)
    if not header:
        names = [f"c{place}" for place in range(1, len(names) + 1)]
        end = _LINE_END.search(body)
        line = delimiter.join(names) + (end.group() if end else "\n")
        return Dialect(names, delimiter, skip, start, row, line.encode(), spaced=spaced)
    if all(is_number(cell) for cell in names):
        raise ValueError(
            f"the first line of {path_text(name)} has numbers only; give --no-header if it is data, or put a line with "
            "the names of the columns before it"
        )
    named = _named(names)
    unnamed = tuple(new for new, old in zip(named, names, strict=True) if not old)
    wrong = _name_problem(names)
    if _is_data(names, rows, possible=wrong is None):
        why = f" ({wrong[1]})" if wrong else ""
        raise ValueError(
            f"the first line of {path_text(name)} looks like data, not like names of columns{why}; give --no-header if "
            "it is data, or put a line with the names before it"
        )
    twice = len({*named}) < len(named)
    if wrong and (twice or 2 * len(unnamed) > len(names)):
        raise ValueError(f"{path_text(name)} {wrong[0]}{_renamed_by_query(name) if twice else ''}")
    return Dialect(named, delimiter, skip, start, row, spaced=spaced, unnamed=unnamed)


def header_hint(absent: Iterable[str], known: Iterable[str]) -> str:
    """Return what to add to the message about columns that a table lacks, if they are those of a file without header.

    Examples
    --------
    >>> header_hint(["c1", "c15"], ["39", "State-gov"])
    '; if its first line is data, give --no-header'
    >>> header_hint(["age"], ["39"]), header_hint(["c3"], ["c1", "c2"])
    ('', '')
    """
    called = re.compile("c[1-9][0-9]*").fullmatch
    if all(map(called, absent)) and not any(map(called, known)):
        return "; if its first line is data, give --no-header"
    return ""


def _named(names: Sequence[str]) -> list[str]:
    """Return the names, those that are empty replaced by c and the place of the column.

    Examples
    --------
    >>> _named(["", "a", "c3", "", "a"])
    ['c1', 'a', 'c3', 'c4', 'a']
    >>> _named(["", "c1"])
    ['c1_', 'c1']
    """
    named = []
    for place, name in enumerate(names, start=1):
        made = name or f"c{place}"
        while not name and made in names:
            made += "_"
        named.append(made)
    return named


def _renamed_by_query(name: str) -> str:
    """Return a hint at the query that reads a file with two columns of one name, if DuckDB reads such files."""
    if not (os.path.isfile(name) and name.lower().endswith((".csv", ".tsv", ".csv.gz"))):
        return ""
    query = "select * from '" + name.replace("'", "''") + "'"
    return f"; rename one, or give --sql {shlex.quote(query)} in place of the file, which reads it as NAME_1"


def _name_problem(names: Sequence[str]) -> tuple[str, str] | None:
    """Return what is wrong with names, as it is said of the file, and of the line."""
    known: set[str] = set()
    for cell in names:
        if cell and cell in known:
            return f"has two columns called {cell!r}", f"{quoted(cell)} is there twice"
        known.add(cell)
    for place, cell in enumerate(names, start=1):
        if not cell:
            return f"has no name for column {place} in its header line", f"cell {place} is empty"
    return None


def _is_data(names: Sequence[str], rows: Sequence[Sequence[str]], *, possible: bool) -> bool:
    """Return whether the cells of a first line are like those below: values come again, numbers stand over numbers.

    One of the two is enough where the cells cannot be names; where they can (as years can, and wavelengths), both must
    be.
    """
    rows = [row for row in rows if len(row) == len(names)]
    if not rows:
        return False
    numbers = values = False
    for cell, column in zip(names, zip(*rows, strict=True), strict=True):
        below = [text.strip() for text in column if text.strip() not in MISSING_CELLS]
        if is_number(cell):
            numbers |= bool(below) and all(map(is_number, below))
        else:
            values |= cell not in MISSING_CELLS and cell in below
    return (numbers and values) if possible else (numbers or values)


def _first_rows(text: str, whole: bool, delimiter: str, quotes: bool) -> list[list[str]]:
    """Return some rows below the first."""
    try:
        rows = list(itertools.islice(_rows(text[:_SNIFFED], delimiter, quotes=quotes), 1, _ENOUGH))
    except csv.Error:
        return []
    return rows if whole and len(text) <= _SNIFFED else rows[:-1]  # the last may be cut


def first_types(peek: Peek, dialect: Dialect) -> list[str] | None:
    """Return the types that the first rows suggest, None if they are not certain.

    A large file that turns out to be plain then needs no closer look.
    """
    try:
        text = peek.head.decode("utf-8-sig", errors="strict" if peek.whole else "ignore")
        first = 0 if dialect.header else 1
        rows = list(itertools.islice(_rows(text, dialect.delimiter, strict=True), first, _ROWS + first))
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


def _rows(text: str, delimiter: str, strict: bool = False, quotes: bool = True) -> Iterator[list[str]]:
    lines = io.StringIO(text, newline="")
    if not quotes:
        return csv.reader(lines, delimiter=delimiter, strict=strict, quoting=csv.QUOTE_NONE)
    return csv.reader(lines, delimiter=delimiter, strict=strict)


def _decoded(peek: Peek, path: str, name: str) -> str:
    raw = peek.head
    if b"\x00" in raw:
        raise ValueError(f"{path_text(name)} is not text; a CSV file is needed")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if not peek.whole and problem.start > len(raw) - 4:
            return raw[: problem.start].decode("utf-8-sig")
        if not is_text(raw):
            raise ValueError(f"{path_text(name)} is not text; a CSV file is needed") from None
        line = raw[: problem.start].count(b"\n") + 1
        raise not_utf8(f"{path_text(name)}, line {line}", path) from None


def _delimiter(text: str, whole: bool, preferred: str, quotes: bool) -> str:
    """Choose what cuts the first rows into as many cells as the header, and among those what cuts most."""
    best, best_score = preferred or ",", (0.0, 0)
    for letter in dict.fromkeys(preferred + _DELIMITERS):
        try:
            rows = [len(row) for row in itertools.islice(_rows(text[:_SNIFFED], letter, quotes=quotes), 51)]
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
