"""The ROC, precision-recall and calibration curves in a report: of the test set, or of the rows of a source."""

from __future__ import annotations

import numpy as np

from separatrix.tables.curves import MACRO, Curve, OperatingPoint
from separatrix.tables.decision_lines import probability_at
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.blocks import brief, data, figure, isolated, number, paragraph, section, table
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.drawing import Chart, colour_of, legend
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.scores import Scores

_HEIGHT = 372.0
_ENDS = np.array([0.0, 1.0])


def curves(context: ReportContext) -> Element:
    """Return the section with the curves."""
    test, inspected = context.facts.test, context.inspected
    parts: list[Content] = []
    if test is not None and test.metrics is not None:
        parts += _group(context, test, ["Test set of ", data(context.facts.source)])
    if inspected is not None and inspected.confusion.n and (not parts or not inspected.trained_on):
        among = ", training rows included: these curves are too good" if inspected.trained_on else ""
        parts += _group(context, inspected.confusion, ["Labelled rows of ", data(inspected.source), among])
    title = "ROC, precision-recall and calibration"
    if not parts:
        return section(
            "curves", title,
            paragraph(
                "There are no scores of labelled rows of two classes: ",
                element("code", "separatrix report MODEL SOURCE"), " computes them from a source.",
            ),
        )  # fmt: skip
    several = len(context.labels) > 2
    intro = (
        "ROC: the fraction of a class that is found against the fraction of the other rows taken for it, at every "
        "threshold of the score. Precision-recall: how many of the rows taken for a class belong to it. Calibration: "
        "how often predictions of a probability are right; on the diagonal they are right as often as they say."
    )
    return section("curves", title, paragraph(intro, " Each class against the rest." if several else None), parts)


def _group(context: ReportContext, scores: Scores, heading: list[Content]) -> list[Content]:
    metrics = scores.metrics
    if metrics is None or not metrics.curves:
        return []
    made = [
        draw(context, scores, [curve for curve in metrics.curves if curve.kind == kind])
        for kind, draw in (("roc", _roc), ("precision_recall", _precision_recall), ("calibration", _calibration))
        if any(curve.kind == kind for curve in metrics.curves)
    ]
    charts = element("div", made, class_="charts three" if len(made) > 2 else "charts")
    return [element("h3", heading), charts, _thresholds(context, scores)]


def _thresholds(context: ReportContext, scores: Scores) -> Content:
    """Return what other thresholds of the score would give, with the one in use among them."""
    if scores.metrics is None or not scores.metrics.points:
        return None
    precision, recall, predicted = _in_use(scores)
    threshold = context.model.threshold
    used = OperatingPoint(0.0 if threshold is None else threshold.value, precision, recall, predicted)
    points = sorted([*scores.metrics.points, used], key=lambda each: (each.predicted, each is used))
    chances = context.model.has_probabilities
    rows: list[list[Content]] = [
        [
            [number(each.score), " (in use)" if each is used else ""],
            f"{each.precision:.3f}", f"{each.recall:.3f}", f"{each.f1:.3f}", f"{each.predicted:,}",
            *([f"{probability_at(context.model, each.score):.3f}"] if chances else []),
        ]
        for each in points
    ]  # fmt: skip
    label = isolated(brief(context.labels[1]))
    head = ["score from", "precision", "recall", "F1", f"predicted {label}", *(["probability"] if chances else [])]
    caption = f"Thresholds: what is predicted {label}, of {scores.n:,} rows"
    return table(caption, head, rows, numbers=range(1, len(head)))


def _in_use(scores: Scores) -> tuple[float, float, int]:
    """Return precision and recall of the second of two classes as the model decides, and how many are predicted."""
    own = scores.by_class()[1]
    return own.precision or 0.0, own.recall or 0.0, int(scores.confusion[:, 1].sum())


def _roc(context: ReportContext, scores: Scores, lines: list[Curve]) -> Element:
    chart = _chart("false positive rate", "true positive rate")
    chart.line(_ENDS, _ENDS, "grey", dashed=True)
    mark = None
    if len(context.labels) == 2 and (negatives := int(scores.confusion[0].sum())):
        mark = float(scores.confusion[0, 1] / negatives), _in_use(scores)[1]
    return _drawn(
        context, chart, lines, "ROC curve", ("dashed", "grey", "random scores"),
        f"ROC AUC {_value(scores, 'roc_auc')}{_mean(context)}; random scores have 0.5.", mark=mark,
    )  # fmt: skip


def _precision_recall(context: ReportContext, scores: Scores, lines: list[Curve]) -> Element:
    chart = _chart("recall", "precision")
    sign = mark = None
    if len(context.labels) == 2:
        share = float(scores.confusion[1].sum() / scores.n)
        chart.level(share, "grey")
        precision, recall, predicted = _in_use(scores)
        sign = ("dashed", "grey", f"random scores ({share:.3f})")
        mark = (recall, precision) if predicted else None
    says = f"Average precision {_value(scores, 'average_precision')}{_mean(context)}."
    return _drawn(context, chart, lines, "Precision-recall curve", sign, says, mark=mark)


def _calibration(context: ReportContext, scores: Scores, lines: list[Curve]) -> Element:
    chart = _chart("mean predicted probability", "observed fraction")
    chart.line(_ENDS, _ENDS, "grey", dashed=True)
    what = "Of the predicted class. " if lines[0].code == MACRO else ""
    says = (
        f"{what}Each point is a tenth of the rows, by probability. Brier score {_value(scores, 'brier')}, log loss "
        f"{_value(scores, 'log_loss')} (less is better)."
    )
    return _drawn(context, chart, lines, "Calibration", ("dashed", "grey", "perfectly calibrated"), says, dots=True)


def _chart(x: str, y: str) -> Chart:
    return Chart(Axis(0.0, 1.0, x), Axis(0.0, 1.0, y), _HEIGHT)


def _drawn(
    context: ReportContext, chart: Chart, lines: list[Curve], title: str, more: tuple[str, str, str] | None, says: str,
    *, dots: bool = False, mark: tuple[float, float] | None = None,
) -> Element:  # fmt: skip
    signs = []
    for curve in lines:
        colour = colour_of(max(curve.code, 0)) if len(lines) > 1 else "c0"
        chart.line(curve.x, curve.y, colour, dots=dots)
        signs.append(("line", colour, _name(context, curve)))
    signs += [] if more is None else [more]
    if mark is not None:
        chart.points(np.array([mark[0]]), np.array([mark[1]]), "c1", 2, marked=True)
        signs.append(("2!", "c1", "threshold in use"))
    return figure(title, chart.svg(f"{title}: {says}"), says, legend=legend(signs))


def _name(context: ReportContext, curve: Curve) -> str:
    return "mean of the classes" if curve.code == MACRO else isolated(brief(context.labels[curve.code], 32))


def _value(scores: Scores, metric: str) -> str:
    value = scores.value(metric)
    return "unknown" if value is None else f"{value:.3f}"


def _mean(context: ReportContext) -> str:
    return " (mean over the classes)" if len(context.labels) > 2 else ""
