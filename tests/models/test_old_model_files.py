"""Model files that version 0.1 wrote are read and predict the same. They are in tests/models/models_0_1."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import separatrix as sx

FOLDER = Path(__file__).parent / "models_0_1"
EXPECTED = json.loads((FOLDER / "expected.json").read_text())
TABLES = sorted(path.stem for path in FOLDER.glob("table-*.sx"))


def test_every_kind_of_model_is_among_them():
    assert len(EXPECTED) >= 15
    assert len(TABLES) >= 11


@pytest.mark.parametrize("name", EXPECTED)
def test_an_old_estimator_predicts_the_same(name):
    model, kept = sx.load(FOLDER / f"{name}.sx"), EXPECTED[name]
    rows = np.array(kept["rows"])
    assert model.predict(rows).tolist() == kept["predict"]
    np.testing.assert_allclose(model.decision_function(rows), kept["scores"], rtol=1e-9, atol=1e-9)


def test_the_weights_of_an_old_perceptron_are_those_of_its_state():
    model = sx.load(FOLDER / "perceptron-last.sx")
    assert [state.unit for state in model._states] == [1.0] * len(model._states)
    assert np.array_equal(model.coef_, [state.weights for state in model._states])


def test_an_old_model_of_several_classes_was_learned_one_vs_rest():
    model = sx.load(FOLDER / "perceptron-last.sx")
    assert model.multi_class == "ovr"
    model.partial_fit(np.zeros((1, model.n_features_in_)), model.classes_[:1])


def test_a_machine_with_a_solver_is_one_of_two_machines():
    online = [sx.load(FOLDER / f"linear-svm-{name}.sx") for name in ("online", "online-partial")]
    dual = [sx.load(FOLDER / f"linear-svm{name}.sx") for name in ("", "-cut", "-hard")]
    assert all(type(model) is sx.OnlineSVM and "solver" not in vars(model) for model in online)
    assert all(type(model) is sx.LinearSVM and "step" not in vars(model) for model in dual)
    online[0].partial_fit(np.zeros((1, online[0].n_features_in_)), online[0].classes_[:1])


@pytest.mark.parametrize("name", TABLES)
def test_an_old_model_of_a_table_predicts_the_same(run, name, tmp_path):
    status, _, error = run("predict", FOLDER / f"{name}.sx", FOLDER / "rows.csv", "--scores", "-o", "out.csv")
    assert status == 0, error
    found, kept = (_cells(path) for path in (tmp_path / "out.csv", FOLDER / f"{name}.csv"))
    assert [row[0] for row in found] == [row[0] for row in kept]
    for row, old in zip(found[1:], kept[1:], strict=True):
        np.testing.assert_allclose([float(cell or 0) for cell in row[1:]], [float(c or 0) for c in old[1:]],
                                   rtol=1e-9, atol=1e-9)  # fmt: skip
    assert run("inspect", FOLDER / f"{name}.sx")[0] == 0


def _cells(path):
    return [line.split(",") for line in path.read_text().splitlines()]
