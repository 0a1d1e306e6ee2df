"""Building blocks of a page: sections, paragraphs, tables, figures, and data inside text."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from separatrix.tables.report.elements import Content, Element, element

_LONG_TEXT = 28  # letters in a cell that needs some width
_LONG_WORD = 22  # letters without a space, after which a word may be broken
_LONG_NAME = 48  # letters of a name that are shown


def section(key: str, title: str, *content: Content) -> Element:
    """Return a section with its heading."""
    return element("section", element("h2", title, id=f"{key}-title"), content, id=key, aria_labelledby=f"{key}-title")


def paragraph(*content: Content, class_: str | None = None) -> Element:
    """Return a paragraph."""
    return element("p", content, class_=class_)


def name(text: object) -> Element:
    """Return a name from the data inside a sentence, in either direction of writing."""
    return data(text, class_="name")


def data(text: object, class_: str | None = None) -> Element:
    """Return a name from the data, in either direction of writing; a long one is shortened, and whole in its title."""
    whole = str(text)
    shown = brief(whole)
    return element("bdi", shown, class_=class_, title=whole if shown != whole else None)


def brief(text: str, most: int = _LONG_NAME) -> str:
    """Return a name without its middle, if it is long.

    Examples
    --------
    >>> brief("short"), brief("abcdefghij", 7)
    ('short', 'abcd\u2026ij')
    """
    if len(text) <= most:
        return text
    after = (most - 1) // 3
    return f"{text[: most - 1 - after]}\u2026{text[len(text) - after :]}"


def isolated(text: str) -> str:
    """Return a name from the data for plain text; right-to-left names do not affect the text around them.

    Examples
    --------
    >>> isolated("blue"), isolated("\u05db") == "\u2068\u05db\u2069"
    ('blue', True)
    """
    turned = any(unicodedata.bidirectional(letter) in ("R", "AL", "RLE", "RLO", "RLI") for letter in text)
    return f"\u2068{text}\u2069" if turned else text


def listed(words: Sequence[object], most: int = 8, last: str = "and") -> list[Content]:
    """Return names from the data as a list in a sentence."""
    shown = [name(word) for word in words[:most]]
    left = len(words) - len(shown)
    if left:
        return [*_separated(shown), f" {last} {left:,} more"]
    if len(shown) < 2:
        return list(shown)
    return [*_separated(shown[:-1]), f" {last} ", shown[-1]]


def _separated(words: list[Element]) -> list[Content]:
    out: list[Content] = []
    for place, word in enumerate(words):
        out += [", ", word] if place else [word]
    return out


def table(
    caption: str,
    head: Sequence[Content],
    rows: Sequence[Sequence[Content]],
    *,
    numbers: Sequence[int] = (),
    texts: Sequence[int] = (),
) -> Element:
    """Return a table in a box of its own; the first cell of a row names it.

    ``numbers`` are the columns that hold numbers, ``texts`` those with text of the data.
    """
    top = [_cell("th", cell, k in numbers, False, scope="col") for k, cell in enumerate(head)]
    body = [
        element(
            "tr",
            [_cell("td", cell, k in numbers, k in texts) if k else _cell("th", cell, False, k in texts, scope="row")
             for k, cell in enumerate(row)],
        )
        for row in rows
    ]  # fmt: skip
    return boxed(caption, element("thead", element("tr", top)), element("tbody", body))


def boxed(caption: str, *content: Content, class_: str | None = None) -> Element:
    """Return a table under its caption, in a box that scrolls by itself where the page is narrow, by keyboard too."""
    whole = element("table", content, aria_label=caption, class_=class_)
    box = element("div", whole, class_="scroll", role="region", tabindex="0", aria_label=f"Table: {caption}")
    return element("figure", element("figcaption", caption), box, class_="table")


def _cell(tag: str, content: Content, is_number: bool, is_text: bool, scope: str | None = None) -> Element:
    made = element(tag, content, scope=scope, dir="auto" if is_text else None)
    kinds = ["number"] if is_number else []
    if len(made.text()) > _LONG_TEXT or any(len(word) > _LONG_WORD for word in made.text().split()):
        kinds.append("long")
    return element(tag, content, class_=" ".join(kinds) or None, **made.attributes)


def figure(title: str, chart: Element, *says: Content, legend: Element | None = None) -> Element:
    """Return a chart with its title, legend, and a sentence about what it shows."""
    return element(
        "figure", element("h3", title), chart, element("figcaption", legend, element("p", says)), class_="card"
    )


def details(title: Content, *content: Content, class_: str | None = None) -> Element:
    """Return long content, folded."""
    return element("details", element("summary", title), content, class_=class_)


def counted(n: int, noun: str) -> str:
    """Return ``1 row`` or ``1,234 rows``."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"


def number(value: float, digits: int = 4) -> str:
    """Return a number in few digits, with a true minus sign.

    Examples
    --------
    >>> number(-0.00012345), number(1234567.0), number(0.0)
    ('\u22120.0001234', '1,234,567', '0')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return str(value)
    value += 0.0  # no minus before a zero
    if abs(value) >= 10 ** (digits - 1) and abs(value) < 1e9:
        return f"{value:,.0f}".replace("-", "\u2212")
    return f"{value:.{digits}g}".replace("-", "\u2212")
