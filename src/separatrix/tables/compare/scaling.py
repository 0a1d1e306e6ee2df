"""Prediction time against the number of training rows: k-NN compares with all rows, a linear model with none."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.compare.contenders import SCALING_CONTENDERS, Recipe
from separatrix.tables.compare.measure import timed
from separatrix.tables.compare.subprocess_runner import Send, SubprocessRunner, UnfinishedError
from separatrix.tables.compare.trial import Trial

SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
_PREDICTED = 1_000  # rows predicted together
_SECONDS = 6.0  # for each contender
_STEEP = 10.0  # the next size may take this many times longer: 3.16 times the rows, squared
_MOST = 50_000_000  # numbers in the training rows
_NOISE = 0.3  # standard deviations of noise on repeated rows


@dataclass
class ScalingCurve:
    """Seconds of one contender against its number of training rows.

    Attributes
    ----------
    name : str
        The contender.
    rows : list of int
        Numbers of training rows.
    predict : list of float
        Seconds to predict one row, of a thousand together.
    train : list of float
        Seconds to fit.
    """

    name: str
    rows: list[int] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)


def scaling_curves(
    runner: SubprocessRunner,
    folder: Path,
    seed: int,
    time_limit: float,
    watch: Callable[..., None],
    parameters: Mapping[str, Mapping[str, Any]],
) -> list[ScalingCurve]:
    """Return the curve of each contender, by its parameters, on rows like those of a trial, within a few seconds."""
    out = []
    for place, name in enumerate(SCALING_CONTENDERS):
        watch("growth", name=name, done=place, of=len(SCALING_CONTENDERS))
        curve, seconds = ScalingCurve(name), min(_SECONDS, time_limit)
        out.append(curve)
        try:
            recipe = Recipe(seed=seed, parameters=parameters.get(name, {}))
            for rows, train, predict in runner.results_of(_sizes, name, folder, recipe, seconds, seconds=2 * seconds):
                curve.rows.append(rows)
                curve.train.append(train)
                curve.predict.append(predict)
        except UnfinishedError:
            continue  # the sizes that were measured are kept
    return [each for each in out if each.rows]


def _sizes(send: Send, name: str, folder: Path, recipe: Recipe, seconds: float) -> None:
    """Send rows, seconds to fit and seconds to predict a row, for one size after the other while there is time."""
    trial, rng = Trial.read(folder), np.random.default_rng(recipe.seed)
    test = trial.X_test[rng.integers(0, trial.X_test.shape[0], _PREDICTED)]
    width = trial.X.nnz / trial.X.shape[0] if is_sparse(trial.X) else trial.X.shape[1]
    left, last = seconds, 0.0
    warnings.simplefilter("ignore")  # those about convergence
    for n in SIZES:
        if n * width > _MOST or _STEEP * last > left:
            break
        X, y = rows_like(trial.X, trial.y, n, rng)
        train, model = timed(partial(SCALING_CONTENDERS[name].make(recipe).fit, X, y), most=1)
        predict, _ = timed(partial(model.predict, test))
        last = train + predict
        left -= last
        send((n, train, predict / _PREDICTED))


def rows_like(X: Any, y: NDArray[Any], n: int, rng: np.random.Generator) -> tuple[Any, NDArray[Any]]:
    """Return ``n`` rows drawn from these; where there are fewer, rows are repeated, dense ones with noise."""
    few = np.concatenate([np.flatnonzero(y == label)[:1] for label in np.unique(y)])  # so that no class is lost
    some = n - len(few)
    if some < 0:
        return X[few], y[few]
    if n <= len(y):
        rest = np.setdiff1d(np.arange(len(y)), few)
        rows = np.concatenate([few, rng.permutation(rest)[:some]])
        return X[rows], y[rows]
    rows = np.concatenate([few, rng.integers(0, len(y), some)])
    drawn = X[rows]
    if not is_sparse(drawn):
        drawn = drawn + _NOISE * X.std(axis=0) * rng.standard_normal(drawn.shape)
    return drawn, y[rows]
