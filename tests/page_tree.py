"""A page as a tree, read by the standard library's parser: for tests that look at what a browser would see."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"br", "col", "hr", "img", "link", "meta"}


@dataclass
class Node:
    """An element with its attributes and what it holds."""

    tag: str
    attributes: dict[str, str | None]
    children: list[Node | str] = field(default_factory=list)

    def walk(self) -> Iterator[Node]:
        """Yield the element and all within it."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag: str) -> list[Node]:
        """Return the elements of this tag within it."""
        return [node for node in self.walk() if node.tag == tag]

    def with_id(self, key: str) -> Node:
        """Return the one element with this id."""
        (node,) = [each for each in self.walk() if each.attributes.get("id") == key]
        return node

    def text(self) -> str:
        """Return its text, without that of styles."""
        if self.tag == "style":
            return ""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)

    def rows(self) -> list[list[str]]:
        """Return the texts of the cells of a table, row by row."""
        return [[c.text() for c in row.children if isinstance(c, Node)] for row in self.all("tr")]

    def table(self, caption: str) -> list[list[str]]:
        """Return the cells of the one table whose caption begins so."""
        (table,) = [t for t in self.all("table") if (t.attributes["aria-label"] or "").startswith(caption)]
        return table.rows()


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.root = Node("", {})
        self._open = [self.root]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert len({name for name, _ in attrs}) == len(attrs), (tag, attrs)
        node = Node(tag, dict(attrs))
        self._open[-1].children.append(node)
        if tag not in VOID:
            self._open.append(node)

    def handle_endtag(self, tag: str) -> None:
        assert self._open[-1].tag == tag, f"</{tag}> closes <{self._open[-1].tag}>"
        self._open.pop()

    def handle_data(self, data: str) -> None:
        self._open[-1].children.append(data)

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data}")

    def finished(self) -> Node:
        assert len(self._open) == 1, f"<{self._open[-1].tag}> is not closed"
        return self.root


def read_page(text: str) -> Node:
    """Return the tree of a page; one whose tags are not nested is an error."""
    reader = _Reader()
    reader.feed(text)
    reader.close()
    return reader.finished()
