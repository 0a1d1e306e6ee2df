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
from separatrix.tables.prepare import key_of, learn_preparation
from separatrix.tables.rows import ModelRows
from separatrix.tables.settings import COPIES
from separatrix.tables.sources.base import MatrixSource, TableSource
from separatrix.tables.split import TestSplit, split_by
from separatrix.tables.split_column import SplitReader, parse_split
from separatrix.tables.store import MemoryRows
from separatrix.text import listed


class Whole(NamedTuple):
    """All rows, their labels, the names of the numbers, and how many rows were dropped for missing values."""

    X: Any
    y: NDArray[Any]
    names: list[str]
    dropped: int


class TrainingRows(NamedTuple):
    """The rows that a model was trained on, as it sees them: labels, sample weights, and their places in the source.

    Places count the complete rows of the source from 0.
    """

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None
    places: NDArray[np.intp]


def read_whole(source: TableSource | MatrixSource, options: ColumnOptions, *, exact: bool = False) -> Whole:
    """Read a source into memory, nothing scaled; with ``exact``, refuse whole numbers that no float equals."""
    with ScratchFolder() as folder:
        data = collect(source, options, limit=available() * COPIES // 2, folder=folder, exact=exact)
        if not isinstance(data.rows, MemoryRows):
            raise ValueError(f"{source.name} does not fit into memory, and all rows are needed at once")
    raw = data.rows.raw
    made = learn_preparation(data, replace(options, scale="none"), raw)
    return Whole(made.matrix(raw), np.array(data.classes)[raw.labels], made.preparation.names, data.n_dropped)


def read_prepared(model: TableModel, source: TableSource | MatrixSource) -> tuple[Any, NDArray[Any]]:
    """Return the complete rows of a source as a model sees them, and their labels."""
    X, codes, _, labels, _ = _complete(model, source)
    return X, np.array(labels)[codes]


def read_training(model: TableModel, source: TableSource | MatrixSource) -> TrainingRows:
    """Return the rows of a source that a model was trained on, or say that they are not among its rows.

    The test set is drawn again by the seed of the fit; a key of the training rows, which the model keeps, says whether
    these are the same rows. A source of the training rows alone will do too.
    """
    facts = model.facts
    if facts.data is None:
        raise ValueError("the model does not say which rows it was trained on; fit it again")
    encoded = [feature.name for feature in model.preparation.features if feature.shares]
    if encoded:
        raise ValueError(
            f"the model has target-encoded columns ({listed(encoded)}), whose training rows were encoded by "
            "cross-fitting and cannot be read again; fit it without --target-encode"
        )
    split = facts.options.split
    X, codes, weights, labels, order = _complete(model, source, split)
    counts = np.bincount(codes, minlength=len(labels))
    fractions = dict.fromkeys((facts.settings.test, 0.0))
    for test in fractions if len(labels) == len(model.classes_) else ():
        try:
            if split is None or not test:
                places, _ = TestSplit(counts, test, facts.settings.seed).rows(codes)
            else:
                places, _ = split_by(parse_split(split), order, test, facts.settings.seed).rows(codes)
        except ValueError:  # too few rows for a test set
            continue
        part = X[places] if len(places) < len(codes) else X
        own = None if weights is None else weights[places]
        if key_of(part, codes[places], own) == facts.data:
            return TrainingRows(part, np.array(labels)[codes[places]], own, places)
    n = facts.rows.train + facts.rows.test
    raise ValueError(
        f"the {len(codes):,} complete rows of {source.name} are not those that the model was trained on "
        f"({facts.rows.train:,} of {n:,} rows of {facts.source}): give the same data, or fit the model to these rows "
        "with --test 0"
    )


def _complete(
    model: TableModel, source: TableSource | MatrixSource, split: str | None = None
) -> tuple[Any, Any, Any, list[Any], Any]:
    """Return the complete rows as a model sees them, codes of their labels, weights, all labels, and times or groups.

    The last are those of ``split``, as ``--split`` has it.
    """
    reader = None if split is None else SplitReader(source.name, split)
    orders: list[Any] = []
    first = 1
    parts: list[Any] = []
    codes: list[Any] = []
    weights: list[Any] = []
    rows = ModelRows(model, source, labels="need", keep=() if reader is None else (reader.by.column,))
    for block in rows:
        assert block.labels is not None
        whole = block.labelled
        if block.raw.weights is not None:
            whole &= ~np.isnan(block.raw.weights)
        if whole.any():
            raw = block.raw.take(whole)
            parts.append(model.preparation.matrix(raw))
            codes.append(block.labels[whole])
            weights.append(raw.weights)
            if reader is not None:
                orders.append(reader.read(block.kept[reader.by.column], first)[whole])
        first += len(block.raw)
    if not parts:
        raise ValueError(f"{source.name} has no complete row")
    every = None if weights[0] is None else np.concatenate(weights)
    order = np.concatenate(orders) if orders else None
    if is_sparse(parts[0]):
        from scipy import sparse

        return sparse.vstack(parts, format="csr"), np.concatenate(codes), every, rows.labels, order
    return np.concatenate(parts), np.concatenate(codes), every, rows.labels, order
