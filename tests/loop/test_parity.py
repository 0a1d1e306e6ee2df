"""Compiled equals reference, for every rule x bias x boundary x readout x layout.

Rules that step on mistakes agree bit for bit on integer data; those of neurons, whose exponentials round, and those
that shrink the weights, which the core keeps as a product, to 1e-10.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix import _core
from separatrix.geometry.ball import smallest_ball
from separatrix.geometry.rows import Rows
from separatrix.loop.engines import BOUNDARIES, learns_from_folds
from separatrix.loop.problem import Problem
from separatrix.loop.readouts import READOUTS, VotedWeights
from separatrix.loop.solve import solve
from separatrix.observers import History
from separatrix.rules import (
    ALMA,
    PA,
    PA1,
    PA2,
    ROMMA,
    RULES,
    AggressiveROMMA,
    Hinged,
    OnlineHinge,
    Pegasos,
    Smooth,
    Spreading,
)
from separatrix.rules.hinged import BIASES
from separatrix.rules.smooth import SCHEDULES
from separatrix.stops import MaxEpochs, NoMistakes

STOP = NoMistakes() | MaxEpochs(6)
COMPILED = [name for name, rule in RULES.items() if getattr(rule, "kernel", None)]
STEPPING = [name for name in COMPILED if RULES[name].kernel == "threshold"]
SMOOTH = [name for name, rule in RULES.items() if issubclass(rule, Smooth)]
SPREADING = [name for name, rule in RULES.items() if issubclass(rule, Spreading)]
HINGED = [name for name, rule in RULES.items() if issubclass(rule, Hinged) and name not in SPREADING]
LISTED = [
    *(OnlineHinge(gamma, n=n, bias=bias) for gamma, n in ((0.5, None), (2.0, 1)) for bias in BIASES),
    *(Pegasos(lam, project=project, bias=bias) for lam, project in ((0.1, False), (0.01, True)) for bias in BIASES),
    *(PA(), PA1(0.125), PA1(3.0), PA2(0.5)),
    *(ROMMA(), AggressiveROMMA(), ALMA(), ALMA(0.25)),
]
CHOICES = [*LISTED, *(RULES[name]() for name in HINGED if name not in {rule.name for rule in LISTED})]
MODES = [(rule, batch) for rule in CHOICES for batch in ((1, 5, "all") if learns_from_folds(rule) else (1,))]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("rule", COMPILED)
def test_every_compiled_rule_agrees_with_the_reference(rule, weighted):
    """Those with a test of their own below, and any other."""
    rng = np.random.default_rng(31)
    X = (rng.standard_normal((31, 19)).astype(np.float32) * (rng.random((31, 19)) < 0.6)).astype(np.float64)
    y = np.where(X @ rng.standard_normal(19) + rng.standard_normal(31) > 0, 1, -1)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.5], 31) if weighted else None
    for readout in ("last", "averaged"):
        options = {"stop": MaxEpochs(3), "order": "shuffled", "readout": readout}
        runs = {
            name: solve(
                Problem(data, y, sample_weight=weights), RULES[rule](),
                engine="reference" if name == "reference" else "compiled", **options,
            )
            for name, data in {"reference": X, **layouts(X)}.items()
        }  # fmt: skip
        expected = runs.pop("reference")
        assert expected.n_updates > 0
        for name, found in runs.items():
            np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-9, atol=1e-10, err_msg=name)
            np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-9, atol=1e-10, err_msg=name)


def integer_data(seed, n=25, d=19):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float) * (rng.random((n, d)) < 0.6)
    y = np.where(X @ rng.integers(-2, 3, d) + rng.integers(-4, 5, n) > 0, 1, -1)
    y[:2] = 1, -1
    return X, y


def layouts(X):
    return {
        "dense float64": X,
        "dense float32": X.astype(np.float32),
        "csr float64 int32": sparse.csr_array(X),
        "csr float32 int64": _wide(sparse.csr_array(X.astype(np.float32))),
    }


def _wide(X):
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def outcome(solution):
    state = solution.state
    return {
        "weights": solution.weights.tolist(),
        "bias": solution.bias,
        "last": state.weights.tolist(),
        "last bias": state.bias,
        "updates": state.updates,
        "clock": state.clock,
        "epochs": solution.n_epochs,
        # What follows is counted with averaged weights: fractions, whose sums round, even on integer data.
        "status": str(solution.status).partition("; averaged weights")[0],
        "votes": [np.concatenate(part).tolist() for part in zip(*state.votes, strict=True)] if state.votes else [],
        "pocket loss": state.pocket_loss,
    }


@pytest.mark.parametrize("readout", READOUTS)
@pytest.mark.parametrize("boundary", BOUNDARIES)
@pytest.mark.parametrize("bias", [None, 1.0, 3.0, "ball"])
@pytest.mark.parametrize("rule", STEPPING)
def test_compiled_equals_reference_bit_for_bit(rule, bias, boundary, readout):
    for seed in range(3):
        X, y = integer_data(seed)
        constant = smallest_ball(Rows(X)).constant if bias == "ball" else bias
        start = ([1.0] + [0.0] * (X.shape[1] - 1), 0.0) if boundary == "correct" else "zeros"
        options = {
            "stop": STOP,
            "readout": readout,
            "boundary": boundary,
            "start": start,
            "order": "shuffled",
            "seed": 5,
        }
        chosen = RULES[rule](eta=2.0)
        expected = outcome(solve(Problem(X, y, bias=constant), chosen, engine="reference", **options))
        for name, data in layouts(X).items():
            found = outcome(solve(Problem(data, y, bias=constant), chosen, engine="compiled", **options))
            assert found == expected, name


@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
@pytest.mark.parametrize("rule", STEPPING)
def test_the_compiled_floats_are_the_exact_fractions_correctly_rounded(rule, readout):
    X, y = integer_data(7)
    chosen = RULES[rule](eta=1)
    exact = solve(Problem.from_exact(X.astype(int).tolist(), y), chosen, engine="reference", stop=STOP, readout=readout)
    floats = solve(Problem(X, y), chosen, stop=STOP, readout=readout)
    assert exact.n_updates == floats.n_updates > 5
    assert all(isinstance(value, int | Fraction) for value in exact.weights)
    if readout == "averaged":  # w - average_correction / age rounds twice: a last bit apart at most
        np.testing.assert_allclose(floats.weights, [float(v) for v in exact.weights], rtol=1e-15, atol=1e-15)
    else:
        assert [float(v) for v in exact.weights] == floats.weights.tolist()
        assert float(exact.bias) == floats.bias


@pytest.mark.parametrize("readout", READOUTS)
def test_sample_weights_agree_too(readout):
    X, y = integer_data(11)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0, 3.5], len(y))
    weights[:2] = 1.0
    options = {"stop": STOP, "readout": readout, "order": "shuffled"}
    expected = outcome(
        solve(Problem(X, y, sample_weight=weights), RULES["perceptron"](), engine="reference", **options)
    )
    for name, data in layouts(X).items():
        problem = Problem(data, y, sample_weight=weights)
        assert outcome(solve(problem, RULES["perceptron"](), **options)) == expected, name


@pytest.mark.parametrize("batch_size", [2, 4, 8, "all"])  # powers of two: the means are exact
@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
def test_folds_and_batches_agree(batch_size, readout):
    X, _ = integer_data(13, n=32, d=9)
    y = np.random.default_rng(13).integers(0, 2, 32)
    options = {"stop": STOP, "readout": readout, "order": "shuffled", "batch_size": batch_size}
    expected = outcome(solve(Problem(X, y), RULES["perceptron"](), engine="reference", **options))
    assert expected["updates"] > 2
    for name, data in layouts(X).items():
        assert outcome(solve(Problem(data, y), RULES["perceptron"](), **options)) == expected, name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("alpha", [0.0, 0.05])
@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("batch_size", [1, 5, "all"])
@pytest.mark.parametrize("rule", SMOOTH)
def test_neurons_agree_in_every_mode(rule, batch_size, schedule, alpha, weighted):
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((31, 19)).astype(np.float32) * (rng.random((31, 19)) < 0.6)).astype(np.float64)
    y = np.where(X @ rng.standard_normal(19) + rng.standard_normal(31) > 0, 1, -1)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.5], 31) if weighted else None
    chosen = RULES[rule](eta=0.5, alpha=alpha, schedule=schedule)
    for readout in ("last", "averaged") if alpha == 0 else ("last",):
        for bias in (None, 1.0, 3.0):
            options = {"stop": MaxEpochs(7), "order": "shuffled", "batch_size": batch_size, "readout": readout}
            runs = {}
            for name, data in {"reference": X, **layouts(X)}.items():
                history = History()
                engine = "reference" if name == "reference" else "compiled"
                problem = Problem(data, y, sample_weight=weights, bias=bias)
                solution = solve(problem, chosen, engine=engine, observers=[history], **options)
                runs[name] = (solution, [(e.mistakes, e.updates) for e in history], [e.mean_loss for e in history])
            expected, counts, losses = runs.pop("reference")
            assert expected.n_updates > 0
            for name, (found, found_counts, found_losses) in runs.items():
                np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-10, atol=1e-12, err_msg=name)
                np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-10, atol=1e-12, err_msg=name)
                np.testing.assert_allclose(found_losses, losses, rtol=1e-10, err_msg=name)
                assert found_counts == counts, name


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("rule", "batch_size"), MODES, ids=str)
def test_online_svms_agree_in_every_mode(rule, batch_size, weighted):
    rng = np.random.default_rng(3)
    X = (rng.standard_normal((31, 19)).astype(np.float32) * (rng.random((31, 19)) < 0.6)).astype(np.float64)
    y = np.where(X @ rng.standard_normal(19) + rng.standard_normal(31) > 0, 1, -1)
    weights = rng.choice([0.0, 0.5, 1.0, 2.0, 3.5], 31) if weighted else None
    for readout in ("last", "averaged"):
        for bias in (None, 1.0, 3.0):
            options = {"stop": MaxEpochs(7), "order": "shuffled", "batch_size": batch_size, "readout": readout}
            runs = {}
            for name, data in {"reference": X, **layouts(X)}.items():
                history = History()
                engine = "reference" if name == "reference" else "compiled"
                problem = Problem(data, y, sample_weight=weights, bias=bias)
                solution = solve(problem, rule, engine=engine, observers=[history], **options)
                runs[name] = (solution, [(e.mistakes, e.updates) for e in history], [e.mean_loss for e in history])
            expected, counts, losses = runs.pop("reference")
            assert expected.n_updates > 0
            for name, (found, found_counts, found_losses) in runs.items():
                np.testing.assert_allclose(found.weights, expected.weights, rtol=1e-10, atol=1e-10, err_msg=name)
                np.testing.assert_allclose(found.bias, expected.bias, rtol=1e-10, atol=1e-10, err_msg=name)
                np.testing.assert_allclose(found_losses, losses, rtol=1e-10, err_msg=name)
                if weighted and not learns_from_folds(rule):  # a second copy has a margin of 1, or a last bit less
                    assert [mistakes for mistakes, _ in found_counts] == [mistakes for mistakes, _ in counts], name
                else:
                    assert found_counts == counts, name


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("rule", SPREADING)
def test_rules_with_a_spread_agree(rule, covariance, weighted, readout):
    for seed, bias in ((0, 1.0), (1, 3.0), (2, None)):
        X, y = integer_data(seed)
        weights = np.random.default_rng(seed).choice([0.5, 1.0, 2.5], len(y)) if weighted else None
        options = {"stop": MaxEpochs(4), "readout": readout, "order": "shuffled", "seed": 1}
        chosen = RULES[rule](covariance=covariance)
        expected = solve(Problem(X, y, bias=bias, sample_weight=weights), chosen, engine="reference", **options)
        for name, data in layouts(X).items():
            solution = solve(Problem(data, y, bias=bias, sample_weight=weights), chosen, engine="compiled", **options)
            np.testing.assert_allclose(solution.weights, expected.weights, rtol=1e-10, atol=1e-10, err_msg=name)
            np.testing.assert_allclose(solution.state.spread, expected.state.spread, rtol=1e-9, atol=1e-12)
            np.testing.assert_allclose(solution.bias, expected.bias, rtol=1e-10, atol=1e-10)
            np.testing.assert_allclose(solution.state.epoch_loss, expected.state.epoch_loss, rtol=1e-10)
            assert (solution.state.mistakes, solution.state.clock) == (expected.state.mistakes, expected.state.clock)
            if not rule.startswith("scw"):  # which leave an example just where the next step begins, or a last bit off
                assert solution.n_updates == expected.n_updates


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("covariance", ["diagonal", "full"])
@pytest.mark.parametrize("rule", SPREADING)
def test_the_builds_agree_bit_for_bit_on_rules_with_a_spread(rule, covariance, dtype, layout):
    rng = np.random.default_rng(3)
    X = (rng.normal(size=(200, 37)) * (rng.random((200, 37)) < 0.7)).astype(dtype)
    y = np.where(X @ rng.normal(size=37) + rng.normal(size=200) > 0, 1, -1)
    used, outcomes = _core.build(), []
    try:
        for build in _core.builds():
            _core.use_build(build)
            solution = solve(Problem(layout(X), y), RULES[rule](covariance=covariance), stop=MaxEpochs(3))
            outcomes.append((solution.weights.tolist(), solution.bias, solution.state.spread.tolist()))
    finally:
        _core.use_build(used)
    assert all(outcome == outcomes[0] for outcome in outcomes)


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("bias", BIASES)
def test_where_halving_is_exact_the_online_hinge_agrees_bit_for_bit(bias, readout):
    X, y = integer_data(19, n=12)
    rule = OnlineHinge(gamma=0.5, n=1, bias=bias)  # N = 1 halves the weights: 12 halvings lose no bit
    options = {"stop": MaxEpochs(1), "readout": readout}
    exact = solve(
        Problem.from_exact(X.astype(int).tolist(), y), OnlineHinge(Fraction(1, 2), 1, bias), engine="reference",
        **options,
    )  # fmt: skip
    expected = outcome(solve(Problem(X, y), rule, engine="reference", **options))
    assert expected["updates"] > 5
    for name, data in layouts(X).items():
        found = outcome(solve(Problem(data, y), rule, **options))
        if readout == "averaged":  # w - average_correction / age rounds twice
            np.testing.assert_allclose(found["weights"], [float(v) for v in exact.weights], rtol=1e-14, atol=1e-14)
            continue
        assert found == expected, name
        assert found["weights"] == [float(v) for v in exact.weights]


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("rule", [PA(), PA1(0.25), PA2(0.125)], ids=str)
def test_where_division_by_q_is_exact_the_passive_aggressive_rules_agree_bit_for_bit(rule, readout):
    rng = np.random.default_rng(23)
    X = np.zeros((12, 19))
    for row, ones in zip(X, rng.choice([1, 3, 7], 12), strict=True):  # with the bias coordinate q is 2, 4 or 8
        row[rng.choice(19, ones, replace=False)] = rng.choice([-1.0, 1.0], ones)
    y = rng.permutation([1, -1] * 6)
    if rule == PA2(0.125):  # which adds 4 to q
        X = np.array([np.where(np.arange(19) < 3, rng.choice([-1.0, 1.0], 19), 0.0) for _ in range(12)])
    options = {"stop": MaxEpochs(1), "readout": readout}
    same = type(rule)(*(Fraction(value) for value in vars(rule).values()))
    exact = solve(Problem.from_exact(X.astype(int).tolist(), y), same, engine="reference", **options)
    expected = outcome(solve(Problem(X, y), rule, engine="reference", **options))
    assert expected["updates"] > 5
    for name, data in layouts(X).items():
        found = outcome(solve(Problem(data, y), rule, **options))
        assert found == expected, name
        assert found["last"] == [float(v) for v in exact.state.weights]


@pytest.mark.parametrize("rule", [PA(), PA1(), PA2()], ids=str)
def test_a_batch_has_no_passive_aggressive_step(rule):
    with pytest.raises(ValueError, match=f"rule '{rule.name}' learns from one example at a time: batch_size must be 1"):
        solve(Problem([[1.0], [2.0]], [0, 1]), rule, batch_size=2)


@pytest.mark.parametrize("batch_size", [1, 2, 4])
def test_examples_of_weight_zero_teach_nothing_and_are_no_mistakes(batch_size):
    X = np.array([[1.0], [-1.0], [5.0], [-5.0]])
    weights = [1.0, 1.0, 0.0, 0.0]
    for engine in ("compiled", "reference"):
        problem = Problem(X, [1, 0, 0, 1], sample_weight=weights)
        solution = solve(problem, RULES["perceptron"](), engine=engine, batch_size=batch_size, stop=STOP)
        assert str(solution.status) == "converged: no mistakes (epoch 2)", engine


def test_a_rule_without_a_compiled_form_is_refused_by_the_compiled_engine():
    class Greedy:
        name, eta, threshold = "greedy", 1.0, 0.0

    with pytest.raises(ValueError, match="rule 'greedy' has no compiled form: use engine='reference'"):
        solve(Problem([[1.0], [2.0]], [0, 1]), Greedy())


def test_a_fold_moves_by_the_mean_of_the_answers_with_the_weights_held_still():
    problem = Problem([[2.0, 0.0], [0.0, 4.0]], [1, 2])
    solution = solve(problem, RULES["perceptron"](), batch_size="all", stop=MaxEpochs(1))
    assert solution.weights.tolist() == [-1.0, 2.0]  # (-(2, 0) + (0, 4)) / 2
    assert solution.bias == 0.0


@pytest.mark.parametrize("layout", ["dense32", "dense64", "csr"])
@pytest.mark.parametrize("readout", READOUTS)
def test_the_builds_agree_bit_for_bit_on_random_floats(layout, readout):
    rng = np.random.default_rng(3)
    used = _core.build()
    try:
        for n, d in ((60, 1), (60, 7), (60, 16), (60, 37), (200, 300)):
            X = rng.standard_normal((n, d))
            if layout == "dense32":
                X = X.astype(np.float32)
            if layout == "csr":
                X = sparse.csr_array(X * (rng.random((n, d)) < 0.4))
            y = rng.integers(0, 2, n)
            results = []
            for build in _core.builds():
                _core.use_build(build)
                solution = solve(
                    Problem(X, y), RULES["perceptron"](eta=0.1), stop=MaxEpochs(5), readout=readout, order="shuffled"
                )
                problem = Problem(X, y)
                ball = smallest_ball(problem.rows)
                results.append(
                    (
                        solution.weights.tobytes(),
                        float(solution.bias).hex(),
                        solution.n_updates,
                        problem.square_norms().tobytes(),
                        _core.decide(problem.rows.matrix, np.ones((3, d)) / 3, np.zeros(3), 1).tobytes(),
                        (ball.lower, ball.upper, ball.support.tolist(), ball.weights.tobytes()),
                    )
                )
            first = results[0]
            for other in results[1:]:
                assert other == first
    finally:
        _core.use_build(used)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("batch_size", [1, 7, "all"])
@pytest.mark.parametrize("rule", SMOOTH)
def test_the_builds_agree_bit_for_bit_on_neurons(rule, batch_size, dtype, layout):
    rng = np.random.default_rng(5)
    used = _core.build()
    try:
        for n, d in ((60, 1), (61, 37), (200, 300)):
            X = layout((rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)).astype(dtype))
            y = rng.integers(0, 2, n)
            results = []
            for build in _core.builds():
                _core.use_build(build)
                history = History()
                solution = solve(
                    Problem(X, y), RULES[rule](eta=0.3, alpha=1e-3, schedule="invscaling"), stop=MaxEpochs(5),
                    batch_size=batch_size, order="shuffled", observers=[history],
                )  # fmt: skip
                losses = [epoch.mean_loss.hex() for epoch in history]
                results.append((solution.weights.tobytes(), solution.bias.hex(), losses))
            assert all(other == results[0] for other in results)
    finally:
        _core.use_build(used)


@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("rule", "batch_size"), MODES, ids=str)
def test_the_builds_agree_bit_for_bit_on_online_svms(rule, batch_size, dtype, layout):
    rng = np.random.default_rng(5)
    used = _core.build()
    try:
        for n, d in ((60, 1), (61, 37), (200, 300)):
            X = layout((rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.6)).astype(dtype))
            y = rng.integers(0, 2, n)
            results = []
            for build in _core.builds():
                _core.use_build(build)
                history = History()
                solution = solve(
                    Problem(X, y), rule, stop=MaxEpochs(5), batch_size=batch_size, order="shuffled",
                    readout="averaged", observers=[history],
                )  # fmt: skip
                losses = [epoch.mean_loss.hex() for epoch in history]
                state = solution.state
                results.append((solution.weights.tobytes(), solution.bias.hex(), state.weights.tobytes(), losses))
            assert all(other == results[0] for other in results)
    finally:
        _core.use_build(used)


def test_votes_are_those_of_all_weight_vectors_kept_one_by_one():
    X, y = integer_data(17, n=40, d=6)
    problem = Problem(X, y)
    solution = solve(problem, RULES["perceptron"](), readout="voted", stop=MaxEpochs(4))
    rows, signed, times = (np.concatenate(part) for part in zip(*solution.state.votes, strict=True))
    vectors, w, b = [(np.zeros(6), 0.0)], np.zeros(6), 0.0
    for row, step in zip(rows, signed, strict=True):
        w, b = w + step * X[row], b + step
        vectors.append((w, b))
    counts = np.diff([0.0, *times, float(solution.state.age)])
    assert counts.sum() == 4 * 40
    expected = sum(c * np.where(X @ w + b >= 0, 1, -1) for c, (w, b) in zip(counts, vectors, strict=True)) / 160
    for data in (X, sparse.csr_array(X)):
        again = solve(Problem(data, y), RULES["perceptron"](), readout="voted", stop=MaxEpochs(4))
        ballot = VotedWeights(again.state.start, 1.0)
        ballot.extend(Problem(data, y), again.state)
        assert ballot.n_voters == len(vectors)
        np.testing.assert_allclose(ballot.decide(Rows(data), tie_is_positive=True), expected, atol=1e-12)
    average = sum(c * w for c, (w, _) in zip(counts, vectors, strict=True)) / 160
    average_bias = sum(c * b for c, (_, b) in zip(counts, vectors, strict=True)) / 160
    np.testing.assert_allclose(solution.weights, average, rtol=1e-12)
    np.testing.assert_allclose(solution.bias, average_bias, rtol=1e-12)


@pytest.mark.parametrize("build", _core.builds())
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e-18, 1e15, 1e18])
@pytest.mark.parametrize("d", [1, 5, 16, 67, 256])
def test_quick_answers_in_single_precision_never_change_a_bit(build, d, scale):
    used = _core.build()
    _core.use_build(build)
    try:
        rng = np.random.default_rng(d)
        X = (rng.standard_normal((400, d)) * scale).astype(np.float32)
        X[::7] = 0.0
        y = rng.integers(0, 6, 400)
        y[:200] = np.argmax(X[:200] @ rng.standard_normal((d, 6)).astype(np.float32), axis=1)
        for shuffle in (True, False):
            model = sx.Perceptron(
                readout="averaged", stop=MaxEpochs(4), random_state=0, shuffle=shuffle, margin=scale**2
            )
            quick = model.fit(X, y).coef_.tobytes(), model.n_updates_
            exact = model.fit(X.astype(np.float64), y).coef_.tobytes(), model.n_updates_
            assert quick == exact
    finally:
        _core.use_build(used)


@settings(max_examples=150)
@given(
    cells=st.lists(st.lists(st.integers(-3, 3), min_size=3, max_size=3), min_size=2, max_size=12),
    labels=st.lists(st.booleans(), min_size=12, max_size=12),
    rule=st.sampled_from([*CHOICES[-4:], *(RULES["sop"](a, c) for a in (0.5, 4.0) for c in ("diagonal", "full"))]),
    bias=st.sampled_from([None, 1.0, 3.0]),
    readout=st.sampled_from(["last", "averaged"]),
    layout=st.sampled_from(sorted(layouts(np.eye(2)))),
)
def test_rules_of_large_margins_agree_on_whatever_is_separable(cells, labels, rule, bias, readout, layout):
    X, y = np.array(cells, float), np.array(labels[: len(cells)])
    y[:2] = True, False
    if sx.certify(X, y, fit_intercept=bias is not None).separable != "strict":
        return  # where they go round and round, and a last bit becomes large
    stop = {"stop": MaxEpochs(2), "readout": readout}
    expected = solve(Problem(X, y, bias=bias), rule, engine="reference", **stop)
    found = solve(Problem(layouts(X)[layout], y, bias=bias), rule, **stop)
    size = np.linalg.norm([*expected.weights, expected.bias]) + 1.0
    np.testing.assert_allclose([*found.weights, found.bias], [*expected.weights, expected.bias], atol=1e-7 * size)


@pytest.mark.parametrize("readout", ["last", "averaged"])
@pytest.mark.parametrize("rule", [ROMMA(), AggressiveROMMA()], ids=str)
def test_where_division_is_exact_romma_agrees_bit_for_bit(rule, readout):
    """Rows at right angles to each other: D is a power of two, as are the numbers of 1s."""
    X = np.zeros((4, 16))
    for place, (row, sign) in enumerate(zip(X, (1.0, -1.0, 1.0, -1.0), strict=True)):
        row[4 * place : 4 * place + 4] = sign
    y = np.array([1, -1, 1, -1])
    options = {"stop": MaxEpochs(2), "readout": readout}
    exact = solve(Problem.from_exact(X.astype(int).tolist(), y, bias=None), rule, engine="reference", **options)
    expected = outcome(solve(Problem(X, y, bias=None), rule, engine="reference", **options))
    assert expected["updates"] == 4
    for name, data in layouts(X).items():
        found = outcome(solve(Problem(data, y, bias=None), rule, **options))
        assert found == expected, name
        assert found["last"] == [float(v) for v in exact.state.weights]
