"""The rows that ``separatrix trace`` runs on, as exact numbers: a file's, a query's, or those of a built-in set."""

from __future__ import annotations

import io
from typing import Any, NamedTuple

from separatrix.cli.guard import guard
from separatrix.cli.options import is_example, open_named
from separatrix.loop.problem import as_exact

_MOST_CELLS = 1_000_000
_LABEL = "label"  # the column of a built-in set with its labels, as in its CSV file


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

    asked = ColumnOptions(target, tuple(features or ()), tuple(exclude or ()))
    if db is None and data is not None and is_example(data):
        return _of_example(data, asked, sql)
    with open_named(data, sql, db, delimiter) as source:
        X, y, _ = _exact_rows(source, asked)
    return TraceData(X, y, {"labels": "own"})


def _of_example(name: str, asked: Any, sql: str | None) -> TraceData:
    """Return a built-in example with its lecture's options; the start only where all its columns are kept."""
    from dataclasses import replace

    from separatrix import datasets
    from separatrix.tables.sources.opening import open_stream

    if asked.target is not None and sql is None:
        raise ValueError(f"{name} is a built-in example and has its own labels; --target is for files")
    example = datasets.example(name)
    options = {**example.options, **example.view}
    if sql is None and not asked.features and not asked.exclude:
        return TraceData(example.X, example.y, options)
    source = open_stream(io.BytesIO(datasets.as_csv(name).encode()), example.name, sql=sql)
    with source:
        guard().reads_source(source, name)
        X, y, names = _exact_rows(source, replace(asked, target=asked.target or _LABEL))
    if names == [f"x{place + 1}" for place in range(len(example.X[0]))] or "start" not in options:
        return TraceData(X, y, options)
    del options["start"]
    return TraceData(X, y, options, f"{example.name}: other columns than the lecture's, so the start is zeros")


def _exact_rows(source: Any, asked: Any) -> tuple[Any, Any, list[str]]:
    """Return rows of exact numbers: of a CSV file as they are written, of others the shortest decimals for them."""
    from separatrix.tables.columns import choose
    from separatrix.tables.sources.base import TableSource
    from separatrix.tables.sources.exact import has_exact_numbers, read_exact
    from separatrix.tables.whole import read_whole

    names: list[str] = []
    if isinstance(source, TableSource):
        chosen = choose(source.name, source.columns, asked)
        names = list(chosen.order)
        exact = not source.typed and has_exact_numbers(source, (*chosen.numbers, *chosen.categories))
        if chosen.target is not None and exact:
            return *read_exact(source, chosen.order, chosen.target.name, _MOST_CELLS), names
    table = read_whole(source, asked)
    X = table.X.toarray() if hasattr(table.X, "toarray") else table.X
    if X.size > _MOST_CELLS:
        raise ValueError(f"{source.name} has more than {_MOST_CELLS:,} numbers, the most that trace can read")
    return [[as_exact(repr(value)) for value in row] for row in X.tolist()], table.y.tolist(), names
