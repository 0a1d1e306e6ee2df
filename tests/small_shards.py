"""Small rows that are trained on in several shards, as large ones are."""

import numpy as np

import separatrix as sx

MODELS = {
    "hinge": lambda **how: sx.LinearSVM(**how),
    "squared hinge": lambda **how: sx.LinearSVM(loss="squared_hinge", **how),
    "log": lambda **how: sx.LogisticRegression(multi_class="ovr", **how),
}


def problem(n=1500, d=4, seed=0, classes=2, dtype=np.float32):
    """Rows that no plane separates, and their classes."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) + 0.5
    scores = X @ rng.standard_normal((d, classes)) + rng.standard_normal((n, classes))
    return X.astype(dtype), scores.argmax(axis=1)


def learned(model):
    """Return what a fit learned, bit for bit."""
    own = (model.coef_, model.intercept_, np.asarray(model.objective_), np.asarray(model.duality_gap_))
    return b"".join(np.ascontiguousarray(part).tobytes() for part in own)
