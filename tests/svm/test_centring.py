"""Columns far from the origin: timestamps and their like, which the solvers read less their means."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix import _core
from separatrix.geometry.rows import Rows
from separatrix.svm.centring import centred, far_columns

MODELS = {
    "hinge": lambda **more: sx.LinearSVM(random_state=0, **more),
    "squared hinge": lambda **more: sx.LinearSVM(loss="squared_hinge", **more),
    "squared hinge, L1": lambda **more: sx.LinearSVM(loss="squared_hinge", penalty="l1", **more),
    "log": lambda **more: sx.LogisticRegression(**more),
    "log, elastic net": lambda **more: sx.LogisticRegression(l1_ratio=0.5, **more),
}
RATIOS = {"squared hinge, L1": 1, "log, elastic net": Fraction(1, 2)}


def timestamps(n=60, seconds=60.0, seed=3):
    rng = np.random.default_rng(seed)
    since = rng.uniform(0.0, seconds, n)
    X = np.column_stack([rng.standard_normal((n, 2)), 1.7e9 + since])
    y = (X[:, 0] + 2.0 * since / seconds - 1.0 + 0.7 * rng.standard_normal(n) > 0).astype(int)
    return X, y


def layouts(X):
    yield np.ascontiguousarray(X)
    yield X.astype(np.float32)
    yield sparse.csr_matrix(X)
    wide = sparse.csr_matrix(X.astype(np.float32))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    yield wide


def precise_objective(name, weights, bias, X, y, C):
    """The objective in Fractions; its logarithms in sixty digits."""
    w, b = [Fraction(v) for v in weights.tolist()], Fraction(bias)
    ratio = Fraction(RATIOS.get(name, 0))
    total = (1 - ratio) * sum(v * v for v in w) / 2 + ratio * sum(map(abs, w))
    with localcontext() as context:
        context.prec = 60
        for row, label in zip(X.tolist(), y.tolist(), strict=True):
            m = (2 * label - 1) * (sum(v * Fraction(x) for v, x in zip(w, row, strict=True)) + b)
            if name.startswith("log"):
                loss = Fraction((1 + (-Decimal(m.numerator) / Decimal(m.denominator)).exp()).ln())
            else:
                loss = max(Fraction(0), 1 - m) ** (1 if name == "hinge" else 2)
            total += Fraction(C) * loss
    return total


@pytest.mark.parametrize("C", [1.0, 100.0])
@pytest.mark.parametrize("seconds", [60.0, 1e6])
@pytest.mark.parametrize("name", MODELS)
def test_the_gap_on_timestamps_is_small_and_covers_the_true_distance(name, seconds, C):
    X, y = timestamps(seconds=seconds)
    model = MODELS[name](C=C).fit(X, y)
    assert model.status_.converged
    assert model.duality_gap_ <= 1e-3 * model.objective_
    reached = precise_objective(name, model.coef_[0], model.intercept_[0], X, y, C)
    assert abs(reached - Fraction(model.objective_)) <= Fraction(model.duality_gap_)
    near = X - [0.0, 0.0, 1.7e9]  # exact: a double holds the difference
    best = MODELS[name](C=C, tol=1e-6).fit(near, y)
    optimum = precise_objective(name, best.coef_[0], best.intercept_[0], near, y, C)
    assert reached - optimum <= Fraction(model.duality_gap_)
    assert reached - optimum <= Fraction(1, 1000) * optimum


def test_columns_are_far_where_their_values_differ_by_far_less_than_they_are():
    year = np.array([2001.0, 2024.0, 1999.0, 2010.0])
    X = np.column_stack([year, year - 2010.0, -1e9 - year, [7.0] * 4, [0.0] * 4, [1e9, 1e9, 1e9, 0.0], year - 1900.0])
    assert far_columns(Rows(X)).tolist() == [0, 2, 3]
    assert far_columns(Rows(sparse.csr_matrix(X))).tolist() == [0, 2, 3]
    assert far_columns(Rows(np.full((50, 1), np.nan))).tolist() == []
    last = np.full((5000, 2), 1e6)
    last[4321, 1] = 1.0
    assert far_columns(Rows(last)).tolist() == [0]
    rows = Rows(X[:, [1, 4]])
    assert centred(rows) is rows


def test_kernels_read_rows_less_their_centre():
    rng = np.random.default_rng(0)
    X = np.round(rng.standard_normal((70, 37)), 3) * (rng.random((70, 37)) < 0.6)
    X[:, 5] = 1e6 + np.arange(70.0)
    X[:, 21] = -5000.0 + np.arange(70.0)
    v, w, some = rng.standard_normal(70), rng.standard_normal(37), np.array([0, 5, 6, 21], dtype=np.int64)
    for values in layouts(X):
        rows = centred(Rows(values))
        assert np.flatnonzero(rows.centre).tolist() == [5, 21]
        plain = values.toarray() if sparse.issparse(values) else values
        near = Rows(plain.astype(np.float64) - rows.centre)
        for read in (
            lambda rows: _core.combine(rows.matrix, v),
            lambda rows: _core.decide(rows.matrix, w[None, :], np.zeros(1), 1),
            lambda rows: _core.square_norms(rows.matrix),
            lambda rows: np.tril(_core.gram(rows.matrix, np.abs(v))),
            lambda rows: _core.spread(rows.matrix, np.abs(v)),
            lambda rows: _core.combine(_core.columns(rows.matrix, some, 0.0), w[:4].copy()),
            lambda rows: _core.square_norms(rows.part(np.arange(3, 60, 2)).matrix),
        ):
            np.testing.assert_allclose(read(rows), read(near), rtol=1e-12, atol=1e-12 * np.abs(read(near)).max())


def test_a_sparse_column_with_missing_values_has_no_centre():
    X = sparse.csr_matrix(np.array([[1e9, 1.0], [0.0, 2.0]]))
    with pytest.raises(ValueError, match="only where every row has a value"):
        Rows(X).less(np.array([1e9, 0.0]))


@pytest.mark.parametrize("name", MODELS)
def test_timestamps_in_every_layout_have_one_optimum(name):
    X, y = timestamps(200, 1e6)
    X[:, 2] = np.float32(X[:, 2])
    X[:, :2] = np.float32(X[:, :2])
    found = [MODELS[name](C=3.0).fit(values, y) for values in layouts(X)]
    for model in found:
        assert model.status_.converged
        assert abs(model.objective_ - found[0].objective_) <= max(model.duality_gap_, found[0].duality_gap_)


@pytest.mark.parametrize("name", ["hinge", "squared hinge", "log"])
def test_fits_of_timestamps_go_on_from_the_bias_of_the_values_themselves(name):
    X, y = timestamps(400, 1e6)
    weights = np.where(np.arange(400) % 5 > 0, 1.0, 0.0)
    model = MODELS[name](tol=1e-6, warm_start=True).fit(X, y, sample_weight=weights)
    before = model.intercept_[0]
    cold = model.n_iter_
    model.fit(X, y, sample_weight=weights)
    assert model.n_iter_ <= cold
    assert model.intercept_[0] == pytest.approx(before, rel=1e-3)
    assert model.score(X[weights > 0], y[weights > 0]) > 0.6


def test_reading_sparse_timestamps_copies_no_rows():
    import tracemalloc

    rng = np.random.default_rng(1)
    n, d = 5000, 2000
    X = sparse.random(n, d, 0.02, format="csr", random_state=1, dtype=np.float32)
    X = sparse.hstack([X, 1.7e9 + rng.uniform(0, 1e6, (n, 1))], format="csr", dtype=np.float32)
    tracemalloc.start()
    rows = centred(Rows(X))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert np.flatnonzero(rows.centre).tolist() == [d]
    assert peak <= 0.6 * X.data.nbytes
