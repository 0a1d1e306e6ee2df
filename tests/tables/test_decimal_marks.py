"""Points that could be decimal marks or set thousands apart: other columns decide, or a warning names the option."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import separatrix as sx
from separatrix.tables.settings import MemoryBudget
from small_tables import fitted, matrix, predicted, trained_on, written

N = 60
VALUES = [(k * 337) % 4000 + 31 for k in range(N)]
LABELS = ["pq"[(k // 3) % 2] for k in range(N)]
POINTS = [f"{v:,}".replace(",", ".") for v in VALUES]  # 1.549 beside 297
COMMAS = [f"{v:,}" for v in VALUES]
SHARES = [f"0,{k % 90 + 10}" for k in range(N)]
WARNING = "Warning: column 'x' has '1.042' beside '31': the point is read as a decimal mark."


def of(model, source, name="x"):
    return matrix(model, source)[:, model.preparation.names.index(name)].tolist()


def warnings(model):
    return [note for note in model.facts.notes if note.startswith("Warning")]


@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("kind", ["csv", "frame"])
def test_a_decimal_comma_in_another_column_tells_that_points_set_thousands_apart(first, kind, tmp_path):
    data = {"x": POINTS, "share": SHARES} if first else {"share": SHARES, "x": POINTS}
    source = pd.DataFrame({**data, "y": LABELS})
    source = written(source, tmp_path / "t.csv", sep=";") if kind == "csv" else source
    model = fitted(source, scale="none")
    assert of(model, source) == VALUES
    assert warnings(model) == []
    assert "x (1.234,5)" in " ".join(model.facts.notes)
    assert np.array_equal(trained_on(model, source), matrix(model, source))
    plain = written({"x": VALUES, "share": SHARES, "y": LABELS}, tmp_path / "plain.csv", sep=";")
    assert of(model, plain) == VALUES  # 1.549 and 1549 are one number
    assert predicted(model, plain)[0] == predicted(model, source)[0]


@pytest.mark.parametrize("more", [{}, {"budget": MemoryBudget(memory=1)}])
def test_columns_with_round_thousands_and_missing_cells_too(more, tmp_path):
    cells = ["1.500", "2.000", None, "12", "7.500", "250"] * 200
    path = written({"x": cells, "share": SHARES * 20, "y": LABELS * 20}, tmp_path / "t.csv", sep=";")
    found = of(fitted(path, scale="none", **more), path)
    assert [each for each, cell in zip(found, cells, strict=True) if cell] == [1500, 2000, 12, 7500, 250] * 200


def test_a_decimal_comma_elsewhere_makes_a_comma_in_front_of_three_digits_one(tmp_path):
    path = written({"x": COMMAS, "share": SHARES, "y": LABELS}, tmp_path / "t.csv", sep=";")
    model = fitted(path, scale="none")
    assert of(model, path) == [float(text.replace(",", ".")) for text in COMMAS]
    alone = written({"x": COMMAS, "y": LABELS}, tmp_path / "u.csv", sep=";")
    assert of(fitted(alone, scale="none"), alone) == VALUES


@pytest.mark.parametrize(
    "cells", [["1.5", "297", "2.25"] * 20, ["1.5493", "297", "2"] * 20, ["0.549", "297", "2.549"] * 20]
)
def test_points_that_are_decimal_marks_for_certain_stay_so(cells, tmp_path):
    path = written({"x": cells, "share": SHARES, "y": LABELS}, tmp_path / "t.csv", sep=";")
    model = fitted(path, scale="none")
    assert of(model, path) == [float(cell) for cell in cells]
    assert warnings(model) == []


def test_where_no_column_tells_a_warning_names_the_option(tmp_path, run):
    path = written({"x": POINTS, "n": np.arange(N) % 5, "y": LABELS}, tmp_path / "t.csv")
    model = fitted(path, scale="none")
    assert of(model, path) == [float(text) for text in POINTS]
    (warning,) = warnings(model)
    assert warning == f"{WARNING} If it separates thousands, use --decimal , (if not, --decimal .)."
    for mark, expected in ((",", VALUES), (".", [float(text) for text in POINTS])):
        chosen = fitted(path, scale="none", decimal=mark)
        assert of(chosen, path) == expected
        assert warnings(chosen) == []
    status, out, err = run("fit", "t.csv", "--target", "y", "--certify", 0, "--decimal", ",")
    assert (status, "Warning" in out + err) == (0, False), err
    steps = sx.TablePreparation(scale="none", decimal=",").fit(pd.DataFrame({"x": POINTS, "n": [1.5] * N}))
    assert steps.transform(pd.DataFrame({"x": ["2.000"], "n": [1.5]}))[0, 0] == 2000.0


def test_columns_that_contradict_each_other_decide_nothing(tmp_path):
    data = {"share": SHARES, "rate": [f"0.{k % 90 + 10}" for k in range(N)], "y": LABELS}
    path = written({"x": POINTS, **data}, tmp_path / "t.csv", sep=";")
    (warning,) = warnings(fitted(path))
    assert warning.startswith(WARNING)
    path = written({"x": COMMAS, **data}, tmp_path / "u.csv", sep=";")
    (warning,) = warnings(fitted(path))
    assert warning == (
        "Warning: column 'x' has '1,042' beside '31': the comma is read as separating thousands. If it is a decimal "
        "mark, use --decimal , (if not, --decimal .)."
    )


def test_ordinary_tables_get_no_warning_and_no_notation(tmp_path):
    rng = np.random.default_rng(0)
    data = {
        "price": rng.integers(100, 99999, N) / 100, "three": rng.integers(1000, 99999, N) / 1000,
        "unit": rng.random(N).round(3), "year": rng.integers(1990, 2024, N), "y": LABELS,
    }  # fmt: skip
    for name in data:
        path = written({name: data[name], "y": LABELS}, tmp_path / "t.csv")
        assert fitted(path, target="y").facts.notes == () if name != "y" else True


def test_the_option_takes_points_and_commas_only():
    with pytest.raises(ValueError, match=r"decimal must be one of , \., ,; found ';'"):
        sx.TablePreparation(decimal=";").fit(pd.DataFrame({"x": [1.0, 2.0]}))


def test_standard_input_is_read_once_more(tmp_path):
    path = written({"x": POINTS, "share": SHARES, "y": LABELS}, tmp_path / "t.csv", sep=";")
    code = "from separatrix.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", "-", "--target", "y", "--certify", "0", "-o", str(tmp_path / "t.sx")],
        input=path.read_bytes(), capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "x (1.234,5)" in done.stdout.decode()
