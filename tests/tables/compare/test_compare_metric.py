"""``compare --metric``: the order and the values of scikit-learn's metrics on the same rows."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import metrics as sk
from sklearn.neighbors import KNeighborsClassifier

from separatrix.tables.compare.comparison import _rank
from separatrix.tables.compare.contenders import CONTENDERS, Recipe
from separatrix.tables.compare.measure import measure_contender
from separatrix.tables.compare.plan import ComparisonPlan
from separatrix.tables.compare.splitting import Splits
from separatrix.tables.compare.trial import Trial
from small_tables import shops


def made(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


def test_scores_and_probabilities_of_a_contender_give_scikit_learns_metrics():
    X, y = made()
    test, truth = made(seed=1)
    splits = Splits([], [truth.astype(np.int32)], np.bincount(y), {}, 2, False, None)
    part = measure_contender(CONTENDERS["k-nn"], Recipe(), Trial(X, y, test))
    proba = KNeighborsClassifier().fit(X, y).predict_proba(test)
    found = splits.metrics([part])
    assert found.roc_auc == pytest.approx(sk.roc_auc_score(truth, proba, multi_class="ovr"))
    assert found.log_loss == pytest.approx(sk.log_loss(truth, proba))
    part = measure_contender(CONTENDERS["sk-perceptron"], Recipe(), Trial(X, y, test))
    assert splits.metrics([part]).roc_auc is not None
    assert splits.metrics([part]).log_loss is None


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_folds_metrics_are_means():
    X, y = made()
    folds = [made(seed=1), made(seed=2)]
    splits = Splits([], [truth.astype(np.int32) for _, truth in folds], np.bincount(y), {}, 2, False, None)
    parts = [measure_contender(CONTENDERS["neuron"], Recipe(5), Trial(X, y, test)) for test, _ in folds]
    model = CONTENDERS["neuron"].make(Recipe(5)).fit(X, y)
    expected = [sk.log_loss(truth, model.predict_proba(test)) for test, truth in folds]
    assert splits.metrics(parts).log_loss == pytest.approx(np.mean(expected), rel=1e-9)


def test_losses_are_ordered_upwards_and_unknown_values_come_last():
    assert _rank(0.2, "log_loss") < _rank(0.3, "log_loss") < _rank(None, "log_loss")
    assert _rank(0.3, "roc_auc") < _rank(0.2, "roc_auc") < _rank(None, "roc_auc")


def test_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="--metric must be one of accuracy, balanced_accuracy"):
        ComparisonPlan(metric="auc")


def test_imbalanced_classes_are_ordered_by_balanced_accuracy(run, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.random(400) < 0.12
    lines = [f"{rng.normal() + 1.5 * label:.3f},{rng.normal():.3f},{int(label)}" for label in y]
    (tmp_path / "t.csv").write_text("\n".join(["a,b,label", *lines]), encoding="utf-8")
    status, out, err = run("compare", "t.csv", "--target", "label", "--models", "averaged,tree,k-nn", "--certify", "0")
    assert status == 0, err
    table = [line.split() for line in out.split(" by class:")[0].splitlines()]
    head = next(line for line in table if line[:1] == ["model"])
    assert head[:6] == ["model", "balanced", "accuracy", "ROC", "AUC", "accuracy"]
    values = [float(line[1]) for line in table if len(line) > 2 and line[0] in ("averaged", "tree", "k-nn")]
    assert values == sorted(values, reverse=True)
    assert "Ordered by balanced accuracy; p is about accuracy, against" in out


def result_of(run, *words):
    status, out, err = run("compare", *words, "--certify", "0", "--json")
    assert status == 0, err
    return json.loads(out)


def test_metrics_of_scores_are_there_whatever_orders_the_models(run):
    both = result_of(run, "penguins", "--target", "sex", "--models", "logistic,sk-perceptron")
    first, second = sorted(both["contenders"], key=lambda each: each["name"])
    assert all(0.0 < first[name] <= 1.0 for name in ("roc_auc", "average_precision", "log_loss", "brier"))
    assert second["roc_auc"] is not None
    assert second["log_loss"] is second["brier"] is None
    status, out, err = run("fit", "penguins", "--target", "sex", "--model", "logistic", "--certify", "0", "--json")
    assert status == 0, err
    fitted = json.loads(out)
    assert first["roc_auc"] == pytest.approx(fitted["test"]["roc_auc"], abs=1e-12)
    assert first["log_loss"] == pytest.approx(fitted["test"]["log_loss"], rel=1e-9)


def test_a_best_model_that_is_no_better_than_the_majority_class_is_remarked(run, tmp_path):
    rng = np.random.default_rng(1)
    lines = [f"{rng.normal():.3f},{rng.normal():.3f},{'no' if k % 9 else 'yes'}" for k in range(360)]
    (tmp_path / "noise.csv").write_text("\n".join(["a,b,label", *lines]), encoding="utf-8")
    status, out, err = run("compare", "noise.csv", "--target", "label", "--models", "logistic", "--certify", "0")
    assert status == 0, err
    assert "logistic: no better than always predicting the majority class: balanced accuracy 0.500" in out
    table = out.split("logistic by class:\n")[1].splitlines()
    assert table[0].split() == ["actual", "\\", "predicted", "no", "yes", "rows", "precision", "recall", "F1"]
    assert table[3].split()[:4] == ["yes", "8", "0", "8"]


def test_a_test_file_and_a_split_are_those_of_fit(run, tmp_path):
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.normal(size=150), "b": rng.choice(list("uvw"), 150), "day": rng.permutation(150)})
    data["shop"] = [f"s{k}" for k in rng.integers(0, 12, 150)]
    data["y"] = np.where(data.a + (data.b == "u") + rng.normal(0, 0.7, 150) > 0, "yes", "no")
    data.to_csv(tmp_path / "t.csv", index=False)
    data[100:].to_csv(tmp_path / "new.csv", index=False)
    words = ("t.csv", "--target", "y")
    for more in (("--split", "time:day"), ("--split", "group:shop"), ("--test", "new.csv", "--exclude", "day,shop")):
        (one,) = result_of(run, *words, *more, "--models", "averaged")["contenders"]
        status, out, err = run("fit", *words, *more, "--model", "averaged", "--certify", "0", "--json")
        assert status == 0, err
        assert one["confusion"] == json.loads(out)["test"]["confusion"]
    status, _, err = run("compare", *words, "--split", "time:day", "--test", "new.csv")
    assert status == 2
    assert "--test new.csv is a file, so --split has nothing to draw" in err


def test_folds_of_a_comparison_follow_the_split(run, tmp_path):
    data = shops()
    data.to_csv(tmp_path / "t.csv", index=False)
    words = ("t.csv", "--target", "y", "--models", "svm", "--exclude", "day", "--scale", "none")
    grouped = result_of(run, *words, "--split", "group:shop", "--folds", "4")
    assert grouped["split"] == "group:shop"
    assert grouped["contenders"][0]["accuracy"] < 0.7
    status, out, err = run("compare", *words, "--split", "group:shop", "--folds", "4", "--certify", "0")
    assert status == 0, err
    assert "4-fold cross-validation of whole groups (shop), 180 training rows per fold" in out


def test_boosted_trees_see_sparse_rows_as_dense_ones_where_these_fit(monkeypatch):
    X, y = made()
    test = made(seed=1)[0]
    dense = measure_contender(CONTENDERS["sk-boosting"], Recipe(), Trial(X, y, test))
    rows = Trial(sparse.csr_matrix(X), y, sparse.csr_matrix(test))
    assert np.array_equal(measure_contender(CONTENDERS["sk-boosting"], Recipe(), rows).predictions, dense.predictions)
    monkeypatch.setattr("separatrix.tables.compare.trial.available", lambda: 10_000)
    message = r"^it takes no sparse rows, and 600 rows with 2 features would take 9.6 kB as dense ones \(10 kB of"
    with pytest.raises(ValueError, match=message):
        measure_contender(CONTENDERS["sk-boosting"], Recipe(), rows)
