"""Rows that are dicts: which column each key stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import _core
from separatrix.geometry.rows import Floats


class _Kept(NamedTuple):
    """A matrix of one sparse row, its values, the place of each key's value among them, and its width."""

    matrix: _core.Matrix
    values: Floats
    places: NDArray[np.intp]
    width: int


class Columns:
    """Which column each key of a dict stands for."""

    def __init__(self, features: Sequence[str] | str | None, model: Any) -> None:
        self._hashed = isinstance(features, str)
        if isinstance(features, str):
            if features != "hash":
                raise ValueError(f"features must be names, 'hash' or None; found {features!r}")
            self._width = int(getattr(model, "n_features_in_", 1 << 18))
        names = [] if features is None or self._hashed else list(features)
        known = [str(name) for name in getattr(model, "feature_names_in_", ())]
        self._fixed = bool(names) or bool(known)
        self._places = {name: place for place, name in enumerate(names or known)}
        self._least = int(getattr(model, "n_features_in_", 0))
        self._last: tuple[Any, ...] = ()  # the keys of the last row, and what was made of them
        self._kept: _Kept | None = None
        if len(self._places) < self._least and not self._hashed and self._fixed:
            raise ValueError(f"features must name the {self._least} columns of the model; found {len(self._places)}")

    def __len__(self) -> int:
        return self._width if self._hashed else max(len(self._places), self._least)

    def __getstate__(self) -> dict[str, Any]:
        self._forget()
        return {name: value for name, value in vars(self).items() if name != "_kept"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._forget()

    def _forget(self) -> None:
        self._last, self._kept = (), None

    def matrix(self, x: Mapping[Any, Any], width: int, *, learning: bool) -> _core.Matrix | None:
        """Return a row as a matrix of this width, valid until the next; None where it has new columns to learn."""
        keys = tuple(x)
        kept = self._kept
        if kept is not None and keys == self._last and kept.width == width:
            kept.values[kept.places] = list(x.values())
            return kept.matrix
        indices, values = self.of(x, None if learning else width)
        if len(indices) and int(indices[-1]) >= width:
            return None
        matrix = _core.csr(values, indices, np.array([0, len(indices)], dtype=np.int32), width)
        self._forget()
        if not self._hashed and len(indices) == len(keys):  # the next row may have the same keys
            places = np.searchsorted(indices, [self._places[name] for name in keys])
            self._last, self._kept = keys, _Kept(matrix, values, places, width)
        return matrix

    def of(self, x: Mapping[Any, Any], known: int | None = None) -> tuple[NDArray[np.int32], Floats]:
        """Return columns, ascending, and values; keys from ``known`` on, where it is given, are left out."""
        if self._hashed:
            return self._hash_all(x)
        places = self._places
        pairs = []
        for name, value in x.items():
            place = places.get(name)
            if place is None:
                if self._fixed:
                    shown = ", ".join(map(repr, list(places)[:5]))
                    raise ValueError(f"the row has a feature {name!r}, which is none of the model's ({shown}, ...)")
                if known is not None:
                    continue
                place = places[name] = len(places)
            if known is None or place < known:
                pairs.append((place, value))
        pairs.sort()
        return (
            np.array([place for place, _ in pairs], dtype=np.int32),
            np.array([value for _, value in pairs], dtype=np.float64),
        )

    def _hash_all(self, x: Mapping[Any, Any]) -> tuple[NDArray[np.int32], Floats]:
        from sklearn.utils import murmurhash3_32

        sums: dict[int, float] = {}
        for name, value in x.items():
            hashed = murmurhash3_32(f"{name}={value}" if isinstance(value, str) else name, 0)
            number = 1.0 if isinstance(value, str) else float(value)
            place = abs(hashed) % self._width
            sums[place] = sums.get(place, 0.0) + (number if hashed >= 0 else -number)
        places = sorted(sums)
        return np.array(places, dtype=np.int32), np.array([sums[place] for place in places])
