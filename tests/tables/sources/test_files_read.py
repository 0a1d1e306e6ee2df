"""A source names every file that it reads, however it was told to read it."""

from __future__ import annotations

import io
import os
import sqlite3
import types

import duckdb
import pytest

from separatrix.tables.sources.opening import open_source
from source_tables import WRITERS

QUERIES = [
    "select * from 'a.csv'",
    'select * from "a.csv"',
    "select * from a.csv",
    "select * from 'a*.csv'",
    "select * from 'deep/**/*.csv'",
    "with p as (from 'p.parquet') select p.id from p where p.id in (select id from 'a.csv')",
    "select * from read_csv('a' || '*.csv', delim=',')",
    "select * from read_csv(['a.csv', 'ab.csv'])",
    "select * from read_csv([name || '.csv' for name in ['a', 'ab']])",
    "select (select max(content) from read_text('a*.csv')) as n, id from 'p*.parquet'",
    "select * from query('select * from read_parquet(''p.parquet'')')",
    "select * from query_table(['a.csv', 'ab.csv'])",
    "select * from (pivot 'a.csv' on id in (1, 2) using sum(x))",
    "select id from 'a.csv' union all by name select id from 'p.parquet'",
    "select * from 'odd [1].csv'",
    "select octet_length(content) as n from read_blob('j.jsonl')",
    "select num_rows from parquet_file_metadata('p.parquet')",
    "select t.id from 'a.csv' as t, lateral (select * from 'ab.csv' as u where u.id = t.id)",
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for name in ("a.csv", "ab.csv", "odd [1].csv", "deep/a.csv", "deep/er/b.csv"):
        (tmp_path / name).write_text("id,x\n1,0.5\n2,1.5\n")
    (tmp_path / "j.jsonl").write_text('{"id": 1}\n')
    duckdb.sql("copy (select 2 as id, 'two' as name) to 'p.parquet'")
    return tmp_path


def same(paths):
    return sorted(os.path.realpath(path) for path in paths)


def opened_by_duckdb(sql):
    """Return the files that DuckDB says it opened while it ran the query."""
    with duckdb.connect() as connection:
        connection.execute("call enable_logging('FileSystem')")
        connection.execute(sql).fetchall()
        return same(
            row[0]
            for row in connection.execute(
                "select distinct path from duckdb_logs_parsed('FileSystem') where op = 'OPEN'"
            ).fetchall()
        )


@pytest.mark.parametrize("sql", QUERIES)
def test_a_query_names_the_files_that_duckdb_opens(folder, sql):
    opened = opened_by_duckdb(sql)
    assert opened
    with open_source(None, sql=sql) as source:
        assert same(source.files) == opened


def test_a_query_over_a_file_names_that_and_the_others(folder):
    with open_source("a.csv", sql="select * from data join 'p.parquet' using (id)") as source:
        assert source.files == ["a.csv", "p.parquet"]
    with open_source("a.csv", sql="select id from data where 'ab.csv' <> 'x'") as source:
        assert source.files == ["a.csv"]


@pytest.mark.parametrize("name", list(WRITERS))
def test_every_kind_of_file_names_itself(written, name):
    with open_source(str(written / name)) as source:
        assert source.files == [str(written / name)]
    with open_source(str(written / name), sql="select * from data") as source:
        assert source.files == [str(written / name)]


def test_patterns_and_folders_name_their_files(folder):
    with open_source("a*.csv") as source:
        assert source.files == ["a.csv", "ab.csv"]
    with open_source(".") as source:
        assert source.files == ["p.parquet"]


def test_standard_input_has_no_file_but_a_query_over_it_may(folder, monkeypatch):
    def given():
        content = io.BytesIO((folder / "a.csv").read_bytes())
        monkeypatch.setattr("sys.stdin", types.SimpleNamespace(buffer=content, isatty=lambda: False))

    given()
    with open_source("-") as source:
        assert list(source.files) == []
    given()
    with open_source("-", sql="select * from data join 'p.parquet' using (id)") as source:
        assert list(source.files) == ["p.parquet"]


def test_the_log_of_a_database_is_one_of_its_files(folder):
    with sqlite3.connect("t.sqlite") as connection:
        connection.execute("pragma journal_mode=wal")
        connection.execute("create table t (a, b)")
        connection.execute("insert into t values (1, 2)")
        connection.commit()
        os.symlink("t.sqlite", "link.sqlite")
        for name in ("t.sqlite", "link.sqlite"):
            with open_source(name) as source:
                assert same(source.files) == same(["t.sqlite", "t.sqlite-wal"])
    connection.close()
    with duckdb.connect("t.duckdb") as connection:
        connection.execute("pragma disable_checkpoint_on_shutdown")
        connection.execute("create table t as select 1 as a")
    assert os.path.exists("t.duckdb.wal")
    with open_source("t.duckdb") as source:
        assert source.files == ["t.duckdb", "t.duckdb.wal"]
