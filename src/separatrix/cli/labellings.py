"""``separatrix labellings``: which labellings of a few points planes realise (VC dimension)."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.labelled_rows import exact_numbers
from separatrix.cli.options import (
    DATA,
    MODEL,
    OUTPUT,
    Db,
    Delimiter,
    Exclude,
    Features,
    Json,
    Source,
    Sql,
    open_named,
    target_of,
)
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.table_formats import FormatOption, OutputOption, format_of, write_table
from separatrix.cli.writing import console, plain_table, say
from separatrix.loop.problem import as_exact


class Only(str, enum.Enum):
    """Which labellings are drawn."""

    all = "all"
    realised = "realised"
    impossible = "impossible"


def labellings(
    data: Source = None,
    target: Annotated[
        str | None, typer.Option(help="Column with labels, which is left out.", rich_help_panel=DATA)
    ] = None,
    point: Annotated[
        list[str] | None, typer.Option(help="A point, as in 1,0; may be repeated.", rich_help_panel=DATA)
    ] = None,
    intercept: Annotated[bool, typer.Option(help="Allow planes that miss the origin.", rich_help_panel=MODEL)] = True,
    plot: Annotated[
        Path | None,
        typer.Option(
            help="Draw the labellings (one or two features) into this file: .png, .svg or .pdf.", rich_help_panel=OUTPUT
        ),
    ] = None,
    only: Annotated[Only, typer.Option(help="Labellings to draw.", rich_help_panel=OUTPUT)] = Only.all,
    top: Annotated[int, typer.Option(help="Number of labellings to show.", rich_help_panel=OUTPUT)] = 32,
    format: FormatOption = None,
    output: OutputOption = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Count the labellings of a few points that planes realise, and find those that none does.

    Points are shattered if planes realise every labelling; d + 1 points are the most that can be, the VC dimension.
    There may be 12 points at most. Each labelling is decided exactly.

    For example:

      separatrix labellings xor --plot labellings.png

      separatrix labellings --point 0,0 --point 2,0 --point 0,2 --point 1/2,1/2
    """
    from separatrix.insight.labellings import labellings as decide

    name = format_of(format, output)
    if json and name is not None and output is None:
        raise ValueError("--json and --format both say what to print; choose one")
    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    for path, option in ((output, "-o"), (plot, "--plot")):
        if path is not None:
            guard().writes(path, option)
    if plot is not None:
        check_picture(plot, "--plot")
    points: list[Any] = [exact_numbers("--point", each) for each in point or ()]
    if (data is not None or sql is not None) and points:
        raise ValueError("give a source of points or --point, not both")
    if data is not None or sql is not None:
        points = _read(data, target, sql, db, delimiter, features, exclude)
    if not points:
        raise ValueError("there are no points: name a file, or give them with --point 0,0 --point 0,1")
    if len({len(each) for each in points}) > 1:
        raise ValueError("the points have different numbers of coordinates; give each the same number")
    found = decide(points, fit_intercept=intercept)
    if plot is not None:
        _draw(found, only.value, plot)
    if json:
        _print_json(found)
    elif name is not None and output is None:
        write_table(found, name, None, "")
    else:
        _show(found, top)
    if output is not None and name is not None:
        write_table(found, name, output, f"{found.total:,} labellings")
    if plot is not None:
        say(f"Plot written to {plot}.", err=True)


def _read(
    data: str | None, target: str | None, sql: str | None, db: str | None, delimiter: str | None,
    features: list[str] | None, exclude: list[str] | None,
) -> list[Any]:  # fmt: skip
    """Return the points of a source: its number columns without the target, as they are written."""
    from separatrix.insight.labellings import MOST_POINTS
    from separatrix.tables.columns import column_called, separated
    from separatrix.tables.sources.base import MatrixSource
    from separatrix.tables.sources.cells import exact_number
    from separatrix.text import listed

    target = target_of(data, target)
    with open_named(data, sql, db, delimiter) as source:
        if isinstance(source, MatrixSource):
            blocks = [X.toarray() if hasattr(X, "toarray") else X for X, _ in source.blocks(MOST_POINTS + 1)]
            return [row for block in blocks for row in block.tolist()]
        by_name = {column.name: column for column in source.columns}
        wanted, left = separated(features or (), by_name), separated(exclude or (), by_name)
        for option, names in (("--features", wanted), ("--exclude", left), ("--target", (target,) if target else ())):
            for each in names:
                column_called(source.name, by_name, each, option)
        used = [each for each in by_name if each in (wanted or by_name) and each not in left and each != target]
        if not used:
            raise ValueError(f"{source.name}: no feature column is left; its columns are {listed(by_name)}")
        source.read_as([], used)
        points: list[Any] = []
        for batch in source.batches(used, rows=4096):
            for cells in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                points.append([_number(cell, source.name, len(points) + 1, each, exact_number)
                               for each, cell in zip(used, cells, strict=True)])  # fmt: skip
            if len(points) > MOST_POINTS:
                raise ValueError(f"{source.name} has more than {MOST_POINTS} rows, the most points of labellings")
        return points


def _number(cell: Any, where: str, row: int, column: str, read: Any) -> Any:
    value = read(cell) if isinstance(cell, str) else None if cell is None else as_exact(cell)
    if value is None:
        found = "the value is missing" if cell is None else f"{cell!r} is not a number"
        raise ValueError(
            f"{where}, row {row}, column {column!r}: {found}; leave the column out with --exclude {column}"
        )
    return value


def _draw(found: Any, only: str, path: Path) -> None:
    figure = new_figure()
    from separatrix import plots
    from separatrix.plots.labellings import MOST_PANELS, panels_of

    count = {"all": found.total, "realised": found.count, "impossible": found.total - found.count}[only]
    axes = panels_of(figure, count, str(found).split(":")[0]) if 0 < count <= MOST_PANELS else None
    plots.labellings(found, axes, only=only)
    write_picture(figure, path)


def _show(found: Any, top: int) -> None:
    screen = console()
    rows = found.rows()
    screen.print(plain_table(found.header(), rows[:top]))
    if len(rows) > top:
        screen.print(f"{len(rows) - top:,} more labellings not shown (--top shows more, -o writes all)")
    screen.print()
    text = str(found)
    screen.print(text[0].upper() + text[1:] + ".", soft_wrap=True)
    if not found.shattered and found.total - found.count <= 16:
        none = ", ".join("".join("+" if sign > 0 else "-" for sign in signs) for signs in found.impossible)
        screen.print(f"Not realised: {none}.", soft_wrap=True)


def _print_json(found: Any) -> None:
    import json

    out = {
        "points": [[float(value) for value in point] for point in found.points],
        "realised": found.count, "total": found.total, "shattered": found.shattered,
        "vc_dimension": found.capacity.dimension, "in_general_position": found.cover,
        "impossible": [list(signs) for signs in found.impossible],
    }  # fmt: skip
    typer.echo(json.dumps(out))
