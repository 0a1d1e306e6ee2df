"""``separatrix predict``: a model's predictions for every row of a source."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Source, Sql, Unknown, UnknownCategories, open_named
from separatrix.cli.writing import say, say_imputed, say_unknown


def predict(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Source = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Output file: .csv, .parquet or .jsonl. [default: CSV to standard output]",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Add the activations.", rich_help_panel=OUTPUT)] = False,
    proba: Annotated[
        bool, typer.Option("--proba", help="Add the class probabilities.", rich_help_panel=OUTPUT)
    ] = False,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns to pass through (comma-separated; may be repeated; all for all).", rich_help_panel=OUTPUT
        ),
    ] = None,
    unknown: Unknown = UnknownCategories.zero,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print JSON lines instead of CSV.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Predict the class of every row of a raw file.

    Predictions are in the order of the rows, and the file is not held in memory. Rows with missing values have an
    empty prediction, unless the model imputes them; they are counted at the end.

    For example:

      separatrix predict penguins.sx penguins --keep island

      separatrix predict mails.sx new.parquet --scores -o predictions.parquet

    Exit status: 0 success; 2 invalid input, nothing written.
    """
    from separatrix.cli.models import load_table_model
    from separatrix.cli.prediction_files import write_predictions
    from separatrix.cli.progress import Bar
    from separatrix.tables.predict import PredictionCounts, PredictOptions
    from separatrix.tables.predict import predict as run_predict

    if output is not None:
        guard().writes(output)
    options = PredictOptions(scores, proba, tuple(keep or ()), unknown.value)
    loaded = load_table_model(model)
    counts = PredictionCounts()
    with Bar() as bar, open_named(source, sql, db, delimiter, bar=bar) as opened:
        tables = run_predict(
            loaded, opened, options, counts, watch=lambda rows, part: bar("predict", rows=rows, part=part)
        )
        write_predictions(output, tables, as_json=json)
    say_imputed(counts.imputed)
    say_unknown(counts.unknown, unknown.value)
    if counts.incomplete:
        why = " or unknown categories" if counts.unknown and unknown.value == "null" else ""
        say(f"{counts.incomplete:,} of {counts.rows:,} rows have missing values{why} and no prediction", err=True)
    if output is not None:
        say(f"{counts.rows:,} rows written to {output}", err=True)
