"""`sx.TablePreparation`: the preparation of the command line, as a transformer of scikit-learn."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app
from separatrix.tables.sources.opening import open_source
from separatrix.tables.whole import read_training


@pytest.fixture
def people() -> pd.DataFrame:
    draw = np.random.default_rng(7)
    n = 240
    frame = pd.DataFrame({
        "age": draw.integers(18, 80, n).astype(float),
        "town": draw.choice(["Oslo", "Bergen", "Hamar"], n),
        "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(draw.integers(0, 900, n), unit="D"),
        "paid": draw.normal(size=n),
    })  # fmt: skip
    frame.loc[::7, "age"] = np.nan
    frame.loc[::11, "town"] = None
    return frame


def labels_of(frame: pd.DataFrame) -> np.ndarray:
    return np.where(frame["paid"] + frame["age"].fillna(40) / 40 > 1, "yes", "no")


def dense(matrix: object) -> np.ndarray:
    return matrix.toarray() if hasattr(matrix, "toarray") else np.asarray(matrix)


def test_frames_of_pandas_and_polars_and_arrow_tables_become_the_same_numbers(people: pd.DataFrame) -> None:
    steps = sx.TablePreparation().fit(people)
    want = dense(steps.transform(people))
    assert np.array_equal(dense(steps.transform(pl.from_pandas(people))), want)
    assert np.array_equal(dense(steps.transform(pa.Table.from_pandas(people))), want)
    assert np.array_equal(dense(sx.TablePreparation().fit(pl.from_pandas(people)).transform(people)), want)


def test_the_numbers_are_those_of_scikit_learn(people: pd.DataFrame) -> None:
    frame = people.drop(columns="since")
    numbers = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    own = make_column_transformer(
        (numbers, ["age", "paid"]),
        (OneHotEncoder(sparse_output=False), ["town"]),
    ).fit_transform(frame)
    steps = sx.TablePreparation().fit(frame)
    names = steps.get_feature_names_out().tolist()
    assert names == ["age", "paid", "age missing", "town=Bergen", "town=Hamar", "town=Oslo", "town=(missing)"]
    ours = dense(steps.transform(frame))
    assert np.allclose(np.delete(ours, 2, axis=1), own, rtol=0, atol=1e-12)
    assert np.array_equal(ours[:, 2], frame["age"].isna())


def test_the_numbers_are_those_of_the_command_line(people: pd.DataFrame, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    people.assign(y=labels_of(people)).to_parquet("people.parquet")
    words = ["fit", "people.parquet", "--target", "y", "--test", "0", "--certify", "0", "-o", "m.sx"]
    assert CliRunner().invoke(app, words).exit_code == 0
    model = sx.load("m.sx")
    with open_source("people.parquet") as source:
        trained = read_training(model, source)
    assert np.array_equal(dense(trained.X), dense(sx.TablePreparation().fit_transform(people)))


def test_it_is_a_step_of_a_pipeline_that_can_be_searched(people: pd.DataFrame) -> None:
    pipeline = make_pipeline(sx.TablePreparation(), sx.LinearSVM())
    search = GridSearchCV(pipeline, {"linearsvm__C": [0.1, 1.0], "tablepreparation__missing": ["impute", "mean"]}, cv=3)
    y = labels_of(people)
    assert search.fit(people, y).score(people, y) > 0.9
    assert clone(pipeline).get_params()["tablepreparation__max_levels"] == 100


def test_what_is_not_a_frame_is_refused_by_its_type() -> None:
    with pytest.raises(TypeError, match="a data frame or Arrow table with the columns of fit is needed; found ndarray"):
        sx.TablePreparation().fit(np.eye(3))


def test_a_missing_value_where_none_is_imputed_is_named_by_its_row(people: pd.DataFrame) -> None:
    steps = sx.TablePreparation(missing="drop").fit(people)
    with pytest.raises(ValueError, match=r"row 1 has missing values; drop such rows, or use missing='impute'"):
        steps.transform(people)


def test_a_column_of_numbers_and_texts_is_one_of_texts_as_in_a_file(people: pd.DataFrame) -> None:
    mixed = pd.Series([1, "x", 2.5, None] * (len(people) // 4) + [1] * (len(people) % 4), dtype=object)
    there = people.assign(mixed=mixed)
    steps = sx.TablePreparation(category=["mixed"]).fit(there)
    assert {"mixed=1", "mixed=2.5", "mixed=x"} <= set(steps.get_feature_names_out())
    texts = there.assign(mixed=mixed.map(str, na_action="ignore"))
    np.testing.assert_array_equal(_dense(steps.transform(there)), _dense(steps.transform(texts)))
    slip = people.assign(mixed=pd.Series([*range(len(people) - 1), "x"], dtype=object))
    with pytest.raises(ValueError, match="column 'mixed' has numbers and also 'x', which is not a number"):
        sx.TablePreparation().fit(slip)


def _dense(matrix):
    return matrix.toarray() if hasattr(matrix, "toarray") else matrix


def test_a_pipeline_with_it_is_refused_by_save_with_the_way_out(tmp_path):
    data = pd.DataFrame({"a": np.arange(40.0) % 7, "c": ["u", "v"] * 20})
    model = make_pipeline(sx.TablePreparation(), sx.LogisticRegression()).fit(data, ["x", "y"] * 20)
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        sx.save(model, tmp_path / "m.sx")
    assert str(caught.value) == (
        "the step 'tablepreparation' is a TablePreparation; a model file holds one only within a model of a table, "
        "which separatrix fit writes: save it so, or keep the pipeline with pickle"
    )
    assert (pickle.loads(pickle.dumps(model)).predict(data) == model.predict(data)).all()
