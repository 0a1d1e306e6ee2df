"""The page: its sections in order, in a frame that loads nothing from anywhere."""

from __future__ import annotations

import os
from importlib import resources
from typing import Any

from separatrix import __version__
from separatrix.files import write_text
from separatrix.tables.model import TableModel, stored_certificate
from separatrix.tables.report.answers import confusion, rows_to_look_at
from separatrix.tables.report.distances import distances
from separatrix.tables.report.elements import Element, StyleSheet, element
from separatrix.tables.report.learning import learning
from separatrix.tables.report.origin import origin
from separatrix.tables.report.overview import overview, title
from separatrix.tables.report.proof import proof
from separatrix.tables.report.rows import Seen
from separatrix.tables.report.strengths import strengths
from separatrix.tables.report.subject import Subject

# Nothing is loaded and nothing runs; styles are those of the page itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_SECTIONS = (proof, learning, distances, strengths, confusion, rows_to_look_at, origin)


def write_report(
    model: TableModel, path: str | os.PathLike[str], seen: Seen | None = None, certificate: Any = None
) -> None:
    """Write the report of a model as one HTML file that needs nothing else.

    Parameters
    ----------
    model : TableModel
        The model, as ``separatrix fit`` makes it.
    path : path
        The file.
    seen : Seen, optional
        What it says about the rows of a source, from :func:`separatrix.tables.report.rows.look`.
    certificate : Certificate or Certificates, optional
        What is proved about the rows that it was learned from; by default what the model holds.
    """
    write_text(path, report(model, seen, certificate))


def report(model: TableModel, seen: Seen | None = None, certificate: Any = None) -> str:
    """Return the report as text; see :func:`write_report`."""
    try:
        found = certificate if certificate is not None else stored_certificate(model.facts)
        return _page(Subject(model, found, seen))
    except (AttributeError, LookupError, TypeError) as problem:
        raise ValueError(f"the model does not tell what fit writes about one ({problem!r:.60})") from None


def _page(subject: Subject) -> str:
    sections = [make(subject) for make in _SECTIONS]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title(subject)),
        element("link", rel="icon", href="data:,"),
        StyleSheet("style", {}, (_style(),)),
    )
    body = element(
        "body",
        overview(subject),
        _contents(sections),
        element("main", sections),
        element("footer", element("p", f"Made by separatrix {__version__}. This page loads nothing.")),
    )
    return f"<!DOCTYPE html>\n{element('html', head, body, lang='en')}\n"


def _contents(sections: list[Element]) -> Element:
    links = []
    for each in sections:
        heading = each.children[0]
        assert isinstance(heading, Element)
        links.append(element("li", element("a", *heading.children, href=f"#{each.attributes['id']}")))
    return element("nav", element("ul", links), aria_label="Sections")


def _style() -> str:
    return resources.files("separatrix.tables.report").joinpath("style.css").read_text(encoding="utf-8")
