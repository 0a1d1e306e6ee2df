"""Loss against epochs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.insight.descent import Descent
from separatrix.insight.trace import Trace
from separatrix.observers import History
from separatrix.plots.canvas import last, new_axes

_FEW = 40  # values that are marked where epochs lie between them
_NAMES = {
    "zero_one": "L: training rows predicted wrong",
    "perceptron": "perceptron criterion, sum over the rows",
    "squared": "squared loss, sum over the rows",
    "log": "log loss, sum over the rows",
    "hinge": "hinge loss, sum over the rows",
    "squared_hinge": "squared hinge loss, sum over the rows",
}


def loss_curve(run: Any, ax: Axes | None = None, **line: Any) -> Axes:
    """Draw the loss against epochs: the one recorded, the mean loss of gradient descent, or a perceptron's mistakes.

    A loss that was recorded (``record="zero_one", every=2``) is drawn at the epochs after which it was; else, the mean
    loss of gradient descent, the loss that a stop rule needed, or the mistakes made while learning.

    Parameters
    ----------
    run : fitted estimator, pipeline that ends in one, History, Trace, Descent or sequence of float
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
    epochs, values, name, unit = _losses(run)
    apart = len(values) == 1 or (len(values) <= _FEW and bool(np.any(np.diff(epochs) > 1)))
    line = {"linewidth": 1.8, "marker": "o" if apart else None, **line}
    ax.plot(epochs, values, **line)
    before = ax.get_ylabel()
    ax.set(xlabel=unit, ylabel=name if before in ("", name) else f"{before} / {name}")
    if ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    if ax.get_yscale() == "linear" and name in ("mistakes", _NAMES["zero_one"]) and np.all(np.mod(values, 1) == 0):
        ax.yaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
    ax.grid(visible=True, alpha=0.25)
    if line.get("label") is not None:
        ax.legend(frameon=False)
    return ax


def _losses(run: Any) -> tuple[Sequence[int], Sequence[float], str, str]:
    """Return where to draw what, its name, and what is counted along it."""
    if isinstance(run, Descent):
        return range(len(run.values)), list(run.values), "f", "step"
    if isinstance(run, Trace):
        counts = np.bincount([step.epoch for step in run], weights=[step.mistake for step in run])
        return range(1, len(counts)), counts[1:].tolist(), "mistakes", "epoch"
    history = getattr(last(run), "history_", run)
    if isinstance(history, History):
        epochs, values, name = _of_history(history)
    else:
        try:
            values, name = [float(value) for value in history], "loss"
            epochs = range(1, 1 + len(values))
        except (TypeError, ValueError):
            raise TypeError(
                "loss_curve draws a fitted estimator of this package, a History, a Trace, a Descent or a sequence of "
                "numbers; "
                f"found {run!r}"
            ) from None
    if not len(values):
        raise ValueError("there is no finished epoch to draw")
    return epochs, values, name, "epoch"


def _of_history(history: History) -> tuple[Sequence[int], Sequence[float], str]:
    """Return the epochs of the curve, its values and its name."""
    known = [loss for loss in history.loss if loss is not None]
    if known and (history.record is not None or not history.mean_loss):
        return history.loss_epochs, known, _NAMES[str(history.loss_name)]
    values: Sequence[float] = history.mean_loss or history.mistakes
    return range(1, 1 + len(values)), values, "mean loss" if history.mean_loss else "mistakes"
