"""A small CSV file as exact numbers, for traces: ``0.1`` is one tenth, ``1/3`` one third.

Not for large files: every cell becomes a Python number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from separatrix.tables.sources.base import Column, TableSource
from separatrix.tables.sources.cells import exact_number
from separatrix.tables.sources.messages import quoted


class ExactTable(NamedTuple):
    """Rows of exact numbers, and their labels: exact numbers too if all are numbers, else text."""

    X: list[list[Any]]
    y: list[Any]


def has_exact_numbers(source: TableSource, columns: Sequence[Column]) -> bool:
    """Return whether columns of a CSV file are numbers as they are written.

    A column of text is a category if none of its first cells is a number, as 1/3 is.
    """
    if source.typed or any(column.kind not in ("number", "text") for column in columns):
        return False
    texts = [column.name for column in columns if column.kind == "text"]
    first = next(iter(source.batches(texts))) if texts else None
    return first is None or all(any(map(_is_exact, column.to_pylist())) for column in first.columns)


def read_exact(source: TableSource, features: Sequence[str], target: str, most: int) -> ExactTable:
    """Read a CSV file of at most ``most`` cells; every cell needs a value, and those of features a number."""
    names = [*features, target]
    source.read_as([], names)
    X: list[list[Any]] = []
    labels: list[str] = []
    for batch in source.batches(names, rows=4096):
        if (len(X) + batch.num_rows) * len(names) > most:
            raise ValueError(f"{source.name} has more than {most:,} cells, the most that trace can read")
        for *cells, label in zip(*(column.to_pylist() for column in batch.columns), strict=True):
            where = f"{source.name}, row {len(X) + 1}"
            X.append([_number(cell, f"{where}, column {name!r}") for name, cell in zip(features, cells, strict=True)])
            if label is None:
                raise ValueError(f"{where}, column {target!r}: the label is missing")
            labels.append(label)
    numbers = [exact_number(label) for label in labels]
    return ExactTable(X, labels if None in numbers else numbers)


def _number(cell: str | None, where: str) -> Any:
    if cell is None:
        raise ValueError(f"{where}: the value is missing")
    value = exact_number(cell)
    if value is None:
        raise ValueError(f"{where}: {quoted(cell)} is not a number")
    return value


def _is_exact(cell: str | None) -> bool:
    return cell is not None and exact_number(cell) is not None
