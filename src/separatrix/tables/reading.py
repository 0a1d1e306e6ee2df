"""Batches of a table into rows of numbers and codes; missing and unusable values are found here."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import Floats, is_sparse
from separatrix.tables.arrow_columns import as_floats, as_label, as_texts, flags_as_text
from separatrix.tables.columns import ChosenColumns
from separatrix.tables.date_notations import ISO, date_parts, read_moments
from separatrix.tables.levels import Levels
from separatrix.tables.notations import read_numbers
from separatrix.tables.prefetch import done_ahead
from separatrix.tables.raw_rows import MISSING, RawRows
from separatrix.tables.sources.base import ColumnsChangedError
from separatrix.tables.sources.cells import MISSING_CELLS, is_number
from separatrix.tables.sources.csv_rows import threads
from separatrix.tables.sources.messages import quoted
from separatrix.tables.sources.plain_csv import NotPlain, PlainCsv
from separatrix.tables.split_column import SplitReader

ROWS = 1 << 16  # in a batch
_WHOLE = 2.0**53  # beyond it, not every whole number is a float


class NotationError(ValueError):
    """A cell is not written as the others of its column, ``column``."""

    def __init__(self, message: str, column: str) -> None:
        super().__init__(message)
        self.column = column


class Reader:
    """Reads the chosen columns of a table.

    Parameters
    ----------
    where : str
        The table, for messages.
    chosen : ChosenColumns
        Its columns.
    levels : list of Levels
        One for each category column.
    classes : Levels, optional
        Of the target; without it labels are not read.
    exact : bool
        Refuse whole numbers that no float equals.
    """

    def __init__(
        self, where: str, chosen: ChosenColumns, levels: list[Levels], classes: Levels | None, *, exact: bool = False
    ) -> None:
        self.exact = exact
        self.where, self.chosen, self.levels, self.classes = where, chosen, levels, classes
        self.rows = 0  # read so far
        self._columns_of_numbers = [column.name for column in chosen.numbers]  # of the parts of a date: the date
        self._columns_of_numbers += [column.name for column in chosen.dates for _ in chosen.parts[column.name]]
        self._complete = False  # whether no number was missing in the rows read last
        self.part: float | None = None  # of a plain CSV file
        self.plain = -1  # how many rows a plain CSV file had, once it has been read to its end
        self.split: SplitReader | None = None

    def _refuse_text(self, name: str, cells: list[Any], first: int) -> None:
        row, cell = next(
            ((k, each) for k, each in enumerate(cells) if isinstance(each, str) and not is_number(each)), (0, "")
        )
        if cell:
            raise ValueError(
                f"{self.where}, row {first + row:,}, column {name!r}: {quoted(cell)} is not a number"
            ) from None

    def _noted(self, read: Callable[[Any, str], Any], cells: Any, name: str, notation: str, first: int) -> Any:
        """Return what a column is in its notation, or say which cell is not written so."""
        try:
            return read(cells, notation)
        except ValueError as problem:
            row = problem.args[0]
        kind = "number" if read is read_numbers else "date or time"
        raise NotationError(
            f"{self.where}, row {first + row:,}, column {name!r}: {quoted(str(cells[row].as_py()))} is not a {kind} "
            f"written as the others are ({notation}): fix the cell, or leave it empty if the value is missing",
            name,
        )

    def read(self, batch: Any) -> RawRows:
        """Return the rows of an Arrow batch."""
        columns = {name: batch.column(place) for place, name in enumerate(batch.schema.names)}
        n, first = batch.num_rows, self.rows + 1
        chosen = self.chosen
        numbers = np.empty((n, len(chosen.number_names)))
        for place, column in enumerate(chosen.numbers):
            cells, notation = columns[column.name], chosen.notations.get(column.name)
            if notation is not None:
                numbers[:, place] = self._noted(read_numbers, cells, column.name, notation, first)
                continue
            try:
                numbers[:, place] = as_floats(cells)
            except ValueError:  # Arrow's: a column of text where the model has numbers
                self._refuse_text(column.name, cells.to_pylist(), first)
                raise
            if self.exact and column.whole and np.nanmax(np.abs(numbers[:, place]), initial=0.0) >= _WHOLE:
                _check_whole(self.where, column.name, cells.to_pylist(), first)
        place = len(chosen.numbers)
        for column in chosen.dates:
            parts, notation = chosen.parts[column.name], chosen.notations.get(column.name, ISO)
            moments = self._noted(read_moments, columns[column.name], column.name, notation, first)
            numbers[:, place : place + len(parts)] = date_parts(moments.moments, moments.there, parts, moments.local)
            place += len(parts)
        codes = np.empty((n, len(chosen.categories)), dtype=np.int32)
        for place, column in enumerate(chosen.categories):
            cells = columns[column.name]
            cells = flags_as_text(cells) if column.kind == "flag" else cells
            codes[:, place] = self.levels[place].encode(cells, first)
        labels = weights = None
        if chosen.target is not None and self.classes is not None:
            labels = self.classes.encode(columns[chosen.target.name], first)
        if chosen.weight is not None:
            weights = as_floats(columns[chosen.weight.name]).astype(np.float64)
        texts = [as_texts(columns[column.name]) for column in chosen.texts]
        order = None if self.split is None else self.split.read(columns[self.split.by.column], first)
        return self.checked(RawRows(numbers, codes, texts, labels, weights, order))

    def read_plain(
        self, X: Floats, codes: NDArray[np.int32], levels: dict[str, list[str]], take: list[int], numbers: list[str]
    ) -> RawRows:
        """Return the rows of a block of plain CSV: numbers by name, those to ``take``, codes of labels by name."""
        first = self.rows + 1
        chosen, n = self.chosen, len(X)
        place = {name: k for k, name in enumerate(levels)}

        def encoded(name: str, into: Levels) -> NDArray[np.int32]:
            values = [None if value in MISSING_CELLS else value for value in levels[name]]
            return into.translate(values, codes[:, place[name]], first)

        own = np.empty((n, len(chosen.categories)), dtype=np.int32)
        for k, column in enumerate(chosen.categories):
            own[:, k] = encoded(column.name, self.levels[k])
        labels = weights = None
        if chosen.target is not None and self.classes is not None:
            if chosen.target.name in place:
                labels = encoded(chosen.target.name, self.classes)
            else:
                values, places = np.unique(X[:, numbers.index(chosen.target.name)], return_inverse=True)
                if np.nanmax(np.abs(values), initial=0.0) >= _WHOLE:
                    raise NotPlain("a label is a whole number that floats do not hold")
                labels = self.classes.translate([as_label(value) for value in values.tolist()], places, first)
        if chosen.weight is not None:
            weights = X[:, numbers.index(chosen.weight.name)].copy()
        return self.checked(RawRows(_columns_of(X, take), own, [], labels, weights))

    def checked(self, raw: RawRows) -> RawRows:
        """Refuse what no model can learn from, and count the rows."""
        first = self.rows + 1
        self.rows += len(raw)
        self._complete = not is_sparse(raw.numbers) and all_finite(raw.numbers)
        if not self._complete:
            check_finite(self.where, raw.numbers, self.chosen.number_names, first)
        if raw.weights is not None:
            bad = (raw.weights < 0) | np.isinf(raw.weights)
            if bad.any():
                row = int(np.flatnonzero(bad)[0])
                assert self.chosen.weight is not None
                raise ValueError(
                    f"{self.where}, row {first + row:,}, column {self.chosen.weight.name!r}: the weight "
                    f"{raw.weights[row]:g} is not a number of at least 0"
                )
        return raw

    def missing(self, raw: RawRows) -> dict[str, NDArray[np.bool_]]:
        """Return which of the rows that were read last lack something, by column."""
        out: dict[str, NDArray[np.bool_]] = {}
        if not (self._complete or is_sparse(raw.numbers)):
            gone = np.isnan(raw.numbers)
            names = self._columns_of_numbers or [f"x{place}" for place in range(raw.numbers.shape[1])]
            out |= {names[place]: gone[:, place] for place in np.flatnonzero(gone.any(axis=0))}
        for k, column in enumerate(self.chosen.categories):
            out[column.name] = raw.codes[:, k] == MISSING
        for column, texts in zip(self.chosen.texts, raw.texts, strict=True):
            if not is_sparse(texts):
                out[column.name] = np.array([text is None for text in texts], dtype=bool)
        if raw.labels is not None and self.chosen.target is not None:
            out[self.chosen.target.name] = raw.labels == MISSING
        if raw.weights is not None and self.chosen.weight is not None:
            out[self.chosen.weight.name] = np.isnan(raw.weights)
        return {name: rows for name, rows in out.items() if rows.any()}


def _columns_of(X: Floats, take: list[int]) -> Floats:
    """Return some columns: without a copy where they are neighbours, as all of them or all but the last are."""
    if not take:
        return X[:, :0]
    if take == list(range(take[0], take[-1] + 1)):
        return X[:, take[0] : take[-1] + 1]
    return X.take(take, axis=1)


def _check_whole(where: str, name: str, cells: list[int | None], first: int) -> None:
    for row, cell in enumerate(cells):
        if cell is not None and int(float(cell)) != cell:
            raise ValueError(
                f"{where}, row {first + row:,}, column {name!r}: no 64-bit float equals {cell}, and a certificate is "
                "about the exact numbers"
            )


def all_finite(numbers: Floats) -> bool:
    """Return whether all numbers are finite; some that are very large may be taken for infinite."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(np.add.reduce(numbers, axis=None)))


def check_finite(where: str, numbers: Any, names: Sequence[str], first: int) -> None:
    """Refuse infinite numbers, naming the first."""
    values = numbers.data if is_sparse(numbers) else numbers
    endless = np.isinf(values)
    if is_sparse(numbers):
        endless |= np.isnan(values)
    if not endless.any():
        return
    if is_sparse(numbers):
        entry = int(np.flatnonzero(endless)[0])
        row = int(np.searchsorted(numbers.indptr, entry, side="right")) - 1
        at, value = f"index {int(numbers.indices[entry]) + 1}", values[entry]
    else:
        row, place = (int(k) for k in np.argwhere(endless)[0])
        at, value = f"column {names[place]!r}" if names else f"column {place}", values[row, place]
    raise ValueError(f"{where}, row {first + row:,}, {at}: {value:g} is not a finite number")


def table_rows(source: Any, reader: Reader, rows: int = ROWS) -> Generator[RawRows, None, None]:
    """Yield the rows of a table, batch after batch; plain CSV files are read by the core."""
    yield from _plain_rows(source, reader)
    reader.part, done = None, reader.rows
    if done == reader.plain:
        return
    source.settle()
    _check_unchanged(source, reader)
    for batch in source.batches(reader.chosen.names, rows=rows):
        if done >= batch.num_rows:  # the core has read these
            done -= batch.num_rows
            continue
        yield reader.read(batch.slice(done))
        done = 0


def _check_unchanged(source: Any, reader: Reader) -> None:
    """Refuse to go on where a column is not of the kind that its first rows had."""
    now = {column.name: column.kind for column in source.columns}
    chosen = reader.chosen
    for column in (*chosen.numbers, *(each for each in (chosen.target, chosen.weight) if each is not None)):
        if now[column.name] not in (column.kind, "text" if column.kind == "flag" else column.kind):
            raise ColumnsChangedError(
                f"{source.name}, column {column.name!r}: the first rows have a {column.kind} each, later ones a "
                f"{now[column.name]}"
            )


def _plain_rows(source: Any, reader: Reader) -> Iterator[RawRows]:
    """Yield the rows of a plain CSV file, or the first of them, up to something that is not plain."""
    chosen = reader.chosen
    if source.plain is None or reader.exact or reader.split is not None or not chosen.plain:
        return
    target = chosen.target if reader.classes is not None else None
    if target is not None and target.kind not in ("number", "text"):
        return
    path, delimiter, names, header = source.plain
    extra = [c for c in (target, chosen.weight) if c is not None and c.kind == "number"]
    numbers = {column.name for column in (*chosen.numbers, *extra)}
    labels = {column.name for column in chosen.categories}
    if target is not None and target.kind == "text":
        labels.add(target.name)
    kinds = ["number" if name in numbers else "label" if name in labels else "skip" for name in names]
    size = os.path.getsize(path)
    with contextlib.suppress(NotPlain):
        file = PlainCsv(path, delimiter, '"', names, kinds, threads(), header=header)
        place = {name: k for k, name in enumerate(file.number_names)}
        take = [place[column.name] for column in chosen.numbers]
        for X, codes, levels, part in done_ahead(_blocks(file, size)):
            reader.part = part
            yield reader.read_plain(X, codes, levels, take, file.number_names)
        reader.plain = reader.rows


def _blocks(file: PlainCsv, size: int) -> Iterator[tuple[Floats, NDArray[np.int32], dict[str, list[str]], float]]:
    """Yield the blocks of a file with the levels of its label columns so far, and what part of it has been read."""
    for X, codes in file.blocks():
        yield X, codes, {name: file.levels(name) for name in file.label_names}, file.position / max(size, 1)


def column_number(name: str | None) -> int | None:
    """Return the number of a column without a name, as in ``-1`` for the last; None if it is no number."""
    try:
        return int(name or "")
    except ValueError:
        return None


def without_column(X: Any, place: int) -> tuple[Any, NDArray[np.float64]]:
    """Return a matrix without one of its columns, and that column."""
    if is_sparse(X):
        from scipy import sparse

        place %= X.shape[1]
        rest = sparse.hstack([X[:, :place], X[:, place + 1 :]], format="csr")
        return rest, np.asarray(X[:, [place]].toarray(), dtype=np.float64).ravel()
    return np.delete(X, place, axis=1), np.asarray(X[:, place], dtype=np.float64)
