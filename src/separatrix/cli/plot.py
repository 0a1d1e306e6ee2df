"""``separatrix plot``: a picture of a model."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import Db, Delimiter, Sql, open_named
from separatrix.cli.pictures import check_picture, new_figure, write_picture


class Kind(str, enum.Enum):
    """What is drawn."""

    boundary = "boundary"
    loss = "loss"
    margins = "margins"
    weights = "weights"


_MOST_NUMBERS = 30_000_000  # that a boundary is drawn from


def plot(
    model: Annotated[Path, typer.Argument(help="A model file, as fit writes it.")],
    source: Annotated[
        str | None, typer.Argument(help="The rows to draw, for boundary and margins; a source as for fit.")
    ] = None,
    kind: Annotated[
        Kind,
        typer.Option(
            help="boundary: rows and what the model says around them; margins: how far rows are from the boundary; "
            "weights: the strongest; loss: how learning went."
        ),
    ] = Kind.boundary,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The picture, .png, .svg or .pdf; by default MODEL-KIND.png.")
    ] = None,
    top: Annotated[int, typer.Option(help="How many weights to draw.")] = 15,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print where the picture is as JSON, for machines.")] = False,
) -> None:
    """Draw a model: its boundary, the margins of rows, its weights, or how its loss or mistakes fell.

      separatrix plot penguins.sx penguins

      separatrix plot penguins.sx --kind weights -o weights.svg

    It needs matplotlib, which the plot extra installs.
    """
    from separatrix.cli.models import load_table_model

    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    loaded = load_table_model(model)
    path = output or Path(f"{model.stem}-{kind.value}.png")
    check_picture(path, "-o")
    rows: Any = None
    if kind in (Kind.boundary, Kind.margins):
        if source is None and sql is None:
            raise ValueError(f"--kind {kind.value} draws rows: name their source after the model")
        from separatrix.tables.whole import read_prepared

        with open_named(source, sql, db, delimiter) as opened:
            rows = read_prepared(loaded, opened)
    figure = _draw(loaded, kind, rows, top)
    write_picture(figure, path)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"kind": kind.value, "picture": str(path)}))
    else:
        typer.echo(f"Picture written to {path}.")


def _draw(model: Any, kind: Kind, rows: Any, top: int) -> Any:
    figure = new_figure()
    from separatrix import plots

    ax = figure.subplots()
    names = model.preparation.names
    if kind is Kind.loss:
        _draw_loss(model, ax)
    elif kind is Kind.weights:
        from separatrix.tables.weights import weights_of

        found = weights_of(model)
        if found is None:
            raise ValueError(f"a {type(model.estimator).__name__} of this kind has no weights to draw")
        plots.weights(found.names, found.scaled, found.titles, ax, most=top)
    elif kind is Kind.margins:
        plots.margin_histogram(model.estimator, rows[0], rows[1], ax)
    else:
        X, y = rows
        if X.shape[0] * X.shape[1] > _MOST_NUMBERS:
            raise ValueError(f"a boundary among {X.shape[1]:,} numbers a row cannot be drawn; try --kind margins")
        X = X.toarray() if hasattr(X, "toarray") else X
        scaled = "" if model.preparation.scale == "none" else " (scaled)"
        plots.decision_boundary(model.estimator, X, y, ax, names=[name + scaled for name in names])
        if X.shape[1] > 2 and not (len(model.classes_) == 2 and hasattr(model.estimator, "coef_")):
            ax.set_title(
                "rows seen from the side; colours: the answers on the plane through their mean", fontsize="small"
            )
    return figure


def _draw_loss(model: Any, ax: Any) -> None:
    from separatrix import plots

    if model.facts.get("on_disk"):
        made = model.facts.get("mistakes", [])
        if not made:
            raise ValueError("the run was cut short within its first epoch: there is no curve to draw")
        ax.plot(range(1, len(made) + 1), made, marker="o" if len(made) < 3 else None)
        ax.set_xlabel("epoch")
        ax.set_ylabel("mistakes")
        ax.grid(alpha=0.25)
        return
    if (
        type(model.estimator).__name__ in ("LinearSVM", "KernelSVM")
        and getattr(model.estimator, "solver", "") != "online"
    ):
        raise ValueError("a support vector machine is solved to a gap and has no loss per epoch; try another --kind")
    plots.loss_curve(model.estimator, ax)
