"""Histograms of the rows' margins, by class."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from separatrix.plots.boundaries import known_labels
from separatrix.plots.canvas import colours_of, legend_below, new_axes

_BINS = 40


def margin_histogram(model: Any, X: Any, y: Any, ax: Axes | None = None) -> Axes:
    """Draw a histogram of the margins of each class's rows.

    With two classes the margin is ``y f(x)``; with more it is the score of the true class minus the best of the
    others. Rows to the left of 0 are misclassified. For a linear model of two classes it is the distance from the
    plane.

    Parameters
    ----------
    model : fitted classifier
        With ``decision_function`` and ``classes_``.
    X, y : rows and labels
        What to draw.
    ax : Axes, optional
        Where to draw.

    Returns
    -------
    Axes
        Where it was drawn.
    """
    if not hasattr(model, "decision_function"):
        raise TypeError(f"margin_histogram draws a classifier with decision_function; found {type(model).__name__}")
    scores = np.asarray(model.decision_function(X), dtype=np.float64)
    classes, codes = known_labels(model, y, len(scores))
    if scores.ndim == 1:
        margins = np.where(codes == 1, scores, -scores)
        what = "margin y f(x)"
        length = float(np.linalg.norm(model.coef_)) if hasattr(model, "coef_") else 0.0
        if length > 0 and getattr(model, "readout", None) != "voted":
            margins, what = margins / length, "signed distance from the boundary (positive: correct side)"
    else:
        rows = np.arange(len(scores))
        own = scores[rows, codes]
        others = scores.copy()
        others[rows, codes] = -np.inf
        margins, what = own - others.max(axis=1), "score of the true class minus the best other score"
    ax = new_axes(ax)
    edges = np.histogram_bin_edges(margins, bins=_BINS)
    for code, colour in enumerate(colours_of(len(classes))):
        ax.hist(margins[codes == code], bins=edges.tolist(), color=colour, alpha=0.6, label=str(classes[code]))
    ax.axvline(0.0, color="#333333", linewidth=1.0)
    wrong = int((margins <= 0).sum())
    ax.set_title(f"{wrong:,} of {len(margins):,} rows on the wrong side", fontsize="medium")
    ax.set_xlabel(what)
    ax.set_ylabel("rows")
    legend_below(ax)
    return ax
