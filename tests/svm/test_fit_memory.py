"""What a fit takes beyond the data: some numbers for each row and feature, and never a copy of the rows."""

from __future__ import annotations

import tracemalloc
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx

MOST = 13  # doubles for each row and feature
MODELS = {
    "log": sx.LogisticRegression(C=0.01, max_iter=6),
    "log, L1": sx.LogisticRegression(C=0.3, l1_ratio=1.0, max_iter=6),
    "hinge": sx.LinearSVM(C=0.01, max_iter=12, random_state=0),
    "squared hinge": sx.LinearSVM(C=0.01, loss="squared_hinge", max_iter=12, random_state=0),
}


def text(n=8000, d=3000, per=60):
    rng = np.random.default_rng(0)
    columns = np.sort(rng.integers(0, d // per, (n, per)) + np.arange(per) * (d // per), axis=1)
    values = rng.random(n * per, dtype=np.float32)
    X = sparse.csr_matrix((values, columns.ravel().astype(np.int32), np.arange(0, n * per + 1, per)), shape=(n, d))
    X.indptr = X.indptr.astype(np.int32)
    return X, (X @ rng.standard_normal(d) > 0).astype(int)


@pytest.mark.parametrize("name", MODELS)
def test_a_fit_of_sparse_rows_takes_a_few_numbers_for_each_row_and_feature(name):
    X, y = text()
    model = MODELS[name]
    unit = 8 * sum(X.shape)  # a double for each row and feature
    stored = X.data.nbytes + X.indices.nbytes
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.set_params(tol=1e-3).fit(X[:50], y[:50])  # imports
        tracemalloc.start()
        model.fit(X, y)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert model.n_iter_ > 0
    assert peak <= MOST * unit < 0.4 * stored
