"""From a table to a model: the same as the same steps in scikit-learn; frames, and files of many kinds."""

from __future__ import annotations

import json
import weakref
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.compose import ColumnTransformer
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

import separatrix as sx
from mixed_table import DISK, NUMBERS, fitted, frame, predictions, written
from separatrix.models.model_file import load, save
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.disk import rowfile
from separatrix.tables.fit import fit
from separatrix.tables.predict import PredictionCounts, PredictOptions, predict
from separatrix.tables.preparation import standard
from separatrix.tables.settings import Settings
from separatrix.tables.sources.in_memory import TableInMemory
from separatrix.tables.sources.opening import open_source
from separatrix.tables.split import TestSplit


def prepared(scaler=None, imputer=None, *, indicator: bool = False) -> ColumnTransformer:
    """Return the same steps in scikit-learn; with ``indicator``, a feature says where a number was missing."""
    numbers = make_pipeline(imputer or "passthrough", scaler or StandardScaler())
    categories = OneHotEncoder(handle_unknown="ignore", sparse_output=False)
    gaps = [("gaps", MissingIndicator(error_on_new=False), NUMBERS)] if indicator else []
    return ColumnTransformer([("n", numbers, NUMBERS), *gaps, ("c", categories, ["colour", "size"])])


MODELS = {
    "averaged": sx.Perceptron(readout="averaged", max_iter=50, random_state=0),
    "perceptron": sx.Perceptron(max_iter=50, random_state=0),
    "voted": sx.Perceptron(readout="voted", max_iter=50, random_state=0),
    "pocket": sx.Perceptron(readout="pocket", max_iter=50, random_state=0),
    "neuron": sx.Neuron(loss="log", eta0=0.1, learning_rate="adaptive", max_iter=200, random_state=0),
    "svm": sx.LinearSVM(random_state=0),
    "logistic": sx.LogisticRegression(),
    "kernel-svm": sx.KernelSVM(),
    "network": sx.Network(hidden=(8,), max_iter=40, random_state=0),
}


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_labels_are_those_of_the_same_steps_in_scikit_learn(model, missing, tmp_path):
    data = frame()
    name = written(data, tmp_path)
    epochs = 40 if model == "network" else None
    options = ColumnOptions("kind") if missing == "impute" else ColumnOptions("kind", missing=missing)
    found = fitted(name, options, Settings(model, certify=0, epochs=epochs)).model
    whole = data.dropna() if missing == "drop" else data
    assert found.facts.rows.dropped == len(data) - len(whole)
    train, test = train_test_split(np.arange(len(whole)), test_size=0.2, random_state=0, stratify=whole.kind)
    train, test = np.sort(train), np.sort(test)
    X = whole.drop(columns="kind")
    steps = prepared(imputer=SimpleImputer(strategy="median"), indicator=True) if missing == "impute" else prepared()
    steps.fit(X.iloc[train])
    assert found.preparation.width == steps.transform(X).shape[1] == (4 + 1 + 3 + 5 if missing == "impute" else 11)
    estimator = MODELS[model].fit(steps.transform(X.iloc[train]), whole.kind.to_numpy()[train])
    expected = estimator.predict(steps.transform(X)).tolist()
    assert [label for label in predictions(found, name) if label is not None] == expected
    right = np.mean(np.array(expected)[test] == whole.kind.to_numpy()[test])
    assert found.facts.test.accuracy == right
    save(found, tmp_path / "m.sx")
    assert predictions(load(tmp_path / "m.sx"), name) == predictions(found, name)
    assert load(tmp_path / "m.sx").predict(X).tolist() == expected


def test_the_neuron_comes_near_the_loss_of_logistic_regression_by_default(tmp_path):
    data = frame(1000).dropna()
    name = written(data, tmp_path)
    X = prepared().fit_transform(data.drop(columns="kind"))

    def loss(estimator):
        signs = np.where(data.kind.to_numpy()[:, None] == estimator.classes_, 1.0, -1.0)
        return np.logaddexp(0.0, -signs * estimator.decision_function(X)).mean(axis=0).sum()

    models = [
        fitted(name, settings=Settings(model, certify=0, test=0)).model.estimator for model in ("neuron", "logistic")
    ]
    assert loss(models[0]) <= 1.001 * loss(models[1])
    slow = fitted(name, settings=Settings("neuron", certify=0, test=0, parameters={"eta0": 0.01})).model.estimator
    assert slow.learning_rate == "constant"
    assert loss(slow) > loss(models[0])


def test_means_and_minmax_are_those_of_scikit_learn(tmp_path):
    data = frame()
    data = data[data["size"].notna()]
    name = written(data, tmp_path)
    found = fitted(name, ColumnOptions("kind", missing="mean", scale="minmax"), Settings(certify=0, test=0)).model
    X = data.drop(columns="kind")
    steps = prepared(MinMaxScaler(), SimpleImputer()).fit(X)
    estimator = MODELS["averaged"].fit(steps.transform(X), data.kind.to_numpy())
    assert predictions(found, name) == estimator.predict(steps.transform(X)).tolist()
    assert found.estimator.coef_.tolist() == estimator.coef_.tolist()


def test_words_are_those_of_scikit_learn(tmp_path):
    rng = np.random.default_rng(0)
    words = ["cheap", "offer", "now", "meeting", "agenda", "tomorrow", "lunch"]
    kind = rng.choice(["spam", "ham"], 80)
    body = [" ".join(rng.choice(words[:4] if each == "spam" else words[3:], 6)) for each in kind]
    data = pd.DataFrame({"body": body, "kind": kind})
    name = written(data, tmp_path)
    found = fitted(name, ColumnOptions("kind", text=("body",)), Settings(certify=0, test=0)).model
    vectoriser = TfidfVectorizer(ngram_range=(1, 2))
    estimator = MODELS["averaged"].fit(vectoriser.fit_transform(body), kind)
    assert found.preparation.names == [f"body: {word}" for word in vectoriser.get_feature_names_out()]
    assert predictions(found, name) == estimator.predict(vectoriser.transform(body)).tolist()


@given(st.integers(2, 400), st.integers(2, 40), st.integers(0, 2**32 - 1))
def test_numbers_are_scaled_to_the_bit_as_scikit_learn_scales_a_frame(n, d, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 10.0 ** rng.integers(-6, 7, d) + 10.0 ** rng.integers(-6, 7, d)
    X[:, 0] = 0.1
    X = np.concatenate([X] * (1 + seed % 4))
    found = StandardScaler().fit(np.asfortranarray(X))  # as a frame that was read from a file has it
    mean, spread = standard(X)
    assert np.array_equal(mean, found.mean_)
    assert np.array_equal(spread, found.scale_)


# ---------------------------------------------------------------------------------------------- frames


def test_a_model_answers_frames(tmp_path):
    import polars as pl
    import pyarrow as pa

    data = frame()
    name = written(data, tmp_path)
    model = fitted(name).model
    expected = predictions(model, name)
    assert None not in expected
    assert model.predict(data).tolist() == expected
    assert model.predict(pa.Table.from_pandas(data)).tolist() == expected
    assert model.predict(pl.from_pandas(data)).tolist() == expected
    assert model.decision_function(data).shape == (len(data), 3)
    with pytest.raises(ValueError, match="the table has no column 'a', which the model was trained on"):
        model.predict(data.drop(columns="a"))
    pink = data.assign(colour="pink")
    assert model.predict(pink).tolist() == predictions(model, written(pink, tmp_path, "pink.csv"))


def test_a_model_that_drops_rows_answers_complete_frames(tmp_path):
    data = frame()
    name = written(data, tmp_path)
    model = fitted(name, ColumnOptions("kind", missing="drop")).model
    whole = data.dropna()
    assert model.predict(whole).tolist() == [label for label in predictions(model, name) if label is not None]
    with pytest.raises(ValueError, match="has missing values; drop such rows"):
        model.predict(data)


def test_a_table_in_memory_is_a_source():
    import pyarrow as pa

    table = pa.Table.from_pandas(frame(), preserve_index=False)
    found = fit(TableInMemory(table, "frame"), ColumnOptions("kind"), Settings(certify=1.0))
    assert found.model.facts.source == "frame"
    assert found.certificate is not None
    assert json.dumps(found.model.facts.to_dict())


# ---------------------------------------------------------------------------------------------- files of many kinds


def lines(folder: Path, text: str, name: str = "l.csv") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


@pytest.fixture
def small_looks(monkeypatch):
    """Take small files for large ones, whose first rows alone are looked at."""
    monkeypatch.setattr("separatrix.tables.sources.csv_files.CHEAP", 1000)
    monkeypatch.setattr("separatrix.tables.sources.dialect._ROWS", 150)


def test_first_rows_that_mislead_are_looked_at_again(tmp_path, small_looks):
    head = "k,c,y\n" + "".join(f"{i % 9},{i % 3},{'pq'[i % 2]}\n" for i in range(400))
    name = lines(tmp_path, head + "".join(f"1.5,{'uvw'[i % 3]},{'pq'[i % 2]}\n" for i in range(400)))
    found = fitted(name, ColumnOptions("y"), Settings(certify=0, test=0)).model
    assert found.preparation.names == ["k", "c=0", "c=1", "c=2", "c=u", "c=v", "c=w"]
    assert len(predictions(found, name)) == 800
    with open_source(name, sql="select k from data") as source:
        values = [value for batch in source.batches(["k"]) for value in batch.column(0).to_pylist()]
    assert values[-400:] == [1.5] * 400
    alone = fitted(name, ColumnOptions("y", exclude=("c",)), Settings(certify=0, test=0)).model
    assert len(predictions(alone, name)) == 800
    words = fitted(name, ColumnOptions("y", text=("c",), text_method="hashed"), Settings(certify=0, test=0)).model
    assert words.preparation.features[-1].role == "text"


@pytest.mark.parametrize(
    ("levels", "cell"),
    [("01 02 x", "01"), ("1.50 x y", "1.50"), ("true maybe x", "true"), ("2024-01-01 x y", "2024-01-01")],
)
def test_categories_are_read_as_text_when_a_file_of_them_looks_like_numbers(levels, cell, tmp_path):
    every = levels.split()
    name = lines(tmp_path, "c,a,y\n" + "".join(f"{every[i % 3]},{i % 7},{'pq'[i // 2 % 2]}\n" for i in range(60)))
    model = fitted(name, ColumnOptions("y"), Settings(certify=0, test=0)).model
    one = predictions(model, lines(tmp_path, f"c,a\n{cell},3\n", "one.csv"))
    same = [
        answer
        for answer, row in zip(predictions(model, name), range(60), strict=True)
        if every[row % 3] == cell and row % 7 == 3
    ]
    assert set(one) <= set(same)


def test_words_and_empty_columns_when_they_are_asked_about(tmp_path):
    name = lines(tmp_path, "t,a,y\n" + "".join(f"w{i % 4} v{i % 3},{i % 7},{'pq'[i % 2]}\n" for i in range(60)))
    model = fitted(name, ColumnOptions("y", text=("t",), missing="mean"), Settings(certify=0, test=0)).model
    assert len(predictions(model, lines(tmp_path, "t,a\n12345,1\ntrue,\n", "o.csv"))) == 2
    assert len(predictions(model, lines(tmp_path, "t,a\nw1,\n", "p.csv"))) == 1
    (tmp_path / "q.jsonl").write_text('{"t": "w1", "a": null}\n')
    assert len(predictions(model, tmp_path / "q.jsonl")) == 1


def test_labels_keep_their_names(tmp_path):
    zeros = lines(tmp_path, "a,y\n" + "".join(f"{i},{('007', '012')[i % 2]}\n" for i in range(30)))
    assert fitted(zeros, ColumnOptions("y"), Settings(certify=0, test=0)).model.classes_.tolist() == ["007", "012"]
    large = ("9007199254740993", "9007199254740992", "5")
    name = lines(tmp_path, "a,y\n" + "".join(f"{i},{large[i % 3]}\n" for i in range(30)))
    assert sorted(fitted(name, ColumnOptions("y"), Settings(certify=0, test=0)).model.classes_.tolist()) == sorted(
        map(int, large)
    )


def test_old_line_ends_are_read(tmp_path):
    (tmp_path / "cr.csv").write_bytes(
        b"a,y\r" + b"".join(b"%d,%s\r" % (i, b"pq"[i % 2 : i % 2 + 1]) for i in range(30))
    )
    assert fitted(tmp_path / "cr.csv", ColumnOptions("y"), Settings(certify=0)).model.facts.rows.read == 30


@pytest.mark.parametrize("first", [True, False])
def test_a_batch_without_a_complete_row_has_the_same_columns(first, tmp_path):
    from separatrix.cli.prediction_files import write_predictions

    good, gaps = "1,2,p\n2,1,q\n" * 40_000, ",2,p\n" * 70_000
    model = fitted(
        lines(tmp_path, "a,b,y\n" + "1,2,p\n2,1,q\n" * 20),
        ColumnOptions("y", missing="drop"),
        Settings(certify=0, test=0),
    ).model
    name = lines(tmp_path, "a,b,y\n" + (gaps + good if first else good + gaps), "m.csv")
    for ending in ("csv", "parquet", "jsonl"):
        with open_source(name) as source:
            tables = predict(model, source, PredictOptions(scores=True, keep=("b",)), PredictionCounts())
            write_predictions(tmp_path / f"o.{ending}", tables, as_json=False)
    out = pd.read_csv(tmp_path / "o.csv")
    assert list(out) == ["b", "prediction", "score"]
    assert out.prediction.isna().sum() == out.score.isna().sum() == 70_000
    assert pd.read_parquet(tmp_path / "o.parquet").prediction.isna().tolist() == out.prediction.isna().tolist()
    assert (tmp_path / "o.jsonl").read_text().count("\n") == 150_000


def test_kept_columns_do_not_meet_predictions(tmp_path):
    name = lines(tmp_path, "a,score,y\n" + "1,2,p\n2,1,q\n" * 20)
    model = fitted(name, ColumnOptions("y"), Settings(certify=0, test=0)).model
    already = pytest.raises(ValueError, match="already has a column 'score', so --keep cannot pass it through")
    with open_source(name) as source, already:
        list(predict(model, source, PredictOptions(scores=True, keep=("score",)), PredictionCounts()))


def test_updates_keep_the_labels_of_the_model(tmp_path):
    from separatrix.tables.update import update

    for first, later, classes in (
        ("0 1", "0.0 1.0", [0, 1]),
        ("false true", "0 1", [False, True]),
        ("0.5 7", "0.5 7", ["0.5", "7"]),
    ):
        name = lines(tmp_path, "a,y\n" + "".join(f"{i},{first.split()[i % 2]}\n" for i in range(20)))
        model = fitted(name, ColumnOptions("y"), Settings(certify=0, test=0)).model
        new = lines(tmp_path, "a,y\n" + "".join(f"{i},{later.split()[i % 2]}\n" for i in range(20)), "n.csv")
        with open_source(new) as source:
            result = update(model, source)
        assert result.new_classes == []
        assert model.classes_.tolist() == classes


def test_ctrl_c_while_rows_are_scored_keeps_the_model(tmp_path, monkeypatch):
    def stop(*given):
        raise KeyboardInterrupt

    monkeypatch.setattr("separatrix.tables.fit.Scores.add", stop)
    for budget in (None, DISK):
        found = fitted(written(frame(), tmp_path), settings=Settings(certify=0, epochs=2), budget=budget)
        assert found.interrupted
        assert found.model.estimator.coef_.shape[0] == 3


def test_numbers_that_float32_cannot_hold_are_told(tmp_path, monkeypatch):
    monkeypatch.setattr(rowfile, "GROUP", 0)
    name = lines(tmp_path, "a,y\n" + "".join(f"{i}e38,{'pq'[i % 2]}\n" for i in range(20)))
    with pytest.raises(ValueError, match=r"has a number beyond 3\.4e38, which rows on disk cannot hold"):
        fitted(name, ColumnOptions("y", scale="none"), Settings(certify=0), DISK)
    with pytest.raises(ValueError, match="column 'a' has numbers too large to be scaled"):
        fitted(
            lines(tmp_path, "a,y\n" + "".join(f"{i % 2 * 2 - 1}.7e308,{'pq'[i % 2]}\n" for i in range(20))),
            ColumnOptions("y"),
        )


def test_parameters_that_a_model_does_not_have_are_refused_before_anything_is_read(tmp_path):
    name, stages = written(frame(40), tmp_path), []
    with open_source(name) as source, pytest.raises(ValueError, match="has no parameter 'C'"):
        fit(
            source, ColumnOptions("kind"), Settings("averaged", parameters={"C": 3}),
            watch=lambda stage, **numbers: stages.append(stage),
        )  # fmt: skip
    assert stages == []


@pytest.mark.parametrize("budget", [None, DISK], ids=["memory", "disk"])
def test_labels_with_fractions_are_classes_sorted_by_name(budget, tmp_path):
    values = ("0.5", "7", "10", "-1.5", "-0.5")
    name = lines(tmp_path, "a,y\n" + "".join(f"{i % 5},{values[i % 5]}\n" for i in range(100)))
    model = fitted(name, ColumnOptions("y"), Settings(certify=0, epochs=30), budget).model
    assert model.classes_.tolist() == sorted(values)
    save(model, tmp_path / "m.sx")
    assert set(predictions(load(tmp_path / "m.sx"), name)) <= set(values)


def test_rows_are_let_go_of_once_they_are_prepared(tmp_path):
    from separatrix.tables.collect import collect
    from separatrix.tables.prepare import prepare

    with open_source(written(frame(3000), tmp_path)) as source:
        data = collect(source, ColumnOptions("kind"), limit=1 << 30, folder=tmp_path)
        held = weakref.ref(data.rows.raw.numbers if data.rows.raw.numbers.base is None else data.rows.raw.numbers.base)
        table = prepare(
            data, ColumnOptions("kind"), 0.2, 0, fingerprint=None, folder=tmp_path, watch=lambda *_, **__: 0
        )
    assert table.train.n + table.test.n == data.n_read - data.n_dropped
    assert held() is None


def test_an_update_minds_only_the_labels_of_rows_that_it_trains_on(tmp_path):
    from separatrix.tables.update import update

    data, rest = lines(tmp_path, "a,y\n" + "1,0\n2,1\n" * 20), "a,y\n1,0.0\n,0.5\n2,1.0\n"
    model = fitted(data, ColumnOptions("y", missing="drop"), Settings(certify=0, test=0)).model
    with open_source(lines(tmp_path, rest, "n.csv")) as source:
        assert update(model, source).dropped == 1
    model = fitted(data, ColumnOptions("y"), Settings(certify=0, test=0)).model
    refused = pytest.raises(ValueError, match=r"n\.csv: the label 0\.5 is not of the type of the classes, such as 0")
    with open_source(lines(tmp_path, rest, "n.csv")) as source, refused:
        update(model, source)  # the missing number is imputed


@pytest.mark.parametrize("budget", [None, DISK], ids=["memory", "disk"])
def test_a_class_that_is_only_in_the_test_set_is_told(budget, tmp_path):
    name = lines(tmp_path, "a,y\n" + "".join(f"{k},c{k % 40:02}\n" for k in range(80)))  # more classes than test rows
    labels = (np.arange(80) % 40).astype(np.int32)

    def absent(seed: int) -> list[int]:
        return np.setdiff1d(labels, labels[TestSplit(np.bincount(labels), 0.1, seed).rows(labels)[0]]).tolist()

    seed = next(seed for seed in range(1000) if absent(seed))
    message = rf"class 'c{absent(seed)[0]:02}' has no training row with --test 0\.1; use --test 0, or exclude"
    with pytest.raises(ValueError, match=message):
        fitted(name, ColumnOptions("y"), Settings(certify=0, test=0.1, seed=seed, epochs=1), budget)
