"""``separatrix report``: a page about a model that anyone can read."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.options import Db, Delimiter, Sql, Unknown, check_writable, open_named, refuse_same


def report(
    model: Annotated[Path, typer.Argument(help="A model file, as fit writes it.")],
    source: Annotated[
        str | None,
        typer.Argument(help="Rows to show: their margins, the boundary, the worst mistakes; a source as for fit."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The page; by default the model's name with .html, in the folder where the command runs. A page that "
            "is there already is replaced, one of fit --report too.",
        ),
    ] = None,
    unknown: Unknown = "fail",
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[bool, typer.Option("--json", help="Print where the page is as JSON, for machines.")] = False,
) -> None:
    """Write a page about a model: one HTML file that needs nothing else, for a browser, a phone or paper.

    It says in plain words what was learned and how good it is, what is proved, how learning went, what the model looks
    at and where it errs. Without a source it shows what the model file tells; with one, its rows too.

      separatrix report penguins.sx penguins

      separatrix report mails.sx new.parquet -o new-mails.html

    Exit status: 0 done; 2 bad input, nothing written.
    """
    from separatrix.cli.models import load_table_model
    from separatrix.cli.progress import Bar
    from separatrix.tables.report.page import write_report
    from separatrix.tables.report.rows import look

    path = check_page(output or Path(f"{model.stem}.html"))
    refuse_same(path, source, model)
    if unknown not in ("fail", "zero"):
        raise ValueError(f"--unknown must be fail or zero; found {unknown!r}")
    loaded = load_table_model(model)
    seen: Any = None
    if source is not None or sql is not None or db is not None:
        with Bar() as bar, open_named(source, sql, db, delimiter) as opened:
            seen = look(loaded, opened, unknown=unknown, watch=lambda rows, part: bar("answer", rows=rows, part=part))
    write_report(loaded, path, seen)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"report": str(path)}))
    else:
        typer.echo(f"Report written to {path}.")


def check_page(path: Path) -> Path:
    """Refuse a path that cannot be that of a page before the work is done."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path}: a report is a page, so its name must end in .html")
    check_writable(path)
    return path
