"""What the model looks at: its strongest weights, with the units and the spread of the column."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.subject import Subject, brief, data, details, isolated, number, paragraph, section, table
from separatrix.tables.weights import Weights, weights_of

_SHOWN = 12  # weights of a question
_OPEN = 6  # questions that are not folded
_QUESTIONS = 40
_WHY = {
    "voted": "The voted perceptron lets many planes vote, so no single weight tells what it looks at.",
    "kernel-svm": "A support vector machine with a kernel compares whole rows with those it keeps, so that columns "
    "have no weights of their own.",
    "network": "A network of neurons mixes columns several times over, so no single weight tells what it looks at.",
}


def strengths(subject: Subject) -> Element:
    """Return the section about the weights."""
    title = "What it looks at"
    found = weights_of(subject.model)
    if found is None:
        return section("weights", title, paragraph(_WHY.get(subject.kind, "This model has no weights of columns.")))
    spreads = _spreads(subject, found)
    tables = [_table(subject, found, k, spreads) for k in range(min(len(found.titles), _QUESTIONS))]
    opened, folded = tables[:_OPEN], tables[_OPEN:]
    more: Content = [
        details(f"For {isolated(brief(found.titles[_OPEN + place]))}", each) for place, each in enumerate(folded)
    ]
    if len(folded) > _OPEN:
        more = [details(f"{len(folded)} more classes", more, class_="many")]
    if len(found.titles) > _QUESTIONS:
        more = [more, paragraph(f"{len(found.titles) - _QUESTIONS:,} more classes are not shown.", class_="note")]
    return section("weights", title, paragraph(_intro(subject, found)), element("div", opened, class_="tables"), more)


def _intro(subject: Subject, found: Weights) -> list[Content]:
    parts: list[Content] = [
        "The score of a row is a sum: each number times its weight. The weight per unit says how much the score "
        "changes when the number grows by 1 in the table's own units. The weight per spread says how much it changes "
        "over a usual difference between rows (the standard deviation of the column); these can be compared. "
    ]
    preparation, seen = subject.model.preparation, subject.seen
    levels, words = bool(preparation.role("category")), bool(preparation.role("text"))
    if seen is not None:
        if levels:
            parts.append(
                "A value of a category is 1 in the rows that have it and 0 in the others, and its spread is that of "
                "this number in the rows of this page: small where few rows have it. "
            )
    elif preparation.scale == "minmax":
        parts.append("The spread is here the range from the smallest to the largest number; of a category, no to yes. ")
    else:
        if preparation.scale == "none":
            parts.append(
                "Numbers are not scaled and the model does not know their spread; the report of a source does. "
            )
        if levels or words:
            parts.append(
                "The spread of words and of the values of categories is not known without rows: their bars show the "
                "whole change from no to yes, and cannot be compared with those of numbers. The report of a source "
                "makes them comparable. "
            )
    left = len(found.names) - _SHOWN
    if left > 0:
        parts.append(f"The {_SHOWN} strongest of {len(found.names):,} are shown.")
    return parts


def _spreads(subject: Subject, found: Weights) -> Floats:
    """Return the spread of each number in the table's units; NaN where it is not known."""
    preparation = subject.model.preparation
    out = np.full(len(found.names), np.nan)
    numbers = len(preparation.shift)
    if preparation.scale == "standard":
        out[:numbers] = preparation.factor
    elif preparation.scale == "minmax":
        out[:numbers] = 1.0 / preparation.factor
        out[numbers:][_levels(subject, found)[numbers:]] = 1.0
    measured = None if subject.seen is None else subject.seen.spreads
    if measured is not None:
        known = numbers if preparation.scale == "standard" else 0
        out[known:] = (measured / preparation.number_factors()[0])[known:]
    return out


def _levels(subject: Subject, found: Weights) -> NDArray[np.bool_]:
    """Return which numbers stand for a value of a category."""
    preparation = subject.model.preparation
    out = np.zeros(len(found.names), dtype=bool)
    place = len(preparation.shift)
    for feature in preparation.role("category"):
        out[place : place + feature.width] = True
        place += feature.width
    return out


def _table(subject: Subject, found: Weights, k: int, spreads: Floats) -> Element:
    """Return the strongest weights of one question."""
    over = np.where(np.isnan(spreads), found.own[k], found.own[k] * np.nan_to_num(spreads))
    order = np.argsort(-np.abs(over), kind="stable")[:_SHOWN]
    order = order[found.own[k, order] != 0]
    levels = _levels(subject, found)
    most = float(np.abs(over[order]).max(initial=0.0)) or 1.0
    positive = found.titles[k]
    two = len(found.titles) == 1
    rows: list[list[Content]] = []
    for place in order.tolist():
        spread = float(spreads[place])
        told = number(spread) if not np.isnan(spread) else "no to yes" if levels[place] else "\u2013"
        row: list[Content] = [data(found.names[place]), _bar(float(over[place]) / most)]
        row += [data(positive if found.own[k, place] > 0 else subject.labels[0])] if two else []
        over_spread = "\u2013" if np.isnan(spread) else number(float(over[place]))
        rows.append([*row, number(float(found.own[k, place])), told, over_spread])
    rows.append(["(bias)", "", *([""] if two else []), number(float(found.bias[k])), "", ""])
    head = ["feature", "strength", *(["speaks for"] if two else []), "per unit", "spread", "per spread"]
    first = 3 if two else 2
    shown = isolated(brief(positive))
    caption = f"For {shown}" if two else f"For {shown} (right, blue) or the other classes (left, orange)"
    return table(caption, head, rows, numbers=(first, first + 1, first + 2))


def _bar(share: float) -> Element:
    """Return a bar to the right or to the left of the middle."""
    width = 50.0 * abs(share)
    left = 50.0 if share > 0 else 50.0 - width
    colour = "c0" if share > 0 else "c1"
    return element(
        "svg", element("rect", class_=colour, x=f"{left:.1f}", y="1", width=f"{width:.1f}", height="8"),
        element("path", d="M50,0V10"), viewBox="0 0 100 10", class_="bar", preserveAspectRatio="none",
        aria_hidden="true",
    )  # fmt: skip
