"""Queries over files and databases: they read, never write, and their problems are one sentence."""

from __future__ import annotations

import re
import sqlite3
import sys

import adbc_driver_postgresql.dbapi
import duckdb
import pyarrow as pa
import pytest

from postgres_server import PASSWORD, QUOTED
from separatrix.tables.sources.base import TableSource
from separatrix.tables.sources.opening import open_source
from source_tables import NAMES, TABLE, WRITERS

CHOICE = 'select "count", x * 2 as double_x from data where "count" is not null order by "count" desc'


def rows(where, sql, **options):
    with open_source(None if where is None else str(where), sql=sql, **options) as source:
        assert isinstance(source, TableSource)
        assert source.name == "the query"
        return pa.Table.from_batches(list(source.batches([column.name for column in source.columns]))).to_pylist()


def refusal(where, sql, **options):
    with pytest.raises(ValueError, match=r"\S") as caught:
        rows(where, sql, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


@pytest.mark.parametrize("name", list(WRITERS))
def test_a_query_sees_any_source_as_data_and_keeps_its_order(written, name):
    expected = [
        {"count": row["count"], "double_x": None if row["x"] is None else row["x"] * 2}
        for row in TABLE.sort_by([("count", "descending")]).to_pylist()
        if row["count"] is not None
    ]
    with open_source(str(written / name), sql=CHOICE) as source:
        for size in (7, 1000):
            found = pa.Table.from_batches(list(source.batches(["count", "double_x"], rows=size)))
            assert found.to_pylist() == expected
        first = source.fingerprint()
    with open_source(str(written / name), sql=f"{CHOICE};") as source:
        assert source.fingerprint() == first is not None
    with open_source(str(written / name), sql=f"{CHOICE} limit 9") as source:
        assert source.fingerprint() != first


def test_a_query_joins_files_by_their_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("id,x\n1,0.5\n2,1.5\n")
    duckdb.sql("copy (select 2 as id, 'two' as name) to 'b.parquet'")
    assert rows(None, "select * from 'a.csv' join 'b.parquet' using (id)") == [{"id": 2, "x": 1.5, "name": "two"}]
    with open_source(None, sql="from 'a.csv'") as source:
        assert source.fingerprint() is None
    with open_source("a.csv", sql="select * from data join 'b.parquet' using (id)") as source:
        assert source.fingerprint() is None


@pytest.mark.parametrize(
    "sql",
    ["select 1 as a", "with q as (select 1 as a) select * from q", "from (select 1 as a)", "values (1)",
     "(select 1 as a)", "-- first\nselect 1 as a -- last", "/* ; */ select 1 as a ;"],
)  # fmt: skip
def test_statements_that_read_are_taken(sql):
    assert [list(row.values()) for row in rows(None, sql)] == [[1]]


@pytest.mark.parametrize(
    "sql",
    ["copy (select 1) to 'out.csv'", "insert into data values (1)", "attach 'x.duckdb' as y", "create table t (a int)",
     "drop view data", "pragma version", "set threads = 1", "install httpfs", "export database 'x'",
     "update data set a = 1", "select 1; copy (select 1) to 'out.csv'",
     "with x as (insert into data values (1) returning *) select * from x",
     "explain select 1", "call pragma_version()", "delete from data", "", "  -- nothing"],
)  # fmt: skip
def test_statements_that_write_are_refused_and_write_nothing(tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    for name in ("a.csv", "t.sqlite", "t.duckdb"):
        if name == "a.csv":
            (tmp_path / name).write_text("a\n1\n")
        else:
            WRITERS[name](tmp_path / name)
        before = (tmp_path / name).read_bytes()
        message = refusal(name, sql)
        assert re.search("only one SELECT statement is accepted|the query is (empty|not valid SQL)", message), message
        assert (tmp_path / name).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "t.duckdb", "t.sqlite"]


def test_what_is_wrong_with_a_query_is_one_sentence(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("x,y\n1,2\n")
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n1\n")
    for where, sql, sentence in [
        ("a.csv", "select x fro data", None),
        ("a.csv", "select from where", "the query is not valid SQL: "),
        ("a.csv", "select * from nix", "the query names an unknown table nix; the tables are data"),
        (
            None,
            "select * from nix",
            "the query names an unknown table nix; name a file in quotes, as in: ",
        ),
        ("a.csv", "select z from data", "the query names an unknown column z; the columns are x, y"),
        (None, "select * from 'nix.csv'", "the query reads a file nix.csv that does not exist"),
        (
            None,
            "select * from 'https://example.org/a.csv'",
            "the query reads from the network or in a format that is not",
        ),
        ("a.csv", "select x, y as x from data", "the query returns two columns called 'x'; rename one with AS"),
        ("a.csv", "select * from data where x > 5", "the query returns no rows"),
        ("a.csv", "select x::date as d from data", "the query fails"),
        ("a.csv", "select error('a\nb') as d from data", "the query fails: "),
    ]:
        message = refusal(where, sql)
        assert message.startswith(sentence or ""), message


def test_variables_of_the_program_are_no_tables():
    assert refusal(None, "select * from TABLE_OF_PYTHON").startswith("the query names an unknown table TABLE_OF_PYTHON")


def test_nothing_is_installed_or_loaded_from_the_network():
    asked = "select name, value from duckdb_settings() where name like 'auto%known_extensions' order by name"
    names = ["autoinstall_known_extensions", "autoload_known_extensions"]
    assert rows(None, asked) == [{"name": name, "value": "false"} for name in names]


def test_databases_with_several_tables_need_a_query(tmp_path):
    for name, connect in [("a.duckdb", duckdb.connect), ("a.sqlite", sqlite3.connect)]:
        path = tmp_path / name
        connection = connect(str(path))
        connection.execute("create table one (a integer)")
        connection.execute("insert into one values (1)")
        connection.execute("create table two (b integer)")
        connection.commit()
        connection.close()
        with pytest.raises(ValueError, match=r"has several tables; choose with SQL among one, two"):
            open_source(str(path))
        assert rows(path, "select a + 1 as c from one") == [{"c": 2}]
        assert "the tables are one, two" in refusal(path, "select * from three")
        assert "no rows" in refusal(path, "select b from two")
        with open_source(str(path), sql="select a from one") as source:
            both = [source.batches(["a"]), source.batches(["a"])]
            assert [next(one).to_pylist() for one in both] == [[{"a": 1}]] * 2


def test_databases_without_tables_or_rows_are_refused(tmp_path):
    with duckdb.connect(str(tmp_path / "a.duckdb")):
        pass
    with pytest.raises(ValueError, match="has no tables"):
        open_source(str(tmp_path / "a.duckdb"))


def test_a_sort_larger_than_the_memory_limit_goes_to_disk():
    sql = "select range as a, hash(range) as h from range(3000000) order by h"
    with open_source(None, sql=sql, frugal=True) as source:
        assert sum(batch.num_rows for batch in source.batches(["a", "h"])) == 3_000_000


# PostgreSQL


@pytest.fixture(scope="module")
def server(postgres):
    with adbc_driver_postgresql.dbapi.connect(postgres, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.adbc_ingest("my table", TABLE, mode="create")
        cursor.execute(
            "create table types as select 1::numeric(10,2) as money, 7::smallint as small, 'x'::char(3) as padded,"
            " '7d444840-9dc0-11d1-b245-5ffdce74fad2'::uuid as id, '{1,2}'::int[] as list, now() as moment,"
            " '1 day'::interval as span, 1.5::real as single, '{\"a\": 1}'::jsonb as json, 'ab'::bytea as bytes"
        )
    return postgres


@pytest.mark.xdist_group("postgres")
class TestPostgres:
    def test_a_table_comes_back_equal_in_batches_of_any_size(self, server):
        with open_source(None, db=server, sql='select * from "my table"') as source:
            assert [column.kind for column in source.columns] == ["number", "number", "flag", "text", "date"]
            assert [column.whole for column in source.columns] == [False, True, False, False, False]
            for size in (7, 1000):
                batches = list(source.batches(NAMES, rows=size))
                assert all(batch.num_rows <= size for batch in batches)
                assert pa.Table.from_batches(batches).to_pydict() == TABLE.to_pydict()
            assert source.fingerprint() is None

    @pytest.mark.skipif(sys.version_info < (3, 11), reason="the drivers for older versions of Python tell less")
    def test_types_of_the_server_are_known(self, server):
        with open_source(None, db=server, sql="select * from types;") as source:
            assert {column.name: (column.kind, column.whole) for column in source.columns} == {
                "money": ("number", False),
                "small": ("number", True),
                "padded": ("text", False),
                "id": ("text", False),
                "list": ("other", False),
                "moment": ("date", False),
                "span": ("date", False),
                "single": ("number", False),
                "json": ("text", False),
                "bytes": ("other", False),
            }
            (batch,) = source.batches(["money", "small", "id", "single", "json"])
            assert batch.schema.types == [pa.float64(), pa.int64(), pa.string(), pa.float64(), pa.string()]
            assert batch.to_pylist()[0]["id"] == "7d444840-9dc0-11d1-b245-5ffdce74fad2"

    def test_many_rows_come_as_a_stream(self, server):
        sql = "select i, i / 2.0 as half from generate_series(1, 200000) as t(i) order by i"
        with open_source(None, db=server, sql=sql, frugal=True) as source:
            first = next(source.batches(["i"]))
            assert first.num_rows < 200_000
            assert sum(batch.num_rows for batch in source.batches(["half"])) == 200_000

    def test_writing_is_refused_by_the_word_and_by_the_server(self, server):
        for sql in (
            "insert into types values (1)",
            "drop table types",
            "with x as (delete from types returning *) select * from x",
            "select 1 as a; drop table types",
            "select nextval('nothing')",
        ):
            refusal(None, sql, db=server)
        assert "only one SELECT" in refusal(
            None, "with x as (delete from types returning *) select * from x", db=server
        )
        assert len(rows(None, "select small from types", db=server)) == 1

    def test_problems_are_one_sentence_without_the_password(self, server):
        port = server.rsplit(":", 1)[1].split("/")[0]
        for address, sql, sentence in [
            (server, "selec 1", "the query begins with SELEC; only one SELECT statement"),
            (server, "select from where", "the database rejected the query: syntax error at or near"),
            (server, "select * from nix", 'the database rejected the query: relation "nix" does not exist'),
            (server, "select nix from types", 'the database rejected the query: column "nix" does not exist'),
            (server, "select 1 / (small - 7) as a from types", "the database rejected the query: division by zero"),
            (server, "select 1 as a where false", "the query returns no rows"),
            (server, "select 1 as a, 2 as a", "the query has two columns called 'a'"),
            (
                server.replace("tester:", "other:"),
                "select 1",
                "cannot connect to the database: password authentication",
            ),
            (server.replace(port, "1"), "select 1", "cannot connect to the database: connection to server at"),
            (
                server.replace("127.0.0.1", "no.invalid"),
                "select 1",
                "cannot connect to the database: could not translate",
            ),
            (
                server.replace("/postgres", "/nix"),
                "select 1",
                'cannot connect to the database: database "nix" does not',
            ),
            ("mysql://a:b@c/d", "select 1", "the address of a database must begin with postgresql://"),
        ]:
            message = refusal(None, sql, db=address)
            assert message.startswith(sentence), message
            assert PASSWORD not in message
            assert QUOTED not in message

    def test_a_missing_driver_is_named_with_the_command(self, server, monkeypatch):
        monkeypatch.setitem(__import__("sys").modules, "adbc_driver_postgresql", None)
        message = refusal(None, "select 1", db=server)
        assert message == "PostgreSQL needs a driver; install it with: pip install 'separatrix[postgres]'"

    def test_options_that_do_not_go_together_are_refused(self, server):
        assert refusal(None, None, db=server) == "a database needs a query: give the SQL too"
        assert refusal("a.csv", "select 1", db=server).startswith("give either a file or the address of a database")


VIEWS = [
    "select * from read_csv('secret.csv')",
    "select content as c, 1 as a from read_text('secret.csv')",
    "select a, (select max(content) from read_blob('*.csv'))::varchar as c from own",
    "select file as c, 1 as a from glob('*')",
    "select * from 'secret.parquet'",
    "select * from query('from ''secret.csv''')",
]


@pytest.mark.parametrize("view", VIEWS)
def test_a_database_cannot_read_other_files(tmp_path, monkeypatch, view):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("a,c\n1,topsecret\n2,other\n")
    duckdb.sql("copy (from 'secret.csv') to 'secret.parquet'")
    with duckdb.connect("d.duckdb") as connection:
        connection.execute("create schema other")
        connection.execute("create table other.own as select 1 as a")
        connection.execute(f"create view v as {view.replace('own', 'other.own')}")
    for sql in ("select * from v", "select a from v limit 0", view.replace("own", "other.own")):
        message = refusal("d.duckdb", sql)
        assert "topsecret" not in message
        assert message.startswith("the query, or a view that it names, reads '")
        assert message.endswith("of a database, only the tables in its own file can be read")
    assert rows("d.duckdb", "select * from other.own") == [{"a": 1}]


def test_a_database_of_one_view_of_another_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.csv").write_text("a,c\n1,topsecret\n2,other\n")
    with duckdb.connect("d.duckdb") as connection:
        connection.execute("create view v as select * from read_csv('secret.csv')")
    with pytest.raises(ValueError, match=r"^d\.duckdb cannot be read: its view reads 'secret\.csv'; of a database"):
        open_source("d.duckdb")


def test_a_sort_of_a_database_may_still_go_to_disk(tmp_path):
    path = tmp_path / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("create table t as select range as a from range(6)")
    large = "select a, hash(b) as h, repeat('x', 60) as s from t, range(350000) as r(b) order by h, s"
    with open_source(str(path), sql=large, frugal=True) as source:
        assert sum(batch.num_rows for batch in source.batches(["h"])) == 2_100_000


@pytest.mark.parametrize("sql", ["select readfile('secret') as a", "select load_extension('x') as a",
                                 "select * from pragma_database_list where file like '%secret'", "attach 'secret' as s",
                                 "with a as (select 1) attach 'secret' as s"])  # fmt: skip
def test_sqlite_reaches_no_other_file(tmp_path, monkeypatch, sql):
    monkeypatch.chdir(tmp_path)
    for name in ("d.sqlite", "secret"):
        with sqlite3.connect(name) as connection:
            connection.execute("create table t (a)")
            connection.execute("insert into t values (1)")
        connection.close()
    refusal("d.sqlite", sql)


def test_an_arrow_type_that_the_engine_refuses_is_one_sentence(tmp_path):
    path = tmp_path / "odd.arrow"
    table = pa.table({"a": pa.array([None], pa.decimal128(25, 18690)), "y": ["u"]})
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
        writer.write_table(table)
    with pytest.raises(ValueError, match=r"odd\.arrow cannot be queried: [^\n]+$"):
        open_source(str(path), sql="select * from data")
