"""The check of a short proof that no plane separates two classes, by the part of certificates that proves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


def no_plane(points: Sequence[Sequence[int]], labels: Sequence[int], weights: Mapping[int, int]) -> bool:
    """Return whether these rows, so weighted, prove that no plane has every row strictly on its side.

    Examples
    --------
    >>> square = [(0, 0), (0, 1), (1, 0), (1, 1)]
    >>> no_plane(square, [0, 1, 1, 0], {0: 1, 1: 1, 2: 1, 3: 1})
    True
    >>> no_plane(square, [0, 0, 0, 1], {0: 1, 1: 1, 2: 1, 3: 1})
    False
    """
    from separatrix.certificates.data import binary_data, read
    from separatrix.certificates.proving import prove
    from separatrix.certificates.witness import WeightedRows, Witness

    data: Any = binary_data(*read(points, labels), True, 1, 0)
    return prove(data, Witness(None, WeightedRows(tuple(weights), tuple(weights.values())))).upper == 0
