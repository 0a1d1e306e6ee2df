"""The certificate of a model counts rows as fractions do: none is called wrong because rounding hides its side."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.certificates.certificate import Certificate
from separatrix.certificates.data import Data
from separatrix.certificates.model import MistakeBound, ModelCertificate, measure_plane
from separatrix.geometry.rows import Rows

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def exact_margins(X, signs, weights, bias):
    """The rows' ``y (w.x + b)`` in fractions."""
    w = [Fraction(value) for value in weights]
    return [
        int(sign) * (sum(a * Fraction(v) for a, v in zip(w, row, strict=True)) + Fraction(bias))
        for row, sign in zip(np.asarray(X, dtype=float).tolist(), signs, strict=True)
    ]


def hold(certificate, X, signs, weights, bias):
    """Compare the claims with fractions; return whether some row's side is hard to tell in floats."""
    margins = exact_margins(X, signs, weights, bias)
    assert certificate.wrong == sum(value <= 0 for value in margins)
    square = sum(Fraction(value) ** 2 for value in weights)
    if certificate.wrong or square == 0:
        assert certificate.margin == -math.inf
        return False
    truth = min(margins) ** 2 / square
    assert Fraction(certificate.margin) ** 2 <= truth
    assert certificate.margin > 0 or truth < Fraction(1e-300) ** 2
    size = max(sum(abs(Fraction(v) * Fraction(w)) for v, w in zip(row, weights, strict=True)) for row in X.tolist())
    return min(margins) < size * Fraction(2**-50)


@pytest.mark.parametrize("block", range(4))
def test_random_fits_are_counted_as_fractions_count_them(block):
    rng = np.random.default_rng(block)
    for _ in range(40):
        n, d = int(rng.integers(3, 12)), int(rng.integers(1, 5))
        scale, offset = rng.choice([1e-8, 0.1, 1.0, 1e7]), rng.choice([0.0, 1e3, 1.7e9])
        X = offset + scale * rng.integers(-4, 5, size=(n, d)) * rng.choice([1.0, 0.1])
        y = np.where(X[:, 0] + rng.normal(size=n) * scale * rng.choice([0.0, 1.0]) > np.median(X[:, 0]), 1, -1)
        y[:2] = [1, -1]
        model = rng.choice([sx.Perceptron(max_iter=20, random_state=0), sx.LinearSVM(max_iter=20, random_state=0),
                            sx.Neuron(max_iter=5, random_state=0)])  # fmt: skip
        try:
            model.fit(sparse.csr_array(X) if rng.random() < 0.3 else X, y)
        except (ValueError, OverflowError):  # numbers that do not suit the model
            continue
        hold(model.certificate_, X, y, model.coef_[0].tolist(), float(model.intercept_[0]))


def test_planes_through_rows_are_counted_as_fractions_count_them():
    rng = np.random.default_rng(0)
    hard = 0
    for _ in range(300):
        n, d = int(rng.integers(2, 9)), int(rng.integers(1, 5))
        X = (rng.choice([0.0, 1.0, 1.7e9]) + rng.normal(size=(n, d))) * 10.0 ** rng.integers(-3, 4)
        w = rng.normal(size=d)
        bias = float(-(X[0] @ w))  # the first row lies on the plane but for rounding
        signs = np.array([1.0 if value > 0 else -1.0 for value in exact_margins(X, np.ones(n), w.tolist(), bias)])
        if rng.random() < 0.3:
            signs[0] *= -1.0
        rows = Rows(sparse.csr_array(X) if rng.random() < 0.5 else X)
        measured = measure_plane(Data(rows, signs, True, 1, -1), w, bias)
        hard += hold(measured, X, signs, w.tolist(), bias)
    assert hard > 50


def test_rows_on_the_plane_and_numbers_that_overflow_are_decided_too():
    X, signs = np.array([[1e200], [-1e200], [1e308]]), np.array([1.0, -1.0, 1.0])
    measured = measure_plane(Data(Rows(X), signs, True, 1, -1), np.array([1e200]), 0.0)
    assert measured.wrong == 0
    assert measured.margin > 0
    on = measure_plane(Data(Rows(X), signs, True, 1, -1), np.array([1.0]), 1e200)
    assert on.wrong == 1
    zero = measure_plane(Data(Rows(X), signs, True, 1, -1), np.array([0.0]), 1.0)
    assert (zero.wrong, zero.margin) == (1, -math.inf)


def test_what_is_not_decided_is_not_called_inseparable():
    X, y = sx.datasets.load("and")
    data = sx.certify(X, y)
    for separable, text in ((None, "not decided"), ("none", "not strictly separable"), ("strict", "too large")):
        proved = Certificate(**{**vars(data), "separable": separable})
        claims = ModelCertificate("Perceptron", 1, 0, 1.0, np.ones(4), 0, MistakeBound(3, math.inf), data=proved)
        assert text in dict(claims.details())["mistakes"]
