"""Pictures: what is drawn, where, with which words. (How they look is for eyes.)"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import plots
from separatrix.plots import canvas
from separatrix.stops import MaxEpochs


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def square(x):
    return x * x


def test_the_loss_curve_shows_the_losses_against_epochs():
    X, y = load_iris(return_X_y=True)
    model = sx.Neuron(loss="log", random_state=0, stop=MaxEpochs(7)).fit(X, y)
    _, ax = plt.subplots()
    assert plots.loss_curve(model, ax, label="neuron") is ax
    x, values = ax.lines[0].get_data()
    assert x.tolist() == [1, 2, 3, 4, 5, 6, 7]
    assert list(values) == model.loss_curve_
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("epoch", "mean loss")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["neuron"]
    plots.loss_curve(model.history_, ax)
    assert len(ax.lines) == 2


def test_the_curve_of_a_perceptron_is_its_mistakes():
    X, y = sx.datasets.load("lecture-000")
    model = sx.Perceptron(shuffle=False).fit(X, y)
    ax = plots.loss_curve(model)
    assert list(ax.lines[0].get_ydata()) == model.history_.mistakes
    assert ax.get_ylabel() == "mistakes"
    assert plots.loss_curve([3.0, 2.0]).get_ylabel() == "loss"
    with pytest.raises(ValueError, match="no finished epoch"):
        plots.loss_curve([])


def test_in_two_dimensions_the_boundary_is_where_the_activation_is_zero():
    X, y = load_iris(return_X_y=True)
    X, y = X[:100, :2], y[:100]
    model = sx.Neuron(loss="log", eta0=0.1, random_state=0).fit(X, y)
    ax = plots.decision_boundary(model, X, y, names=["length", "width"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    line = ax.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(model.decision_function(line), 0, atol=1e-6)
    assert len(np.concatenate([each.get_offsets() for each in ax.collections[1:]])) == 100


def test_in_many_dimensions_the_distance_to_the_boundary_is_exact():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    model = sx.Neuron(loss="log", alpha=0.01, random_state=0).fit(X, y)
    ax = plots.decision_boundary(model, X, y)
    assert ax.get_xlabel() == "signed distance to the boundary"
    shown = np.concatenate([np.asarray(each.get_offsets()) for each in ax.collections])
    expected = model.decision_function(X) / np.linalg.norm(model.coef_)
    np.testing.assert_allclose(np.sort(shown[:, 0]), np.sort(expected), atol=1e-9)


def test_other_models_are_drawn_on_principal_directions():
    X, y = load_iris(return_X_y=True)
    model = sx.Network(random_state=0, stop=MaxEpochs(5)).fit(X, y)
    ax = plots.decision_boundary(model, X, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("first principal component", "second principal component")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1", "2"]
    with pytest.raises(ValueError, match="needs at least two features; found 1"):
        plots.decision_boundary(model, X[:, :1], y)


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_pipelines_and_test_sets_with_fewer_classes(frame):
    X, y = load_iris(return_X_y=True)
    table = frame({"length": X[:, 0], "width": X[:, 1]})
    labels = np.array(["setosa", "versicolor", "virginica"])[y]
    pipeline = make_pipeline(StandardScaler(), sx.Neuron(loss="log", eta0=0.1, random_state=0)).fit(table, labels)
    ax = plots.decision_boundary(pipeline, table[100:], labels[100:])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["virginica"]
    assert plots.loss_curve(pipeline).get_ylabel() == "mean loss"
    with pytest.raises(ValueError, match=r"labels unknown to the model: \[0, 1, 2\]; its classes are \['setosa'"):
        plots.decision_boundary(pipeline, table, y)
    with pytest.raises(ValueError, match="names must hold one name for each of the 2 features; found 1"):
        plots.decision_boundary(pipeline, table, labels, names=["only"])


def test_a_linear_model_behind_scalers_is_drawn_as_linear_and_a_voted_one_is_not():
    X, y = load_breast_cancer(return_X_y=True)
    pipeline = make_pipeline(StandardScaler(), sx.Neuron(loss="log", alpha=0.01, random_state=0)).fit(X, y)
    ax = plots.decision_boundary(pipeline, X, y)
    assert ax.get_xlabel() == "signed distance to the boundary"
    shown = np.concatenate([np.asarray(each.get_offsets()) for each in ax.collections])
    assert (shown[:, 0] >= 0).sum() == (pipeline.predict(X) == 1).sum()
    voted = sx.Perceptron(readout="voted", max_iter=2, random_state=0).fit(X, y)
    assert plots.decision_boundary(voted, X, y).get_xlabel() == "first principal component"


def test_ten_classes_can_be_told_apart():
    looks = {(canvas.MARKERS[k % len(canvas.MARKERS)], canvas.colours_of(10)[k]) for k in range(10)}
    assert len(looks) == len(set(canvas.colours_of(10))) == 10


def test_wrong_things_get_one_clear_sentence():
    with pytest.raises(TypeError, match=r"loss_curve draws a fitted estimator .* found Neuron\(\)"):
        plots.loss_curve(sx.Neuron())
    with pytest.raises(TypeError, match=r"path draws what sx\.descend returns; found list"):
        plots.path([1, 2, 3])
    with pytest.raises(ValueError, match="one Axes for each of the 2 steps; found 1"):
        plots.compare_steps(square, lambda x: 2 * x, 2.0, steps=(0.1, 0.2), axes=plt.subplots()[1])
    with pytest.raises(TypeError, match="paths must be a dict of names and paths; found list"):
        plots.loss_surface(np.ones(2), [0, 1], paths=[])
    with pytest.raises(ValueError, match=r"w must be a pair \(low, high\); found 3"):
        plots.loss_surface(np.ones(2), [0, 1], w=3)


def test_a_diverged_run_and_a_start_of_length_one_can_be_drawn():
    run = sx.descend(lambda q: float(np.exp(q @ q)), lambda q: 2 * q * np.exp(q @ q), [2.0, 2.0], 1.0)
    assert run.outcome == "diverging"
    plots.path(run, window=((-3, 3), (-3, 3)), linewidth=3, marker="x", label="too far")
    ax = plots.path(sx.descend(lambda q: float(q[0] ** 2), lambda q: 2 * q, [3.0], 1.1), window=(-20, 20))
    assert ax.get_ylim()[1] < 500
    assert plots.loss_curve(run).get_xlabel() == "step"


def test_a_path_on_a_curve_and_on_contours():
    run = sx.descend(square, lambda x: 2 * x, 2.0, 0.25)
    ax = plots.path(run, window=(-1, 3))
    assert ax.get_xlim() == (-1, 3)
    np.testing.assert_allclose(ax.lines[1].get_data(), [run.path, run.values])
    assert ax.get_title() == "converged after 22 steps"
    flat = sx.descend(lambda p: p @ p, lambda p: 2 * p, [2.0, 1.0], 0.25)
    ax = plots.path(flat)
    np.testing.assert_allclose(np.stack(ax.lines[0].get_data(), axis=1), flat.path)
    with pytest.raises(ValueError, match="one or two variables; this one has 3"):
        plots.path(sx.descend(lambda p: p @ p, lambda p: 2 * p, [2.0, 1.0, 0.0], 0.25))


def test_steps_side_by_side_show_the_same_part_of_the_function():
    axes = plots.compare_steps(square, lambda x: 2 * x, 2.0, steps=(0.02, 0.3, 1.04))
    assert len(axes) == 3
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert axes[0].get_title() == "step 0.02: after 12 steps x = 1.225"


def test_the_surface_is_the_mean_loss_and_carries_the_paths():
    x, y = np.array([-1.0, 0.0, 2.0, 3.0]), [0, 1, 0, 1]
    walk = np.array([[0.0, 0.0], [1.0, -1.0]])
    trace = sx.trace(x[:, None], y, rule="logistic_neuron", max_iter=3)
    ax = plots.loss_surface(x, y, loss="log", paths={"mine": walk, "stochastic": trace}, w=(-2, 2), b=(-3, 3))
    assert (ax.get_xlim(), ax.get_ylim()) == ((-2, 2), (-3, 3))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("weight w", "bias b")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["mine", "stochastic"]
    np.testing.assert_allclose(np.stack(ax.lines[0].get_data(), axis=1), walk)
    np.testing.assert_allclose(np.stack(ax.lines[3].get_data(), axis=1), trace.path)
    filled = ax.collections[0]
    assert filled.levels.min() == pytest.approx(min(surface(x, y)))
    assert filled.levels.max() == pytest.approx(max(surface(x, y)))


def surface(x, y):
    t = np.array(y)
    for b in np.linspace(-3, 3, 121):
        for w in np.linspace(-2, 2, 121):
            a = 1 / (1 + np.exp(-(w * x + b)))
            yield float(-np.log(np.where(t == 1, a, 1 - a)).mean())


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((np.ones((4, 2)), [0, 1, 0, 1]), {}, "needs one feature; found 2"),
        ((np.ones(3), [0, 1, 2]), {}, "needs two classes; found 3"),
        ((np.ones(2), [0, 1]), {"loss": "hinge"}, "loss must be squared or log; found 'hinge'"),
        ((np.ones(2), [0, 1]), {"paths": {"x": [1.0, 2.0]}}, r"needs points \(w, b\); found shape \(2,\)"),
    ],
)
def test_surfaces_that_cannot_be_drawn_are_refused(arguments, options, message):
    with pytest.raises(ValueError, match=message):
        plots.loss_surface(*arguments, **options)
