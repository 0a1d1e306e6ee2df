"""Speed of KernelSVM as ratios to scikit-learn's SVC and, where it is installed, to Intel's scikit-learn-intelex.

All sides take turns on the same arrays in one process, with all processors, the best of several counting. Objectives
are computed here in float64 from the dual weights that each side gives, and shown with their distance from the best.
``python benchmarks/kernel_svm.py --mnist FOLDER`` adds ten thousand digits, even against odd, from the IDX files there.
"""

from __future__ import annotations

import argparse
import gzip
import time
from pathlib import Path

import numpy as np
from sklearn.svm import SVC

import separatrix as sx

try:
    from sklearnex import svm as intel
except ImportError:
    intel = None


def gaussian_data(n, rng, d=50):
    """Gaussian rows with labels so noisy that three quarters of the examples become support vectors."""
    X = rng.standard_normal((n, d))
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    return X, np.where(X @ w + 1.3 * rng.standard_normal(n) > 0, 1, 0)


def mnist_data(folder, n, begin=0):
    def read(name, offset):
        with gzip.open(Path(folder) / name) as file:
            return np.frombuffer(file.read(), dtype=np.uint8, offset=offset)

    X = read("train-images-idx3-ubyte.gz", 16).reshape(-1, 784)[begin : begin + n] / 255.0
    return X, read("train-labels-idx1-ubyte.gz", 8)[begin : begin + n] % 2


def dual_value(model, X, y):
    """Return the dual objective of a fitted machine, from float64 kernel values."""
    coef, gamma = model.dual_coef_[0], model._gamma if isinstance(model, SVC) else model._kernel.gamma
    V = np.asarray(X[model.support_])
    square = 0.0
    squares = (V * V).sum(axis=1)
    for begin in range(0, len(V), 1000):
        part = slice(begin, begin + 1000)
        distances = np.maximum(squares[part, None] + squares - 2.0 * V[part] @ V.T, 0.0)
        square += coef[part] @ (np.exp(-gamma * distances) @ coef)
    return float(np.abs(coef).sum() - 0.5 * square)


def compare(name, X, y, gamma, new, repeats):
    sides = {
        "KernelSVM": lambda: sx.KernelSVM(gamma=gamma, n_jobs=-1),
        "KernelSVM, tol 1e-4": lambda: sx.KernelSVM(gamma=gamma, n_jobs=-1, tol=1e-4),
        "SVC": lambda: SVC(gamma=gamma),
        "SVC, cache 1000": lambda: SVC(gamma=gamma, cache_size=1000),
    }
    if intel is not None:
        sides["intelex"] = lambda: intel.SVC(gamma=gamma)
        sides["intelex, cache 1000"] = lambda: intel.SVC(gamma=gamma, cache_size=1000)
    fit, guess, models = dict.fromkeys(sides, np.inf), dict.fromkeys(sides, np.inf), {}
    for turn in range(repeats):
        names = list(sides)
        for side in names[turn % len(names) :] + names[: turn % len(names)]:  # whoever goes first finds memory cold
            make = sides[side]
            if turn >= 2 and side.startswith("SVC"):
                continue  # the slow side need not wait as often for a quiet moment
            began = time.perf_counter()
            models[side] = make().fit(X, y)
            fit[side] = min(fit[side], time.perf_counter() - began)
            began = time.perf_counter()
            models[side].predict(new)
            guess[side] = min(guess[side], time.perf_counter() - began)
    ours = models["KernelSVM, tol 1e-4"]
    print(f"\n{name}: {ours.support_.size:,} support vectors; {ours.status_}")
    values = {side: dual_value(model, X, y) for side, model in models.items()}
    best = max(values.values())
    for side in sides:
        line = f"  {side:20} fit {fit[side]:7.3f} s, {fit[side] / fit['KernelSVM']:6.2f}x ours"
        line += f"; predict {len(new):,} {guess[side]:7.4f} s, {guess[side] / guess['KernelSVM']:6.2f}x ours"
        print(f"{line}; dual {values[side]:.6f}, {(best - values[side]) / best:.1e} below the best", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mnist", metavar="FOLDER", help="where train-images-idx3-ubyte.gz and its labels lie")
    parser.add_argument("--small", action="store_true", help="a tenth of the rows: a rehearsal, not a measurement")
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    n = 1_000 if arguments.small else 10_000
    rng = np.random.default_rng(0)
    print(
        f"separatrix {sx.__version__}, build {sx._core.build()}; RBF, C=1, best of {arguments.repeats}, all processors"
    )
    X, y = gaussian_data(n + 2_000, rng)
    compare(f"Gaussian {n:,} x 50", X[:n], y[:n], "scale", X[n:], arguments.repeats)
    if arguments.mnist:
        X, y = mnist_data(arguments.mnist, n)
        new, _ = mnist_data(arguments.mnist, 2_000, 50_000)
        compare(f"MNIST {n:,} x 784, even or odd", X, y, 0.02, new, arguments.repeats)
    print("\ntargets: fit 4x SVC on the Gaussian rows and 15x on the digits, at an objective within 1e-4 of the best")


if __name__ == "__main__":
    main()
