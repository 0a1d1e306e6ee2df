"""The online soft-margin SVM: steps by hand, averages kept one by one, LinearSVC's optimum, copies, going on."""

from __future__ import annotations

import math
import pickle
import signal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import LinearSVC

import separatrix as sx
from separatrix.loop.engines import CompiledEngine
from separatrix.loop.order import Orders
from separatrix.loop.problem import Problem
from separatrix.loop.readouts import read
from separatrix.loop.solve import new_state, solve, solve_tasks
from separatrix.observers import History
from separatrix.rules import OnlineHinge, Pegasos
from separatrix.rules.losses import Hinge
from separatrix.stops import HeldOutFlat, LossAtMost, LossFlat, MaxEpochs, NoProgress

F = Fraction
RULES = [
    OnlineHinge(0.25),
    OnlineHinge(0.25, bias="penalised"),
    OnlineHinge(1.0, n=1),  # halves the weights at every example
    Pegasos(0.05),
    Pegasos(0.05, bias="penalised"),
    Pegasos(1e-3, project=True),
    Pegasos(1e-3, project=True, bias="penalised"),
]
LAYOUTS = [np.asarray, sparse.csr_array]


def noisy(n=200, d=7, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    return X, np.where(X @ rng.standard_normal(d) + 0.5 + rng.standard_normal(n) > 0, 1, -1)


def run_by_hand(rule, X, y, epochs, *, K=1.0):
    """Every weight vector of a run in the order of the rows, as the lecture and the paper write their steps."""
    w, b, t, met = np.zeros(X.shape[1]), 0.0, 0, []
    for _ in range(epochs):
        for x, sign in zip(X, y, strict=True):
            t += 1
            pegasos = isinstance(rule, Pegasos)
            eta = 1 / (rule.lam * t) if pegasos else rule.gamma
            shrink = 1 - 1 / t if pegasos else 1 - 1 / (2 * (rule.n or len(X)))
            wrong = sign * (w @ x + b) < 1
            w = shrink * w + wrong * eta * sign * x
            b = (shrink if rule.bias == "penalised" else 1.0) * b + wrong * eta * sign * K * K
            if pegasos and rule.project:
                length = math.sqrt(w @ w + (b * b / (K * K) if K and rule.bias == "penalised" else 0.0))
                back = min(1.0, 1 / math.sqrt(rule.lam) / length) if length else 1.0
                w, b = back * w, (back if rule.bias == "penalised" else 1.0) * b
            met.append((w, b))
    return np.array([w for w, _ in met]), np.array([b for _, b in met])


# ---------------------------------------------------------------------------------------------- by hand


def test_three_steps_of_lecture_003_by_hand():
    run = sx.trace(
        [[1, 1], [-1, 0], [2, 0]], [1, -1, 1], rule="online_hinge", eta0=F(1, 2), max_iter=1
    )  # N = 3: the weights shrink by 5/6
    assert [(step.weights, step.bias, step.updated) for step in run] == [
        ((F(1, 2), F(1, 2)), F(1, 2), True),  # margin 0
        ((F(11, 12), F(5, 12)), 0, True),  # margin 0: 5/6 (1/2, 1/2) + 1/2 (1, 0)
        ((F(55, 72), F(25, 72)), 0, False),  # margin 11/6: shrunk and no more, and the bias not even that
    ]
    assert run.n_updates == 2
    penalised = solve(
        Problem.from_exact([[1, 1], [-1, 0], [2, 0]], [1, -1, 1]),
        OnlineHinge(F(1, 2), bias="penalised"), engine="reference", stop=MaxEpochs(1),
    )  # fmt: skip
    assert penalised.bias == F(5, 6) * (F(5, 6) * F(1, 2) - F(1, 2))


def test_six_steps_of_pegasos_by_hand():
    run = sx.trace([[1, 1], [-1, 0], [2, 0]], [1, -1, 1], rule="pegasos", lam=F(1, 2), max_iter=2, readout="averaged")
    assert [(*step.weights, step.bias) for step in run] == [
        (2, 2, 2),  # t = 1: 2 / 1 (1, 1)
        (2, 1, 1),  # t = 2, margin 0: 1/2 (2, 2) + 1 (1, 0)
        (F(4, 3), F(2, 3), 1),  # t = 3, margin 5
        (1, F(1, 2), 1),  # t = 4, margin 3
        (F(6, 5), F(2, 5), F(3, 5)),  # t = 5, margin 0: 4/5 (1, 1/2) + 2/5 (1, 0)
        (1, F(1, 3), F(3, 5)),  # t = 6, margin 3
    ]
    assert [step.updated for step in run] == [True, True, False, False, True, False]
    assert run.weights == (F(64, 45), F(49, 60))
    assert run.bias == F(31, 30)


def test_a_margin_of_exactly_one_is_wide_enough():
    for engine in ("reference", "compiled"):
        for rule in (OnlineHinge(1.0, n=1), Pegasos(1.0)):
            problem = Problem([[1.0], [-1.0]], [1, -1], bias=None)
            state = new_state(problem, 1, ([1.0], 0.0), readout="last")
            assert solve(problem, rule, engine=engine, start=state, stop=MaxEpochs(1)).n_updates == 1  # 2nd row


def test_the_first_step_of_pegasos_forgets_the_start():
    X, y = noisy()
    runs = [
        solve(Problem(X, y, bias=None), Pegasos(0.1), stop=MaxEpochs(1), readout="averaged", start=start).weights
        for start in ("zeros", (np.full(7, 1e-9), 0.0))
    ]
    assert runs[0].tobytes() == runs[1].tobytes()


def test_weights_of_pegasos_are_the_examples_it_learned_from():
    X, y = noisy(50)
    steps = sx.trace(X, y, rule="pegasos", lam=0.25, max_iter=3, exact=False, fit_intercept=False)
    learned = sum(step.y * np.array(step.x) for step in steps if step.updated)
    np.testing.assert_allclose(steps.weights, learned / (0.25 * 150), rtol=1e-12)


# ---------------------------------------------------------------------------------------------- averages


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("K", [0.0, 1.0, 2.0])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_last_and_averaged_weights_are_those_of_all_weights_kept_one_by_one(rule, K, layout):
    X, y = noisy()
    weights, biases = run_by_hand(rule, X, y, 5, K=K)
    for engine in ("compiled", "reference"):
        problem = Problem(layout(X), y, bias=K)
        averaged = solve(problem, rule, engine=engine, stop=MaxEpochs(5), readout="averaged")
        np.testing.assert_allclose(averaged.weights, weights.mean(axis=0), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(averaged.bias, biases.mean(), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(averaged.state.weights, weights[-1], rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(averaged.state.bias, biases[-1], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("rule", [Pegasos(1e-5), Pegasos(1e-5, project=True), OnlineHinge(1.0, n=40)], ids=str)
def test_averages_of_long_epochs_lose_few_digits(rule):
    """The scale falls to 1/n (Pegasos) and to e^-250 (the hinge) before the epoch ends."""
    X, y = noisy(20_000)
    weights, biases = run_by_hand(rule, X, y, 1)
    for layout in LAYOUTS:
        found = solve(Problem(layout(X), y), rule, stop=MaxEpochs(1), readout="averaged")
        np.testing.assert_allclose(found.weights, weights.mean(axis=0), rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.bias, biases.mean(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_the_average_can_be_read_in_the_middle_of_an_epoch(monkeypatch, rule):
    X, y = noisy()
    weights, biases = run_by_hand(rule, X, y, 1)
    problem = Problem(X, y)
    state = new_state(problem, 1, "zeros", readout="averaged")
    engine = CompiledEngine(problem, rule.among(200), boundary="mistake")
    plan = Orders(problem, "cyclic", 0).plan(0, 1)
    for begin in range(0, 130, 13):
        engine.advance([state], plan, begin, begin + 13)
        met = slice(0, begin + 13)
        found = read(state, "averaged")
        np.testing.assert_allclose(found[0], weights[met].mean(axis=0), rtol=1e-10, atol=1e-10)
        np.testing.assert_allclose(found[1], biases[met].mean(), rtol=1e-10, atol=1e-10)
    before = read(state, "averaged")[0], read(state, "last")[0]
    state.settle()
    np.testing.assert_allclose(read(state, "averaged")[0], before[0], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(read(state, "last")[0], before[1], rtol=1e-15)


# ---------------------------------------------------------------------------------------------- the optimum


def objective(X, y, w, lam):
    return lam / 2 * w @ w + np.maximum(0, 1 - y * (X @ w)).mean()


@pytest.mark.parametrize("C", [0.01, 1.0])
def test_pegasos_approaches_the_optimum_of_the_soft_margin_svm(C):
    X, y = noisy(400, 10)
    lam = 1 / (C * len(y))
    best = LinearSVC(loss="hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y)
    optimum = objective(X, y, best.coef_[0], lam)
    for rule in (Pegasos(lam), Pegasos(lam, project=True)):
        for readout in ("last", "averaged"):
            problem = Problem(X, y, bias=None)
            found = solve(problem, rule, stop=MaxEpochs(400), readout=readout, order="shuffled")
            value = objective(X, y, found.weights, lam)
            assert optimum * (1 - 1e-9) <= value < 1.03 * optimum


def test_a_penalised_bias_reaches_liblinears_optimum_too():
    X, y = noisy(400, 10)
    best = LinearSVC(loss="hinge", C=0.1, tol=1e-8, max_iter=1_000_000).fit(X, y)
    with_one = np.hstack([X, np.ones((400, 1))])
    lam = 1 / (0.1 * 400)
    optimum = objective(with_one, y, np.append(best.coef_[0], best.intercept_), lam)
    for batch_size in (1, 8):
        found = solve(
            Problem(X, y), Pegasos(lam, bias="penalised"), stop=MaxEpochs(300), order="shuffled", batch_size=batch_size
        )
        assert objective(with_one, y, np.append(found.weights, found.bias), lam) < 1.01 * optimum


def test_the_fixed_rate_hovers_around_the_optimum_for_twice_gamma():
    X, y = noisy(400, 10)
    gamma = 0.005
    rule = OnlineHinge(gamma)
    lam = float(rule.among(400).alpha)
    assert lam == pytest.approx(1 / (2 * gamma * 400))
    best = LinearSVC(loss="hinge", C=2 * gamma, fit_intercept=False, tol=1e-8, max_iter=1_000_000).fit(X, y)
    found = solve(Problem(X, y, bias=None), rule, stop=MaxEpochs(200), readout="averaged", order="shuffled")
    assert objective(X, y, found.weights, lam) < 1.001 * objective(X, y, best.coef_[0], lam)


def test_the_dual_weights_of_pegasos_are_feasible_and_their_gap_closes():
    X, y = noisy(100, 5)
    lam, gaps = 0.1, []
    for epochs in (2, 60):
        found = solve(Problem(X, y, bias=None), Pegasos(lam), engine="reference", stop=MaxEpochs(epochs))
        w = found.weights
        alpha = lam * 100 * np.array([float(found.state.alphas.get(i, 0.0)) for i in range(100)])
        np.testing.assert_allclose((alpha * y) @ X / (lam * 100), w, rtol=1e-9, atol=1e-12)
        alpha = np.clip(alpha, 0, 1)  # the share of the epochs in which each example taught, but for rounding
        dual = -Hinge.conjugate(alpha).mean() - lam / 2 * w @ w
        gaps.append((objective(X, y, w, lam) - dual) / dual)
    assert 0 <= gaps[1] < 0.02 < gaps[0]


# ---------------------------------------------------------------------------------------------- the ball


@pytest.mark.parametrize("bias", ["free", "penalised"])
def test_projected_weights_never_leave_the_ball_and_others_do(bias):
    X, y = noisy()
    lam, K = 1e-3, 2.0
    radius = 1 / math.sqrt(lam)

    class Lengths:
        def __init__(self):
            self.seen = []

        def on_step(self, step):
            square = sum(w * w for w in step.weights) + (step.bias**2 / K**2 if bias == "penalised" else 0.0)
            self.seen.append(math.sqrt(square))

    for project in (True, False):
        lengths = Lengths()
        solve(
            Problem(X, y, bias=K), Pegasos(lam, project, bias), engine="reference", stop=MaxEpochs(2),
            observers=[lengths],
        )  # fmt: skip
        assert (max(lengths.seen) <= radius * (1 + 1e-12)) == project


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("batch_size", [1, 6])
def test_the_core_projects_after_every_step(monkeypatch, layout, batch_size):
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 1)
    X, y = noisy()
    radius, advance, lengths = 1 / math.sqrt(1e-3), CompiledEngine.advance, []

    def measured(self, states, *arguments):
        advance(self, states, *arguments)
        lengths.append(float(np.linalg.norm(states[0].scale * states[0].weights)))

    monkeypatch.setattr(CompiledEngine, "advance", measured)
    solve(Problem(layout(X), y), Pegasos(1e-3, project=True), stop=MaxEpochs(3), batch_size=batch_size)
    assert max(lengths) <= radius * (1 + 1e-12)
    assert max(lengths) >= radius * (1 - 1e-12)


# ---------------------------------------------------------------------------------------------- copies and layouts


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_a_weight_of_three_is_three_copies_and_zero_is_none(rule, readout):
    X, y = noisy(60)
    counts = np.random.default_rng(1).integers(0, 4, 60)
    options = {"stop": MaxEpochs(4), "readout": readout}
    for layout in LAYOUTS:
        histories = History(), History()
        weighted = solve(Problem(layout(X), y, sample_weight=counts), rule, observers=[histories[0]], **options)
        copied = solve(
            Problem(layout(np.repeat(X, counts, axis=0)), np.repeat(y, counts)), rule, observers=[histories[1]],
            **options,
        )  # fmt: skip
        assert weighted.weights.tobytes() == copied.weights.tobytes()
        assert weighted.bias == copied.bias
        assert weighted.n_updates == copied.n_updates
        assert histories[0].mean_loss == histories[1].mean_loss


def test_pegasos_does_not_care_what_all_weights_are_multiplied_by():
    X, y = noisy(60)
    weights = np.random.default_rng(1).uniform(0.5, 1.0, 60)
    for batch_size in (1, "all"):
        for readout in ("last", "averaged"):
            runs = [
                solve(
                    Problem(X, y, sample_weight=factor * weights), Pegasos(0.1), stop=MaxEpochs(4), readout=readout,
                    batch_size=batch_size,
                )
                for factor in (1.0, 0.01)
            ]  # fmt: skip
            np.testing.assert_allclose(runs[0].weights, runs[1].weights, rtol=1e-9)


def test_no_weight_can_hold_up_a_run_or_blow_it_up():
    X, y = noisy(20)
    weights = np.ones(20)
    weights[3] = 1e15
    for rule in RULES:
        found = solve(Problem(X, y, sample_weight=weights), rule, stop=MaxEpochs(2), readout="averaged")
        assert np.isfinite(found.weights).all()
        tiny = solve(Problem(X, y, sample_weight=1e-300 * np.ones(20)), rule, stop=MaxEpochs(2), readout="averaged")
        assert np.isfinite(tiny.weights).all()


@pytest.mark.parametrize("batch_size", [1, 7, "all"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_dense_and_csr_rows_give_the_same_model(rule, batch_size):
    X, y = noisy()
    for readout in ("last", "averaged"):
        dense, csr = (
            solve(
                Problem(layout(X), y), rule, stop=MaxEpochs(5), order="shuffled", batch_size=batch_size, readout=readout
            )
            for layout in LAYOUTS
        )
        np.testing.assert_allclose(csr.weights, dense.weights, rtol=1e-10, atol=1e-11)
        assert csr.n_updates == dense.n_updates


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_questions_asked_together_and_by_threads_get_the_bits_they_get_alone(rule):
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((150, 9)), rng.integers(0, 5, 150)
    problem = Problem(X, y)
    options = {"stop": MaxEpochs(4), "readout": "averaged", "order": "shuffled"}

    def ask(codes, n_jobs):
        states = [new_state(problem, code, "zeros", readout="averaged") for code in codes]
        return [found.weights.tobytes() for found in solve_tasks(problem, rule, states, n_jobs=n_jobs, **options)]

    alone = [ask([code], 1)[0] for code in range(5)]
    assert ask(range(5), 1) == ask(range(5), 3) == alone


# ---------------------------------------------------------------------------------------------- going on


@pytest.mark.parametrize("batch_size", [1, 7])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_an_interrupted_run_goes_on_to_the_same_bits(monkeypatch, rule, layout, batch_size):
    monkeypatch.setattr(CompiledEngine, "chunk", lambda self, n: 14)
    X, y = noisy(100)
    weights = np.random.default_rng(0).uniform(0.2, 2.5, 100)
    problem = Problem(layout(X), y, sample_weight=weights)
    options = {"readout": "averaged", "order": "shuffled", "batch_size": batch_size}
    whole = solve(problem, rule, stop=MaxEpochs(5), **options)
    advance, calls = CompiledEngine.advance, [0]

    def press(self, *arguments):
        calls[0] += 1
        if calls[0] == 19:
            signal.raise_signal(signal.SIGINT)
        return advance(self, *arguments)

    monkeypatch.setattr(CompiledEngine, "advance", press)
    cut = solve(problem, rule, stop=MaxEpochs(5), **options)
    assert cut.status.interrupted
    assert cut.state.position > 0
    assert np.isfinite(cut.weights).all()
    state = pickle.loads(pickle.dumps(cut.state))
    assert 0 < state.epochs < 5
    assert state.scale < 1
    history = History()
    on = solve(problem, rule, start=state, stop=MaxEpochs(5 - state.epochs), observers=[history], **options)
    assert on.weights.tobytes() == whole.weights.tobytes()
    assert on.bias == whole.bias
    assert on.state.weights.tobytes() == whole.state.weights.tobytes()

    state = pickle.loads(pickle.dumps(cut.state))  # the other engine goes on from the same place
    slow = solve(problem, rule, engine="reference", start=state, stop=MaxEpochs(5 - state.epochs), **options)
    np.testing.assert_allclose(slow.weights, whole.weights, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("rule", RULES, ids=str)
def test_epochs_run_one_call_at_a_time_are_those_of_one_call(rule):
    X, y = noisy(80)
    problem = Problem(X, y)
    whole = solve(problem, rule, stop=MaxEpochs(4), readout="averaged", order="shuffled")
    state = new_state(problem, 1, "zeros", readout="averaged")
    for _ in range(4):
        found = solve(problem, rule, start=state, stop=MaxEpochs(1), readout="averaged", order="shuffled")
    assert found.weights.tobytes() == whole.weights.tobytes()
    assert state.age == 4 * 80  # which is Pegasos's t


def test_n_is_what_the_examples_of_the_call_weigh_unless_given():
    X, y = noisy(80)
    weights = np.full(80, 2.5)
    for options, n in (({}, 200.0), ({"stop": MaxEpochs(3) | HeldOutFlat(0.25, patience=9)}, 150.0)):
        problem, stop = Problem(X, y, sample_weight=weights), options.get("stop", MaxEpochs(3))
        left, told = (solve(problem, OnlineHinge(0.5, n=each), stop=stop) for each in (None, n))
        assert left.weights.tobytes() == told.weights.tobytes()
        other = solve(problem, OnlineHinge(0.5, n=20), stop=stop)
        assert other.weights.tobytes() != told.weights.tobytes()
    with pytest.raises(ValueError, match="the number of examples is not known: set n"):
        OnlineHinge().step(0, 1, 0, 0, 1)


# ---------------------------------------------------------------------------------------------- losses and stops


@pytest.mark.parametrize("bias", ["free", "penalised"])
def test_the_mean_loss_is_the_objective_as_it_was_met(bias):
    X, y = noisy(50)
    K = 2.0
    for rule in (OnlineHinge(0.1, bias=bias), Pegasos(0.02, bias=bias)):
        history = History()
        solve(Problem(X, y, bias=K), rule, stop=MaxEpochs(3), observers=[history])
        weights, biases = run_by_hand(rule, X, y, 3, K=K)
        before_w, before_b = np.vstack([np.zeros(7), weights[:-1]]), np.append(0.0, biases[:-1])
        hinge = np.maximum(0, 1 - np.tile(y, 3) * ((np.tile(X, (3, 1)) * before_w).sum(axis=1) + before_b))
        for epoch in range(3):
            square = before_w[50 * epoch] @ before_w[50 * epoch]
            square += (before_b[50 * epoch] / K) ** 2 if bias == "penalised" else 0.0
            alpha = float(rule.among(50).alpha)
            expected = hinge[50 * epoch : 50 * epoch + 50].mean() + alpha / 2 * square
            assert history.mean_loss[epoch] == pytest.approx(expected, rel=1e-9)


def test_stop_rules_watch_the_hinge_loss():
    X, y = noisy(200)
    problem = Problem(X, y)
    found = solve(problem, Pegasos(0.01, bias="penalised"), order="shuffled")
    assert found.status.converged
    assert "relative decrease at most 0.0001 in 5 epochs (epoch " in str(found.status)
    for engine in ("compiled", "reference"):
        at_most = solve(problem, Pegasos(0.01), stop=LossAtMost(90, loss="hinge") | MaxEpochs(90), engine=engine)
        margins = y * (X @ at_most.weights + at_most.bias)
        total = np.maximum(0, 1 - margins).sum()
        assert str(at_most.status) == f"converged: loss {total:g}, at most 90 (epoch {at_most.n_epochs})"
    flat = solve(problem, Pegasos(0.01), stop=LossFlat(2.0, patience=3, loss="squared_hinge") | MaxEpochs(500))
    assert "changed by at most 2 in 3 checks" in str(flat.status)
    model = sx.Network(hidden=(2,), stop=LossAtMost(1e9, loss="hinge"), random_state=0).fit(X, y)
    assert "at most 1e+09" in str(model.status_)


def test_a_run_that_gets_no_further_than_zero_weights_says_so():
    X, y = [[1.0], [1.0]], [1, -1]
    found = solve(Problem(X, y, bias=None), OnlineHinge(1.0), stop=NoProgress() | MaxEpochs(50))
    assert not found.status.converged
    assert "the loss of all-zero weights; no linear model has a lower loss, because the classes" in str(found.status)
    X, y = [[1.0], [0.999]], [1, -1]
    found = solve(Problem(X, y, bias=None), OnlineHinge(1.0), stop=NoProgress() | MaxEpochs(50))
    assert "the loss of all-zero weights; scale the features, or try another gamma" in str(found.status)


def test_huge_values_end_a_run_with_a_sentence():
    found = solve(Problem([[1e200], [-1e200], [1e200]], [1, -1, -1]), OnlineHinge(1e200), stop=MaxEpochs(5))
    assert found.status.diverged
    assert str(found.status) == "diverged: gamma=1e+200 is too large (loss inf in epoch 1); scale the features first"


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: OnlineHinge(0), "gamma must be a positive finite number; found 0"),
        (lambda: OnlineHinge(1, n=0.5), "n must be a finite number of at least 1; found 0.5"),
        (lambda: OnlineHinge(1, bias="fixed"), "bias must be one of free, penalised; found 'fixed'"),
        (lambda: Pegasos(math.inf), "lam must be a positive finite number; found inf"),
        (lambda: Pegasos(1, bias=None), "bias must be one of free, penalised; found None"),
    ],
)
def test_impossible_rules_are_refused(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_what_cannot_be_done_is_refused():
    X, y = noisy(10)
    with pytest.raises(TypeError, match="project must be True or False; found 1"):
        Pegasos(1, project=1)
    for readout in ("voted", "pocket"):
        with pytest.raises(ValueError, match=f"readout='{readout}' is kept for perceptrons only"):
            solve(Problem(X, y), Pegasos(), readout=readout)
    with pytest.raises(ValueError, match="rule 'pegasos' cannot compute with exact numbers: use floats"):
        solve(Problem.from_exact([[1], [2]], [0, 1]), Pegasos(1, project=True), engine="reference")
