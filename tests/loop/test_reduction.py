"""Batches whose updates are added, as the lectures write E_P, or averaged."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix.loop.problem import Problem
from separatrix.loop.solve import solve
from separatrix.rules import LogisticNeuron, MarginPerceptron, Pegasos, Perceptron, SigmoidNeuron

RULES = [
    Perceptron(),
    Perceptron(eta=0.5),
    MarginPerceptron(margin=1.0),
    LogisticNeuron(0.01),
    LogisticNeuron(0.01, 0.1, "invscaling"),
    SigmoidNeuron(0.05, 0.01),
]


def data(weighted):
    rng = np.random.default_rng(5)
    X = rng.integers(-3, 4, (23, 3)).astype(float)
    y = np.where(X[:, 0] - X[:, 1] + rng.integers(-2, 3, 23) > 0, 1, -1)
    return Problem(X, y, sample_weight=rng.integers(0, 4, 23) if weighted else None)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("size", [4, 23, 50, "all"])
@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_the_engines_agree_on_sums(rule, size, weighted):
    runs = [
        solve(data(weighted), rule, engine=engine, batch_size=size, reduction="sum", stop="epochs:4", order="shuffled")
        for engine in ("compiled", "reference")
    ]
    if isinstance(rule, Perceptron | MarginPerceptron):
        assert runs[0].weights.tolist() == runs[1].weights.tolist()
        assert runs[0].bias == runs[1].bias
    np.testing.assert_allclose(runs[0].weights, runs[1].weights, rtol=1e-12)
    assert runs[0].bias == pytest.approx(runs[1].bias, rel=1e-12)
    assert runs[0].n_updates == runs[1].n_updates


@pytest.mark.parametrize("readout", ["averaged", "pocket"])
def test_the_engines_agree_on_sums_for_every_readout(readout):
    runs = [
        solve(data(False), Perceptron(), engine=e, batch_size=4, reduction="sum", stop="epochs:4", readout=readout)
        for e in ("compiled", "reference")
    ]
    assert runs[0].weights.tolist() == pytest.approx(runs[1].weights.tolist(), rel=1e-14)


def test_one_batch_step_goes_down_the_gradient_of_the_lectures_sum():
    """Lecture 000: E_P is the sum over the mistaken patterns, and so is its gradient."""
    X, y = sx.datasets.load("lecture-000")
    start = np.array([1.0, 0.5])
    z, w = np.c_[X, np.ones(6)] * y[:, None], np.append(start, 0.0)
    wrong = z @ w <= 0
    for reduction, share in (("sum", 1), ("mean", 6)):
        model = sx.Perceptron(batch_size="all", reduction=reduction, init=(start, 0.0), max_iter=1, stop="epochs:1")
        model.fit(X, y)
        assert [*model.coef_[0], model.intercept_[0]] == pytest.approx((w + z[wrong].sum(axis=0) / share).tolist())


def test_a_last_smaller_batch_counts_with_its_own_size():
    X, y = np.array([[1.0], [2.0], [4.0]]), [1, 1, 0]
    problem = Problem(X, y, bias=None)
    rule = LogisticNeuron(0.5)
    summed = solve(problem, rule, batch_size=2, reduction="sum", stop="epochs:1").weights[0]
    first = 0.5 * (0.5 * 1 + 0.5 * 2)
    assert summed == pytest.approx(first - 0.5 / (1 + np.exp(-4 * first)) * 4)


def test_one_example_at_a_time_has_no_reduction():
    X, y = sx.datasets.load("lecture-000")
    models = [sx.Perceptron(reduction=each, random_state=0).fit(X, y) for each in ("mean", "sum")]
    assert models[0].coef_.tobytes() == models[1].coef_.tobytes()


def test_a_sum_is_a_mean_at_a_rate_times_the_examples():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), np.arange(20) % 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        summed = sx.Neuron(batch_size="all", reduction="sum", eta0=0.01, alpha=0.1, max_iter=9).fit(X, y)
        mean = sx.Neuron(batch_size="all", eta0=0.2, alpha=0.1, max_iter=9).fit(X, y)
    np.testing.assert_allclose(summed.coef_, mean.coef_, rtol=1e-12)


def test_only_single_examples_have_a_bound_on_their_mistakes():
    X, y = sx.datasets.load("lecture-000")
    assert sx.Perceptron(shuffle=False).fit(X, y).certificate_.mistakes is not None
    assert sx.Perceptron(shuffle=False, batch_size=2).fit(X, y).certificate_.mistakes.why


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"reduction": "total"}, "reduction must be one of mean, sum; found 'total'"),
        ({"batch_size": 0}, "batch_size must be a whole number of at least 1, or 'all'; found 0"),
        ({"batch_size": 2, "readout": "voted"}, "readout='voted' needs batch_size=1"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, message):
    X, y = sx.datasets.load("and")
    with pytest.raises(ValueError, match=message):
        sx.Perceptron(**given).fit(X, y)


def test_a_penalty_that_would_turn_the_weights_around_is_refused():
    X, y = sx.datasets.load("and")
    for engine in ("compiled", "reference"):
        with pytest.raises(ValueError, match="must be below 1, or a step would change the sign"):
            solve(Problem(X, y), LogisticNeuron(0.5, 0.6), engine=engine, batch_size="all", reduction="sum")


def test_the_rules_of_the_online_svm_have_no_sum():
    X, y = sx.datasets.load("and")
    with pytest.raises(ValueError, match="reduction='sum' is for the perceptron and the neurons; found 'pegasos'"):
        solve(Problem(X, y), Pegasos(1.0), batch_size=2, reduction="sum")


def test_a_diverged_sum_is_told_a_rate_for_sums():
    rng = np.random.default_rng(1)
    X, y = 100 * rng.standard_normal((50, 2)), np.arange(50) % 2
    with pytest.warns(ConvergenceWarning, match="diverged"):
        model = sx.Neuron(loss="log", batch_size="all", reduction="sum", eta0=10.0, alpha=1e-4).fit(X, y)
    advised = float(str(model.status_).split("try eta0=")[1])
    assert advised <= 1.05 * 4 / (50 * (X**2).sum(axis=1).mean())
