"""``certify``: are these classes linearly separable, and with what margin? The verdict comes with its proof."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import Any

import numpy as np

from separatrix.certificates.certificate import Certificate
from separatrix.certificates.data import Data, binary_data, read
from separatrix.certificates.finding import find
from separatrix.certificates.multiclass import Certificates
from separatrix.loop.order import seed_of


def certify(
    X: Any,
    y: Any,
    *,
    time_limit: float | None = None,
    tol: float = 1e-3,
    fit_intercept: bool = True,
    random_state: Any = None,
) -> Certificate | Certificates:
    """Decide whether planes separate the classes, with what margin, and prove it.

    Parameters
    ----------
    X : array, sparse matrix or frame of shape (n_samples, n_features)
        The rows, taken as exact numbers.
    y : sequence of n_samples labels
        Their classes, two or more.
    time_limit : float, optional
        Seconds, for all classes together; what is not decided by then is None. Without a limit the work is still
        bounded, by the size of the data.
    tol : float, default=1e-3
        Stop when the bracket of the largest margin is narrower than this part of it; or, where an exact proof is out of
        reach, when no plane has a margin above this part of the radius.
    fit_intercept : bool, default=True
        Allow planes that miss the origin.
    random_state : int, RandomState or None
        The seed of the search's samples. It changes which proof is found, never whether it holds.

    Returns
    -------
    Certificate, or Certificates for more than two classes
        The verdict, the bracket, the mistake bound, and the witness that proves them.

    Examples
    --------
    >>> from separatrix import certify, datasets
    >>> certificate = certify(*datasets.load("and"))
    >>> certificate.separable, round(certificate.margin.lower, 6), round(certificate.margin.upper, 6)
    ('strict', 0.353553, 0.353553)
    >>> xor = certify(*datasets.load("xor"))
    >>> xor.separable, xor.witness.points
    ('none', WeightedRows(rows=(0, 1, 2, 3), weights=(1, 1, 1, 1)))
    >>> bool(xor.verify(*datasets.load("xor"))), bool(xor.verify(*datasets.load("and")))
    (True, False)
    """
    if isinstance(tol, bool) or not isinstance(tol, int | float | np.number) or not 0 < tol < 1:
        raise ValueError(f"tol must be a number between 0 and 1; found {tol!r}")
    if time_limit is not None and (
        isinstance(time_limit, bool) or not isinstance(time_limit, int | float | np.number) or not time_limit > 0
    ):
        raise ValueError(f"time_limit must be a positive number of seconds, or None; found {time_limit!r}")
    if not isinstance(fit_intercept, bool | np.bool_):
        raise TypeError(f"fit_intercept must be True or False; found {fit_intercept!r}")
    free, seed = bool(fit_intercept), seed_of(random_state)
    deadline = math.inf if time_limit is None else time.perf_counter() + float(time_limit)
    rows, classes, codes = read(X, y)
    if len(classes) < 2:
        raise ValueError(f"a certificate needs at least two classes; found only the class {classes.tolist()[0]!r}")

    def certified(positive: int, negative: int | None, tasks: int) -> Certificate:
        now = time.perf_counter()
        until = now + (deadline - now) / tasks
        return certify_task(binary_data(rows, classes, codes, free, positive, negative), float(tol), seed, until)

    if len(classes) == 2:
        return certified(1, 0, 1)
    labels, k = classes.tolist(), len(classes)
    pairs = list(combinations(range(k), 2))
    tasks = [*((code, None) for code in range(k)), *((b, a) for a, b in pairs)]
    share = (deadline - time.perf_counter()) / len(tasks)
    made = [certified(*task, len(tasks) - place) for place, task in enumerate(tasks)]
    late = [place for place, each in enumerate(made) if each.separable is None and each.history[-1][0] > 0.9 * share]
    for left, place in zip(range(len(late), 0, -1), late, strict=True):  # with the time that the others did not need
        if (deadline - time.perf_counter()) / left > max(1.5 * share, 0.0):
            made[place] = certified(*tasks[place], left)
    rest = dict(zip(labels, made[:k], strict=True))
    both = {(labels[a], labels[b]): each for (a, b), each in zip(pairs, made[k:], strict=True)}
    return Certificates(rest, both)


def certify_task(data: Data, tol: float = 1e-3, seed: int = 0, deadline: float = math.inf) -> Certificate:
    """Return the certificate of one task; what is not decided by the deadline stays undecided."""
    history: list[tuple[float, float, float]] = []
    began = time.perf_counter()

    def tell(lower: float, upper: float) -> None:
        history.append((time.perf_counter() - began, lower, upper))

    def halted(ahead: float = 0.0) -> bool:
        return time.perf_counter() + ahead >= deadline

    witness, proof = find(data, tol=tol, seed=seed, halted=halted, tell=tell)
    certificate = Certificate.of(data, witness, proof)
    history.append((time.perf_counter() - began, *certificate.margin))
    return certificate.with_history(tuple(history))
