"""Gordan's alternative, decided without rounding: a plane with every row on its positive side, or weights against it.

Either some W has ``z_i . W > 0`` for every row, or some weights ``lambda >= 0``, not all 0, have
``sum lambda_i z_i = 0`` (Gordan 1873), never both. The simplex method looks for the weights: it makes ``sum_j |r_j|``
small over ``lambda >= 0``, ``sum lambda = 1``, ``sum lambda_i z_i + r = 0``. At every basis the prices W of the
coordinates satisfy ``z_i . W = t > 0`` on the rows in the basis, where t is the sum that is left; so a row with
``z_i . W <= 0`` may enter and lessen it, and once there is no such row, W is the plane. If t reaches 0, the rows of the
basis with weight are a circuit: their weights are the only ones, but for their scale, that combine them to zero.

The table holds whole numbers over one common determinant: every division of a step leaves no remainder. Ties for the
leaving row go to the lexicographically smallest row of the table, so that no basis ever comes back and the method ends.
Which row enters is the choice of floating point; whether it may, and the last word, are exact. In many dimensions a
linear program in floating point guesses first, and mostly the guess only has to be checked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from separatrix.certificates.exact_rows import ExactSpace, Places
from separatrix.certificates.guessing import Halted, guess
from separatrix.certificates.integers import Integers, primitive
from separatrix.svm.task import HaltedError

_POOL = 1000  # the rows farthest on the wrong side are tried until none of them is on it any more
_WHOLE = 1 << 20  # fewer values than this are measured as a whole at every step
_MANY = 24  # dimensions, from which on a guess costs less than a search


@dataclass(frozen=True)
class Alternative:
    """A plane with every row on its positive side; or None, and the points and positive weights of a circuit."""

    plane: tuple[int, ...] | None
    points: tuple[int, ...] = ()
    weights: tuple[int, ...] = ()


def never(ahead: float = 0.0) -> bool:
    """Return False: no reason to halt."""
    return False


def gordan(space: ExactSpace, hints: Sequence[int] | Places = (), halted: Halted = never) -> Alternative:
    """Return a plane or a circuit; ``hints`` are rows that a circuit may consist of, and are looked at first.

    Examples
    --------
    >>> from separatrix.certificates.exact_rows import ExactRows
    >>> from separatrix.geometry.rows import Rows
    >>> line = Rows([[1.0], [2.0], [4.0]])
    >>> gordan(ExactRows(line, [-1, 1, 1], bias=True))
    Alternative(plane=(2, -3), points=(), weights=())
    >>> gordan(ExactRows(line, [1, -1, 1], bias=True))
    Alternative(plane=None, points=(0, 1, 2), weights=(2, 3, 1))
    """
    pool = np.unique(np.asarray(hints, dtype=np.intp))
    circuit = _circuit_among(space, pool)
    everything = space.n * space.dimension <= _WHOLE
    if circuit is None and (space.dimension >= _MANY or not everything):
        plane, guessed = guess(space, halted)
        if plane is not None and space.sides(plane).min() > 0:
            return Alternative(plane)
        circuit = _circuit_among(space, guessed)
        pool = np.union1d(pool, guessed)
    if circuit is not None:
        return circuit
    table = _SimplexTable(space, int(pool[0]) if len(pool) else 0)
    while True:
        if halted():
            raise HaltedError
        W, left = table.plane()
        if left == 0:
            return table.circuit()
        entering = _surely_wrong(space, W, pool) if len(pool) else None
        if entering is None:
            values, errors = space.estimates(W)
            wrong = values <= -errors
            if not wrong.any():
                sides = space.sides(W)
                if sides.min() > 0:
                    return Alternative(primitive(W))
                wrong = sides <= 0
            values[~wrong] = np.inf
            entering = int(values.argmin())
            pool = pool[:0] if everything else np.argpartition(values, min(_POOL, space.n - 1))[:_POOL]
        table.enter(entering)


def _circuit_among(space: ExactSpace, points: Places) -> Alternative | None:
    """Return the circuit that these points are, those without weight left out, if they are one."""
    if not 0 < len(points) <= space.dimension + 1:
        return None
    weights = space.dependence(points)
    if weights is None or (min(weights) < 0 < max(weights)):
        return None
    used = [k for k, weight in enumerate(weights) if weight]
    return Alternative(None, tuple(int(points[k]) for k in used), primitive([abs(weights[k]) for k in used]))


def _surely_wrong(space: ExactSpace, W: Integers, among: Places) -> int | None:
    """Return which of these rows lies farthest on the wrong side, None if floating point is sure of none."""
    values, errors = space.estimates(W, among)
    values[values > -errors] = np.inf
    best = int(values.argmin())
    return int(among[best]) if values[best] < np.inf else None


class _SimplexTable:
    """The simplex method's table.

    Coordinate j is seen from the first row q and turned so that the start is the identity: the constraints are
    ``sum_i s_j (z_ij - z_qj) lambda_i + r_j = |z_qj|`` with ``s_j = -sign(z_qj)``, and ``sum lambda = 1``. Row k of
    the table has, over the common ``determinant``, the value of the k-th basic variable and then the k-th row of the
    inverse of the basis. A residual that has left the basis does not come back.
    """

    def __init__(self, space: ExactSpace, first: int) -> None:
        self._space = space
        self._origin: Integers = space.take([first])[0]
        self._turn = np.where(self._origin > 0, -1, 1).astype(object)
        size = space.dimension + 1
        self._table: Integers = np.zeros((size, size + 1), dtype=object)
        self._table[:-1, 0] = abs(self._origin)
        self._table[-1, 0] = 1
        self._table[np.arange(size), 1 + np.arange(size)] = 1
        self._determinant = 1
        self._basis = np.full(size, -1)  # -1 for a residual, else which row of the data
        self._basis[-1] = first

    def plane(self) -> tuple[Integers, int]:
        """Return the prices of the coordinates and what is left of the residuals, both times the determinant."""
        prices = self._table[self._basis < 0].sum(axis=0)
        return -prices[1:-1] * self._turn, int(prices[0])

    def circuit(self) -> Alternative:
        """Return the rows with weight."""
        used = [k for k in range(len(self._basis)) if self._basis[k] >= 0 and self._table[k, 0] > 0]
        used.sort(key=lambda k: int(self._basis[k]))
        points = tuple(int(self._basis[k]) for k in used)
        return Alternative(None, points, primitive([self._table[k, 0] for k in used]))

    def enter(self, point: int) -> None:
        """Let a row enter the basis."""
        column = np.append((self._space.take([point])[0] - self._origin) * self._turn, 1)
        change = self._table[:, 1:] @ column
        leaving = self._leaving(change)
        top, pivot = self._table[leaving].copy(), change[leaving]
        self._table = (pivot * self._table - change[:, None] * top) // self._determinant
        self._table[leaving] = top
        self._determinant = pivot
        self._basis[leaving] = point

    def _leaving(self, change: Integers) -> int:
        """Return the row whose quotient by a positive change is lexicographically smallest."""
        rows = [int(row) for row in np.flatnonzero(change > 0)]
        for column in self._table.T:
            best = rows[:1]
            for row in rows[1:]:
                difference = column[row] * change[best[0]] - column[best[0]] * change[row]
                if difference < 0:
                    best = [row]
                elif difference == 0:
                    best.append(row)
            rows = best
            if len(rows) == 1:
                break
        return rows[0]
