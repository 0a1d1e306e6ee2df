"""The commands, one file each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import typer

from separatrix import __version__
from separatrix.cli.certify import certify, verify
from separatrix.cli.compare import compare
from separatrix.cli.datasets import datasets
from separatrix.cli.descend import descend
from separatrix.cli.evaluate import evaluate
from separatrix.cli.exercise import exercise
from separatrix.cli.export import export
from separatrix.cli.fit import fit
from separatrix.cli.grouped_help import GroupedCommand, GroupedCommands
from separatrix.cli.inspect import inspect
from separatrix.cli.labellings import labellings
from separatrix.cli.plane import plane
from separatrix.cli.plot import plot
from separatrix.cli.predict import predict
from separatrix.cli.report import report
from separatrix.cli.text_options import reads_text
from separatrix.cli.trace import trace
from separatrix.cli.update import update
from separatrix.cli.writing import show_demo

app = typer.Typer(
    cls=GroupedCommands,
    name="separatrix",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check.

    Start with: separatrix fit penguins --target species

    Exit status: 0 success; 1 a certificate does not hold, or the output cannot be written; 2 invalid input (one
    sentence says what); 130 interrupted.
    """


def demo() -> None:
    """Show a perceptron's steps on separable data, and its mistake bound."""
    show_demo()


COMMANDS: dict[str, tuple[Callable[..., None], ...]] = {
    "Train and predict": (fit, predict, evaluate, update),
    "Look into a model": (inspect, report, plot, export),
    "Choose a model": (compare,),
    "Prove and teach": (certify, verify, trace, plane, labellings, descend, exercise, demo, datasets),
}
for _group, _commands in COMMANDS.items():
    for _command in _commands:
        app.command(cls=GroupedCommand, rich_help_panel=_group)(reads_text(_command))
