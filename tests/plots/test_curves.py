"""Loss curves: the recorded loss at its epochs, with its name; else the mean loss or the mistakes."""

from __future__ import annotations

import warnings

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pytest
from sklearn.exceptions import ConvergenceWarning

import separatrix as sx
from separatrix import plots
from separatrix.rules.losses import LOSSES


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def fitted(model, name="xor"):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(*sx.datasets.load(name))


def drawn(ax):
    (line,) = ax.lines
    return line.get_xdata().tolist(), line.get_ydata().tolist()


def test_a_loss_recorded_every_two_epochs_is_drawn_there():
    model = fitted(sx.Perceptron(record="zero_one", every=2, max_iter=6, shuffle=False))
    ax = plots.loss_curve(model)
    assert drawn(ax) == ([2, 4, 6], [2.0, 2.0, 2.0])
    assert ax.get_ylabel() == "L: training rows predicted wrong"
    assert all(tick == int(tick) for tick in ax.get_yticks())


@pytest.mark.parametrize("name", LOSSES)
def test_the_label_says_which_loss(name):
    ax = plots.loss_curve(fitted(sx.Neuron(record=name, max_iter=12), "and"))
    words = {"zero_one": "predicted wrong", "perceptron": "criterion", "squared_hinge": "squared hinge"}
    assert words.get(name, f"{name} loss") in ax.get_ylabel()
    assert drawn(ax)[0][0] == 1


def test_the_loss_of_a_stop_rule_is_drawn_for_a_perceptron():
    model = fitted(sx.Perceptron(stop="loss<=0@hinge/3", max_iter=7, shuffle=False))
    ax = plots.loss_curve(model)
    assert drawn(ax)[0] == [3, 6]
    assert ax.get_ylabel().startswith("hinge loss")


def test_without_a_recorded_loss_mistakes_or_the_mean_loss_are_drawn():
    ax = plots.loss_curve(fitted(sx.Perceptron(shuffle=False), "and"))
    assert ax.get_ylabel() == "mistakes"
    assert plots.loss_curve(fitted(sx.Neuron(stop="loss<=0", max_iter=3))).get_ylabel() == "mean loss"
    late = fitted(sx.Perceptron(record="log", every=50, max_iter=3))
    assert plots.loss_curve(late).get_ylabel() == "mistakes"


def test_a_trace_shows_its_mistakes():
    ax = plots.loss_curve(sx.trace(*sx.datasets.load("lecture-000"), start=((0, 0), 1)))
    assert drawn(ax) == ([1, 2, 3], [2.0, 1.0, 0.0])  # Lecture 000: patterns 4 and 5, then 3, then none
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "mistakes")
