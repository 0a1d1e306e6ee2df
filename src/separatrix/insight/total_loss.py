"""The sum and the mean of a loss over margins, exact where the margins are and the loss has no exponentials."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.insight.exact_numbers import TOO_LARGE, plain
from separatrix.rules import Number
from separatrix.rules.losses import LOSSES


class Total(NamedTuple):
    """A loss over all rows."""

    sum: Number
    mean: Number


def total_loss(name: str, margins: NDArray[Any]) -> Total:
    """Return the sum and the mean of the loss of this name.

    Examples
    --------
    >>> total_loss("hinge", np.array([Fraction(1, 2), -1], dtype=object))
    Total(sum=Fraction(5, 2), mean=Fraction(5, 4))
    """
    loss = LOSSES[name]
    n = len(margins)
    if margins.dtype == object and name not in ("squared", "log"):
        total = plain(sum(loss.value(margin) for margin in margins))
        return Total(total, plain(Fraction(total) / n))
    try:
        values = margins.astype(np.float64)
    except OverflowError:
        raise ValueError(TOO_LARGE) from None
    if name == "zero_one":
        each: Any = values <= 0
        return Total(int(each.sum()), float(each.mean()))
    with np.errstate(over="ignore"):
        each = np.maximum(-values, 0.0) if name == "perceptron" else loss.value(values)
        return Total(float(np.sum(each)), float(np.mean(each)))
