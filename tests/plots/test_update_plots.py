"""The boundary after each update, side by side and as an animation. (How it looks is for eyes.)"""

from __future__ import annotations

import base64
import io
import json
import re

import matplotlib as mpl
import numpy as np
import pytest
from PIL import Image

mpl.use("agg")
import matplotlib.pyplot as plt

import separatrix as sx
from separatrix import datasets, plots
from separatrix.plots.animations import _chosen
from separatrix.plots.updates import Scene, crossing, half


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def traced(name="lecture-000", **more):
    example = datasets.example(name)
    return sx.trace(example.X, example.y, **{**example.options, **example.view, **more})


def lines(ax, style):
    return [line.get_xydata() for line in ax.lines if line.get_linestyle() == style]


def test_the_updates_of_lecture_000_are_drawn_with_the_lectures_weights():
    axes = plots.updates(traced())
    assert [ax.get_title() for ax in axes] == [
        "start\nw = (1, 0, 0)",
        "update 1: epoch 1, example 4\nw = (0, 1, 1)",
        "update 2: epoch 1, example 5\nw = (-1, 2, 0)",
        "update 3: epoch 2, example 3\nw = (0, 2, -1)",
    ]
    assert not lines(axes[0], "-")  # w = 0 and b = 1: no line
    (new,) = lines(axes[3], "-")
    np.testing.assert_allclose(2 * new[:, 0] - new[:, 1], 0, atol=1e-12)  # the lecture's boundary
    (old,) = lines(axes[3], "--")
    np.testing.assert_allclose(2 * old[:, 0] - 1, 0, atol=1e-12)
    ring = axes[3].collections[-1].get_offsets()
    np.testing.assert_array_equal(ring, [[0, -1]])
    assert len(axes[0].figure.legends) == 1


def test_views_and_names_are_those_of_the_trace():
    (_, after) = plots.updates(traced("lecture-001"), names=["$a_$", "b"])
    assert after.get_title() == "update 1: epoch 1, example 2\nw = (0.5, 1), b = -1"
    assert after.get_xlabel() == "$a_$"
    after.figure.canvas.draw()  # which does not read names as formulas
    assert "theta = 1" in plots.updates(traced("lecture-001", threshold=True))[1].get_title()


def test_a_long_run_shows_its_first_updates_and_the_last():
    data = datasets.separable(60, 2, margin=0.08, random_state=4)
    run = sx.trace(data.X.round(2).tolist(), data.y.tolist())
    axes = plots.updates(run, most=4)
    assert [ax.get_title().split(":")[0] for ax in axes] == [
        "start\nw = (0, 0), b = 0",
        "update 1",
        "update 2",
        "update 15",
    ]
    end = axes[-1].get_title().split("w = (")[1].split(")")[0]
    np.testing.assert_allclose([float(v) for v in end.split(", ")], [float(v) for v in run.weights], rtol=1e-3)
    given = plt.subplots(1, 2)[1]
    assert plots.updates(run, given, most=2)[1] is given[1]
    with pytest.raises(ValueError, match="one Axes for each of the 3 states; found 2"):
        plots.updates(run, given, most=3)


def test_wrong_things_get_one_clear_sentence(tmp_path):
    with pytest.raises(TypeError, match=r"drawn from what sx\.trace returns; found list"):
        plots.updates([1, 2])
    three = sx.trace([[1, 2, 3], [0, 0, 1]], [0, 1])
    with pytest.raises(ValueError, match="can be drawn for two features; found 3"):
        plots.updates(three)
    with pytest.raises(ValueError, match="can be drawn for two features; found 1"):
        plots.animation(sx.trace([[1], [0]], [0, 1]), tmp_path / "a.gif")
    with pytest.raises(ValueError, match="names must hold one name for each of the 2 features; found 1"):
        plots.updates(traced(), names=["a"])
    with pytest.raises(ValueError, match="most must be a whole number, at least 2; found 1"):
        plots.updates(traced(), most=1)
    with pytest.raises(ValueError, match=r"ends in \.gif or \.html; found .*a\.mp4"):
        plots.animation(traced(), tmp_path / "a.mp4")
    with pytest.raises(ValueError, match=r"seconds must be between 0\.02 and 60; found 0"):
        plots.animation(traced(), tmp_path / "a.gif", seconds=0)
    assert not list(tmp_path.iterdir())


def test_the_gif_has_the_start_and_every_step(tmp_path):
    run = traced("lecture-001")
    assert plots.animation(run, tmp_path / "run.gif", seconds=0.5) == len(run) + 1 == 9
    with Image.open(tmp_path / "run.gif") as film:
        assert film.n_frames == 9
        assert film.info["duration"] == 500


def frames(page):
    return json.loads(re.search(r'<script type="application/json" id="frames">(.*?)</script>', page, re.DOTALL)[1])


def test_the_page_holds_every_step_and_loads_nothing(tmp_path):
    run = traced()
    assert plots.animation(run, tmp_path / "run.html") == 19
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert len(page) < 1_000_000
    assert not re.search(r"https?:|@import|url\(|<script[^>]+src|<link[^>]+stylesheet", page)
    assert "default-src 'none'" in page
    shown = frames(page)
    assert shown[0]["text"] == "start: w = (1, 0, 0)"
    assert shown[4]["text"] == "epoch 1, example 4: activation 1, class -1; update to w = (0, 1, 1)"
    assert shown[-1]["text"].endswith("no update, w = (0, 2, -1)")
    sizes = set()
    for each in shown:
        with Image.open(io.BytesIO(base64.b64decode(each["png"]))) as picture:
            sizes.add(picture.size)
    assert len(sizes) == 1
    for needed in ('id="play"', 'type="range"', "ArrowLeft", "ArrowRight", "Home", "aria-live", 'lang="en"', "<label"):
        assert needed in page


def test_labels_cannot_break_the_page(tmp_path):
    evil = "</script><script>alert(1)</script>"
    run = sx.trace([[1, 1], [-1, 0]], [evil, "<b>"])
    plots.animation(run, tmp_path / "run.html")
    page = (tmp_path / "run.html").read_text(encoding="utf-8")
    assert page.count("</script>") == 2
    assert evil in frames(page)[1]["text"] + frames(page)[2]["text"]


def test_of_a_longer_run_only_updates_are_shown():
    data = datasets.separable(60, 2, margin=0.08, random_state=4)
    run = sx.trace(data.X.round(2).tolist(), data.y.tolist())
    moments = Scene(run).moments
    assert len(moments) == len(run) + 1 == 301
    chosen = _chosen(moments)
    assert [moment.step.updated for moment in chosen[1:]] == [True] * run.n_updates
    many = _chosen(moments[:1] + [moment for moment in moments if moment.changed] * 100)
    assert len(many) == 150


@pytest.mark.parametrize("values", [[1, 1, 0], [1, 0, 0.5], [0, -2, 1], [1, -1, 0], [3, 0.1, -0.2]])
def test_half_planes_and_lines_in_a_box(values):
    box, values = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]], dtype=float), np.array(values, dtype=float)
    ends = crossing(box, values)
    np.testing.assert_allclose(ends @ values[:2] + values[2], 0, atol=1e-12)
    assert np.linalg.norm(ends[1] - ends[0]) > 0.5
    parts = [half(box, values), half(box, -values)]

    def area(corners):
        x, y = corners.T
        return 0.5 * abs(x @ np.roll(y, 1) - y @ np.roll(x, 1))

    assert sum(map(area, parts)) == pytest.approx(4.0)
    assert (parts[0] @ values[:2] + values[2] >= -1e-12).all()
    assert crossing(box, np.array([1.0, 0.0, 5.0])) is None
    assert crossing(box, np.zeros(3)) is None


def test_the_command_draws_both(run, tmp_path):
    status, printed, messages = run(
        "trace", "lecture-001", "--animate", "run.gif", "--plot", "steps.svg", "--format", "csv"
    )
    assert status == 0
    assert printed.startswith("epoch")
    assert messages == "Plot written to steps.svg.\nAnimation of 9 pictures written to run.gif.\n"
    assert (tmp_path / "run.gif").read_bytes().startswith(b"GIF8")
    assert (tmp_path / "steps.svg").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["lecture-000", "--animate", "run.mp4"], "--animate run.mp4: the ending must be .gif or .html"),
        (["lecture-000", "--plot", "run.gif"], "--plot run.gif: the ending must be one of .png, .svg, .pdf"),
        (["lecture-000", "--animate", "a.html", "-o", "a.html"], "both name a.html"),
        (["three.csv", "--target", "y", "--animate", "run.gif"], "can be drawn for two features; found 3"),
        (["three.csv", "--target", "y", "--plot", "run.png"], "can be drawn for two features; found 3"),
    ],
)
def test_the_command_refuses_what_it_cannot_draw(run, tmp_path, arguments, message):
    (tmp_path / "three.csv").write_text("a,b,c,y\n1,2,3,0\n0,1,1,1\n", encoding="utf-8")
    status, printed, messages = run("trace", *arguments)
    assert (status, printed) == (2, "")
    assert message in messages
    assert [path.name for path in tmp_path.iterdir()] == ["three.csv"]


def test_titles_show_the_weights_as_the_table_does():
    rows, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], [0, 0, 0, 1]
    run = sx.trace(rows, labels, bias_constant=2, augmented=True)
    assert sx.plots.updates(run)[-1].get_title().endswith("w = (-2, 3, 3)")
    assert run.final() == "weight (-2, 3, 3)"
    run = sx.trace([[0, 1], [2, 1]], [0, 1], fit_intercept=False)
    assert sx.plots.updates(run)[-1].get_title().endswith(f"w = {run.final().removeprefix('weight ')}")


def test_classes_may_have_any_name():
    run = sx.trace([[0, 1], [2, 1]], ["before", "$x_{"], labels="own")
    axes = sx.plots.updates(run)
    legend = axes[0].figure.legends[0]
    assert [text.get_text() for text in legend.get_texts()] == ["$x_{", "before", "example", "before", "after, with w"]
    axes[0].figure.canvas.draw()
    ax = sx.plots.plane(sx.Plane((1, -2)), [[1, 2], [3, 1]], ["$x_{", "b"], names=["$a_{", "b$"])
    ax.figure.canvas.draw()
