"""``compare --metric``: the order and the values of scikit-learn's metrics on the same rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.neighbors import KNeighborsClassifier

from separatrix.tables.compare.comparison import _rank
from separatrix.tables.compare.contenders import CONTENDERS, Recipe
from separatrix.tables.compare.measure import measure_contender
from separatrix.tables.compare.plan import ComparisonPlan
from separatrix.tables.compare.splitting import Splits
from separatrix.tables.compare.trial import Trial


def made(n=300, k=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.normal(size=(n, 2)) + y[:, None], y


def test_scores_and_probabilities_of_a_contender_give_scikit_learns_metrics():
    X, y = made()
    test, truth = made(seed=1)
    splits = Splits([], [truth.astype(np.int32)], np.bincount(y), {}, 2, False, None)
    part = measure_contender(CONTENDERS["k-nn"], Recipe(), Trial(X, y, test), ranked=True)
    proba = KNeighborsClassifier().fit(X, y).predict_proba(test)
    found = splits.metrics([part])
    assert found.roc_auc == pytest.approx(sk.roc_auc_score(truth, proba, multi_class="ovr"))
    assert found.log_loss == pytest.approx(sk.log_loss(truth, proba))
    part = measure_contender(CONTENDERS["sk-perceptron"], Recipe(), Trial(X, y, test), ranked=True)
    assert splits.metrics([part]).roc_auc is not None
    assert splits.metrics([part]).log_loss is None
    part = measure_contender(CONTENDERS["k-nn"], Recipe(), Trial(X, y, test))
    assert splits.metrics([part]).roc_auc is None  # not asked for


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_with_folds_metrics_are_means():
    X, y = made()
    folds = [made(seed=1), made(seed=2)]
    splits = Splits([], [truth.astype(np.int32) for _, truth in folds], np.bincount(y), {}, 2, False, None)
    parts = [measure_contender(CONTENDERS["neuron"], Recipe(5), Trial(X, y, test), ranked=True) for test, _ in folds]
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
    table = [line.split() for line in out.splitlines()]
    head = next(line for line in table if line[:1] == ["model"])
    assert head[:4] == ["model", "balanced", "accuracy", "accuracy"]
    values = [float(line[1]) for line in table if line[:1] and line[0] in ("averaged", "tree", "k-nn")]
    assert values == sorted(values, reverse=True)
    assert "Ordered by balanced accuracy; p is about accuracy, against" in out
