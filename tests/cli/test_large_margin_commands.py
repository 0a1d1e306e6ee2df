"""ROMMA, ALMA, the second-order perceptron and NHERD on the command line: fit, update, tune, compare, export, trace."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app

MODELS = {"romma": "ROMMA", "alma": "ALMA", "sop": "SecondOrderPerceptron", "nherd": "NHERD"}


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


def done(result):
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150, 3))
    kind = np.where(X @ [1.0, -2.0, 0.5] + 0.2 * rng.standard_normal(150) > 0, "up", "down")
    data = pd.DataFrame(X, columns=["a", "b", "c"]).assign(kind=kind)
    data[:100].to_csv("t.csv", index=False)
    data[100:].to_csv("new.csv", index=False)
    return data


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_fitted_updated_and_exported(table, model):
    done(run("fit", "t.csv", "--target", "kind", "--model", model, "--epochs", 5, "-o", "m.sx"))
    estimator = sx.load("m.sx").estimator
    assert type(estimator).__name__ == MODELS[model]
    done(run("update", "m.sx", "new.csv"))
    assert not np.array_equal(sx.load("m.sx").estimator.coef_, estimator.coef_)
    assert "accuracy" in done(run("evaluate", "m.sx", "new.csv")).lower()
    for name in ("m.json", "m.sql", "m.c", "m.onnx"):
        done(run("export", "m.sx", "-o", name))
    done(run("predict", "m.sx", "new.csv", "-o", "p.csv"))
    predicted = pd.read_csv("p.csv").iloc[:, -1]
    assert (predicted.to_numpy() == table["kind"][100:].to_numpy()).mean() > 0.85


@pytest.mark.parametrize(
    ("model", "parameter", "value"),
    [("alma", "alpha", 0.5), ("sop", "a", 1), ("nherd", "C", 1), ("romma", "epochs", 5)],
)
def test_tune_chooses_their_parameter(table, model, parameter, value):
    words = ("fit", "t.csv", "--target", "kind", "--model", model, "--tune")
    found = run(*words, *(() if parameter == "epochs" else ("--epochs", 2)), "--json")
    assert found.exit_code == 0, found.output
    tuned = json.dumps(json.loads(found.stdout))
    assert f'"{parameter}"' in tuned
    given, option = (("--epochs", value), "--epochs") if parameter == "epochs" else (
        ("--param", f"{parameter}={value}"), f"--param {parameter}"
    )  # fmt: skip
    assert f"--tune chooses {parameter} for --model {model}: leave {option} out" in str(run(*words, *given).exception)


def test_they_are_compared(table):
    text = done(run("compare", "t.csv", "--target", "kind", "--models", ",".join(MODELS), "--epochs", 3))
    assert all(name in text for name in MODELS)


def test_every_step_of_romma_and_of_the_second_order_perceptron_is_exact(table):
    text = done(run("trace", "lecture-000", "--rule", "romma", "--max-iter", 1))
    assert "/" in text
    text = done(run("trace", "lecture-000", "--rule", "sop", "--a", "1/3", "--covariance", "full", "--max-iter", 1))
    assert "/" in text
    text = done(run("trace", "lecture-000", "--rule", "alma", "--alpha", "0.5", "--max-iter", 1, "--digits", 3))
    assert "." in text
    result = run("trace", "lecture-000", "--rule", "alma", "--alpha", "2")
    assert "alpha must be above 0 and at most 1; found 2.0" in str(result.exception)


@pytest.mark.parametrize(
    ("model", "given", "message"),
    [
        ("alma", "alpha=1.5", "alpha must be a number from 1e-150 to 1; found 1.5"),
        ("sop", "a=0", "a must be a positive number from 1e-150 to 1e150; found 0"),
        ("nherd", "C=-1", "C must be a positive number from 1e-150 to 1e150; found -1"),
        ("romma", "aggressive=3", "--param aggressive must be true or false; found 3"),
    ],
)
def test_a_bad_parameter_is_one_sentence_and_no_file(table, tmp_path, model, given, message):
    result = run("fit", "t.csv", "--target", "kind", "--model", model, "--param", given, "-o", "m.sx")
    assert message in str(result.exception)
    assert not (tmp_path / "m.sx").exists()
