"""``separatrix predict``: a model's answers for every row of a source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import Db, Delimiter, Source, Sql, Unknown, open_named, refuse_same


def predict(
    model: Annotated[Path, typer.Argument(help="A model file, as fit writes it.")],
    source: Source = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file, .csv, .parquet or .jsonl; by default CSV is printed."),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add the activations.")] = False,
    proba: Annotated[bool, typer.Option("--proba", help="Add the probabilities (neuron, network).")] = False,
    keep: Annotated[
        list[str] | None, typer.Option(help="Pass this column through (again for each, or a,b; all for all).")
    ] = None,
    unknown: Unknown = "fail",
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON lines instead of CSV.")] = False,
) -> None:
    """Answer every row of a raw file, in its order, without holding it in memory.

    A row that lacks a value which the model needs gets an empty answer; they are counted at the end.

      separatrix predict penguins.sx penguins --keep island

      separatrix predict mails.sx new.parquet --scores -o answers.parquet

    Exit status: 0 done; 2 bad input, nothing written.
    """
    from separatrix.cli.answers import write_answers
    from separatrix.cli.models import load_table_model
    from separatrix.cli.progress import Bar
    from separatrix.tables.predict import Answers, Tally
    from separatrix.tables.predict import predict as run_predict

    refuse_same(output, source, model)
    asked = Answers(scores, proba, tuple(keep or ()), unknown)
    loaded = load_table_model(model)
    tally = Tally()
    with Bar() as bar, open_named(source, sql, db, delimiter) as opened:
        tables = run_predict(loaded, opened, asked, tally, watch=lambda rows, part: bar("answer", rows=rows, part=part))
        write_answers(output, tables, as_json=json)
    if tally.unanswered:
        typer.echo(f"{tally.unanswered:,} of {tally.rows:,} rows lack a value and have no answer", err=True)
    if output is not None:
        typer.echo(f"{tally.rows - tally.unanswered:,} answers written to {output}", err=True)
