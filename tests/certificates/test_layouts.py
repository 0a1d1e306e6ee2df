"""A true claim is verified however the rows are stored, and a false one is not, also where rounding hides both."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix.certificates.certificate import Bracket
from separatrix.certificates.data import binary_data, read
from separatrix.certificates.multiclass import from_json
from separatrix.certificates.proving import prove, prove_exactly
from separatrix.geometry.rows import Rows


def layouts(X):
    """The same numbers, stored in every way there is."""
    yield from (X, np.asfortranarray(X), X[::-1][::-1], np.repeat(X, 2, axis=1)[:, ::2], X.tolist(), pd.DataFrame(X))
    yield from (sparse.csr_array(X), sparse.csr_matrix(X), sparse.csc_array(X), sparse.coo_array(X))
    explicit = sparse.csr_array(np.ones_like(X))  # which stores zeros too
    explicit.data[:] = X.ravel()
    yield explicit
    small = X.astype(np.float32)
    if (small == X).all():
        yield from (small, np.asfortranarray(small), sparse.csr_array(small))
    if (np.abs(X) < 2**53).all() and (np.round(X) == X).all():
        yield X.astype(np.int64)


def drawn(rng):
    """Rows far from the origin or of very different size, and labels that a plane separates, or nearly."""
    n, d = int(rng.integers(3, 16)), int(rng.integers(1, 6))
    X = rng.normal(size=(n, d)).round(int(rng.integers(0, 4))) * 10.0 ** rng.integers(-3, 4, size=d)
    X = X + rng.choice([0.0, 1e3, 1e6, 1.7e9, 1e12], size=d)
    if rng.random() < 0.3:
        X = X.astype(np.float32).astype(np.float64)
    if rng.random() < 0.3:
        X[rng.random(size=X.shape) < 0.4] = 0.0
    scores = (X - X.mean(axis=0)) @ rng.normal(size=d)
    y = (scores > np.median(scores)).astype(int)
    if rng.random() < 0.3:
        y[int(rng.integers(n))] ^= 1
    return X, y


@pytest.mark.parametrize("free", [True, False])
@settings(max_examples=15)
@given(st.integers(0, 2**32))
def test_what_one_layout_proves_every_layout_verifies(free, seed):
    X, y = drawn(np.random.default_rng(seed))
    if len(set(y)) < 2:
        return
    for given_rows in (X, sparse.csr_array(X)):
        certificate = sx.certify(given_rows, y, fit_intercept=free)
        for other in layouts(X):
            check = certificate.verify(other, y)
            assert check, (str(check), type(other))


def test_large_values_with_small_differences_are_verified_in_the_sparse_copy():
    rng = np.random.default_rng(3)
    X = 1.7e9 + rng.normal(size=(40, 3)).round(3)
    y = (X[:, 0] > np.median(X[:, 0])).astype(int)
    dense = sx.certify(X, y)
    copy = sx.certify(sparse.csr_array(X), y)
    assert dense.separable == copy.separable == "strict"
    for certificate in (dense, copy, from_json(dense.to_json())):
        assert certificate.verify(X, y)
        assert certificate.verify(sparse.csr_array(X), y)
    lower, upper = dense.margin
    for forged in (
        Bracket(upper * (1 + 1e-6), upper * (1 + 1e-5)),
        Bracket(lower, lower * (1 - 1e-9)),
        Bracket(lower * 2, upper * 2),
        Bracket(lower, upper * 2),
        Bracket(lower / 2, upper),
    ):
        for rows in (X, sparse.csr_array(X)):
            assert not dataclasses.replace(dense, margin=forged).verify(rows, y)


@settings(max_examples=30)
@given(st.integers(0, 2**32))
def test_exact_proofs_are_those_of_fractions_and_the_same_in_every_layout(seed):
    rng = np.random.default_rng(seed)
    X, y = drawn(rng)
    if len(set(y)) < 2:
        return
    free = bool(rng.integers(2))
    witness = sx.certify(X, y, fit_intercept=free).witness
    proofs = [
        prove_exactly(binary_data(*read(rows, y), free, 1, 0), witness)
        for rows in (X, np.asfortranarray(X), sparse.csr_array(X))
    ]
    exact, loosest = proofs[0]
    assert {(proof.separable, proof.lower, proof.upper) for proof, _ in proofs} == {
        (exact.separable, exact.lower, exact.upper)
    }
    rounded = prove(binary_data(*read(X, y), free, 1, 0), witness)
    assert loosest.lower <= rounded.lower * (1 + 1e-15)
    assert rounded.upper <= loosest.upper * (1 + 1e-9)
    signs = np.where(y == 1, 1, -1).tolist()
    rows = [[Fraction(value) for value in row] for row in X.tolist()]
    if witness.plane is not None and exact.separable == "strict":
        w, b = [Fraction(value) for value in witness.plane.weights], Fraction(witness.plane.bias)
        sides = [s * (sum(p * q for p, q in zip(w, row, strict=True)) + b) for row, s in zip(rows, signs, strict=True)]
        truth = min(sides) ** 2 / sum(value**2 for value in w)
        assert Fraction(exact.lower) ** 2 <= truth <= Fraction(exact.lower) ** 2 * Fraction(1 + 1e-14)
    if witness.points is not None and not witness.points.whole:
        truth = gap(rows, signs, witness.points, free)
        assert truth <= Fraction(exact.upper) ** 2 <= truth * Fraction(1 + 1e-14)


def gap(rows, signs, points, free):
    """The squared bound on all margins that weighted rows give, in fractions."""
    weights = dict(zip(points.rows, map(Fraction, points.weights), strict=True))
    totals = {side: sum(v for k, v in weights.items() if signs[k] == side) for side in (1, -1)}
    share = {k: v / (2 * totals[signs[k]] if free else sum(totals.values())) for k, v in weights.items()}
    return sum(sum(v * signs[k] * rows[k][j] for k, v in share.items()) ** 2 for j in range(len(rows[0])))


def test_the_sum_of_rows_in_integers_is_exact_for_dense_and_sparse_rows():
    from separatrix.certificates.exact_rows import ExactRows

    rng = np.random.default_rng(0)
    X = rng.normal(size=(9, 4)) * 10.0 ** rng.integers(-30, 30, size=(9, 4))
    X[rng.random(size=X.shape) < 0.3] = 0.0
    signs, weights = rng.choice([-1, 1], size=9), [int(value) for value in rng.integers(1, 10**6, size=9)]
    expected = [sum(int(s) * v * Fraction(x) for s, v, x in zip(signs, weights, X[:, j].tolist(), strict=True)) ** 2
                for j in range(4)]  # fmt: skip
    for rows in (X, sparse.csr_array(X)):
        for bias in (True, False):
            space = ExactRows(Rows(rows), signs, bias)
            total = space.combined(weights)
            assert space.square_length(total) == sum(expected)
            assert not bias or total[-1] == sum(s * v for s, v in zip(signs.tolist(), weights, strict=True))
