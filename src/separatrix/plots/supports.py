"""The support vectors of an SVM in any number of dimensions: alpha against margin, row by row."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from separatrix.insight.kkt import svm_conditions
from separatrix.plots.boundaries import known_labels
from separatrix.plots.canvas import COLOURS, MARKERS, colours_of, last, legend_below, new_axes, plain_text

_INSIDE = COLOURS[5]


def support(model: Any, X: Any, y: Any, ax: Axes | None = None, *, sample_weight: Any = None) -> Axes:
    r"""Draw the dual weight alpha of each row against its margin ``y f(x)``: which rows hold the boundary, and why.

    An optimal SVM meets one condition for each row (Lecture 003): a margin above 1 has alpha 0; a margin below 1, which
    uses slack, has alpha C; only on the margin may alpha lie between. So all points lie on three edges: the floor to
    the right of 1, the upright line at 1, and the ceiling to the left of 1. Rows with alpha above 0 are the support
    vectors. Works for any number of features, and for kernels.

    Parameters
    ----------
    model : LinearSVM or KernelSVM of two classes
        The fitted model.
    X, y, sample_weight
        What it was fitted to, in the same order.
    ax : Axes, optional
        Where.

    Returns
    -------
    Axes
        Rows with a margin below 0 are misclassified.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from separatrix import LinearSVM
    >>> X, y = [[0.0], [1.0], [3.0], [4.0]], [-1, -1, 1, 1]
    >>> support(LinearSVM().fit(X, y), X, y).get_title()
    '2 support vectors of 4 rows\n2 on the margin, 0 inside; total slack 0'
    """
    if not hasattr(last(model), "dual_coef_"):
        raise TypeError(f"support draws a fitted LinearSVM or KernelSVM; found {type(model).__name__}")
    if len(model.classes_) != 2:
        raise ValueError(f"support vectors can be drawn for two classes; found {len(model.classes_)}")
    found = svm_conditions(model, X, y, sample_weight=sample_weight)
    classes, codes = known_labels(model, y, len(found.alpha))
    ax = new_axes(ax)
    held = found.alpha > 0
    slack = float(found.slack.sum())
    ax.axvspan(-1e9, 1.0, color=_INSIDE, alpha=0.06, linewidth=0, zorder=0)
    ax.axvline(1.0, color="black", linewidth=1.2, linestyle="dashed", zorder=1)
    ax.axvline(0.0, color="#777777", linewidth=0.9, zorder=1)
    if np.isfinite(found.cost).all() and np.ptp(found.cost) == 0:
        ax.axhline(
            float(found.cost[0]), color="#777777", linewidth=1.0, linestyle="dotted", zorder=1, label="alpha = C"
        )
    for code, colour in enumerate(colours_of(2)):
        for own, size, look in ((held, 42.0, 0.9), (~held, 20.0, 0.45)):
            mine = (codes == code) & own
            ax.scatter(
                found.margin[mine], found.alpha[mine], s=size, color=colour, marker=MARKERS[code], alpha=look,
                edgecolor="white", linewidth=0.5, zorder=3,
                label=str(classes[code]) if own is held else None,
            )  # fmt: skip
    low, high = float(found.margin.min()), float(found.margin.max())
    room = 0.06 * (max(high, 1.0) - min(low, 0.0))
    ax.set(xlim=(min(low, 0.0) - room, max(high, 1.0) + room))
    top = float(found.alpha.max()) or 1.0
    ax.set_ylim(-0.04 * top, 1.1 * top)
    ax.set(xlabel="margin y f(x): below 1 uses slack, below 0 is misclassified", ylabel="alpha")
    on, inside = (int((held & (found.place == place)).sum()) for place in ("on", "inside"))
    ax.set_title(
        f"{int(held.sum())} support vectors of {len(held)} rows\n{on} on the margin, {inside} inside; "
        f"total slack {slack if slack > 1e-6 else 0:.3g}",
        fontsize="medium",
    )
    legend_below(ax)
    return plain_text(ax)
