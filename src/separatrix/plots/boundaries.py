"""Data and the boundary of a classifier: in two dimensions as it is, in more as a projection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm, ListedColormap
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, Rows, is_sparse
from separatrix.insight.original_units import dense, original_units
from separatrix.insight.trace import Trace
from separatrix.loop.problem import encode_labels
from separatrix.plots.canvas import GRID, MARKERS, colours_of, extent, new_axes, plain_text


def decision_boundary(
    model: Any, X: Any = None, y: Any = None, ax: Axes | None = None, *, names: Sequence[str] | None = None
) -> Axes:
    """Draw the data and the boundary of a fitted classifier, or of the final weights of a trace.

    With two features the background is the predicted class. With more, the data are projected, and the
    axis labels say how: for a linear model of two classes on the signed distance to the boundary, which is then exactly
    the line at 0, and the direction along the boundary of largest variance; for any other model on the data's
    two principal components, with the model's predictions on the plane through their mean as the background.

    Parameters
    ----------
    model : fitted classifier or Trace
        With ``predict`` and ``classes_``; ``coef_`` and ``intercept_`` make it linear, behind scalers too.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The examples; those of a Trace by default.
    y : sequence of labels
        Their classes, all known to the model.
    ax : Axes, optional
        Where.
    names : sequence of str, optional
        The features' names, where X does not carry them.

    Returns
    -------
    Axes
        Examples on the wrong side have a dark edge.
    """
    if isinstance(model, Trace):
        model = TracedModel(model)
        X, y = (model.X, model.y) if X is None and y is None else (X, y)
    if not hasattr(model, "predict"):
        raise TypeError(f"decision_boundary draws a fitted classifier or a Trace; found {type(model).__name__}")
    if X is None or y is None:
        raise TypeError("decision_boundary needs examples X and their labels y; only a Trace holds its own")
    ax = new_axes(ax)
    rows = Rows(X)
    values = (rows.values.toarray() if is_sparse(rows.values) else rows.values).astype(np.float64)
    classes, codes = known_labels(model, y, len(values))
    shown = list(names) if names is not None else rows.names
    if shown is not None and len(shown) != values.shape[1]:
        raise ValueError(f"names must hold one name for each of the {values.shape[1]} features; found {len(shown)}")
    flat = _Projection(linear_part(model), values, shown)
    points = flat.points(values)
    low, high = extent(points, 0.06)
    colours = colours_of(len(classes))
    if flat.background:
        frame = type(X) if rows.names is not None else None
        _paint(ax, model, flat, classes, colours, low, high, lambda grid: like_frame(frame, rows.names, grid))
    else:
        ax.axvspan(low[0], 0.0, color=colours[0], alpha=0.12, linewidth=0)
        ax.axvspan(0.0, high[0], color=colours[-1], alpha=0.12, linewidth=0)
        ax.axvline(0.0, color="black", linewidth=1.4)
    wrong = np.asarray(model.predict(X)) != classes[codes]
    for code in np.unique(codes):
        style: dict[str, Any] = {"s": 26, "color": colours[code], "marker": MARKERS[code % len(MARKERS)], "zorder": 3}
        right, missed = points[(codes == code) & ~wrong], points[(codes == code) & wrong]
        ax.scatter(right[:, 0], right[:, 1], edgecolor="white", linewidth=0.5, label=str(classes[code]), **style)
        ax.scatter(missed[:, 0], missed[:, 1], edgecolor="black", linewidth=1.3, **style)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=flat.labels[0], ylabel=flat.labels[1])
    ax.legend(frameon=True, framealpha=0.85)
    return plain_text(ax)


class TracedModel:
    """The final weights of a trace as a classifier, and the examples that it was traced on."""

    def __init__(self, run: Trace) -> None:
        self.classes_ = np.array(run.classes)
        self.coef_ = np.array([[float(value) for value in run.weights]])
        self.intercept_ = np.array([float(run.bias)])
        examples = {step.index: step for step in run.steps}
        self.X = np.array([[float(value) for value in step.x] for step in examples.values()])
        self.y = self.classes_[[int(step.y > 0) for step in examples.values()]]

    def decision_function(self, X: Any) -> Floats:
        """Return the activation of each row."""
        return np.asarray(dense(Rows(X).values) @ self.coef_[0] + self.intercept_[0])

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; a tie is the positive class."""
        return np.asarray(self.classes_[(self.decision_function(X) >= 0).astype(np.intp)])


def known_labels(model: Any, y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the model's classes, sorted, and each example's place among them."""
    labels, codes = encode_labels(y, n)
    classes = np.unique(np.asarray(getattr(model, "classes_", labels)))
    same_kind = (classes.dtype.kind in "biuf") == (labels.dtype.kind in "biuf")
    if not (same_kind and np.isin(labels, classes).all()):
        raise ValueError(f"y has labels unknown to the model: {labels.tolist()}; its classes are {classes.tolist()}")
    return classes, np.searchsorted(classes, labels)[codes]


def like_frame(frame: Any, names: Sequence[str] | None, values: Floats) -> Any:
    """Return the examples as the kind of frame that the model was shown, if it was one."""
    return values if frame is None else frame(dict(zip(names or [], values.T, strict=True)))


def linear_part(model: Any) -> Any:
    """Return something with the weights of a linear model of two classes on the raw features, or None."""
    if hasattr(model, "steps"):
        try:
            model = original_units(model)
        except ValueError:
            return None
    if getattr(model, "readout", None) == "voted" or not hasattr(model, "coef_") or not hasattr(model, "intercept_"):
        return None
    coef = dense(model.coef_)
    return model if len(coef) == 1 and np.any(coef) else None


class _Projection:
    """How examples become points in the plane, and points of the plane examples."""

    def __init__(self, linear: Any, values: Floats, names: Sequence[str] | None) -> None:
        d = values.shape[1]
        self.background = True
        self._centre = np.zeros(d)
        if d == 1:
            raise ValueError("a boundary in the plane needs at least two features; found 1")
        if d == 2:
            self._axes = np.eye(2)
            self.labels = [str(name) for name in names] if names is not None else ["feature 0", "feature 1"]
        elif linear is not None:
            self.background = False
            coef = dense(linear.coef_)[0]
            length = float(np.linalg.norm(coef))
            across = coef / length
            self._centre = -float(np.ravel(linear.intercept_)[0]) / length * across  # a point of the boundary
            along = values - self._centre
            along = along - np.outer(along @ across, across)
            self._axes = np.stack([across, _principal(along - along.mean(axis=0), 1)[0]])
            self.labels = ["signed distance to the boundary", "along the boundary: direction of largest variance"]
        else:
            self._centre = values.mean(axis=0)
            self._axes = _principal(values - self._centre, 2)
            self.labels = ["first principal component", "second principal component"]

    def points(self, values: Floats) -> Floats:
        return np.asarray((values - self._centre) @ self._axes.T)

    def examples(self, points: Floats) -> Floats:
        return np.asarray(points @ self._axes + self._centre)


def _principal(centred: Floats, k: int) -> Floats:
    """Return the first k principal directions, each with its largest coordinate positive."""
    directions = np.linalg.svd(centred, full_matrices=False)[2][:k]
    largest = np.abs(directions).argmax(axis=1)
    return np.asarray(directions * np.sign(directions[np.arange(k), largest])[:, None])


def _paint(
    ax: Axes,
    model: Any,
    flat: _Projection,
    classes: NDArray[Any],
    colours: list[Any],
    low: Floats,
    high: Floats,
    like: Callable[[Floats], Any],
) -> None:
    """Colour the plane by the model's predictions, and draw where they change."""
    across, up = np.linspace(low[0], high[0], GRID), np.linspace(low[1], high[1], GRID)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    examples = like(flat.examples(grid))
    predicted = np.searchsorted(classes, np.asarray(model.predict(examples))).reshape(GRID, GRID)
    box = (low[0], high[0], low[1], high[1])
    norm = BoundaryNorm(np.arange(len(classes) + 1) - 0.5, len(classes))
    ax.imshow(
        predicted, origin="lower", extent=box, cmap=ListedColormap(colours), norm=norm, alpha=0.14, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    smooth = len(classes) == 2 and hasattr(model, "decision_function")
    heights = np.asarray(model.decision_function(examples)) if smooth else np.empty(0)
    if heights.size == predicted.size:
        borders = [(heights.reshape(GRID, GRID), 0.0)]
    else:
        borders = [((predicted == code).astype(float), 0.5) for code in range(len(classes))]
    for surface, level in borders:
        if surface.min() < level < surface.max():
            ax.contour(across, up, surface, levels=[level], colors="black", linewidths=1.2)
