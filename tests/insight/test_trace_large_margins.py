"""Traces of ROMMA, ALMA and the second-order perceptron."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

import separatrix as sx
from separatrix.rules import ALMA, SecondOrderPerceptron

X, Y = [[1], [2], [-1]], [-1, 1, -1]


def test_the_first_epoch_of_romma_in_fractions():
    """-(1, 1) / 2 first, then (2, -3), see tests/rules/test_large_margins.py; -1 is right with a margin of 5."""
    run = sx.trace(X, Y, rule="romma", max_iter=1)
    assert [step.weights for step in run] == [(Fraction(-1, 2),), (2,), (2,)]
    assert [step.bias for step in run] == [Fraction(-1, 2), -3, -3]
    assert [step.updated for step in run] == [True, True, False]
    assert "-1/2" in run.to_markdown()


def test_the_aggressive_rule_also_learns_from_narrow_margins():
    run = sx.trace([[1], [3], [4]], [-1, 1, 1], rule="aggressive_romma", max_iter=1)
    assert [step.updated for step in run] == [True, True, False]
    narrow = [[1], [3], [Fraction(5, 2)]]  # has a margin of 1/2 between the others
    steps = [sx.trace(narrow, [-1, 1, 1], rule=rule, max_iter=1) for rule in ("romma", "aggressive_romma")]
    assert [run[2].updated for run in steps] == [False, True]
    assert steps[1][2].weights[0] * Fraction(5, 2) + steps[1][2].bias == 1


def test_the_second_order_perceptron_in_fractions():
    run = sx.trace([[1, 1], [2, 0]], [1, -1], rule="sop", a=2, covariance="full", fit_intercept=False, max_iter=1)
    assert run.weights == (Fraction(-1, 5), Fraction(2, 5))
    assert run._setting.rule == SecondOrderPerceptron(2, "full")


def test_alma_computes_with_floats_only():
    run = sx.trace([[2, 0], [0, 5]], [1, -1], rule="alma", alpha="1/2", fit_intercept=False, max_iter=1)
    assert run._setting.rule == ALMA(0.5)
    assert run.weights == pytest.approx((math.sqrt(0.5), -math.sqrt(0.5)))
    with pytest.raises(ValueError, match=r"^rule 'alma' cannot be computed exactly: use exact=False$"):
        sx.trace(X, Y, rule="alma", exact=True)
