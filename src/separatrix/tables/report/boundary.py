"""The decision boundary: distances of rows from it, by class, and the rows projected across it."""

from __future__ import annotations

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.preparation import FEATURES
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.blocks import brief, counted, data, figure, isolated, listed, paragraph, section
from separatrix.tables.report.boundary_distance import BoundaryDistance
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.drawing import Chart, bars, colour_of, legend
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.projection import Projection, project
from separatrix.tables.report.rows import InspectedRows, Sample
from separatrix.tables.weights import weights_of

_BINS = 40
_PLANES = 4  # classes whose plane is drawn
_TAIL = 0.01  # the fraction of rows that may lie beyond each end of an axis
_NAME = 26.0  # room for the name of a class


def boundary(context: ReportContext) -> Element:
    """Return the section about margins and the decision boundary."""
    inspected = context.inspected
    title = "Decision boundary"
    if inspected is None:
        hint = element("code", "separatrix report MODEL SOURCE")
        return section("boundary", title, paragraph("Margins and the boundary need rows: ", hint, " draws them."))
    charts = [*_histogram(context, inspected), *_boundaries(context, inspected)]
    return section("boundary", title, paragraph(_intro(context, inspected)), element("div", charts, class_="charts"))


def _intro(context: ReportContext, inspected: InspectedRows) -> list[Content]:
    parts: list[Content] = [f"{counted(inspected.rows, 'row')} of ", data(inspected.source)]
    if inspected.incomplete:
        parts.append(f", {inspected.incomplete:,} without a prediction (missing values)")
    parts.append(". ")
    if not inspected.labelled:
        parts += ["They have no labels (column ", data(context.model.target), "). "]
    elif inspected.unlabelled or inspected.unknown_labels:
        parts.append(f"{inspected.unlabelled:,} have no label, {inspected.unknown_labels:,} an unknown label. ")
    if BoundaryDistance.of(context.model).lengths is not None:
        parts.append(f"Distances are in {FEATURES[context.model.preparation.scale]}. ")
        if _learned_together(context):
            parts.append("The classes are learned together; the boundary between two is where their scores are equal.")
        elif len(context.labels) > 2:
            parts.append(
                "Each class has its own plane (one-vs-rest), and the class with the highest score is predicted, so a "
                "row on the wrong side of a plane can still be predicted correctly."
            )
    elif weights_of(context.model) is not None:
        parts.append(
            "Some classes have equal weights and no boundary between them, so scores are shown, not distances."
        )
    else:
        parts.append("The boundary of this model is not a plane, so scores are shown, not distances.")
    return parts


def _histogram(context: ReportContext, inspected: InspectedRows) -> list[Element]:
    if not inspected.confusion.n or not inspected.margins.counts.any():
        return []
    labels = context.labels
    distance = BoundaryDistance.of(context.model)
    edges, counts, outside = inspected.margins.shown(_BINS)
    drawn = context.drawn
    room = 84.0 if len(drawn) <= 2 else 54.0 if len(drawn) <= 4 else 38.0
    height = 56.0 + len(drawn) * (room + _NAME)
    low, high = float(min(edges[0], 0.0)), float(max(edges[-1], 0.0))
    chart = Chart(Axis(low, high, f"{distance.what} (negative: misclassified)"), None, height)
    if low < 0:
        chart.band(low, 0.0, "grey")
    for place, code in enumerate(drawn):
        base = chart.top + (place + 1) * (room + _NAME) - 2.0
        most = int(counts[code].max())
        bar = bars(chart, edges, counts[code] / max(most, 1), base, room, colour_of(place))
        chart.add(element("path", class_="base", d=f"M{chart.left:.1f},{base:.1f}H{chart.right:.1f}"))
        if bar is not None:
            chart.add(bar)
        total = int(counts[code].sum())
        words = f"{isolated(brief(labels[code], 32))}: {counted(total, 'row')}"
        chart.add(
            element("text", words, class_="strong", x=f"{chart.left + 4:.1f}", y=f"{base - room - 6.0:.1f}"),
        )
    chart.upright(0.0)
    wrong = inspected.confusion.n - inspected.confusion.correct
    says: list[Content] = [
        f"{wrong:,} of {inspected.confusion.n:,} labelled rows are misclassified (left of 0). Each class has its own "
        "vertical scale."
    ]
    if outside:
        says.append(f" {counted(outside, 'row')} beyond the ends are counted in the end bins.")
    if len(drawn) < len(labels):
        says.append(f" The {len(drawn)} largest of {len(labels)} classes are shown.")
    text = f"Histogram of the {distance.what} by class: {wrong:,} of {inspected.confusion.n:,} rows misclassified"
    return [figure("Margins by class", chart.svg(text), says)]


def _boundaries(context: ReportContext, inspected: InspectedRows) -> list[Element]:
    sample = inspected.sample
    if sample is None or len(sample) < 2:
        return []
    planes = weights_of(context.model)
    labels = context.labels
    if planes is None or _learned_together(context):
        scores = sample.scores if sample.scores.ndim == 1 else None
        if scores is not None:
            return [_picture(context, inspected, sample, project(sample.X, scores, None), labels[1], None)]
        codes = _largest(sample, len(labels))
        return [
            _picture(
                context, inspected, sample, project(sample.X, _ahead(sample.scores, code), None), labels[code], None
            )
            for code in codes
        ]
    heights = sample.scores[:, None] if sample.scores.ndim == 1 else sample.scores
    drawn = [0] if len(planes.titles) == 1 else _largest(sample, len(labels))
    out = []
    for k in drawn:
        weights = planes.scaled[k]
        length = float(np.linalg.norm(weights))
        if length > 0:
            across = heights[:, k] / length
            out.append(
                _picture(context, inspected, sample, project(sample.X, across, weights), planes.titles[k], planes.names)
            )
    return out


def _learned_together(context: ReportContext) -> bool:
    """Whether several classes were learned together, so that none has a plane of its own."""
    return bool(getattr(context.model.estimator, "_learned_together", False))


def _ahead(scores: Floats, code: int) -> Floats:
    """Return the score of a class minus the highest other score."""
    others = np.delete(scores, code, axis=1)
    return np.asarray(scores[:, code] - others.max(axis=1))


def _largest(sample: Sample, k: int) -> list[int]:
    """Return the classes that are drawn: all of a few, else the most frequent."""
    counts = np.bincount(sample.predictions, minlength=k)
    return sorted(np.argsort(-counts, kind="stable")[:_PLANES].tolist())


def _picture(
    context: ReportContext,
    inspected: InspectedRows,
    sample: Sample,
    projected: Projection,
    positive: str,
    names: list[str] | None,
) -> Element:
    labels = context.labels
    two = len(labels) == 2
    planes = names is not None
    what = "signed distance from the plane" if planes else "score" if two else "score minus the highest other score"
    x, y = _axis(projected.across, what, zero=True), _axis(projected.along, "principal component")
    across, along = np.clip(projected.across, x.low, x.high), np.clip(projected.along, y.low, y.high)
    outside = (across != projected.across) | (along != projected.along)
    chart = Chart(x, y)
    yes = labels.index(positive)
    chart.band(0.0, x.high, colour_of(context.drawn.index(yes)) if yes in context.drawn else "grey")
    chart.upright(0.0)
    known = bool((sample.labels >= 0).any())
    shown = sample.labels if known else sample.predictions
    drawn = context.drawn
    entries = []
    for code in range(len(labels)):
        own = shown == code
        if not own.any():
            continue
        place = drawn.index(code) if code in drawn else 0
        colour = colour_of(place) if code in drawn else "grey"
        wrong = own & (sample.predictions != code)
        for part, marked in ((own & ~wrong, False), (wrong, True)):
            chart.points(across[part], along[part], colour, place, marked=marked)
        if code in drawn:
            entries.append((str(place), colour, brief(labels[code])))
    if len(drawn) < len(labels):
        entries.append(("0", "grey", "other classes"))
    if known and (sample.predictions != sample.labels)[sample.labels >= 0].any():
        entries.append(("0!", "grey", "misclassified"))
    says = _says(context, inspected, sample, projected, positive, names)
    if outside.any():
        says.append(f" {counted(int(outside.sum()), 'outlier')} at the edge.")
    title = "Decision boundary" if two else f"Decision boundary of {isolated(brief(positive))}"
    text = f"{len(sample):,} rows as points, by {what} and the principal component along the boundary"
    return figure(title, chart.svg(text), says, legend=legend(entries))


def _says(
    context: ReportContext,
    inspected: InspectedRows,
    sample: Sample,
    projected: Projection,
    positive: str,
    names: list[str] | None,
) -> list[Content]:
    claims = "the prediction is" if names is None or len(context.labels) == 2 else "the score is positive for"
    says: list[Content] = [f"Right of 0, {claims} ", data(positive), ". "]
    if len(sample) < inspected.predicted:
        says.append(f"Random sample of {len(sample):,} of {inspected.predicted:,} rows. ")
    if projected.features:
        every = names if names is not None else context.model.preparation.names
        says += ["Vertical axis: mainly ", listed([every[place] for place in projected.features]), ". "]
    if names is not None:
        says.append(f"The plot explains {projected.shown:.0%} of the variance.")
    return says


def _axis(values: Floats, label: str, *, zero: bool = False) -> Axis:
    """Return an axis for the numbers, without a few outliers."""
    finite = np.sort(values[np.isfinite(values)])
    low, high = (float(finite[0]), float(finite[-1])) if len(finite) else (-1.0, 1.0)
    tail = int(_TAIL * len(finite))
    if tail and high - low > 2.0 * (finite[-1 - tail] - finite[tail]) > 0:
        low, high = float(finite[tail]), float(finite[-1 - tail])
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    wide = (high - low) or 2.0
    return Axis(low - 0.05 * wide, high + 0.05 * wide, label)
