"""What statements and solutions are made of: paragraphs and tables, the formulas in them between backticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

from separatrix.rules import Number


@dataclass(frozen=True)
class Table:
    """A table: names of columns and rows of cells; cells that are numbers or vectors are set as formulas.

    ``grouped`` says that the first cells name groups of rows, such as epochs: LaTeX and HTML draw a rule between them.
    """

    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    grouped: bool = False

    @classmethod
    def of(cls, head: Sequence[str], rows: Sequence[Sequence[object]], *, grouped: bool = False) -> Table:
        """Return a table of these; whatever is not text is written as a number."""
        cells = tuple(tuple(each if isinstance(each, str) else num(each) for each in row) for row in rows)
        return cls(tuple(head), cells, grouped)

    @property
    def ends(self) -> list[bool]:
        """Whether a group ends with each row, and another begins after it."""
        after = [*(row[0] for row in self.rows[1:]), self.rows[-1][0]]
        return [self.grouped and row[0] != other for row, other in zip(self.rows, after, strict=True)]


Block = str | Table
"""A paragraph or a table."""


def num(value: object) -> str:
    """Return a whole number or a fraction as text.

    Examples
    --------
    >>> num(Fraction(4, 2)), num(Fraction(-1, 2))
    ('2', '-1/2')
    """
    return str(Fraction(value)) if isinstance(value, int | Fraction) else str(value)


def vec(values: Sequence[Number]) -> str:
    """Return a vector as text: ``(1, -1/2)``."""
    return "(" + ", ".join(num(value) for value in values) + ")"


def linear(weights: Sequence[Number], constant: Number, names: Sequence[str] = ("x1", "x2", "x3", "x4")) -> str:
    """Return a linear expression as text.

    Examples
    --------
    >>> linear((1, -2), Fraction(1, 2)), linear((0, -1), 0), linear((0, 0), 0)
    ('x1 - 2 x2 + 1/2', '-x2', '0')
    """
    terms = [(weight, name) for weight, name in zip(weights, names[: len(weights)], strict=True) if weight]
    text = ""
    for value, name in [*terms, *([(constant, "")] if constant else [])]:
        size = num(abs(Fraction(value)))
        term = name if size == "1" and name else f"{size} {name}".strip()
        text += (f" {'-' if value < 0 else '+'} " if text else "-" if value < 0 else "") + term
    return text or "0"


def points_table(points: Sequence[Sequence[Number]], labels: Sequence[int], label: str = "y") -> Table:
    """Return the examples of an exercise as a table, counted from 1."""
    names = [f"`x{j}`" for j in range(1, len(points[0]) + 1)]
    signed = [f"+{value}" if label == "y" and value > 0 else str(value) for value in labels]
    rows = [[str(i), *map(num, x), t] for i, (x, t) in enumerate(zip(points, signed, strict=True), start=1)]
    return Table.of(["example", *names, f"`{label}`"], rows)
