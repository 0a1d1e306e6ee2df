"""Numbers in the notations that people use, read where a whole column has one; codes and answers stay categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.tables.notations import NUMBERS, number_notation, read_numbers
from small_tables import fitted, matrix, predicted, written

N = 60
LABELS = ["pq"[k % 2] for k in range(N)]


def column(path, cells, **more):
    """Return what a column of cells becomes, beside another one, and the model."""
    model = fitted(written({"x": cells, "other": np.arange(len(cells)) % 3, "y": LABELS}, path), scale="none", **more)
    return matrix(model, path)[:, model.preparation.names.index("x")], model


@pytest.mark.parametrize(
    ("form", "notation"),
    [
        (lambda v: f"{v:,.1f}", "1,234.5"),
        (lambda v: f"{v:.2f}".replace(".", ","), "1234,5"),
        (lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")), "1.234,5"),
        (lambda v: f"{v:,.2f}".translate(str.maketrans(",.", " ,")), "1 234,5"),
        (lambda v: f"{v:,.2f}".translate(str.maketrans(",.", "\u202f,")), "1 234,5"),
        (lambda v: f"${v:,.2f}", "1,234.5"),
        (lambda v: f"{v:,.2f}".translate(str.maketrans(",.", ".,")) + " \u20ac", "1.234,5"),
        (lambda v: f"\u00a3{v:.2f}", "1234.5"),
        (lambda v: f"{v:.1f}%", "1234.5"),
        (lambda v: f"{v:.1f} %".replace(".", ","), "1234,5"),
        (lambda v: f"{-v:,.1f}", "1,234.5"),
        (lambda v: f"$ {v:,.2f}", "1,234.5"),
        (lambda v: f"-${-v:,.2f}" if v < 0 else f"${v:,.2f}", "1,234.5"),
        (lambda v: f"{v:.2f}\u00a0\u20ac".replace(".", ","), "1234,5"),
        (lambda v: f" {v:+.1f} ", None),
        (lambda v: f"{v:,.2f}".replace(",", "'"), "1'234.5"),
        (lambda v: f"CHF{v:,.2f}".replace("CHF", "").replace(",", "\u2019"), "1'234.5"),
        (lambda v: f"{v:,.2f}".replace("-", "\u2212"), "1,234.5"),
        (lambda v: f"{v:.2f}".replace("-", "\u2212").replace(".", ","), "1234,5"),
        (lambda v: f"{v:.2f}".replace("-", "\u2212"), "1234.5"),
        (lambda v: f"({-v:,.2f})" if v < 0 else f"{v:,.2f}", "1,234.5"),
        (lambda v: f"({-v:.0f})" if v < 0 else f"{v:.0f}", "1234.5"),
        (lambda v: f"(${-v:,.2f})" if v < 0 else f"${v:,.2f}", "1,234.5"),
        (lambda v: f"$({-v:,.2f})" if v < 0 else f"${v:,.2f}", "1,234.5"),
        (lambda v: f"({-v:,.2f} \u20ac)" if v < 0 else f"{v:,.2f} \u20ac", "1,234.5"),
        (lambda v: f"({-v:.1f}%)" if v < 0 else f"{v:.1f}%", "1234.5"),
        (
            lambda v: f"({-v:,.2f})".translate(str.maketrans(",.", ".,")) if v < 0 else f"{v:.2f}".replace(".", ","),
            "1.234,5",
        ),
        (lambda v: f"\u2212{-v:.1f} km" if v < 0 else f"{v:.1f} km", "1234.5 km"),
    ],
)
@pytest.mark.parametrize("delimiter", [",", ";"])
def test_a_column_in_one_notation_is_read_as_numbers(form, notation, delimiter, tmp_path):
    values = [round(k * 977.5 - 3000, 1) for k in range(N)]
    if form(0.5) == "0":  # without decimals
        values = [float(round(value)) for value in values]
    data = pd.DataFrame({"x": [form(value) for value in values], "other": np.arange(N) % 3, "y": LABELS})
    path = written(data, tmp_path / "t.csv", sep=delimiter)
    model = fitted(path, scale="none")
    found = matrix(model, path)[:, 0]
    sign = -1 if form(1.0) == "-1.0" else 1
    np.testing.assert_allclose(found, sign * np.array(values), rtol=1e-15)
    assert model.preparation.features[0].notation == (notation or "")
    assert model.facts.notes == ((f"Read as numbers: x ({notation}).",) if notation else ())
    assert predicted(model, path)[0] == model.estimator.predict(matrix(model, path)).tolist()


def test_a_percent_sign_is_left_away_and_thousands_are_not_decimals(tmp_path):
    found, _ = column(tmp_path / "t.csv", ["12%", "50%", "100%"] * 20)
    assert set(found) == {12.0, 50.0, 100.0}
    found, _ = column(tmp_path / "t.csv", ["1,234", "12,500", "7"] * 20)
    assert set(found) == {1234.0, 12500.0, 7.0}
    found, _ = column(tmp_path / "t.csv", ["0,123", "12,500", "7"] * 20)  # 0,123 has no thousands
    assert set(found) == {0.123, 12.5, 7.0}


@pytest.mark.parametrize(
    "cells",
    [
        ["02139", "10001", "94105", "60601"] * 15,  # ZIP codes
        ["00", "01", "12", "23"] * 15,
        ["007", "12"] * 30,
        ["1", "2", "3", "1,2", "2,3", "1,3"] * 10,  # answers of several
        ["1,2,3", "2", "3", "1", "1,2"] * 12,
        ["12-14", "15-17", "18"] * 20,
        ["1.2.3", "1.2.4"] * 30,  # versions
        ["A1", "12", "B7"] * 20,
        ["$", "$$", "$$$"] * 20,
        ["+", "-", "0"] * 20,
        ["(1)", "(2)", "(3)"] * 20,
        ["1 (2)", "3 (4)"] * 30,
        ["it's 1'000", "1'000"] * 30,
    ],
)
def test_codes_and_answers_of_several_stay_categories(cells, tmp_path):
    model = fitted(written({"x": cells, "other": np.arange(N) % 4, "y": LABELS}, tmp_path / "t.csv"))
    assert [name for name in model.preparation.names if name != "other"] == [f"x={each}" for each in sorted(set(cells))]


def test_zeros_in_front_among_decimals_are_numbers(tmp_path):
    found, _ = column(tmp_path / "t.csv", ["00", "0.5", "01.25", "12"] * 15)
    assert set(found) == {0.0, 0.5, 1.25, 12.0}


@pytest.mark.parametrize(
    ("cells", "values"),
    [
        (["02139", "10001"] * 30, {2139.0, 10001.0}),
        (["1", "2", "3", "1,2", "2,3", "1,3"] * 10, {1, 2, 3, 1.2, 2.3, 1.3}),
    ],
)
def test_number_reads_codes_and_answers_as_numbers(cells, values, tmp_path):
    found, _ = column(tmp_path / "t.csv", cells, number=("x",))
    assert set(found) == values


def test_a_cell_in_no_notation_is_named_when_rows_are_predicted(tmp_path):
    _, model = column(tmp_path / "t.csv", ["1.234,5", "12,5", "?"] * 20)
    new = written({"x": ["7,5", "1.5", "oops", None], "other": 1}, tmp_path / "new.csv")
    with pytest.raises(ValueError, match="column 'x'") as caught:
        predicted(model, new)
    assert str(caught.value).endswith(
        "new.csv, row 3, column 'x': 'oops' is not a number written as the others are (1.234,5): fix the cell, or "
        "leave "
        "it empty if the value is missing"
    )
    new = written({"x": ["7,5", "1.5", "1.500", "-", None], "other": 1, "y": "p"}, tmp_path / "new.csv")
    np.testing.assert_array_equal(
        matrix(model, new)[:, model.preparation.names.index("x")], [7.5, 1.5, 1500.0, 623.5, 623.5]
    )


def test_typed_numbers_are_taken_where_the_model_was_trained_on_texts(tmp_path):
    _, model = column(tmp_path / "t.csv", ["1.234,5", "12,5"] * 30)
    table = pa.table({"x": [1234.5, None], "other": [1, 2], "y": ["p", "q"]})
    assert matrix(model, table)[:, 0].tolist() == [1234.5, 623.5]


def test_a_slip_among_numbers_that_all_differ_is_named_and_no_id(tmp_path):
    cells = [f"{k}.25" for k in range(N)]
    cells[40] = "about 7"
    with pytest.raises(ValueError, match="row 41, column 'x' has numbers and also 'about 7', which is not a number"):
        column(tmp_path / "t.csv", cells)


def test_a_slip_in_a_column_of_another_notation_is_named(tmp_path):
    cells = [f"{k},5" for k in range(N)]
    cells[40] = "about 7"
    with pytest.raises(ValueError, match="column 'x'") as caught:
        column(tmp_path / "t.csv", cells)
    assert str(caught.value).endswith(
        "t.csv, column 'x' has numbers written as 1234,5 and also 'about 7', which is not one: fix the cell, leave it "
        "empty if the value is missing, leave the column out with --exclude x, or read it as it is with --category x"
    )


def test_a_column_that_changes_behind_many_rows_is_a_category_again():
    codes = [str(k % 300) for k in range(70_000)] + [f"C{k % 400}" for k in range(30_000)]
    model = fitted(pa.table({"x": codes, "other": np.arange(100_000) % 3, "y": ["p", "q"] * 50_000}))
    feature = model.preparation.role("category")[0]
    assert (feature.name, len(feature.levels), feature.pooled) == ("x", 100, True)
    slip = pa.table({"x": [*codes[:70_000], "oops"], "other": np.arange(70_001) % 3, "y": ["p", "q"] * 35_000 + ["p"]})
    with pytest.raises(ValueError, match="row 70,001, column 'x' has numbers and also 'oops', which is not a number"):
        fitted(slip)


FORMS = {
    "1234.5": lambda v: f"{v}",
    "1,234.5": lambda v: f"{v:,}",
    "1234,5": lambda v: f"{v}".replace(".", ","),
    "1.234,5": lambda v: f"{v:,}".translate(str.maketrans(",.", ".,")),
    "1 234,5": lambda v: f"{v:,}".translate(str.maketrans(",.", "\u00a0,")),
    "1'234.5": lambda v: f"{v:,}".replace(",", "'"),
}


@given(st.lists(st.decimals(-(10**9), 10**9, places=2, allow_nan=False), min_size=1, max_size=30))
def test_every_notation_reads_back_what_it_wrote(values):
    assert set(FORMS) == set(NUMBERS)
    for notation, form in FORMS.items():
        texts = [form(value) for value in values]
        assert read_numbers(pa.array(texts), notation).tolist() == [float(value) for value in values]
        found = number_notation(texts)
        assert found is not None  # another one that fits as well may come first, and then all agree in it
        if any(abs(value) >= 1000 and value % 1 for value in values) and notation != "1234.5":
            assert found == notation or read_numbers(pa.array(texts), found).tolist() == [float(v) for v in values]
