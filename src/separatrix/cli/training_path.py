"""The weights of a model after each epoch, by training it again on its own rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from separatrix.tables.kinds import MODELS, WITH_PATH

_MOST_EPOCHS = 500
_MOST_NUMBERS = 50_000_000  # of rows, times epochs


def check_path(model: Any) -> None:
    """Refuse a model that has no path of weights from epoch to epoch."""
    name = type(model.estimator).__name__
    has_path = name in {MODELS[each].estimator for each in WITH_PATH}
    if not has_path or getattr(model.estimator, "readout", "last") == "voted":
        raise ValueError(
            f"--kind path draws one weight vector from epoch to epoch, which this {name} does not have: fit with "
            f"one of --model {', '.join(WITH_PATH)}"
        )
    if len(model.classes_) != 2:
        raise ValueError(f"--kind path draws two classes, but this model has {len(model.classes_)}")
    if not isinstance(start := getattr(model.estimator, "init", "zeros"), str) or start != "zeros":
        raise ValueError("--kind path draws training from zero weights; this model started elsewhere (init)")
    if model.facts.on_disk or model.facts.updates:
        raise ValueError("--kind path trains again, in memory: not a model of rows on disk, or one that was updated")


def training_path(model: Any, X: Any, y: Any, weights: Any) -> Any:
    """Return weights and bias at the start and after each epoch, of shape (epochs + 1, features + 1)."""
    from sklearn.base import clone

    from separatrix.estimators.contract import ConvergenceWarning
    from separatrix.stops import EpochsInAll, MaxEpochs

    estimator = model.estimator
    epochs = int(estimator.n_iter_)
    if epochs > _MOST_EPOCHS or epochs * X.shape[0] * X.shape[1] > _MOST_NUMBERS:
        raise ValueError(
            f"--kind path would train {epochs:,} epochs on {X.shape[0]:,} rows again; draw a smaller model"
        )
    again = clone(estimator).set_params(warm_start=True, verbose=0)
    rules = () if estimator.stop is None else estimator.stop.parts
    goals = [part for part in rules if not isinstance(part, MaxEpochs)]
    path = [np.zeros(X.shape[1] + 1)]
    for epoch in range(1, epochs + 1):
        stop: Any = EpochsInAll(epoch)
        for part in goals:
            stop = stop | part
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            again.set_params(max_iter=epoch, stop=stop).fit(X, y, sample_weight=weights)
        path.append(np.append(np.asarray(again.coef_)[0], again.intercept_))
    if not np.array_equal(path[-1], np.append(np.asarray(estimator.coef_)[0], estimator.intercept_)):
        raise ValueError("training again on these rows gives other weights than the model has: fit it again")
    return np.array(path)
