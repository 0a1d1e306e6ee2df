"""A run goes on through a model file to the same bits."""

from __future__ import annotations

import json
import math
import os
import re
import signal

import numpy as np
import pytest

import separatrix as sx
from saved_models import READOUTS, THREE, X, same, through
from separatrix.models.encoding import encode
from separatrix.models.registry import Registry
from separatrix.stops import MaxEpochs, TimeLimit

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")

rng = np.random.default_rng(5)
WIDE = rng.normal(size=(300, 6))
NOISY = np.where(WIDE @ [1, 2, 0, 0, -1, 0.5] + 2 * rng.normal(size=300) > 0, 1, 0)
MORE = rng.integers(0, 3, 300)


def learners():
    for readout in READOUTS:
        yield f"perceptron {readout}", lambda r=readout, **k: sx.Perceptron(readout=r, max_iter=12, **k), NOISY
        yield f"perceptron {readout} of three", lambda r=readout, **k: sx.Perceptron(readout=r, max_iter=12, **k), MORE
        rate = {"readout": readout, "eta0": 0.1}
        yield f"perceptron {readout} at 0.1", lambda r=rate, **k: sx.Perceptron(max_iter=12, **r, **k), MORE
    for name, more in (
        ("constant", {}),
        ("adaptive", {"learning_rate": "adaptive", "eta0": 0.5}),
        ("invscaling", {"learning_rate": "invscaling", "loss": "log", "batch_size": 7}),
    ):
        yield f"neuron {name}", lambda m=more, **k: sx.Neuron(max_iter=12, **m, **k), MORE
    for name, y, more in (
        ("two", NOISY, {}),
        ("three", MORE, {"class_weight": {0: 1.0, 1: 2.0, 2: 0.5}, "readout": "averaged"}),
    ):
        options = {"shuffle": "random", "max_iter": 12, **more}
        yield f"perceptron random of {name}", lambda o=options, **k: sx.Perceptron(**o, **k), y
    options = {"shuffle": "random", "max_iter": 12, "batch_size": 7, "class_weight": {0: 1.0, 1: 2.0, 2: 0.5}}
    yield "neuron random", lambda o=options, **k: sx.Neuron(**o, **k), MORE
    yield "network random", lambda o=options, **k: sx.Network((4,), **o, **k), MORE
    for average in (False, True):
        yield (
            f"svm online {average}",
            lambda a=average, **k: sx.OnlineSVM(average=a, max_iter=12, **k),
            MORE,
        )
    yield "passive-aggressive", lambda **k: sx.PassiveAggressive(average=True, max_iter=12, **k), MORE
    yield "arow", lambda **k: sx.AROW(average=True, max_iter=12, **k), MORE
    yield "arow full", lambda **k: sx.AROW(covariance="full", max_iter=12, **k), NOISY
    yield "romma", lambda **k: sx.ROMMA(average=True, max_iter=12, **k), MORE
    yield "romma aggressive", lambda **k: sx.ROMMA(aggressive=True, max_iter=12, **k), NOISY
    yield "alma", lambda **k: sx.ALMA(average=True, max_iter=12, **k), MORE
    yield "sop", lambda **k: sx.SecondOrderPerceptron(covariance="full", average=True, max_iter=12, **k), MORE
    yield "scw", lambda **k: sx.SCW(max_iter=12, **k), MORE
    yield "network", lambda **k: sx.Network((4,), max_iter=12, batch_size=16, **k), MORE
    yield "network adaptive", lambda **k: sx.Network((3, 3), max_iter=12, learning_rate="adaptive", **k), NOISY


LEARNERS = {name: (make, y) for name, make, y in learners()}


def learned(model):
    """Return what a run has left, as bytes, but for the time it took."""
    tree, arrays = encode(model._states, Registry())
    text = re.sub(r'"seconds":(\{[^}]*\}|[-0-9.e]+)', "", json.dumps(tree, separators=(",", ":")))
    return text, {name: array.tobytes() for name, array in arrays.items() if "seconds" not in name}


@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_cut_short_goes_on_to_the_same_bits_through_the_file(name, tmp_path, monkeypatch):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True, stop=TimeLimit(1e6)).fit(WIDE, y)
    model = make(random_state=3, warm_start=True, stop=TimeLimit(1e6))
    cuts = 0
    for _ in range(200):
        model.set_params(stop=TimeLimit(1e-9))  # a little of an epoch, or an epoch
        model.fit(WIDE, y)
        model = through(model, tmp_path)
        cuts += model._cut_short
        assert model._cut_short or not model.status_.text.startswith("stopped: time")
        if not model._cut_short or model._states[0].epochs >= 5:
            break
    assert cuts >= 1
    left = 12 - model._states[0].epochs
    if model._cut_short:
        model.set_params(stop=TimeLimit(1e6), max_iter=left).fit(WIDE, y)
    attributes = ("coef_", "intercept_") if hasattr(whole, "coef_") else ("coefs_", "intercepts_")
    for attribute_name in attributes:
        for one, other in zip(getattr(model, attribute_name), getattr(whole, attribute_name), strict=True):
            assert np.asarray(one).tobytes() == np.asarray(other).tobytes()
    same(whole, model, WIDE)


@pytest.mark.parametrize("name", LEARNERS)
def test_an_interrupted_run_goes_on_to_the_same_bits_through_the_file(name, tmp_path, monkeypatch):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True).fit(WIDE, y)
    model = make(random_state=3, warm_start=True)
    from separatrix.observers import History

    seen = []
    keep = History.on_epoch

    def press(self, epoch):
        keep(self, epoch)
        seen.append(epoch)
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(History, "on_epoch", press)
    with pytest.raises(KeyboardInterrupt):
        model.fit(WIDE, y)
    monkeypatch.setattr(History, "on_epoch", keep)
    again = through(model, tmp_path)
    assert again._cut_short
    again.set_params(max_iter=12 - again._states[0].epochs).fit(WIDE, y)
    model.set_params(max_iter=12 - model._states[0].epochs).fit(WIDE, y)
    assert learned(again) == learned(model)
    same(whole, again, WIDE)


class StopAfterTwo:
    """A scikit-learn callback that ends a run after two epochs."""

    epochs = 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        self.epochs += context.task_name == "epoch"
        return self.epochs == 2

    def teardown(self, estimator, context):
        pass


@pytest.mark.skipif(not hasattr(sx.Perceptron, "set_callbacks"), reason="this scikit-learn has no callbacks")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_run_that_a_callback_ended_goes_on_to_the_same_bits_through_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    whole = make(random_state=3, warm_start=True).fit(WIDE, y)
    model = make(random_state=3, warm_start=True).set_callbacks(StopAfterTwo()).fit(WIDE, y)
    assert "requested by a callback after epoch 2" in str(model.status_)
    again = through(model, tmp_path)
    again.set_params(max_iter=10).fit(WIDE, y)
    assert again._states[0].epochs == whole._states[0].epochs
    same(whole, again, WIDE)


@pytest.mark.parametrize("name", LEARNERS)
def test_a_finished_run_goes_on_alike_with_and_without_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    model = make(random_state=3, warm_start=True, stop=MaxEpochs(3)).fit(WIDE, y)
    again = through(model, tmp_path)
    for each in (model, again):
        each.fit(WIDE, y)
    assert learned(again) == learned(model)
    again = through(again, tmp_path)
    for each in (model, again):
        each.fit(WIDE[::-1], y)
    assert learned(again) == learned(model)


@pytest.mark.parametrize("name", LEARNERS)
def test_learning_online_goes_on_to_the_same_bits_through_the_file(name, tmp_path):
    make, y = LEARNERS[name]
    whole, model = make(random_state=3), make(random_state=3)
    for begin in range(0, 300, 60):
        part = slice(begin, begin + 60)
        whole.partial_fit(WIDE[part], y[part])
        model = through(model.partial_fit(WIDE[part], y[part]), tmp_path)
    assert learned(model) == learned(whole)
    same(whole, model, WIDE)
    for each in (whole, model):
        each.partial_fit(WIDE[:9], np.full(9, 7))  # a new class
    assert learned(model) == learned(whole)
    same(whole, model, WIDE)


def test_a_model_of_one_class_comes_back(tmp_path):
    for model in (sx.Perceptron(), sx.Neuron(), sx.Network(), sx.OnlineSVM()):
        again = through(model.partial_fit(X[:5], ["a"] * 5), tmp_path)
        assert again.predict(X[:2]).tolist() == ["a", "a"]
        for each in (model, again):
            each.partial_fit(X, THREE)
        same(model, again, X)


@pytest.mark.parametrize(
    ("C", "loss", "y"),
    [(5.0, "hinge", MORE), (2.0, "squared_hinge", NOISY), (math.inf, "hinge", (WIDE[:, 0] > 0).astype(int))],
)
@pytest.mark.parametrize("size", [300, 40])
def test_the_dual_solver_goes_on_to_the_same_bits_through_the_file(C, loss, y, size, tmp_path):
    rows, y = np.asarray(WIDE[:size]), y[:size]

    def make(stop):
        # It has something to begin with, so that small questions are not answered at once.
        model = sx.LinearSVM(C=1.0, random_state=2, warm_start=True, tol=1e-6).fit(rows, y)
        return model.set_params(C=C, loss=loss, stop=stop)

    whole = make(None).fit(rows, y)
    model = make(TimeLimit(1e-9))
    cuts = 0
    for _ in range(60):
        model = through(model.fit(rows, y), tmp_path)
        if not model._cut_short:
            break
        cuts += 1
        model.set_params(stop=TimeLimit(1e-9 if cuts % 2 else 0.002))
    if model._cut_short:
        model = through(model.set_params(stop=None).fit(rows, y), tmp_path)
    assert cuts >= 1
    for name in ("coef_", "intercept_", "dual_coef_", "slack_"):
        assert getattr(model, name).tobytes() == getattr(whole, name).tobytes()
    assert np.array_equal(model.duality_gap_, whole.duality_gap_)
    same(whole, model, rows)
