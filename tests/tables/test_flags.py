"""Labels that are true and false: booleans in the model, and in predictions written as the file has them."""

from __future__ import annotations

import csv
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import separatrix as sx
from small_tables import fitted, predicted, written

N = 60
X = np.array([(7 * k) % 40 - 19.5 for k in range(N)])
SPELLINGS = [("False", "True"), ("FALSE", "TRUE"), ("false", "true")]


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("more", [{}, {"when": [f"{1 + k % 28}.{1 + k % 12}.2024" for k in range(N)]}])
def test_predictions_are_written_as_the_labels_of_the_file(spelling, more, tmp_path, run):
    labels = [spelling[int(x > 0)] for x in X]
    path = written({"x": X, **more, "y": labels}, tmp_path / "t.csv")
    status, _, err = run("fit", "t.csv", "--target", "y", "--certify", 0, "--test", 0)
    assert status == 0, err
    model = sx.load("t.sx")
    assert model.classes_.tolist() == [False, True]  # as read by pandas
    assert model.predict(pd.read_csv(path)).dtype == bool
    status, out, err = run("predict", "t.sx", "t.csv", "--proba", "--keep", "y")
    assert status == 0, err
    rows = list(csv.DictReader(io.StringIO(out)))
    assert list(rows[0]) == ["y", "prediction", f"proba_{spelling[0]}", f"proba_{spelling[1]}"]
    assert {row["prediction"] for row in rows} == set(spelling)
    assert sum(row["prediction"] == label for row, label in zip(rows, labels, strict=True)) > 55
    status, out, err = run("evaluate", "t.sx", "t.csv")
    assert status == 0, err
    again = fitted(path)
    assert again.facts.flags == spelling
    assert type(again.facts).from_dict(again.facts.to_dict()) == again.facts


def test_several_spellings_in_one_file_are_two_labels(tmp_path):
    labels = [SPELLINGS[k % 3][int(x > 0)] for k, x in enumerate(X)]
    model = fitted(written({"x": X, "y": labels}, tmp_path / "t.csv"))
    assert model.classes_.tolist() == [False, True]
    assert len(model.facts.flags) == 2


def test_booleans_of_a_typed_table_stay_booleans():
    table = pa.table({"x": X, "y": X > 0})
    model = fitted(table)
    assert model.facts.flags == ()
    assert set(predicted(model, table)[0]) == {False, True}
