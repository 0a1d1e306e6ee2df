"""Folds follow the test set: at random, whole groups, or in the order of time."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import StratifiedGroupKFold, TimeSeriesSplit, cross_val_score
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app
from separatrix.tables.folds import TooFewRowsError, group_folds, time_folds
from small_tables import shops


def printed(*words: str) -> str:
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, result.output
    return " ".join(result.output.split())


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 3), st.integers(4, 15))
def test_no_group_is_in_two_folds_and_every_row_is_in_one(seed, folds, classes, groups):
    rng = np.random.default_rng(seed)
    codes, labels = rng.integers(0, groups, 80).astype(float), rng.integers(0, classes, 80)
    try:
        parts = group_folds(labels, range(classes), folds, seed, codes)
    except TooFewRowsError:
        return
    for train, test in parts:
        assert not set(codes[train]) & set(codes[test])
        assert set(labels[train]) == set(range(classes))
    assert sorted(np.concatenate([test for _, test in parts]).tolist()) == list(range(80))


def test_the_groups_are_those_of_scikit_learn():
    data = shops()
    codes, labels = pd.factorize(data.shop)[0].astype(float), (data.y == "yes").to_numpy(dtype=int)
    theirs = StratifiedGroupKFold(5, shuffle=True, random_state=3).split(labels, labels, codes)
    for own, other in zip(group_folds(labels, ["no", "yes"], 5, 3, codes), theirs, strict=True):
        assert all(np.array_equal(one, two) for one, two in zip(own, other, strict=True))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(12, 60))
def test_times_that_differ_are_split_as_scikit_learn_splits_rows_in_order(seed, folds, n):
    order = np.random.default_rng(seed).permutation(n)
    labels = order % 2
    own = time_folds(labels, folds, order.astype(float))
    theirs = list(TimeSeriesSplit(folds).split(order))
    assert [[np.sort(order[rows]).tolist() for rows in part] for part in own] == [
        [rows.tolist() for rows in part] for part in theirs
    ][-len(own) :]
    assert len(own) >= folds - 1  # the first is left out if its training rows are of one class


@given(st.lists(st.tuples(st.integers(0, 8), st.integers(0, 1)), min_size=2, max_size=60), st.integers(2, 6))
def test_every_fold_by_time_is_later_than_its_training_rows(rows, folds):
    times, labels = np.array(rows).T
    try:
        parts = time_folds(labels, folds, times.astype(float))
    except TooFewRowsError:
        return
    assert all(times[train].max() < times[test].min() for train, test in parts)
    assert all(set(labels[train]) == set(labels) for train, _ in parts)
    scored = np.concatenate([test for _, test in parts])
    assert len(scored) == len(set(scored.tolist()))
    assert set(labels[scored]) == set(labels)


def test_cross_validation_with_groups_is_that_of_new_groups(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = shops()
    data.to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "y", "--exclude", "day", "--model", "svm", "--certify", "0", "--scale", "none"]
    grouped = printed(*words, "--split", "group:shop", "--test", "0", "--cv", "4")
    assert "Cross-validation, 4 folds of whole groups (shop) of the training rows: accuracy 0." in grouped
    model = sx.load("t.sx")
    X, y = data.filter(like="x").to_numpy(), data.y.to_numpy()
    folds = StratifiedGroupKFold(4, shuffle=True, random_state=0).split(X, y, pd.factorize(data.shop)[0])
    theirs = cross_val_score(sx.LinearSVM(random_state=0), X, y, cv=list(folds))
    assert model.facts.cross_validation.scores["accuracy"] == pytest.approx(theirs.tolist())
    assert theirs.mean() < 0.7
    assert "Cross-validation, 4 folds of the training rows: accuracy 1.000" in printed(
        *words, "--exclude", "shop", "--test", "0", "--cv", "4"
    )


def test_decisions_by_time_are_made_on_later_rows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = shops().drop(columns="shop")
    data.to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "y", "--model", "svm", "--certify", "0", "--split", "time:day", "--tune"]
    output = printed(*words, "--threshold", "max-f1", "--calibrate", "isotonic", "--cv", "3")
    assert "over 3 folds in the order of day)" in output
    assert "Probabilities by isotonic calibration on out-of-fold scores (3 folds in the order of day)." in output
    assert " (folds in the order of day)." in output.split("Threshold max-f1: ")[1]
    model = sx.load("t.sx")
    assert model.threshold is not None
    assert np.isfinite(model.predict_proba(data)).all()


def test_folds_that_groups_or_times_cannot_have_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data = shops()
    data["shop"] = data.y.where(data.y == "yes", data.shop)
    data.sort_values("y").assign(day=range(len(data))).to_csv("t.csv", index=False)
    words = ["fit", "t.csv", "--target", "y", "--test", "0", "--cv", "3", "--certify", "0"]
    result = CliRunner().invoke(app, [*words, "--split", "group:shop"])
    assert str(result.exception) == "--cv: class 'yes' is in one group only; folds of groups need two of each class"
    result = CliRunner().invoke(app, [*words, "--split", "time:day", "--exclude", "shop"])
    assert str(result.exception).startswith("--cv: there is no time before and after which every class has rows")
