"""The exported SELECT gives the package's own answers in DuckDB, PostgreSQL and SQLite."""

from __future__ import annotations

import functools
import math
import sqlite3
import time

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import separatrix as sx
from export_models import (
    COLOUR,
    KERNELLED,
    LINEAR,
    NETWORKS,
    TEXTS,
    VOTED,
    X1,
    asked_rows,
    case,
    check_predictions,
    of_table,
)
from separatrix.tables.columns import ColumnOptions
from separatrix.tables.export.conversion import scorer_of
from separatrix.tables.export.sql import as_sql
from separatrix.tables.fit import fit
from separatrix.tables.settings import Settings
from separatrix.tables.sources.opening import open_source

HELD = {**LINEAR, **NETWORKS}
ORDER = "the row's number"


def in_duckdb(table, sql):
    with duckdb.connect() as database:
        database.register("rows_given", table)
        database.execute('CREATE TABLE "my data" AS SELECT * FROM rows_given')
        return database.sql(sql).to_arrow_table()


def in_sqlite(table, sql):
    with sqlite3.connect(":memory:") as database:
        kinds = {"double": "REAL", "int64": "INTEGER", "bool": "INTEGER", "string": "TEXT"}
        columns = ", ".join('"{}" {}'.format(f.name.replace('"', '""'), kinds[str(f.type)]) for f in table.schema)
        database.execute(f'CREATE TABLE "my data" ({columns})')
        marks = ", ".join("?" for _ in table.column_names)
        database.executemany(f'INSERT INTO "my data" VALUES ({marks})', zip(*table.to_pydict().values(), strict=True))
        cursor = database.execute(sql)
        names = [each[0] for each in cursor.description]
        columns = list(zip(*cursor.fetchall(), strict=True))
    database.close()
    return pa.table({name: pa.array(list(column)) for name, column in zip(names, columns, strict=True)})


def in_postgres(address, table, sql):
    from adbc_driver_postgresql import dbapi

    with dbapi.connect(address) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("my data", table, mode="create", temporary=True)
        cursor.execute(sql)
        return cursor.fetch_arrow_table()


def numbered(table):
    return table.append_column(ORDER, pa.array(range(table.num_rows)))


def asked(example):
    """Return the statement, its answers in the order of the rows, and the table it is about."""
    table = numbered(example.table)
    scorer = scorer_of(example.model, unknown=example.unknown)
    return scorer, table, f'SELECT * FROM ({as_sql(scorer, "my data")}) AS asked ORDER BY "{ORDER}"'


def check(example, scorer, table, answers, flags_are_numbers=False):
    assert answers.column_names == [*table.column_names, *scorer.score_names, "prediction", *scorer.proba_names]
    labels = answers.column("prediction").to_pylist()
    if flags_are_numbers and isinstance(scorer.classes[0], bool):
        labels = [None if label is None else bool(label) for label in labels]
    scores = [answers.column(name).cast(pa.float64()).to_numpy(zero_copy_only=False) for name in scorer.score_names]
    check_predictions(example, labels, np.array(scores).T)
    return np.array(scores).T


@pytest.mark.parametrize("name", HELD)
def test_duckdb_gives_the_answers_of_predict(name):
    example = case(name)
    scorer, table, sql = asked(example)
    scores = check(example, scorer, table, in_duckdb(table, sql))
    if name in LINEAR and not scorer.sparse:
        np.testing.assert_array_equal(scores, example.scores)  # to the bit


@pytest.mark.parametrize("name", HELD)
def test_sqlite_gives_the_answers_of_predict(name):
    example = case(name)
    scorer, table, sql = asked(example)
    check(example, scorer, table, in_sqlite(table, sql), flags_are_numbers=True)


@pytest.mark.parametrize("name", HELD)
def test_postgresql_gives_the_answers_of_predict(name, postgres):
    example = case(name)
    scorer, table, sql = asked(example)
    scores = check(example, scorer, table, in_postgres(postgres, table, sql))
    if name in LINEAR and not scorer.sparse:
        np.testing.assert_array_equal(scores, example.scores)


@pytest.mark.parametrize("run", [in_duckdb, in_sqlite])
def test_a_category_and_a_number_may_be_kept_as_other_types(run):
    X = pa.table(
        {"n": [1, 2, 3, 4, 5, 6] * 5, "flag": [True, False, True, False, True, True] * 5, "y": [0, 0, 0, 1, 1, 1] * 5}
    )
    example = of_table(X, X.drop_columns(["y"]), "y", "svm")
    scorer, table, sql = asked(example)
    check(example, scorer, table, run(table, sql))
    as_text = table.set_column(1, "flag", pa.array([str(flag).lower() for flag in table.column("flag").to_pylist()]))
    check(example, scorer, as_text, run(as_text, sql))


@pytest.mark.parametrize("name", ["table neuron 2, mean", "table numbers only", "table numbers only, drop"])
def test_infinite_numbers_have_no_answer_and_nan_is_missing(name, postgres):
    example = case(name)
    cells = [math.inf, -math.inf, math.nan, None, 170.0]
    rows = example.table.slice(0, 5).set_column(example.table.column_names.index(X1), X1, pa.array(cells))
    _, _, sql = asked(example)
    expected = example.model.preparation.imputes
    rows = numbered(rows)
    for answers in (in_duckdb(rows, sql), in_sqlite(rows, sql), in_postgres(postgres, rows, sql)):
        known = [each is not None for each in answers.column("prediction").to_pylist()]
        assert known == [False, False, expected, expected, True]


def test_names_that_the_columns_have_are_not_taken_twice():
    X = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 5.0], [3.0, 4.0]])
    frame = pd.DataFrame(X, columns=["Score", "prediction"])
    sql = sx.export(sx.LinearSVM().fit(frame, [0, 0, 1, 1]), to="sql", table="my data")
    answers = in_duckdb(pa.Table.from_pandas(frame), sql)
    assert answers.column_names == ["Score", "prediction", "score_", "prediction_"]
    assert answers.column("prediction_").to_pylist() == [0, 0, 1, 1]


def test_columns_that_the_model_does_not_use_keep_their_names_too():
    rows = 40
    x = [k / rows for k in range(rows)]
    label = ["low" if value < 0.5 else "high" for value in x]
    table = pa.table({"x": x, "score": label, "prediction": x, "Score_": x})
    example = of_table(table, table.select(["x"]), "score", "svm", exclude=("prediction", "Score_"))
    sql = as_sql(scorer_of(example.model), "my data")
    for run in (in_duckdb, in_sqlite):
        answers = run(table, sql)
        assert answers.column_names == [*table.column_names, "score__", "prediction_", "proba_high", "proba_low"]
        assert answers.column("prediction_").to_pylist() == example.labels


def test_long_labels_are_told_apart_where_names_are_cut(postgres):
    labels = ["x" * 70 + str(k) for k in range(4)] + ["é" * 40 + "1", "é" * 40 + "2"]
    X = np.eye(6) * 5
    model = sx.LinearSVM().fit(X, labels)
    table = pa.table({f"x{k}": X[:, k] for k in range(6)})
    sql = sx.export(model, to="sql", table="my data")
    for answers in (in_duckdb(table, sql), in_sqlite(table, sql), in_postgres(postgres, table, sql)):
        assert answers.column("prediction").to_pylist() == model.predict(X).tolist() == labels


def test_many_classes_and_columns_are_read_in_good_time(postgres):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 150)), np.arange(300) % 30
    model = sx.Perceptron(max_iter=3, stop=sx.stops.MaxEpochs(3), random_state=0).fit(X, y)
    table = pa.table({f"x{k}": X[:, k] for k in range(150)})
    sql = f'SELECT "prediction" FROM ({sx.export(model, to="sql", table="my data")}) AS asked'
    for run in (in_duckdb, in_sqlite, functools.partial(in_postgres, postgres)):
        began = time.perf_counter()
        assert run(table, sql).column(0).to_pylist() == model.predict(X).tolist()
        assert time.perf_counter() - began < 20  # written again for each comparison, it took PostgreSQL gigabytes


def test_texts_that_are_no_numbers_are_missing_in_sqlite():
    example = case("table numbers only")
    _, table, sql = asked(example)
    rows = table.slice(10, 1).to_pylist()[0]
    with sqlite3.connect(":memory:") as database:
        quoted = [name.replace('"', '""') for name in rows]
        database.execute('CREATE TABLE "my data" ({})'.format(", ".join(f'"{name}"' for name in quoted)))
        for number, cell in enumerate(["", "abc", " ", 0, "0", 0.0, "1.5", 1.5]):
            values = {**rows, X1: cell, ORDER: number}
            database.execute(f'INSERT INTO "my data" VALUES ({", ".join("?" * len(values))})', list(values.values()))
        answers = [row[-1] is not None for row in database.execute(sql).fetchall()]
    database.close()
    assert answers == [False, False, False, True, True, True, True, True]


def test_the_smallest_whole_number_is_a_label():
    model = sx.LinearSVM().fit([[0.0], [1.0]], [-(2**63), 2**63 - 1])
    table = pa.table({"x0": [0.0, 1.0]})
    sql = sx.export(model, to="sql", table="my data")
    for run in (in_duckdb, in_sqlite):
        assert run(table, sql).column("prediction").to_pylist() == [-(2**63), 2**63 - 1]


def test_a_column_that_is_not_there_is_an_error_and_not_a_text():
    example = case("table numbers only")
    _, table, sql = asked(example)
    with pytest.raises(sqlite3.OperationalError, match="no such column"):
        in_sqlite(table.drop_columns([X1]), sql)


@pytest.mark.parametrize(
    ("table", "written"),
    [
        ("customers", '"customers"'),
        ("sales.customers", '"sales"."customers"'),
        ('"a.b"."c ""d"""', '"a.b"."c ""d"""'),
        ("o'hara; drop table x", '"o\'hara; drop table x"'),
    ],
)
def test_a_table_is_named_as_people_write_it(table, written):
    assert f"FROM {written} AS t" in sx.export(case("ties 2").model, to="sql", table=table)


@pytest.mark.parametrize("table", ["", "a..b", '"a', 'a"b', ".a", 'x" AS t; DROP TABLE y; --'])
def test_what_is_no_name_of_a_table_is_refused(table):
    with pytest.raises(ValueError, match="table must be a name such as customers or sales"):
        sx.export(case("ties 2").model, to="sql", table=table)


@pytest.mark.parametrize("name", [*VOTED, *KERNELLED])
def test_what_no_expression_can_hold_is_refused(name):
    with pytest.raises(
        ValueError,
        match=r"with (votes|kernels) cannot be exported to sql; use --to onnx, c or json, or fit a linear model",
    ):
        sx.export(case(name).model, to="sql")


@pytest.mark.parametrize("name", TEXTS)
def test_words_are_refused(name):
    with pytest.raises(
        ValueError, match="column 'words' is a bag of words, which cannot be exported to sql; use --to json"
    ):
        sx.export(case(name).model, to="sql")


def test_a_statement_that_no_database_would_read_is_refused():
    model = sx.Perceptron(max_iter=1, stop=sx.stops.MaxEpochs(1)).fit(np.eye(3, 100_000), [0, 1, 2])
    with pytest.raises(ValueError, match=r"would have 300,000 terms, more than the limit of 200,000"):
        sx.export(model, to="sql")


def test_columns_that_differ_in_capitals_only_are_refused():
    frame = pd.DataFrame([[0.0, 1.0], [1.0, 0.0]], columns=["a", "A"])
    with pytest.raises(ValueError, match=r"column names that differ only in case are the same in DuckDB and SQLite.*A"):
        sx.export(sx.LinearSVM().fit(frame, [0, 1]), to="sql")


def test_a_model_of_many_columns_stays_within_the_depth_that_databases_allow():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 1100))  # more than the 1,000 levels that SQLite allows
    model = sx.LinearSVM().fit(X, X[:, 0] > 0)
    table = pa.table({f"x{k}": X[:, k] for k in range(1100)})
    sql = f'SELECT "prediction", "score" FROM ({sx.export(model, to="sql", table="my data")}) AS asked'
    for run in (in_duckdb, in_sqlite):
        answers = run(table, sql)
        assert [bool(each) for each in answers.column(0).to_pylist()] == model.predict(X).tolist()
        np.testing.assert_allclose(answers.column(1).to_numpy(), model.decision_function(X), rtol=1e-12)


def test_a_text_with_a_zero_character_is_refused():
    table = asked_rows(1)
    colours = ["a\0b" if k % 2 else "c" for k in range(table.num_rows)]
    table = table.set_column(table.column_names.index(COLOUR), COLOUR, pa.array(colours))
    labelled = table.append_column("label", pa.array([k % 2 for k in range(table.num_rows)]))
    with pytest.raises(ValueError, match=r"SQL cannot express the text 'a\\x00b'"):
        sx.export(of_table(labelled, table, "label", "averaged").model, to="sql")


@pytest.mark.parametrize(("no", "yes"), [("No", "Yes"), ("n", "y"), ("F", "T"), ("FALSE", "TRUE"), ("no", "yes")])
def test_a_database_that_reads_yes_and_no_as_booleans_gets_the_same_predictions(no, yes, tmp_path):
    rng = np.random.default_rng(0)
    flags = rng.random(60) < 0.5
    x = rng.normal(size=60)
    data = pd.DataFrame({"x": x, "paid": np.where(flags, yes, no), "kind": np.where(x + 2 * flags > 1, "a", "b")})
    data.to_csv(tmp_path / "t.csv", index=False)
    with open_source(str(tmp_path / "t.csv")) as source:
        model = fit(source, ColumnOptions("kind"), Settings(certify=0, test=0)).model
    with duckdb.connect() as database:
        database.execute(
            f"create table data as select x, cast(paid as boolean) as paid from read_csv('{tmp_path / 't.csv'}')"
        )
        answers = database.sql(as_sql(scorer_of(model))).to_arrow_table().column("prediction").to_pylist()
    assert answers == model.predict(data).tolist()
