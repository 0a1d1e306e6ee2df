"""Whether rows tell two models apart."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def told_apart(rights: Sequence[NDArray[np.bool_]], asked: Sequence[NDArray[np.bool_]] | None = None) -> list[float]:
    """Return for each model how likely so large a difference to the first would be if both were equally good.

    Only rows that one gets right and the other wrong count: of two equally good models each would win half of them
    (McNemar's test, with exact binomial numbers). Since several models are held against the best, the probabilities are
    raised by Holm's method, so that with 95% confidence none below 0.05 is there by chance.

    Parameters
    ----------
    rights : sequence of bool arrays
        For each model whether its answer to each row was right; the best first.
    asked : sequence of bool arrays, optional
        For each model which rows it was asked, if not all: only rows that both were asked count.

    Examples
    --------
    >>> best, near, far = np.ones(30, bool), np.arange(30) > 1, np.arange(30) > 9
    >>> [round(p, 4) for p in told_apart([best, near, far])]
    [1.0, 0.5, 0.0039]
    """
    from scipy.stats import binomtest

    best, raw = rights[0], []
    for place, right in enumerate(rights[1:], 1):
        both = True if asked is None else asked[0] & asked[place]
        lost, won = int(np.count_nonzero(best & ~right & both)), int(np.count_nonzero(right & ~best & both))
        raw.append(1.0 if lost + won == 0 else float(binomtest(won, lost + won).pvalue))
    raised, least = [1.0] * len(rights), 0.0
    for rank, place in enumerate(np.argsort(raw, kind="stable")):
        least = max(least, min(1.0, raw[place] * (len(raw) - rank)))
        raised[place + 1] = least
    return raised
