"""Where the model errs: the confusion matrix, the rows nearest to the boundary, and the worst mistakes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from separatrix.geometry.rows import is_sparse
from separatrix.tables.raw_rows import MISSING, UNSEEN
from separatrix.tables.report.closeness import Closeness
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.rows import Row, Seen
from separatrix.tables.report.subject import (
    MANY,
    Subject,
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
from separatrix.tables.weights import weights_of

_COLUMNS = 8  # of a row that are shown
_LETTERS = 140  # of a text
_ENTRIES = 8  # of a sparse row


def confusion(subject: Subject) -> Element:
    """Return the section with the confusion matrices."""
    held, seen = subject.facts.get("held_out"), subject.seen
    parts: list[Content] = []
    if held is not None:
        counts = np.array(held["confusion"], dtype=np.int64)
        parts.append(_matrix(subject, counts, f"Held-out rows of {isolated(brief(str(subject.facts['source'])))}"))
    if seen is not None and seen.confusion.n:
        which = "All labelled rows of" if seen.trained_on else "Labelled rows of"
        among = ", those learned from among them" if seen.trained_on else ""
        parts.append(_matrix(subject, seen.confusion.confusion, f"{which} {isolated(brief(seen.source))}{among}"))
    intro = "Rows by their class (down) and by the model's answer (across). Right answers are on the diagonal."
    if not parts:
        return section(
            "answers", "Right and wrong answers",
            paragraph(
                "No rows were held out, and no labelled rows were given: ",
                element("code", "separatrix report MODEL SOURCE"), " counts those of a source.",
            ),
        )  # fmt: skip
    return section("answers", "Right and wrong answers", paragraph(intro), element("div", parts, class_="tables"))


def _matrix(subject: Subject, counts: Any, caption: str) -> Element:
    labels = subject.labels
    if len(labels) > MANY:
        return _frequent(labels, counts, caption)
    most = max(int(counts.max()), 1)
    head = element("tr", element("th", "class \u2193 answer \u2192", scope="col"), [
        element("th", data(label), scope="col", class_="number") for label in labels
    ], element("th", "found", scope="col", class_="number"))  # fmt: skip
    body = []
    for code, own in enumerate(counts.tolist()):
        cells = [
            element(
                "td", f"{count:,}", class_=None if not count else "right" if answer == code else "wrong",
                style=f"--depth: {0.08 + 0.3 * count / most:.3f}" if count else None,
            )
            for answer, count in enumerate(own)
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
    told = f"{caption}: {right:,} of {total:,} right"
    return boxed(told, element("thead", head), element("tbody", body), class_="matrix")


def _frequent(labels: list[str], counts: Any, caption: str) -> Element:
    """Return the commonest confusions, where a matrix of all classes would be too large to read."""
    wrong = counts.copy()
    np.fill_diagonal(wrong, 0)
    order = np.argsort(-wrong.ravel(), kind="stable")[:MANY]
    rows: list[list[Content]] = []
    for place in order.tolist():
        a, b = divmod(place, len(labels))
        if wrong[a, b]:
            rows.append([data(labels[a]), data(labels[b]), f"{int(wrong[a, b]):,}", f"{int(counts[a].sum()):,}"])
    right, total = int(np.trace(counts)), int(counts.sum())
    told = f"{caption}: {right:,} of {total:,} right; the commonest mistakes of {len(labels)} classes"
    return table(told, ["class", "answer", "rows", "of its rows"], rows, numbers=(2, 3))


def rows_to_look_at(subject: Subject) -> Element:
    """Return the section with the rows nearest to the boundary and the worst mistakes."""
    seen = subject.seen
    title = "Rows to look at"
    if seen is None:
        return section(
            "look", title,
            paragraph(
                "The rows nearest to the boundary and the worst mistakes need rows: ",
                element("code", "separatrix report MODEL SOURCE"), " lists them.",
            ),
        )  # fmt: skip
    what = "distance" if Closeness.of(subject.model).lengths is not None else "score"
    parts: list[Content] = [
        element("h3", "Nearest to the boundary"),
        paragraph(
            "Where the model is least sure: a small change of the row would change the answer. Rows are counted from "
            "1.",
            _left_out(subject),
        ),
        _rows(subject, seen, seen.nearest, "Rows nearest to the boundary", what),
        element("h3", "Worst mistakes"),
    ]
    if not seen.confusion.n:
        parts.append(paragraph("Mistakes can be told only where the rows have labels that the model knows."))
    elif not seen.worst:
        parts.append(paragraph(f"None: all {counted(seen.confusion.n, 'labelled row')} are answered rightly."))
    else:
        parts.append(
            paragraph(
                "Rows that are answered wrongly and lie furthest on the wrong side. Some may be unusual, some may "
                "carry a wrong label."
            )
        )
        parts.append(_rows(subject, seen, seen.worst, "Worst mistakes", what))
    return section("look", title, parts)


def _rows(subject: Subject, seen: Seen, rows: Sequence[Row], caption: str, what: str) -> Element:
    model, labels = subject.model, subject.labels
    columns = _columns(subject)
    known = bool(seen.confusion.n or seen.foreign)
    head: list[Content] = [
        "row",
        *(["label"] if known else []),
        "answer",
        what,
        *(data(c) for _, c in columns),
    ]
    body: list[list[Content]] = []
    for row in rows:
        label = data(labels[row.label]) if row.label >= 0 else "\u2013"
        cells: list[Content] = [
            f"{row.number:,}",
            *([label] if known else []),
            data(labels[row.answer]),
            number(row.distance, 3),
        ]
        cells += [_cell(model, row, place) for place, _ in columns]
        body.append(cells)
    first = 3 + known
    return table(
        f"{caption} of {isolated(brief(seen.source))}", head, body, numbers=(first - 1,), texts=range(first, 99)
    )


def _columns(subject: Subject) -> list[tuple[int, str]]:
    """Return the columns to show, by place and name: all of a few, else those that weigh most; -1 for a sparse row."""
    preparation = subject.model.preparation
    if preparation.anonymous and preparation.sparse:
        return [(-1, "strongest numbers")]
    names = preparation.names if preparation.anonymous else [feature.name for feature in preparation.features]
    widths = [1] * len(names) if preparation.anonymous else [feature.width for feature in preparation.features]
    if len(names) <= _COLUMNS:
        return list(enumerate(names))
    found = weights_of(subject.model)
    if found is None:
        return list(enumerate(names))[:_COLUMNS]
    strength = np.maximum.reduceat(np.abs(found.scaled).max(axis=0), np.concatenate([[0], np.cumsum(widths)[:-1]]))
    best = np.sort(np.argsort(-strength, kind="stable")[:_COLUMNS])
    return [(place, names[place]) for place in best.tolist()]


def _left_out(subject: Subject) -> str | None:
    """Return what is said where not all columns are shown."""
    preparation = subject.model.preparation
    every = preparation.width if preparation.anonymous else len(preparation.features)
    if every <= _COLUMNS or (preparation.anonymous and preparation.sparse):
        return None
    which = "first" if weights_of(subject.model) is None else "strongest"
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
        return {MISSING: "\u2013", UNSEEN: "(not known to the model)"}.get(code) or brief(
            feature.levels[code], _LETTERS
        )
    text = raw.texts[own][0]
    if text is None:
        return "\u2013"
    return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}\u2026"


def _entries(model: Any, row: Row) -> str:
    """Return the numbers of a sparse row that change its score most."""
    numbers = row.raw.numbers
    assert is_sparse(numbers)
    found = weights_of(model)
    names = model.preparation.names
    if not numbers.nnz:
        return "all zero"
    effect = np.abs(numbers.data)
    if found is not None:
        effect = effect * np.abs(found.own[:, numbers.indices]).max(axis=0)
    order = np.argsort(-effect, kind="stable")[:_ENTRIES]
    told = ", ".join(f"{names[numbers.indices[k]]} = {numbers.data[k]:.6g}" for k in order.tolist())
    left = numbers.nnz - len(order)
    return told + (f" and {left:,} more" if left else "")
