"""Messages of an engine, as one sentence."""

from __future__ import annotations

import re
from collections.abc import Callable

from separatrix.text import printable, times

_MOST = 200
_PREFIX = re.compile(
    r"^(?:(?:Invalid Input|IO|Conversion|Parser|Binder|Catalog|Out of Memory|Permission|Not implemented|Serialization"
    r"|Out of Range|Invalid|Internal|Connection|HTTP|Constraint|Mismatch Type|Syntax)\s*Error:\s*)+",
    re.IGNORECASE,
)


def short(problem: object, most: int = _MOST) -> str:
    r"""Return the first line of a message without the engine's prefix, and no more than fits in a sentence.

    Examples
    --------
    >>> short('Parser Error: syntax error at or near "x"\n\nLINE 1: x')
    'syntax error at or near "x"'
    """
    lines = [line.strip() for line in str(problem).splitlines() if line.strip()]
    text = _PREFIX.sub("", lines[0]) if lines else type(problem).__name__
    text = printable(text).rstrip(".!: ")
    return text if len(text) <= most else text[: most - 3] + "..."


def path_text(path: object) -> str:
    """Return a path as it stands in a message."""
    return printable(str(path).encode("utf-8", "replace").decode("utf-8"))


def quoted(text: str, most: int = 60) -> str:
    """Return the text of a cell in quotes, shortened if it is long."""
    return repr(text if len(text) <= most else text[: most - 3] + "...")


def interrupted(problem: BaseException) -> bool:
    """Return whether an engine stopped because of Ctrl-C."""
    return type(problem).__name__ == "InterruptException" or bool(
        re.match(r"(?:\w+ Error: )?(?:Query )?interrupted", str(problem), re.IGNORECASE)
    )


def csv_problem(where: str, message: str, column_name: Callable[[str], str]) -> str | None:
    """Return an error of DuckDB's CSV reader as one sentence, None if the message is of another kind."""
    place = re.search(r"^\s*file = (.*)$", message, re.MULTILINE)
    file = path_text(place.group(1)) if place and place.group(1) and where != "standard input" else where
    at = re.search(r"CSV Error on Line: (\d+)", message)
    line = f"{file}, line {at.group(1)}" if at else file
    cells = re.search(r"Expected Number of Columns: (\d+) Found: (\d+)", message)
    if cells:
        return f"{line}: {times(int(cells.group(2)), 'cell')} where the header has {cells.group(1)}"
    bad = re.search(
        r'Error when converting column "(.*?)"\. Could not convert string "(.*?)" to \'(\w+)', message, re.DOTALL
    )
    if bad:
        kind = {"BIGINT": "a whole number", "DOUBLE": "a number", "BOOLEAN": "true or false"}
        wanted = kind.get(bad.group(3), "a date or time")
        return (
            f"{line}, column {column_name(bad.group(1))!r}: {quoted(bad.group(2))} is not {wanted}; fix the cell, or "
            "leave it empty if the value is missing"
        )
    if re.search(r"unterminated quote", message, re.IGNORECASE):
        return f"{line}: unclosed quote"
    if re.search(r"not utf-8 encoded|invalid unicode", message, re.IGNORECASE):
        return f"{line}: the text is not UTF-8; save the file as UTF-8"
    if re.search(r"Maximum line size", message, re.IGNORECASE):
        most = re.search(r"Maximum line size of (\d+)", message)
        than = f"{int(most.group(1)):,} bytes" if most else "the limit"
        return f"{line}: the line is longer than {than}; is a quote unclosed, or is the file not CSV?"
    if at:
        rest = [text for text in message.splitlines()[1:] if text.strip() and not text.startswith("Original Line")]
        return f"{line}: {short(rest[0]) if rest else 'the row cannot be read'}"
    return None
