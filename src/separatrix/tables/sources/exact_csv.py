"""A small CSV file with exact numbers, for traces: ``0.1`` is one tenth.

Not for large files: every cell becomes a Python number.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any, NamedTuple

from separatrix.loop.problem import as_exact

_MOST_CELLS = 1_000_000


class ExactTable(NamedTuple):
    """Rows of exact numbers, their labels, and the names of the columns."""

    X: list[list[Any]]
    y: list[Any]
    names: list[str]


def read_exact_csv(path: str | Path, target: str) -> ExactTable:
    """Read a CSV file with a header line; the column ``target`` holds the labels, all others numbers."""
    table = _read(Path(path), target)
    return table._replace(y=_as_numbers(table.y))


def _read(path: Path, target: str) -> ExactTable:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:
            lines = [line for line in csv.reader(file, strict=True) if line]
    except FileNotFoundError:
        raise ValueError(f"there is no file {path}") from None
    except IsADirectoryError:
        raise ValueError(f"{path} is a folder; a CSV file is needed") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not text in UTF-8; a CSV file is needed") from None
    except OSError as problem:
        raise ValueError(f"{path} cannot be read: {problem.strerror}") from None
    except csv.Error as problem:
        raise ValueError(f"{path} is not a CSV file: {problem}") from None
    if not lines:
        raise ValueError(f"{path} is empty; a header line and at least one row are needed")
    head = [name.strip() for name in lines[0]]
    if target not in head:
        raise ValueError(f"{path} has no column {target!r}; its columns are {', '.join(head)}")
    if len(lines) * len(head) > _MOST_CELLS:
        raise ValueError(f"{path} has more than {_MOST_CELLS:,} cells, the most that this command takes")
    twice = next((name for k, name in enumerate(head) if name in head[:k]), None)
    if twice is not None:
        raise ValueError(f"{path} has two columns called {twice!r}")
    place = head.index(target)
    names = head[:place] + head[place + 1 :]
    if not names:
        raise ValueError(f"{path} has only the column {target!r}; at least one column of numbers is needed")
    if len(lines) == 1:
        raise ValueError(f"{path} has a header line and no rows")
    X, y = [], []
    for row, line in enumerate(lines[1:], start=1):
        if len(line) != len(head):
            raise ValueError(f"{path}, row {row}: {len(line)} cells where the header has {len(head)}")
        y.append(line[place].strip())
        if not y[-1]:
            raise ValueError(f"{path}, row {row}, column {target!r}: the label is missing")
        cells = line[:place] + line[place + 1 :]
        values = []
        for name, cell in zip(names, cells, strict=True):
            try:
                values.append(as_exact(cell.strip()))
            except (ValueError, OverflowError):
                found = f"the text {cell!r}" if cell.strip() else "nothing"
                raise ValueError(f"{path}, row {row}, column {name!r}: found {found} where a number belongs") from None
        X.append(values)
    return ExactTable(X, y, names)


def _as_numbers(labels: list[str]) -> list[Any]:
    """Return labels that are all numbers as numbers, so that 9.0 sorts before 10.0; else the text."""
    try:
        return [as_exact(label) for label in labels]
    except ValueError:
        return list(labels)
