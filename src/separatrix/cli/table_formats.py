"""Tables that a command prints or writes: the formats, and which one the ending of a file means."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any

import typer

from separatrix.cli.options import OUTPUT
from separatrix.cli.writing import print_content, say
from separatrix.files import write_text


class TableFormat(str, enum.Enum):
    """The format of a table."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    csv = "csv"


ENDINGS = {
    ".md": "markdown", ".markdown": "markdown", ".tex": "latex", ".html": "html", ".htm": "html", ".csv": "csv",
}  # fmt: skip

FormatOption = Annotated[
    TableFormat | None,
    typer.Option(
        "--format", help="Format of the table. [default: from the ending of --output, else table]",
        rich_help_panel=OUTPUT,
    ),
]  # fmt: skip
OutputOption = Annotated[
    Path | None,
    typer.Option(
        "--output", "-o", help="Write the whole table to this file (.md, .tex, .html or .csv).", rich_help_panel=OUTPUT
    ),
]


def format_of(
    chosen: enum.Enum | None, output: Path | None, endings: Mapping[str, str] = MappingProxyType(ENDINGS)
) -> str | None:
    """Return the name of the format, by the ending of the file if none is chosen; None for the screen."""
    if chosen is not None and chosen is not TableFormat.table:
        return str(chosen.value)
    if output is None:
        return None
    if output.suffix.lower() not in endings:
        accepted = ", ".join(ending for ending in endings if ending)
        raise ValueError(f"-o {output}: the ending must be one of {accepted}, or give --format")
    return endings[output.suffix.lower()]


def write_table(table: Any, name: str, output: Path | None, what: str) -> None:
    """Print or write a table that has ``to_markdown`` and the like; ``what`` says how much it holds."""
    text = getattr(table, f"to_{name}")().rstrip("\n")
    if output is None:
        print_content(text)
    else:
        write_text(output, text + "\n")
        say(f"{what} written to {output}", err=True)
