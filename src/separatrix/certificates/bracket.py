"""The largest margin between two bounds, found fast and in plain doubles; proving.py proves them.

The largest margin is the maximum over planes with ``|w| = 1`` of the least ``y_i (w.x_i + b)``. Every plane gives a
lower bound. Weights ``lambda >= 0`` whose sum is 1/2 on each class (without a bias: 1 in all) give an upper one,
``|sum lambda_i y_i x_i|``: half the distance of a point in the one hull from a point in the other. The weights of the
two nearest points meet the best plane, which is at right angles to the line between them. Where that distance is zero
no plane separates.

Few rows decide. With up to some hundred features (or rows) the nearest points are found among a pool of rows
(pool_search.py), roughly by coordinate ascent (svm/ascent.py) and then to the last digit (corral.py). One pass over all
rows measures the plane between them; the rows nearest to it, or behind it, are the next pool, together with the corral.
The first pools come from samples of growing size: the best plane of a random sample of m out of n rows leaves about
``(d + 2) n / m`` rows on its wrong side, on average (Clarkson, J. ACM 42, 1995), so that a step from one sample to one
many times larger still finds most of them in one pass, and few passes over all rows are left.

Wider data go through coordinate ascent alone (ascent_search.py), on the dual problem without slack: its alpha, scaled
to convex weights, gives the upper bound, and its weights give the plane.

Samples are drawn from a seed; the only other thing that could differ between machines is the last bit of NumPy's linear
algebra on the pools.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.certificates.ascent_search import AscentSearch
from separatrix.certificates.margin_search import Candidate, SearchResult
from separatrix.certificates.pool_search import PoolSearch
from separatrix.geometry.rows import Rows
from separatrix.geometry.simplex import one_thread

_MOST_FEATURES = 500  # of a pool: beyond, the corral is slower than coordinate ascent on all rows
_MOST_VALUES = 1 << 23  # of a pool that is all there is


def search(
    rows: Rows,
    signs: NDArray[Any],
    free: bool,
    *,
    tol: float = 1e-3,
    seed: int = 0,
    halted: Callable[[], bool] = lambda: False,
    tell: Callable[[Candidate], None] | None = None,
) -> SearchResult:
    """Return a bracket around the largest margin.

    Parameters
    ----------
    rows : Rows
        Finite values.
    signs : array
        +1 and -1; both must occur if the bias is free.
    free : bool
        Whether the plane has a bias, or goes through the origin.
    tol : float, default=1e-3
        The bracket is narrow when ``upper - lower <= tol * upper``.
    seed : int, default=0
        Of the samples.
    halted
        Called several times a second; once it returns True, the best so far is returned.
    tell
        Called with every better bracket.

    Examples
    --------
    >>> result = search(Rows([[0.0, 0.0], [0.0, 1.0], [2.0, 5.0]]), np.array([-1, -1, 1]), True)
    >>> result.ended, round(result.lower, 3), result.points.tolist()
    ('narrow', 2.236, [1, 2])
    """
    n, d = rows.shape
    signs = np.asarray(signs, dtype=np.float64)
    pooled = d <= _MOST_FEATURES or (n <= _MOST_FEATURES and n * d <= _MOST_VALUES)
    kind = PoolSearch if pooled else AscentSearch
    with one_thread(), np.errstate(over="ignore", invalid="ignore"):
        return kind(rows, signs, free, tol, seed, halted, tell).run()
