"""Feature weights: the largest, per unit and per standard deviation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats
from separatrix.tables.report.blocks import brief, data, details, isolated, number, paragraph, section, table
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.weights import Weights, weights_of

_SHOWN = 12  # weights of a class
_OPEN = 6  # tables that are not folded
_TABLES = 40
_WHY = {
    "voted": "A voted perceptron combines the votes of many planes, so features have no single weight.",
    "kernel-svm": "A kernel SVM compares rows with its support vectors, so features have no weights.",
    "kernel-perceptron": "A kernel perceptron compares rows with its support vectors, so features have no weights.",
    "network": "A neural network combines features in layers, so features have no single weight.",
}


def feature_weights(context: ReportContext) -> Element:
    """Return the section about the weights."""
    title = "Feature weights"
    weights = weights_of(context.model)
    if weights is None:
        return section(
            "weights", title, paragraph(_WHY.get(context.facts.settings.model, "This model has no feature weights."))
        )
    deviations = _deviations(context, weights)
    tables = [_table(context, weights, k, deviations) for k in range(min(len(weights.titles), _TABLES))]
    opened, folded = tables[:_OPEN], tables[_OPEN:]
    more: Content = [
        details(f"For {isolated(brief(weights.titles[_OPEN + place]))}", each) for place, each in enumerate(folded)
    ]
    if len(folded) > _OPEN:
        more = [details(f"{len(folded)} more classes", more, class_="many")]
    if len(weights.titles) > _TABLES:
        more = [more, paragraph(f"{len(weights.titles) - _TABLES:,} more classes are not shown.", class_="note")]
    return section("weights", title, paragraph(_intro(context, weights)), element("div", opened, class_="tables"), more)


def _intro(context: ReportContext, weights: Weights) -> list[Content]:
    parts: list[Content] = [
        "The score of a row is the bias plus each feature times its weight. Per unit: the change of the score when the "
        "feature grows by 1, in the units of the table. Per std. dev.: the change when it grows by one "
        "standard deviation; these can be compared between features. "
    ]
    preparation, inspected = context.model.preparation, context.inspected
    levels, words = any(not each.shares for each in preparation.role("category")), bool(preparation.role("text"))
    if levels and (inspected is not None or context.model.deviations is not None):
        parts.append(
            "A one-hot encoded category is 1 in the rows that have it and 0 in the others; its standard deviation is "
            "small for rare categories. "
        )
    if context.model.deviations is not None:
        parts.append("Standard deviations are those of the rows that the model was fitted to. ")
    elif inspected is not None:
        parts.append("Standard deviations of categories and words are those of the rows in this report. ")
    elif preparation.scale == "minmax":
        parts.append("With min-max scaling, the range of a feature is used in place of its standard deviation. ")
    else:
        if preparation.scale == "none":
            parts.append("Features are not scaled and their standard deviations are unknown without rows. ")
        if levels or words:
            parts.append(
                "The standard deviations of categories and words are unknown without rows: their bars show the change "
                "from 0 to 1, and cannot be compared with those of numbers. "
            )
    left = len(weights.names) - _SHOWN
    if left > 0:
        parts.append(f"The {_SHOWN} largest of {len(weights.names):,} are shown.")
    return parts


def _deviations(context: ReportContext, weights: Weights) -> Floats:
    """Return the standard deviation of each feature in the units of the table; NaN where it is unknown.

    Those of the fit where the model has them, so that weights are ranked as in all other outputs.
    """
    preparation, fitted = context.model.preparation, context.model.deviations
    if fitted is not None:
        return np.asarray(fitted / preparation.number_factors()[0])
    out = np.full(len(weights.names), np.nan)
    numbers = len(preparation.shift)
    if preparation.scale == "standard":
        out[:numbers] = preparation.factor
    elif preparation.scale == "minmax":
        out[:numbers] = 1.0 / preparation.factor
        out[numbers:][_levels(context, weights)[numbers:]] = 1.0
    measured = None if context.inspected is None else context.inspected.deviations
    if measured is not None:
        known = numbers if preparation.scale == "standard" else 0
        out[known:] = (measured / preparation.number_factors()[0])[known:]
    return out


def _levels(context: ReportContext, weights: Weights) -> NDArray[np.bool_]:
    """Return which features are one-hot encoded categories."""
    preparation = context.model.preparation
    out = np.zeros(len(weights.names), dtype=bool)
    starts = preparation.starts()
    for feature in preparation.role("category"):
        if not feature.shares:
            out[starts[feature.name] : starts[feature.name] + feature.width] = True
    return out


def _table(context: ReportContext, weights: Weights, k: int, deviations: Floats) -> Element:
    """Return the largest weights of one class."""
    effects = np.where(np.isnan(deviations), weights.own[k], weights.own[k] * np.nan_to_num(deviations))
    order = np.argsort(-np.abs(effects), kind="stable")[:_SHOWN]
    order = order[weights.own[k, order] != 0]
    levels = _levels(context, weights)
    most = float(np.abs(effects[order]).max(initial=0.0)) or 1.0
    positive = weights.titles[k]
    two = len(weights.titles) == 1
    rows: list[list[Content]] = []
    for place in order.tolist():
        deviation = float(deviations[place])
        shown = number(deviation) if not np.isnan(deviation) else "0 to 1" if levels[place] else "\u2013"
        row: list[Content] = [data(weights.names[place]), _bar(float(effects[place]) / most)]
        row += [data(positive if weights.own[k, place] > 0 else context.labels[0])] if two else []
        scaled = "\u2013" if np.isnan(deviation) else number(float(effects[place]))
        rows.append([*row, number(float(weights.own[k, place])), shown, scaled])
    rows.append(["(bias)", "", *([""] if two else []), number(float(weights.bias[k])), "", ""])
    head = [
        "feature", "effect", *(["favours"] if two else []), "per unit", "std. dev.", "per std. dev.",
    ]  # fmt: skip
    first = 3 if two else 2
    own = isolated(brief(positive))
    caption = f"For {own}" if two else f"For {own} (right, blue) and against it (left, orange)"
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
