"""What several plots share: an Axes to draw on, colours and markers, how far to look, the model in a pipeline."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes

from separatrix.geometry.rows import Floats

GRID = 301  # points along each side of a coloured plane
MARKERS = "osD^vPX"
COLOURS = ("#3b6fb6", "#d9822b", "#3f9c6d", "#b0508e", "#7a6a58", "#c0392b", "#1f8a99", "#8c8c2a")


def new_axes(ax: Axes | None) -> Axes:
    """Return the Axes given, or a new one."""
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    new: Axes = plt.subplots(layout="constrained")[1]
    return new


def last(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    steps = getattr(model, "steps", None)  # a list; those of a Trace are a tuple
    return steps[-1][1] if isinstance(steps, list) else model


def colours_of(n: int) -> list[Any]:
    """Return as many colours as there are classes."""
    return list(COLOURS[:n]) if n <= len(COLOURS) else [colormaps["tab20"](k % 20) for k in range(n)]


def extent(points: Floats, reach: float) -> tuple[Floats, Floats]:
    """Return the corners of the box around the points, wider by ``reach`` of its sides."""
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    wide = np.where(high > low, high - low, 2.0)
    return low - reach * wide, high + reach * wide


def plain_text(ax: Axes) -> Axes:
    """Show names and labels as they are: a dollar sign in one is no formula."""
    legend = ax.get_legend()
    texts = [ax.xaxis.label, ax.yaxis.label, ax.title, *(legend.get_texts() if legend is not None else ())]
    for text in texts:
        text.set_parse_math(False)
    return ax


def legend_below(ax: Axes, **options: Any) -> None:
    """Put the legend below the plot, where it hides nothing."""
    ax.legend(
        loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=4, frameon=False, fontsize="small", columnspacing=1.3,
        handletextpad=0.4, **options,
    )  # fmt: skip
