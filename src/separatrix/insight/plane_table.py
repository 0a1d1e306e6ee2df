"""What a plane says of each row, as a table: Markdown, LaTeX, HTML, CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.insight.exact_numbers import read_rows, shown, vector
from separatrix.insight.signs import label_signs
from separatrix.rules import Number
from separatrix.text import csv_text, html_table, latex, markdown

if TYPE_CHECKING:
    from separatrix.insight.plane import Plane


@dataclass(frozen=True)
class PlaneTable:
    """The table of :meth:`separatrix.Plane.table`.

    Attributes
    ----------
    columns : dict of lists
        The numbers of each column by its name, in order; ``x`` holds the rows.
    wrong : list of bool
        Which rows are mistakes; one on the plane is, unless it is of the negative class and does not fire.
    names : list of str
        The names of the features.
    decimals : bool
        Whether 1/2 is written as 0.5.

    Examples
    --------
    >>> from separatrix import Plane
    >>> print(Plane((3, 4), threshold=5).table([(1, 1), (0, 1)], [1, 0]).to_markdown())
    | example | x      | y | activation | side | distance | margin |
    |---------|--------|---|------------|------|----------|--------|
    | 1       | (1, 1) | 1 | 2          | 1    | 0.4      | 2      |
    | 2       | (0, 1) | 0 | -1         | -1   | -0.2     | 1      |
    """

    columns: dict[str, list[Any]]
    wrong: list[bool]
    names: list[str]
    decimals: bool = True

    @classmethod
    def of(
        cls, plane: Plane, X: Any, y: Any = None, *, threshold: bool, decimals: bool, names: Sequence[str] | None
    ) -> PlaneTable:
        """Return the table of a plane."""
        width = len(plane.weights)
        rows, single = read_rows(X, width)
        if single:
            X, y = [X], None if y is None else [y] if np.ndim(y) == 0 else y
        values: Any = rows if isinstance(rows, tuple) else (rows.toarray() if hasattr(rows, "toarray") else rows)
        points = [tuple(row) for row in (values if isinstance(values, tuple) else values.tolist())]
        columns: dict[str, list[Any]] = {"example": list(range(1, len(points) + 1)), "x": points}
        if y is not None:
            columns["t" if threshold else "y"] = np.asarray(y).tolist()
        if threshold:
            columns["h"] = plane.h(X).tolist()
            columns["output"] = plane.fires(X).tolist()
        else:
            columns["activation"] = plane.activation(X).tolist()
            columns["side"] = plane.side(X).tolist()
        if any(plane.weights):
            columns["distance"] = plane.distance(X).tolist()
        wrong = [False] * len(points)
        if y is not None:
            margins = plane.margins(X, y).tolist()
            columns["margin"] = margins
            wrong = [margin <= 0 for margin in margins]
            if threshold:  # a tie does not fire, which is right for the negative class
                positive = label_signs(y, len(points)) > 0
                wrong = [
                    margin < 0 or (margin == 0 and bool(one)) for margin, one in zip(margins, positive, strict=True)
                ]
        named = [f"x{place + 1}" for place in range(width)] if names is None else [str(name) for name in names]
        if len(named) != width:
            raise ValueError(f"names must hold one name for each of the {width} features; found {len(named)}")
        return cls(columns, wrong, named, decimals)

    def with_labels(self, labels: Sequence[Any]) -> PlaneTable:
        """Return the same table with other words for the labels."""
        name = "t" if "t" in self.columns else "y"
        return replace(self, columns={**self.columns, name: list(labels)})

    def __len__(self) -> int:
        return len(self.columns["x"])

    def header(self) -> list[str]:
        """Return the names of the columns."""
        return list(self.columns)

    def rows(self, most: int | None = None) -> list[list[str]]:
        """Return the cells as text, those of the first rows if ``most`` is given."""
        parts = [values[:most] for values in self.columns.values()]
        return [[self._cell(value) for value in row] for row in zip(*parts, strict=True)]

    def _cell(self, value: Any) -> str:
        if isinstance(value, tuple):
            return vector(value, decimals=self.decimals)
        return value if isinstance(value, str) else self._number(value)

    def _number(self, value: Number) -> str:
        return str(value) if isinstance(value, bool) else shown(value, decimals=self.decimals)

    def to_markdown(self) -> str:
        """Return the table as Markdown."""
        return markdown(self.header(), self.rows())

    def to_latex(self) -> str:
        """Return the table as a LaTeX tabular."""
        return latex(self.header(), self.rows())

    def to_html(self) -> str:
        """Return the table as HTML, with the mistakes marked."""
        return html_table(self.header(), self.rows(), marked=self.wrong)

    def _repr_html_(self) -> str:
        return self.to_html()

    def to_csv(self) -> str:
        """Return the table as comma-separated values, each coordinate in a column of its own; floats in full."""
        head = [part for name in self.header() for part in (self.names if name == "x" else [name])]
        rows = []
        for row in zip(*self.columns.values(), strict=True):
            flat = [part for value in row for part in (value if isinstance(value, tuple) else (value,))]
            rows.append([repr(part) if isinstance(part, float) else self._cell(part) for part in flat])
        return csv_text(head, rows)
