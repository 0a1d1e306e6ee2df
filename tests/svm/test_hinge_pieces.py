"""The path of the hinge along C: its pieces against tight fits, and that the proof takes nothing on trust."""

import math

import numpy as np
import pytest

import separatrix as sx
from independent_fits import overlapping
from separatrix.estimators.warm_fits import WarmFits
from separatrix.loop.problem import encode_labels
from separatrix.svm.hinge_pieces import HingePieces

MODELS = {
    "free": {}, "no intercept": {"fit_intercept": False}, "penalised intercept": {"intercept_scaling": 2.0},
}  # fmt: skip


def followed(X, y, low, high, weights=None, tol=1e-9, **settings):
    """Return the plane, what follows its path, and all pieces from one C to another."""
    fits = WarmFits(sx.LinearSVM(tol=tol, max_iter=100_000, **settings), X, encode_labels(y), weights)
    (plane,) = fits.planes()
    fits.fit(low)
    (proof,) = fits.evidence([plane])
    bias = proof.bias + proof.weights[-1] * plane.constant
    lengths = np.sqrt((X**2).sum(axis=1) + plane.constant**2)
    path = HingePieces(plane, np.zeros(X.shape[1]), lengths, low, proof.alpha, bias)
    found = []
    while not path.ended:
        pieces = path.further(high)
        if pieces is not None:
            found.append(pieces)
    return path, found


def at(found, C):
    """Return weights, intercept, radius and shift for a C."""
    pieces = next(each for each in found if each.C[-1] >= C)
    place = min(max(int(np.searchsorted(pieces.C, C)), 1), len(pieces.C) - 1)
    span = pieces.C[place] - pieces.C[place - 1]
    t = (C - pieces.C[place - 1]) / span if span else 0.0
    weights = (1 - t) * pieces.weights[place - 1] + t * pieces.weights[place]
    bias = (1 - t) * pieces.bias[place - 1] + t * pieces.bias[place]
    return weights, bias, pieces.radius[place - 1], pieces.shift[place - 1]


@pytest.mark.parametrize("seed", range(24))
def test_the_optimum_for_any_c_is_where_its_piece_says(seed):
    name = list(MODELS)[seed % 3]
    X, y = overlapping(seed)
    weights = np.random.default_rng(seed).uniform(0.2, 2.0, len(y)) if seed % 2 else None
    _, found = followed(X, y, 1e-3, 100.0, weights, tol=10.0 ** -(3 + seed % 6), **MODELS[name])
    assert found[0].C[0] == 1e-3
    assert found[-1].C[-1] == 100.0
    for C in np.geomspace(1e-3, 100.0, 9):
        tight = sx.LinearSVM(C=C, tol=1e-12, max_iter=100_000, **MODELS[name]).fit(X, y, weights)
        here, bias, radius, shift = at(found, C)
        doubt = math.sqrt(2.0 * tight.duality_gap_) + 1e-9
        far = math.hypot(np.linalg.norm(tight.coef_[0] - here), (tight.intercept_[0] - bias) / 2.0 * (seed % 3 == 2))
        assert far <= radius + doubt
        assert radius < 1e-4 * (1.0 + np.linalg.norm(here))
        if name == "free":
            assert abs(tight.intercept_[0] - bias) <= shift + doubt * (1.0 + np.abs(X).sum(axis=1).max())


def test_rows_that_are_there_twice_do_not_end_the_path():
    X, y = overlapping(3)
    X, y = np.vstack([X, X[::2], X[::3]]), np.concatenate([y, y[::2], 1 - y[::3]])
    _, found = followed(X, y, 1e-3, 50.0)
    assert found[-1].C[-1] == 50.0
    for C in (0.01, 0.3, 7.0):
        tight = sx.LinearSVM(C=C, tol=1e-12, max_iter=100_000).fit(X, y)
        here, _, radius, _ = at(found, C)
        assert np.linalg.norm(tight.coef_[0] - here) <= radius + math.sqrt(2.0 * tight.duality_gap_) + 1e-9
        assert radius < 1e-3


def test_a_path_that_goes_wrong_proves_less_but_nothing_false(monkeypatch):
    X, y = overlapping(5)
    path, found = followed(X, y, 0.01, 10.0)
    rng = np.random.default_rng(0)
    C, bias, alpha = found[0].C, found[0].bias, []
    for cost in C:
        tight = sx.LinearSVM(C=cost, tol=1e-10, max_iter=100_000).fit(X, y)
        alpha.append(np.clip(tight._states[0].alpha + 0.02 * cost * rng.normal(size=len(y)), 0.0, cost))
    weights = found[0].weights + 0.05 * rng.normal(size=found[0].weights.shape)
    wrong = path._proved(C, bias + 0.05 * rng.normal(size=len(C)), weights, np.array(alpha))
    assert wrong.radius.min() > 1e-3
    for place in range(0, len(C) - 1, 3):
        middle = 0.5 * (C[place] + C[place + 1])
        tight = sx.LinearSVM(C=middle, tol=1e-12, max_iter=100_000).fit(X, y)
        here, shift, radius, far = at([wrong], middle)
        assert np.linalg.norm(tight.coef_[0] - here) <= radius
        assert abs(tight.intercept_[0] - shift) <= far


def test_an_intercept_that_may_be_anywhere_in_a_range_is_not_pinned_down():
    # All rows are inside the margin for a small C, and no row holds the intercept.
    X, y = np.array([[1.0], [2.0], [-1.0], [-2.0]]), [1, 1, 0, 0]
    _, found = followed(X, y, 1e-3, 1e-2)
    _, _, _, shift = at(found, 5e-3)
    assert shift > 0.9
