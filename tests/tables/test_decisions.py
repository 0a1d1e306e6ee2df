"""Calibration, thresholds, class weights, tuning and cross-validation agree with scikit-learn on the same folds."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import f1_score, precision_recall_curve, precision_score, recall_score
from sklearn.model_selection import (
    GridSearchCV,
    GroupShuffleSplit,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    train_test_split,
)
from sklearn.utils.class_weight import compute_class_weight

import separatrix as sx
from separatrix.models.model_file import load, save
from separatrix.tables.calibration import (
    KINDS,
    IsotonicCalibration,
    SigmoidCalibration,
    TemperatureCalibration,
    own_sigmoid,
)
from separatrix.tables.class_weights import class_weight_of, parse_class_weight
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.decision_lines import decision_lines
from separatrix.tables.facts import CalibratedOn, CrossValidation, TuningRecord
from separatrix.tables.fit import _certify_seconds, fit
from separatrix.tables.folds import stratified_folds
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.in_memory import TableInMemory
from separatrix.tables.split import last_rows
from separatrix.tables.thresholds import Threshold, choose_threshold, parse_threshold
from separatrix.tables.update import update

FOLDS = StratifiedKFold(5, shuffle=True, random_state=0)
ESTIMATORS = {
    "averaged": sx.Perceptron(readout="averaged", max_iter=50, random_state=0),
    "svm": sx.LinearSVM(random_state=0),
}
CERTIFY_TIMES = [(None, 0.1), (None, 20.0), (None, 900.0), (30.0, 1.0), (0.0, 1.0)]  # given, of the fit
BUSY = [(0.2, 0.1), (9.0, 0.1), (0.1, 0.2), (0.0, 0.0)]  # of the fit, computed
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def frame(classes: int = 2, n: int = 240, seed: int = 0, rare: float | None = None) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    score = data.a - data.b + 0.5 * data.c + rng.normal(0, 1.0, n)
    cuts = np.quantile(score, [1 - rare] if rare else np.arange(1, classes) / classes)
    data["y"] = np.array(["alpha", "beta", "gamma"])[np.digitize(score, cuts)]
    return data


def fitted(data: pd.DataFrame, *, options: ColumnOptions | None = None, budget=None, **settings):
    settings = {"test": 0.0, "certify": 0.0, **settings}
    source = TableInMemory(pa.Table.from_pandas(data, preserve_index=False), "t")
    return fit(source, options or ColumnOptions("y", scale="none"), Settings(**settings), budget).model


# ---------------------------------------------------------------------------------------------- probabilities


@pytest.mark.parametrize("method", KINDS)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("model", ["averaged", "svm"])
def test_probabilities_are_those_of_scikit_learns_calibration(method, classes, model):
    data = frame(classes)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, model=model, calibrate=method)
    theirs = CalibratedClassifierCV(ESTIMATORS[model], method=method, cv=FOLDS, ensemble=False).fit(X, y)
    tolerance = 1e-6 if method == "temperature" else 1e-9
    np.testing.assert_allclose(made.predict_proba(data), theirs.predict_proba(X), rtol=0, atol=tolerance)


def test_sample_weights_count_in_the_calibration():
    data = frame()
    data["w"] = np.random.default_rng(1).integers(1, 6, len(data))
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, model="svm", calibrate="sigmoid", options=ColumnOptions("y", weight="w", scale="none"))
    theirs = CalibratedClassifierCV(sx.LinearSVM(random_state=0), cv=FOLDS, ensemble=False)
    theirs.fit(X, y, sample_weight=data.w.to_numpy(dtype=float))
    np.testing.assert_allclose(made.predict_proba(data), theirs.predict_proba(X), rtol=0, atol=1e-6)


@pytest.mark.parametrize("method", KINDS)
def test_a_calibrated_model_comes_back_from_its_file(method, tmp_path):
    data = frame(3)
    made = fitted(data, calibrate=method)
    save(made, tmp_path / "m.sx")
    back = load(tmp_path / "m.sx")
    assert back.calibration.method == method
    assert np.array_equal(back.predict_proba(data), made.predict_proba(data))


def test_small_data_are_calibrated_by_default_and_models_with_probabilities_are_not():
    assert fitted(frame()).calibration.method == "sigmoid"
    assert fitted(frame(), calibrate="none").calibration is None
    assert fitted(frame(), model="neuron").calibration is None
    assert fitted(frame(), time_limit=60.0).facts.calibrated == CalibratedOn(1, 48)  # its time limit holds once more
    assert not hasattr(fitted(frame(), calibrate="none"), "predict_proba")


@pytest.mark.parametrize("split", [None, "group:d", "time:a"])
def test_a_model_that_takes_long_is_calibrated_on_rows_that_one_more_fit_leaves_out(split, tmp_path):
    data = frame(n=620).round(1)
    options = ColumnOptions("y", scale="none", split=split, features=tuple("abcd"))
    made = fitted(data, model="kernel-svm", options=options)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    if split is None:
        train, test = train_test_split(np.arange(620), test_size=0.2, random_state=0, stratify=y)
    elif split == "time:a":
        late = last_rows(data.a.to_numpy(), 0.2)
        train, test = np.flatnonzero(~late), np.flatnonzero(late)
    else:
        groups = GroupShuffleSplit(1, test_size=0.2, random_state=0)
        train, test = next(groups.split(X, groups=pd.factorize(data.d)[0]))
    train, test = np.sort(train), np.sort(test)
    assert made.facts.calibrated == CalibratedOn(1, len(test))
    model = sx.KernelSVM().fit(X[train], y[train])
    theirs = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid").fit(X[test], y[test])
    own = made.calibration.probabilities(model.decision_function(X))
    np.testing.assert_allclose(own, theirs.predict_proba(X), rtol=0, atol=1e-6)
    assert np.array_equal(made.predict_proba(data), made.calibration.probabilities(made.decision_function(data)))
    lines = decision_lines(made)
    assert lines == [
        f"Probabilities by sigmoid calibration on scores of {made.facts.calibrated.rows} training rows that one more "
        "fit left out."
    ]
    save(made, tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").facts == made.facts


def test_at_most_so_many_rows_are_held_out(monkeypatch):
    monkeypatch.setattr("separatrix.tables.folds.MOST_HELD_OUT", 50)
    assert fitted(frame(n=620), model="kernel-svm").facts.calibrated == CalibratedOn(1, 50)


def test_a_class_with_one_row_is_no_obstacle_unless_calibration_is_asked_for():
    data = pd.concat([frame(2), frame(3).query("y == 'gamma'").head(1)])
    assert fitted(data).calibration is None
    with pytest.raises(ValueError, match=r"^--calibrate: class 'gamma' has 1 training row; folds need at least two"):
        fitted(data, calibrate="sigmoid")


@given(st.floats(0.02, 0.98), st.sampled_from(list(KINDS)))
def test_the_score_at_a_probability_is_where_it_is_reached(probability, method):
    rng = np.random.default_rng(0)
    labels = (rng.random(300) < 0.4).astype(int)
    scores = labels + rng.normal(0, 0.8, 300)
    made = KINDS[method].fit(scores, labels, 2)
    at = made.score_at(probability)
    if at is None:
        assert made.probabilities(np.array([1e300]))[0, 1] < probability
        return
    reached = np.array([at + 1e-9 * max(1.0, abs(at)), at - 1e-3])
    above, below = made.probabilities(reached)[:, 1]
    assert above >= probability - 1e-7
    assert below < probability or at == np.finfo(float).min


@pytest.mark.parametrize(
    "make",
    [
        lambda: SigmoidCalibration(np.array([1.0]), np.array([np.nan])),
        lambda: SigmoidCalibration(np.array([1.0]), np.array([1.0, 2.0])),
        lambda: IsotonicCalibration([np.array([1.0, 0.0])], [np.array([0.0, 1.0])]),
        lambda: IsotonicCalibration([np.array([0.0, 1.0])], [np.array([0.5, 0.1])]),
        lambda: IsotonicCalibration([], []),
        lambda: TemperatureCalibration(-1.0, 1),
        lambda: TemperatureCalibration(float("inf"), 1),
        lambda: Threshold(float("nan"), "max-f1", 1, 0.5, 0.5),
        lambda: Threshold(0.0, "max-f1", 2, 0.5, 0.5),
    ],
)
def test_forged_decisions_are_refused(make):
    with pytest.raises(ValueError, match=r"an? (sigmoid|isotonic|temperature|threshold)"):
        make()


def test_a_calibration_of_other_classes_is_refused():
    made = fitted(frame(3))
    with pytest.raises(ValueError, match="the calibration is of 1 scores, not of 3 classes"):
        type(made)(made.preparation, made.estimator, made.target, calibration=own_sigmoid(2))


# ---------------------------------------------------------------------------------------------- thresholds


def out_of_fold(data, estimator):
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    return cross_val_predict(estimator, X, y, cv=FOLDS, method="decision_function"), y == "beta"


def test_max_f1_is_the_maximum_over_out_of_fold_scores():
    data = frame(rare=0.15)
    made = fitted(data, model="svm", threshold="max-f1")
    scores, actual = out_of_fold(data, sx.LinearSVM(random_state=0))
    best = max(f1_score(actual, scores >= at) for at in np.unique(scores))
    assert f1_score(actual, scores >= made.threshold.value) == best
    assert made.threshold.precision == pytest.approx(precision_score(actual, scores >= made.threshold.value))
    assert made.threshold.recall == pytest.approx(recall_score(actual, scores >= made.threshold.value))
    X = data[list("abcd")].to_numpy()
    assert ((made.estimator.decision_function(X) >= made.threshold.value) == (made.predict(data) == "beta")).all()


@pytest.mark.parametrize("share", [0.5, 0.9, 1.0])
def test_recall_and_precision_are_reached_with_the_best_of_the_other(share):
    data = frame(rare=0.3)
    scores, actual = out_of_fold(data, sx.LinearSVM(random_state=0))
    precision, recall, _ = precision_recall_curve(actual, scores)
    made = fitted(data, model="svm", threshold=f"recall={share}").threshold
    assert made.recall >= share
    assert made.precision == pytest.approx(precision[recall >= share].max())
    made = fitted(data, model="svm", threshold="precision=0.8").threshold
    assert made.precision >= 0.8
    assert made.recall == pytest.approx(recall[:-1][precision[:-1] >= 0.8].max())


@given(st.integers(0, 2**32 - 1), st.floats(0.1, 20.0), st.booleans())
def test_the_cost_is_least(seed, ratio, weighted):
    rng = np.random.default_rng(seed)
    actual = rng.random(40) < 0.4
    actual[:2] = [True, False]
    scores = np.round(actual + rng.normal(0, 1.0, 40), 1)  # with ties
    weights = rng.uniform(0.5, 2.0, 40) if weighted else None
    made = choose_threshold(f"cost={ratio!r}:1", scores, actual.astype(int), 1, None, weights)

    def cost(at):
        each = np.where(actual & (scores < at), ratio, 0.0) + np.where(~actual & (scores >= at), 1.0, 0.0)
        return np.sum(each * (1.0 if weights is None else weights))

    least = min(cost(at) for at in [*np.unique(scores), np.inf])
    assert cost(made.value) == pytest.approx(least)


@given(st.integers(0, 2**32 - 1), st.sampled_from(["max-f1", "recall=0.7", "cost=3:1"]))
def test_the_first_class_can_be_the_positive_one(seed, rule):
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(0, 2, 30), [0, 1])
    scores = np.round(labels + rng.normal(0, 1.0, 32), 1)
    first = choose_threshold(rule, scores, labels, 0)
    mirrored = choose_threshold(rule, -scores, 1 - labels, 1)
    assert (first.precision, first.recall) == (mirrored.precision, mirrored.recall)
    assert np.array_equal(first.codes(scores), 1 - mirrored.codes(-scores))


def test_a_probability_is_a_threshold_of_the_calibrated_model():
    data = frame(rare=0.3)
    for model in ("svm", "neuron"):
        made = fitted(data, model=model, threshold="0.3", epochs=30 if model == "neuron" else None)
        assert ((made.predict_proba(data)[:, 1] >= 0.3) == (made.predict(data) == "beta")).all()
        made = fitted(data, model=model, threshold="0.3", positive="alpha", epochs=30 if model == "neuron" else None)
        assert ((made.predict_proba(data)[:, 0] >= 0.3) == (made.predict(data) == "alpha")).all()


@pytest.mark.parametrize("text", ["1.5", "0", "f1", "recall=2", "recall", "cost=5", "cost=-1:2", "max-f1=3", "nan", ""])
def test_other_thresholds_are_refused(text):
    with pytest.raises(ValueError, match=r"--threshold must be a probability such as 0.3, max-f1, recall=0.9"):
        parse_threshold(text)


def test_what_cannot_be_decided_is_told_before_training():
    with pytest.raises(ValueError, match=r"--threshold is for two classes; column 'y' has 3: alpha, beta, gamma"):
        fitted(frame(3), threshold="max-f1")
    with pytest.raises(ValueError, match=r"--positive yes: this is no class; the classes are alpha, beta"):
        fitted(frame(), threshold="max-f1", positive="yes")
    with pytest.raises(ValueError, match="--positive names the class that --threshold is about: give both"):
        Settings(positive="beta")
    with pytest.raises(ValueError, match=r"--threshold 0.3 is a probability: use --calibrate sigmoid"):
        Settings(threshold="0.3", calibrate="none")


def test_a_precision_that_no_threshold_has_is_told():
    scores, labels = np.array([3.0, 2.0, 1.0, 0.0]), np.array([0, 1, 1, 0])
    with pytest.raises(ValueError, match=r"precision=0.9: no threshold reaches it .*; the highest precision is 0.667"):
        choose_threshold("precision=0.9", scores, labels, 1)


def test_rows_on_disk_are_refused_where_folds_are_needed(monkeypatch):
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 64)
    for name, value in {"calibrate": "sigmoid", "cv": 3, "tune": True, "threshold": "max-f1"}.items():
        with pytest.raises(ValueError, match=r"^--\w+ needs all training rows in memory, and these rows are on disk"):
            fitted(frame(), budget=MemoryBudget(memory=1), **{name: value})
    assert fitted(frame(), budget=MemoryBudget(memory=1)).calibration is None


def test_an_update_keeps_decisions_until_a_class_is_new():
    data = frame()
    made = fitted(data, threshold="recall=0.9")
    before = made.threshold
    update(made, TableInMemory(pa.Table.from_pandas(frame(seed=3)), "more"))
    assert made.threshold is before
    assert made.calibration is not None
    update(made, TableInMemory(pa.Table.from_pandas(frame(3, seed=3)), "more"))
    assert made.threshold is made.calibration is None
    assert len(made.predict(data)) == len(data)


# ---------------------------------------------------------------------------------------------- weights of classes


@pytest.mark.parametrize("model", ["averaged", "svm"])
def test_balanced_classes_are_weighted_as_scikit_learn_weighs_them(model):
    data = frame(rare=0.1)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, model=model, class_weight="balanced")
    weights = compute_class_weight("balanced", classes=np.unique(y), y=y)
    assert class_weight_of("balanced", np.unique(y), np.unique(y, return_counts=True)[1]) == dict(
        zip(np.unique(y), weights, strict=True)
    )
    theirs = ESTIMATORS[model].fit(X, y, sample_weight=weights[(y == "beta").astype(int)])
    assert np.array_equal(made.decision_function(data), theirs.decision_function(X))
    plain = fitted(data, model=model)
    assert recall_score(y, made.predict(data), pos_label="beta") > recall_score(
        y, plain.predict(data), pos_label="beta"
    )


def test_weights_by_label_are_those_of_the_estimator_and_on_disk_too(monkeypatch):
    data = frame(rare=0.1)
    data["y"] = (data.y == "beta").astype(int)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, class_weight="1=4")
    theirs = sx.Perceptron(readout="averaged", max_iter=50, random_state=0, class_weight={0: 1.0, 1: 4.0}).fit(X, y)
    assert np.array_equal(made.estimator.coef_, theirs.coef_)
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 64)
    made = fitted(data, class_weight="balanced", budget=MemoryBudget(memory=1))
    assert made.facts.on_disk
    assert made.estimator.class_weight == class_weight_of("balanced", [0, 1], np.bincount(y))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("equal", "--class-weight must be balanced, or weights by label, as in yes=5,no=1; found 'equal'"),
        ("a=1,b", "--class-weight must be balanced, or weights by label, as in yes=5,no=1; found 'a=1,b'"),
        ("a=0", "--class-weight: the weight of 'a' must be a positive number; found 0"),
        ("a=1,a=2", "--class-weight names 'a' twice"),
    ],
)
def test_other_weights_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        parse_class_weight(text)


def test_a_weight_of_no_class_is_refused():
    with pytest.raises(ValueError, match="--class-weight names 'delta', which is no class; the classes are alpha"):
        fitted(frame(), class_weight="delta=2")


# ---------------------------------------------------------------------------------------------- tuning and folds


@pytest.mark.parametrize("rare", [None, 0.1])
def test_c_is_that_of_a_grid_search(rare):
    data = frame(rare=rare)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, model="svm", tune=True)
    record = made.facts.tuning
    metric = "accuracy" if rare is None else "roc_auc"
    search = GridSearchCV(sx.LinearSVM(random_state=0), {"C": list(record.values)}, cv=FOLDS, scoring=metric).fit(X, y)
    assert (record.parameter, record.metric, record.folds) == ("C", metric, 5)
    np.testing.assert_allclose(record.means, search.cv_results_["mean_test_score"], rtol=1e-12)
    np.testing.assert_allclose(record.deviations, search.cv_results_["std_test_score"], rtol=1e-9, atol=1e-15)
    assert made.estimator.C == record.best == search.best_params_["C"]
    assert np.array_equal(made.estimator.coef_, search.best_estimator_.coef_)
    assert made.facts.settings.parameters == {"C": record.best}


def test_perceptrons_are_tuned_by_epochs_and_neurons_by_alpha():
    data = frame()
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, tune=True)
    grid = {"max_iter": [1, 2, 5, 10, 20, 50]}
    search = GridSearchCV(sx.Perceptron(readout="averaged", random_state=0), grid, cv=FOLDS).fit(X, y)
    np.testing.assert_allclose(made.facts.tuning.means, search.cv_results_["mean_test_score"])
    assert made.facts.settings.epochs == search.best_params_["max_iter"]
    assert fitted(data, model="neuron", epochs=5, tune=True).facts.tuning.parameter == "alpha"
    with pytest.raises(ValueError, match="--tune chooses epochs for --model averaged: leave --epochs out"):
        fitted(data, epochs=5, tune=True)
    with pytest.raises(ValueError, match="--tune chooses C for --model svm: leave --param C out"):
        fitted(data, model="svm", parameters={"C": 2.0}, tune=True)


@pytest.mark.parametrize("classes", [2, 3])
def test_cross_validation_is_that_of_scikit_learn(classes, tmp_path):
    data = frame(classes)
    X, y = data[list("abcd")].to_numpy(), data.y.to_numpy()
    made = fitted(data, model="svm", cv=4)
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    scores = made.facts.cross_validation.scores
    assert set(scores) == {"accuracy", "balanced_accuracy", *(["roc_auc"] if classes == 2 else [])}
    for metric, own in scores.items():
        theirs = cross_val_score(sx.LinearSVM(random_state=0), X, y, cv=folds, scoring=metric)
        np.testing.assert_allclose(own, theirs, rtol=1e-12)
    save(made, tmp_path / "m.sx")
    assert load(tmp_path / "m.sx").facts == made.facts
    assert type(made.facts).from_dict(json.loads(json.dumps(made.facts.to_dict()))).cross_validation.scores == scores


def test_a_class_with_fewer_rows_than_folds_is_in_every_training_part():
    labels = np.array([0] * 20 + [1] * 2)
    folds = stratified_folds(labels, ["a", "b"], 5, seed=0)
    assert len(folds) == 5
    assert all(set(labels[train]) == {0, 1} for train, _ in folds)
    assert sorted(np.concatenate([test for _, test in folds]).tolist()) == list(range(22))


@pytest.mark.parametrize("after", [0, 3, 22, 44, 48])
def test_ctrl_c_while_folds_are_fitted_keeps_the_model(after):
    done = []

    def watch(stage, **numbers):
        if stage == "fold":
            done.append(numbers)
            if len(done) > after:
                raise KeyboardInterrupt

    data = pa.Table.from_pandas(frame(), preserve_index=False)
    settings = Settings("svm", tune=True, threshold="max-f1", certify=0.0)
    result = fit(TableInMemory(data, "t"), ColumnOptions("y"), settings, watch=watch)
    ended = after >= 45  # nine candidates on five folds
    assert result.interrupted is not ended
    assert (result.model.threshold is not None) is ended
    assert result.model.facts.test.accuracy > 0.6
    assert len(result.model.predict(frame())) == 240


# ---------------------------------------------------------------------------------------------- the certificate's time


def test_the_certificate_takes_a_tenth_of_the_fit_unless_asked_for():
    limits = [_certify_seconds(Settings(certify=given), elapsed, elapsed) for given, elapsed in CERTIFY_TIMES]
    assert limits == [0.2, 2.0, 5.0, 30.0, 0.0]
    assert [_certify_seconds(Settings(), *times) for times in BUSY] == [0.4, 0.9, 0.2, 0.2]
    source = TableInMemory(pa.Table.from_pandas(frame(), preserve_index=False), "t")
    assert fit(source, ColumnOptions("y"), Settings()).certificate is not None


def test_forged_records_are_refused():
    for make in (
        lambda: CrossValidation(3, {"accuracy": (0.5, 0.5)}),
        lambda: CrossValidation(2, None),
        lambda: TuningRecord("C", "accuracy", 5, (1.0,), (0.5, 0.6), (0.1,), 1.0),
        lambda: TuningRecord("C", "accuracy", 5, (1.0,), (0.5,), (0.1,), 2.0),
        lambda: TuningRecord("C", None, 5, (1.0,), (0.5,), (0.1,), 1.0),
    ):
        with pytest.raises(ValueError, match="the facts about the model are damaged"):
            make()
    made = fitted(frame())
    with pytest.raises(ValueError, match="a calibration and a threshold must be of their own classes"):
        type(made)(made.preparation, made.estimator, made.target, threshold="0.5")
