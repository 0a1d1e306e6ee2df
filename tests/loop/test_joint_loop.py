"""Classes that are learned together: the update by hand, the core against the specification, and the mistake bound."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

from separatrix import _core
from separatrix.loop.joint import JointState, joint_state
from separatrix.loop.problem import Problem
from separatrix.loop.solve import new_state, solve_tasks
from separatrix.rules import PA, PA1, PA2, MarginPerceptron, Perceptron
from separatrix.stops import MaxEpochs, NoMistakes

STOP = NoMistakes() | MaxEpochs(6)
RULES_TOGETHER = [Perceptron(), Perceptron(eta=2.0), MarginPerceptron(eta=1.0, margin=2.0), PA(), PA1(0.125), PA2(0.5)]


def run(problem, rule, *, engine="compiled", readout="last", start="zeros", seed=0, **options):
    k = len(problem.classes)
    starts = [start] * k if isinstance(start, str) else list(zip(*start, strict=True))
    states = [new_state(problem, code, starts[code], readout=readout, seed=seed) for code in range(k)]
    state = joint_state(problem, states, readout=readout)
    (solution,) = solve_tasks(problem, rule, [state], engine=engine, readout=readout, seed=seed, **options)
    return solution


def outcome(solution):
    state = solution.state
    return {
        "weights": solution.weights.tolist(),
        "bias": solution.bias.tolist(),
        "last": state.weights.tolist(),
        "last biases": state.bias.tolist(),
        "updates": state.updates,
        "mistakes": state.all_mistakes,
        "clock": state.clock,
        "epochs": solution.n_epochs,
        "status": str(solution.status),
        "pocket loss": state.pocket_loss,
        "losses": state.epoch_loss,
    }


def integer_data(seed, n=25, d=19, k=4):
    rng = np.random.default_rng(seed)
    X = rng.integers(-3, 4, (n, d)).astype(float) * (rng.random((n, d)) < 0.6)
    y = (X @ rng.integers(-2, 3, (d, k)) + rng.integers(-4, 5, (n, k))).argmax(axis=1)
    y[:k] = np.arange(k)
    return X, y


def layouts(X):
    wide = sparse.csr_array(X.astype(np.float32))
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return {
        "dense float64": X,
        "dense float32": X.astype(np.float32),
        "csr float64 int32": sparse.csr_array(X),
        "csr float32 int64": wide,
    }


# ------------------------------------------------------------------------------------------------ by hand

# Rows (1, 0), (0, 1), (-1, -1) of classes a, b, c, with a bias coordinate of 1. In the first epoch:
# a: all scores are 0, the first rival is b: w_a += (1, 0; 1), w_b -= (1, 0; 1).
# b: the scores are 1, -1, 0, the rival is a: w_b += (0, 1; 1), w_a -= (0, 1; 1), so a (1, -1; 0) and b (-1, 1; 0).
# c: the scores are 0, 0, 0, the rival is a: w_c += (-1, -1; 1), w_a -= (-1, -1; 1), so a (2, 0; -1), c (-1, -1; 1).
# In the second epoch: a: 1, -1, 0: right. b: -1, 1, 0: right. c: -3, 0, 3: right.
CORNERS = ([[1, 0], [0, 1], [-1, -1]], ["a", "b", "c"])


@pytest.mark.parametrize("engine", ["compiled", "reference"])
def test_the_first_updates_are_those_computed_by_hand(engine):
    problem = Problem(np.array(CORNERS[0], float), CORNERS[1])
    first = run(problem, Perceptron(), engine=engine, stop=MaxEpochs(1))
    assert first.weights.tolist() == [[2, 0], [-1, 1], [-1, -1]]
    assert first.bias.tolist() == [-1, 0, 1]
    assert (first.n_updates, first.state.mistakes) == (3, 3)
    whole = run(problem, Perceptron(), engine=engine, stop=NoMistakes())
    assert str(whole.status) == "converged: no mistakes (epoch 2)"
    assert (whole.weights.tolist(), whole.bias.tolist()) == (first.weights.tolist(), first.bias.tolist())


def test_the_average_is_the_mean_of_the_weights_after_each_example():
    problem = Problem(np.array(CORNERS[0], float), CORNERS[1])
    averaged = run(problem, Perceptron(), readout="averaged", stop=MaxEpochs(1))
    after = [[[1, 0], [-1, 0], [0, 0]], [[1, -1], [-1, 1], [0, 0]], [[2, 0], [-1, 1], [-1, -1]]]
    np.testing.assert_allclose(averaged.weights, np.mean(after, axis=0), rtol=1e-15)
    np.testing.assert_allclose(averaged.bias, np.mean([[1, -1, 0], [0, 0, 0], [-1, 0, 1]], axis=0), rtol=1e-15)


@pytest.mark.parametrize(
    ("rule", "tau"),
    # q = |x|^2 + 1 = 5, so |z|^2 = 10, and the loss at zero weights is 1
    [
        (PA(), Fraction(1, 10)),
        (PA1(C=Fraction(1, 20)), Fraction(1, 20)),
        (PA1(C=1), Fraction(1, 10)),
        (PA2(C=Fraction(1, 4)), Fraction(1, 12)),
    ],
)
def test_a_passive_aggressive_step_is_that_of_the_paper_in_exact_fractions(rule, tau):
    problem = Problem.from_exact([[2, 0], [0, 1], [1, 1]], ["a", "b", "c"])
    state = JointState.new(0, np.zeros((3, 2), object), np.zeros(3, object), readout="last", exact=True)
    engine = "reference"
    (solution,) = solve_tasks(problem, rule, [state], engine=engine, stop=MaxEpochs(1))
    first = JointState.new(0, np.zeros((3, 2), object), np.zeros(3, object), readout="last", exact=True)
    alone = Problem.from_exact([[2, 0]], ["a"])
    alone.classes = problem.classes
    solve_tasks(alone, rule, [first], engine=engine, stop=MaxEpochs(1))
    assert first.weights.tolist() == [[2 * tau, 0], [-2 * tau, 0], [0, 0]]
    assert first.bias.tolist() == [tau, -tau, 0]
    assert sum(solution.weights.sum(axis=0)) == 0  # what one class gains another loses


def test_the_hard_step_gives_a_margin_of_exactly_1():
    problem = Problem.from_exact([[2, 0]], ["a"])
    problem.classes = np.array(["a", "b", "c"])
    state = JointState.new(0, np.zeros((3, 2), object), np.zeros(3, object), readout="last", exact=True)
    solve_tasks(problem, PA(), [state], engine="reference", stop=MaxEpochs(1))
    scores = state.weights @ np.array([2, 0], object) + state.bias
    assert scores[0] - scores[1] == 1


# ------------------------------------------------------------------------------------------------ a plain loop


def plain_perceptron(X, codes, k, epochs, constant):
    """The multiclass perceptron in NumPy, in the order of the rows."""
    W, b = np.zeros((k, X.shape[1])), np.zeros(k)
    for _ in range(epochs):
        for x, y in zip(X, codes, strict=True):
            scores = W @ x + b
            scores[y], own = -np.inf, scores[y]
            rival = int(np.argmax(scores))
            if own <= scores[rival]:
                W[y] += x
                W[rival] -= x
                b[y] += constant**2
                b[rival] -= constant**2
    return W, b


@pytest.mark.parametrize("constant", [0.0, 1.0, 3.0])
def test_the_core_learns_what_a_plain_loop_learns(constant):
    for seed in range(4):
        X, y = integer_data(seed, n=60, k=5)
        solution = run(Problem(X, y, bias=constant), Perceptron(), stop=MaxEpochs(4))
        W, b = plain_perceptron(X, y, 5, 4, constant)
        assert (solution.weights.tolist(), solution.bias.tolist()) == (W.tolist(), b.tolist())


# ------------------------------------------------------------------------------------------------ parity


def test_every_rule_that_the_core_can_run_jointly_is_compared():
    kernels = {rule.kernel for rule in RULES_TOGETHER}
    assert kernels == {name for name, about in _core.RULES.items() if about["joint"]}


def assert_equal(found, expected, rule):
    if rule.threshold < float("inf"):
        assert found == expected
        return
    assert found["mistakes"] == expected["mistakes"]  # a margin of 1 may round to either side, and be an update or not
    for name in ("weights", "bias", "losses"):
        np.testing.assert_allclose(found[name], expected[name], rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("order", ["cyclic", "shuffled", "random"])
@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
@pytest.mark.parametrize("rule", RULES_TOGETHER, ids=repr)
def test_the_core_equals_the_specification_bit_for_bit_on_integers(rule, readout, order):
    smooth = rule.threshold == float("inf")
    if readout == "pocket" and (smooth or order == "random"):
        pytest.skip("refused")
    for seed, bias in enumerate((None, 1.0, 3.0)):
        X, y = integer_data(seed)
        options = {"stop": MaxEpochs(5) if smooth else STOP, "readout": readout, "order": order, "seed": seed}
        expected = outcome(run(Problem(X, y, bias=bias), rule, engine="reference", **options))
        assert expected["updates"] > 5
        for data in layouts(X).values():
            assert_equal(outcome(run(Problem(data, y, bias=bias), rule, **options)), expected, rule)


@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
@pytest.mark.parametrize("rule", [Perceptron(), PA1(0.5)], ids=repr)
def test_sample_weights_agree_too(rule, readout):
    if readout == "pocket" and rule.threshold == float("inf"):
        pytest.skip("refused")
    X, y = integer_data(11)
    weights = np.random.default_rng(0).choice([0.0, 0.5, 1.0, 2.0, 3.5], len(y))
    options = {"stop": MaxEpochs(4), "readout": readout, "order": "shuffled"}
    expected = outcome(run(Problem(X, y, sample_weight=weights), rule, engine="reference", **options))
    for data in layouts(X).values():
        assert_equal(outcome(run(Problem(data, y, sample_weight=weights), rule, **options)), expected, rule)


@pytest.mark.parametrize("rule", [Perceptron(), PA1(0.5)], ids=repr)
def test_a_weight_of_2_is_the_row_given_twice(rule):
    X, y = integer_data(5)
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    twice = np.repeat(np.arange(len(y)), weights.astype(int))
    heavy = run(Problem(X, y, sample_weight=weights), rule, stop=MaxEpochs(3), readout="averaged")
    copies = run(Problem(X[twice], y[twice]), rule, stop=MaxEpochs(3), readout="averaged")
    np.testing.assert_array_equal(heavy.weights, copies.weights)
    assert (heavy.n_updates, heavy.state.clock) == (copies.n_updates, copies.state.clock)


@pytest.mark.parametrize("boundary", ["mistake", "correct"])
def test_ties_are_mistakes_or_not_as_the_boundary_says(boundary):
    X, y = integer_data(2)
    start = (np.eye(4, 19), np.zeros(4))
    options = {"stop": STOP, "boundary": boundary, "start": start}
    expected = outcome(run(Problem(X, y), Perceptron(), engine="reference", **options))
    assert outcome(run(Problem(X, y), Perceptron(), **options)) == expected
    tied = Problem(np.zeros((1, 19)), [0], bias=None)
    tied.classes = np.arange(4)
    assert run(tied, Perceptron(), **{**options, "stop": MaxEpochs(1)}).n_updates == (boundary == "mistake")


@settings(deadline=None, max_examples=60)
@given(
    st.integers(3, 6), st.integers(1, 5), st.integers(0, 2**32 - 1), st.sampled_from(["last", "averaged", "pocket"]),
    st.booleans(),
)  # fmt: skip
def test_core_and_specification_agree_on_any_small_integers(k, d, seed, readout, weighted):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(k, 20))
    X, y = rng.integers(-4, 5, (n, d)).astype(float), rng.integers(0, k, n)
    y[:k] = np.arange(k)
    weights = rng.integers(0, 5, n) / 2.0 if weighted else None
    if weighted:
        weights[0] = 1.0
    options = {"stop": STOP, "readout": readout, "order": "shuffled", "seed": int(seed % 1000)}
    expected = outcome(run(Problem(X, y, sample_weight=weights), Perceptron(), engine="reference", **options))
    for data in (X.astype(np.float32), sparse.csr_array(X)):
        assert outcome(run(Problem(data, y, sample_weight=weights), Perceptron(), **options)) == expected


@pytest.mark.parametrize("build", _core.builds())
def test_every_build_gives_the_same_bits(build):
    rng = np.random.default_rng(3)
    X, y = rng.normal(size=(200, 45)), rng.integers(0, 7, 200)
    before = _core.build()
    runs = []
    try:
        for name in (_core.builds()[0], build):
            _core.use_build(name)
            for data in (X, X.astype(np.float32), sparse.csr_array(X)):
                for rule in (Perceptron(), PA1(0.3)):
                    solution = run(Problem(data, y), rule, readout="averaged", order="shuffled", stop=MaxEpochs(3))
                    runs.append((solution.weights.tobytes(), solution.bias.tobytes(), solution.n_updates))
    finally:
        _core.use_build(before)
    assert runs[: len(runs) // 2] == runs[len(runs) // 2 :]


def test_losses_are_those_at_the_margin_over_the_worst_rival():
    X, y = integer_data(4)
    problem = Problem(X, y)
    state = JointState.new(
        0, np.random.default_rng(0).integers(-2, 3, (4, 19)).astype(float), np.zeros(4), readout="last"
    )
    scores = X @ state.weights.T
    own = scores[np.arange(len(y)), y]
    others = np.where(np.arange(4) == y[:, None], -np.inf, scores).max(axis=1)
    margin = own - others
    from separatrix.loop.engines import JOINT_ENGINES

    for engine in JOINT_ENGINES.values():
        made = engine(problem, Perceptron(), boundary="mistake", batch_size=1, n_jobs=1, on_step=None)
        sums = made.tally(state, state.weights, state.bias, None, smooth=True)
        assert sums.zero_one == np.count_nonzero(margin <= 0)
        assert sums.perceptron == -margin[margin <= 0].sum()
        assert sums.hinge == np.maximum(1 - margin, 0).sum()
        assert sums.squared_hinge == (np.maximum(1 - margin, 0) ** 2).sum()
        assert sums.log == pytest.approx(np.logaddexp(0, -margin).sum(), rel=1e-12)


def test_a_tie_is_predicted_as_the_first_class():
    problem = Problem(np.zeros((2, 3)), [0, 2], bias=None)
    problem.classes = np.arange(3)
    state = JointState.new(0, np.zeros((3, 3)), np.zeros(3), readout="last")
    from separatrix.loop.engines import JOINT_ENGINES, predicted_ties

    for engine in JOINT_ENGINES.values():
        made = engine(problem, Perceptron(), boundary="mistake", batch_size=1, n_jobs=1, on_step=None)
        sums = made.tally(state, state.weights, state.bias, None, ties=predicted_ties("mistake"))
        assert sums.zero_one == 1  # of the two rows only that of class 2


# ------------------------------------------------------------------------------------------------ the bound


def separable(seed):
    """Whole numbers with classes that some whole weights separate, and the square of those weights' joint margin."""
    rng = np.random.default_rng(seed)
    k, d, n = int(rng.integers(3, 6)), int(rng.integers(1, 6)), int(rng.integers(6, 40))
    W = rng.integers(-5, 6, (k, d + 1))
    X = rng.integers(-6, 7, (n, d))
    scores = X @ W[:, :-1].T + W[:, -1]
    top = np.sort(scores, axis=1)
    kept = top[:, -1] > top[:, -2]
    X, y = X[kept], scores[kept].argmax(axis=1)
    least = int((top[kept, -1] - top[kept, -2]).min(initial=10**6))
    return X, y, k, Fraction(least**2, max(int((W**2).sum()), 1))


@pytest.mark.parametrize("rule", [Perceptron(), PA(), PA1(C=0.5), PA2(C=0.5)], ids=repr)
def test_no_run_exceeds_its_bound_on_500_separable_problems(rule):
    tried = tight = 0
    for seed in range(620):
        X, y, k, square = separable(seed)
        if len(X) < 3:
            continue
        problem = Problem(X.astype(float), y)
        problem.classes = np.arange(k)
        stop = NoMistakes() | MaxEpochs(2000)
        made = run(problem, rule, stop=stop, order="shuffled", seed=seed).state
        mistakes = made.all_mistakes
        radius = 2 * (int((X**2).sum(axis=1).max()) + 1)
        factor = {"pa1": max(Fraction(radius), Fraction(2)), "pa2": radius + Fraction(1)}.get(rule.name, radius)
        assert mistakes <= Fraction(factor) / square
        tried += 1
        tight += mistakes > 0
    assert tried >= 500
    assert tight >= 300  # else nothing was tested
