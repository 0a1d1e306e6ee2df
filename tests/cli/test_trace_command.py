"""``separatrix trace``: built-in sets with chosen columns, starts, folds, the dual form, the proof, votes, files."""

from __future__ import annotations

import json
import re
from fractions import Fraction

import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix import datasets
from separatrix.cli.app import app


def invoke(*arguments):
    return CliRunner().invoke(app, ["trace", *map(str, arguments)], catch_exceptions=False)


def refused(*arguments):
    """Return the message with which a command line is refused."""
    with pytest.raises(ValueError, match=r".") as problem:
        invoke(*arguments)
    return str(problem.value)


def shown(*arguments):
    return json.loads(invoke(*arguments, "--json").stdout)


def points(tmp_path, text, name="points.csv"):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    return file


# ------------------------------------------------------------------------------------------------ which rows


@pytest.mark.parametrize("choice", [("--features", "x1"), ("--exclude", "x2")])
def test_a_built_in_set_with_chosen_columns_is_that_set_from_a_file(choice, tmp_path):
    file = points(tmp_path, datasets.as_csv("lecture-000"))
    ran = invoke("lecture-000", *choice, "--max-iter", 3, "--json")
    assert ran.stderr == "lecture-000: other columns than the lecture's, so the start is zeros\n"
    view = ("--augmented", "--flipped", "--labels", "+-")
    assert json.loads(ran.stdout) == shown(file, "--target", "label", *choice, "--max-iter", 3, *view)
    assert json.loads(ran.stdout)["steps"][3]["adjusted pattern"] == "(-1, 1)"


def test_all_columns_by_name_keep_the_lectures_start():
    ran = invoke("lecture-000", "--features", "x1,x2", "--json")
    assert ran.stderr == ""
    assert json.loads(ran.stdout) == shown("lecture-000")


def test_a_given_start_is_taken_for_the_columns_that_are_left():
    ran = invoke("lecture-000", "--features", "x1", "--start", "1,0", "--max-iter", 1, "--json")
    assert ran.stderr == ""
    assert json.loads(ran.stdout)["steps"][0]["weight applied"] == "(1, 0)"


def test_columns_that_a_built_in_set_does_not_have_are_refused():
    assert "has no column 'x3', which --features names" in refused("lecture-000", "--features", "x3")
    assert "which is the target" in refused("lecture-000", "--features", "label")
    assert "no feature column is left" in refused("lecture-000", "--exclude", "x1,x2")


def test_a_built_in_set_is_the_table_data_of_a_query():
    assert shown("lecture-000", "--sql", "select * from data") == shown("lecture-000")
    turned = shown("lecture-001", "--sql", "select x2, x1, label from data where x1 < 1 or x2 > 0")
    assert [step["pattern"] for step in turned["steps"][:2]] == ["(1, 1)", "(-1, 1/2)"]
    named = shown("and", "--sql", "select x1, x2, label as y from data", "--target", "y")
    assert named["steps"] == shown("and")["steps"]
    assert "has its own labels; --target is for files" in refused("and", "--target", "x1")
    assert shown("and", "--target", "label") == shown("and")


@pytest.mark.parametrize(("name", "delimiter"), [("a.csv", ";"), ("a.csv", "\t"), ("a.txt", "|"), ("a.tsv", "\t")])
def test_the_delimiter_is_detected(tmp_path, name, delimiter):
    text = datasets.as_csv("lecture-001").replace(",", delimiter)
    run = shown(points(tmp_path, text, name), "--target", "label", "--start", "1,0,0", "--labels", "+-")
    assert run["steps"] == shown("lecture-001")["steps"]


def test_the_positive_class_by_its_label(tmp_path):
    file = points(tmp_path, "a,y\n1,no\n-1,yes\n")
    plain, turned = (shown(file, "--target", "y", *more) for more in ([], ["--positive", "no"]))
    assert [step["y"] for step in turned["steps"][:2]] == ["no", "yes"]
    assert turned["weights"] == [-value for value in plain["weights"]]
    assert "the labels are no, yes" in refused(file, "--target", "y", "--positive", "maybe")
    assert shown("lecture-001", "--positive", "-1", "--start", "zeros")["steps"][1]["update?"] == "Yes"
    three = points(tmp_path, "a,y\n1,u\n-1,v\n5,w\n", "three.csv")
    assert "a trace has two classes; found 3" in refused(three, "--target", "y")
    assert [row["y"] for row in shown(three, "--target", "y", "--positive", "u")["steps"][:3]] == ["u", "v", "w"]


# ------------------------------------------------------------------------------------------------ what is run


@pytest.mark.parametrize(
    ("arguments", "cells"),
    [
        (["lecture-000", "--start", "1,0,0"], ["(1, 0, 0)"]),
        (["lecture-000", "--no-augmented", "--start", "0,0,1"], ["(0, 0)", "1"]),
        (["lecture-004", "--start", "1/2,0,2"], ["(0.5, 0)", "2"]),
        (["lecture-004", "--no-intercept", "--start", "-1,3"], ["(-1, 3)"]),
        (["lecture-000", "--start", "zeros"], ["(0, 0, 0)"]),
    ],
)
def test_the_start_is_given_as_it_is_shown(arguments, cells):
    first = shown(*arguments, "--max-iter", 1)["steps"][0]
    assert [first[name] for name in ("weight applied", "b", "theta") if name in first] == cells


def test_a_uniform_start_has_four_decimals_and_a_seed():
    one, other = (shown("lecture-004", "--start", "uniform", "--seed", seed) for seed in (1, 2))
    assert one["start"] != other["start"]
    assert all(-1 <= value <= 1 and round(value, 4) == value for value in one["start"]["weights"])
    assert re.fullmatch(r"\(-?0\.\d{1,4}, -?0\.\d{1,4}\)", one["steps"][0]["weight applied"])


def test_starts_that_cannot_be_are_refused():
    assert refused("lecture-000", "--start", "1,0").endswith("in this view (the bias, then the weights); found 2")
    assert refused("lecture-000", "--start", "random") == (
        "--start must be zeros, uniform, numbers such as 1,0,1/2; got 'random'"
    )
    assert "--batch must be a whole number of at least 1, or all; got '0'" in refused("and", "--batch", "0")
    assert "--bias-constant must be a number such as 1, 0.5 or 1/2; got 'K'" in refused("and", "--bias-constant", "K")
    assert "bias_constant must be" in refused("and", "--bias-constant", "-1")


def test_folds_have_a_row_each():
    run = shown("lecture-001", "--batch", "2")
    assert run["steps"][0] == {
        "epoch": "1", "fold": "1", "examples": "1, 2", "weight applied": "(1, 0)", "b": "0", "updates from": "2",
        "delta w": "(-1/4, 1/2)", "delta b": "-1/2", "new weight": "(3/4, 1/2)", "new b": "-1/2",
    }  # fmt: skip
    assert run["records"][0]["delta w1"] == -0.25
    assert len(shown("lecture-001", "--batch", "all", "--max-iter", 2)["steps"]) == 2
    assert "end of epoch 1" in invoke("lecture-001", "--batch", "2").stdout


def test_the_dual_form_says_that_it_starts_from_zeros():
    ran = invoke("lecture-000", "--dual", "--bias-constant", "ball")
    assert ran.stderr == "lecture-000: the start is zeros, as --dual cannot have the lecture's\n"
    assert "Final alpha (1, 1, 1, 1, 1, 1), weight (4, -2), b 0." in ran.stdout
    assert "K = sqrt(2)" in ran.stdout
    dual, primal = (shown("and", *more) for more in (["--dual"], []))
    assert [step["a"] for step in dual["steps"]] == [step["a"] for step in primal["steps"]]
    assert dual["weights"] == primal["weights"]


def test_floats_and_fractions():
    assert shown("lecture-001", "--floats")["steps"][1]["pattern"] == "(0.5, -1)"
    assert shown("lecture-001", "--exact")["steps"][1]["pattern"] == "(1/2, -1)"
    assert shown("lecture-001", "--digits", 0)["steps"][2]["a"] == "-2"
    assert "cannot be computed exactly" in refused("and", "--rule", "sigmoid_neuron", "--exact")


def test_json_has_numbers_beside_the_cells():
    run = shown("lecture-001", "--readout", "voted", "--proof", "auto")
    assert run["records"][1]["x1"] == 0.5
    assert run["records"][1]["mistake"] is True
    assert run["votes"] == [
        {"weights": [1, 0], "bias": 0, "count": 1},
        {"weights": [0.5, 1], "bias": -1, "count": 7},
    ]
    assert run["weights"] == [0.5625, 0.875]
    assert run["proof"]["k_max"] >= run["updates"]


# ------------------------------------------------------------------------------------------------ what is printed


def test_epochs_end_with_a_rule_and_the_run_with_its_weights():
    lines = invoke("lecture-000").stdout.splitlines()
    for epoch in (1, 2):
        place = lines.index(next(line for line in lines if line.strip() == f"end of epoch {epoch}"))
        assert set(lines[place + 1]) == {"─"}
    assert lines[-3].strip() == "end of epoch 3"
    assert lines[-1] == "Final weight (0, 2, -1)."


def test_the_proof_and_other_columns():
    out = invoke("lecture-000", "--start", "zeros", "--proof", "0,2,-1").stdout
    assert "k_max = beta |w*|^2 / alpha^2 = 15." in out
    assert re.search(r"k +w w\* +k alpha +\|w\|\^2 +\(A\) +\(B\)", out)
    first = shown("lecture-001", "--columns", "margin,margin-after,output")["steps"][1]
    assert (first["margin"], first["margin after"], first["predicted"]) == ("-1/2", "7/4", "1")
    assert "columns must be among" in refused("and", "--columns", "everything")
    assert "the proof needs a plane that separates" in refused("xor", "--proof", "auto")


@pytest.mark.parametrize("format", ["table", "markdown", "latex", "html"])
def test_votes_stand_below_the_table(format):
    out = invoke("lecture-001", "--readout", "voted", "--format", format).stdout
    assert "c(k)" in out
    assert out.index("c(k)") > out.index("epoch 2")
    if format != "latex":
        assert "sum c(k) w(k) / sum c(k), the averaged weights: weight (9/16, 7/8), b -7/8." in out
    assert "c(k)" not in invoke("lecture-001", "--format", format).stdout


def test_markdown_has_a_table_for_each_epoch_and_the_end():
    out = invoke("lecture-000", "--format", "markdown").stdout
    assert out.count("| epoch |") == 3
    assert "\n\nEnd of epoch 1\n\n" in out
    assert out.endswith("converged: no mistakes (epoch 3); 3 updates in 3 epochs. Final weight (0, 2, -1).\n")


# ------------------------------------------------------------------------------------------------ files


@pytest.mark.parametrize("name", ["t.pdf", "t.docx", "t.PNG", "t.csv.gz"])
def test_endings_without_a_format_are_refused_and_nothing_is_written(tmp_path, name):
    message = refused("lecture-000", "-o", tmp_path / name)
    assert ".md, .markdown, .tex, .html, .htm, .csv, .txt, .json, or give --format" in message
    assert not list(tmp_path.iterdir())


def test_a_format_that_is_given_overrides_the_ending(tmp_path):
    invoke("lecture-000", "-o", tmp_path / "t.pdf", "--format", "latex")
    assert (tmp_path / "t.pdf").read_text(encoding="utf-8").startswith("\\begin{tabular}")
    invoke("lecture-000", "-o", tmp_path / "plain")
    assert (tmp_path / "plain").read_text(encoding="utf-8").startswith("| epoch")
    invoke("lecture-000", "-o", tmp_path / "t.json")
    assert json.loads((tmp_path / "t.json").read_text(encoding="utf-8"))["final"] == "weight (0, 2, -1)"


# ------------------------------------------------------------------------------------------------ help, odd data


def test_help_has_the_options_in_their_groups():
    text = invoke("--help").stdout
    groups = re.split(r"\n(?=\w+:\n)", text)
    by_group = {group.split(":")[0]: group for group in groups}
    for group, options in {
        "Data": ["--positive"],
        "Model": ["--start", "--batch", "--bias-constant", "--exact"],
        "Output": ["--columns", "--proof", "--dual", "--digits"],
    }.items():
        for option in options:
            assert option in by_group[group], (group, option)


def test_many_features_huge_and_tiny_numbers(tmp_path):
    wide = ",".join(f"f{j}" for j in range(50))
    rows = "".join(",".join(str((i * j) % 7 - 3) for j in range(50)) + f",{'ab'[i % 2]}\n" for i in range(4))
    file = points(tmp_path, f"{wide},y\n{rows}", "wide.csv")
    assert len(shown(file, "--target", "y", "--max-iter", 1, "--columns", "margin,delta")["records"][0]) > 100
    huge = points(tmp_path, "a,y\n1e400,1\n-1e-400,0\n", "huge.csv")
    run = shown(huge, "--target", "y", "--max-iter", 1, "--dual")
    assert run["records"][0]["x1"] == 10**400
    out = invoke(huge, "--target", "y", "--max-iter", 1, "--digits", 3, "--format", "csv").stdout
    assert Fraction(out.splitlines()[2].split(",")[2]) == 0
    assert invoke("or", "--digits", "3", "--rule", "pegasos", "--max-iter", 2, "--columns", "loss").exit_code == 0


def test_the_command_and_sx_trace_agree():
    run = sx.trace(*datasets.load("or"), columns=("margin", "loss"), bias_constant=2)
    rows = [list(row.values()) for row in shown("or", "--columns", "margin,loss", "--bias-constant", "2")["steps"]]
    assert rows == run.rows()


def test_a_cell_with_an_endless_exponent_is_named(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,y\n1e999999999,0\n2,1\n")
    result = CliRunner().invoke(app, ["trace", str(path), "--target", "y"])
    assert "row 1, column 'a': '1e999999999' is not a number" in str(result.exception)


def test_more_than_two_classes_need_a_positive_one(tmp_path):
    name = points(tmp_path, "a,y\n1,A\n2,B\n3,C\n")
    assert "a trace has two classes; found 3 (A, B, C): name the positive one" in refused(name, "--target", "y")
    assert shown(name, "--target", "y", "--positive", "B")["steps"]
