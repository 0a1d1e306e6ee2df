"""The bound on the updates of ALMA, in arithmetic that proves it.

In the manner of Gentile 2001, for the Euclidean norm, but proved here. Take every example x with its bias coordinate,
scaled to length 1, and a plane u of length 1 whose margins on all of them are at least g. Then a run from zero weights
makes at most ``(2 / g^2) (2 / alpha - 1)^2`` updates.

The proof: write ``c = 2 / alpha - 1``, at least 1. Update k adds ``sqrt(2 / k) y x`` where ``y w . x <= (1 - alpha)
sqrt(8 / k) / alpha``, so that the square of the sum is at most ``1 + (4 c - 2) / k``, and divides it by its length if
that is above 1. With ``u . w = g s`` after k - 1 updates it is therefore at least g s' after k, where
``s'^2 (k + 4 c - 2) = k (s + sqrt(2 / k))^2``. If ``s^2 >= (k - 1) / (2 c^2)``, as at the start, then ``s'^2 >=
k / (2 c^2)``: multiplied by ``2 c^2 (k + 4 c - 2)`` that is ``k + 4 c^2 >= 4 c (k - sqrt(k (k - 1)))``, and the last
factor is at most 1. So ``g sqrt(k / 2) / c <= u . w <= |w| <= 1`` after k updates.

Where no example asks for another update, all margins are above ``(1 - alpha) sqrt(8 / (k + 1)) / alpha``, which is at
least ``(1 - alpha) g``, because ``k + 1 <= (2 / g^2) c^2 + 1 <= 8 / (alpha g)^2``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from separatrix.certificates import bounds
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.certifying import certify_task
from separatrix.certificates.data import Data, processors
from separatrix.certificates.proving import OUTWARD, prove
from separatrix.geometry.rows import Floats


class UpdateBound(NamedTuple):
    """The most updates that the theorem allows, and the certificate of the data that it rests on."""

    allowed: float
    data: Certificate


def update_bound(data: Data, weights: Floats, bias: float, constant: float, alpha: float) -> UpdateBound:
    """Return the least of the bounds that the given plane and that of a certificate of the data give."""
    certificate = certify_task(data)
    squares = [prove(data, certificate.witness).mistakes(constant), _inverse_square(data, weights, bias, constant)]
    if (plane := certificate.witness.plane) is not None and len(plane.weights) == data.d:
        try:
            found = np.array([float(value) for value in plane.weights]), float(plane.bias)
        except OverflowError:  # whole numbers have no largest
            found = np.zeros(data.d), 0.0
        squares.append(_inverse_square(data, *found, constant))
    part = 2.0 / alpha - 1.0
    return UpdateBound(2.0 * part * part * min(squares) * (1.0 + OUTWARD), certificate)


def _inverse_square(data: Data, weights: Floats, bias: float, constant: float) -> float:
    """Return at least ``1 / g^2`` for g the least margin of this plane on examples of length 1; infinite without.

    Examples
    --------
    >>> from separatrix.certificates.data import binary_data
    >>> from separatrix.geometry.rows import Rows
    >>> data = binary_data(Rows([[3.0, 4.0], [-5.0, 0.0]]), np.array(["a", "b"]), np.array([1, 0]), False, 1)
    >>> round(_inverse_square(data, np.array([2.0, 0.0]), 0.0, 0.0), 6)  # g is 3/5
    2.777778
    """
    lower = bounds.margins(data.rows, data.signs, weights, bias, processors()).lower
    if not (lower > 0.0).all() or (bias and not constant):
        return math.inf
    offset = math.nextafter(abs(bias) / constant, math.inf) if bias else 0.0
    size = bounds.length(np.append(weights, offset))[1]
    with np.errstate(over="ignore"):
        lengths = np.sqrt(bounds.square_lengths(data.rows.matrix) + constant * constant) * (1.0 + OUTWARD)
    least = float((lower / lengths).min()) * (1.0 - OUTWARD) / size
    return (1.0 + OUTWARD) / (least * least) if least > 1e-150 else math.inf
