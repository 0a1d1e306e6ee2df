"""Small rows that are trained on in several shards, as large ones are."""

import numpy as np
import pandas as pd

import separatrix as sx
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import Settings
from separatrix.tables.sources.opening import open_source

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


def table(n=2500):
    """Return numbers with gaps, categories, and two classes."""
    rng = np.random.default_rng(3)
    X = rng.normal([1.0, 50.0, -3.0], [1.0, 9.0, 0.1], (n, 3))
    label = np.where((X - [1.0, 50.0, -3.0]) @ [1.0, 0.1, 4.0] + rng.normal(0, 0.7, n) > 0, "yes", "no")
    X[rng.random((n, 3)) < 0.02] = np.nan
    return pd.DataFrame({"a": X[:, 0], "b": X[:, 1], "shop": rng.choice(["n", "s", "w"], n), "c": X[:, 2], "y": label})


def fitted(name, model, budget, **how):
    """Return the model that is fitted to a file."""
    with open_source(str(name)) as source:
        return fit(source, ColumnOptions("y"), Settings(model, certify=0, **how), budget).model
