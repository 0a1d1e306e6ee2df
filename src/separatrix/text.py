"""Text for people: counts and lists in sentences, seconds and bytes, tables as Markdown, LaTeX, HTML or CSV.

Also the one reader of JSON that is not data: certificates, model files, notes on disk. Pure functions of strings; no
mathematics, and nothing of this package is imported.
"""

from __future__ import annotations

import csv
import html
import io
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

Cells = Sequence[Sequence[str]]


def times(count: int, noun: str) -> str:
    """Return ``1 epoch`` or ``3 epochs``."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def listed(names: Iterable[str], most: int = 12) -> str:
    """Join names for a message, the first few of many.

    Examples
    --------
    >>> listed(["a", "b"])
    'a, b'
    >>> listed(map(str, range(20)), most=3)
    '0, 1, 2 and 17 more'
    >>> len(listed(["a" * 1000]))
    80
    """
    every = [_shown(name if name.isprintable() else repr(name)) for name in names]
    more = len(every) - most
    return ", ".join(every) if more <= 0 else f"{', '.join(every[:most])} and {more} more"


def _shown(name: str, most: int = 80) -> str:
    return name if len(name) <= most else f"{name[: most - 3]}..."


def printable(text: str, keep: str = "") -> str:
    r"""Return text with control characters as escapes, so that a terminal shows them and does not obey them.

    So are characters that change the direction of text or hide; those that join letters stay. ``keep`` stays too.

    Examples
    --------
    >>> printable("a\x1b[31mb\n"), printable("one\ntwo", keep="\n")
    ('a\\x1b[31mb\\n', 'one\ntwo')
    """
    if text.isprintable():
        return text
    return "".join(each if each in keep or _shows(each) else repr(each)[1:-1] for each in text)


def _shows(letter: str) -> bool:
    return letter.isprintable() or letter in "\u200c\u200d" or unicodedata.category(letter) in ("Zs", "Co")


def duration(value: float) -> str:
    """Return seconds with two or three digits, in the unit that suits them.

    Examples
    --------
    >>> [duration(value) for value in (0.0, 3.2e-8, 4.567e-6, 0.0123, 2.5, 123.4)]
    ['0 ns', '32 ns', '4.6 µs', '12 ms', '2.5 s', '123 s']
    """
    return _in_units(value, ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")), 1e-9, "ns")


def byte_size(value: float) -> str:
    """Return bytes with two or three digits, in the unit that suits them.

    Examples
    --------
    >>> [byte_size(value) for value in (0, 812, 13_736, 5_000_000, 2_345_000_000)]
    ['0 B', '812 B', '14 kB', '5.0 MB', '2.3 GB']
    """
    return _in_units(value, ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")), 1.0, "B")


def _in_units(value: float, units: tuple[tuple[float, str], ...], least: float, name: str) -> str:
    factor, unit = next(((factor, unit) for factor, unit in units if value >= 0.995 * factor), (least, name))
    amount = value / factor
    whole = amount >= 9.95 or amount == round(amount) == 0 or unit == "B"
    return f"{amount:.0f} {unit}" if whole else f"{amount:.1f} {unit}"


def markdown(head: Sequence[str], rows: Cells) -> str:
    """Return a Markdown table whose columns line up in plain text too.

    Examples
    --------
    >>> print(markdown(["a", "b"], [["1", "22"]]))
    | a | b  |
    |---|----|
    | 1 | 22 |
    """
    table = [[_markdown_cell(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[j]) for row in table) for j in range(len(head))]
    lines = [
        "| " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) + " |" for row in table
    ]
    rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
    return "\n".join([lines[0], rule, *lines[1:]])


def _markdown_cell(text: str) -> str:
    """Return a cell that stays one: no line ends, no bars, no markup."""
    for each in "\\|<":
        text = text.replace(each, f"\\{each}")
    return " ".join(text.splitlines()) if text else text


_LATEX = {"\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
          "$": r"\$", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
          "[": "{[}", "]": "{]}", "*": "{*}",  # which could be read as arguments of the command before
          "<": r"\textless{}", ">": r"\textgreater{}", "|": r"\textbar{}", "\n": " ", "\r": " "}  # fmt: skip
_EXPONENT = re.compile(r"(\d)e([+-]?\d+)")
_NUMBER = r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d+)?(?:/\d+)?"
_MATHEMATICS = re.compile(rf"{_NUMBER}|\((?:{_NUMBER}(?:, {_NUMBER})*)?\)")


def latex(
    head: Sequence[str],
    rows: Cells,
    *,
    sections: Mapping[int, str] | None = None,
    foot: str = "",
    escaped_head: bool = False,
) -> str:
    r"""Return a LaTeX tabular, which needs no package; numbers and vectors are set as mathematics.

    Parameters
    ----------
    head, rows
        The cells, as plain text.
    sections : mapping of int to str, optional
        Rows after which a part of the table ends, and the line that says so there, as plain text.
    foot : str
        A last line across the table, as LaTeX.
    escaped_head : bool, default=False
        Whether the head is LaTeX already.

    Examples
    --------
    >>> print(latex(["w"], [["(1, -1/2)"]]))
    \begin{tabular}{l}
    \hline
    w \\
    \hline
    $(1, -1/2)$ \\
    \hline
    \end{tabular}
    """
    width, ends = len(head), sections or {}
    lines = []
    for place, row in enumerate(rows):
        lines.append(" & ".join(latex_cell(cell) for cell in row) + r" \\")
        if place in ends:
            lines += [_across(_escape(ends[place]), width), r"\hline"]
    title = " & ".join(head if escaped_head else map(_escape, head)) + r" \\"
    lines += [] if lines and lines[-1] == r"\hline" else [r"\hline"]
    lines += [_across(foot, width), r"\hline"] if foot else []
    return "\n".join([rf"\begin{{tabular}}{{{'l' * width}}}", r"\hline", title, r"\hline", *lines, r"\end{tabular}"])


def _across(text: str, width: int) -> str:
    return rf"\multicolumn{{{width}}}{{l}}{{{text}}} \\"


def _escape(text: str) -> str:
    return "".join(_LATEX.get(character, character) for character in text)


def latex_cell(text: str) -> str:
    r"""Return plain text for LaTeX: numbers and vectors as mathematics, all else with its special characters escaped.

    Examples
    --------
    >>> print(latex_cell("(-1/2, 3)"), latex_cell("1e-05"), latex_cell("50% & more"))
    $(-1/2, 3)$ $1 \cdot 10^{-5}$ 50\% \& more
    """
    if _MATHEMATICS.fullmatch(text):
        return "$" + _EXPONENT.sub(lambda found: rf"{found[1]} \cdot 10^{{{int(found[2])}}}", text) + "$"
    return _escape(text)


def html_table(
    head: Sequence[str],
    rows: Cells,
    *,
    marked: Sequence[bool] = (),
    caption: str = "",
    sections: Sequence[int] = (),
) -> str:
    """Return an HTML table; marked rows are set in bold on a tint, and the caption stands below.

    The rows in ``sections`` are the last of their part of the table; a rule stands between two parts.
    """
    cell, ends = "padding:0.2em 0.8em;text-align:left", set(sections)
    lines = ['<table style="border-collapse:collapse;font-variant-numeric:tabular-nums">']
    if caption:
        lines.append(
            f'<caption style="caption-side:bottom;text-align:left;padding:0.4em 0.8em">{html.escape(caption)}</caption>'
        )
    titles = "".join(
        f'<th style="{cell};border-bottom:1px solid currentColor">{html.escape(name)}</th>' for name in head
    )
    lines.append(f"<thead><tr>{titles}</tr></thead>")
    lines.append("<tbody>")
    for index, row in enumerate(rows):
        strong = index < len(marked) and marked[index]
        style = ' style="font-weight:bold;background:rgba(128,128,128,0.15)"' if strong else ""
        lines.append(f"<tr{style}>" + "".join(f'<td style="{cell}">{html.escape(text)}</td>' for text in row) + "</tr>")
        if index in ends and index + 1 < len(rows):
            lines += ["</tbody>", '<tbody style="border-top:1px solid currentColor">']
    return "\n".join([*lines, "</tbody>", "</table>"])


def csv_text(head: Sequence[str], rows: Cells) -> str:
    """Return comma-separated values with a header line."""
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


def read_json(text: str, what: str) -> Any:
    """Return what JSON text holds, if every reader of JSON would find the same in it.

    Python's reader keeps the last of two fields with one name, others the first; it takes NaN and infinities, which are
    not JSON, and makes an infinity of a number that is too large. All of these are refused.

    Examples
    --------
    >>> read_json('{"a": [1, 2.5]}', "the note")
    {'a': [1, 2.5]}
    >>> read_json('{"a": 1, "a": 2}', "the note")
    Traceback (most recent call last):
    ...
    ValueError: the note has the field 'a' twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant, parse_float=_finite)
    except _NotStrictError as problem:
        raise ValueError(f"{what} {problem}") from None
    except RecursionError:
        raise ValueError(f"{what} is nested too deeply") from None
    except json.JSONDecodeError as problem:
        raise ValueError(f"{what} is not JSON: {problem.msg} in line {problem.lineno}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{what} is not text in UTF-8") from None
    except ValueError:
        raise ValueError(f"{what} holds a number with too many digits") from None


class _NotStrictError(Exception):
    """What is wrong, for a sentence that begins with the name of the text."""


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name, value in pairs:
        if name in fields:
            raise _NotStrictError(f"has the field {name!r:.60} twice")
        fields[name] = value
    return fields


def _no_constant(name: str) -> None:
    raise _NotStrictError(f"is not JSON: it holds a NaN or an infinity ({name})")


def _finite(digits: str) -> float:
    value = float(digits)
    if math.isinf(value):
        raise _NotStrictError(f"holds a number that is too large: {digits:.60}")
    return value
