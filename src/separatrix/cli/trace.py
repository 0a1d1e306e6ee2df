"""``separatrix trace``: every step of a run, exactly."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import (
    DATA,
    MODEL,
    OUTPUT,
    Db,
    Delimiter,
    Exclude,
    Features,
    Source,
    Sql,
    Target,
)
from separatrix.cli.table_formats import FormatOption
from separatrix.cli.trace_data import read_rows
from separatrix.cli.trace_output import output_format, write_trace
from separatrix.cli.trace_pictures import Animate, StepsPlot, check_pictures, draw_pictures
from separatrix.cli.writing import say
from separatrix.loop.problem import as_exact


def trace(
    data: Source = None,
    target: Target = None,
    positive: Annotated[
        str | None,
        typer.Option(
            help="Label of the positive class; all others are negative. [default: of two, the one that sorts last]",
            rich_help_panel=DATA,
        ),
    ] = None,
    rule: Annotated[
        str,
        typer.Option(
            help="Update rule: perceptron, margin_perceptron, sigmoid_neuron, logistic_neuron, online_hinge, pegasos, "
            "pa, pa1, pa2 (passive-aggressive), arow, scw1, scw2, nherd (confidence-weighted), romma, "
            "aggressive_romma, alma or sop (second-order perceptron).",
            rich_help_panel=MODEL,
        ),
    ] = "perceptron",
    start: Annotated[
        str | None,
        typer.Option(
            help="Initial weights: zeros, uniform (in [-1, 1]) or numbers as in '1,0,1/2', in the order that is shown "
            "(the bias or theta last; with --augmented the bias first). [default: zeros]",
            rich_help_panel=MODEL,
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
    cost: Annotated[str, typer.Option("--C", help="C of pa1, pa2, scw1, scw2 and nherd.", rich_help_panel=MODEL)] = "1",
    r: Annotated[str, typer.Option("--r", help="r of arow.", rich_help_panel=MODEL)] = "1",
    eta: Annotated[float, typer.Option(help="Confidence of scw1 and scw2.", rich_help_panel=MODEL)] = 0.9,
    covariance: Annotated[
        str, typer.Option(help="Spread of arow, scw1, scw2, nherd and sop: diagonal or full.", rich_help_panel=MODEL)
    ] = "diagonal",
    a: Annotated[str, typer.Option("--a", help="a of sop.", rich_help_panel=MODEL)] = "1",
    alpha: Annotated[str, typer.Option(help="alpha of alma.", rich_help_panel=MODEL)] = "0.9",
    boundary: Annotated[
        str | None,
        typer.Option(
            help="How a score of 0 counts: mistake, correct, positive or negative. [default: mistake]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    order: Annotated[
        str,
        typer.Option(
            help="Order of the rows: cyclic, shuffled in each epoch, or random (drawn with replacement).",
            rich_help_panel=MODEL,
        ),
    ] = "cyclic",
    batch: Annotated[
        str,
        typer.Option(
            help="Examples whose steps are averaged, a number or all; one row of the table for each such fold.",
            rich_help_panel=MODEL,
        ),
    ] = "1",
    seed: Annotated[
        int,
        typer.Option(help="Random seed of shuffled and random orders and of a uniform start.", rich_help_panel=MODEL),
    ] = 0,
    intercept: Annotated[bool, typer.Option(help="Fit a bias.", rich_help_panel=MODEL)] = True,
    bias_constant: Annotated[
        str,
        typer.Option(
            help="Constant K of the bias coordinate, so b moves by y eta K^2; ball: the radius of the smallest ball "
            "that holds the data.",
            rich_help_panel=MODEL,
        ),
    ] = "1",
    max_iter: Annotated[int, typer.Option(help="Maximum number of epochs.", rich_help_panel=MODEL)] = 100,
    readout: Annotated[
        str, typer.Option(help="Final weights: last, averaged, voted or pocket.", rich_help_panel=MODEL)
    ] = "last",
    exact: Annotated[
        bool | None,
        typer.Option(
            "--exact/--floats",
            help="Compute with fractions or with floats. [default: fractions where the rule can]",
            rich_help_panel=MODEL,
        ),
    ] = None,
    columns: Annotated[
        str | None,
        typer.Option(
            help="More columns, comma-separated: output (the predicted class), margin (y a), loss, delta (what is "
            "added to w and b), margin-after, proof.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    proof: Annotated[
        str | None,
        typer.Option(
            help="Columns of the convergence theorem for this separating w*, given as --start is, or auto: one that "
            "certify finds.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    dual: Annotated[
        bool, typer.Option("--dual", help="Show the counts alpha of the dual form.", rich_help_panel=OUTPUT)
    ] = False,
    augmented: Annotated[
        bool | None, typer.Option(help="Show the bias as the first coordinate.", rich_help_panel=OUTPUT)
    ] = None,
    flipped: Annotated[
        bool | None, typer.Option(help="Show negative examples with their sign flipped.", rich_help_panel=OUTPUT)
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            help="Show labels as '+-', '01' or 'own' (as in the data). [default: own; for an example its lecture's]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    threshold: Annotated[
        bool | None, typer.Option(help="Show theta = -b instead of b.", rich_help_panel=OUTPUT)
    ] = None,
    decimals: Annotated[bool | None, typer.Option(help="Show 0.5 instead of 1/2.", rich_help_panel=OUTPUT)] = None,
    digits: Annotated[
        int | None,
        typer.Option(help="Round to this many decimals. [default: fractions in full]", rich_help_panel=OUTPUT),
    ] = None,
    format: FormatOption = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Write to this file (.md, .tex, .html, .csv, .json, .txt).", rich_help_panel=OUTPUT
        ),
    ] = None,
    animate: Animate = None,
    plot: StepsPlot = None,
    features: Features = None,
    exclude: Exclude = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print the steps as JSON.", rich_help_panel=OUTPUT)] = False,
) -> None:
    """Print every step of a training run, in exact arithmetic.

    Numbers of a CSV file are exact: 0.1 is one tenth, and 1/3 one third. A built-in lecture example runs with the
    lecture's own start, learning rate and notation; options override them.

    For example:

      separatrix trace lecture-000 --proof auto

      separatrix trace lecture-001 --columns margin,margin-after --readout voted

      separatrix trace points.csv --target class --dual --bias-constant ball

      separatrix trace points.csv --target class -o table.tex
    """
    from separatrix.insight.trace import LongFractionsError
    from separatrix.insight.trace import trace as run_trace

    written = output_format(output, format, json)
    check_pictures(animate, plot)
    given: dict[str, Any] = {
        "eta0": None if eta0 is None else _exact("--eta0", eta0), "boundary": boundary, "augmented": augmented,
        "flipped": flipped, "labels": labels, "threshold": threshold, "decimals": decimals, "digits": digits,
        "dual": dual or None, "columns": columns, "start": _plane("--start", start, "zeros", "uniform"),
        "proof": _plane("--proof", proof, "auto"), "positive": positive, "exact": exact,
    }  # fmt: skip
    chosen = {name: value for name, value in given.items() if value is not None}
    rows = read_rows(data, target, features, exclude, sql, db, delimiter)
    options, note = {**rows.options, **chosen}, rows.note
    if "start" in options and start is None:
        weights, bias = options["start"]
        if (dual and (bias or any(weights))) or (bias and not intercept):
            del options["start"]
            option = "--dual" if dual else "--no-intercept"
            note = f"{data}: the start is zeros, as {option} cannot have the lecture's"
    if note and start is None:
        say(note, err=True)
    if options.get("start") == "uniform":
        options = {"decimals": True, **options}
    try:
        run = run_trace(
            rows.X, rows.y, rule=rule, order=order, random_state=seed, fit_intercept=intercept, max_iter=max_iter,
            readout=readout, margin=_exact("--margin", margin), lam=_exact("--lam", lam), C=_exact("--C", cost),
            r=_exact("--r", r), eta=eta, covariance=covariance, a=_exact("--a", a),
            alpha=_exact("--alpha", alpha), batch=_batch(batch),
            bias_constant="ball" if bias_constant == "ball" else _exact("--bias-constant", bias_constant), **options,
        )  # fmt: skip
    except LongFractionsError as error:
        raise ValueError(str(error).replace("exact=False", "--floats").replace("max_iter=", "--max-iter ")) from None
    if run.note:
        say(run.note.replace("max_iter=", "--max-iter "), err=True)
    draw_pictures(run, animate, plot)
    write_trace(run, written, output)


def _plane(option: str, text: str | None, *words: str) -> Any:
    """Return the numbers of a weight vector, in the order of the view; or one of the words."""
    if text is None or text.strip() in words:
        return text if text is None else text.strip()
    return [_exact(option, cell, *words) for cell in text.split(",")]


def _batch(text: str) -> int | str:
    if text != "all" and not (text.isdecimal() and int(text) > 0):
        raise ValueError(f"--batch must be a whole number of at least 1, or all; got {text!r}")
    return text if text == "all" else int(text)


def _exact(option: str, text: str, *words: str) -> Any:
    try:
        return as_exact(text.strip())
    except ValueError:
        accepted = "numbers such as 1,0,1/2" if words else "a number such as 1, 0.5 or 1/2"
        raise ValueError(f"{option} must be {', '.join([*words, accepted])}; got {text!r}") from None
