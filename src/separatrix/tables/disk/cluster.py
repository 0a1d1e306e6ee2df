"""Rows in a folder, read by the workers of a Dask cluster: on this machine, or on machines that share the folder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from separatrix.svm.rowblocks import tree
from separatrix.svm.rowblocks.dask_store import DaskSource, Group, group_rows
from separatrix.tables.disk.rowfile import RowFile

_PATIENCE = 20  # seconds for a scheduler to answer


@dataclass(frozen=True)
class Cluster:
    """The scheduler at an address, or so many workers on this machine."""

    address: str | None = None
    workers: int = 0

    def __post_init__(self) -> None:
        if self.address is not None and self.workers:
            raise ValueError("--cluster is a cluster that is there, --workers makes one: give one of them")
        if self.workers < (self.address is None):
            raise ValueError(f"--workers must be at least 1; found {self.workers}")

    @contextmanager
    def client(self) -> Iterator[Any]:
        """Yield a client of the cluster, whose workers have the version of this package."""
        try:
            import distributed
        except ImportError:
            raise ValueError(
                "--cluster and --workers need the packages of 'separatrix[dask]': pip install 'separatrix[dask]'"
            ) from None
        from separatrix.estimators.dask_rows import check_workers

        if self.address is None:
            with (
                distributed.LocalCluster(
                    self.workers, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0"
                ) as own,
                distributed.Client(own) as client,
            ):
                yield client
            return
        try:
            client = distributed.Client(self.address, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError):
            raise ValueError(f"--cluster {self.address}: no scheduler answers there") from None
        with client:
            check_workers(client)
            yield client


def on_workers(client: Any, file: RowFile) -> DaskSource:
    """Return the rows of a file, read by workers."""
    file.seal()
    folder = str(file.folder.absolute())
    for worker, there in client.run(_is_there, folder).items():
        if not there:
            raise ValueError(
                f"--cluster: the worker {worker} cannot read {folder}: keep the rows in a folder that all machines "
                "share, with --cache"
            )
    threads = sum(worker["nthreads"] for worker in client.scheduler_info()["workers"].values())
    rows, shard = group_rows(file.n, file.width, max(threads, 1)), tree.shard_rows(file.n, file.width)
    groups = [
        client.submit(_group, folder, first, min(first + rows, file.n), shard, pure=False)
        for first in range(0, file.n, rows)
    ]
    return DaskSource(client, groups, file.n, file.width)


def _is_there(folder: str) -> bool:
    return RowFile.reopen(Path(folder)) is not None


def _group(folder: str, first: int, last: int, shard: int) -> Group:
    """Return neighbouring rows of a file."""
    file = RowFile.reopen(Path(folder))
    if file is None:
        raise ValueError(f"the rows in {folder} are gone or damaged")
    codes, weights = file.about(first, last)
    return Group(first, shard, file.values(first, last), codes, weights)
