"""Memory and time of CSV files grow with their cells, not with the square of their columns."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import time

import numpy as np
import pytest

from separatrix.tables.sources.opening import open_source

BOUND = 350 << 20  # bytes: the libraries take some 200 MB, and the rows of these files at most 8 MB
ON_DISK = 300 << 20  # what the guide promises where rows are kept on disk
COMMAND = """
import sys
from separatrix.cli import main
try:
    main()
finally:
    peak = [line for line in open("/proc/self/status") if line.startswith("VmHWM")]
    print(int(peak[0].split()[1]) << 10, file=sys.stderr)
"""


def write(path, rows, columns, *, text=False, packed=False):
    rng = np.random.default_rng(0)
    lines = [",".join([*(f"x{k}" for k in range(columns - 1)), "y"])]
    for row in range(rows):
        values = rng.integers(-99, 99, columns - 1) + (0 if row % 2 else 30)
        cells = (f"v{value % 3}" for value in values) if text else (f"{value / 7:.4f}" for value in values)
        lines.append(",".join([*cells, "pq"[row % 2]]))
    whole = "\n".join([*lines, ""]).encode()
    path.write_bytes(gzip.compress(whole, 1) if packed else whole)
    return path


def peak_of_fit(path, *more):
    """The most memory that a command takes, in bytes; counted by the process itself, without what it began as."""
    command = [sys.executable, "-c", COMMAND, "fit", str(path), "--target", "y", "-o", str(path.parent / "m.sx"), *more]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stderr.splitlines()[-1])


needs_proc = pytest.mark.skipif(not os.path.exists("/proc/self/status"), reason="peak memory is counted by Linux")


@needs_proc
@pytest.mark.parametrize(("columns", "packed"), [(100, False), (1_000, True), (10_000, False)])
def test_the_memory_of_a_fit_is_bounded_however_many_columns_there_are(tmp_path, columns, packed):
    path = write(tmp_path / ("a.csv.gz" if packed else "a.csv"), 100, columns, packed=packed)
    assert peak_of_fit(path, "--certify", "0", "--epochs", "2") < BOUND


@needs_proc
@pytest.mark.parametrize("more", [(), ("--sql", "select * from data")], ids=["file", "query"])
def test_rows_on_disk_take_less_than_the_guide_promises(tmp_path, more):
    path = write(tmp_path / "a.csv", 1_500, 100)
    assert peak_of_fit(path, "--memory", "1MB", "--epochs", "2", *more) < ON_DISK


def seconds_to_read(path):
    began = time.process_time()
    with open_source(str(path)) as source:
        cells = sum(batch.num_rows * batch.num_columns for batch in source.batches([c.name for c in source.columns]))
    return time.process_time() - began, cells


@pytest.mark.parametrize("text", [False, True], ids=["numbers", "texts"])
def test_the_same_cells_in_a_hundred_times_as_many_columns_take_about_the_same_time(tmp_path, text):
    narrow, wide = write(tmp_path / "n.csv", 10_000, 50, text=text), write(tmp_path / "w.csv", 100, 5_000, text=text)
    seconds_to_read(wide)  # imports
    times = {path: min(seconds_to_read(path)[0] for _ in range(3)) for path in (narrow, wide)}
    assert seconds_to_read(wide)[1] == seconds_to_read(narrow)[1] == 500_000
    assert times[wide] < 10 * times[narrow] + 0.2  # a hundred times, if it grew with the square
