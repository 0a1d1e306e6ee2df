"""``separatrix plot``: a picture of a model."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Sql, open_named
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.writing import say


class Kind(str, enum.Enum):
    """What is drawn."""

    boundary = "boundary"
    loss = "loss"
    margins = "margins"
    weights = "weights"


_MOST_NUMBERS = 30_000_000  # that a boundary is drawn from


def plot(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Annotated[
        str | None, typer.Argument(help="Rows to draw, for boundary and margins; a source as for fit.")
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            help="boundary: rows and decision regions; margins: histogram of distances to the boundary; weights: the "
            "largest; loss: training curve.",
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
    """Draw the boundary, margins, weights or training curve of a model.

    For example:

      separatrix plot penguins.sx penguins

      separatrix plot penguins.sx --kind weights -o weights.svg

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
    if kind in (Kind.boundary, Kind.margins):
        if source is None and sql is None:
            raise ValueError(f"--kind {kind.value} draws rows: give their source after the model")
        from separatrix.tables.whole import read_prepared

        with open_named(source, sql, db, delimiter) as opened:
            rows = read_prepared(loaded, opened)
    figure = _draw(loaded, kind, rows, top)
    write_picture(figure, path)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"kind": kind.value, "picture": str(path)}))
    else:
        say(f"Plot written to {path}.")


def _draw(model: Any, kind: Kind, rows: Any, top: int) -> Any:
    figure = new_figure()
    from separatrix import plots

    ax = figure.subplots()
    names = model.preparation.names
    if kind is Kind.loss:
        _draw_loss(model, ax)
    elif kind is Kind.weights:
        from separatrix.tables.weights import weights_of

        weights = weights_of(model)
        if weights is None:
            raise ValueError(f"this {type(model.estimator).__name__} has no weights to draw")
        plots.weights(weights.names, weights.per_deviation, weights.titles, ax, most=top)
    elif kind is Kind.margins:
        plots.margin_histogram(model.estimator, rows[0], rows[1], ax)
    else:
        X, y = rows
        if X.shape[0] * X.shape[1] > _MOST_NUMBERS:
            raise ValueError(f"a boundary in {X.shape[1]:,} dimensions cannot be drawn; try --kind margins")
        X = X.toarray() if hasattr(X, "toarray") else X
        scaled = "" if model.preparation.scale == "none" else " (scaled)"
        plots.decision_boundary(model.estimator, X, y, ax, names=[name + scaled for name in names])
        if X.shape[1] > 2 and not (len(model.classes_) == 2 and hasattr(model.estimator, "coef_")):
            ax.set_title(
                "projection of the rows; colours: predictions on the plane through their mean", fontsize="small"
            )
    return figure


def _draw_loss(model: Any, ax: Any) -> None:
    from separatrix import plots

    if model.facts.progress is not None:  # streamed from disk
        made = model.facts.mistakes
        if not made:
            raise ValueError("training was interrupted in the first epoch: there is no curve to draw")
        ax.plot(range(1, len(made) + 1), made, marker="o" if len(made) < 3 else None)
        ax.set_xlabel("epoch")
        ax.set_ylabel("mistakes")
        ax.grid(alpha=0.25)
        return
    if type(model.estimator).__name__ in ("LinearSVM", "KernelSVM"):
        raise ValueError(
            "a support vector machine is solved to a duality gap and has no loss per epoch; try another --kind"
        )
    plots.loss_curve(model.estimator, ax)
