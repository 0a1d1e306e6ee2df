"""The mistakes of a perceptron and their upper bound."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.certificates.joint import JointCertificate
from separatrix.certificates.model import ModelCertificate
from separatrix.estimators.perceptron import Perceptron
from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import colours_of, last, new_axes

_FAR = 12.0  # a bound this many times the mistakes is drawn over their logarithm
_TOTAL = "#555555"

AnyCertificate = ModelCertificate | JointCertificate


class _PerceptronRun(NamedTuple):
    """One perceptron: the mistakes of all its classes up to each epoch, and each class's certificate by name."""

    epochs: Floats
    mistakes: Floats
    certificates: dict[str, AnyCertificate]


def mistakes(model: Any, ax: Axes | None = None) -> Axes:
    """Draw the cumulative mistakes of a perceptron by epoch, and their upper bound.

    If a plane separates the classes with margin gamma and no example is longer than R, a perceptron that starts at zero
    makes at most ``(R / gamma)^2`` mistakes, in whatever order and however long it runs; ``2 (R / gamma)^2``
    with the joint margin of classes that are learned together. The dashed line is that bound, as
    ``model.certificate_`` proves it; where there is none, the title says why.

    Parameters
    ----------
    model : fitted Perceptron, pipeline that ends in one, or mapping of str to either
        What to draw. Several, by name, are drawn in one picture, each with its bound in its colour. For a model of more
        than two classes the line is the sum over its one-vs-rest tasks; each task's own count and bound are drawn in
        the class's colour.
    ax : Axes, optional
        Where.

    Returns
    -------
    Axes
        With a logarithmic scale if the bound is far above the mistakes.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import Perceptron, datasets
    >>> ax = mistakes(Perceptron(shuffle=False).fit(*datasets.load("and")))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['18 mistakes', 'at most 51']
    """
    named = model if isinstance(model, Mapping) else {"": model}
    runs = {str(name): _read(each) for name, each in named.items()}
    if not runs:
        raise ValueError("there is no perceptron to draw")
    if len(runs) > 1 and any(len(run.certificates) > 1 for run in runs.values()):
        raise ValueError(
            "several perceptrons can be drawn together only if each has two classes; draw a multiclass one alone"
        )
    ax = new_axes(ax)
    _scales(ax, list(runs.values()))
    single = next(iter(runs.values()))
    if len(single.certificates) > 1:
        _classes(ax, single)
    else:
        for (name, run), colour in zip(runs.items(), colours_of(len(runs)), strict=True):
            (certificate,) = run.certificates.values()
            made = _counted(run.mistakes[-1])
            _curve(ax, run, colour, f"{name}: {made}, {_most(certificate)}" if name else made)
            _bound(ax, certificate, colour, None if name else _most(certificate))
    _sentence(ax, [each for run in runs.values() for each in run.certificates.values()])
    ax.legend(frameon=False, fontsize="small")
    return ax


def _read(model: Any) -> _PerceptronRun:
    perceptron = last(model)
    if not isinstance(perceptron, Perceptron):
        raise TypeError(
            f"mistakes draws a fitted sx.Perceptron, or a dict of them by name; found {type(perceptron).__name__}"
        )
    if not hasattr(perceptron, "history_"):
        raise ValueError("mistakes draws a fitted sx.Perceptron; this one is not fitted")
    certificates = perceptron.certificate_
    own = certificates if isinstance(certificates, dict) else {"": certificates}
    counts = [each.mistakes.made for each in own.values() if each.mistakes is not None]
    before = (
        sum(counts) - perceptron.n_updates_ if len(counts) == len(own) else 0
    )  # in calls of fit that this one went on from
    epochs = [0, *(epoch.number for epoch in perceptron.history_)]
    made = [before, *(before + epoch.updates for epoch in perceptron.history_)]
    if before + perceptron.n_updates_ > made[-1]:  # in an epoch that was cut short
        epochs.append(max(perceptron.n_iter_, epochs[-1]))
        made.append(before + perceptron.n_updates_)
    return _PerceptronRun(
        np.array(epochs, float), np.array(made, float), {str(name): each for name, each in own.items()}
    )


def _curve(ax: Axes, run: _PerceptronRun, colour: Any, label: str) -> None:
    marker = "." if len(run.epochs) <= 40 else None
    made = np.where(run.mistakes > 0, run.mistakes, np.nan) if ax.get_yscale() == "log" else run.mistakes
    ax.plot(run.epochs, made, color=colour, linewidth=1.8, marker=marker, label=label)


def _bound(ax: Axes, certificate: AnyCertificate, colour: Any, label: str | None = None) -> None:
    allowed = _allowed(certificate)
    if allowed is not None:
        ax.axhline(allowed, color=colour, linewidth=1.4, linestyle="dashed", label=label)


def _classes(ax: Axes, run: _PerceptronRun) -> None:
    """Draw the mistakes of all tasks together, and each task's own count and bound."""
    _curve(ax, run, _TOTAL, f"all classes: {_counted(run.mistakes[-1])}")
    for (name, certificate), colour in zip(run.certificates.items(), colours_of(len(run.certificates)), strict=True):
        if certificate.mistakes is None or _without_theorem(certificate):
            continue
        made = certificate.mistakes.made
        _bound(ax, certificate, colour)
        ax.plot(
            run.epochs[-1], made, color=colour, marker="o", markersize=8, markeredgecolor="white", linestyle="none",
            label=f"{name}: {made:,}, {_most(certificate)}", zorder=3, clip_on=False,
        )  # fmt: skip


def _scales(ax: Axes, runs: list[_PerceptronRun]) -> None:
    made = [float(run.mistakes[-1]) for run in runs]
    bounds = [_allowed(each) for run in runs for each in run.certificates.values()]
    known = [bound for bound in bounds if bound is not None]
    ax.set(xlabel="epoch", ylabel="cumulative mistakes")
    if known and min(made) > 0 and max(known) > _FAR * max(made):
        ax.set(yscale="log", ylim=(0.7, 2.0 * max(known)))
    else:
        ax.set_ylim(0.0, 1.12 * max([*made, *known, 1.0]))
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(visible=True, alpha=0.25)


def _without_theorem(certificate: AnyCertificate) -> bool:
    """Return whether no theorem is about the run, whatever the data."""
    rests_on = certificate.witness if isinstance(certificate, JointCertificate) else certificate.data
    found = certificate.mistakes
    decided = isinstance(certificate, JointCertificate) and math.isfinite(certificate.radius)
    return found is None or (bool(found.why) and rests_on is None and not decided)


def _sentence(ax: Axes, certificates: list[AnyCertificate]) -> None:
    """Write into the title what is bounded, or why nothing is."""
    if any(map(_without_theorem, certificates)):
        text = "no bound: the theorem needs one plain run from zero weights"
    elif all(_allowed(each) is None for each in certificates):
        data = [None if isinstance(each, JointCertificate) else each.data for each in certificates]
        decided = all(each is not None and each.separable is not None for each in data)
        text = (
            f"no bound: {'no plane separates the classes' if decided else 'no plane is known to separate the classes'}"
        )
    else:
        text = "mistakes and their upper bound (dashed)"
    ax.set_title(text, fontsize="medium")


def _allowed(certificate: AnyCertificate) -> float | None:
    bound = certificate.mistakes
    return None if bound is None or math.isinf(bound.allowed) else bound.allowed


def _counted(made: float) -> str:
    return f"{made:,.0f} mistake{'' if made == 1 else 's'}"


def _most(certificate: AnyCertificate) -> str:
    """Return the bound in whole mistakes, or roughly where there are millions."""
    allowed = _allowed(certificate)
    if allowed is None:
        return "no bound"
    return f"at most {math.floor(allowed):,}" if allowed < 1e6 else f"at most {allowed:.3g}"
