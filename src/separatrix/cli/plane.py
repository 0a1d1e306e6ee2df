"""``separatrix plane``: what a plane that the user gives says of rows and labels."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.labelled_rows import LabelledRows, exact_number, exact_numbers, read_labelled, signs_of
from separatrix.cli.options import DATA, MODEL, OUTPUT, Db, Delimiter, Exclude, Features, Json, Source, Sql, Target
from separatrix.cli.pictures import check_picture, new_figure, write_picture
from separatrix.cli.table_formats import FormatOption, OutputOption, format_of, write_table
from separatrix.cli.writing import console, plain_table, say

Positive = Annotated[
    str | None,
    typer.Option(help="Label of the positive class. [default: of two the one that sorts last]", rich_help_panel=MODEL),
]


def plane(
    data: Source = None,
    target: Target = None,
    weights: Annotated[
        str, typer.Option(help="Weights, one for each feature, as in 1,-2 or 1/2,0.3.", rich_help_panel=MODEL)
    ] = "",
    bias: Annotated[str | None, typer.Option(help="Bias b. [default: 0]", rich_help_panel=MODEL)] = None,
    threshold: Annotated[
        str | None,
        typer.Option(
            help="Threshold theta = -b in place of the bias; the table then shows h and the output 0 or 1.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    point: Annotated[
        list[str] | None,
        typer.Option(help="A row without a label, as in 1,3,2; may be repeated.", rich_help_panel=DATA),
    ] = None,
    positive: Positive = None,
    decimals: Annotated[bool, typer.Option(help="Show 0.5 instead of 1/2.", rich_help_panel=OUTPUT)] = True,
    top: Annotated[int, typer.Option(help="Number of rows to show on the screen.", rich_help_panel=OUTPUT)] = 20,
    plot: Annotated[
        Path | None,
        typer.Option(help="Draw the plane (two features) into this file: .png, .svg or .pdf.", rich_help_panel=OUTPUT),
    ] = None,
    format: FormatOption = None,
    output: OutputOption = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Evaluate a plane that you give: activations, distances, margin, losses, mistake bound.

    Numbers are exact where they can be: 0.1 is one tenth, and 1/3 one third. A row on the plane is a mistake; with
    --threshold it does not fire, so that it is a mistake for the positive class only. The margin is the least
    y (w.x + b), and -inf if the plane does not separate the classes.

    For example:

      separatrix plane lecture-000 --weights 2,-1

      separatrix plane points.csv --target class --weights 1,-2 --bias 0.5 --plot plane.png

      separatrix plane --weights 2.5,-1,1.5 --threshold 2 --point 1,3,2 --point 1.5,1,-1
    """
    from separatrix.insight.plane import Plane

    name = format_of(format, output)
    if json and name is not None and output is None:
        raise ValueError("--json and --format both say what to print; choose one")
    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    if not weights.strip():
        raise ValueError("--weights is missing: give one weight for each feature, such as --weights 1,-2")
    if bias is not None and threshold is not None:
        raise ValueError("give --bias or --threshold, not both: the threshold is minus the bias")
    numbers = exact_numbers("--weights", weights)
    given = Plane(numbers, 0 if bias is None else exact_number("--bias", bias))
    if threshold is not None:
        given = Plane(numbers, threshold=exact_number("--threshold", threshold))
    for path, option in ((output, "-o"), (plot, "--plot")):
        if path is not None:
            guard().writes(path, option)
    if plot is not None:
        check_picture(plot, "--plot")
    points = [exact_numbers("--point", each) for each in point or ()]
    for each in points:
        if len(each) != len(numbers):
            shown = ",".join(map(str, each))
            raise ValueError(f"--point {shown} has {len(each)} numbers, but --weights has {len(numbers)}")
    rows = None
    if data is not None or sql is not None:
        rows = read_labelled(data, target, sql, db, delimiter, features, exclude)
        _check_width(rows, len(numbers), data or "the query")
    elif target is not None or positive is not None or features or exclude:
        raise ValueError("there are no data for --target, --positive, --features and --exclude: name a file")
    if output is not None and rows is None and not points:
        raise ValueError("there is no table for -o: name data, or give rows with --point")
    signs = None if rows is None else signs_of(rows.y, positive)
    view: dict[str, Any] = {"threshold": threshold is not None, "decimals": decimals}
    boundary = "mistake" if threshold is None else "negative"  # Lecture 004: a tie does not fire
    table = None
    if rows is not None:
        table = given.table(rows.X, signs, names=rows.names, **view).with_labels(rows.y)
    extra = given.table(points, **view) if points else None
    if plot is not None:
        _draw(given, rows, signs, points, plot, positive)
    first = table if table is not None else extra
    if json:
        _print_json(given, rows, signs, table, extra, boundary)
    elif name is not None and first is not None and output is None:
        write_table(first, name, None, "")
    else:
        _show(given, rows, signs, table, extra, top, decimals, boundary)
    if output is not None and name is not None and first is not None:
        write_table(first, name, output, f"{len(first):,} rows")
    if plot is not None:
        say(f"Plot written to {plot}.", err=True)


def _check_width(rows: LabelledRows, n_weights: int, where: str) -> None:
    from separatrix.text import listed, times

    width = len(rows.names)
    if width != n_weights:
        raise ValueError(
            f"{where} has {times(width, 'feature')} ({listed(rows.names)}), but --weights has "
            f"{times(n_weights, 'number')}: give one weight for each feature"
        )


def _draw(
    plane: Any, rows: LabelledRows | None, signs: Any, points: list[Any], path: Path, positive: str | None
) -> None:
    figure = new_figure(6.4, 5.4)
    from separatrix import plots

    ax = figure.subplots()
    if rows is None:
        plots.plane(plane, points or None, ax=ax, projections=bool(points))
    else:
        chosen = None if positive is None else rows.y[signs.index(1)]
        plots.plane(plane, rows.X, rows.y, ax, positive=chosen, names=rows.names)
    write_picture(figure, path)


def _show(
    plane: Any, rows: LabelledRows | None, signs: Any, table: Any, extra: Any, top: int, decimals: bool, boundary: str
) -> None:
    from separatrix.insight.exact_numbers import shown

    screen = console()
    names = None if rows is None else rows.names
    sizes = f"|w| = {shown(plane.norm, decimals=decimals)}, theta = {shown(plane.threshold, decimals=decimals)}"
    screen.print(f"Plane {plane.equation(names, decimals=decimals)} ({sizes})\n", soft_wrap=True)
    for part in (table, extra):
        if part is not None:
            screen.print(plain_table(part.header(), part.rows(top)))
            more = len(part) - top
            if more > 0:
                noun = "row" if more == 1 else "rows"
                screen.print(f"{more:,} more {noun} not shown (--top shows more, -o writes all)")
    if rows is not None:
        screen.print()
        screen.print(plain_table(["on all rows", "value"], _summary(plane, rows, signs, decimals, boundary)))


def _summary(plane: Any, rows: LabelledRows, signs: Any, decimals: bool, boundary: str) -> list[list[str]]:
    from separatrix.insight.exact_numbers import shown

    def text(value: Any) -> str:
        return "-inf (does not separate)" if value == -math.inf else shown(value, decimals=decimals)

    facts = _facts(plane, rows, signs, boundary)
    lines = [
        ["margin, min y (w.x + b)", text(facts["margin"])],
        ["geometric margin, divided by |w|", text(facts["geometric margin"])],
        ["mistakes", f"{facts['mistakes']:,} of {len(rows.y):,} ({facts['ties']:,} on the plane)"],
        ["perceptron criterion E_P (sum)", text(facts["E_P"])],
    ]
    for name, total in facts["losses"].items():
        if name not in ("zero_one", "perceptron"):
            lines.append([f"{name.replace('_', ' ')} loss", f"sum {text(total.sum)}, mean {text(total.mean)}"])
    bounds = [facts["bound"], *([facts["bound without bias"]] if plane.bias == 0 and facts["bound"] else [])]
    for bound in bounds:
        lines.append(["mistake bound", str(bound)])
        if bound:
            radius, gamma = shown(bound.radius, decimals=decimals), shown(bound.gamma, decimals=decimals)
            lines.append(["  the same, (R / gamma)^2", f"({radius} / {gamma})^2 = {text(bound.ratio)}"])
    return lines


def _facts(plane: Any, rows: LabelledRows, signs: Any, boundary: str) -> dict[str, Any]:
    there = any(plane.weights)
    losses = plane.losses(rows.X, signs)
    wrong = plane.mistakes(rows.X, signs, boundary="correct")
    return {
        "margin": plane.margin(rows.X, signs),
        "geometric margin": plane.geometric_margin(rows.X, signs) if there else -math.inf,
        "mistakes": plane.mistakes(rows.X, signs, boundary=boundary),
        "ties": losses["zero_one"].sum - wrong,
        "E_P": losses["perceptron"].sum,
        "losses": losses,
        "bound": plane.mistake_bound(rows.X, signs),
        "bound without bias": plane.mistake_bound(rows.X, signs, augmented=False),
    }


def _print_json(plane: Any, rows: LabelledRows | None, signs: Any, table: Any, extra: Any, boundary: str) -> None:
    import json
    from fractions import Fraction

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: plain(each) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [plain(each) for each in value]
        if isinstance(value, Fraction):
            return float(value)
        return None if isinstance(value, float) and not math.isfinite(value) else value

    out: dict[str, Any] = {
        "equation": plane.equation(None if rows is None else rows.names),
        "weights": plane.weights, "bias": plane.bias, "threshold": plane.threshold, "norm": plane.norm,
    }  # fmt: skip
    for name, part in (("rows", table), ("points", extra)):
        if part is not None:
            out[name] = [dict(zip(part.columns, row, strict=True)) for row in zip(*part.columns.values(), strict=True)]
    if rows is not None:
        facts = _facts(plane, rows, signs, boundary)
        facts["losses"] = {name: total._asdict() for name, total in facts["losses"].items()}
        for name in ("bound", "bound without bias"):
            facts[name] = vars(facts[name])
        out["summary"] = {name.replace(" ", "_"): value for name, value in facts.items()}
    typer.echo(json.dumps(plain(out)))
