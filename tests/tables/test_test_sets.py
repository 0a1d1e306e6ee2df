"""Test sets by time, by group and from a file of their own."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import GroupShuffleSplit

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.in_memory import TableInMemory
from separatrix.tables.sources.opening import open_source
from separatrix.tables.split import last_rows, whole_groups
from separatrix.tables.split_column import SplitReader
from separatrix.tables.whole import read_training


def frame(n: int = 200, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.normal(size=n), "b": rng.normal(size=n)})
    data["day"] = [str(datetime.date(2024, 1, 1) + datetime.timedelta(int(k))) for k in rng.permutation(n)]
    data["shop"] = rng.choice([f"shop {k}" for k in range(12)], n)
    data["y"] = np.where(data.a + data.b + rng.normal(0, 0.3, n) > 0, "yes", "no")
    return data


def fitted(data, split=None, test=0.25, tested=None, **options):
    source = TableInMemory(pa.Table.from_pandas(data, preserve_index=False), "t")
    more = None if tested is None else TableInMemory(pa.Table.from_pandas(tested, preserve_index=False), "new")
    settings = Settings("svm", test=test, certify=0.0, test_file=None if tested is None else "new")
    options = options or {"exclude": ("day", "shop")}
    return fit(source, ColumnOptions("y", split=split, **options), settings, test_source=more).model


def without(data, test):
    """Return the model of the other rows, and its accuracy on the test rows."""
    model = fitted(data[~test], test=0.0)
    return model, float(np.mean(model.predict(data[test]) == data.y[test]))


@given(st.lists(st.integers(0, 9), min_size=2, max_size=40), st.floats(0.05, 0.9))
def test_no_training_row_is_as_late_as_a_test_row(times, test):
    order = np.array(times, dtype=float)
    if len(set(times)) < 2:
        with pytest.raises(ValueError, match="every row has the same time"):
            last_rows(order, test)
        return
    mask = last_rows(order, test)
    assert order[mask].min() > order[~mask].max()
    sizes = [int((order >= at).sum()) for at in sorted(set(times))[1:]]
    assert abs(mask.sum() - test * len(times)) == min(abs(size - test * len(times)) for size in sizes)


@pytest.mark.parametrize("kind", ["text", "date", "timestamp", "number"])
def test_the_last_rows_by_time_are_the_test_set(kind):
    data = frame()
    last = (data.day >= sorted(data.day)[150]).to_numpy()
    if kind == "date":
        data["day"] = pd.to_datetime(data.day).dt.date
    elif kind == "timestamp":
        data["day"] = pd.to_datetime(data.day)
    elif kind == "number":
        data["day"] = pd.to_datetime(data.day).dt.day_of_year
    made = fitted(data, "time:day")
    assert made.feature_names_in_ == ["a", "b"]
    assert made.facts.rows.test == 50
    model, accuracy = without(data, last)
    assert np.array_equal(made.estimator.coef_, model.estimator.coef_)
    assert made.facts.test.accuracy == accuracy


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_files_are_split_by_time_too(name, tmp_path):
    data = frame()
    if name == "t.csv":
        data.to_csv(tmp_path / name, index=False)
    else:
        data.to_parquet(tmp_path / name)
    with open_source(str(tmp_path / name)) as source:
        made = fit(
            source, ColumnOptions("y", split="time:day", exclude=("shop",)), Settings("svm", test=0.25, certify=0.0)
        ).model
    assert np.array_equal(made.estimator.coef_, fitted(data, "time:day").estimator.coef_)


def test_groups_are_those_of_scikit_learn_and_in_one_set_only():
    data = frame()
    made = fitted(data, "group:shop")
    codes = pd.factorize(data.shop)[0]
    _, drawn = next(GroupShuffleSplit(1, test_size=0.25, random_state=0).split(data, groups=codes))
    mask = np.zeros(len(data), dtype=bool)
    mask[drawn] = True
    assert not set(data.shop[mask]) & set(data.shop[~mask])
    assert made.facts.rows.test == len(drawn)
    model, accuracy = without(data, mask)
    assert np.array_equal(made.estimator.coef_, model.estimator.coef_)
    assert made.facts.test.accuracy == accuracy
    assert np.array_equal(whole_groups(codes.astype(float), 0.25, 0), mask)


def test_the_column_is_a_feature_where_it_is_named():
    data = frame().assign(day=range(200))
    assert fitted(data, "time:day", exclude=("shop",)).feature_names_in_ == ["a", "b"]
    assert fitted(data, "time:day", features=("a", "b", "day")).feature_names_in_ == ["a", "b", "day"]


@pytest.mark.parametrize("split", ["time:day", "group:shop"])
def test_the_training_rows_are_found_again(split):
    data = frame()
    made = fitted(data, split)
    rows = read_training(made, TableInMemory(pa.Table.from_pandas(data, preserve_index=False), "t"))
    assert len(rows.y) == made.facts.rows.train


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "day"}, r"--split must be time:COL or group:COL, with the name of a column; found 'day'"),
        ({"split": "time:dy"}, r"t has no column 'dy', which --split names \(did you mean 'day'\?\)"),
        ({"split": "time:y"}, r"--split names 'y', which is the target or the weight"),
        (
            {"split": "time:shop"},
            r"t, row 1, column 'shop': 'shop \d+' is not a date written as the others, or as 2024-05-31, which",
        ),
    ],
)
def test_what_is_no_split_is_refused(options, message):
    with pytest.raises(ValueError, match=message):
        fitted(frame(), **options)


def test_a_missing_time_or_group_is_refused_with_its_row():
    data = frame()
    data.loc[17, ["day", "shop"]] = None
    for split in ("time:day", "group:shop"):
        with pytest.raises(
            ValueError, match=r"^t, row 18, column '\w+': missing value; --split needs one in every row"
        ):
            fitted(data, split)


def test_rows_on_disk_cannot_be_split_by_a_column():
    source = TableInMemory(pa.Table.from_pandas(frame(), preserve_index=False), "t")
    with pytest.raises(ValueError, match="--split needs all rows in memory, and these rows are on disk"):
        fit(source, ColumnOptions("y", split="time:day", exclude=("shop",)), Settings(), MemoryBudget(memory=1))


def test_groups_keep_their_codes_from_batch_to_batch():
    reader = SplitReader("t", "group:g")
    first = reader.read(pa.array(["x", "y", "x"]), 1)
    assert [*first, *reader.read(pa.array(["z", "y"]), 4)] == [0.0, 1.0, 0.0, 2.0, 1.0]


def test_a_file_of_its_own_is_the_test_set():
    data, new = frame(), frame(70, seed=5)
    new.loc[3, "y"] = None
    made = fitted(data, tested=new, test=0.0)
    assert (made.facts.rows.train, made.facts.rows.test) == (200, 69)
    model = fitted(data, test=0.0)
    assert np.array_equal(made.estimator.coef_, model.estimator.coef_)
    there = new.dropna()
    assert made.facts.test.accuracy == float(np.mean(model.predict(there) == there.y))


def test_a_test_file_with_another_class_or_without_a_column_is_refused():
    new = frame(30, seed=5)
    with pytest.raises(ValueError, match=r"--test new: the label 'other' is not a class of the training rows"):
        fitted(frame(), tested=new.assign(y="other"), test=0.0)
    with pytest.raises(ValueError, match=r"new has no column 'b', which the model was trained on"):
        fitted(frame(), tested=new.drop(columns="b"), test=0.0)


# ---------------------------------------------------------------------------------------------- the command


def test_the_command_has_the_options(run, tmp_path):
    frame().to_csv(tmp_path / "t.csv", index=False)
    frame(60, seed=4).to_csv(tmp_path / "new.csv", index=False)
    status, printed, _ = run(
        "fit", "t.csv", "--target", "y", "--exclude", "day,shop", "--test", "new.csv", "--model", "svm", "--tune",
        "--cv", 4, "--threshold", "cost=5:1", "--class-weight", "yes=2", "--calibrate", "isotonic",
    )  # fmt: skip
    assert status == 0
    assert "Training set 200 rows, test set 60;" in printed
    assert "\nTuned C = " in printed
    assert "\nCross-validation, 4 folds of the training rows: accuracy 0." in printed
    assert "\nProbabilities by isotonic calibration on out-of-fold scores (4 folds).\n" in printed
    assert "\nThreshold cost=5:1: 'yes' from score " in printed
    status, printed, _ = run("predict", "t.sx", "new.csv", "--proba")
    assert (status, printed.splitlines()[0]) == (0, "prediction,proba_no,proba_yes")
    status, printed, _ = run("inspect", "t.sx")
    assert "Threshold cost=5:1: 'yes' from score " in printed
    status, printed, _ = run("fit", "t.csv", "--target", "y", "--exclude", "shop", "--split", "time:day")
    assert (status, "test set 40;" in printed) == (0, True)
    status, _, messages = run("fit", "t.csv", "--target", "y", "--test", "new.csv", "--split", "time:day")
    assert (status, "--test new.csv is a file, so --split has nothing to draw" in messages) == (2, True)
    status, _, messages = run("fit", "t.csv", "--target", "y", "--test", "no-such.csv")
    assert status == 2
