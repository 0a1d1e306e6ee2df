"""Speed of the neuron as ratios to the perceptron and to SGDClassifier(loss="log_loss"), all from one run.

For each line, one thread, the works taking turns on the same arrays, the best of several counting: the whole ``fit``
with one epoch, and one epoch alone, which is the difference between fits with four epochs and with one, by three. Both
sides run the same rate and penalty. ``python benchmarks/neuron.py`` prints the table; ``--small`` is a quick rehearsal.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
from perceptron import REPEATS, best_of, cluster_data, dense_data, ours, zipf_data
from sklearn.linear_model import SGDClassifier
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.stops import MaxEpochs

RATE = {"eta0": 0.01, "alpha": 1e-4, "learning_rate": "constant", "random_state": 0}


def neuron(X, y, shuffle, epochs, batch_size=1):
    stop = MaxEpochs(epochs)
    return lambda: sx.Neuron(loss="log", shuffle=shuffle, stop=stop, batch_size=batch_size, **RATE).fit(X, y)


def peer(X, y, shuffle, epochs):
    return lambda: SGDClassifier(loss="log_loss", shuffle=shuffle, max_iter=epochs, tol=None, **RATE).fit(X, y)


def compare(X, y, shuffle):
    """Return our times, and the ratios of SGDClassifier's to ours and of ours to the perceptron's."""
    kinds = (neuron, peer, lambda *a: ours(*a[:3], epochs=a[3]))
    best = best_of(*(kind(X, y, shuffle, epochs) for epochs in (1, 4) for kind in kinds))
    once, (epoch, peer_epoch, perceptron_epoch) = (
        best[:3],
        [(b - a) / 3 for a, b in zip(best[:3], best[3:], strict=True)],
    )
    fit = f"fit {once[0] * 1e3:.1f} ms, {once[1] / once[0]:.2f}x SGDClassifier"
    each = f"epoch {epoch * 1e3:.1f} ms, {peer_epoch / epoch:.2f}x SGDClassifier"
    return f"{fit}; {each}, {epoch / perceptron_epoch:.2f}x the perceptron's"


def batch(X, y):
    """Return one epoch of batch descent against the two products it consists of, taken by NumPy or SciPy."""
    w, r = np.zeros(X.shape[1], dtype=X.dtype), np.zeros(X.shape[0], dtype=X.dtype)
    once, four, products = best_of(
        neuron(X, y, False, 1, "all"), neuron(X, y, False, 4, "all"), lambda: (X @ w, X.T @ r)
    )
    epoch = (four - once) / 3
    return f"epoch {epoch * 1e3:.1f} ms, {epoch / products:.2f}x the products X @ w and X.T @ r"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="a tenth of the rows: a rehearsal, not a measurement")
    scale = 10 if parser.parse_args().small else 1
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    print(f"separatrix {sx.__version__}, build {sx._core.build()}; best of {REPEATS}, one thread\n")
    with threadpool_limits(1):
        X, y, _ = dense_data(200_000 // scale, 256, rng)
        for shuffle in (False, True):
            order = "shuffled" if shuffle else "in order"
            print(f"dense {len(y):,} x 256 float32, {order}: {compare(X, y, shuffle)}", flush=True)
        print(f"the same, one batch: {batch(X, y)}", flush=True)
        for dtype in (np.float32, np.float64):
            X, y = zipf_data(100_000 // scale, 47_000, 77, rng, dtype)
            for shuffle in (False, True):
                order = "shuffled" if shuffle else "in order"
                name = f"CSR {len(y):,} x 47,000, {X.nnz / len(y):.0f} a row, {dtype.__name__}, {order}"
                print(f"{name}: {compare(X, y, shuffle)}", flush=True)
            print(f"the same, one batch: {batch(X, y)}", flush=True)
        X, y = cluster_data(100_000 // scale, 256, 10, rng)
        print(f"10 classes, dense {len(y):,} x 256 float32, in order: {compare(X, y, False)}", flush=True)
    print("\ntargets: epoch <= 2x the perceptron's; >= 3x SGDClassifier dense, >= 2x sparse")


if __name__ == "__main__":
    main()
