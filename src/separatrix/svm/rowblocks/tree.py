"""The fixed cut of the rows into shards, and the fixed tree in which what the shards give is added up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

MOST_SHARDS = 4096
MOST_COLUMNS = 2000  # whose table of products is computed in each iteration
_LEAST_NUMBERS = 1 << 24  # of rows that are worth shards
_TALL = (
    3200  # rows a column, from which the tables of products cost little beside the rows, a sample of which they need
)
_NUMBERS = 1 << 19  # of a shard: so few that a processor's cache holds them
_LEAST_ROWS = 1024
_ROWS_A_COLUMN = 4  # so many rows that adding up the tables of products costs little beside computing them


def in_shards(n: int, d: int) -> bool:
    """Whether dense rows are too many to be gathered, and are trained on shard by shard where they are."""
    return n * d >= _LEAST_NUMBERS and d <= MOST_COLUMNS


def tall(n: int, d: int) -> bool:
    """Whether rows in memory are trained on in shards too, which is then as fast as any other method."""
    return in_shards(n, d) and n >= _TALL * d


def shard_rows(n: int, d: int) -> int:
    """Return how many rows a shard has: a power of two that depends on the shape of the data alone.

    Examples
    --------
    >>> shard_rows(2_000_000, 64), shard_rows(1_000_000_000, 64)
    (8192, 262144)
    """
    least = max(_NUMBERS // max(d, 1), _LEAST_ROWS, _ROWS_A_COLUMN * d, -(-n // MOST_SHARDS))
    return 1 << (least - 1).bit_length()


def cut(n: int, d: int) -> list[slice]:
    """Return the rows of each shard, in their order."""
    rows = shard_rows(n, d)
    return [slice(first, min(first + rows, n)) for first in range(0, n, rows)]


def add_up(parts: Iterable[Any], add: Callable[[Any, Any], Any]) -> Any:
    """Add in the order of a binary tree whose left subtrees are the largest full ones, holding few parts at a time.

    Parts may be the results of such trees over 2^k neighbours each: the sum is the same.

    Examples
    --------
    >>> add_up("abcdefg", lambda left, right: f"({left}{right})")
    '(((ab)(cd))((ef)g))'
    >>> add_up([add_up(each, lambda a, b: f"({a}{b})") for each in ("abcd", "efg")], lambda a, b: f"({a}{b})")
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, Any]] = []  # height and sum of full subtrees, the tallest first
    for part in parts:
        height = 0
        while waiting and waiting[-1][0] == height:
            part = add(waiting.pop()[1], part)
            height += 1
        waiting.append((height, part))
    total = waiting.pop()[1]
    while waiting:
        total = add(waiting.pop()[1], total)
    return total
