"""Moments: block by block they are those of all rows at once, with missing values, sparse rows and ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from separatrix.geometry.moments import SAMPLE, Moments
from separatrix.geometry.rows import Rows


def some(n=200, d=4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)) * [1.0, 1e-3, 1e4, 1.0] + [0.0, 5.0, 1e5, -2.0]


def in_blocks(X, *cuts, ranges=False):
    moments = Moments(ranges=ranges)
    for begin, end in zip((0, *cuts), (*cuts, X.shape[0]), strict=True):
        moments.add(X[begin:end])
    return moments


@pytest.mark.parametrize("cuts", [(), (1, 2, 3), (100,), (50, 50, 199)])
@pytest.mark.parametrize("missing", [False, True])
def test_blocks_give_the_moments_of_all_rows(cuts, missing):
    X = some()
    if missing:
        X[np.random.default_rng(1).random(X.shape) < 0.3] = np.nan
        X[:50, 1] = np.nan  # a column without a value in the first blocks
    moments = in_blocks(X, *cuts, ranges=True)
    np.testing.assert_allclose(moments.mean, np.nanmean(X, axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, np.nanstd(X, axis=0), rtol=1e-9)
    np.testing.assert_array_equal(moments.count, (~np.isnan(X)).sum(axis=0) if missing else 200)
    np.testing.assert_array_equal(moments.low, np.nanmin(X, axis=0))
    np.testing.assert_array_equal(moments.high, np.nanmax(X, axis=0))


def test_sparse_blocks_may_grow_in_width():
    X = some()
    X[np.random.default_rng(1).random(X.shape) < 0.6] = 0.0
    X[:80, 2:] = 0.0
    moments = Moments()
    for part in (sparse.csr_matrix(X[:80, :2]), sparse.csr_matrix(X[80:81]), sparse.csr_matrix(X[81:])):
        moments.add(part)
    np.testing.assert_allclose(moments.mean, X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(moments.deviation, X.std(axis=0), rtol=1e-12)
    assert moments.low is None
    empty = Moments(3)
    empty.add(sparse.csr_matrix((5, 3)))
    assert empty.deviation.tolist() == [0.0, 0.0, 0.0]


def test_scales_are_those_of_scikit_learn():
    X = some()
    X[:, 3] = 0.1  # constant, but for rounding
    moments = in_blocks(X, 90, ranges=True)
    shift, factor = moments.scale("standard", 4, 200)
    expected = StandardScaler().fit(X)
    np.testing.assert_allclose(shift, expected.mean_, rtol=1e-12)
    np.testing.assert_allclose(factor, expected.scale_, rtol=1e-9)
    shift, factor = moments.scale("minmax", 4, 200)
    np.testing.assert_allclose(X * factor + shift, MinMaxScaler().fit_transform(X), rtol=1e-9, atol=1e-12)
    assert [each.tolist() for each in moments.scale("none", 4, 200)] == [[0.0] * 4, [1.0] * 4]
    shift, factor = in_blocks(sparse.csr_matrix(X), 90).scale("standard", 4, 200)
    assert not shift.any()
    np.testing.assert_allclose(factor, StandardScaler(with_mean=False).fit(X).scale_, rtol=1e-9)


def test_a_constant_column_of_huge_values_has_no_variance():
    moments = in_blocks(np.full((10, 1), 2.0**660), 4)
    assert moments.mean.tolist() == [2.0**660]
    assert moments.deviation.tolist() == [0.0]


def test_a_sample_is_evenly_spaced_and_counts_its_rows_only():
    X = np.arange(10.0 * SAMPLE)[:, None]
    moments = Moments(1)
    moments.add_sample(Rows(X))
    assert moments.count == SAMPLE
    assert type(moments.count) is int
    assert moments.mean.tolist() == [X[::10].mean()]


def blocks(X, sizes):
    begin = 0
    for size in sizes:
        yield X[begin : begin + size]
        begin += size


@given(st.lists(st.integers(1, 60), min_size=1, max_size=5), st.integers(0, 2**32 - 1))
def test_scales_of_parts_with_missing_values_are_those_of_the_imputed_whole(sizes, seed):
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
