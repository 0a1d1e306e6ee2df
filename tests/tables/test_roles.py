"""What a column is used as: found in its values, told by an option, and left out with a note."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from separatrix.tables.columns import ColumnOptions
from separatrix.tables.fit import fit
from separatrix.tables.settings import MemoryBudget
from small_tables import QUICK, fitted, opened, predicted, written

N = 60
LABELS = ["pq"[(k // 3) % 2] for k in range(N)]
NUMBER = np.arange(N) % 5
SENTENCES = [f"customer {k} wrote that the product number {k * k} was {'good' if k % 2 else 'bad'}" for k in range(N)]
CODES = [f"C-{(k * 7919) % 100_003:06}" for k in range(N)]


def beside(path, **columns):
    """Write a table of some columns, an ordinary number and labels."""
    return written({**columns, "n": NUMBER, "y": LABELS}, path)


# ---------------------------------------------------------------------------------------------- ids


@pytest.mark.parametrize(
    ("name", "cells", "why"),
    [
        ("row", range(N), "id: it counts the rows"),
        ("anything", range(1, N + 1), "id: it counts the rows"),
        ("Unnamed: 0", range(N), "id: it counts the rows"),
        ("customer_id", [9000 - 7 * k for k in range(N)], "id: as many values as rows"),
        ("customerId", [(k * 37) % 1009 for k in range(N)], "id: as many values as rows"),
        ("ID", [500 + 3 * k for k in range(N)], "id: as many values as rows"),
        ("code", CODES, "id: as many values as rows"),
        ("mail", [f"user{k}@example.org" for k in range(N)], "id: as many values as rows"),
        ("text id", [str(k) for k in range(N)], "id: it counts the rows"),
        ("phone", [f"555-{(k * 37) % 10_000:04}" for k in range(N)], "id: as many values as rows"),
        ("phone", [f"({200 + k}) 555-{(k * 37) % 10_000:04}" for k in range(N)], "id: as many values as rows"),
        ("phone", [f"+1 {200 + k} 555 {(k * 37) % 10_000:04}" for k in range(N)], "id: as many values as rows"),
        ("phone", [f"{200 + k} 555 {(k * 37) % 10_000:04}" for k in range(N)], "id: as many values as rows"),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "table"])
def test_ids_are_left_out_with_a_note(name, cells, why, kind, tmp_path):
    source = beside(tmp_path / "t.csv", **{name: list(cells)})
    if kind == "table":
        source = pa.table({name: list(cells), "n": NUMBER, "y": LABELS})
    model = fitted(source)
    assert model.preparation.names == ["n"]
    assert model.facts.notes == (f"Left out: {name} ({why}).",)
    assert model.facts.columns.unused == (name,)
    assert None not in predicted(model, source)[0]
    new = written({"n": [1, 2, 3]}, tmp_path / "new.csv")  # the id is not needed
    assert len(predicted(model, new)[0]) == 3


@pytest.mark.parametrize(
    ("name", "cells"),
    [
        ("price", [(k * 37) % 1009 for k in range(N)]),  # all differ, but it is not named as an id
        ("valid", [500 + 3 * k for k in range(N)]),  # ends in id, but is no word of its own
        ("customer_id", [k % 50 for k in range(N)]),  # a customer comes twice
        ("id", [k + 0.5 for k in range(N)]),
    ],
)
def test_quantities_are_no_ids(name, cells, tmp_path):
    model = fitted(beside(tmp_path / "t.csv", **{name: cells}))
    assert model.preparation.names == [name, "n"]
    assert model.facts.notes == ()


def test_few_rows_do_not_show_an_id(tmp_path):
    path = written({"id": range(1, 16), "n": np.arange(15) % 5, "y": LABELS[:15]}, tmp_path / "t.csv")
    assert fitted(path).preparation.names == ["id", "n"]


def test_an_id_is_used_if_nothing_else_is_left(tmp_path):
    assert fitted(written({"id": range(N), "y": LABELS}, tmp_path / "t.csv")).preparation.names == ["id"]
    model = fitted(written({"code": CODES, "y": LABELS}, tmp_path / "u.csv"))
    assert [feature.role for feature in model.preparation.features] == ["category"]


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ({"number": ("id",)}, ["id", "n"]),
        ({"features": ("id", "n")}, ["id", "n"]),
        ({"category": ("id",), "max_levels": 2}, ["n", "id=58", "id=59", "id=(other)"]),
    ],
)
def test_an_id_is_used_if_it_is_named(option, names, tmp_path):
    model = fitted(beside(tmp_path / "t.csv", id=range(N)), **option)
    assert sorted(model.preparation.names) == sorted(names) or len(names) == len(model.preparation.names)
    assert not any(note.startswith("Left out") for note in model.facts.notes)


# ---------------------------------------------------------------------------------------------- texts


@pytest.mark.parametrize("kind", ["csv", "table"])
def test_long_texts_are_bags_of_words(kind, tmp_path):
    source = beside(tmp_path / "t.csv", body=SENTENCES)
    if kind == "table":
        source = pa.table({"body": SENTENCES, "n": NUMBER, "y": LABELS})
    model = fitted(source)
    assert [feature.role for feature in model.preparation.features] == ["number", "text"]
    assert {"body: good", "body: wrote that"} <= set(model.preparation.names)
    assert model.facts.notes == ("Read as text (bag of words): body.",)
    named = fitted(source, text=("body",))
    assert named.preparation.names == model.preparation.names
    assert named.facts.notes == ()
    assert named.estimator.coef_.tolist() == model.estimator.coef_.tolist()


def test_words_have_a_weaker_penalty_unless_one_is_given(tmp_path):
    words = beside(tmp_path / "t.csv", body=SENTENCES)
    numbers = written({"n": NUMBER, "y": LABELS}, tmp_path / "u.csv")
    logistic = replace(QUICK, model="logistic")
    for path, settings, C in (
        (words, logistic, 10.0),
        (words, replace(logistic, parameters={"C": 2.0}), 2.0),
        (words, replace(QUICK, model="svm"), 1.0),
        (numbers, logistic, 1.0),
    ):
        with opened(path) as source:
            assert fit(source, ColumnOptions("y"), settings).model.estimator.C == C


def test_few_different_sentences_are_categories(tmp_path):
    model = fitted(beside(tmp_path / "t.csv", body=[SENTENCES[k % 3] for k in range(N)]))
    assert [feature.role for feature in model.preparation.features] == ["number", "category"]


def test_texts_without_words_are_not_bags_of_words(tmp_path):
    moves = [f"{k % 7} {k % 5} {k // 10} {k % 9} {k % 2}" for k in range(N)]
    assert [feature.role for feature in fitted(beside(tmp_path / "t.csv", moves=moves)).preparation.features] == [
        "number"
    ]
    with pytest.raises(
        ValueError, match=r"t\.csv, column 'moves' holds no words of two letters or more; leave it out with"
    ):
        fitted(tmp_path / "t.csv", text=("moves",))


def test_texts_that_are_found_are_hashed_on_disk(tmp_path):
    source = beside(tmp_path / "t.csv", body=SENTENCES)
    memory = fitted(source, text_method="hashed")
    disk = fitted(source, text_method="hashed", budget=MemoryBudget(memory=1))
    assert disk.facts.on_disk
    assert predicted(disk, source)[0] == predicted(memory, source)[0]
    assert disk.facts.notes == ("Read as text (bag of words): body.",)


# ---------------------------------------------------------------------------------------------- options


def test_every_option_overrules_what_values_suggest(tmp_path, run):
    data = pd.DataFrame({
        "id": range(N), "zip": ["02139", "10001", "94105"] * 20, "body": [f"aa bb {k % 4}" for k in range(N)],
        "when": [20240101 + k % 28 for k in range(N)], "price": ["1,5", "2", "1"] * 20, "gone": ["x"] * N,
        "n": NUMBER, "y": LABELS,
    })  # fmt: skip
    written(data, tmp_path / "t.csv")
    status, out, err = run(
        "fit", "t.csv", "--target", "y", "--category", "n,id", "--number", "zip", "--number", "price", "--text", "body",
        "--date", "when", "--exclude", "gone", "--certify", 0, "--test", 0, "--max-levels", 10,
    )  # fmt: skip
    assert status == 0, err
    from separatrix import load

    roles = {feature.name: feature.role for feature in load("t.sx").preparation.features}
    assert roles == {
        "zip": "number", "price": "number", "when": "date", "id": "category", "n": "category", "body": "text",
    }  # fmt: skip
    assert "Unused columns: gone." in out
    status, _, err = run("predict", "t.sx", "t.csv")
    assert (status, err) == (0, "")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--number", "colour"], "t.csv, column 'colour': --number names it, but 'red' is not a number as the others "
                                 "are"),
        (["--date", "colour"], "t.csv, column 'colour': --date names it, but no notation of dates fits all its values, "
                               "as 'red'"),
        (["--number", "when"], "t.csv, column 'when' is DATE; --number is for numbers; --dates seconds makes numbers "
                               "of dates"),
        (["--number", "flag"], "t.csv, column 'flag' is BOOLEAN; --number is for numbers"),
        (["--date", "flag"], "t.csv, column 'flag' is BOOLEAN; --date is for dates"),
        (["--text", "n"], "t.csv, column 'n' is BIGINT; --text is for text columns"),
        (["--category", "n", "--number", "n"], "'n' is both in --category and in --number"),
        (["--category", "y"], "--category names 'y', which is the target"),
        (["--number", "nn"], "t.csv has no column 'nn', which --number names (did you mean 'n'?); its columns are "
                             "colour, when, flag, n, y"),
        (["--max-levels", "1"], "max_levels must be at least 2; found 1"),
    ],
)  # fmt: skip
def test_options_that_do_not_fit_the_values_are_told(words, message, tmp_path, run):
    flags = ["true", "false"] * 30
    days = [f"2024-01-{1 + k % 28:02}" for k in range(N)]
    beside(tmp_path / "t.csv", colour=["red", "blue"] * 30, when=days, flag=flags)
    status, out, err = run("fit", "t.csv", "--target", "y", *words)
    assert (status, out) == (2, "")
    assert err == f"separatrix: {message}\n"


# ---------------------------------------------------------------------------------------------- problems


def test_all_problems_of_a_table_come_in_one_message(tmp_path, run):
    first, second = ([str(k % 20) for k in range(N)] for _ in range(2))
    first[3], second[5] = "oops", "n.n."
    beside(tmp_path / "t.csv", a=first, b=second, colour=["red", "blue"] * 30)
    status, out, err = run("fit", "t.csv", "--target", "y", "--number", "colour")
    assert (status, out) == (2, "")
    assert err.splitlines() == [
        "separatrix: t.csv has 3 problems:",
        "- column 'colour': --number names it, but 'red' is not a number as the others are",
        "- row 4, column 'a' has numbers and also 'oops', which is not a number: fix the cell, leave it empty if the "
        "value "
        "is missing, leave the column out with --exclude a, or read it as it is with --category a",
        "- row 6, column 'b' has numbers and also 'n.n.', which is not a number: fix the cell, leave it empty if the "
        "value "
        "is missing, leave the column out with --exclude b, or read it as it is with --category b",
    ]
    status, _, _ = run("fit", "t.csv", "--target", "y", "--exclude", "a", "--category", "b", "--certify", 0)
    assert status == 0


def test_columns_of_other_types_are_left_out_unless_they_are_named(tmp_path):
    table = pa.table({"lists": [[k, k] for k in range(N)], "n": NUMBER, "y": LABELS})
    model = fitted(table)
    assert model.preparation.names == ["n"]
    (note,) = model.facts.notes
    assert note.startswith("Left out: lists (")
    assert note.endswith("neither numbers nor text).")
    with pytest.raises(ValueError, match="neither numbers nor text: leave it out with --exclude lists"):
        fitted(table, features=("lists", "n"))


def test_standard_input_is_read_once_more_where_roles_change(tmp_path):
    import subprocess
    import sys

    beside(tmp_path / "t.csv", code=CODES, price=[f"{k},5" for k in range(N)])
    code = "from separatrix.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", "-", "--target", "y", "--certify", "0", "-o", "m.sx"],
        input=(tmp_path / "t.csv").read_bytes(), capture_output=True, cwd=tmp_path, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    assert b"Left out: code (id: as many values as rows).\nRead as numbers: price (1234,5)." in done.stdout
