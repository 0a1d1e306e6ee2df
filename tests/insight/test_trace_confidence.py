"""Traces of the rules that keep a spread."""

from __future__ import annotations

from fractions import Fraction

import pytest

import separatrix as sx
from separatrix.rules import AROW

X, Y = [[1, 1], [-1, 0]], [1, -1]


def test_the_first_epoch_of_arow_in_fractions():
    """r = 1: (1, 1, 1) has v = 3, beta = 1/4 and leaves a spread of 3/4; -(-1, 0, 1) has m = 0, v = 3/2, beta = 2/5."""
    run = sx.trace(X, Y, rule="arow", max_iter=1)
    assert [step.weights for step in run] == [
        (Fraction(1, 4), Fraction(1, 4)), (Fraction(1, 4) + Fraction(3, 10), Fraction(1, 4))
    ]  # fmt: skip
    assert run.bias == Fraction(1, 4) - Fraction(3, 10)


def test_the_constant_of_the_smallest_ball_stays_exact_with_a_diagonal_spread_only():
    run = sx.trace(X, Y, rule="arow", max_iter=2, bias_constant="ball")
    assert all(isinstance(value, Fraction) for value in (*run.weights, run.bias))
    assert run.notes()[0].endswith("is the bias coordinate.")
    with pytest.raises(ValueError, match=r"^with covariance='full' and bias_constant='ball' the run is not exact: use"):
        sx.trace(X, Y, rule="arow", covariance="full", bias_constant="ball")
    floats = sx.trace(X, Y, rule="arow", covariance="full", bias_constant="ball", exact=False, max_iter=2)
    assert isinstance(floats.bias, float)


def test_rules_with_roots_run_in_floats():
    assert isinstance(sx.trace(X, Y, rule="scw2", max_iter=1).bias, float)
    with pytest.raises(ValueError, match=r"^rule 'scw2' cannot be computed exactly: use exact=False$"):
        sx.trace(X, Y, rule="scw2", exact=True)
    with pytest.raises(ValueError, match=r"^the dual form is for the perceptron rules; found rule 'arow'$"):
        sx.trace(X, Y, rule="arow", dual=True)


def test_the_options_of_the_rules_reach_them():
    run = sx.trace(X, Y, rule="arow", r="1/2", covariance="full", max_iter=1)
    assert run._setting.rule == AROW(r=Fraction(1, 2), covariance="full")
    sure = sx.trace(X, Y, rule="scw1", C=100, eta=0.99, max_iter=1)
    assert sure._setting.rule.phi == pytest.approx(2.3263478740408408)
    assert sum(abs(w) for w in sure.weights) > sum(abs(w) for w in sx.trace(X, Y, rule="scw1", max_iter=1).weights)
