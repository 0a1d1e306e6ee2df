"""The mistake bounds of PA-I and PA-II where no plane separates the data, in arithmetic that proves them.

Crammer, Dekel, Keshet, Shalev-Shwartz and Singer 2006, theorems 4 and 5. A run from zero weights updates on the
examples A. Write R for the length of the longest example with its bias coordinate. Then for every plane u its mistakes
are at most

``max(R^2, 1 / C) (|u|^2 + 2 C * sum over A of the hinge losses of u)`` with PA-I and
``(R^2 + 1 / (2 C)) (|u|^2 + 2 C * sum over A of their squares)`` with PA-II.

The theorems are stated for all examples; their proofs use the losses of u where the rule updates only.
"""

from __future__ import annotations

import math

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.data import Data, processors
from separatrix.certificates.proving import OUTWARD
from separatrix.certificates.second_order import Updates, are_ordinary
from separatrix.geometry.rows import Floats

_LENGTHS = [2.0 ** (k / 2.0) for k in range(-16, 17)]  # of the plane, as multiples of what it has


def aggressive_bound(
    data: Data, weights: Floats, bias: float, constant: float, cost: float, updates: Updates, *, squared: bool
) -> float:
    """Return the most mistakes that the theorem allows such a run: the least for some lengths of the given plane.

    Infinity where numbers are so large or small that products would overflow or vanish.
    """
    if not are_ordinary(data, weights, bias, constant, cost):
        return math.inf
    seen = bounds.margins(data.rows, data.signs, weights, bias, processors())
    size = bounds.length(weights)[1] ** 2 + ((abs(bias) / constant) ** 2 if constant else 0.0)
    square = float(bounds.square_lengths(data.rows.matrix).max()) + constant * constant
    factor = square + 0.5 / cost if squared else max(square, 1.0 / cost)
    least = math.inf
    for length in _LENGTHS:
        with np.errstate(over="ignore", invalid="ignore"):
            losses = np.maximum(0.0, 1.0 - length * seen.lower * (1.0 - OUTWARD * np.sign(seen.lower)))
            total = updates.most(losses * losses if squared else losses)
        allowed = factor * (length * length * size + 2.0 * cost * total)
        if allowed < least:  # false for what is not a number
            least = allowed
    return least * (1.0 + OUTWARD)
