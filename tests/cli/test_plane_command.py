"""``separatrix plane`` and ``separatrix labellings``: the lectures' numbers, formats, pictures, and errors."""

from __future__ import annotations

import json

import pytest

POINTS = "x1,x2,y\n1,1,a\n3,0.5,a\n-1,2,b\n0,-1/2,b\n2,2,a\n"


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def failed(result):
    status, out, err = result
    assert status == 2, out
    return err


def test_lecture_000_in_one_command(run):
    out = done(run("plane", "lecture-000", "--weights", "2,-1"))
    assert "Plane 2 x1 - x2 = 0" in out
    assert "at most 15 mistakes: beta |w*|^2 / alpha^2 = 3 * 5 / 1^2 = 15 (bias coordinate included)" in out
    assert "2 * 5 / 1^2 = 10 (without a bias coordinate)" in out
    assert "0 of 6 (0 on the plane)" in out


def test_lecture_004_the_neuron_without_a_file(run):
    arguments = ("--weights", "2.5,-1,1.5", "--threshold", "2", "--point", "1,3,2", "--point", "1.5,1,-1")
    told = json.loads(done(run("plane", *arguments, "--json")))
    assert [(row["h"], row["output"]) for row in told["points"]] == [(2.5, 1), (1.25, 0)]
    assert told["threshold"] == 2
    out = done(run("plane", *arguments, "--format", "csv"))
    assert out.splitlines()[1].startswith("1,1,3,2,2.5,1,")


def test_a_tie_with_a_threshold_is_a_mistake_of_the_positive_class_only(run):
    told = json.loads(done(run("plane", "lecture-004", "--weights", "1,-1", "--threshold", "0", "--json")))
    assert (told["summary"]["mistakes"], told["summary"]["ties"]) == (0, 1)
    told = json.loads(done(run("plane", "lecture-004", "--weights", "1,-1", "--json")))
    assert (told["summary"]["mistakes"], told["summary"]["ties"]) == (1, 1)
    assert told["summary"]["margin"] is None
    assert "1 row is on the wrong side or on the plane" in told["summary"]["bound"]["reason"]


def test_weights_may_begin_with_a_minus(run):
    one = done(run("plane", "lecture-000", "--weights", "-1,2", "--json"))
    assert one == done(run("plane", "lecture-000", "--weights=-1,2", "--json"))
    assert json.loads(one)["weights"] == [-1, 2]
    assert json.loads(done(run("plane", "--weights", "1", "--bias", "-1/2", "--point", "-3", "--json")))["bias"] == -0.5


def test_fractions_in_a_file_labels_as_text_and_the_positive_class(run, tmp_path):
    (tmp_path / "points.csv").write_text(POINTS)
    told = json.loads(done(run("plane", "points.csv", "--target", "y", "--weights", "1,-2", "--bias", "0.5", "--json")))
    assert [row["activation"] for row in told["rows"]] == [-0.5, 2.5, -4.5, 1.5, -1.5]
    assert [row["margin"] for row in told["rows"]] == [0.5, -2.5, -4.5, 1.5, 1.5]  # b is positive
    told = json.loads(done(run(
        "plane", "points.csv", "--target", "y", "--weights", "1,-2", "--bias", "0.5", "--positive", "a", "--json"
    )))  # fmt: skip
    assert [row["margin"] for row in told["rows"]] == [-0.5, 2.5, 4.5, -1.5, -1.5]
    assert [row["y"] for row in told["rows"]] == ["a", "a", "b", "b", "a"]
    out = done(run("plane", "points.csv", "--target", "y", "--weights", "1,-2", "--no-decimals", "--bias", "1/3"))
    assert "-2/3" in out


def test_features_queries_and_delimiters(run, tmp_path):
    (tmp_path / "points.csv").write_text("x1;x2;y\n1;1;0\n3;2;1\n")
    told = json.loads(done(run("plane", "points.csv", "--target", "y", "--exclude", "x2", "--weights", "1", "--json")))
    assert [row["x"] for row in told["rows"]] == [[1], [3]]
    told = json.loads(done(run(
        "plane", "points.csv", "--target", "y", "--weights", "1", "--sql", "select x1 + x2 as s, y from data", "--json"
    )))  # fmt: skip
    assert [row["x"] for row in told["rows"]] == [[2], [5]]
    told = json.loads(done(run("plane", "lecture-000", "--features", "x2", "--weights", "1", "--json")))
    assert told["equation"] == "x2 = 0"


def test_many_rows_are_cut_on_the_screen_and_whole_in_a_file(run, tmp_path):
    out = done(run("plane", "penguins", "--target", "species", "--positive", "Gentoo", "--features",
                   "bill_length_mm,bill_depth_mm", "--weights", "1,-2", "--top", "3", "-o", "all.csv"))  # fmt: skip
    assert "339 more rows not shown" in out
    assert len((tmp_path / "all.csv").read_text().splitlines()) == 343


def test_pictures(run, tmp_path):
    done(run("plane", "lecture-000", "--weights", "2,-1", "--plot", "plane.png"))
    done(run("plane", "--weights", "3,4", "--threshold", "5", "--point", "2,1", "--plot", "point.svg"))
    done(run("plane", "lecture-000", "--features", "x1", "--weights", "2", "--plot", "line.png"))
    assert {"plane.png", "point.svg", "line.png"} <= {path.name for path in tmp_path.iterdir()}
    err = failed(run("plane", "--weights", "1,1,1", "--plot", "no.png"))
    assert "a plane can be drawn for one or two features; this one has 3 weights" in err
    assert not (tmp_path / "no.png").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("lecture-000", "--weights", "1,2,3"), "has 2 features (x1, x2), but --weights has 3 numbers"),
        (("lecture-000",), "--weights is missing"),
        (("lecture-000", "--weights", "1,a"), "--weights must be numbers with commas between them"),
        (("lecture-000", "--weights", "1,2", "--bias", "1", "--threshold", "2"), "not both"),
        (("lecture-000", "--weights", "1,2", "--bias", "1,2"), "--bias must be a number"),
        (("lecture-000", "--weights", "1,2", "--positive", "7"), "there is no such label; the labels are -1, 1"),
        (("penguins", "--target", "species", "--features", "year", "--weights", "1"), "name one with --positive"),
        (("--weights", "1,2", "--point", "1"), "--point 1 has 1 numbers, but --weights has 2"),
        (("--weights", "1,2", "--target", "y"), "there are no data"),
        (("--weights", "1,2", "-o", "a.csv"), "there is no table for -o"),
        (("lecture-000", "--weights", "1,2", "-o", "a.pdf"), "the ending must be one of .md, .markdown, .tex"),
        (("lecture-000", "--weights", "1,2", "--plot", "a.txt"), "the ending must be one of .png, .svg, .pdf"),
        (("lecture-000", "--weights", "1,2", "--top", "0"), "--top must be at least 1"),
        (("nothing.csv", "--weights", "1,2", "--target", "y"), "nothing.csv"),
    ],
)  # fmt: skip
def test_what_is_refused(run, arguments, message):
    assert message in failed(run("plane", *arguments))


def test_a_plane_through_nothing_still_has_losses(run):
    out = done(run("plane", "lecture-000", "--weights", "0,0"))
    assert "6 of 6 (6 on the plane)" in out
    assert "distance" not in out


def test_labellings_of_four_points(run, tmp_path):
    out = done(run("labellings", "xor", "--plot", "four.png"))
    assert "Lines realise 14 of 16 labellings of 4 points in 2 dimensions: not shattered (VC dimension 3)." in out
    assert "Not realised: -++-, +--+." in out
    assert (tmp_path / "four.png").stat().st_size > 5000
    told = json.loads(done(run("labellings", "--point", "0,0", "--point", "2,0", "--point", "0,2", "--json")))
    assert (told["realised"], told["total"], told["shattered"]) == (8, 8, True)
    (tmp_path / "points.csv").write_text("a,b,name\n0,0,p\n1/3,1/3,q\n1,1,r\n")
    out = done(run("labellings", "points.csv", "--exclude", "name", "--format", "csv"))
    assert out.splitlines()[3] == "3,-,+,-,no,"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("penguins",), "column 'species': 'Adelie' is not a number"),
        (("penguins", "--features", "year"), "penguins has more than 12 rows"),
        ((), "there are no points"),
        (("xor", "--point", "1,1"), "not both"),
        (("--point", "1,1", "--point", "1"), "different numbers of coordinates"),
        (("xor", "--features", "x9"), "no column 'x9'"),
        (("--point", "1,1,1", "--plot", "a.png"), "one or two features; these have 3"),
        (("--point", "1,1", "--only", "impossible", "--plot", "a.png"), "there is no labelling to draw"),
    ],
)  # fmt: skip
def test_what_labellings_refuse(run, arguments, message):
    assert message in failed(run("labellings", *arguments))
