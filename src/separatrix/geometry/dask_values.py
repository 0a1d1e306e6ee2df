"""Arrays and dataframes of Dask, as far as predictions need to know them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np


def on_dask(X: Any) -> bool:
    """Whether X is an array or a dataframe of Dask."""
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def by_partition(X: Any, decide: Callable[[Any], Any], width: int, dtype: Any) -> Any:
    """Return a Dask array of what a method of a model returns for each partition of X; ``width`` 0 is one dimension."""
    none = np.empty((0, width) if width else 0, dtype=dtype)

    def decided(part: Any) -> Any:
        return decide(part) if len(part) else none

    if hasattr(X, "rechunk"):
        X = X.rechunk({1: -1}) if len(X.chunks[1]) > 1 else X
        if not width:
            return X.map_blocks(decided, dtype=dtype, drop_axis=1)
        return X.map_blocks(decided, dtype=dtype, chunks=(X.chunks[0], (width,)))
    return X.map_partitions(decided, meta=none)
