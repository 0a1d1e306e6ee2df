"""Speed and memory of the perceptron as ratios to scikit-learn and BLAS, all from one run.

Two ratios for each line, one thread, ours and theirs taking turns on the same arrays, the best of several counting:
the whole ``fit`` with one epoch (checks of the data and labels included), and one epoch alone, which is the difference
between fits with four epochs and with one, by three. ``python benchmarks/perceptron.py`` prints the table;
``--small`` is a quick rehearsal.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
import warnings

import numpy as np
from scipy import sparse
from sklearn.linear_model import Perceptron as Peer
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.stops import MaxEpochs

REPEATS = 5


def best_of(*works, repeats=REPEATS):
    """Return the best seconds of each piece of work, the pieces taking turns."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for k, work in enumerate(works):
            began = time.perf_counter()
            work()
            best[k] = min(best[k], time.perf_counter() - began)
    return best


def ours(X, y, shuffle, epochs=1):
    return lambda: sx.Perceptron(stop=MaxEpochs(epochs), max_iter=epochs, shuffle=shuffle, random_state=0).fit(X, y)


def theirs(X, y, shuffle, epochs=1):
    return lambda: Peer(max_iter=epochs, tol=None, shuffle=shuffle, random_state=0).fit(X, y)


def compare(X, y, shuffle, *others):
    """Return a text with both ratios, then our time and the times of the other works."""
    mine, peer, mine_4, peer_4, *rest = best_of(
        ours(X, y, shuffle), theirs(X, y, shuffle), ours(X, y, shuffle, 4), theirs(X, y, shuffle, 4), *others
    )
    epoch, peer_epoch = (mine_4 - mine) / 3, (peer_4 - peer) / 3
    text = f"fit {mine * 1e3:.1f} ms, {peer / mine:.2f}x; epoch {epoch * 1e3:.1f} ms, {peer_epoch / epoch:.2f}x"
    return text, epoch, mine, *rest


def dense_data(n, d, rng):
    X = rng.standard_normal((n, d), dtype=np.float32)
    w = rng.standard_normal(d).astype(np.float32)
    return X, np.where(X @ w > 0, 1, -1), w


def zipf_data(n, d, per_row, rng, dtype):
    """Rows like short texts: about ``per_row`` distinct columns each, column k with probability about 1 / (k + 1)."""
    weights = 1.0 / np.arange(1, d + 1)
    columns = rng.choice(d, size=(n, int(per_row * 1.35)), p=weights / weights.sum())
    rows = np.repeat(np.arange(n), columns.shape[1])
    X = sparse.csr_array((np.ones(columns.size), (rows, columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    X.data = (1.0 + np.log(X.data)) * rng.uniform(0.5, 1.5, X.nnz)
    X = X.astype(dtype)
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)  # scikit-learn takes no wider ones
    w = rng.standard_normal(d)
    scores = X @ w
    return X, np.where(scores > np.median(scores), 1, -1)


def cluster_data(n, d, k, rng):
    """Ten Gaussian clouds that overlap a little, as embeddings of ten classes do."""
    y = rng.integers(0, k, n)
    X = rng.standard_normal((k, d), dtype=np.float32)[y] * np.float32(0.35) + rng.standard_normal(
        (n, d), dtype=np.float32
    )
    return X, y


MEMORY = """
import re, sys
import numpy as np
import separatrix as sx
from separatrix.stops import MaxEpochs
def peak():
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read()).group(1)) * 1024
n, d, dtype, shuffle = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3], sys.argv[4] == "True"
rng = np.random.default_rng(0)
sx.Perceptron(stop=MaxEpochs(1)).fit(rng.standard_normal((50, 4)), np.arange(50) % 2)
X = np.ones((n, d), dtype=dtype)
for row in X:
    row[:] = rng.standard_normal(d)
y = np.where(X[:, 0] > 0, 1, -1)
before = peak()
sx.Perceptron(stop=MaxEpochs(2), shuffle=shuffle, random_state=0).fit(X, y)
print((peak() - before) / X.nbytes)
"""


def extra_memory(n, d, dtype, shuffle):
    command = [sys.executable, "-c", MEMORY, str(n), str(d), dtype, str(shuffle)]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def import_times(repeats=15):
    def start(code):
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    return best_of(start("pass"), start("import numpy"), start("import separatrix"), repeats=repeats)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows: a rehearsal, not a measurement")
    scale = 10 if parser.parse_args().small else 1
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    lines = []

    def line(work, figure, target):
        lines.append((work, figure, target))
        print(f"{work:<60} {figure:<48} target {target}", flush=True)

    n = 200_000 // scale
    build = sx._core.build()
    print(f"separatrix {sx.__version__}, build {build}, against scikit-learn; best of {REPEATS}, one thread\n")
    with threadpool_limits(1):
        X, y, w = dense_data(n, 256, rng)
        text, epoch, mine, blas = compare(X, y, False, lambda X=X: X @ w)
        line(f"dense {n:,} x 256 float32 in order", text, ">= 7x")
        line("the same, against one BLAS X @ w", f"fit {mine / blas:.2f}x, epoch {epoch / blas:.2f}x", "<= 0.6x")
        line("the same, shuffled", compare(X, y, True)[0], ">= 6x")
        del X, y
        for dtype in (np.float32, np.float64):
            X, y = zipf_data(100_000 // scale, 47_000, 72, rng, dtype)
            name = f"CSR {X.shape[0]:,} x 47,000, {X.nnz / X.shape[0]:.0f} a row, {np.dtype(dtype)}"
            for shuffle, target in ((False, ">= 2.2x"), (True, ">= 3x")):
                line(f"{name}, {'shuffled' if shuffle else 'in order'}", compare(X, y, shuffle)[0], target)
            del X, y
        X, y = cluster_data(100_000 // scale, 256, 10, rng)
        two = np.where(y < 5, 1, -1)
        text, epoch, mine, pair, pair_4 = compare(X, y, False, ours(X, two, False), ours(X, two, False, 4))
        line(f"10 classes, dense {X.shape[0]:,} x 256 float32 in order", text, ">= 10x")
        pair_epoch = (pair_4 - pair) / 3
        line("the same, against two classes", f"fit {mine / pair:.2f}x, epoch {epoch / pair_epoch:.2f}x", "<= 4x")
        del X, y, two
    for dtype in ("float32", "float64"):
        for shuffle in (False, True):
            share = extra_memory(n, 256, dtype, shuffle)
            how = "shuffled" if shuffle else "in order"
            line(f"extra memory of fit, {n:,} x 256 {dtype}, {how}", f"{share:.2%} of X", "< 5%")
    bare, numpy_time, own = import_times()
    ratio = own / numpy_time
    shown = f"{ratio:.2f}x ({(own - bare) * 1e3:.0f} ms over {(numpy_time - bare) * 1e3:.0f} ms)"
    line("python -c 'import separatrix' against 'import numpy'", shown, "<= 1.3x")
    print("\n| work | figure | target |\n|---|---|---|")
    for work, figure, target in lines:
        print(f"| {work} | {figure} | {target} |")


if __name__ == "__main__":
    main()
