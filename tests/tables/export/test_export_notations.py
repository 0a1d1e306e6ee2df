"""Numbers that are text in a table: SQL reads them as predict does; the other targets say that numbers are given."""

from __future__ import annotations

import json
import math
import sqlite3

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from test_export_sql import check, in_duckdb, in_postgres, in_sqlite, numbered

import separatrix as sx
from export_models import of_table
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.sql import as_sql
from separatrix.tables.export.sql_notations import number_text
from separatrix.tables.notations import read_numbers

N = 90
VALUES = [round((k * 977.53) % 90_000 * 10.0 ** -(k % 4) * (-1) ** (k % 3), 2) for k in range(N)]


def swapped(text):
    return text.translate(str.maketrans(",.", ".,"))


def negative(text, form):
    return form.format(text[1:]) if text.startswith("-") else text


FORMS = {
    "1,234.5": lambda v: f"{v:,.2f}",
    "1,234.5 with a currency": lambda v: f"${v:,.2f}" if v >= 0 else f"-${-v:,.2f}",
    "1,234.5 with a currency behind": lambda v: f"{v:,.2f} \u20ac",
    "1,234.5 per cent": lambda v: f"{v:,.1f}%",
    "1,234.5 for accountants": lambda v: negative(f"{v:,.2f}", "({})"),
    "1,234.5 for accountants in dollars": lambda v: negative(f"{v:,.2f}", "$({})") if v < 0 else f"$ {v:,.2f}",
    "1234.5": lambda v: f"{v}%",
    "1234.5 long minus": lambda v: f"{v}".replace("-", "\u2212"),
    "1234.5 km/h": lambda v: f"{v} km/h",
    "1234.5 kg": lambda v: f"  {v:+}kg ",
    "1234,5": lambda v: f"{v}".replace(".", ","),
    "1.234,5": lambda v: swapped(f"{v:,.2f}"),
    "1.234,5 EUR": lambda v: swapped(f"{v:,.1f}") + " EUR",
    "1.234,5 without decimals": lambda v: swapped(f"{1000 * v:,.0f}"),
    "1 234,5": lambda v: f"{v:,.2f}".translate(str.maketrans(",.", " ,")),
    "1 234,5 narrow": lambda v: f"{v:,.2f}".translate(str.maketrans(",.", "\u202f,")) + "\u00a0\u20ac",
    "1'234.5": lambda v: f"{v:,.2f}".replace(",", "'"),
    "1'234.5 curved": lambda v: f"{v:,.2f}".replace(",", "\u2019"),
}  # fmt: skip


def example(form, **more):
    """Return a model of a column in a notation, and rows with missing cells and plain numbers to ask it about."""
    cells = [form(value) for value in VALUES]
    other = [math.sin(k) for k in range(N)]
    labels = ["yes" if value / 500 + 20 * x > 0 else "no" for value, x in zip(VALUES, other, strict=True)]
    gaps = [None if k in (3, 50) else "?" if k == 7 else cell for k, cell in enumerate(cells)]
    table = pa.table({"the x": gaps, "other": other, "y": labels})
    asked = [*cells, None, "", " ? ", "NA", "\u2013", "1.5", "17", "-0.25", "1e-05", "2.5e+20", "1234.567", form(0.0)]
    rows = pa.table({"the x": asked, "other": np.cos(np.arange(len(asked))).tolist()})
    return of_table(table, rows, "y", "svm", **more)


@pytest.mark.parametrize("name", FORMS)
@pytest.mark.parametrize("missing", ["impute", "drop"])
def test_sql_gives_the_answers_of_predict(name, missing, request):
    made = example(FORMS[name], missing=missing)
    feature = made.model.preparation.features[0]
    assert feature.role == "number"
    assert feature.notation
    assert name.startswith(feature.notation)
    scorer, table = scorer_of(made.model), numbered(made.table)
    statement = as_sql(scorer, "my data")
    assert (
        f"-- Text that is read as numbers, as it was in the training data: the x ({feature.notation}).\n" in statement
    )
    sql = f'SELECT * FROM ({statement}) AS asked ORDER BY "{table.column_names[-1]}"'
    scores = check(made, scorer, table, in_duckdb(table, sql))
    np.testing.assert_array_equal(scores, made.scores)
    check(made, scorer, table, in_sqlite(table, sql))


@pytest.mark.parametrize(
    "name", ["1,234.5 for accountants", "1234.5 km/h", "1.234,5", "1 234,5 narrow", "1'234.5 curved"]
)
def test_postgresql_gives_the_answers_of_predict(name, postgres):
    made = example(FORMS[name])
    scorer, table = scorer_of(made.model), numbered(made.table)
    sql = f'SELECT * FROM ({as_sql(scorer, "my data")}) AS asked ORDER BY "{table.column_names[-1]}"'
    scores = check(made, scorer, table, in_postgres(postgres, table, sql))
    np.testing.assert_array_equal(scores, made.scores)


TEXTS = [
    "", "-", ".", ",", "5", "05", "5.", ".5", "5,", ",5", "1,234", "1,23", "12,34,567", "1234,567", "0,123", "1.234",
    "1.5", "1.234.567", "1.23.456", "1.234,56", "1,234.56", "1 234", "1 23", "1 234,5", "1'234", "1\u2019234.5", "1'23",
    "(5)", "(5", "5)", "-(5)", "$5", "5$", "-$5", "$-5", "$ 5", "+5", "--5", "5-", "1e5", "1e", "e5", "1e+", "1e5.5",
    "abc", "5 km", "5km", "5 KM", "5 kmh", "km", "1.5 km", "1.234,5 km", "5%", "5 %", "nan", "inf", "1\u00a0234",
    "\u2212 5",
    "\u22125", "0.549", "1234.567", "999", "1.000", "1..2", "1,,2", "7,5", "1e-07", "12345678901234.5", "1,234,567,890",
]  # fmt: skip


@pytest.mark.parametrize(
    "notation", ["1234.5", "1,234.5", "1234,5", "1.234,5", "1 234,5", "1'234.5", "1.234,5 km", "1234.5 km"]
)
@pytest.mark.parametrize("engine", [duckdb, sqlite3])
def test_a_text_is_a_number_missing_or_neither_as_in_python(notation, engine):
    """What is refused in Python has no answer in SQL, but for a few texts in which signs stand in odd places."""
    made = number_text("t.x", notation)
    database = engine.connect(":memory:")
    database.execute("CREATE TABLE t (k INTEGER, x TEXT)")
    database.executemany("INSERT INTO t VALUES (?, ?)", list(enumerate(TEXTS)))
    query = f"SELECT CASE WHEN {made.missing} THEN 'missing' WHEN {made.valid} THEN CAST({made.value} AS TEXT) END"
    found = database.execute(f"{query} FROM t ORDER BY k").fetchall()
    database.close()
    for text, (answer,) in zip(TEXTS, found, strict=True):
        try:
            (number,) = read_numbers(pa.array([text]), notation).tolist()
        except ValueError:
            assert answer is None or text in ("--5", "-(5)", "\u2212 5"), text
            continue
        assert answer is not None, text
        assert (math.isnan(number) and answer == "missing") or float(answer) == number, text


def test_the_other_targets_say_that_numbers_are_given():
    made = example(FORMS["1.234,5 EUR"])
    header = sx.export(made.model, to="c")
    assert 'number "the x", in the table written as 1.234,5 EUR: give the number, as 1234.5' in header
    (column, _) = json.loads(sx.export(made.model, to="json"))["columns"]
    assert column["notation"] == "1.234,5 EUR"
    onnx = pytest.importorskip("onnx")
    graph = onnx.load_from_string(sx.export(made.model, to="onnx"))
    notes = {each.key: each.value for each in graph.metadata_props}
    assert json.loads(notes["notations"]) == {"the x": "1.234,5 EUR"}


@pytest.mark.parametrize("model", ["svm", "network"])
def test_many_columns_in_notations_and_several_classes(model, postgres):
    rng = np.random.default_rng(0)
    X = rng.normal(scale=5000.0, size=(120, 12)).round(2)
    forms = list(FORMS.values())
    columns = {f"c{k}": [forms[k](value) for value in X[:, k].tolist()] for k in range(12)}
    columns |= {"y": np.digitize(X.sum(axis=1), [-9000.0, 0.0, 9000.0]).tolist()}
    table = pa.table(columns)
    more = {"parameters": {"hidden": (3,)}, "epochs": 20} if model == "network" else {}
    made = of_table(table, table.drop_columns(["y"]), "y", model, **more)
    scorer, rows = scorer_of(made.model), numbered(made.table)
    assert sum(bool(each.notation) for each in scorer.inputs) == 12
    sql = f'SELECT * FROM ({as_sql(scorer, "my data")}) AS asked ORDER BY "{rows.column_names[-1]}"'
    assert len(sql) < 1_000_000  # the most that SQLite takes
    check(made, scorer, rows, in_duckdb(rows, sql))
    check(made, scorer, rows, in_sqlite(rows, sql))
    check(made, scorer, rows, in_postgres(postgres, rows, sql))
