"""Comparisons of models: accuracy and prediction time, and prediction time against training rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, PercentFormatter

from separatrix.plots.canvas import COLOURS, MARKERS, new_axes
from separatrix.text import duration

_OWN, _OTHER = COLOURS[0], COLOURS[1]
_GREY = "#777777"
_BELOW = 0.55  # where a line of known slope runs below the curve that it is for
_LETTER = 0.075  # inches of a name's letter, about
_NEAR = 0.15  # how far from all models the majority class may be to be drawn


def comparison(
    names: Sequence[str],
    accuracies: Sequence[float],
    intervals: Sequence[tuple[float, float]],
    seconds: Sequence[float],
    ours: Sequence[bool],
    ax: Axes | None = None,
    *,
    baseline: float | None = None,
) -> Axes:
    """Draw models from the best down: accuracy with its interval, and beside each the time to predict a row.

    Parameters
    ----------
    names : sequence of str
        The models, the best first.
    accuracies, intervals : sequences
        The accuracy of each, and its confidence interval.
    seconds : sequence of float
        The time of each to predict a row.
    ours : sequence of bool
        Which are of this package: they have another colour and sign.
    ax : Axes, optional
        Where to draw.
    baseline : float, optional
        The accuracy of always predicting the majority class, drawn as a line.

    Returns
    -------
    Axes
        Where it was drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> ax = comparison(["svm", "k-nn"], [0.9, 0.8], [(0.8, 0.95), (0.7, 0.9)], [1e-7, 2e-5], [True, False])
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['svm', 'k-nn']
    """
    if not len(names) == len(accuracies) == len(intervals) == len(seconds) == len(ours) > 0:
        raise ValueError("each model needs a name, an accuracy, an interval, seconds and whether it is ours")
    ax = new_axes(ax)
    places = list(range(len(names)))
    for own, colour, marker, label in (
        (True, _OWN, MARKERS[0], "separatrix"), (False, _OTHER, MARKERS[1], "scikit-learn"),
    ):  # fmt: skip
        some = [place for place in places if bool(ours[place]) is own]
        if not some:
            continue
        middle = np.array([accuracies[place] for place in some])
        ends = np.array([intervals[place] for place in some]).reshape(-1, 2)
        reach = np.abs(np.stack([middle - ends[:, 0], ends[:, 1] - middle]))
        ax.errorbar(
            middle, some, xerr=reach, fmt=marker, color=colour, markersize=6, capsize=3, elinewidth=1.4, label=label
        )  # fmt: skip
    if baseline is not None and baseline >= min(low for low, _ in intervals) - _NEAR:
        ax.axvline(baseline, color=_GREY, linestyle="dotted", linewidth=1.2, label=f"majority class, {baseline:.1%}")
    elif baseline is not None:  # so far off that the line would push all else aside
        ax.plot([], [], color="none", marker="$\\leftarrow$", markeredgecolor=_GREY, markersize=11,
                label=f"majority class, {baseline:.1%}")  # fmt: skip
    ax.set_yticks(places, list(names))
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
    ax.set_xlabel("test accuracy (95% CI)")
    ax.grid(axis="x", alpha=0.25)
    beside = ax.secondary_yaxis("right")
    beside.set_yticks(places, [duration(each) for each in seconds])
    beside.tick_params(length=0)
    beside.set_ylabel("time to predict a row")
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3, frameon=False, fontsize="small")
    return ax


def growth(curves: Mapping[str, tuple[Sequence[int], Sequence[float]]], ax: Axes | None = None) -> Axes:
    """Draw the time to predict a row against the number of training rows, both on logarithmic axes.

    k-NN compares each row with all training rows, O(N d); a linear model needs its d weights, O(d). Dashed lines
    of these slopes, 1 and 0, run below the steepest and the fastest curve, if those are like them.

    Parameters
    ----------
    curves : mapping of str to a pair of sequences
        For each model the numbers of rows and the seconds.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    drawn = {name: (np.asarray(rows), np.asarray(times)) for name, (rows, times) in curves.items() if len(rows)}
    if not drawn:
        raise ValueError("there is no curve to draw: each needs rows and seconds")
    ax = new_axes(ax)
    ax.set(xscale="log", yscale="log", xlabel="training rows, N", ylabel="time to predict a row")
    for place, (name, (rows, times)) in enumerate(drawn.items()):
        colour, marker = COLOURS[place % len(COLOURS)], MARKERS[place % len(MARKERS)]
        ax.plot(rows, times, marker=marker, markersize=5, color=colour, linewidth=1.8, zorder=3)
        ax.annotate(
            name, (rows[-1], times[-1]), (7, 0), textcoords="offset points", color=colour, va="center",
            annotation_clip=False,
        )  # fmt: skip
    _guides(ax, drawn)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: duration(value).replace(".0 ", " ")))
    ax.grid(which="major", alpha=0.25)
    ax.margins(x=0.04)
    low, high = ax.get_xlim()
    last = max(rows[-1] for rows, _ in drawn.values())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}" if value <= 2 * last else ""))
    room = _LETTER * max(len(name) for name, (rows, _) in drawn.items() if rows[-1] == last) + 0.2
    width = float(ax.bbox.transformed(ax.figure.dpi_scale_trans.inverted()).width)  # in inches
    ax.set_xlim(low, high * (high / low) ** (room / max(width - room, 1.0)))
    return ax


def _guides(ax: Axes, drawn: dict[str, tuple[Any, Any]]) -> None:
    """Draw lines of slope 1 and 0 where there is something to lead the eye along."""
    long = {name: pair for name, pair in drawn.items() if len(pair[0]) > 1}
    if not long:
        return
    slopes = {name: float(np.log(t[-1] / t[0]) / np.log(n[-1] / n[0])) for name, (n, t) in long.items()}
    first = min(float(n[0]) for n, _ in long.values())
    steep, fast = max(slopes, key=lambda name: slopes[name]), min(long, key=lambda name: float(long[name][1][-1]))
    lines = [(fast, 0.0, "O(d)")] if abs(slopes[fast]) < 0.3 else []
    lines += [(steep, 1.0, "O(N d)")] if slopes[steep] > 0.5 else []
    for name, slope, text in lines:
        n, t = long[name]
        ends = np.array([first, float(n[-1])])
        line = _BELOW * float(t[-1] if slope else np.min(t)) * (ends / n[-1]) ** slope
        ax.plot(ends, line, color=_GREY, linestyle="dashed", linewidth=1.1, zorder=2)
        ax.annotate(text, (ends[-1], line[-1]), (7, 0), textcoords="offset points", color=_GREY, va="center")
