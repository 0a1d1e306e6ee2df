"""Time to read files, against other readers of the same files in the same run.

Libsvm text with ones only (like a9a), with six digits and with sixteen, on one thread, against scikit-learn's
``load_svmlight_file``; and a CSV file of 30 columns of numbers with six digits and one of labels, block by block and as
one matrix, with one and two threads, against pandas and DuckDB, if that is installed. The files are in the page cache;
the readers take turns and the best of several repeats counts. What they read is compared. ``--small`` takes seconds.
"""

from __future__ import annotations

import argparse
import importlib.util
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.datasets import dump_svmlight_file, load_svmlight_file

from separatrix.tables.sources.libsvm import read_libsvm
from separatrix.tables.sources.plain_csv import PlainCsv


def best(repeats, **readers):
    """The least seconds of each reader, and what it read last."""
    seconds, got = dict.fromkeys(readers, np.inf), {}
    for _ in range(repeats):
        for name, read in readers.items():
            got.pop(name, None)
            start = time.perf_counter()
            got[name] = read()
            seconds[name] = min(seconds[name], time.perf_counter() - start)
    return seconds, got


def libsvm_files(folder, rows):
    rng = np.random.default_rng(0)
    y = rng.choice([-1, 1], rows)
    ones = sparse.random(rows, 123, density=14 / 123, format="csr", random_state=0, data_rvs=np.ones)
    real = sparse.random(rows, 5000, density=0.01, format="csr", random_state=0)
    short = real.copy()
    short.data = short.data.round(6)
    for name, X in (("ones", ones), ("6 digits", short), ("16 digits", real)):
        path = folder / f"{name}.txt"
        dump_svmlight_file(X, y, str(path), zero_based=False)
        yield name, path


def measure_libsvm(folder, rows, repeats):
    for name, path in libsvm_files(folder, rows):
        seconds, got = best(
            repeats,
            separatrix=lambda path=path: read_libsvm(path),
            sklearn=lambda path=path: load_svmlight_file(str(path), zero_based=False),
        )
        (X, y), (theirs, labels) = got["separatrix"], got["sklearn"]
        assert X.data.tobytes() == theirs.data.tobytes()
        assert (X.indices == theirs.indices).all()
        assert (y == labels).all()
        size = path.stat().st_size / 1e6
        print(
            f"libsvm, {name}: {size:.0f} MB in {seconds['separatrix']:.3f} s, {size / seconds['separatrix']:.0f} MB/s; "
            f"scikit-learn {seconds['sklearn']:.3f} s, {seconds['sklearn'] / seconds['separatrix']:.1f} times as long"
        )


def measure_csv(folder, rows, repeats):
    rng = np.random.default_rng(0)
    names = [f"f{k}" for k in range(30)]
    table = pd.DataFrame(rng.standard_normal((rows, 30)).round(6), columns=names)
    table["label"] = rng.choice(["yes", "no"], rows)
    path = folder / "numbers.csv"
    table.to_csv(path, index=False)
    kinds = ["number"] * 30 + ["label"]

    def blocks(n_jobs):
        return sum(len(X) for X, _ in PlainCsv(path, ",", '"', [*names, "label"], kinds, n_jobs).blocks())

    def matrix(n_jobs):
        got = PlainCsv(path, ",", '"', [*names, "label"], kinds, n_jobs)
        X, codes, at = np.empty((rows, 30)), np.empty(rows, np.int32), 0
        for numbers, labels in got.blocks():
            X[at : at + len(numbers)], codes[at : at + len(numbers)] = numbers, labels[:, 0]
            at += len(numbers)
        return X, np.array(got.levels("label"))[codes]

    readers = {
        "blocks, 1 thread": lambda: blocks(1),
        "blocks, 2 threads": lambda: blocks(2),
        "one matrix, 1 thread": lambda: matrix(1),
        "one matrix, 2 threads": lambda: matrix(2),
        "pandas": lambda: pd.read_csv(path),
    }
    if importlib.util.find_spec("duckdb"):
        import duckdb

        connection = duckdb.connect(config={"threads": 2})
        readers["DuckDB, 2 threads"] = lambda: connection.sql(f"select * from read_csv('{path}')").to_arrow_table()
    seconds, got = best(repeats, **readers)
    for n_jobs in ("1 thread", "2 threads"):
        X, labels = got[f"one matrix, {n_jobs}"]
        assert (table[names].to_numpy() == X).all()
        assert (labels == table["label"].to_numpy()).all()
    print(f"CSV, {path.stat().st_size / 1e6:.0f} MB:")
    for name, time_taken in seconds.items():
        print(f"  {name}: {time_taken:.3f} s")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true")
    small = parser.parse_args().small
    with tempfile.TemporaryDirectory() as folder:
        measure_libsvm(Path(folder), 2_000 if small else 20_000, 3 if small else 5)
        measure_csv(Path(folder), 20_000 if small else 1_000_000, 3 if small else 5)


if __name__ == "__main__":
    main()
