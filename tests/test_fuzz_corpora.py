"""Cases that fuzzing kept are read or refused as they must be, and the fuzzer notices what must not happen."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "fuzz" / "corpus"


def test_every_case_of_the_corpora_is_read_or_refused_in_a_sentence():
    done = subprocess.run(
        [sys.executable, ROOT / "fuzz" / "run", "replay"], capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "no failure" in done.stdout


def test_the_corpora_are_small_and_cover_every_target():
    sys.path.insert(0, str(ROOT / "fuzz"))
    try:
        from targets import TARGETS
    finally:
        sys.path.remove(str(ROOT / "fuzz"))
    sizes = {name: [path.stat().st_size for path in (CORPUS / name).glob("*")] for name in TARGETS if name != "duckdb"}
    assert all(sizes.values())
    assert sum(sum(each) for name, each in sizes.items() if name != "model_file") < 300_000


class Bad:
    name = "bad"

    def __init__(self, act):
        self.act = act

    def check(self, raw, folder):
        self.act(folder)
        return "done"


def raising(problem):
    def act(folder):
        raise problem

    return act


FAILURES = {
    "raw exception": raising(KeyError("x")),
    "raw exception: not a plain ValueError": raising(UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no")),
    "raw exception: a warning": lambda folder: warnings.warn("old", DeprecationWarning, stacklevel=1),
    "message: two lines": raising(ValueError("one\ntwo")),
    "message: an escape": raising(ValueError("a column \x1b[31m")),
    "message: none": raising(ValueError("")),
    "message: an object": raising(ValueError("no <X object at 0x7f00aa>")),
    "left behind": lambda folder: (folder / "x.part").write_text(""),
    "printed": lambda folder: os.write(2, b"warning"),
}


@pytest.mark.parametrize("kind", FAILURES)
def test_a_failure_of_any_kind_is_told(kind, tmp_path):
    sys.path.insert(0, str(ROOT / "fuzz"))
    try:
        from worker import Loop
    finally:
        sys.path.remove(str(ROOT / "fuzz"))
    for name in ("here", "tmp"):
        (tmp_path / name).mkdir()
    (tmp_path / "printed").touch()
    told = io.StringIO()
    loop = Loop(tmp_path, told)
    kept = os.dup(2)
    os.dup2(os.open(tmp_path / "printed", os.O_WRONLY | os.O_APPEND), 2)
    try:
        loop.run([(Bad(FAILURES[kind]), b"case")])
    finally:
        os.dup2(kept, 2)
        os.close(kept)
    first, *_, last = map(json.loads, told.getvalue().splitlines())
    assert first["failure"] == kind.partition(":")[0]
    assert last["ended"]
    assert not list((tmp_path / "here").iterdir())
