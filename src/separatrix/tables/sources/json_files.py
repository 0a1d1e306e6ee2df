"""JSON lines: one object a line, or one array of objects."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Sequence

from separatrix.tables.sources.duck import (
    CHEAP,
    COMPRESSION,
    Duck,
    DuckSource,
    EngineError,
    column_of,
    exact,
    identifier,
    literal,
)
from separatrix.tables.sources.messages import short, shown
from separatrix.tables.sources.peeking import Peek, cut_short

_PART = 200_000  # lines that decide on types where a file is too large to look at all of it
_EXACT = 10**15  # up to here a float surely holds a whole number


def open_json(duck: Duck, files: Sequence[str], name: str, peeks: Sequence[Peek]) -> DuckSource:
    """Open files of JSON lines (or an array of objects each) as one table."""
    first = peeks[0]
    array = first.head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] == b"["
    size = sum(os.path.getsize(path) for path in files)
    cheap = size * (1 if first.packing == "none" else 4) <= CHEAP
    given = {
        "format": "'array'" if array else "'newline_delimited'",
        "compression": literal(COMPRESSION[first.packing]),
        "sample_size": "-1" if cheap else str(_PART),
        "maximum_object_size": str(16 << 20 if not duck.frugal else 4 << 20),
        "records": "'true'",
    }
    listing = "[" + ", ".join(literal(exact(path)) for path in files) + "]"

    def telling(message: str) -> str:
        if re.search(r"end of GZIP|Truncated|unexpected end of .*stream|ZSTD", message, re.I):
            return cut_short(name, first.packing)
        called = next((path for path in files if path in message), name) if len(files) > 1 else name
        if "Malformed JSON" in message and not array:
            packing = peeks[files.index(called)].packing if called in files else first.packing
            path = called if called in files else files[0]
            line = _broken_line(path, packing)
            if line is not None:
                return f"{shown(called)}, line {line}: this is not a JSON object"
        if "non-record" in message:
            return f"{shown(called)} holds no JSON objects; one object a line is needed"
        at = re.search(r"in line (\d+)", message)
        if at and "transform error" in message:
            said = re.search(r"in line \d+: (.*)", message)
            detail = short(said.group(1)) if said else "a value does not fit"
            return (
                f"{shown(called)}, line {at.group(1)}: a value does not fit its column as the lines before have it: "
                f"{detail}"
            )
        return f"{shown(called)} is not JSON as expected, one object a line: {short(message.replace(files[0], called))}"

    def relation(more: str) -> str:
        return f"read_json({listing}, {', '.join(f'{key}={value}' for key, value in given.items())}{more})"

    try:
        described = duck.described(relation(""))
        described = _whole_columns(duck, relation(""), described, cheap)
    except EngineError as problem:
        raise ValueError(telling(str(problem))) from None
    typed = "{" + ", ".join(f"{literal(key)}: {literal(kind)}" for key, kind in described) + "}"
    del given["sample_size"]
    rows = first.head.count(b"\n") / max(first.share, 1e-9) if not array else None
    return DuckSource(
        duck,
        relation(f", columns={typed}"),
        [column_of(key, kind) for key, kind in described],
        name,
        files=files,
        telling=telling,
        guess=rows,
        mark="json",
    )


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


def _broken_line(path: str, packing: str) -> int | None:
    """Return the first line that is no JSON object."""
    import pyarrow as pa

    try:
        with pa.OSFile(path) as below, pa.CompressedInputStream(below, packing) if packing != "none" else below as file:
            rest, line = b"", 0
            while True:
                part = file.read(1 << 20)
                lines = (rest + part).split(b"\n")
                rest = lines.pop() if part else b""
                for text in lines:
                    line += 1
                    if not text.strip():
                        continue
                    try:
                        found = json.loads(text.removeprefix(b"\xef\xbb\xbf"))
                    except ValueError:
                        return line
                    if not isinstance(found, dict):
                        return line
                if not part:
                    return None
    except OSError:
        return None
