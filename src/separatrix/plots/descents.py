"""Paths of gradient descent, on a curve, on contours and on the loss of a neuron."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import BoundaryNorm

from separatrix.geometry.rows import Floats, Rows
from separatrix.insight.descent import Descent, descend
from separatrix.insight.expression import Expression
from separatrix.insight.trace import Trace
from separatrix.loop.problem import encode_labels
from separatrix.plots.canvas import extent, new_axes
from separatrix.rules.losses import LOSSES

_HEIGHTS = 121  # points along each side of a surface
_PATHS = ("#d7301f", "#1b1b1b", "#7a3e9d", "#e08214", "#1b7837", "#5b3a1e")
_SURFACE = "YlGnBu_r"
_FIRST = 5  # points of a diverging run that are shown


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
    ax = new_axes(ax)
    walked = run.path.reshape(len(run.path), -1)
    if walked.shape[1] > 2:
        raise ValueError(f"a path can be drawn in one or two variables; this one has {walked.shape[1]}")
    low, high = extent(walked[np.isfinite(walked).all(axis=1)], 0.25)
    if window is not None:
        low, high = np.array(window, dtype=np.float64).reshape(walked.shape[1], 2).T
    if walked.shape[1] == 1:
        x = np.linspace(low[0], high[0], 400)
        f = run.f if isinstance(run.f, Expression) or run.path.ndim == 2 else lambda at: run.f(float(at[0]))
        heights = _heights(f, x[:, None])
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
    low, high = extent(np.concatenate([run.path.reshape(run.n_steps + 1, -1) for run in runs]), 0.1)
    for ax, step, run in zip(places, steps, runs, strict=True):
        path(run, ax, window=np.stack([low, high], axis=1))
        last = ", ".join(f"{value:.4g}" for value in np.atleast_1d(run.x))
        last = last if run.path.ndim == 1 else f"({last})"
        ax.set_title(f"step {step:g}: after {run.n_steps} steps x = {last}", fontsize="medium")
    return places


def descents(runs: Mapping[str, Descent], axes: Any = None, *, title: str | None = None) -> list[Axes]:
    r"""Draw several descents on the same function side by side, all on the same part of it.

    What is shown holds every run that stays near the start whole; of one that diverges, only its first steps.

    Parameters
    ----------
    runs : mapping of str to Descent
        From :func:`separatrix.descend`, in one or two variables; the name is the title of its Axes.
    axes : sequence or array of Axes, optional
        One for each.
    title : str, optional
        Of the whole figure, where it is a new one.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> steps = (0.1, 1.1)
    >>> runs = {f"step {step}": descend(lambda x: x * x, lambda x: 2 * x, 2.0, step) for step in steps}
    >>> [ax.get_title() for ax in descents(runs)]
    ['step 0.1\nconverged after 69 steps', 'step 1.1\ndiverging']
    """
    if not isinstance(runs, Mapping) or not all(isinstance(run, Descent) for run in runs.values()) or not runs:
        raise TypeError("descents draws a dict of names and what sx.descend returns, at least one")
    if len({run.path.shape[1:] for run in runs.values()}) > 1:
        raise ValueError("descents draws runs on one function; these have different numbers of variables")
    if axes is None:
        import matplotlib.pyplot as plt

        shape = panels(len(runs))
        figure, axes = plt.subplots(
            *shape, figsize=(3.7 * shape[1], 3.5 * shape[0]), layout="constrained", squeeze=False
        )
        if title is not None:
            figure.suptitle(title)
        for ax in axes.ravel()[len(runs) :]:
            ax.remove()
        axes = axes.ravel()[: len(runs)]
    places: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))
    if len(places) != len(runs):
        raise ValueError(f"axes must hold one Axes for each of the {len(runs)} runs; found {len(places)}")
    low, high = extent(np.concatenate([_near(run) for run in runs.values()]), 0.12)
    for place, (ax, (name, run)) in enumerate(zip(places, runs.items(), strict=True)):
        path(run, ax, window=np.stack([low, high], axis=1))
        ax.set_title(f"{name}\n{str(run.status).split(':')[0]}", fontsize="medium")
        if place % panels(len(runs))[1]:
            ax.set_ylabel("")
    return places


def panels(n: int) -> tuple[int, int]:
    """Return rows and columns for so many pictures side by side, at most four in a row."""
    columns = min(n, 4) if n != 5 else 3
    return -(-n // columns), columns


def _near(run: Descent) -> Floats:
    """Return the points of a run that should be seen: all, or the first few of one that goes far away."""
    walked = run.path.reshape(len(run.path), -1)
    walked = walked[np.isfinite(walked).all(axis=1)]
    return walked[:_FIRST] if run.outcome == "diverging" else walked


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
    ax = new_axes(ax)
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
        low, high = extent(np.concatenate(list(walked.values())), 0.25)
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
        marker = "." if len(points) <= 60 else None
        _walk(ax, points[:, 0], points[:, 1], color=_PATHS[place % len(_PATHS)], label=name, marker=marker)
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


def _heights(f: Callable[[Floats], Any], points: Floats) -> Floats:
    """Return the function at each point, NaN where it has no value."""
    if isinstance(f, Expression):
        return f.over(points)
    with np.errstate(all="ignore"):
        values = []
        for point in points:
            try:
                values.append(float(f(point)))
            except (ArithmeticError, ValueError):
                values.append(np.nan)
    return np.array(values)


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
    """Draw a walk: its line, its first points, where it starts and where it ends."""
    colour = line.pop("color")
    style = {
        "linewidth": 1.1,
        "marker": ".",
        "markersize": 6,
        "alpha": 0.9,
        "zorder": 4,
        "markevery": slice(60),
        **line,
    }
    ax.plot(x, y, color=colour, **style)
    ax.plot(x[0], y[0], "o", markersize=7, markerfacecolor="white", markeredgecolor=colour, zorder=5)
    ax.plot(x[-1], y[-1], "*", markersize=14, markerfacecolor=colour, markeredgecolor="white", zorder=6)
