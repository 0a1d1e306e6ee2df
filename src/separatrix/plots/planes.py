"""A plane that the user gives: its line, normal vector and distance from the origin; rows and their projections."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Polygon

from separatrix.geometry.rows import Floats, column_names, is_sparse
from separatrix.insight.exact_numbers import read_rows, shown
from separatrix.insight.plane import Plane
from separatrix.insight.signs import label_signs
from separatrix.loop.problem import encode_labels
from separatrix.plots.canvas import COLOURS, MARKERS, colours_of, extent, legend_below, new_axes, plain_text

_LINE, _NORMAL, _DISTANCE = "#222222", COLOURS[5], COLOURS[2]
_MOST_PROJECTIONS = 60


def plane(
    given: Plane,
    X: Any = None,
    y: Any = None,
    ax: Axes | None = None,
    *,
    projections: bool = False,
    positive: Any = None,
    names: Sequence[str] | None = None,
) -> Axes:
    """Draw a plane of two features (a line) or of one (a point): w, the positive side, ``theta / |w|``, rows.

    The arrow is the normal vector w; it starts on the plane, at the foot of the perpendicular from the origin where
    that is in the picture, and points to the positive side, which is tinted. The dotted segment is the distance
    ``|theta| / |w|`` of the plane from the origin (Lecture 004).

    Parameters
    ----------
    given : Plane
        Of one or two features.
    X : rows, optional
        To draw as points.
    y : labels, optional
        Their classes; points on the wrong side, or on the plane, have a dark edge.
    ax : Axes, optional
        Where.
    projections : bool, default=False
        Draw the perpendicular from each row to the plane (Lecture 003).
    positive : label, optional
        The positive class; by default the larger of two labels.
    names : sequence of str, optional
        The features' names, where X does not carry them.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> plane(Plane((2, -1)), [[1, 1], [0, 1]], [1, -1]).get_title()
    '2 x1 - x2 = 0'
    """
    if not isinstance(given, Plane):
        raise TypeError(f"plane draws an sx.Plane; found {type(given).__name__}")
    width = len(given.weights)
    if width > 2:
        raise ValueError(f"a plane can be drawn for one or two features; this one has {width} weights")
    if not any(given.weights):
        raise ValueError("all weights are 0, so that there is no plane to draw")
    if y is not None and X is None:
        raise ValueError("y is given without X: give the rows of these labels")
    weights, bias = np.array([float(weight) for weight in given.weights]), float(given.bias)
    titles = list(names) if names is not None else column_names(X) or [f"x{place + 1}" for place in range(width)]
    if len(titles) != width:
        raise ValueError(f"names must hold one name for each of the {width} features; found {len(titles)}")
    points = np.empty((0, width)) if X is None else _points(X, width)
    if y is not None and np.ndim(y) == 0:
        y = [y]
    signs = None if y is None else label_signs(y, len(points)) if positive is None else _signs(y, positive)
    ax = new_axes(ax)
    foot = -bias * weights / (weights @ weights)
    if width == 1:
        _on_a_line(ax, given, weights[0], foot[0], points, y, signs, titles[0])
    else:
        _in_the_plane(ax, given, weights, bias, foot, points, y, signs, projections)
        ax.set(xlabel=titles[0], ylabel=titles[1])
    ax.set_title(given.equation(titles), fontsize="medium")
    legend_below(ax)
    return plain_text(ax)


def _signs(y: Any, positive: Any) -> Any:
    labels = np.asarray(y)
    if not (labels == positive).any():
        raise ValueError(f"no row has the label {positive!r}, which positive names")
    return np.where(labels == positive, 1, -1)


def _points(X: Any, width: int) -> Floats:
    rows: Any = None
    rows, _ = read_rows(X, width)
    if isinstance(rows, tuple):
        return np.array([[float(value) for value in row] for row in rows])
    return np.asarray(rows.toarray() if is_sparse(rows) else rows, dtype=np.float64)


def _in_the_plane(
    ax: Axes,
    given: Plane,
    weights: Floats,
    bias: float,
    foot: Floats,
    points: Floats,
    y: Any,
    signs: Any,
    projections: bool,
) -> None:
    norm = float(np.linalg.norm(weights))
    low, high = _view(points, foot, norm)
    inside = bool((foot >= low).all() and (foot <= high).all())
    centre = (low + high) / 2
    begin = foot if inside else centre - (weights @ centre + bias) / norm**2 * weights
    size = float((high - low).min())
    drawn = min(max(norm, 0.12 * size), 0.45 * size)
    label = "w" if drawn == norm else "w (its direction)"
    tip = begin + weights / norm * drawn
    low, high = _squared(np.minimum(low, tip - 0.04 * size), np.maximum(high, tip + 0.04 * size))
    reach = 4.0 * float(np.linalg.norm(high - low)) + float(np.linalg.norm(begin - centre))
    along, across = np.array([-weights[1], weights[0]]) / norm * reach, weights / norm * reach
    corners = [begin - along, begin + along, begin + along + across, begin - along + across]
    ax.add_patch(
        Polygon(corners, closed=True, facecolor=COLOURS[1], alpha=0.12, linewidth=0, zorder=0, label="positive side")
    )
    ends = np.stack([begin - along, begin + along])
    ax.plot(ends[:, 0], ends[:, 1], color=_LINE, linewidth=1.8, zorder=2, label="w.x + b = 0")
    ax.annotate(
        "", xy=tuple(tip), xytext=tuple(begin), zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": _NORMAL, "linewidth": 2.0, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    ax.plot([], [], color=_NORMAL, linewidth=2.0, label=label)
    if bias != 0 and inside:
        away = abs(bias) / norm
        ax.plot([0, foot[0]], [0, foot[1]], color=_DISTANCE, linewidth=2.2, linestyle="dotted", zorder=4.5)
        ax.plot([], [], color=_DISTANCE, linewidth=2.2, linestyle="dotted", label=f"|theta| / |w| = {away:.4g}")
        ax.plot([0], [0], marker="+", color=_DISTANCE, markersize=9, linestyle="none", zorder=3)
    if projections and len(points):
        feet = np.asarray(given.projection(points[:_MOST_PROJECTIONS]), dtype=np.float64)
        for place, (point, end) in enumerate(zip(points[:_MOST_PROJECTIONS], feet, strict=True)):
            ax.plot(
                [point[0], end[0]], [point[1], end[1]], color="#777777", linewidth=1.0, linestyle="dashed", zorder=2,
                label="projection" if place == 0 else None,
            )  # fmt: skip
        ax.plot(feet[:, 0], feet[:, 1], marker=".", color="#777777", linestyle="none", zorder=3)
    _scatter(ax, points, y, signs, given)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_aspect("equal", adjustable="box")


def _view(points: Floats, foot: Floats, norm: float) -> tuple[Floats, Floats]:
    """Return the corners of a square around the rows, the origin and the plane."""
    near = [np.zeros(2), foot]
    if len(points):
        low, high = points.min(axis=0), points.max(axis=0)
        wide = max(float((high - low).max()), 1e-9)
        middle = (low + high) / 2
        near = [each for each in near if np.abs(each - middle).max() <= 1.2 * wide]
        shown_points = np.concatenate([points, np.array(near).reshape(-1, 2)])
    else:
        around = max(float(np.linalg.norm(foot)), norm, 1e-9)
        shown_points = np.array([foot - around, foot + around, np.zeros(2)])
    return _squared(*extent(shown_points, 0.12))


def _squared(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    middle, half = (low + high) / 2, float((high - low).max()) / 2
    return middle - half, middle + half


def _on_a_line(
    ax: Axes, given: Plane, weight: float, limit: float, points: Floats, y: Any, signs: Any, title: str
) -> None:
    every = np.append(points[:, 0], [limit, 0.0 if len(points) == 0 else limit])
    low, high = (float(each[0]) for each in extent(every[:, None], 0.2))
    side = (limit, high) if weight > 0 else (low, limit)
    ax.axvspan(*side, color=COLOURS[1], alpha=0.12, linewidth=0, label="positive side", zorder=0)
    ax.axhline(0.0, color="#999999", linewidth=1.0, zorder=1)
    ax.axvline(limit, color=_LINE, linewidth=1.8, zorder=2, label=f"{title} = {limit:.4g}")
    length = 0.2 * (high - low) * np.sign(weight)
    ax.annotate(
        "", xy=(limit + length, 0.35), xytext=(limit, 0.35), zorder=4,
        arrowprops={"arrowstyle": "-|>", "color": _NORMAL, "linewidth": 2.0, "shrinkA": 0, "shrinkB": 0},
    )  # fmt: skip
    ax.plot([], [], color=_NORMAL, linewidth=2.0, label=f"w = {shown(given.weights[0])} (direction)")
    _scatter(ax, np.column_stack([points[:, 0], np.zeros(len(points))]), y, signs, given, points)
    ax.set(xlim=(low, high), ylim=(-1.0, 1.0), xlabel=title, yticks=[])


def _scatter(ax: Axes, at: Floats, y: Any, signs: Any, given: Plane, points: Floats | None = None) -> None:
    """Draw rows, by class where there are labels."""
    if not len(at):
        return
    if y is None:
        ax.scatter(at[:, 0], at[:, 1], s=34, color="#555555", edgecolor="white", linewidth=0.6, zorder=5, label="rows")
        return
    classes, codes = encode_labels(np.asarray(y), len(at))
    wrong = np.asarray(signs * np.asarray(given.activation(at if points is None else points), dtype=np.float64)) <= 0
    colours = colours_of(2)
    for code, label in enumerate(classes.tolist()):
        positive = bool(signs[codes == code][0] > 0)
        for missed in (False, True):
            mine = (codes == code) & (wrong == missed)
            edge, thick = ("black", 1.5) if missed else ("white", 0.6)
            if mine.any():
                ax.scatter(
                    at[mine, 0], at[mine, 1], s=40, color=colours[int(positive)], marker=MARKERS[int(positive)],
                    edgecolor=edge, linewidth=thick, zorder=5,
                    label=f"{label}, mistake" if missed else f"{label}",
                )  # fmt: skip
