"""A linear program in floating point that guesses Gordan's alternative, for the exact search to check.

The program is ``max t`` over ``z_i . W >= t``, ``-1 <= W <= 1``; its dual weights are convex and combine the rows to
zero when t is 0. Columns and rows are brought to the same size first. With many rows, it is solved for a sample,
and then again with the rows added that its last plane had on the wrong side.
"""

from __future__ import annotations

import sys
from typing import Protocol

import numpy as np

from separatrix.certificates.exact_rows import ExactSpace, Exponents, Places
from separatrix.certificates.integers import primitive
from separatrix.geometry.rows import Floats
from separatrix.svm.hard import largest_least

_AT_FIRST = 2000  # rows
_MORE = 1000
_ROUNDS = 40
_NOTHING = 1e-9  # margins and weights below this are taken for 0
_UNIT = 53  # bits of a guessed coordinate
_LOADING = 0.5  # seconds to import the solver of linear programs, on a busy machine


class Halted(Protocol):
    """Says whether the time is up."""

    def __call__(self, ahead: float = 0.0) -> bool:
        """Return whether it is, or will be so many seconds ahead."""


def guess(space: ExactSpace, halted: Halted) -> tuple[tuple[int, ...] | None, Places]:
    """Return a plane that floating point believes to be strict, or None and the rows that it gives weights.

    Nothing is guessed in less time than it takes to load the solver.
    """
    if "scipy.optimize" not in sys.modules and halted(_LOADING):
        return None, np.empty(0, dtype=np.intp)
    pool = np.unique(np.linspace(0, space.n - 1, min(space.n, _AT_FIRST)).astype(np.intp))
    for _ in range(_ROUNDS):
        plane, weights = _program(*space.floats(pool))
        if plane is None or halted():
            return None, pool[weights > _NOTHING]
        values, errors = space.estimates(plane)
        values[pool] = np.inf
        wrong = np.flatnonzero(values <= errors)
        if not len(wrong):
            return plane, pool[:0]
        farthest = wrong[np.argsort(values[wrong])[:_MORE]]
        pool = np.union1d(pool, farthest)
    return None, pool[:0]


def _program(table: Floats, exponents: Exponents) -> tuple[tuple[int, ...] | None, Floats]:
    """Return a plane if the margin is more than nothing, else None; and the weights."""
    n = len(table)
    largest = np.abs(table).max(axis=1, keepdims=True)
    program = largest_least(table / np.where(largest > 0.0, largest, 1.0))
    if program is None:
        return None, np.zeros(n)
    if program.least <= _NOTHING:
        return None, program.weights
    units = np.rint(np.ldexp(program.plane, _UNIT)).astype(np.int64).tolist()
    shifts = (exponents.max() - exponents).tolist()
    return primitive([unit << shift for unit, shift in zip(units, shifts, strict=True)]), np.zeros(n)
