"""``separatrix inspect``: what is in a model file."""

from __future__ import annotations

import json as to_text
from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Json, Sql
from separatrix.cli.table_formats import FormatOption, OutputOption, format_of


def inspect(
    model: Annotated[Path, typer.Argument(help="Model file.")],
    source: Annotated[
        str | None, typer.Argument(help="For --dual: the rows that the model was trained on; a source as for fit.")
    ] = None,
    dual: Annotated[
        bool,
        typer.Option(
            "--dual",
            help="Show the dual solution of a support vector machine: alpha, slack, KKT conditions, objective.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    label: Annotated[
        str | None,
        typer.Option("--class", help="For --dual: only the task of this class.", rich_help_panel=OUTPUT),
    ] = None,
    top: Annotated[
        int,
        typer.Option(
            help="Number of weights to show (of a network: for each neuron); with --dual, of support vectors.",
            rich_help_panel=OUTPUT,
        ),
    ] = 20,
    format: FormatOption = None,
    output: OutputOption = None,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Show a model: data, preparation, certificate, scores, weights.

    With --dual, the rows of a test set are left out as they were in the fit, and rows are counted from 0, without those
    with missing values.

    For example:

      separatrix inspect penguins.sx --top 5

      separatrix inspect svm.sx points.csv --dual
    """
    from separatrix.cli import summary
    from separatrix.cli.models import load_model
    from separatrix.cli.network_weights import is_network, layers_as_dict, show_layers
    from separatrix.cli.writing import console as new_console
    from separatrix.tables.model import TableModel

    if top < 1:
        raise ValueError(f"--top must be at least 1; found {top}")
    name = format_of(format, output)
    if output is not None:
        guard().writes(output)
    given: list[tuple[str, Any]] = [
        ("DATA", source),
        ("--class", label),
        ("--sql", sql),
        ("--db", db),
        ("--delimiter", delimiter),
    ]
    given += [("--format", format), ("--output", output)]
    extra = [option for option, value in given if value is not None]
    if extra and not dual:
        raise ValueError(f"{extra[0]} is for --dual, which shows the dual solution of a support vector machine")
    if dual:
        from separatrix.cli.dual import show_dual
        from separatrix.cli.models import load_table_model

        show_dual(
            load_table_model(model), source, sql, db, delimiter, label=label, top=top, name=name, output=output,
            json=json,
        )  # fmt: skip
        return
    loaded = load_model(model)
    console = new_console()
    if not isinstance(loaded, TableModel):
        if json:
            layers = {"layers": layers_as_dict(loaded, None, top)} if is_network(loaded) else {}
            typer.echo(to_text.dumps({"kind": type(loaded).__name__, **layers}))
            return
        console.print(f"{model}: {loaded!r}, saved from Python.")
        if is_network(loaded):
            status = str(loaded.status_)
            console.print(f"{status[0].upper()}{status[1:]}.")
            console.print()
            show_layers(loaded, None, "inputs as given", console, top)
        return
    if json:
        facts = summary.model_as_dict(loaded, model)
        facts["weights"] = summary.weights_as_dict(loaded, top)
        if is_network(loaded.estimator):
            facts["layers"] = layers_as_dict(loaded.estimator, loaded.preparation.names, top)
        facts["preparation"] = _preparation(loaded.preparation)
        typer.echo(to_text.dumps(facts))
        return
    _show(loaded, top, console)


def _show(model: Any, top: int, console: Any) -> None:
    from separatrix.cli import summary
    from separatrix.cli.network_weights import is_network, show_layers

    facts = model.facts
    if facts.separatrix:  # else it was put together in Python
        console.print(summary.model_line(facts))
        summary.show_decisions(model, console)
        summary.show_rows(facts, console)
        console.print()
    for line in _described(model.preparation):
        console.print(line)
    summary.show_test_scores(model, console)
    summary.show_separability(model.certificate, summary.features_of(model), console)
    summary.show_weights(model, console, top)
    if is_network(model.estimator):
        console.print()
        show_layers(model.estimator, model.preparation.names, summary.features_of(model), console, top)
    console.print()
    for change in facts.updates:
        console.print(
            f"Updated with {change.rows:,} rows of {change.source} ({change.mistakes:,} predicted wrong before)."
        )
    if not facts.separatrix:
        return
    settings = ", ".join(
        f"{k}={v!r}" for k, v in vars(facts.settings).items() if v not in (None, {}) and v is not False
    )
    console.print(f"Settings: {settings}.")
    console.print(
        f"Written by separatrix {facts.separatrix}; fingerprint of the source {(facts.fingerprint or 'unknown')[:16]}, "
        f"of the training rows {(facts.data or 'unknown')[:16]}.",
    )


def _described(preparation: Any) -> list[str]:
    """Return what is done to each row, in sentences."""
    from separatrix.tables.preparation import LACKING, SCALING

    lines = []
    scaling = SCALING[preparation.scale]
    if preparation.anonymous:
        return [f"{preparation.width:,} features without names, {scaling}."]
    numbers = [feature.name for feature in preparation.role("number")]
    if numbers:
        lines.append(f"Numbers, {scaling}: {', '.join(numbers[:20])}{' ...' if len(numbers) > 20 else ''}.")
    for feature in preparation.role("date"):
        lines.append(f"Dates of {feature.name}, {scaling}: {', '.join(feature.parts)}.")
    for feature in preparation.role("category"):
        levels = ", ".join(feature.levels[:12]) + (" ..." if len(feature.levels) > 12 else "")
        more = "; others are pooled" if feature.pooled else ""
        how = "Target encoded" if feature.shares else "One-hot encoded"
        lines.append(f"{how} {feature.name}: {levels}{more}.")
    for feature in preparation.role("text"):
        how = "hashed" if feature.words is None else f"{len(feature.words):,} terms, tf-idf"
        lines.append(f"Bag of words of {feature.name} (unigrams and bigrams): {how}.")
    lines.append(LACKING[preparation.missing])
    return lines


def _preparation(preparation: Any) -> dict[str, Any]:
    return {
        "missing": preparation.missing,
        "scale": preparation.scale,
        "features": [
            {
                "name": f.name,
                "role": f.role,
                **({"levels": list(f.levels)} if f.levels else {}),
                **({"shares": list(f.shares)} if f.shares else {}),
                **({"parts": list(f.parts)} if f.parts else {}),
                **({"notation": f.notation} if f.notation else {}),
            }
            for f in preparation.features
        ],
    }
