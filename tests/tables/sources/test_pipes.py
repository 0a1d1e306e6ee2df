"""Pipes are copied like standard input; what is neither a file nor a pipe is refused at once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
import time

import pyarrow as pa
import pytest

from separatrix.tables.sources.opening import open_source
from source_tables import NAMES, TABLE

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="no FIFOs")


def refusal(path):
    with pytest.raises(ValueError, match=r"\S") as caught:
        open_source(str(path))
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["t.csv", "t.csv.gz", "t.parquet", "t.arrow", "t.jsonl", "t.duckdb", "t.sqlite"])
def test_a_fifo_gives_the_same_table_as_its_file(written, tmp_path, name):
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    writer = threading.Thread(target=lambda: fifo.write_bytes((written / name).read_bytes()), daemon=True)
    writer.start()
    with open_source(str(fifo)) as source:
        writer.join()
        assert source.name == str(fifo)
        assert list(source.files) == [str(fifo)]
        for _ in range(2):
            found = pa.Table.from_batches(list(source.batches(NAMES)))
            assert found.num_rows == TABLE.num_rows
            assert found.column("x").to_pylist() == TABLE.column("x").to_pylist()


def test_what_the_shell_makes_of_a_command_is_read(tmp_path):
    (tmp_path / "d.libsvm").write_text("1 1:1\n2 2:1\n")
    script = (
        "import sys\nfrom separatrix.tables.sources.opening import open_source\n"
        "with open_source(sys.argv[1]) as source: print(sum(X.shape[0] for X, y in source.blocks()))"
    )
    both = '"$0" -c "$1" <(cat d.libsvm) && cat d.libsvm | "$0" -c "$1" /dev/stdin'
    ran = subprocess.run(
        ["bash", "-c", both, sys.executable, script], cwd=tmp_path, capture_output=True, text=True, timeout=60
    )
    assert ran.stdout == "2\n2\n"


def test_an_empty_pipe_is_called_empty(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    threading.Thread(target=lambda: (tmp_path / "fifo").write_bytes(b""), daemon=True).start()
    assert refusal(tmp_path / "fifo") == f"{tmp_path / 'fifo'} is empty"


def test_ctrl_c_ends_the_wait_for_a_writer(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    script = f"""
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from separatrix.tables.sources.opening import open_source
print("waiting", flush=True)
try:
    open_source({str(tmp_path / "fifo")!r})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        assert process.communicate(timeout=30)[0] == b"interrupted\n"


def test_devices_and_sockets_are_refused(tmp_path):
    for device in ("/dev/zero", "/dev/null", "/dev/random"):
        assert refusal(device) == f"{device} is a device; a file or a pipe is needed"
    with socket.socket(socket.AF_UNIX) as opened:
        opened.bind(str(tmp_path / "s"))
        assert refusal(tmp_path / "s") == f"{tmp_path / 's'} is a socket; a file or a pipe is needed"


def test_a_link_to_nothing_says_so(tmp_path):
    os.symlink(tmp_path / "gone.csv", tmp_path / "d.csv")
    assert refusal(tmp_path / "d.csv") == (
        f"{tmp_path / 'd.csv'} is a link to {tmp_path / 'gone.csv'}, which does not exist"
    )


def test_a_query_cannot_name_standard_input_by_its_path():
    for path in ("/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"):
        with pytest.raises(ValueError, match="give it as the file, - or a path, and call it data"):
            open_source(None, sql=f"select * from read_csv('{path}')")


@pytest.mark.parametrize("name", ["t.parquet", "t.sqlite"])
def test_standard_input_that_is_a_file_can_be_named_by_its_path(written, name):
    script = (
        "from separatrix.tables.sources.opening import open_source\n"
        "with open_source('/dev/stdin') as source: print(sum(b.num_rows for b in source.batches(['x'])))"
    )
    with open(written / name, "rb") as file:
        ran = subprocess.run([sys.executable, "-c", script], stdin=file, capture_output=True, text=True, timeout=60)
    assert ran.stdout == f"{TABLE.num_rows}\n"
