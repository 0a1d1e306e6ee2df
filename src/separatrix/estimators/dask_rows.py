"""Rows in Dask arrays and dataframes: looked at where they are, cut into groups of shards, and left on the workers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from separatrix import __version__
from separatrix.estimators.sharded import check_shape
from separatrix.geometry.rows import Rows, is_sparse
from separatrix.loop.problem import encode_labels
from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.dask_store import DaskSource, Group, group_rows
from separatrix.svm.rowblocks.tree import in_shards


class DaskRows(NamedTuple):
    """Rows on workers, ready for a fit: the source, the sorted labels, how many rows each has, the columns' names."""

    source: DaskSource
    classes: NDArray[Any]
    counts: NDArray[np.int64]
    names: list[str] | None


class Part(NamedTuple):
    """What a partition holds: rows, columns, how its numbers are stored, its labels and how many rows each has.

    ``problem`` is what is wrong with it, if anything.
    """

    n: int
    names: tuple[str, ...] | int
    single: bool
    labels: Any
    counts: Any
    problem: str


def in_memory(X: Any, y: Any, sample_weight: Any) -> tuple[Any, Any, Any] | None:
    """Return rows that are few enough for the usual solvers, gathered; None where they are many."""
    n, d = X.shape
    if not isinstance(n, int | np.integer):  # the lengths of partitions are unknown
        n = sum(_lengths(X))
    if in_shards(n, d) or n * d > 1 << 25:
        return None
    rows: tuple[Any, Any, Any] = _dask().compute(X, y, sample_weight)
    return rows


def on_workers(X: Any, y: Any, sample_weight: Any) -> DaskRows:
    """Return the rows of Dask collections on the workers of the present client, checked partition by partition."""
    client = _client()
    parts = _partitions(X, "X")
    labels = _aligned(y, "y", len(parts))
    weights = [None] * len(parts) if sample_weight is None else _aligned(sample_weight, "sample_weight", len(parts))
    check_workers(client)
    columns = tuple(map(str, X.columns)) if hasattr(X, "columns") else int(X.shape[1])
    held = client.compute([each for triple in zip(parts, labels, weights, strict=True) for each in triple])
    triples = [tuple(held[k : k + 3]) for k in range(0, len(held), 3)]
    start = DaskSource(client, [], 0, 0)
    seen = [start.submit(look_at, *triple, columns) for triple in triples]
    looked: list[Part] = [start.result(each) for each in seen]
    for place, part in enumerate(looked):
        if part.problem:
            raise ValueError(f"partition {place} of {len(looked)}: {part.problem}")
    n, d = sum(part.n for part in looked), columns if isinstance(columns, int) else len(columns)
    if not n:
        raise ValueError(f"X has 0 sample(s) in its {len(looked)} partitions, while a minimum of 1 is required")
    check_shape(d, sparse=False, where="X")
    classes, counts = _classes([part for part in looked if part.n])
    single = all(part.single for part in looked if part.n)
    threads = sum(worker["nthreads"] for worker in client.scheduler_info()["workers"].values())
    rows, shard = group_rows(n, d, max(threads, 1)), tree.shard_rows(n, d)
    ends = np.cumsum([0] + [part.n for part in looked]).tolist()
    groups = []
    for first in range(0, n, rows):
        last = min(first + rows, n)
        pieces = [
            (*triple, max(first - begin, 0), min(last, end) - begin)
            for triple, begin, end in zip(triples, ends, ends[1:], strict=False)
            if begin < last and end > first and begin < end
        ]
        flat = [each for piece in pieces for each in piece]
        groups.append(start.submit(_grouped, first, shard, classes, single, *flat))
    return DaskRows(DaskSource(client, groups, n, d), classes, counts, None if isinstance(columns, int) else [*columns])


def check_workers(client: Any) -> None:
    """Refuse workers that have another version of this package, or none."""

    def version() -> str | None:
        import importlib.metadata

        try:
            return importlib.metadata.version("separatrix")
        except importlib.metadata.PackageNotFoundError:
            return None

    found = client.run(version, on_error="return")
    if not found:
        raise ConnectionError(f"the Dask cluster {client.scheduler.address} has no workers: start some")
    for worker, each in found.items():
        if each != __version__ and not isinstance(each, Exception):  # of a worker that is just going
            there = "no separatrix" if each is None else f"separatrix {each}"
            raise ValueError(
                f"the worker {worker} has {there}, the client {__version__}: install the same version on all of them"
            )


def _client() -> Any:
    try:
        from distributed import get_client
    except ImportError:
        raise ImportError("rows in Dask collections need the packages of 'separatrix[dask]'") from None
    try:
        return get_client()
    except ValueError:
        raise ValueError(
            "X is a Dask collection with more rows than are gathered into memory, and there is no cluster to fit them "
            "on: make a client first, as with distributed.Client()"
        ) from None


def _partitions(values: Any, what: str) -> list[Any]:
    """Return the partitions of the rows, as Dask's delayed values."""
    if hasattr(values, "rechunk"):
        if values.ndim == 2 and len(values.chunks[1]) > 1:
            values = values.rechunk({1: -1})
        return list(values.to_delayed().reshape(-1))
    if hasattr(values, "to_delayed"):
        return list(values.to_delayed())
    raise TypeError(f"{what} must be an array or a dataframe of Dask, as X is; found {type(values).__name__}")


def _aligned(values: Any, what: str, parts: int) -> list[Any]:
    own = _partitions(values, what)
    if len(own) != parts:
        raise ValueError(f"X has {parts} partitions, {what} has {len(own)}: cut both in the same places")
    return own


def _lengths(X: Any) -> list[int]:
    dask = _dask()
    return list(dask.compute(*[dask.delayed(len)(part) for part in _partitions(X, "X")]))


def _dask() -> Any:
    import dask

    return dask


def _classes(parts: Sequence[Part]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the sorted labels of all partitions, and how many rows each has."""
    kinds = {np.asarray(part.labels).dtype.kind in "biuf": place for place, part in enumerate(parts)}
    if len(kinds) > 1:
        raise ValueError(
            f"labels must be all numbers or all text; partition {kinds[True]} of y holds numbers, {kinds[False]} texts"
        )
    every = encode_labels(np.concatenate([np.asarray(part.labels) for part in parts]))
    counts = np.bincount(every.codes, np.concatenate([part.counts for part in parts])).astype(np.int64)
    return every.classes, counts


# ---------------------------------------------------------------------------------------------- on the workers


def look_at(rows: Any, y: Any, weights: Any, columns: tuple[str, ...] | int) -> Part:
    """Return what a partition holds, and what is wrong with it."""
    try:
        return _looked(rows, y, weights, columns)
    except (ValueError, TypeError) as problem:
        return Part(0, columns, True, np.empty(0), np.empty(0), str(problem))


def _looked(rows: Any, y: Any, weights: Any, columns: tuple[str, ...] | int) -> Part:
    if is_sparse(rows):
        raise ValueError("sparse rows must fit into memory for this model; dense numbers need not")
    own = tuple(map(str, rows.columns)) if hasattr(rows, "columns") else int(np.shape(rows)[1])
    if own != columns:
        raise ValueError(f"it has the columns {_shown(own)}, where X has {_shown(columns)}")
    if len(y) != len(rows) or (weights is not None and len(weights) != len(rows)):
        raise ValueError(f"X has {len(rows)} rows, y has {len(y)} labels: cut all in the same places")
    if not len(rows):
        return Part(0, own, True, np.empty(0), np.empty(0), "")
    checked = Rows(rows)
    checked.check_finite()
    labels = encode_labels(np.asarray(y))
    if weights is not None:
        own_weights = np.asarray(weights, dtype=np.float64)
        if not (np.isfinite(own_weights).all() and (own_weights >= 0).all()):
            raise ValueError("sample_weight must hold finite numbers that are not negative")
    single = checked.values.dtype == np.float32
    return Part(len(rows), own, single, labels.classes, np.bincount(labels.codes), "")


def _shown(columns: tuple[str, ...] | int) -> str:
    return f"{columns} in number" if isinstance(columns, int) else ", ".join(columns)[:200]


def _grouped(first: int, shard: int, classes: NDArray[Any], single: bool, *pieces: Any) -> Group:
    """Return neighbouring rows of some partitions (rows, labels, weights, from, to) as a group of shards."""
    values, codes, weights = [], [], []
    for k in range(0, len(pieces), 5):
        rows, y, own, begin, end = pieces[k : k + 5]
        part = Rows(rows).values[begin:end]
        values.append(part.astype(np.float32 if single else np.float64, copy=False))
        codes.append(np.searchsorted(classes, np.asarray(y)[begin:end]).astype(np.int32))
        if own is not None:
            weights.append(np.asarray(own, dtype=np.float64)[begin:end])
    return Group(
        first, shard, np.ascontiguousarray(np.concatenate(values)), np.concatenate(codes),
        np.concatenate(weights) if weights else None,
    )  # fmt: skip
