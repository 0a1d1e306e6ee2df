"""Where the optimum for another C is: balls, lenses, ranges of the intercept and curvature, against tight fits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import separatrix as sx
from independent_fits import overlapping
from separatrix.estimators.warm_fits import WarmFits
from separatrix.geometry.rows import Rows
from separatrix.loop.problem import encode_labels
from separatrix.svm.bias_range import bias_range
from separatrix.svm.curved_bounds import CurvedBounds
from separatrix.svm.optimum_ball import Lens, evidence
from separatrix.svm.optimum_segment import between

MODELS = {
    "hinge": sx.LinearSVM(max_iter=100_000),
    "hinge without intercept": sx.LinearSVM(fit_intercept=False, max_iter=100_000),
    "squared hinge": sx.LinearSVM(loss="squared_hinge", max_iter=100_000),
    "squared hinge, penalised intercept": sx.LinearSVM(loss="squared_hinge", intercept_scaling=2.0, max_iter=100_000),
    "log": sx.LogisticRegression(max_iter=1000),
    "log, penalised intercept": sx.LogisticRegression(intercept_scaling=2.0, max_iter=1000),
    "log without intercept, weighted": sx.LogisticRegression(fit_intercept=False, class_weight={0: 3.0}, max_iter=1000),
}
CASES = {
    "name": st.sampled_from(sorted(MODELS)), "seed": st.integers(0, 10**6), "exponent": st.floats(-3.0, 2.0),
    "ratio": st.floats(1.0, 30.0), "part": st.floats(0.0, 1.0), "tol": st.floats(1e-10, 1e-2),
}  # fmt: skip


def proofs(name, seed, Cs, tol):
    """Return the fits, the plane, what each fit proves, and each model's weights and intercept."""
    X, y = overlapping(seed)
    fits = WarmFits(MODELS[name], X, encode_labels(y))
    (plane,) = fits.planes()
    found, weights = [], []
    for C in Cs:
        model = fits.fit(C, tol)
        found += fits.evidence([plane])
        weights.append((model.coef_[0].copy(), float(model.intercept_[0])))
    return X, plane, found, weights


def whole(plane, weights, bias):
    return np.append(weights, bias / plane.constant if plane.constant else 0.0)


def mixed(ball, pair):
    vectors = [pair[0].weights, pair[0].combined, pair[1].weights, pair[1].combined]
    return [sum(a * v for a, v in zip(parts, vectors, strict=True)) for parts in (ball.first, ball.last)]


@settings(max_examples=120, deadline=None)
@given(**CASES)
def test_the_lens_of_two_rough_fits_holds_the_optimum_between_them(name, seed, exponent, ratio, part, tol):
    low, high = 10**exponent, 10**exponent * ratio
    C = low * ratio**part
    _, plane, pair, _ = proofs(name, seed, [low, high], tol)
    _, _, (tight,), ((weights, bias),) = proofs(name, seed, [C], 1e-12)
    doubt = math.sqrt(2.0 * (tight.eps + 0.5 * np.sum((tight.weights - tight.combined) ** 2))) + 1e-9
    ball = Lens(*pair).ball(C, C)
    centre = mixed(ball, pair)[0]
    optimum = whole(plane, weights, bias)
    assert np.linalg.norm(optimum - centre) <= ball.radius + doubt * (1 + 1e-9)


@settings(max_examples=60, deadline=None)
@given(**CASES)
def test_one_ball_holds_the_optima_of_a_whole_range(name, seed, exponent, ratio, part, tol):
    low, high = 10**exponent, 10**exponent * ratio
    X, plane, pair, _ = proofs(name, seed, [low, high], tol)
    ball = Lens(*pair).ball(low, high)
    lowest = [mixed(ball, pair)[0] @ np.append(x, plane.constant) for x in X]
    highest = [mixed(ball, pair)[1] @ np.append(x, plane.constant) for x in X]
    _, _, (tight,), ((weights, bias),) = proofs(name, seed, [low * ratio**part], 1e-12)
    doubt = math.sqrt(2.0 * (tight.eps + 0.5 * np.sum((tight.weights - tight.combined) ** 2))) + 1e-9
    for x, one, two in zip(X, lowest, highest, strict=True):
        row = np.append(x, plane.constant)
        score, reach = whole(plane, weights, bias) @ row, (ball.radius + doubt) * np.linalg.norm(row)
        assert min(one, two) - reach <= score <= max(one, two) + reach


def test_the_lens_of_exact_fits_is_a_point_where_the_weights_grow_with_c():
    # Every row is inside its margin, so that w = C sum y x.
    X, y = np.array([[1.0, 0.2], [0.8, -0.1], [-1.0, 0.1], [-0.9, 0.0]]), [1, 1, 0, 0]
    fits = WarmFits(sx.LinearSVM(fit_intercept=False), X, encode_labels(y))
    (plane,) = fits.planes()
    pair = []
    for C in (0.01, 0.08):
        fits.fit(C, 1e-12)
        pair += fits.evidence([plane])
    for C in (0.01, 0.02, 0.04, 0.08):
        assert Lens(*pair).ball(C, C).radius < 1e-5
    alone = Lens(pair[0], pair[0]).ball(0.04, 0.04)
    assert alone.radius == pytest.approx(1.5 * np.linalg.norm(pair[0].weights), rel=1e-6)


@settings(max_examples=150, deadline=None)
@given(
    name=st.sampled_from(["hinge", "squared hinge", "log"]), seed=st.integers(0, 10**6),
    width=st.floats(0.0, 2.0), weighted=st.booleans(),
)  # fmt: skip
@example("squared hinge", 0, 0.0, False)
def test_the_best_intercept_is_in_the_range_whatever_the_scores(name, seed, width, weighted):
    rng = np.random.default_rng(seed)
    X, y = overlapping(seed)
    fits = WarmFits(MODELS[name], X, encode_labels(y))
    (plane,) = fits.planes()
    if weighted:
        plane = replace(plane, counts=rng.uniform(0.1, 3.0, len(y)))
    low = rng.normal(size=len(y)) * 10 ** rng.uniform(-1, 1)
    high = low + width * rng.random(len(y))
    down, up = bias_range(plane, low, high)
    scores = low + (high - low) * rng.random(len(y))

    def slope(b):
        margins = plane.signs * (scores + b)
        if name == "log":
            return -float(np.sum(plane.counts * plane.signs / (1.0 + np.exp(margins))))
        slack = np.maximum(1.0 - margins, 0.0)
        steps = 2.0 * slack if name == "squared hinge" else (margins < 1.0).astype(float)
        return -float(np.sum(plane.counts * plane.signs * steps))

    assert slope(down - 1e-6) <= 1e-9
    assert slope(up + 1e-6) >= -1e-9
    if width == 0.0 and name != "hinge":
        assert up - down < 1e-4 * (1 + abs(up)) or abs(slope(0.5 * (up + down))) < 1e-6


@settings(max_examples=100, deadline=None)
@given(**CASES)
def test_curvature_bounds_the_scores_of_other_optima(name, seed, exponent, ratio, part, tol):
    assume("hinge" not in name or "squared" in name)
    low = 10**exponent
    X, plane, _, ((weights, bias),) = proofs(name, seed, [low], tol)
    bounds = CurvedBounds(plane, low, weights, bias, Rows(X))
    high = low * ratio**0.3
    for ends in ((low, high), (low / ratio**0.3, low)):
        pair = bounds.scores(*ends)
        if pair is None:
            continue
        C = ends[0] * (ends[1] / ends[0]) ** part
        _, _, _, ((there, shift),) = proofs(name, seed, [C], 1e-12)
        doubt = 1e-5 * (1.0 + np.abs(X).max() * np.linalg.norm(there))
        scores = X @ there + shift
        assert (pair[0] - doubt <= scores).all()
        assert (scores <= pair[1] + doubt).all()


def test_curvature_is_of_second_order():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    X = rng.normal(size=(400, 4)) + y[:, None]
    fits = WarmFits(sx.LogisticRegression(), X, encode_labels(y))
    (plane,) = fits.planes()
    model = fits.fit(1.0, 1e-13)
    bounds = CurvedBounds(plane, 1.0, model.coef_[0], float(model.intercept_[0]), Rows(X))
    widths = []
    for ratio in (1.04, 1.02, 1.01):
        lows, highs = bounds.scores(ratio, ratio)
        widths.append(float(np.median(highs - lows)))
    assert widths[0] / widths[1] == pytest.approx(4.0, rel=0.3)
    assert widths[1] / widths[2] == pytest.approx(4.0, rel=0.3)


def test_what_a_solution_proves_is_its_duality_gap():
    X, y = overlapping(8)
    for name in ("hinge", "squared hinge", "log"):
        fits = WarmFits(MODELS[name], X, encode_labels(y))
        (plane,) = fits.planes()
        model = fits.fit(0.7, 1e-3)
        (proof,) = fits.evidence([plane])
        gap = proof.eps + 0.5 * np.sum((proof.weights - proof.combined) ** 2)
        assert gap == pytest.approx(float(model.duality_gap_), rel=1e-3, abs=1e-9 * float(model.objective_))
        worse = evidence(plane, 0.7, model.coef_[0] * 1.5, float(model.intercept_[0]), proof.alpha)
        assert worse.eps + 0.5 * np.sum((worse.weights - worse.combined) ** 2) > gap


@settings(max_examples=150, deadline=None)
@given(**CASES)
def test_the_segment_of_two_rough_fits_is_near_the_optimum_between_them(name, seed, exponent, ratio, part, tol):
    low, high = 10**exponent, 10**exponent * max(ratio, 1.0 + 1e-9)
    C = min(low * (high / low) ** part, high)
    X, plane, pair, _ = proofs(name, seed, [low, high], tol)
    _, _, (tight,), ((weights, bias),) = proofs(name, seed, [C], 1e-12)
    doubt = math.sqrt(2.0 * (tight.eps + 0.5 * np.sum((tight.weights - tight.combined) ** 2))) + 1e-9
    optimum = whole(plane, weights, bias)
    alone = between(plane, *pair, C, C)
    if alone is not None:
        assert np.linalg.norm(optimum - mixed(alone, pair)[0]) <= alone.radius + doubt * (1 + 1e-9)
    ball = between(plane, *pair, low, high)
    if ball is not None:
        lowest, highest = mixed(ball, pair)
        for x in X:
            row = np.append(x, plane.constant)
            score, reach = optimum @ row, (ball.radius + doubt) * np.linalg.norm(row)
            assert min(lowest @ row, highest @ row) - reach <= score <= max(lowest @ row, highest @ row) + reach


@pytest.mark.parametrize("name", ["squared hinge", "log"])
def test_the_segment_of_a_smooth_loss_is_near_to_second_order(name):
    radii = []
    for ratio in (1.4, 1.1):
        _, plane, pair, _ = proofs(name, 3, [1.0, ratio], 1e-13)
        radii.append(between(plane, *pair, 1.0, ratio).radius)
    assert radii[1] < radii[0] / 8.0


def test_a_segment_says_nothing_beyond_its_ends():
    _, plane, pair, _ = proofs("log", 0, [1.0, 2.0], 1e-8)
    assert between(plane, *pair, 0.5, 1.5) is None
    assert between(plane, *pair, 1.5, 2.5) is None
    assert between(plane, pair[0], pair[0], 1.0, 1.0) is None
