"""``separatrix export``: a model that runs without Python."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.guard import guard
from separatrix.cli.models import load_model
from separatrix.cli.options import DATA, OUTPUT
from separatrix.cli.writing import print_content, say
from separatrix.tables.export.targets import TARGETS


class UnknownCategory(str, enum.Enum):
    """What happens to a row with an unknown category."""

    zero = "zero"
    null = "null"


def export(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    to: Annotated[
        str | None,
        typer.Option(
            metavar=f"<{'|'.join(TARGETS)}>",
            help=f"Target: {'; '.join(f'{each.name}, {each.about}' for each in TARGETS.values())}. "
            "[default: by the ending of -o]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output file. [default: standard output; MODEL.onnx for onnx]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    unknown: Annotated[
        UnknownCategory,
        typer.Option(
            help="Categories that the model was not trained on: zero (encoded as none of the known ones), or null (no "
            "prediction for the row).",
            rich_help_panel=DATA,
        ),
    ] = UnknownCategory.zero,
    table: Annotated[
        str | None,
        typer.Option(help="sql: name of the table, such as sales.customers. [default: data]", rich_help_panel=OUTPUT),
    ] = None,
    name: Annotated[
        str | None,
        typer.Option(help="c: prefix of all names. [default: the name of the model file]", rich_help_panel=OUTPUT),
    ] = None,
) -> None:
    """Export a model to ONNX, SQL, C or JSON.

    Preprocessing is included. Rows with missing values have no prediction, unless the model imputes them: NULL in SQL,
    -1 in C, null in JavaScript, NaN scores in ONNX.

    For example:

      separatrix export penguins.sx --to sql --table penguins

    Exit status: 0 success; 2 bad input, or a model that the target cannot express; nothing is written.
    """
    from separatrix.tables.export.exporting import export as run_export
    from separatrix.tables.export.exporting import script_beside, target_of

    if to is None and output is None:
        raise ValueError(f"no export target given; use --to with one of {', '.join(TARGETS)}")
    if to is not None and to not in TARGETS:
        raise ValueError(f"--to must be one of {', '.join(TARGETS)}; found {to!r}")
    target = target_of(output, to)
    if target.binary and output is None:
        output = Path(model.with_suffix(target.endings[0]).name)
    for option, value in (("table", table), ("name", name)):
        if value is not None and target.option != option:
            only = next(each.name for each in TARGETS.values() if each.option == option)
            raise ValueError(f"--{option} is only for --to {only}, not for {target.name}")
    guard().reads(model)
    beside = None
    if output is not None:
        guard().writes(output)
        beside = script_beside(output, target)
        if beside is not None:
            guard().writes(beside)
    content = run_export(
        load_model(model),
        output,
        to=target.name,
        unknown=unknown.value,
        table="data" if table is None else table,
        name=_prefix(model.stem) if name is None else name,
    )
    if output is None:
        print_content(str(content), nl=False)
        return
    say(f"{output} written{f', and {beside.name} beside it' if beside else ''}", err=True)


def _prefix(stem: str) -> str:
    """Return the prefix of names in C for a file of this name.

    Examples
    --------
    >>> _prefix("my-model 2"), _prefix("2nd"), _prefix("int")
    ('my_model_2', 'model', 'model')
    """
    from separatrix.tables.export.c_words import check_name

    text = "".join(each if each.isascii() and each.isalnum() else "_" for each in stem)
    try:
        return check_name(text)
    except ValueError:
        return "model"
