"""``separatrix report``: an HTML page about a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from separatrix.cli.guard import guard
from separatrix.cli.options import OUTPUT, Db, Delimiter, Sql, Unknown, UnknownCategories, open_named
from separatrix.cli.writing import say, say_unknown


def report(
    model: Annotated[Path, typer.Argument(help="Model file, as fit writes it.")],
    source: Annotated[
        str | None,
        typer.Argument(help="Rows to show in the report: a file, a data set, or '-', as for fit."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="HTML file; replaced if it exists. [default: MODEL.html]", rich_help_panel=OUTPUT
        ),
    ] = None,
    unknown: Unknown = UnknownCategories.zero,
    sql: Sql = None,
    db: Db = None,
    delimiter: Delimiter = None,
    json: Annotated[
        bool, typer.Option("--json", help="Print the path of the report as JSON.", rich_help_panel=OUTPUT)
    ] = False,
) -> None:
    """Write a report about a model: one self-contained HTML page.

    It shows the test scores overall and by class, ROC, precision-recall and calibration curves, the certificate,
    training curves and feature weights. With a source, also its scores, margins, the decision boundary, the least
    certain predictions and the worst errors among its rows.

    For example:

      separatrix report penguins.sx penguins

    Exit status: 0 success; 2 bad input, nothing is written.
    """
    from separatrix.cli.models import load_table_model
    from separatrix.cli.progress import Bar
    from separatrix.tables.report.page import write_report
    from separatrix.tables.report.rows import inspect_rows

    path = check_page(output or Path(f"{model.stem}.html"))
    loaded = load_table_model(model)
    inspected: Any = None
    if source is not None or sql is not None or db is not None:
        with Bar() as bar, open_named(source, sql, db, delimiter, bar=bar) as opened:
            inspected = inspect_rows(
                loaded, opened, unknown=unknown.value, watch=lambda rows, part: bar("answer", rows=rows, part=part)
            )
    write_report(loaded, path, inspected)
    if inspected is not None:
        say_unknown(inspected.unknown_categories, unknown.value)
    if json:
        import json as to_text

        typer.echo(to_text.dumps({"report": str(path)}))
    else:
        say(f"Report written to {path}.")


def check_page(path: Path, option: str = "-o") -> Path:
    """Note the path of a report as an output, or refuse it before the work is done."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path}: the name of a report must end in .html")
    guard().writes(path, option)
    return path
