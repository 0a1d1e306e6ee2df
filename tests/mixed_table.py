"""A table of numbers, categories and gaps: written, fitted and predicted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.predict import PredictionCounts, PredictOptions, predict
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.opening import open_source

DISK = MemoryBudget(memory=1)
NUMBERS = ["a", "b", "c", "d"]


def frame(n: int = 400, seed: int = 0) -> pd.DataFrame:
    """Return numbers, two categories, some missing values and three classes."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(3.0, [1.0, 20.0, 0.01], (n, 3)), columns=["a", "b", "c"])
    data["colour"] = rng.choice(["red", "green", "blue"], n)
    data["d"] = rng.integers(0, 50, n)
    data["size"] = rng.choice(["s", "m", "l", "xl"], n)
    score = data.a - 0.05 * data.b + (data.colour == "red") + 0.02 * data.d + rng.normal(0, 0.2, n)
    data["kind"] = np.where(score > 4.2, "high", np.where(score > 3.2, "mid", "low"))
    data.loc[rng.random(n) < 0.04, "a"] = np.nan
    data.loc[rng.random(n) < 0.03, "size"] = None
    return data


def written(data: pd.DataFrame, folder: Path, name: str = "t.csv") -> str:
    data.to_csv(folder / name, index=False)
    return str(folder / name)


def fitted(name, options=None, settings=None, budget=None, **more):
    with open_source(str(name)) as source:
        return fit(source, options or ColumnOptions("kind"), settings or Settings(certify=0), budget, **more)


def predictions(model, name, **options):
    with open_source(str(name)) as source:
        parts = list(predict(model, source, PredictOptions(**options), PredictionCounts()))
    return [value for part in parts for value in part.column("prediction").to_pylist()]
