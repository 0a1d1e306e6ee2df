"""The commands, one function each."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix import __version__
from separatrix.cli.writing import show_demo, show_trace, write_whole
from separatrix.problem import as_exact
from separatrix.stops import times

app = typer.Typer(
    name="separatrix",
    help="Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
    rich_markup_mode=None,
)


class Format(str, enum.Enum):
    """How a trace is printed."""

    table = "table"
    markdown = "markdown"
    latex = "latex"
    html = "html"
    csv = "csv"


_ENDINGS = {".md": Format.markdown, ".tex": Format.latex, ".html": Format.html, ".csv": Format.csv}


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"separatrix {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Linear classifiers, from the perceptron to the SVM, each fit with a proof you can check."""


@app.command()
def trace(
    data: Annotated[
        str,
        typer.Argument(
            help="An example (lecture-000, lecture-001, lecture-004, and, or, xor) or a CSV file with a header line."
        ),
    ],
    target: Annotated[str | None, typer.Option(help="The CSV column that holds the labels.")] = None,
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
    output: Annotated[Path | None, typer.Option(help="Write to this file instead of the screen.")] = None,
) -> None:
    """Print every step of a run as a table, with exact numbers (neurons: rounded ones).

    A lecture's example runs with the lecture's own start, learning rate and notation; options override them.

      separatrix trace lecture-000

      separatrix trace points.csv --target class --format latex
    """
    from separatrix import datasets
    from separatrix.tracing import trace as run_trace

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
    if data.lower() in datasets.names() and not Path(data).exists():
        if target is not None:
            raise ValueError(f"{data} is a built-in example and has its own labels; --target is for CSV files")
        example = datasets.example(data)
        X: Any = example.X
        y: Any = example.y
        chosen = {**example.options, **example.view, **chosen}
    else:
        X, y = _read(data, target)
        chosen = {"labels": "own", **chosen}
    run = run_trace(
        X, y, rule=rule, order=order, random_state=seed, fit_intercept=intercept, max_iter=max_iter, readout=readout,
        margin=_exact("--margin", margin), lam=_exact("--lam", lam), **chosen,
    )  # fmt: skip
    if output is None and format in (None, Format.table):
        show_trace(run)
        return
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
        write_whole(output, text + "\n")
        typer.echo(f"{times(len(run), 'step')} written to {output}", err=True)


def _exact(option: str, text: str) -> Any:
    try:
        return as_exact(text.strip())
    except ValueError:
        raise ValueError(f"{option} must be a number such as 1, 0.5 or 1/2; found {text!r}") from None


def _read(data: str, target: str | None) -> tuple[Any, Any]:
    from separatrix import datasets
    from separatrix.sources.exact_csv import read_exact_csv

    if target is None:
        if not os.path.exists(data):
            raise ValueError(f"{data!r} is neither a file nor an example; examples are {', '.join(datasets.names())}")
        raise ValueError(f"which column of {data} holds the labels? Name it with --target")
    table = read_exact_csv(data, target)
    return table.X, table.y


@app.command()
def demo() -> None:
    """Train on built-in separable data: the first and last steps, how it ended, and the mistake bound beside it."""
    show_demo()
