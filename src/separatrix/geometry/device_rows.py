"""Rows that are on a GPU: arrays of torch or CuPy, by the array API standard. They stay there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from separatrix.geometry.moments import SAMPLE
from separatrix.geometry.rows import Floats, Rows

_CHUNK = 1 << 24  # numbers that are looked at together


def on_device(X: Any) -> bool:
    """Whether X is an array that NumPy cannot read where it is; array_api_strict stands for such in tests."""
    library = type(X).__module__.partition(".")[0]
    return library in ("cupy", "array_api_strict") or (library == "torch" and getattr(X.device, "type", "cpu") != "cpu")


def namespace(X: Any) -> Any:
    """Return the functions of the array API standard for an array."""
    try:
        from sklearn.externals import array_api_compat  # from version 1.8
    except ImportError:
        try:
            import array_api_compat
        except ImportError:
            raise ImportError(
                "arrays on a device need scikit-learn 1.8 or newer, or the package array-api-compat"
            ) from None
    return array_api_compat.array_namespace(X)


def to_numpy(values: Any) -> Any:
    """Return an array of any library as one of NumPy, with its type."""
    if hasattr(values, "detach"):  # torch
        values = values.detach().cpu()
        values = values.float() if "bfloat16" in str(values.dtype) else values
    elif hasattr(values, "get") and not isinstance(values, np.ndarray):  # CuPy
        values = values.get()
    return np.asarray(values)


def rows_of(X: Any) -> Rows:
    """Return checked rows, where they are."""
    return DeviceRows(X) if on_device(X) else Rows(X)


class DeviceRows(Rows):
    """Checked rows on a device: ``values`` is the array, ``xp`` its namespace; ``matrix`` is a copy in memory."""

    def __init__(self, X: Any) -> None:
        self.names, self.values, self.xp = None, X.detach() if hasattr(X, "detach") else X, namespace(X)
        self.products: Any = None  # what a solver keeps beside the rows for all its tasks
        self.centre = None
        self._host: Rows | None = None
        if self.values.ndim != 2:
            raise ValueError(
                f"X must have one row for each example (2 dimensions); found shape {tuple(self.values.shape)}. "
                "Expected 2D array: reshape(-1, 1) makes rows of one feature, reshape(1, -1) one row"
            )
        if min(self.values.shape) < 1:
            n, d = self.values.shape
            raise ValueError(
                f"X is empty: found array with {n} sample(s) and {d} feature(s); a minimum of 1 is required"
            )
        kind = str(self.values.dtype).rpartition(".")[2]
        if not ("float" in kind and "complex" not in kind):
            raise ValueError(f"X on a device must hold floating-point numbers; found {kind}: convert it, as to float32")

    @property
    def matrix(self) -> Any:  # type: ignore[override]
        """The rows in memory, for what only the core does."""
        if self._host is None:
            self._host = Rows(to_numpy(self.values))
        return self._host.matrix

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        n, d = self.values.shape
        return int(n), int(d)

    def sample(self, most: int = SAMPLE) -> Rows:
        """Return evenly spaced rows, in memory."""
        return Rows(to_numpy(self.values[:: -(-self.shape[0] // most), :]))

    def where(self, kept: Any) -> DeviceRows:
        """Return the rows in these places."""
        places = self.xp.asarray(kept, device=self.values.device)
        return DeviceRows(self.xp.take(self.values, places, axis=0))

    def check_finite(self, rows: Iterable[int] | None = None) -> None:
        """Raise ValueError naming the first NaN or infinity among these rows (all, if None)."""
        if rows is not None:
            Rows(to_numpy(self.where(np.fromiter(rows, dtype=np.int64)).values)).check_finite()
            return
        n, d = self.shape
        together = max(1, _CHUNK // d)
        for first in range(0, n, together):
            part = self.values[first : min(first + together, n), :]
            finite = self.xp.all(self.xp.isfinite(part), axis=1)
            if not bool(self.xp.all(finite)):
                place = int(np.argmin(to_numpy(finite)))
                self.refuse_row(first + place)

    def refuse_row(self, row: int) -> None:
        """Raise ValueError naming the NaN or infinity in this row, if there is one."""
        alone = Rows(to_numpy(self.values[row : row + 1, :]))
        bad = np.flatnonzero(~np.isfinite(alone.values[0]))
        if bad.size:
            value = "NaN" if np.isnan(alone.values[0][bad[0]]) else "infinity"
            raise ValueError(
                f"X contains {value} in row {row}, column {int(bad[0])}: every value must be a finite number "
                "(fill or drop missing values first; inputs with NaN or inf are not accepted)"
            )

    def checked_activations(self, activations: Any, first: int = 0) -> Any:
        """Return the activations of these rows, or raise ValueError naming the first without one."""
        if isinstance(activations, np.ndarray):
            return super().checked_activations(activations, first)
        if bool(self.xp.any(self.xp.isnan(activations))):
            super().checked_activations(to_numpy(activations), first)
        return activations

    def decide(self, coef: Floats, intercept: Floats) -> Any:
        """Return the activations of these weights, on the device and in double precision."""
        xp = self.xp
        weights, bias = (xp.asarray(each, device=self.values.device, dtype=xp.float64) for each in (coef.T, intercept))
        n, d = self.shape
        together = max(1, _CHUNK // d)
        parts = [
            xp.astype(self.values[first : min(first + together, n), :], xp.float64, copy=False) @ weights + bias
            for first in range(0, n, together)
        ]
        return parts[0] if len(parts) == 1 else xp.concat(parts)
