"""``--tune --within``: the choice of C and what is proved about it, in the model and its summary."""

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from typer.testing import CliRunner

from separatrix.cli.app import app
from separatrix.models.model_file import load, save
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.decision_lines import decision_lines
from separatrix.tables.facts import TuningRecord
from separatrix.tables.fit import fit
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.in_memory import TableInMemory


def table(n=160, classes=2):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    score = data.a - data.b + rng.normal(0, 1.0, n)
    data["label"] = np.array(["no", "yes", "so"])[np.digitize(score, [0.0, 1.0][: classes - 1])]
    return data


def fitted(data, **settings):
    given = Settings(certify=0.0, **settings)
    return fit(
        TableInMemory(pa.Table.from_pandas(data, preserve_index=False), "table"),
        ColumnOptions("label"),
        given,
        MemoryBudget(),
    ).model


@pytest.mark.parametrize("name", ["svm", "logistic"])
def test_no_c_of_the_grids_range_is_better_by_more(name):
    model = fitted(table(), model=name, tune=True, within=0.03)
    tuning = model.facts.tuning
    assert tuning.parameter == "C"
    assert tuning.metric == "accuracy"
    assert 0.0 <= tuning.distance <= 0.03
    assert (min(tuning.values), max(tuning.values)) == (0.01, 100.0)
    assert model.estimator.C == tuning.best == tuning.values[int(np.argmax(tuning.means))]
    lines = decision_lines(model)
    assert lines[0].startswith(f"Tuned C = {tuning.best:.4g}, the best of {len(tuning.values)} (accuracy ")
    assert lines[1].startswith("Proved: no C from 0.01 to 100 has a cross-validation accuracy higher by more than 0.0")


def test_the_model_need_not_be_named(tmp_path):
    table().to_csv(tmp_path / "t.csv", index=False)
    words = ["fit", str(tmp_path / "t.csv"), "--tune", "--within", "0.05", "--certify", "0"]
    result = CliRunner().invoke(app, [*words, "--target", "label", "-o", str(tmp_path / "m.sx")])
    assert result.exit_code == 0, result.output
    assert "Logistic regression" in result.output
    assert "Proved: no C from 0.01 to 100" in " ".join(result.output.split())


def test_rows_on_disk_are_refused_by_the_option_and_not_by_the_model_for_them(monkeypatch):
    monkeypatch.setattr("separatrix.tables.disk.rowfile.GROUP", 64)
    source = TableInMemory(pa.Table.from_pandas(table(), preserve_index=False), "table")
    settings = Settings("logistic", certify=0.0, tune=True, within=0.05)
    with pytest.raises(ValueError, match=r"^--tune needs all training rows in memory, and these rows are on disk"):
        fit(source, ColumnOptions("label"), settings, MemoryBudget(memory=1), on_disk_model="averaged")


def test_a_time_limit_ends_the_search_and_what_is_proved_by_then_is_said():
    model = fitted(table(), model="svm", tune=True, within=0.0001, time_limit=1e-6)
    tuning = model.facts.tuning
    assert tuning.ended == "time"
    assert tuning.values == (0.01,)
    assert tuning.distance > 0.0001
    assert decision_lines(model)[2].startswith("The time limit ended the search before as much as asked for was proved")


@pytest.mark.parametrize("asked", [{"within": 0.0001}, {}])
def test_ctrl_c_keeps_the_best_of_what_was_tried(asked):
    calls = []

    def watch(stage, **numbers):
        calls.append(stage)
        if (stage, calls.count(stage)) in (("prove", 4), ("fold", 18)):
            raise KeyboardInterrupt

    source = TableInMemory(pa.Table.from_pandas(table(), preserve_index=False), "table")
    settings = Settings("logistic" if asked else "svm", certify=0.0, tune=True, **asked)
    result = fit(source, ColumnOptions("label"), settings, MemoryBudget(), watch=watch)
    tuning = result.model.facts.tuning
    assert result.interrupted
    assert len(tuning.values) == (4 if asked else 3)
    assert (tuning.ended, tuning.distance) == ("interrupted", None)
    assert result.model.estimator.C == tuning.best == tuning.values[int(np.argmax(tuning.means))]
    assert decision_lines(result.model)[-1] == "Ctrl-C ended the search."


def test_the_grid_is_what_it_was_without_within():
    tuning = fitted(table(), model="logistic", tune=True).facts.tuning
    assert len(tuning.values) == 9
    assert tuning.distance is None


def test_the_proof_is_kept_in_the_model_file(tmp_path):
    model = fitted(table(), model="logistic", tune=True, within=0.05)
    save(model, tmp_path / "model.sx")
    again = load(tmp_path / "model.sx")
    assert again.facts.tuning == model.facts.tuning
    assert decision_lines(again) == decision_lines(model)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "svm", "within": 0.01}, "--within says how near to the best --tune must come: give both"),
        ({"model": "averaged", "tune": True, "within": 0.01}, "--within needs --model svm or logistic; found"),
        ({"model": "svm", "tune": True, "within": 0.0}, "--within must be a number between 0 and 1, such as"),
        ({"model": "svm", "tune": True, "within": float("nan")}, "--within must be a number between 0 and 1"),
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused(settings, message):
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        Settings(**settings)
    assert str(caught.value).startswith(message)


def test_classes_that_are_learned_together_are_refused():
    data = table(classes=3)
    with pytest.raises(ValueError, match="--within needs one plane for each class"):
        fitted(data, model="logistic", tune=True, within=0.05)
    rest = fitted(data, model="logistic", tune=True, within=0.2, parameters={"multi_class": "ovr"})
    assert rest.facts.tuning.distance <= 0.2


def test_a_damaged_proof_is_refused():
    good = {"parameter": "C", "metric": "accuracy", "folds": 5, "values": (1.0,), "means": (0.5,), "deviations": (0.1,)}
    assert TuningRecord(**good, best=1.0, distance=0.25).distance == 0.25
    for distance in (-0.1, 1.5, "0.1", float("nan")):
        with pytest.raises(ValueError, match="a tuning has proved what cannot be"):
            TuningRecord(**good, best=1.0, distance=distance)


def test_an_l1_penalty_is_refused():
    with pytest.raises(ValueError, match=r"^--within needs an L2 penalty, .*; found l1_ratio=1$"):
        fitted(table(), model="logistic", tune=True, within=0.01, parameters={"l1_ratio": 1.0})
