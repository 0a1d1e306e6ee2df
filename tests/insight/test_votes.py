"""The votes of the voted perceptron: every weight vector with its count, recomputed from the steps with fractions."""

from __future__ import annotations

import warnings
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import separatrix as sx
from separatrix import datasets

POINTS = st.lists(st.tuples(st.integers(-3, 3), st.integers(-3, 3)), min_size=2, max_size=7)


def survived(steps, start):
    """Return (weights, bias, count) of each weight vector, from the steps alone."""
    votes = [[*start, 0]]
    for step in steps:
        if step.updated:
            votes.append([step.weights, step.bias, 0])
        votes[-1][2] += 1
    return [tuple(vote) for vote in votes]


def signs(labels, X):
    return [1 if labels >> i & 1 else -1 for i in range(len(X))]


def test_lecture_001_has_two_weight_vectors():
    example = datasets.example("lecture-001")
    run = sx.trace(example.X, example.y, readout="voted", **example.options)
    half = Fraction(1, 2)
    assert run.votes == (((1, 0), 0, 1), ((half, 1), -1, 7))
    assert run.votes_table() == (
        ["k", "w(k)", "b(k)", "c(k)"],
        [["0", "(1, 0)", "0", "1"], ["1", "(1/2, 1)", "-1", "7"]],
    )
    assert (run.weights, run.bias) == ((Fraction(9, 16), Fraction(7, 8)), Fraction(-7, 8))
    assert run.averaged() == (run.weights, run.bias)
    vote = run.votes[1]
    assert (vote.weights, vote.bias, vote.count) == ((half, 1), -1, 7)


@given(POINTS, st.integers(0, 127), st.integers(1, 5), st.sampled_from(["cyclic", "shuffled"]))
@settings(max_examples=40, deadline=None)
def test_votes_are_the_runs_of_equal_weights_and_average_to_the_averaged_readout(X, labels, epochs, order):
    y = signs(labels, X)
    if len(set(y)) < 2:
        return
    run = sx.trace(X, y, readout="voted", max_iter=epochs, order=order, random_state=2)
    assert list(run.votes) == survived(run.steps, run.start)
    assert sum(vote.count for vote in run.votes) == len(run)
    averaged = sx.trace(X, y, readout="averaged", max_iter=epochs, order=order, random_state=2)
    total = sum(Fraction(vote.count) for vote in run.votes)
    mean = [sum(vote.count * vote.weights[j] for vote in run.votes) / total for j in range(2)]
    assert averaged.weights == tuple(mean) == run.averaged()[0]
    assert averaged.bias == sum(vote.count * vote.bias for vote in run.votes) / total == run.averaged()[1]


@given(POINTS, st.integers(0, 127), st.integers(1, 4))
@settings(max_examples=30, deadline=None)
def test_the_model_has_the_votes_of_the_trace(X, labels, epochs):
    y = signs(labels, X)
    if len(set(y)) < 2:
        return
    run = sx.trace(X, y, max_iter=epochs)
    options = {"readout": "voted", "shuffle": False, "max_iter": epochs, "stop": sx.stops.NoMistakes()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that it did not converge
        model = sx.Perceptron(**options).fit(np.array(X, dtype=float), y)
        dual = sx.KernelPerceptron(kernel="linear", bias=1.0, **options).fit(np.array(X, dtype=float), y)
    assert [(tuple(v.weights.tolist()), v.bias, v.count) for v in model.votes_] == list(run.votes)
    assert len(dual.votes_) == len(run.votes)
    for vote, expected in zip(dual.votes_, run.votes, strict=True):
        assert (vote.weights @ dual.support_vectors_).tolist() == list(expected.weights)
        assert (vote.bias, vote.count) == (expected.bias, expected.count)
    counts = np.array([vote.count for vote in model.votes_])
    assert model.coef_[0] == pytest.approx(counts @ [vote.weights for vote in model.votes_] / counts.sum())
    votes = sum(v.count * np.where(np.array(X) @ v.weights + v.bias >= 0, 1, -1) for v in model.votes_)
    assert model.decision_function(np.array(X, dtype=float)) == pytest.approx(votes / counts.sum())


def test_several_classes_have_votes_each_in_sparse_rows_too():
    rng = np.random.default_rng(0)
    X = rng.integers(-4, 5, (30, 3)).astype(float)
    y = np.array(["a", "b", "c"])[X.argmax(axis=1)]
    model = sx.Perceptron(readout="voted", max_iter=3, stop=sx.stops.MaxEpochs(3), random_state=0).fit(X, y)
    assert len(model.votes_) == 3
    thin = sx.Perceptron(**model.get_params()).fit(sparse.csr_array(X), y)
    for votes, others, coef, intercept in zip(model.votes_, thin.votes_, model.coef_, model.intercept_, strict=True):
        assert sum(vote.count for vote in votes) == 90
        counts = np.array([vote.count for vote in votes])
        assert coef == pytest.approx(counts @ [vote.weights for vote in votes] / 90)
        assert intercept == pytest.approx(counts @ [vote.bias for vote in votes] / 90)
        assert [(v.weights.tolist(), v.bias, v.count) for v in votes] == [
            (v.weights.tolist(), v.bias, v.count) for v in others
        ]


def test_votes_go_on_with_the_run_and_through_a_file(tmp_path):
    X, y = datasets.load("lecture-000")
    model = sx.Perceptron(readout="voted", shuffle=False).fit(X, y)
    sx.save(model, tmp_path / "m.sx")
    loaded = sx.load(tmp_path / "m.sx")
    assert [vote.count for vote in loaded.votes_] == [vote.count for vote in model.votes_]
    assert sum(vote.count for vote in model.votes_) == 18
    model.partial_fit(X, y)
    assert sum(vote.count for vote in model.votes_) == 24


def test_other_readouts_have_no_votes_and_say_so():
    X, y = datasets.load("and")
    for model in (sx.Perceptron(), sx.KernelPerceptron()):
        assert not hasattr(model, "votes_")
        model.fit(X, y)
        assert not hasattr(model, "votes_")
        with pytest.raises(AttributeError, match="votes_ needs a model that was fitted with readout='voted'"):
            _ = model.votes_


def test_folds_and_neurons_have_a_weight_vector_for_each_step():
    folds = sx.trace([[1], [-2], [3]], [1, -1, 1], batch=2, max_iter=1)
    assert sum(vote.count for vote in folds.votes) == 3
    neuron = sx.trace([[1.0], [-2.0]], [1, 0], rule="sigmoid_neuron", max_iter=2)
    assert [vote.count for vote in neuron.votes] == [0, 1, 1, 1, 1]
