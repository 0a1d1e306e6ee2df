"""JSON lines: one object per line, or one array of objects."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from separatrix.tables.sources.compression import cut_short, tells_of_missing_end
from separatrix.tables.sources.duck import (
    CHEAP,
    COMPRESSION,
    Duck,
    DuckSource,
    column_of,
    file_list,
    identifier,
    literal,
    on_duck,
)
from separatrix.tables.sources.kinds import Request
from separatrix.tables.sources.messages import path_text, short
from separatrix.tables.sources.queries import queried

_PART = 200_000  # lines that decide on types where a file is too large to read all of it
_EXACT = 10**15  # up to here a float surely holds a whole number


class JsonSource(DuckSource):
    """Files of JSON lines, or of an array of objects each, as one table."""

    def __init__(self, duck: Duck, request: Request) -> None:
        super().__init__(duck, request.name, request.files, mark="json")
        self._where, self._peeks, self._labels = request.name, request.peeks, request.labels
        first = request.peeks[0]
        self._array = first.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
        size = sum(map(os.path.getsize, self.files))
        cheap = size * (1 if first.compression == "none" else 4) <= CHEAP
        with self.explained():
            sampled = self._relation(f"sample_size={-1 if cheap else _PART}")
            types = _whole_columns(duck, sampled, duck.described(sampled), cheap)
        columns = ", ".join(f"{literal(key)}: {literal(kind)}" for key, kind in types)
        self.relation = self._relation(f"columns={{{columns}}}")
        self.columns = tuple(column_of(key, kind) for key, kind in types)
        self._check_names([key for key, _ in types])
        self.expected = None if self._array else first.head.count(b"\n") / max(first.share, 1e-9)

    def _relation(self, more: str | None = None) -> str:
        """Return the objects as columns, with more options, or each as it is written."""
        options = {
            "format": "'array'" if self._array else "'newline_delimited'",
            "compression": literal(COMPRESSION[self._peeks[0].compression]),
            "maximum_object_size": str(16 << 20 if not self.duck.frugal else 4 << 20),
        }
        given = ", ".join(f"{key}={value}" for key, value in options.items())
        if more is None:
            return f"read_json_objects({file_list(self.files)}, {given})"
        return f"read_json({file_list(self.files)}, {given}, records='true', {more})"

    def _check_names(self, names: list[str]) -> None:
        """Refuse keys that differ only in case: DuckDB would give one another name, and find no values under that."""
        lower = {name.lower() for name in names}
        renamed = [name for name in names if (cut := re.fullmatch(r"(.*)_\d+", name)) and cut.group(1).lower() in lower]
        if not renamed:
            return
        if self._array:
            known: dict[str, str] = {}
            with self.explained():
                keys = self.duck.rows(f"select distinct unnest(json_keys(json)) from {self._relation()}")
            for (key,) in sorted(keys):
                if known.setdefault(key.lower(), key) != key:
                    raise ValueError(
                        f"{path_text(self._where)}: the keys {known[key.lower()]!r} and {key!r} differ only in case; "
                        "rename one"
                    )
            return
        for path, peek, label in zip(self.files, self._peeks, self._labels, strict=True):
            same = _same_but_for_case(path, peek.compression)
            if same is not None:
                name = path_text(label)
                raise ValueError(
                    f"{name}, line {same[0]}: the keys {same[1]!r} and {same[2]!r} differ only in case; rename one"
                )

    def explain(self, message: str) -> str:
        """Return a message of DuckDB as one sentence with the file and line."""
        if tells_of_missing_end(message, self._peeks[0].compression, self.files):
            return cut_short(self._where, self._peeks[0].compression)
        k = next((k for k, path in enumerate(self.files) if path in message), 0)
        name = path_text(self._labels[k] if self.files[k] in message else self._where)
        if "Malformed JSON" in message and not self._array:
            line = _broken_line(self.files[k], self._peeks[k].compression)
            if line is not None:
                return f"{name}, line {line}: this is not a JSON object"
        twice = re.search(r'has duplicate key "(.*)"', message)
        if twice:
            at = re.search(r"in (?:line|record/value) (\d+)", message)
            where = f", {'object' if self._array else 'line'} {at.group(1)}" if at else ""
            return f"{name}{where}: the key {twice.group(1)!r} is there twice in one object"
        if not self._array and (line := _empty_key(self.files[k], self._peeks[k].compression)) is not None:
            return f"{name}, line {line}: a key is empty; every key must have a name"
        if "non-record" in message:
            return f"{name} has no JSON objects; one object per line is needed"
        at = re.search(r"in line (\d+)(?:: (.*))?", message)
        if at and "transform error" in message:
            detail = short(at.group(2)) if at.group(2) else "a value does not fit"
            return f"{name}, line {at.group(1)}: a value is not of the type of its column in the lines before: {detail}"
        return f"{name} is not JSON with one object per line: {short(message.replace(self.files[0], name))}"


def open_json(request: Request) -> DuckSource:
    """Open files of JSON lines (or an array of objects each) as one table."""
    return on_duck(request.frugal, lambda duck: queried(JsonSource(duck, request), request.sql))


def _whole_columns(duck: Duck, relation: str, described: list[tuple[str, str]], cheap: bool) -> list[tuple[str, str]]:
    """Give whole columns 64 bits where that is enough; make doubles of them where a later line may need it."""
    whole = [key for key, kind in described if kind in ("BIGINT", "UBIGINT", "HUGEINT")]
    if not whole:
        return described
    ends = ", ".join(f"min({identifier(key)}), max({identifier(key)})" for key in whole)
    body = relation if cheap else f"(select * from {relation} limit {_PART})"
    row = duck.rows(f"select {ends} from {body}")[0]
    types = dict(described)
    for key, low, high in zip(whole, row[::2], row[1::2], strict=True):
        if low is None or -(2**63) <= low <= high < 2**63:
            later = not cheap and (low is None or -_EXACT <= low <= high <= _EXACT)
            types[key] = "DOUBLE" if later else "BIGINT"
    return list(types.items())


class _Pairs(list[tuple[str, Any]]):
    """The keys and values of an object, also of keys that are there twice."""


def _objects(path: str, compression: str) -> Iterator[tuple[int, _Pairs | None]]:
    """Yield the number of each line that is not blank with its object; None if it has none."""
    import pyarrow as pa

    with (
        suppress(OSError),
        pa.OSFile(path) as below,
        pa.CompressedInputStream(below, compression) if compression != "none" else below as file,
    ):
        rest, line, part = b"", 0, b"some"
        while part:
            part = file.read(1 << 20)
            lines = (rest + part).split(b"\n")
            rest = lines.pop() if part else b""
            for text in lines:
                line += 1
                if text.strip():
                    yield line, _pairs(text)


def _pairs(text: bytes) -> _Pairs | None:
    try:
        value = json.loads(text.removeprefix(b"\xef\xbb\xbf"), object_pairs_hook=_Pairs)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, _Pairs) else None


def _broken_line(path: str, compression: str) -> int | None:
    """Return the first line that is not a JSON object."""
    return next((line for line, pairs in _objects(path, compression) if pairs is None), None)


def _empty_key(path: str, compression: str) -> int | None:
    """Return the first line with an object that has an empty key."""
    return next((line for line, pairs in _objects(path, compression) if pairs and "" in dict(pairs)), None)


def _same_but_for_case(path: str, compression: str) -> tuple[int, str, str] | None:
    """Return the first line with a key that differs from an earlier one only in case, and both keys."""
    known: dict[str, str] = {}
    for line, pairs in _objects(path, compression):
        for key, _ in pairs or ():
            if known.setdefault(key.lower(), key) != key:
                return line, known[key.lower()], key
    return None
