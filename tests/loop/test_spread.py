"""The spread of the weights in a run: what the engine does with it, and what a state keeps."""

from __future__ import annotations

import copy
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from separatrix import _core
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.loop.state import State
from separatrix.rules import AROW, NHERD, SCW1, SCW2, Perceptron
from separatrix.stops import MaxEpochs

KINDS = [AROW, SCW1, SCW2, NHERD]
RULES = [rule(covariance=covariance) for rule in KINDS for covariance in ("diagonal", "full")]


class Steps:
    def __init__(self):
        self.steps = []

    def on_step(self, step):
        self.steps.append(step)


def noisy(seed=0, n=20, d=4):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    y = np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0.3, 1, -1)
    y[:2] = 1, -1
    return X, y


def run(problem, rule, epochs=1, **options):
    return solve(problem, rule, engine="reference", stop=MaxEpochs(epochs), **options)


def test_two_steps_of_arow_by_hand():
    """r = 1, K = 1. (2, 0) is met first: v = 5, beta = 1/6, and w' = (2, 0, 1) / 6; S_1 = 1 - 4/6, S_b = 1 - 1/6.

    Then -(1, 1): m = -(2 + 1)/6 = -1/2, v = 1/3 + 1 + 5/6 = 13/6, beta = 6/19, tau = 9/19; w' -= tau (1/3, 1, 5/6).
    """
    found = run(Problem.from_exact([[2, 0], [1, 1]], [1, -1]), AROW(r=1))
    tau, beta = Fraction(9, 19), Fraction(6, 19)
    assert found.weights.tolist() == [Fraction(1, 3) - tau / 3, -tau]
    assert found.bias == Fraction(1, 6) - tau * Fraction(5, 6)
    assert found.state.spread.tolist() == [
        Fraction(1, 3) - beta / 9, 1 - beta, Fraction(5, 6) - beta * Fraction(25, 36)
    ]  # fmt: skip


@pytest.mark.parametrize("constant", [None, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_a_full_arow_is_ridge_regression_on_the_examples_that_it_moved_for_exactly(seed, constant):
    """The inverse of S is ``I + sum(x' x'^T) / r``, and ``S^-1 w' = sum(y x') / r``, over all updates."""
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (8, 2)).tolist(), rng.choice([-1, 1], 8)
    y[:2] = 1, -1
    r, seen = Fraction(3, 2), Steps()
    problem = Problem.from_exact(X, y, bias=constant)
    found = run(problem, AROW(r=r, covariance="full"), 2, observers=[seen])
    inverse = np.array([[Fraction(int(i == j)) for j in range(3)] for i in range(3)])
    target = np.array([Fraction(0)] * 3)
    updates = [step for step in seen.steps if step.updated]
    assert 3 < len(updates) == found.n_updates
    for step in updates:
        x = np.array([*step.x, constant or 0], dtype=object)
        inverse += np.outer(x, x) / r
        target += step.y * x / r
    spread = found.state.spread
    assert (spread @ inverse == np.eye(3, dtype=int)).all()
    assert [*found.weights, Fraction(found.bias) / (constant or 1)] == (spread @ target).tolist()


@pytest.mark.parametrize("rule", KINDS)
def test_a_diagonal_spread_is_that_of_the_full_one_as_long_as_no_two_features_meet(rule):
    X, y = np.diag([1.0, -2.0, 0.5, 3.0])[[0, 1, 2, 3, 0, 2]], [1, -1, 1, 1, -1, -1]
    diagonal, full = (
        run(Problem(X, y, bias=None), rule(covariance=covariance), 3) for covariance in ("diagonal", "full")
    )
    np.testing.assert_allclose(np.diag(diagonal.state.spread), full.state.spread, rtol=1e-12)
    np.testing.assert_allclose(diagonal.weights, full.weights, rtol=1e-12)


@pytest.mark.parametrize("constant", [None, 2.0])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_bias_is_a_feature_that_is_always_k(rule, constant):
    X, y = noisy()
    found = run(Problem(X, y, bias=constant), rule, 3)
    wide = np.column_stack([X, np.full(len(y), constant or 0.0)])
    same = run(Problem(wide, y, bias=None), rule, 3)
    np.testing.assert_allclose(found.weights, same.weights[:-1], rtol=1e-9)
    np.testing.assert_allclose(found.bias, same.weights[-1] * (constant or 0.0), rtol=1e-9)
    spread, expected = found.state.spread, same.state.spread
    np.testing.assert_allclose(spread, expected[tuple(slice(size) for size in spread.shape)], rtol=1e-9, atol=1e-15)
    assert (spread.ravel()[-1] == 1.0) == (constant is None)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_spread_only_narrows_and_stays_a_covariance(rule):
    X, y = noisy(3, n=40)
    state = run(Problem(X * [1, 100, 0.01, 1], y), rule, 1).state
    full = rule.covariance == "full"
    before = np.linalg.eigvalsh(state.spread).min() if full else state.spread.copy()
    after = run(Problem(X * [1, 100, 0.01, 1], y), rule, 5, start=state).state.spread
    least = np.linalg.eigvalsh(after).min() if full else after
    assert np.all(least > 0)
    assert np.all(least <= before)
    assert np.all((np.diagonal(after) if full else after) <= 1.0)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_average_is_that_of_the_weights_after_each_example(rule):
    X, y = noisy()
    seen = Steps()
    found = run(Problem(X, y), rule, 3, readout="averaged", observers=[seen])
    np.testing.assert_allclose(found.weights, np.mean([step.weights for step in seen.steps], axis=0), rtol=1e-10)
    np.testing.assert_allclose(found.bias, np.mean([step.bias for step in seen.steps]), rtol=1e-10)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_weight_of_2_is_the_row_twice_and_a_half_is_half_the_update(rule):
    X, y = noisy()
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    weights[:2] = 1.0
    found = run(Problem(X, y, sample_weight=weights), rule, 2)
    copied = run(Problem(np.repeat(X, weights.astype(int), axis=0), np.repeat(y, weights.astype(int))), rule, 2)
    np.testing.assert_allclose(found.weights, copied.weights, rtol=1e-12)
    np.testing.assert_allclose(found.state.spread, copied.state.spread, rtol=1e-12)
    whole = run(Problem(X[:2], [1, -1], sample_weight=[1.0, 0.0]), rule)
    half = run(Problem(X[:2], [1, -1], sample_weight=[0.5, 0.0]), rule)
    np.testing.assert_allclose(2 * half.weights, whole.weights, rtol=1e-12)
    start = 1.0 if rule.covariance == "diagonal" else np.eye(X.shape[1] + 1)
    np.testing.assert_allclose(2 * (half.state.spread - start), whole.state.spread - start, rtol=1e-12)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_run_in_two_parts_is_the_run_in_one(rule):
    X, y = noisy()
    whole = run(Problem(X, y), rule, 4, order="shuffled", readout="averaged").state
    first = run(Problem(X, y), rule, 1, order="shuffled", readout="averaged").state
    parts = run(Problem(X, y), rule, 3, order="shuffled", readout="averaged", start=copy.deepcopy(first)).state
    for name in ("weights", "spread", "average_correction", "real", "count"):
        assert getattr(parts, name).tobytes() == getattr(whole, name).tobytes(), name
    mirrored = first.mirrored()
    mirrored.spread -= 0.5
    assert first.spread.tobytes() != mirrored.spread.tobytes()  # a copy of its own


def test_sparse_rows_give_the_same_bits_and_leave_other_features_alone():
    X, y = noisy(5, n=12, d=6)
    X[:, 3:] = 0.0
    for rule in RULES:
        dense, rows = (run(Problem(data, y), rule, 2).state for data in (X, sparse.csr_array(X)))
        assert dense.spread.tobytes() == rows.spread.tobytes()
        assert dense.weights.tobytes() == rows.weights.tobytes()
        diagonal = dense.spread if rule.covariance == "diagonal" else np.diagonal(dense.spread)
        assert (diagonal[3:6] == 1.0).all()
        assert (diagonal[[0, 1, 2, 6]] < 1.0).all()


@pytest.mark.parametrize("rule", [AROW(r=1e-300), SCW1(C=math.inf, phi=8.2), NHERD(C=1e300)], ids=str)
def test_a_spread_that_rounding_would_take_away_stays_positive(rule):
    problem = Problem([[1.0], [1.0], [-1e-160], [1e160]], [1, 0, 1, 0], bias=None)
    found = run(problem, rule, 5)
    assert np.isfinite(found.weights).all()
    assert (found.state.spread > 0).all()
    found.state.validate()


def test_what_a_batch_votes_and_pockets_would_mean_is_refused():
    problem = Problem([[1.0], [2.0]], [0, 1])
    with pytest.raises(ValueError, match=r"^rule 'arow' learns from one example at a time: batch_size must be 1"):
        run(problem, AROW(), batch_size=2)
    for readout in ("voted", "pocket"):
        with pytest.raises(ValueError, match=f"^readout='{readout}' is kept for perceptrons only; found"):
            run(problem, SCW1(), readout=readout)
    with pytest.raises(ValueError, match=r"^rule 'scw1' cannot compute with exact numbers: use floats$"):
        run(Problem.from_exact([[1], [2]], [0, 1]), SCW1())


def test_a_full_covariance_of_many_features_is_refused_with_the_memory_it_would_take():
    wide = sparse.csr_array(([1.0, 1.0], ([0, 1], [0, 30_000])), shape=(2, 30_001))
    message = "^covariance='full' of 30,001 features takes 6.7 GiB for each class, .* at most 4,096 features: use cov"
    with pytest.raises(ValueError, match=message):
        run(Problem(wide, [0, 1]), AROW(covariance="full"))
    run(Problem(wide, [0, 1]), AROW())


def test_a_state_goes_on_with_its_own_form_of_spread_only():
    X, y = noisy()
    state = run(Problem(X, y), AROW()).state
    with pytest.raises(ValueError, match=r"^covariance is now 'full', but what was learned so far has a spread of"):
        run(Problem(X, y), AROW(covariance="full"), start=state)
    plain = run(Problem(X, y), Perceptron()).state
    assert plain.spread is None
    assert run(Problem(X, y), SCW1(), start=plain).state.spread.shape == (5,)


@pytest.mark.parametrize(
    "spread",
    [
        np.ones(3), np.ones((4, 3)), np.ones((4, 4, 4)), np.array([1, 0.0, 1, 1]), np.array([1, 1, 1, -1.0]),
        np.array([1.0, math.nan, 1.0, 1.0]), np.full(4, math.inf), np.ones(4, np.float32), [1.0] * 4, np.eye(4) - 1.0,
    ],
)  # fmt: skip
def test_a_state_with_a_spread_that_cannot_be_is_refused(spread):
    state = State.new(1, np.zeros(3), 0.0, readout="last")
    state.validate()
    for good in (np.ones(4), np.eye(4)):
        state.spread = good
        state.validate()
    state.spread = spread
    with pytest.raises(ValueError, match=r"^the spread of a state is not one positive number for each weight and the"):
        state.validate()


def test_the_theorem_of_arow_holds_on_2000_random_runs():
    """Crammer, Kulesza and Dredze 2009, theorem 2, over the updates A, M of them mistakes and U not, for any plane u:

    ``M <= sqrt(r |u|^2 + u . X_A u) sqrt(log det(I + X_A / r) + U) + sum of the hinge losses of u over A - U``.
    """
    tight = 0
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        n, d, r = int(rng.integers(2, 9)), int(rng.integers(1, 4)), float(10.0 ** rng.uniform(-2, 2))
        X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1)
        y = np.where(X @ rng.standard_normal(d) + rng.choice([0.0, 1.0]) * rng.standard_normal(n) > 0, 1, -1)
        y[:2] = 1, -1
        seen = Steps()
        found = run(Problem(X, y), AROW(r=r, covariance="full"), int(rng.integers(1, 4)), observers=[seen])
        updates = [step for step in seen.steps if step.updated]
        mistakes = sum(step.mistake for step in updates)
        assert mistakes == sum(step.mistake for step in seen.steps)
        rest = len(updates) - mistakes
        A = np.array([[*step.x, 1.0] for step in updates])
        signs = np.array([step.y for step in updates])
        gram = A.T @ A
        size = np.linalg.slogdet(np.eye(d + 1) + gram / r)[1]
        last = np.append(found.weights, found.bias)
        for u in (last, 2 * last, 0.5 * last, rng.standard_normal(d + 1), np.linalg.pinv(A) @ signs):
            losses = np.maximum(0.0, 1.0 - signs * (A @ u)).sum()
            bound = math.sqrt(r * u @ u + u @ gram @ u) * math.sqrt(size + rest) + losses - rest
            assert mistakes <= bound * (1 + 1e-9) + 1e-9, seed
            tight += mistakes > 0.5 * bound
    assert tight > 500  # so the bound is not far off


@pytest.mark.parametrize("build", _core.builds())
@pytest.mark.parametrize("index", [np.int32, np.int64])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_beside_their_spread_get_the_bits_of_those_apart(dtype, index, build):
    """A long pass puts them side by side, passes over one row do not; rows have 0 to 9 values, the last ones too."""
    rng = np.random.default_rng(0)
    lengths = [*range(10), *rng.integers(0, 10, 40), *range(9, -1, -1), 7]
    columns = [np.sort(rng.choice(12, length, replace=False)) for length in lengths]
    indptr = np.cumsum([0, *lengths]).astype(index)
    values = rng.standard_normal(indptr[-1]).astype(dtype)
    X = _core.csr(values, np.concatenate(columns).astype(index), indptr, 12)
    examples = _core.Examples(rng.integers(0, 2, len(lengths)).astype(np.int32), None, None)
    found, before = [], _core.build()
    _core.use_build(build)
    try:
        for step in (len(lengths), 1):
            state, spread, clock = State.new(1, np.zeros(12), 0.0, readout="last"), np.ones(13), 0.0
            task = _core.BinaryTask(state.weights, state.real, state.count, None, None, 1, (True, True), False, spread)
            for _ in range(3):
                for row in range(0, len(lengths), step):
                    bad, clock = _core.visit(
                        X, examples, row, row + step, [task], _core.Rule("arow", [0.5]), 1.0, clock, 1, None, None, 1
                    )
                    assert bad == -1
            found.append(np.concatenate([state.weights, state.real[:1], spread]).tobytes())
            assert state.updates > 20
    finally:
        _core.use_build(before)
    assert found[0] == found[1]
