"""A small source as a matrix of numbers and labels: for certificates, traces and plots."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.files import ScratchFolder
from separatrix.geometry.rows import is_sparse
from separatrix.tables.collect import collect
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.memory import available
from separatrix.tables.model import TableModel
from separatrix.tables.prepare import learn_preparation
from separatrix.tables.rows import ModelRows
from separatrix.tables.settings import COPIES
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.store import MemoryRows


class Whole(NamedTuple):
    """All rows, their labels, the names of the numbers, and how many rows were dropped for missing values."""

    X: Any
    y: NDArray[Any]
    names: list[str]
    dropped: int


def read_whole(source: TableSource | MatrixSource, options: ColumnOptions, *, exact: bool = False) -> Whole:
    """Read a source into memory, nothing scaled; with ``exact``, refuse whole numbers that no float equals."""
    with ScratchFolder() as folder:
        data = collect(source, options, limit=available() * COPIES // 2, folder=folder, exact=exact)
        if not isinstance(data.rows, MemoryRows):
            raise ValueError(f"{source.name} does not fit into memory, and all rows are needed at once")
    raw = data.rows.raw
    preparation, _ = learn_preparation(data, replace(options, scale="none"), raw)
    return Whole(preparation.matrix(raw), np.array(data.classes)[raw.labels], preparation.names, data.n_dropped)


def read_prepared(model: TableModel, source: TableSource | MatrixSource) -> tuple[Any, NDArray[Any]]:
    """Return the complete rows of a source as a model sees them, and their labels."""
    parts: list[Any] = []
    codes: list[Any] = []
    rows = ModelRows(model, source, labels="need")
    for block in rows:
        assert block.labels is not None
        whole = block.labelled
        if whole.any():
            parts.append(model.preparation.matrix(block.raw.take(whole)))
            codes.append(block.labels[whole])
    if not parts:
        raise ValueError(f"{source.name} has no complete row")
    y = np.array(rows.labels)[np.concatenate(codes)]
    if is_sparse(parts[0]):
        from scipy import sparse

        return sparse.vstack(parts, format="csr"), y
    return np.concatenate(parts), y
