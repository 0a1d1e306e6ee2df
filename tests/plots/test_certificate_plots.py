"""Pictures of certificates: hulls, brackets, mistakes; what is drawn, where, with which words."""

from __future__ import annotations

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.collections import LineCollection
from matplotlib.patches import Polygon
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import plots
from separatrix.certificates.certificate import Bracket
from separatrix.certificates.witness import Plane, WeightedRows, Witness

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [3.0, 0.0], [4.0, 0.0], [3.0, 2.0], [4.0, 2.0]])
SIDES = np.array(["left"] * 4 + ["right"] * 4)


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def flowers(*kinds):
    iris = load_iris()
    names = iris.target_names[iris.target]
    kept = np.isin(names, kinds) if kinds else np.ones(len(names), dtype=bool)
    return iris.data[kept][:, 2:], names[kept]


def drawn(X, y, **options):
    certificate = sx.certify(X, y, random_state=0, **options)
    return certificate, plots.hulls(certificate, X, y)


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def points(ax, n):
    """Return all groups of this many points, in the order in which they are drawn."""
    found = [np.asarray(each.get_offsets()) for each in ax.collections if not isinstance(each, LineCollection)]
    return [each for each in found if len(each) == n]


def lines(ax, style):
    return [line.get_xydata() for line in ax.lines if line.get_linestyle() == style]


def distances(certificate, places):
    weights, bias = np.array(certificate.witness.plane.weights, dtype=float), float(certificate.witness.plane.bias)
    return (places @ weights + bias) / np.linalg.norm(weights)


# ------------------------------------------------------------------------------------------------ hulls


def test_the_nearest_points_of_separate_hulls_are_joined_across_the_margin():
    X, y = flowers("setosa", "versicolor")
    certificate, ax = drawn(X, y)
    assert certificate.separable == "strict"
    joined, plane = lines(ax, "-")
    assert np.linalg.norm(joined[1] - joined[0]) == pytest.approx(2.0 * certificate.margin.upper)
    np.testing.assert_allclose(distances(certificate, plane), 0.0, atol=1e-9)
    for sign, edge in zip((-1.0, 1.0), lines(ax, "--"), strict=True):
        np.testing.assert_allclose(distances(certificate, edge), sign * certificate.margin.lower, rtol=1e-9)
    np.testing.assert_allclose(distances(certificate, joined), [-0.65192024, 0.65192024], rtol=1e-6)
    assert [text.get_text() for text in ax.texts] == ["1.304"]
    assert ax.get_title() == "strictly separable: largest margin 0.6519"
    assert legend(ax) == ["setosa", "versicolor", "witness", "nearest points", "separating plane", "margin"]
    assert ax.get_aspect() == 1.0


def test_all_rows_and_both_hulls_are_drawn_and_the_witness_is_circled():
    certificate, ax = drawn(SQUARE, SIDES)
    np.testing.assert_array_equal(points(ax, 4)[0], SQUARE[:4])
    np.testing.assert_array_equal(points(ax, 4)[1], SQUARE[4:])
    one, other, band = (each.get_xy()[:-1] for each in ax.patches if isinstance(each, Polygon))
    assert {tuple(corner) for corner in one} == {tuple(row) for row in SQUARE[:4]}
    assert {tuple(corner) for corner in other} == {tuple(row) for row in SQUARE[4:]}
    np.testing.assert_allclose(np.sort(band[:, 0]), [1.0, 1.0, 3.0, 3.0], rtol=1e-8)
    held = SQUARE[list(certificate.witness.points.rows)]
    assert any(np.array_equal(each, held) for each in points(ax, len(held)))
    low, high = np.array([ax.get_xlim(), ax.get_ylim()]).T
    assert (low < SQUARE.min(axis=0)).all()
    assert (high > SQUARE.max(axis=0)).all()


def test_hulls_that_overlap_have_a_common_point_with_ways_to_the_witness():
    X, y = flowers("versicolor", "virginica")
    certificate, ax = drawn(X, y)
    assert certificate.separable == "none"
    rows, weights = np.array(certificate.witness.points.rows), np.array(certificate.witness.points.weights, dtype=float)
    ways = np.concatenate([each.get_segments() for each in ax.collections if isinstance(each, LineCollection)])
    for kind in ("versicolor", "virginica"):
        own = y[rows] == kind
        np.testing.assert_allclose(weights[own] @ X[rows[own]] / weights[own].sum(), ways[0, 0], rtol=1e-12)
    assert (ways[:, 0] == ways[0, 0]).all()
    assert {tuple(end) for end in ways[:, 1]} == {tuple(row) for row in X[rows]}
    np.testing.assert_array_equal(points(ax, 1)[-1][0], ways[0, 0])
    assert ax.get_title() == "not separable: largest margin 0"
    assert legend(ax) == ["versicolor", "virginica", "witness", "common point"]
    assert not ax.lines


def test_hulls_that_touch_have_a_plane_through_the_common_point():
    X = np.array([[0.0, 0.0], [2.0, 0.0], [1.0, 3.0], [1.0, 0.0], [0.5, -2.0], [1.5, -2.0]])
    certificate, ax = drawn(X, [0, 0, 0, 1, 1, 1])
    assert certificate.separable == "weak"
    (plane,) = lines(ax, "-")
    np.testing.assert_allclose(plane[:, 1], 0.0, atol=1e-12)
    np.testing.assert_array_equal(points(ax, 1)[-1], [[1.0, 0.0]])
    assert ax.get_title() == "weakly separable: largest margin 0"
    assert legend(ax) == ["0", "1", "witness", "common point", "separating plane"]


def test_without_a_verdict_what_is_known_is_drawn():
    X, y = flowers("versicolor", "virginica")
    decided = sx.certify(X, y, random_state=0)
    apart = Witness(None, WeightedRows((0, 60), (0.5, 0.5)))
    certificate = replace(decided, separable=None, witness=apart, margin=Bracket(0.0, 0.25))
    ax = plots.hulls(certificate, X, y)
    np.testing.assert_array_equal(lines(ax, "-"), [X[[0, 60]]])
    assert ax.get_title() == "not decided: largest margin 0 to 0.25"
    assert legend(ax)[2:] == ["witness", "near points"]
    ax = plots.hulls(replace(decided, separable=None), X, y)
    assert ax.get_title() == "not strictly separable: largest margin 0"
    assert legend(ax)[2:] == ["witness", "common point"]
    bare = replace(certificate, witness=Witness(None, None), margin=Bracket(0.0, np.inf))
    ax = plots.hulls(bare, X, y)
    assert ax.get_title() == "not decided: largest margin not bounded"
    assert legend(ax) == ["versicolor", "virginica"]


@pytest.mark.parametrize(
    "X", [[[1.0, 0.5], [2.0, 2.0], [-1.0, 1.0], [-2.0, -0.5]], [[2.0, 1.0], [1.0, 2.0], [2.0, 2.0], [-1.0, 0.0]]]
)
def test_planes_through_the_origin_are_drawn_with_it(X):
    X, y = np.array(X), [1, 1, 0, 0]
    certificate, ax = drawn(X, y, fit_intercept=False)
    assert legend(ax)[2] == "origin"
    assert any(not each.any() for each in points(ax, 1))
    if certificate.separable == "strict":
        start, end = lines(ax, "-")[-1]
        assert start[0] * end[1] - start[1] * end[0] == pytest.approx(0.0, abs=1e-12)
        assert "margin" in legend(ax)
    else:
        way = lines(ax, "-")[-1]  # a direction that is a weighted mean of both classes
        assert certificate.separable == "none"
        np.testing.assert_array_equal(way[0], [0.0, 0.0])
        assert legend(ax)[-1] == "common direction"


@pytest.mark.parametrize(
    ("X", "y", "verdict"),
    [
        ([[0.0, 0.0], [1.0, 2.0]], [0, 1], "strictly"),
        ([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0]], [0, 0, 1, 1], "strictly"),
        ([[0.1, 0.1], [0.2, 0.2], [0.3, 0.3], [0.7, 0.7]], [0, 1, 0, 1], "not"),
        ([[5.0, 5.0]] * 4, [0, 0, 1, 1], "not"),
        ([[0.0, 1.0], [0.0, 2.0], [0.0, 3.0], [0.0, 4.0]], [0, 1, 0, 1], "not"),
        ([[0.0, 1e-13], [1.0, 0.0], [2.0, 0.0], [3.0, 1e-13]], [0, 0, 0, 1], "strictly"),
    ],
)
def test_hulls_may_be_points_and_segments(X, y, verdict):
    ax = drawn(X, y)[1]
    ax.figure.canvas.draw()
    assert ax.get_title().startswith(f"{verdict} separable")
    assert not [each for each in ax.patches if len(each.get_xy()) > 5]
    for code in (0, 1):
        own = np.array(X)[np.array(y) == code]
        assert any(np.array_equal(each, own) for each in points(ax, len(own)))


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 2.0**40), (1e-200, 0.0), (1e200, 0.0), ([1e200, 1e-200], 0.0)])
def test_far_off_tiny_and_huge_data_are_drawn_with_their_plane_between_them(scale, shift):
    X = SQUARE + 0.25 * SQUARE[:, ::-1]
    moved = X * scale + shift
    ax = drawn(moved, SIDES)[1]
    ax.figure.canvas.draw()
    _, plane = lines(ax, "-")
    unit = (plane - shift) / scale
    direction, sides = unit[1] - unit[0], X - unit[0]
    turned = direction[0] * sides[:, 1] - direction[1] * sides[:, 0]
    assert len(set(np.sign(turned[:4]))) == len(set(np.sign(turned[4:]))) == 1
    assert np.sign(turned[0]) != np.sign(turned[-1])


def test_a_pair_of_classes_and_one_against_the_rest_are_drawn_from_the_whole_table():
    X, y = flowers()
    found = sx.certify(X, y, random_state=0)
    pair = plots.hulls(found.pairs["versicolor", "virginica"], X, y)
    assert legend(pair)[:2] == ["versicolor", "virginica"]
    assert len(points(pair, 50)) == 2
    assert pair.get_xlim()[0] > 2.0
    rest = plots.hulls(found.rest["setosa"], X, y)
    assert legend(rest)[:2] == ["other classes", "setosa"]
    assert len(points(rest, 100)) == len(points(rest, 50)) == 1


def test_frames_and_sparse_matrices_are_drawn_and_names_are_shown():
    table = pd.DataFrame(SQUARE, columns=["length", "width"])
    certificate, ax = drawn(table, SIDES)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("length", "width")
    where = plt.subplots()[1]
    assert plots.hulls(certificate, sparse.csr_array(SQUARE), SIDES, where, names=["a", "b"]) is where
    assert (where.get_xlabel(), where.get_ylabel()) == ("a", "b")
    assert plots.hulls(sx.certify(SQUARE * [1, 1000], SIDES), SQUARE * [1, 1000], SIDES).get_aspect() == "auto"


# ------------------------------------------------------------------------------------------------ brackets


def test_the_bracket_is_drawn_against_time():
    data = sx.datasets.separable(3000, 10, margin=0.05, random_state=0)
    certificate = sx.certify(data.X, data.y, random_state=0)
    history = ((0.5, 0.0, 0.4), (1.0, 0.01, 0.2), (2.0, *certificate.margin))
    ax = plots.bracket(certificate.with_history(history))
    upper, lower, proved = (line.get_ydata().tolist() for line in ax.lines)
    assert upper == [look[2] for look in history]
    assert lower == [look[1] for look in history]
    assert proved == list(certificate.margin)
    assert ax.lines[0].get_xdata().tolist() == [0.5, 1.0, 2.0]
    assert (ax.get_xlabel(), ax.get_ylabel(), ax.get_xscale()) == ("seconds", "margin", "linear")
    assert ax.get_title() == f"strictly separable: largest margin {certificate.margin.lower:.4g}"
    assert plots.bracket(certificate).get_legend() is not None


def test_a_long_search_is_drawn_over_the_logarithm_of_time_and_a_short_one_in_thousandths():
    certificate = sx.certify(SQUARE, SIDES)
    long = certificate.with_history(((0.01, 0.0, 5.0), (3.0, 0.9, 1.1), (30.0, 1.0, 1.0)))
    assert plots.bracket(long).get_xscale() == "log"
    assert plots.bracket(long).get_ylim()[1] < 5.0
    ax = plots.bracket(certificate.with_history(((0.01, 0.0, 5.0), (0.03, 1.0, 1.0))))
    assert ax.get_xlabel() == "milliseconds"
    np.testing.assert_allclose(ax.lines[0].get_xdata(), [10.0, 30.0])


@pytest.mark.parametrize(
    "history",
    [((0.1, 1.0, 1.0),), ((0.0, 0.0, np.inf),), ((0.1, 0.0, np.inf), (0.2, 1.0, 1.0)), ((0.1, 0.0, 0.0),) * 2],
)
def test_one_or_two_looks_make_a_picture_too(history):
    ax = plots.bracket(sx.certify(SQUARE, SIDES).with_history(history))
    ax.figure.canvas.draw()
    assert np.isfinite([*ax.get_xlim(), *ax.get_ylim()]).all()


def test_where_no_plane_separates_the_bracket_closes_at_zero():
    ax = plots.bracket(sx.certify(*sx.datasets.load("xor")))
    assert ax.get_title() == "not separable: largest margin 0"
    assert ax.get_ylim()[0] < 0 < ax.get_ylim()[1]


# ------------------------------------------------------------------------------------------------ mistakes


def test_mistakes_add_up_under_their_bound():
    data = sx.datasets.separable(200, 4, margin=0.1, random_state=0)
    model = sx.Perceptron(random_state=0).fit(data.X, data.y)
    bound = model.certificate_.mistakes
    ax = plots.mistakes(model)
    curve, most = ax.lines
    assert curve.get_xdata().tolist() == list(range(model.n_iter_ + 1))
    made = np.concatenate([[0], np.cumsum(model.history_.mistakes)])
    np.testing.assert_array_equal(curve.get_ydata()[1:], made[1:])
    assert set(most.get_ydata()) == {bound.allowed}
    assert legend(ax) == [f"{bound.made} mistakes", f"at most {int(bound.allowed):,}"]
    assert ax.get_yscale() == ("log" if bound.allowed > 12 * bound.made else "linear")
    assert ax.get_ylim()[1] > bound.allowed
    pipeline = make_pipeline(StandardScaler(), sx.Perceptron(random_state=0)).fit(data.X, data.y)
    assert len(plots.mistakes(pipeline).lines) == 2


def test_near_bounds_are_drawn_on_a_linear_scale_from_nothing():
    ax = plots.mistakes(sx.Perceptron(shuffle=False).fit(*sx.datasets.load("and")))
    assert ax.get_yscale() == "linear"
    assert (ax.lines[0].get_xdata()[0], ax.lines[0].get_ydata()[0]) == (0, 0)


def test_several_perceptrons_are_drawn_with_their_bounds_in_their_colours():
    X, y = sx.datasets.load("and")
    models = {f"seed {seed}": sx.Perceptron(random_state=seed).fit(X, y) for seed in range(3)}
    ax = plots.mistakes(models, plt.subplots()[1])
    assert len(ax.lines) == 6
    for curve, bound in zip(ax.lines[::2], ax.lines[1::2], strict=True):
        assert curve.get_color() == bound.get_color()
    assert len({line.get_color() for line in ax.lines}) == 3
    assert [label.split(":")[0] for label in legend(ax)] == list(models)


def test_a_sentence_says_why_there_is_no_bound():
    with pytest.warns(ConvergenceWarning):
        mixed = sx.Perceptron(max_iter=20, random_state=0).fit(*sx.datasets.load("xor"))
    ax = plots.mistakes(mixed)
    assert len(ax.lines) == 1
    assert ax.get_title() == "no bound: no plane separates the classes"
    started = sx.Perceptron(init="uniform", random_state=0).fit(*sx.datasets.load("and"))
    ax = plots.mistakes(started)
    assert len(ax.lines) == 1
    assert ax.get_title() == "no bound: the theorem needs one plain run from zero weights"


def test_of_several_classes_each_has_its_count_and_its_bound():
    X, y = flowers()
    with pytest.warns(ConvergenceWarning):
        model = sx.Perceptron(max_iter=30, random_state=0).fit(X, y)
    ax = plots.mistakes(model)
    found = model.certificate_
    total = sum(each.mistakes.made for each in found.values())
    assert ax.lines[0].get_ydata()[-1] == total == model.n_updates_
    assert legend(ax)[0] == f"all classes: {total:,} mistakes"
    assert legend(ax)[1].startswith(f"setosa: {found['setosa'].mistakes.made}, at most ")
    assert legend(ax)[2] == f"versicolor: {found['versicolor'].mistakes.made:,}, no bound"
    ends = [line for line in ax.lines if line.get_marker() == "o"]
    assert [int(line.get_ydata()[0]) for line in ends] == [each.mistakes.made for each in found.values()]


def test_a_run_that_went_on_counts_from_where_it_stood():
    data = sx.datasets.separable(200, 4, margin=0.02, random_state=0)
    model = sx.Perceptron(max_iter=2, shuffle=False, warm_start=True, stop=sx.stops.TimeLimit(1e-9))
    model.fit(data.X, data.y)
    model.set_params(stop=None, max_iter=1000).fit(data.X, data.y)
    made = plots.mistakes(model).lines[0].get_ydata()
    assert made[-1] == model.certificate_.mistakes.made
    assert made[-1] - made[0] == model.n_updates_ < made[-1]


# ------------------------------------------------------------------------------------------------ refused


def test_what_cannot_be_drawn_gets_one_clear_sentence():
    certificate = sx.certify(SQUARE, SIDES)
    three = np.column_stack([SQUARE, SQUARE[:, 0]])
    with pytest.raises(TypeError, match=r"hulls draws one Certificate, from sx\.certify; found str"):
        plots.hulls("strict", SQUARE, SIDES)
    with pytest.raises(TypeError, match=r"hulls draws one Certificate.* found Certificates"):
        plots.hulls(sx.certify(*flowers()), *flowers())
    with pytest.raises(ValueError, match="hulls can be drawn for two features; found 3"):
        plots.hulls(sx.certify(three, SIDES), three, SIDES)
    with pytest.raises(ValueError, match=r"about 'left' vs 'right', but y holds \['a', 'b'\]: pass the certified data"):
        plots.hulls(certificate, SQUARE, ["a"] * 4 + ["b"] * 4)
    with pytest.raises(
        ValueError, match=r"the certificate is about other rows or labels: pass the data given to sx\.certify"
    ):
        plots.hulls(certificate, SQUARE + 1.0, SIDES)
    with pytest.raises(ValueError, match="the certificate is about other rows or labels"):
        plots.hulls(certificate, SQUARE[:6], SIDES[:6])
    for witness in (Witness(None, WeightedRows((0, 99), (0.5, 0.5))), Witness(Plane((1.0, 0.0, 0.0), 1.0), None)):
        with pytest.raises(ValueError, match="witness names rows or features that these data do not have"):
            plots.hulls(replace(certificate, witness=witness), SQUARE, SIDES)
    with pytest.raises(ValueError, match="names must hold one name for each of the 2 features; found 1"):
        plots.hulls(certificate, SQUARE, SIDES, names=["only"])
    with pytest.raises(TypeError, match=r"bracket draws one Certificate, from sx\.certify; found dict"):
        plots.bracket({})
    with pytest.raises(ValueError, match="the certificate has no history, since files do not store it"):
        plots.bracket(sx.Certificate.from_json(certificate.to_json()))
    with pytest.raises(
        TypeError, match=r"mistakes draws a fitted sx\.Perceptron, or a dict of them by name; found int"
    ):
        plots.mistakes(3)
    with pytest.raises(ValueError, match="this one is not fitted"):
        plots.mistakes(sx.Perceptron())
    with pytest.raises(ValueError, match="there is no perceptron to draw"):
        plots.mistakes({})
    two = sx.Perceptron().fit(SQUARE, SIDES)
    with pytest.warns(ConvergenceWarning):
        many = sx.Perceptron(max_iter=2).fit(*flowers())
    with pytest.raises(ValueError, match="several perceptrons can be drawn together only if each has two classes"):
        plots.mistakes({"two": two, "many": many})
