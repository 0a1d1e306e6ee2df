"""The scores in a report: curves of the test set, tables by class, and what is shown of many classes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import f1_score, precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import train_test_split

from page_tree import read_page
from separatrix.models.model_file import load
from separatrix.tables.curves import OperatingPoint, operating_points


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


@pytest.mark.parametrize("options", [(), ("--threshold", "recall=0.95")])
def test_thresholds_are_in_a_table_and_the_one_in_use_is_on_the_curves(run, options):
    found = page(run, 2, 500, model="svm", options=options)
    rows = found.table("Thresholds: what is predicted c1, of 100 rows")
    assert rows[0] == ["score from", "precision", "recall", "F1", "predicted c1", "probability"]
    model, truth = load("m.sx"), pd.read_csv("t.csv")
    test = np.sort(train_test_split(np.arange(500), test_size=0.2, random_state=0, stratify=truth.label)[1])
    scores, actual = model.decision_function(truth.iloc[test]), (truth.label.iloc[test] == "c1").to_numpy()
    (used,) = [row for row in rows[1:] if row[0].endswith(" (in use)")]
    threshold = 0.0 if model.threshold is None else model.threshold.value
    points = [each.score for each in model.facts.test.metrics.points]
    assert 5 <= len(points) <= 9
    for row, at in [(used, threshold), *zip([row for row in rows[1:] if row is not used], points, strict=True)]:
        predicted = scores >= at
        values = [each(actual, predicted) for each in (precision_score, recall_score, f1_score)]
        assert row[1:5] == [*(f"{value:.3f}" for value in values), f"{predicted.sum()}"]
    for figure in found.with_id("curves").all("figure")[:2]:
        marks = [each for each in figure.all("svg")[0].all("path") if "marked" in each.attributes["class"]]
        assert len(marks) == 1
        assert "threshold in use" in figure.text()


def test_more_classes_have_no_table_of_thresholds(run):
    assert "Thresholds" not in page(run, 3).text()


def test_operating_points_are_the_highest_thresholds_of_a_recall():
    rng = np.random.default_rng(0)
    actual = rng.random(400) < 0.3
    scores = np.round(actual + rng.normal(0, 1.0, 400), 1)  # with ties
    precision, recall, at = precision_recall_curve(actual, scores)
    wanted = [at[recall[:-1] >= share].max() for share in (0.1, 0.3, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)]
    points = operating_points(actual, scores)
    assert [each.score for each in points] == sorted(set(wanted), reverse=True)
    for each in points:
        place = int(np.flatnonzero(at == each.score)[0])
        assert (each.precision, each.recall) == (precision[place], recall[place])
        assert each.predicted == np.count_nonzero(scores >= each.score)
    with pytest.raises(ValueError, match="an operating point of the test scores is damaged"):
        OperatingPoint(0.0, 0.5, float("nan"), 3)
