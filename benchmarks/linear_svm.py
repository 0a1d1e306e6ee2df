"""Time to a good soft-margin SVM as ratios to LIBLINEAR, and the memory it takes.

Both sides are given several tolerances; for each, the fastest run whose objective is within 1e-4 of the optimum
counts. They take turns on the same data in one process, one thread, the best of several repeats; no intercept, hinge
loss, C = 1. LIBLINEAR (``pip install liblinear-official``) is given its problem ready made, so that only its
``train`` is timed; ours is the whole ``fit``, checks of the data included. ``python benchmarks/linear_svm.py`` uses
generated data; ``--data FOLDER`` adds real sets from the LIBSVM files of that folder; ``--memory`` measures peaks in
fresh processes.
"""

from __future__ import annotations

import argparse
import io
import lzma
import resource
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
from perceptron import zipf_data
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

import separatrix as sx

OURS = (3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4)
THEIRS = (1.0, 0.3, 0.1, 0.05, 0.02, 0.01, 0.005, 0.001)
NEAR = 1e-4


def zipf(folder):
    X, y = zipf_data(100_000, 47_000, 73, np.random.default_rng(0), np.float32)
    noise = np.random.default_rng(1).random(len(y)) < 0.05
    return sparse.csr_matrix(normalize(X)), np.where(noise, -y, y)


def gaussian(folder):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((100_000, 64), dtype=np.float32)
    return X, np.where(X @ rng.standard_normal(64) + 3.0 * rng.standard_normal(len(X)) > 0, 1, -1)


def libsvm(path):
    return lambda folder: load_svmlight_file(io.BytesIO(lzma.open(folder / path).read()), dtype=np.float32)


def news(folder):
    X, y = libsvm("newsgroups20/news20_12gram_binary.train.svm.xz")(folder)
    return normalize(X), np.where(y <= 10, 1, -1)


def covtype(folder):
    with lzma.open(folder / "covtype/covtype.csv.xz") as file:
        table = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.float32)
    X, y = table[:, :-1], table[:, -1]
    X = (X - X.min(axis=0)) / np.maximum(X.max(axis=0) - X.min(axis=0), 1e-9)
    return np.ascontiguousarray(X, dtype=np.float32), np.where(y == 2, 1, -1)


GENERATED = {"Zipf text": zipf, "dense Gaussian": gaussian}
REAL = {
    "news20, words and pairs": news,
    "reuters money-fx": libsvm("reuters_moneyfx/reuters_moneyfx.trn.xz"),
    "a9a": libsvm("a9a/a9a.xz"),
    "w8a": libsvm("w8a/w8a.xz"),
    "covtype": covtype,
}


def objective(X, signs, w):
    return 0.5 * w @ w + np.maximum(0.0, 1.0 - signs * (X @ w)).sum()


class Liblinear:
    """LIBLINEAR's own solver 3 (the dual of the hinge loss) on a problem made once."""

    def __init__(self, X, signs):
        from liblinear.liblinear import liblinear, parameter, problem

        self._library, self._parameter = liblinear, parameter
        self._problem = problem(signs, sparse.csr_matrix(X).astype(np.float64))
        self._problem.set_bias(-1)
        self._width = X.shape[1]

    def train(self, tolerance):
        options = self._parameter(f"-s 3 -c 1 -B -1 -e {tolerance} -q")
        began = time.perf_counter()
        model = self._library.train(self._problem, options)
        seconds = time.perf_counter() - began
        w = np.ctypeslib.as_array(model.contents.w, (self._width,)).copy()
        return seconds, w if model.contents.label[0] > 0 else -w


def ours(X, y, tolerance):
    model = sx.LinearSVM(tol=tolerance, fit_intercept=False, random_state=0)
    began = time.perf_counter()
    model.fit(X, y)
    return time.perf_counter() - began, model.coef_[0]


def compare(name, X, y, repeats):
    signs = np.where(y > 0, 1.0, -1.0)
    exact = sx.LinearSVM(tol=1e-6, fit_intercept=False, random_state=0).fit(X, y)
    optimum = float(exact.objective_ - exact.duality_gap_)
    peer = Liblinear(X, signs)
    sides = {
        "ours": (OURS, lambda tolerance: ours(X, y, tolerance)),
        "LIBLINEAR": (THEIRS, peer.train),
    }
    best = {side: {} for side in sides}
    for _ in range(repeats):
        for side, (tolerances, work) in sides.items():
            for tolerance in tolerances:
                seconds, w = work(tolerance)
                known = best[side].get(tolerance, (np.inf, np.inf))
                best[side][tolerance] = (min(seconds, known[0]), objective(X, signs, w) / optimum - 1.0)
    line = f"{name} ({X.shape[0]} x {X.shape[1]}):"
    reached = {}
    for side in sides:
        good = {tolerance: run for tolerance, run in best[side].items() if run[1] <= NEAR}
        if good:
            tolerance = min(good, key=lambda each: good[each][0])
            reached[side] = good[tolerance][0]
            line += f" {side} {reached[side] * 1e3:.1f} ms at {tolerance:g} ({good[tolerance][1]:.1e});"
        else:
            seconds, distance = min(best[side].values(), key=lambda run: run[1])
            line += f" {side} does not get there ({distance:.1e} after {seconds * 1e3:.0f} ms);"
    if len(reached) == 2:
        line += f" {reached['LIBLINEAR'] / reached['ours']:.2f}x"
    print(line, flush=True)


def resident():
    """Return the memory of this process in MiB (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def memory(name, side, folder):
    """Print how far the memory of this process rises during one fit, LIBLINEAR's copy of the problem included."""
    X, y = {**GENERATED, **REAL}[name](folder)
    before = peak = resident()
    over = threading.Event()

    def watch():
        nonlocal peak
        while not over.wait(0.001):
            peak = max(peak, resident())

    watcher = threading.Thread(target=watch)
    watcher.start()
    if side == "ours":
        sx.LinearSVM(fit_intercept=False).fit(X, y)
    else:
        Liblinear(X, np.where(y > 0, 1.0, -1.0)).train(0.01)
    over.set()
    watcher.join()
    print(round(peak - before))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", help="part of the name of a data set")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--memory", action="store_true", help="measure memory instead of time")
    parser.add_argument("--one", nargs=2, metavar=("NAME", "SIDE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        memory(*options.one, options.data)
        return
    for name, load in {**GENERATED, **(REAL if options.data else {})}.items():
        if options.only and options.only not in name:
            continue
        if options.memory:
            folder = ["--data", str(options.data)] if options.data else []
            peaks = [
                int(subprocess.check_output([sys.executable, __file__, "--one", name, side, *folder]))
                for side in ("ours", "LIBLINEAR")
            ]
            print(f"{name}: a fit takes {peaks[0]} MiB at its peak, LIBLINEAR {peaks[1]} MiB", flush=True)
        else:
            compare(name, *load(options.data), options.repeats)


if __name__ == "__main__":
    main()
