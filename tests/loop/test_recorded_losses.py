"""Losses recorded epoch by epoch, and L: the training examples that the current weights predict wrong."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.observers import History
from separatrix.rules import Perceptron
from separatrix.stops import LossAtMost

BOUNDARIES = ["mistake", "correct", "positive", "negative"]


def fitted(model, X, y, **more):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, **more)


@st.composite
def small_tables(draw):
    """Rows of few whole numbers, in which ties are common."""
    n, d = draw(st.integers(2, 9)), draw(st.integers(1, 3))
    X = draw(st.lists(st.lists(st.integers(-1, 1), min_size=d, max_size=d), min_size=n, max_size=n))
    y = draw(st.lists(st.integers(0, 1), min_size=n, max_size=n).filter(lambda labels: len(set(labels)) == 2))
    return np.array(X, dtype=float), np.array(y)


@given(small_tables(), st.sampled_from(BOUNDARIES), st.integers(1, 4), st.booleans())
@settings(max_examples=60)
def test_the_last_loss_is_the_number_of_training_rows_that_predict_gets_wrong(table, boundary, epochs, intercept):
    X, y = table
    start = (np.ones((1, X.shape[1])), np.zeros(1)) if boundary == "correct" else "zeros"
    model = sx.Perceptron(
        boundary=boundary, max_iter=epochs, shuffle=False, record="zero_one", init=start, fit_intercept=intercept
    )
    wrong = int((fitted(model, X, y).predict(X) != y).sum())
    assert model.history_.loss[-1] == wrong
    history = History()
    begin = "zeros" if boundary != "correct" else (np.ones(X.shape[1]), 0.0)
    solution = solve(
        Problem(X, y, bias=1.0 if intercept else None), Perceptron(), engine="reference", boundary=boundary,
        start=begin, stop=f"no-mistakes | epochs:{epochs}", observers=[history], record="zero_one",
    )  # fmt: skip
    assert history.loss == model.history_.loss
    told = f"{wrong} of {len(y)} training rows wrong"
    made = solution.state.mistakes
    assert (told in str(solution.status)) == (made != wrong), "the status names the errors where mistakes differ"
    assert (told in str(model.status_)) == (made != wrong)


@given(small_tables(), st.sampled_from(["mistake", "positive", "negative"]))
@settings(max_examples=25)
def test_the_loss_of_the_dual_perceptron_is_that_of_its_predictions(table, boundary):
    X, y = table
    model = sx.KernelPerceptron(kernel="linear", bias=1.0, boundary=boundary, max_iter=3, record="zero_one")
    fitted(model, X, y)
    assert model.history_.loss[-1] == int((model.predict(X) != y).sum())


@pytest.mark.parametrize("boundary", BOUNDARIES)
def test_a_run_that_stops_at_loss_zero_predicts_every_row_right(boundary):
    X, y = sx.datasets.load("lecture-004")
    start = ([[1.0, -1.0]], [0.1]) if boundary == "correct" else "zeros"
    model = sx.Perceptron(boundary=boundary, shuffle=False, init=start, stop=LossAtMost(0)).fit(X, y)
    assert model.status_.converged
    assert "training rows wrong" not in str(model.status_)
    assert model.predict(X).tolist() == y.tolist()


def test_a_tie_that_counts_as_correct_is_never_learned_and_still_predicted_wrong():
    X, y = sx.datasets.load("lecture-004")
    model = sx.Perceptron(boundary="correct", shuffle=False, init=([[1.0, -1.0]], [0.0]), record="zero_one", max_iter=5)
    assert model.fit(X, y).history_.mistakes[-1] == 0
    assert model.history_.loss[-1] == 1
    assert str(model.status_).endswith("last weights: 1 of 5 training rows wrong")


def test_with_sample_weights_the_loss_is_the_weight_of_the_rows_predicted_wrong():
    X, y = np.array([[1.0], [1.0], [0.0], [0.0]]), np.array([0, 1, 0, 1])
    weight = np.array([2.0, 1.0, 0.5, 4.0])
    for boundary in ("mistake", "positive", "negative"):
        model = sx.Perceptron(boundary=boundary, max_iter=3, shuffle=False, record="zero_one")
        fitted(model, X, y, sample_weight=weight)
        assert model.history_.loss[-1] == weight[model.predict(X) != y].sum()


def test_a_neuron_whose_activations_are_all_zero_has_two_errors_on_xor():
    X, y = sx.datasets.load("xor")
    model = fitted(sx.Neuron(batch_size="all", max_iter=3, record="zero_one"), X, y)
    assert model.history_.loss == [2.0, 2.0, 2.0]


def hinge(m):
    return np.maximum(1 - m, 0)


VALUES = {
    "zero_one": lambda m: (m <= 0).astype(float),
    "perceptron": lambda m: np.maximum(-m, 0),
    "squared": lambda m: 0.5 / (1 + np.exp(m)) ** 2,
    "log": lambda m: np.log1p(np.exp(-m)),
    "hinge": hinge,
    "squared_hinge": lambda m: hinge(m) ** 2,
}


@pytest.mark.parametrize("name", VALUES)
@pytest.mark.parametrize(
    "make",
    [
        lambda **more: sx.Perceptron(max_iter=7, **more),
        lambda **more: sx.Neuron(max_iter=7, eta0=0.5, **more),
        lambda **more: sx.OnlineSVM(max_iter=7, **more),
        lambda **more: sx.KernelPerceptron(kernel="linear", max_iter=7, **more),
        lambda **more: sx.Network(max_iter=7, **more),
    ],
)
def test_every_loss_is_recorded_for_the_weights_after_the_epoch(make, name):
    rng = np.random.default_rng(3)
    X = rng.standard_normal((40, 3))
    y = np.where(X[:, 0] + 0.8 * rng.standard_normal(40) > 0, 1, -1)
    model = fitted(make(random_state=0, record=name, every=7), X, y)
    assert model.history_.loss_epochs == [7]
    assert model.history_.loss[:6] == [None] * 6
    assert model.history_.loss_name == name
    margins = y * model.decision_function(X)
    assert model.history_.loss[-1] == pytest.approx(VALUES[name](margins).sum(), rel=1e-9)


def test_recording_changes_no_bit_and_costs_no_tally_when_off(monkeypatch):
    X, y = sx.datasets.load("lecture-000")
    plain, recorded = (fitted(sx.Perceptron(random_state=1, record=name), X, y) for name in (None, "hinge"))
    assert plain.coef_.tobytes() == recorded.coef_.tobytes()
    assert plain.history_.loss == [None] * plain.n_iter_
    assert plain.history_.loss_name is None
    from separatrix.loop.engines.compiled import CompiledEngine

    monkeypatch.setattr(CompiledEngine, "tally", lambda *_, **__: pytest.fail("a loss was computed"))
    sx.Perceptron(random_state=1).fit(X, y)


def test_the_recorded_loss_is_kept_apart_from_that_of_a_stop_rule():
    X, y = sx.datasets.load("xor")
    model = fitted(sx.Perceptron(stop="loss<=0@hinge", record="zero_one", every=3, max_iter=6), X, y)
    assert model.history_.loss_epochs == [3, 6]
    assert model.history_.loss_name == "zero_one"
    assert all("hinge" in epoch.losses for epoch in model.history_)


def test_tasks_that_have_ended_add_their_last_loss():
    X = np.array([[-3.0], [0.0], [0.1], [3.0]])
    y = ["a", "b", "b", "c"]
    model = fitted(sx.Perceptron(record="hinge", every=2, max_iter=8, shuffle=False), X, y)
    margins = np.where(np.array(y)[:, None] == model.classes_, 1, -1) * model.decision_function(X)
    assert model.history_.loss_epochs[-1] == 8
    assert model.history_.loss[-1] == pytest.approx(hinge(margins).sum())


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"record": "L"}, "record must be None or one of zero_one, perceptron, squared, log, hinge, squared_hinge"),
        ({"record": 1}, "record must be None or one of"),
        ({"record": "log", "every": 0}, "every must be a whole number of at least 1; found 0"),
        ({"every": 1.5}, "every must be a whole number of at least 1; found 1.5"),
    ],
)
def test_what_cannot_be_recorded_is_refused(given, message):
    X, y = sx.datasets.load("and")
    for kind in (sx.Perceptron, sx.KernelPerceptron, sx.Neuron, sx.OnlineSVM, sx.Network):
        with pytest.raises(ValueError, match=message):
            kind(**given).fit(X, y)


def test_a_model_file_keeps_what_was_recorded(tmp_path):
    X, y = sx.datasets.load("xor")
    model = fitted(sx.Perceptron(record="perceptron", every=2, max_iter=4, stop="no-mistakes | flat:9"), X, y)
    sx.save(model, tmp_path / "m.sx")
    loaded = sx.load(tmp_path / "m.sx")
    assert loaded.history_.loss == model.history_.loss
    assert loaded.history_.loss_epochs == [2, 4]
    assert (loaded.record, loaded.every, loaded.stop) == ("perceptron", 2, "no-mistakes | flat:9")
