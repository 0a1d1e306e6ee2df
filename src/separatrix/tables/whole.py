"""A small source as a matrix of numbers and labels, nothing scaled: for certificates and traces."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix.geometry.rows import is_sparse
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import learn_preparation
from separatrix.tables.gathering import COPIES, gather
from separatrix.tables.memory import available
from separatrix.tables.model import TableModel, incomplete
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.update import labelled_rows, own_labels


class Whole(NamedTuple):
    """All rows, their labels, the names of the numbers, and how many rows lacked something."""

    X: Any
    y: NDArray[Any]
    names: list[str]
    dropped: int


def read_whole(source: TableSource | MatrixSource, asked: ColumnOptions, *, exact: bool = False) -> Whole:
    """Read a source into memory; with ``exact``, refuse whole numbers that no float equals."""
    with tempfile.TemporaryDirectory(prefix="separatrix-") as folder:
        found = gather(source, asked, budget=available() * COPIES // 2, folder=Path(folder), exact=exact)
        if found.raw is None:
            raise ValueError(f"{source.name} does not fit into memory, and all rows are needed at once")
    raw = found.raw
    assert raw.labels is not None
    preparation = learn_preparation(found, raw, replace(asked, scale="none"))
    return Whole(preparation.matrix(raw), np.array(found.classes)[raw.labels], preparation.names, found.n_dropped)


def read_prepared(model: TableModel, source: TableSource | MatrixSource) -> tuple[Any, NDArray[Any]]:
    """Return the complete rows of a source as a model sees them, and their labels."""
    parts: list[Any] = []
    labels: list[Any] = []
    for raw, found in labelled_rows(model, source, "fail"):
        own = own_labels(model, found)
        whole = ~incomplete(model.preparation, raw) & np.array([label is not None for label in own], dtype=bool)
        if whole.any():
            parts.append(model.preparation.matrix(raw.take(whole)))
            labels += [label for label, there in zip(own, whole, strict=True) if there]
    if not parts:
        raise ValueError(f"{source.name} holds no complete row")
    if is_sparse(parts[0]):
        from scipy import sparse

        return sparse.vstack(parts, format="csr"), np.array(labels)
    return np.concatenate(parts), np.array(labels)
