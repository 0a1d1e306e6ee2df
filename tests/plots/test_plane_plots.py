"""Pictures of a plane that the user gives, and of labellings: what is drawn, and what is refused."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import datasets, plots


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def words(ax):
    return ax.get_legend_handles_labels()[1]


def test_the_line_is_where_the_activation_is_0():
    data = datasets.example("lecture-001")
    plane = sx.Plane((0.5, 1), -1)
    _, given = plt.subplots()
    ax = plots.plane(plane, data.X, data.y, given, projections=True)
    assert ax is given
    x, y = ax.lines[0].get_data()
    np.testing.assert_allclose(0.5 * np.array(x) + np.array(y) - 1, 0, atol=1e-9)
    assert ax.get_title() == "0.5 x1 + x2 - 1 = 0"
    assert {"w.x + b = 0", "positive side", "projection", "-1", "1"} <= set(words(ax))
    assert any(word.startswith("|theta| / |w| = 0.8944") for word in words(ax))
    low, high = np.array(ax.get_xlim()), np.array(ax.get_ylim())
    for point in data.X:
        assert low[0] < point[0] < low[1]
        assert high[0] < point[1] < high[1]


def test_mistakes_are_marked_and_the_positive_class_may_be_named():
    ax = plots.plane(sx.Plane((1, 0)), [[1, 0], [-1, 0], [2, 1]], ["a", "b", "b"], positive="a")
    assert {"a", "b", "b, mistake"} <= set(words(ax))
    with pytest.raises(ValueError, match="no row has the label 'c'"):
        plots.plane(sx.Plane((1, 0)), [[1, 0]], ["a"], positive="c")


def test_one_feature_is_a_number_line():
    ax = plots.plane(sx.Plane((-2,), 1), [[0], [1]], [1, 0])
    assert ax.get_title() == "-2 x1 + 1 = 0"
    assert "x1 = 0.5" in words(ax)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.plane(sx.Plane((1, 2, 3))), "one or two features; this one has 3 weights"),
        (lambda: plots.plane(sx.Plane((0, 0))), "all weights are 0"),
        (lambda: plots.plane(sx.Plane((1, 2)), y=[1]), "y is given without X"),
        (lambda: plots.plane(sx.Plane((1, 2)), [[1, 2]], names=["a"]), "one name for each of the 2 features"),
        (lambda: plots.labellings(sx.labellings([(1, 2, 3)])), "one or two features; these have 3"),
        (lambda: plots.labellings(sx.labellings([(0, 0), (1, 1)]), only="some"), "only must be one of"),
        (lambda: plots.labellings(sx.labellings([(k, k * k) for k in range(7)])), "128 labellings do not fit"),
    ],
)  # fmt: skip
def test_what_is_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_only_planes_are_drawn_as_planes():
    with pytest.raises(TypeError, match=r"plane draws an sx\.Plane"):
        plots.plane((1, 2))


def test_each_labelling_has_a_panel_and_those_without_a_line_are_named():
    found = sx.labellings([(0, 0), (0, 1), (1, 0), (1, 1)])
    axes = plots.labellings(found)
    assert len(axes) == 16
    assert [ax.get_title() for ax in axes if "no line" in ax.get_title()] == ["7: no line", "10: no line"]
    assert axes[0].figure.get_suptitle() == "lines realise 14 of 16 labellings of 4 points in 2 dimensions"
    assert len(plots.labellings(sx.labellings([(0,), (1,), (2,)]), only="impossible")) == 2
    with pytest.raises(ValueError, match="one Axes for each of the 16 labellings; found 2"):
        plots.labellings(found, plt.subplots(1, 2)[1])
