"""The estimator: every form learns, classes share one pass, runs go on, Ctrl-C leaves a model."""

from __future__ import annotations

import io
import pickle
import signal
import subprocess
import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from rich.console import Console
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.linear_model import Perceptron as Peer
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import separatrix as sx
from separatrix.estimators import classifier as estimator_module
from separatrix.loop.engines import CompiledEngine
from separatrix.observers import History
from separatrix.stops import HeldOutFlat, LossAtMost, MaxEpochs, NoMistakes, TimeLimit

READOUTS = ["last", "averaged", "voted", "pocket"]


def overlapping(n=300, d=8, k=2, seed=0):
    rng = np.random.default_rng(seed)
    centers = rng.standard_normal((k, d)) * 1.2
    y = rng.integers(0, k, n)
    return centers[y] + rng.standard_normal((n, d)), y


def same(one, other):
    return one.coef_.tobytes() == other.coef_.tobytes() and one.intercept_.tobytes() == other.intercept_.tobytes()


def test_cyclic_epochs_are_those_of_scikit_learn():
    X, y = overlapping()
    for epochs in (1, 2, 5):
        peer = Peer(max_iter=epochs, tol=None, shuffle=False).fit(X, y)
        model = sx.Perceptron(shuffle=False, stop=MaxEpochs(epochs), boundary="mistake").fit(X, y)
        np.testing.assert_allclose(model.coef_, peer.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.intercept_, peer.intercept_, rtol=1e-9)


@pytest.mark.parametrize("readout", READOUTS)
def test_on_real_data_every_readout_is_as_good_as_scikit_learns_perceptron(readout):
    X, y = load_breast_cancer(return_X_y=True)

    def score(make):  # a single seed says little: last weights differ by some 0.02 from seed to seed, theirs too
        return np.mean([cross_val_score(make_pipeline(StandardScaler(), make(seed)), X, y).mean() for seed in range(4)])

    ours = score(lambda seed: sx.Perceptron(readout=readout, stop=MaxEpochs(30), random_state=seed))
    assert ours >= score(lambda seed: Peer(random_state=seed)) - 0.01


def test_averaging_and_pocket_beat_the_last_weights_on_inseparable_data():
    X, y = overlapping(2000, 5)
    scores = {
        readout: sx.Perceptron(readout=readout, stop=MaxEpochs(20), random_state=0).fit(X, y).score(X, y)
        for readout in READOUTS
    }
    assert min(scores["averaged"], scores["voted"], scores["pocket"]) > scores["last"]


def test_a_run_that_ends_without_mistakes_leaves_its_weights_in_the_pocket():
    """Shuffled anew, weights can be right more often in a row than there are examples, and yet be wrong about one."""
    for seed in range(160):
        data = sx.datasets.separable(60, 3, margin=0.05, random_state=seed)
        model = sx.Perceptron(readout="pocket", random_state=seed, max_iter=500).fit(data.X, data.y)
        assert model.status_.converged
        assert model.score(data.X, data.y) == 1.0


def test_the_pocket_never_makes_more_mistakes_than_any_weights_it_has_seen_survive():
    X, y = overlapping(200, 3)
    losses = []
    for epochs in range(1, 15):
        model = sx.Perceptron(readout="pocket", stop=MaxEpochs(epochs), random_state=0).fit(X, y)
        losses.append(round((1 - model.score(X, y)) * len(y)))
        assert losses[-1] == model._states[0].pocket_loss
    assert losses == sorted(losses, reverse=True)


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("layout", ["dense", "csr"])
def test_each_class_learns_as_if_it_were_alone(readout, layout):
    X, y = overlapping(150, 6, k=7)
    X = sparse.csr_array(X) if layout == "csr" else X
    options = {"readout": readout, "max_iter": 8, "random_state": 4, "stop": NoMistakes(), "shuffle": False}
    model = sx.Perceptron(**options).fit(X, y)
    together = model.decision_function(X)
    for k in range(7):
        alone = sx.Perceptron(**options).fit(X, y == k)
        assert alone.coef_[0].tobytes() == model.coef_[k].tobytes()
        assert alone.decision_function(X).tobytes() == np.ascontiguousarray(together[:, k]).tobytes()


@pytest.mark.parametrize("readout", READOUTS)
def test_threads_do_not_change_a_bit(readout):
    X, y = overlapping(400, 30, k=11)
    models = [
        sx.Perceptron(readout=readout, stop=MaxEpochs(5), random_state=1, n_jobs=jobs).fit(X, y)
        for jobs in (None, 1, 2, 5, -1)
    ]
    for model in models[1:]:
        assert same(model, models[0])
        assert model.decision_function(X).tobytes() == models[0].decision_function(X).tobytes()


def test_iris_has_three_classes_and_a_status_for_all():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    with pytest.warns(
        ConvergenceWarning, match="problems did not converge; class 'versicolor': epoch limit of 50 reached"
    ):
        model = sx.Perceptron(max_iter=50, random_state=0).fit(X, names)
    assert model.coef_.shape == (3, 4)
    assert model.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    assert set(model.predict(X)) <= set(names)
    assert not model.status_.converged
    # No plane tells versicolor from both others, so one against the rest does no better than this by much.
    assert sx.Perceptron(readout="averaged", max_iter=200, random_state=0).fit(X, names).score(X, names) > 0.8


def test_all_classes_separable_is_one_sentence():
    X = np.repeat(np.eye(4) * 3, 5, axis=0)
    model = sx.Perceptron(random_state=0).fit(X, np.repeat(np.arange(4), 5))
    assert model.status_.converged
    assert str(model.status_).startswith("converged: no mistakes (slowest of 4 one-vs-rest problems: epoch ")
    assert model.score(X, np.repeat(np.arange(4), 5)) == 1


@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("k", [2, 3])
def test_a_warm_start_goes_on_as_if_it_had_never_stopped(readout, shuffle, k):
    X, y = overlapping(100, 5, k=k)
    options = {"readout": readout, "shuffle": shuffle, "random_state": 2}
    whole = sx.Perceptron(stop=MaxEpochs(7), **options).fit(X, y)
    parts = sx.Perceptron(stop=MaxEpochs(3), warm_start=True, **options).fit(X, y)
    updates = parts.n_updates_
    parts.set_params(stop=MaxEpochs(4)).fit(X, y)
    assert same(parts, whole)
    assert updates + parts.n_updates_ == whole.n_updates_
    assert parts.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


def test_partial_fit_is_an_epoch_of_fit():
    X, y = overlapping()
    model = sx.Perceptron(shuffle=False, stop=MaxEpochs(3)).fit(X, y)
    online = sx.Perceptron(shuffle=False)
    for _ in range(3):
        online.partial_fit(X, y)
    assert same(online, model)
    in_batches = sx.Perceptron(shuffle=False)
    for _ in range(3):
        for begin in range(0, 300, 50):
            in_batches.partial_fit(X[begin : begin + 50], y[begin : begin + 50])
    assert same(in_batches, model)


@pytest.mark.parametrize("readout", READOUTS)
def test_a_class_may_appear_in_a_later_call(readout):
    X, y = overlapping(600, 6, k=4, seed=3)
    model = sx.Perceptron(readout=readout, random_state=0)
    model.partial_fit(X[y == 2], y[y == 2])
    assert model.classes_.tolist() == [2]
    assert set(model.predict(X)) == {2}
    for seen in ([2, 0], [2, 0, 3], [0, 1, 2, 3]):
        part = np.isin(y, seen)
        model.partial_fit(X[part], y[part])
        assert model.classes_.tolist() == sorted(seen)
        assert model.coef_.shape == ((1 if len(seen) == 2 else len(seen)), 6)
    for _ in range(5):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.7


def test_two_classes_known_to_be_three_later_learn_like_one_against_the_rest():
    X, y = overlapping(200, 5, k=3)
    two = y < 2
    online = sx.Perceptron(shuffle=False).partial_fit(X[two], y[two])
    forecast = sx.Perceptron(shuffle=False).partial_fit(X[two], y[two], classes=[0, 1, 2])
    online.partial_fit(X, y)
    forecast.partial_fit(X, y)
    assert online.coef_[:2].tobytes() == forecast.coef_[:2].tobytes()


def test_class_weights_pull_the_plane():
    rng = np.random.default_rng(0)
    y = (rng.random(2000) < 0.2).astype(int)
    X = rng.standard_normal((2000, 2)) + y[:, None]
    options = {"readout": "averaged", "stop": MaxEpochs(10), "random_state": 0}
    plain = sx.Perceptron(**options).fit(X, y).predict(X).mean()
    for heavier in ("balanced", {0: 1, 1: 5}):
        assert sx.Perceptron(class_weight=heavier, **options).fit(X, y).predict(X).mean() > plain
    weighted = sx.Perceptron(class_weight={0: 1, 1: 3}, **options).fit(X, y)
    assert same(weighted, sx.Perceptron(**options).fit(X, y, sample_weight=np.where(y == 1, 3.0, 1.0)))
    with pytest.raises(ValueError, match="class_weight='balanced' needs all examples at once"):
        sx.Perceptron(class_weight="balanced").partial_fit(X, y)


def test_the_learning_rate_scales_the_weights_and_changes_no_decision():
    X, y = overlapping()
    one = sx.Perceptron(stop=MaxEpochs(5), random_state=0).fit(X, y)
    quarter = sx.Perceptron(eta0=0.25, stop=MaxEpochs(5), random_state=0).fit(X, y)
    assert np.array_equal(quarter.coef_ * 4, one.coef_)


def test_the_margin_perceptron_ends_with_every_margin_above_it():
    data = sx.datasets.separable(100, 3, margin=0.1, random_state=0)
    model = sx.Perceptron(margin=2.0, random_state=0).fit(data.X, data.y)
    assert model.status_.converged
    assert (data.y * model.decision_function(data.X) > 2.0).all()


def test_without_an_intercept_the_plane_goes_through_the_origin():
    X, y = overlapping()
    model = sx.Perceptron(fit_intercept=False, stop=MaxEpochs(3)).fit(X, y)
    assert model.intercept_.tolist() == [0.0]
    assert model.decision_function(np.zeros((1, 8))).tolist() == [0.0]


def test_a_tie_is_positive_except_where_the_boundary_says_negative():
    X, y = sx.datasets.load("and")
    for boundary, answer in (("mistake", 1), ("positive", 1), ("negative", 0)):
        model = sx.Perceptron(boundary=boundary, fit_intercept=False, stop=MaxEpochs(1)).fit(X, y)
        assert model.predict([[0.0, 0.0]]).tolist() == [answer]


def test_uniform_starts_lie_in_the_cube_and_depend_on_the_seed():
    X, y = overlapping(d=200)
    model = sx.Perceptron(init="uniform", eta0=1e-12, stop=MaxEpochs(1), random_state=0).fit(X, y)
    assert np.abs(model.coef_).max() <= 1.0
    assert np.abs(model.coef_).max() > 0.9
    assert not same(model, clone(model).set_params(random_state=1).fit(X, y))


def test_history_holds_every_epoch():
    X, y = overlapping(d=2, seed=5)
    model = sx.Perceptron(stop=LossAtMost(0, every=2), max_iter=6, random_state=0).fit(X, y)
    history = model.history_
    assert len(history) == model.n_iter_ == 6
    assert sum(history.mistakes) == model.n_updates_
    assert history.norm[-1] == pytest.approx(np.linalg.norm(model.coef_))
    assert history.seconds == sorted(history.seconds)
    assert [loss is None for loss in history.loss] == [True, False] * 3
    assert history.loss[-1] == (model.predict(X) != y).sum()


def test_early_stopping_on_held_out_examples():
    X, y = overlapping(1000)
    model = sx.Perceptron(stop=HeldOutFlat(0.2, patience=3), readout="averaged", random_state=0).fit(X, y)
    assert model.n_iter_ < 1000
    assert str(model.status_).startswith("converged: validation error not lower for 3 epochs")


def test_frames_are_fitted_by_name():
    X, y = overlapping(d=2)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = sx.Perceptron(random_state=0, stop=MaxEpochs(2)).fit(frame, y)
    assert model.feature_names_in_.tolist() == ["a", "b"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["b", "a"]])


def test_a_model_survives_pickling():
    X, y = overlapping(k=3)
    for readout in READOUTS:
        model = sx.Perceptron(readout=readout, stop=MaxEpochs(3), random_state=0).fit(X, y)
        again = pickle.loads(pickle.dumps(model))
        assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()
        model.partial_fit(X, y)
        again.partial_fit(X, y)
        assert same(model, again)


BAD_PARAMETERS = [
    ({"eta0": 0}, ValueError, "eta0 must be a positive finite number; found 0.0"),
    ({"eta0": -1.0}, ValueError, "eta0 must be a positive finite number; found -1.0"),
    ({"eta0": "big"}, TypeError, "eta0 must be a number; found 'big'"),
    ({"margin": -1.0}, ValueError, "margin must be zero or a positive finite number; found -1.0"),
    ({"max_iter": 0}, ValueError, "max_iter must be a whole number of at least 1; found 0"),
    ({"readout": "best"}, ValueError, "readout must be one of last, averaged, voted, pocket; found 'best'"),
    ({"boundary": "maybe"}, ValueError, "boundary must be one of mistake, correct, positive, negative; found 'maybe'"),
    ({"init": "ones"}, ValueError, "init must be 'zeros', 'uniform' or"),
    ({"init": 3}, ValueError, "init must be 'zeros', 'uniform' or"),
    (
        {"init": ([[1.0]], [0.0])},
        ValueError,
        r"init needs a coef of shape \(1, 8\) and an intercept of shape \(1,\); found",
    ),
    (
        {"intercept_scaling": 0},
        ValueError,
        "intercept_scaling must be 'ball' or a positive number below 1e150; found 0",
    ),
    (
        {"intercept_scaling": "cube"},
        ValueError,
        "intercept_scaling must be 'ball' or a positive number below 1e150; found 'cube'",
    ),
    ({"stop": 5}, TypeError, "stop must be a stop rule such as"),
    ({"random_state": "x"}, ValueError, "cannot be used to seed"),
]


@pytest.mark.parametrize(("parameters", "kind", "message"), BAD_PARAMETERS, ids=[str(p[0]) for p in BAD_PARAMETERS])
def test_bad_parameters_get_one_clear_sentence(parameters, kind, message):
    X, y = overlapping()
    with pytest.raises(kind, match=message):
        sx.Perceptron(**parameters).fit(X, y)


def test_one_class_wrong_width_and_unfitted_are_said():
    X, y = overlapping()
    with pytest.raises(ValueError, match="Perceptron needs examples of at least two classes; found one class: "):
        sx.Perceptron().fit(X, np.zeros(300))
    with pytest.raises(ValueError, match="at least two classes"):
        sx.Perceptron().fit(X, y, sample_weight=(y == 1).astype(float))
    with pytest.raises(NotFittedError):
        sx.Perceptron().predict(X)
    model = sx.Perceptron(stop=MaxEpochs(1)).fit(X, y)
    with pytest.raises(ValueError, match="X has 3 features, but Perceptron is expecting 8 features"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="X contains NaN in row 1, column 0"):
        model.predict(np.where(np.arange(300)[:, None] == 1, np.nan, X))


def test_a_run_that_did_not_converge_warns_and_says_what_to_do():
    X, y = sx.datasets.load("xor")
    with pytest.warns(
        ConvergenceWarning,
        match=r"stopped: epoch limit of 5 reached, \d mistakes in the last epoch[.;] .*readout='averaged'",
    ):
        sx.Perceptron(max_iter=5, random_state=0).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sx.Perceptron(max_iter=5, readout="pocket").fit(X, y)


class Watcher:
    """A scikit-learn callback that notes what it is told and stops after some epochs."""

    def __init__(self, stop_after):
        self.stop_after, self.scores, self.begun, self.torn_down = stop_after, [], 0, 0

    def setup(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, *, fitted_estimator=None):
        self.begun += context.task_name == "epoch"

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name != "epoch":
            return False
        self.scores.append(fitted_estimator.coef_.copy())
        return len(self.scores) == self.stop_after

    def teardown(self, estimator, context):
        self.torn_down += 1


@pytest.mark.skipif(not hasattr(sx.Perceptron, "set_callbacks"), reason="this scikit-learn has no callbacks")
def test_scikit_learn_callbacks_see_each_epoch_and_may_stop_the_run():
    X, y = overlapping()
    watcher = Watcher(stop_after=4)
    model = sx.Perceptron(random_state=0, readout="averaged").set_callbacks(watcher).fit(X, y)
    assert (watcher.begun, len(watcher.scores), watcher.torn_down) == (4, 4, 1)
    assert model.n_iter_ == 4
    assert str(model.status_) == "stopped: requested by a callback after epoch 4"
    assert np.array_equal(watcher.scores[-1], model.coef_)


INTERRUPTED = """
import os, signal, sys, threading, time
import numpy as np
import separatrix as sx
rng = np.random.default_rng(0)
X = rng.standard_normal((50_000, 100), dtype=np.float32)
y = rng.integers(0, int(sys.argv[1]), 50_000)
model = sx.Perceptron(readout=sys.argv[2], max_iter=10**6, random_state=0)
pressed = []
def press():
    while signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        time.sleep(0.01)  # the fit does not watch for Ctrl-C yet
    time.sleep(0.2)
    pressed.append(time.process_time())  # of this process: other work on the machine does not count
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=press, daemon=True).start()
try:
    model.fit(X, y)
except KeyboardInterrupt:
    waited = time.process_time() - pressed[0]
    assert waited < 1.0, waited
    assert "interrupted" in str(model.status_), model.status_
    assert model.coef_.any() and np.isfinite(model.coef_).all()
    assert len(model.predict(X[:5])) == 5
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    print("good", model.n_iter_)
"""


@pytest.mark.parametrize(("classes", "readout"), [(2, "last"), (2, "pocket"), (2, "voted"), (5, "averaged")])
def test_ctrl_c_ends_a_long_fit_within_a_second_and_leaves_a_model(classes, readout):
    ran = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, str(classes), readout], capture_output=True, text=True, timeout=120
    )
    assert ran.stdout.startswith("good"), ran.stderr


class PressCtrlC:
    """Presses Ctrl-C once, in the middle or at the end of some epoch."""

    def __init__(self, epoch, at_end):
        self.epoch, self.at_end, self.pressed = epoch, at_end, False

    def on_advance(self, epoch, done, pool):
        if epoch == self.epoch and not self.pressed and (done == pool) == self.at_end:
            self.pressed = True
            signal.raise_signal(signal.SIGINT)


@pytest.mark.parametrize("at_end", [True, False])
@pytest.mark.parametrize("shuffle", [True, False])
@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("k", [2, 4])
def test_an_interrupted_run_goes_on_to_the_same_bits(monkeypatch, k, readout, shuffle, at_end):
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 30)
    X, y = overlapping(400, 3, k=k, seed=8)
    X[y == 0] += 9.0  # one class ends early
    options = {"random_state": None, "readout": readout, "shuffle": shuffle, "max_iter": 9, "stop": NoMistakes()}
    np.random.seed(0)
    whole = sx.Perceptron(**options).fit(X, y)
    assert whole.n_iter_ >= (9 if k == 4 else 2)
    np.random.seed(0)
    broken = sx.Perceptron(warm_start=True, **options)
    press = PressCtrlC(epoch=4 if k == 4 else 1, at_end=at_end)
    monkeypatch.setattr(estimator_module, "History", lambda record: add(History(record), press))
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y)
    assert broken.status_.interrupted
    monkeypatch.setattr(estimator_module, "History", History)
    broken.set_params(max_iter=9 - broken._states[-1].epochs).fit(X, y)
    assert same(broken, whole)
    assert broken.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


def add(history, press):
    history.on_advance = press.on_advance
    return history


def test_a_run_cut_short_does_not_skip_rows_of_other_data(monkeypatch):
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 100)
    X, y = overlapping(1000, 20)
    options = {"warm_start": True, "random_state": 0, "shuffle": False, "readout": "averaged"}
    model = sx.Perceptron(stop=TimeLimit(1e-9), **options).fit(X, y)
    assert model._states[0].position == model._states[0].clock == 100
    model.set_params(stop=MaxEpochs(1)).fit(X[::-1], y[::-1])
    assert (model._states[0].position, model._states[0].clock) == (0, 1100)


@pytest.mark.parametrize("readout", ["averaged", "voted", "pocket"])
def test_classes_that_ended_at_different_times_learn_on_together(readout):
    X, y = overlapping(300, 4, k=3, seed=2)
    X[y == 0] += 6.0
    model = sx.Perceptron(readout=readout, max_iter=20, random_state=0).fit(X, y)
    ages = [state.age for state in model._states]
    before = model.score(X, y)
    model.partial_fit(X[:50], y[:50])
    assert [state.age for state in model._states] == [age + 50 for age in ages]
    assert model.score(X, y) > before - 0.1


def test_a_failed_fit_leaves_the_estimator_as_it_was():
    X, y = overlapping()
    bad = X.copy()
    bad[150, 3] = np.nan
    model = sx.Perceptron(random_state=0, warm_start=True, stop=MaxEpochs(2))
    for call in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="X contains NaN in row 150"):
            call(bad, y)
        assert not hasattr(model, "n_features_in_")
    model.fit(X, y)
    before = model.coef_.copy(), model.predict(X)
    for data, call in (
        (bad, model.fit),
        (bad, model.partial_fit),
        (bad[:, :2], model.fit),
        (X[:, :2], model.partial_fit),
    ):
        with pytest.raises(ValueError, match=r"NaN|features"):
            call(np.where(np.isfinite(data), data, np.nan) if data.shape[1] == 8 else np.full_like(data, np.nan), y)
        assert np.array_equal(model.coef_, before[0])
        assert np.array_equal(model.predict(X), before[1])
    model.partial_fit(X, y)
    assert same(model, sx.Perceptron(random_state=0, stop=MaxEpochs(3)).fit(X, y))


def test_fit_goes_on_after_partial_fit_and_the_other_way_round():
    X, y = overlapping()
    for readout in READOUTS:
        model = sx.Perceptron(readout=readout, warm_start=True, random_state=0, stop=MaxEpochs(1))
        model.partial_fit(X, y).fit(X, y).partial_fit(X, y)
        assert model._states[0].clock == 900
        if readout != "pocket":  # whose runs end where the data may have changed
            whole = sx.Perceptron(readout=readout, random_state=0, stop=MaxEpochs(3)).fit(X, y)
            assert model.decision_function(X).tobytes() == whole.decision_function(X).tobytes()


def test_partial_fit_refuses_what_it_cannot_go_on_with():
    X, y = overlapping()
    model = sx.Perceptron(random_state=0).partial_fit(X, y)
    assert str(model.status_).startswith("learned online from 300 examples with ")
    with pytest.raises(ValueError, match="readout is now 'voted', but what was learned so far was kept for 'last'"):
        model.set_params(readout="voted").partial_fit(X, y)
    model.set_params(readout="last")
    with pytest.raises(ValueError, match="labels must be all numbers or all text; found 'a' and 0"):
        model.partial_fit(X, np.where(y == 1, "a", "b"))
    with pytest.raises(ValueError, match="y contains NaN"):
        sx.Perceptron().partial_fit(X, y, classes=[0, 1, np.nan])
    strict = sx.Perceptron(boundary="correct", init="uniform", random_state=0).partial_fit(X, y)
    strict.partial_fit(X, np.where(X[:, 0] > 0, 2, y))
    assert strict.coef_.shape == (3, 8)


@pytest.mark.parametrize("weights", [{0: -1, 1: 1}, {0: np.nan, 1: 1}, {0: np.inf, 1: 1}])
def test_class_weights_are_checked(weights):
    X, y = overlapping()
    for call in (sx.Perceptron(class_weight=weights).fit, sx.Perceptron(class_weight=weights).partial_fit):
        with pytest.raises(ValueError, match="class_weight gives"):
            call(X, y)


def test_outside_the_main_thread_fit_works_too():
    X, y = overlapping()
    models = []
    thread = threading.Thread(target=lambda: models.append(sx.Perceptron(stop=MaxEpochs(2), random_state=0).fit(X, y)))
    thread.start()
    thread.join()
    assert same(models[0], sx.Perceptron(stop=MaxEpochs(2), random_state=0).fit(X, y))


def test_the_bar_shows_on_long_runs_only(capsys):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20_000, 50)), rng.integers(0, 2, 20_000)
    sx.Perceptron(verbose=1, stop=MaxEpochs(1)).fit(X, y)
    assert capsys.readouterr().err == ""
    screen = io.StringIO()
    console = Console(file=screen, force_terminal=True, width=80)
    progress = sx.observers.Progress(delay=0.0, console=console)
    sx.solve(sx.Problem(X, y), sx.rules.Perceptron(), stop=MaxEpochs(30), observers=[progress])
    assert "epoch 30" in screen.getvalue()
    assert " mistakes" in screen.getvalue()
    sx.solve(sx.Problem(X, y), sx.rules.Perceptron(), stop=MaxEpochs(3), observers=[sx.observers.Progress(delay=0.0)])
    assert capsys.readouterr().err == ""  # nobody is watching: standard error is not a terminal
