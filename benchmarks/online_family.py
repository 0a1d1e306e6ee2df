"""Speed of PA-I and AROW as ratios to scikit-learn's PA-I, River's and the perceptron, all from one run.

One epoch is the difference between fits with four epochs and with one, by three; one thread, the works taking turns on
the same arrays, the best of several counting, in processor time. scikit-learn's side is SGDClassifier with
``learning_rate="pa1"``, which takes the place of PassiveAggressiveClassifier in 1.8. River learns from a few hundred
rows as dicts, which it needs anyway, and its time for an epoch is that times the number of rows; without River that
column is left out. ``python benchmarks/online_family.py`` prints the table; ``--small`` is a quick rehearsal.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from perceptron import dense_data, ours, zipf_data
from scipy import sparse
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.stops import MaxEpochs

REPEATS, RIVER_ROWS = 5, 300


def pa(X, y, shuffle, epochs):
    return lambda: sx.PassiveAggressive(C=1.0, shuffle=shuffle, stop=MaxEpochs(epochs), random_state=0).fit(X, y)


def arow(X, y, shuffle, epochs):
    return lambda: sx.AROW(shuffle=shuffle, stop=MaxEpochs(epochs), random_state=0).fit(X, y)


def peer(X, y, shuffle, epochs):
    model = {"learning_rate": "pa1", "eta0": 1.0, "penalty": None, "random_state": 0}
    return lambda: SGDClassifier(shuffle=shuffle, max_iter=epochs, tol=None, **model).fit(X, y)


def perceptron(X, y, shuffle, epochs):
    return ours(X, y, shuffle, epochs=epochs)


def river_row(X, y):
    """Return the time of one row in River's PA-I, or None without River."""
    try:
        from river.linear_model import PAClassifier
    except ImportError:
        return None
    rows = []
    for i in range(RIVER_ROWS):
        row = X[[i]]
        if sparse.issparse(row):
            rows.append(dict(zip(row.indices.tolist(), row.data.tolist(), strict=True)))
        else:
            rows.append(dict(enumerate(row[0].tolist())))
    model = PAClassifier(C=1.0, mode=1)
    labels = [bool(label) for label in y[:RIVER_ROWS] == y.max()]
    began = time.process_time()
    for row, label in zip(rows, labels, strict=True):
        model.learn_one(row, label)
    return (time.process_time() - began) / RIVER_ROWS


def best_cpu(*works):
    best = [np.inf] * len(works)
    for _ in range(REPEATS):
        for k, work in enumerate(works):
            began = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - began)
    return best


def compare(X, y, shuffle):
    """Return the epochs of PA-I and AROW, and their ratios."""
    kinds = (pa, arow, peer, perceptron)
    best = best_cpu(*(kind(X, y, shuffle, epochs) for epochs in (1, 4) for kind in kinds))
    mine, spread, theirs, base = ((b - a) / 3 for a, b in zip(best[:4], best[4:], strict=True))
    row = river_row(X, y)
    river = "" if row is None else f", {row * len(y) / mine:,.0f}x / {row * len(y) / spread:,.0f}x River's PA-I"
    return (
        f"PA-I {mine * 1e3:.1f} ms, AROW {spread * 1e3:.1f} ms: {theirs / mine:.1f}x / {theirs / spread:.1f}x "
        f"scikit-learn's PA-I{river}; {mine / base:.2f} / {spread / base:.2f} perceptron epochs"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows: a rehearsal, not a measurement")
    scale = 10 if parser.parse_args().small else 1
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    with threadpool_limits(1):
        for name, (X, y) in {
            "dense float32 200,000 x 256": dense_data(200_000 // scale, 256, rng)[:2],
            "sparse text 100,000 x 47,000": zipf_data(100_000 // scale, 47_000, 70, rng, np.float64),
        }.items():
            for shuffle in (False, True):
                print(f"{name}, {'shuffled' if shuffle else 'in order'}: {compare(X, y, shuffle)}", flush=True)


if __name__ == "__main__":
    main()
