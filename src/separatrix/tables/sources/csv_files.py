"""CSV files: the dialect and the types of columns are decided here, DuckDB reads the rows.

A single file of plain numbers and labels can also be read by the core (``plain_csv``): `CsvSource.plain` says how.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from separatrix.tables.sources.cells import MISSING_CELLS, TEXT, TYPES, WIDER
from separatrix.tables.sources.dialect import EXACT_DIGITS, Dialect, check_delimiter, first_types, read_dialect
from separatrix.tables.sources.duck import (
    CHEAP,
    COMPRESSION,
    FRUGAL_BUFFER,
    Duck,
    DuckSource,
    column_of,
    escaped,
    file_list,
    literal,
    on_duck,
)
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import csv_problem, path_text, short
from separatrix.tables.sources.peeking import cut_short
from separatrix.tables.sources.queries import queried

_FIRST = 20_000  # rows that suggest a type for each column
_PART = 500_000  # rows that decide on types where a file is too large to read all of it
_LINE = 2_000_000  # bytes of the longest row


class Plain(NamedTuple):
    """A single CSV file that is not compressed: its path, delimiter and columns."""

    path: str
    delimiter: str
    names: list[str]


class CsvSource(DuckSource):
    """CSV files with the same header as one table.

    The types of a small file rest on all its rows. Those of a large one rest on its first rows until `settle`, which
    reads more, or `read_as`, which says what they are.
    """

    typed = False
    empty = "has a header line and no rows"

    def __init__(self, duck: Duck, request: Request) -> None:
        super().__init__(duck, request.name, request.files)
        self._where, self._compression = request.name, request.peeks[0].compression
        self.dialect = dialect = _common_dialect(request)
        self.mark = f"csv {dialect.delimiter}"
        size = sum(map(os.path.getsize, self.files))
        self._cheap = size * (1 if self._compression == "none" else 4) <= CHEAP
        self.expected = size / max(1.0, _compressed_row(request, dialect))
        plain = len(self.files) == 1 and self._compression == "none" and not dialect.skip
        if plain:
            self.plain = Plain(self.files[0], dialect.delimiter, dialect.names)
        types = first_types(request.peeks[0], dialect) if plain and not self._cheap else None
        self._settled = types is None
        if types is None:
            self._decide_types()
        else:
            self._set_types(types)

    @property
    def inner(self) -> list[str]:
        """The names of the columns inside the relation: a header may have two that differ only in case."""
        return [f"c{k}" for k in range(len(self.dialect.names))]

    def settle(self) -> None:
        """Decide on the types by more than the first rows."""
        if not self._settled:
            self._decide_types()

    def read_as(self, numbers: Sequence[str], texts: Sequence[str]) -> None:
        """Read these columns as numbers and those as text."""
        types = {column.name: column.type for column in self.columns}
        types |= dict.fromkeys(numbers, "DOUBLE") | dict.fromkeys(texts, TEXT)
        self._set_types([types[name] for name in self.dialect.names])
        self._settled = True

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence with the file, line and column."""
        if re.search(r"end of GZIP|Truncated|unexpected end|Zstd.*(?:frame|end|src)|ZSTD", message, re.I):
            return cut_short(self._where, self._compression)
        single = len(self.files) == 1
        sentence = csv_problem(path_text(self._where) if single else "", message, self._column_name)
        if sentence is None:
            return f"{path_text(self._where)} cannot be read: {short(message)}"
        for path in (escaped(self.files[0]), self.files[0]) if single else ():
            sentence = sentence.replace(path_text(path), path_text(self._where))
        return sentence

    def _column_name(self, inner: str) -> str:
        return self.dialect.names[int(inner[1:])] if re.fullmatch(r"c\d+", inner) else inner

    def _set_types(self, types: Sequence[str]) -> None:
        self.columns = tuple(column_of(*pair) for pair in zip(self.dialect.names, types, strict=True))
        self.relation = self._relation(types)

    def _relation(self, types: Sequence[str]) -> str:
        columns = ", ".join(f"{literal(c)}: {literal(kind)}" for c, kind in zip(self.inner, types, strict=True))
        options = {
            "auto_detect": "false",
            "header": "true",
            "delim": literal(self.dialect.delimiter),
            "quote": "'\"'",
            "escape": "'\"'",
            "skip": str(self.dialect.skip),
            "nullstr": "[" + ", ".join(map(literal, MISSING_CELLS)) + "]",
            "compression": literal(COMPRESSION[self._compression]),
            "max_line_size": str(_LINE),
            "columns": "{" + columns + "}",
        }
        if self.duck.frugal:
            options["buffer_size"] = str(FRUGAL_BUFFER)
        return f"read_csv({file_list(self.files)}, {', '.join(f'{key}={value}' for key, value in options.items())})"

    def _decide_types(self) -> None:
        """Decide on the types by the rows, all of them if the file is small.

        Whole numbers of a large file are read as doubles: a later one may have a fraction.
        """
        self._settled = True
        body = self._relation([TEXT] * len(self.inner))
        with self.explained():
            n_rows, columns = self._count(f"(select * from {body} limit {_FIRST})", [list(TYPES)] * len(self.inner))
            types = [kinds[0] if kinds else None if not cells else TEXT for cells, kinds, _ in columns]
            if n_rows == _FIRST or not self._cheap:
                wanted = [_candidates(kind) for kind in types]
                part = body if self._cheap else f"(select * from {body} limit {_PART})"
                n_rows, columns = self._count(part, wanted)
                types = [kinds[0] if kinds else TEXT for _, kinds, _ in columns]
        if not n_rows:
            raise ValueError(f"{path_text(self._where)} {self.empty}")
        if self._cheap:
            self.n_rows = n_rows
        else:
            small = [longest <= EXACT_DIGITS for *_, longest in columns]
            types = ["DOUBLE" if kind == "BIGINT" and fits else kind for kind, fits in zip(types, small, strict=True)]
        self._set_types([kind or TEXT for kind in types])

    def _count(self, body: str, wanted: Sequence[Sequence[str]]) -> tuple[int, list[tuple[int, list[str], int]]]:
        """Count rows and cells; find the wanted types that all cells of a column have, and its longest cell."""
        terms = ["count(*)"]
        for cell, kinds in zip(self.inner, wanted, strict=True):
            terms += [f"count({cell})", f"coalesce(max(length({cell})), 0)"]
            terms += [f"count(*) filter ({TYPES[kind].sql(cell)})" for kind in kinds]
        values = iter(self.duck.rows(f"select {', '.join(terms)} from {body}")[0])
        n_rows, columns = next(values), []
        for kinds in wanted:
            cells, longest = next(values), next(values)
            fitting = [kind for kind in kinds if next(values) == cells]
            columns.append((cells, fitting if cells else [], longest))
        return n_rows, columns


def open_csv(request: Request) -> DuckSource:
    """Open CSV files as one table."""
    if request.delimiter is not None:
        request = replace(request, delimiter=check_delimiter(request.delimiter))
    return on_duck(request.frugal, lambda duck: queried(CsvSource(duck, request), request.sql))


def _candidates(kind: str | None) -> list[str]:
    """Return the types that a column of which the first rows suggest ``kind`` may have."""
    if kind is None:
        return list(TYPES)
    return [] if kind == TEXT else [kind, WIDER[kind]] if kind in WIDER else [kind]


def _common_dialect(request: Request) -> Dialect:
    """Return the dialect of the files, which must be the same for all."""
    names = [request.name] if len(request.files) == 1 else request.files
    dialects = [read_dialect(peek, name, request.delimiter) for peek, name in zip(request.peeks, names, strict=True)]
    first = dialects[0]
    for dialect, peek, name in zip(dialects, request.peeks, names, strict=True):
        if dialect.names != first.names:
            raise ValueError(
                f"{path_text(name)} has other columns than {path_text(names[0])}; files read together need the same"
            )
        if dialect[1:3] != first[1:3] or peek.compression != request.peeks[0].compression:
            raise ValueError(
                f"{path_text(name)} has another delimiter or compression than {path_text(names[0])}; files read "
                "together need the same"
            )
    return first


def _compressed_row(request: Request, dialect: Dialect) -> float:
    """Return the bytes that an average row takes in the files."""
    pairs = zip(request.peeks, request.files, strict=True)
    return dialect.row * sum(p.share * os.path.getsize(f) for p, f in pairs) / sum(len(p.head) for p in request.peeks)
