"""``separatrix update``: train a model on new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Json, Source, Sql, Unknown, UnknownCategories, open_named
from separatrix.cli.writing import say, say_unknown


def update(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Source = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Model file to write. [default: MODEL]", rich_help_panel=OUTPUT),
    ] = None,
    unknown: Unknown = UnknownCategories.zero,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Train a model online on new rows; new classes are added.

    Scaling and categories stay as they are. The certificate and the scores of the old rows are dropped.

    For example:

      separatrix update penguins.sx new-penguins.csv

    Exit status: 0 success; 2 invalid input, the model file is unchanged.
    """
    from separatrix.cli.models import load_table_model, replacing
    from separatrix.cli.progress import Bar
    from separatrix.models.model_file import save
    from separatrix.tables.update import update as run_update

    path = output or model
    if path.resolve() == model.resolve():
        replacing(model)
    loaded = load_table_model(model)
    guard().writes(path)
    with Bar() as bar, open_named(source, sql, db, delimiter, bar=bar) as opened:
        result = run_update(
            loaded, opened, unknown=unknown.value, watch=lambda rows, part: bar("read", rows=rows, part=part)
        )
        save(loaded, path)
    say_unknown(result.unknown_categories, unknown.value)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({**vars(result), "model_file": str(path)}))
        return
    new = f" New classes: {', '.join(str(label) for label in result.new_classes)}." if result.new_classes else ""
    why = " or unknown categories" if result.unknown_categories and unknown.value == "null" else ""
    dropped = f", {result.dropped:,} dropped (missing values{why})" if result.dropped else ""
    wrong = f"{result.errors:,} of {result.rows:,} ({result.errors / result.rows:.1%})"
    say(f"Trained on {result.rows:,} rows{dropped}; test-then-train error: {wrong}.{new}")
    say(f"Model written to {path}.")
