"""Moments of blocks are those of all rows: scikit-learn's scalers are the oracle."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from separatrix.geometry.moments import Moments


def blocks(X, sizes):
    begin = 0
    for size in sizes:
        yield X[begin : begin + size]
        begin += size


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_moments_of_parts_are_those_of_the_whole(sizes, seed):
    rng = np.random.default_rng(seed)
    n = sum(sizes)
    X = rng.standard_normal((n, 3)) * [1.0, 1e6, 1e-3] + [0.0, 1e6, 5.0]
    X[rng.random(X.shape) < 0.1] = np.nan
    X[0] = 1.0
    moments = Moments(ranges=True)
    for block in blocks(X, sizes):
        moments.add(block)
    imputed = np.where(np.isnan(X), np.nanmean(X, axis=0), X)
    scaler = StandardScaler().fit(imputed)
    shift, factor = moments.scale("standard", 3, n)
    np.testing.assert_allclose(shift, scaler.mean_, rtol=1e-12)
    np.testing.assert_allclose(factor, scaler.scale_, rtol=1e-9)
    limits = MinMaxScaler().fit(X)
    shift, factor = moments.scale("minmax", 3, n)
    np.testing.assert_allclose(shift, limits.min_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(factor, limits.scale_, rtol=1e-12)


@pytest.mark.parametrize("sizes", [[50], [1, 20, 29], [7] * 7 + [1]])
def test_moments_of_sparse_parts_are_those_of_the_whole(sizes):
    rng = np.random.default_rng(0)
    X = sparse.csr_matrix(rng.standard_normal((50, 6)) * (rng.random((50, 6)) < 0.3))
    moments = Moments()
    for block in blocks(X, sizes):
        moments.add(block)
    np.testing.assert_allclose(moments.mean, X.toarray().mean(axis=0), rtol=1e-12, atol=1e-15)
    expected = StandardScaler(with_mean=False).fit(X).scale_
    np.testing.assert_allclose(moments.scale("standard", 6, 50)[1], expected, rtol=1e-12)
