"""The bound on a perceptron's mistakes that one separating plane proves (Lectures 000, 001 and 003)."""

from __future__ import annotations

from dataclasses import dataclass

from separatrix.insight.exact_numbers import is_exact, shown
from separatrix.rules import Number


@dataclass(frozen=True)
class MistakeBound:
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
