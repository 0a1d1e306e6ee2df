"""Time to a certificate and to check it, in epochs of the perceptron.

A million dense rows and twenty thousand short texts, each first with a margin of at least 0.01 of the longest row, then
with one label in a hundred flipped; the texts, which have more words than rows and can be separated even then, also
with one in a hundred repeated, a little different and with the other label. A margin is wanted to a thousandth. The
yardstick is 60 epochs of the perceptron on the same data, in order and shuffled; all take turns in one process, and the
best of several repeats counts. The perceptron and the search use one thread, the passes that check a certificate all
there are. ``python benchmarks/certify.py --small`` takes a few seconds.
"""

from __future__ import annotations

import argparse
import math
import time

import numpy as np
from perceptron import zipf_data
from scipy import sparse
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

import separatrix as sx

MARGIN = 0.01
FLIPPED = 0.01
EPOCHS = 60


def dense(n, d=100):
    """Standard normal rows, moved away from a plane through the origin by 0.01 of the longest."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d), dtype=np.float32)
    w = rng.standard_normal(d).astype(np.float32)
    w /= np.linalg.norm(w)
    y = np.where(X @ w > 0, 1, -1)
    longest = np.sqrt(np.einsum("ij,ij->i", X, X).max())
    X += np.outer(y * (MARGIN * longest), w)
    return X, y


def text(n, d=47_000):
    """Texts of about 80 words with Zipf's frequencies and of length 1; those near a plane are left out.

    The plane weighs a word by a normal number over the root of its rank: frequent words count more.
    """
    rng = np.random.default_rng(0)
    X, _ = zipf_data(2 * n, d, 80, rng, np.float32)
    X = sparse.csr_matrix(normalize(X))
    w = rng.standard_normal(d) / np.sqrt(np.arange(1, d + 1))
    scores = X @ (w / np.linalg.norm(w))
    scores -= np.median(scores)
    kept = np.flatnonzero(np.abs(scores) >= MARGIN)[:n]
    return X[kept], np.where(scores[kept] > 0, 1, -1)


def flipped(y):
    return np.where(np.random.default_rng(1).random(len(y)) < FLIPPED, -y, y)


def contradicted(X, y):
    """The same texts, and one in a hundred once more, a little different and with the other label."""
    rng = np.random.default_rng(1)
    chosen = np.flatnonzero(rng.random(len(y)) < FLIPPED)
    copies = sparse.csr_matrix(X[chosen])
    copies.data = copies.data * (1.0 + 1e-3 * rng.standard_normal(copies.nnz)).astype(np.float32)
    return sparse.csr_matrix(sparse.vstack([X, copies])), np.append(y, -y[chosen])


def seconds(work):
    began = time.perf_counter()
    found = work()
    return time.perf_counter() - began, found


def epochs(X, y, shuffle):
    model = sx.Perceptron(max_iter=EPOCHS, stop=sx.stops.MaxEpochs(EPOCHS), shuffle=shuffle, random_state=0)
    return seconds(lambda: model.fit(X, y))[0]


def compare(name, X, y, repeats):
    runs, checks, in_order, shuffled = [], [], [], []
    for repeat in range(repeats):
        taken, found = seconds(lambda seed=repeat: sx.certify(X, y, random_state=seed))
        runs.append((taken, repeat, found))
        taken, check = seconds(lambda found=found: found.verify(X, y))
        assert check, check
        checks.append(taken)
        in_order.append(epochs(X, y, False))
        shuffled.append(epochs(X, y, True))
    best, _, found = min(runs)
    first = min((when for when, lower, _ in found.history if lower > 0), default=math.nan)
    a, b = min(in_order), min(shuffled)
    low, high = (bound / found.radius for bound in found.margin)
    print(
        f"{name} ({X.shape[0]} x {X.shape[1]}): {found.separable}, margin {low:.3g} R to {high:.3g} R, "
        f"{len(found.witness.points.rows)} points; {best:.3f} s (slowest {max(runs)[0]:.3f} s, a plane after "
        f"{first:.3f} s); "
        f"{EPOCHS} epochs in order {a:.3f} s ({best / a:.2f}), shuffled {b:.3f} s ({best / b:.2f}); verify "
        f"{min(checks):.4f} s, {min(checks) * EPOCHS / a:.1f} epochs in order, {min(checks) * EPOCHS / b:.1f} shuffled",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--small", action="store_true", help="a twentieth of the rows")
    parser.add_argument("--only", help="part of the name of a case")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    part = 20 if options.small else 1
    sx.certify(np.eye(2), [0, 1])  # imports
    with threadpool_limits(1):
        for name, load, n in (("dense", dense, 1_000_000), ("text", text, 20_000)):
            if options.only and options.only not in name:
                continue
            X, y = load(n // part)
            compare(f"{name}, separable", X, y, options.repeats)
            compare(f"{name}, 1% flipped", X, flipped(y), options.repeats)
            if name == "text":
                compare(f"{name}, 1% contradicted", *contradicted(X, y), options.repeats)


if __name__ == "__main__":
    main()
