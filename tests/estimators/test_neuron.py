"""The neuron as an estimator: what it reaches, what it says, what it refuses."""

from __future__ import annotations

import pickle
import signal
import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import scale

import separatrix as sx
from ctrl_c import press_ctrl_c
from separatrix.loop.engines import CompiledEngine
from separatrix.observers import Progress
from separatrix.rules.losses import sigmoid
from separatrix.stops import HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoMistakes, NoProgress, TimeLimit


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return scale(X), y


def objective(model, X, y, alpha):
    margins = (2 * y - 1) * (X @ model.coef_[0] + model.intercept_[0])
    return np.logaddexp(0, -margins).mean() + alpha / 2 * model.coef_[0] @ model.coef_[0]


@pytest.fixture(scope="module")
def optimum(cancer):
    X, y = cancer
    alpha = 0.01
    best = LogisticRegression(C=1 / (alpha * len(y)), tol=1e-12, max_iter=10_000).fit(X, y)
    return alpha, objective(best, X, y, alpha)


def test_batch_descent_reaches_the_optimum_of_logistic_regression(cancer, optimum):
    X, y = cancer
    alpha, best = optimum
    model = sx.Neuron(loss="log", batch_size="all", alpha=alpha, eta0=0.5, max_iter=5000, stop=NoProgress(1e-12)).fit(
        X, y
    )
    assert model.status_.converged
    assert best - 1e-12 <= objective(model, X, y, alpha) <= best * (1 + 1e-6)
    assert model.loss_curve_[-1] == pytest.approx(best, rel=1e-6)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("schedule", ["constant", "invscaling", "adaptive"])
@pytest.mark.parametrize(("batch_size", "eta0"), [(1, 0.01), (16, 0.1)])
def test_stochastic_and_fold_descent_come_within_a_hundredth(cancer, optimum, batch_size, eta0, schedule, layout):
    X, y = cancer
    alpha, best = optimum
    eta0 *= 10 if schedule == "invscaling" else 1
    model = sx.Neuron(
        loss="log", batch_size=batch_size, alpha=alpha, eta0=eta0, learning_rate=schedule, random_state=0
    ).fit(layout(X), y)
    assert best <= objective(model, X, y, alpha) <= best * 1.01


@pytest.mark.parametrize("loss", ["squared", "log"])
def test_the_loss_curve_of_a_batch_is_the_objective_before_each_step(cancer, loss):
    X, y = cancer
    model = sx.Neuron(loss=loss, batch_size="all", alpha=0.1, eta0=1.0, warm_start=True, stop=MaxEpochs(1))
    seen = []
    for _ in range(4):
        seen.append(objective_of(model, X, y, loss) if hasattr(model, "coef_") else None)
        model.fit(X, y)
        expected = seen[-1]
        if expected is not None:
            assert model.loss_curve_ == pytest.approx([expected], rel=1e-12)
    assert seen[1] > seen[2] > seen[3]


def objective_of(model, X, y, loss):
    z = X @ model.coef_[0] + model.intercept_[0]
    a = 1 / (1 + np.exp(-z))
    each = (a - y) ** 2 / 2 if loss == "squared" else np.logaddexp(0, -(2 * y - 1) * z)
    return each.mean() + 0.05 * model.coef_[0] @ model.coef_[0]


def test_probabilities_follow_the_rule_of_one_half(cancer):
    X, y = cancer
    model = sx.Neuron(loss="log", random_state=0).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(axis=1), 1.0)
    np.testing.assert_allclose(probability[:, 1], sigmoid(model.decision_function(X)))
    assert np.array_equal(model.predict(X), (probability[:, 1] >= 0.5).astype(int))
    np.testing.assert_allclose(model.predict_log_proba(X), np.log(probability))
    model.coef_[:] = model.intercept_[:] = 0.0
    assert model.predict(X[:1]).tolist() == [1]  # a tie


def test_three_neurons_for_three_classes_are_three_single_neurons():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = sx.Neuron(loss="log", eta0=0.1, random_state=3, stop=MaxEpochs(30)).fit(X, y)
    assert model.coef_.shape == (3, 4)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert np.array_equal(model.predict(X), model.predict_proba(X).argmax(axis=1))
    curve = np.zeros(30)
    for c in range(3):
        single = sx.Neuron(loss="log", eta0=0.1, random_state=3, stop=MaxEpochs(30), shuffle=False)
        together = sx.Neuron(loss="log", eta0=0.1, random_state=3, stop=MaxEpochs(30), shuffle=False)
        alone = single.fit(X, y == c)
        curve += alone.loss_curve_
        assert together.fit(X, y).coef_[c].tobytes() == alone.coef_[0].tobytes()
    np.testing.assert_allclose(together.loss_curve_, curve)


def test_threads_and_layouts_do_not_change_a_result():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((300, 20)), rng.integers(0, 4, 300)
    for batch_size in (1, 16, "all"):
        model = sx.Neuron(loss="log", batch_size=batch_size, random_state=0, stop=MaxEpochs(3), alpha=0.01)
        first = model.fit(X, y).coef_.tobytes()
        assert model.set_params(n_jobs=3).fit(X, y).coef_.tobytes() == first
        strided = np.zeros((300, 41))[:, 1:41:2]
        strided[:] = X
        assert model.fit(strided, y).coef_.tobytes() == first
        np.testing.assert_allclose(model.fit(sparse.csr_array(X), y).coef_.ravel(), np.frombuffer(first), rtol=1e-9)


@pytest.mark.parametrize("batch_size", [1, 16, "all"])
@pytest.mark.parametrize("eta0", [1000.0, 1e308])
def test_steps_that_are_too_large_end_the_run_and_a_better_one_is_named(cancer, eta0, batch_size):
    X, y = cancer
    model = sx.Neuron(loss="log", eta0=eta0, batch_size=batch_size, random_state=0)
    with pytest.warns(ConvergenceWarning, match="^diverged: eta0=.* is too large .* try eta0="):
        model.fit(X, y)
    assert model.status_.diverged
    assert not model.status_.converged
    assert model.n_iter_ < 50
    assert np.isfinite(model.coef_).all()
    safe = float(str(model.status_).rsplit("=", 1)[1])
    again = sx.Neuron(loss="log", eta0=safe, batch_size=batch_size, random_state=0, stop=MaxEpochs(50)).fit(X, y)
    assert again.loss_curve_[-1] < 0.2


def test_one_class_whose_weights_overflow_does_not_end_the_others():
    X = np.array([[1.0, 1e200, 0.0], [1.0, 1e200, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 3.0], [-1.0, 0.0, 1.0]])
    y = np.array([0, 0, 1, 1, 2])
    sure = [[-800.0, 0.0, 0.0]] * 2  # of the first two rows, so that they teach these classes nothing
    options = {"loss": "log", "eta0": 0.1, "shuffle": False, "max_iter": 40}
    model = sx.Neuron(init=([[0.0] * 3, *sure], np.zeros(3)), **options)
    with pytest.warns(ConvergenceWarning, match="problems did not converge; class 0: eta0=.* is too large"):
        model.fit(X, y)
    alone = sx.Neuron(init=(sure[:1], [0.0]), stop=NoProgress(), **options).fit(X, y == 1)
    assert model.coef_[1].tolist() == alone.coef_[0].tolist() != sure[0]
    assert model.coef_[0].tolist() == [0.0, 0.0, 0.0]


def test_a_loss_that_starts_high_and_falls_is_not_diverging(cancer):
    X, y = cancer
    start = (np.full((1, 30), 50.0), np.zeros(1))
    model = sx.Neuron(loss="log", batch_size="all", eta0=0.5, init=start, stop=MaxEpochs(200), alpha=0.1).fit(X, y)
    assert "stopped: epoch limit of 200 reached" in str(model.status_)
    assert model.loss_curve_[-1] < model.loss_curve_[0] / 10


def test_an_adaptive_rate_is_divided_until_nothing_is_left(cancer):
    X, y = cancer
    model = sx.Neuron(loss="log", eta0=1.0, learning_rate="adaptive", alpha=0.01, random_state=0).fit(X, y)
    assert "no longer decreases, even at learning rate 0.00032" in str(model.status_)
    assert model.status_.converged


def test_a_falling_rate_makes_step_t_smaller_by_the_root_of_t():
    X, y = np.array([[1.0], [1.0]]), np.array([0, 1])
    plain = sx.Neuron(loss="log", eta0=1.0, shuffle=False, fit_intercept=False, stop=MaxEpochs(1)).fit(X, y).coef_[0, 0]
    assert plain == pytest.approx(-0.5 + sigmoid(0.5))
    model = sx.Neuron(loss="log", eta0=1.0, learning_rate="invscaling", shuffle=False, fit_intercept=False)
    falling = model.set_params(stop=MaxEpochs(1)).fit(X, y).coef_[0, 0]
    assert falling == pytest.approx(-0.5 + sigmoid(0.5) / np.sqrt(2))


@pytest.mark.parametrize("batch_size", [1, 7, "all"])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("k", [2, 3])
def test_an_interrupted_run_goes_on_to_the_same_bits(monkeypatch, batch_size, alpha, k):
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 14)
    rng = np.random.default_rng(k)
    X, y = rng.standard_normal((100, 5)), rng.integers(0, k, 100)
    options = {
        "loss": "log", "batch_size": batch_size, "alpha": alpha, "eta0": 0.1, "random_state": 1,
        "learning_rate": "adaptive", "stop": MaxEpochs(9),
    }  # fmt: skip
    whole = sx.Neuron(**options).fit(X, y)
    broken = sx.Neuron(**options, warm_start=True)
    advance, calls = CompiledEngine.advance, [0]

    def press(self, *arguments):
        calls[0] += 1
        if calls[0] == (5 if batch_size == "all" else 24):
            signal.raise_signal(signal.SIGINT)
        return advance(self, *arguments)

    monkeypatch.setattr(CompiledEngine, "advance", press)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y)
    assert "interrupted" in str(broken.status_)
    assert np.isfinite(broken.coef_).all()
    broken = pickle.loads(pickle.dumps(broken))
    done = broken._states[0].epochs
    assert 0 < done < 9
    broken.set_params(stop=MaxEpochs(9 - done)).fit(X, y)
    assert broken.coef_.tobytes() == whole.coef_.tobytes()
    assert broken.intercept_.tobytes() == whole.intercept_.tobytes()


def test_ctrl_c_ends_a_long_run_soon():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((50_000, 50)), rng.integers(0, 2, 50_000)
    press_ctrl_c()
    model = sx.Neuron(loss="log", batch_size=32, stop=MaxEpochs(10**6), max_iter=10**6, shuffle=False)
    began = time.process_time()  # of this process: other work on the machine does not count
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert time.process_time() - began < 5
    assert model.score(X, y) > 0.4


def test_online_learning_is_one_epoch_and_takes_new_classes():
    X, y = load_iris(return_X_y=True)
    X = scale(X)
    model = sx.Neuron(loss="log", eta0=0.1, random_state=0)
    model.partial_fit(X[:100], y[:100])
    assert model.coef_.shape == (1, 4)
    mirrored = -model.coef_[0]
    model.partial_fit(X[100:], y[100:])
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.coef_.shape == (3, 4)
    assert mirrored @ model.coef_[0] > 0
    for _ in range(60):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.85
    assert str(model.status_).startswith("learned online from 150 examples")


def test_partial_fits_in_a_row_are_the_epochs_of_a_fit(cancer):
    X, y = cancer
    whole = sx.Neuron(loss="log", batch_size=16, random_state=0, stop=MaxEpochs(3), alpha=0.01).fit(X, y)
    parts = sx.Neuron(loss="log", batch_size=16, random_state=0, alpha=0.01)
    for _ in range(3):
        parts.partial_fit(X, y)
    assert parts.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("batch_size", [1, 4, "all"])
def test_a_weight_of_three_is_three_copies_in_every_mode(batch_size):
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    weights = rng.integers(0, 5, 40)
    options = {"loss": "log", "batch_size": batch_size, "eta0": 0.3, "random_state": 0, "stop": MaxEpochs(6)}
    weighted = sx.Neuron(**options).fit(X, y, sample_weight=weights)
    copied = sx.Neuron(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(weighted.coef_, copied.coef_, rtol=1e-9)
    np.testing.assert_allclose(weighted.loss_curve_, copied.loss_curve_, rtol=1e-9)


def test_weights_of_any_size_do_not_hold_up_a_run():
    rng = np.random.default_rng(5)
    X, y = rng.standard_normal((40, 3)), rng.integers(0, 2, 40)
    for batch_size in (1, 4, "all"):
        for weight in (1e306, 1e12, 1e-12):
            model = sx.Neuron(loss="log", batch_size=batch_size, stop=MaxEpochs(2))
            assert np.isfinite(model.fit(X, y, sample_weight=np.full(40, weight)).coef_).all()


def test_every_stop_rule_works_for_a_neuron(cancer):
    X, y = cancer
    stops = {
        NoMistakes(): "stopped: epoch limit of 30 reached",
        TimeLimit(1e-6): "stopped: time limit",
        LossAtMost(60.0, loss="log"): "converged: loss ",
        LossAtMost(15.0, loss="squared"): "converged: loss ",
        HeldOutFlat(0.2): "converged: validation error not lower",
        NoProgress(0.5): "relative decrease at most 0.5 in 5 epochs (epoch 10)",
    }
    for stop, words in stops.items():
        model = sx.Neuron(loss="log", eta0=0.01, max_iter=30, stop=stop, random_state=0).fit(X, y)
        assert words in str(model.status_), stop


def test_a_separable_problem_ends_without_a_warning_though_its_loss_has_no_minimum():
    model = sx.Neuron(loss="log", eta0=1.0, max_iter=50).fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    assert "converged: no mistakes, mean loss " in str(model.status_)


def test_a_run_that_has_not_converged_warns(cancer):
    with pytest.warns(
        ConvergenceWarning, match=r"stopped: epoch limit of 3 reached, .* mean loss .* Scale the features"
    ):
        sx.Neuron(max_iter=3).fit(*cancer)


def test_a_failed_fit_leaves_the_model_as_it_was(cancer):
    X, y = cancer
    model = sx.Neuron(loss="log", random_state=0, stop=MaxEpochs(2)).fit(X, y)
    before = model.coef_.tobytes()
    spoiled = X.copy()
    spoiled[17, 3] = np.nan
    for attempt in (model.fit, model.partial_fit):
        with pytest.raises(ValueError, match="X contains NaN in row 17, column 3"):
            attempt(spoiled, y)
        assert model.coef_.tobytes() == before


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"loss": "hinge"}, "loss must be one of squared, log; found 'hinge'"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, or 'all'; found 0"),
        ({"batch_size": "some"}, "batch_size must be a whole number of at least 1, or 'all'; found 'some'"),
        ({"batch_size": 2.5}, "batch_size must be a whole number of at least 1, or 'all'; found 2.5"),
        ({"eta0": -1}, "eta0 must be a positive finite number; found -1.0"),
        ({"alpha": -0.1}, "alpha must be zero or a positive finite number; found -0.1"),
        ({"learning_rate": "optimal"}, "learning_rate must be one of constant, invscaling, adaptive; found 'optimal'"),
        ({"max_iter": 0}, "max_iter must be a whole number of at least 1; found 0"),
        ({"init": "random"}, "init must be 'zeros', 'uniform' or"),
    ],
)
def test_bad_parameters_get_one_clear_sentence(options, message):
    with pytest.raises(ValueError, match=message):
        sx.Neuron(**options).fit([[0.0], [1.0]], [0, 1])


def test_parameters_of_the_wrong_kind_are_type_errors():
    with pytest.raises(TypeError, match="eta0 must be a number; found 'fast'"):
        sx.Neuron(eta0="fast").fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(TypeError, match="stop must be a stop rule"):
        sx.Neuron(stop=10).fit([[0.0], [1.0]], [0, 1])


def test_smooth_rules_have_the_readouts_that_make_sense_for_them():
    problem = sx.Problem([[0.0], [1.0]], [0, 1])
    rule = sx.rules.LogisticNeuron()
    for readout in ("voted", "pocket"):
        with pytest.raises(ValueError, match=f"readout='{readout}' is kept for perceptrons only"):
            sx.solve(problem, rule, readout=readout)
    with pytest.raises(ValueError, match="readout='averaged' needs alpha=0"):
        sx.solve(problem, sx.rules.LogisticNeuron(alpha=0.1), readout="averaged")
    with pytest.raises(
        ValueError, match="NoProgress monitors the loss of gradient descent; for 'perceptron' use LossFlat"
    ):
        sx.solve(problem, sx.rules.Perceptron(), stop=NoProgress())
    averaged = sx.solve(problem, rule, readout="averaged", stop=MaxEpochs(4), engine="reference")
    path = sx.trace([[0.0], [1.0]], [0, 1], rule="logistic_neuron", eta0=0.01, max_iter=4).path
    assert averaged.weights[0] == pytest.approx(path[1:, 0].mean())


def test_a_trace_of_a_neuron_shows_floats_and_updates_at_every_step():
    run = sx.trace([[1, 1], [-1, 0]], [1, -1], rule="sigmoid_neuron", eta0=1, max_iter=1)
    assert [step.updated for step in run] == [True, True]
    assert run[0].weights == (0.125, 0.125)
    assert run.path.shape == (3, 3)
    assert run.header()[5:9] == ["b", "z", "output a", "update?"]
    assert run.rows()[0][6:8] == ["0", "0.5"]
    assert "output" in run.to_csv().splitlines()[0].split(",")
    with pytest.raises(ValueError, match="rule 'sigmoid_neuron' cannot be computed exactly: use exact=False"):
        sx.trace([[1, 1], [-1, 0]], [1, -1], rule="sigmoid_neuron", exact=True)


@pytest.mark.parametrize("k", [2, 3])
def test_an_interrupted_run_with_the_usual_stop_ends_where_the_whole_run_ends(monkeypatch, cancer, k):
    X, y = cancer
    y = y if k == 2 else np.where(X[:, 0] > 1, 2, y)
    options = {"loss": "log", "eta0": 0.005, "alpha": 0.01, "random_state": 0}
    whole = sx.Neuron(**options).fit(X, y)
    assert whole.n_iter_ > 12
    broken = sx.Neuron(**options, warm_start=True)
    advance, calls = CompiledEngine.advance, [0]

    def press(self, *arguments):
        calls[0] += 1
        if calls[0] == 9:
            signal.raise_signal(signal.SIGINT)
        return advance(self, *arguments)

    monkeypatch.setattr(CompiledEngine, "advance", press)
    with pytest.raises(KeyboardInterrupt):
        broken.fit(X, y)
    first = broken.n_iter_
    broken.fit(X, y)
    assert first + broken.n_iter_ == whole.n_iter_
    assert broken.coef_.tobytes() == whole.coef_.tobytes()


def cut_short(monkeypatch, X, y, **options):
    """Return a neuron whose run the time limit ended in the middle of an epoch."""
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 21)
    model = sx.Neuron(loss="log", eta0=0.1, random_state=0, warm_start=True, stop=TimeLimit(1e-9), **options)
    model.fit(X, y, sample_weight=np.linspace(0.5, 2, len(y)))
    assert model._states[0].position > 0
    return model


def test_a_run_cut_short_can_go_on_with_other_parameters(monkeypatch, cancer):
    X, y = cancer
    for changed in (
        {"batch_size": 7},
        {"batch_size": 2**62},
        {"batch_size": "all"},
        {"shuffle": False},
        {"alpha": 0.0},
    ):
        model = cut_short(monkeypatch, X, y, batch_size=3, alpha=0.1)
        model.set_params(**changed, stop=MaxEpochs(30)).fit(X, y, sample_weight=np.linspace(0.5, 2, len(y)))
        assert model.score(X, y) > 0.9, changed
        model = cut_short(monkeypatch, sparse.csr_array(X), y, batch_size=3, alpha=0.1)
        model.set_params(**changed, stop=HeldOutFlat(0.3)).fit(sparse.csr_array(X), y)
        assert model.score(X, y) > 0.9, changed


def test_weights_kept_with_a_scale_learn_on_as_weights_without(monkeypatch, cancer):
    X, y = cancer
    for layout in (np.asarray, sparse.csr_array):
        model = cut_short(monkeypatch, layout(X), y, alpha=0.5)
        assert model._states[0].scale != 1
        start = (model.coef_.copy(), model.intercept_.copy())
        for engine in ("compiled", "reference"):
            state = pickle.loads(pickle.dumps(model._states[0]))
            state.ended, state.position = None, 0
            rule = sx.rules.LogisticNeuron(eta=0.1)
            went_on = sx.solve(sx.Problem(layout(X), y), rule, start=state, stop=MaxEpochs(1), engine=engine)
            fresh = sx.Neuron(loss="log", eta0=0.1, shuffle=False, init=start, stop=MaxEpochs(1)).fit(layout(X), y)
            np.testing.assert_allclose(went_on.weights, fresh.coef_[0], rtol=1e-9)


def test_a_spent_rate_is_given_back_to_the_next_run(cancer):
    X, y = cancer
    options = {"loss": "log", "eta0": 0.1, "alpha": 0.01, "learning_rate": "adaptive", "random_state": 0}
    model = sx.Neuron(**options, warm_start=True).fit(X, y)
    assert model._states[0].rate < 1e-4
    model.fit(-X, y)
    assert model.score(-X, y) > 0.95
    for _ in range(30):
        model.partial_fit(X, y)
    assert model.score(X, y) > 0.95
    assert model._states[0].rate == 1.0


def test_online_learning_does_not_hide_that_it_diverged(cancer):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="is too large"):
        model = sx.Neuron(loss="log", eta0=1e200).partial_fit(X * 1e150, y)
    assert model.status_.diverged
    with pytest.warns(ConvergenceWarning, match="is too large"):
        sx.Neuron(loss="log", eta0=1e3, stop=TimeLimit(5)).fit(X, y)


@pytest.mark.parametrize("weight", [3000.0, 1e6, 1e12])
def test_no_weight_makes_a_step_too_large(cancer, weight):
    X, y = cancer
    weights = np.ones(len(y))
    weights[7] = weight
    model = sx.Neuron(loss="log", alpha=0.01, random_state=0, stop=MaxEpochs(20)).fit(X, y, sample_weight=weights)
    assert not model.status_.diverged
    assert np.abs(model.coef_).max() < 100
    assert model.predict(X[7:8]) == y[7:8]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"batch_size": "all"},
        {"loss": "log", "learning_rate": "adaptive"},
        {"loss": "log", "eta0": 1e-9, "batch_size": "all"},
    ],
)
def test_a_run_that_learned_nothing_does_not_call_itself_converged(options):
    X, y = load_breast_cancer(return_X_y=True)  # unscaled: features up to 4,000
    with pytest.warns(ConvergenceWarning, match=r"no better than .*, the loss of predicting 1/2 for every row"):
        model = sx.Neuron(random_state=0, **options).fit(X, y)
    assert not model.status_.converged


def test_the_loss_curve_keeps_the_last_loss_of_classes_that_have_ended():
    X, y = load_iris(return_X_y=True)
    model = sx.Neuron(loss="log", eta0=0.1, alpha=0.1, random_state=0).fit(scale(X), y)
    epochs = [state.epochs for state in model._states]
    curve = np.array(model.loss_curve_)
    assert len(curve) == max(epochs)
    assert np.abs(np.diff(curve[5:])).max() < 0.05


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_probabilities_name_the_predicted_class_even_where_all_neurons_are_sure():
    X, y = load_iris(return_X_y=True)
    model = sx.Neuron(loss="log", eta0=1.0, stop=MaxEpochs(50), random_state=0).fit(10 * X, y)
    assert np.array_equal(model.predict_proba(10 * X).argmax(axis=1), model.predict(10 * X))
    assert np.array_equal(model.predict_proba(-1e6 * X).argmax(axis=1), model.predict(-1e6 * X))


@pytest.mark.parametrize("stop", [LossAtMost(0.0, loss="log"), HeldOutFlat(0.2)])
@pytest.mark.parametrize("batch_size", [1, 64, "all"])
def test_weights_that_overflow_in_the_last_step_of_an_epoch_are_not_weighed(cancer, stop, batch_size):
    X, y = cancer
    with pytest.warns(ConvergenceWarning, match="is too large"):
        model = sx.Neuron(loss="log", eta0=1.7e308, batch_size=batch_size, stop=stop, random_state=0).fit(X, y)
    assert np.isfinite(model.coef_).all()


def interrupted(monkeypatch, model, X, y, epochs):
    """Return the model after a fit that Ctrl-C ended when so many epochs were done."""
    tell = Progress.on_epoch

    def press(self, epoch):
        if epoch.number == epochs:
            signal.raise_signal(signal.SIGINT)
        return tell(self, epoch)

    with monkeypatch.context() as patch:
        patch.setattr(Progress, "on_epoch", press)
        with pytest.raises(KeyboardInterrupt):
            model.set_params(warm_start=True, verbose=1).fit(X, y)
    assert model.n_iter_ == epochs
    return model


@pytest.mark.parametrize(
    ("options", "epochs"),
    [
        ({"eta0": 30.0}, 1),
        ({"eta0": 30.0}, 2),
        ({"eta0": 0.003, "stop": LossFlat(change=4.0, patience=2, every=3, loss="log")}, 4),
        ({"eta0": 0.003, "stop": LossAtMost(80.0, every=3, loss="log")}, 1),
        ({"eta0": 0.003, "stop": HeldOutFlat(0.2, patience=3)}, 2),
        ({"eta0": 0.1, "learning_rate": "adaptive", "alpha": 0.01}, 20),
    ],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_whatever_ends_a_run_ends_an_interrupted_one_there_too(monkeypatch, cancer, options, epochs):
    X, y = cancer
    whole = sx.Neuron(loss="log", random_state=0, **options).fit(X, y)
    assert whole.n_iter_ > epochs
    broken = interrupted(monkeypatch, sx.Neuron(loss="log", random_state=0, **options), X, y, epochs)
    broken.fit(X, y)
    assert epochs + broken.n_iter_ == whole.n_iter_
    assert broken.coef_.tobytes() == whole.coef_.tobytes()
    assert broken.status_.diverged == whole.status_.diverged


def test_a_time_limit_at_the_end_of_an_epoch_cuts_a_run_short_like_any_other(monkeypatch, cancer):
    X, y = cancer
    options = {"loss": "log", "eta0": 0.1, "alpha": 0.01, "learning_rate": "adaptive", "random_state": 0}
    whole = sx.Neuron(**options, max_iter=200).fit(X, y)
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 10**9)
    broken = sx.Neuron(**options, warm_start=True, stop=TimeLimit(1e-9), max_iter=200)
    for _ in range(whole.n_iter_):
        broken.fit(X, y)
        assert broken.n_iter_ == 1
    assert broken.coef_.tobytes() == whole.coef_.tobytes()


def test_other_stop_rules_and_losses_can_be_asked_of_a_run_cut_short(monkeypatch, cancer):
    X, y = cancer
    for changed in ({"stop": LossFlat()}, {"stop": LossAtMost(1.0, loss="squared")}, {"loss": "log"}, {"alpha": 0.01}):
        model = interrupted(monkeypatch, sx.Neuron(eta0=0.05, random_state=0, max_iter=50), X, y, 3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model.set_params(**changed).fit(X, y)
        assert model.n_iter_ >= 6, changed


def test_the_history_of_a_run_that_goes_on_counts_the_classes_that_have_ended(monkeypatch):
    X, y = load_iris(return_X_y=True)
    model = sx.Neuron(loss="log", eta0=0.1, random_state=0, stop=NoProgress(tol=1e-2, patience=2))
    model = interrupted(monkeypatch, model, scale(X), y, 20)
    assert any(state.ended for state in model._states)
    before = model.loss_curve_[-1]
    model.fit(scale(X), y)
    assert model.loss_curve_[0] == pytest.approx(before, rel=0.2)


def test_reaching_what_was_asked_for_is_a_success_whatever_the_loss():
    X, y = [[-1.0], [-2.0], [1.0], [2.0]], [0, 0, 1, 1]
    model = sx.Neuron(stop=LossAtMost(0), batch_size="all").fit(X, y)
    assert model.status_.converged
    assert str(model.status_) == "converged: loss 0, at most 0 (epoch 1)"


def test_a_batch_of_one_heavy_example_is_still_a_batch():
    model = sx.Neuron(batch_size="all", loss="log", eta0=0.5)
    heavy = model.partial_fit([[1.0, 2.0]], [1], classes=[0, 1], sample_weight=[5.0]).coef_
    assert heavy.tolist() == [[0.25, 0.5]]
