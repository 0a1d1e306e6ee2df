"""CSV files: the header, the delimiter and the types of columns are found here, DuckDB reads the rows.

The first line holds the names of the columns; one that holds numbers only is refused. The delimiter is the one of
``,``, ``;``, tab and ``|`` that cuts the first rows alike, unless it is given. Cells may be in double quotes. A cell is
missing when it is empty or reads NA, N/A, NaN, nan, NULL or null. A column is a number, a flag (true or false), a date
or a time where all its cells are, else text; whole numbers with a zero in front are text, as ZIP codes are.
"""

from __future__ import annotations

import csv
import io
import itertools
import os
import re
from collections.abc import Sequence
from typing import NamedTuple

from separatrix.tables.sources.base import NOTHING, Column
from separatrix.tables.sources.duck import (
    CHEAP,
    COMPRESSION,
    FRUGAL_BUFFER,
    Duck,
    DuckSource,
    EngineError,
    Look,
    column_of,
    exact,
    literal,
)
from separatrix.tables.sources.messages import csv_problem, short, shown
from separatrix.tables.sources.peeking import Peek, cut_short, ending_of

_DELIMITERS = ",;\t|"
_FIRST = 20_000  # rows that suggest a type for each column
_PART = 500_000  # rows that decide on types where a file is too large to look at all of it
_LINE = 2_000_000  # bytes of the longest row
_LOOKED_AT = 1000  # rows that suggest the types of a file that may be plain
_ENOUGH = 100  # cells of a column that suggest its type
_INTEGER = re.compile(r"[+-]?(0|[1-9][0-9]{0,14})")
_CODE = re.compile(r"\s*[+-]?0[0-9]+\s*")  # 007 is a name, as a ZIP code is
_UNSURE = re.compile(r"true$|false$|[0-9]{4}-|[0-9]{1,2}:", re.I)  # flags, dates and times
_EXACT = 15  # digits of a whole number that a float surely holds

# What a cell must be, in SQL; {0} is the cell, and no test sees a missing one.
_TESTS = {
    "BIGINT": r"regexp_full_match({0}, '\s*[+-]?(0|[1-9][0-9]*)\s*') and try_cast({0} as bigint) is not null",
    "DOUBLE": "try_cast({0} as double) is not null and not contains({0}, '_')"
    r" and not regexp_full_match({0}, '\s*[+-]?0[0-9]+\s*')",  # 007 is a name, as a ZIP code is
    "BOOLEAN": "lower({0}) in ('true', 'false')",
    "DATE": r"regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}') and try_cast({0} as date) is not null",
    "TIMESTAMP": r"regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}([ T][0-9:.]+)?')"
    " and try_cast({0} as timestamp) is not null",
    "TIMESTAMPTZ": r"regexp_full_match({0}, '[0-9]{{4}}-[0-9]{{1,2}}-[0-9]{{1,2}}[ T][0-9:.]+ ?(Z|[+-][0-9:]+)')"
    " and try_cast({0} as timestamptz) is not null",
    "TIME": r"regexp_full_match({0}, '[0-9]{{1,2}}:[0-9]{{2}}(:[0-9.]+)?') and try_cast({0} as time) is not null",
}
_WIDER = {"BIGINT": "DOUBLE", "DATE": "TIMESTAMP"}


class Plain(NamedTuple):
    """A single CSV file that is not packed: where it is, what is between cells, and its columns."""

    path: str
    delimiter: str
    names: list[str]


class Head(NamedTuple):
    """The first lines of a CSV file: names of columns, delimiter, blank lines before, bytes of an average row."""

    names: list[str]
    delimiter: str
    skip: int
    row: float


def open_csv(duck: Duck, files: Sequence[str], name: str, peeks: Sequence[Peek], delimiter: str | None) -> DuckSource:
    """Open CSV files with the same header as one table.

    Parameters
    ----------
    duck : Duck
        The connection.
    files : sequence of str
        The files.
    name : str
        What messages call them; a single file is called so, several by their own names.
    peeks : sequence of Peek
        The beginnings of the files.
    delimiter : str or None
        What is between cells, found out if None.
    """
    called = [name] if len(files) == 1 else list(files)
    if delimiter is not None:
        delimiter = {"\\t": "\t", "tab": "\t", "space": " "}.get(delimiter, delimiter)
        if len(delimiter) != 1 or delimiter in '"\r\n':
            raise ValueError(f"the delimiter must be one letter other than a quote; got {delimiter!r}")
    heads = [read_head(found, label, delimiter) for found, label in zip(peeks, called, strict=True)]
    first = heads[0]
    for head, label in zip(heads, called, strict=True):
        if head.names != first.names:
            raise ValueError(
                f"{shown(label)} has other columns than {shown(called[0])}; files read together need the same"
            )
        if head[1:3] != first[1:3] or peeks[0].packing != peeks[called.index(label)].packing:
            raise ValueError(f"{shown(label)} is written in another way than {shown(called[0])}; read them one by one")
    inner = [f"c{k}" for k in range(len(first.names))]

    def column_name(found: str) -> str:
        return first.names[int(found[1:])] if re.fullmatch(r"c\d+", found) else found

    def telling(message: str) -> str:
        if re.search(r"end of GZIP|Truncated|unexpected end|Zstd.*(?:frame|end|src)|ZSTD", message, re.I):
            return cut_short(name, peeks[0].packing)
        said = csv_problem(shown(name) if len(files) == 1 else "", message, column_name)
        if len(files) == 1 and said is not None:
            said = said.replace(shown(exact(files[0])), shown(name)).replace(shown(files[0]), shown(name))
        return said or f"{shown(name)} cannot be read: {short(message)}"

    def relation(types: Sequence[str]) -> str:
        columns = ", ".join(f"{literal(c)}: {literal(kind)}" for c, kind in zip(inner, types, strict=True))
        given = {
            "auto_detect": "false",
            "header": "true",
            "delim": literal(first.delimiter),
            "quote": "'\"'",
            "escape": "'\"'",
            "skip": str(first.skip),
            "nullstr": "[" + ", ".join(map(literal, NOTHING)) + "]",
            "compression": literal(COMPRESSION[peeks[0].packing]),
            "max_line_size": str(_LINE),
            "columns": "{" + columns + "}",
        }
        if duck.frugal:
            given["buffer_size"] = str(FRUGAL_BUFFER)
        listing = "[" + ", ".join(literal(exact(path)) for path in files) + "]"
        return f"read_csv({listing}, {', '.join(f'{key}={value}' for key, value in given.items())})"

    size = sum(os.path.getsize(path) for path in files)
    cheap = size * (1 if peeks[0].packing == "none" else 4) <= CHEAP
    counted = 0

    def seen(types: Sequence[str]) -> Look:
        columns = [
            Column(n, c.kind, c.whole, c.type)
            for n, c in ((n, column_of(n, kind)) for n, kind in zip(first.names, types, strict=True))
        ]
        return Look(columns, relation(types))

    def look() -> Look:
        nonlocal counted
        try:
            types, counted = _types(duck, relation(["VARCHAR"] * len(inner)), inner, cheap)
        except EngineError as problem:
            raise ValueError(telling(str(problem))) from None
        if counted == 0:
            raise ValueError(f"{shown(name)} has a header line and no rows")
        return seen(types)

    def typed(numbers: Sequence[str], texts: Sequence[str]) -> Look:
        own = {column.name: column.type for column in source.columns}
        own |= dict.fromkeys(numbers, "DOUBLE") | dict.fromkeys(texts, "VARCHAR")
        return seen([own[name] for name in first.names])

    plain = len(files) == 1 and peeks[0].packing == "none" and not first.skip
    quick = None if cheap or not plain else _first_types(peeks[0], first)
    found = look() if quick is None else seen(quick)
    head_bytes = sum(len(found.head) for found in peeks)
    guess = size / max(
        1.0, first.row * sum(p.share * os.path.getsize(f) for p, f in zip(peeks, files, strict=True)) / head_bytes
    )
    source = DuckSource(
        duck,
        found.relation,
        found.columns,
        name,
        inner=inner,
        files=files,
        telling=telling,
        n_rows=counted if cheap else None,
        guess=guess,
        empty="has a header line and no rows",
        mark=f"csv {first.delimiter}",
        closer=None if quick is None else look,
        typed=typed,
    )
    if plain:
        source.plain = Plain(files[0], first.delimiter, first.names)
    return source


def _first_types(found: Peek, head: Head) -> list[str] | None:
    """Return the types that the first rows suggest, where they are numbers and texts for certain, else None.

    It spares a large file that turns out to be plain the closer look.
    """
    try:
        text = found.head.decode("utf-8-sig", errors="strict" if found.whole else "ignore")
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=head.delimiter, strict=True)
        rows = list(itertools.islice(lines, 1, _LOOKED_AT + 1))
    except csv.Error:
        return None
    rows = rows if found.whole or len(rows) == _LOOKED_AT else rows[:-1]
    if len(rows) < _ENOUGH or any(len(row) != len(head.names) for row in rows):
        return None
    types = []
    for cells in zip(*rows, strict=True):
        there = [cell for cell in cells if cell not in NOTHING]
        if len(there) < _ENOUGH:
            return None
        if all(map(_INTEGER.fullmatch, there)):
            types.append("BIGINT")
        elif all(map(_is_number, there)):
            types.append("DOUBLE")
        elif any(_is_number(cell) or _UNSURE.match(cell) for cell in there):
            return None  # a closer look decides
        else:
            types.append("VARCHAR")
    return types


def _types(duck: Duck, relation: str, inner: Sequence[str], cheap: bool) -> tuple[list[str], int]:
    """Find the type of every column, and the number of rows seen.

    Of a file too large to look at all of it, whole numbers are read as doubles: a later one may have a fraction.
    """
    guesses: list[str | None] = []
    sample = f"(select * from {relation} limit {_FIRST})"
    asked = [f"count({c}), {', '.join(_passes(c, kind) for kind in _TESTS)}" for c in inner]
    row = duck.rows(f"select count(*), {', '.join(asked)} from {sample}")[0]
    step = len(_TESTS) + 1
    for k in range(len(inner)):
        cells, *passed = row[1 + k * step : 1 + (k + 1) * step]
        fitting = [kind for kind, number in zip(_TESTS, passed, strict=True) if number == cells]
        guesses.append(None if cells == 0 else fitting[0] if fitting else "VARCHAR")
    if row[0] < _FIRST and cheap:
        return [kind or "VARCHAR" for kind in guesses], row[0]
    wanted: list[list[str]] = []
    for kind in guesses:
        first = list(_TESTS) if kind is None else [] if kind == "VARCHAR" else [kind]
        wanted.append(first + ([_WIDER[kind]] if kind in _WIDER else []))
    asked = [
        ", ".join([f"count({c})", *(_passes(c, kind) for kind in kinds)])
        for c, kinds in zip(inner, wanted, strict=True)
    ]
    longest = [f"max(length({c}))" for c in inner]
    body = relation if cheap else f"(select * from {relation} limit {_PART})"
    row = list(duck.rows(f"select count(*), {', '.join(asked)}, {', '.join(longest)} from {body}")[0])
    total, lengths, types, at = row[0], row[-len(inner) :], [], 1
    for kinds, length in zip(wanted, lengths, strict=True):
        cells, passed = row[at], row[at + 1 : at + 1 + len(kinds)]
        at += 1 + len(kinds)
        fitting = [kind for kind, number in zip(kinds, passed, strict=True) if number == cells]
        kind = fitting[0] if fitting and cells else "VARCHAR"
        types.append("DOUBLE" if kind == "BIGINT" and not cheap and (length or 0) <= _EXACT else kind)
    return types, total


def _passes(cell: str, kind: str) -> str:
    return f"count(*) filter ({_TESTS[kind].format(cell)})"


def read_head(found: Peek, name: str, delimiter: str | None) -> Head:
    """Read the header line of a CSV file and find its delimiter."""
    text = _decoded(found, name)
    lines = text.split("\n")
    skip = next((k for k, line in enumerate(lines) if line.strip()), None)
    if skip is None:
        raise ValueError(f"{shown(name)} is empty: it has blank lines only")
    body = "\n".join(lines[skip:])
    if delimiter is None:
        preferred = {".tsv": "\t", ".psv": "|"}.get(ending_of(name), "")
        delimiter = _delimiter(body, found.whole, preferred)
    try:
        names = [cell.strip() for cell in next(csv.reader(io.StringIO(body, newline=""), delimiter=delimiter))]
    except csv.Error as problem:
        raise ValueError(f"{shown(name)}, line 1: the header line cannot be read: {short(problem)}") from None
    if all(_is_number(cell) for cell in names):
        raise ValueError(
            f"the first line of {shown(name)} holds numbers only; a header line with the names of the columns is needed"
        )
    for place, cell in enumerate(names, start=1):
        if not cell:
            raise ValueError(f"{shown(name)} has no name for column {place} in its header line")
        if cell in names[: place - 1]:
            raise ValueError(f"{shown(name)} has two columns called {cell!r}")
    return Head(names, delimiter, skip, len(text.encode()) / max(1, text.count("\n")))


def _decoded(found: Peek, name: str) -> str:
    raw = found.head
    if raw[:2] in (b"\xff\xfe", b"\xfe\xff"):
        raise ValueError(f"{shown(name)} is text in UTF-16; save it as UTF-8")
    if b"\x00" in raw:
        half = raw[:2000]
        if max(half[::2].count(0), half[1::2].count(0)) > len(half) * 0.4:
            raise ValueError(f"{shown(name)} is text in UTF-16; save it as UTF-8")
        raise ValueError(f"{shown(name)} is not text; a CSV file is needed")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        if not found.whole and problem.start > len(raw) - 4:
            return raw[: problem.start].decode("utf-8-sig")
        control = sum(byte < 9 or 13 < byte < 27 for byte in raw[:2000])
        if control > len(raw[:2000]) * 0.05:
            raise ValueError(f"{shown(name)} is not text; a CSV file is needed") from None
        line = raw[: problem.start].count(b"\n") + 1
        raise ValueError(f"{shown(name)}, line {line}: the text is not UTF-8; save the file as UTF-8") from None


def _delimiter(text: str, whole: bool, preferred: str) -> str:
    """Choose what cuts the first rows into as many cells as the header, and among those what cuts most."""
    best, best_score = preferred or ",", (0.0, 0)
    for letter in dict.fromkeys(preferred + _DELIMITERS):
        rows = []
        try:
            for row in csv.reader(io.StringIO(text[:200_000], newline=""), delimiter=letter):
                rows.append(len(row))
                if len(rows) > 50:
                    break
        except csv.Error:
            continue
        if len(rows) > 2 and not (whole and len(text) <= 200_000):
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


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell and not _CODE.fullmatch(cell) and cell.lower().strip("+-") not in ("nan", "inf", "infinity")
