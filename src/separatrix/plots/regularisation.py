"""Against C: the weights of a path, and the cross-validation error with what is proved about it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes

from separatrix.insight.certified_tuning import Tuning
from separatrix.insight.regularisation_path import RegularisationPath
from separatrix.plots.canvas import COLOURS, colours_of, new_axes, plain_text


def coefficient_path(
    path: RegularisationPath,
    ax: Axes | None = None,
    *,
    plane: int = 0,
    names: Sequence[str] | None = None,
    most: int = 8,
) -> Axes:
    """Draw the weights against C.

    Parameters
    ----------
    path : RegularisationPath
        What ``sx.path`` returned.
    ax : Axes, optional
        Where.
    plane : int, default=0
        Which plane of several.
    names : sequence of str, optional
        The features; those of the frame, or their numbers, by default.
    most : int, default=8
        How many weights to draw, those that are largest at the end.

    Returns
    -------
    Axes
        One line for each weight.

    Examples
    --------
    >>> import separatrix as sx
    >>> found = sx.path(sx.LinearSVM(), [[0.0], [1.0], [2.0], [4.0]], [0, 0, 1, 1], [0.1, 1.0])
    >>> coefficient_path(found, names=["size"]).get_lines()[0].get_label()
    'size'
    """
    if not isinstance(path, RegularisationPath):
        raise TypeError(f"coefficient_path draws what sx.path returns; found {type(path).__name__}")
    k, planes, d = path.coef_.shape
    if not 0 <= plane < planes:
        raise ValueError(f"plane must be a number from 0 to {planes - 1}; found {plane!r}")
    shown = list(names if names is not None else path.feature_names_ or [f"feature {j}" for j in range(d)])
    if len(shown) != d:
        raise ValueError(f"names must be one for each of the {d} features; found {len(shown)}")
    ax = new_axes(ax)
    weights = path.coef_[:, plane]
    chosen = np.sort(np.argsort(-np.abs(weights[-1]), kind="stable")[:most]).tolist()
    marker = "." if k <= 40 else None
    for colour, place in zip(colours_of(len(chosen)), chosen, strict=True):
        ax.plot(path.Cs_, weights[:, place], color=colour, linewidth=1.6, marker=marker, label=str(shown[place]))
    ax.axhline(0.0, color="#999999", linewidth=0.8, zorder=0)
    ax.set_xscale("log")
    of = f", class {path.classes_.tolist()[plane]!r} against the rest" if planes > 1 else ""
    some = f"the {len(chosen)} largest of {d:,} weights" if d > len(chosen) else "weights"
    ax.set(xlabel="C", ylabel="weight")
    ax.set_title(some + of, fontsize="medium")
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="center left", bbox_to_anchor=(1.0, 0.5))
    return plain_text(ax)


def tuning(result: Tuning, ax: Axes | None = None) -> Axes:
    """Draw the cross-validation error against C, and the lower bound that is proved.

    Parameters
    ----------
    result : Tuning
        What ``sx.tune`` returned.
    ax : Axes, optional
        Where.

    Returns
    -------
    Axes
        The errors of the fits, the lower bound in each range, the level that ``within`` allows, and the chosen C.

    Examples
    --------
    >>> import separatrix as sx
    >>> X, y = [[0.0], [1.0], [2.0], [4.0], [1.5], [1.2]], [0, 0, 1, 1, 0, 1]
    >>> result = sx.tune(sx.LinearSVM(), X, y, C=(0.1, 10.0), folds=2, within=0.5)
    >>> tuning(result).get_xlabel()
    'C'
    """
    if not isinstance(result, Tuning):
        raise TypeError(f"tuning draws what sx.tune returns; found {type(result).__name__}")
    ax = new_axes(ax)
    bounds = result.bounds_
    if len(bounds):
        edges, levels = np.append(bounds[:, 0], bounds[-1, 1]), bounds[:, 2]
        ax.stairs(levels, edges, fill=True, color=COLOURS[0], alpha=0.18, linewidth=0.0)
        ax.stairs(levels, edges, baseline=None, color=COLOURS[0], linewidth=1.2, label="lower bound (proved)")
        ax.axhline(
            max(result.error_ - result.within_, 0.0), color="#555555", linewidth=1.0, linestyle="dashed",
            label=f"least error minus {result.within_:g}",
        )  # fmt: skip
    ax.plot(
        result.Cs_, result.errors_, color=COLOURS[1], linewidth=1.0, marker=".", markersize=5, label="error of the fits"
    )
    ax.plot([result.C_], [result.error_], "o", color=COLOURS[5], markersize=8, label=f"C = {result.C_:.3g}")
    ax.set_xscale("log")
    ax.set_xlim(*result.range_)
    ax.set_ylim(bottom=0.0)
    ax.set(xlabel="C", ylabel=f"cross-validation error ({result.n_folds_} folds)")
    ax.grid(visible=True, alpha=0.25)
    ax.legend(frameon=False, fontsize="small", loc="best")
    return ax
