"""AROW and SCW on the command line: fit, predict, update, tune, compare, export, trace."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app


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


@pytest.mark.parametrize(
    ("model", "options"),
    [("arow", ["--param", "r=3", "--param", "covariance=full"]), ("scw", ["--param", "eta=0.8"])],
)
def test_a_model_is_fitted_updated_and_exported(table, model, options):
    done(run("fit", "t.csv", "--target", "kind", "--model", model, "--epochs", 5, *options, "-o", "m.sx"))
    estimator = sx.load("m.sx").estimator
    assert type(estimator).__name__ == {"arow": "AROW", "scw": "SCW"}[model]
    spread = estimator._states[0].spread
    assert spread.shape == ((4, 4) if model == "arow" else (4,))
    done(run("update", "m.sx", "new.csv"))
    later = sx.load("m.sx").estimator._states[0].spread
    assert np.trace(np.atleast_2d(later)) <= np.trace(np.atleast_2d(spread))
    assert not np.array_equal(later, spread)
    assert "accuracy" in done(run("evaluate", "m.sx", "new.csv")).lower()
    done(run("export", "m.sx", "-o", "m.json"))
    done(run("predict", "m.sx", "new.csv", "-o", "p.csv"))
    predicted = pd.read_csv("p.csv").iloc[:, -1]
    assert (predicted.to_numpy() == table["kind"][100:].to_numpy()).mean() > 0.85


@pytest.mark.parametrize(("model", "parameter"), [("arow", "r"), ("scw", "C")])
def test_tune_chooses_their_parameter(table, model, parameter):
    found = run("fit", "t.csv", "--target", "kind", "--model", model, "--epochs", 2, "--tune", "--json")
    assert found.exit_code == 0, found.output
    assert parameter in json.dumps(json.loads(found.stdout))
    result = run("fit", "t.csv", "--target", "kind", "--model", model, "--tune", "--param", f"{parameter}=2")
    assert f"--tune chooses {parameter} for --model {model}: leave --param {parameter} out" in str(result.exception)


def test_they_are_compared(table):
    text = done(run("compare", "t.csv", "--target", "kind", "--models", "arow,scw,pa", "--epochs", 3))
    assert all(name in text for name in ("arow", "scw", "pa"))


def test_every_step_of_arow_is_exact(table):
    text = done(run("trace", "lecture-000", "--rule", "arow", "--r", "1/2", "--covariance", "full", "--max-iter", 1))
    assert "/" in text
    text = done(run("trace", "lecture-000", "--rule", "scw1", "--eta", 0.95, "--max-iter", 1, "--digits", 3))
    assert "." in text
    result = run("trace", "lecture-000", "--rule", "scw1", "--eta", 0.3)
    assert "eta must be above 0.5 and at most 1" in str(result.exception)


def test_a_bad_parameter_is_one_sentence_and_no_file(table, tmp_path):
    result = run("fit", "t.csv", "--target", "kind", "--model", "scw", "--param", "eta=0.5", "-o", "m.sx")
    assert "eta must be above 0.5 and at most 1, as it is a confidence; found 0.5" in str(result.exception)
    assert not (tmp_path / "m.sx").exists()
