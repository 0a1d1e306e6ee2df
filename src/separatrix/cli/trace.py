"""``separatrix trace``: every step of a run."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import Db, Delimiter, Exclude, Features, Source, Sql, Target, is_example, open_named
from separatrix.cli.writing import show_trace
from separatrix.files import write_text
from separatrix.loop.problem import as_exact
from separatrix.text import times

_MOST_CELLS = 1_000_000


class Format(str, enum.Enum):
    """How a trace is printed."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    csv = "csv"


_ENDINGS = {".md": Format.markdown, ".tex": Format.latex, ".html": Format.html, ".csv": Format.csv}


def trace(
    data: Source = None,
    target: Target = None,
    rule: Annotated[
        str,
        typer.Option(help="perceptron, margin_perceptron, sigmoid_neuron, logistic_neuron, online_hinge or pegasos."),
    ] = "perceptron",
    start: Annotated[
        str | None, typer.Option(help="Starting weights and then the bias, as in '1,0,1/2'; zeros by default.")
    ] = None,
    eta0: Annotated[
        str | None, typer.Option(help="Learning rate (the online hinge's gamma), as 1, 0.1 or 1/10.")
    ] = None,
    margin: Annotated[str, typer.Option(help="The margin that margin_perceptron wants exceeded.")] = "1",
    lam: Annotated[str, typer.Option(help="The strength of the penalty of pegasos.")] = "1",
    boundary: Annotated[str | None, typer.Option(help="What a tie is: mistake, correct, positive or negative.")] = None,
    order: Annotated[str, typer.Option(help="cyclic, or shuffled anew each epoch.")] = "cyclic",
    seed: Annotated[int, typer.Option(help="Where shuffled orders come from.")] = 0,
    intercept: Annotated[bool, typer.Option(help="Learn a bias, or a plane through the origin.")] = True,
    max_iter: Annotated[int, typer.Option(help="The most epochs.")] = 100,
    readout: Annotated[
        str, typer.Option(help="last, averaged, voted or pocket: the weights named at the end.")
    ] = "last",
    augmented: Annotated[bool | None, typer.Option(help="Write the bias as the first coordinate.")] = None,
    flipped: Annotated[bool | None, typer.Option(help="Write negative patterns with their sign turned.")] = None,
    labels: Annotated[str | None, typer.Option(help="Write labels as '+-', '01' or 'own'.")] = None,
    threshold: Annotated[bool | None, typer.Option(help="Write theta = -b instead of b.")] = None,
    decimals: Annotated[bool | None, typer.Option(help="Write 0.5 instead of 1/2.")] = None,
    format: Annotated[
        Format | None, typer.Option("--format", help="How to print the table; by default as --output's ending says.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write to this file instead of the screen.")
    ] = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON, for machines.")] = False,
) -> None:
    """Print every step of a run as a table, with exact numbers (neurons: rounded ones).

    A lecture's example runs with the lecture's own start, learning rate and notation; options override them. In a CSV
    file 0.1 is one tenth and 1/3 one third.

      separatrix trace lecture-000

      separatrix trace points.csv --target class --format latex
    """
    from separatrix import datasets
    from separatrix.insight.trace import trace as run_trace
    from separatrix.tables.columns import ColumnOptions

    given: dict[str, Any] = {
        "eta0": eta0, "boundary": boundary, "augmented": augmented, "flipped": flipped, "labels": labels,
        "threshold": threshold, "decimals": decimals,
    }  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    if start is not None:
        *weights, bias = [_exact("--start", cell) for cell in start.split(",")]
        chosen["start"] = (weights, bias)
    if eta0 is not None:
        chosen["eta0"] = _exact("--eta0", eta0)
    if sql is None and is_example(data):
        if target is not None:
            raise ValueError(f"{data} is a built-in example and has its own labels; --target is for files")
        example = datasets.example(str(data))
        X: Any = example.X
        y: Any = example.y
        chosen = {**example.options, **example.view, **chosen}
    else:
        X, y = _exact_rows(data, ColumnOptions(target, tuple(features or ()), tuple(exclude or ())), sql, db, delimiter)
        chosen = {"labels": "own", **chosen}
    run = run_trace(
        X, y, rule=rule, order=order, random_state=seed, fit_intercept=intercept, max_iter=max_iter, readout=readout,
        margin=_exact("--margin", margin), lam=_exact("--lam", lam), **chosen,
    )  # fmt: skip
    if json:
        import json as to_text

        text = to_text.dumps({
            "steps": [dict(zip(run.header(), row, strict=True)) for row in run.rows()],
            "status": str(run.status), "epochs": run.n_epochs, "updates": run.n_updates, "final": str(run.final()),
        })  # fmt: skip
    elif output is None and format in (None, Format.table):
        show_trace(run)
        return
    else:
        text = {
            Format.table: run.to_markdown,
            Format.markdown: run.to_markdown,
            Format.latex: run.to_latex,
            Format.html: run.to_html,
            Format.csv: run.to_csv,
        }[format or _ENDINGS.get(output.suffix.lower() if output else "", Format.markdown)]().rstrip("\n")
    if output is None:
        typer.echo(text)
    else:
        write_text(output, text + "\n")
        typer.echo(f"{times(len(run), 'step')} written to {output}", err=True)


def _exact_rows(
    data: str | None, asked: Any, sql: str | None, db: str | None, delimiter: str | None
) -> tuple[Any, Any]:
    """Return rows of exact numbers: of a CSV file as they are written, of others the shortest decimals for them."""
    from separatrix.tables.sources.exact_csv import read_exact_csv
    from separatrix.tables.whole import read_whole

    target = asked.target
    whole = not (asked.features or asked.exclude or sql or delimiter)
    if data is not None and target is not None and whole and data.lower().endswith(".csv"):
        try:
            table = read_exact_csv(data, target)
            return table.X, table.y
        except ValueError:
            if not _has_categories(data, target):
                raise
    with open_named(data, sql, db, delimiter) as source:
        found = read_whole(source, asked)
    X = found.X.toarray() if hasattr(found.X, "toarray") else found.X
    if X.size > _MOST_CELLS:
        raise ValueError(f"{source.name} has more than {_MOST_CELLS:,} numbers, the most that trace takes")
    return [[as_exact(repr(value)) for value in row] for row in X.tolist()], found.y.tolist()


def _has_categories(data: str, target: str) -> bool:
    """Return whether a CSV file has a column of texts none of which is a number, as 1/3 is."""
    try:
        source = open_named(data)
    except ValueError:
        return False
    with source:
        flags = [column.name for column in source.columns if column.kind == "flag" and column.name != target]
        texts = [column.name for column in source.columns if column.kind == "text" and column.name != target]
        first = next(iter(source.batches(texts))) if texts and not flags else None
    if first is None:
        return bool(flags)
    return any(not any(_is_exact(cell) for cell in column.to_pylist()) for column in first.columns)


def _is_exact(cell: str | None) -> bool:
    try:
        return cell is not None and as_exact(cell.strip()) is not None
    except ValueError:
        return False


def _exact(option: str, text: str) -> Any:
    try:
        return as_exact(text.strip())
    except ValueError:
        raise ValueError(f"{option} must be a number such as 1, 0.5 or 1/2; found {text!r}") from None
