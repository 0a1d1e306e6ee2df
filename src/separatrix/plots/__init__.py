"""Plots, as pure functions: each takes what it shows and an Axes (a new one by default) and returns the Axes.

Needs matplotlib, which the ``plot`` extra installs. Nothing here trains or prints, and only ``animation`` writes a
file. One file for each thing that is drawn; canvas.py holds what they share.
"""

from __future__ import annotations

try:
    import matplotlib  # noqa: F401
except ImportError as problem:  # pragma: no cover
    raise ImportError("separatrix.plots needs matplotlib: install separatrix with its 'plot' extra") from problem

from separatrix.plots.animations import animation
from separatrix.plots.balls import ball
from separatrix.plots.boundaries import decision_boundary
from separatrix.plots.brackets import bracket
from separatrix.plots.comparisons import comparison, growth
from separatrix.plots.curves import loss_curve
from separatrix.plots.descents import compare_steps, descents, loss_surface, path
from separatrix.plots.duality import gap
from separatrix.plots.histograms import margin_histogram
from separatrix.plots.hulls import hulls
from separatrix.plots.labellings import labellings
from separatrix.plots.loss_shapes import losses
from separatrix.plots.margins import margin
from separatrix.plots.mistakes import mistakes
from separatrix.plots.planes import plane
from separatrix.plots.regularisation import coefficient_path, tuning
from separatrix.plots.supports import support
from separatrix.plots.updates import updates
from separatrix.plots.vectors import projection, update_vectors
from separatrix.plots.weight_paths import weight_path
from separatrix.plots.weights import weights

__all__ = [
    "animation",
    "ball",
    "bracket",
    "coefficient_path",
    "compare_steps",
    "comparison",
    "decision_boundary",
    "descents",
    "gap",
    "growth",
    "hulls",
    "labellings",
    "loss_curve",
    "loss_surface",
    "losses",
    "margin",
    "margin_histogram",
    "mistakes",
    "path",
    "plane",
    "projection",
    "support",
    "tuning",
    "update_vectors",
    "updates",
    "weight_path",
    "weights",
]
