"""Can a plane separate the classes? Decided without rounding, with a proof either way.

With ``z_i = y_i (x_i, 1)`` there are three cases. Strict: some plane W has ``z_i . W > 0`` for every row. Weak: none
has, but some W has ``z_i . W >= 0`` for every row and ``> 0`` for at least one. None: there is no such W either.

Positive weights on some rows S with ``sum lambda_i z_i = 0`` prove that no plane is strict, and more: a W with
``z_i . W >= 0`` everywhere must be 0 on S, and so on the span of S. If all rows lie in that span, the case is none.
If not, the rows of the span are taken off and the others are seen modulo the span, that is in the coordinates
``z_i N`` for a basis N of all W that vanish on S. A plane that is strict there is a weak plane here. If there is none
either, weights of other rows combine to a vector of the span; enough of the old weights, which reach all of the span,
make it zero, and the span has grown. After at most as many rounds as there are dimensions, no row is left outside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.exact_rows import ExactRows, Exponents, Places
from separatrix.certificates.gordan import Alternative, gordan, never
from separatrix.certificates.guessing import Halted
from separatrix.certificates.integers import Integers, combination, dependence, null_space, primitive, rank
from separatrix.geometry.rows import Floats
from separatrix.svm.task import HaltedError

_MOST_NUMBERS = 50_000_000  # of a combination that is checked: more than any that is found
_PAIRS = 4  # of opposite rows that are looked at, for each dimension


@dataclass(frozen=True)
class Decision:
    """What a plane can do, and the proof.

    Attributes
    ----------
    kind : "strict", "weak" or "none"
        Whether some plane has every row on its positive side, or only none on its negative side, or neither.
    plane : tuple of int or None
        Such a plane, in the coordinates of the space: every row on its positive side ("strict"); or no row on its
        negative side, and all those on its positive side that can be for any such plane ("weak").
    points, weights : tuples of int
        Rows and positive weights that combine them to zero, unless "strict"; if "none", all rows lie in their span.
    """

    kind: Literal["strict", "weak", "none"]
    plane: tuple[int, ...] | None
    points: tuple[int, ...]
    weights: tuple[int, ...]


def decide(
    space: ExactRows,
    hints: Sequence[int] = (),
    plane: Sequence[int] | None = None,
    halted: Halted = never,
    opposites: Sequence[Sequence[int]] = (),
) -> Decision:
    """Return the case and its proof.

    ``hints`` (rows of a circuit), a ``plane`` that may be strict and ``opposites`` (pairs of rows with the same numbers
    and different signs) save time.

    Examples
    --------
    >>> from separatrix.geometry.rows import Rows
    >>> corners = Rows([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> decide(ExactRows(corners, [-1, -1, -1, 1], bias=True)).kind
    'strict'
    >>> decide(ExactRows(corners, [-1, 1, 1, -1], bias=True))
    Decision(kind='none', plane=None, points=(0, 1, 2, 3), weights=(1, 1, 1, 1))
    """
    if plane is not None and space.sides(plane).min() > 0:
        return Decision("strict", primitive(plane), (), ())
    first = _opposed(space, opposites) if len(opposites) else gordan(space, hints, halted)
    if first.plane is not None:
        return Decision("strict", first.plane, (), ())
    points, weights = first.points, first.weights
    outside = np.arange(space.n)
    while True:
        if halted():
            raise HaltedError
        span = space.take(points)
        basis = null_space(span)
        outside = outside[space.outside(basis, outside)]
        if not len(outside):
            return Decision("none", None, points, weights)
        rest = _Quotient(space, span[rank(span)[1]], basis, outside)
        alternative = gordan(rest, np.flatnonzero(np.isin(outside, hints)), halted)
        if alternative.plane is not None:
            return Decision("weak", primitive(rest.plane(alternative.plane)), first.points, first.weights)
        added = [int(outside[k]) for k in alternative.points]
        points, weights = _joined(space, points, weights, added, alternative.weights)


def _opposed(space: ExactRows, opposites: Sequence[Sequence[int]]) -> Alternative:
    """Return the weights that pairs of opposite rows give at once: those pairs that are independent of each other."""
    pairs = np.asarray(opposites, dtype=np.intp)[: _PAIRS * space.dimension]
    chosen = sorted(rank(space.take(pairs[:, 0]))[1]) or [0]
    points = tuple(pairs[chosen].ravel().tolist())
    return Alternative(None, points, (1,) * len(points))


def combines_to_zero(space: ExactRows, points: Sequence[int], weights: Sequence[int]) -> bool:
    """Return whether these weights are positive and combine these rows exactly to zero."""
    if not len(points) == len(weights) > 0 or min(weights) <= 0 or len(points) * space.dimension > _MOST_NUMBERS:
        return False
    return not (np.array([int(weight) for weight in weights], dtype=object) @ space.take(points)).any()


def spans(space: ExactRows, points: Sequence[int]) -> bool:
    """Return whether every row lies exactly in the span of these."""
    rows = space.take(points)
    if rank(rows)[0] == space.dimension:
        return True
    return not space.outside(null_space(rows)).any()


class _Quotient:
    """The rows outside a span, modulo the span: in the coordinates of a basis of all that vanishes on it.

    ``span`` holds independent rows of the span.
    """

    def __init__(self, space: ExactRows, span: Integers, basis: Integers, outside: Places) -> None:
        self._space, self._span, self._basis, self._outside = space, span, basis, outside
        self.n, self.dimension = len(outside), basis.shape[1]

    def plane(self, W: Sequence[int] | Integers) -> Integers:
        """Return the plane of the whole space that is W here and 0 on the span."""
        plane: Integers = self._basis @ np.array([int(w) for w in W], dtype=object)
        return plane

    def take(self, indices: Sequence[int] | Places) -> Integers:
        """Return these rows in whole numbers."""
        rows: Integers = self._space.take(self._outside[np.asarray(indices, dtype=np.intp)]) @ self._basis
        return rows

    def dependence(self, indices: Places) -> list[int] | None:
        """Return the only weights (but for their scale) that combine these rows to a vector of the span, if any.

        With a basis of the span they depend on each other in the whole space, whose numbers are far shorter.
        """
        rows = np.concatenate([self._space.take(self._outside[indices]), self._span])
        weights = dependence(rows)
        return None if weights is None else weights[: len(indices)]

    def floats(self, indices: Places) -> tuple[Floats, Exponents]:
        """Return these rows rounded, each column divided by a power of two, and its exponents."""
        rows, exponents = self._space.floats(self._outside[indices])
        lengths = np.array([[int(value).bit_length() for value in column] for column in self._basis])
        tops = np.max(np.where(lengths > 0, lengths + exponents[:, None], 0), axis=0)
        return rows @ _rounded(self._basis, exponents[:, None] - tops[None, :]), tops

    def estimates(self, W: Sequence[int] | Integers, among: Places | None = None) -> tuple[Floats, Floats]:
        """Return ``z_i . W`` of all (or these) rows times a positive factor, and how far each may be from the truth."""
        return self._space.estimates(self.plane(W), self._outside if among is None else self._outside[among])

    def sides(self, W: Sequence[int] | Integers, among: Places | None = None) -> NDArray[np.int8]:
        """Return the exact sign of ``z_i . W`` for all (or these) rows."""
        return self._space.sides(self.plane(W), self._outside if among is None else self._outside[among])


def _rounded(values: Integers, exponents: Exponents) -> Floats:
    """Return whole numbers times powers of two, as floats: no more than 1, or vanishing."""
    cuts = np.array([[max(int(value).bit_length() - 64, 0) for value in column] for column in values])
    short = np.array(
        [[float(int(v) >> int(c)) for v, c in zip(*both, strict=True)] for both in zip(values, cuts, strict=True)]
    )
    return np.asarray(np.ldexp(short, np.maximum(exponents + cuts, -3000).astype(np.int32)))


def _joined(
    space: ExactRows, points: Sequence[int], weights: Sequence[int], added: Sequence[int], more: Sequence[int]
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return positive weights of all these rows that combine to zero; those added combine to a vector of the span.

    That vector is also a combination of a basis of the span; taking it off may make weights of the basis negative, and
    adding the old weights often enough makes them positive again.
    """
    old = space.take(points)
    if not old.any():  # only a row of zeros so far, which is needed no longer
        return tuple(added), tuple(more)
    vector = np.array(more, dtype=object) @ space.take(added)
    combined = combination(old, vector)
    if combined is None:
        raise ArithmeticError("the rows added do not combine to a vector of the span")
    taken, scale = combined
    times = max(1, *(amount // weight + 1 for amount, weight in zip(taken, weights, strict=True)))
    kept = [times * weight - amount for amount, weight in zip(taken, weights, strict=True)]
    return (*points, *added), primitive(kept + [scale * weight for weight in more])
