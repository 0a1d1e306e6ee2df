"""What data say is shown on a terminal, not obeyed: escape sequences in names, labels and messages are escaped."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

RED, TITLE, BACK = "\x1b[31mred", "\x1b]0;title\x07", "right\u202eleft"
MAIN = "from separatrix.cli import main; main()"


def table() -> str:
    rows = "".join(f"{k},{k % 5},{RED if k % 2 else TITLE}\n" for k in range(40))
    return f"a,{BACK},{RED}\n{rows}"


@pytest.fixture
def model(run):
    Path("t.csv").write_text(table(), encoding="utf-8")
    assert run("fit", "t.csv", "--target", RED, "-o", "m.sx")[0] == 0


@pytest.mark.parametrize(
    "command",
    [
        ["fit", "t.csv", "--target", RED],
        ["fit", "t.csv", "--target", "other"],
        ["fit", "t.csv", "--target", RED, "--features", TITLE],
        ["inspect", "m.sx"],
        ["update", "m.sx", "t.csv"],
        ["certify", "t.csv", "--target", RED],
        ["certify", "t.csv", "--target", RED, "--explain"],
        ["trace", "t.csv", "--target", RED, "--max-iter", "1"],
        ["compare", "t.csv", "--target", RED, "--models", "tree", "--certify", "1"],
        ["predict", "m.sx", f"{TITLE}.csv"],
        ["predict", f"{TITLE}.sx", "t.csv"],
        ["predict", "m.sx", "t.csv", "-o", f"{TITLE}.txt"],
    ],
    ids=lambda words: " ".join(words[:2]).encode("unicode_escape").decode() + str(len(words)),
)
def test_no_control_character_of_the_data_is_printed(model, run, command):
    _, out, err = run(*command)
    letters = set(out + err) - {"\n"}
    assert not [each for each in letters if ord(each) < 32 or each in "\x7f\u202e"]


@pytest.mark.skipif(os.name == "nt", reason="needs a pseudo-terminal")
@pytest.mark.parametrize(
    "command", [["predict", "m.sx", "t.csv"], ["export", "m.sx", "--to", "sql"]], ids=lambda c: c[0]
)
def test_files_are_written_as_they_are_and_shown_on_a_terminal_with_escapes(model, command):
    import pty

    arguments = [sys.executable, "-c", MAIN, *command]
    assert "\x1b" in subprocess.run(arguments, capture_output=True, text=True).stdout
    ours, theirs = pty.openpty()
    process = subprocess.Popen(arguments, stdout=theirs, stdin=subprocess.DEVNULL)
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the end of a terminal
            break
        if not part:
            break
        shown += part
    os.close(ours)
    assert process.wait() == 0
    assert b"\\x1b[31mred" in shown
    assert b"\x1b" not in shown


def test_too_little_address_space_is_said_before_libraries_crash():
    import resource

    for size in (1 << 29, 1 << 30, 1899 << 20):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, "fit", "penguins", "--target", "species"], capture_output=True, text=True,
            preexec_fn=lambda size=size: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        )  # fmt: skip
        assert done.returncode == 2
        assert done.stderr == (
            f"separatrix: the address space is limited to {size >> 20:,} MB; at least 1,900 MB are needed (see ulimit "
            "-v)\n"
        )


def test_the_least_address_space_is_enough(tmp_path):
    import resource

    size = 1900 << 20
    for command in (["fit", "penguins", "--target", "species", "-o", "p.sx"], ["predict", "p.sx", "penguins"]):
        done = subprocess.run(
            [sys.executable, "-c", MAIN, *command], capture_output=True, text=True, cwd=tmp_path,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size)),
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
