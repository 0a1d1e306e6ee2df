"""Shuffled orders: permutations, new each epoch, and the same for the same examples however they are stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.loop.order import Orders, cut_by_weight
from separatrix.loop.problem import Problem


def random_problem(n=50, d=6, seed=0, **options):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, rng.integers(0, 2, n), options


@given(st.integers(1, 300), st.integers(1, 9), st.integers(0, 2**31), st.integers(0, 5))
def test_every_epoch_is_a_permutation(n, d, seed, epoch):
    X = np.random.default_rng(seed).integers(0, 2, (n, d)).astype(float)  # many copies
    order = Orders(Problem(X, np.arange(n) % 2), "shuffled", seed).epoch(epoch)
    assert sorted(order) == list(range(n))


def test_epochs_and_seeds_differ_and_repeat():
    X, y, _ = random_problem()
    problem = Problem(X, y)
    first = Orders(problem, "shuffled", 1)
    orders = [first.epoch(0), first.epoch(1), Orders(problem, "shuffled", 2).epoch(0)]
    assert len({order.tobytes() for order in orders}) == 3
    assert Orders(problem, "shuffled", 1).epoch(1).tobytes() == orders[1].tobytes()
    assert Orders(problem, "shuffled", 1, first=1).epoch(1).tobytes() == orders[1].tobytes()


def test_each_place_is_equally_likely():
    n, epochs = 8, 4000
    orders = Orders(Problem(np.arange(float(n))[:, None], np.arange(n) % 2), "shuffled", 3)
    counts = np.zeros((n, n))
    for epoch in range(epochs):
        counts[np.arange(n), orders.epoch(epoch)] += 1
    expected = epochs / n
    assert ((counts - expected) ** 2 / expected).sum() < 100  # chi-square, 49 degrees of freedom: p < 1e-4 above 95


def test_rows_that_differ_only_far_to_the_right_are_told_apart():
    X = np.zeros((64, 40))
    X[:, -1] = np.arange(64)
    y = np.arange(64) % 2
    order = Orders(Problem(X, y), "shuffled", 0).epoch(0)
    shuffle = np.random.default_rng(1).permutation(64)
    again = Orders(Problem(X[shuffle], y[shuffle]), "shuffled", 0).epoch(0)
    assert X[order, -1].tolist() == X[shuffle][again, -1].tolist()
    assert order.tolist() != list(range(64))


@pytest.mark.parametrize("values", [2, 3, 1000])
@pytest.mark.parametrize("weighted", [True, False])
def test_small_integers_and_copies_are_visited_alike_in_any_order(values, weighted):
    rng = np.random.default_rng(0)
    X = rng.integers(0, values, (3000, 6)).astype(float)
    y = rng.integers(0, 2, 3000)
    weights = rng.integers(1, 4, 3000) / 2 if weighted else None
    shuffle = rng.permutation(3000)
    model = sx.Perceptron(random_state=0, stop=sx.stops.MaxEpochs(2))
    first = model.fit(X, y, sample_weight=weights).coef_.tobytes()
    again = model.fit(X[shuffle], y[shuffle], sample_weight=None if weights is None else weights[shuffle])
    assert again.coef_.tobytes() == first


@pytest.mark.parametrize("readout", ["last", "averaged", "voted", "pocket"])
def test_the_order_of_the_rows_does_not_change_a_bit(readout):
    X, y, _ = random_problem(80, 12)
    model = sx.Perceptron(readout=readout, max_iter=7, random_state=3, stop=sx.stops.MaxEpochs(7))
    expected = model.fit(X, y).decision_function(X).tobytes()
    shuffle = np.random.default_rng(9).permutation(80)
    model.fit(X[shuffle], y[shuffle])
    assert model.decision_function(X).tobytes() == expected


def test_dense_sparse_float32_and_float64_are_visited_alike():
    X, y, _ = random_problem(70, 20)
    X = np.where(np.abs(X) > 0.8, X, 0.0).astype(np.float32)
    X[3, 4] = -0.0
    orders = [
        Orders(Problem(data, y), "shuffled", 5).epoch(2).tolist()
        for data in (X, X.astype(np.float64), sparse.csr_array(X), sparse.csr_array(X.astype(np.float64)))
    ]
    assert orders[0] == orders[1] == orders[2] == orders[3]


def test_integer_weights_are_copies_and_zero_leaves_out():
    X, y, _ = random_problem(40, 5)
    weights = np.random.default_rng(2).integers(0, 4, 40)
    for readout in ("last", "averaged", "voted", "pocket"):
        options = {"readout": readout, "max_iter": 6, "random_state": 1, "stop": sx.stops.MaxEpochs(6)}
        weighted = sx.Perceptron(**options).fit(X, y, sample_weight=weights)
        repeated = sx.Perceptron(**options).fit(X.repeat(weights, axis=0), y.repeat(weights))
        assert weighted.n_updates_ == repeated.n_updates_ > 50
        assert weighted.decision_function(X).tobytes() == repeated.decision_function(X).tobytes()


def test_held_out_examples_are_never_visited():
    X, y, _ = random_problem(30, 3)
    for order in ("cyclic", "shuffled"):
        orders = Orders(Problem(X, y), order, 4, held_out=0.2)
        assert len(orders.held_out) == 6
        assert orders.pool == 24
        for epoch in range(3):
            assert sorted([*orders.epoch(epoch), *orders.held_out]) == list(range(30))


def test_too_few_examples_to_hold_any_out_is_said():
    with pytest.raises(ValueError, match=r"a validation fraction of 0\.1 does not split 3 examples"):
        Orders(Problem(np.eye(3), [0, 1, 0]), "cyclic", 0, held_out=0.1)
    with pytest.raises(ValueError, match="order must be one of cyclic, shuffled, random; found 'sorted'"):
        Orders(Problem(np.eye(3), [0, 1, 0]), "sorted", 0)


@pytest.mark.parametrize(
    ("n", "weight", "fold"), [(100_000, 0.1, 10), (300_000, 1 / 3, 7), (1000, 0.7, 7), (10, 2.5, 4)]
)
def test_folds_cut_by_weight_weigh_what_they_should(n, weight, fold):
    order = np.arange(n, dtype=np.uint32)
    entries, shares, edges = cut_by_weight(order, np.full(n, weight), fold)
    weighed = np.add.reduceat(shares, edges[:-1])
    assert len(weighed) == round(np.ceil(n * weight / fold - 1e-6))
    np.testing.assert_allclose(weighed[:-1], fold, rtol=1e-6)
    assert weighed[-1] > 1e-3
    assert shares.min() > 1e-6
    np.testing.assert_allclose(np.bincount(entries, shares), weight, rtol=1e-6)


def test_heavy_examples_make_folds_heavier_instead_of_more():
    entries, _, edges = cut_by_weight(np.arange(5, dtype=np.uint32), np.full(5, 1e12), 1, most=10)
    assert len(edges) - 1 == 50
    assert len(entries) <= 55
