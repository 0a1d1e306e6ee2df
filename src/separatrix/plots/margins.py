"""The margin of a support vector machine: the boundary, the lines where the decision is +1 and -1, and the slack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection
from matplotlib.colors import to_rgba
from matplotlib.lines import Line2D
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.insight.original_units import dense
from separatrix.plots.boundaries import known_labels, like_frame, linear_part
from separatrix.plots.canvas import GRID, MARKERS, colours_of, extent, last, legend_below, new_axes, plain_text

_ON_THE_LINE = 1e-2  # less slack than this is not drawn: it is what a solver's own tolerance leaves
_SIZE = 26.0  # of a point; in the picture of a kernel model slack adds to it
_SIZE_OF_SLACK, _MOST_SLACK = 60.0, 3.0
_MOST_ALIKE = 4.0  # features whose ranges differ by less are drawn to one scale, so that right angles look right


def margin(model: Any, X: Any, y: Any, ax: Axes | None = None, *, names: Sequence[str] | None = None) -> Axes:
    """Draw what a support vector machine has learned from two features: its boundary, margin, support and slack.

    The solid line is the boundary, where the decision ``f(x) = w . x + b`` is 0; the dashed lines are ``f(x) = 1`` and
    ``f(x) = -1``, each ``1 / |w|`` away from it. An example of class y = +1 or -1 with ``y f(x) < 1`` lies on the wrong
    side of its own line and pays the slack ``z = 1 - y f(x)`` (Lecture 003). For a linear model a thin line shows the
    way back, whose length is ``z / |w|``; for a kernel model, where the shortest way is not straight, slack shows in
    the size of the point.

    Parameters
    ----------
    model : fitted classifier of two classes
        With ``decision_function`` and ``classes_``; ``support_``, the places of the support vectors in X, has them
        circled. ``coef_`` and ``intercept_`` make it linear, behind scalers too.
    X : array, sparse matrix or frame of shape (n_samples, 2)
        The examples that the model was fitted to.
    y : sequence of labels
        Their classes.
    ax : Axes, optional
        Where.
    names : sequence of str, optional
        The features' names, where X does not carry them.

    Returns
    -------
    Axes
        Examples on the wrong side of the boundary have a dark edge.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from sklearn.svm import SVC
    >>> X, y = [[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [2.0, 1.0]], [0, 0, 1, 1]
    >>> margin(SVC(kernel="linear").fit(X, y), X, y).get_title()
    'margin 2 / |w| = 2, total slack 0'
    """
    rows = Rows(X)
    rows.check_finite()
    values = (rows.values.toarray() if is_sparse(rows.values) else rows.values).astype(np.float64)
    if values.shape[1] != 2:
        raise ValueError(f"a margin can be drawn for two features; found {values.shape[1]}")
    if not hasattr(model, "decision_function"):
        raise TypeError(f"margin draws a fitted classifier with decision_function; found {model!r}")
    classes, codes = known_labels(model, y, len(values))
    if len(classes) != 2:
        raise ValueError(f"a margin lies between two classes; found {len(classes)}")
    shown = list(names) if names is not None else rows.names or ["feature 0", "feature 1"]
    if len(shown) != 2:
        raise ValueError(f"names must hold one name for each of the 2 features; found {len(shown)}")
    support = _support(model, len(values))
    signs = np.where(codes == 1, 1.0, -1.0)
    slack = np.maximum(1.0 - signs * np.asarray(model.decision_function(X)).ravel(), 0.0)
    linear = linear_part(model)
    colours = colours_of(2)
    ax = new_axes(ax)
    back = values
    if linear is not None:  # where slack moves each example to: its side of the margin
        coef = dense(linear.coef_)[0]
        back = values + (slack * signs)[:, None] * coef / (coef @ coef)
    low, high = extent(values, 0.08)
    wide = high - low  # far slack does not squeeze the examples together
    reached = np.clip(back, low - 0.25 * wide, high + 0.25 * wide)
    low, high = extent(np.concatenate([values, reached]), 0.08)
    frame = type(X) if rows.names is not None else None
    _plane(ax, lambda grid: model.decision_function(like_frame(frame, rows.names, grid)), low, high, colours)
    sizes = np.full(len(values), _SIZE)
    if linear is None:
        sizes += _SIZE_OF_SLACK * np.minimum(slack, _MOST_SLACK)
        title = f"total slack {slack.sum():.3g}"
    else:
        paid = slack > _ON_THE_LINE
        ways = np.stack([values[paid], back[paid]], axis=1)
        ax.add_collection(
            LineCollection(list(ways), colors=[colours[c] for c in codes[paid]], linewidths=1.1, zorder=2)
        )
        title = f"margin 2 / |w| = {2.0 / np.linalg.norm(coef):.3g}, total slack {slack.sum():.3g}"
    for code in range(2):
        for missed in (False, True):
            mine = (codes == code) & ((slack > 1.0) == missed)
            edge, width = ("black", 1.3) if missed else ("white", 0.5)
            ax.scatter(
                values[mine, 0], values[mine, 1], s=sizes[mine], color=colours[code], marker=MARKERS[code],
                edgecolor=edge, linewidth=width, zorder=3,
            )  # fmt: skip
    rings = 2.2 * sizes[support] + 2.0 * _SIZE
    held = values[support]
    ax.scatter(held[:, 0], held[:, 1], s=rings, facecolor="none", edgecolor="#333333", linewidth=0.9, zorder=4)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=shown[0], ylabel=shown[1])
    if max(high - low) < _MOST_ALIKE * min(high - low):
        ax.set_aspect("equal", adjustable="box")
    ax.set_title(title, fontsize="medium")
    _legend(ax, [str(label) for label in classes], colours, linear is None, len(support) > 0)
    return plain_text(ax)


def _support(model: Any, n: int) -> NDArray[np.intp]:
    support = np.asarray(getattr(last(model), "support_", []), dtype=np.intp).ravel()
    if support.size and int(support.max()) >= n:
        raise ValueError(
            f"the model's support names example {int(support.max())}, but X has {n} rows: pass the training data"
        )
    return support


def _plane(ax: Axes, decide: Callable[[Floats], Any], low: Floats, high: Floats, colours: list[Any]) -> None:
    """Tint both sides, the margin between them less, and draw the three lines."""
    across, up = np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    heights = np.asarray(decide(grid)).reshape(GRID, GRID)
    tints = np.where((heights < 0.0)[..., None], to_rgba(colours[0]), to_rgba(colours[1]))
    tints[..., 3] = np.where(np.abs(heights) < 1.0, 0.07, 0.18)
    ax.imshow(
        tints, origin="lower", extent=(low[0], high[0], low[1], high[1]), aspect="auto", interpolation="nearest"
    )  # fmt: skip
    for level, style, width in ((-1.0, "dashed", 1.0), (0.0, "solid", 1.5), (1.0, "dashed", 1.0)):
        if heights.min() < level < heights.max():
            ax.contour(across, up, heights, levels=[level], colors="black", linestyles=style, linewidths=width)


def _legend(ax: Axes, labels: list[str], colours: list[Any], by_size: bool, circles: bool) -> None:
    def sign(label: str, **style: Any) -> Line2D:
        return Line2D(
            [], [], label=label, **{"linestyle": "none", "markeredgecolor": "white", "markersize": 6.5, **style}
        )

    signs = [sign(labels[code], marker=MARKERS[code], color=colours[code]) for code in range(2)]
    if circles:
        signs.append(sign("support vector", marker="o", color="none", markeredgecolor="#333333", markersize=9))
    if by_size:
        signs.append(sign("slack (marker size)", marker="o", color="#999999", markersize=10))
    else:
        signs.append(sign("slack", linestyle="solid", color="#666666", linewidth=1.1))
    legend_below(ax, handles=signs)
