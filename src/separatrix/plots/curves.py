"""Loss against epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.insight.descent import Descent
from separatrix.observers import History
from separatrix.plots.canvas import last, new_axes


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
    ax = new_axes(ax)
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
    history = getattr(last(run), "history_", run)
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
