"""The page: its sections in order, without external resources."""

from __future__ import annotations

import os
from importlib import resources
from typing import Any

from separatrix import __version__
from separatrix.files import write_text
from separatrix.tables.model import TableModel
from separatrix.tables.report.boundary import boundary
from separatrix.tables.report.certificate import certificate as certificate_section
from separatrix.tables.report.confusion import confusion
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.curves import curves
from separatrix.tables.report.elements import Element, StyleSheet, element
from separatrix.tables.report.feature_weights import feature_weights
from separatrix.tables.report.overview import overview, title
from separatrix.tables.report.predictions import rows_to_check
from separatrix.tables.report.provenance import provenance
from separatrix.tables.report.rows import InspectedRows
from separatrix.tables.report.training import training

# Nothing is loaded and nothing runs; styles are those of the page itself.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"
_SECTIONS = (confusion, curves, certificate_section, training, boundary, feature_weights, rows_to_check, provenance)


def write_report(
    model: TableModel, path: str | os.PathLike[str], inspected: InspectedRows | None = None, certificate: Any = None
) -> None:
    """Write the report of a model as one self-contained HTML file.

    Parameters
    ----------
    model : TableModel
        The model, as ``separatrix fit`` makes it.
    path : path
        The file.
    inspected : InspectedRows, optional
        Its predictions on the rows of a source, from :func:`separatrix.tables.report.rows.inspect_rows`.
    certificate : Certificate or Certificates, optional
        The certificate of the training rows; by default the one in the model.
    """
    write_text(path, report(model, inspected, certificate))


def report(model: TableModel, inspected: InspectedRows | None = None, certificate: Any = None) -> str:
    """Return the report as text; see :func:`write_report`."""
    if not model.facts.status:
        raise ValueError("the model has no record of its fit; fit it again")
    return _page(ReportContext(model, certificate if certificate is not None else model.certificate, inspected))


def _page(context: ReportContext) -> str:
    sections = [make(context) for make in _SECTIONS]
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=POLICY),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title(context)),
        element("link", rel="icon", href="data:,"),
        StyleSheet("style", {}, (_style(),)),
    )
    body = element(
        "body",
        overview(context),
        _contents(sections),
        element("main", sections),
        element("footer", element("p", f"Written by separatrix {__version__}. This page loads no external resources.")),
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
