"""Missing values: imputed with an indicator, in the same way by fit, predict and scikit-learn; dropped by choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

from separatrix.models.model_file import load, save
from separatrix.tables.disk import rowfile
from separatrix.tables.settings import MemoryBudget
from small_tables import fitted, matrix, predicted, trained_on, written

DISK = MemoryBudget(memory=1)


def gappy(n: int = 300, seed: int = 0) -> pd.DataFrame:
    """Return numbers and a category with gaps, one of each without, and two classes."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame({"a": rng.normal(3, 2, n), "whole": rng.integers(0, 9, n).astype(float), "full": rng.random(n)})
    data["colour"] = rng.choice(["red", "green", "blue"], n)
    data["size"] = rng.choice(["s", "m"], n)
    data["y"] = np.where(data.a + data.full + (data.colour == "red") > 4, "p", "q")
    for name, part in (("a", 0.2), ("whole", 0.05), ("colour", 0.1)):
        data.loc[rng.random(n) < part, name] = None
    return data


def by_scikit_learn(data: pd.DataFrame, scaler: object) -> np.ndarray:
    """Return scaled medians and numbers, then the indicators, then the one-hot encoded categories."""
    numbers = ["a", "whole", "full"]
    imputed = SimpleImputer(strategy="median", add_indicator=True).fit_transform(data[numbers])
    steps = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median"), scaler), numbers),
        (OneHotEncoder(sparse_output=False), ["colour", "size"]),
    )
    X = steps.fit_transform(data)
    return np.hstack([X[:, :3], imputed[:, 3:], X[:, 3:]])


@pytest.mark.parametrize(
    ("scale", "scaler"), [("standard", StandardScaler()), ("minmax", MinMaxScaler()), ("none", "passthrough")]
)
@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_numbers_are_those_of_scikit_learn(scale, scaler, kind, tmp_path):
    data = gappy()
    source = written(data, tmp_path / "t.csv") if kind == "csv" else data
    model = fitted(source, scale=scale)
    assert model.preparation.names == [
        "a", "whole", "full", "a missing", "whole missing",
        "colour=blue", "colour=green", "colour=red", "colour=(missing)", "size=m", "size=s",
    ]  # fmt: skip
    np.testing.assert_allclose(matrix(model, source), by_scikit_learn(data, scaler), rtol=1e-12, atol=1e-12)
    assert model.facts.rows.dropped == 0
    assert model.facts.missing == {name: int(data[name].isna().sum()) for name in ("a", "whole", "colour")}


def test_a_model_predicts_its_own_training_file_from_the_same_numbers(tmp_path):
    source = written(gappy(), tmp_path / "t.csv")
    model = fitted(source)
    save(model, tmp_path / "m.sx")
    again = load(tmp_path / "m.sx")
    X = trained_on(again, source)  # refuses rows of another key
    labels, counts = predicted(again, source)
    assert labels == again.estimator.predict(X).tolist()
    assert (counts.rows, counts.incomplete, counts.unknown) == (300, 0, {})


@pytest.mark.parametrize("cells", ["numbers", "texts"])
def test_a_column_that_is_99_percent_empty_costs_no_row(cells, tmp_path, run):
    rng = np.random.default_rng(0)
    rare = np.full(5000, None, dtype=object)
    rare[::100] = [1.5, 2.5] * 25 if cells == "numbers" else ["x", "z"] * 25
    data = pd.DataFrame({"rare": rare, "x": rng.normal(size=5000)})
    data["y"] = np.where(data.x > 0, "p", "q")
    written(data, tmp_path / "t.csv")
    status, out, _ = run("fit", "t.csv", "--target", "y", "--certify", 0)
    assert status == 0
    assert "t.csv: 5,000 rows; missing values imputed: rare 4,950.\nTraining set 4,000 rows, test set 1,000" in out
    status, out, err = run("predict", "t.sx", "t.csv")
    assert (status, err) == (0, "missing values imputed: rare 4,950\n")
    assert out.count("\n") == 5001
    assert set(out.split()[1:]) == {"p", "q"}


def test_drop_above_half_of_the_rows_is_refused_with_the_columns(tmp_path, run):
    data = pd.DataFrame({"a": [1.0, None, None] * 40, "b c": [None, None, "x"] * 40, "y": ["p", "q"] * 60})
    written(data, tmp_path / "t.csv")
    status, out, err = run("fit", "t.csv", "--target", "y", "--missing", "drop")
    assert (status, out) == (2, "")
    assert err == (
        "separatrix: t.csv: --missing drop leaves 0 of 120 rows; most values are missing in a (80), b c (80): impute "
        "them "
        "with --missing impute, or leave columns out with --exclude a\n"
    )


@pytest.mark.parametrize(("gaps", "refused"), [(49, False), (50, False), (51, True)])
def test_drop_takes_up_to_half_of_the_rows(gaps, refused, tmp_path):
    cells = [None] * gaps + [float(k % 7) for k in range(100 - gaps)]
    source = written({"a": cells, "b": np.arange(100) % 3, "y": ["p", "q"] * 50}, tmp_path / "t.csv")
    if not refused:
        model = fitted(source, missing="drop")
        assert (model.facts.rows.dropped, model.facts.rows.train) == (gaps, 100 - gaps)
        labels, counts = predicted(model, source)
        assert [label is None for label in labels] == [cell is None for cell in cells]
        assert counts.incomplete == gaps
        return
    with pytest.raises(ValueError, match=r"--missing drop leaves 49 of 100 rows; most values are missing in a \(51\)"):
        fitted(source, missing="drop")


def test_a_gap_first_met_at_predict_is_imputed_by_the_median_without_a_feature(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(5, 1, 99), "colour": rng.choice(["red", "blue"], 99)})
    data["y"] = np.where(data.a > 5, "p", "q")
    model = fitted(written(data, tmp_path / "t.csv"), scale="none")
    assert model.preparation.names == ["a", "colour=blue", "colour=red"]
    gone = written({"a": [None, 5.0], "colour": ["red", None], "y": ["p", "q"]}, tmp_path / "gone.csv")
    np.testing.assert_array_equal(matrix(model, gone), [[data.a.median(), 0.0, 1.0], [5.0, 0.0, 0.0]])


def test_labels_and_weights_that_are_missing_drop_the_row_and_are_counted_apart(tmp_path, run):
    data = gappy(100)
    data["w"] = 1.0
    data.loc[[3, 5], "y"] = None
    data.loc[7, "w"] = None
    written(data, tmp_path / "t.csv")
    status, out, _ = run("fit", "t.csv", "--target", "y", "--weight", "w", "--test", 0, "--certify", 0)
    assert status == 0
    a, whole, colour = (int(data[name].isna().sum()) for name in ("a", "whole", "colour"))
    counts = ", ".join(
        f"{n} {k}" for n, k in sorted([("a", a), ("whole", whole), ("colour", colour)], key=lambda p: -p[1])
    )
    first = out.splitlines()[0]
    assert first == f"t.csv: 100 rows, 3 dropped (missing values: y 2, w 1); missing values imputed: {counts}."


def test_mean_and_fail_by_choice(tmp_path):
    data = gappy()
    source = written(data, tmp_path / "t.csv")
    model = fitted(source, missing="mean", scale="none")
    assert model.preparation.names == [
        "a", "whole", "full", "colour=blue", "colour=green", "colour=red", "size=m", "size=s",
    ]  # fmt: skip
    X = matrix(model, source)
    np.testing.assert_allclose(X[:, :3], SimpleImputer().fit_transform(data[["a", "whole", "full"]]), rtol=1e-12)
    assert (X[data.colour.isna().to_numpy(), 3:6] == 0).all()
    first = int(np.flatnonzero(data[["a", "whole", "colour"]].isna().any(axis=1))[0]) + 1
    with pytest.raises(ValueError, match=rf"t\.csv, row {first}, column '\w+': missing value; impute such values with"):
        fitted(source, missing="fail")


def test_an_empty_column_is_named_and_left_out_with_a_note(tmp_path, run):
    data = gappy(80).assign(nothing=None)
    written(data, tmp_path / "t.csv")
    status, out, _ = run("fit", "t.csv", "--target", "y", "--certify", 0)
    assert status == 0
    assert "\nLeft out: nothing (empty).\n" in out
    assert "nothing" not in fitted(tmp_path / "t.csv").preparation.names
    typed = pa.Table.from_pandas(data.assign(nothing=np.nan), preserve_index=False)  # numbers, and all are NaN
    assert fitted(typed).facts.notes[0] == "Left out: nothing (empty)."
    with pytest.raises(
        ValueError, match=r"no feature column is left; its columns are nothing, y; left out: nothing \(em"
    ):
        fitted(written(data[["nothing", "y"]], tmp_path / "u.csv"))


def test_an_empty_column_is_left_out_where_rows_are_dropped_too(tmp_path):
    data = gappy(200)
    model = fitted(written(data.assign(nothing=None), tmp_path / "t.csv"), missing="drop")
    assert model.facts.notes == ("Left out: nothing (empty).",)
    assert model.facts.rows.train == len(data.dropna())


def test_a_column_is_not_empty_because_the_rows_with_values_are_few(tmp_path):
    """Rows without a label are no training rows, and a column may be empty on those that are left, or not."""
    labels = [None] * 60 + ["p", "q"] * 20
    some = [1.0] * 10 + [None] * 85 + [2.0, 3.0, 4.0, 5.0, 6.0]
    gone = [1.0] * 60 + [None] * 40
    source = written({"some": some, "gone": gone, "b": np.arange(100) % 3, "y": labels}, tmp_path / "t.csv")
    model = fitted(source)
    assert model.preparation.names == ["some", "b", "some missing"]
    assert model.preparation.means[0] == 4.0
    assert model.facts.notes == ("Left out: gone (empty).",)


def test_marks_of_missing_numbers_are_missing_numbers(tmp_path):
    cells = ["1.5", "?", "2.5", "-", "3.5", "unknown", "n/a", "4.5"] * 10
    model = fitted(written({"a": cells, "b": np.arange(80) % 3, "y": ["p", "q"] * 40}, tmp_path / "t.csv"))
    assert model.facts.missing == {"a": 40}
    assert model.preparation.means[0] == 3.0
    assert model.facts.notes == ("Read as numbers: a (1234.5).",)


# ---------------------------------------------------------------------------------------------- on disk


@pytest.mark.parametrize("stream", [False, True])
def test_on_disk_features_and_medians_are_those_of_memory(stream, tmp_path, monkeypatch):
    if stream:
        monkeypatch.setattr(rowfile, "GROUP", 1 << 14)
    source = written(gappy(2000), tmp_path / "t.csv")
    memory, disk = fitted(source), fitted(source, budget=MemoryBudget(memory=100_000))
    assert disk.facts.on_disk
    assert disk.preparation.names == memory.preparation.names
    for part in ("means", "shift", "factor"):
        np.testing.assert_allclose(getattr(disk.preparation, part), getattr(memory.preparation, part), rtol=1e-12)
    np.testing.assert_allclose(matrix(disk, source), matrix(memory, source), rtol=1e-12, atol=1e-12)
    assert disk.facts.missing == memory.facts.missing


def test_medians_of_very_many_rows_on_disk_are_those_of_a_sample_of_them(monkeypatch):
    monkeypatch.setattr(rowfile, "GROUP", 1 << 14)
    monkeypatch.setattr("separatrix.tables.prepare._MEDIAN_ROWS", 4096)
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(10, 1, 50_000), "b": rng.exponential(1.0, 50_000)})
    data["y"] = np.where(data.a > 10, "p", "q")
    data.loc[rng.random(50_000) < 0.3, "a"] = np.nan
    found = fitted(data, budget=DISK).preparation.means
    assert abs(found[0] - data.a.median()) < 0.05  # standard error of 4096 * 0.7 rows: 0.023
    assert abs(found[1] - data.b.median()) < 0.05


# ---------------------------------------------------------------------------------------------- any table


CELLS = {
    "number": st.one_of(st.none(), st.sampled_from([0.0, 1.0, -2.5, 1e6, 3.25])),
    "whole": st.one_of(st.none(), st.integers(-3, 30)),
    "category": st.one_of(st.none(), st.sampled_from(["red", "blue", "a b", "007", "(missing)", "x,y", "?"])),
    "flag": st.one_of(st.none(), st.booleans()),
    "date": st.one_of(st.none(), st.sampled_from(["2024-01-31", "2023-12-01", "1999-07-15"])),
    "notation": st.one_of(st.none(), st.sampled_from(["1,234", "7", "12,345.5", "?"])),
    "words": st.one_of(st.none(), st.sampled_from(["good film", "a very bad film indeed", "never again"])),
}


@st.composite
def tables(draw) -> pd.DataFrame:
    """Return a table with columns of any kinds, gaps anywhere, and two labels."""
    n = draw(st.integers(4, 40))
    kinds = draw(st.lists(st.sampled_from(sorted(CELLS)), min_size=1, max_size=4))
    columns = {
        f"{kind} {place}": draw(st.lists(CELLS[kind], min_size=n, max_size=n)) for place, kind in enumerate(kinds)
    }
    data = pd.DataFrame({name: pd.Series(cells, dtype=object) for name, cells in columns.items()})
    labels = draw(st.lists(st.sampled_from("pq"), min_size=n, max_size=n))
    return data.assign(y=["p", "q", *labels[2:]])


@given(tables())
def test_any_table_with_gaps_is_fitted_and_predicts_its_own_rows(tmp_path_factory, data):
    path = written(data, tmp_path_factory.mktemp("any") / "t.csv")
    if data.drop(columns="y").isin([None, "?"]).all(axis=None):
        with pytest.raises(ValueError, match=r"no feature column is left|is empty"):
            fitted(path)
        return
    model = fitted(path)
    X = trained_on(model, path)
    assert X.shape == (len(data), model.preparation.width)
    assert np.isfinite(X).all()
    labels, counts = predicted(model, path)
    assert labels == model.estimator.predict(X).tolist()
    assert counts.incomplete == 0
    assert counts.unknown == {}


@pytest.mark.parametrize("missing", ["impute", "mean"])
def test_predict_says_how_many_values_it_imputed(missing, tmp_path, run):
    data = gappy()
    written(data, tmp_path / "t.csv")
    assert run("fit", "t.csv", "--target", "y", "--certify", 0, "--missing", missing, "-o", "t.sx")[0] == 0
    new = data.iloc[:100].assign(size=[None, *["s"] * 99])
    written(new, tmp_path / "new.csv")
    status, out, err = run("predict", "t.sx", "new.csv")
    gone = new[["a", "whole", "full", "colour", "size"]].isna().sum().sort_values(ascending=False, kind="stable")
    shown = ", ".join(f"{name} {n}" for name, n in gone.items() if n)
    assert (status, err) == (0, f"missing values imputed: {shown}\n")
    assert len(out.splitlines()) == 101
    written(data.dropna(), tmp_path / "full.csv")
    assert run("predict", "t.sx", "full.csv")[2] == ""


def test_rows_without_a_prediction_are_not_counted_as_imputed(tmp_path, run):
    data = gappy()
    written(data, tmp_path / "t.csv")
    assert run("fit", "t.csv", "--target", "y", "--certify", 0, "--missing", "drop", "-o", "t.sx")[0] == 0
    status, _, err = run("predict", "t.sx", "t.csv")
    assert status == 0
    assert "imputed" not in err


def test_columns_with_the_same_gaps_have_an_indicator_each_as_in_scikit_learn(tmp_path):
    data = gappy()
    data["b"] = data.a.isna().map({True: None, False: 2.5}) * data.full
    source = written(data[["a", "b", "full", "y"]], tmp_path / "t.csv")
    model = fitted(source, scale="none")
    assert model.preparation.names == ["a", "b", "full", "a missing", "b missing"]
    expected = SimpleImputer(strategy="median", add_indicator=True).fit_transform(data[["a", "b", "full"]])
    np.testing.assert_allclose(matrix(model, source), expected, rtol=1e-12)
    new = written({"a": [None, 1.5], "b": [1.5, None], "full": [0.5, 0.5], "y": ["p", "q"]}, tmp_path / "new.csv")
    assert matrix(model, new)[:, 3:].tolist() == [[1, 0], [0, 1]]
