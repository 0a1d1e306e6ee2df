"""``separatrix trace``: every step of a run, exactly."""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import (
    MODEL,
    OUTPUT,
    Db,
    Delimiter,
    Exclude,
    Features,
    Source,
    Sql,
    Target,
    is_example,
    open_named,
)
from separatrix.cli.writing import print_content, say, show_trace
from separatrix.files import write_text
from separatrix.loop.problem import as_exact
from separatrix.text import times

_MOST_CELLS = 1_000_000


class Format(str, enum.Enum):
    """The format of a trace."""

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
        typer.Option(
            help="Update rule: perceptron, margin_perceptron, sigmoid_neuron, logistic_neuron, online_hinge, pegasos.",
            rich_help_panel=MODEL,
        ),
    ] = "perceptron",
    start: Annotated[
        str | None,
        typer.Option(
            help="Initial weights and then the bias, as in '1,0,1/2'. [default: zeros]", rich_help_panel=MODEL
        ),
    ] = None,
    eta0: Annotated[
        str | None,
        typer.Option(
            help="Learning rate (gamma of online_hinge), as in 1, 0.1 or 1/10. [default: 1]", rich_help_panel=MODEL
        ),
    ] = None,
    margin: Annotated[
        str, typer.Option(help="Margin below which margin_perceptron updates.", rich_help_panel=MODEL)
    ] = "1",
    lam: Annotated[str, typer.Option(help="Regularisation strength lambda of pegasos.", rich_help_panel=MODEL)] = "1",
    boundary: Annotated[
        str | None,
        typer.Option(
            help="How a score of 0 counts: mistake, correct, positive or negative. [default: mistake]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    order: Annotated[
        str, typer.Option(help="Order of the rows: cyclic, or shuffled in each epoch.", rich_help_panel=MODEL)
    ] = "cyclic",
    seed: Annotated[int, typer.Option(help="Random seed of shuffled orders.", rich_help_panel=MODEL)] = 0,
    intercept: Annotated[bool, typer.Option(help="Fit a bias.", rich_help_panel=MODEL)] = True,
    max_iter: Annotated[int, typer.Option(help="Maximum number of epochs.", rich_help_panel=MODEL)] = 100,
    readout: Annotated[
        str, typer.Option(help="Final weights: last, averaged, voted or pocket.", rich_help_panel=MODEL)
    ] = "last",
    augmented: Annotated[
        bool | None, typer.Option(help="Show the bias as the first coordinate.", rich_help_panel=OUTPUT)
    ] = None,
    flipped: Annotated[
        bool | None, typer.Option(help="Show negative examples with their sign flipped.", rich_help_panel=OUTPUT)
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Show labels as '+-', '01' or 'own' (as in the data). [default: own]", rich_help_panel=OUTPUT
        ),
    ] = None,
    threshold: Annotated[
        bool | None, typer.Option(help="Show theta = -b instead of b.", rich_help_panel=OUTPUT)
    ] = None,
    decimals: Annotated[bool | None, typer.Option(help="Show 0.5 instead of 1/2.", rich_help_panel=OUTPUT)] = None,
    format: Annotated[
        Format | None,
        typer.Option(
            "--format", help="Output format. [default: from the ending of --output, else table]", rich_help_panel=OUTPUT
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of standard output.", rich_help_panel=OUTPUT),
    ] = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Print every step of a training run, in exact arithmetic.

    Numbers of a CSV file are exact: 0.1 is one tenth, and 1/3 one third. Of two labels the one that sorts last is the
    positive class. A built-in lecture example runs with the
    lecture's own start, learning rate and notation; options override them.

    For example:

      separatrix trace lecture-000

      separatrix trace points.csv --target class --format latex
    """
    from separatrix import datasets
    from separatrix.insight.trace import trace as run_trace
    from separatrix.tables.columns import ColumnOptions

    if output is not None:
        guard().writes(output)
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
        with open_named(data, sql, db, delimiter) as source:
            X, y = _exact_rows(source, ColumnOptions(target, tuple(features or ()), tuple(exclude or ())))
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
        print_content(text)
    else:
        write_text(output, text + "\n")
        say(f"{times(len(run), 'step')} written to {output}", err=True)


def _exact_rows(source: Any, asked: Any) -> tuple[Any, Any]:
    """Return rows of exact numbers: of a CSV file as they are written, of others the shortest decimals for them."""
    from separatrix.tables.columns import choose
    from separatrix.tables.sources.base import TableSource
    from separatrix.tables.sources.exact import has_exact_numbers, read_exact
    from separatrix.tables.whole import read_whole

    if isinstance(source, TableSource) and not source.typed:
        chosen = choose(source.name, source.columns, asked)
        if chosen.target is not None and has_exact_numbers(source, (*chosen.numbers, *chosen.categories)):
            return read_exact(source, chosen.order, chosen.target.name, _MOST_CELLS)
    table = read_whole(source, asked)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    if X.size > _MOST_CELLS:
        raise ValueError(f"{source.name} has more than {_MOST_CELLS:,} numbers, the most that trace can read")
    return [[as_exact(repr(value)) for value in row] for row in X.tolist()], table.y.tolist()


def _exact(option: str, text: str) -> Any:
    try:
        return as_exact(text.strip())
    except ValueError:
        raise ValueError(f"{option} must be a number such as 1, 0.5 or 1/2; got {text!r}") from None
