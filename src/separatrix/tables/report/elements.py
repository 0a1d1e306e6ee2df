"""HTML elements: all text of a page goes through here.

Text and attributes are escaped when they are written; there is no way to insert markup as text. Names of tags and
attributes come from the program, never from data.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias, Union

_NAME = re.compile(r"[a-zA-Z][a-zA-Z0-9-]*")
_VOID = ("br", "col", "hr", "img", "link", "meta")
_LINES = (
    "caption", "dd", "details", "div", "dl", "dt", "figure", "figcaption", "footer", "g", "h1", "h2", "h3", "head",
    "header", "li", "link", "main", "meta", "nav", "p", "path", "pre", "rect", "section", "style", "summary", "svg",
    "table", "tbody", "text", "thead", "title", "tr", "ul",
)  # fmt: skip
# What HTML does not allow in a text: control characters, halves of pairs, and code points that are no characters.
_FORBIDDEN = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufdd0-\ufdef"
    + "".join(chr(plane * 0x10000 + end) for plane in range(17) for end in (0xFFFE, 0xFFFF))
    + "]"
)

Content: TypeAlias = Union["Element", str, Iterable["Content"], None]


@dataclass(frozen=True)
class Element:
    """A tag with attributes and what it holds."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: tuple[Element | str, ...] = ()

    def __str__(self) -> str:
        parts: list[str] = []
        self._write(parts)
        return "".join(parts)

    def text(self) -> str:
        """Return what a reader sees of it."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def _write(self, parts: list[str]) -> None:
        own = "".join(f' {name}="{escaped(value)}"' for name, value in self.attributes.items())
        end = "\n" if self.name in _LINES else ""
        if self.name in _VOID:
            parts.append(f"<{self.name}{own}>{end}")
            return
        parts.append(f"<{self.name}{own}>")
        for child in self.children:
            if isinstance(child, Element):
                child._write(parts)
            else:
                parts.append(escaped(child))
        parts.append(f"</{self.name}>{end}")


class StyleSheet(Element):
    """A ``style`` element. Its text is the package's own and is not escaped."""

    def _write(self, parts: list[str]) -> None:
        (text,) = self.children
        if "<" in str(text):
            raise ValueError("a style sheet cannot contain '<'")
        parts.append(f"<style>{text}</style>\n")


def element(tag: str, /, *children: Content, **attributes: object) -> Element:
    """Return an element; ``class_`` is the attribute class, ``aria_label`` is aria-label, None leaves one out.

    Examples
    --------
    >>> print(element("b", "1 < 2", class_="a&b"))
    <b class="a&amp;b">1 &lt; 2</b>
    """
    named = {key.rstrip("_").replace("_", "-"): str(value) for key, value in attributes.items() if value is not None}
    for each in (tag, *named):
        if not _NAME.fullmatch(each):
            raise ValueError(f"{each!r} is not the name of a tag or an attribute")
    return Element(tag, named, tuple(_flat(children)))


def escaped(text: str) -> str:
    """Return text for a page: markup is escaped, characters that HTML forbids become U+FFFD.

    Examples
    --------
    >>> escaped('<a href="x">&')
    '&lt;a href=&quot;x&quot;&gt;&amp;'
    """
    return html.escape(_FORBIDDEN.sub("\ufffd", text.replace("\r\n", "\n").replace("\r", "\n")), quote=True)


def _flat(content: Iterable[Content]) -> Iterable[Element | str]:
    for each in content:
        if each is None:
            continue
        if isinstance(each, Element | str):
            yield each
        else:
            yield from _flat(each)
