"""Novikoff's theorem on generated data: the run ends, and within (R / gamma)^2 updates."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix import datasets


@pytest.mark.parametrize("part", range(10))
def test_on_1000_separable_problems_the_run_ends_within_the_bound(part):
    rng = np.random.default_rng(part)
    for _ in range(100):
        n, d = int(rng.integers(2, 120)), int(rng.integers(1, 12))
        data = datasets.separable(n, d, margin=float(rng.uniform(0.02, 0.2)), random_state=int(rng.integers(2**31)))
        shuffle = bool(rng.integers(2))
        limit = int(data.bound) + 2  # an epoch without a mistake must come before this many epochs
        model = sx.Perceptron(shuffle=shuffle, max_iter=limit, random_state=int(rng.integers(2**31)))
        model.fit(data.X, data.y)
        assert model.status_.converged
        assert str(model.status_) == f"converged: no mistakes (epoch {model.n_iter_})"
        assert model.history_.mistakes[-1] == 0
        assert sum(model.history_.mistakes) == model.n_updates_ <= data.bound
        assert model.score(data.X, data.y) == 1.0


def test_the_generated_margin_is_what_was_asked_for():
    data = datasets.separable(500, 4, margin=0.15, random_state=1)
    margins = data.y * (data.X @ data.weights + data.bias)
    assert margins.min() >= 0.15
    assert np.isclose(np.hypot(np.linalg.norm(data.weights), data.bias), 1.0)
    assert set(np.unique(data.y)) == {-1, 1}
    assert data.radius == np.sqrt((data.X**2).sum(axis=1).max() + 1)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 1}, "at least 2 examples"),
        ({"margin": 0.0}, "margin must be between 0 and 0.5"),
        ({"n": 10, "dimension": 1, "margin": 0.499}, None),
    ],
)
def test_impossible_requests_are_refused(arguments, message):
    if message is None:
        assert len(datasets.separable(**arguments, random_state=0).y) == 10
    else:
        with pytest.raises(ValueError, match=message):
            datasets.separable(**arguments)


def test_both_classes_are_always_there():
    for seed in range(200):
        assert set(datasets.separable(2, 1, margin=0.2, random_state=seed).y) == {-1, 1}


def test_unknown_names_are_answered_with_the_known_ones():
    with pytest.raises(ValueError, match="unknown data set 'nand'; available: lecture-000, "):
        datasets.load("nand")
