"""Kernels: their values are scikit-learn's in both precisions, rows are kept within the limit, bad input is named."""

from __future__ import annotations

import copy
import dataclasses
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC

from separatrix import _core
from separatrix.geometry.kernel_cache import KernelCache
from separatrix.geometry.kernels import KERNELS, FunctionKernel, Kernel, check_kernel
from separatrix.geometry.rows import Rows
from separatrix.loop.state import SLOTS

PARAMETERS = {"linear": {}, "rbf": {"gamma": 0.3}, "poly": {"gamma": 0.2, "degree": 5, "coef0": 0.7}}


def some(n=40, d=7, seed=0, offset=0.0):
    return np.random.default_rng(seed).standard_normal((n, d)) + offset


@pytest.mark.parametrize("name", PARAMETERS)
@pytest.mark.parametrize("layout", ["dense", "float32", "sparse"])
def test_values_are_those_of_scikit_learn(name, layout):
    X, Z = some(), some(25, seed=1)
    X[np.abs(X) < 0.5] = 0
    expected = pairwise_kernels(X, Z, metric=name, **PARAMETERS[name])
    kernel = check_kernel(name, **PARAMETERS[name])
    make = {"dense": np.asarray, "float32": lambda A: A.astype(np.float32), "sparse": sparse.csr_matrix}[layout]
    values = kernel(Rows(make(X)), Rows(make(Z)))
    np.testing.assert_allclose(values, expected, rtol=1e-4 if layout == "float32" else 1e-12, atol=1e-6)
    center = kernel.center(make(X))
    single = kernel.block(*(kernel.prepare(Rows(make(A)).values, np.float32, center) for A in (X, Z)), n_jobs=2)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, rtol=1e-4, atol=1e-5 * np.abs(expected).max())


def test_one_side_may_be_sparse():
    X, Z = some(), some(25, seed=1)
    kernel = check_kernel("rbf", gamma=0.3)
    expected = kernel(Rows(X), Rows(Z))
    np.testing.assert_allclose(kernel(Rows(sparse.csr_matrix(X)), Rows(Z)), expected, rtol=1e-12)
    np.testing.assert_allclose(kernel(Rows(X), Rows(sparse.csr_matrix(Z))), expected, rtol=1e-12)


@pytest.mark.parametrize("gamma", ["scale", "auto"])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_gamma_is_that_of_scikit_learn(gamma, layout):
    X = layout(some(60, 4, offset=1.0))
    peer = SVC(gamma=gamma).fit(X, np.arange(60) % 2)
    assert check_kernel("rbf", gamma=gamma).for_rows(Rows(X)).gamma == pytest.approx(peer._gamma, rel=1e-12)


def test_in_the_scale_of_gamma_a_weight_counts_rows():
    X = some(30, 3)
    weights = np.random.default_rng(0).integers(0, 4, 30)
    kernel = check_kernel("rbf")
    repeated = kernel.for_rows(Rows(np.repeat(X, weights, axis=0))).gamma
    assert kernel.for_rows(Rows(X), weights.astype(float)).gamma == pytest.approx(repeated, rel=1e-12)
    assert kernel.for_rows(Rows(sparse.csr_matrix(X)), weights.astype(float)).gamma == pytest.approx(
        repeated, rel=1e-12
    )
    assert kernel.for_rows(Rows(np.ones((3, 2)))).gamma == 1  # rows that are all alike have no scale


@given(st.lists(st.floats(-300.0, 0.0), min_size=1, max_size=70))
def test_the_single_precision_exponential_is_within_two_units(arguments):
    # With gamma = 1 and products of zero the kernel is exp(-(left + right)).
    right = -np.array(arguments, dtype=np.float32).astype(np.float64)
    out = np.empty((1, len(right)), dtype=np.float32)
    for build in _core.builds():
        was = _core.build()
        try:
            _core.use_build(build)
            zeros = np.zeros((1, len(right)), dtype=np.float32)
            _core.exponentials(zeros, np.zeros(1), right, 1.0, out, np.zeros(1, dtype=np.int64), 1)
        finally:
            _core.use_build(was)
        expected = np.exp(-np.minimum(right, 87.0))
        assert (np.abs(out[0] - expected) <= 2 * np.spacing(expected.astype(np.float32))).all()


def test_distances_far_from_the_origin_keep_their_digits():
    X = some(30, 3, offset=1e4)
    kernel = check_kernel("rbf", gamma=0.5)
    rows = kernel.prepare(X, np.float32, kernel.center(X))
    expected = np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    np.testing.assert_allclose(kernel.block(rows, rows), expected, atol=1e-5)
    assert kernel.fits_single(Rows(X))
    assert not check_kernel("rbf", gamma=1e9).fits_single(Rows(X))
    assert not check_kernel("poly", gamma=1.0, degree=9).fits_single(Rows(X))
    assert not check_kernel(np.dot).fits_single(Rows(X))


def test_a_name_gives_the_kernel_of_that_name_and_every_copy_is_of_its_class():
    for name, kind in KERNELS.items():
        kernel = Kernel(name, 0.5, 2, 1.0)
        assert type(kernel) is type(check_kernel(name)) is kind
        for copied in (copy.deepcopy(kernel), pickle.loads(pickle.dumps(kernel)), dataclasses.replace(kernel)):
            assert type(copied) is kind
            assert copied == kernel
    assert type(check_kernel(np.dot)) is FunctionKernel


@pytest.mark.parametrize("name", [name for name, kind in KERNELS.items() if not kind.precomputed])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_matrix])
def test_the_diagonal_is_that_of_the_matrix_and_a_parameter_matters_only_if_the_kernel_says_so(name, layout):
    X = Rows(layout(some()))
    kernel = Kernel(name, 0.2, 3, 0.7)
    matrix = kernel(X, X)
    np.testing.assert_allclose(matrix, matrix.T, rtol=1e-12)
    np.testing.assert_allclose(kernel.diagonal(kernel.prepare(X.values, np.float64)), np.diag(matrix), rtol=1e-12)
    for parameter, value in (("gamma", 0.4), ("degree", 2), ("coef0", 0.1)):
        other = dataclasses.replace(kernel, **{parameter: value})(X, X)
        assert np.array_equal(other, matrix) is (parameter not in kernel.parameters)


# ---------------------------------------------------------------------------------------------- the cache


def test_rows_are_kept_and_the_longest_unused_is_forgotten_first():
    X = some(50)
    kernel = check_kernel("rbf", gamma=0.3)
    expected = kernel(Rows(X), Rows(X))
    row = 50 * 8 / 2**20
    cache = KernelCache(kernel, Rows(X), 10.5 * row, np.float64)
    assert cache.capacity == 10

    def ask(*rows):
        before = cache.computed
        np.testing.assert_allclose(cache.store[cache.slots(np.array(rows))], expected[list(rows)], rtol=1e-12)
        return cache.computed - before

    assert ask(0, 1, 2, 3, 4, 5) == 6
    assert ask(6, 7, 8, 9) == 4
    assert ask(5, 0, 9) == 0
    assert ask(10, 11, 12, 13) == 4  # in the places of 1, 2, 3 and 4
    assert ask(0, 5, 6, 7, 8, 9) == 0
    assert ask(1) == 1
    assert ask(20, 20, 21) == 2
    assert ask(*range(30, 40)) == 10
    assert cache.store.nbytes <= 10.5 * row * 2**20


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sums_of_rows_do_not_depend_on_the_cache_or_the_threads(dtype):
    X = some(700, 5)
    coef = np.random.default_rng(2).standard_normal(700)
    kernel = check_kernel("rbf", gamma=0.3)
    expected = coef @ kernel(Rows(X), Rows(X))
    for megabytes, n_jobs in ((0.05, 1), (50, 1), (np.inf, 3)):
        cache = KernelCache(kernel, Rows(X), megabytes, dtype, n_jobs)
        np.testing.assert_allclose(cache.combine(coef), expected, atol=1e-4 if dtype == np.float32 else 1e-11)


@pytest.mark.parametrize("megabytes", [0, -1, float("nan"), "much", True])
def test_a_cache_needs_a_positive_size(megabytes):
    with pytest.raises(ValueError, match="cache_size must be a positive number of megabytes"):
        KernelCache(check_kernel("linear"), Rows(some()), megabytes, np.float64)


def test_a_cache_too_small_for_two_rows_says_what_one_takes():
    with pytest.raises(ValueError, match=r"cache_size=0.001 MB is too small: one kernel row of 1,000 examples takes"):
        KernelCache(check_kernel("linear"), Rows(some(1000)), 0.001, np.float64)


# ---------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "text"),
    [
        (
            {"kernel": "cosine"},
            "kernel must be one of linear, rbf, poly, precomputed, or a callable",
        ),
        ({"kernel": 3}, "found 3"),
        ({"gamma": "large"}, "gamma must be 'scale', 'auto' or a positive number; found 'large'"),
        ({"gamma": 0}, "gamma must be 'scale', 'auto' or a positive number; found 0"),
        ({"gamma": float("nan")}, "gamma must be .* found nan"),
        ({"gamma": None}, "gamma must be .* found None"),
        ({"degree": 0}, "degree must be a whole number of at least 1; found 0"),
        ({"degree": 2.5}, "degree must be a whole number of at least 1; found 2.5"),
        ({"coef0": float("inf")}, "coef0 must be a finite number; found inf"),
        ({"coef0": "one"}, "coef0 must be a finite number; found 'one'"),
    ],
)
def test_parameters_that_cannot_be_meant_are_refused_by_name(parameters, text):
    with pytest.raises(ValueError, match=text):
        check_kernel(**{"kernel": "rbf", **parameters})


def test_a_kernel_that_gives_nan_names_the_rows():
    def kernel(A, B):
        values = A @ B.T
        values[A[:, 0] > 1e5] = np.nan
        return values

    X = some()
    X[7] = 1e6
    with pytest.raises(ValueError, match="the kernel gives NaN for rows 7 and "):
        check_kernel(kernel)(Rows(X), Rows(X))
    far = some(120)
    far[7], far[100] = 1e6, -1e6
    cache = KernelCache(check_kernel(lambda A, B: np.where(A @ B.T < -1e10, np.inf, 1.0)), Rows(far), 1.0, np.float64)
    with pytest.raises(ValueError, match="the kernel gives infinity for rows 100 and 7"):
        cache.slots(np.array([3, 100]))
    with pytest.raises(ValueError, match=r"row of its second, shape \(40, 40\); found shape \(40,\)"):
        check_kernel(lambda A, B: A[:, 0])(Rows(X), Rows(X))
    with pytest.raises(ValueError, match="the kernel function failed on arrays of shapes"):
        check_kernel(lambda A, B: A @ B)(Rows(X), Rows(X))
    with pytest.raises(ValueError, match=r"the kernel gives infinity .* choose a smaller degree"):
        check_kernel("poly", gamma=1.0, degree=60)(Rows(X), Rows(X))


def test_a_precomputed_kernel_must_be_square_and_symmetric():
    check_precomputed = check_kernel("precomputed").check_examples
    with pytest.raises(ValueError, match=r"must be a square matrix at fit.* found shape \(40, 7\)"):
        check_precomputed(Rows(some()))
    K = some(9, 9)
    with pytest.raises(ValueError, match=r"must be symmetric; found .* in row \d, column \d and .* in row \d, column"):
        check_precomputed(Rows(K))
    with pytest.raises(ValueError, match="must be a dense array"):
        check_precomputed(Rows(sparse.csr_matrix(K @ K.T)))
    K = K @ K.T
    K[1, 0] = np.nextafter(K[0, 1], np.inf)
    made = check_precomputed(Rows(K)).values
    np.testing.assert_array_equal(made, made.T)
    np.testing.assert_allclose(made, K, rtol=1e-15)
    K[3, 3] = np.nan
    with pytest.raises(ValueError, match="X contains NaN in row 3, column 3"):
        check_precomputed(Rows(K))
    with pytest.raises(TypeError, match="a matrix, not a function"):
        check_kernel("precomputed")(Rows(K), Rows(K))


# ---------------------------------------------------------------------------------------------- the core refuses


def index(*values):
    return np.array(values, dtype=np.int64)


def test_the_core_refuses_slots_and_lengths_that_do_not_fit():
    store = np.zeros((3, 5), dtype=np.float32)
    with pytest.raises(ValueError, match="slot lies outside"):
        _core.add_rows(store, index(3), np.ones(1), np.zeros(5), 1)
    with pytest.raises(ValueError, match="slot lies outside"):
        _core.add_rows(store, index(-1), np.ones(1), np.zeros(5), 1)
    with pytest.raises(ValueError, match="differ in number"):
        _core.add_rows(store, index(0, 1), np.ones(1), np.zeros(5), 1)
    with pytest.raises(ValueError, match="differ in length"):
        _core.add_rows(store, index(0), np.ones(1), np.zeros(4), 1)
    with pytest.raises(ValueError, match="C-ordered"):
        _core.add_rows(np.zeros((5, 3), dtype=np.float32).T, index(0), np.ones(1), np.zeros(5), 1)
    products = np.zeros((2, 5), dtype=np.float32)
    for left, right, slots, text in (
        (np.zeros(1), np.zeros(5), index(0, 1), "norms and products"),
        (np.zeros(2), np.zeros(4), index(0, 1), "norms and products"),
        (np.zeros(2), np.zeros(5), index(0), "slots and products"),
        (np.zeros(2), np.zeros(5), index(0, 9), "slot lies outside"),
    ):
        with pytest.raises(ValueError, match=text):
            _core.exponentials(products, left, right, 1.0, store, slots, 1)
    with pytest.raises(ValueError, match="differ in width"):
        _core.exponentials(products, np.zeros(2), np.zeros(5), 1.0, store[:, :4], index(0, 1), 1)


def test_the_core_refuses_working_sets_that_do_not_fit():
    five = np.ones(5)
    for store in (np.eye(5), np.eye(5, dtype=np.float32)):
        with pytest.raises(ValueError, match="slots and chosen points differ"):
            _core.smo(store, index(0), index(0, 1), five, five, five, np.zeros(5), five, 0.1, 9)
        with pytest.raises(ValueError, match="slot lies outside"):
            _core.smo(store, index(0, 1), index(0, 5), five, five, five, np.zeros(5), five, 0.1, 9)
        with pytest.raises(ValueError, match="differ in length"):
            _core.smo(store, index(0, 1), index(0, 1), five, five[:4], five, np.zeros(5), five, 0.1, 9)
        assert _core.smo(store, index(), index(), five, five, five, np.zeros(5), five, 0.1, 9) == 0


def test_the_core_refuses_passes_that_do_not_fit():
    good = {
        "store": np.zeros((2, 4)),
        "slot_of": index(0, 1, -1, -1),
        "codes": np.zeros(4, dtype=np.int32),
        "weights": None,
        "order": None,
        "begin": 0,
        "end": 2,
        "coef": np.zeros(4),
        "average_correction": None,
        "pocket": None,
        "activation": np.zeros(4),
        "real": np.zeros(SLOTS),
        "count": np.zeros(3, dtype=np.int64),
        "positive": 0,
        "tie_is_mistake": (True, True),
        "eta": 1.0,
        "threshold": 0.0,
        "bias_square": 0.0,
        "clock": 0.0,
        "vote": False,
    }
    bad = [
        ({"store": np.zeros((2, 5))}, "kernel rows and codes"),
        ({"slot_of": index(0, 2, -1, -1)}, "slot lies outside"),
        ({"slot_of": index(0)}, "slots and codes"),
        ({"weights": np.zeros(3)}, "weights and rows"),
        ({"order": np.array([0, 4], dtype=np.uint32)}, "order names a row"),
        ({"end": 5}, "begin and end"),
        ({"begin": -1}, "begin and end"),
        ({"average_correction": np.zeros(3)}, "differ in length"),
        ({"pocket": np.zeros(3)}, "differ in length"),
        ({"real": np.zeros(3)}, "real needs"),
        ({"eta": 0.0}, "eta must be positive"),
    ]
    for change, text in bad:
        with pytest.raises(ValueError, match=text):
            _core.dual_visit(**{**good, **change})
    assert _core.dual_visit(**good)[:3] == (-1, 2, 2.0)
    assert _core.dual_visit(**{**good, "activation": np.zeros(4), "begin": 2, "end": 4})[:2] == (2, 2)
