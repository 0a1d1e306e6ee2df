"""CPU time to a good model with an L1 penalty, as ratios to LIBLINEAR, celer, skglm and scikit-learn.

Every side is given several tolerances; for each side the fastest run whose objective is within 1e-4 of the optimum
counts, the best of several repeats, the sides taking turns on the same data in one process, one thread. No intercept.
LIBLINEAR is given its problem ready made, so that only its ``train`` is timed; ours is the whole ``fit``, checks of the
data included. ``python benchmarks/l1.py`` uses generated data; ``--data FOLDER`` adds real sets from LIBSVM files;
``--json`` prints a line of JSON for each row. Peers that are not installed are left out: ``pip install
liblinear-official celer skglm``.
"""

from __future__ import annotations

import argparse
import io
import json
import lzma
import os
import time
import warnings
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
from perceptron import zipf_data
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import normalize

import separatrix as sx

NEAR = 1e-4
COSTS = (0.01, 1.0, 100.0)
TOLERANCES = {
    "ours": (0.5, 0.3, 0.1, 3e-2, 1e-2, 1e-3, 1e-4),
    "LIBLINEAR": (0.3, 0.1, 3e-2, 1e-2, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5),
    "celer": (1e-1, 1e-2, 1e-3, 1e-4),
    "skglm": (10.0, 1.0, 0.1, 1e-2, 1e-3),
    "saga": (1e-1, 1e-2, 1e-3),
}


def small_text(folder):
    X, y = zipf_data(2_000, 5_700, 45, np.random.default_rng(0), np.float32)
    return _noisy(sparse.csr_matrix(normalize(X)), y)


def sparse_bits(folder):
    X, y = zipf_data(3_400, 1_600, 40, np.random.default_rng(1), np.float32)
    X.data[:] = 1.0
    return _noisy(sparse.csr_matrix(X), y)


def tall(folder):
    return _gaussian(24_000, 23, 2)


def narrow(folder):
    return _gaussian(36_000, 8, 3)


def wide(folder):
    return _gaussian(4_000, 1_024, 4)


def _gaussian(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + rng.standard_normal((n, 5)) @ rng.standard_normal((5, d))
    w = rng.standard_normal(d) * (rng.random(d) < max(0.05, 5 / d))
    return X.astype(np.float32), np.where(X @ w + 3.0 * rng.standard_normal(n) > 0, 1.0, -1.0)


def _noisy(X, y):
    return X, np.where(np.random.default_rng(9).random(len(y)) < 0.05, -y, y).astype(float)


def libsvm(path, *, dense=False, normalised=False, positive=None):
    def load(folder):
        with lzma.open(folder / path) as file:
            X, y = load_svmlight_file(io.BytesIO(file.read()), dtype=np.float32)
        y = np.where(y > 0 if positive is None else positive(y), 1.0, -1.0)
        X = normalize(X) if normalised else X
        X.sort_indices()
        return (X.toarray() if dense else X), y

    return load


GENERATED = {
    "small text": small_text, "sparse bits": sparse_bits, "dense tall": tall, "dense narrow": narrow,
    "dense wide": wide,
}  # fmt: skip
REAL = {
    "ijcnn1": libsvm("ijcnn1/ijcnn1.trn.xz", dense=True),
    "a9a": libsvm("a9a/a9a.xz"),
    "w8a": libsvm("w8a/w8a.xz"),
    "phishing": libsvm("phishing/phishing.xz"),
    "reuters money-fx": libsvm("reuters_moneyfx/reuters_moneyfx.trn.xz"),
    "news20": libsvm("newsgroups20/news20_12gram_binary.train.svm.xz", normalised=True, positive=lambda y: y <= 10),
}


def objective(X, y, C, w, *, squared):
    m = y * (X @ w)
    losses = np.maximum(0.0, 1.0 - m) ** 2 if squared else np.logaddexp(0.0, -m)
    return np.abs(w).sum() + C * losses.sum()


def timed(work):
    began = time.process_time()
    result = work()
    return time.process_time() - began, result


def ours(X, y, C, tolerance, *, squared):
    options = {"C": C, "tol": tolerance, "fit_intercept": False, "max_iter": 1000}
    if squared:
        model = sx.LinearSVM(loss="squared_hinge", penalty="l1", **options)
    else:
        model = sx.LogisticRegression(l1_ratio=1.0, **options)
    seconds, model = timed(lambda: model.fit(X, y))
    return seconds, model.coef_[0]


def peers(X, y, *, squared):
    """Return what trains each peer that is installed, given C and a tolerance."""
    found = {}
    try:
        from liblinear.liblinear import liblinear, parameter, problem

        ready = problem(y, sparse.csr_matrix(X).astype(np.float64))
        ready.set_bias(-1)

        def train(C, tolerance):
            options = parameter(f"-s {5 if squared else 6} -c {C} -B -1 -e {tolerance} -q")
            seconds, model = timed(lambda: liblinear.train(ready, options))
            w = np.ctypeslib.as_array(model.contents.w, (X.shape[1],)).copy()
            return seconds, w if model.contents.label[0] > 0 else -w

        found["LIBLINEAR"] = train
    except ImportError:
        pass
    if squared:
        return found
    wide = X.astype(np.float64)
    columns = sparse.csc_matrix(wide) if sparse.issparse(X) else np.asfortranarray(wide)  # not timed
    try:
        from celer import LogisticRegression as Celer

        def celer(C, tolerance):
            model = Celer(C=C, penalty="l1", tol=tolerance, fit_intercept=False)
            seconds, _ = timed(lambda: model.fit(columns, y))
            return seconds, model.coef_.ravel()

        found["celer"] = celer
    except ImportError:
        pass
    try:
        from skglm import SparseLogisticRegression

        def skglm(C, tolerance):
            model = SparseLogisticRegression(alpha=1.0 / (C * len(y)), tol=tolerance / len(y), fit_intercept=False)
            seconds, _ = timed(lambda: model.fit(columns, y))
            return seconds, model.coef_.ravel()

        found["skglm"] = skglm
    except ImportError:
        pass
    from sklearn.linear_model import LogisticRegression

    def saga(C, tolerance):
        model = LogisticRegression(C=C, l1_ratio=1.0, solver="saga", tol=tolerance, fit_intercept=False, max_iter=200)
        seconds, _ = timed(lambda: model.fit(X, y))
        return seconds, model.coef_.ravel()

    found["saga"] = saga
    return found


def compare(name, X, y, C, *, squared, repeats, limit, only):
    """Return the row of one problem: the best CPU time of each side, None where it does not arrive."""
    exact = sx.LinearSVM(loss="squared_hinge", penalty="l1", C=C, tol=1e-6, fit_intercept=False, max_iter=2000)
    if not squared:
        exact = sx.LogisticRegression(l1_ratio=1.0, C=C, tol=1e-6, fit_intercept=False, max_iter=2000)
    exact.fit(X, y)
    optimum = float(exact.objective_ - exact.duality_gap_)
    sides = {"ours": lambda C, tolerance: ours(X, y, C, tolerance, squared=squared)}
    sides |= {side: train for side, train in peers(X, y, squared=squared).items() if not only or side in only}
    chosen, seconds = {}, {}
    for side, train in sides.items():
        for tolerance in TOLERANCES[side]:
            taken, w = train(C, tolerance)
            if objective(X, y, C, w, squared=squared) <= optimum * (1.0 + NEAR):
                chosen[side], seconds[side] = tolerance, taken
                break
            if taken > limit:
                break
    for _ in range(repeats - 1):
        for side, tolerance in chosen.items():
            seconds[side] = min(seconds[side], sides[side](C, tolerance)[0])
    peer = min([seconds[side] for side in seconds if side != "ours"], default=np.inf)
    return {
        "data": name, "n": X.shape[0], "d": X.shape[1], "loss": "squared hinge" if squared else "log", "C": C,
        "gap": float(exact.duality_gap_ / exact.objective_),
        "milliseconds": {side: round(seconds[side] * 1e3, 1) if side in seconds else None for side in sides},
        "ratio": peer / seconds.get("ours", np.inf),
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with real data sets")
    parser.add_argument("--only", help="part of the name of a data set")
    parser.add_argument("--peers", nargs="*", default=(), help="these peers only")
    parser.add_argument("--loss", choices=("log", "squared_hinge"), default="log")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument(
        "--limit", type=float, default=20.0, help="seconds after which a side gets no smaller tolerance"
    )
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    for name, load in {**GENERATED, **(REAL if options.data else {})}.items():
        if options.only and options.only not in name:
            continue
        X, y = load(options.data)
        for C in COSTS:
            row = compare(
                name, X, y, C, squared=options.loss == "squared_hinge", repeats=options.repeats, limit=options.limit,
                only=options.peers,
            )  # fmt: skip
            if options.json:
                print(json.dumps(row), flush=True)
                continue
            sides = ", ".join(
                f"{side} {ms:.1f} ms" if ms is not None else f"{side} never" for side, ms in row["milliseconds"].items()
            )
            print(f"{name} ({row['n']} x {row['d']}), C={C:g}: {sides}; {row['ratio']:.2f}x", flush=True)


if __name__ == "__main__":
    main()
