"""The smooth losses of Newton's method: their slopes, curvatures and divergences against their definitions."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import separatrix as sx
from separatrix.geometry.rows import Rows
from separatrix.svm.logistic import LogisticTask, best_bias, measure
from separatrix.svm.newton import LogisticRun
from separatrix.svm.smooth import LOG, SQUARED_HINGE

LOSSES = (LOG, SQUARED_HINGE)
margins = st.floats(-20.0, 20.0)


def conjugate(loss, p):
    """The largest ``-p m - value(m)``, by its formula."""
    if loss is SQUARED_HINGE:
        return p * p / 4 - p
    return p * math.log(p) + (1 - p) * math.log(1 - p) if 0 < p < 1 else 0.0


@pytest.mark.parametrize("loss", LOSSES)
@given(m=margins)
def test_the_pull_is_minus_the_slope_and_the_second_derivative_its_own(loss, m):
    h = 1e-5
    if loss is SQUARED_HINGE and abs(m - 1) < 2 * h:
        return
    at = np.array([m - h, m, m + h])
    value, pull = loss.value(at), loss.pull(at)
    assert pull[1] == pytest.approx(-(value[2] - value[0]) / (2 * h), rel=1e-6, abs=1e-8)
    assert loss.second(at, pull)[1] == pytest.approx(-(pull[2] - pull[0]) / (2 * h), rel=1e-6, abs=1e-8)
    assert loss.second(at, pull)[1] <= loss.curvature


@pytest.mark.parametrize("loss", LOSSES)
@given(m=margins, p=st.floats(1e-6, 1 - 1e-6))
def test_the_divergence_is_that_of_fenchel_and_young(loss, m, p):
    whole = float(loss.value(np.array([m]))[0]) + conjugate(loss, p) + p * m
    found = float(loss.divergence(np.array([p]), np.array([m]))[0])
    assert found == pytest.approx(whole, rel=1e-9, abs=1e-12 * (1 + abs(m)))
    assert found >= -1e-13
    pull = loss.pull(np.array([m]))
    assert float(loss.divergence(loss.within(pull), np.array([m]))[0]) == pytest.approx(0.0, abs=1e-13)


@pytest.mark.parametrize("loss", LOSSES)
@given(m=st.floats(-10.0, 10.0), part=st.floats(1e-3, 0.999))
def test_a_scaled_pull_diverges_by_what_the_divergence_says(loss, m, part):
    at = np.array([m])
    pull = loss.pull(at)
    scaled = loss.within((1 - part) * pull)
    expected = float(loss.divergence(scaled, at)[0])
    assert float(loss.scaled_divergence(part, pull, at)[0]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


@given(data=st.data())
def test_the_best_bias_of_the_squared_hinge_is_between_its_neighbours(data):
    n = data.draw(st.integers(2, 12))
    numbers = st.lists(st.floats(-5, 5), min_size=n, max_size=n)
    scores, costs = np.array(data.draw(numbers)), np.abs(np.array(data.draw(numbers))) + 0.1
    signs = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    free = data.draw(st.booleans())
    task = LogisticTask(Rows(np.zeros((n, 1))), signs, costs, 0.0 if free else 2.0, free, loss=SQUARED_HINGE)
    bias = best_bias(task, scores)

    def value(b):
        return 0.5 * task.lean * b * b + float((costs * np.maximum(0.0, 1.0 - signs * (scores + b)) ** 2).sum())

    for step in (1e-4, 1e-2, 1.0):
        assert value(bias) <= min(value(bias - step), value(bias + step)) + 1e-9


@given(data=st.data())
def test_the_gap_of_any_weights_covers_the_distance_in_fractions(data):
    whole = st.integers(-6, 6)
    n, d = data.draw(st.integers(2, 6)), data.draw(st.integers(1, 3))
    X = np.array(data.draw(st.lists(st.lists(whole, min_size=d, max_size=d), min_size=n, max_size=n)), dtype=float)
    signs = np.array([1.0, -1.0, *data.draw(st.lists(st.sampled_from([1.0, -1.0]), min_size=n - 2, max_size=n - 2))])
    weights = np.array(data.draw(st.lists(st.floats(-2, 2, width=16), min_size=d, max_size=d)))
    other = [Fraction(v) for v in data.draw(st.lists(st.floats(-2, 2, width=16), min_size=d, max_size=d))]
    task = LogisticTask(Rows(X), signs, np.full(n, 0.5), loss=SQUARED_HINGE)
    found = measure(task, weights)

    def exact(w):
        slack = [
            max(Fraction(0), 1 - int(s) * sum(Fraction(x) * v for x, v in zip(row, w, strict=True)))
            for row, s in zip(X, signs, strict=True)
        ]
        return sum(v * v for v in w) / 2 + sum(v * v for v in slack) / 2

    value = exact([Fraction(float(v)) for v in found.weights])
    assert value <= Fraction(found.primal) + Fraction(found.rounding)
    assert value - exact(other) <= Fraction(found.proven_gap)  # no other weights are better by more than the gap


@pytest.mark.parametrize("model", [sx.LinearSVM(loss="squared_hinge"), sx.LogisticRegression()])
def test_a_class_that_the_sampled_rows_miss_takes_few_iterations(model):
    rng = np.random.default_rng(0)
    centres, y = rng.normal(size=(1000, 10)) * 3, np.repeat(np.arange(1000), 4)
    X = centres[y] + rng.normal(size=(4000, 10))
    model.fit(X, y == 1)  # rows 4 to 7: none of every eighth
    assert model.status_.converged
    assert model.n_iter_ <= 15


def test_a_run_is_halted_inside_a_long_gram_matrix():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 1000)).astype(np.float32)
    task = LogisticTask(Rows(X), np.where(X[:, 0] > 0, 1.0, -1.0), np.ones(3000))
    run = LogisticRun(task, 1e-6, np.zeros(1000), factored=True)
    asked = []

    def halted():
        asked.append(run.iterations)
        return len(asked) > 1  # before the first step, then within its Gram matrix

    run.go(10, halted)
    assert (run.ended, run.iterations, asked) == ("halted", 0, [0, 0])
