"""``separatrix plot --kind path``: the weights after each epoch, trained again."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from typer.testing import CliRunner

import separatrix as sx
from separatrix.cli.app import app
from separatrix.cli.training_path import training_path
from separatrix.tables.sources.opening import open_source
from separatrix.tables.whole import read_training


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    x = rng.normal(size=(80, 3))
    kinds = np.where(x @ [2.0, -1.0, 0.3] + rng.normal(scale=0.7, size=80) > 0, "p", "q")
    lines = ["a,b,c,kind", *(",".join([*map(repr, row), kind]) for row, kind in zip(x.tolist(), kinds, strict=True))]
    (tmp_path / "t.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def run(*words):
    return CliRunner().invoke(app, [str(word) for word in words])


@pytest.mark.parametrize(
    "model", ["perceptron", "averaged", "pocket", "neuron", "online-svm", "pa", "arow", "scw", "romma", "alma", "sop"]
)
def test_the_path_starts_at_zero_and_ends_at_the_weights_of_the_model(table, model):
    assert run("fit", "t.csv", "--target", "kind", "--model", model, "--epochs", 6, "-o", "m.sx").exit_code == 0
    assert run("plot", "m.sx", "t.csv", "--kind", "path", "-o", "p.png").exit_code == 0
    assert (table / "p.png").stat().st_size > 10_000
    fitted = sx.load(table / "m.sx")
    with open_source("t.csv") as source:
        rows = read_training(fitted, source)
    path = training_path(fitted, rows.X, rows.y, rows.weights)
    assert path.shape == (fitted.estimator.n_iter_ + 1, 4)
    assert not path[0].any()
    assert path[-1].tolist() == [*fitted.estimator.coef_[0], *fitted.estimator.intercept_]
    once = fitted.estimator.__class__(**{**fitted.estimator.get_params(), "max_iter": 1, "stop": None})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        once.fit(rows.X, rows.y)
    assert path[1].tolist() == [*once.coef_[0], *once.intercept_]


@pytest.mark.parametrize(("model", "name"), [("svm", "LinearSVM"), ("voted", "Perceptron")])
def test_models_without_a_path_are_refused(table, model, name):
    assert run("fit", "t.csv", "--target", "kind", "--model", model, "-o", "m.sx").exit_code == 0
    result = run("plot", "m.sx", "t.csv", "--kind", "path", "-o", "p.png")
    assert f"which this {name} does not have" in str(result.exception)


def test_another_start_than_zero_is_not_drawn_as_zero(table):
    fit = ("fit", "t.csv", "--target", "kind", "--model", "perceptron", "--param", "init=uniform", "-o", "m.sx")
    assert run(*fit).exit_code == 0
    assert "this model started elsewhere" in str(run("plot", "m.sx", "t.csv", "--kind", "path").exception)
