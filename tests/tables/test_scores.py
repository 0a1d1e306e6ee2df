"""Scores on labelled rows: scikit-learn's own metrics on the same predictions, whatever the blocks they came in."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

from separatrix.models.model_file import load, save
from separatrix.tables import scores as module
from separatrix.tables.curves import Curve
from separatrix.tables.kinds import MODELS, make
from separatrix.tables.scores import METRICS, Metrics, Scores, predictions


def made(k, n=400, seed=0, absent=None, rare=None):
    """Return codes, scores and probabilities that are related, and predictions."""
    rng = np.random.default_rng(seed)
    actual = rng.integers(0, k, n)
    if rare is not None:
        actual = np.where(rng.random(n) < rare, 1, 0)
    if absent is not None:
        actual[actual == absent] = (absent + 1) % k
    activations = rng.normal(size=(n, k)) + 1.5 * (actual[:, None] == np.arange(k))
    proba = np.exp(activations) / np.exp(activations).sum(axis=1, keepdims=True)
    if k == 2:
        return actual, activations[:, 1] - activations[:, 0], proba, proba.argmax(axis=1)
    return actual, activations, proba, proba.argmax(axis=1)


def filled(actual, scores, proba, predicted, k, blocks=3):
    out = Scores.none(k, 0)
    for part in np.array_split(np.arange(len(actual)), blocks):
        out.add(
            actual[part].astype(np.int32), predicted[part],
            None if scores is None else scores[part], None if proba is None else proba[part],
        )  # fmt: skip
    return out.finish()


@pytest.mark.parametrize("k", [2, 3, 5, 9])
def test_every_metric_is_scikit_learns(k):
    actual, scores, proba, predicted = made(k)
    mine = filled(actual, scores, proba, predicted, k)
    assert mine.accuracy == sk.accuracy_score(actual, predicted)
    assert mine.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(actual, predicted), rel=1e-12)
    assert mine.f1_macro == pytest.approx(sk.f1_score(actual, predicted, average="macro"), rel=1e-12)
    if k == 2:
        assert mine.value("roc_auc") == pytest.approx(sk.roc_auc_score(actual, scores), rel=1e-12)
        assert mine.value("average_precision") == pytest.approx(sk.average_precision_score(actual, scores), rel=1e-12)
        assert mine.value("brier") == pytest.approx(sk.brier_score_loss(actual, proba[:, 1]), rel=1e-12)
    else:
        auc = sk.roc_auc_score(actual, proba, multi_class="ovr", average="macro")
        assert mine.value("roc_auc") == pytest.approx(auc, rel=1e-12)
        assert mine.value("average_precision") == pytest.approx(sk.average_precision_score(actual, proba), rel=1e-12)
        difference = proba - label_binarize(actual, classes=range(k))
        assert mine.value("brier") == pytest.approx((difference**2).sum(axis=1).mean(), rel=1e-12)
    assert mine.value("log_loss") == pytest.approx(sk.log_loss(actual, proba), rel=1e-12)
    expected = sk.precision_recall_fscore_support(actual, predicted)
    np.testing.assert_allclose(np.array(mine.by_class(), dtype=float).T, expected, rtol=1e-12)


def test_without_probabilities_scores_rank_the_rows_and_the_losses_are_unknown():
    for k in (2, 4):
        actual, scores, _, predicted = made(k)
        mine = filled(actual, scores, None, predicted, k)
        truth = actual if k == 2 else label_binarize(actual, classes=range(k))
        assert mine.value("roc_auc") == pytest.approx(sk.roc_auc_score(truth, scores), rel=1e-12)
        assert mine.value("average_precision") == pytest.approx(sk.average_precision_score(truth, scores), rel=1e-12)
        assert mine.value("log_loss") is None
        assert mine.value("brier") is None
        assert {curve.kind for curve in mine.metrics.curves} == {"roc", "precision_recall"}


def test_a_class_without_rows_is_left_out_of_means_over_classes():
    actual, scores, proba, predicted = made(4, absent=2)
    mine = filled(actual, scores, proba, predicted, 4)
    there = [0, 1, 3]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert mine.balanced_accuracy == pytest.approx(sk.balanced_accuracy_score(actual, predicted), rel=1e-12)
    assert mine.f1_macro == pytest.approx(sk.f1_score(actual, predicted, average="macro"), rel=1e-12)
    truth = label_binarize(actual, classes=there)
    assert mine.value("roc_auc") == pytest.approx(sk.roc_auc_score(truth, proba[:, there]), rel=1e-12)
    assert mine.value("log_loss") == pytest.approx(sk.log_loss(actual, proba, labels=range(4)), rel=1e-12)
    absent = mine.by_class()[2]
    assert (absent.recall, absent.support) == (None, 0)
    assert 2 not in mine.weakest(4)


def test_rows_of_a_single_class_have_no_auc():
    actual = np.zeros(5, dtype=np.int32)
    mine = filled(actual, np.linspace(-1, 1, 5), None, np.array([0, 0, 0, 1, 1]), 2, blocks=1)
    assert (mine.value("roc_auc"), mine.value("average_precision")) == (None, None)
    assert mine.metrics.curves == ()
    assert mine.accuracy == 0.6
    json.dumps(mine.to_dict())


def test_too_many_rows_leave_what_follows_from_the_confusion_matrix(monkeypatch):
    monkeypatch.setattr(module, "MOST_KEPT", 399 * 2)
    actual, scores, proba, predicted = made(2)
    mine = filled(actual, scores, proba, predicted, 2)
    assert [mine.value(name) is None for name in METRICS] == [False, False, False, True, True, True, True]
    assert mine.n == 400


def test_scores_that_are_not_finite_are_not_ranked():
    actual, scores, _, predicted = made(2)
    scores[7] = np.nan
    assert filled(actual, scores, None, predicted, 2).metrics.roc_auc is None


def test_imbalanced_classes_put_balanced_accuracy_and_auc_first():
    actual, scores, proba, predicted = made(2, rare=0.1)
    first, second = filled(actual, scores, proba, predicted, 2).sentences("Test")
    assert first.startswith("Test balanced accuracy 0.")
    assert first.index("ROC AUC") < first.index("macro F1")
    assert second.startswith("Accuracy ")
    actual, scores, proba, predicted = made(2, rare=0.4)
    assert filled(actual, scores, proba, predicted, 2).sentences("Test")[0].startswith("Test accuracy ")


@pytest.mark.parametrize(
    ("confusion", "remark"),
    [
        ([[90, 0], [10, 0]], "No better than always predicting the majority class"),
        ([[80, 10], [9, 1]], "No better than always predicting the majority class"),
        ([[26, 24], [24, 26]], "Not significantly better than chance"),
        ([[900, 60], [10, 30]], "The accuracy does not exceed that of always predicting the majority class (96.0%)"),
        ([[50, 5], [5, 40]], None),
        ([[3, 0], [0, 3]], None),
        ([[875, 25], [75, 25]], "The accuracy does not exceed that of always predicting the majority class (90.0%)"),
        ([[98, 2], [9, 1]], "Not significantly better than chance"),
        ([[7, 0], [0, 0]], None),
        ([[0, 1], [0, 0]], None),
    ],
)
def test_a_model_that_does_not_beat_the_majority_class_is_told(confusion, remark):
    found = Scores(np.array(confusion, dtype=np.int64), 0).remark()
    assert found is None if remark is None else found.startswith(remark)


def test_the_weakest_classes_and_the_most_frequent_errors():
    scores = Scores(np.array([[8, 2, 0], [0, 5, 5], [1, 0, 9]]), 0)
    assert scores.weakest(2) == [1, 0]
    assert scores.confusions(2) == [(1, 2, 5), (0, 1, 2)]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("k", [2, 3])
def test_predictions_of_every_model_are_those_of_predict(model, k):
    rng = np.random.default_rng(1)
    y = rng.integers(0, k, 120)
    X = rng.normal(size=(120, 3)) + y[:, None]
    estimator = make(model, epochs=5 if MODELS[model].epochs else None, time_limit=None, seed=0, parameters={})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator.fit(X, y)
    found = predictions(estimator, X)
    np.testing.assert_array_equal(estimator.classes_[found.codes], estimator.predict(X))
    assert (found.proba is not None) == hasattr(estimator, "predict_proba")


# ---------------------------------------------------------------------------------------------- curves


def test_curves_run_through_points_of_scikit_learns_and_have_about_their_area():
    actual, scores, proba, predicted = made(2, n=5000)
    mine = filled(actual, scores, proba, predicted, 2)
    curves = {curve.kind: curve for curve in mine.metrics.curves}
    assert set(curves) == {"roc", "precision_recall", "calibration"}
    false, true, _ = sk.roc_curve(actual, scores, drop_intermediate=False)
    points = set(zip(false.tolist(), true.tolist(), strict=True))
    roc = curves["roc"]
    assert len(roc.x) <= 200
    assert set(zip(roc.x.tolist(), roc.y.tolist(), strict=True)) <= points
    assert sk.auc(roc.x, roc.y) == pytest.approx(mine.value("roc_auc"), abs=2e-3)
    assert (roc.x[0], roc.y[0], roc.x[-1], roc.y[-1]) == (0, 0, 1, 1)
    precision, recall, _ = sk.precision_recall_curve(actual, scores)
    points = set(zip(recall.tolist(), precision.tolist(), strict=True))
    assert set(zip(curves["precision_recall"].x.tolist(), curves["precision_recall"].y.tolist(), strict=True)) <= points
    assert np.all(np.diff(curves["precision_recall"].x) >= 0)


def test_up_to_six_classes_have_a_curve_each_and_more_their_mean():
    for k, codes in ((4, {0, 1, 2, 3}), (8, {-1})):
        mine = filled(*made(k), k)
        for kind in ("roc", "precision_recall", "calibration"):
            assert {curve.code for curve in mine.metrics.curves if curve.kind == kind} == codes
    mean = next(curve for curve in mine.metrics.curves if curve.kind == "roc")
    assert sk.auc(mean.x, mean.y) == pytest.approx(mine.value("roc_auc"), abs=0.01)


# ---------------------------------------------------------------------------------------------- files


def test_scores_come_back_from_json():
    mine = filled(*made(3), 3)
    again = Scores.from_dict(json.loads(json.dumps(mine.to_dict())))
    assert again.to_dict() == mine.to_dict()


def test_a_model_file_keeps_the_metrics(run, tmp_path):
    assert run("fit", "penguins", "--target", "species", "--model", "neuron", "-o", "m.sx")[0] == 0
    model = load(tmp_path / "m.sx")
    test = model.facts.test
    assert test.metrics.log_loss is not None
    assert len(test.metrics.curves) == 9
    save(model, tmp_path / "again.sx")
    assert load(tmp_path / "again.sx").facts.test.to_dict() == test.to_dict()


@pytest.mark.parametrize(
    "forge",
    [
        lambda: Metrics(roc_auc=float("nan")),
        lambda: Metrics(brier="0.1"),
        lambda: Metrics(curves=[1]),
        lambda: Curve("roc", 0, np.zeros(3), np.zeros(2)),
        lambda: Curve("other", 0, np.zeros(2), np.zeros(2)),
        lambda: Curve("roc", 0, np.zeros(500), np.zeros(500)),
        lambda: Curve("roc", 0, np.array([np.inf]), np.zeros(1)),
        lambda: Scores(np.eye(2, dtype=np.int64), 0, "x"),
        lambda: Scores(np.eye(2, dtype=np.int64), 0, Metrics(curves=(Curve("roc", 5, np.zeros(2), np.zeros(2)),))),
    ],
)
def test_forged_metrics_are_refused(forge):
    with pytest.raises(ValueError, match="test scores"):
        forge()
