"""McNemar's exact test of several models against the best, with Holm's correction."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def mcnemar_holm(
    correct: Sequence[NDArray[np.bool_]], predicted: Sequence[NDArray[np.bool_]] | None = None
) -> list[float]:
    """Return the p-value of each model's difference from the first.

    McNemar's exact test compares two models on the rows where only one of them is correct: under the null hypothesis
    each wins half of these rows. Holm's method adjusts the p-values for several models against the best, so that the
    probability of any false rejection at 0.05 is at most 5%.

    Parameters
    ----------
    correct : sequence of bool arrays
        For each model whether its prediction of each row is correct; the best first.
    predicted : sequence of bool arrays, optional
        For each model which rows it predicted, if not all: only rows that both predicted count.

    Returns
    -------
    list of float
        The adjusted p-values; 1 for the first.

    Examples
    --------
    >>> best, near, far = np.ones(30, bool), np.arange(30) > 1, np.arange(30) > 9
    >>> [round(p, 4) for p in mcnemar_holm([best, near, far])]
    [1.0, 0.5, 0.0039]
    """
    from scipy.stats import binomtest

    best, raw = correct[0], []
    for place, other in enumerate(correct[1:], 1):
        both = True if predicted is None else predicted[0] & predicted[place]
        lost, won = int(np.count_nonzero(best & ~other & both)), int(np.count_nonzero(other & ~best & both))
        raw.append(1.0 if lost + won == 0 else float(binomtest(won, lost + won).pvalue))
    adjusted, least = [1.0] * len(correct), 0.0
    for rank, place in enumerate(np.argsort(raw, kind="stable")):
        least = max(least, min(1.0, raw[place] * (len(raw) - rank)))
        adjusted[place + 1] = least
    return adjusted
