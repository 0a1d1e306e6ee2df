"""Pictures, as pure functions: each takes what it shows and an Axes (a new one by default) and returns the Axes.

Needs matplotlib, which the ``plot`` extra installs. Nothing here trains, prints or writes files.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.descent import Descent, descend
from separatrix.losses import LOSSES
from separatrix.observers import History
from separatrix.original_scale import dense, original_units
from separatrix.problem import encode_labels
from separatrix.rows import Floats, Rows, is_sparse
from separatrix.tracing import Trace

try:
    from matplotlib import colormaps
    from matplotlib.axes import Axes
    from matplotlib.colors import BoundaryNorm, ListedColormap
    from matplotlib.ticker import MaxNLocator
except ImportError as problem:  # pragma: no cover
    raise ImportError("separatrix.plots needs matplotlib: install separatrix with its 'plot' extra") from problem

_GRID = 301  # points along each side of a coloured plane
_HEIGHTS = 121  # and of a surface
_MARKERS = "osD^vPX"
_COLOURS = ("#3b6fb6", "#d9822b", "#3f9c6d", "#b0508e", "#7a6a58", "#c0392b", "#1f8a99", "#8c8c2a")
_PATHS = ("#d7301f", "#1b1b1b", "#7a3e9d", "#e08214", "#1b7837", "#5b3a1e")
_SURFACE = "YlGnBu_r"


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    import matplotlib.pyplot as plt

    new: Axes = plt.subplots(layout="constrained")[1]
    return new


def _last(model: Any) -> Any:
    """Return the last step of a pipeline, or the model itself."""
    return model.steps[-1][1] if hasattr(model, "steps") else model


# ---------------------------------------------------------------------------------------------- loss against epochs


def loss_curve(run: Any, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the loss against epochs: the mean loss of gradient descent, or the mistakes of a perceptron.

    Parameters
    ----------
    run : fitted estimator, pipeline that ends in one, History, Descent or sequence of float
        What to draw.
    ax : Axes, optional
        Where.
    **line
        For ``Axes.plot``: ``label``, ``color``, ...

    Returns
    -------
    Axes
        Call it again on the same Axes to compare runs.
    """
    ax = _axes(ax)
    values, name, unit, first = _losses(run)
    line = {"linewidth": 1.8, "marker": "o" if len(values) == 1 else None, **line}
    ax.plot(np.arange(first, first + len(values)), values, **line)
    before = ax.get_ylabel()
    ax.set(xlabel=unit, ylabel=name if before in ("", name) else f"{before} / {name}")
    if ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(visible=True, alpha=0.25)
    if line.get("label") is not None:
        ax.legend(frameon=False)
    return ax


def _losses(run: Any) -> tuple[Sequence[float], str, str, int]:
    """Return what to draw, its name, what is counted along it and from where."""
    if isinstance(run, Descent):
        return list(run.values), "f", "step", 0
    history = getattr(_last(run), "history_", run)
    if isinstance(history, History):
        values: Sequence[float] = history.mean_loss or history.mistakes
        name = "mean loss" if history.mean_loss else "mistakes"
    else:
        try:
            values, name = [float(value) for value in history], "loss"
        except (TypeError, ValueError):
            raise TypeError(
                "loss_curve draws a fitted estimator of this package, a History, a Descent or a sequence of numbers; "
                f"found {run!r}"
            ) from None
    if not len(values):
        raise ValueError("there is no finished epoch to draw")
    return values, name, "epoch", 1


# ---------------------------------------------------------------------------------------------- boundaries


def decision_boundary(
    model: Any, X: Any, y: Any, ax: Axes | None = None, *, names: Sequence[str] | None = None
) -> Axes:
    """Draw the data and the boundary of a fitted classifier.

    With two features the background is what the model says at each point. With more, the data are projected, and the
    axis labels say how: for a linear model of two classes on the signed distance to the boundary, which is then exactly
    the line at 0, and the direction along the boundary in which the data spread most; for any other model on the data's
    two principal directions, with the model's answers on the plane through their mean as the background.

    Parameters
    ----------
    model : fitted classifier
        With ``predict`` and ``classes_``; ``coef_`` and ``intercept_`` make it linear, behind scalers too.
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The examples.
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
    ax = _axes(ax)
    rows = Rows(X)
    values = (rows.values.toarray() if is_sparse(rows.values) else rows.values).astype(np.float64)
    classes, codes = _known_labels(model, y, len(values))
    shown = list(names) if names is not None else rows.names
    if shown is not None and len(shown) != values.shape[1]:
        raise ValueError(f"names must hold one name for each of the {values.shape[1]} features; found {len(shown)}")
    flat = _Projection(_linear(model), values, shown)
    points = flat.points(values)
    low, high = _extent(points, 0.06)
    colours = _colours(len(classes))
    if flat.background:
        frame = type(X) if rows.names is not None else None
        _paint(ax, model, flat, classes, colours, low, high, lambda grid: _like(frame, rows.names, grid))
    else:
        ax.axvspan(low[0], 0.0, color=colours[0], alpha=0.12, linewidth=0)
        ax.axvspan(0.0, high[0], color=colours[-1], alpha=0.12, linewidth=0)
        ax.axvline(0.0, color="black", linewidth=1.4)
    wrong = np.asarray(model.predict(X)) != classes[codes]
    for code in np.unique(codes):
        style: dict[str, Any] = {"s": 26, "color": colours[code], "marker": _MARKERS[code % len(_MARKERS)], "zorder": 3}
        right, missed = points[(codes == code) & ~wrong], points[(codes == code) & wrong]
        ax.scatter(right[:, 0], right[:, 1], edgecolor="white", linewidth=0.5, label=str(classes[code]), **style)
        ax.scatter(missed[:, 0], missed[:, 1], edgecolor="black", linewidth=1.3, **style)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), xlabel=flat.labels[0], ylabel=flat.labels[1])
    ax.legend(frameon=True, framealpha=0.85)
    return ax


def _known_labels(model: Any, y: Any, n: int) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the model's classes, sorted, and each example's place among them."""
    found, codes = encode_labels(y, n)
    classes = np.unique(np.asarray(getattr(model, "classes_", found)))
    same_kind = (classes.dtype.kind in "biuf") == (found.dtype.kind in "biuf")
    if not (same_kind and np.isin(found, classes).all()):
        raise ValueError(f"y holds labels that the model does not know: {found.tolist()}; it knows {classes.tolist()}")
    return classes, np.searchsorted(classes, found)[codes]


def _colours(n: int) -> list[Any]:
    return list(_COLOURS[:n]) if n <= len(_COLOURS) else [colormaps["tab20"](k % 20) for k in range(n)]


def _like(frame: Any, names: Sequence[str] | None, values: Floats) -> Any:
    """Return the examples as the kind of frame that the model was shown, if it was one."""
    return values if frame is None else frame(dict(zip(names or [], values.T, strict=True)))


def _linear(model: Any) -> Any:
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
            self.labels = ["signed distance to the boundary", "along the boundary: direction of largest spread"]
        else:
            self._centre = values.mean(axis=0)
            self._axes = _principal(values - self._centre, 2)
            self.labels = ["first principal direction", "second principal direction"]

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
    """Colour the plane by the model's answers, and draw where they change."""
    across, up = np.linspace(low[0], high[0], _GRID), np.linspace(low[1], high[1], _GRID)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    examples = like(flat.examples(grid))
    answers = np.searchsorted(classes, np.asarray(model.predict(examples))).reshape(_GRID, _GRID)
    box = (low[0], high[0], low[1], high[1])
    norm = BoundaryNorm(np.arange(len(classes) + 1) - 0.5, len(classes))
    ax.imshow(
        answers, origin="lower", extent=box, cmap=ListedColormap(colours), norm=norm, alpha=0.14, aspect="auto",
        interpolation="nearest",
    )  # fmt: skip
    smooth = len(classes) == 2 and hasattr(model, "decision_function")
    heights = np.asarray(model.decision_function(examples)) if smooth else np.empty(0)
    if heights.size == answers.size:
        borders = [(heights.reshape(_GRID, _GRID), 0.0)]
    else:
        borders = [((answers == code).astype(float), 0.5) for code in range(len(classes))]
    for surface, level in borders:
        if surface.min() < level < surface.max():
            ax.contour(across, up, surface, levels=[level], colors="black", linewidths=1.2)


# ---------------------------------------------------------------------------------------------- descent


def path(run: Descent, ax: Axes | None = None, *, window: Any = None, **line: Any) -> Axes:
    """Draw a descent: on the curve of its function of one variable, or on the contours of its function of two.

    Parameters
    ----------
    run : Descent
        The path, from :func:`separatrix.descend`.
    ax : Axes, optional
        Where.
    window : (low, high) or ((x low, x high), (y low, y high)), optional
        What to show; by default a quarter more than the path on each side.
    **line
        For ``Axes.plot``: ``label``, ``color``, ...
    """
    if not isinstance(run, Descent):
        raise TypeError(f"path draws what sx.descend returns; found {type(run).__name__}")
    ax = _axes(ax)
    walked = run.path.reshape(len(run.path), -1)
    if walked.shape[1] > 2:
        raise ValueError(f"a path can be drawn in one or two variables; this one has {walked.shape[1]}")
    low, high = _extent(walked[np.isfinite(walked).all(axis=1)], 0.25)
    if window is not None:
        low, high = np.array(window, dtype=np.float64).reshape(walked.shape[1], 2).T
    if walked.shape[1] == 1:
        x = np.linspace(low[0], high[0], 400)
        heights = _heights(lambda at: run.f(at if run.path.ndim == 2 else float(at[0])), x[:, None])
        ax.plot(x, heights, color="#777777", linewidth=1.5)
        _walk(ax, walked[:, 0], run.values, **{"color": _PATHS[0], **line})
        ax.set(xlabel="x", ylabel="f(x)", xlim=(low[0], high[0]))
        finite = heights[np.isfinite(heights)]
        if window is not None and finite.size:
            room = 0.06 * (float(np.ptp(finite)) or 1.0)
            ax.set_ylim(finite.min() - room, finite.max() + room)
    else:
        _contours(ax, run.f, low, high)
        _walk(ax, walked[:, 0], walked[:, 1], **{"color": _PATHS[0], **line})
        ax.set(xlabel="x", ylabel="y", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    ax.set_title(str(run.status).split(":")[0], fontsize="medium")
    if line.get("label") is not None:
        ax.legend(frameon=False)
    return ax


def compare_steps(
    f: Callable[[Any], Any],
    gradient: Callable[[Any], Any],
    start: Any,
    steps: Sequence[float] = (0.02, 0.3, 1.04),
    axes: Any = None,
    *,
    max_steps: int = 12,
) -> list[Axes]:
    """Draw the first steps of descents side by side, one for each step size: too small, right, too large (Lecture 000).

    Parameters
    ----------
    f, gradient, start
        As for :func:`separatrix.descend`, in one or two variables.
    steps : sequence of float
        The step sizes.
    axes : sequence or array of Axes, optional
        One for each; all show the same part of the function.
    max_steps : int, default=12
        How many steps to draw.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> axes = compare_steps(lambda x: x * x, lambda x: 2 * x, start=2.0)
    >>> [ax.get_title() for ax in axes][2]
    'step 1.04: after 12 steps x = 5.036'
    """
    steps = [float(step) for step in np.atleast_1d(np.array(list(steps) if np.iterable(steps) else steps))]
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(1, len(steps), figsize=(3.6 * len(steps), 3.2), layout="constrained")[1]
    places: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))
    if len(places) != len(steps):
        raise ValueError(f"axes must hold one Axes for each of the {len(steps)} steps; found {len(places)}")
    runs = [descend(f, gradient, start, step, max_steps=max_steps) for step in steps]
    low, high = _extent(np.concatenate([run.path.reshape(run.n_steps + 1, -1) for run in runs]), 0.1)
    for ax, step, run in zip(places, steps, runs, strict=True):
        path(run, ax, window=np.stack([low, high], axis=1))
        last = ", ".join(f"{value:.4g}" for value in np.atleast_1d(run.x))
        last = last if run.path.ndim == 1 else f"({last})"
        ax.set_title(f"step {step:g}: after {run.n_steps} steps x = {last}", fontsize="medium")
    return places


def loss_surface(
    X: Any,
    y: Any,
    ax: Axes | None = None,
    *,
    loss: str = "squared",
    paths: Mapping[str, Any] | None = None,
    w: tuple[float, float] | None = None,
    b: tuple[float, float] | None = None,
) -> Axes:
    """Draw the mean loss of a one-feature neuron over its weight and bias, and paths of descent on it (Lecture 002).

    Parameters
    ----------
    X : array of shape (n_samples, 1) or (n_samples,)
        The feature.
    y : sequence of two distinct labels
        The classes; the larger is the one that the neuron should fire for.
    ax : Axes, optional
        Where.
    loss : {"squared", "log"}
        Of the neuron.
    paths : mapping of str to Descent, Trace or array of shape (n, 2), optional
        What to draw, by the name in the legend.
    w, b : (low, high), optional
        The ranges to show; by default a quarter more than the paths on each side, or -5 to 5 without paths.
    """
    ax = _axes(ax)
    x = np.asarray(X, dtype=np.float64)
    x = x[:, None] if x.ndim == 1 else x
    if x.ndim != 2 or x.shape[1] != 1:
        raise ValueError(f"a loss surface over (w, b) needs one feature; found {x[0].size}")
    Rows(x).check_finite()
    classes, codes = encode_labels(y, len(x))
    if len(classes) != 2:
        raise ValueError(f"a loss surface needs two classes; found {len(classes)}")
    if loss not in ("squared", "log"):
        raise ValueError(f"loss must be squared or log; found {loss!r}")
    if paths is not None and not isinstance(paths, Mapping):
        raise TypeError(f"paths must be a dict of names and paths; found {type(paths).__name__}")
    signs = np.where(codes == 1, 1.0, -1.0)
    walked = {name: _points(each) for name, each in (paths or {}).items()}
    low, high = np.array([-5.0, -5.0]), np.array([5.0, 5.0])
    if walked:
        low, high = _extent(np.concatenate(list(walked.values())), 0.25)
    for place, (name, given) in enumerate((("w", w), ("b", b))):
        if given is not None:
            if np.shape(given) != (2,):
                raise ValueError(f"{name} must be a pair (low, high); found {given!r}")
            low[place], high[place] = given

    def value(p: Floats) -> float:
        return float(LOSSES[loss].value(signs * (p[0] * x[:, 0] + p[1])).mean())

    filled = _contours(ax, value, low, high, filled=True)
    ax.figure.colorbar(filled, ax=ax, label=f"mean {loss} loss", format="%.3f", ticks=filled.levels[::4])
    for place, (name, points) in enumerate(walked.items()):
        _walk(ax, points[:, 0], points[:, 1], color=_PATHS[place % len(_PATHS)], label=name)
    ax.set(xlabel="weight w", ylabel="bias b", xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    if walked:
        ax.legend(frameon=True, framealpha=0.9, loc="lower right")
    return ax


def _points(run: Any) -> Floats:
    points = run.path if isinstance(run, Descent | Trace) else run
    points = np.asarray(points, dtype=np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"a path on the surface needs points (w, b); found shape {points.shape}")
    return points


def _extent(points: Floats, reach: float) -> tuple[Floats, Floats]:
    low, high = points.min(axis=0).astype(np.float64), points.max(axis=0).astype(np.float64)
    wide = np.where(high > low, high - low, 2.0)
    return low - reach * wide, high + reach * wide


def _heights(f: Callable[[Floats], Any], points: Floats) -> Floats:
    """Return the function at each point, NaN where it has no value."""
    with np.errstate(all="ignore"):
        found = []
        for point in points:
            try:
                found.append(float(f(point)))
            except (ArithmeticError, ValueError):
                found.append(np.nan)
    return np.array(found)


def _contours(ax: Axes, f: Callable[[Floats], Any], low: Floats, high: Floats, *, filled: bool = False) -> Any:
    across, up = np.linspace(low[0], high[0], _HEIGHTS), np.linspace(low[1], high[1], _HEIGHTS)
    grid = np.stack([part.ravel() for part in np.meshgrid(across, up)], axis=1)
    heights = _heights(f, grid).reshape(_HEIGHTS, _HEIGHTS)
    finite = heights[np.isfinite(heights)]
    heights = np.ma.masked_invalid(heights)
    if not finite.size or finite.min() == finite.max():
        raise ValueError("the function has no contours here: it is constant, or nowhere finite")
    if filled:
        levels = np.unique(np.quantile(finite, np.linspace(0.0, 1.0, 28)))  # as many in the valleys as on the slopes
        norm = BoundaryNorm(levels, 256)
        surface = ax.contourf(across, up, heights, levels=levels, cmap=colormaps[_SURFACE], norm=norm)
        ax.contour(across, up, heights, levels=levels, colors="white", linewidths=0.5, alpha=0.7)
        return surface
    levels = np.unique(np.quantile(finite, np.linspace(0.01, 0.97, 16)))
    return ax.contour(across, up, heights, levels=levels, cmap=colormaps["cividis"], linewidths=1.0)


def _walk(ax: Axes, x: Floats, y: Floats, **line: Any) -> None:
    """Draw a walk: its line, its points where they are few, where it starts and where it ends."""
    colour = line.pop("color")
    marker = "." if len(x) <= 60 else None
    style = {"linewidth": 1.1, "marker": marker, "markersize": 6, "alpha": 0.9, "zorder": 4, **line}
    ax.plot(x, y, color=colour, **style)
    ax.plot(x[0], y[0], "o", markersize=7, markerfacecolor="white", markeredgecolor=colour, zorder=5)
    ax.plot(x[-1], y[-1], "*", markersize=14, markerfacecolor=colour, markeredgecolor="white", zorder=6)


__all__ = ["compare_steps", "decision_boundary", "loss_curve", "loss_surface", "path"]
