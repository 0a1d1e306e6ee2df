"""``--tune --within``: C chosen from a whole range, with a proof of how much better any other could be."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.warm_fits import with_l2
from separatrix.insight.fold_bounds import FoldBounds
from separatrix.insight.range_cells import default_fits
from separatrix.insight.range_search import Search
from separatrix.loop.problem import Labels
from separatrix.tables.folds import Folds
from separatrix.tables.settings import Settings
from separatrix.tables.tuning import strength

SECONDS = 30.0  # for the proof, where there is no time limit


class ProvenTuning(NamedTuple):
    """The values of C that were fitted, their accuracy (mean and deviation over folds), the best, and the proof.

    ``distance`` is by how much the accuracy of any other C of the range can be higher at most; None where Ctrl-C ended
    the search, so that nothing is proved. ``ended`` is "proved" or why the search ended before: "fits", "time",
    "rounding" or "interrupted".
    """

    values: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    best: float
    distance: float | None
    ended: str


def prove(
    settings: Settings, estimator: Any, X: Any, labels: Labels, weights: NDArray[np.float64] | None, folds: Folds,
    watch: Callable[..., None],
) -> ProvenTuning:  # fmt: skip
    """Choose C between the ends of the grid of ``--tune`` so that no other has an accuracy higher by more than asked.

    Parameters
    ----------
    settings : Settings
        With ``within``. Their time limit, or ``SECONDS``, is that of the search.
    estimator : LinearSVM or LogisticRegression
        Whose other parameters to use.
    X, labels, weights
        The training rows as the model sees them.
    folds : list of pairs of arrays
        Rows to fit to, rows to score.
    watch : callable
        Told after each round of fits how many there were, and which part of the time has passed.
    """
    assert settings.within is not None
    with_l2(estimator, "--within")
    _, grid = strength(settings)
    each = [
        FoldBounds(
            estimator, X[train], Labels(labels.classes, labels.codes[train]), X[test],
            labels.codes[test].astype(np.intp), None if weights is None else weights[train],
        )
        for train, test in folds
    ]  # fmt: skip
    if not all(fold.certified for fold in each):
        raise ValueError(
            "--within needs one plane for each class, and these are learned together: give --param multi_class=ovr"
        )
    limit, began = settings.time_limit or SECONDS, time.perf_counter()

    def halted() -> bool:
        part = (time.perf_counter() - began) / limit
        watch("prove", fits=search.n_fits, part=min(part, 1.0))
        return part >= 1.0

    search = Search(each, grid[0], grid[-1], settings.within, float(estimator.tol), default_fits(each), halted)
    distance, ended = None, "interrupted"
    try:
        search.run()
        ended = search.ended
        lowest = max(min(cell.bound for cell in search.cells), 0.0)
        distance = max(search.best.error - lowest, 0.0)
        if search.ended == "proved":
            distance = min(distance, settings.within)  # which rounding may have put it above
    except KeyboardInterrupt:
        if not search.steps:
            raise
    parts = np.array(
        [[1.0 - point.wrong / fold.n for point, fold in zip(step.folds, each, strict=True)] for step in search.steps]
    )
    return ProvenTuning(
        tuple(step.C for step in search.steps), tuple(1.0 - step.error for step in search.steps),
        tuple(parts.std(axis=1).tolist()), search.best.C, distance, ended,
    )  # fmt: skip
