"""Classes learned together, from the command line: in memory, on disk, updated, compared, reported."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest

import separatrix as sx


@pytest.fixture
def line(tmp_path):
    """Three classes on a line, of which no plane parts the middle one from the rest."""
    rng = np.random.default_rng(0)
    x = np.round(rng.uniform(-3, 3, 240), 3)
    x = x[(np.abs(x - 1) > 0.2) & (np.abs(x + 1) > 0.2)]
    labels = np.where(x < -1, "cold", np.where(x > 1, "hot", "mild"))
    rows = [f"{value},{label}" for value, label in zip(x.tolist(), labels.tolist(), strict=True)]
    (tmp_path / "line.csv").write_text("\n".join(["x,label", *rows]))
    return tmp_path / "line.csv"


@pytest.mark.parametrize("model", ["perceptron", "averaged", "pocket", "pa"])
@pytest.mark.parametrize("cache", [False, True])
def test_a_fit_learns_them_together_in_memory_and_on_disk(run, line, tmp_path, model, cache):
    if cache and model == "pocket":
        pytest.skip("the pocket is not learned from rows on disk")
    more = ["--cache", tmp_path / "cache"] if cache else []
    given = ["fit", line, "--target", "label", "--model", model, "--param", "multi_class=joint", "-o", "m.sx"]
    status, _, error = run(*given, "--test", "0", *more)
    assert status == 0, error
    fitted = sx.load(tmp_path / "m.sx").estimator
    assert fitted.multi_class == "joint"
    assert type(fitted._states[0]).__name__ == "JointState"
    status, out, _ = run("evaluate", "m.sx", line, "--json")
    assert status == 0
    assert json.loads(out)["accuracy"] > 0.9
    assert run("update", "m.sx", line, "-o", "u.sx")[0] == 0
    assert run("inspect", "u.sx")[0] == 0


def test_a_comparison_proves_that_they_are_separated(run, line):
    given = ["compare", line, "--target", "label", "--models", "perceptron", "--certify", "0"]
    one = run(*given, "--param", "perceptron:multi_class=joint")[1]
    other = run(*given)[1]
    assert re.search("perceptron .*separates", one)
    assert re.search("perceptron .* no", other)


def test_the_report_claims_no_bound_of_one_vs_rest(run, line, tmp_path):
    assert (
        run("fit", line, "--target", "label", "--model", "perceptron", "--param", "multi_class=joint", "-o", "m.sx")[0]
        == 0
    )
    assert run("report", "m.sx", line, "-o", "r.html")[0] == 0
    page = (tmp_path / "r.html").read_text()
    assert "No mistake bound is shown: the classes are learned together" in page
    assert "The classes are learned together; the boundary between two" in page


def test_what_cannot_be_meant_is_one_sentence(run, line):
    given = ["fit", line, "--target", "label", "-o", "m.sx"]
    status, _, error = run(*given, "--model", "perceptron", "--param", "multi_class=both")
    assert (status, error) == (2, "separatrix: multi_class must be 'ovr' or 'joint'; found 'both'\n")
    status, _, error = run(*given, "--model", "voted", "--param", "multi_class=joint")
    assert status == 2
    assert error.startswith("separatrix: readout='voted' keeps no votes of classes that are learned together")
    assert error.count("\n") == 1
