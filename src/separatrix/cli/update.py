"""``separatrix update``: teach a model new rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from separatrix.cli.options import Db, Delimiter, Json, Source, Sql, Unknown, open_named, refuse_same


def update(
    model: Annotated[Path, typer.Argument(help="A model file, as fit writes it.")],
    source: Source = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the model here instead of over the old one.")
    ] = None,
    unknown: Unknown = "fail",
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Json = False,
) -> None:
    """Teach a model new rows online, each of them once; classes that it has not met before are added.

    Scaling and categories stay as they were. The certificate and the scores of the old rows are dropped.

      separatrix update penguins.sx new-penguins.csv

    Exit status: 0 done; 2 bad input, the model file is as it was.
    """
    from separatrix.cli.models import load_table_model
    from separatrix.cli.progress import Bar
    from separatrix.models.model_file import save
    from separatrix.tables.update import update as run_update

    refuse_same(output, source)
    loaded = load_table_model(model)
    with Bar() as bar, open_named(source, sql, db, delimiter) as opened:
        told = run_update(loaded, opened, unknown=unknown, watch=lambda rows, part: bar("read", rows=rows, part=part))
    path = output or model
    save(loaded, path)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({**vars(told), "model_file": str(path)}))
        return
    new = f" New classes: {', '.join(str(label) for label in told.new_classes)}." if told.new_classes else ""
    dropped = f", {told.dropped:,} dropped because a value is missing" if told.dropped else ""
    share = told.mistakes / told.rows
    typer.echo(
        f"Learned from {told.rows:,} rows{dropped}; before each was learned, {told.mistakes:,} answers were wrong "
        f"({share:.1%}).{new}"
    )
    typer.echo(f"Model written to {path}.")
