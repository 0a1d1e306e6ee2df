"""Pictures of margins, gaps, losses and balls: what is drawn, where, with which words. (How they look is for eyes.)"""

from __future__ import annotations

from types import SimpleNamespace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from scipy import sparse
from sklearn.datasets import load_iris, make_circles
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def flowers():
    X, y = load_iris(return_X_y=True)
    return X[50:, 2:], np.array(["versicolor", "virginica"])[y[50:] - 1]


def contours(ax):
    """Return the lines that run through the picture, each as its points."""
    found = [each for each in ax.collections if hasattr(each, "levels")]
    return {float(each.levels[0]): np.concatenate([path.vertices for path in each.get_paths()]) for each in found}


def slack_lines(ax):
    (found,) = [each for each in ax.collections if type(each) is LineCollection]
    return np.array(found.get_segments())


def rings(ax):
    return np.asarray(ax.collections[-1].get_offsets())


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_lines_are_where_the_decision_is_zero_and_plus_or_minus_one(kernel):
    X, y = flowers()
    model = SVC(kernel=kernel, C=5.0).fit(X, y)
    lines = contours(plots.margin(model, X, y, names=["length", "width"]))
    assert sorted(lines) == [-1.0, 0.0, 1.0]
    for level, points in lines.items():
        np.testing.assert_allclose(model.decision_function(points), level, atol=1e-2 if kernel == "rbf" else 1e-9)


def test_every_support_vector_is_circled_and_all_examples_are_drawn():
    X, y = flowers()
    model = SVC(kernel="linear").fit(X, y)
    ax = plots.margin(model, X, y)
    np.testing.assert_array_equal(rings(ax), X[model.support_])
    drawn = np.concatenate([each.get_offsets() for each in ax.collections[-5:-1]])
    assert len(drawn) == len(X)
    assert legend(ax) == ["versicolor", "virginica", "support vector", "slack"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("feature 0", "feature 1")


def test_slack_is_drawn_straight_back_to_the_examples_own_margin_line():
    X, y = flowers()
    model = SVC(kernel="linear", C=2.0).fit(X, y)
    ax = plots.margin(model, X, y)
    lines = slack_lines(ax)
    signs = np.where(y == "virginica", 1.0, -1.0)
    slack = np.maximum(1.0 - signs * model.decision_function(X), 0.0)
    paid = slack > 1e-2
    assert len(lines) == paid.sum() > 5
    np.testing.assert_array_equal(lines[:, 0], X[paid])
    np.testing.assert_allclose(model.decision_function(lines[:, 1]), signs[paid], atol=1e-9)
    lengths = np.linalg.norm(lines[:, 1] - lines[:, 0], axis=1)
    np.testing.assert_allclose(lengths, slack[paid] / np.linalg.norm(model.coef_))
    width = 2.0 / np.linalg.norm(model.coef_)
    assert ax.get_title() == f"margin 2 / |w| = {width:.3g}, total slack {slack.sum():.3g}"


def test_the_slack_of_a_kernel_model_is_the_size_of_its_points():
    X, y = make_circles(100, noise=0.15, factor=0.4, random_state=0)
    model = SVC(kernel="rbf", gamma=1.0).fit(X, y)
    ax = plots.margin(model, X, y)
    assert not [each for each in ax.collections if type(each) is LineCollection]
    assert legend(ax)[-1] == "slack (marker size)"
    slack = np.maximum(1.0 - np.where(y == 1, 1, -1) * model.decision_function(X), 0.0)
    groups = [each for each in ax.collections[-5:-1] if len(each.get_offsets())]
    points = np.concatenate([each.get_offsets() for each in groups])
    drawn = dict(zip(map(tuple, points), np.concatenate([each.get_sizes() for each in groups]), strict=True))
    sizes = np.array([drawn[tuple(x)] for x in X])
    np.testing.assert_allclose(sizes, 26.0 + 60.0 * np.minimum(slack, 3.0))


def test_frames_sparse_matrices_and_pipelines_have_margins_too():
    X, y = flowers()
    table = pd.DataFrame({"length": X[:, 0], "width": 1000 * X[:, 1]})
    pipeline = make_pipeline(StandardScaler(), SVC(kernel="linear")).fit(table, y)
    ax = plots.margin(pipeline, table, y)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    np.testing.assert_array_equal(rings(ax), table.to_numpy()[pipeline[-1].support_])
    line = pd.DataFrame(contours(ax)[1.0], columns=table.columns)
    np.testing.assert_allclose(pipeline.decision_function(line), 1.0, atol=1e-9)
    assert ax.get_aspect() == "auto"
    thin = sparse.csr_array(X)
    assert plots.margin(SVC(kernel="linear").fit(thin, y), thin, y).get_aspect() == 1.0


def test_a_model_without_support_vectors_has_no_circles():
    X, y = flowers()
    ax = plots.margin(sx.Neuron(loss="log", eta0=0.1, random_state=0).fit(X, y), X, y)
    assert len(rings(ax)) == 0
    assert "support vector" not in legend(ax)


def run(n=50, best=1.0):
    steps = np.arange(1, n + 1)
    primal, dual = best + 2.0 / steps**2, best - 1.0 / steps**2
    return SimpleNamespace(primal=list(primal), dual=list(dual), gap=list(primal - dual), seconds=list(0.1 * steps))


def test_the_gap_is_drawn_against_time_below_primal_and_dual():
    history = run()
    above, below = plots.gap(SimpleNamespace(history_=history))
    for line, values in zip((*above.lines, *below.lines), (history.primal, history.dual, history.gap), strict=True):
        np.testing.assert_array_equal(line.get_xdata(), history.seconds)
        np.testing.assert_array_equal(line.get_ydata(), values)
    assert below.get_yscale() == "log"
    assert (below.get_xlabel(), below.get_ylabel(), above.get_ylabel()) == ("seconds", "duality gap", "objective")
    assert legend(above) == ["primal", "dual"]
    assert below.get_legend() is None


def test_several_runs_share_one_picture():
    axes = plt.subplots(2)[1]
    above, below = plots.gap({"cyclic": run(), "shuffled": run(30, best=2.0)}, axes)
    assert [above, below] == list(axes)
    assert legend(below) == ["cyclic", "shuffled"]
    assert len(above.lines) == 4
    assert len({line.get_color() for line in below.lines}) == 2


def test_a_closed_gap_ends_its_curve_and_a_far_start_does_not_flatten_the_rest():
    history = run()
    history.gap[-1] = 0.0
    history.primal[0] = 1e9
    above, below = plots.gap(history)
    assert np.isnan(below.lines[0].get_ydata()[-1])
    assert above.get_ylim()[1] < 5.0
    below.figure.canvas.draw()


def test_the_losses_are_drawn_with_their_names():
    ax = plots.losses()
    names = [text.get_text() for text in ax.texts]
    curves = dict(zip(names, (line.get_data() for line in ax.lines), strict=False))
    at = {name: {m: np.interp(m, *curve) for m in (-2.0, 0.5, 2.0)} for name, curve in curves.items()}
    assert at["zero-one"] == pytest.approx({-2.0: 1.0, 0.5: 0.0, 2.0: 0.0})
    assert at["perceptron criterion"] == pytest.approx({-2.0: 2.0, 0.5: 0.0, 2.0: 0.0})
    assert at["hinge"] == pytest.approx({-2.0: 3.0, 0.5: 0.5, 2.0: 0.0})
    assert at["squared hinge"] == pytest.approx({-2.0: 9.0, 0.5: 0.25, 2.0: 0.0}, abs=1e-4)
    assert at["log loss"][-2.0] == pytest.approx(np.log(1 + np.exp(2.0)))
    assert at["squared loss of a sigmoid"][0.5] == pytest.approx(0.5 / (1 + np.exp(0.5)) ** 2)


def test_the_names_of_the_losses_overlap_neither_each_other_nor_the_frame():
    ax = plots.losses(plt.subplots(figsize=(7.6, 4.8), layout="constrained")[1])
    ax.figure.canvas.draw()
    frame = ax.get_window_extent()
    anchors = np.array([ax.transData.transform(text.get_position()) for text in ax.texts])
    for text in ax.texts:
        box = text.get_window_extent()
        assert frame.contains(box.x0, box.y0)
        assert frame.contains(box.x1, box.y1)
    apart = np.linalg.norm(anchors[:, None] - anchors[None], axis=2) + 1e9 * np.eye(len(anchors))
    assert apart.min() > 15


def test_a_ball_is_a_circle_with_its_centre_and_the_rows_that_hold_it():
    X = np.random.default_rng(0).standard_normal((80, 2))
    found = sx.enclosing_ball(X)
    ax = plots.ball(found, X)
    assert {(circle.center, circle.radius) for circle in ax.patches} == {(tuple(found.center), found.radius)}
    points, held, center = (np.asarray(each.get_offsets()) for each in ax.collections)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(held, X[found.support])
    np.testing.assert_array_equal(center, [found.center])
    assert len(ax.lines) == len(found.support)
    assert ax.get_title() == f"radius {found.radius:.6g}, support: {len(found.support)} of 80 rows"
    assert ax.get_aspect() == 1.0
    table = pd.DataFrame(X, columns=["a", "b"])
    ax = plots.ball(found, table, plt.subplots()[1])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("a", "b")
    assert plots.ball(sx.enclosing_ball([[1.0, 2.0]]), [[1.0, 2.0]]).get_xlim() == (0.0, 2.0)


def test_what_cannot_be_drawn_gets_one_clear_sentence():
    X, y = flowers()
    model = SVC(kernel="linear").fit(X, y)
    three = SVC(kernel="linear").fit(*load_iris(return_X_y=True))
    ball = sx.enclosing_ball(X)
    with pytest.raises(ValueError, match="a margin can be drawn for two features; found 4"):
        plots.margin(three, *load_iris(return_X_y=True))
    with pytest.raises(ValueError, match="a margin lies between two classes; found 3"):
        plots.margin(three, X, np.arange(100) % 3)
    with pytest.raises(TypeError, match="margin draws a fitted classifier with decision_function; found 3"):
        plots.margin(3, X, y)
    with pytest.raises(ValueError, match=r"support names example \d+, but X has 10 rows: pass the training data"):
        plots.margin(model, X[:10], y[:10])
    with pytest.raises(ValueError, match="names must hold one name for each of the 2 features; found 1"):
        plots.margin(model, X, y, names=["only"])
    with pytest.raises(TypeError, match=r"gap draws a run with the sequences primal, dual, .* found \[\]"):
        plots.gap([])
    with pytest.raises(TypeError, match=r"gap draws a run .* found Perceptron\(\)"):
        plots.gap(sx.Perceptron())
    with pytest.raises(ValueError, match="must be of one length; found 1, 0, 0, 0"):
        plots.gap(SimpleNamespace(primal=[1.0], dual=[], gap=[], seconds=[]))
    with pytest.raises(ValueError, match="no finished epoch"):
        plots.gap(SimpleNamespace(primal=[], dual=[], gap=[], seconds=[]))
    with pytest.raises(ValueError, match="there is no run to draw"):
        plots.gap({})
    with pytest.raises(ValueError, match="axes must hold two Axes, for the objectives and for the gap; found 1"):
        plots.gap(run(), plt.subplots()[1])
    with pytest.raises(TypeError, match=r"ball draws what sx\.enclosing_ball returns; found tuple"):
        plots.ball((0, 1), X)
    with pytest.raises(ValueError, match="a ball can be drawn for two features; found 4"):
        plots.ball(ball, load_iris().data)
    with pytest.raises(ValueError, match="a ball in a kernel's feature space has no centre to draw"):
        plots.ball(sx.enclosing_ball(X, kernel="rbf"), X)
    with pytest.raises(ValueError, match="the ball was computed from other rows"):
        plots.ball(ball, X[:3])
