"""``separatrix descend``: tables, verdicts, files, and what is refused."""

from __future__ import annotations

import csv
import io
import json
import sys

import numpy as np
import pytest


def test_the_steps_on_a_parabola_are_those_of_the_formula(run):
    status, printed, _ = run("descend", "(x-3)^2", "--start", 0, "--step", "0.1,0.4,1.1", "--format", "csv")
    assert status == 0
    rows = list(csv.DictReader(io.StringIO(printed)))
    assert list(rows[0]) == ["step", "k", "x", "f(x)", "f'(x)"]
    for size in ("0.1", "0.4", "1.1"):
        own = [row for row in rows if row["step"] == size]
        x = np.array([float(row["x"]) for row in own])
        np.testing.assert_allclose(x, 3 - 3 * (1 - 2 * float(size)) ** np.arange(len(own)), rtol=1e-5)
        np.testing.assert_allclose([float(row["f(x)"]) for row in own[:5]], (x[:5] - 3) ** 2, rtol=1e-3)
        np.testing.assert_allclose([float(row["f'(x)"]) for row in own[:5]], 2 * (x[:5] - 3), rtol=1e-3)


def test_the_table_is_shortened_and_every_run_has_its_verdict(run):
    status, printed, _ = run(
        "descend", "(x-3)^2", "--start", 0, "--step", "0.1,0.4,1.1,1", "--max-iter", 50, "--tol", 1e-3
    )
    assert status == 0
    assert printed.startswith("f(x) = (x-3)^2,  f'(x) = 2*x - 6\n")
    assert "step 0.1: converged to x = 2.9995 with f(x) = 2.48463e-07 after 39 steps" in printed
    assert "rows left out; --format csv has every step)" in printed
    assert "step 0.4: converged to x = " in printed
    assert "step 1.1: diverging: " in printed
    assert "step 1: " in printed
    assert "oscillat" in printed.split("step 1: ")[1]
    assert len(printed.splitlines()) < 80


def test_two_variables_json_and_a_picture(run, tmp_path):
    status, printed, messages = run(
        "descend", "x^2 + 6*y^2", "--start", "4,1", "--step", "0.02,1/6", "--max-iter", 20, "--json", "--plot", "d.svg"
    )
    assert status == 0
    facts = json.loads(printed)
    assert facts["derivatives"] == ["2*x", "12*y"]
    assert facts["runs"][0]["path"][:2] == [[4.0, 1.0], [3.84, 0.76]]
    assert [each["step"] for each in facts["runs"]] == [0.02, 1 / 6]
    assert "Plot written to d.svg." in messages
    assert (tmp_path / "d.svg").stat().st_size > 10_000


def test_a_run_that_leaves_the_domain_says_so(run):
    status, printed, _ = run("descend", "log(x)+1/x", "--start", "3", "--step", "20", "--json")
    assert status == 0
    (only,) = json.loads(printed)["runs"]
    assert only["values"][-1] is None
    assert "left the domain after 1 step: f(x) is not defined at x = -1.44" in only["status"]
    _, printed, _ = run("descend", "x^2")
    assert "after 0 steps: the gradient is zero at the start, which may also be a maximum" in printed
    _, printed, _ = run("descend", "--max-iter", 5, "--", "-x")
    assert "step 0.1: stopped after 5 steps: the gradient norm is still 1" in printed


@pytest.mark.parametrize(
    ("name", "sign"),
    [("t.md", "| step | k"), ("t.tex", r"\begin{tabular}"), ("t.html", "<table"), ("t.csv", "step,k,y")],
)
def test_files_get_every_step_in_their_format(run, tmp_path, name, sign):
    status, printed, messages = run("descend", "y^4", "--start", 1, "--step", "0.01,0.02", "--max-iter", 30, "-o", name)
    assert (status, printed, messages) == (0, "", f"60 steps written to {name}.\n")
    text = (tmp_path / name).read_text(encoding="utf-8")
    assert sign in text
    assert "..." not in text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["x.real"], "the function 'x.real' has '.' at position 2"),
        (["__import__('os')"], "has '_' at position 1"),
        (["9^9^9^9"], "the power 3.8742e+08, larger than 64, at position 3"),
        (["x", "--start", "0,0,0"], "--start needs 1 number for x, as in 0; found 3"),
        (["x*y", "--start", "0"], "--start needs 2 numbers for x and y, as in 0,0; found 1"),
        (["x", "--start", "a"], "--start must be numbers such as 0.1 or 1/3, separated by commas; found 'a'"),
        (["x", "--start", "1e999"], "--start must be numbers"),
        (["x", "--step", "1/0"], "--step must be numbers"),
        (["x", "--step", "0"], "--step must be greater than 0; found 0"),
        (["x", "--step", "0.1,-1"], "--step must be greater than 0; found -1"),
        (["x", "--step", ",".join(map(str, range(1, 15)))], "--step takes at most 12 step sizes; found 14"),
        (["x", "--tol", "-1"], "--tol must be zero or a positive number; found -1"),
        (["x", "--max-iter", "0"], "--max-iter must be between 1 and 100,000; found 0"),
        (["x", "--digits", "0"], "--digits must be between 1 and 17; found 0"),
        (["log(x)"], "is not defined or not finite at --start x = 0; choose another"),
        (
            ["x", "-o", "t.pdf"],
            "-o t.pdf: the ending must be one of .md, .markdown, .tex, .html, .htm, .csv, or give --format",
        ),
        (["x", "--plot", "t.gif"], "--plot t.gif: the ending must be one of .png, .svg, .pdf"),
        (["x", "-o", "a.md", "--plot", "nowhere/a.png"], "does not exist"),
    ],
)
def test_wrong_arguments_get_one_clear_sentence(run, tmp_path, arguments, message):
    status, printed, messages = run("descend", *arguments)
    assert (status, printed) == (2, "")
    assert message in messages
    assert len(messages.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_without_sympy_one_sentence_says_what_to_install(run, monkeypatch):
    monkeypatch.setitem(sys.modules, "sympy", None)
    status, _, messages = run("descend", "x^2")
    assert status == 2
    assert messages == "separatrix: derivatives need SymPy: pip install 'separatrix[descend]'\n"
