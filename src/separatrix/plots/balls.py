"""The smallest enclosing ball."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Circle

from separatrix.geometry.ball import Ball
from separatrix.geometry.rows import Rows, is_sparse
from separatrix.plots.canvas import COLOURS, legend_below, new_axes, plain_text

_BALL, _SUPPORT = COLOURS[0], COLOURS[1]


def ball(enclosing: Ball, X: Any, ax: Axes | None = None) -> Axes:
    """Draw the smallest ball around rows of two features: the rows, the circle, its centre and its support.

    Two or three rows, the support, fix a circle; the centre is their mean with the ball's convex weights. Moving any
    other row inside the circle does not change it.

    Parameters
    ----------
    enclosing : Ball
        From :func:`separatrix.enclosing_ball`.
    X : array, sparse matrix or frame of shape (n_samples, 2)
        The rows given to ``enclosing_ball``.
    ax : Axes, optional
        Where.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import enclosing_ball
    >>> X = [[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]]
    >>> ball(enclosing_ball(X), X).get_title()
    'radius 1, support: 2 of 3 rows'
    """
    if not isinstance(enclosing, Ball):
        raise TypeError(f"ball draws what sx.enclosing_ball returns; found {type(enclosing).__name__}")
    rows = Rows(X)
    rows.check_finite()
    values = (rows.values.toarray() if is_sparse(rows.values) else rows.values).astype(np.float64)
    if values.shape[1] != 2:
        raise ValueError(f"a ball can be drawn for two features; found {values.shape[1]}")
    if enclosing.center is None:
        raise ValueError("a ball in a kernel's feature space has no centre to draw")
    if len(enclosing.center) != 2 or int(enclosing.support.max()) >= len(values):
        raise ValueError("the ball was computed from other rows: pass the rows given to sx.enclosing_ball")
    ax = new_axes(ax)
    center, radius = enclosing.center, enclosing.upper
    ax.add_patch(Circle(tuple(center), radius, facecolor=_BALL, alpha=0.08, linewidth=0, zorder=1))
    ax.add_patch(Circle(tuple(center), radius, facecolor="none", edgecolor=_BALL, linewidth=1.8, zorder=2))
    held = values[enclosing.support]
    for point in held:
        ax.plot(*np.stack([center, point]).T, color=_SUPPORT, linewidth=1.0, linestyle="dashed", zorder=2)
    ax.scatter(values[:, 0], values[:, 1], s=16, color="#777777", linewidth=0, alpha=0.8, zorder=3, label="rows")
    ax.scatter(held[:, 0], held[:, 1], s=60, color=_SUPPORT, edgecolor="white", zorder=4, label="support")
    ax.scatter(center[0], center[1], s=90, color="black", marker="+", linewidth=1.8, zorder=5, label="centre")
    room = 1.08 * radius or 1.0
    names = rows.names or ["feature 0", "feature 1"]
    ax.set(xlim=(center[0] - room, center[0] + room), ylim=(center[1] - room, center[1] + room))
    ax.set(xlabel=names[0], ylabel=names[1], aspect="equal")
    ax.set_title(f"radius {radius:.6g}, support: {len(held)} of {len(values)} rows", fontsize="medium")
    legend_below(ax)
    return plain_text(ax)
