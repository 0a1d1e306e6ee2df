"""The pictures of ``separatrix trace``: the boundary after each update, side by side or as an animation."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.writing import say

Animate = Annotated[
    Path | None,
    typer.Option(
        help="Write an animation of the boundary, step by step (two features): .gif, or .html for a page with buttons.",
        rich_help_panel=OUTPUT,
    ),
]
StepsPlot = Annotated[
    Path | None,
    typer.Option(
        help="Image file (.png, .svg or .pdf): the boundary after each update, side by side (two features).",
        rich_help_panel=OUTPUT,
    ),
]


def check_pictures(animate: Path | None, plot: Path | None) -> None:
    """Refuse names of unknown kinds, and files that must not be written, before anything runs."""
    if animate is not None:
        if animate.suffix.lower() not in (".gif", ".html"):
            raise ValueError(f"--animate {animate}: the ending must be .gif or .html")
        guard().writes(animate, "--animate")
    if plot is not None:
        check_picture(plot, "--plot")
        guard().writes(plot, "--plot")


def draw_pictures(run: Any, animate: Path | None, plot: Path | None) -> None:
    """Draw what was asked for."""
    if animate is None and plot is None:
        return
    figure = new_figure()  # says what is missing
    from separatrix import plots

    if plot is not None:
        plots.updates(run, figure=figure)
        write_picture(figure, plot)
        say(f"Plot written to {plot}.", err=True)
    if animate is not None:
        count = plots.animation(run, animate)
        say(f"Animation of {count} pictures written to {animate}.", err=True)
