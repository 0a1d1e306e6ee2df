"""How the time to predict grows with the rows learned from: k-NN looks at all of them, a linear model at none."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.compare.contenders import GROWING, Recipe
from separatrix.tables.compare.measure import timed
from separatrix.tables.compare.subprocess_runner import Send, SubprocessRunner, UnfinishedError
from separatrix.tables.compare.trial import Trial

SIZES = (100, 316, 1_000, 3_162, 10_000, 31_623, 100_000)
_ASKED = 1_000  # rows predicted together
_SECONDS = 6.0  # for each contender
_STEEP = 10.0  # how much longer the next size may take: 3.16 times the rows, squared
_MOST = 50_000_000  # numbers in the rows to learn from
_NOISE = 0.3  # of the spread of a column, on rows that are there more than once


@dataclass
class Growth:
    """Seconds of one contender against the rows it learned from.

    Attributes
    ----------
    name : str
        The contender.
    rows : list of int
        How many rows it learned from.
    predict : list of float
        Seconds to predict one row, of a thousand together.
    train : list of float
        Seconds to fit.
    """

    name: str
    rows: list[int] = field(default_factory=list)
    predict: list[float] = field(default_factory=list)
    train: list[float] = field(default_factory=list)


def grow(
    runner: SubprocessRunner, folder: Path, seed: int, time_limit: float, watch: Callable[..., None]
) -> list[Growth]:
    """Return the growth of each contender on rows like those of a trial, none for more than some seconds."""
    out = []
    for place, name in enumerate(GROWING):
        watch("growth", name=name, done=place, of=len(GROWING))
        found, seconds = Growth(name), min(_SECONDS, time_limit)
        out.append(found)
        try:
            for rows, train, predict in runner.found_by(_sizes, name, folder, seed, seconds, seconds=2 * seconds):
                found.rows.append(rows)
                found.train.append(train)
                found.predict.append(predict)
        except UnfinishedError:
            continue  # the sizes that it managed are there
    return [each for each in out if each.rows]


def _sizes(send: Send, name: str, folder: Path, seed: int, seconds: float) -> None:
    """Send rows, seconds to fit and seconds to predict a row, for one size after the other while there is time."""
    trial, rng = Trial.read(folder), np.random.default_rng(seed)
    held = trial.held[rng.integers(0, trial.held.shape[0], _ASKED)]
    width = trial.X.nnz / trial.X.shape[0] if is_sparse(trial.X) else trial.X.shape[1]
    left, last = seconds, 0.0
    warnings.simplefilter("ignore")  # those about convergence
    for n in SIZES:
        if n * width > _MOST or _STEEP * last > left:
            break
        X, y = rows_like(trial.X, trial.y, n, rng)
        train, model = timed(partial(GROWING[name].make(Recipe(seed=seed)).fit, X, y), most=1)
        predict, _ = timed(partial(model.predict, held))
        last = train + predict
        left -= last
        send((n, train, predict / _ASKED))


def rows_like(X: Any, y: NDArray[Any], n: int, rng: np.random.Generator) -> tuple[Any, NDArray[Any]]:
    """Return ``n`` rows drawn from these; where there are fewer, rows come again, dense ones with noise."""
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
