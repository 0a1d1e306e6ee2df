"""SQLite databases that are not whole are refused, and long reads end with Ctrl-C."""

from __future__ import annotations

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

import pytest

from separatrix.tables.sources.opening import open_source

ROWS = 1500


def made(path, *statements):
    connection = sqlite3.connect(path)
    connection.execute("create table t (a integer, b real, c text)")
    connection.executemany(
        "insert into t values (?, ?, ?)", ((k, k / 2, "yes" if k % 3 else "no") for k in range(ROWS))
    )
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    return connection


def read(path, **options):
    with open_source(str(path), **options) as source:
        return [value for batch in source.batches(["a"]) for value in batch.column(0).to_pylist()]


@pytest.mark.parametrize("sql", [None, "select a from t where a < 10"])
@pytest.mark.parametrize("cut", [1, 100, 4000, 4096, 4097, 9000, 30000])
def test_a_database_whose_end_is_missing_is_refused(tmp_path, cut, sql):
    path = tmp_path / "d.sqlite"
    made(path).close()
    size = path.stat().st_size
    os.truncate(path, size - cut)
    with pytest.raises(ValueError, match="truncated") as caught:
        read(path, sql=sql)
    assert str(caught.value) == (
        f"{path} is truncated: it has {size - cut:,} of the {size:,} bytes of its {size // 4096} pages"
    )


def test_pages_that_do_not_hang_together_are_refused(tmp_path):
    path = tmp_path / "d.sqlite"
    made(path).close()
    raw = bytearray(path.read_bytes())
    raw[-2000:] = bytes(2000)  # the file is as long as before
    path.write_bytes(raw)
    with pytest.raises(ValueError, match="is not a whole SQLite database: "):
        read(path)


def test_pages_in_the_log_are_not_missing(tmp_path):
    path = tmp_path / "d.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode=wal")
    connection.execute("pragma wal_autocheckpoint=0")
    connection.close()
    connection = made(path)
    assert (tmp_path / "d.sqlite-wal").stat().st_size > path.stat().st_size
    assert read(path) == list(range(ROWS))
    connection.close()
    assert read(path) == list(range(ROWS))


def test_a_constraint_that_some_row_breaks_is_not_damage(tmp_path):
    path = tmp_path / "d.sqlite"
    connection = made(path)
    connection.execute("pragma writable_schema=on")
    connection.execute("update sqlite_master set sql = 'create table t (a integer check (a < 9), b not null, c text)'")
    connection.commit()
    connection.close()
    assert read(path) == list(range(ROWS))


@pytest.mark.parametrize("name", ["page", "tree", "a rowid", "on freelist", "a\npage"])
def test_the_name_of_a_column_is_not_taken_for_damage(tmp_path, name):
    path = tmp_path / "d.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("pragma writable_schema=on")
    connection.execute(f'create table "book {name}" (a integer, "{name}" text)')
    connection.executemany(f'insert into "book {name}" values (?, null)', [(k,) for k in range(9)])
    told = f'create table "book {name}" (a integer check (a < 5), "{name}" text not null)'
    connection.execute("update sqlite_master set sql = ?", [told])
    connection.commit()
    connection.close()
    with sqlite3.connect(path) as again:
        faults = [row[0] for row in again.execute("pragma quick_check")]
    again.close()
    assert any(fault.startswith("NULL value in ") for fault in faults)
    assert any(fault.startswith("CHECK constraint failed in ") for fault in faults)
    assert read(path) == list(range(9))


def test_text_that_is_not_utf_8_is_told_of_the_file_or_of_the_query(tmp_path):
    path = tmp_path / "d.sqlite"
    made(path, "update t set c = cast(x'e96c' as text) where a = 7").close()
    for sql, who in ((None, f"{path} has"), ("select a, c from t", "the query returns")):
        with open_source(str(path), sql=sql) as source, pytest.raises(ValueError, match="UTF-8") as caught:
            list(source.batches(["a", "c"]))
        assert str(caught.value) == f"{who} text that is not UTF-8 in the column c"


@pytest.mark.parametrize("pages", [512, 1024, 65536])
def test_pages_of_any_size_are_counted(tmp_path, pages):
    path = tmp_path / "d.sqlite"
    connection = sqlite3.connect(path)
    connection.execute(f"pragma page_size={pages}")
    connection.close()
    made(path).close()
    assert read(path) == list(range(ROWS))
    os.truncate(path, path.stat().st_size - 3)
    with pytest.raises(ValueError, match="truncated"):
        read(path)


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGINT to another process")
@pytest.mark.parametrize("sql", ["select count(*) as a from t x, t y, t z, t u", None])
def test_ctrl_c_ends_a_long_read_at_once(tmp_path, sql):
    path = tmp_path / "d.sqlite"
    if sql is None:
        endless = (
            "create view v as with recursive r(n) as (select 1 union all select n + 1 from r) select n as a from r"
        )
        connection = sqlite3.connect(path)
        connection.execute(endless)
        connection.close()
    else:
        made(path).close()
    script = f"""
import signal
from separatrix.tables.sources.opening import open_source
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    print("reading", flush=True)
    with open_source({str(path)!r}, sql={sql!r}) as source:
        list(source.batches(["a"]))
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    with subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(temporary)}
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        since = time.monotonic()
        assert process.communicate(timeout=30)[0] == b"interrupted\n"
        assert time.monotonic() - since < 5
    assert list(temporary.iterdir()) == []


def test_a_link_to_a_database_is_that_database(tmp_path):
    made(tmp_path / "d.sqlite").close()
    (tmp_path / "far").mkdir()
    shutil.move(tmp_path / "d.sqlite", tmp_path / "far" / "d.sqlite")
    os.symlink(tmp_path / "far" / "d.sqlite", tmp_path / "d.sqlite")
    assert read(tmp_path / "d.sqlite") == list(range(ROWS))


def test_reading_a_database_leaves_no_log_beside_it(tmp_path):
    path = tmp_path / "w.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("pragma journal_mode=wal")
    connection.execute("create table t (a, y)")
    connection.executemany("insert into t values (?, ?)", [(k, k % 2) for k in range(9)])
    connection.commit()
    connection.close()
    assert [each.name for each in tmp_path.iterdir()] == ["w.sqlite"]
    with open_source(str(path)) as source:
        assert source.n_rows == 9
    assert [each.name for each in tmp_path.iterdir()] == ["w.sqlite"]


def test_rows_in_a_log_are_read_through_a_link_too(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real" / "w.sqlite")
    writer = sqlite3.connect(tmp_path / "real" / "w.sqlite")
    writer.execute("pragma journal_mode=wal")
    writer.execute("pragma wal_autocheckpoint=0")
    writer.execute("create table t (a, y)")
    writer.executemany("insert into t values (?, ?)", [(k, k % 2) for k in range(9)])
    writer.commit()
    with open_source(str(tmp_path / "link.sqlite")) as source:
        assert source.n_rows == 9
    writer.close()


def test_a_table_whose_name_is_not_text_is_damage(tmp_path):
    path = tmp_path / "n.sqlite"
    connection = sqlite3.connect(path)
    connection.execute("create table t (a, y)")
    connection.execute("pragma writable_schema=on")
    connection.execute("update sqlite_master set name = x'00ff', tbl_name = x'00ff'")
    connection.commit()
    connection.close()
    with pytest.raises(ValueError, match=r"n\.sqlite is not a whole SQLite database"):
        open_source(str(path))
