"""Small multiples of the labellings of a few points: a line that realises each, and a frame where there is none."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from separatrix.geometry.rows import Floats
from separatrix.insight.labellings import Labellings
from separatrix.plots.canvas import MARKERS, colours_of, extent

MOST_PANELS = 64
_ONLY = ("all", "realised", "impossible")
_REFUSED = "#c0392b"


def labellings(found: Labellings, axes: Any = None, *, only: str = "all") -> list[Axes]:
    """Draw each labelling of a few points, with a line that realises it; those that no line realises are marked.

    Parameters
    ----------
    found : Labellings
        From :func:`separatrix.labellings`, of points with one or two features.
    axes : sequence or array of Axes, optional
        One for each labelling; by default a new figure.
    only : {"all", "realised", "impossible"}
        Which labellings to draw.

    Returns
    -------
    list of Axes
        One for each labelling drawn.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import labellings as decide
    >>> axes = labellings(decide([(0, 0), (0, 1), (1, 0), (1, 1)]), only="impossible")
    >>> [ax.get_title() for ax in axes]
    ['7: no line', '10: no line']
    """
    if not isinstance(found, Labellings):
        raise TypeError(f"labellings draws what sx.labellings returns; found {type(found).__name__}")
    if only not in _ONLY:
        raise ValueError(f"only must be one of {', '.join(_ONLY)}; found {only!r}")
    width = len(found.points[0])
    if width > 2:
        raise ValueError(f"labellings can be drawn for points with one or two features; these have {width}")
    keep = {"all": np.ones(found.total, dtype=bool), "realised": found.realised, "impossible": ~found.realised}[only]
    places = np.flatnonzero(keep)
    if not len(places):
        raise ValueError(f"there is no labelling to draw: {found}")
    if len(places) > MOST_PANELS:
        raise ValueError(
            f"{len(places):,} labellings do not fit into a figure ({MOST_PANELS} at most): draw fewer points, or only "
            "those that no line realises (impossible)"
        )
    panels = _panels(axes, len(places), found)
    points = np.array([[float(value) for value in point] for point in found.points])
    if width == 1:
        points = np.column_stack([points[:, 0], np.zeros(len(points))])
    low, high = _square(points)
    for ax, place in zip(panels, places.tolist(), strict=True):
        _draw(ax, found, place, points, low, high)
    return panels


def panels_of(figure: Any, count: int, title: str) -> list[Axes]:
    """Return as many Axes of a figure as there are labellings, in rows of four or eight; the figure gets its size."""
    columns = min(count, 4 if count <= 16 else 8)
    rows = -(-count // columns)
    figure.set_size_inches(max(1.55 * columns, 4.4), 1.75 * rows + 0.5)
    figure.suptitle(title, fontsize="medium")
    every = list(np.ravel(np.array(figure.subplots(rows, columns, squeeze=False), dtype=object)))
    for spare in every[count:]:
        spare.set_axis_off()
    return every[:count]


def _panels(axes: Any, count: int, found: Labellings) -> list[Axes]:
    if axes is None:
        import matplotlib.pyplot as plt

        axes = panels_of(plt.figure(layout="constrained"), count, str(found).split(":")[0])
    panels = list(np.ravel(np.array(axes, dtype=object)))
    if len(panels) != count:
        raise ValueError(f"axes must hold one Axes for each of the {count} labellings; found {len(panels)}")
    return panels


def _square(points: Floats) -> tuple[Floats, Floats]:
    low, high = extent(points, 0.0)
    middle, half = (low + high) / 2, 0.75 * (float((high - low).max()) or 2.0)
    return middle - half, middle + half


def _draw(ax: Axes, found: Labellings, place: int, points: Floats, low: Floats, high: Floats) -> None:
    signs, realised, plane = found.signs[place], bool(found.realised[place]), found.planes[place]
    colours = colours_of(2)
    if plane is not None:
        weights = np.array([float(weight) for weight in plane.weights])
        bias = float(plane.bias)
        if len(weights) == 1:
            ax.axvline(-bias / weights[0], color="#222222", linewidth=1.3, zorder=2)
            weights = np.array([weights[0], 0.0])
        across = np.linspace(low[0], high[0], 121)
        up = np.linspace(low[1], high[1], 121)
        grid = weights[0] * across[None, :] + weights[1] * up[:, None] + bias
        ax.contourf(across, up, grid, levels=[-np.inf, 0.0, np.inf], colors=colours, alpha=0.13, zorder=0)
        ax.contour(across, up, grid, levels=[0.0], colors="#222222", linewidths=1.3, zorder=2)
    elif realised:
        ax.set_facecolor((*_rgb(colours[int(signs[0] > 0)]), 0.13))
    for sign in (-1, 1):
        mine = signs == sign
        ax.scatter(
            points[mine, 0], points[mine, 1], s=42, color=colours[int(sign > 0)], marker=MARKERS[int(sign > 0)],
            edgecolor="white", linewidth=0.6, zorder=3,
        )  # fmt: skip
    title = f"{place + 1}" if realised else f"{place + 1}: no {'line' if len(found.points[0]) == 2 else 'threshold'}"
    ax.set_title(
        title, fontsize="small", color="black" if realised else _REFUSED, fontweight="normal" if realised else "bold"
    )
    if not realised:
        for spine in ax.spines.values():
            spine.set(color=_REFUSED, linewidth=2.0)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xticks=[], yticks=[])
    ax.set_aspect("equal", adjustable="box")


def _rgb(colour: Any) -> tuple[float, float, float]:
    from matplotlib.colors import to_rgb

    return to_rgb(colour)
