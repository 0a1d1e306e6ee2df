"""``separatrix exercise``: sheets of exercises with checked solutions."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import DATA, OUTPUT
from separatrix.cli.table_formats import ENDINGS, format_of
from separatrix.cli.writing import console, plain_table, print_content, say
from separatrix.files import write_text
from separatrix.text import times


class Format(str, enum.Enum):
    """The format of a sheet."""

    markdown = "markdown"
    latex = "latex"
    html = "html"


_ENDINGS = {**{ending: name for ending, name in ENDINGS.items() if name != "csv"}, ".txt": "markdown"}


def exercise(
    topic: Annotated[
        str | None, typer.Argument(help="The topic; without one, the topics are listed. 'mixed' takes them in turn.")
    ] = None,
    seed: Annotated[
        int, typer.Option(help="Which sheet: the same seed makes the same sheet.", rich_help_panel=DATA)
    ] = 7,
    count: Annotated[int, typer.Option(help="Number of exercises, at most 100.", rich_help_panel=DATA)] = 10,
    solution: Annotated[
        bool, typer.Option("--solution", help="Add the solution to each exercise.", rich_help_panel=OUTPUT)
    ] = False,
    tie: Annotated[
        bool,
        typer.Option(
            "--tie", help="Topic trace: at least one product is exactly 0 (otherwise none is).", rich_help_panel=DATA
        ),
    ] = False,
    list_topics: Annotated[
        bool, typer.Option("--list", help="List the topics and exit.", rich_help_panel=OUTPUT)
    ] = False,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format",
            help="Output format. [default: from the ending of --output, else markdown]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of standard output.", rich_help_panel=OUTPUT),
    ] = None,
) -> None:
    """Make a sheet of exercises with checked solutions.

    Each solution is computed exactly and checked before it is shown. The same seed always makes the same exercises, all
    different; a larger count adds more.

    For example:

      separatrix exercise trace --seed 7 --solution

      separatrix exercise mixed --seed 1 --count 6 -o sheet.html

      for seed in 1 2 3; do separatrix exercise kkt --seed $seed -o sheet-$seed.tex; done
    """
    from separatrix.exercises.sheet import exercise as make_sheet
    from separatrix.exercises.sheet import listing

    if list_topics or topic is None:
        console().print(plain_table(["topic", "exercises"], [[name, sentence] for name, sentence in listing().items()]))
        return
    if output is not None:
        guard().writes(output)
    chosen = format_of(format, output, _ENDINGS) or "markdown"
    sheet = make_sheet(topic, seed=seed, count=count, tie=tie)
    text = getattr(sheet, f"to_{chosen}")(solution=solution)
    if output is None:
        print_content(text.rstrip("\n"))
    else:
        write_text(output, text)
        say(f"{times(len(sheet), 'exercise')} written to {output}", err=True)
