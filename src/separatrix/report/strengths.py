"""What the model looks at: its strongest weights, with the units and the spread of the column."""

from __future__ import annotations

import numpy as np

from separatrix.report.elements import Content, Element, element
from separatrix.report.subject import Subject, details, isolated, number, paragraph, section, table
from separatrix.rows import Floats
from separatrix.tabular.weights import Weights, weights_of

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
    more: Content = [details(f"For {isolated(found.titles[_OPEN + place])}", each) for place, each in enumerate(folded)]
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
    if subject.model.preparation.scale == "minmax":
        parts.append("The spread is here the range from the smallest to the largest number. ")
    elif subject.model.preparation.scale == "none" and subject.seen is None:
        parts.append("Numbers are not scaled and the model does not know their spread; the report of a source does. ")
    left = len(found.names) - _SHOWN
    if left > 0:
        parts.append(f"The {_SHOWN} strongest of {len(found.names):,} are shown.")
    return parts


def _spreads(subject: Subject, found: Weights) -> Floats:
    """Return the spread of each number in the table's units; NaN where it is not known, 0 for yes or no."""
    preparation = subject.model.preparation
    out = np.full(len(found.names), np.nan)
    numbers = len(preparation.shift)
    if preparation.scale == "standard":
        out[:numbers] = preparation.factor
    elif preparation.scale == "minmax":
        out[:numbers] = 1.0 / preparation.factor
    measured = None if subject.seen is None else subject.seen.spreads
    if measured is not None:
        known = 0 if preparation.scale == "none" else numbers
        out[known:] = measured[known:]
    place = numbers
    for feature in preparation.features:
        if feature.role == "category":
            out[place : place + feature.width] = 0.0
            place += feature.width
    return out


def _table(subject: Subject, found: Weights, k: int, spreads: Floats) -> Element:
    """Return the strongest weights of one question."""
    over = np.where(np.isfinite(spreads) & (spreads > 0), found.own[k] * np.nan_to_num(spreads), found.own[k])
    order = np.argsort(-np.abs(over), kind="stable")[:_SHOWN]
    order = order[np.abs(over[order]) > 0]
    most = float(np.abs(over[order]).max(initial=0.0)) or 1.0
    positive = found.titles[k]
    two = len(found.titles) == 1
    rows: list[list[Content]] = []
    for place in order.tolist():
        spread = float(spreads[place])
        told = "yes or no" if spread == 0 else "\u2013" if np.isnan(spread) else number(spread)
        row: list[Content] = [found.names[place], _bar(float(over[place]) / most)]
        row += [positive if over[place] > 0 else subject.labels[0]] if two else []
        over_spread = "\u2013" if np.isnan(spread) else number(float(over[place]))
        rows.append([*row, number(float(found.own[k, place])), told, over_spread])
    rows.append(["(bias)", "", *([""] if two else []), number(float(found.bias[k])), "", ""])
    head = ["feature", "strength", *(["speaks for"] if two else []), "per unit", "spread", "per spread"]
    first = 3 if two else 2
    shown = isolated(positive)
    caption = f"For {shown}" if two else f"For {shown} (right, blue) or the other classes (left, orange)"
    return table(caption, head, rows, numbers=(first, first + 1, first + 2), texts=(0, 2) if two else (0,))


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
