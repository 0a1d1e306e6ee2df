"""``separatrix datasets``: what is built in."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Json
from separatrix.cli.writing import console, plain_table, say
from separatrix.files import write_text


def datasets(
    name: Annotated[str | None, typer.Argument(help="Data set to print or write; without it all are listed.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="CSV file to write.", rich_help_panel=OUTPUT)
    ] = None,
    json: Json = False,
) -> None:
    """List the built-in data sets, or write one to a file.

    For example:

      separatrix datasets

      separatrix datasets penguins -o penguins.csv
    """
    import json as to_text

    from separatrix import datasets as known

    if name is None:
        every = known.about()
        if json:
            typer.echo(to_text.dumps(every))
        else:
            console().print(plain_table(["name", "description"], [[key, text] for key, text in every.items()]))
        return
    text = known.as_csv(name)
    if json:
        typer.echo(to_text.dumps({"name": name, "csv": text}))
    elif output is None:
        typer.echo(text, nl=False)
    else:
        guard().writes(output)
        write_text(output, text)
        say(f"{name} written to {output}", err=True)
