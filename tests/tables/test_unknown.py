"""Categories that a model was not trained on: none of the known ones, no prediction, or an error, by choice."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest

from separatrix import load
from small_tables import matrix, predicted, written

N = 90


@pytest.fixture
def model(run, tmp_path):
    """Return a model of two categories and a number, in the file ``t.sx``."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"colour": rng.choice(["red", "blue"], N), "size": rng.choice(["s", "m", "l"], N)})
    data["x"] = rng.normal(size=N).round(3)
    data["y"] = np.where(data.x + (data.colour == "red") > 0.5, "p", "q")
    written(data, tmp_path / "t.csv")
    status, _, err = run("fit", "t.csv", "--target", "y", "--model", "averaged", "--certify", 0, "--test", 0)
    assert status == 0, err
    return load("t.sx")


@pytest.fixture
def new(tmp_path):
    """Return rows of which three have categories never seen, one of them two."""
    data = {
        "colour": ["red", "pink", "blue", "grey", "red"], "size": ["s", "m", "xxl", "tiny", None],
        "x": [0.1, 0.2, 0.3, 0.4, 0.5], "y": ["p", "q", "p", "q", "p"],
    }  # fmt: skip
    return written(data, tmp_path / "new.csv")


def test_by_default_an_unknown_category_is_none_of_the_known_ones_and_counted(model, new, run):
    X = matrix(model, new)
    names = model.preparation.names
    colours, sizes = ([k for k, name in enumerate(names) if name.startswith(each)] for each in ("colour=", "size="))
    assert X[:, colours].sum(axis=1).tolist() == [1, 0, 1, 0, 1]
    assert X[:, sizes].sum(axis=1).tolist() == [1, 1, 0, 0, 0]
    labels, counts = predicted(model, new)
    assert labels == model.estimator.predict(X).tolist()
    assert counts.unknown == {"colour": 2, "size": 2}
    assert counts.incomplete == 0
    status, out, err = run("predict", "t.sx", "new.csv")
    assert (status, out.split()[1:]) == (0, labels)
    assert err == (
        "missing values imputed: size 1\n"
        "unknown categories, encoded as none of the known ones: colour 2, size 2 (--unknown)\n"
    )
    assert run("predict", "t.sx", "new.csv", "--unknown", "zero")[1] == out


def test_null_leaves_such_rows_without_a_prediction(model, new, run):
    labels, counts = predicted(model, new, unknown="null")
    known = predicted(model, new)[0]
    assert labels == [known[0], None, None, None, known[4]]
    assert counts.incomplete == 3
    status, out, err = run("predict", "t.sx", "new.csv", "--unknown", "null", "--json")
    assert [json.loads(line)["prediction"] for line in out.splitlines()] == labels
    assert (status, err) == (
        0,
        "missing values imputed: size 1\n"
        "unknown categories, no prediction: colour 2, size 2 (--unknown)\n"
        "3 of 5 rows have missing values or unknown categories and no prediction\n",
    )


def test_values_of_rows_without_a_prediction_are_not_counted_as_imputed(model, tmp_path):
    data = {"colour": ["red", "pink"], "size": [None, None], "x": [0.1, 0.2]}
    new = written(data, tmp_path / "new.csv")
    assert predicted(model, new)[1].imputed == {"size": 2}
    assert predicted(model, new, unknown="null")[1].imputed == {"size": 1}


def test_fail_names_the_first(model, new, run):
    status, out, err = run("predict", "t.sx", "new.csv", "--unknown", "fail")
    assert (status, out) == (2, "")
    assert err == (
        "separatrix: new.csv, row 2, column 'colour': the model was not trained on the category 'pink'; it knows "
        "'blue', "
        "'red' (--unknown zero encodes it as none of these, --unknown null leaves the row without a prediction)\n"
    )


@pytest.mark.parametrize("command", ["evaluate", "update", "report"])
def test_other_commands_do_the_same_and_count_them(model, new, run, command):
    more = ["-o", "out.html"] if command == "report" else ["-o", "u.sx"] if command == "update" else []
    status, _, err = run(command, "t.sx", "new.csv", *more)
    assert (status, err) == (0, "unknown categories, encoded as none of the known ones: colour 2, size 2 (--unknown)\n")
    status, _, err = run(command, "t.sx", "new.csv", "--unknown", "fail", *more)
    assert status == 2
    assert "row 2, column 'colour': the model was not trained on the category 'pink'" in err
    status, out, err = run(command, "t.sx", "new.csv", "--unknown", "null", *more)
    assert (status, err) == (0, "unknown categories, no prediction: colour 2, size 2 (--unknown)\n")
    if command == "evaluate":
        assert "new.csv: 5 rows; skipped: 3 with missing values or unknown categories." in out
    if command == "update":
        assert "Trained on 2 rows, 3 dropped (missing values or unknown categories);" in out


def test_evaluate_scores_all_rows_by_default(model, new, run):
    found = json.loads(run("evaluate", "t.sx", "new.csv", "--json")[1])
    labels = predicted(model, new)[0]
    assert found["rows"] == 5
    assert found["accuracy"] == np.mean(np.array(labels) == np.array(["p", "q", "p", "q", "p"]))
    assert found["unknown_categories"] == {"colour": 2, "size": 2}


def test_known_categories_are_not_counted(model, run):
    status, _, err = run("predict", "t.sx", "t.csv")
    assert (status, err) == (0, "")


def test_the_same_text_in_another_notation_is_known(run, tmp_path):
    data = {"code": [1, 2, 3] * 30, "flag": [True, False] * 45, "y": ["p", "q"] * 45}
    written(data, tmp_path / "t.csv")
    assert run("fit", "t.csv", "--target", "y", "--category", "code", "--certify", 0, "--test", 0)[0] == 0
    frame = pd.DataFrame({"code": [1.0, 2.0, 7.0], "flag": [1, 0, 1], "y": ["p"] * 3})
    found = load("t.sx")
    X = matrix(found, frame)
    assert X[:, :3].tolist() == [[1, 0, 0], [0, 1, 0], [0, 0, 0]]
    assert predicted(found, frame)[1].unknown == {"code": 1}
