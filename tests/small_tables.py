"""Small tables: written, fitted without a test set, predicted, and as the matrix that a model sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.model import TableModel
from separatrix.tables.predict import PredictionCounts, PredictOptions, predict
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.in_memory import TableInMemory
from separatrix.tables.sources.opening import open_source
from separatrix.tables.whole import read_prepared, read_training

QUICK = Settings(certify=0, test=0, epochs=2)


def written(data: pd.DataFrame | dict[str, Any], path: Path, **more: Any) -> Path:
    """Write a table as CSV."""
    pd.DataFrame(data).to_csv(path, index=False, **more)
    return path


def shops(n: int = 240, seed: int = 0) -> pd.DataFrame:
    """Return rows whose label is that of their shop, which no other shop says anything about."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(24), n // 24)
    kinds = rng.permutation(np.repeat(["no", "yes"], 12))
    places = rng.normal(size=(24, 30))
    data = pd.DataFrame(places[codes] + 0.01 * rng.normal(size=(n, 30)), columns=[f"x{k}" for k in range(30)])
    return data.assign(shop=[f"s{code}" for code in codes], day=rng.permutation(n), y=kinds[codes])


def opened(source: Any) -> Any:
    """Return a source of a path, a frame, or an Arrow table."""
    if isinstance(source, pd.DataFrame):
        source = pa.Table.from_pandas(source, preserve_index=False)
    return TableInMemory(source, "the table") if isinstance(source, pa.Table) else open_source(str(source))


def fitted(source: Any, target: str = "y", budget: MemoryBudget | None = None, **options: Any) -> TableModel:
    """Return a quick model of all rows."""
    with opened(source) as own:
        return fit(own, ColumnOptions(target, **options), QUICK, budget).model


def predicted(model: TableModel, source: Any, **options: Any) -> tuple[list[Any], PredictionCounts]:
    """Return the prediction of each row, and what was counted."""
    counts = PredictionCounts()
    with opened(source) as own:
        parts = list(predict(model, own, PredictOptions(**options), counts))
    return [label for part in parts for label in part.column("prediction").to_pylist()], counts


def dense(X: Any) -> Any:
    return X.toarray() if hasattr(X, "toarray") else np.asarray(X)


def matrix(model: TableModel, source: Any) -> Any:
    """Return the features of the rows as the model sees them."""
    with opened(source) as own:
        return dense(read_prepared(model, own)[0])


def trained_on(model: TableModel, source: Any) -> Any:
    """Return the features of the training rows; their key, which the model keeps, must be the same."""
    with opened(source) as own:
        return dense(read_training(model, own).X)
