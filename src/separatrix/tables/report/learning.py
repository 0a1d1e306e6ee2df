"""How learning went: loss and mistakes epoch by epoch, beside the most mistakes that the theorem allows."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.multiclass import Certificates
from separatrix.geometry.rows import Floats
from separatrix.observers import History
from separatrix.tables.report.axes import Axis
from separatrix.tables.report.drawing import Chart, colour_of, legend
from separatrix.tables.report.elements import Content, Element, element
from separatrix.tables.report.subject import Subject, brief, counted, figure, paragraph, section

_FAR = 12.0  # a bound this many times the mistakes is drawn over their logarithm
_POINTS = 400  # of a curve
_LINES = 8
_LOOKS = 3  # at a gap that make a curve


class Bound(NamedTuple):
    """Mistakes made in the whole run and the most that are allowed, of all questions together."""

    made: int
    allowed: float


def learning(subject: Subject) -> Element:
    """Return the section about the run."""
    estimator, facts = subject.model.estimator, subject.facts
    history = getattr(estimator, "history_", None)
    charts: list[Element] = []
    words: list[Content] = []
    if facts.get("updates"):
        words.append("The model was updated online since; the curves of the first run are not kept.")
    elif facts.get("on_disk"):
        made = [int(each) for each in facts.get("mistakes", [])]
        charts += _mistakes(np.arange(1.0, len(made) + 1), np.array(made, float))
    elif isinstance(history, History):
        epochs = np.array([epoch.since or epoch.number for epoch in history], dtype=np.float64)
        if history.mean_loss and len(history.mean_loss) == len(epochs):
            charts += _loss(epochs, np.array(history.mean_loss))
        charts += _mistakes(epochs, np.array(history.mistakes, dtype=np.float64))
        if subject.kind in ("averaged", "perceptron", "voted", "pocket"):
            words.append(
                "A perceptron learns from mistakes only; their number is its loss, so there is no other curve."
            )
            bound = mistake_bound(subject)
            if isinstance(bound, Bound):
                charts += _beside_bound(subject, history, epochs, bound)
            else:
                words.append(bound)
    elif history is not None:
        charts += _gaps(subject, history)
        words.append(
            "A support vector machine is not learned from mistakes but solved: two problems approach each other from "
            "above and below, and the gap between them bounds how far the model is from the best. The gaps here are as "
            "the solver found them while it ran."
            + ("" if charts else " Here the gap was closed at once, so there is no curve to show.")
        )
    if not charts and not words:
        words.append("No epoch was finished, so there is no curve to show.")
    return section(
        "learning", "How learning went", paragraph(_status(subject)), [paragraph(each) for each in words],
        element("div", charts, class_="charts") if charts else None,
    )  # fmt: skip


def _status(subject: Subject) -> str:
    status = str(subject.facts["status"])
    return f"{status[0].upper()}{status[1:]}."


def mistake_bound(subject: Subject) -> Bound | str:
    """Return the mistakes of a perceptron beside the most that the theorem allows, or why there is no bound."""
    estimator, found, facts = subject.model.estimator, subject.certificate, subject.facts
    if found is None:
        return "There is no bound on the mistakes to show beside them, since the model holds no certificate."
    plain = (
        isinstance(estimator.init, str) and estimator.init == "zeros" and not estimator.margin
        and subject.model.weight is None and estimator.class_weight is None and not facts.get("updates")
        and estimator.fit_intercept and estimator._bias_constant == 1.0
    )  # fmt: skip
    if not plain:
        return (
            "There is no bound on the mistakes to show beside them: the theorem is about a plain run from zero in "
            "which all rows count the same."
        )
    every = [found] if isinstance(found, Certificate) else list(found.rest.values())
    allowed = sum(each.mistake_bound for each in every)
    if not math.isfinite(allowed):
        decided = all(each.separable in ("none", "weak", "strict") for each in every)
        known = "no plane separates" if decided else "no plane is known to separate"
        some = "some classes from the others" if isinstance(found, Certificates) else "the classes"
        return f"There is no bound on the mistakes to show beside them: {known} {some}."
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
    return [figure("Mistakes in each epoch", chart.svg(f"Mistakes in each epoch: {says}"), says)]


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
    return [figure("Loss in each epoch", chart.svg(says), says)]


def _beside_bound(subject: Subject, history: History, epochs: Floats, bound: Bound) -> list[Element]:
    updates = np.array([epoch.updates for epoch in history], dtype=np.float64)
    before = bound.made - int(subject.model.estimator.n_updates_)  # of a run that was cut short and went on
    so_far = before + updates
    x, y = np.concatenate([[epochs[0] - 1], epochs]), np.concatenate([[before], so_far])
    log = bound.made > 0 and bound.allowed > _FAR * bound.made
    if log:
        axis = Axis(
            min(1.0, float(so_far[so_far > 0].min(initial=1.0))), 1.6 * bound.allowed, "mistakes so far", log=True
        )
        y = np.where(y > 0, y, np.nan)
    else:
        axis = Axis(0.0, 1.1 * max(bound.allowed, bound.made, 1.0), "mistakes so far", whole=True)
    chart = Chart(_epochs_axis(x, float(x[0])), axis)
    chart.line(*_thinned(x, y), "c0", dots=len(y) <= 40)
    chart.level(bound.allowed, "c1")
    several = len(subject.labels) > 2
    says = (
        f"{counted(bound.made, 'mistake')} in all{', over the questions of all classes' if several else ''}; the "
        f"theorem allows at most {bound.allowed:,}{', the sum over the classes' if several else ''}, however long the "
        f"run.{' The scale is logarithmic.' if log else ''}"
    )
    signs = legend([("line", "c0", "mistakes so far"), ("dashed", "c1", "the most there can be")])
    return [
        figure("Mistakes beside the bound", chart.svg(f"Mistakes so far and their bound: {says}"), says, signs=signs)
    ]


def _gaps(subject: Subject, history: Any) -> list[Element]:
    """Return how the gap of a support vector machine closed, one line for each of its machines."""
    labels = subject.labels
    if isinstance(history, list):
        runs = {brief(labels[k]): np.array(each.gap, dtype=np.float64) for k, each in enumerate(history)}
    else:
        by_machine: dict[int, list[float]] = {}
        rounds = list(history) if not hasattr(history, "exact") else []
        for each in rounds:
            by_machine.setdefault(each.machine, []).append(each.gap)
        runs = {f"pair {k + 1}": np.array(values) for k, values in by_machine.items()}
        if not rounds:
            runs = {"": np.array(history.gap, dtype=np.float64)}
    runs = {key: values[values > 0] for key, values in list(runs.items())[:_LINES]}
    runs = {key: values for key, values in runs.items() if len(values)}
    if max((len(values) for values in runs.values()), default=0) < _LOOKS:  # solved at once: nothing to draw
        return []
    positive = np.concatenate(list(runs.values()))
    longest = max(len(values) for values in runs.values())
    low, high = float(positive.min()), float(positive.max())
    chart = Chart(
        Axis(1.0, max(float(longest), 2.0), "look at the gap", whole=True),
        Axis(low / 1.5, max(high, 4.0 * low) * 1.5, "duality gap", log=True),
    )
    for k, values in enumerate(runs.values()):
        x, y = _thinned(np.arange(1.0, len(values) + 1), values)
        chart.line(x, y, colour_of(k), dots=len(values) <= 40)
    says = (
        f"The gap was between {high:.3g} and {low:.2g}; looks at which it was 0 are left out. The scale is logarithmic."
    )
    signs = None
    if len(runs) > 1:
        signs = legend([("line", colour_of(k), key) for k, key in enumerate(runs)])
    return [figure("How the gap closed", chart.svg(f"The duality gap: {says}"), says, signs=signs)]
