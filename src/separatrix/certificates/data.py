"""The data of one binary task, taken as the exact numbers that they are.

A certificate is about these numbers and no others, so whatever would be rounded on the way in is refused.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.certificates.exact_rows import ExactRows
from separatrix.geometry.rows import Floats, Rows, column_names, frame_columns, is_sparse
from separatrix.loop.problem import encode_labels

_SECRET = int.from_bytes(os.urandom(8), "little")  # rows whose keys agree by design would hide each other
_MOST_PAIRS = 100  # contradictions that are named
_AT_ONCE = 4096  # rows that are compared at a time


@dataclass(frozen=True, eq=False)
class Data:
    """Rows and signs of one binary task: whether a row is ``positive`` or ``negative`` (None: any other class).

    ``index`` holds the rows' numbers in the whole table, None if the task uses all rows.
    """

    rows: Rows
    signs: Floats
    free: bool
    positive: Any
    negative: Any
    index: NDArray[np.intp] | None = None

    @property
    def n(self) -> int:
        """How many rows there are."""
        return self.rows.shape[0]

    @property
    def d(self) -> int:
        """How many features there are."""
        return self.rows.shape[1]

    @property
    def dimension(self) -> int:
        """How many numbers a plane has."""
        return self.d + self.free

    @cached_property
    def exact(self) -> ExactRows:
        """The rows as integers."""
        return ExactRows(self.rows, self.signs, self.free)

    def part(self, places: NDArray[np.intp]) -> Data:
        """Return the data of these rows alone."""
        rows = Rows(self.rows.values[places])
        return Data(rows, self.signs[places], self.free, self.positive, self.negative)

    @cached_property
    def row_keys(self) -> NDArray[np.uint64]:
        """A key of what each row holds."""
        return _core.row_keys(self.rows.matrix, 0, processors())

    @cached_property
    def key(self) -> str:
        """What tells these data from others: rows, labels and their order; not how they are stored."""
        whole = hashlib.blake2b(str(self.rows.shape).encode(), digest_size=16)
        whole.update(self.row_keys.astype("<u8", copy=False).tobytes())
        whole.update((self.signs > 0).tobytes())
        return whole.hexdigest()

    @cached_property
    def contradictions(self) -> tuple[int, tuple[tuple[int, int], ...]]:
        """How many points carry both labels, and for the first of them a row of each label."""
        pairs = self.pairs
        return len(pairs), tuple((self.number(a), self.number(b)) for a, b in pairs[:_MOST_PAIRS].tolist())

    @cached_property
    def pairs(self) -> NDArray[np.intp]:
        """Where the points that carry both labels stand: the first row of each label.

        Rows are matched by keys that nobody can foresee, and then compared number by number.
        """
        keys, positive = _core.row_keys(self.rows.matrix, _SECRET, processors()), self.signs > 0
        places = _core.on_both_sides(keys, positive)
        some, others = (places[positive[places] == side] for side in (True, False))
        shared = np.intersect1d(keys[some], keys[others])
        if not len(shared):
            return np.empty((0, 2), dtype=np.intp)
        sides = [own[np.isin(keys[own], shared)] for own in (others, some)]
        firsts = [own[np.unique(keys[own], return_index=True)[1]] for own in sides]
        alike = self._alike(*firsts)
        pairs = np.sort(np.stack(firsts, axis=1)[alike], axis=1)
        return pairs[np.argsort(pairs[:, 0])]

    def _alike(self, some: NDArray[np.intp], others: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which of these rows hold the same numbers as their partners."""
        alike = np.empty(len(some), dtype=bool)
        for first in range(0, len(some), _AT_ONCE):
            part = slice(first, first + _AT_ONCE)
            one, other = self.rows.values[some[part]], self.rows.values[others[part]]
            differs = (one != other).sum(axis=1) if is_sparse(one) else (one != other).any(axis=1)
            alike[part] = np.ravel(np.asarray(differs)) == 0
        return alike

    def number(self, place: int) -> int:
        """Return the number in the whole table of the row at this place."""
        return int(place if self.index is None else self.index[place])

    def numbers(self, places: Any) -> tuple[int, ...]:
        """Return the numbers in the whole table of the rows at these places."""
        return tuple(np.asarray(places if self.index is None else self.index[np.asarray(places)]).tolist())

    def places(self, numbers: Any) -> NDArray[np.intp] | None:
        """Return where the rows of these numbers stand here; None if one of them does not, or stands twice."""
        try:
            wanted = np.asarray(numbers, dtype=np.int64) if set(map(type, numbers)) == {int} else np.empty(0)
        except OverflowError:
            return None
        if not len(wanted):
            return None
        if not (np.diff(wanted) > 0).all() and len(np.unique(wanted)) < len(wanted):
            return None
        if self.index is None:
            inside = len(wanted) and int(wanted.min()) >= 0 and int(wanted.max()) < self.n
            return wanted.astype(np.intp) if inside else None
        places = np.minimum(np.searchsorted(self.index, wanted), len(self.index) - 1)
        return places if np.array_equal(self.index[places], wanted) else None


def processors() -> int:
    """Return how many threads passes over the data may use; they never change a result."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def read(X: Any, y: Any, *, finite: bool = True) -> tuple[Rows, NDArray[Any], NDArray[np.int32]]:
    """Return the checked rows, the classes and each row's place among them; nothing has been rounded.

    Without ``finite`` the caller compares the data with others that are known to be finite.
    """
    refuse_rounding(X)
    rows = Rows(X)
    if finite:
        rows.check_finite()
    return rows, *encode_labels(y, rows.shape[0])


def binary_data(
    rows: Rows, classes: NDArray[Any], codes: NDArray[np.int32], free: bool, positive: int, negative: int | None = None
) -> Data:
    """Return the data of class ``positive`` against ``negative`` (None: all other classes), given by their codes."""
    labels = classes.tolist()
    if negative is None and len(classes) > 2:
        return Data(rows, np.where(codes == positive, 1.0, -1.0), free, labels[positive], None)
    if negative is None:
        negative = 1 - positive
    signs = np.where(codes == positive, 1.0, -1.0)
    if len(classes) == 2:
        return Data(rows, signs, free, labels[positive], labels[negative])
    index = np.flatnonzero((codes == positive) | (codes == negative))
    part = Rows(rows.values[index])
    part.names = rows.names
    return Data(part, signs[index], free, labels[positive], labels[negative], index)


def refuse_rounding(X: Any) -> None:
    """Refuse what would not come out as it went in: numbers that no 64-bit float equals, and masks."""
    if isinstance(X, np.ma.MaskedArray) and np.ma.is_masked(X):
        raise ValueError("X is a masked array with masked values: fill or drop them first")
    if column_names(X) is not None:
        for column, values in enumerate(frame_columns(X)):
            rows = _rounded(values)
            if len(rows):
                _refuse(values[rows[0]], f"row {rows[0]}, column {column}")
    elif is_sparse(X):
        if X.dtype.itemsize >= 8 and X.dtype != np.float64:
            table = X.tocsr(copy=True)
            table.sum_duplicates()
            places = _rounded(table.data)
            if len(places):
                row = int(np.searchsorted(table.indptr, places[0], side="right")) - 1
                _refuse(table.data[places[0]], f"row {row}, column {table.indices[places[0]]}")
    else:
        values = X if isinstance(X, np.ndarray) else _as_objects(X)
        places = _rounded(values)
        if len(places) and values.ndim == 2:
            row, column = divmod(int(places[0]), values.shape[1])
            _refuse(values[row, column], f"row {row}, column {column}")


def _refuse(value: Any, where: str) -> None:
    raise ValueError(
        f"X holds {value} in {where}, which is not exactly a 64-bit float: a proof would be about another number. "
        "Round it, shift its whole column (with an intercept that changes nothing), or multiply all of X by a constant"
    )


def _as_objects(X: Any) -> NDArray[Any]:
    """Return lists of numbers as they are, before NumPy finds one type for all; empty if they are no table."""
    try:
        return np.array(X, dtype=object)
    except ValueError:
        return np.empty(0)


def _rounded(values: NDArray[Any]) -> NDArray[np.intp]:
    """Return the places of the numbers that change when they become 64-bit floats."""
    flat = values.ravel()
    if values.dtype.kind == "O":
        return np.array([k for k, value in enumerate(flat) if _changes(value)], dtype=np.intp)
    if values.dtype.kind in "iu" and values.dtype.itemsize == 8:
        edge = values.dtype.type(2**53)
        large = np.flatnonzero(flat > edge if values.dtype.kind == "u" else (flat > edge) | (flat < -edge))
        return np.array([k for k in large.tolist() if _changes(int(flat[k]))], dtype=np.intp)
    if values.dtype.kind == "f" and values.dtype.itemsize > 8:
        with np.errstate(over="ignore"):
            return np.flatnonzero((flat.astype(np.float64) != flat) & np.isfinite(flat))
    return np.empty(0, dtype=np.intp)


def _changes(value: Any) -> bool:
    """Return whether this number is another one as a float; what is no number is refused elsewhere."""
    if isinstance(value, np.integer):
        value = int(value)
    if isinstance(value, np.floating) and value.itemsize > 8:
        return bool(np.isfinite(value) and type(value)(float(value)) != value)
    if not isinstance(value, int | Fraction | Decimal) or (isinstance(value, Decimal) and not value.is_finite()):
        return False
    try:
        return Fraction(float(value)) != Fraction(value)
    except OverflowError:
        return True
