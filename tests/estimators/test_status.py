"""What a status says of the training rows is what ``predict`` gives for them."""

import re
import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse

from separatrix import (
    ALMA,
    AROW,
    ROMMA,
    SCW,
    KernelPerceptron,
    Network,
    Neuron,
    OnlineSVM,
    Perceptron,
    SecondOrderPerceptron,
    _core,
    datasets,
    stops,
    trace,
)
from separatrix.estimators import kernel_perceptron, perceptron
from separatrix.geometry.rows import Rows

KEPT = re.compile(r"; (\w+) weights: (\d+) of (\d+) training rows wrong$")
HIDDEN = re.compile(r"; (\w+) weights: (\d+) of (\d+) training rows wrong without rounding$")
READOUTS = ("last", "averaged", "voted", "pocket")


def some_data(rng):
    n, d, k = int(rng.integers(4, 30)), int(rng.integers(1, 4)), int(rng.choice([2, 2, 3, 4]))
    X = rng.integers(-2, 3, (n, d)) * rng.choice([1.0, 0.1]) if rng.random() < 0.6 else rng.standard_normal((n, d))
    y = (X @ rng.integers(-2, 3, (d, k)) + rng.integers(-1, 2, k)).argmax(axis=1)
    noisy = rng.random(n) < rng.choice([0.0, 0.1])
    y[noisy] = rng.integers(0, k, np.count_nonzero(noisy))
    y[:2] = 0, 1
    weights = None
    if rng.random() < 0.25:
        weights = rng.choice([0.0, 0.5, 1.0, 2.0], n)
        weights[:2] = 1.0
    return sparse.csr_array(X) if rng.random() < 0.2 else X, y, weights


def some_model(rng, kind):
    def pick(*choices):
        return choices[rng.integers(len(choices))]

    rules = (stops.LossAtMost(0), stops.LossAtMost(2), stops.LossFlat(), stops.LossFlat(loss="hinge"))
    common = {
        "max_iter": pick(1, 2, 5, 30),
        "stop": pick(None, None, None, *rules, stops.NoMistakes(), stops.NoMistakes() | stops.HeldOutFlat(0.2)),
        "random_state": int(rng.integers(99)),
        "shuffle": pick(True, False),
        "class_weight": pick(None, None, "balanced"),
    }
    if kind == "perceptron":
        boundary, margin = pick("mistake", "positive", "negative", "correct"), pick(0.0, 0.0, 1.0)
        init = "uniform" if boundary == "correct" else pick("zeros", "uniform")
        eta0, readout = pick(1.0, 0.1, 0.3), pick(*READOUTS)
        return Perceptron(eta0=eta0, readout=readout, boundary=boundary, margin=margin, init=init, **common)
    if kind == "kernel":
        kernel, readout = pick("rbf", "linear", "poly"), pick(*READOUTS)
        boundary, bias = pick("mistake", "positive", "negative"), pick("ball", None, 1.0)
        return KernelPerceptron(kernel=kernel, coef0=1.0, readout=readout, boundary=boundary, bias=bias, **common)
    if kind == "online":
        return OnlineSVM(C=pick(0.1, 10.0), step=pick("pegasos", "lecture"), average=pick(True, False), **common)
    if kind == "spread":
        kept = {"covariance": pick("diagonal", "full"), "average": pick(True, False), **common}
        return AROW(r=pick(0.1, 10.0), **kept) if pick(True, False) else SCW(variant=pick("scw1", "scw2"), **kept)
    if kind == "large margin":
        kept = {"average": pick(True, False), **common}
        return pick(ROMMA(**kept), ROMMA(aggressive=True, **kept), ALMA(**kept), SecondOrderPerceptron(**kept))
    if kind == "neuron":
        return Neuron(loss=pick("squared", "log"), batch_size=pick(1, 3, "all"), eta0=pick(0.01, 0.5, 2.0), **common)
    return Network(hidden=(2,), batch_size=pick(1, 4, "all"), eta0=pick(0.1, 1.0), **common)


def fitted(model, X, y, weights=None):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("kind", ["perceptron", "kernel", "online", "spread", "large margin", "neuron", "network"])
def test_no_status_says_what_predictions_of_the_training_rows_contradict(kind):
    rng = np.random.default_rng(sum(map(ord, kind)))
    told = silent = 0
    for _ in range(150):
        X, y, weights = some_data(rng)
        model = fitted(some_model(rng, kind), X, y, weights)
        text = str(model.status_)
        text = text.removesuffix(hidden[0]) if (hidden := HIDDEN.search(text)) else text
        counted = np.ones(len(y), dtype=bool) if weights is None else weights > 0
        wrong = int(np.count_nonzero(model.predict(X)[counted] != y[counted]))
        if said := KEPT.search(text):
            assert (int(said[2]), int(said[3])) == (wrong, np.count_nonzero(counted)), text
            told += 1
        elif "no mistakes" in text:
            assert wrong == 0, text
            silent += 1
        elif len(model.classes_) == 2 and (made := re.search(r"(\d+) mistakes? in the last epoch", text)):
            assert wrong == int(made[1]), text
        elif (loss := re.search(r": loss (\S+),", text)) and model.stop.loss == "zero_one":
            assert (len(model.classes_), wrong) == (2, float(loss[1])), text
        else:
            assert "mistake" not in text, text
    assert told > 20
    assert silent


@pytest.mark.parametrize("readout", ["averaged", "voted"])
def test_other_weights_than_the_last_are_named_with_their_training_errors(readout):
    texts = []
    for seed in range(40):
        data = datasets.separable(25, 2, margin=0.02, random_state=seed)
        model = Perceptron(readout=readout, random_state=seed).fit(data.X, data.y)
        wrong = int(np.count_nonzero(model.predict(data.X) != data.y))
        expected = f"converged: no mistakes (epoch {model.n_iter_})"
        if wrong:
            expected += f"; {readout} weights: {wrong} of 25 training rows wrong"
        assert str(model.status_) == expected
        assert model.status_.converged
        texts.append(expected)
    assert any("wrong" in text for text in texts)


@pytest.mark.parametrize("readout", ["last", "pocket"])
def test_no_pass_is_made_where_an_epoch_without_mistakes_proves_it(readout, monkeypatch):
    def refuse(*_):
        raise AssertionError("the training rows were predicted again")

    monkeypatch.setattr(Perceptron, "_decide", refuse)
    data = datasets.separable(50, 3, margin=0.05, random_state=0)
    model = Perceptron(readout=readout, random_state=0).fit(data.X, data.y)
    assert str(model.status_) == f"converged: no mistakes (epoch {model.n_iter_})"


def hidden_by_rounding(seed, layout=np.asarray):
    """Return weights and a bias with which the row of ones has an activation that is positive as computed only."""
    rng = np.random.default_rng(seed)
    while True:
        weights = rng.standard_normal((1, 40)) * 10.0 ** rng.integers(-3, 4, 40)
        computed = float(_core.decide(Rows(layout(np.ones((1, 40)))).matrix, weights, np.zeros(1), 1)[0, 0])
        bias = -float(np.nextafter(computed, -np.inf))
        if sum(map(Fraction, weights[0].tolist())) + Fraction(bias) <= 0:
            return weights, np.array([bias])


@pytest.mark.parametrize("margin", [0.0, 1e-30])
@pytest.mark.parametrize("layout", [np.asarray, sparse.csr_array])
def test_a_run_learns_from_mistakes_that_rounding_hides(margin, layout):
    for seed in range(5):
        init = hidden_by_rounding(seed, layout)
        X, y = np.array([np.ones(40), np.full(40, -1e3)]) * np.sign(init[0]) ** [[0], [1]], [1, 0]
        model = Perceptron(init=init, eta0=0.1, margin=margin, shuffle=False).fit(layout(X), y)
        assert model.predict(layout(X)).tolist() == y
        assert model.certificate_.wrong == 0
        assert [epoch.mistakes for epoch in model.history_] == [1, 0]
        assert str(model.status_) == "converged: no mistakes (epoch 2)"


def test_what_rounding_hides_is_learned_from_in_every_class():
    weights, bias = hidden_by_rounding(0)
    ones, far, other = np.ones(40), -1e3 * np.sign(weights[0]), np.zeros((2, 40))
    X = np.array([ones, far, far])
    for row, place in enumerate(np.argsort(np.abs(weights[0]))[:2].tolist()):  # a feature for each other class
        X[1:, place], X[row + 1, place], other[row, place] = 0.0, 9.0, 1.0
    init = (np.concatenate([weights, other]), np.array([*bias, -3.0, -3.0]))
    model = Perceptron(init=init, shuffle=False).fit(X, [0, 1, 2])
    assert [each.wrong for each in model.certificate_.values()] == [0, 0, 0]
    assert model.n_updates_ == 1
    assert str(model.status_) == "converged: no mistakes (slowest of 3 one-vs-rest problems: epoch 2)"


def test_rows_without_weight_hide_no_mistakes():
    weights, bias = hidden_by_rounding(0)
    far = -1e3 * np.sign(weights[0])
    X, y = np.array([np.ones(40), np.ones(40) - 1e-3 * far, far]), [1, 1, 0]
    kept = [Perceptron(init=(weights, bias), shuffle=False).fit(X, y, sample_weight=w) for w in ([0, 1, 1], [1, 1, 1])]
    assert [model.n_updates_ for model in kept] == [0, 1]


def test_a_rate_that_rounds_the_weights_leaves_no_mistake():
    X, y = datasets.load("and")
    for eta in (1.0, 0.1, 0.3):
        model = Perceptron(eta0=eta, boundary="positive", shuffle=False).fit(X, y)
        row = Fraction(0) + sum(map(Fraction, [*model.coef_[0].tolist(), float(model.intercept_[0])]))  # of (1, 1)
        assert row >= 0
        assert model.predict(X).tolist() == y.tolist()
        assert str(model.status_) == f"converged: no mistakes (epoch {model.n_iter_})"
    vanished = fitted(
        Perceptron(eta0=1e-200, shuffle=False, fit_intercept=False, max_iter=9), [[1e-150], [-1e-150]], [1, 0]
    )
    assert not vanished.status_.converged  # its weights are 0 as floats


def test_votes_that_would_take_long_are_not_counted_and_the_status_says_so(monkeypatch):
    data = datasets.separable(50, 3, margin=0.05, random_state=0)
    for module, model in ((perceptron, Perceptron), (kernel_perceptron, KernelPerceptron)):
        monkeypatch.setattr(module, "_VOTED_WORK", 0)
        monkeypatch.setattr(kernel_perceptron, "_SMALL", 0)
        status = model(readout="voted", random_state=0).fit(data.X, data.y).status_
        assert str(status).endswith("; voted weights not checked on the training rows")


@pytest.mark.parametrize("readout", ["last", "averaged", "pocket"])
def test_large_kernel_problems_are_counted_with_the_kernel_rows_at_hand(readout, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 2))
    for k in (2, 3):
        y = np.digitize(X[:, 0] * X[:, 1] + 0.5 * rng.standard_normal(60), [0.0, 0.5][: k - 1])
        small = fitted(KernelPerceptron(readout=readout, max_iter=3, random_state=0), X, y)
        monkeypatch.setattr(kernel_perceptron, "_SMALL", 0)
        assert str(fitted(KernelPerceptron(readout=readout, max_iter=3, random_state=0), X, y).status_) == str(
            small.status_
        )
        monkeypatch.undo()
        assert KEPT.search(str(small.status_))


def test_a_status_of_online_learning_is_about_the_examples_as_they_came():
    data = datasets.separable(60, 2, margin=0.02, random_state=1)
    model = Perceptron(readout="averaged", random_state=0).partial_fit(data.X, data.y)
    assert re.fullmatch(
        r"learned online from 60 examples with \d+ mistakes, each counted before learning from it", str(model.status_)
    )
    X, y = [[0.0], [1.0], [2.0]], ["a", "b", "c"]
    text = str(Perceptron(random_state=0).partial_fit(X, y).status_)
    assert re.search(r"with \d+ mistakes in 3 one-vs-rest problems, each counted before learning from it$", text)


def test_a_time_limit_says_that_its_mistakes_were_made_while_learning():
    reason = stops.TimeLimit(2).reason(3, 0)
    assert reason.text == "stopped: time limit of 2 s reached in epoch 3 (0 mistakes while learning in it)"
    assert not stops.counts_errors(reason.text)


def test_the_status_of_a_trace_tells_the_errors_of_its_final_weights():
    told = 0
    for seed in range(30):
        data = datasets.separable(12, 2, margin=0.02, random_state=seed)
        run = trace(data.X, data.y, readout="averaged")
        plane = np.asarray(run.weights, dtype=float)
        wrong = int(np.count_nonzero(data.y * (data.X @ plane + float(run.bias)) <= 0))
        said = KEPT.search(str(run.status))
        assert (int(said[2]) if said else 0) == wrong
        told += wrong > 0
    assert told


def test_ctrl_c_while_training_rows_are_counted_keeps_the_model(monkeypatch):
    from separatrix.estimators import classifier

    def pressed(*given, **more):
        raise KeyboardInterrupt

    monkeypatch.setattr(classifier, "count_wrong", pressed)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 3
    model = Perceptron(readout="averaged", max_iter=3, stop=stops.MaxEpochs(3))
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.status_.interrupted
    assert str(model.status_).endswith("averaged weights not checked on the training rows (interrupted)")
    assert model.predict(X).shape == (60,)
