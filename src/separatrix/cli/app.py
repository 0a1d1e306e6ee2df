"""The commands, one function each."""

from __future__ import annotations

import enum
import os
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix import __version__
from separatrix.cli.writing import read_text, show_certificate, show_check, show_demo, show_trace, waiting, write_whole
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


class Model(str, enum.Enum):
    """Which model is certified."""

    perceptron = "perceptron"
    neuron = "neuron"
    svm = "svm"


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
    from separatrix.sources.exact_csv import read_exact_csv
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
    if _is_example(data, target):
        example = datasets.example(data)
        X: Any = example.X
        y: Any = example.y
        chosen = {**example.options, **example.view, **chosen}
    else:
        table = read_exact_csv(data, _named(data, target))
        X, y = table.X, table.y
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


@app.command()
def certify(
    data: Annotated[
        str,
        typer.Argument(help="An example (and, or, xor, lecture-000, ...) or a CSV file with a header line."),
    ],
    target: Annotated[str | None, typer.Option(help="The CSV column that holds the labels.")] = None,
    model: Annotated[
        Model | None,
        typer.Option(help="Fit this model with its defaults, and certify it on the data instead of the data alone."),
    ] = None,
    intercept: Annotated[bool, typer.Option(help="Allow planes that miss the origin.")] = True,
    tol: Annotated[
        float | None,
        typer.Option(help="How narrow the bracket of the margin must be, as a part of it; 0.001 if not given."),
    ] = None,
    time_limit: Annotated[float | None, typer.Option(help="Seconds; what is not decided by then stays open.")] = None,
    seed: Annotated[int, typer.Option(help="Where the search and the model draw their samples from.")] = 0,
    explain: Annotated[bool, typer.Option("--explain", help="Print the proof in words instead of a table.")] = False,
    json: Annotated[
        Path | None, typer.Option("--json", help="Write the certificate to this file ('-': print it, and only it).")
    ] = None,
) -> None:
    """Say whether planes separate the classes, and by how much, with a proof that anyone can check.

    The verdict is "strictly separable", "weakly separable" (every row on its side or on the plane), "not separable",
    or "not decided". Rows are counted from 0, without the header. Numbers in a file are read as the nearest 64-bit
    floats, and the proof is about these.

      separatrix certify xor

      separatrix certify points.csv --target class --json proof.json

      separatrix certify points.csv --target class --model perceptron
    """
    from separatrix.certificates.certifying import certify as run_certify

    if model is not None and (tol is not None or time_limit is not None):
        raise ValueError("--tol and --time-limit are for certificates of data; they cannot be given with --model")
    X, y = _table(data, target)
    with waiting("looking for a proof"):
        if model is None:
            given = {} if tol is None else {"tol": tol}
            found: Any = run_certify(X, y, time_limit=time_limit, fit_intercept=intercept, random_state=seed, **given)
        else:
            found = _fitted(model, X, y, intercept, seed).certificate_
    if json is not None:
        from separatrix.certificates.model import all_to_json

        text = all_to_json(found) if isinstance(found, dict) else found.to_json()
        if str(json) == "-":
            typer.echo(text)
            return
        write_whole(json, text + "\n")
    show_certificate(found, explain=explain)
    if json is not None:
        typer.echo(f"certificate written to {json}", err=True)


@app.command()
def verify(
    certificate: Annotated[Path, typer.Argument(help="A certificate in JSON, as certify writes it.")],
    data: Annotated[str, typer.Argument(help="The data it is about: an example or a CSV file.")],
    target: Annotated[str | None, typer.Option(help="The CSV column that holds the labels.")] = None,
) -> None:
    """Check every claim of a certificate against the data, trusting nothing but arithmetic.

    Exit status 0 if every claim holds, 1 if one does not.

      separatrix verify proof.json points.csv --target class
    """
    from separatrix.certificates.multiclass import from_json

    found = from_json(read_text(certificate))
    X, y = _table(data, target)
    with waiting("checking"):
        check = found.verify(X, y)
    show_check(found, check)
    raise typer.Exit(0 if check else 1)


def _fitted(model: Model, X: Any, y: Any, intercept: bool, seed: int) -> Any:
    import warnings

    from sklearn.exceptions import ConvergenceWarning

    import separatrix

    kinds = {Model.perceptron: "Perceptron", Model.neuron: "Neuron", Model.svm: "LinearSVM"}
    estimator = getattr(separatrix, kinds[model])(fit_intercept=intercept, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the certificate says how good the model is
        return estimator.fit(X, y)


def _table(data: str, target: str | None) -> tuple[Any, Any]:
    """Return the rows of an example or a file as floats, and their labels."""
    from separatrix import datasets
    from separatrix.sources.exact_csv import read_float_csv

    if _is_example(data, target):
        return datasets.load(data)
    X, y, _ = read_float_csv(data, _named(data, target))
    return X, y


def _exact(option: str, text: str) -> Any:
    try:
        return as_exact(text.strip())
    except ValueError:
        raise ValueError(f"{option} must be a number such as 1, 0.5 or 1/2; found {text!r}") from None


def _is_example(data: str, target: str | None) -> bool:
    from separatrix import datasets

    found = data.lower() in datasets.names() and not Path(data).exists()
    if found and target is not None:
        raise ValueError(f"{data} is a built-in example and has its own labels; --target is for CSV files")
    return found


def _named(data: str, target: str | None) -> str:
    """Return the target column's name, or ask for it."""
    from separatrix import datasets

    if target is not None:
        return target
    if not os.path.exists(data):
        raise ValueError(f"{data!r} is neither a file nor an example; examples are {', '.join(datasets.names())}")
    raise ValueError(f"which column of {data} holds the labels? Name it with --target")


@app.command()
def demo() -> None:
    """Train on built-in separable data: the first and last steps, how it ended, and the mistake bound beside it."""
    show_demo()
