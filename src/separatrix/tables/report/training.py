"""Training curves: loss and mistakes per epoch, the mistake bound, and the duality gap of a convex problem."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.multiclass import Certificates
from separatrix.geometry.rows import Floats
from separatrix.observers import History
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.blocks import brief, counted, figure, paragraph, section
from separatrix.tables.report.context import ReportContext
from separatrix.tables.report.drawing import Chart, colour_of, legend
from separatrix.tables.report.elements import Content, Element, element

_FAR = 12.0  # a bound this many times the mistakes needs a logarithmic axis
_POINTS = 400  # of a curve
_LINES = 8
_CHECKS = 3  # of a gap that make a curve


class Bound(NamedTuple):
    """Mistakes of the whole run and their bound, summed over the one-vs-rest tasks."""

    made: int
    allowed: float


def training(context: ReportContext) -> Element:
    """Return the section about the run."""
    estimator, facts = context.model.estimator, context.facts
    history = getattr(estimator, "history_", None)
    charts: list[Element] = []
    words: list[Content] = []
    if facts.updates:
        words.append("The model was updated after the fit; the curves of the fit are not kept.")
    elif facts.progress is not None:  # streamed from disk
        charts += _mistakes(np.arange(1.0, len(facts.mistakes) + 1), np.array(facts.mistakes, float))
    elif isinstance(history, History):
        epochs = np.array([epoch.since or epoch.number for epoch in history], dtype=np.float64)
        if history.mean_loss and len(history.mean_loss) == len(epochs):
            charts += _loss(epochs, np.array(history.mean_loss))
        charts += _mistakes(epochs, np.array(history.mistakes, dtype=np.float64))
        if facts.settings.model in ("averaged", "perceptron", "voted", "pocket"):
            words.append("The loss of a perceptron is its number of mistakes, so there is no separate loss curve.")
            bound = mistake_bound(context)
            if isinstance(bound, Bound):
                charts += _beside_bound(context, history, epochs, bound)
            else:
                words.append(bound)
    elif history is not None:
        charts += _gaps(context, history)
        words.append(
            "This model is the solution of a convex problem. The duality gap, the difference between its primal and "
            "dual objective, bounds the distance from the optimum. These are the gaps that the solver reported during "
            "the run." + ("" if charts else " The gap closed at once, so there is no curve.")
        )
    if not charts and not words:
        words.append("No epoch was finished, so there is no curve.")
    return section(
        "training", "Training", paragraph(_status(context)), [paragraph(each) for each in words],
        element("div", charts, class_="charts") if charts else None,
    )  # fmt: skip


def _status(context: ReportContext) -> str:
    status = context.facts.status
    return f"{status[0].upper()}{status[1:]}."


def mistake_bound(context: ReportContext) -> Bound | str:
    """Return the mistakes of a perceptron and their bound, or why there is no bound."""
    estimator, certificate = context.model.estimator, context.certificate
    if certificate is None:
        return "No mistake bound: the model has no certificate."
    if estimator._learned_together:
        return (
            "No mistake bound is shown: the classes are learned together, and the certificate is about each class "
            "against the rest. In Python, certificate_ of the fitted estimator bounds the mistakes."
        )
    plain = (
        isinstance(estimator.init, str) and estimator.init == "zeros" and not estimator.margin
        and context.model.weight is None and estimator.class_weight is None and not context.facts.updates
        and estimator.fit_intercept and estimator._bias_constant == 1.0
    )  # fmt: skip
    if not plain:
        return (
            "No mistake bound: the theorem holds for a run from zero without sample weights, class weights or margin."
        )
    every = [certificate] if isinstance(certificate, Certificate) else list(certificate.rest.values())
    allowed = sum(each.mistake_bound for each in every)
    if not math.isfinite(allowed):
        decided = all(each.separable in ("none", "weak", "strict") for each in every)
        some = "some classes are" if isinstance(certificate, Certificates) else "the classes are"
        return f"No mistake bound: {some} not{'' if decided else ' known to be'} linearly separable."
    made = sum(int(state.updates) for state in estimator._states)
    return Bound(made, sum(math.floor(each.mistake_bound) for each in every))


def _thinned(x: Floats, y: Floats) -> tuple[Floats, Floats]:
    """Return a curve in few enough points to draw."""
    if len(x) <= _POINTS:
        return x, y
    kept = np.unique(np.linspace(0, len(x) - 1, _POINTS).astype(np.intp))
    return x[kept], y[kept]


def _epochs_axis(epochs: Floats, first: float) -> Axis:
    return Axis(first, max(float(epochs[-1]), first + 1.0), "epoch", whole=True)


def _mistakes(epochs: Floats, made: Floats) -> list[Element]:
    if not len(made):
        return []
    chart = Chart(
        _epochs_axis(epochs, float(min(1.0, epochs[0]))),
        Axis(0.0, max(1.08 * float(made.max()), 1.0), "mistakes", whole=True),
    )
    chart.line(*_thinned(epochs, made), "c0", dots=len(made) <= 40)
    first, last = int(made[0]), int(made[-1])
    says = (
        f"{counted(first, 'mistake')} in epoch {epochs[0]:.0f}, {last:,} in epoch {epochs[-1]:.0f}."
        if len(made) > 1
        else f"{counted(first, 'mistake')} in epoch {epochs[0]:.0f}."
    )
    return [figure("Mistakes per epoch", chart.svg(f"Mistakes per epoch: {says}"), says)]


def _loss(epochs: Floats, loss: Floats) -> list[Element]:
    finite = loss[np.isfinite(loss)]
    if not len(finite):
        return []
    chart = Chart(
        _epochs_axis(epochs, float(min(1.0, epochs[0]))), Axis(0.0, 1.08 * float(finite.max()) or 1.0, "mean loss")
    )
    chart.line(*_thinned(epochs, loss), "c1", dots=len(loss) <= 40)
    says = f"The mean loss fell from {loss[0]:.4g} in the first epoch to {loss[-1]:.4g} in the last."
    if loss[-1] >= loss[0]:
        says = f"The mean loss was {loss[0]:.4g} in the first epoch and {loss[-1]:.4g} in the last."
    return [figure("Mean loss per epoch", chart.svg(says), says)]


def _beside_bound(context: ReportContext, history: History, epochs: Floats, bound: Bound) -> list[Element]:
    updates = np.array([epoch.updates for epoch in history], dtype=np.float64)
    before = bound.made - int(context.model.estimator.n_updates_)  # of a run that was resumed
    so_far = before + updates
    x, y = np.concatenate([[epochs[0] - 1], epochs]), np.concatenate([[before], so_far])
    log = bound.made > 0 and bound.allowed > _FAR * bound.made
    if log:
        axis = Axis(
            min(1.0, float(so_far[so_far > 0].min(initial=1.0))), 1.6 * bound.allowed, "total mistakes", log=True
        )
        y = np.where(y > 0, y, np.nan)
    else:
        axis = Axis(0.0, 1.1 * max(bound.allowed, bound.made, 1.0), "total mistakes", whole=True)
    chart = Chart(_epochs_axis(x, float(x[0])), axis)
    chart.line(*_thinned(x, y), "c0", dots=len(y) <= 40)
    chart.level(bound.allowed, "c1")
    several = len(context.labels) > 2
    says = (
        f"{counted(bound.made, 'mistake')} in total; mistake bound {bound.allowed:,}"
        f"{' (both summed over the one-vs-rest tasks)' if several else ''}. However long it runs, the perceptron makes "
        f"no more mistakes than the bound.{' Logarithmic scale.' if log else ''}"
    )
    lines = legend([("line", "c0", "total mistakes"), ("dashed", "c1", "mistake bound")])
    return [figure("Mistakes and their bound", chart.svg(f"Mistakes and their bound: {says}"), says, legend=lines)]


def _gaps(context: ReportContext, history: Any) -> list[Element]:
    """Return the duality gap of an SVM, one line for each binary problem."""
    labels = context.labels
    if isinstance(history, list):
        runs = {brief(labels[k]): np.array(each.gap, dtype=np.float64) for k, each in enumerate(history)}
    else:
        by_problem: dict[int, list[float]] = {}
        rounds = list(history) if not hasattr(history, "exact") else []
        for each in rounds:
            by_problem.setdefault(each.machine, []).append(each.gap)
        runs = {f"pair {k + 1}": np.array(values) for k, values in by_problem.items()}
        if not rounds:
            runs = {"": np.array(history.gap, dtype=np.float64)}
    runs = {key: values[values > 0] for key, values in list(runs.items())[:_LINES]}
    runs = {key: values for key, values in runs.items() if len(values)}
    if max((len(values) for values in runs.values()), default=0) < _CHECKS:  # solved at once
        return []
    positive = np.concatenate(list(runs.values()))
    longest = max(len(values) for values in runs.values())
    low, high = float(positive.min()), float(positive.max())
    chart = Chart(
        Axis(1.0, max(float(longest), 2.0), "gap check", whole=True),
        Axis(low / 1.5, max(high, 4.0 * low) * 1.5, "duality gap", log=True),
    )
    for k, values in enumerate(runs.values()):
        x, y = _thinned(np.arange(1.0, len(values) + 1), values)
        chart.line(x, y, colour_of(k), dots=len(values) <= 40)
    says = f"The gap was between {high:.3g} and {low:.2g}; checks with a gap of 0 are not drawn. Logarithmic scale."
    lines = legend([("line", colour_of(k), key) for k, key in enumerate(runs)]) if len(runs) > 1 else None
    return [figure("Duality gap", chart.svg(f"Duality gap: {says}"), says, legend=lines)]
