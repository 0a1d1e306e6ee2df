"""Weights against epochs: the path that training took."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from separatrix.geometry.rows import Floats
from separatrix.plots.canvas import colours_of, new_axes, plain_text


def weight_path(path: Floats, names: Sequence[str], ax: Axes | None = None, *, most: int = 8) -> Axes:
    """Draw how each weight and the bias changed from epoch to epoch.

    Parameters
    ----------
    path : array of shape (n_epochs + 1, n_features + 1)
        The weights and then the bias: at the start, and after each epoch.
    names : sequence of str
        The features.
    ax : Axes, optional
        Where.
    most : int, default=8
        How many weights to draw, those that are largest at the end; the bias is drawn too.

    Returns
    -------
    Axes
        One line for each weight; the bias is dashed.

    Examples
    --------
    >>> import numpy as np
    >>> ax = weight_path(np.array([[0.0, 0.0], [1.0, -1.0]]), ["size"])
    >>> [line.get_label() for line in ax.get_lines()]
    ['size', 'bias']
    """
    path = np.asarray(path, dtype=np.float64)
    if path.ndim != 2 or path.shape[1] != len(names) + 1:
        raise ValueError(f"path must have {len(names) + 1} columns, one for each name and the bias; found {path.shape}")
    ax = new_axes(ax)
    chosen = np.sort(np.argsort(-np.abs(path[-1, :-1]), kind="stable")[:most]).tolist()
    epochs = np.arange(len(path))
    marker = "." if len(path) <= 40 else None
    for colour, place in zip(colours_of(len(chosen)), chosen, strict=True):
        ax.plot(epochs, path[:, place], color=colour, linewidth=1.6, marker=marker, label=str(names[place]))
    ax.plot(epochs, path[:, -1], color="#555555", linewidth=1.4, linestyle="dashed", marker=marker, label="bias")
    left = len(names) - len(chosen)
    ax.set(xlabel="epoch", ylabel="weight")
    ax.set_title(f"the {len(chosen)} largest of {len(names):,} weights" if left else "weights", fontsize="medium")
    ax.xaxis.set_major_locator(MaxNLocator(integer=True))
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return plain_text(ax)
