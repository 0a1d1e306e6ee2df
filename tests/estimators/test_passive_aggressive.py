"""The passive-aggressive classifier: steps by hand, its theorems, scikit-learn's own, weights, bad input."""

from __future__ import annotations

import math
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

import separatrix as sx
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import PA, PA1, PA2
from separatrix.stops import EpochsInAll, MaxEpochs, NoMistakes

F = Fraction
VARIANTS = ("pa", "pa1", "pa2")


@pytest.mark.parametrize(
    ("rule", "C", "steps"),
    [
        ("pa", 1, [((F(1, 3), F(1, 3)), F(1, 3)), ((F(5, 6), F(1, 3)), F(-1, 6)), ((F(5, 6), F(1, 3)), F(-1, 6))]),
        ("pa1", F(1, 4), [((F(1, 4), F(1, 4)), F(1, 4)), ((F(1, 2), F(1, 4)), 0), ((F(1, 2), F(1, 4)), 0)]),
        (
            "pa2",
            F(1, 2),
            [((F(1, 4), F(1, 4)), F(1, 4)), ((F(7, 12), F(1, 4)), F(-1, 12)), ((F(7, 12), F(1, 4)), F(-1, 12))],
        ),
    ],
)
def test_three_steps_by_hand(rule, C, steps):
    run = sx.trace([[1, 1], [-1, 0], [2, 0]], [1, -1, 1], rule=rule, C=C, max_iter=1)
    assert [(step.weights, step.bias) for step in run.steps] == steps
    assert [step.updated for step in run.steps] == [True, True, False]


def test_a_step_of_pa_ends_at_a_margin_of_1_and_those_of_the_others_not_beyond():
    rng = np.random.default_rng(0)
    for _ in range(200):
        m, q = F(int(rng.integers(-40, 9)), 8), F(int(rng.integers(1, 60)), 7)
        C = F(int(rng.integers(1, 20)), 10)
        assert m + PA().step(m, q, 0, 0, 1).tau * q == max(m, 1)
        first, second = PA1(C).step(m, q, 0, 0, 1).tau, PA2(C).step(m, q, 0, 0, 1).tau
        assert first == (0 if m >= 1 else min(C, (1 - m) / q))
        assert 2 * C * ((1 - m) - second * q) == second if m < 1 else second == 0  # 2 C times the slack that is left


def test_a_row_of_zeros_without_a_bias_moves_nothing():
    X, y = np.array([[0.0], [2.0], [-1.0]]), [0, 1, 0]
    for rule in (PA(), PA1(), PA2()):
        for engine in ("compiled", "reference"):
            found = solve(Problem(X, y, bias=None), rule, engine=engine, stop=MaxEpochs(2))
            assert np.isfinite(found.weights).all()
            assert found.weights[0] > 0


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(("variant", "loss"), [("pa1", "hinge"), ("pa2", "squared_hinge")])
def test_without_a_bias_the_weights_are_those_of_scikit_learn(variant, loss, layout):
    linear_model = pytest.importorskip("sklearn.linear_model")
    if not hasattr(linear_model, "PassiveAggressiveClassifier"):
        pytest.skip("this scikit-learn no longer has it")
    rng = np.random.default_rng(1)
    X = rng.standard_normal((80, 9))
    y = X @ rng.standard_normal(9) + rng.standard_normal(80) > 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        theirs = linear_model.PassiveAggressiveClassifier(
            C=0.3, loss=loss, fit_intercept=False, shuffle=False, max_iter=4, tol=None
        ).fit(layout(X), y)
    ours = sx.PassiveAggressive(
        variant=variant, C=0.3, fit_intercept=False, shuffle=False, max_iter=4, stop=MaxEpochs(4)
    ).fit(layout(X), y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9)


class Margins:
    """Keeps the margin of every step before it was made."""

    def __init__(self):
        self.margins = []

    def on_step(self, step):
        self.margins.append(step.margin)


def random_problem(seed):
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 12)), int(rng.integers(1, 5))
    X = rng.standard_normal((n, d)) * 10.0 ** rng.uniform(-1, 1)
    y = np.where(X @ rng.standard_normal(d) + rng.choice([0.0, 0.5]) * rng.standard_normal(n) > 0, 1, -1)
    y[:2] = 1, -1
    return X, y, float(10.0 ** rng.uniform(-2, 1))


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_theorem_of_each_variant_holds_on_500_random_problems(variant):
    """Crammer et al. 2006, theorems 2, 4 and 5, for good comparators: the weights of the run, at any length."""
    tight = 0
    for seed in range(500):
        X, y, C = random_problem(seed)
        rule = {"pa": PA(), "pa1": PA1(C), "pa2": PA2(C)}[variant]
        seen = Margins()
        found = solve(Problem(X, y), rule, engine="reference", stop=MaxEpochs(3), observers=[seen], readout="averaged")
        losses = np.maximum(0.0, 1.0 - np.array(seen.margins))
        mistakes = int((np.array(seen.margins) <= 0).sum())
        assert mistakes == found.state.all_mistakes
        augmented = np.column_stack([X, np.ones(len(y))])
        square = float((augmented**2).sum(axis=1).max())
        for weights, bias in ((found.weights, found.bias), (found.state.weights, found.state.bias)):
            u = np.append(weights, bias)
            margins = y * (augmented @ u)
            lengths = [0.25, 1.0, 4.0] + ([1.0 / margins.min()] if margins.min() > 0 else [])
            for length in lengths:
                theirs = np.tile(np.maximum(0.0, 1.0 - length * margins), 3)
                size = length**2 * float(u @ u)
                if variant == "pa" and theirs.max() > 1e-12:
                    continue  # the theorem is about a plane that separates with a margin of 1
                bound, value = {
                    "pa": (square * size, (losses**2).sum()),
                    "pa1": (max(square, 1 / C) * (size + 2 * C * theirs.sum()), mistakes),
                    "pa2": ((square + 0.5 / C) * (size + 2 * C * (theirs**2).sum()), (losses**2).sum()),
                }[variant]
                assert value <= bound * (1 + 1e-9)
                tight += value > 0.2 * bound
    assert tight > 20  # so the bounds are not far off


@pytest.mark.parametrize("variant", VARIANTS)
def test_the_certificate_has_all_mistakes_of_the_run_and_what_the_theorem_allows(variant):
    held = 0
    for seed in range(60):
        X, y, C = random_problem(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = sx.PassiveAggressive(variant=variant, C=C, max_iter=30, random_state=seed).fit(X, y)
        bound = model.certificate_.mistakes
        assert bound.made == sum(epoch.mistakes for epoch in model.history_) <= bound.allowed
        if model.certificate_.data.separable == "strict":
            held += 1
            augmented = np.column_stack([X, np.ones(len(y))])
            square = float((augmented**2).sum(axis=1).max())
            factor = {"pa": square, "pa1": max(square, 1 / C), "pa2": square + 0.5 / C}[variant]
            perceptron = sx.Perceptron(stop=MaxEpochs(1)).fit(X, y).certificate_.mistakes.allowed
            assert bound.allowed == pytest.approx(perceptron * factor / square, rel=1e-9)
    assert held > 10


@pytest.mark.parametrize("shuffle", [True, "random"])
@pytest.mark.parametrize("variant", ["pa1", "pa2"])
def test_where_no_plane_separates_the_bound_counts_the_losses_of_the_plane_of_the_model(variant, shuffle):
    compared = 0
    for seed in range(60):
        X, y, C = random_problem(seed)
        y[2:8] *= -1
        options = {"variant": variant, "C": C, "stop": MaxEpochs(4), "random_state": seed, "shuffle": shuffle}
        model = sx.PassiveAggressive(average=True, **options).fit(X, y)
        certificate = model.certificate_
        assert certificate.mistakes.made <= certificate.mistakes.allowed < math.inf
        if certificate.data.separable == "strict" or shuffle == "random":
            continue
        augmented, u = np.column_stack([X, np.ones(len(y))]), np.append(model.coef_, model.intercept_)
        square, margins = float((augmented**2).sum(axis=1).max()), y * (augmented @ u)
        losses = np.maximum(0.0, 1.0 - margins)
        factor = max(square, 1 / C) if variant == "pa1" else square + 0.5 / C
        # At the length of the model, with every row counted in every epoch, the theorem as it is stated.
        stated = factor * (u @ u + 2 * C * 4 * (losses if variant == "pa1" else losses**2).sum())
        assert certificate.mistakes.allowed <= stated * (1 + 1e-8)
        compared += 1
    assert compared > 20 or shuffle == "random"


def test_a_run_in_two_parts_counts_its_mistakes_as_one_and_weights_leave_the_theorem():
    X, y, _ = random_problem(3)
    whole = sx.PassiveAggressive(stop=EpochsInAll(6), random_state=0).fit(X, y)
    parts = sx.PassiveAggressive(stop=EpochsInAll(2), random_state=0, warm_start=True).fit(X, y)
    parts.set_params(stop=EpochsInAll(6)).fit(X, y)
    assert parts.certificate_.mistakes == whole.certificate_.mistakes
    assert parts.coef_.tobytes() == whole.coef_.tobytes()
    weighted = sx.PassiveAggressive(stop=MaxEpochs(3)).fit(X, y, sample_weight=np.arange(len(y)) % 2 + 1.0)
    assert weighted.certificate_.mistakes.why


@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_a_weight_of_2_is_the_row_twice(variant, average):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((30, 4)), rng.integers(0, 3, 30)
    weights = rng.integers(0, 4, 30)
    weights[:3] = 1
    y[:3] = 0, 1, 2
    options = {"variant": variant, "C": 0.2, "average": average, "shuffle": False, "stop": MaxEpochs(4)}
    weighted = sx.PassiveAggressive(**options).fit(X, y, sample_weight=weights)
    copied = sx.PassiveAggressive(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(weighted.intercept_, copied.intercept_, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("variant", VARIANTS)
def test_several_classes_layouts_and_threads_agree(variant):
    rng = np.random.default_rng(7)
    X = (rng.standard_normal((120, 21)) * (rng.random((120, 21)) < 0.5)).astype(np.float32)
    y = (X @ rng.standard_normal((21, 4))).argmax(axis=1)
    models = [
        sx.PassiveAggressive(variant=variant, stop=MaxEpochs(5), random_state=0, n_jobs=jobs).fit(data, y)
        for data, jobs in ((X, 1), (X, 2), (X.astype(np.float64), 1), (sparse.csr_array(X), 1))
    ]
    assert models[0].coef_.shape == (4, 21)
    assert models[0].score(X, y) > 0.8
    assert models[1].coef_.tobytes() == models[0].coef_.tobytes() == models[2].coef_.tobytes()
    np.testing.assert_allclose(models[3].coef_, models[0].coef_, rtol=1e-9, atol=1e-12)
    alone = sx.PassiveAggressive(variant=variant, stop=MaxEpochs(5), random_state=0, shuffle=False)
    one = sx.PassiveAggressive(variant=variant, stop=MaxEpochs(5), random_state=0, shuffle=False)
    np.testing.assert_allclose(alone.fit(X, y).coef_[2], one.fit(X, y == 2).coef_[0], rtol=1e-9, atol=1e-12)


def test_it_learns_online_with_new_classes_and_goes_on_from_a_file(tmp_path):
    rng = np.random.default_rng(9)
    X = rng.standard_normal((90, 5))
    y = np.array(["a", "b", "c"])[(X @ rng.standard_normal((5, 3))).argmax(axis=1)]
    first = np.flatnonzero(y != "c")
    model = sx.PassiveAggressive(random_state=0, average=True).partial_fit(X[first], y[first])
    assert model.classes_.tolist() == ["a", "b"]
    sx.save(model, tmp_path / "model.sx")
    again = sx.load(tmp_path / "model.sx")
    for each in (model, again):
        each.partial_fit(X, y)
    assert model.classes_.tolist() == ["a", "b", "c"]
    assert again.coef_.tobytes() == model.coef_.tobytes()
    assert model.score(X, y) > 0.7


def test_a_converged_run_without_mistakes_predicts_every_row_right():
    data = sx.datasets.separable(200, 5, margin=0.1, random_state=0)
    for variant in VARIANTS:
        model = sx.PassiveAggressive(variant=variant, stop=NoMistakes(), random_state=0).fit(data.X, data.y)
        wrong = int((model.predict(data.X) != data.y).sum())
        assert model.status_.converged
        assert wrong == model.certificate_.wrong
        assert (wrong == 0) == ("training rows" not in str(model.status_))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0}, "C must be a positive number from 1e-150 to 1e150; found 0"),
        ({"C": -1.0}, "C must be a positive number from 1e-150 to 1e150; found -1.0"),
        ({"C": math.inf}, "C must be a positive number from 1e-150 to 1e150; found inf"),
        ({"C": math.nan}, "C must be a positive number from 1e-150 to 1e150; found nan"),
        ({"C": "large"}, "C must be a number; found 'large'"),
        ({"variant": "PA-I"}, "variant must be one of pa, pa1, pa2; found 'PA-I'"),
        ({"intercept_scaling": 0.0}, "intercept_scaling must be 'ball' or a positive number below 1e150; found 0.0"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1; found 0"),
    ],
)
def test_bad_parameters_get_one_sentence(parameters, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}$"):
        sx.PassiveAggressive(**parameters).fit([[0.0], [1.0]], [0, 1])


def test_rules_and_weights_that_are_not_positive_are_refused():
    for rule in (PA1, PA2):
        with pytest.raises(ValueError, match=r"^C must be a positive finite number; found 0$"):
            rule(C=0)
    with pytest.raises(ValueError, match="weights must be finite and not negative"):
        sx.PassiveAggressive().fit([[0.0], [1.0]], [0, 1], sample_weight=[1.0, -1.0])


@pytest.mark.parametrize("model", [sx.PassiveAggressive(), sx.Perceptron(), sx.KernelPerceptron(budget=3)], ids=repr)
def test_a_label_that_is_not_among_the_given_classes_is_refused(model):
    sentence = r"^y holds the label 7, which is not in classes=\[0, 1\]: add it there, or leave classes out, and new"
    with pytest.raises(ValueError, match=sentence):
        model.partial_fit([[0.0], [1.0], [2.0]], [0, 1, 7], classes=[0, 1])
    model.partial_fit([[0.0], [1.0]], [0, 1], classes=[0, 1]).partial_fit([[2.0]], [7])
    assert model.classes_.tolist() == [0, 1, 7]


def test_every_family_member_says_why_a_run_has_no_bound():
    X, y = sx.datasets.load("lecture-000")
    weights = np.array([2.0] + [1.0] * (len(y) - 1))
    models = [
        sx.PassiveAggressive(), sx.ROMMA(), sx.ALMA(), sx.AROW(covariance="full"), sx.AROW(), sx.SCW(), sx.NHERD(),
        sx.SecondOrderPerceptron(covariance="full"), sx.Perceptron(),
    ]  # fmt: skip
    for model in models:
        certificate = model.fit(X, y, sample_weight=weights).certificate_
        assert certificate.mistakes.allowed == np.inf, model
        assert certificate.mistakes.made == sum(epoch.mistakes for epoch in model.history_), model
        assert f"no bound: {certificate.mistakes.why}" in str(certificate), model
        assert len(certificate.mistakes.why) > 20, model
