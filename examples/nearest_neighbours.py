"""Why not just k nearest neighbours? The time to predict a row against the number of rows learned from.

k-NN keeps all N rows and compares each new one with all of them, O(N d); a perceptron keeps d weights, O(d). Here two
classes in 30 dimensions that a plane nearly separates. ``python examples/nearest_neighbours.py [folder]`` writes
nearest_neighbours.png (default folder: docs/pictures).
"""

import sys
import time
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.neighbors import KNeighborsClassifier
from threadpoolctl import threadpool_limits

import separatrix as sx
from separatrix.stops import MaxEpochs

folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent.parent / "docs" / "pictures"
rng = np.random.default_rng(0)
direction = rng.standard_normal(30)


def draw(n):
    X = rng.standard_normal((n, 30))
    return X, np.where(X @ direction + rng.normal(0, 1, n) > 0, "yes", "no")


def seconds(call):
    """Return how long the fastest of five calls takes."""
    took = []
    for _ in range(5):
        began = time.perf_counter()
        call()
        took.append(time.perf_counter() - began)
    return min(took)


X_new, y_new = draw(1000)
models = {
    "k-NN": KNeighborsClassifier(algorithm="brute"),
    "averaged perceptron": sx.Perceptron(readout="averaged", max_iter=10, stop=MaxEpochs(10), random_state=0),
}
sizes = [100, 316, 1_000, 3_162, 10_000, 31_623, 100_000]
curves = {name: (sizes, []) for name in models}
with threadpool_limits(1):
    for n in sizes:
        X, y = draw(n)
        for name, model in models.items():
            model.fit(X, y)
            curves[name][1].append(seconds(lambda model=model: model.predict(X_new)) / len(X_new))
            right = np.mean(model.predict(X_new) == y_new)
            print(f"{n:>7,} rows, {name}: {1e6 * curves[name][1][-1]:.3g} µs to predict a row, {right:.1%} right")
figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
sx.plots.growth(curves, ax)
ax.set_title("predicting one row, 30 numbers, one thread")
figure.savefig(folder / "nearest_neighbours.png", dpi=80)
