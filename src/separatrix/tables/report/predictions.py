"""Predictions against labels: the confusion matrix, the rows nearest to the boundary, and the worst errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.geometry.rows import is_sparse
from separatrix.tables.raw_rows import MISSING, UNSEEN
from separatrix.tables.report.blocks import (
    MANY,
    boxed,
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


def confusion(context: ReportContext) -> Element:
    """Return the section with the confusion matrices."""
    scores, inspected = context.facts.test, context.inspected
    parts: list[Content] = []
    if scores is not None:
        counts = scores.confusion
        parts.append(_matrix(context, counts, f"Test set of {isolated(brief(context.facts.source))}"))
    if inspected is not None and inspected.confusion.n:
        which = "All labelled rows of" if inspected.trained_on else "Labelled rows of"
        among = ", training rows included" if inspected.trained_on else ""
        parts.append(
            _matrix(context, inspected.confusion.confusion, f"{which} {isolated(brief(inspected.source))}{among}")
        )
    intro = (
        "Rows by actual class (down) and predicted class (across). Correct predictions are on the diagonal; recall is "
        "the fraction of a class that is predicted correctly."
    )
    title = "Confusion matrix"
    if not parts:
        return section(
            "confusion", title,
            paragraph(
                "There is no test set, and no labelled rows were given: ",
                element("code", "separatrix report MODEL SOURCE"), " uses the rows of a source.",
            ),
        )  # fmt: skip
    return section("confusion", title, paragraph(intro), element("div", parts, class_="tables"))


def _matrix(context: ReportContext, counts: Any, caption: str) -> Element:
    labels = context.labels
    if len(labels) > MANY:
        return _frequent(labels, counts, caption)
    most = max(int(counts.max()), 1)
    head = element("tr", element("th", "actual \\ predicted", scope="col"), [
        element("th", data(label), scope="col", class_="number") for label in labels
    ], element("th", "recall", scope="col", class_="number"))  # fmt: skip
    body = []
    for code, own in enumerate(counts.tolist()):
        cells = [
            element(
                "td", f"{count:,}", class_=None if not count else "right" if predicted == code else "wrong",
                style=f"--depth: {0.08 + 0.3 * count / most:.3f}" if count else None,
            )
            for predicted, count in enumerate(own)
        ]  # fmt: skip
        share = f"{own[code] / sum(own):.1%}" if sum(own) else "\u2013"
        body.append(
            element(
                "tr",
                element("th", data(labels[code]), scope="row"),
                cells,
                element("td", share, class_="share"),
            )
        )
    right, total = int(np.trace(counts)), int(counts.sum())
    return boxed(
        f"{caption}: {right:,} of {total:,} correct", element("thead", head), element("tbody", body), class_="matrix"
    )


def _frequent(labels: list[str], counts: Any, caption: str) -> Element:
    """Return the most frequent confusions, where a matrix of all classes would be too large to read."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong.ravel(), kind="stable")[:MANY]
    rows: list[list[Content]] = []
    for place in order.tolist():
        a, b = divmod(place, len(labels))
        if wrong[a, b]:
            rows.append([data(labels[a]), data(labels[b]), f"{int(wrong[a, b]):,}", f"{int(counts[a].sum()):,}"])
    right, total = int(np.trace(counts)), int(counts.sum())
    whole = f"{caption}: {right:,} of {total:,} correct; the most frequent confusions of {len(labels)} classes"
    return table(whole, ["actual", "predicted", "rows", "rows of the class"], rows, numbers=(2, 3))


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
    widths = [1] * len(names) if preparation.anonymous else [feature.width for feature in preparation.features]
    if len(names) <= _COLUMNS:
        return list(enumerate(names))
    weights = weights_of(context.model)
    if weights is None:
        return list(enumerate(names))[:_COLUMNS]
    strength = np.maximum.reduceat(np.abs(weights.scaled).max(axis=0), np.concatenate([[0], np.cumsum(widths)[:-1]]))
    best = np.sort(np.argsort(-strength, kind="stable")[:_COLUMNS])
    return [(place, names[place]) for place in best.tolist()]


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
    if preparation.anonymous or preparation.features[place].role == "number":
        value = float(raw.numbers[0, place])
        return "\u2013" if np.isnan(value) else f"{value:.10g}"
    feature = preparation.features[place]
    own = preparation.role(feature.role).index(feature)
    if feature.role == "category":
        code = int(raw.codes[0, own])
        return {MISSING: "\u2013", UNSEEN: "(unknown category)"}.get(code) or brief(feature.levels[code], _LETTERS)
    text = raw.texts[own][0]
    if text is None:
        return "\u2013"
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}\u2026"


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
