"""Rows to check: those nearest to the boundary, and the worst errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.date_notations import ISO, is_clock
from separatrix.tables.preparation import Feature, Preparation
from separatrix.tables.raw_rows import MISSING, UNSEEN
from separatrix.tables.report.blocks import (
    brief,
    counted,
    data,
    isolated,
    number,
    paragraph,
    section,
    table,
)
from separatrix.tables.report.boundary_distance import BoundaryDistance
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.rows import InspectedRows, Row
from separatrix.tables.weights import weights_of

_COLUMNS = 8  # of a row that are shown
_LETTERS = 140  # of a text
_ENTRIES = 8  # of a sparse row
_NONE = "\u2013"  # in place of a missing value
_DAY, _FARTHEST = 86400, 9e12  # seconds of a day, and up to a moment that 64 bits hold


def rows_to_check(context: ReportContext) -> Element:
    """Return the section with the rows nearest to the boundary and the worst errors."""
    inspected = context.inspected
    title = "Rows to check"
    if inspected is None:
        return section(
            "rows", title,
            paragraph(
                "The least certain predictions and the worst errors need rows: ",
                element("code", "separatrix report MODEL SOURCE"), " lists them.",
            ),
        )  # fmt: skip
    what = "distance" if BoundaryDistance.of(context.model).lengths is not None else "score"
    parts: list[Content] = [
        element("h3", "Nearest to the boundary"),
        paragraph(
            "The least certain predictions: a small change of the row would change them. Row numbers start at 1.",
            _left_out(context),
        ),
        _rows(context, inspected, inspected.nearest, "Rows nearest to the boundary", what),
        element("h3", "Worst errors"),
    ]
    if not inspected.confusion.n:
        parts.append(paragraph("Errors are known only for rows with labels of the model's classes."))
    elif not inspected.worst:
        parts.append(paragraph(f"None: all {counted(inspected.confusion.n, 'labelled row')} are predicted correctly."))
    else:
        parts.append(
            paragraph(
                "Misclassified rows furthest on the wrong side of the boundary. Some may be outliers, some may be "
                "mislabelled."
            )
        )
        parts.append(_rows(context, inspected, inspected.worst, "Worst errors", what))
    return section("rows", title, parts)


def _rows(context: ReportContext, inspected: InspectedRows, rows: Sequence[Row], caption: str, what: str) -> Element:
    model, labels = context.model, context.labels
    columns = _columns(context)
    known = bool(inspected.confusion.n or inspected.unknown_labels)
    head: list[Content] = [
        "row",
        *(["actual"] if known else []),
        "predicted",
        what,
        *(data(c) for _, c in columns),
    ]
    body: list[list[Content]] = []
    for row in rows:
        label = data(labels[row.label]) if row.label >= 0 else "\u2013"
        cells: list[Content] = [
            f"{row.number:,}",
            *([label] if known else []),
            data(labels[row.prediction]),
            number(row.distance, 3),
        ]
        cells += [_cell(model, row, place) for place, _ in columns]
        body.append(cells)
    first = 3 + known
    return table(
        f"{caption} of {isolated(brief(inspected.source))}", head, body, numbers=(first - 1,), texts=range(first, 99)
    )


def _columns(context: ReportContext) -> list[tuple[int, str]]:
    """Return the columns to show, by place and name: all of a few, else the largest weights; -1 for a sparse row."""
    preparation = context.model.preparation
    if preparation.anonymous and preparation.sparse:
        return [(-1, "largest effects")]
    names = preparation.names if preparation.anonymous else [feature.name for feature in preparation.features]
    if len(names) <= _COLUMNS:
        return list(enumerate(names))
    weights = weights_of(context.model)
    if weights is None:
        return list(enumerate(names))[:_COLUMNS]
    strength = np.abs(weights.per_deviation).max(axis=0)
    if not preparation.anonymous:
        strength = _of_columns(preparation, strength)
    best = np.sort(np.argsort(-strength, kind="stable")[:_COLUMNS])
    return [(place, names[place]) for place in best.tolist()]


def _of_columns(preparation: Preparation, strength: Floats) -> Floats:
    """Return the largest of the numbers of each column, the one that says that a value is missing among them."""
    starts = preparation.starts()
    largest = {each.name: strength[(at := starts[each.name]) : at + each.width].max() for each in preparation.features}
    for place, each in enumerate(preparation.gaps, start=len(preparation.shift)):
        largest[each.name] = max(largest[each.name], strength[place])
    return np.array([largest[each.name] for each in preparation.features])


def _left_out(context: ReportContext) -> str | None:
    """Return a note if not all columns are shown."""
    preparation = context.model.preparation
    every = preparation.width if preparation.anonymous else len(preparation.features)
    if every <= _COLUMNS or (preparation.anonymous and preparation.sparse):
        return None
    which = "first" if weights_of(context.model) is None else "most important"
    return f" The {_COLUMNS} {which} of {every:,} columns are shown."


def _cell(model: Any, row: Row, place: int) -> str:
    """Return a cell as it was read."""
    preparation, raw = model.preparation, row.raw
    if place < 0:
        return _entries(model, row)
    if preparation.anonymous:
        return _number_text(float(raw.numbers[0, place]))
    feature = preparation.features[place]
    start, own = preparation.starts()[feature.name], preparation.role(feature.role).index(feature)
    if feature.role == "number":
        return _number_text(float(raw.numbers[0, start]))
    if feature.role == "date":
        return _moment_text(feature, raw.numbers[0, start : start + feature.width].tolist())
    if feature.role == "category":
        code = int(raw.codes[0, own])
        other = "(other)" if feature.pooled else "(unknown category)"
        return {MISSING: _NONE, UNSEEN: other}.get(code) or brief(feature.levels[code], _LETTERS)
    text = raw.texts[own][0]
    if text is None:
        return _NONE
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}\u2026"


def _number_text(value: float) -> str:
    return _NONE if np.isnan(value) else f"{value:.10g}"


def _moment_text(feature: Feature, numbers: list[float]) -> str:
    """Return a date or time of its parts, as 2024-03-01 14:30:00."""
    known = dict(zip(feature.parts, numbers, strict=True))
    seconds = known.get("seconds", np.nan)
    if np.isnan(seconds):
        return _NONE
    if abs(seconds) > _FARTHEST:
        return f"{seconds:.10g} s"
    day, clock = str(np.datetime64(round(seconds * 1e6), "us")).split("T")
    clock = clock.removesuffix(".000000")
    if "year" in known:
        if int(known.get("hour", 0)) != int(clock[:2]):  # the parts are those of the cell's own zone
            return f"{day} {clock} UTC"
        return day if clock == "00:00:00" else f"{day} {clock}"
    of_day = "hour" in known or is_clock(feature.notation)
    if of_day or (feature.notation in ("", ISO) and 0 <= seconds <= _DAY):
        return clock
    return day if clock == "00:00:00" else f"{day} {clock}"


def _entries(model: Any, row: Row) -> str:
    """Return the features of a sparse row with the largest effect on its score."""
    numbers = row.raw.numbers
    assert is_sparse(numbers)
    weights = weights_of(model)
    names = model.preparation.names
    if not numbers.nnz:
        return "all zero"
    effect = np.abs(numbers.data)
    if weights is not None:
        effect = effect * np.abs(weights.own[:, numbers.indices]).max(axis=0)
    order = np.argsort(-effect, kind="stable")[:_ENTRIES]
    shown = ", ".join(f"{names[numbers.indices[k]]} = {numbers.data[k]:.6g}" for k in order.tolist())
    left = numbers.nnz - len(order)
    return shown + (f" and {left:,} more" if left else "")
