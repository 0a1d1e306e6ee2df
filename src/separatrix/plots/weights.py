"""The largest weights of a linear model, as bars."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import colours_of, legend_below, new_axes

_LONGEST = 28  # letters of a name


def weights(
    names: Sequence[str], values: Floats, titles: Sequence[str], ax: Axes | None = None, *, most: int = 15
) -> Axes:
    """Draw the largest weights, one bar for each feature and binary task, the largest on top.

    Parameters
    ----------
    names : sequence of str
        The features.
    values : array of shape (tasks, features)
        Their weights, for features of similar size: those of scaled numbers.
    titles : sequence of str
        For each task the class that a positive weight favours.
    ax : Axes, optional
        Where to draw.
    most : int, default=15
        How many features to draw.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    if most < 1:
        raise ValueError(f"most must be at least 1; found {most}")
    values = np.atleast_2d(np.asarray(values, dtype=np.float64))
    if values.shape != (len(titles), len(names)):
        raise ValueError(
            f"values must have the shape ({len(titles)}, {len(names)}), tasks by features; found {values.shape}"
        )
    ax = new_axes(ax)
    order = np.argsort(-np.abs(values).max(axis=0), kind="stable")[:most][::-1]
    colours = colours_of(max(len(titles), 2))
    height = 0.8 / len(titles)
    places = np.arange(len(order))
    for task, title in enumerate(titles):
        shift = 0.4 - (task + 0.5) * height
        colour = colours[task if len(titles) > 1 else 1]
        ax.barh(places + shift, values[task, order], height=0.92 * height, color=colour, label=f"toward {title}")
    ax.axvline(0.0, color="#333333", linewidth=0.8)
    ax.set_yticks(places, [_short(names[place]) for place in order])
    ax.set_ylim(-0.6, len(order) - 0.4)
    ax.set_xlabel("weight (scaled feature)")
    left = len(names) - len(order)
    if left:
        ax.set_title(f"{len(order)} largest of {len(names):,} weights", fontsize="medium")
    ax.grid(axis="x", alpha=0.25)
    if len(titles) > 1:
        legend_below(ax)
    else:
        ax.set_xlabel(f"weight (scaled feature; positive: toward {titles[0]})")
    return ax


def _short(name: str) -> str:
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…"
