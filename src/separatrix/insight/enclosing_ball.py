"""``enclosing_ball``: checked input, kernels, and a warning where the bracket stays wide.

The search itself is in geometry/ball.py, the space of a kernel in geometry/kernel_ball.py.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

from separatrix.geometry.ball import Ball, enclose, euclidean_ball
from separatrix.geometry.kernel_ball import kernel_space
from separatrix.geometry.kernels import LinearKernel, check_kernel
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import check_weights
from separatrix.stops import is_count


def enclosing_ball(
    X: Any,
    *,
    kernel: str | Callable[[Any, Any], Any] | None = None,
    gamma: float | str = "scale",
    degree: int = 3,
    coef0: float = 0.0,
    tol: float = 1e-6,
    max_iter: int = 1000,
    sample_weight: Any = None,
) -> Ball:
    """Return the smallest ball that holds every row, in the space of the data or of a kernel.

    Its radius R is the constant K of Lecture 003, 2.5, and with the margin it bounds the perceptron's mistakes by
    ``(R / margin)^2``. The radius comes as a bracket, ``lower <= R <= upper``, that rounding cannot break: the rows of
    ``support`` with their convex ``weights`` prove the lower bound, the farthest row from the centre the upper.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        One row for each example; with ``kernel="precomputed"`` the kernel's values for all pairs of examples.
    kernel : {"linear", "rbf", "poly", "precomputed"}, callable or None, default=None
        None and "linear" are the space of the data. "rbf" is ``exp(-gamma |a - b|^2)``, "poly" is
        ``(gamma a . b + coef0)^degree``. A callable takes two arrays of rows and returns their kernel values, one row
        for each of the first, one column for each of the second. The values are taken as they are computed.
    gamma : float, "scale" or "auto", default="scale"
        For "rbf" and "poly": a number, ``1 / (n_features * variance)`` or ``1 / n_features``.
    degree, coef0 : int, float
        For "poly".
    tol : float, default=1e-6
        How precise: ``upper <= (1 + tol) lower``.
    max_iter : int, default=1000
        The most passes over the rows; about five are usual.
    sample_weight : sequence of float, optional
        Rows of weight 0 are left out; other weights have no effect.

    Returns
    -------
    Ball
        With ``center`` (None in a kernel's space), ``lower``, ``upper``, ``support`` and ``weights``.

    Warns
    -----
    ConvergenceWarning
        Where the bracket is wider than ``tol``; it is valid all the same.

    Examples
    --------
    >>> ball = enclosing_ball([[0.0, 0.0], [2.0, 0.0], [1.0, 0.5]])
    >>> ball.center.round(6), round(ball.radius, 6), ball.support
    (array([1., 0.]), 1.0, array([0, 1]))

    In the space of a Gaussian kernel all rows have length 1, so no radius is larger:

    >>> round(enclosing_ball([[0.0], [5.0]], kernel="rbf", gamma=1.0).radius, 6)
    0.707107
    """
    rows = Rows(X)
    n = rows.shape[0]
    weights = check_weights(sample_weight, n)
    ignored = None if weights is None else weights == 0
    given: Any = tol
    if isinstance(given, str) or not 0.0 < given < 1.0:
        raise ValueError(f"tol must be a number between 0 and 1; found {tol!r}")
    if not is_count(max_iter):
        raise ValueError(f"max_iter must be a whole number, at least 1; found {max_iter!r}")
    rows.check_finite()
    known = check_kernel("linear" if kernel is None else kernel, gamma=gamma, degree=degree, coef0=coef0)
    if isinstance(known, LinearKernel):
        ball, why = euclidean_ball(rows, ignored, float(tol), int(max_iter))
    else:
        space = kernel_space(rows, known.for_rows(rows, weights), ignored)
        ball, why = enclose(space, ignored, float(tol), int(max_iter))
    if why:
        from sklearn.exceptions import ConvergenceWarning

        warnings.warn(
            f"the enclosing ball did not reach tol={tol:g}: its radius is between "
            f"{ball.lower:.9g} and {ball.upper:.9g} ({why})", ConvergenceWarning, stacklevel=2,
        )  # fmt: skip
    return ball
