"""Weights and examples as arrows: an update that turns w, and the projection of an example on w (Lectures 003, 004)."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes

from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import COLOURS, new_axes
from separatrix.plots.updates import crossing

_W, _X, _NEW, _OLD = COLOURS[0], COLOURS[1], "#111111", "#777777"


def update_vectors(w: Any, x: Any, y: Any, ax: Axes | None = None, *, eta: float = 1.0, b: float | None = None) -> Axes:
    """Draw one update of a perceptron as arrows: w, x, and w + eta y x, with the boundary before and after it.

    An example of class +1 turns w toward x, one of class -1 away from it, so that ``y (w . x)`` grows by
    ``eta |x|^2``, and with a bias by ``eta (|x|^2 + 1)`` (Lectures 001 and 004). An example on the right side of the
    boundary changes nothing, and then there is one line.

    Parameters
    ----------
    w, x : two numbers each
        The weights before the update, and the example.
    y : {1, -1}
        Its class; 0 is taken for -1.
    ax : Axes, optional
        Where.
    eta : float, default=1.0
        The learning rate.
    b : float, optional
        The bias before the update; without it the boundary goes through the origin and there is no bias.

    Returns
    -------
    Axes
        Drawn to one scale.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> update_vectors([1, -1], [1, 2], 1).get_title()
    'y (w . x) = -1 before the update, 4 after it'
    """
    old, example = _pair("w", w), _pair("x", x)
    sign = _sign(y)
    rate, bias = _finite("eta", eta), 0.0 if b is None else _finite("b", b)
    if rate <= 0:
        raise ValueError(f"eta must be greater than 0; found {eta!r}")
    margin = sign * (float(old @ example) + bias)
    mistake = margin <= 0
    step = rate * sign * example if mistake else np.zeros(2)
    new = old + step
    after = bias + (rate * sign if mistake and b is not None else 0.0)
    ax = new_axes(ax)
    origin = np.zeros(2)
    box = _frame(ax, np.stack([origin, old, example, new, -0.35 * new, -0.35 * old]))
    if mistake:
        _line(ax, box, old, bias, color=_OLD, linestyle="dashed", linewidth=1.3, label="boundary before")
    _line(ax, box, new, after, color=_NEW, linewidth=1.6, label="boundary after" if mistake else "boundary")
    sum_text = f"{'+' if sign > 0 else '-'} {'' if rate == 1 else f'{rate:g} '}x"
    if mistake and np.any(old):
        _arrow(ax, old, new, _X, linestyle="dashed")
        middle = (old + new) / 2
        across = middle - step * float(middle @ step) / (float(step @ step) or 1.0)
        _label(ax, middle, across if np.linalg.norm(across) > 1e-9 else step[::-1] * [1, -1], sum_text, _X)
    _arrow(ax, origin, example, _X)
    _label(ax, example, example if np.any(old) else example[::-1] * [1, -1], "x", _X)
    if np.any(old):
        _arrow(ax, origin, old, _W)
        _label(ax, old, _unit(old) + _unit(old - new), "w", _W)
    if mistake and np.any(new):
        _arrow(ax, origin, new, _NEW)
        _label(ax, new, _unit(new) + _unit(new - old), f"w {sum_text}", _NEW)
    ax.plot(0, 0, "o", color=_NEW, markersize=4, zorder=5)
    score = "y (w . x)" if b is None else "y (w . x + b)"
    grown = sign * (float(new @ example) + after)
    title = f"{score} = {margin + 0.0:.4g} before the update, {grown + 0.0:.4g} after it"
    ax.set_title(title if mistake else f"{score} = {margin:.4g} > 0: no update", fontsize="medium")
    if ax.get_legend_handles_labels()[0]:
        _legend(ax)
    return ax


def projection(w: Any, x: Any, ax: Axes | None = None, *, theta: float = 0.0) -> Axes:
    """Draw the projection of an example on the weights, and its signed distance from the boundary ``w . x = theta``.

    Along w, the example reaches to ``w . x / |w|`` and the boundary crosses at ``theta / |w|``; the neuron fires if the
    first is larger. The difference is the signed distance of the example from the boundary (Lectures 003 and 004).

    Parameters
    ----------
    w, x : two numbers each
        The weights, not both 0, and the example.
    ax : Axes, optional
        Where.
    theta : float, default=0.0
        The threshold; minus the bias.

    Returns
    -------
    Axes
        Drawn to one scale.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> print(projection([3, 4], [3, 1], theta=5).get_title())
    w . x / |w| = 2.6, theta / |w| = 1
    signed distance 1.6: fires
    """
    weights, example = _pair("w", w), _pair("x", x)
    limit = _finite("theta", theta)
    length = float(np.linalg.norm(weights))
    if length == 0:
        raise ValueError("w must not be (0, 0): there is no direction to project on")
    unit = weights / length
    reach, crosses = float(example @ unit), limit / length
    distance = reach - crosses
    along, at, foot = reach * unit, crosses * unit, example - distance * unit
    ax = new_axes(ax)
    box = _frame(ax, np.stack([np.zeros(2), weights, example, along, at, foot]))
    _line(ax, box, unit[::-1] * [1, -1], 0.0, color="#aaaaaa", linewidth=0.9)
    _line(ax, box, weights, -limit, color=_NEW, linewidth=1.6, label="w . x = theta")
    ax.plot(*np.stack([example, along]).T, color=_X, linestyle="dotted", linewidth=1.5, zorder=2)
    ax.plot(*np.stack([foot, example]).T, color=COLOURS[3], linewidth=2.4, zorder=3, label="signed distance")
    _arrow(ax, np.zeros(2), weights, _W)
    _arrow(ax, np.zeros(2), example, _X)
    _label(ax, example, example - along if np.any(example - along) else example, "x", _X)
    side = unit[::-1] * [1, -1] * (-1.0 if (example - along) @ (unit[::-1] * [1, -1]) > 0 else 1.0)
    _label(ax, weights, side + 0.6 * unit, "w", _W)
    ax.plot(*along, "s", color=_X, markersize=6, zorder=5, label="projection of x on w")
    ax.plot(*at, "D", color=_NEW, markersize=6, zorder=5, label="theta / |w| along w")
    ax.plot(*foot, "o", markerfacecolor="white", markeredgecolor=COLOURS[3], markersize=6, zorder=5)
    ax.plot(0, 0, "o", color=_NEW, markersize=4, zorder=5)
    fires = "fires" if distance > 0 else "does not fire"
    ax.set_title(
        f"w . x / |w| = {reach:.4g}, theta / |w| = {crosses:.4g}\nsigned distance {distance:.4g}: {fires}",
        fontsize="medium",
    )
    _legend(ax)
    return ax


def _pair(name: str, values: Any) -> Floats:
    try:
        pair = np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        pair = np.empty(0)
    if pair.shape != (2,) or not np.isfinite(pair).all():
        raise ValueError(f"{name} must be two finite numbers; found {values!r:.60}")
    return pair


def _finite(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = np.nan
    if not np.isfinite(number):
        raise ValueError(f"{name} must be a finite number; found {value!r:.60}")
    return number


def _sign(y: Any) -> float:
    known = {1: 1.0, -1: -1.0, 0: -1.0}
    try:
        return known[y]
    except (KeyError, TypeError):
        raise ValueError(f"y must be 1 or -1 (or 0, which is taken for -1); found {y!r:.60}") from None


def _legend(ax: Axes) -> None:
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=2, frameon=False, fontsize="small")


def _unit(vector: Floats) -> Floats:
    return np.asarray(vector / (float(np.linalg.norm(vector)) or 1.0))


def _frame(ax: Axes, points: Floats) -> Floats:
    """Show a square around the points, to one scale, and return its corners."""
    low, high = points.min(axis=0), points.max(axis=0)
    centre, room = (low + high) / 2, 0.72 * (float(max(high - low)) or 1.0)
    ax.set(xlim=(centre[0] - room, centre[0] + room), ylim=(centre[1] - room, centre[1] + room))
    ax.set_box_aspect(1)
    ax.set(xlabel="x1", ylabel="x2")
    ax.grid(visible=True, alpha=0.2)
    return np.asarray(centre + room * np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]), dtype=np.float64)


def _line(ax: Axes, box: Floats, w: Floats, b: float, **style: Any) -> None:
    ends = crossing(box, np.array([*w, b])) if np.any(w) else None
    if ends is not None:
        ax.plot(ends[:, 0], ends[:, 1], zorder=2, **style)


def _arrow(ax: Axes, start: Floats, end: Floats, colour: str, **style: Any) -> None:
    look = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.9, "shrinkA": 0, "shrinkB": 0, "mutation_scale": 15}
    ax.annotate("", xy=(end[0], end[1]), xytext=(start[0], start[1]), arrowprops={**look, **style}, zorder=4)


def _label(ax: Axes, at: Floats, away: Any, text: str, colour: str) -> None:
    """Write a name beside a point, on the side that it is to be on."""
    away = np.asarray(away, dtype=np.float64)
    shift = 9.0 * away / (float(np.linalg.norm(away)) or 1.0)
    beside = "center" if abs(shift[0]) < 3 else "left" if shift[0] > 0 else "right"
    above = "center" if abs(shift[1]) < 3 else "bottom" if shift[1] > 0 else "top"
    ax.annotate(
        text, xy=(at[0], at[1]), xytext=(shift[0], shift[1]), textcoords="offset points", color=colour, ha=beside,
        va=above, fontsize="large", fontweight="bold", zorder=6,
    )  # fmt: skip
