"""From zero and without a margin, the learning rate of a perceptron scales the weights and nothing else."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest

import separatrix as sx
from separatrix.loop.solve import new_state
from separatrix.observers import History, StepRecorder
from separatrix.rules import MarginPerceptron, Perceptron
from separatrix.stops import LossAtMost, MaxEpochs, NoMistakes

RATES = (0.1, 0.3, 1e-3, 7.0, 1e200)
READOUTS = ("last", "averaged", "voted", "pocket")


def integers(seed, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (12, 3)).astype(float)
    y = (X @ rng.integers(-3, 4, (3, classes))).argmax(axis=1)
    y[:classes] = np.arange(classes)
    return X, y


def fitted(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # some problems have no separating plane
        return model.fit(X, y, **more)


def assert_scaled(model, unit, eta):
    """The mistakes are those of the rate 1, and the weights that of it times eta, bit for bit."""
    assert model.history_.mistakes == unit.history_.mistakes
    assert (model.n_iter_, model.n_updates_) == (unit.n_iter_, unit.n_updates_)
    assert model.coef_.tobytes() == (eta * unit.coef_).tobytes()
    assert model.intercept_.tobytes() == (eta * unit.intercept_).tobytes()


def test_the_run_of_every_rate_is_that_of_exact_arithmetic():
    others = 0
    for seed in range(100):
        X, y = integers(seed)
        exact = sx.trace(X, y, eta0=Fraction(1, 10), max_iter=30)
        model = fitted(sx.Perceptron(eta0=0.1, shuffle=False, max_iter=30), X, y)
        mistakes = [sum(step.mistake for step in exact if step.epoch == k + 1) for k in range(exact.n_epochs)]
        assert model.history_.mistakes == mistakes
        np.testing.assert_allclose(model.coef_[0], np.array(exact.weights, dtype=float), rtol=1e-15)
        tiny = sx.solve(
            sx.Problem(X, y), Perceptron(eta=0.1), start=([1e-300, 0, 0], 0), stop=NoMistakes() | MaxEpochs(30)
        )
        others += tiny.n_updates != exact.n_updates
    assert others > 5  # what rounding does where the rate is in every step


def test_the_and_gate_takes_eighteen_updates_at_every_rate():
    X, y = sx.datasets.load("and")
    for eta in RATES:
        model = sx.Perceptron(eta0=eta, shuffle=False).fit(X, y)
        assert (model.n_updates_, str(model.status_)) == (18, "converged: no mistakes (epoch 9)")
        assert model.coef_.tolist() == [[3 * eta, 2 * eta]]
        assert model.certificate_.wrong == 0


@pytest.mark.parametrize("eta", RATES)
@pytest.mark.parametrize("readout", READOUTS)
def test_weights_scale_and_mistakes_stay_in_every_setting(readout, eta):
    for seed in range(6):
        for more in ({}, {"shuffle": False}, {"batch_size": 3}, {"batch_size": "all", "reduction": "sum"}):
            if readout == "voted" and "batch_size" in more:
                continue
            X, y = integers(seed, classes=2 + seed % 3)
            weights = np.random.default_rng(seed).choice([0.5, 1.0, 3.0], len(y)) if seed % 2 else None
            pair = [
                fitted(
                    sx.Perceptron(eta0=rate, readout=readout, max_iter=7, random_state=seed, **more),
                    X + 0.1 * (seed > 3), y, sample_weight=weights,
                )
                for rate in (eta, 1.0)
            ]  # fmt: skip
            assert_scaled(*pair, eta)
            if readout == "voted":
                assert pair[0].decision_function(X).tobytes() == pair[1].decision_function(X).tobytes()


def test_the_votes_are_those_of_the_weights():
    X, y = integers(3)
    model, unit = (fitted(sx.Perceptron(eta0=eta, readout="voted", random_state=0), X, y) for eta in (0.1, 1.0))
    assert len(model.votes_) == len(unit.votes_) > 3
    for vote, other in zip(model.votes_, unit.votes_, strict=True):
        assert (vote.weights.tolist(), vote.bias, vote.count) == (
            (0.1 * other.weights).tolist(), 0.1 * other.bias, other.count
        )  # fmt: skip


@pytest.mark.parametrize("readout", READOUTS)
def test_online_learning_scales_too_also_when_a_class_appears(readout):
    X, y = integers(5, classes=3)
    first, second = y < 2, np.ones(len(y), dtype=bool)
    models = []
    for eta in (0.1, 1.0):
        model = sx.Perceptron(eta0=eta, readout=readout, random_state=1)
        for part in (first, second, second):
            model.partial_fit(X[part], y[part])
        models.append(model)
    assert_scaled(*models, 0.1)


@pytest.mark.parametrize("readout", READOUTS)
def test_a_rate_that_changes_leaves_every_readout_where_it_is(readout):
    X, y = integers(8)
    model = sx.Perceptron(eta0=0.1, readout=readout, shuffle=False).partial_fit(X, y)
    before = model.decision_function(X)
    model.set_params(eta0=1e-30).partial_fit(X, y)
    assert model._states[0].unit == 1.0
    age = 0.5 if readout in ("averaged", "voted") else 0.0  # the last weights have voted twice as often
    last = sx.Perceptron(eta0=0.1, shuffle=False).partial_fit(X, y).decision_function(X)
    if readout == "voted":
        last = np.sign(last)
    np.testing.assert_allclose(model.decision_function(X), (1 - age) * before + age * last, atol=1e-9)


def test_a_changed_rate_is_the_run_that_starts_from_these_weights():
    moved = 0
    for seed in range(20):
        X, y = integers(seed)
        model = sx.Perceptron(eta0=0.1, shuffle=False).partial_fit(X, y)
        start = (model.coef_.copy(), model.intercept_.copy())
        other = sx.Perceptron(eta0=0.7, shuffle=False, init=start).partial_fit(X, y)
        model.set_params(eta0=0.7).partial_fit(X, y)
        assert model.coef_.tobytes() == other.coef_.tobytes()
        assert model.intercept_.tobytes() == other.intercept_.tobytes()
        moved += model.n_updates_ > 0
    assert moved > 5


@pytest.mark.parametrize("loss", ["zero_one", "perceptron", "hinge", "squared_hinge", "log", "squared"])
def test_recorded_losses_are_those_of_the_weights(loss):
    X, y = integers(4)
    model = fitted(sx.Perceptron(eta0=0.1, record=loss, random_state=0, max_iter=5, stop=MaxEpochs(5)), X, y)
    margins = (2 * y - 1) * model.decision_function(X)
    value = sx.rules.losses.LOSSES[loss].value
    expected = np.count_nonzero(model.predict(X) != y) if loss == "zero_one" else sum(map(value, margins.tolist()))
    assert model.history_.loss[-1] == pytest.approx(expected, rel=1e-12)
    assert model.history_.norm[-1] == pytest.approx(np.linalg.norm(model.coef_), rel=1e-12)


def test_a_stop_rule_sees_the_loss_of_the_weights():
    X, y = integers(4)
    losses = History("perceptron")
    options = {"stop": MaxEpochs(3), "record": "perceptron", "observers": [losses]}
    sx.solve(sx.Problem(X, y), Perceptron(eta=1e-6), **options)
    assert 0 < losses.loss[0] < 1e-4
    stopped = sx.solve(sx.Problem(X, y), Perceptron(eta=1e-6), stop=LossAtMost(1e-4, loss="perceptron") | MaxEpochs(3))
    assert (stopped.status.converged, stopped.n_epochs) == (True, 1)


@pytest.mark.parametrize("readout", READOUTS)
def test_both_engines_agree_at_every_rate(readout):
    for seed, eta in enumerate(RATES):
        X, y = integers(seed)
        for rule in (Perceptron(eta=eta), MarginPerceptron(eta=eta, margin=0)):
            runs = [
                sx.solve(sx.Problem(X, y), rule, engine=engine, readout=readout, order="shuffled", stop=MaxEpochs(6))
                for engine in ("compiled", "reference")
            ]
            assert runs[0].weights.tobytes() == runs[1].weights.tobytes()
            assert (runs[0].bias, runs[0].n_updates) == (runs[1].bias, runs[1].n_updates)


def test_observed_steps_are_those_of_the_weights():
    X, y = integers(2)
    runs = []
    for eta in (0.1, 1.0):
        recorder = StepRecorder()
        sx.solve(sx.Problem(X, y), Perceptron(eta=eta), engine="reference", observers=[recorder], stop=MaxEpochs(3))
        runs.append(recorder.steps)
    assert any(step.updated for step in runs[0])
    for step, unit in zip(*runs, strict=True):
        assert (step.index, step.mistake, step.updated) == (unit.index, unit.mistake, unit.updated)
        assert step.weights == tuple(0.1 * weight for weight in unit.weights)
        assert (step.activation, step.margin, step.bias) == (0.1 * unit.activation, 0.1 * unit.margin, 0.1 * unit.bias)


@pytest.mark.parametrize("unit", [0.0, -1.0, float("nan"), float("inf"), "1", None])
def test_a_unit_that_is_no_rate_is_refused(unit, tmp_path):
    X, y = integers(2)
    model = fitted(sx.Perceptron(eta0=0.1), X, y)
    model._states[0].unit = unit
    with pytest.raises(ValueError, match="the unit of a state is not a positive number"):
        sx.save(model, tmp_path / "model.sx")


def test_another_rule_goes_on_from_the_weights_as_they_are():
    X, y = integers(7)
    problem = sx.Problem(X, y)
    state = new_state(problem, 1, "zeros", readout="last")
    first = sx.solve(problem, Perceptron(eta=0.1), start=state, stop=MaxEpochs(2))
    assert state.unit == 0.1
    rule = MarginPerceptron(eta=0.1, margin=1)
    gone_on = sx.solve(problem, rule, start=state, stop=MaxEpochs(1))
    anew = sx.solve(problem, rule, start=(first.weights, first.bias), stop=MaxEpochs(1))
    assert (gone_on.weights.tolist(), gone_on.bias) == (anew.weights.tolist(), anew.bias)
