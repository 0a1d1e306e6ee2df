"""The column by which a test set is drawn, as ``--split`` names it: its cells become one number for each row.

Of ``time:COL`` that is the number itself, or microseconds since 1970 of a date or time; of ``group:COL`` the code of
the row's group, in the order in which groups appear.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from separatrix.geometry.rows import Floats
from separatrix.tables.arrow_columns import as_floats
from separatrix.tables.date_notations import ISO, date_notation, read_moments


class SplitBy(NamedTuple):
    """How a test set is drawn: ``kind`` is "time" or "group"."""

    kind: str
    column: str


def parse_split(text: str) -> SplitBy:
    """Return what ``--split`` names.

    Examples
    --------
    >>> parse_split("time:date of sale")
    SplitBy(kind='time', column='date of sale')
    """
    kind, sign, column = text.partition(":")
    if not sign or kind not in ("time", "group") or not column:
        raise ValueError(f"--split must be time:COL or group:COL, with the name of a column; found {text!r}")
    return SplitBy(kind, column)


def fold_words(split: str | None) -> str:
    """Return of what kind folds are, after their number; nothing for folds that are drawn by lot.

    Examples
    --------
    >>> fold_words("group:shop"), fold_words("time:day"), fold_words(None)
    (' of whole groups (shop)', ' in the order of day', '')
    """
    if split is None:
        return ""
    kind, column = parse_split(split)
    return f" of whole groups ({column})" if kind == "group" else f" in the order of {column}"


class SplitReader:
    """Reads the column, batch after batch.

    Parameters
    ----------
    where : str
        The table, for messages.
    split : str
        As ``--split`` has it.
    """

    def __init__(self, where: str, split: str) -> None:
        self.by = parse_split(split)
        self._where = where
        self._codes: dict[Any, int] = {}
        self._notation: str | None = None

    def read(self, cells: Any, first: int) -> Floats:
        """Return a number for each cell of an Arrow array; ``first`` is the number of its first row."""
        import pyarrow as pa

        if pa.types.is_dictionary(cells.type):
            cells = cells.dictionary_decode()
        if cells.null_count:
            self._refuse_gap(first + cells.is_null().to_pylist().index(True))
        return self._groups(cells) if self.by.kind == "group" else self._times(cells, first)

    def _at(self, row: int) -> str:
        return f"{self._where}, row {row:,}, column {self.by.column!r}"

    def _refuse_gap(self, row: int) -> None:
        raise ValueError(f"{self._at(row)}: missing value; --split needs one in every row")

    def _groups(self, cells: Any) -> Floats:
        encoded = cells.dictionary_encode()
        codes = [float(self._codes.setdefault(value, len(self._codes))) for value in encoded.dictionary.to_pylist()]
        return np.array(codes, dtype=np.float64)[as_floats(encoded.indices).astype(np.intp)]

    def _times(self, cells: Any, first: int) -> Floats:
        import pyarrow as pa

        kind = cells.type
        if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
            return _microseconds(cells, getattr(kind, "tz", None))
        if pa.types.is_string(kind) or pa.types.is_large_string(kind):
            return self._texts(cells, first)
        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)):
            raise ValueError(
                f"{self._where}, column {self.by.column!r} is {kind}; --split time needs dates, times or numbers"
            )
        numbers = as_floats(cells)
        if np.isnan(numbers).any():
            self._refuse_gap(first + int(np.flatnonzero(np.isnan(numbers))[0]))
        return numbers

    def _texts(self, cells: Any, first: int) -> Floats:
        """Return texts as dates in the notation that the first rows have in common, or say which is none."""
        if self._notation is None:
            self._notation = date_notation(set(cells.to_pylist()), sure=True) or ISO
        try:
            moments, _, known = read_moments(cells, self._notation)
        except ValueError as problem:
            row = problem.args[0]
            raise ValueError(
                f"{self._at(first + row)}: {cells[row].as_py()!r:.60} is not a date written as the others, or as "
                "2024-05-31, which --split time needs"
            ) from None
        if not known.all():
            self._refuse_gap(first + int(np.flatnonzero(~known)[0]))
        return moments.astype(np.float64)


def _microseconds(cells: Any, zone: str | None = None) -> Floats:
    """Return dates and times as microseconds since 1970."""
    import pyarrow as pa

    return as_floats(cells.cast(pa.timestamp("us", zone), safe=False).cast(pa.int64()))
