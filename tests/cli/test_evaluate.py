"""``separatrix evaluate``: scikit-learn's metrics of what ``predict`` writes, and what was skipped."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest
from sklearn import metrics as sk

from separatrix.cli.options import open_named
from separatrix.models.model_file import load
from separatrix.tables.evaluate import evaluate


def done(result):
    status, out, err = result
    assert status == 0, err
    return out


def write(path, n, k=2, seed=0, share=0.5, noise=1.0):
    """Write a table of numbers and a category whose classes overlap."""
    rng = np.random.default_rng(seed)
    y = (rng.random(n) < share).astype(int) if k == 2 else rng.integers(0, k, n)
    a, b = rng.normal(size=(2, n)) * noise
    rows = [
        f"{a[i] + np.cos(2 * np.pi * y[i] / k):.4f},{b[i] + np.sin(2 * np.pi * y[i] / k) + y[i]:.4f},"
        f"{'pq'[int(rng.integers(2))]},c{y[i]}"
        for i in range(n)
    ]
    Path(path).write_text("\n".join(["a,b,place,label", *rows]) + "\n", encoding="utf-8")


def predicted(run, name, *options):
    rows = list(csv.DictReader(io.StringIO(done(run("predict", "m.sx", name, *options)))))
    with Path(name).open(encoding="utf-8") as file:
        return [row["label"] for row in csv.DictReader(file)], rows


@pytest.mark.parametrize(("share", "first"), [(0.5, "Accuracy "), (0.1, "Balanced accuracy ")])
def test_two_classes(run, share, first):
    write("t.csv", 600, share=share)
    write("new.csv", 300, seed=1, share=share)
    done(run("fit", "t.csv", "--target", "label", "--model", "neuron", "-o", "m.sx"))
    found = json.loads(done(run("evaluate", "m.sx", "new.csv", "--json")))
    truth, rows = predicted(run, "new.csv", "--scores", "--proba")
    names, scores = [row["prediction"] for row in rows], [float(row["score"]) for row in rows]
    proba = np.array([[float(row["proba_c0"]), float(row["proba_c1"])] for row in rows])
    positive = np.array([label == "c1" for label in truth])
    assert found["accuracy"] == sk.accuracy_score(truth, names)
    assert found["balanced_accuracy"] == pytest.approx(sk.balanced_accuracy_score(truth, names))
    assert found["f1_macro"] == pytest.approx(sk.f1_score(truth, names, average="macro"))
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(positive, scores))
    assert found["average_precision"] == pytest.approx(sk.average_precision_score(positive, scores))
    assert found["log_loss"] == pytest.approx(sk.log_loss(truth, proba))
    assert found["brier"] == pytest.approx(sk.brier_score_loss(positive, proba[:, 1]))
    assert found["confusion"] == sk.confusion_matrix(truth, names).tolist()
    assert (found["rows"], found["classes"], found["same_source"]) == (300, ["c0", "c1"], False)
    shown = done(run("evaluate", "m.sx", "new.csv"))
    assert shown.splitlines()[0] == "new.csv: 300 rows."
    assert shown.splitlines()[2].startswith(first)
    head = next(line for line in shown.splitlines() if line.startswith("actual"))
    assert head.split() == ["actual", "\\", "predicted", "c0", "c1", "rows", "precision", "recall", "F1"]


def test_several_classes_without_probabilities(run):
    write("t.csv", 600, k=4)
    write("new.csv", 300, k=4, seed=1)
    done(run("fit", "t.csv", "--target", "label", "--model", "averaged", "--calibrate", "none", "-o", "m.sx"))
    found = json.loads(done(run("evaluate", "m.sx", "new.csv", "--json")))
    truth, rows = predicted(run, "new.csv", "--scores")
    scores = np.array([[float(row[f"score_c{code}"]) for code in range(4)] for row in rows])
    indicator = np.array([[label == f"c{code}" for code in range(4)] for label in truth])
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(indicator, scores))
    assert found["log_loss"] is None
    names = [row["prediction"] for row in rows]
    expected = np.array(sk.precision_recall_fscore_support(truth, names)).T
    found_by_class = [[each[name] for name in ("precision", "recall", "f1", "support")] for each in found["by_class"]]
    np.testing.assert_allclose(found_by_class, expected)


def test_several_classes_with_calibrated_probabilities(run):
    write("t.csv", 600, k=4)
    write("new.csv", 300, k=4, seed=1)
    done(run("fit", "t.csv", "--target", "label", "--model", "averaged", "-o", "m.sx"))
    found = json.loads(done(run("evaluate", "m.sx", "new.csv", "--json")))
    truth, rows = predicted(run, "new.csv", "--proba")
    proba = np.array([[float(row[f"proba_c{code}"]) for code in range(4)] for row in rows])
    indicator = np.array([[label == f"c{code}" for code in range(4)] for label in truth])
    assert found["roc_auc"] == pytest.approx(sk.roc_auc_score(indicator, proba))
    assert found["log_loss"] == pytest.approx(sk.log_loss(truth, proba))


def test_rows_without_labels_and_unknown_labels_are_skipped_and_named(run):
    write("t.csv", 300)
    done(run("fit", "t.csv", "--target", "label", "-o", "m.sx"))
    write("new.csv", 50, seed=1)
    with Path("new.csv").open("a", encoding="utf-8") as file:
        file.write("0.1,0.2,p,\n0.1,0.2,p,odd\n0.3,0.1,q,odd\n")
    shown = done(run("evaluate", "m.sx", "new.csv"))
    assert "new.csv: 53 rows; skipped: 1 without a label, 2 with unknown labels." in shown
    assert "Labels that the model does not know: 'odd' (2)." in shown
    found = json.loads(done(run("evaluate", "m.sx", "new.csv", "--json")))
    assert (found["rows"], found["unlabelled"], found["unknown_labels"]) == (50, 1, [{"label": "odd", "rows": 2}])


def test_the_source_of_the_fit_is_recognised(run):
    write("t.csv", 300)
    done(run("fit", "t.csv", "--target", "label", "-o", "m.sx"))
    assert "training rows are among these" in done(run("evaluate", "m.sx", "t.csv"))
    assert "training rows" not in done(run("evaluate", "m.sx", "t.csv", "--sql", "select * from data limit 100"))


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("a,b,place,label\n1,2,p,odd\n", "no row has a label that the model knows; found 'odd'"),
        ("a,b,place\n1,2,p\n", "new.csv has no column 'label', which the model was trained on"),
        ("a,b,place,label\n1,2,p,\n", "new.csv has no row with a label in the column 'label'"),
    ],
)  # fmt: skip
def test_nothing_to_evaluate_is_one_sentence(run, rows, reason):
    write("t.csv", 300)
    done(run("fit", "t.csv", "--target", "label", "-o", "m.sx"))
    Path("new.csv").write_text(rows, encoding="utf-8")
    status, _, err = run("evaluate", "m.sx", "new.csv")
    assert status == 2
    assert reason in err


def test_a_class_absent_from_the_rows(run):
    write("t.csv", 400, k=3)
    done(run("fit", "t.csv", "--target", "label", "--model", "neuron", "-o", "m.sx"))
    query = "select * from data where label <> 'c2'"
    found = json.loads(done(run("evaluate", "m.sx", "t.csv", "--sql", query, "--json")))
    assert found["by_class"][2]["support"] == 0
    assert found["by_class"][2]["recall"] is None
    assert 0 < found["balanced_accuracy"] <= 1
    assert found["roc_auc"] is not None


def test_many_classes_show_the_weakest_and_the_most_frequent_errors(run):
    write("t.csv", 2000, k=15, noise=0.3)
    done(run("fit", "t.csv", "--target", "label", "--epochs", "5", "-o", "m.sx"))
    shown = done(run("evaluate", "m.sx", "t.csv"))
    assert "Weakest of 15 classes, by recall:" in shown
    assert "Most frequent errors:" in shown
    assert len(shown.splitlines()) < 25


def test_in_python(run, tmp_path):
    write("t.csv", 300)
    done(run("fit", "t.csv", "--target", "label", "-o", "m.sx"))
    with open_named("t.csv") as source:
        found = evaluate(load(tmp_path / "m.sx"), source)
    assert found.same_source
    assert found.scores.n == 300


# ---------------------------------------------------------------------------------------------- order


def test_a_fit_shows_scores_then_separability_in_six_lines_then_weights(run):
    for k in (2, 3, 5):
        write("t.csv", 400, k=k)
        for command in (["fit", "t.csv", "--target", "label", "-o", "m.sx"], ["inspect", "m.sx"]):
            shown = done(run(*command))
            places = [shown.index(words) for words in ("Test accuracy", "Linear separability", "Largest weights")]
            assert places == sorted(places)
            assert len(shown[places[1] : places[2]].strip().splitlines()) <= 6


def test_a_status_does_not_guess_what_the_certificate_knows(run):
    write("t.csv", 200, noise=0.01)
    shown = done(run("fit", "t.csv", "--target", "label", "--model", "perceptron", "--epochs", "1", "-o", "m.sx"))
    assert "strictly separable" in shown
    assert "may not be separable" not in shown
    assert "may not be separable" not in done(run("inspect", "m.sx"))
