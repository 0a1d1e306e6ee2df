"""The program: its commands by group, of which only the one that is asked for is imported. One file each."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import Annotated

import typer

from separatrix import __version__
from separatrix.cli.grouped_help import GroupedCommand, GroupedCommands
from separatrix.cli.text_options import reads_text

COMMANDS = {
    "Train and predict": ("fit", "predict", "evaluate", "update"),
    "Look into a model": ("inspect", "report", "plot", "export"),
    "Choose a model": ("compare",),
    "Prove and teach": (
        "certify", "verify", "trace", "studio", "plane", "labellings", "descend", "exercise", "demo", "datasets",
    ),
}  # fmt: skip
_FILES = {"verify": "certify"}  # of commands whose file has another name


def program(arguments: Sequence[str] = ()) -> typer.Typer:
    """Return the program, with all commands or only the one with which the arguments begin."""
    app = typer.Typer(
        cls=GroupedCommands,
        name="separatrix",
        no_args_is_help=True,
        pretty_exceptions_enable=False,
        add_completion=False,
        rich_markup_mode=None,
    )
    app.callback()(options)
    named = [(group, name) for group, names in COMMANDS.items() for name in names]
    asked = [each for each in named if each[1] in arguments[:1]]
    for group, name in asked or named:
        app.command(cls=GroupedCommand, rich_help_panel=group)(reads_text(_command(name)))
    return app


def _command(name: str) -> Callable[..., None]:
    if name == "demo":
        return demo
    function: Callable[..., None] = getattr(importlib.import_module(f"separatrix.cli.{_FILES.get(name, name)}"), name)
    return function


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


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
    from separatrix.cli.writing import show_demo

    show_demo()
