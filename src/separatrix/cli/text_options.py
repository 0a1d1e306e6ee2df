"""How text files are written: options of every command that reads a source, which `open_named` uses.

A command that takes ``--delimiter`` takes these too; it need not pass them on.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from contextvars import ContextVar
from typing import Annotated, Any

import typer

from separatrix.cli.options import DATA
from separatrix.cli.writing import pasted

NoHeader = Annotated[
    bool,
    typer.Option(
        "--no-header", help="The CSV file has no header line; its columns are c1, c2, ...", rich_help_panel=DATA
    ),
]
NoQuotes = Annotated[
    bool, typer.Option("--no-quotes", help="Double quotes in the CSV file are plain text.", rich_help_panel=DATA)
]
Encoding = Annotated[
    str | None,
    typer.Option(
        help="Encoding of a text file, such as latin-1. [default: UTF-8 and UTF-16 are detected, else windows-1252]",
        rich_help_panel=DATA,
    ),
]

_given: ContextVar[dict[str, Any] | None] = ContextVar("text_options", default=None)


def text_options() -> dict[str, Any]:
    """Return the options of the command that runs, as `open_source` takes them; only those that are given."""
    return _given.get() or {}


def words_for(source: str | None, sql: str | None, db: str | None, delimiter: str | None) -> list[str]:
    """Return a source and how it is read, as the command that runs was told, for another command on it."""
    given = text_options()
    words = [] if source is None else [source if source == "-" else pasted(source)]
    for option, value in (
        ("--sql", sql),
        ("--db", db),
        ("--delimiter", delimiter),
        ("--encoding", given.get("encoding")),
    ):
        words += [] if value is None else [option, value]
    return words + [f"--no-{name}" for name in ("header", "quotes") if name in given]


def reads_text(command: Callable[..., None]) -> Callable[..., None]:
    """Return a command with these options, if it has one for the delimiter of a CSV file."""
    signature = inspect.signature(command, eval_str=True)
    if "delimiter" not in signature.parameters:
        return command

    @functools.wraps(command)
    def run(*, no_header: bool = False, no_quotes: bool = False, encoding: str | None = None, **others: Any) -> None:
        chosen = {"header": not no_header, "quotes": not no_quotes, "encoding": encoding}
        usual = {"header": True, "quotes": True, "encoding": None}
        before = _given.set({name: value for name, value in chosen.items() if value != usual[name]})
        try:
            command(**others)
        finally:
            _given.reset(before)

    new = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
        for name, default, kind in (
            ("no_header", False, NoHeader), ("no_quotes", False, NoQuotes), ("encoding", None, Encoding),
        )
    ]  # fmt: skip
    own = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in signature.parameters.values()]
    place = list(signature.parameters).index("delimiter") + 1
    parameters = [*own[:place], *new, *own[place:]]
    run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {each.name: each.annotation for each in parameters}
    return run
