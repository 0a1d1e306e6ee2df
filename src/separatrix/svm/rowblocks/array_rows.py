"""Rows of any library that follows the array API standard: on a GPU they stay there, and so does what is kept for them.

Rows are read as they are stored. Products with vectors, and the table of the hinge, add up in double; so that rows in
single precision or less need not be widened each time, a copy in double is kept where the memory of the device allows.
The table of a smooth loss only says where the next step goes, and is taken in single precision.
"""

from __future__ import annotations

import math
from contextlib import contextmanager
from typing import Any

import numpy as np

from separatrix.geometry.device_rows import to_numpy
from separatrix.geometry.rows import Floats
from separatrix.svm.rowblocks.block import Precision, stride

CHUNK = 1 << 28  # numbers of the rows that are scaled or widened at once


class ArrayRows:
    """All rows of an array, in chunks."""

    def __init__(self, values: Any, xp: Any, *, widen: bool = True, chunk: int = CHUNK) -> None:
        self.xp, self._values = xp, values
        self.n, self.d = values.shape
        self.device, self.chunk = values.device, chunk
        together = max(1, chunk // self.d)
        self._parts = [slice(first, min(first + together, self.n)) for first in range(0, self.n, together)]
        self._wide = self._values if values.dtype == xp.float64 else None
        if widen and self._wide is None and _room(values) > 2.5 * 8 * self.n * self.d:
            self._wide = xp.astype(values, xp.float64)

    def to_device(self, values: Any) -> Any:
        """Return numbers of the driver as an array beside the rows."""
        return self.xp.asarray(values, dtype=self.xp.float64, device=self.device)

    def times(self, w: Floats) -> Any:
        """Return ``w.x`` of every row."""
        there = self.to_device(w)
        if not w.any():
            return self.full(0.0)
        parts = [self.double(part) @ there for part in self._parts]
        return parts[0] if len(parts) == 1 else self.xp.concat(parts)

    def back(self, *several: Any) -> list[Floats]:
        """Return ``sum r x`` for each of several r, reading the rows once."""
        together, total = self.xp.stack(several), None
        for part in self._parts:
            one = together[:, part] @ self.double(part)
            total = one if total is None else total + one
        return list(to_numpy(total))

    def gram(self, t: Any, how: Precision) -> Any:
        """Return ``sum t (x, 1)(x, 1)'``."""
        xp = self.xp
        table: Any = None
        border: Any = None
        exact = how is Precision.DOUBLE
        step = stride(self.n, self.d) if how is Precision.SAMPLE else 1
        with quick_products(xp, not exact):
            for part in self._parts:
                part = slice(part.start, part.stop, step)
                some = self.double(part) if exact else self.single(part)
                weights = xp.astype(t[part], some.dtype, copy=False)
                one, edge = (some * weights[:, None]).T @ some, weights @ some
                one, edge = (xp.astype(each, xp.float64, copy=False) for each in (one, edge))
                table, border = (one, edge) if table is None else (table + one, border + edge)
        total = xp.sum(t[::step])
        upper = xp.concat([table, border[:, None]], axis=1)
        lower = xp.concat([border, xp.reshape(total, (1,))])
        return step * xp.concat([upper, lower[None, :]], axis=0)

    def longest(self) -> float:
        """Return an upper bound on ``|x|`` of every row."""
        xp, most = self.xp, 0.0
        for part in self._parts:
            some = self.single(part)
            most = max(most, float(xp.max(xp.sum(some * some, axis=1))))
        return math.sqrt(1.001 * most + 1e-30) if math.isfinite(most) else math.inf

    def total(self, values: Any) -> float:
        """Return the sum of the values."""
        return float(self.xp.sum(values))

    def smallest(self, values: Any) -> float:
        """Return the smallest value."""
        return float(self.xp.min(values))

    def full(self, value: float) -> Any:
        """Return this value for every row."""
        return self.xp.full((self.n,), value, dtype=self.xp.float64, device=self.device)

    def double(self, part: slice) -> Any:
        """Return some rows in double precision."""
        return (
            self._wide[part, :]
            if self._wide is not None
            else self.xp.astype(self._values[part, :], self.xp.float64, copy=False)
        )

    def single(self, part: slice) -> Any:
        """Return some rows in single precision."""
        return self.xp.astype(self._values[part, :], self.xp.float32, copy=False)


class ArrayEquations:
    """Newton's equations on the device."""

    def __init__(self, table: Any, lean: float | None, rows: ArrayRows) -> None:
        xp, size = rows.xp, table.shape[0]
        ridge = np.ones(size)
        ridge[-1] = 1.0 if lean is None else lean
        if lean is None:
            keep = np.ones(size)
            keep[-1] = 0.0
            there = rows.to_device(keep)
            table = table * there[:, None] * there[None, :]
        self._table = table + rows.to_device(np.diag(ridge))
        self._rows = rows
        self._solve = xp.linalg.solve

    def solve(self, right: Floats, right_total: float) -> tuple[Floats, float]:
        """Return the steps of w and b."""
        both = to_numpy(self._solve(self._table, self._rows.to_device(np.append(right, right_total))[:, None]))[:, 0]
        return both[:-1].copy(), float(both[-1])


def _room(values: Any) -> float:
    """Return how many bytes the device of an array has free; none where that cannot be asked."""
    if type(values).__module__.partition(".")[0] == "torch" and values.is_cuda:
        import torch

        return float(torch.cuda.mem_get_info(values.device)[0])
    if type(values).__module__.partition(".")[0] == "cupy":
        import cupy

        return float(cupy.cuda.runtime.memGetInfo()[0])
    return 0.0


@contextmanager
def quick_products(xp: Any, quick: bool) -> Any:
    """Let products of float32 round their factors to the 10 bits that tensor cores read, where there are some."""
    if not quick or "torch" not in xp.__name__:
        yield
        return
    import torch

    before = torch.backends.cuda.matmul.allow_tf32
    torch.backends.cuda.matmul.allow_tf32 = True
    try:
        yield
    finally:
        torch.backends.cuda.matmul.allow_tf32 = before
