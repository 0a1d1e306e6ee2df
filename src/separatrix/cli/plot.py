"""``separatrix plot``: a picture of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Sql, open_named
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.plot_kinds import NEEDS, Kind, draw, read_rows
from separatrix.cli.writing import say


def plot(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Annotated[
        str | None,
        typer.Argument(
            help="Rows to draw, for the kinds that draw rows; a source as for fit. margin, support and "
            "path need the rows that the model was trained on."
        ),
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            help="Of rows: boundary (rows and decision regions), margins (histogram of distances to the boundary), "
            "hulls (convex hulls and the widest margin between them; two features), ball (smallest enclosing ball; two "
            "features). Of an SVM and its training rows: margin (support vectors and slack; two features), support "
            "(alpha and margin of each row). Of a model trained in epochs and its rows: path (weights after each). "
            "Of the model alone: weights (the largest), loss (training curve), "
            "mistakes (of a perceptron, with their bound).",
            rich_help_panel=OUTPUT,
        ),
    ] = Kind.boundary,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Image file: .png, .svg or .pdf. [default: MODEL-KIND.png]", rich_help_panel=OUTPUT
        ),
    ] = None,
    top: Annotated[int, typer.Option(help="Number of weights to draw.", rich_help_panel=OUTPUT)] = 15,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the path of the image as JSON.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Draw the boundary, margins, support vectors, weights or training curve of a model.

    For example:

      separatrix plot penguins.sx penguins

      separatrix plot penguins.sx --kind weights -o weights.svg

      separatrix plot svm.sx points.csv --kind margin

    Needs matplotlib: pip install 'separatrix[plot]'.
    """
    from separatrix.cli.models import load_table_model

    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    loaded = load_table_model(model)
    path = output or Path(f"{model.stem}-{kind.value}.png")
    check_picture(path, "-o")
    guard().writes(path)
    rows: Any = None
    if kind in NEEDS:
        if source is None and sql is None:
            raise ValueError(f"--kind {kind.value} draws rows: give their source after the model")
        NEEDS[kind](loaded)
        with open_named(source, sql, db, delimiter) as opened:
            rows = read_rows(loaded, opened, kind)
    figure = new_figure()
    draw(loaded, kind, rows, top, figure.subplots())
    write_picture(figure, path)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"kind": kind.value, "picture": str(path)}))
    else:
        say(f"Plot written to {path}.")
