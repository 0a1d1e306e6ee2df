"""``multi_class="joint"``: statuses, readouts, warm starts, new classes, certificates and bad input."""

from __future__ import annotations

import math
from fractions import Fraction

import matplotlib as mpl
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, load_iris

import separatrix as sx
from ctrl_c import press_ctrl_c
from separatrix import plots
from separatrix.certificates.joint import JointPlanes, joint_gamma, measure_joint
from separatrix.geometry.rows import Rows
from separatrix.stops import EpochsInAll, HeldOutFlat, LossAtMost, MaxEpochs, TimeLimit

mpl.use("agg")
DIGITS = load_digits(return_X_y=True)
IRIS = load_iris(return_X_y=True)
LINE = (np.array([[-3.0], [-2.0], [-0.5], [0.5], [2.0], [3.0]]), ["a", "a", "b", "b", "c", "c"])


def joint(**options):
    return sx.Perceptron(multi_class="joint", **{"random_state": 0, **options})


def same(model, other):
    return model.coef_.tobytes() == other.coef_.tobytes() and model.intercept_.tobytes() == other.intercept_.tobytes()


# ------------------------------------------------------------------------------------------------ what it learns


def test_three_classes_on_a_line_are_learned_although_no_plane_parts_the_middle_one_from_the_rest():
    X, y = LINE
    assert sx.certify(X, y).rest["b"].separable == "none"
    model = joint().fit(X, y)
    assert model.status_.converged
    assert model.predict(X).tolist() == y
    assert model.coef_.shape == (3, 1)
    with pytest.warns(sx.estimators.contract.ConvergenceWarning):
        rest = sx.Perceptron(random_state=0).fit(X, y)
    assert not rest.status_.converged


@pytest.mark.parametrize("kind", [np.float64, np.float32, sparse.csr_array])
def test_converged_means_that_predict_makes_no_mistakes(kind):
    X, y = kind(DIGITS[0]), DIGITS[1]
    model = joint().fit(X, y)
    assert str(model.status_) == f"converged: no mistakes (epoch {model.n_iter_})"
    assert model.score(X, y) == 1.0
    assert model.history_.mistakes[-1] == 0
    assert model.n_updates_ == sum(model.history_.mistakes)


@pytest.mark.parametrize("readout", ["averaged", "pocket"])
def test_the_status_tells_the_errors_of_other_weights(readout):
    X, y = DIGITS
    model = joint(readout=readout, max_iter=20, stop="no-mistakes").fit(X, y)
    wrong = np.count_nonzero(model.predict(X) != y)
    assert f"{readout} weights: {wrong} of 1797 training rows wrong" in str(model.status_)


def test_the_loss_of_the_pocket_is_the_number_of_rows_that_its_weights_get_wrong():
    X, y = IRIS
    for seed in range(5):
        options = {"max_iter": 15, "stop": "no-mistakes", "random_state": seed}
        last, pocket = (joint(readout=readout, **options).fit(X, y) for readout in ("last", "pocket"))
        assert pocket._states[0].pocket_loss == np.count_nonzero(pocket.predict(X) != y)
        assert pocket.n_updates_ == last.n_updates_
        assert pocket.score(X, y) > 0.96


@pytest.mark.parametrize(
    "model", [sx.Perceptron(), sx.Perceptron(readout="voted"), sx.PassiveAggressive(C=0.5)], ids=repr
)
def test_two_classes_have_the_binary_model_either_way(model):
    X, y = DIGITS[0], DIGITS[1] % 2
    options = {"max_iter": 5, "stop": MaxEpochs(5), "random_state": 0}
    one, other = (clone(model).set_params(multi_class=kind, **options).fit(X, y) for kind in ("ovr", "joint"))
    assert same(one, other)
    assert str(one.status_) == str(other.status_)


@settings(deadline=None, max_examples=25)
@given(st.integers(0, 2**32 - 1), st.sampled_from(["cyclic", "shuffled", "random"]))
def test_a_rate_only_scales_the_weights(seed, order):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-4, 5, (30, 4)).astype(float), np.arange(30) % 4
    shuffle = {"cyclic": False, "shuffled": True, "random": "random"}[order]
    options = {"shuffle": shuffle, "max_iter": 6, "stop": MaxEpochs(6), "random_state": int(seed % 100)}
    one, tenth = (joint(eta0=eta, **options).fit(X, y) for eta in (1.0, 0.1))
    assert np.array_equal(tenth.coef_, 0.1 * one.coef_)
    assert tenth.n_updates_ == one.n_updates_


def test_a_recorded_loss_is_that_of_predictions():
    X, y = IRIS
    counts = []
    for epochs in (1, 2, 3):
        model = joint(max_iter=epochs, stop=MaxEpochs(epochs), record="zero_one").fit(X, y)
        counts.append(np.count_nonzero(model.predict(X) != y))
    assert model.history_.loss == counts


def test_stop_rules_see_all_classes_as_one():
    X, y = DIGITS
    assert joint(stop=LossAtMost(10, 1, "zero_one")).fit(X, y).status_.converged
    assert "validation" in str(joint(stop=HeldOutFlat(0.2)).fit(X, y).status_)
    cut = joint(stop=TimeLimit(1e-9)).fit(X, y)
    assert str(cut.status_).startswith("stopped: time limit")


# ------------------------------------------------------------------------------------------------ in pieces


@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
def test_a_run_in_two_pieces_gives_the_same_bits(readout):
    X, y = DIGITS
    whole = joint(readout=readout, max_iter=7, stop=EpochsInAll(7)).fit(X, y)
    pieces = joint(readout=readout, max_iter=3, stop=EpochsInAll(3), warm_start=True).fit(X, y)
    pieces.set_params(max_iter=7, stop=EpochsInAll(7)).fit(X, y)
    assert same(whole, pieces)


def test_ctrl_c_leaves_a_model_and_the_run_goes_on_to_the_same_bits():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20000, 50)), rng.integers(0, 6, 20000)
    model = joint(max_iter=10**6, stop=EpochsInAll(10**6), warm_start=True)
    press_ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert model.predict(X[:5]).shape == (5,)
    epochs = model._states[0].epochs + 2
    model.set_params(stop=EpochsInAll(epochs)).fit(X, y)
    assert same(model, joint(max_iter=10**6, stop=EpochsInAll(epochs)).fit(X, y))


@pytest.mark.parametrize("readout", ["last", "averaged"])
def test_partial_fit_with_all_classes_named_is_one_epoch(readout):
    X, y = IRIS
    online = joint(readout=readout, shuffle=False).partial_fit(X[:60], y[:60], classes=[0, 1, 2])
    assert online.coef_.shape == (3, 4)
    online.partial_fit(X[60:], y[60:])
    whole = joint(readout=readout, shuffle=False, max_iter=1, stop=MaxEpochs(1)).fit(X, y)
    assert same(online, whole)
    assert str(online.status_).startswith("learned online from 90 examples with")
    assert "one-vs-rest" not in str(online.status_)


@pytest.mark.parametrize("model", [sx.Perceptron(), sx.PassiveAggressive()], ids=repr)
def test_a_third_class_keeps_the_difference_of_the_first_two_and_begins_at_zero(model):
    X, y = DIGITS[0][DIGITS[1] < 3], DIGITS[1][DIGITS[1] < 3]
    first, later = y < 2, y == 2
    model = clone(model).set_params(multi_class="joint", random_state=0).partial_fit(X[first], y[first])
    plane, bias = model.coef_[0].copy(), model.intercept_[0]
    own = 0.5 if isinstance(model, sx.PassiveAggressive) else 1.0  # the margin of a perceptron has no unit
    grown = model._grown(model._problem(X[later], _labels(y[later], [2]), None, online=True), 0)[0]
    assert np.array_equal(grown.weights, [-own * plane, own * plane, 0 * plane])
    assert grown.bias.tolist() == [-own * bias, own * bias, 0]
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.99
    before = model._states[0].weights.copy()
    wider = model._grown(model._problem(X[:1], _labels([7], [7]), None, online=True), 0)[0]
    assert np.array_equal(wider.weights[:3], before)
    assert not wider.weights[3].any()


def _labels(y, classes):
    from separatrix.loop.problem import Labels

    return Labels(np.array(classes), np.zeros(len(y), dtype=np.int32))


def test_the_first_two_classes_learned_online_are_those_of_a_joint_run_of_the_two():
    """The joint update of two classes by hand: both weight vectors move by x, in opposite directions."""
    X, y = IRIS[0][:100], IRIS[1][:100]
    W = np.zeros((2, 4))
    for x, own in zip(X, y, strict=True):
        if W[own] @ x - W[1 - own] @ x <= 0:
            W[own] += x
            W[1 - own] -= x
    model = joint(shuffle=False, fit_intercept=False).partial_fit(X, y)
    assert np.allclose(model.coef_[0], W[1], rtol=1e-13)
    assert np.allclose(-model.coef_[0], W[0], rtol=1e-13)


# ------------------------------------------------------------------------------------------------ what is proved


def exact_margins(X, codes, coef, intercept):
    """The least difference of a row's own score and the highest other, in fractions."""
    W = [[Fraction(value) for value in row] for row in coef.tolist()]
    b = [Fraction(value) for value in intercept.tolist()]
    out = []
    for x, y in zip(X.tolist(), codes, strict=True):
        scores = [sum(w * Fraction(v) for w, v in zip(row, x, strict=True)) + c for row, c in zip(W, b, strict=True)]
        out.append(scores[y] - max(score for code, score in enumerate(scores) if code != y))
    return out


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32 - 1), st.integers(2, 5), st.booleans())
def test_rows_are_judged_as_fractions_judge_them(seed, k, whole):
    rng = np.random.default_rng(seed)
    X, codes = rng.integers(-3, 4, (12, 3)).astype(float), rng.integers(0, k, 12).astype(np.int32)
    coef, intercept = rng.integers(-2, 3, (k, 3)).astype(float), rng.integers(-2, 3, k).astype(float)
    if not whole:
        X, coef = X / 3.0, coef * 0.1  # ties that rounding hides
    truth = exact_margins(X, codes, coef, intercept)
    planes = JointPlanes("given", coef, intercept)
    measured = measure_joint(Rows(X), codes, planes)
    assert measured.wrong.tolist() == [margin <= 0 for margin in truth]
    if min(truth) > 0:
        assert 0 <= Fraction(measured.least) <= min(truth)
        assert Fraction(measured.least) >= min(truth) * (1 - Fraction(1, 10**9))
    else:
        assert measured.least == -math.inf
    predicted = measure_joint(Rows(X), codes, planes, (True, False)).wrong
    scores = [[sum(Fraction(w) * Fraction(v) for w, v in zip(row, x, strict=True)) + Fraction(b)
               for row, b in zip(coef.tolist(), intercept.tolist(), strict=True)] for x in X.tolist()]  # fmt: skip
    assert predicted.tolist() == [row.index(max(row)) != y for row, y in zip(scores, codes, strict=True)]


@pytest.mark.parametrize(
    ("model", "numerator"),
    [
        (sx.Perceptron(), lambda square: square),
        (sx.Perceptron(eta0=0.1, readout="averaged"), lambda square: square),
        (sx.Perceptron(intercept_scaling=3.0, shuffle="random"), lambda square: square),
        (sx.Perceptron(fit_intercept=False), lambda square: square),
        (sx.PassiveAggressive(variant="pa"), lambda square: square),
        (sx.PassiveAggressive(variant="pa1", C=0.01), lambda square: max(square, Fraction(1) / Fraction(0.01))),
        (sx.PassiveAggressive(variant="pa2", C=0.01), lambda square: square + Fraction(1, 2) / Fraction(0.01)),
    ],
    ids=["perceptron", "averaged", "constant 3", "no bias", "pa", "pa1", "pa2"],
)
def test_the_bound_follows_in_fractions_from_the_witness_that_the_certificate_names(model, numerator):
    rng = np.random.default_rng(1)
    X = np.round(rng.normal(size=(40, 3)), 2)
    y = (X @ rng.normal(size=(3, 4))).argmax(axis=1)
    model = clone(model).set_params(multi_class="joint", random_state=0, max_iter=3000).fit(X, y)
    certificate = model.certificate_
    assert certificate is model.certificate_
    made, witness = certificate.mistakes, certificate.witness
    constant = 0 if not model.get_params().get("fit_intercept", True) else model.get_params()["intercept_scaling"]
    least = min(exact_margins(X, y, witness.coef, witness.intercept))
    assert least > 0
    square = sum(Fraction(w) ** 2 for w in witness.coef.ravel().tolist())
    if constant:
        square += sum((Fraction(b) / Fraction(constant)) ** 2 for b in witness.intercept.tolist())
    longest = max(sum(Fraction(v) ** 2 for v in row) for row in X.tolist()) + Fraction(constant) ** 2
    truth = numerator(2 * longest) * square / least**2
    assert 0 < made.made <= truth
    assert truth <= Fraction(made.allowed) <= truth * (1 + Fraction(1, 10**6))
    assert made.holds
    assert Fraction(certificate.gamma) ** 2 <= least**2 / square
    assert certificate.wrong == np.count_nonzero(
        [margin <= 0 for margin in exact_margins(X, y, model.coef_, model.intercept_)]
    )
    assert certificate.to_json().startswith("{")
    assert "bound" in str(certificate)
    assert certificate.headline() in certificate.explain()


def test_weights_that_prove_nothing_give_no_margin():
    rows, codes = Rows([[1.0], [2.0], [3.0]]), np.array([0, 1, 2], dtype=np.int32)
    zeros, ones = np.zeros((3, 1)), np.zeros(3)
    assert joint_gamma(rows, codes, JointPlanes("zeros", zeros, ones), 1.0) == 0.0
    assert joint_gamma(rows, codes, JointPlanes("nan", zeros * np.nan, ones), 1.0) == 0.0
    slopes = np.array([[-2.0], [0.0], [2.0]])
    right = JointPlanes("a slope", slopes, np.array([3.0, 0.0, -5.0]))
    assert joint_gamma(rows, codes, right, 1.0) > 0
    assert joint_gamma(rows, codes, right, 0.0) == 0.0  # without a bias coordinate biases have no length


def test_classes_that_nothing_separates_have_no_bound():
    X, y = [[0.0], [0.0], [1.0], [2.0]], ["a", "b", "c", "a"]
    model = joint(max_iter=20, stop=MaxEpochs(20)).fit(X, y)
    certificate = model.certificate_
    assert math.isinf(certificate.mistakes.allowed)
    assert certificate.witness is None
    assert "no bound: the classes are not known to be jointly separable" in str(certificate)
    assert certificate.margin == -math.inf


@pytest.mark.parametrize(
    "options", [{"init": "uniform"}, {"margin": 0.5}, {"class_weight": {0: 2.0}}], ids=lambda each: next(iter(each))
)
def test_runs_that_the_theorem_is_not_about_claim_no_bound(options):
    certificate = joint(**options, stop=MaxEpochs(9)).fit(*IRIS).certificate_
    assert certificate.mistakes.why
    assert certificate.rows == 150


def test_rows_without_weight_do_not_count_in_the_certificate():
    X, y = LINE
    weights = [1, 1, 1, 0, 1, 1]
    certificate = joint().fit(X, y, sample_weight=weights).certificate_
    assert certificate.rows == 5
    assert certificate.mistakes.why


def test_the_run_and_its_bound_can_be_drawn():
    ax = plots.mistakes(joint().fit(*LINE))
    said = [text.get_text() for text in ax.get_legend().get_texts()]
    assert said[0].endswith("mistakes")
    assert said[1].startswith("at most")


# ------------------------------------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        (sx.Perceptron(multi_class="both"), "multi_class must be 'ovr' or 'joint'; found 'both'"),
        (sx.PassiveAggressive(multi_class=None), "multi_class must be 'ovr' or 'joint'; found None"),
        (sx.Perceptron(multi_class="joint", readout="voted"), "readout='voted' keeps no votes of classes"),
        (sx.Perceptron(multi_class="joint", boundary="positive"), "boundary must be 'mistake' or 'correct' of classes"),
        (sx.Perceptron(multi_class="joint", batch_size=4), "batch_size must be 1 of classes"),
        (sx.Perceptron(multi_class="joint", batch_size="all"), "batch_size must be 1 of classes"),
        (sx.Perceptron(multi_class="joint", init=(np.zeros((1, 4)), [0.0])), "init needs a coef of shape"),
        (sx.Perceptron(multi_class="joint", boundary="correct"), "can never make a first update"),
        (sx.Perceptron(multi_class="joint", readout="pocket", shuffle="random"), "readout='pocket' compares weights"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_choices_without_a_meaning_are_refused_in_one_sentence(model, sentence):
    with pytest.raises(ValueError, match=sentence.replace("(", r"\(")) as refused:
        model.fit(*IRIS)
    assert "\n" not in str(refused.value)


def test_another_way_cannot_go_on_from_what_was_learned():
    X, y = IRIS
    for one, other in (("ovr", "joint"), ("joint", "ovr")):
        model = sx.Perceptron(multi_class=one).partial_fit(X, y)
        with pytest.raises(ValueError, match=f"multi_class is now '{other}', but what was learned so far"):
            model.set_params(multi_class=other).partial_fit(X, y)
        model.set_params(warm_start=True, max_iter=3, stop=MaxEpochs(3)).fit(X, y)  # which starts anew
        fresh = sx.Perceptron(multi_class=other, max_iter=3, stop=MaxEpochs(3)).fit(X, y)
        assert model.coef_.shape == fresh.coef_.shape
        assert len(model._states) == len(fresh._states)


def test_rows_that_overflow_are_named():
    X = np.array([[1e200, 1.0], [1.0, 1e200], [-1e200, -1.0], [1.0, 1.0]])
    with pytest.raises(ValueError, match="scale the features first"):
        sx.Perceptron(multi_class="joint", intercept_scaling=1e140).fit(X * 1e100, [0, 1, 2, 0])
    with pytest.raises(ValueError, match="row 1"):
        joint().fit([[1.0], [np.nan], [2.0]], [0, 1, 2])
