"""The losses as functions of the margin, in one picture."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.transforms import ScaledTranslation

from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import new_axes
from separatrix.rules.losses import Hinge, Log, Squared, SquaredHinge

_REACH, _TOP = 3.0, 3.6  # margins from -3 to 3, losses from 0


class _Shape(NamedTuple):
    """A loss: its name, its value, and where along its curve the name is written, above or below."""

    name: str
    value: Callable[[Floats], Any]
    colour: str
    at: float
    above: bool


_SHAPES = (
    _Shape("zero-one", lambda m: np.where(m <= 0.0, 1.0, 0.0), "#222222", -2.5, True),
    _Shape("squared loss of a sigmoid", Squared.value, "#7a6a58", -2.05, True),
    _Shape("perceptron criterion", lambda m: np.maximum(0.0, -m), "#3b6fb6", -2.05, False),
    _Shape("log loss", Log.value, "#3f9c6d", -1.75, True),
    _Shape("squared hinge", SquaredHinge.value, "#b0508e", -0.58, True),
    _Shape("hinge", Hinge.value, "#d9822b", -1.75, True),
)


def losses(ax: Axes | None = None) -> Axes:
    """Draw the losses against the margin ``m = y (w . x + b)``; left of 0 are the mistakes (Lecture 003, figure 6).

    The zero-one loss counts mistakes and cannot be descended: where it has a slope, the slope is 0. The others stand in
    for it. The hinge and its square lie on or above it, as does the log loss divided by log 2, so that a small loss
    means few mistakes; all three are convex, so that descent finds their minimum. The perceptron criterion is content
    with any margin above 0, the hinge asks for 1. The squared loss of a sigmoid levels off on the left, where its slope
    vanishes and descent gets stuck.

    Parameters
    ----------
    ax : Axes, optional
        Where.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> sorted(text.get_text() for text in losses().texts)[:3]
    ['hinge', 'log loss', 'perceptron criterion']
    """
    ax = new_axes(ax)
    ax.set(xlim=(-_REACH, _REACH), ylim=(-0.05, _TOP), xlabel="margin m = y (w · x + b)", ylabel="loss")
    m = np.linspace(-_REACH, _REACH, 1201)
    for shape in _SHAPES:
        ax.plot(m, shape.value(m), color=shape.colour, linewidth=2.0, zorder=3)
        _write(ax, shape)
    ax.axvline(0.0, color="#999999", linewidth=0.9, zorder=1)
    ax.axvline(1.0, color="#999999", linewidth=0.9, linestyle="dotted", zorder=1)
    ax.grid(visible=True, alpha=0.2)
    return ax


def _write(ax: Axes, shape: _Shape) -> None:
    """Write the name along its curve, turned with the slope it has in the picture."""
    before, at, after = (float(shape.value(np.array(shape.at + step))) for step in (-0.01, 0.0, 0.01))
    turn = float(np.degrees(np.arctan2(after - before, 0.02)))
    off = ScaledTranslation(2 / 72, 2 / 72, ax.figure.dpi_scale_trans)
    ax.text(
        shape.at, at, shape.name, color=shape.colour, rotation=turn, rotation_mode="anchor",
        transform_rotates_text=True, transform=ax.transData + (off if shape.above else off.inverted()),
        ha="center", va="bottom" if shape.above else "top",
    )  # fmt: skip
