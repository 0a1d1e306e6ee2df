"""An interior-point method for the smallest ball around a few points, given by their inner products.

Here: one small, dense, convex problem, solved in some twenty Newton steps whatever its conditioning. Points that
coincide, lie on one line or are all at one distance make the inner products singular, which the barrier tolerates. Not
here: the search for the few points that matter among many, which is in ball.py.
"""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import numpy as np

from separatrix.geometry.rows import Floats

_MAX_STEPS = 80  # twenty to forty are usual
_SMALL_SYSTEM = 500  # equations
_SMALL, _LARGER = 1e-290, 2.0**200
_STEP_TO_BOUND = 0.99  # the part of the way to the nearest bound that a step may go


@cache
def _libraries(scipy: bool) -> Any:
    """Return the controller of the threads of the BLAS libraries that NumPy and, if it is loaded, SciPy have loaded."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def one_thread() -> AbstractContextManager[Any]:
    """Return a context in which linear algebra uses one thread.

    Problems this small gain nothing from more, lose much when the cores are busy, and the last bits of a result would
    depend on how many there are. SciPy's are limited only if ``scipy.linalg`` has been imported before.
    """
    limited: AbstractContextManager[Any] = _libraries("scipy.linalg" in sys.modules).limit(limits=1, user_api="blas")
    return limited


def solve_definite(matrix: Floats, right: Floats) -> Floats:
    """Solve linear equations with a positive definite matrix; raise LinAlgError if it is not.

    Large ones take SciPy's Cholesky factor, twice as fast; small ones do without importing SciPy.

    Examples
    --------
    >>> solve_definite(np.array([[2.0, 0.0], [0.0, 4.0]]), np.array([1.0, 1.0])).tolist()
    [0.5, 0.25]
    """
    if len(matrix) <= _SMALL_SYSTEM:
        np.linalg.cholesky(matrix)
        return np.asarray(np.linalg.solve(matrix, right))
    from scipy.linalg import cho_factor, cho_solve

    with one_thread():
        return np.asarray(cho_solve(cho_factor(matrix, lower=True), right))


def convex_weights(gram: Floats, gap: float = 1e-13) -> Floats:
    """Return weights ``p >= 0`` of sum 1 that make ``sum p_i x_i`` the centre of the smallest ball around the x_i.

    The dual of the smallest ball is ``max sum p_i G_ii - p' G p`` over convex weights p, with G the inner products. Its
    optimality conditions are ``|x_i - c|^2 + s_i = r`` with ``s >= 0`` and ``p_i s_i = 0``: a point inside the ball has
    no weight. Mehrotra's predictor-corrector method follows ``p_i s_i = mu`` down to ``mu = 0``; the gap between the
    largest squared distance r and the dual value is ``sum p_i s_i`` all the way.

    Parameters
    ----------
    gram : array of shape (m, m)
        Inner products of the points, with the origin at or near one of them.
    gap : float, default=1e-13
        Stop when ``sum p_i s_i`` is at most this part of the largest ``G_ii``.

    Examples
    --------
    Of three points on a line the middle one does not matter:

    >>> x = np.array([0.0, 1.0, 4.0])
    >>> np.round(convex_weights(np.outer(x, x)), 6) + 0.0
    array([0.5, 0. , 0.5])
    """
    m = len(gram)
    largest = float(gram.diagonal().max())
    p = np.full(m, 1.0 / m)
    if m == 1 or largest <= 0.0:
        return p
    from scipy.linalg import cho_factor

    if largest < _SMALL:  # of which the reciprocal may not be finite
        gram, largest = gram * _LARGER, largest * _LARGER
    q = gram * (2.0 / largest)
    linear = 0.5 * q.diagonal()
    slope = q @ p - linear
    s = slope - slope.min() + 0.1  # feasible from the start, and Newton's steps keep it so
    ones = np.ones(m)
    system = np.empty_like(q)
    for _ in range(_MAX_STEPS):
        remaining = float(p @ s)
        if remaining <= gap:
            break
        np.copyto(system, q)
        system.flat[:: m + 1] += s / p
        try:
            factor = cho_factor(system, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # rounding hides what the barrier adds
            break
        across = _solve(factor, ones)
        dp, ds = _newton(factor, across, p, s, np.zeros(m))
        reach = min(1.0, _reach(p, dp), _reach(s, ds))
        predicted = float((p + reach * dp) @ (s + reach * ds))
        centred = (predicted / remaining) ** 3 * remaining / m
        dp, ds = _newton(factor, across, p, s, centred - dp * ds)
        reach = min(1.0, _STEP_TO_BOUND * _reach(p, dp), _STEP_TO_BOUND * _reach(s, ds))
        if not (np.isfinite(dp).all() and np.isfinite(ds).all()) or reach < 1e-10:
            break
        p += reach * dp
        s += reach * ds
        p /= p.sum()
        # Rounding drifts off the equations |x_i - c|^2 + s_i = r; only r is free in them.
        slope = q @ p - linear
        s = np.maximum(slope + float(np.dot(p, s - slope)), 1e-3 * s)
    return p


def _newton(factor: Any, across: Floats, p: Floats, s: Floats, target: Floats) -> tuple[Floats, Floats]:
    """Return the step towards ``p_i s_i = target_i`` that keeps the sum of p and the equations of s."""
    change = target / p - s
    dp = _solve(factor, change)
    dp -= across * (dp.sum() / across.sum())
    return dp, change - s / p * dp


def _solve(factor: Any, right: Floats) -> Floats:
    from scipy.linalg import cho_solve

    return np.asarray(cho_solve(factor, right, check_finite=False))


def _reach(values: Floats, change: Floats) -> float:
    """Return how large a multiple of the change keeps all values positive."""
    falling = change < 0.0
    return float((values[falling] / -change[falling]).min()) if falling.any() else np.inf
