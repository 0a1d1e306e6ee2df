"""The scores in a report: curves of the test set, tables by class, and what is shown of many classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from page_tree import read_page
from separatrix.models.model_file import load


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def write(path, k, n, names=None):
    rng = np.random.default_rng(0)
    y = rng.integers(0, k, n)
    a, b = rng.normal(size=(2, n)) + 2.0 * np.stack([np.cos(2 * np.pi * y / k), np.sin(2 * np.pi * y / k)])
    names = names or [f"c{code}" for code in range(k)]
    lines = [f"{a[i]:.4f},{b[i]:.4f},{names[y[i]]}" for i in range(n)]
    Path(path).write_text("\n".join(["a,b,label", *lines]), encoding="utf-8")


def page(run, k, n=600, model="neuron", names=None, options=()):
    write("t.csv", k, n, names)
    done(run("fit", "t.csv", "--target", "label", "--model", model, *options, "-o", "m.sx"))
    done(run("report", "m.sx", "-o", "r.html"))
    return read_page(Path("r.html").read_text(encoding="utf-8"))


def titles(found):
    return [each.text() for each in found.with_id("curves").all("figure") for each in each.all("h3")]


@pytest.mark.parametrize(("k", "lines"), [(2, 1), (4, 4), (8, 1)])
def test_curves_of_the_test_set_are_in_the_report_of_a_model_file_alone(run, k, lines):
    found = page(run, k)
    assert titles(found) == ["ROC curve", "Precision-recall curve", "Calibration"]
    chart = found.with_id("curves").all("figure")[0].all("svg")[0]
    drawn = [each for each in chart.all("path") if each.attributes["class"].startswith("line")]
    assert len(drawn) == lines + 1  # and the diagonal
    said = found.with_id("curves").text()
    assert f"ROC AUC {load('m.sx').facts.test.value('roc_auc'):.3f}" in said
    assert found.with_id("curves").text().count("Test set of t.csv") == 1


def test_without_probabilities_there_is_no_calibration(run):
    assert titles(page(run, 2, model="averaged", options=["--calibrate", "none"])) == [
        "ROC curve",
        "Precision-recall curve",
    ]


def test_a_source_of_its_own_has_curves_of_its_own(run):
    page(run, 2)
    write("other.csv", 2, 300)
    done(run("report", "m.sx", "other.csv", "-o", "r.html"))
    found = read_page(Path("r.html").read_text(encoding="utf-8"))
    assert len(titles(found)) == 6
    assert "Labelled rows of other.csv" in found.with_id("curves").text()
    done(run("report", "m.sx", "t.csv", "-o", "r.html"))
    assert len(titles(read_page(Path("r.html").read_text(encoding="utf-8")))) == 3


def test_without_a_test_set_training_rows_are_said_to_be_too_good(run):
    write("t.csv", 2, 300)
    done(run("fit", "t.csv", "--target", "label", "--test", "0", "--report", "r.html"))
    said = read_page(Path("r.html").read_text(encoding="utf-8")).with_id("curves").text()
    assert "training rows included: these curves are too good" in said


def test_by_class_are_the_scores_of_the_model_file_and_the_weakest_is_named(run):
    found = page(run, 3)
    test = load("m.sx").facts.test
    rows = found.table("By class: Test set of t.csv")[1:]
    expected = [[f"c{code}", f"{e.support}", *(f"{v:.3f}" for v in e[:3])] for code, e in enumerate(test.by_class())]
    assert rows == expected
    assert f"The weakest class is c{test.weakest(1)[0]}, with a recall of" in found.all("header")[0].text()


def test_a_matrix_has_at_most_twelve_classes(run):
    words = [f"a rather long name {code}" for code in range(12)]
    matrix = page(run, 12, 1200, names=words).table("Test set of t.csv")
    assert len(matrix) == 13
    assert [cell.replace("\u00ad", "") for cell in matrix[0][1:-1]] == sorted(words)
    found = page(run, 13, 1300)
    errors = found.table("Test set of t.csv")
    assert errors[0] == ["actual", "predicted", "rows", "rows of the class"]
    assert len(errors) == 13
    assert len(found.table("The weakest of 13 classes, by recall")) == 13
    assert len(found.table("All classes")) == 14
