"""Numbers with one unit, as 12 km: read as numbers in fit and predict; codes and mixed units are not."""

from __future__ import annotations

import numpy as np
import pytest

import separatrix as sx
from separatrix.tables.notations import number_notation
from small_tables import fitted, matrix, predicted, trained_on, written

N = 60
VALUES = [round(3.5 * k + 0.25, 2) for k in range(N)]  # all different: an id, if they were no numbers
LABELS = ["pq"[k // 7 % 2] for k in range(N)]


@pytest.mark.parametrize("form", ["{} km", "{}km", "{} km/h", "{} °C", "{} m²", "{} EUR", "-{} kg"])
def test_a_column_with_one_unit_is_read_as_numbers(form, tmp_path):
    cells = [form.format(value) for value in VALUES]
    path = written({"size": cells, "x": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    model = fitted(path, scale="none")
    unit = form.split("}")[1].strip()
    assert model.preparation.names == ["size", "x"]
    assert model.facts.notes == (f"Read as numbers: size (1234.5 {unit}).",)
    sign = -1 if form.startswith("-") else 1
    assert matrix(model, path)[:, 0].tolist() == [sign * value for value in VALUES]
    sx.save(model, tmp_path / "t.sx")
    again = sx.load(tmp_path / "t.sx")
    assert np.array_equal(trained_on(again, path), matrix(model, path))
    assert predicted(again, path)[0] == predicted(model, path)[0]


def test_missing_cells_and_other_notations_have_units_too(tmp_path):
    cells = [None if k == 4 else "?" if k == 5 else f"{value:,.2f} kg" for k, value in enumerate(np.array(VALUES) * 99)]
    path = written({"size": cells, "y": LABELS}, tmp_path / "t.csv")
    model = fitted(path, scale="none")
    assert model.preparation.features[0].notation == "1,234.5 kg"
    assert model.facts.missing == {"size": 2}


def test_a_file_with_another_unit_is_refused_by_row_and_one_without_is_read(tmp_path):
    data = {"size": [f"{value} km" for value in VALUES], "y": LABELS}
    model = fitted(written(data, tmp_path / "t.csv"))
    other = written({**data, "size": [*data["size"][:-1], "7 mi"]}, tmp_path / "u.csv")
    with pytest.raises(ValueError, match=r"row 60, column 'size': '7 mi' is not a number written as .* \(1234.5 km\)"):
        predicted(model, other)
    bare = written({**data, "size": VALUES}, tmp_path / "v.csv")
    assert predicted(model, bare)[0] == predicted(model, tmp_path / "t.csv")[0]


@pytest.mark.parametrize(
    "cells",
    [["12 km", "3 kg"], ["12A", "13A"], ["10 am", "11 am"], ["1 km 2", "3 km 4"], ["a km", "b km"], ["km", "km"],
     ["12 km", "13"], ["5 Main Street", "7 Main Street"]],
)  # fmt: skip
def test_codes_and_mixed_units_are_no_numbers(cells):
    assert number_notation(cells) is None
