"""Rows that are dicts: which column each key stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats


class _Kept(NamedTuple):
    """A matrix of one sparse row, its values and columns, the place of each key's value among them, and its width."""

    matrix: _core.Matrix
    values: Floats
    indices: NDArray[np.int32]
    places: NDArray[np.intp]
    width: int


class Columns:
    """Which column each key of a dict stands for."""

    def __init__(self, features: Sequence[str] | str | None, model: Any) -> None:
        known = [str(name) for name in getattr(model, "feature_names_in_", ())]
        width = getattr(model, "n_features_in_", None)
        self._hashed, self._width = isinstance(features, str), int(width or 1 << 18)
        if isinstance(features, str) and features != "hash":
            raise ValueError(f"features must be names, 'hash' or None; found {features!r}")
        names = [] if features is None or self._hashed else list(features)
        if len(set(names)) < len(names):
            twice = next(name for name in names if names.count(name) > 1)
            raise ValueError(f"features names the column {twice!r} twice")
        if names and width is not None and (len(names) != width or (known and names != known)):
            shown = ", ".join(map(repr, known[:5])) if known else f"{width} columns"
            raise ValueError(f"features must be those that the model was fitted to, in their order: {shown}")
        self._fixed = bool(names or known)
        self._places = {name: place for place, name in enumerate(names or known)}
        self._forget()

    @property
    def width(self) -> int:
        """How many columns there are; those of dicts that have come so far."""
        return self._width if self._hashed else len(self._places)

    def __getstate__(self) -> dict[str, Any]:
        self._forget()
        return vars(self)

    def _forget(self) -> None:
        self._last: tuple[Any, ...] = ()  # the keys of the last row, and what was made of them
        self._kept: _Kept | None = None

    def new(self, x: Mapping[Any, Any], known: int) -> list[Any]:
        """Return the keys of a row that have no column yet; refuse those that cannot have one.

        ``known`` columns are those of the model.
        """
        if self._hashed or tuple(x) == self._last:
            return []
        if known > len(self._places):
            raise ValueError("the model's columns have no names, so a row cannot be a dict: name them in features")
        new = [name for name in x if name not in self._places]
        if new and self._fixed:
            shown = ", ".join(map(repr, list(self._places)[:5]))
            raise ValueError(f"the row has a feature {new[0]!r}, which is none of the model's ({shown}, ...)")
        return new

    def add(self, names: Sequence[Any]) -> None:
        """Give keys a column each, after the others."""
        for name in names:
            self._places[name] = len(self._places)

    def remove(self, names: Sequence[Any]) -> None:
        """Take back columns that were added last."""
        if not names:
            return
        self._forget()
        for name in names:
            del self._places[name]

    def matrix(self, x: Mapping[Any, Any], width: int) -> tuple[_core.Matrix, Floats, NDArray[np.int32]]:
        """Return a row as a matrix of this width, valid until the next, its numbers and their columns."""
        keys = tuple(x)
        kept = self._kept
        if kept is not None and keys == self._last and kept.width == width:
            kept.values[kept.places] = numbers(x)
            return kept.matrix, kept.values, kept.indices
        indices, values = self.of(x)
        matrix = _core.csr(values, indices, np.array([0, len(indices)], dtype=np.int32), width)
        self._forget()
        if not self._hashed and len(indices) == len(keys):  # the next row may have the same keys
            places = np.searchsorted(indices, [self._places[name] for name in keys])
            self._last, self._kept = keys, _Kept(matrix, values, indices, places, width)
        return matrix, values, indices

    def of(self, x: Mapping[Any, Any]) -> tuple[NDArray[np.int32], Floats]:
        """Return columns, ascending, and values; keys without a column are left out."""
        if self._hashed:
            return self._hash_all(x)
        known = {name: value for name, value in x.items() if name in self._places}
        places = np.array([self._places[name] for name in known], dtype=np.int32)
        order = np.argsort(places, kind="stable")
        return places[order], numbers(known)[order]

    def _hash_all(self, x: Mapping[Any, Any]) -> tuple[NDArray[np.int32], Floats]:
        from sklearn.utils import murmurhash3_32

        sums: dict[int, float] = {}
        for name, value in x.items():
            if not isinstance(name, str):
                raise TypeError(f"keys that are hashed must be texts; found {name!r}")
            hashed = murmurhash3_32(f"{name}={value}" if isinstance(value, str) else name, 0)
            number = 1.0 if isinstance(value, str) else float(numbers({name: value})[0])
            place = abs(hashed) % self._width
            sums[place] = sums.get(place, 0.0) + (number if hashed >= 0 else -number)
        places = sorted(sums)
        return np.array(places, dtype=np.int32), np.array([sums[place] for place in places])


def numbers(x: Mapping[Any, Any]) -> Floats:
    """Return the values of a row as numbers; refuse what is none by its key."""
    made = np.array(list(x.values()))
    if made.dtype.kind in "biuf" and made.ndim == 1:
        return made.astype(np.float64, copy=False)
    if not x:
        return np.empty(0)
    for name, value in x.items():
        if np.asarray(value).dtype.kind not in "biuf" or np.ndim(value):
            hint = " (features='hash' takes texts)" if isinstance(value, str) else ""
            raise ValueError(f"the row has {value!r} for {name!r}, where a number belongs{hint}")
    return made.astype(np.float64)
