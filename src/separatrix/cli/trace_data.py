"""The rows that ``separatrix trace`` runs on, as exact numbers: a file's, a query's, or those of a built-in set."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

from separatrix.cli.labelled_rows import MOST_CELLS, LabelledRows, rows_as_written
from separatrix.cli.options import is_example, open_named, target_of
from separatrix.loop.problem import as_exact


class TraceData(NamedTuple):
    """Rows and labels, the options with which a lecture runs them, and what to tell the person about those."""

    X: Any
    y: Any
    options: dict[str, Any]
    note: str = ""


def read_rows(
    data: str | None, target: str | None, features: list[str] | None, exclude: list[str] | None, sql: str | None,
    db: str | None, delimiter: str | None,
) -> TraceData:  # fmt: skip
    """Return the rows that the options of the command name."""
    from separatrix.tables.columns import ColumnOptions

    asked = ColumnOptions(target, tuple(features or ()), tuple(exclude or ()), missing="drop", detect=False)
    if db is None and data is not None and is_example(data):
        return _of_example(data, asked, sql)
    with open_named(data, sql, db, delimiter) as source:
        rows = _exact_rows(source, asked)
    return TraceData(rows.X, rows.y, {"labels": "own"})


def _of_example(name: str, asked: Any, sql: str | None) -> TraceData:
    """Return a built-in example with its lecture's options; the start only where all its columns are kept."""
    from separatrix import datasets

    if asked.target not in (None, "label") and sql is None:
        raise ValueError(f"{name} is a built-in example and has its own labels; --target is for files")
    example = datasets.example(name)
    options = {**example.options, **example.view}
    if sql is None and not asked.features and not asked.exclude:
        return TraceData(example.X, example.y, options)
    with open_named(name, sql) as source:
        rows = _exact_rows(source, replace(asked, target=target_of(name, asked.target)))
    if rows.names == [f"x{place + 1}" for place in range(len(example.X[0]))] or "start" not in options:
        return TraceData(rows.X, rows.y, options)
    del options["start"]
    return TraceData(
        rows.X, rows.y, options, f"{example.name}: other columns than the lecture's, so the start is zeros"
    )


def _exact_rows(source: Any, asked: Any) -> LabelledRows:
    """Return rows of exact numbers: of a CSV file as they are written, of others the shortest decimals for them."""
    from separatrix.tables.whole import read_whole

    if (exact := rows_as_written(source, asked)) is not None:
        return exact
    table = read_whole(source, asked)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    if X.size > MOST_CELLS:
        raise ValueError(f"{source.name} has more than {MOST_CELLS:,} numbers, the most that trace can read")
    return LabelledRows(
        [[as_exact(repr(value)) for value in row] for row in X.tolist()], table.y.tolist(), list(table.names)
    )
