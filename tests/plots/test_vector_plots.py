"""Arrows of an update and of a projection, support vectors, the boundary of a trace. (How they look is for eyes.)"""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import datasets, plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def arrows(ax):
    """Return the ends of the arrows."""
    return {tuple(each.xy) for each in ax.texts if each.arrow_patch is not None}


def labels(ax):
    return {each.get_text(): each.xy for each in ax.texts if each.get_text()}


def line(ax, label):
    (found,) = [each for each in ax.lines if each.get_label() == label]
    return found.get_xydata()


def test_an_update_turns_w_toward_an_example_of_the_positive_class():
    ax = plots.update_vectors([1, -1], [1, 2], 1)
    assert arrows(ax) == {(1, -1), (1, 2), (2, 1)}
    assert set(labels(ax)) == {"w", "x", "+ x", "w + x"}
    np.testing.assert_allclose(line(ax, "boundary before") @ [1, -1], 0, atol=1e-12)
    np.testing.assert_allclose(line(ax, "boundary after") @ [2, 1], 0, atol=1e-12)
    assert ax.get_title() == "y (w . x) = -1 before the update, 4 after it"  # grown by |x|^2 = 5


def test_the_update_of_lecture_001_with_its_bias():
    ax = plots.update_vectors([1, 0], [0.5, -1], -1, b=0)
    assert (0.5, 1.0) in arrows(ax)
    np.testing.assert_allclose(line(ax, "boundary after") @ [0.5, 1], 1, atol=1e-12)
    # a'y = ay + |x|^2 + 1
    assert ax.get_title() == "y (w . x + b) = -0.5 before the update, 1.75 after it"


def test_the_update_of_lecture_004_with_a_rate_and_label_0():
    ax = plots.update_vectors([2.5, 1.5], [1, 2], 0, eta=0.1, b=-2)
    assert any(np.allclose(each, [2.4, 1.3]) for each in arrows(ax))
    assert "- 0.1 x" in labels(ax)


def test_a_correct_example_changes_nothing():
    ax = plots.update_vectors([1, 1], [1, 2], 1)
    assert ax.get_title() == "y (w . x) = 3 > 0: no update"
    assert arrows(ax) == {(1, 1), (1, 2)}
    assert len(ax.lines) == 2  # one boundary, the origin
    assert arrows(plots.update_vectors([0, 0], [1, 2], 1)) == {(1, 2)}


@pytest.mark.parametrize(("w", "x", "theta"), [([3, 4], [3, 1], 5), ([2, -1], [-1, 2], 1), ([1, 0.2], [2, 0.4], 0)])
def test_the_projection_and_the_distance_are_right(w, x, theta):
    ax = plots.projection(w, x, theta=theta)
    w, x = np.array(w, dtype=float), np.array(x, dtype=float)
    along = line(ax, "projection of x on w")[0]
    np.testing.assert_allclose(along, w * (w @ x) / (w @ w), atol=1e-12)
    np.testing.assert_allclose(line(ax, "theta / |w| along w")[0] @ w, theta, atol=1e-12)
    np.testing.assert_allclose(line(ax, "w . x = theta") @ w, theta, atol=1e-9)
    foot, end = line(ax, "signed distance")
    np.testing.assert_array_equal(end, x)
    np.testing.assert_allclose(foot @ w, theta, atol=1e-12)
    distance = (w @ x - theta) / np.linalg.norm(w)
    assert np.linalg.norm(end - foot) == pytest.approx(abs(distance))
    fires = "fires" if distance > 0 else "does not fire"
    assert ax.get_title().split("\n")[1] == f"signed distance {distance:.4g}: {fires}"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.update_vectors([1], [1, 2], 1), r"w must be two finite numbers; found \[1\]"),
        (lambda: plots.update_vectors([1, 2], [1, np.nan], 1), "x must be two finite numbers"),
        (lambda: plots.update_vectors([1, 2], "ab", 1), "x must be two finite numbers; found 'ab'"),
        (
            lambda: plots.update_vectors([1, 2], [1, 2], 3),
            r"y must be 1 or -1 \(or 0, which is taken for -1\); found 3",
        ),
        (lambda: plots.update_vectors([1, 2], [1, 2], [1]), "y must be 1 or -1"),
        (lambda: plots.update_vectors([1, 2], [1, 2], 1, eta=0), "eta must be greater than 0; found 0"),
        (lambda: plots.update_vectors([1, 2], [1, 2], 1, b="x"), "b must be a finite number; found 'x'"),
        (lambda: plots.projection([0, 0], [1, 2]), r"w must not be \(0, 0\)"),
        (lambda: plots.projection([1, 0], [1, 2], theta=np.inf), "theta must be a finite number; found inf"),
    ],
)
def test_wrong_vectors_get_one_clear_sentence(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_boundary_of_a_trace_is_that_of_its_final_weights():
    example = datasets.example("lecture-000")
    run = sx.trace(example.X, example.y, **example.options, **example.view)
    ax = plots.decision_boundary(run)
    border = ax.collections[0].get_paths()[0].vertices
    np.testing.assert_allclose(2 * border[:, 0] - border[:, 1], 0, atol=1e-6)
    assert len(np.concatenate([each.get_offsets() for each in ax.collections[1:]])) == 6
    named = sx.trace([[1, 2, 0], [0, 0, 1], [3, 1, 1]], ["no", "yes", "no"])
    assert plots.decision_boundary(named).get_xlabel() == "signed distance to the boundary"
    plots.decision_boundary(named, [[1.0, 1.0, 1.0], [0.0, 0.0, 9.0]], ["yes", "no"])
    with pytest.raises(TypeError, match=r"decision_boundary draws a fitted classifier or a Trace; found list"):
        plots.decision_boundary([1, 2])
    with pytest.raises(TypeError, match="needs examples X and their labels y; only a Trace holds its own"):
        plots.decision_boundary(SVC())
    with pytest.raises(
        TypeError, match=r"mistakes draws a fitted sx\.Perceptron, or a dict of them by name; found Trace"
    ):
        plots.mistakes(run)
    with pytest.raises(TypeError, match="margin_histogram draws a classifier with decision_function; found Trace"):
        plots.margin_histogram(run, example.X, example.y)


def test_every_support_vector_has_its_alpha_and_margin():
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], y[50:]
    model = sx.LinearSVM(C=1.0).fit(X, y)
    other = SVC(kernel="linear", C=1.0, tol=1e-8).fit(X, y)
    ax = plots.support(model, X, y)
    held = np.concatenate([ax.collections[k].get_offsets() for k in (0, 2)])
    assert len(held) == len(model.support_)
    alpha = np.abs(other.dual_coef_).ravel()
    np.testing.assert_allclose(np.sort(np.asarray(held)[:, 1])[::-1][:20], np.sort(alpha)[::-1][:20], atol=1e-3)
    signs = np.where(y == 2, 1, -1)
    slack = np.maximum(1 - signs * other.decision_function(X), 0).sum()
    assert ax.get_title().endswith(f"total slack {slack:.3g}")
    assert ax.get_title().startswith(f"{len(model.support_)} support vectors of 100 rows")


def test_what_has_no_support_is_refused():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(TypeError, match="support draws a fitted LinearSVM or KernelSVM; found Perceptron"):
        plots.support(sx.Perceptron().fit(X[:100], y[:100]), X, y)
    with pytest.raises(ValueError, match="can be drawn for two classes; found 3"):
        plots.support(sx.LinearSVM().fit(X, y), X, y)


def test_descents_side_by_side_share_their_window():
    runs = {f"{step}": sx.descend(lambda x: x * x, lambda x: 2 * x, 2.0, step) for step in (0.1, 0.4, 1.1)}
    axes = plots.descents(runs, title="a parabola")
    assert len({ax.get_xlim() for ax in axes}) == 1
    assert axes[0].get_xlim()[0] < -3 < 3 < axes[0].get_xlim()[1] < 8
    assert [ax.get_ylabel() for ax in axes] == ["f(x)", "", ""]
    with pytest.raises(TypeError, match="descents draws a dict of names and what"):
        plots.descents([])
    with pytest.raises(ValueError, match="one Axes for each of the 3 runs; found 1"):
        plots.descents(runs, plt.subplots()[1])
    two = sx.descend(lambda q: float(q @ q), lambda q: 2 * q, [1.0, 1.0], 0.1)
    with pytest.raises(ValueError, match="different numbers of variables"):
        plots.descents({**runs, "two": two})
