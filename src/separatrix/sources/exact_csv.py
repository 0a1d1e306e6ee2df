"""A small CSV file: with exact numbers for traces, where ``0.1`` is one tenth, or with floats.

Not for large files: every cell becomes a Python number.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from separatrix.problem import as_exact
from separatrix.rows import Floats

_MOST_CELLS = 1_000_000
_MOST_FLOATS = 50_000_000
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
_WHOLE = 2.0**53  # beyond it, not every whole number is a float


class ExactTable(NamedTuple):
    """Rows of exact numbers, their labels, and the names of the columns."""

    X: list[list[Any]]
    y: list[Any]
    names: list[str]


def read_exact_csv(path: str | Path, target: str) -> ExactTable:
    """Read a CSV file with a header line; the column ``target`` holds the labels, all others numbers."""
    table = _read(Path(path), target, as_exact, _MOST_CELLS)
    return table._replace(y=_as_numbers(table.y))


def read_float_csv(path: str | Path, target: str) -> tuple[Floats, list[Any], list[str]]:
    """Read the same with every number rounded to the nearest float."""
    table = _read(Path(path), target, _as_float, _MOST_FLOATS)
    whole = all(_INTEGER.fullmatch(label) for label in set(table.y))
    labels = [int(label) for label in table.y] if whole else table.y
    return np.array(table.X, dtype=np.float64), labels, table.names


def _as_float(cell: str) -> float:
    if "_" in cell or not cell.isascii():
        raise ValueError("no number as others write it")
    try:
        value = float(cell)
    except ValueError:
        value = float(as_exact(cell))
    if not np.isfinite(value):
        raise ValueError("no finite number")
    if abs(value) >= _WHOLE and as_exact(cell) != value:
        raise ValueError("a whole number that no float equals")
    return value


def _read(path: Path, target: str, number: Callable[[str], Any], most: int) -> ExactTable:
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
    if len(lines) * len(head) > most:
        raise ValueError(f"{path} has more than {most:,} cells, the most that this command takes")
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
                values.append(number(cell.strip()))
            except (ValueError, OverflowError):
                found = f"the text {cell!r}" if cell.strip() else "nothing"
                wanted = "a number belongs" if number is as_exact else "a number that a 64-bit float can hold belongs"
                raise ValueError(f"{path}, row {row}, column {name!r}: found {found} where {wanted}") from None
        X.append(values)
    return ExactTable(X, y, names)


def _as_numbers(labels: list[str]) -> list[Any]:
    """Return labels that are all numbers as numbers, so that 9.0 sorts before 10.0; else the text."""
    try:
        return [as_exact(label) for label in labels]
    except ValueError:
        return list(labels)
