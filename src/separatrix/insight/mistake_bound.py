"""The bound on a perceptron's mistakes that one separating plane proves (Lectures 000, 001 and 003)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from separatrix.geometry.rows import is_sparse
from separatrix.insight.exact_numbers import is_exact, over_root, plain, read_rows, root, shown
from separatrix.rules import Number

if TYPE_CHECKING:
    from separatrix.insight.plane import Plane


@dataclass(frozen=True)
class PlaneBound:
    """The most updates that a perceptron from zero weights can make, proved by one plane ``w*``.

    Lecture 000 writes ``beta |w*|^2 / alpha^2``, Lecture 001 ``1 / gamma^2`` (with R = 1), Lecture 003
    ``beta^2 |a|^2 / m^2``: one number, ``(R / gamma)^2``, in the same coordinates. It does not depend on the learning
    rate, nor on the length of w*.

    Attributes
    ----------
    alpha : number
        The least ``y w*.x``, over the augmented rows if ``augmented``; at most 0 where w* does not separate.
    beta : number
        The largest ``|x|^2``.
    square : number
        ``|w*|^2``.
    augmented : bool
        Whether rows have the bias coordinate 1 and w* has the bias, as a perceptron with a bias sees them.
    k_max : number or None
        ``beta |w*|^2 / alpha^2``; None if there is no bound.
    radius : number
        R, the length of the longest row: the root of beta.
    gamma : number or None
        ``alpha / |w*|``, the distance of the nearest row from the plane in these coordinates.
    ratio : number or None
        ``R^2 / gamma^2``, which equals k_max.
    reason : str or None
        Why there is no bound.

    Examples
    --------
    >>> from separatrix import Plane, datasets
    >>> data = datasets.example("lecture-000")
    >>> bound = Plane((2, -1)).mistake_bound(data.X, data.y)
    >>> bound.alpha, bound.beta, bound.square, bound.k_max
    (1, 3, 5, 15)
    >>> print(bound)
    at most 15 mistakes: beta |w*|^2 / alpha^2 = 3 * 5 / 1^2 = 15 (bias coordinate included)
    """

    alpha: Number
    beta: Number
    square: Number
    augmented: bool
    k_max: Number | None
    radius: Number
    gamma: Number | None
    ratio: Number | None
    reason: str | None = None

    def __bool__(self) -> bool:
        return self.reason is None

    @property
    def most(self) -> int | None:
        """The whole number of mistakes that are possible; None if there is no bound."""
        if self.k_max is None:
            return None
        return int(self.k_max if is_exact(self.k_max) else self.k_max * (1.0 + 1e-9))  # never rounded down

    def __str__(self) -> str:
        if self.k_max is None:
            return f"no mistake bound: {self.reason}"
        parts = f"{shown(self.beta)} * {shown(self.square)} / {shown(self.alpha)}^2"
        where = "bias coordinate included" if self.augmented else "without a bias coordinate"
        count = "1 mistake" if self.most == 1 else f"{self.most:,} mistakes"
        return f"at most {count}: beta |w*|^2 / alpha^2 = {parts} = {shown(self.k_max)} ({where})"


def bound_of(plane: Plane, X: Any, y: Any, *, augmented: bool) -> PlaneBound:
    """Return the bound that a plane proves for these rows and labels, or why it proves none."""
    rows: Any = read_rows(X, len(plane.weights))[0]
    margins = np.atleast_1d(np.asarray(plane.margins(X, y)))
    alpha = plain(np.min(margins))
    extra = 1 if augmented else 0
    if isinstance(rows, tuple) and plane.exact:
        beta: Number = plain(max(sum(value * value for value in row) for row in rows) + extra)
    else:
        values = rows.toarray() if is_sparse(rows) else np.array(rows, dtype=np.float64)
        with np.errstate(over="ignore"):
            beta = float((values * values).sum(axis=1).max()) + extra
    square = plain(plane.square + (plane.bias * plane.bias if augmented else 0))
    reason = None
    if not augmented and plane.bias != 0:
        reason = f"without a bias coordinate the plane must go through the origin, but its bias is {shown(plane.bias)}"
    elif alpha <= 0:
        count = int(np.count_nonzero(margins <= 0))
        rows_are = "1 row is" if count == 1 else f"{count:,} rows are"
        reason = f"the plane does not separate the classes: {rows_are} on the wrong side or on the plane"
    elif not (is_exact(beta) or math.isfinite(beta)):
        reason = "the rows are so long that |x|^2 overflows: scale the features first"
    if reason is not None:
        return PlaneBound(alpha, beta, square, augmented, None, root(beta), None, None, reason)
    if all(map(is_exact, (alpha, beta, square))):
        k_max = plain(Fraction(beta) * square / (alpha * alpha))
        return PlaneBound(alpha, beta, square, augmented, k_max, root(beta), over_root(alpha, square), k_max)
    length = math.hypot(*map(float, plane.weights), *([float(plane.bias)] if augmented else []))
    radius, gamma = math.sqrt(beta), float(alpha) / length
    if not (gamma > 0 and radius / gamma < 1e150):
        reason = "the margin is too small for floating-point numbers: scale the features first"
        return PlaneBound(alpha, beta, square, augmented, None, radius, None, None, reason)
    k_max = (radius / gamma) ** 2
    return PlaneBound(alpha, beta, square, augmented, k_max, radius, gamma, k_max)
