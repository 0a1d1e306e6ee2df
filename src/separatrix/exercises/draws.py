"""Random draws that are the same on every platform and in every version of Python: SplitMix64, seeded by a text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

Item = TypeVar("Item")

_MASK = (1 << 64) - 1


class Draws:
    """A stream of whole numbers that a text determines.

    Parameters
    ----------
    text : str
        What the stream is for, such as ``"trace 7"``.

    Examples
    --------
    >>> draws = Draws("trace 7")
    >>> [draws.between(-3, 3) for _ in range(8)]
    [0, -1, 1, 0, 0, 1, 0, -3]
    """

    def __init__(self, text: str) -> None:
        self._state = int.from_bytes(hashlib.sha256(text.encode("utf-8")).digest()[:8], "big")

    def _next(self) -> int:
        self._state = (self._state + 0x9E3779B97F4A7C15) & _MASK  # Steele, Lea and Flood 2014
        mixed = self._state
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        return mixed ^ (mixed >> 31)

    def below(self, n: int) -> int:
        """Return a whole number from 0 to n - 1, each as likely as the others."""
        limit = (_MASK + 1) // n * n
        while (value := self._next()) >= limit:
            pass
        return value % n

    def between(self, low: int, high: int) -> int:
        """Return a whole number from low to high, both included."""
        return low + self.below(high - low + 1)

    def one_of(self, items: Sequence[Item]) -> Item:
        """Return one of the items."""
        return items[self.below(len(items))]

    def shuffled(self, items: Sequence[Item]) -> list[Item]:
        """Return the items in a random order."""
        left = list(items)
        return [left.pop(self.below(len(left))) for _ in range(len(items))]

    def points(self, n: int, low: int, high: int, d: int = 2) -> list[tuple[int, ...]]:
        """Return n distinct points with whole coordinates from low to high."""
        points: dict[tuple[int, ...], None] = {}
        while len(points) < n:
            points[tuple(self.between(low, high) for _ in range(d))] = None
        return list(points)
