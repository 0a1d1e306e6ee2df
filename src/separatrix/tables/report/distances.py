"""Where rows lie: how far from the boundary, by class, and the boundary itself in the plane that shows it best."""

from __future__ import annotations

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.closeness import Closeness
from separatrix.tables.report.drawing import Chart, bars, colour_of, legend
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.projection import View, view
from separatrix.tables.report.rows import Sample, Seen
from separatrix.tables.report.subject import Subject, brief, counted, data, figure, isolated, listed, paragraph, section
from separatrix.tables.weights import weights_of

_BINS = 40
_QUESTIONS = 4  # planes
_TAIL = 0.01  # the part of the rows that may lie outside of a picture on each side
_NAME = 26.0  # room for the name of a class


def distances(subject: Subject) -> Element:
    """Return the section about margins and the boundary."""
    seen = subject.seen
    title = "Rows and the boundary"
    if seen is None:
        hint = element("code", "separatrix report MODEL SOURCE")
        return section("rows", title, paragraph("Margins and the boundary need rows: ", hint, " draws them."))
    charts = [*_histogram(subject, seen), *_boundaries(subject, seen)]
    return section("rows", title, paragraph(_intro(subject, seen)), element("div", charts, class_="charts"))


def _intro(subject: Subject, seen: Seen) -> list[Content]:
    parts: list[Content] = [f"{counted(seen.rows, 'row')} of ", data(seen.source)]
    if seen.lacking:
        parts.append(f", of which {seen.lacking:,} lack a value and have no answer")
    parts.append(". ")
    if not seen.labelled:
        parts += [
            "They have no labels (a column ",
            data(subject.model.target),
            "), so what needs labels is left ",
        ]
        parts.append("out. ")
    elif seen.unlabelled or seen.foreign:
        parts.append(f"{seen.unlabelled:,} have no label and {seen.foreign:,} one that the model does not know. ")
    if Closeness.of(subject.model).lengths is not None:
        parts.append("Distances are measured between the numbers as the model scales them. ")
        if len(subject.labels) > 2:
            parts.append(
                "Each class has a plane of its own, and a row gets the class whose score is highest, so that a row may "
                "lie on the wrong side of a plane and still be answered rightly."
            )
    elif weights_of(subject.model) is not None:
        parts.append("The weights of the model leave no boundary between some classes, so scores stand for distances.")
    else:
        parts.append("This model has no flat boundary, so scores take the place of distances.")
    return parts


def _histogram(subject: Subject, seen: Seen) -> list[Element]:
    if not seen.confusion.n or not seen.margins.counts.any():
        return []
    labels = subject.labels
    closeness = Closeness.of(subject.model)
    edges, counts, outside = seen.margins.shown(_BINS)
    drawn = subject.drawn
    room = 84.0 if len(drawn) <= 2 else 54.0 if len(drawn) <= 4 else 38.0
    height = 56.0 + len(drawn) * (room + _NAME)
    low, high = float(min(edges[0], 0.0)), float(max(edges[-1], 0.0))
    chart = Chart(Axis(low, high, f"{closeness.what}, on the row's own side"), None, height)
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
    wrong = seen.confusion.n - seen.confusion.right
    says: list[Content] = [
        f"{wrong:,} of {seen.confusion.n:,} labelled rows are answered wrongly; they lie left of the line at 0. Each "
        "class has its own height."
    ]
    if outside:
        says.append(f" {counted(outside, 'row')} further out are counted at the ends.")
    if len(drawn) < len(labels):
        says.append(f" The {len(drawn)} largest of {len(labels)} classes are shown.")
    text = f"Histogram of the {closeness.what} by class: {wrong:,} of {seen.confusion.n:,} rows on the wrong side"
    return [figure("Margins by class", chart.svg(text), says)]


def _boundaries(subject: Subject, seen: Seen) -> list[Element]:
    sample = seen.sample
    if sample is None or len(sample) < 2:
        return []
    found = weights_of(subject.model)
    labels = subject.labels
    if found is None:
        scores = sample.scores if sample.scores.ndim == 1 else None
        if scores is not None:
            return [_picture(subject, seen, sample, view(sample.X, scores, None), labels[1], None)]
        codes = _commonest(sample, len(labels))
        return [
            _picture(subject, seen, sample, view(sample.X, _ahead(sample.scores, code), None), labels[code], None)
            for code in codes
        ]
    heights = sample.scores[:, None] if sample.scores.ndim == 1 else sample.scores
    asked = [0] if len(found.titles) == 1 else _commonest(sample, len(labels))
    out = []
    for k in asked:
        weights = found.scaled[k]
        length = float(np.linalg.norm(weights))
        if length > 0:
            across = heights[:, k] / length
            out.append(_picture(subject, seen, sample, view(sample.X, across, weights), found.titles[k], found.names))
    return out


def _ahead(scores: Floats, code: int) -> Floats:
    """Return how far the score of a class is ahead of the best of the others."""
    others = np.delete(scores, code, axis=1)
    return np.asarray(scores[:, code] - others.max(axis=1))


def _commonest(sample: Sample, k: int) -> list[int]:
    """Return the classes that are drawn: all of a few, else the commonest."""
    counts = np.bincount(sample.answers, minlength=k)
    return sorted(np.argsort(-counts, kind="stable")[:_QUESTIONS].tolist())


def _picture(
    subject: Subject, seen: Seen, sample: Sample, found: View, positive: str, names: list[str] | None
) -> Element:
    labels = subject.labels
    two = len(labels) == 2
    planes = names is not None
    what = "signed distance from the plane" if planes else "score" if two else "score less the best of the others"
    x, y = _axis(found.across, what, zero=True), _axis(found.along, "direction of largest spread")
    outside = (found.across < x.low) | (found.across > x.high) | (found.along < y.low) | (found.along > y.high)
    across, along = np.clip(found.across, x.low, x.high), np.clip(found.along, y.low, y.high)
    chart = Chart(x, y)
    yes = labels.index(positive)
    chart.band(0.0, x.high, colour_of(subject.drawn.index(yes)) if yes in subject.drawn else "grey")
    chart.upright(0.0)
    known = bool((sample.labels >= 0).any())
    shown = sample.labels if known else sample.answers
    drawn = subject.drawn
    entries = []
    for code in range(len(labels)):
        own = shown == code
        if not own.any():
            continue
        place = drawn.index(code) if code in drawn else 0
        colour = colour_of(place) if code in drawn else "grey"
        wrong = own & (sample.answers != code)
        for part, marked in ((own & ~wrong, False), (wrong, True)):
            chart.points(across[part], along[part], colour, place, marked=marked)
        if code in drawn:
            entries.append((str(place), colour, brief(labels[code])))
    if len(drawn) < len(labels):
        entries.append(("0", "grey", "other classes"))
    if known and (sample.answers != sample.labels)[sample.labels >= 0].any():
        entries.append(("0!", "grey", "wrong answer"))
    says = _says(subject, seen, sample, found, positive, names)
    if outside.any():
        says.append(f" {counted(int(outside.sum()), 'row')} further out at the edge.")
    title = "The boundary" if two else f"The boundary of {isolated(brief(positive))}"
    text = f"{len(sample):,} rows as points, by {what} and the direction in which they spread most along the boundary"
    return figure(title, chart.svg(text), says, signs=legend(entries))


def _says(
    subject: Subject, seen: Seen, sample: Sample, found: View, positive: str, names: list[str] | None
) -> list[Content]:
    claims = "the answer is" if names is None or len(subject.labels) == 2 else "its plane says"
    says: list[Content] = [f"Right of the line at 0 {claims} ", data(positive), ". "]
    if len(sample) < seen.answered:
        says.append(f"{len(sample):,} of {seen.answered:,} rows, drawn by their number. ")
    if found.features:
        every = names if names is not None else subject.model.preparation.names
        says += ["Upwards, rows differ most in ", listed([every[place] for place in found.features]), ". "]
    if names is not None:
        says.append(f"The picture holds {found.shown:.0%} of the spread of the rows.")
    return says


def _axis(values: Floats, label: str, *, zero: bool = False) -> Axis:
    """Return an axis for the numbers; where a few lie far out, for the others."""
    finite = np.sort(values[np.isfinite(values)])
    low, high = (float(finite[0]), float(finite[-1])) if len(finite) else (-1.0, 1.0)
    tail = int(_TAIL * len(finite))
    if tail and high - low > 2.0 * (finite[-1 - tail] - finite[tail]) > 0:
        low, high = float(finite[tail]), float(finite[-1 - tail])
    if zero:
        low, high = min(low, 0.0), max(high, 0.0)
    wide = (high - low) or 2.0
    return Axis(low - 0.05 * wide, high + 0.05 * wide, label)
