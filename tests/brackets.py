"""Noisy classes of rows, and whether two models can have the same optimum."""

import numpy as np


def noisy_classes(n=300, d=4, seed=0, classes=2):
    """Rows around (0.5, 0.5, ...), and the class with the highest noisy score."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    scores = X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes))
    return X, scores.argmax(axis=1)


def brackets_meet(one, other):
    """The optimum lies in both brackets, rounding included."""
    low = np.maximum(one.objective_ - one.duality_gap_, other.objective_ - other.duality_gap_)
    return np.all(low <= np.minimum(one.objective_, other.objective_) * (1 + 1e-12))
