"""A command that is told to end keeps what it has, says so, and leaves nothing behind; output is whole or an error."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import separatrix as sx
from separatrix.files import ScratchFolder

pytestmark = pytest.mark.skipif(os.name == "nt", reason="signals and limits are those of POSIX")

ROWS = "a,b,y\n" + "".join(f"{k % 7},{k * 5 % 11}.5,{'xz'[k * k % 5 % 2]}\n" for k in range(4000))
FIT = ["fit", "t.csv", "--target", "y", "-o", "m.sx", "--epochs", "1000000000", "--certify", "0"]

# A thread that sends the signal once the loop watches for signals: training has begun, however busy the machine is.
CODE = """
import os, signal, sys, threading, time

number = int(sys.argv.pop(1))
def send():
    from separatrix.cli import main
    last = time.monotonic() + 60
    while getattr(signal.getsignal(signal.SIGTERM), "__name__", "") != "note" and time.monotonic() < last:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(os.getpid(), number)
threading.Thread(target=send, daemon=True).start()
from separatrix.cli import main
main()
"""


def as_in_the_foreground(ignored: int | None) -> None:
    """Take back what a parent such as nohup hands down, and ignore one signal."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    if ignored is not None:
        signal.signal(ignored, signal.SIG_IGN)


@pytest.fixture
def ended(tmp_path, monkeypatch):
    """Return what runs a command that gets a signal while it trains, with a temporary folder of its own."""
    (tmp_path / "t.csv").write_text(ROWS)
    (tmp_path / "scratch").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path / "scratch"))

    def ended(number: int, *arguments: str, ignored: int | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", CODE, str(int(number)), *arguments], capture_output=True, text=True, timeout=120,
            preexec_fn=lambda: as_in_the_foreground(ignored),
        )  # fmt: skip

    return ended


def left() -> list[str]:
    return [path.name for path in Path("scratch").iterdir()]


@pytest.mark.parametrize("where", [[], ["--memory", "1KB"]], ids=["in memory", "on disk"])
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT], ids=lambda each: each.name)
def test_a_signal_to_end_keeps_the_model_and_removes_row_copies(ended, number, where):
    done = ended(number, *FIT, *where)
    assert done.returncode == 130, done.stderr
    assert "Interrupted; model so far written to m.sx" in done.stdout
    assert sx.load("m.sx").facts.interrupted
    assert left() == []


def test_a_background_job_that_ignores_ctrl_c_still_ends_on_sigterm(ended):
    assert ended(signal.SIGTERM, *FIT, ignored=signal.SIGINT).returncode == 130
    assert sx.load("m.sx").facts.interrupted


def test_the_next_command_removes_what_a_killed_one_left(ended, run, monkeypatch):
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", None)
    here = Path.cwd()
    assert ended(signal.SIGKILL, *FIT, "--memory", "1KB").returncode == -signal.SIGKILL
    assert left()
    with ScratchFolder() as mine:  # of a process that lives
        monkeypatch.chdir(here)
        assert left() == [mine.name]
        done = subprocess.run(
            [sys.executable, "-c", "from separatrix.files import ScratchFolder; ScratchFolder().close()"], timeout=60
        )
        assert done.returncode == 0
        assert left() == [mine.name]
    assert left() == []


def test_folders_of_others_are_left_alone(tmp_path):
    for name in ("separatrix-notes", "other", "separatrix-abcdefgh", "separatrix-12345678"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "lock").write_text("")
        (tmp_path / name / "file").write_text("mine")
    (tmp_path / "separatrix-12345678" / ".separatrix-owner").write_text("mine")
    (tmp_path / "separatrix-link").symlink_to(tmp_path / "other")
    with ScratchFolder(tmp_path) as folder:
        assert folder.parent == tmp_path
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "other", "separatrix-12345678", "separatrix-abcdefgh", "separatrix-link", "separatrix-notes",
    ]  # fmt: skip


def test_a_folder_that_another_process_takes_for_left_behind_is_made_again(tmp_path, monkeypatch):
    from separatrix import files

    usual, taken = files._lock, []

    def late(handle):
        if not taken:  # another process locks it first, and removes it
            taken.extend(tmp_path.iterdir())
            shutil.rmtree(taken[0])
        return usual(handle)

    monkeypatch.setattr(files, "_lock", late)
    with ScratchFolder(tmp_path) as folder:
        assert folder.is_dir()
        assert [folder] != taken


@pytest.mark.parametrize("name", ["fit", "fit --sql"])
def test_a_signal_while_pandas_is_imported_is_not_lost(tmp_path, name):
    """Libraries that import pandas from C++ swallow what a signal raises in there."""
    pytest.importorskip("pandas")
    code = (
        "import importlib.abc, os, signal, sys\n"
        "class Finder(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name == 'pandas': os.kill(os.getpid(), signal.SIGTERM)\n"
        "        if name == 'separatrix.tables.scores':\n"
        "            import numpy, pyarrow\n"
        "            pyarrow.array(numpy.zeros(1))\n"
        "sys.meta_path.insert(0, Finder())\n"
        "from separatrix.cli import main\n"
        "main()"
    )
    (tmp_path / "t.csv").write_text(ROWS)
    source = ["t.csv"] if name == "fit" else ["--sql", "select * from 't.csv'"]
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", *source, "--target", "y", "-o", "m.sx"], cwd=tmp_path, capture_output=True,
        text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 130, (done.returncode, done.stdout, done.stderr)


def test_a_fork_that_ends_does_not_remove_the_folder():
    with ScratchFolder() as folder:
        child = os.fork()
        if child == 0:
            import weakref

            weakref.finalize._exitfunc()  # as at the normal end of a process
            os._exit(0)
        os.waitpid(child, 0)
        assert folder.is_dir()
    assert not folder.exists()


def limited(size: int) -> None:
    import resource

    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("command", ["predict m.sx t.csv", "datasets penguins", "export m.sx --to c"])
def test_output_that_does_not_fit_on_the_disk_is_an_error(tmp_path, run, monkeypatch, unbuffered, command):
    Path("t.csv").write_text(ROWS)
    assert run("fit", "t.csv", "--target", "y", "-o", "m.sx", "--certify", "0")[0] == 0
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    with open("out", "wb") as out:
        done = subprocess.run(
            [sys.executable, "-c", "from separatrix.cli import main; main()", *command.split()],
            stdout=out, stderr=subprocess.PIPE, text=True, preexec_fn=lambda: limited(1000), timeout=60,
        )  # fmt: skip
    assert done.returncode == 1, done.stderr
    assert done.stderr == "separatrix: cannot write the output: File too large\n"


def test_an_export_of_two_files_on_a_full_disk_leaves_none(tmp_path, run):
    Path("t.csv").write_text(ROWS)
    assert run("fit", "t.csv", "--target", "y", "-o", "m.sx", "--certify", "0")[0] == 0
    size = len(sx.export(sx.load("m.sx"), to="json"))
    before = sorted(Path().iterdir())
    done = subprocess.run(
        [sys.executable, "-c", "from separatrix.cli import main; main()", "export", "m.sx", "-o", "model.json"],
        capture_output=True, text=True, preexec_fn=lambda: limited(size + 10), timeout=60,
    )  # fmt: skip
    assert done.returncode == 2
    assert "cannot write" in done.stderr
    assert sorted(Path().iterdir()) == before
