"""Many rows in memory, on disk and on Dask workers: time to a proven duality gap, and peak memory.

    python benchmarks/large_data.py [--rows 2000000] [--columns 64] [--gap 1e-4] [--losses hinge log squared_hinge]
                                    [--parts usual threads disk dask liblinear]

Rows are Gaussian in float32, with noise in the labels; C = 1, free intercept. Seconds are wall time of ``fit``, with
the processor time beside them: on a machine that others use, that is what compares. "usual" is the solver of fewer rows
(coordinate ascent, then Newton or interior point). LIBLINEAR is scikit-learn's LinearSVC with its own stopping rule;
the objective is computed from its weights. The file is read by a process of its own, whose peak memory is shown.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import numpy as np

import separatrix as sx


def rows(n: int, d: int):
    """Rows and their classes."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    y = (
        X @ rng.standard_normal(d).astype(np.float32) / d**0.5 + 0.3 + 0.7 * rng.standard_normal(n, dtype=np.float32)
        > 0
    )
    return X, y.astype(np.int32)


def model(loss: str, gap: float, **how):
    """An estimator for this loss."""
    return sx.LogisticRegression(tol=gap, **how) if loss == "log" else sx.LinearSVM(loss=loss, tol=gap, **how)


def timed(fit):
    """Return what a fit returns, its wall time and its processor time."""
    wall, cpu = time.perf_counter(), time.process_time()
    return fit(), time.perf_counter() - wall, time.process_time() - cpu


def line(name: str, fitted, wall: float, cpu: float, more: str = "") -> None:
    """Print a row of the table."""
    gap = fitted.duality_gap_ / fitted.objective_
    print(f"| {name} | {wall:.2f} | {cpu:.2f} | {fitted.objective_:.8g} | {gap:.1e} | {more} |", flush=True)


def liblinear(X, y) -> None:
    """Fit scikit-learn's LinearSVC and print its objective."""
    from sklearn.svm import LinearSVC

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        it, wall, cpu = timed(lambda: LinearSVC(loss="hinge", C=1.0, random_state=0).fit(X, y))
    margins = np.where(y > 0, 1.0, -1.0) * it.decision_function(X)
    objective = 0.5 * float(it.coef_[0] @ it.coef_[0]) + float(np.maximum(1.0 - margins, 0.0).sum())
    print(f"| LIBLINEAR, {it.n_iter_} epochs | {wall:.2f} | {cpu:.2f} | {objective:.8g} | - | |", flush=True)


def from_disk(folder: str, loss: str, gap: float) -> None:
    """Fit rows in a file, in this process; print its figures as JSON."""
    from separatrix.svm.rowblocks.disk_store import DiskSource
    from separatrix.tables.disk.rowfile import RowFile

    file = RowFile.reopen(Path(folder) / "rows")
    with tempfile.TemporaryDirectory(dir=folder) as state:
        it, wall, cpu = timed(lambda: model(loss, gap)._fit_source(DiskSource(file, Path(state)), np.arange(2)))
    status = Path("/proc/self/status").read_text()  # getrusage would count the parent's memory too
    peak = int(status.split("VmHWM:")[1].split()[0]) / 1024
    print(json.dumps([wall, cpu, it.objective_, it.duality_gap_, peak, it.coef_.tolist()]))


def on_disk(X, y, loss: str, gap: float):
    """Write the rows to a file and fit them in another process."""
    from separatrix.tables.disk.rowfile import RowFile

    with tempfile.TemporaryDirectory() as folder:
        file = RowFile(Path(folder) / "rows", X.shape[1], sparse=False, weighted=False)
        file.append(X, y)
        file.seal()
        said = subprocess.run(
            [sys.executable, __file__, "--from-disk", folder, "--loss", loss, "--gap", str(gap)],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
    return json.loads(said)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=2_000_000)
    parser.add_argument("--columns", type=int, default=64)
    parser.add_argument("--gap", type=float, default=1e-4)
    parser.add_argument("--losses", nargs="+", default=["hinge", "log", "squared_hinge"])
    parser.add_argument("--parts", nargs="+", default=["usual", "threads", "liblinear", "disk", "dask"])
    parser.add_argument("--from-disk", help=argparse.SUPPRESS)
    parser.add_argument("--loss", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.from_disk:
        from_disk(asked.from_disk, asked.loss, asked.gap)
        return
    X, y = rows(asked.rows, asked.columns)
    print(f"{asked.rows:,} x {asked.columns} float32\n\n| fit | seconds | processor | objective | gap | |")
    print("|---|---|---|---|---|---|")
    for loss in asked.losses:
        if "usual" in asked.parts:
            line(f"{loss}, usual solver", *timed(lambda loss=loss: model(loss, asked.gap, warm_start=True).fit(X, y)))
        if "threads" in asked.parts:
            for jobs in (1, 2):
                line(
                    f"{loss}, {jobs} thread(s)",
                    *timed(lambda j=jobs, loss=loss: model(loss, asked.gap, n_jobs=j).fit(X, y)),
                )
        if "disk" in asked.parts:
            wall, cpu, primal, gap, peak, _ = on_disk(X, y, loss, asked.gap)
            print(f"| {loss}, on disk | {wall:.2f} | {cpu:.2f} | {primal:.8g} | {gap / primal:.1e} | {peak:.0f} MB |")
        if "dask" in asked.parts:
            on_dask(X, y, loss, asked.gap)
        if "liblinear" in asked.parts and loss == "hinge":
            liblinear(X, y)


def on_dask(X, y, loss: str, gap: float) -> None:
    """Fit the rows on two local workers, on which they are already."""
    import dask.array as da
    from distributed import Client, LocalCluster, wait

    with LocalCluster(2, threads_per_worker=1, host="127.0.0.1", dashboard_address=":0") as own, Client(own) as client:
        step = -(-len(X) // 8)
        rows, labels = (client.persist(da.from_array(each, chunks=(step, *each.shape[1:]))) for each in (X, y))
        wait([rows, labels])
        before = sum(client.run(time.process_time).values())
        it, wall, cpu = timed(lambda: model(loss, gap).fit(rows, labels))
        line(f"{loss}, 2 Dask workers", it, wall, cpu + sum(client.run(time.process_time).values()) - before)


if __name__ == "__main__":
    main()
