"""Files that a library may crash on are read in a child process: whatever happens to it is one sentence here."""

from __future__ import annotations

import io
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import asdict

import duckdb
import pyarrow as pa
import pytest

from separatrix.tables.sources import apart, child
from separatrix.tables.sources.opening import TextOptions, open_source
from source_tables import NAMES, TABLE, WRITERS

BINARY = ["t.arrow", "t.ipc", "z.arrow", "t.feather", "t.parquet", "t.duckdb", "t.sqlite"]
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals end the child")


def read(path, **options):
    with open_source(str(path), **options) as source:
        return pa.Table.from_batches(list(source.batches([column.name for column in source.columns])))


def refusal(path, **options):
    with pytest.raises(ValueError, match=r"\S") as caught:
        read(path, **options)
    message = str(caught.value)
    assert "\n" not in message
    assert len(message) < 400
    return message


def outcome(path):
    try:
        return f"{read(path).num_rows} rows"
    except ValueError as problem:
        return str(problem)


def pid_of(source):
    return source._free[0]._process.pid


def ended(pid):
    for _ in range(100):
        try:
            with open(f"/proc/{pid}/stat") as file:
                if file.read().rpartition(")")[2].split()[0] == "Z":
                    return True
        except OSError:
            return True
        time.sleep(0.05)
    return False


def ipc(path, array, codec=None):
    batch = pa.record_batch({"s": array})
    with pa.ipc.new_file(str(path), batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as sink:
        sink.write_batch(batch)
    return path.read_bytes()


def test_offsets_of_text_that_point_outside_are_refused(tmp_path):
    path = tmp_path / "d.arrow"
    raw = ipc(path, pa.array(["one", "two", "three"]))
    offsets = pa.array([0, 3, 6, 11], pa.int32()).buffers()[1].to_pybytes()[:16]
    beyond = pa.array([0, 3, 2**31 - 9, 2**31 - 1], pa.int32()).buffers()[1].to_pybytes()[:16]
    assert raw.count(offsets) == 1
    path.write_bytes(raw.replace(offsets, beyond))
    assert refusal(path).startswith(f"{path} is not a whole Arrow file: ")


def test_codes_that_no_dictionary_has_are_refused(tmp_path):
    path = tmp_path / "d.arrow"
    codes = [1, 0, 1, 0, 1, 1, 1]
    raw = ipc(path, pa.DictionaryArray.from_arrays(pa.array(codes, pa.int32()), pa.array(["no", "yes"])))
    before = pa.array(codes, pa.int32()).buffers()[1].to_pybytes()[:28]
    after = pa.array([2**30] * 7, pa.int32()).buffers()[1].to_pybytes()[:28]
    assert raw.count(before) == 1
    path.write_bytes(raw.replace(before, after))
    assert refusal(path).startswith(f"{path} is not a whole Arrow file: ")
    assert "crashed" not in refusal(path, sql="select * from data")


@pytest.mark.parametrize("name", BINARY)
def test_changed_files_are_read_or_refused_in_one_sentence(tmp_path, name):
    path, chance = tmp_path / name, random.Random(name)
    WRITERS[name](path)
    whole = path.read_bytes()
    for _ in range(25):
        raw = bytearray(whole)
        for _ in range(chance.choice([1, 2, 5])):
            at = chance.randrange(len(raw))
            raw[at : at + 4] = chance.choice([b"\xff\xff\xff\xff", b"\0\0\0\x80", bytes([raw[at] ^ 4]), b"", b"\xfe\7"])
        path.write_bytes(raw)
        message = outcome(path)
        assert "\n" not in message
        assert "crashed" not in message


@pytest.mark.parametrize("number", [signal.SIGSEGV, signal.SIGBUS, signal.SIGABRT, signal.SIGFPE])
def test_a_crash_of_the_child_is_one_sentence(written, number):
    path = str(written / "t.parquet")
    with open_source(path) as source:
        os.kill(pid_of(source), number)
        with pytest.raises(ValueError, match="crashed") as caught:
            list(source.batches(NAMES))
        assert str(caught.value) == (
            f"{path} cannot be read: the library that reads it crashed ({number.name}); the file is damaged"
        )
        assert pa.Table.from_batches(list(source.batches(NAMES))).to_pydict() == TABLE.to_pydict()  # by a new child


def test_a_child_that_takes_too_long_or_is_killed_is_one_sentence(written):
    path = str(written / "t.sqlite")
    for number, part in (
        (signal.SIGXCPU, "it took more than 15 seconds of processor time"),
        (signal.SIGKILL, "memory"),
    ):
        with open_source(path) as source:
            os.kill(pid_of(source), number)
            with pytest.raises(ValueError, match=part) as caught:
                list(source.batches(NAMES))
            assert str(caught.value).startswith(f"{path} cannot be read: ")


def test_the_child_has_a_limit_on_processor_time_that_queries_have_not(written):
    resource = pytest.importorskip("resource")
    for sql, limited in ((None, True), ("select * from data", False)):
        with open_source(str(written / "t.parquet"), sql=sql) as source:
            soft = resource.prlimit(pid_of(source), resource.RLIMIT_CPU)[0]
            assert (soft != resource.RLIM_INFINITY) == limited
            assert resource.prlimit(pid_of(source), resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def test_a_query_has_no_limit_on_processor_time_but_opening_its_file_has(written, tmp_path, monkeypatch):
    resource = pytest.importorskip("resource")
    limits = []
    monkeypatch.setattr(resource, "setrlimit", lambda kind, pair: limits.append(pair[0]))
    monkeypatch.setattr(tempfile, "tempdir", None)
    with duckdb.connect(str(tmp_path / "t.duckdb")) as connection:
        connection.execute("create table t as select 1 as a")
    for path in (tmp_path / "t.duckdb", written / "t.sqlite", written / "t.parquet"):
        served = child._Child(io.BytesIO(), io.BytesIO())
        monkeypatch.setattr(child, "_SERVING", [served])
        limits.clear()
        how = asdict(TextOptions())
        opened = [[str(path)], [str(path)], str(path), "select * from data", False, how]
        served._open({"open": opened, "here": None, "scratch": str(tmp_path), "size": 100})
        served._close()
        assert limits[0] != resource.RLIM_INFINITY
        assert limits[-1] == resource.RLIM_INFINITY


def test_a_view_has_no_limit_on_processor_time_either_and_the_next_table_has(written, tmp_path):
    resource = pytest.importorskip("resource")
    view = "create view v as select 1 as a, 'no' as b"
    with sqlite3.connect(tmp_path / "v.sqlite") as connection:
        connection.execute(view)
    connection.close()
    with duckdb.connect(str(tmp_path / "v.duckdb")) as connection:
        connection.execute(view)
    apart._IDLE.forget()
    pids = set()
    for path, limited in (
        (tmp_path / "v.sqlite", False),
        (written / "t.sqlite", True),
        (tmp_path / "v.duckdb", False),
        (written / "t.duckdb", True),
    ):
        with open_source(str(path)) as source:
            pids.add(pid := pid_of(source))
            for _ in range(2):
                assert (resource.prlimit(pid, resource.RLIMIT_CPU)[0] != resource.RLIM_INFINITY) == limited
                assert sum(batch.num_rows for batch in source.batches([source.columns[0].name])) == source.n_rows
    assert len(pids) == 1


def test_a_file_that_claims_to_need_more_memory_than_the_limit_is_refused(tmp_path):
    path = tmp_path / "d.arrow"
    raw = ipc(path, pa.array([0.0] * 1000), "zstd")
    length, claimed = (n.to_bytes(8, "little") + b"\x28\xb5\x2f\xfd" for n in (8000, 2**43))
    assert raw.count(length) == 1
    path.write_bytes(raw.replace(length, claimed))
    message = refusal(path)
    assert message.startswith(f"{path} cannot be read: it needs more than ")
    assert message.endswith(" GB of memory; is it damaged?")


def test_a_pass_that_is_given_up_leaves_the_child_to_the_next(written):
    with open_source(str(written / "t.parquet")) as source:
        pid = pid_of(source)
        for _ in range(3):
            assert next(source.batches(NAMES, rows=7)).num_rows == 7
        assert pid_of(source) == pid
        assert pa.Table.from_batches(list(source.batches(NAMES))).to_pydict() == TABLE.to_pydict()


def test_a_source_that_is_closed_in_a_pass_leaves_nothing(written, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    source = open_source(str(written / "t.parquet"))
    running = source.batches(NAMES, rows=7)
    next(running)
    pid = source._used[0]._process.pid
    assert list(tmp_path.iterdir()) != []
    source.close()
    assert ended(pid)
    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ValueError, match="is closed"):
        next(source.batches(NAMES))


@pytest.mark.parametrize("last", ["", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_no_child_outlives_its_parent(written, last):
    script = f"""
import os, signal
from separatrix.tables.sources.opening import TextOptions, open_source
source = open_source({str(written / "t.parquet")!r})
reading = source.batches(["x"], rows=3)
next(reading)
print(source._used[0]._process.pid, flush=True)
{last}
"""
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60)
    assert ended(int(ran.stdout))


def test_a_forked_process_starts_children_of_its_own(written):
    read(written / "t.parquet")
    assert apart._IDLE._child is not None
    ours, (reading, writing) = apart._IDLE._child._process.pid, os.pipe()
    if not (forked := os.fork()):
        os.write(writing, b"new" if apart._IDLE._child is None else b"the same")
        os._exit(0)
    os.waitpid(forked, 0)
    assert os.read(reading, 10) == b"new"
    os.close(reading)
    os.close(writing)
    assert apart._IDLE._child._process.pid == ours
    read(written / "t.parquet")


def test_relative_names_mean_the_folder_of_the_parent(written, tmp_path, monkeypatch):
    for folder, value in (("a", "1"), ("b", "2")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "d.csv").write_text(f"x\n{value}\n")
        monkeypatch.chdir(tmp_path / folder)
        with open_source(None, sql="select x from 'd.csv'") as source:
            assert next(source.batches(["x"])).to_pydict() == {"x": [int(value)]}


def test_nested_dictionaries_come_through_the_pipe(tmp_path):
    values = pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), pa.array(["a", "b"]).dictionary_encode())
    path = tmp_path / "d.arrow"
    ipc(path, values)
    assert read(path).to_pydict() == {"s": [["a"], ["b"]]}


def test_too_little_memory_in_the_parent_is_one_sentence_that_does_not_blame_the_file(written, monkeypatch):
    def none(length):
        raise pa.ArrowMemoryError(f"malloc of size {length} failed")

    path = str(written / "t.parquet")
    with open_source(path) as source:
        with monkeypatch.context() as patched:
            patched.setattr(pa, "allocate_buffer", none)
            with pytest.raises(ValueError, match="memory") as caught:
                list(source.batches(NAMES))
        assert str(caught.value) == f"{path} cannot be read: this process has not enough memory for the next rows"
        assert sum(batch.num_rows for batch in source.batches(NAMES)) == TABLE.num_rows


def test_a_source_whose_file_was_away_can_be_read_when_it_is_back(tmp_path):
    path, away = tmp_path / "t.parquet", tmp_path / "away"
    WRITERS["t.parquet"](path)
    with open_source(str(path)) as source:
        running = source.batches(["x"], rows=7)
        next(running)
        path.rename(away)
        for _ in range(2):
            with pytest.raises(ValueError, match=r"t\.parquet"):
                list(source.batches(["x"]))
        away.rename(path)
        for _ in range(2):
            assert sum(batch.num_rows for batch in source.batches(["x"])) == TABLE.num_rows
        assert sum(batch.num_rows for batch in running) == TABLE.num_rows - 7


def test_threads_that_read_one_source_have_a_child_each(written):
    results = []
    with open_source(str(written / "t.parquet")) as source:

        def work():
            try:
                results.extend(sum(batch.num_rows for batch in source.batches(["x"], rows=50)) for _ in range(5))
            except BaseException as problem:
                results.append(problem)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert results == [TABLE.num_rows] * 15


def executable(tmp_path, text):
    path = tmp_path / "program"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    "text", ["exit 1", "kill -9 $$", "echo hello", "yes hello", "exec sleep 60", "exec sleep 60 >&-", None]
)
def test_files_are_read_here_where_no_child_starts(written, tmp_path, monkeypatch, text):
    program = str(tmp_path / "none") if text is None else executable(tmp_path, text)
    apart._IDLE.forget()
    monkeypatch.setattr(apart, "_PATIENCE", 0.3)
    monkeypatch.setattr(sys, "executable", program)
    for name in ("t.parquet", "t.sqlite"):
        assert read(written / name).num_rows == TABLE.num_rows
        assert read(written / name, sql="select * from data").num_rows == TABLE.num_rows
    assert apart._IDLE._child is None


@pytest.mark.parametrize(("text", "why"), [("exit 3", "exit status 3"), (None, "No such file or directory")])
def test_a_second_child_that_does_not_start_is_not_blamed_on_the_file(written, tmp_path, monkeypatch, text, why):
    program = str(tmp_path / "none") if text is None else executable(tmp_path, text)
    with open_source(str(written / "t.parquet")) as source:
        running = source.batches(["x"], rows=7)
        next(running)
        apart._IDLE.forget()
        monkeypatch.setattr(sys, "executable", program)
        with pytest.raises(ValueError, match="cannot be started") as caught:
            list(source.batches(["x"]))
        assert str(caught.value) == f"the process that reads files cannot be started ({why})"
        assert sum(batch.num_rows for batch in running) == TABLE.num_rows - 7


@pytest.mark.parametrize("fresh", [True, False])
def test_a_file_can_be_read_from_a_folder_that_is_gone(written, tmp_path, monkeypatch, fresh):
    gone = tmp_path / "gone"
    gone.mkdir()
    (tmp_path / "d.csv").write_text("x\n1\n")
    monkeypatch.chdir(tmp_path)
    apart._IDLE.forget()
    if not fresh:
        read(written / "t.parquet")
    os.chdir(gone)
    gone.rmdir()
    assert read(written / "t.parquet").num_rows == TABLE.num_rows
    with pytest.raises(ValueError, match=r"d\.csv"):  # not that of the folder in which the child was before
        open_source(None, sql="select x from 'd.csv'")


def test_a_child_whose_requests_fail_ends(monkeypatch):
    def none(line):
        raise MemoryError

    ends = []
    monkeypatch.setattr(child.json, "loads", none)
    monkeypatch.setattr(child.os, "_exit", ends.append)
    with pytest.raises(MemoryError):
        child._Child([b"{}"], None).listen()
    assert ends == [0]


FORKED = {
    "a pass goes on": "next(running)",
    "a new pass": "next(source.batches(['x']))",
    "a pass is given up": "running.close()",
    "the source is closed": "source.close()",
}


@pytest.mark.parametrize("what", FORKED)
def test_a_forked_process_leaves_the_source_of_its_parent_alone(written, what):
    with open_source(str(written / "t.parquet")) as source:
        running = source.batches(["x"], rows=7)
        next(running)
        reading, writing = os.pipe()
        if not (forked := os.fork()):
            told = "nothing"
            try:
                exec(FORKED[what], {"source": source, "running": running})
            except ValueError as problem:
                told = str(problem)
            os.write(writing, told.encode())
            os._exit(0)
        os.waitpid(forked, 0)
        told = os.read(reading, 1000).decode()
        os.close(reading)
        os.close(writing)
        refused = f"{source.name} was opened in another process; open it again in this one"
        assert told == (refused if "pass goes on" in what or "new" in what else "nothing")
        assert sum(batch.num_rows for batch in running) == TABLE.num_rows - 7
        assert sum(batch.num_rows for batch in source.batches(["x"])) == TABLE.num_rows


def test_a_pass_of_a_closed_source_says_that_it_is_closed(written):
    source = open_source(str(written / "t.parquet"))
    running = source.batches(["x"], rows=7)
    next(running)
    source.close()
    with pytest.raises(ValueError, match=r"t\.parquet is closed$"):
        next(running)


@pytest.mark.parametrize("sql", [None, "select * from data"])
def test_a_table_without_columns_is_refused(tmp_path, sql):
    import pyarrow as pa

    path = tmp_path / "t.arrow"
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, pa.schema([])) as writer:
        writer.write_batch(pa.RecordBatch.from_arrays([], names=[]))
    with pytest.raises(ValueError, match=r"t\.arrow has no columns$"):
        open_source(str(path), sql=sql)
