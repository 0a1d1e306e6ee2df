"""``--tune --within``: C chosen from a whole range, with a proof of how much better any other could be."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.estimators.warm_fits import with_l2
from separatrix.insight.fold_bounds import FoldBounds
from separatrix.insight.range_search import Search, default_fits
from separatrix.loop.problem import Labels
from separatrix.tables.folds import Folds
from separatrix.tables.settings import Settings
from separatrix.tables.tuning import strength


class ProvenTuning(NamedTuple):
    """The values of C that were fitted, their accuracy (mean and deviation over folds), the best, and the proof.

    ``distance`` is by how much the accuracy of any other C of the range can be higher at most.
    """

    values: tuple[float, ...]
    means: tuple[float, ...]
    deviations: tuple[float, ...]
    best: float
    distance: float


def prove(
    settings: Settings, estimator: Any, X: Any, labels: Labels, weights: NDArray[np.float64] | None, folds: Folds
) -> ProvenTuning:
    """Choose C between the ends of the grid of ``--tune`` so that no other has an accuracy higher by more than asked.

    Parameters
    ----------
    settings : Settings
        With ``within``.
    estimator : LinearSVM or LogisticRegression
        Whose other parameters to use.
    X, labels, weights
        The training rows as the model sees them.
    folds : list of pairs of arrays
        Rows to fit to, rows to score.
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
    search = Search(each, grid[0], grid[-1], settings.within, float(estimator.tol), default_fits(each), lambda: False)
    search.run()
    parts = np.array(
        [[1.0 - point.wrong / fold.n for point, fold in zip(step.folds, each, strict=True)] for step in search.steps]
    )
    lowest = max(min(cell.bound for cell in search.cells), 0.0)
    distance = max(search.best.error - lowest, 0.0)
    return ProvenTuning(
        tuple(step.C for step in search.steps), tuple(1.0 - step.error for step in search.steps),
        tuple(parts.std(axis=1).tolist()), search.best.C,
        min(distance, settings.within) if search.ended == "proved" else distance,
    )  # fmt: skip
