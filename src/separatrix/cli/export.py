"""``separatrix export``: a model for another place."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import check_writable, refuse_same


class Form(str, enum.Enum):
    """What a model can be written as."""

    onnx = "onnx"
    sql = "sql"
    c = "c"
    json = "json"


class Unseen(str, enum.Enum):
    """What becomes of a row with a category that the model was not trained on."""

    null = "null"
    zero = "zero"


def export(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    to: Annotated[
        Form | None,
        typer.Option(
            help="onnx: a graph for any ONNX runtime; sql: one SELECT for DuckDB, PostgreSQL and SQLite; c: a header "
            "without dependencies; json: for separatrix.js, which is written beside it. By default what the ending of "
            "-o says."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The file; by default text is printed, and ONNX goes to MODEL.onnx."),
    ] = None,
    unknown: Annotated[
        Unseen,
        typer.Option(help="A category that the model was not trained on: null (no answer), or zero (none of them)."),
    ] = Unseen.null,
    table: Annotated[
        str | None, typer.Option(help="For sql: the table's name, as sales.customers. [default: data]")
    ] = None,
    name: Annotated[str | None, typer.Option(help="For c: how names begin. [default: the model file's name]")] = None,
) -> None:
    """Write a model in a form that runs without Python, and gives the labels that predict gives.

    What is done to the columns is part of it. A row that lacks a value has no answer: NULL, -1 in C, null in
    JavaScript, NaN scores in ONNX. Kernels and votes fit into onnx, c and json; columns of words into json only.

      separatrix export penguins.sx --to sql --table penguins

      separatrix export penguins.sx -o penguins.onnx

    Exit status: 0 done; 2 bad input, or a model that this form cannot hold; nothing written.
    """
    from separatrix.models.model_file import load
    from separatrix.tables.export.exporting import TARGETS, form_of, script_beside
    from separatrix.tables.export.exporting import export as run_export

    if to is None and output is None:
        raise ValueError(f"say what to export to with --to, one of {', '.join(TARGETS)}")
    form = form_of(output, None if to is None else to.value)
    if form == "onnx" and output is None:
        output = Path(model.with_suffix(TARGETS["onnx"][0]).name)
    for option, value, its in (("--table", table, "sql"), ("--name", name, "c")):
        if value is not None and form != its:
            raise ValueError(f"{option} is for --to {its}; this is {form}")
    if output is not None:
        check_writable(output)
    refuse_same(output, model)
    beside = script_beside(output) if form == "json" and output is not None else None
    refuse_same(beside, model)
    found = run_export(
        load(model),
        output,
        to=form,
        unknown=unknown.value,
        table="data" if table is None else table,
        name=_beginning(model.stem) if name is None else name,
    )
    if output is None:
        typer.echo(found, nl=False)
        return
    typer.echo(f"{output} written{f', and {beside.name} beside it' if beside else ''}", err=True)


def _beginning(stem: str) -> str:
    """Return how names in C begin for a file of this name.

    Examples
    --------
    >>> _beginning("my-model 2"), _beginning("2nd"), _beginning("int")
    ('my_model_2', 'model', 'model')
    """
    from separatrix.tables.export.c_words import check_name

    text = "".join(each if each.isascii() and each.isalnum() else "_" for each in stem)
    try:
        return check_name(text)
    except ValueError:
        return "model"
