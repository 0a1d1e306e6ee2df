"""How a solver closes its duality gap."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import COLOURS, last

_PARTS = ("primal", "dual", "gap", "seconds")


def gap(runs: Any, axes: Any = None) -> list[Axes]:
    """Draw how a solver closes in on the optimum: primal and dual objective above, the gap between them below.

    The primal objective of any weights is at least the optimum, the dual objective of any multipliers at most
    (Lecture 003). The optimum therefore lies between the two curves, and their distance, the duality gap, says how far
    from it the model can be at most. It falls over many powers of ten, hence the logarithmic scale.

    Parameters
    ----------
    runs : fitted estimator, history, or mapping of str to either
        What to draw. A history has the sequences ``primal``, ``dual``, ``gap`` and ``seconds``, of one length; an
        estimator has one as ``history_``. Several, by name, are drawn in one picture.
    axes : two Axes, optional
        Where: the objectives, and the gap.

    Returns
    -------
    list of Axes
        The two.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("agg")
    >>> from types import SimpleNamespace
    >>> run = SimpleNamespace(primal=[2.0, 1.5], dual=[0.0, 1.0], gap=[2.0, 0.5], seconds=[0.1, 0.2])
    >>> above, below = gap(run)
    >>> below.get_yscale()
    'log'
    """
    named = runs if isinstance(runs, Mapping) else {"": runs}
    read = {str(name): _read(run) for name, run in named.items()}
    if not read:
        raise ValueError("there is no run to draw")
    if axes is None:
        import matplotlib.pyplot as plt

        axes = plt.subplots(2, 1, sharex=True, figsize=(6.4, 5.6), layout="constrained")[1]
    places: list[Axes] = list(np.ravel(np.array(axes, dtype=object)))
    if len(places) != 2:
        raise ValueError(f"axes must hold two Axes, for the objectives and for the gap; found {len(places)}")
    above, below = places
    for place, (name, parts) in enumerate(read.items()):
        colour = COLOURS[place % len(COLOURS)]
        seconds, primal, dual = parts["seconds"], parts["primal"], parts["dual"]
        marker = "." if len(seconds) <= 40 else None
        above.plot(seconds, primal, color=colour, linewidth=1.8, marker=marker)
        above.plot(seconds, dual, color=colour, linewidth=1.8, marker=marker, linestyle="dashed")
        above.fill_between(seconds, dual, primal, color=colour, alpha=0.10, linewidth=0)
        # A gap of 0 has no logarithm; it is the end of the curve.
        shown = np.where(parts["gap"] > 0.0, parts["gap"], np.nan)
        below.plot(seconds, shown, color=colour, linewidth=1.8, marker=marker, label=name or None)
    above.set(ylabel="objective", ylim=_window(list(read.values())))
    below.set(xlabel="seconds", ylabel="duality gap", yscale="log")
    for ax in places:
        ax.grid(visible=True, alpha=0.25)
    grey = COLOURS[0] if len(read) == 1 else "#666666"  # of several runs, the colours are explained below
    styles = {"primal": "solid", "dual": "dashed"}
    above.legend(
        handles=[Line2D([], [], color=grey, linewidth=1.8, linestyle=styles[part], label=part) for part in styles],
        frameon=False,
    )
    if any(read):
        below.legend(frameon=False)
    return places


def _read(run: Any) -> dict[str, Floats]:
    history = getattr(last(run), "history_", run)
    if not all(hasattr(history, part) for part in _PARTS):
        raise TypeError(
            "gap draws a run with the sequences primal, dual, gap and seconds, an estimator that has one as history_, "
            f"or a dict of them by name; found {run!r}"
        )
    parts = {part: np.asarray(getattr(history, part), dtype=np.float64).ravel() for part in _PARTS}
    lengths = [len(values) for values in parts.values()]
    if len(set(lengths)) > 1:
        raise ValueError(f"primal, dual, gap and seconds must be of one length; found {', '.join(map(str, lengths))}")
    if not lengths[0]:
        raise ValueError("there is no finished epoch to draw")
    return parts


def _window(runs: list[dict[str, Floats]]) -> tuple[float, float]:
    """Return the heights to show: all of the dual, and the primal from where it comes near."""
    dual = np.concatenate([run["dual"] for run in runs])
    primal = np.concatenate([run["primal"] for run in runs])
    low = float(np.nanmin(dual))
    end = max(float(np.nanmin(run["primal"])) for run in runs)
    high = min(float(np.nanmax(primal)), end + 1.5 * max(end - low, 1e-12 * abs(end)))
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room
