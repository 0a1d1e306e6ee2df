"""A column of numbers in which few cells are not numbers is refused by name of the row; real categories are not."""

from __future__ import annotations

import gzip
import json
import sqlite3

import numpy as np
import pytest

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import MemoryBudget, Settings
from separatrix.tables.sources.opening import open_source

QUICK = Settings(certify=0, test=0, epochs=2)


def write(path, cells, labels=None):
    """Write a table of a column x, given as texts, and labels y."""
    labels = labels or ["pq"[k % 2] for k in range(len(cells))]
    rows = list(zip(cells, labels, strict=True))
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps({"x": x, "y": y}) + "\n" for x, y in rows))
    elif path.suffix == ".sqlite":
        with sqlite3.connect(path) as connection:
            connection.execute("create table t (x text, y text)")
            connection.executemany("insert into t values (?, ?)", rows)
        connection.close()
    else:
        text = "x,y\n" + "".join(f'"{x}",{y}\n' for x, y in rows)
        path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())
    return path


def fitted(path, target="y", budget=None):
    with open_source(str(path)) as source:
        return fit(source, ColumnOptions(target), QUICK, budget).model


def refusal(path, budget=None):
    with pytest.raises(ValueError, match=r"\S") as caught:
        fitted(path, budget=budget)
    return str(caught.value).replace(f"{path.parent}/", "")


@pytest.mark.parametrize("space", ["\u00a0", "\u202f", "\u2007", "\u3000", "\ufeff", "\u200b", "\t", "\u2009"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz"])
def test_white_space_around_a_number_is_not_part_of_it(tmp_path, space, name):
    odd = [f"{k}{space}" if k % 3 == 0 else f"{space}{k}" if k % 3 == 1 else f"{k}" for k in range(40)]
    found = fitted(write(tmp_path / name, odd))
    plain = fitted(write(tmp_path / f"b{name[1:]}", [str(k) for k in range(40)]))
    assert found.preparation.names == ["x"]
    assert found.preparation.shift.tolist() == plain.preparation.shift.tolist()
    assert found.estimator.coef_.tolist() == plain.estimator.coef_.tolist()


@pytest.mark.parametrize("cell", ["\u0663", "\uff13", "3 apples", "1,5", "1,00"])
@pytest.mark.parametrize("distinct", [3, 30, 400])
def test_one_bad_cell_of_a_number_column_is_named_with_its_row(tmp_path, cell, distinct):
    cells = [f"{k % distinct}.5" for k in range(500)]
    cells[321] = cell
    sentence = refusal(write(tmp_path / "a.csv", cells))
    assert sentence == (
        f"a.csv, row 322, column 'x' has numbers and also {cell!r}, which is not a number: fix the cell, leave it "
        "empty if the value is missing, leave the column out with --exclude x, or read it as it is with --category x"
    )
    assert refusal(tmp_path / "a.csv", MemoryBudget(1000)) == sentence


@pytest.mark.parametrize(
    ("cell", "value"),
    [("1,000", 1000.0), ("3 000", 3000.0), ("$3", 3.0), ("3%", 3.0), ("3 \u20ac", 3.0), ("-\u00a33", -3.0)]
    + [("\u22123", -3.0), ("(3.5)", -3.5), ("1'000", 1000.0)]
    + [(cell, np.nan) for cell in ("unknown", "-", " ", "?", "n/a", "None", ".")],
)
@pytest.mark.parametrize("distinct", [3, 30, 400])
def test_one_number_in_another_notation_is_a_number_and_a_mark_is_a_missing_one(tmp_path, cell, value, distinct):
    cells = [str(k % distinct) for k in range(500)]
    cells[321] = cell
    for budget in (None, MemoryBudget(1000)):
        model = fitted(write(tmp_path / "a.csv", cells), budget=budget)
        expected = np.array([k % distinct for k in range(500)], dtype=float)
        expected[321] = value
        gap = np.isnan(expected)
        filled = np.where(gap, np.nanmedian(expected), expected)
        assert model.preparation.names == ["x", "x missing"][: 1 + gap.any()]
        np.testing.assert_allclose([model.preparation.shift[0], model.preparation.factor[0]],
                                   [filled.mean(), filled.std()], rtol=1e-12)  # fmt: skip
        assert model.facts.missing == ({"x": 1} if gap.any() else {})


@pytest.mark.parametrize("name", ["a.jsonl", "a.sqlite", "a.csv.gz"])
def test_other_sources_of_text_name_the_row_too(tmp_path, name):
    cells = [str(k % 30) for k in range(500)]
    cells[77] = "\uff13"
    assert "row 78, column 'x' has numbers and also '\uff13', which is not a number" in refusal(
        write(tmp_path / name, cells)
    )


@pytest.mark.parametrize("form", ["\u0663{}", "{}\uff10"])
@pytest.mark.parametrize("distinct", [2, 30, 400])
def test_a_whole_column_of_numbers_in_other_digits_is_refused(tmp_path, form, distinct):
    cells = [form.format(k % distinct + 1) for k in range(500)]
    assert refusal(write(tmp_path / "a.csv", cells)) == (
        f"a.csv, row 1, column 'x': {cells[0]!r} is not read as a number: write numbers with the digits 0 to 9, leave "
        "the column out with --exclude x, or read it as it is with --category x"
    )


@pytest.mark.parametrize(
    ("form", "notation", "value"),
    [("{},5", "1234,5", 0.5), ("+{},5 ", "1234,5", 0.5), ("{},000", "1,234.5", None)],
)
@pytest.mark.parametrize("distinct", [2, 30, 400])
def test_a_whole_column_of_numbers_in_another_notation_is_read(tmp_path, form, notation, value, distinct):
    model = fitted(write(tmp_path / "a.csv", [form.format(k % distinct + 1) for k in range(500)]))
    feature = model.preparation.features[0]
    assert (feature.role, feature.notation) == ("number", notation)
    whole = np.array([k % distinct + 1.0 for k in range(500)])
    numbers = whole * 1000 if value is None else whole + value
    np.testing.assert_allclose(model.preparation.shift, [numbers.mean()], rtol=1e-12)
    assert model.facts.notes[0] == f"Read as numbers: x ({notation})."


def test_many_kinds_of_bad_cells_among_few_numbers_are_a_slip_too(tmp_path):
    cells = ["0", "1"] * 100 + ["?", "n.a.", "none", "O", "l"]
    assert "row 201, column 'x' has numbers and also '?'" in refusal(write(tmp_path / "a.csv", cells))


def test_the_first_bad_cell_far_behind_many_numbers_is_named(tmp_path, monkeypatch):
    monkeypatch.setattr("separatrix.tables.sources.csv_rows._PIECE", 1 << 12)
    cells = [f"{k}.5" for k in range(5000)] + ["oops", "5"]
    assert "row 5,001, column 'x' has numbers and also 'oops'" in refusal(write(tmp_path / "a.csv.gz", cells))


def test_numbers_that_a_source_keeps_as_text_are_numbers(tmp_path):
    model = fitted(write(tmp_path / "a.jsonl", [str(k) for k in range(300)]))
    assert model.preparation.names == ["x"]
    assert model.preparation.shift.tolist() == [149.5]
    assert model.facts.notes == ("Read as numbers: x (1234.5).",)


@pytest.mark.parametrize(
    "cells",
    [
        ["A1", "12", "B7"] * 20,
        ["1", "2", "x", "y"] * 10,
        ["007", "x", "12"] * 30,
        ["1", "1", "1", "x"] * 20,
        ["1,2,3", "a"] * 9,
        ["1", "2", "3", "1,2", "2,3", "1,3"] * 9,
        ["0"] * 500 + ["E12", "K7", "Q1", "Z9"],
        [f"{k % 24:02}" for k in range(200)],
        ["02139", "10001", "94105", "60601"] * 9,
    ],
)
def test_codes_with_and_without_letters_are_categories(tmp_path, cells):
    names = fitted(write(tmp_path / "a.csv", cells)).preparation.names
    assert names == [f"x={level}" for level in sorted(set(cells))]


@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.sqlite"])
def test_frequent_texts_among_few_numbers_are_levels(tmp_path, name):
    cells = ["some"] * 60 + ["0.5", "1", "2", "10"] * 30
    np.random.default_rng(0).shuffle(cells)
    names = fitted(write(tmp_path / name, cells)).preparation.names
    assert names == ["x=0.5", "x=1", "x=10", "x=2", "x=some"]
    rare = tmp_path / f"rare-{name}"
    assert "column 'x' has numbers and also 'some'" in refusal(write(rare, ["some"] * 5 + ["1", "2"] * 60))


def test_a_target_may_hold_anything(tmp_path):
    labels = ["1", "2"] * 50 + ["\uff13"]
    path = write(tmp_path / "a.csv", [str(k) for k in range(101)], labels)
    assert fitted(path).classes_.tolist() == ["1", "2", "\uff13"]
