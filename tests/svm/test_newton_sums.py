"""The core's sums over rows for Newton's method and for proofs of a gap, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from separatrix import _core
from separatrix.geometry.rows import Rows
from separatrix.svm.smooth import LOG, SQUARED_HINGE

N, D = 700, 23


def drawn(seed=0):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((N, D)) < 0.3, rng.standard_normal((N, D)), 0.0)
    signs, costs = np.where(rng.random(N) < 0.4, 1.0, -1.0), rng.uniform(0.1, 3.0, N)
    return rng, X, signs, costs


@pytest.mark.parametrize("loss", [LOG, SQUARED_HINGE])
@pytest.mark.parametrize("moves", [True, False])
def test_the_loss_along_a_step_has_the_slope_and_curvature_of_its_rows(loss, moves):
    rng, _, signs, costs = drawn()
    scores, along = 2.0 * rng.standard_normal(N), rng.standard_normal(N) * moves
    bias, bias_step, length = 0.3, -0.7, 1.9
    found = _core.slopes_along(
        loss is SQUARED_HINGE, scores, along if moves else None, length, bias, bias_step, signs, costs
    )
    margins, moved = signs * (scores + length * along + bias), signs * (along + bias_step)
    pull = loss.pull(margins)
    second = 2.0 * (margins < 1.0) if loss is SQUARED_HINGE else pull * (1.0 - pull)
    expected = (
        costs @ loss.value(margins), -(costs * pull) @ moved, (costs * second) @ moved**2,
        costs @ pull,
    )  # fmt: skip
    np.testing.assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("kind", ["dense", "csr"])
def test_a_product_with_the_hessian_reads_only_rows_with_curvature(kind):
    rng, X, _, costs = drawn()
    X[5] = np.nan if kind == "dense" else X[5]
    curvature, v = np.where(rng.random(N) < 0.5, costs, 0.0), rng.standard_normal(D)
    curvature[5] = 0.0
    scores, out = np.full(N, 7.0), np.full(D, 7.0)
    _core.hessian_product(Rows(X if kind == "dense" else sparse.csr_matrix(X)).matrix, curvature, v, scores, out)
    expected = np.where(curvature > 0, np.nan_to_num(X) @ v, 0.0)
    np.testing.assert_allclose(scores, expected, atol=1e-12)
    np.testing.assert_allclose(out, v + np.nan_to_num(X).T @ (curvature * expected), rtol=1e-12)


def test_threads_change_no_bit_of_a_product_with_the_hessian():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((32_000, 129), dtype=np.float32)
    curvature, v = np.where(rng.random(len(X)) < 0.5, 1.0, 0.0), rng.standard_normal(129)
    found = []
    for jobs in (1, 3):
        scores, out = np.empty(len(X)), np.empty(129)
        before = _core.product_threads(jobs)
        try:
            _core.hessian_product(Rows(X).matrix, curvature, v, scores, out)
        finally:
            _core.product_threads(before)
        found.append(np.concatenate([scores, out]))
    np.testing.assert_array_equal(*found)


@pytest.mark.parametrize("squared", [True, False])
def test_losses_of_margins_come_with_what_rounding_can_have_done(squared):
    rng, X, signs, costs = drawn()
    scores, alpha, squares = 2.0 * rng.standard_normal(N), rng.random(N), (X * X).sum(axis=1)
    unit, norm, constant, bias = 1e-3, 2.0, 0.5, 0.3
    loss, error, longest, lengths, slack = _core.margin_sums(
        squared, scores, bias, signs, costs, squares, alpha, unit, norm, constant
    )
    margins = signs * (scores + bias)
    off = unit * (1.0 + abs(bias) + norm * np.sqrt(squares))
    behind = np.maximum(1.0 - margins, 0.0)
    np.testing.assert_array_equal(slack, behind)
    assert loss == pytest.approx(costs @ (behind**2 if squared else behind), rel=1e-12)
    slope = costs * (2.0 * (behind + off) if squared else 1.0)
    assert error == pytest.approx(np.where(margins < 1.0 + off, slope, 0.0) @ off, rel=1e-12)
    assert longest == pytest.approx(off.max(), rel=1e-12)
    assert lengths == pytest.approx(alpha @ (np.sqrt(squares) + constant), rel=1e-12)


def test_vectors_of_different_lengths_are_refused():
    _, X, signs, costs = drawn()
    matrix, short = Rows(X).matrix, np.zeros(3)
    with pytest.raises(ValueError, match="differ in number"):
        _core.slopes_along(False, short, None, 0.0, 0.0, 1.0, signs, costs)
    with pytest.raises(ValueError, match="differ in number"):
        _core.hessian_product(matrix, costs, short, np.zeros(N), np.zeros(D))
    with pytest.raises(ValueError, match="differ in number"):
        _core.margin_sums(False, short, 0.0, signs, costs, costs, costs, 1.0, 1.0, 0.0)
    with pytest.raises(ValueError, match="differ in length"):
        _core.add_scaled(short, 1.0, np.zeros(4))
